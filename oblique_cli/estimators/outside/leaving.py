"""How a process ends with the one that started it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys


def leave_with(parent: int) -> None:
    """Let the system end this process with its parent, even inside code that never lets go of the interpreter."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # it died before
        os._exit(1)
