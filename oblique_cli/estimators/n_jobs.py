"""The parameter `n_jobs` as in scikit-learn, in `joblib.parallel_config` too, whose backend "dask" gives workers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from operator import attrgetter
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend

from oblique_cli.errors import ConfigError
from oblique_cli.ground.constraints import Constraint, Integer, Optional

LARGEST = 2**31 - 1  # of the numbers that the core counts with

N_JOBS: Constraint = Optional(Integer(-LARGEST, LARGEST))


def threads_of(estimator: Any) -> int:
    """Return the threads of `n_jobs`: None for one, or the number of a `joblib.parallel_config` unless the fit is one
    of its tasks; -1 for one a processor, -2 for one less. One for an estimator without the parameter; ConfigError for
    0.
    """
    n_jobs: int | None = getattr(estimator, "n_jobs", None)
    if n_jobs is None:
        n_jobs = _enclosing_jobs()
    if n_jobs == 0:
        owner = type(estimator).__name__
        raise ConfigError(f"n_jobs of {owner} must not be 0. Set it to None for one thread or -1 for all.")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def _enclosing_jobs() -> int:
    backend, n_jobs = get_active_backend()
    return 1 if backend.nesting_level or _is_dask(backend) else int(n_jobs or 1)


def _is_dask(backend: Any) -> bool:
    return "DaskDistributedBackend" in map(attrgetter("__name__"), type(backend).__mro__)


def workers() -> int:
    """Return how many workers of Dask `joblib.parallel_config` gives a fit; 0 without any, and for a fit that is a task
    of one, which would wait for workers that may all wait likewise.
    """
    backend, n_jobs = get_active_backend()
    if not _is_dask(backend) or n_jobs == 1:
        return 0
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return max(1, int(backend.effective_n_jobs(-1 if n_jobs is None else n_jobs)))
    return 0


def on_workers(crew: int, task: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return the results of a task for some arguments, in their order. crew : number of workers, see `workers`"""
    results: list[Any] = Parallel(n_jobs=crew)(delayed(task)(*arguments) for arguments in calls)
    return results


def in_threads() -> None:
    """Let the jobs of estimators be threads from here on, so that a fit with several starts no processes."""
    parallel_config(backend="threading")


def in_turn(task: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Yield the results of a task, in order, by the enclosing `threads`, where fits have one thread; of several errors
    the first task's is raised.
    """
    number = _enclosing_jobs()
    if number < 2:
        yield from (task(*arguments) for arguments in calls)
        return
    failed: Exception | None = None
    parallel = Parallel(number, backend="threading", return_as="generator", batch_size=1)
    # Tasks that silence a warning put the filters of all threads back to what they met, which may be another task's.
    with warnings.catch_warnings():
        for outcome in parallel(delayed(_outcome)(task, arguments) for arguments in calls):
            if isinstance(outcome, Exception):
                failed = failed or outcome
            elif failed is None:
                yield outcome
    if failed is not None:
        raise failed


def _outcome(task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return task(*arguments)
    except Exception as error:
        return error


def threads(number: int) -> AbstractContextManager[Any]:
    """Return the context in which estimators have a number of threads."""
    context: AbstractContextManager[Any] = parallel_config("threading", n_jobs=number)
    return context
