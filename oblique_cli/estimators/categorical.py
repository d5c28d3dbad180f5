"""Codes of qualitative columns; a level not seen in `fit` and a missing value become -1, of score 0 (thesis 3.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError, cut
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.labels import label_order
from oblique_cli.ground.registry import close_matches

MOST_LEVELS = 1000  # of a text column that becomes indicators


def qualitative_columns(X: Any, declared: Any, owner: str) -> tuple[int, ...]:
    """Return the positions of the qualitative columns of X, ascending. declared : as `qualitative` of `Columns`"""
    names = list(getattr(X, "columns", ()))
    if isinstance(declared, str) and declared == "auto":
        if not is_frame(X):
            return ()
        return tuple(j for j, dtype in enumerate(X.dtypes) if getattr(dtype, "kind", "O") in "ObUS")
    if declared is None:
        return ()
    if isinstance(declared, str) or not isinstance(declared, Sequence | np.ndarray):
        raise ConfigError(f"qualitative of {owner} must be 'auto', None or a list of columns. Got {declared!r}.")
    n_columns = len(names) or np.shape(X)[1]
    positions = set()
    for column in declared:
        if isinstance(column, str):
            if column not in names:
                hint = close_matches(column, [name for name in names if isinstance(name, str)])
                raise ConfigError(f"qualitative of {owner}: X has no column named {column!r}.{hint}")
            positions.add(names.index(column))
        elif isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < n_columns:
            positions.add(int(column))
        else:
            raise ConfigError(
                f"qualitative of {owner} must list column names or positions from 0 to {n_columns - 1}. Got {column!r}."
            )
    return tuple(sorted(positions))


def learned(X: Any, columns: Sequence[int], cap: int, owner: str) -> dict[int, tuple[Any, ...]]:
    """Return the levels of each column, ascending; ConfigError for a column of more than `cap` levels."""
    levels = {}
    for j in columns:
        values, missing = _column(X, j)
        distinct = _distinct(values[~missing])
        if len(distinct) > cap:
            name = X.columns[j] if is_frame(X) else j
            raise ConfigError(
                f"qualitative column {name!r} has {len(distinct)} levels, and max_levels of {owner} allows {cap}; "
                "join rare levels, leave the column out, or raise max_levels."
            )
        levels[j] = distinct
    return levels


def coded(X: Any, levels: Mapping[int, tuple[Any, ...]]) -> Array:
    """Return X as numbers, (n, p) in C order, with codes in the columns of `levels`; ValueError for text in others."""
    n, p = np.shape(X)
    out = np.empty((n, p))
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub":
        out[:] = X
    else:
        for j in range(p):
            if j not in levels:
                cells = X.iloc[:, j].to_numpy(dtype=np.float64, na_value=np.nan) if is_frame(X) else None
                out[:, j] = [row[j] for row in X] if cells is None else cells
    for j, known in levels.items():
        values, missing = _column(X, j)
        out[:, j] = -1.0
        out[~missing, j] = _codes(values[~missing], known)
    return out


def columns_of_words(X: Any, owner: str) -> tuple[int, ...]:
    """Return the positions of a data frame's categories, and of columns with a cell that is no number, ascending."""

    def holds_words(j: int) -> bool:
        cells, missing = _cells(X, j)
        return hasattr(X.dtypes.iloc[j], "categories") or not all(map(becomes_number, cells[~missing].tolist()))

    return tuple(filter(holds_words, qualitative_columns(X, "auto", owner)))


def words_of(X: Any, columns: Sequence[int], owner: str) -> dict[int, tuple[str, ...]]:
    """Return the levels of columns of a data frame as texts, in the order of a table's levels (`label_order`)."""
    words = {}
    for j in columns:
        cells, missing = _cells(X, j)
        levels = set(_texts(cells[~missing], _called(X, j), owner).values())
        if len(levels) > MOST_LEVELS:
            raise ConfigError(
                f"{_called(X, j)} has {len(levels)} levels, and {owner} takes {MOST_LEVELS} at most; join rare levels, "
                "or leave the column out."
            )
        words[j] = tuple(sorted(levels, key=label_order)) or ("",)  # a column without any text has one level
    return words


def cells_of(X: Any, levels: Mapping[int, Sequence[str]], owner: str) -> Array:
    """Return a data frame, or an array of its columns, as cells, (n, p): NaN for an empty cell, codes in columns of
    `levels` (an unknown level gets the code after the last), numbers elsewhere; ConfigError for text there."""
    out = np.empty(np.shape(X))
    for j in range(out.shape[1]):
        if j in levels:
            cells, missing = _cells(X, j)
            texts = _texts(cells[~missing], _called(X, j), owner)
            code = {level: float(k) for k, level in enumerate(levels[j])}
            place = {cell: code.get(text, float(len(code))) for cell, text in texts.items()}
            out[missing, j] = np.nan
            out[~missing, j] = [place[cell] for cell in cells[~missing].tolist()]
        elif getattr(X.dtypes.iloc[j] if is_frame(X) else X.dtype, "kind", "O") in "fiub":
            out[:, j] = X.iloc[:, j].to_numpy(dtype=np.float64, na_value=np.nan) if is_frame(X) else X[:, j]
        else:
            cells, missing = _cells(X, j)
            try:
                out[~missing, j] = cells[~missing].astype(np.float64)
            except (TypeError, ValueError):
                word = next(cell for cell in cells[~missing].tolist() if not becomes_number(cell))
                raise ConfigError(
                    f"{_called(X, j)} holds {cut(repr(word))}, and {owner} was fitted to numbers there; mend the cell, "
                    "or leave it empty if the value is missing."
                ) from None
            out[missing, j] = np.nan
    return out


def becomes_number(cell: Any) -> bool:
    """Return whether a cell is a number, or the text of a number."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _cells(X: Any, j: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the values of a column, and which of them are missing, blank texts included."""
    values, missing = _column(X, j)
    if values.dtype.kind not in "OU":
        return values, missing
    return values, missing | np.array([isinstance(cell, str) and not cell.strip() for cell in values], dtype=bool)


def _texts(cells: NDArray[Any], name: str, owner: str) -> dict[Any, str]:
    """Return each distinct cell with its text in a table: whole numbers without a decimal point."""
    try:
        distinct = set(cells.tolist())
    except TypeError:
        strange = next(cell for cell in cells.tolist() if getattr(cell, "__hash__", None) is None)
        raise ConfigError(
            f"{name} holds {cut(repr(strange))}, which {owner} takes neither for a number nor for a word."
        ) from None
    whole = {cell: isinstance(cell, float) and cell.is_integer() for cell in distinct}
    return {cell: str(int(cell) if whole[cell] else cell).strip() for cell in distinct}


def _called(X: Any, j: int) -> str:
    return f"column {X.columns[j]!r}" if is_frame(X) else f"column {j} of X"


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame of pandas, or has its interface."""
    return hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns")


def as_frame(X: Any) -> Any:
    """Return a data frame of polars or a table of pyarrow as a data frame of pandas, anything else as it is."""
    if is_frame(X) or not hasattr(X, "__arrow_c_stream__") or len(getattr(X, "shape", ())) != 2:
        return X
    import pandas as pd

    names = X.column_names if hasattr(X, "column_names") else X.columns
    return pd.DataFrame({name: _values_of(X[name]) for name in names})


def _values_of(column: Any) -> Any:
    """Return a column of polars or pyarrow for pandas: an array of numbers or dates, or a list that may have None."""
    try:
        values = column.to_numpy()
    except (NotImplementedError, TypeError, ValueError):  # pyarrow has no array of some types
        values = np.empty(0, dtype=object)
    if values.dtype.kind in "fiubMm":
        return values
    return column.to_list() if hasattr(column, "to_list") else column.to_pylist()


def _column(X: Any, j: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the values of a column, and which of them are missing."""
    if is_frame(X):
        column = X.iloc[:, j]
        return column.to_numpy(dtype=object), column.isna().to_numpy(dtype=bool)
    if isinstance(X, np.ndarray):
        values = X[:, j]
    else:
        values = np.empty(len(X), dtype=object)
        values[:] = [row[j] for row in X]
    if values.dtype.kind == "O":
        import pandas as pd

        return values, np.asarray(pd.isna(values), dtype=bool)
    return values, np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def _distinct(values: NDArray[Any]) -> tuple[Any, ...]:
    if values.dtype.kind != "O":
        return tuple(np.unique(values).tolist())
    try:
        return tuple(sorted(set(values)))
    except TypeError:  # numbers mixed with texts: sorted by kind first
        return tuple(sorted(set(values), key=lambda value: (type(value).__name__, str(value))))


def _codes(values: NDArray[Any], known: tuple[Any, ...]) -> Array:
    if values.dtype.kind == "O":
        place = {value: float(code) for code, value in enumerate(known)}
        return np.array([place.get(value, -1.0) for value in values])
    # Columns of numbers may be long, but only their levels are sorted.
    table = np.array(known)
    if len(known) == 0 or (table.dtype.kind not in "fiub" and table.dtype.kind != values.dtype.kind):
        return np.full(len(values), -1.0)
    at = np.minimum(np.searchsorted(table, values), len(table) - 1)
    return np.where(table[at] == values, at, -1).astype(np.float64)
