"""Parallel calls on one machine or a cluster, stopped cleanly by a signal."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import Any, Protocol, TypeVar

import joblib
from threadpoolctl import threadpool_limits

from oblique_cli.experiments.progress import Progress
from oblique_cli.ground.nouns import Job


class _Keyed(Protocol):
    @property
    def key(self) -> str: ...


Result = TypeVar("Result", bound=_Keyed)
Call = tuple[Job, Callable[..., Any], tuple[Any, ...]]


class Crew:
    """Workers of a run: threads if all work is compiled and releases the interpreter lock; else processes or a cluster.

    Linear algebra has one thread in every worker, even in a single one: more threads would compete for the processors,
    and the number of threads can change the last bits of a product."""

    def __init__(self, workers: int, compiled: bool, signals: Signals, cluster: Any = None) -> None:
        self.workers = workers if cluster is None else cluster.processors
        self._backend = "dask" if cluster is not None else "threading" if compiled else "loky"
        self.signals = signals
        self._cluster = cluster
        # Exceptions for a process that died while running jobs.
        self._died: tuple[type[Exception], ...] = (BrokenProcessPool,) if cluster is None else (cluster.lost,)

    @property
    def shares_interpreter(self) -> bool:
        """Return whether the workers are threads of this process."""
        return self._backend == "threading"

    def results(
        self,
        jobs: Sequence[Job],
        calls: Callable[[Iterable[Job]], Iterator[Sequence[Call]]],
        lost: Callable[[Job, str], Result],
    ) -> Iterator[Result]:
        """Yield the result of every job as it finishes, and stop early after a signal.

        calls : groups of calls for one worker each, read during the run; lost : makes the result after a process died
        """
        left = {job.key: job for job in jobs}
        while left and not self.signals.received:
            in_hand: dict[str, Job] = {}
            try:
                for group in self._parallel(calls(list(left.values())), min(self.workers, len(left)), in_hand):
                    for result in group:
                        del left[result.key], in_hand[result.key]
                    yield from group
            except self._died:
                # A running job killed its process (out of memory, a crash), and thus the pool. Each running job is
                # repeated in a separate process to identify the failing job and keep the other results.
                for job in list(in_hand.values()):
                    try:
                        alone = [result for group in self._parallel(calls([job]), 2, {}) for result in group]
                    except self._died:
                        alone = [lost(job, "the process died (out of memory, or a crash in compiled code)")]
                    for result in alone:
                        del left[result.key]
                        yield result

    def _parallel(self, groups: Iterator[Sequence[Call]], workers: int, in_hand: dict[str, Job]) -> Iterator[list[Any]]:
        def tasks() -> Iterator[Any]:
            for group in groups:
                if self.signals.received:
                    return
                in_hand.update((job.key, job) for job, _, _ in group)
                work = [(function, arguments) for _, function, arguments in group]
                if self._backend == "dask":
                    yield joblib.delayed(_on_cluster)(work)
                elif self._backend == "loky":
                    yield joblib.delayed(_in_process)(os.getpid(), work)
                else:
                    yield joblib.delayed(_one_by_one)(work)

        limits = {"inner_max_num_threads": 1} if self._backend == "loky" else {}
        config = self._cluster.config() if self._cluster else joblib.parallel_config(self._backend, **limits)
        with threadpool_limits(1), config, warnings.catch_warnings():
            # joblib warns when a run ends early, by a signal or by an error that has its own message.
            warnings.filterwarnings("ignore", message=r"\d+ tasks (which|have)")
            # One group per batch: a kill then loses only the running groups.
            # On a cluster every worker has a second group waiting, because messages take time.
            ahead = workers if self._cluster is None else 2 * workers
            pool = joblib.Parallel(workers, return_as="generator_unordered", batch_size=1, pre_dispatch=ahead)
            with _signals_held() if self._backend == "loky" and workers > 1 else contextlib.nullcontext():
                results = pool(tasks())  # starts the workers
            yield from results


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Block Ctrl-C while workers start, and deliver it afterwards.

    Processes inherit the blocking: Ctrl-C never reaches a worker, which might print a traceback during its imports."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Python's resource tracker for shared memory starts first, because its start unblocks the signals.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


Work = list[tuple[Callable[..., Any], tuple[Any, ...]]]


def _in_process(parent: int, work: Work) -> list[Any]:
    """Do `work` in a worker process of `parent`, or in `parent` itself if there is only one worker."""
    if os.getpid() != parent:
        _become_worker(parent)
    return _one_by_one(work)


def _on_cluster(work: Work) -> list[Any]:
    """Do `work` in a worker of a cluster."""
    from oblique_cli.experiments.cluster import one_thread

    one_thread()
    return _one_by_one(work)


def _one_by_one(work: Work) -> list[Any]:
    return [function(*arguments) for function, arguments in work]


@functools.cache  # once per process
def _become_worker(parent: int) -> None:
    # Ctrl-C reaches every process of the terminal. The parent handles it; the running job continues.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def leave_with() -> None:
        """End this process soon after `parent` was killed, since no process would store the result."""
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=leave_with, daemon=True).start()


class Signals:
    """Context that notes the first Ctrl-C or SIGTERM in `received` and raises KeyboardInterrupt for the second.

    Outside the main thread, where Python delivers no signals, it changes nothing."""

    def __init__(self, progress: Progress) -> None:
        self.received = 0
        self._progress = progress
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            self._before = {n: signal.signal(n, self._receive) for n in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: object) -> None:
        if self.received:
            raise KeyboardInterrupt
        self.received = number
        # The signal may interrupt another write to the same stream, and Python refuses nested writes.
        with contextlib.suppress(RuntimeError):
            self._progress.note("stopping after the folds in hand (again to stop now)")
