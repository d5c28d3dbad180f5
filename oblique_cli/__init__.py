"""Oblique decision trees: run, compare and trust HHCART, HHGDT, GDT and their relatives.

>>> from oblique_cli import HHGDTClassifier, make
>>> HHGDTClassifier(epsilon=0.1)  # doctest: +SKIP
>>> make("hhgdt", epsilon=0.1)  # the same, by the name that configurations use  # doctest: +SKIP
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036  (a checkout; an installer refuses before)
    _message = f"oblique needs Python 3.11 or newer. This is {sys.version.split()[0]}."
    if sys.argv[:1] == ["-m"]:  # what Python's -m has there while it looks for the module
        sys.exit(f"error: {_message}")
    raise ImportError(_message)

from typing import Any

from oblique_cli.ground.later import names_in_stub

__version__ = "0.1.0"

_PLACES = names_in_stub(__file__)
__all__ = [*_PLACES]


def place_of(name: str) -> str | None:
    """Return the module of a public name, None for a name that `__init__.pyi` does not list."""
    return _PLACES.get(name)


def __getattr__(name: str) -> Any:
    # On first use: the command line must start without numerical libraries.
    from importlib import import_module

    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    if name.endswith(("Classifier", "Regressor")):  # made from the table of algorithms, or of a file that a user added
        named = import_module("oblique_cli.estimators.named")
        for algorithm in named.ALGORITHMS:
            if named.class_of(algorithm).__name__ == name:
                return named.class_of(algorithm)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    loaded = sys.modules.get("oblique_cli.estimators.named")
    further = [loaded.class_of(name).__name__ for name in loaded.ALGORITHMS] if loaded else []
    return sorted({*globals(), *__all__, *further})
