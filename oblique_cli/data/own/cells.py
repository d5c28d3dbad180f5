"""Conversion of a user's cells to numbers by earlier decisions, and of whole files in blocks of rows."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from oblique_cli.data.own import numbers as own_numbers
from oblique_cli.data.own import roles as own_roles
from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.cell_forms import is_censored
from oblique_cli.data.own.columns import Chunk, Column, Columns
from oblique_cli.data.own.dates import days
from oblique_cli.data.own.notes import few
from oblique_cli.data.own.numbers import Form
from oblique_cli.data.own.opened import NeedsTexts, NumberCells, Opened, Request
from oblique_cli.data.own.source import Source, source_of
from oblique_cli.errors import MOST_QUOTED, DataError, quoted
from oblique_cli.ground.labels import OTHER
from oblique_cli.ground.nouns import NO_OPTIONS, TextOptions
from oblique_cli.ground.registry import close_matches

if TYPE_CHECKING:
    from oblique_cli.data.own.opened import Cells


def feature_values(
    column: Column, cells: Cells, missing: Sequence[str], lines: Sequence[int], where: str
) -> tuple[np.ndarray, list[str]]:
    """Return the cells of a feature as float64, and its unknown levels. DataError for a cell that is no number or date
    although it should be."""
    marks = frozenset(missing)
    form = column.form
    if isinstance(cells, NumberCells):
        return _without(cells.values, marks, form), []
    if column.treatment == "levels":
        return _codes(column, cells, marks)
    if column.treatment in ("number", "censored") and not form.written:
        with contextlib.suppress(ValueError):  # a mark of a missing value, or an error reported below with its place
            return _without(np.array(own_numbers.numbers_of(cells, form)), marks, form), []
    memo: dict[str, float] = {}
    numbers = np.empty(len(cells))
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
        numbers[k] = value
    return (_without(numbers, marks, form) if column.treatment == "number" else numbers), []


def _odd(column: Column, cell: str, where: str, line: int) -> DataError:
    what = f"a date as {column.date}" if column.treatment == "days" else "a number"
    unit = f" in {column.unit}" if column.unit else ""
    return DataError(
        f"{where} holds {quoted(cell)} at line {line}, not {what}{unit}; mend the cell, or leave it empty if the value "
        "is missing"
    )


def _codes(column: Column, cells: Sequence[str], marks: Collection[str]) -> tuple[np.ndarray, list[str]]:
    """Return codes of levels, NaN for missing cells, and the unknown levels."""
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


@functools.lru_cache(maxsize=64)  # the blocks of a table ask for the same few
def _numbers_of(marks: frozenset[str], form: Form) -> list[float]:
    return [form.value(mark) for mark in marks if form.holds(mark)]


def _without(values: np.ndarray, marks: frozenset[str], form: Form) -> np.ndarray:
    """Return numbers with NaN for marks of a missing value in any spelling: -999 equals -999.0, as in Parquet."""
    numbers = _numbers_of(marks, form)
    return np.where(np.isin(values, numbers), math.nan, values) if numbers else values


def target_values(
    columns: Columns, column: Column, cells: Sequence[str], lines: Sequence[int], where: str
) -> tuple[np.ndarray, list[bool]]:
    """Return codes of classes (-1 for no class) or numbers (NaN if missing), and whether each row has one."""
    if columns.task == "regression":
        values, _ = feature_values(replace(column, treatment="number"), cells, columns.missing, lines, where)
        return values, (~np.isnan(values)).tolist()
    code = {label: k for k, label in enumerate(columns.classes)}
    code |= _respelled(set(cells) - code.keys(), columns, column)
    codes = np.fromiter(map(code.get, cells, itertools.repeat(-1)), dtype=np.int32, count=len(cells))
    return codes, (codes >= 0).tolist()


def _respelled(others: Collection[str], columns: Columns, column: Column) -> dict[str, int]:
    """Return codes of cells that are a class in another spelling: 1.0 for 1, TRUE for True."""
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
def _opened(
    source: str | Path | Source, columns: Columns, options: TextOptions, wanted: Sequence[str] = ()
) -> Iterator[tuple[Opened, str]]:
    """Open a table like an earlier one; yield it with the prefix of messages. Delimiter and character set are detected
    again; those of the first table apply if they give all `wanted` columns, or if the bytes are ambiguous."""
    source = replace(source if isinstance(source, Source) else source_of(source), most=None)
    if source.kind in ("csv", "excel") and not options.header:
        options = replace(options, header=columns.header)
    if source.kind in ("csv", "arff") and not options.charset:
        options = replace(options, charset=source.charset_like(columns.charset))
    if source.kind == "csv" and not options.delimiter and columns.format == "csv":
        as_before = replace(options, delimiter=columns.delimiter)
        with contextlib.suppress(DataError), own_rows.opened(source, as_before) as table:
            options = as_before if set(wanted) <= set(table.header) else options
    with own_rows.opened(source, options, wanted) as table:
        yield table, source.where


def header_of(source: str | Path | Source, columns: Columns, options: TextOptions = NO_OPTIONS) -> tuple[str, ...]:
    """Return the column names of a table, as `chunks` reads them."""
    with _opened(source, columns, options, columns.feature_names) as (table, _):
        return table.header


def chunks(
    source: str | Path | Source,
    columns: Columns,
    rows: int = 65536,
    keep: Sequence[str] = (),
    options: TextOptions = NO_OPTIONS,
    notes: list[str] | None = None,
    unused: Callable[[], Collection[str]] = tuple,
    first_as_texts: bool = False,
) -> Iterator[Chunk]:
    """Yield the rows of a table, read by `columns`, in blocks of at most `rows`, in constant memory.

    Columns are matched by name; others are ignored, except those to `keep`, whose text is returned. The form of numbers
    is detected again from the first rows. notes : receives messages on skipped lines; unused : () -> features
    that may be absent (their cells are 0); first_as_texts : whether no cell of the first block is parsed by the core.
    DataError for missing columns or an invalid cell."""
    wanted = (*dict.fromkeys(column.source for column in columns.features), *keep)
    with _opened(source, columns, options, wanted) as (table, where):
        at = {name: i for i, name in enumerate(table.header)}
        absent = [name for name in wanted if name not in at]
        known = unused() if absent else ()
        needed = {column.source for column in columns.features if column.name not in known}
        if lost := [name for name in absent if name in keep or name in needed]:
            short = [name for name in table.header if len(name) <= MOST_QUOTED]
            hint = close_matches(lost[0], short) or f" Columns: {', '.join(map(quoted, table.header[:10]))}."
            raise DataError(f"{where}: {_named(lost, keep)}.{hint}")
        written = [*columns.features, next(column for column in columns.columns if column.treatment == "target")]
        if options.missing_marks:
            usual = () if options.only_marks else columns.missing
            columns = replace(columns, missing=(*usual, *(mark.strip().lower() for mark in options.missing_marks)))
        if table.typed:
            written = [replace(column, decimal=".", thousands="") for column in written]

        def request() -> Request:
            return Request() if first and first_as_texts else _request(written, columns, keep, options)

        first = True
        for lines, cells in table.blocks(rows, request):
            if first and not table.typed:
                there = {column.source: cells[at[column.source]] for column in written if column.source in at}
                try:
                    written = _as_written(written, there, columns, options, table.delimiter)
                except NeedsTexts:
                    yield from chunks(source, columns, rows, keep, options, notes, unused, first_as_texts=True)
                    return
            first, (*features, target) = False, written
            X = np.empty((len(features), len(lines)))
            unseen = {}
            for j, column in enumerate(features):
                if column.source in absent:
                    X[j] = 0.0
                    continue
                X[j], unknown = feature_values(column, cells[at[column.source]], columns.missing, lines, where)
                if unknown:
                    unseen[j] = unknown
            y = None
            labels: tuple[str, ...] = ()
            if target.name in at:
                labels = tuple(cells[at[target.name]])
                y, _ = target_values(columns, target, labels, lines, where)
            texts = {name: tuple(cells[at[name]]) for name in keep}
            yield Chunk(np.ascontiguousarray(X.T), y, np.array(lines), unseen, labels, texts)
        if notes is not None:
            notes += table.notes


def _request(written: Sequence[Column], columns: Columns, keep: Sequence[str], options: TextOptions) -> Request:
    """Return the request of `chunks`: features as numbers if only their numbers are needed, all others as texts."""
    *features, target = written
    others = {column.source for column in features if column.treatment != "number"} | {target.name, *keep}
    numeric = [column for column in features if column.source not in others]
    decimal = numeric[0].decimal if numeric else own_numbers.POINT
    numbers = {column.source for column in numeric if column.decimal == decimal}
    if options.decimal or options.thousands:
        numbers = set()
    return Request(numbers, others | {column.source for column in features} - numbers, decimal, columns.missing)


def _as_written(
    written: Sequence[Column], cells: Mapping[str, Cells], columns: Columns, options: TextOptions, delimiter: str
) -> list[Column]:
    """Return the columns with the number format of this file, whose decimal mark may differ from that of training."""
    missing = set(columns.missing)
    values = {
        column.source: {cell for cell in cells[column.source] if cell and cell.lower() not in missing}
        for column in written
        if column.source in cells
        and not isinstance(cells[column.source], NumberCells)
        and (column.treatment == "number" or (column.treatment == "target" and not columns.classes))
    }
    declared = options.decimal or options.thousands
    fits = {
        column.name: own_numbers.form_of(values.get(column.source, ()), [column.form]) is not None for column in written
    }
    if all(fits.values()) and not declared:
        return list(written)
    if any(isinstance(column, NumberCells) for column in cells.values()):
        raise NeedsTexts(cells)
    mark = own_numbers.NAMED_MARKS.get(options.decimal) or own_numbers.decimal_mark(values.values(), delimiter)
    forms = own_numbers.forms(mark, options.thousands, only=bool(options.decimal))
    adapted = []
    for column in written:
        likely = forms if declared or not fits[column.name] or column.decimal != mark else ()
        others = (replace(column, decimal=form.decimal, thousands=form.thousands) for form in likely)
        cells_of_column = values.get(column.source, ())
        adapted.append(next((o for o in others if own_numbers.form_of(cells_of_column, [o.form])), column))
    return adapted


def _named(lost: Sequence[str], keep: Sequence[str]) -> str:
    """Return the beginning of a message for all missing columns."""
    if len(lost) == 1:
        role = "to be kept" if lost[0] in keep else "one of the features"
        return f"there is no column {quoted(lost[0])}, which is {role}"
    which = "which the model needs" if set(lost).isdisjoint(keep) else "which are needed or to be kept"
    return f"there are no columns {few(lost)}, {which}"
