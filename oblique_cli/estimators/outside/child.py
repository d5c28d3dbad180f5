"""The process in which models of other libraries live: it answers requests until its parent goes away.

Whatever such a model does (crash, hang, use up memory, print), it does here and not in the run.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Connection
from typing import Any

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

# Answers: "ok" and a value; "refused" and the sentence of a ConfigError; "raised", the name of an error and its first
# line; "memory" and the first line.
Answer = tuple[str, Any]


def serve(descriptor: int, parent: int) -> None:
    """Answer the requests that come through the socket `descriptor` of the process `parent`."""
    _leave_with(parent)
    os.environ |= {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    # Python's own lines at a crash would end up between those of the run.
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    warnings.simplefilter("ignore")
    models = _Models()
    with Connection(descriptor) as pipe, contextlib.suppress(EOFError, OSError):
        while True:
            verb, arguments = pipe.recv()
            pipe.send(_answer(getattr(models, verb), arguments))


def _answer(function: Any, arguments: Mapping[str, Any]) -> Answer:
    from oblique_cli.errors import ConfigError

    try:
        return "ok", function(**arguments)
    except ConfigError as error:
        return "refused", str(error)
    except MemoryError as error:
        return "memory", _first_line(error)
    except Exception as error:
        return "raised", (type(error).__name__, _first_line(error))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _leave_with(parent: int) -> None:
    """Let the system end this process with its parent, even inside code that never lets go of the interpreter."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # it died before
        os._exit(1)


class _Models:
    """What can be asked for."""

    def __init__(self) -> None:
        self._fitted: dict[int, tuple[Any, int | None]] = {}  # models, and the memory they may take

    def check(self, path: str, params: Mapping[str, Any]) -> None:
        """Import a class and hold parameters to its signature."""
        from oblique_cli.estimators.outside import building

        building.check(path, params)

    def fit(
        self,
        number: int,
        forget: list[int],
        memory_limit: int | None,
        X: Any,
        y: Any,
        **how: Any,
    ) -> dict[str, Any]:
        """Fit a model and keep it under `number`; return what a row needs of it.

        forget         numbers of models that nobody will ask again
        memory_limit   bytes that fitting, or predicting, may take beside what the process has already; None for any
        """
        from oblique_cli.estimators.outside import building

        for old in forget:
            self._fitted.pop(old, None)
        building.load_class(how["path"])
        model = building.Model(**how)
        with _limited(memory_limit):
            started = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - started
        self._fitted[number] = model, memory_limit
        leaves, nodes, depth = model.sizes()
        return {
            "seconds": seconds,
            "classes": getattr(model, "classes_", None),
            "has_shares": model.has_shares,
            "sizes": (leaves, nodes, depth),
        }

    def predict(self, number: int, X: Any) -> Any:
        """Return the predictions of a model."""
        model, memory_limit = self._fitted[number]
        with _limited(memory_limit):
            return model.predict(X)

    def shares(self, number: int, X: Any) -> Any:
        """Return the class shares of a model."""
        model, memory_limit = self._fitted[number]
        with _limited(memory_limit):
            return model.shares(X)


@contextlib.contextmanager
def _limited(extra: int | None) -> Iterator[None]:
    """Let the process take `extra` bytes more than it has now, or any number."""
    if extra is None or resource is None:
        yield
        return
    # Private memory, not address space: libraries reserve many times of what they use.
    kind = resource.RLIMIT_DATA
    before = resource.getrlimit(kind)
    limit, hard = _private_bytes() + extra, before[1]
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)


def _private_bytes() -> int:
    """Bytes of private memory of this process, 0 where the system does not say."""
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("VmData:"):
                return int(line.split()[1]) << 10
    return 0
