"""Interface for extensions: all names that a plugin needs, and their guarantees (docs/extending.md).

>>> from oblique_cli.api import metric, heuristic, algorithm  # doctest: +SKIP

`API_VERSION` is "major.minor". Within a major version the names here stay, with their parameters and results; a minor
version may add names, optional parameters, and attributes with defaults. No other part of the package is guaranteed for
plugins. Importing this module loads no numerical libraries: names load on first use.
"""

from __future__ import annotations

from typing import Any

from oblique_cli.ground.later import names_in_stub

API_VERSION = "1.1"

_PLACES = names_in_stub(__file__)
__all__ = ["API_VERSION", *_PLACES]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _PLACES:
        value = globals()[name] = getattr(import_module(_PLACES[name]), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({name for name in globals() if name.startswith("__")} | {*__all__})
