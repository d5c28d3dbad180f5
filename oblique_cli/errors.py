"""Errors for users, each with the exit code of the command line.

Exit codes: 0 all done, 1 internal error, 2 usage or configuration, 3 finished but some folds failed, 4 data missing or
damaged, 5 results store locked or damaged, or no writable place, 6 reproduction outside tolerance, 7 a property of a
model refuted or undecided, 130 interrupted, 141 closed output pipe, 143 terminated.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import Any

EXIT_OK = 0
EXIT_INTERNAL = 1
EXIT_CONFIG = 2
EXIT_FAILED_FOLDS = 3
EXIT_DATA = 4
EXIT_STORE = 5
EXIT_OUTSIDE_TOLERANCE = 6
EXIT_REFUTED = 7
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141
EXIT_TERMINATED = 143


# Errors of a full disk or quota, and of a file at its size limit.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Errors of a place that is not writable: a read-only file system, missing permissions.
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


class ObliqueError(Exception):
    """Base of every error with a message written for the user: one sentence, and what to try."""

    exit_code = EXIT_INTERNAL


class ConfigError(ObliqueError, ValueError):
    """A configuration, option or parameter that cannot be used."""

    exit_code = EXIT_CONFIG


class UnknownName(ConfigError):
    """Error for an unknown name of a registry; the message lists close matches."""


class NotConverged(ConfigError):
    """Error for an iteration that did not converge with its parameters.

    label    class of the rows
    """

    def __init__(self, reason: str, label: Any) -> None:
        super().__init__(f"class {label}, {reason}")
        self.reason, self.label = reason, label

    def __reduce__(self) -> tuple[type[NotConverged], tuple[str, Any]]:
        return type(self), (self.reason, self.label)


class PluginError(ConfigError):
    """Error for plugin code that failed or returned an invalid result; the message names the plugin or its file."""


class DataError(ObliqueError, ValueError):
    """A data set that is missing, damaged, or not what its description says."""

    exit_code = EXIT_DATA


class ColumnError(DataError):
    """Error for numbers of columns that an algorithm does not accept.

    text     the sentence, with a pair of braces for each column
    columns  positions of the columns in the algorithm's rows
    """

    def __init__(self, text: str, *columns: int) -> None:
        super().__init__(text.format(*(f"column {j} of X" for j in columns)))
        self.text, self.columns = text, columns

    def __reduce__(self) -> tuple[type[ColumnError], tuple[str | int, ...]]:
        return type(self), (self.text, *self.columns)

    def named(self, names: Sequence[str]) -> DataError:
        """Return the error with the names of the columns."""
        return DataError(self.text.format(*(f"column {str(names[j])!r}" for j in self.columns)))


class StoreError(ObliqueError):
    """Error for a results store that is locked, damaged, or written by a newer version."""

    exit_code = EXIT_STORE


def cannot_write(path: Any, error: OSError, advice: str = "") -> ObliqueError:
    """Return the error for a file or a folder that cannot be written, with the exit code of its cause.

    advice : replaces the default advice
    """
    if error.errno in NO_ROOM:
        advice = advice or "free some space, or write somewhere else"
        return StoreError(f"{path} cannot be written, the disk is full: {advice}.")
    kind = StoreError if error.errno in READ_ONLY else DataError
    return kind(f"{path}: cannot be written ({error.strerror or error})" + (f"; {advice}" if advice else ""))


def not_installed(error: BaseException) -> str:
    """Return the sentence for a missing package, empty for any other error."""
    module = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if module in ("", "oblique_cli"):
        return ""
    package = {"sklearn": "scikit-learn", "yaml": "pyyaml"}.get(module, module)
    return f"the package {package}, which oblique needs, is not installed: pip install {package}."


def kernels_fault(error: BaseException) -> str:
    """Return the sentence of the core about the instruction set that it shall use, empty for any other error."""
    return str(error) if isinstance(error, ImportError) and str(error).startswith("OBLIQUE_KERNELS ") else ""


def exit_code_of(error: BaseException) -> int:
    """Return the exit code of an error: a full disk or a bad path in its chain of causes decides, else its class."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno == errno.ENAMETOOLONG:
            return EXIT_CONFIG
        if isinstance(cause, OSError) and cause.errno in (*NO_ROOM, errno.EROFS):
            return EXIT_STORE
        cause = cause.__cause__ or cause.__context__
    return error.exit_code if isinstance(error, ObliqueError) else EXIT_INTERNAL


MOST_QUOTED = 60  # characters of a cell or a name in a message: a table can have millions in one cell


def cut(text: str, most: int = MOST_QUOTED) -> str:
    """Return a text from a file for a sentence: at most `most` characters, with three dots if shortened."""
    return text if len(text) <= most else text[: most - 3] + "..."


def quoted(value: Any, most: int = MOST_QUOTED) -> str:
    """Return the `repr` of a value from a file for a sentence, at most `most` characters."""
    return cut(repr(value), most)


def cut_list(texts: Sequence[str], most: int = 10) -> str:
    """Return the first texts, and the number of further texts: "a, b and 3 more"."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")
