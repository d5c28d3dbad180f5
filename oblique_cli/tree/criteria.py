"""Split criteria: those of the compiled core, and criteria of plugins as functions of class weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import oblique_cli._core as _core
from oblique_cli.errors import PluginError
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.registry import Registry, fault_of_function, source_of

Value = Callable[[Array, Array], Any]
Gain = Callable[[Array, Array], Any]

NEAR = 1e-9  # relative difference below which the search treats two values as equal


@dataclass(frozen=True)
class Criterion:
    """Split criterion for cuts.
    value : (left (m, K), right (m, K)) -> (m,), larger is better, None in `OF_THE_CORE`; gain : (values (m,), totals
    (K,)) -> (m,) published scores, linear in the values, 0 for a useless cut; None if the values are the scores."""

    value: Value | None = None
    gain: Gain | None = None


OF_THE_CORE = Criterion()


def _fault(criterion: Any) -> str | None:
    """Return the fault of a criterion as text that follows its name, or None."""
    if criterion is OF_THE_CORE:
        return None
    if not isinstance(criterion, Criterion) or criterion.value is None:
        return "is no function of class weights; put @criterion(name) over one"
    fault = fault_of_function(criterion.value, "left", "right", says="says what it prefers")
    if fault is None and criterion.gain is not None:
        of_gain = fault_of_function(criterion.gain, "values", "totals")
        fault = of_gain and f"has a gain that {of_gain}"
    return fault or _fault_of_values(criterion.value) or _fault_of_gain(criterion)


CRITERIA: Registry[Criterion] = Registry("criterion", "oblique list criteria", _fault)
for _name in _core.criteria():  # the core's list, so both engines know the same criteria
    CRITERIA.register(_name)(OF_THE_CORE)


def criterion(name: str, gain: Gain | None = None) -> Callable[[Value], Value]:
    """Decorator that registers a function of class weights as the criterion `name`, which both engines then know.

    The function takes left, right : (m, K) float64, the weights of the K classes of a node on either side of m cuts,
    and returns (m,) finite numbers, of which the largest wins. Weights are 0 or more, in units of the smallest weight
    of a row. Each side of a cut has a positive total weight, but possibly no weight of some classes. A class without
    rows on a side can have a rounding error of sums as its weight there. Exchanging the sides must not change a value,
    and no value may depend on another row, on randomness or on earlier calls: any thread calls it.
    gain : a function of (values (m,), totals (K,)) that returns published scores, linear in the values and growing
    with them; a node is split only if the score is above 0. Without it the score is the value

    There is one call for every direction of a node, and one for every cut in the climbs of OC1 and in tables of
    blocks; docs/extending.md has what that costs. ConfigError, with the file, if the name is in use or the function
    violates these rules on a few small tables."""

    def keep(function: Value) -> Value:
        CRITERIA.register(name)(Criterion(function, gain))

        who = f"{source_of(function)}: criterion {name!r}"
        whose = f"{source_of(gain)}: the gain of criterion {name!r}"

        def values(left: Array, right: Array) -> Array:
            return _checked(function(left, right), len(left), who)

        def score(value: float, totals: Array) -> float:
            assert gain is not None
            return float(_checked(gain(np.array([value]), totals), 1, whose)[0])

        _core.give_criterion(name, values, None if gain is None else score)
        return function

    return keep


def _checked(output: Any, m: int, who: str) -> Array:
    """Return a function's output for m cuts in the core's form; PluginError unless each cut has one finite number."""
    numbers = _numbers(output, m)
    if isinstance(numbers, str):
        raise PluginError(f"{who} {numbers}.")
    return numbers


def _numbers(output: Any, m: int) -> Array | str:
    """Return a function's output for m cuts in the core's form, or the fault of the output as text."""
    try:
        numbers = np.ascontiguousarray(output, dtype=np.float64)
    except (TypeError, ValueError):
        return f"must return {m} numbers for {m} cuts, and returns {type(output).__name__}"
    if np.shape(output) != (m,):
        return f"must return an array of shape ({m},) for {m} cuts, and returns one of shape {np.shape(output)}"
    if not np.isfinite(numbers).all():
        return f"must return finite numbers, and returns {numbers[~np.isfinite(numbers)][0]}"
    return numbers


def _trials() -> list[tuple[Array, Array]]:
    """Return cuts for trials: two to four classes, counts, weights, residues, absent and one-sided classes."""
    rng = np.random.default_rng(0)
    out = [(np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]), np.array([[2.0, 3.0], [1.0, 2.0], [3.0, 0.0]]))]
    for classes in (2, 3, 4):
        left, right = rng.integers(0, 9, (2, 7, classes)).astype(np.float64)
        left[:, 0], right[:, -1] = left[:, 0] + 1.0, right[:, -1] + 1.0
        out += [(left, right), (left * 1.37, right * 1.37)]
    absent = np.array([[1.0, 0.0, 4.0], [2.0, 0.0, 0.0]])
    residue = np.array([[1.0, 4.5e-13, 4.0], [2.0, 0.0, 1e-12]])  # of sums of weights
    return [*out, (absent, absent[::-1].copy()), (residue, residue[::-1].copy())]


def _fault_of_values(value: Value) -> str | None:
    """Return the fault of the values of a few cuts, or None."""
    for left, right in _trials():
        cut_values = _numbers(value(left.copy(), right.copy()), len(left))
        if isinstance(cut_values, str):
            return cut_values
        if not _near(cut_values, _numbers(value(right.copy(), left.copy()), len(left))):
            return "must give a cut the same value whichever side is called left"
        alone = [_numbers(value(left[i : i + 1].copy(), right[i : i + 1].copy()), 1) for i in range(len(left))]
        if not all(_near(cut_values[i : i + 1], single) for i, single in enumerate(alone)):
            return "must value each cut by itself, and gives one alone another value than among others"
    return None


def _fault_of_gain(criterion: Criterion) -> str | None:
    """Return the fault of the scores of a few values, or None."""
    if criterion.gain is None:
        return None
    for totals in (np.array([3.0, 4.0]), np.array([5.0, 0.5, 2.0])):
        gains = _numbers(criterion.gain(np.array([0.0, 1.0, 2.0]), totals), 3)
        if isinstance(gains, str):
            return f"has a gain that {gains}"
        if not gains[1] > gains[0] or not _near(gains[2:], 2.0 * gains[1:2] - gains[:1]):
            return "has a gain that must be linear in the values, and grow with them"
    return None


def _near(values: Array, others: Array | str) -> bool:
    if isinstance(others, str):
        return False
    return bool(np.all(np.abs(values - others) <= NEAR * (1.0 + np.abs(values))))
