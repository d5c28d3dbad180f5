"""Oblique decision trees: run, compare and trust HHCART, HHGDT, GDT and their relatives.

>>> from oblique_cli import HHGDTClassifier, make
>>> HHGDTClassifier(epsilon=0.1)  # doctest: +SKIP
>>> make("hhgdt", epsilon=0.1)  # the same, by the name that configurations use  # doctest: +SKIP
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036  (a checkout; an installer refuses before)
    _message = f"oblique needs Python 3.11 or newer. This is {sys.version.split()[0]}."
    if sys.argv[:1] == ["-m"]:  # Python's -m has this while it searches for the module
        sys.exit(f"error: {_message}")
    raise ImportError(_message)

from typing import Any

from oblique_cli.ground.later import FORMER, names_in_stub

__version__ = "0.1.0"

_PLACES = names_in_stub(__file__)
__all__ = [*_PLACES]


def place_of(name: str) -> str | None:
    """Return the module of a public name, None for a name not in `__init__.pyi`."""
    return _PLACES.get(name)


def __getattr__(name: str) -> Any:
    # On first use: the command line must start without loading numerical libraries.
    from importlib import import_module

    if name in FORMER:
        import warnings

        place, now = __name__, FORMER[name]
        warnings.warn(f"{place}.{name} is now {place}.{now}; the former name ends with 0.2.0.", FutureWarning, 2)
        name = now
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    if name.endswith(("Classifier", "Regressor")):  # perhaps from a user's file
        for key, algorithm in import_module(_PLACES["ALGORITHMS"]).ALGORITHMS.items():
            if algorithm.estimator.__name__ == name:
                return algorithm.estimator
            if algorithm.former_class == name:
                raise ImportError(f"{__name__}.{name} is removed; write oblique_cli.make({key!r}, ...).")
    if name in ("Growth", "Leaves", "C45", "Discretizer"):
        owner = "HHCARTClassifier" if name in ("Growth", "Leaves") else "OrthogonalTreesClassifier"
        raise ImportError(f"{__name__}.{name} is removed; give its parameters flat, as in {owner}(max_depth=3).")
    if name == "Refinement":
        raise ImportError(f"{__name__}.{name} is removed; give its parameters to TAOClassifier.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    loaded = sys.modules.get(_PLACES["ALGORITHMS"])
    further = [algorithm.estimator.__name__ for algorithm in loaded.ALGORITHMS.values()] if loaded else []
    return sorted({name for name in globals() if name.startswith("__")} | {*__all__, *further})
