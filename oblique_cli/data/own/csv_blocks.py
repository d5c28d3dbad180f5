"""Blocks of a large delimited text, parsed by pandas as long as all lines are rows of plain cells."""

from __future__ import annotations

import io
import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from oblique_cli.data.own.opened import Block, Request
from oblique_cli.data.own.source import Source

if TYPE_CHECKING:
    from oblique_cli.data.own.opened import Cells

PIECE = 1 << 20  # bytes to parse at a time; smaller tables are read before pandas is imported
LONGEST = 1 << 24  # bytes of a line


@dataclass(frozen=True)
class PlainText:
    """A text whose rows begin behind `line` and, in the part read here, have no quotes, comments or doubled
    delimiters."""

    source: Source
    charset: str
    delimiter: str
    header: Sequence[str]
    line: int

    def blocks(self, size: int, request: Request) -> Generator[Block, None, int | None]:
        """Yield rows in the form of `text.text_rows`; return the last line before a piece that is not plain, or
        None at the end."""
        line = self.line
        with self.source.opened() as stream:
            for _ in range(line):
                if b"\r" in stream.readline(LONGEST).rstrip(b"\r\n"):  # a carriage return also ends a line
                    return line
            while piece := stream.read(PIECE):
                piece += stream.readline(LONGEST)
                columns = self._parsed(piece, request) if len(piece) >= PIECE or line > self.line else None
                if columns is None:
                    return line
                n = len(columns[0])
                for first in range(0, n, size):
                    last = min(n, first + size)
                    yield Block(range(line + first + 1, line + last + 1), [cells[first:last] for cells in columns])
                line += n
        return None

    def _parsed(self, piece: bytes, request: Request) -> list[Cells] | None:
        """Return the columns of whole lines, None unless all are plain."""
        p, n = len(self.header), piece.count(b"\n") + (not piece.endswith(b"\n"))
        ends, pairs = piece.count(b"\r"), piece.count(b"\r\n")
        # pandas fills short rows, so the delimiters are counted; it refuses longer rows than the first.
        if b'"' in piece or b"\0" in piece or ends != pairs or piece.count(self.delimiter.encode()) != n * (p - 1):
            return None
        import pandas

        missing = {"", "NaN", *(form for mark in request.marks for form in (mark, mark.upper(), mark.title()))}
        number_at = [j for j, name in enumerate(self.header) if name in request.numbers]
        options: dict[str, Any] = {
            "header": None, "skip_blank_lines": False, "skipinitialspace": True, "quoting": 3, "low_memory": False,
            "keep_default_na": False, "na_values": {j: sorted(missing) for j in number_at},
            "dtype": {j: object for j in range(p) if j not in number_at},
            "decimal": request.decimal, "float_precision": "round_trip",
        }  # fmt: skip
        try:
            with warnings.catch_warnings(action="ignore"):  # newer versions always round to the nearest number
                frame = pandas.read_csv(io.BytesIO(piece), encoding=self.charset, sep=self.delimiter, **options)
        except ValueError:  # rows of several lengths, or bytes that are no text
            return None
        if frame.shape != (n, p):
            return None
        columns: list[Cells] = []
        for j in range(p):
            cells = _cells(frame[j], j in number_at)
            if cells is None:
                return None
            columns.append(cells)
        return columns if _are_rows(columns[0], columns[min(1, p - 1)]) else None


def _cells(column: Any, is_number: bool) -> Cells | None:
    """Return the cells of a column as numbers or as texts, None if a number column has other cells."""
    if not is_number:
        return list(map(str.strip, column))
    values = column.to_numpy()
    if values.dtype.kind not in "fiu" or np.isinf(values).any():
        return None
    return np.asarray(values, np.float64)


def _are_rows(first: Cells, second: Cells) -> bool:
    """Return whether no line can be a comment, a repeated header, or a line below the table (`text._without_end`)."""
    if isinstance(first, np.ndarray):
        return not np.isnan(first).any() and (isinstance(second, np.ndarray) or all(second))
    there = not np.isnan(second).any() if isinstance(second, np.ndarray) else all(second)
    return bool(there) and all(cell[-1:].isdigit() for cell in first)
