"""Very large and very small numbers: powers of 2 that scale weights and features so that squares do not overflow.

One rule for all algorithms. Numbers between 2**-300 and 2**300 (about 1e-90 and 1e90) are used unscaled. Beyond, an
algorithm whose result does not depend on units scales by a power of 2, which is exact; any other algorithm raises an
error that names the column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ColumnError, ConfigError
from oblique_cli.ground.arrays import Array

Exponents = NDArray[np.int64]

EXPONENT = 300  # squares and products of three numbers up to 2**300 are normal numbers
RATIO = 2.0**200  # of two weights; the twoing criterion multiplies four sums of weights
APART = 2.0**900  # of two columns; beyond, sums of both and their products vanish or overflow in any common unit


def exponents(X: Array) -> Exponents:
    """Return the exponent of 2 for each column, (p,): that of its largest number, 0 if the column needs no scaling."""
    sizes = np.fmax.reduce(np.abs(X), axis=0, initial=0.0)
    powers = np.frexp(sizes)[1].astype(np.int64)
    return np.where(np.abs(powers) > EXPONENT, powers, 0)


def common_exponent(X: Array) -> int:
    """Return the exponent of 2 for all columns together, 0 if the largest of them needs no scaling."""
    sizes = np.fmax.reduce(np.abs(X), axis=None, initial=0.0)
    power = int(np.frexp(sizes)[1])
    return power if abs(power) > EXPONENT else 0


def measured(X: Array, powers: int | Exponents) -> Array:
    """Return X in units of 2**powers, X itself if all are 0. powers : one number, or one for each column."""
    if not np.any(powers):
        return X
    # In two steps, because 2**1074 overflows.
    half = np.asarray(powers) // 2
    with np.errstate(over="ignore"):  # to infinity, which callers clip or refuse
        out: Array = np.ldexp(np.ldexp(X, -half), half - powers)
    return out


def refuse_extreme(X: Array, owner: str, low: float = 2.0**-EXPONENT, high: float = 2.0**EXPONENT) -> None:
    """Raise ColumnError if a column has numbers above `high` in size, or if all are below `low` and not all 0."""
    sizes = np.fmax.reduce(np.abs(X), axis=0, initial=0.0)
    wrong = np.flatnonzero((sizes > high) | ((sizes > 0.0) & (sizes < low)))
    if len(wrong):
        j = int(wrong[0])
        raise ColumnError(
            f"{{}} holds numbers up to {sizes[j]:.3g} in size, and {owner} takes columns whose largest is from "
            f"{low:.0e} to {high:.0e}; divide the column by a unit.",
            j,
        )


def refuse_wide(X: Array, owner: str) -> None:
    """Raise ColumnError if the difference of two numbers of a column overflows; NaN are ignored."""
    with np.errstate(over="ignore"):
        width = np.fmax.reduce(X, axis=0, initial=-np.inf) - np.fmin.reduce(X, axis=0, initial=np.inf)
    if len(wide := np.flatnonzero(width == np.inf)):
        j = int(wide[0])
        raise ColumnError(
            f"{{}} holds numbers from {np.nanmin(X[:, j]):.3g} to {np.nanmax(X[:, j]):.3g}, whose difference {owner} "
            "cannot hold; divide the column by 10.",
            j,
        )


def refuse_apart(X: Array, owner: str, levels: Sequence[int] = ()) -> None:
    """Raise ColumnError if two columns have so different units that their sum equals one of them; columns of 0 or NaN
    and `levels`, columns of codes, are ignored."""
    # Not by absolute values, which would need as much memory as the table.
    highest, lowest = np.fmax.reduce(X, axis=0, initial=0.0), np.fmin.reduce(X, axis=0, initial=0.0)
    sizes = np.maximum(highest, -lowest).astype(np.float64)
    sizes[list(levels)] = 0.0
    there = np.flatnonzero(sizes > 0.0)
    if not len(there):
        return
    least, most = int(there[sizes[there].argmin()]), int(sizes.argmax())
    if sizes[least] < sizes[most] / APART:
        raise ColumnError(
            f"{{}} holds numbers up to {sizes[least]:.3g} in size and {{}} up to {sizes[most]:.3g}; {owner} adds up "
            f"columns, and takes ratios of at most {APART:.0e}: divide one by a unit, or take an axis-parallel tree.",
            least,
            most,
        )


def comparable(weights: Array, culprit: str) -> Array:
    """Return weights (n,), times the power of 2 that takes the largest near 1 if they are extreme. ConfigError if two
    differ so much that the smaller one is lost in every sum. culprit : name of the weights in the message"""
    positive = weights > 0.0
    if not positive.any():
        return weights
    powers = np.frexp(weights)[1]
    if np.abs(powers[positive]).max() > EXPONENT:
        weights = measured(weights, int(powers[positive].max()))
    lightest, heaviest = weights[positive].min(), weights.max()
    if lightest < heaviest / RATIO:
        raise ConfigError(
            f"{culprit} must not differ by more than a factor of {RATIO:.0e}, beyond which the lighter of two "
            f"rows counts for nothing. Row {int(np.argmax(weights))} weighs more than that many times row "
            f"{int(np.flatnonzero(positive)[np.argmin(weights[positive])])}; set the least weights to 0."
        )
    return weights


def product(first: Array, second: Array, culprit: str) -> Array:
    """Return the products of two weights of each row, (n,), as `comparable` gives them, without overflow."""
    with np.errstate(over="ignore", under="ignore"):
        plain: Array = first * second
    there = (first > 0.0) & (second > 0.0)
    powers = np.frexp(plain[there])[1]
    if np.isfinite(plain).all() and (plain[there] > 0.0).all() and (np.abs(powers) <= EXPONENT).all():
        return comparable(plain, culprit)
    a, b = (measured(w, int(np.frexp(w.max())[1])) for w in (first, second))
    with np.errstate(under="ignore"):
        scaled: Array = a * b
    # A product that underflows is smaller than the largest by more than any allowed ratio.
    return comparable(np.where(there & (scaled == 0.0), np.finfo(float).smallest_subnormal, scaled), culprit)


FEWEST_DIGITS = 2.0**-16  # for the smallest weight; coarser rounding would change the weight


def summable_quantum(n: int, heaviest: float) -> float:
    """Return the power of 2 to whose multiples n weights up to `heaviest` are rounded so that every sum is exact."""
    return float(2.0 ** (np.frexp(n * heaviest)[1] - 53))


def summable(weights: Array) -> Array:
    """Return weights in units of the smallest, rounded so that all their sums are exact in any order; unchanged if the
    smallest would lose more than 2**-16 of itself."""
    quantum = summable_quantum(len(weights), float(weights.max()))
    if quantum > FEWEST_DIGITS:
        return weights
    return np.round(weights / quantum) * quantum
