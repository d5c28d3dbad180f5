"""Tables of numbers in .npy files: rows by columns x1, x2, ..., and single columns in separate files."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from oblique_cli.data.own.source import NPY
from oblique_cli.errors import DataError

ENDING = ".npy"


def names(n_columns: int) -> tuple[str, ...]:
    """Return the column names of an array, since .npy files have no header: x1, x2, ..."""
    return tuple(f"x{j}" for j in range(1, n_columns + 1))


def name_of(path: str | Path, taken: Sequence[str]) -> str:
    """Return a column name from its file's name, changed if a column of the table has that name."""
    name = Path(path).stem
    while name in taken:
        name += "_"
    return name


def table_of(source: str | Path | bytes, where: str) -> Any:
    """Return a table of numbers (n, p), memory-mapped if `source` is a path. DataError for any other array."""
    array = _array(source, where)
    if array.dtype.names:
        raise DataError(f"{where}: holds records ({', '.join(array.dtype.names[:5])}), not a table of numbers")
    if array.dtype.kind not in "fiub":
        raise DataError(f"{where}: holds {array.dtype}, not numbers; save it as np.save(..., X.astype(float))")
    if array.ndim != 2 or array.shape[1] < 1:
        raise DataError(f"{where}: has the shape {array.shape}; a table is (rows, features), such as (1000, 16)")
    return array


def column_of(path: str | Path, n_rows: int, role: str) -> Any:
    """Return a column from a separate file, (n_rows,), memory-mapped; DataError for any other array. role : "the
    target" may hold numbers or texts (bytes are texts in UTF-8), "weights" are numbers"""
    where = str(path)
    cells = _array(path, where)
    if cells.ndim == 2 and cells.shape[1] == 1:
        cells = cells[:, 0]
    kinds, what = ("fiubUS", "numbers or texts") if role == "the target" else ("fiub", "numbers")
    if cells.dtype.names or cells.dtype.kind not in kinds:
        raise DataError(f"{where}: holds {cells.dtype}, and {role} must be {what}")
    if cells.shape != (n_rows,):
        raise DataError(f"{where}: has the shape {cells.shape}, and the table has {n_rows} rows: ({n_rows},) is needed")
    if cells.dtype.kind != "S":
        return cells
    try:
        return np.char.decode(np.asarray(cells), "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{where}: holds bytes that are not UTF-8 ({error.reason}); save texts in place of bytes"
        ) from None


def _array(source: str | Path | bytes, where: str) -> Any:
    try:
        if isinstance(source, bytes):
            return np.load(io.BytesIO(source), allow_pickle=False)
        # The first bytes identify a file; numpy would treat any other file as a pickle.
        with open(source, "rb") as stream:
            start = stream.read(len(NPY))
        if start != NPY:
            raise DataError(f"{where}: is no .npy file; write it with np.save")
        return np.load(source, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise DataError(f"{where}: cannot be read ({error.strerror or error})") from None
    except (MemoryError, OverflowError):
        raise DataError(f"{where}: its header names more numbers than there is memory") from None
    except (ValueError, EOFError, TypeError, SyntaxError, tokenize.TokenError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        if "Object arrays" in reason or "Python objects" in reason:
            reason = "it holds Python objects, which could run anything; save numbers or texts"
        raise DataError(f"{where}: not a whole .npy file that can be read ({reason})") from None
