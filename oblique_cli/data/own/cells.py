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
from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.columns import Chunk, Column, Columns
from oblique_cli.data.own.numbers import Form
from oblique_cli.data.own.rows import Opened
from oblique_cli.data.own.source import Source, source_of
from oblique_cli.errors import MOST_QUOTED, DataError, quoted
from oblique_cli.ground.registry import close_matches


def feature_values(
    column: Column, cells: Sequence[str], missing: Sequence[str], lines: Sequence[int], where: str
) -> tuple[np.ndarray, list[str]]:
    """Return the cells of a feature as float64, and the levels among them that are not known.

    DataError for a cell that should be a number or a date and is none.
    """
    marks = frozenset(missing)
    if column.treatment == "levels":
        code = {level: float(k) for k, level in enumerate(column.levels)}
        found = np.empty(len(cells))
        unseen: dict[str, None] = {}
        for k, cell in enumerate(cells):
            at = code.get(cell)
            if at is None:
                absent = not cell or cell.lower() in marks
                at = math.nan if absent else float(len(code))
                if not absent:
                    unseen[cell] = None
            found[k] = at
        return found, list(unseen)
    form = Form(column.decimal, column.thousands, column.unit)
    if column.treatment == "number":
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
                    value = form.value(cell) if column.treatment != "days" else own_numbers.days(cell, column.date)
            except ValueError:
                what = f"a date as {column.date}" if column.treatment == "days" else "a number"
                raise DataError(
                    f"{where}: column {quoted(column.name)} holds {quoted(cell)} at line {lines[k]}, not "
                    f"{what}; mend the cell, or leave it empty if the value is missing"
                ) from None
            if len(memo) < 10_000:
                memo[cell] = value
        found[k] = value
    return (found if column.treatment == "days" else _without(found, marks, form)), []


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
    """Codes of cells that are the number of a class in another spelling, as 1.0 is of 1, if all classes are numbers."""
    form = Form(column.decimal, column.thousands, column.unit)
    if not others or not all(map(form.holds, columns.classes)):
        return {}
    code = {form.exact(label): k for k, label in enumerate(columns.classes)}
    known = (cell for cell in others if cell.lower() not in columns.missing and form.holds(cell))
    return {cell: code[value] for cell in known if (value := form.exact(cell)) in code}


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
            whole = set(columns.feature_names) <= set(table.header)
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
        wanted = {**dict.fromkeys(keep, "to be kept"), **dict.fromkeys(columns.feature_names, "one of the features")}
        if lost := [name for name in (*columns.feature_names, *keep) if name not in at]:
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
                X[j], unknown = feature_values(column, cells[at[column.name]], columns.missing, lines, where)
                if unknown:
                    unseen[j] = unknown
            y = None
            labels: tuple[str, ...] = ()
            if target.name in at:
                labels = cells[at[target.name]]
                y, _ = target_values(columns, target, labels, lines, where)
            kept = {name: cells[at[name]] for name in keep}
            yield Chunk(np.ascontiguousarray(X.T), y, np.array(lines), unseen, labels, kept)
