"""Blocks of a large delimited text, parsed by the core as long as all lines are rows of plain cells."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from oblique_cli import _core
from oblique_cli.data.own.opened import Block, NumberCells, Request, Requests
from oblique_cli.data.own.source import Source
from oblique_cli.data.own.text import begins_row

if TYPE_CHECKING:
    from oblique_cli.data.own.opened import Cells

PIECE = 1 << 19  # bytes to parse at a time
LONGEST = 1 << 24  # bytes of a line
BETWEEN = "\x1f"  # cells in `numbers_of_texts`


@dataclass(frozen=True)
class PlainText:
    """A text whose rows begin behind `line` and, in the part read here, have no quotes inside a cell, no comments and
    no doubled delimiters."""

    source: Source
    charset: str
    delimiter: str
    header: Sequence[str]
    line: int

    def blocks(self, size: int, requests: Requests, head: Block | None = None) -> Generator[Block, None, int | None]:
        """Yield rows in the form of `text.text_rows`; return the last line before a piece that is not plain, or
        None at the end. head : texts of the rows up to `line`; they begin the first block, which is yielded only if
        all its rows are plain."""
        line = self.line
        with self.source.opened() as stream:
            for _ in range(line):
                if b"\r" in stream.readline(LONGEST).rstrip(b"\r\n"):  # a carriage return also ends a line
                    return line
            while piece := stream.read(PIECE):
                piece += stream.readline(LONGEST)
                columns: Sequence[Cells] | None
                columns = self._parsed(piece, requests()) if len(piece) >= PIECE or line > self.line else None
                if columns is None:
                    return line if head is None else self.line
                lines: Sequence[int] = range(line + 1, line + len(columns[0]) + 1)
                line = lines[-1]
                if head is not None:
                    if (head := _joined(head, Block(lines, columns), requests())) is None:
                        return self.line
                    if len(head.lines) < size and len(piece) >= PIECE:
                        continue
                    (lines, columns), head = head, None
                for first in range(0, len(lines), size):
                    yield Block(lines[first : first + size], [cells[first : first + size] for cells in columns])
        return None

    def _parsed(self, piece: bytes, request: Request) -> list[Cells] | None:
        """Return the columns of whole lines, None unless all are plain."""
        if b"\0" in piece or len(piece) >= LONGEST or not self.delimiter.isascii() or self.delimiter == " ":
            return None
        if not piece.isascii():
            try:
                piece = piece.decode(self.charset).encode()
            except UnicodeError:
                return None
        is_text = [request.texts is None or name in request.texts for name in self.header]
        kinds = [
            "n" if name in request.numbers else "t" if is_text[j] or j < 2 else "-"
            for j, name in enumerate(self.header)
        ]
        parsed = _core.plain_rows(piece, self.delimiter, request.decimal, "".join(kinds))
        if parsed is None:
            return None
        columns = [NumberCells(*cells) if kind == "n" else cells for kind, cells in zip(kinds, parsed, strict=True)]
        numbers = [cells for cells in columns if isinstance(cells, NumberCells)]
        plain = all(cells.has_only(request.marks) for cells in numbers) and _are_rows(self.header[0], *columns)
        return columns if plain else None


def _joined(head: Block, block: Block, request: Request) -> Block | None:
    """Return two blocks as one, numbers where `block` has some; None if `head` has other cells there."""
    columns: list[Cells] = []
    for first, cells in zip(head.columns, block.columns, strict=True):
        if not isinstance(cells, NumberCells):
            columns.append([*first, *cells] if len(cells) else ())
            continue
        numbers = first if isinstance(first, NumberCells) else numbers_of_texts(first, request.marks, request.decimal)
        if numbers is None:
            return None
        columns.append(NumberCells.joined([numbers, cells]))
    return Block([*head.lines, *block.lines], columns)


def numbers_of_texts(cells: Sequence[str], marks: Collection[str], decimal: str = ".") -> NumberCells | None:
    """Return cells as numbers, None if a cell is neither a number nor a mark."""
    together = f"{BETWEEN}\n".join([*cells, ""])
    if '"' in together or together.count("\n") != len(cells) or "\r" in together:
        return None
    parsed = _core.plain_rows(together.encode(), BETWEEN, decimal, "n-")
    numbers = None if parsed is None else NumberCells(*parsed[0])
    return numbers if numbers is not None and numbers.has_only(marks) else None


def _are_rows(name: str, first: Cells, *others: Cells) -> bool:
    """Return whether no line can be a comment, a repeated header, or a line below the table (`text._without_end`).
    name : of the first column"""
    numbers = [cells.values for cells in itertools.takewhile(lambda cells: isinstance(cells, NumberCells), others)]
    if (numbers and np.isnan(numbers).all(axis=0).any()) or (not numbers and others and not all(others[0])):
        return False
    if isinstance(first, NumberCells):
        return not np.isnan(first.values).any()
    return all(cell[-1:].isdigit() or (cell != name and begins_row(cell)) for cell in set(first))
