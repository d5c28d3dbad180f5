"""Estimators as other people write them, at their worst; a child process imports them from here."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import sys
import time

import numpy as np


class Majority:
    """Predicts the most frequent class, and says so on both streams."""

    def __init__(self, greeting: str = "hello", random_state: int | None = None) -> None:
        self.greeting = greeting
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Majority:
        print(self.greeting, flush=True)
        print(self.greeting, file=sys.stderr, flush=True)
        os.write(1, self.greeting.encode())
        values, counts = np.unique(y, return_counts=True)
        self.label_ = values[counts.argmax()]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.label_)


class OnlyWithoutRow0(Majority):
    """Misbehaves on the training sets that lack row 0 (feature 0 holds row numbers), and behaves on the others."""

    def misbehave(self, X: np.ndarray) -> None:
        raise NotImplementedError

    def fit(self, X: np.ndarray, y: np.ndarray) -> Majority:
        if 0 not in X[:, 0]:
            self.misbehave(X)
        return super().fit(X, y)


class Segfault(OnlyWithoutRow0):
    def misbehave(self, X: np.ndarray) -> None:
        ctypes.string_at(0)


class Leave(OnlyWithoutRow0):
    def misbehave(self, X: np.ndarray) -> None:
        os._exit(3)


class Abort(OnlyWithoutRow0):
    def misbehave(self, X: np.ndarray) -> None:
        os.abort()


class Hang(OnlyWithoutRow0):
    """Inside the C library with the interpreter held, where no Python code can stop it."""

    def misbehave(self, X: np.ndarray) -> None:
        ctypes.PyDLL(None).sleep(600)


class Spin(OnlyWithoutRow0):
    def misbehave(self, X: np.ndarray) -> None:
        while True:
            pass


class Eat(OnlyWithoutRow0):
    """Takes 8 GB, and touches them."""

    def misbehave(self, X: np.ndarray) -> None:
        taken = [np.ones(1 << 24) for _ in range(64)]
        raise AssertionError(f"nobody stopped {len(taken)} arrays")


class EatAndSwallow(OnlyWithoutRow0):
    """Asks for more and more, whatever the answer."""

    def misbehave(self, X: np.ndarray) -> None:
        taken = []
        while True:
            try:
                taken.append(np.ones(1 << 20))
            except MemoryError:
                time.sleep(0.05)


class Raises(OnlyWithoutRow0):
    def misbehave(self, X: np.ndarray) -> None:
        raise np.linalg.LinAlgError("singular matrix\nand a second line")


class HangsLater(Majority):
    """Fits at once, and hangs when it predicts."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        time.sleep(600)
        return super().predict(X)


class Strange(Majority):
    """Predicts what it was never given."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), 7)


class Shapeless(Majority):
    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.zeros((len(X), 2))


class Says(Majority):
    """Tells what reached it, by its predictions: the number of labels, whether they have gaps, threads and seed."""

    def __init__(self, n_jobs: int = -1, seed: int | None = None) -> None:
        super().__init__()
        self.n_jobs = n_jobs
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> Says:
        values = np.unique(y)
        assert values.tolist() == list(range(len(values))), values
        assert self.n_jobs == 1 and self.seed == 5, (self.n_jobs, self.seed)
        self.mean_, self.sd_ = X.mean(axis=0), X.std(axis=0)
        return super().fit(X, y)  # type: ignore[return-value]


class Forks(Majority):
    """Its fit comes back twice: in the process that was asked, and in a copy of it."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Forks:
        super().fit(X, y)
        copy = os.fork()
        if copy:
            until = time.monotonic() + 2  # the copy is first, if it answers at all
            while time.monotonic() < until and os.waitpid(copy, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
        return self


class Pools(Majority):
    """Lets copies of its process work, which is what a library with workers does."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Pools:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(abs, range(-20, 0)) == list(range(20, 0, -1))
        return super().fit(X, y)  # type: ignore[return-value]


class DiesBesideACopy(Majority):
    """Leaves, and a copy of its process stays."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> DiesBesideACopy:
        if os.fork() == 0:
            time.sleep(60)
        os._exit(3)


class Needs:
    """Has a parameter without a default."""

    def __init__(self, width: float) -> None:
        self.width = width

    def fit(self, X: np.ndarray, y: np.ndarray) -> Needs:
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.zeros(len(X), dtype=int)


class NoEstimator:
    """Has neither of the methods."""


def function(X: np.ndarray) -> np.ndarray:
    return X
