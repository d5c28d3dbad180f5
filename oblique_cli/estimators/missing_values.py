"""Missing values in an estimator's rows: an error that names the column, or median imputation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.categorical import is_frame
from oblique_cli.ground.arrays import Array

REFUSE, IMPUTE, LEARN, AUTO = "error", "impute", "learn", "auto"  # values of `missing`


def has_gaps(X: Any, qualitative: Sequence[int]) -> bool:
    """Return whether X is a data frame with a missing value outside its qualitative columns."""
    if not is_frame(X):
        return False
    gaps = np.array(X.isna().any(axis=0), dtype=bool)
    gaps[list(qualitative)] = False
    return bool(gaps.any())


def refuse_missing(X: Array, columns: list[int], estimator: Any, remedy: str) -> None:
    """Raise ConfigError that names the first of `columns` of X with NaN, if there is any."""
    if all_finite(X):
        return
    counts = np.isnan(X[:, columns]).sum(axis=0)
    if not counts.any():
        return
    at = int(np.flatnonzero(counts)[0])
    names = getattr(estimator, "feature_names_in_", None)
    name = f"column {columns[at]} of X" if names is None else f"column {names[columns[at]]!r}"
    values = "1 missing value" if counts[at] == 1 else f"{counts[at]} missing values"
    raise ConfigError(f"{name} has {values} (NaN), which {type(estimator).__name__} does not take; {remedy}.")


def all_finite(X: NDArray[Any]) -> bool:
    """Return whether X is known to be finite from its sum: fast, but False for some X of very large numbers."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(X.sum()))


def medians(X: Array, weights: Array | None) -> Array:
    """Return the median of each column of X (n, p), 0 for a column of NaN; weight 2 equals a duplicated row."""
    out = np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        there = ~np.isnan(X[:, j])
        known = X[there, j]
        if len(known) == 0:
            continue
        if weights is None:
            low, high = (len(known) - 1) // 2, len(known) // 2
            ordered = np.partition(known, (low, high))
        else:
            order = np.argsort(known)
            ordered, below = known[order], np.cumsum(weights[there][order])
            half, tolerance = 0.5 * below[-1], 1e-12 * below[-1]
            low, high = np.searchsorted(below, [half - tolerance, half + tolerance])
            high = min(high, len(known) - 1)
        out[j] = 0.5 * ordered[low] + 0.5 * ordered[high]
    return out
