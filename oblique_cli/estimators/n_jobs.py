"""Parameter `n_jobs` as in scikit-learn, including `joblib.parallel_config`, whose backend "dask" provides workers."""

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

LARGEST = 2**31 - 1  # largest integer of the core

N_JOBS: Constraint = Optional(Integer(-LARGEST, LARGEST))


def threads_of(estimator: Any) -> int:
    """Return the number of threads for `n_jobs`: None is 1, or the number of a `joblib.parallel_config` unless the fit
    is one of its tasks; -1 is the number of processors, -2 one less. 1 for an estimator without the parameter;
    ConfigError for 0."""
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
    """Return the number of Dask workers that `joblib.parallel_config` gives a fit; 0 without Dask, and 0 for a fit that
    is itself a task, since waiting for other workers could deadlock."""
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
    """Return the results of a task for several arguments, in order. crew : number of workers, see `workers`"""
    return list(Parallel(n_jobs=crew)(delayed(task)(*arguments) for arguments in calls))


def in_threads() -> None:
    """Run jobs of estimators as threads from now on, so that a fit with several jobs starts no processes."""
    parallel_config(backend="threading")


def in_turn(task: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Yield the results of a task, in order, with the enclosing number of `threads`, while each fit has one thread; of
    several errors that of the first task is raised."""
    number = _enclosing_jobs()
    if number < 2:
        yield from (task(*arguments) for arguments in calls)
        return
    failed: Exception | None = None
    parallel = Parallel(number, backend="threading", return_as="generator", batch_size=1)
    # A task that silences a warning restores the filters of all threads to its start, which may be inside another task.
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
    """Return the context that gives estimators a number of threads."""
    context: AbstractContextManager[Any] = parallel_config("threading", n_jobs=number)
    return context
