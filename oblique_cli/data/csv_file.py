"""CSV: bytes to a table of text, with every fault named by line and column; and rows to text that is read back so."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import re
import stat
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from oblique_cli.errors import DataError
from oblique_cli.ground.bounds import TABLE_BYTES, TABLE_CELLS
from oblique_cli.ground.labels import is_number

BLOCK = 1 << 20
_QUOTED = re.compile(r'[,"\r\n]')
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}


@dataclass(frozen=True)
class Table:
    """A CSV file as text, by columns. Blanks around cells are gone.

    where     what messages begin with: the path, or "data set 'bupa'"
    lines     line in the file (from 1) of each row
    """

    where: str
    header: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def keep(self, rows: Sequence[bool]) -> Table:
        """The table with only the rows whose mark is true."""
        columns = tuple(tuple(itertools.compress(cells, rows)) for cells in self.columns)
        return Table(self.where, self.header, columns, tuple(itertools.compress(self.lines, rows)))


def read(path: str | Path) -> bytes:
    """Return the content of a regular file; DataError says why it cannot be read."""
    try:
        # A pipe or a device could block for ever.
        if not stat.S_ISREG(Path(path).stat().st_mode):
            reason = "is not a regular file"
        else:
            with open(path, "rb") as stream:
                return _bounded(stream, str(path))
    except FileNotFoundError:
        reason = "does not exist"
    except (OSError, ValueError) as error:
        reason = f"cannot be read ({getattr(error, 'strerror', None) or error})"
    raise DataError(f"{path}: the file {reason}")


def _bounded(stream: IO[bytes] | gzip.GzipFile, where: str) -> bytes:
    """All that is left of a stream; DataError before more than TABLE_BYTES of it are in memory."""
    most = TABLE_BYTES.value
    blocks, have = [], 0
    while block := stream.read(min(BLOCK, most + 1 - have)):
        blocks.append(block)
        have += len(block)
        if have > most:
            raise DataError(f"{where}: the table holds more than {most} bytes; {TABLE_BYTES.advice}")
    return b"".join(blocks)


def unzipped(content: bytes, where: str) -> bytes:
    """Undo gzip; DataError beyond TABLE_BYTES."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            return _bounded(stream, where)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{where}: not a whole gzip file ({error})") from None


def parse(content: bytes, where: str) -> Table:
    """Read CSV text: UTF-8 with or without a byte order mark, any line ends, quotes doubled inside quotes.

    The first row is the header, and the delimiter is the one of comma, semicolon and tab that cuts the header into
    most names. Empty lines are passed over. Raises DataError, one sentence that begins with `where`; also for more than
    TABLE_CELLS.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{where}: line {line} is not UTF-8 text; save the file as UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{where}: line {line} holds a NUL byte, so this is not a text file")
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, where), strict=True)
    cells_left = TABLE_CELLS.value
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                cells_left -= len(row)
                if cells_left < 0:
                    most = TABLE_CELLS.value
                    raise DataError(f"{where}: the table holds more than {most} cells; {TABLE_CELLS.advice}")
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise DataError(f"{where}: line {reader.line_num} cannot be read as CSV ({error})") from None

    if not rows:
        raise DataError(f"{where}: the file is empty")
    header = _header(rows.pop(0), where)
    del lines[0]
    if not rows:
        raise DataError(f"{where}: there are no rows below the header")
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(header):
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            raise DataError(f"{where}: line {line} has {fields}, the header has {len(header)}")
    columns = tuple(tuple(map(str.strip, cells)) for cells in zip(*rows, strict=True))
    return Table(where, header, columns, tuple(lines))


def _delimiter(text: str, where: str) -> str:
    """The delimiter that cuts the header into most fields. Delimiters inside quotes do not count."""
    counts: dict[str, int] = {}
    for delimiter in DELIMITERS:
        reader = csv.reader(io.StringIO(text.lstrip(), newline=""), delimiter=delimiter)
        try:
            counts[delimiter] = len(next(reader, []))
        except csv.Error:
            counts[delimiter] = 0
    most = max(counts.values())
    best = [delimiter for delimiter, count in counts.items() if count == most]
    if most > 1 and len(best) > 1:
        names = " or ".join(DELIMITERS[delimiter] for delimiter in best)
        raise DataError(
            f"{where}: the header can be cut at {names} alike; use one, and quote names that hold the other"
        )
    return best[0]


def _header(cells: Sequence[str], where: str) -> tuple[str, ...]:
    """Column names: none empty, none twice, not all numbers."""
    names = tuple(cell.strip() for cell in cells)
    seen: dict[str, int] = {}
    for i, name in enumerate(names, 1):
        if not name:
            raise DataError(f"{where}: column {i} has no name in the header")
        if name in seen:
            raise DataError(f"{where}: columns {seen[name]} and {i} are both named {name!r}")
        seen[name] = i
    if all(map(is_number, names)):
        raise DataError(f"{where}: the first row holds only numbers; it must be a header with the column names")
    return names


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV with lines that end in a line feed; whatever a cell holds, it is read back as it was.

    A cell with a line end of any kind is quoted, which `csv.writer` does for the signs of its own line ends alone.
    """
    lines = _Lines()
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return "".join(lines)


def csv_cell(text: str) -> str:
    """Return a cell as `csv_text` writes it among others."""
    return csv_text([[text, ""]]).removesuffix(",\n") if _QUOTED.search(text) else text


def escaped(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: a text such as "=1+1" with ' before it. Numbers stay."""
    is_formula = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number(cell)
    return f"'{cell}" if is_formula else cell


class _Lines(list[str]):
    """Lines of a `csv.writer`, which writes each by one call, with ends of one character."""

    def write(self, line: str) -> None:
        self.append(f"{line[:-2]}\n")
