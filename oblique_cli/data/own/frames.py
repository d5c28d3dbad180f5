"""Tables read by libraries: Parquet and Feather by pyarrow, workbooks by openpyxl, SQLite, Stata, SPSS, and .npy."""

from __future__ import annotations

import contextlib
import datetime
import io
import itertools
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from oblique_cli.data.own.opened import (
    MAX_COLUMNS,
    NumberCells,
    Opened,
    Row,
    header_of_names,
    number_cells,
    texts_of,
    typed,
)
from oblique_cli.data.own.source import NPY, Source
from oblique_cli.errors import DataError, ObliqueError, cut, quoted
from oblique_cli.ground.registry import close_matches

BATCH = 1 << 14  # rows at a time


@contextmanager
def faults(where: str, what: str, needs: str = "", extra: str = "") -> Iterator[None]:
    """Convert any error of a library on a damaged file to a DataError.

    what : the format; needs, extra : the library that is required, and the extra that installs it"""
    try:
        yield
    except ObliqueError:
        raise
    except ImportError:
        raise DataError(
            f"{where}: {what} needs {needs}; install it with pip install 'oblique-trees[{extra}]'"
        ) from None
    except Exception as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{where}: not a whole {what} file ({cut(reason) or type(error).__name__})") from None


def is_packed(source: Source, magic: bytes) -> bool:
    """Return whether a file on the disk must be unpacked: it does not begin with the magic bytes of its content."""
    if source.path is None:
        return True
    with open(source.path, "rb") as stream:
        return stream.read(len(magic)) != magic


# ---- Parquet and Feather ---------------------------------------------------------------------------------------------


@contextmanager
def arrow(source: Source) -> Iterator[Opened]:
    """Yield the table of a Parquet or a Feather file."""
    where, feather = source.where, source.kind == "feather"
    what = "Feather" if feather else "Parquet"
    with contextlib.ExitStack() as stack:
        with faults(where, what, "pyarrow", "parquet"):
            import pyarrow.feather
            import pyarrow.parquet

            # The end of the file is read first, so an archive is unpacked completely in memory.
            place: Any = source.path if not is_packed(source, b"PAR1") else io.BytesIO(source.whole())
            if feather:
                table = pyarrow.feather.read_table(place)
                schema, batches = table.schema, iter(table.to_batches(BATCH))
            else:
                file = stack.enter_context(pyarrow.parquet.ParquetFile(place))
                # Over several row groups at once, pyarrow would retain everything it has read.
                groups = (file.iter_batches(BATCH, row_groups=[group]) for group in range(file.num_row_groups))
                schema, batches = file.schema_arrow, itertools.chain.from_iterable(groups)
        for name, kind in zip(schema.names, schema.types, strict=True):
            if pyarrow.types.is_nested(kind) or pyarrow.types.is_binary(kind):
                raise DataError(f"{where}: column {quoted(name)} holds {kind}, which is neither a number nor a text")
        names = header_of_names(schema.names, where)
        levels = {
            name: "levels" for name, kind in zip(names, schema.types, strict=True) if pyarrow.types.is_dictionary(kind)
        }
        parts = _whole_parts(batches, where, what)

        of_texts = (pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_dictionary)

        def texts(column: Any) -> list[str]:
            with faults(where, what):
                if not any(kind(column.type) for kind in of_texts):
                    return texts_of(column.to_pylist())
                shown, places = coded_texts(column)
                return list(map(shown.__getitem__, places.tolist()))

        yield typed(names, tuple(schema.names), parts, _arrow_numbers, texts, kinds=levels, format=source.kind)


def _whole_parts(batches: Iterator[Any], where: str, what: str) -> Iterator[Sequence[Any]]:
    while True:
        with faults(where, what):
            if (batch := next(batches, None)) is None:
                return
        yield batch.columns


def coded_texts(column: Any) -> tuple[list[str], np.ndarray]:
    """Return the distinct texts of a column, "" last for missing cells, and the index of each cell's text, (n,)."""
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    shown = [*texts_of(column.dictionary.to_pylist()), ""]
    places = column.indices.cast("int64").fill_null(len(shown) - 1).to_numpy(zero_copy_only=False)
    return shown, places.astype(np.intp)


def _arrow_numbers(column: Any) -> NumberCells | None:
    from pyarrow import types

    integral = types.is_integer(column.type)
    return (
        number_cells(column.to_numpy(zero_copy_only=False), integral)
        if integral or types.is_floating(column.type)
        else None
    )


# ---- workbooks -------------------------------------------------------------------------------------------------------


def sheet_rows(source: Source) -> tuple[list[Row], list[str]]:
    """Return the rows of the named sheet, else the first with cells, as texts of one length, and messages for the
    user."""
    with faults(source.where, "Excel", "openpyxl", "excel"):
        import openpyxl

        book = openpyxl.load_workbook(io.BytesIO(source.whole()), read_only=True, data_only=True)
        names = book.sheetnames
        if source.part and source.part not in names:
            raise _no_part(source, "sheet", names)
        rows: list[Row] = []
        name = ""
        for name in [source.part] if source.part else names:
            sheet: Any = book[name]
            rows = [(k, texts_of(map(_as_day, row))) for k, row in enumerate(sheet.iter_rows(values_only=True), 1)]
            if any(any(cells) for _, cells in rows):
                break
    p = max((k for _, cells in rows for k, cell in enumerate(cells, 1) if cell), default=0)
    first = min((next(k for k, cell in enumerate(cells) if cell) for _, cells in rows if any(cells)), default=0)
    other = f"sheet {quoted(name)} of {len(names)} is read; FILE:SHEET names another."
    rows = [(line, (cells + [""] * p)[first:p]) for line, cells in rows if any(cells)]
    return rows, [other] if len(names) > 1 and not source.part else []


def _as_day(value: Any) -> Any:
    """Return whole numbers as integers: a workbook stores only floats, but 5 is meant as 5."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _no_part(source: Source, what: str, names: Sequence[str]) -> DataError:
    hint = close_matches(source.part, names) or f" There are {', '.join(map(quoted, names[:10]))}."
    return DataError(f"{source.where}: there is no {what} {quoted(source.part)}.{hint}")


# ---- SQLite ----------------------------------------------------------------------------------------------------------


@contextmanager
def sqlite(source: Source) -> Iterator[Opened]:
    """Yield a table or a view of a SQLite file: the named one, or the only one."""
    import sqlite3

    where = source.where
    with faults(where, "SQLite"), contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.deserialize(source.whole())
        query = (
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        tables = [name for (name,) in base.execute(query)]
        if source.part and source.part not in tables:
            raise _no_part(source, "table", tables)
        if not source.part and len(tables) != 1:
            shown = f", as in FILE:{tables[0]}; it has {', '.join(map(quoted, tables[:10]))}" if tables else ""
            raise DataError(f"{where}: the SQLite file has {len(tables)} tables; name one{shown}")
        table = (source.part or tables[0]).replace('"', '""')
        cursor = base.execute(f'SELECT * FROM "{table}"')
        written = tuple(str(column[0]) for column in cursor.description)
        yield Opened(header_of_names(written, where), _sqlite_rows(cursor, written, where), written, format="sqlite")


def _sqlite_rows(cursor: Iterable[Sequence[Any]], names: Sequence[str], where: str) -> Iterator[Row]:
    for number, row in enumerate(cursor, 1):
        for name, value in zip(names, row, strict=True):
            if isinstance(value, bytes):
                raise DataError(f"{where}: column {quoted(name)} holds bytes in row {number}, no number and no text")
        yield number, texts_of(row)


# ---- Stata and SPSS --------------------------------------------------------------------------------------------------


def statistics(source: Source) -> Opened:
    """Return the table of a Stata or an SPSS file. A column whose values all have labels has the labels as levels."""
    where = source.where
    if source.kind == "stata":
        import pandas

        with faults(where, "Stata"):
            codes = pandas.read_stata(io.BytesIO(source.whole()), convert_categoricals=False)
            with faults(where, "Stata"), contextlib.suppress(ValueError):  # two values with the same label
                labelled = pandas.read_stata(io.BytesIO(source.whole()))
    else:
        with faults(where, "SPSS", "pyreadstat", "spss"), tempfile.NamedTemporaryFile(suffix=".sav") as file:
            import pyreadstat

            file.write(source.whole())
            file.flush()
            codes, _ = pyreadstat.read_sav(file.name)
            labelled, _ = pyreadstat.read_sav(file.name, apply_value_formats=True)
    written = tuple(map(str, codes.columns))
    header = header_of_names(written, where)
    columns, kinds = [], {}
    for name, column in zip(header, written, strict=True):
        values = codes[column]
        if str(labelled[column].dtype) == "category":
            shown = labelled[column].dropna()
            if len(shown) and all(isinstance(value, str) for value in shown.unique()):
                values, kinds[name] = labelled[column], "levels"
        columns.append(texts_of(map(_plain_value, values.astype(object).tolist())))
    rows = ((k, list(cells)) for k, cells in enumerate(zip(*columns, strict=True), 1))
    return Opened(header, rows, written, typed=True, kinds=kinds, format=source.kind)


def _plain_value(value: Any) -> Any:
    """Return a pandas value as a Python value, None if it is missing."""
    if value is None or value != value:
        return None
    return _as_day(
        value.to_pydatetime() if isinstance(value, datetime.datetime) and hasattr(value, "to_pydatetime") else value
    )


# ---- .npy ------------------------------------------------------------------------------------------------------------


def array(source: Source) -> Opened:
    """Return the table of a .npy file, with columns in separate files."""
    from oblique_cli.data import npy

    if is_packed(source, NPY):
        X = npy.table_of(source.whole(), source.where)
    else:
        assert source.path is not None
        X = npy.table_of(source.path, source.where)
    # Errors in a target file are reported where its cells are read.
    beside = [npy.column_of(path, len(X), "the target") for _, path in source.beside]
    header = (*npy.names(X.shape[1]), *(name for name, _ in source.beside))
    if len(header) > MAX_COLUMNS:
        raise DataError(f"{source.where}: {len(header)} columns, {MAX_COLUMNS} are allowed")
    spans = (slice(first, first + BATCH) for first in range(0, len(X), BATCH))
    parts = ([*X[rows].T, *(column[rows] for column in beside)] for rows in spans)
    return typed(
        header,
        header,
        parts,
        lambda values: number_cells(values, values.dtype.kind != "f") if values.dtype.kind in "fiub" else None,
        # In other files truth values are 0 and 1.
        lambda values: texts_of((values.astype("u1") if values.dtype.kind == "b" else values).tolist()),
        format="npy",
    )
