"""Cells of a user's own table into numbers, by decisions made before; and whole files of them, some rows at a time."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from oblique_cli.data.own import numbers as own_numbers
from oblique_cli.data.own import roles as own_roles
from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.cell_forms import is_censored
from oblique_cli.data.own.columns import Chunk, Column, Columns
from oblique_cli.data.own.dates import days
from oblique_cli.data.own.numbers import Form
from oblique_cli.data.own.rows import Opened
from oblique_cli.data.own.source import Source, source_of
from oblique_cli.errors import MOST_QUOTED, DataError, quoted
from oblique_cli.ground.labels import OTHER
from oblique_cli.ground.registry import close_matches


def feature_values(
    column: Column, cells: Sequence[str], missing: Sequence[str], lines: Sequence[int], where: str
) -> tuple[np.ndarray, list[str]]:
    """Return the cells of a feature as float64, and the levels among them that are not known.

    DataError for a cell that should be a number or a date and is none.
    """
    marks = frozenset(missing)
    if column.treatment == "levels":
        return _codes(column, cells, marks)
    form = Form(column.decimal, column.thousands, column.unit, column.written)
    if column.treatment in ("number", "censored") and not form.written:
        with contextlib.suppress(ValueError):  # a mark, or an error with its place
            return _without(np.array(own_numbers.numbers_of(cells, form)), marks, form), []
    memo: dict[str, float] = {}
    found = np.empty(len(cells))
    for k, cell in enumerate(cells):
        value = memo.get(cell)
        if value is None:
            try:
                if not cell or cell.lower() in marks:
                    value = math.nan
                else:
                    value = days(cell, column.date) if column.treatment == "days" else form.value(cell)
            except ValueError:
                if column.treatment == "days" or own_numbers.NONNUMERIC not in marks:
                    raise _odd(column, cell, f"{where}: column {quoted(column.source)}", lines[k]) from None
                value = math.nan
            if column.treatment == "censored" and not math.isnan(value):
                value = float(is_censored(cell))
            if len(memo) < 10_000:
                memo[cell] = value
        found[k] = value
    return (_without(found, marks, form) if column.treatment == "number" else found), []


def _odd(column: Column, cell: str, where: str, line: int) -> DataError:
    what = f"a date as {column.date}" if column.treatment == "days" else "a number"
    unit = f" in {column.unit}" if column.unit else ""
    return DataError(
        f"{where} holds {quoted(cell)} at line {line}, not {what}{unit}; mend the cell, or leave it empty if the value "
        "is missing"
    )


def _codes(column: Column, cells: Sequence[str], marks: Collection[str]) -> tuple[np.ndarray, list[str]]:
    """Codes of levels, NaN where a cell is missing, and the levels that are not known."""
    code = {level: float(k) for k, level in enumerate(column.levels)}
    other = column.levels[-1:] == (OTHER,)
    unknown = float(len(code) - other)
    spelled = own_roles.spelled(column.levels)
    unseen: dict[str, None] = {}
    for cell in set(cells) - code.keys():
        known = spelled.get(own_roles.spelling(cell)) if cell and cell.lower() not in marks else ""
        code[cell] = math.nan if known == "" else unknown if known is None else code[known]
    for cell in dict.fromkeys(cells):
        if code[cell] == unknown and cell not in column.levels and not other:
            unseen[cell] = None
    return np.fromiter(map(code.__getitem__, cells), np.float64, len(cells)), list(unseen)


def _without(values: np.ndarray, marks: Collection[str], form: Form) -> np.ndarray:
    """Numbers with NaN for those that mark a missing value, however they are written: -999 is -999.0, as in Parquet."""
    numbers = [form.value(mark) for mark in marks if form.holds(mark)]
    return np.where(np.isin(values, numbers), math.nan, values) if numbers else values


def target_values(
    columns: Columns, column: Column, cells: Sequence[str], lines: Sequence[int], where: str
) -> tuple[np.ndarray, list[bool]]:
    """Return codes of classes (-1 for none of them) or numbers (NaN if missing), and which rows have one."""
    if columns.task == "regression":
        values, _ = feature_values(replace(column, treatment="number"), cells, columns.missing, lines, where)
        return values, (~np.isnan(values)).tolist()
    code = {label: k for k, label in enumerate(columns.classes)}
    code |= _respelled(set(cells) - code.keys(), columns, column)
    codes = np.fromiter((code.get(cell, -1) for cell in cells), dtype=np.int32, count=len(cells))
    return codes, (codes >= 0).tolist()


def _respelled(others: Collection[str], columns: Columns, column: Column) -> dict[str, int]:
    """Codes of cells that are a class in another spelling: 1.0 of 1, TRUE of True."""
    code = {label: k for k, label in enumerate(columns.classes)}
    form = Form(column.decimal, column.thousands, column.unit)
    if all(map(form.holds, columns.classes)) and not own_roles.are_padded(columns.classes):
        value = {form.exact(label): k for label, k in code.items()}
        known = (cell for cell in others if cell.lower() not in columns.missing and form.holds(cell))
        return {cell: value[number] for cell in known if (number := form.exact(cell)) in value}
    spelled = own_roles.spelled(columns.classes)
    known = (cell for cell in others if cell and own_roles.spelling(cell) in spelled)
    return {cell: code[spelled[own_roles.spelling(cell)]] for cell in known}


# ---- other rows of the same kind -------------------------------------------------------------------------------------


@contextmanager
def _opened(source: str | Path | Source, columns: Columns) -> Iterator[tuple[Opened, str]]:
    """Open a table of the kind of another one, and give it with what messages begin with.

    Delimiter and character set are found out anew, since another program may have written the file; of two sets that
    its bytes do not tell apart, the one of the first table holds.
    """
    source = replace(source if isinstance(source, Source) else source_of(source), most=None)
    kind = source.kind
    charset = source.charset_like(columns.charset) if kind == "csv" else "utf-8"
    delimiter = columns.delimiter
    if kind == "csv":
        with own_rows.opened(source, kind, delimiter, charset, columns.header) as table:
            whole = {column.source for column in columns.features} <= set(table.header)
        delimiter = delimiter if whole else own_rows.sniffed(source, charset)
    with own_rows.opened(source, kind, delimiter, charset, columns.header) as table:
        yield table, source.where


def header_of(source: str | Path | Source, columns: Columns) -> tuple[str, ...]:
    """Return the names of the columns of a table, as `chunks` finds them."""
    with _opened(source, columns) as (table, _):
        return table.header


def chunks(
    source: str | Path | Source, columns: Columns, rows: int = 65536, keep: Sequence[str] = ()
) -> Iterator[Chunk]:
    """Yield the rows of a table by decisions made before, at most `rows` at a time, in constant memory.

    Columns are found by their names, in any order; others are passed over, but for those to `keep`, whose text is
    given. DataError for a column that is not there, or a bad cell.
    """
    with _opened(source, columns) as (table, where):
        at = {name: i for i, name in enumerate(table.header)}
        sources = dict.fromkeys((column.source for column in columns.features), "one of the features")
        wanted = {**dict.fromkeys(keep, "to be kept"), **sources}
        if lost := [name for name in (*sources, *keep) if name not in at]:
            short = [name for name in table.header if len(name) <= MOST_QUOTED]
            hint = close_matches(lost[0], short) or f" Columns: {', '.join(map(quoted, table.header[:10]))}."
            raise DataError(f"{where}: there is no column {quoted(lost[0])}, which is {wanted[lost[0]]}.{hint}")
        features = [
            replace(column, decimal=".", thousands="") if table.typed else column for column in columns.features
        ]
        target = next(column for column in columns.columns if column.treatment == "target")
        if table.typed:
            target = replace(target, decimal=".", thousands="")
        while block := list(itertools.islice(table.rows, rows)):
            lines = [line for line, _ in block]
            cells = list(zip(*(row for _, row in block), strict=True))
            X = np.empty((len(features), len(block)))
            unseen = {}
            for j, column in enumerate(features):
                X[j], unknown = feature_values(column, cells[at[column.source]], columns.missing, lines, where)
                if unknown:
                    unseen[j] = unknown
            y = None
            labels: tuple[str, ...] = ()
            if target.name in at:
                labels = cells[at[target.name]]
                y, _ = target_values(columns, target, labels, lines, where)
            kept = {name: cells[at[name]] for name in keep}
            yield Chunk(np.ascontiguousarray(X.T), y, np.array(lines), unseen, labels, kept)
