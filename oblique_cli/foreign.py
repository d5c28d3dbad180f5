"""Origin of an exception: a plugin, by the name of its package or file, or this package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

ROOT = __name__.partition(".")[0]

_OWNERS: dict[str, str] = {}  # module of a plugin, or its package -> the plugin's name


def register_owner(module: str, who: str) -> None:
    """Register a module and its submodules as code of a plugin. who : start of the error messages"""
    _OWNERS[module] = who


def owner_of(module: str) -> str | None:
    """Return the name of the plugin of a module, None for any other module."""
    while module:
        if module in _OWNERS:
            return _OWNERS[module]
        module = module.rpartition(".")[0]
    return None


def plugin_fault(error: BaseException) -> str | None:
    """Return "plugin, place in its code, error" for an exception that passed through a plugin's code, else None.

    The place is the plugin's innermost frame, whatever libraries it has called.
    """
    for frame, line in reversed(list(_steps(error))):
        if who := owner_of(str(frame.f_globals.get("__name__", ""))):
            code = frame.f_code
            place = f"{code.co_qualname}, {Path(code.co_filename).name}:{line}"
            return f"{who} failed in {place} ({error_text(error)})"
    return None


def error_text(error: BaseException) -> str:
    """Return an error of foreign code as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def caller() -> str:
    """Return the file of the innermost frame outside this package, "<input>" without a file."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] != ROOT:
            return frame.f_code.co_filename if Path(frame.f_code.co_filename).is_file() else "<input>"
        frame = frame.f_back
    return "<input>"


def _steps(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """Yield the frames of an exception, the outermost first, with their line numbers."""
    step = error.__traceback__
    while step is not None:
        yield step.tb_frame, step.tb_lineno
        step = step.tb_next
