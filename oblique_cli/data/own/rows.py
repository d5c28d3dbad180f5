"""Rows of a user's table in any format; in constant memory if the format allows it."""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from oblique_cli.data.own.opened import (
    Block,
    NeedsTexts,
    NumberCells,
    Opened,
    Request,
    Requests,
    Row,
    blocks_of,
    header_of_names,
    one_line,
)
from oblique_cli.data.own.source import GUESSED, Source, charset_of
from oblique_cli.data.own.text import (
    Layout,
    Notes,
    cut_rows,
    layout_of,
    layout_of_rows,
    lines_of,
    rows_below,
    text_rows,
    without_others,
)
from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.ground.labels import is_number
from oblique_cli.ground.nouns import NO_OPTIONS, TextOptions

if TYPE_CHECKING:
    from oblique_cli.data.own.opened import Cells

FIRST = 1 << 14  # rows of a block
HEAD = 1 << 10  # rows of a text that are read one by one before the core reads the others
CONTEXT = 5  # rows above a line to read again; they determine whether the line is a row


@contextmanager
def opened(source: Source, options: TextOptions = NO_OPTIONS, wanted: Sequence[str] = ()) -> Iterator[Opened]:
    """Open a table for reading; DataError, whose message begins with `source.where`, for any fault. options : of a
    text, and of a sheet; wanted : columns of LIBSVM that exist even if all their cells are zeros"""
    kind, where = source.kind, source.where
    if options.header == "none" and kind not in ("csv", "excel"):
        raise ConfigError(f"{where}: --header none is for text with a delimiter; this is {kind}.")
    if kind != "csv":  # most tables are text, which needs none of these imports
        from oblique_cli.data.own import declared, frames
    with contextlib.ExitStack() as stack:
        if kind in ("parquet", "feather"):
            yield stack.enter_context(frames.arrow(source))
        elif kind == "sqlite":
            yield stack.enter_context(frames.sqlite(source))
        elif kind == "excel":
            yield _sheet(source, options)
        elif kind == "npy":
            yield frames.array(source)
        elif kind in ("stata", "spss"):
            yield frames.statistics(source)
        elif kind == "json":
            once, again = (stack.enter_context(source.opened()) for _ in range(2))
            yield declared.json_table(once, again, where)
        elif kind == "libsvm":
            span = declared.libsvm(stack.enter_context(source.opened()), wanted, where)
            yield declared.libsvm_table(stack.enter_context(source.opened()), *span, where)
        else:
            try:
                charset = charset_of(options.charset) if options.charset else source.charset
            except LookupError:
                known = "say utf-8, utf-16, cp1252 or latin-1"
                raise ConfigError(f"there is no character set {quoted(options.charset)}: {known}.") from None
            layout = layout_of(source, charset, options) if kind == "csv" else Layout(",")
            lines = lines_of(stack.enter_context(source.opened()), charset, where)
            table = declared.arff(lines, where) if kind == "arff" else _text(source, lines, layout, options, charset)
            yield table._replace(delimiter=layout.delimiter, charset=charset)


def _text(source: Source, lines: Iterator[str], layout: Layout, options: TextOptions, charset: str) -> Opened:
    where, lost = source.where, Notes()
    (_, header), rows = text_rows(lines, layout, options, where, lost)
    table, ended = _named(header, rows, layout, options, lost, where)
    if charset not in ("utf-8", *GUESSED) or not layout.is_plain(options):
        return table

    def blocks(size: int, requests: Requests) -> Iterator[Block]:
        below, plain = table.rows, None
        is_numeric = size > HEAD and bool(requests().numbers)  # whether the core may parse the first block, too
        top = next(blocks_of(below, HEAD if is_numeric else size), None)
        if top is None:
            return

        def plain_below(head: Block | None) -> Generator[Block, None, int | None]:
            from oblique_cli.data.own.csv_blocks import PlainText

            return PlainText(source, charset, layout.delimiter, table.header, line).blocks(size, requests, head)

        line = top.lines[-1]
        if is_numeric and len(top.lines) == HEAD:
            plain = plain_below(top)
            if (first := next(plain, None)) is None:
                plain, more = None, next(blocks_of(below, size - HEAD), Block((), [()] * len(header)))
                columns = [(*cells, *further) for cells, further in zip(top.columns, more.columns, strict=True)]
                first = Block([*top.lines, *more.lines], columns)
                line = first.lines[-1]
            top = first
        yield top
        if plain is None and len(top.lines) == size:
            plain = plain_below(None)
        if plain is not None:
            last = yield from plain
            if last is None:
                below = ended(iter(()))
            elif last > line:
                again = min(CONTEXT, last - line)
                with source.opened() as stream:
                    rest = itertools.islice(lines_of(stream, charset, where), last - again, None)
                    cut = cut_rows(rest, layout, where, last - again, lost)
                    repeated = without_others(cut, header, options, where, lost)
                    yield from blocks_of(ended(itertools.islice(repeated, again, None)), size)
                return
        yield from blocks_of(below, size)

    return table._replace(typed_blocks=blocks)


def _sheet(source: Source, options: TextOptions) -> Opened:
    """Return the table of a sheet, with the same layout rules as a text."""
    from oblique_cli.data.own import frames

    rows, notes = frames.sheet_rows(source)
    layout, lost = layout_of_rows(rows, options), Notes()
    for line, cells in rows:
        if line <= layout.above:
            lost.add_above(line, ", ".join(filter(None, cells)))
    below = (row for row in rows if row[0] > layout.above)
    (_, header), rest = rows_below(below, layout, options, source.where, lost)
    table, _ = _named(header, rest, layout, options, lost, source.where, notes)
    return table._replace(format="excel")


def _named(
    first: list[str],
    rows: Iterator[Row],
    layout: Layout,
    options: TextOptions,
    lost: Notes,
    where: str,
    notes: Sequence[str] = (),
) -> tuple[Opened, Callable[[Iterator[Row]], Iterator[Row]]]:
    """Return a table of text rows with its column names, and a function that ends other rows of it with its notes."""
    written, kinds, target = [""] * len(first), dict[str, str](), ""
    if options.header != "none":
        written = [one_line(cell) for cell in first]
        top = list(itertools.islice(rows, 2)) if layout.orange else []
        marks = None
        if top or any("#" in cell for cell in written):
            from oblique_cli.data.own import declared

            marks = declared.orange(written, top)
        if marks:
            top = top if marks.names != written else []
            written, kinds, target = marks.names, marks.kinds, marks.target
        elif not options.header and all(is_number(cell.replace(",", ".")) for cell in written if cell):
            raise DataError(
                f"{where}: the first row holds only numbers; it must be a header with the column names. Say --header "
                "none if it is a row, or --header first if it has names"
            )
        rows = itertools.chain(top, rows)
    names = header_of_names(written, where)
    if layout.row_names:
        kinds[names[0]] = "identifier"
    notes = list(notes)

    def ended(rows: Iterator[Row]) -> Iterator[Row]:
        yield from rows
        notes.extend(lost.sentences())
        if layout.row_names:
            notes.append("the header has one name fewer than the rows; the first column holds their names.")

    return Opened(names, ended(rows), tuple(written), kinds=kinds, target=target, notes=notes), ended


def columns_of(
    table: Opened, most: int, texts: Collection[str] | None = None, marks: Collection[str] = ()
) -> tuple[list[int], list[Any]]:
    """Return the lines of at most `most` rows, and the cells of each column: texts, or `NumberCells` of a column that
    holds only plain numbers and marks of missing values, in a table of more than FIRST rows.

    texts : columns that are returned as texts, None for all. NeedsTexts for further columns that have to be.
    Garbage collection is paused: it would scan all texts repeatedly, which takes a third of the time of 200,000 rows,
    and texts have no cycles."""
    lines: list[int] = []
    columns: list[list[str]] = [[] for _ in table.header]
    numbers: dict[int, list[NumberCells]] = {}

    def request() -> Request:
        return Request({table.header[j] for j in numbers}, None, marks=marks) if lines else Request()

    searches = gc.isenabled()
    gc.disable()
    try:
        for block in table.blocks(FIRST, request):
            first = most - len(lines)
            parsed: dict[int, Any] = {j: _as_numbers(block.columns[j], marks) for j in numbers}
            if failed := [table.header[j] for j, cells in parsed.items() if cells is None]:
                raise NeedsTexts(failed)
            if not lines and texts is not None and len(block.lines) == FIRST:
                some = {
                    j: _as_numbers(block.columns[j], marks) for j, name in enumerate(table.header) if name not in texts
                }
                parsed = {j: cells for j, cells in some.items() if cells is not None and cells.has_numbers}
                numbers = {j: [] for j in parsed}
            lines.extend(block.lines[:first])
            for j, cells in enumerate(block.columns):
                if j in parsed:
                    numbers[j].append(parsed[j])
                else:
                    columns[j].extend(cells[:first])
            if len(lines) == most:
                break
        return lines, [NumberCells.joined(numbers[j]) if j in numbers else texts for j, texts in enumerate(columns)]
    finally:
        if searches:
            gc.enable()


def _as_numbers(cells: Cells, marks: Collection[str]) -> NumberCells | None:
    if isinstance(cells, NumberCells):
        return cells
    from oblique_cli.data.own.csv_blocks import numbers_of_texts

    return numbers_of_texts(cells, marks)
