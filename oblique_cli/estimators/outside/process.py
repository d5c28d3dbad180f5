"""The parent's end of a process that fits models by themselves: limits, crashes, and what to say of them."""

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

# Seconds for what is no model's own work: the process starts and imports the library.
START = 300.0

CHILD = "oblique_cli.estimators.outside.child"
_SCRIPT = "import sys; sys.path[:] = {path}; from {module} import serve; serve({fd}, {parent})"


class OutsideError(ObliqueError):
    """An error of an estimator in a process of its own; its class has the name of that error."""


class OutOfTime(OutsideError):
    """A model was not done within its limit."""


class OutOfMemory(OutsideError):
    """A model needed more memory than its limit, or than there is."""


class Crashed(OutsideError):
    """The process of a model died."""


class Process:
    """A process that fits models, one request at a time. Started when it is first asked, and again after it died."""

    def __init__(self) -> None:
        self.numbers = itertools.count()  # of models
        self.forgotten: list[int] = []  # numbers of models that nobody will ask again
        self._questions = itertools.count()
        self._started: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None

    @property
    def generation(self) -> int:
        """A number that changes when the process was started again, and has lost its models."""
        return -1 if self._started is None else self._started.pid

    def ask(self, verb: str, seconds: float | None, memory: int | None = None, **arguments: Any) -> Any:
        """Return the answer to a request within seconds, None for ever; ConfigError for what cannot be used, and kinds
        of OutsideError for everything that goes wrong.
        """
        pipe = self._pipe or self._start()
        try:
            try:
                question = next(self._questions)
                pipe.send((question, verb, arguments))
                if not pipe.poll(seconds):
                    raise OutOfTime(f"not done within the limit of {seconds_text(seconds)}")
                answered, kind, value = pipe.recv()
                if answered != question:
                    raise Crashed("its process answered another question than the one it was asked")
            except (EOFError, ConnectionError):
                raise Crashed(self._cause(memory)) from None
            if kind == "memory":
                limit = "" if memory is None else f" than the limit of {size(memory)}"
                raise OutOfMemory(f"more memory is needed{limit or ' than there is'} ({value or 'no details'})")
        except BaseException:  # Ctrl-C as well: the answer to come would be taken for that of the next request
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
            # A group of its own: Ctrl-C is the parent's to answer, and a kill reaches the children of the process too.
            self._started = subprocess.Popen(
                [sys.executable, "-P", "-c", script],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._pipe = Connection(ours.detach())
        return self._pipe

    def _cause(self, memory: int | None) -> str:
        """How the process ended."""
        assert self._started is not None
        try:
            code = self._started.wait(5)
        except subprocess.TimeoutExpired:  # it closed the pipe and lives on
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
        """End the process, and whatever it started."""
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


class _Own(threading.local):
    """The process of a thread; it ends with the thread."""

    def __init__(self) -> None:
        self.process = Process()


_OWN = _Own()


def own_process() -> Process:
    """Return the process of the calling thread."""
    return _OWN.process


def leave_with(parent: int) -> None:
    """Let the system end this process with its parent, even inside code that never lets go of the interpreter."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # it died before
        os._exit(1)


def seconds_text(seconds: float | None) -> str:
    """Return a number of seconds with its unit."""
    return f"{seconds:g} s"


def size(n: int) -> str:
    """Return a number of bytes in the largest unit that leaves few digits."""
    for unit, power in (("GB", 30), ("MB", 20), ("kB", 10)):
        if n >= 1 << power:
            return f"{n / (1 << power):.3g} {unit}"
    return f"{n} bytes"
