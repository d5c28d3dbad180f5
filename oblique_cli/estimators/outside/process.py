"""Parent's side of a process that fits models: limits, crashes, and their error messages."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from oblique_cli.errors import ObliqueError

# Seconds allowed for the start of the process and the import of the library, beside the model's own time.
START = 300.0

CHILD = "oblique_cli.estimators.outside.child"
_SCRIPT = "import sys; sys.path[:] = {path}; from {module} import serve; serve({fd}, {parent})"


class OutsideError(ObliqueError):
    """Error of an estimator in a separate process; its class has the name of that error."""


class OutOfTime(OutsideError):
    """Error for a model that exceeded its time limit."""


class OutOfMemory(OutsideError):
    """Error for a model that exceeded its memory limit or the available memory."""


class Crashed(OutsideError):
    """Error for a process that died."""


class Process:
    """Process that fits models, one request at a time. It starts with the first request, and again after it died."""

    def __init__(self) -> None:
        self.numbers = itertools.count()  # of models
        self.forgotten: list[int] = []  # numbers of models that are no longer in use
        self._questions = itertools.count()
        self._started: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None

    @property
    def generation(self) -> int:
        """Number that changes when the process restarts, which loses its models."""
        return -1 if self._started is None else self._started.pid

    def ask(self, verb: str, seconds: float | None, memory: int | None = None, **arguments: Any) -> Any:
        """Return the answer to a request within `seconds`, None for no limit; ConfigError for unusable input, and
        subclasses of OutsideError for every other failure."""
        pipe = self._pipe or self._start()
        try:
            try:
                question = next(self._questions)
                pipe.send((question, verb, arguments))
                if not pipe.poll(seconds):
                    raise OutOfTime(f"not done within the limit of {seconds:g} s")
                answered, kind, value = pipe.recv()
                if answered != question:
                    raise Crashed("its process answered another question than the one it was asked")
            except (EOFError, ConnectionError):
                raise Crashed(self._cause(memory)) from None
            if kind == "memory":
                limit = "" if memory is None else f" than the limit of {size(memory)}"
                raise OutOfMemory(f"more memory is needed{limit or ' than there is'} ({value or 'no details'})")
        except BaseException:  # Ctrl-C as well: the pending answer would be taken for that of the next request
            self.close()
            raise
        if kind == "refused":
            raise value
        if kind == "raised":
            name, line = value
            raise type(name, (OutsideError,), {})(line)
        return value

    def _start(self) -> Connection:
        ours, theirs = socket.socketpair()
        script = _SCRIPT.format(path=sys.path, module=CHILD, fd=theirs.fileno(), parent=os.getpid())
        with theirs:
            # A separate process group: only the parent handles Ctrl-C, and a kill reaches the process' children too.
            self._started = subprocess.Popen(
                [sys.executable, "-P", "-c", script],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._pipe = Connection(ours.detach())
        return self._pipe

    def _cause(self, memory: int | None) -> str:
        assert self._started is not None
        try:
            code = self._started.wait(5)
        except subprocess.TimeoutExpired:  # it closed the pipe but is still running
            return "its process stopped answering"
        limit = "" if memory is None else f" under a memory limit of {size(memory)}"
        if code >= 0:
            return f"its process left with exit code {code}{limit}"
        number = -code
        try:
            name, what = signal.Signals(number).name, (signal.strsignal(number) or "").lower()
        except ValueError:
            name, what = f"signal {number}", ""
        words = f" ({what})" if what else ""
        return f"its process died of {name}{words}{limit}"

    def close(self) -> None:
        """End the process and its children."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._started is not None:
            try:
                os.killpg(self._started.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._started.kill()
            self._started.wait()
            self._started = None

    def __del__(self) -> None:
        self.close()


_OF_THREAD = threading.local()


def own_process() -> Process:
    """Return the process of the calling thread; it ends with the thread."""
    if not hasattr(_OF_THREAD, "process"):
        _OF_THREAD.process = Process()
    process: Process = _OF_THREAD.process
    return process


def leave_with(parent: int) -> None:
    """Make the system end this process with its parent, even inside code that never releases the interpreter."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # the parent had died before
        os._exit(1)


def size(n: int) -> str:
    """Return a number of bytes in the largest unit that leaves few digits."""
    for unit, power in (("GB", 30), ("MB", 20), ("kB", 10)):
        if n >= 1 << power:
            return f"{n / (1 << power):.3g} {unit}"
    return f"{n} bytes"
