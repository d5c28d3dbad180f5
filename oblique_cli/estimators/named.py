"""A class for every name of an algorithm: `TAORegressor()` is what ``make("tao_regression")`` returns, as a class.

Several names share an estimator and differ in parameters that they decide (`Algorithm.fixed`). One of these is the
estimator as it is; each other one has a subclass here, made from the table of algorithms, in which those parameters are
no parameters any more. So `inspect.signature`, `help`, `get_params` and `clone` show what the name leaves open, and a
new row of the table has its class without another line. In model files, exports and explanations an object of such a
class is the estimator that the name stands for.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from types import new_class
from typing import Any

from oblique_cli.estimators.algorithms import ALGORITHMS, Algorithm, FixedEstimator
from oblique_cli.parameters import SECTION

SUFFIXES = {"classification": "Classifier", "regression": "Regressor"}
_MADE: dict[str, type[Any]] = {}  # name of an algorithm -> its class


def class_of(name: str) -> type[Any]:
    """Return the class of an algorithm by the name that configurations use. UnknownName for a name that is none."""
    algorithm = ALGORITHMS[name]
    closed = _closed(algorithm)
    if not closed:
        return algorithm.estimator
    if name not in _MADE or _MADE[name].__bases__ != (algorithm.estimator,):
        _MADE[name] = _made(algorithm, closed)
    return _MADE[name]


def class_name(algorithm: Algorithm) -> str:
    """Return what the class of an algorithm is called: its title without signs, and what it is."""
    suffix = SUFFIXES[algorithm.family.task]
    words = re.split(r"[^A-Za-z0-9]+", algorithm.title)
    words = words[:-1] if words[-1] == "regression" else words
    return "".join(word[:1].upper() + word[1:] for word in words) + suffix


def names() -> dict[str, str]:
    """Return the algorithm of every class of this module, name -> name."""
    return {class_name(algorithm): name for name, algorithm in ALGORITHMS.items() if _closed(algorithm)}


def __getattr__(called: str) -> Any:
    if (name := names().get(called)) is not None:
        return class_of(name)
    raise AttributeError(f"module {__name__!r} has no attribute {called!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *names()})


def _closed(algorithm: Algorithm) -> Mapping[str, Any]:
    """Return the parameters that a name fixes, with their values; none if these are the estimator's defaults."""
    if not isinstance(algorithm, FixedEstimator):
        return {}
    declared = getattr(algorithm.estimator, "parameters", {})
    defaults = {name: declared[name].default for name in algorithm.fixed if name in declared}
    if defaults == dict(algorithm.fixed) or defaults.keys() != algorithm.fixed.keys():
        return {}
    return {**{name: declared[name].default for name in algorithm.unused}, **algorithm.fixed}


def _as_registered(self: Any) -> Any:
    """Return an instance of the registered class with the parameters and fitted state of `self`."""
    estimator: Any = object.__new__(type(self).__bases__[0])
    vars(estimator).update({name: getattr(self, name) for name in self.decided} | vars(self))
    return estimator


def _made(algorithm: Algorithm, closed: Mapping[str, Any]) -> type[Any]:
    base, called = algorithm.estimator, class_name(algorithm)
    behind = (inspect.getdoc(base) or "").partition(f"\n{SECTION}")[2].partition("\nAttributes\n")[2]
    decided = ", ".join(f"{name}={value!r}" for name, value in closed.items())
    text = [
        f"{algorithm.title}: `{base.__name__}` with what the name decides.",
        "",
        f"It has {decided}; the same as ``make({algorithm.name!r})``.",
        "",
        f"Source: {algorithm.source}.",
        *(["", f"Attributes\n{behind}"] if behind else []),
    ]
    members: dict[str, Any] = {
        **closed,
        "decided": tuple(closed),
        "algorithm_name": algorithm.name,
        "as_registered": _as_registered,
    }
    members |= {"__module__": __name__, "__qualname__": called, "__doc__": "\n".join(text)}
    return new_class(called, (base,), exec_body=lambda body: body.update(members))
