"""`Table`: a catalogue file as text, by columns; the rules for its files are stricter than for users' files."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.source import Source
from oblique_cli.data.own.text import NO_COMMENT
from oblique_cli.errors import DataError
from oblique_cli.ground.bounds import TABLE_CELLS
from oblique_cli.ground.labels import is_number
from oblique_cli.ground.nouns import TextOptions

STRICT = TextOptions(delimiter=",", charset="utf-8", header="first", skip=0, skip_end=0, comment=NO_COMMENT)


@dataclass(frozen=True)
class Table:
    """A table as text, by columns, without blanks around cells.

    where     prefix of messages: the path, or "data set 'bupa'"
    lines     line in the file (from 1) of each row"""

    where: str
    header: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def keep(self, rows: Sequence[bool]) -> Table:
        """Return the table with only the marked rows."""
        columns = tuple(tuple(itertools.compress(cells, rows)) for cells in self.columns)
        return Table(self.where, self.header, columns, tuple(itertools.compress(self.lines, rows)))


def parse(content: bytes, where: str) -> Table:
    """Read a text with commas, packed or not: UTF-8, with names of columns in its first row and no other lines.
    DataError, which begins with `where`, also for an empty or repeated name, or names that are all numbers."""
    source = Source(where, content=content)
    if source.kind != "csv":
        raise DataError(f"{where}: this is {source.kind}, not text with a delimiter")
    with own_rows.opened(source, STRICT) as table:
        header, most = table.written, TABLE_CELLS.value
        for i, name in enumerate(header, 1):
            if not name:
                raise DataError(f"{where}: column {i} has no name in the header")
            if header.index(name) < i - 1:
                raise DataError(f"{where}: columns {header.index(name) + 1} and {i} are both named {name!r}")
        if all(map(is_number, header)):
            raise DataError(f"{where}: the first row holds only numbers; it must be a header with the column names")
        lines, columns = own_rows.columns_of(table, most // len(header))
    if len(lines) == most // len(header):
        raise DataError(f"{where}: the table holds more than {most} cells; {TABLE_CELLS.advice}")
    if not lines:
        raise DataError(f"{where}: there are no rows below the header")
    return Table(where, header, tuple(map(tuple, columns)), tuple(lines))
