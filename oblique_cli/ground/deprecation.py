"""How a public thing goes away: it warns for one minor version and is left out of the next (docs/versions.md)."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

Thing = TypeVar("Thing", bound=Callable[..., Any])


class Deprecated(NamedTuple):
    """A thing that goes away. since, gone_in : versions; instead : what to use"""

    name: str
    since: str
    gone_in: str
    instead: str

    def __str__(self) -> str:
        return f"{self.name} is deprecated since {self.since} and goes in {self.gone_in}; use {self.instead}."


ALL: list[Deprecated] = []  # what is marked, which tests hold to its versions


def deprecated(*, since: str, gone_in: str, instead: str) -> Callable[[Thing], Thing]:
    """Mark a function or a class: a call of it is a FutureWarning, at the caller's line.

    since, gone_in : versions, as "0.2.0"; instead : what to use, as "`oblique_cli.load`"

    Raises ValueError unless gone_in is a later minor or major version than since.
    """
    if not _minor(gone_in) > _minor(since):
        raise ValueError(f"gone_in must be a later minor version than since ({since}). Got {gone_in}.")

    def mark(thing: Thing) -> Thing:
        notice = Deprecated(f"{thing.__module__}.{thing.__qualname__}", since, gone_in, instead)
        ALL.append(notice)
        # A class keeps being one: isinstance and subclasses go on working.
        target = thing.__init__ if isinstance(thing, type) else thing  # type: ignore[misc]

        @functools.wraps(target)
        def warning(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(str(notice), FutureWarning, stacklevel=2)
            return target(*args, **kwargs)

        if isinstance(thing, type):
            thing.__init__ = warning  # type: ignore[misc]
            return thing
        return warning  # type: ignore[return-value]

    return mark


def _minor(version: str) -> tuple[int, int]:
    major, minor, *_ = (int(part) for part in version.split("."))
    return major, minor
