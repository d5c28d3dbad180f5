"""Algorithms for tests of the runner: small, scripted, and independent of the compiled core."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from oblique_cli.data.dataset import Dataset
from oblique_cli.ground.nouns import AlgorithmSpec, CVSpec, DatasetSpec, Experiment


class Stump:
    """Predicts the training rows' most frequent class; the base of the scripted classifiers below."""

    needs_pruning_rows = False
    n_leaves_ = 1
    n_nodes_ = 1
    depth_ = 0

    def __init__(self, random_state: int | None = None, **params: Any) -> None:
        self.random_state = random_state
        self.params = params

    def fit(self, X: np.ndarray, y: np.ndarray) -> Stump:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.label_ = self.classes_[np.argmax(counts)]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.label_)


class PathTree(Stump):
    """scikit-learn's tree, grown until pure and cut where a node's misclassification rate is at most `epsilon`.

    A random feature at each node, so that results depend on the seed.
    """

    fits: ClassVar[list[float]] = []  # the epsilon of every fit in this process

    def fit(self, X: np.ndarray, y: np.ndarray) -> PathTree:
        self.fits.append(self.params["epsilon"])
        self.tree_ = DecisionTreeClassifier(max_features=1, random_state=self.random_state).fit(X, y)
        nodes = self.tree_.tree_
        self.rate_ = 1 - nodes.value[:, 0].max(axis=1)
        self.labels_ = self.tree_.classes_[nodes.value[:, 0].argmax(axis=1)]
        self.n_leaves_ = int(self.n_leaves_path([self.params["epsilon"]])[0])
        self.n_nodes_ = 2 * self.n_leaves_ - 1
        self.depth_ = nodes.max_depth
        return self

    def _is_leaf(self, epsilon: float) -> np.ndarray:
        return (self.tree_.tree_.children_left < 0) | (self.rate_ <= epsilon)

    def n_leaves_path(self, values: Any) -> np.ndarray:
        def count(node: int, leaf: np.ndarray) -> int:
            nodes = self.tree_.tree_
            return 1 if leaf[node] else count(nodes.children_left[node], leaf) + count(nodes.children_right[node], leaf)

        return np.array([count(0, self._is_leaf(v)) for v in values])

    def predict_path(self, X: np.ndarray, values: Any) -> np.ndarray:
        paths = self.tree_.decision_path(X).toarray().astype(bool)
        out = []
        for value in values:
            # Ids grow along a path, so the first leaf on it is the one of smallest id.
            out.append(self.labels_[np.argmax(paths & self._is_leaf(value), axis=1)])
        return np.stack(out, axis=1)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.predict_path(X, [self.params["epsilon"]])[:, 0]


class DepthTree(Stump):
    """scikit-learn's tree with `max_depth`: a grid without a path."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> DepthTree:
        self.tree_ = DecisionTreeClassifier(random_state=self.random_state, **self.params).fit(X, y)
        self.n_leaves_ = self.tree_.get_n_leaves()
        self.n_nodes_ = self.tree_.tree_.node_count
        self.depth_ = self.tree_.get_depth()
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.tree_.predict(X)


class PruningTree(DepthTree):
    """Keeps pruning rows from growth, and remembers which rows it was given."""

    needs_pruning_rows = True
    seen: ClassVar[list[tuple[np.ndarray, np.ndarray]]] = []  # (X, pruning rows) of every fit in this process

    def fit(self, X: np.ndarray, y: np.ndarray, pruning_rows: np.ndarray | None = None) -> PruningTree:
        assert pruning_rows is not None
        self.seen.append((X, pruning_rows))
        grow = np.setdiff1d(np.arange(len(X)), pruning_rows)
        return super().fit(X[grow], y[grow])


class Guess(Stump):
    """Guesses a class from the row alone, a different way for each `k`: there is nothing to learn, much to choose."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        noise = np.sin(X.sum(axis=1) * (self.params["k"] + 1) * 12.9898) * 43758.5453
        return np.floor((noise - np.floor(noise)) * 2).astype(np.int32)


class Breaks(Stump):
    """Fails on the training sets that lack row 0 (feature 0 holds row numbers)."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Stump:
        if 0 not in X[:, 0]:
            raise np.linalg.LinAlgError("singular matrix (node 5, 7 rows)\nand a second line")
        return super().fit(X, y)


class Interrupts(Stump):
    """Once it is armed, sends signal `number` to the process on the first training set that lacks row 0."""

    armed = False

    def fit(self, X: np.ndarray, y: np.ndarray) -> Stump:
        if Interrupts.armed and 0 not in X[:, 0]:
            Interrupts.armed = False
            os.kill(os.getpid(), self.params["number"])
        return super().fit(X, y)


class Dies(Stump):
    """Kills its own process on the training sets that lack row 0."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Stump:
        if 0 not in X[:, 0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class Sleeps(Stump):
    """Takes `seconds` to fit."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Stump:
        time.sleep(self.params["seconds"])
        return super().fit(X, y)


@dataclass(frozen=True)
class FakeAlgorithm:
    """What the runner asks of an entry of the algorithm table."""

    name: str
    factory: Callable[..., Any]
    path_parameter: str | None = None
    compiled: bool = True
    defaults: dict[str, Any] = field(default_factory=dict)
    shares: bool = False

    def make(self, random_state: int | None = None, **params: Any) -> Any:
        return self.factory(random_state=random_state, **{**self.defaults, **params})

    def shared_work(self, params: dict[str, Any]) -> str | None:
        return "all of it" if self.shares else None


FAKES = {
    fake.name: fake
    for fake in (
        FakeAlgorithm("stump", Stump),
        FakeAlgorithm("path", PathTree, path_parameter="epsilon", defaults={"epsilon": 0.0}),
        # The same trees, each grown by a fit of its own.
        FakeAlgorithm("no_path", PathTree, defaults={"epsilon": 0.0}),
        FakeAlgorithm("depth", DepthTree),
        FakeAlgorithm("pruning", PruningTree),
        FakeAlgorithm("guess", Guess),
        FakeAlgorithm("breaks", Breaks),
        FakeAlgorithm("interrupts", Interrupts),
        FakeAlgorithm("dies", Dies, compiled=False),
        FakeAlgorithm("sleeps", Sleeps),
        FakeAlgorithm("depth_in_processes", DepthTree, compiled=False),
    )
}


def toy(n: int = 30, classes: tuple[int, ...] = (), name: str = "toy", **changes: Any) -> Dataset:
    """`n` rows; feature 0 is the row number, feature 1 noise; `classes` are the class sizes, two halves by default."""
    sizes = classes or (n - n // 2, n // 2)
    n = sum(sizes)
    rng = np.random.default_rng(0)
    dataset = Dataset(
        name=name,
        X=np.column_stack([np.arange(n, dtype=float), rng.normal(size=n)]),
        y=rng.permutation(np.repeat(np.arange(len(sizes)), sizes)).astype(np.int32),
        classes=tuple("abcdefghij"[: len(sizes)]),
        feature_names=("row", "noise"),
    )
    return replace(dataset, **changes)


def experiment(
    *algorithms: str | AlgorithmSpec, datasets: tuple[str, ...] = ("toy",), seed: int = 1, name: str = "test", **cv: Any
) -> Experiment:
    """An experiment over data sets of these names."""
    specs = tuple(a if isinstance(a, AlgorithmSpec) else AlgorithmSpec(a, a) for a in algorithms)
    settings = CVSpec(**{"folds": 3, "repeats": 2, "tune_folds": 3, **cv})
    return Experiment(name, seed, tuple(DatasetSpec(d) for d in datasets), specs, settings)
