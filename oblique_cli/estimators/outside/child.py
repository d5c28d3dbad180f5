"""Separate process for models with limits, or of other libraries, which may crash, hang or print."""

from __future__ import annotations

import contextlib
import functools
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Connection
from typing import Any

from oblique_cli.estimators.outside.process import leave_with

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

# Answers: "ok" and a value; "refused" and a ConfigError; "raised", the name of an error and its first line; "memory"
# and the first line.
Answer = tuple[str, Any]

# Attributes sent back after a fit, and methods for rows, if the model has them.
ATTRIBUTES = ("classes_", "n_leaves_", "n_nodes_", "depth_", "n_terms_", "n_clusters_", "seconds_saved_")
METHODS = ("predict_proba", "predict_path", "extra_measures")


def serve(descriptor: int, parent: int) -> None:
    """Answer the requests from the socket `descriptor` of the process `parent`."""
    leave_with(parent)
    os.environ |= {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    # Python's crash messages would appear among the output of the run.
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    warnings.simplefilter("ignore")
    models, process = _Models(), os.getpid()
    if hasattr(os, "register_at_fork"):
        # Forks of this process close the socket, so that it closes when this process ends.
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.register_at_fork(after_in_child=functools.partial(os.dup2, nothing, descriptor, False))
    with Connection(descriptor) as pipe, contextlib.suppress(EOFError, OSError):
        while True:
            question, verb, arguments = pipe.recv()
            answer = _answer(getattr(models, verb), arguments)
            if os.getpid() != process:  # a fork of this process by the model has returned from its work as well
                os._exit(0)
            pipe.send((question, *answer))


def _answer(function: Any, arguments: Mapping[str, Any]) -> Answer:
    from oblique_cli.errors import ConfigError, PluginError
    from oblique_cli.foreign import plugin_fault

    try:
        return "ok", function(**arguments)
    except ConfigError as error:
        return "refused", error
    except MemoryError as error:
        return "memory", _first_line(error)
    except Exception as error:
        who = plugin_fault(error)
        return ("refused", PluginError(who)) if who else ("raised", (type(error).__name__, _first_line(error)))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


class _Models:
    """Handlers of all requests."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[Any, int | None]] = {}  # models, and their memory limits

    def check(self, path: str, params: Mapping[str, Any]) -> None:
        """Import a class and check parameters against its signature."""
        from oblique_cli.estimators.n_jobs import in_threads
        from oblique_cli.estimators.outside import building

        building.check(path, params)
        in_threads()

    def hold(self, number: int, forget: list[int], memory_limit: int | None, _imports: Any, model: Any) -> None:
        """Store an unfitted model under `number`, and delete those of `forget`. Unpickling `_imports` has imported the
        modules it needs.
        memory_limit : bytes beyond the present use of the process; None for no limit"""
        for old in forget:
            self._held.pop(old, None)
        self._held[number] = model, memory_limit

    def fit(self, number: int, X: Any, y: Any, **rows: Any) -> tuple[float, float, dict[str, Any], list[str]]:
        """Fit a model; return wall-clock and processor seconds, its `ATTRIBUTES`, and names of its `METHODS`."""
        model, memory_limit = self._held[number]
        with _limited(memory_limit):
            started, used = time.perf_counter(), _used()
            model.fit(X, y, **rows)
            seconds, used = time.perf_counter() - started, _used() - used
        attributes = {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}
        return seconds, used, attributes, [name for name in METHODS if hasattr(model, name)]

    def call(self, number: int, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return the result of a method of a fitted model."""
        model, memory_limit = self._held[number]
        with _limited(memory_limit):
            return getattr(model, method)(*arguments)

    def whole(self, number: int) -> Any:
        """Return a fitted model."""
        return self._held[number][0]


@contextlib.contextmanager
def _limited(extra: int | None) -> Iterator[None]:
    """Limit the process to `extra` bytes more than its present use; None for no limit."""
    if extra is None or resource is None:
        yield
        return
    _have_working_memory()
    # Private memory, not address space: libraries reserve many times the memory they use.
    kind = resource.RLIMIT_DATA
    before = resource.getrlimit(kind)
    limit, hard = _private_bytes() + extra, before[1]
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)


@functools.cache
def _have_working_memory() -> None:
    """Allocate OpenBLAS' working memory in advance: if the allocation fails later, OpenBLAS retries for ever."""
    import numpy as np
    from scipy import linalg

    square = np.eye(64)
    linalg.eigh(square @ square)


def _used() -> float:
    """Return the processor seconds of this process and of its finished child processes."""
    return time.process_time() + sum(os.times()[2:4])


def _private_bytes() -> int:
    """Return the bytes of private memory of this process, 0 if the system does not report them."""
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("VmData:"):
                return int(line.split()[1]) << 10
    return 0
