"""Columns of levels, as users hold them, into the level codes that trees work on.

Levels are learned from the rows of `fit`. A level that appears later, and a missing value, become code -1: no level at
all, whose score is 0 at every node (thesis 3.7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.ground.registry import close_matches

Array = NDArray[np.float64]


def qualitative_columns(X: Any, declared: Any, owner: str) -> tuple[int, ...]:
    """Return the positions of the qualitative columns of X, ascending.

    declared : "auto" takes the columns of a DataFrame that hold objects, categories, strings or booleans, and none of
        anything else; None takes none; otherwise a list of positions, or of column names of a DataFrame
    """
    names = list(getattr(X, "columns", ()))
    if isinstance(declared, str) and declared == "auto":
        if not is_frame(X):
            return ()
        return tuple(j for j, dtype in enumerate(X.dtypes) if getattr(dtype, "kind", "O") in "Ob")
    if declared is None:
        return ()
    if isinstance(declared, str) or not isinstance(declared, Sequence | np.ndarray):
        raise ConfigError(f"qualitative of {owner} must be 'auto', None or a list of columns. Got {declared!r}.")
    n_columns = len(names) or np.shape(X)[1]
    found = set()
    for column in declared:
        if isinstance(column, str):
            if column not in names:
                hint = close_matches(column, [name for name in names if isinstance(name, str)])
                raise ConfigError(f"qualitative of {owner}: X has no column named {column!r}.{hint}")
            found.add(names.index(column))
        elif isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < n_columns:
            found.add(int(column))
        else:
            raise ConfigError(
                f"qualitative of {owner} must list column names or positions from 0 to {n_columns - 1}. Got {column!r}."
            )
    return tuple(sorted(found))


def learned(X: Any, columns: Sequence[int], cap: int, owner: str) -> dict[int, tuple[Any, ...]]:
    """Return the levels of each column, ascending; ConfigError for a column of more than `cap`."""
    levels = {}
    for j in columns:
        values, missing = _column(X, j)
        found = _distinct(values[~missing])
        if len(found) > cap:
            name = X.columns[j] if is_frame(X) else j
            raise ConfigError(
                f"qualitative column {name!r} has {len(found)} levels, and max_levels of {owner} allows {cap}; "
                "join rare levels, leave the column out, or raise max_levels."
            )
        levels[j] = found
    return levels


def coded(X: Any, levels: Mapping[int, tuple[Any, ...]]) -> Array:
    """Return X as numbers, level codes in the columns of `levels`; (n, p) float64, C order.

    Quantitative columns are converted and not checked: ValueError if they hold no numbers.
    """
    n, p = np.shape(X)
    out = np.empty((n, p))
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub":
        out[:] = X
    else:
        for j in range(p):
            if j not in levels:
                out[:, j] = X.iloc[:, j].to_numpy(dtype=np.float64) if is_frame(X) else [row[j] for row in X]
    for j, known in levels.items():
        values, missing = _column(X, j)
        out[:, j] = -1.0
        out[~missing, j] = _codes(values[~missing], known)
    return out


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame of pandas, or one that looks like it."""
    return hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns")


def _column(X: Any, j: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values of a column, and which of them are missing."""
    if is_frame(X):
        column = X.iloc[:, j]
        return column.to_numpy(dtype=object), column.isna().to_numpy(dtype=bool)
    if isinstance(X, np.ndarray):
        values = X[:, j]
    else:
        values = np.empty(len(X), dtype=object)
        values[:] = [row[j] for row in X]
    if values.dtype.kind == "O":
        return values, np.array([not _is_value(value) for value in values], dtype=bool)
    return values, np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def _is_value(value: Any) -> bool:
    """Whether a cell holds anything: not None, and not one of the many NaN, which differ from themselves."""
    try:
        return value is not None and bool(value == value)
    except TypeError:  # pandas.NA
        return False


def _distinct(values: NDArray[Any]) -> tuple[Any, ...]:
    if values.dtype.kind != "O":
        return tuple(np.unique(values).tolist())
    try:
        return tuple(sorted(set(values)))
    except TypeError:  # numbers beside words: by kind first
        return tuple(sorted(set(values), key=lambda value: (type(value).__name__, str(value))))


def _codes(values: NDArray[Any], known: tuple[Any, ...]) -> Array:
    if values.dtype.kind == "O":
        place = {value: float(code) for code, value in enumerate(known)}
        return np.array([place.get(value, -1.0) for value in values])
    # Columns of numbers may be long, and their levels are sorted.
    table = np.array(known)
    if len(known) == 0 or (table.dtype.kind not in "fiub" and table.dtype.kind != values.dtype.kind):
        return np.full(len(values), -1.0)
    at = np.minimum(np.searchsorted(table, values), len(table) - 1)
    return np.where(table[at] == values, at, -1).astype(np.float64)
