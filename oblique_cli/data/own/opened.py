"""`Opened`: a user's table in the common form of all readers, and names for its columns."""

from __future__ import annotations

import datetime
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from oblique_cli.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    Cells: TypeAlias = Any  # of a column: a sequence of texts, or NumberCells

MAX_COLUMNS = 100_000

# Kinds of columns that a file may declare; "ignored" is no feature.
KINDS = ("number", "levels", "text", "date", "identifier", "ignored")

_LINE_END = re.compile(r"\s*[\r\n]+\s*")


Row = tuple[int, list[str]]  # line in the file, from 1, and cells without blanks around them


class NeedsTexts(Exception):
    """Columns whose texts decide how they are read."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = frozenset(names)


class NumberCells:
    """Cells of a column of numbers in one form.

    values : (n,) float64, NaN for missing cells; others : text of a missing cell -> rows
    integral, canonical : whether all numbers are written as integers, and these as Python writes integers
    pointed : whether a number has a point that cannot be a separator of thousands"""

    def __init__(
        self,
        values: np.ndarray,
        others: Mapping[str, int],
        integral: bool,
        canonical: bool = True,
        pointed: bool = True,
    ) -> None:
        self.values, self.others = values, others
        self.integral, self.canonical, self.pointed = integral, canonical, pointed

    @property
    def has_numbers(self) -> bool:
        """Whether some cell is no missing value."""
        return sum(self.others.values()) < len(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice) -> NumberCells:
        """Return some rows, with the facts of all."""
        return NumberCells(self.values[rows], self.others, self.integral, self.canonical, self.pointed)

    @classmethod
    def joined(cls, parts: Sequence[NumberCells]) -> NumberCells:
        """Return the cells of several blocks of rows of a column."""
        import numpy as np

        others = sum((Counter(part.others) for part in parts), Counter())
        facts = [(part.integral, part.canonical, not part.pointed) for part in parts]
        integral, canonical, even = map(all, zip(*facts, strict=True))
        return cls(np.concatenate([part.values for part in parts]), others, integral, canonical, not even)

    def texts(self, rows: np.ndarray) -> list[str] | None:
        """Return the texts of the cells of some rows, None if only the file has them."""
        if not self.integral or not self.canonical or len(self.others) > 1:
            return None
        missing = "".join(self.others)
        return [missing if value != value else str(int(value)) for value in self.values[rows].tolist()]

    def has_only(self, marks: Collection[str]) -> bool:
        """Return whether every cell is a number, empty, or a mark of a missing value."""
        return all(not text or text.lower() in marks for text in self.others)


class Block(NamedTuple):
    """Some rows of a table: their lines in the file, from 1, and the cells of each column."""

    lines: Sequence[int]
    columns: Sequence[Cells]


class Request(NamedTuple):
    """Request for the cells of a table, so that unneeded cells are not converted to texts.

    numbers : columns that may be returned as numbers; texts : columns whose texts are needed, None for all others
    decimal, marks : decimal mark of numbers in a text, and marks of missing values, in lower case"""

    numbers: Collection[str] = ()
    texts: Collection[str] | None = None
    decimal: str = "."
    marks: Collection[str] = ()


Requests = Callable[[], Request]  # evaluated again after the first block, which may change the form of numbers


def blocks_of(rows: Iterator[Row], size: int) -> Iterator[Block]:
    """Yield rows in blocks of at most `size`."""
    while block := list(itertools.islice(rows, size)):
        yield Block([line for line, _ in block], list(zip(*(cells for _, cells in block), strict=True)))


def rows_of(blocks: Iterable[Block]) -> Iterator[Row]:
    """Yield the rows of blocks of texts."""
    for block in blocks:
        for line, *cells in zip(block.lines, *block.columns, strict=True):
            yield line, cells


class Opened(NamedTuple):
    """A table while it is read.

    header : names of the columns, no two alike
    rows : the rows below the header, each with as many cells as the header has
    written : the names in the file, which may be repeated or empty
    typed : whether the file stores numbers as numbers, so that no spelling must be detected
    kinds : column -> one of KINDS, for the columns whose kind the file itself declares
    target : the target that the file declares, "" without
    notes : messages on lines that are no rows; complete after the last row
    format, delimiter, charset : as in `Columns`
    typed_blocks : yields the rows in blocks with numbers where requested; None if all cells are texts"""

    header: tuple[str, ...]
    rows: Iterator[Row]
    written: tuple[str, ...]
    typed: bool = False
    kinds: Mapping[str, str] = {}
    target: str = ""
    notes: Sequence[str] = ()
    format: str = "csv"
    delimiter: str = ","
    charset: str = "utf-8"
    typed_blocks: Callable[[int, Requests], Iterator[Block]] | None = None

    def blocks(self, size: int, requests: Requests = Request) -> Iterator[Block]:
        """Yield the rows in blocks of at most `size`; those of the first block of a text as texts."""
        return blocks_of(self.rows, size) if self.typed_blocks is None else self.typed_blocks(size, requests)


def typed(
    header: tuple[str, ...],
    written: tuple[str, ...],
    parts: Iterator[Sequence[Any]],
    numbers: Callable[[Any], NumberCells | None],
    texts: Callable[[Any], list[str]],
    **facts: Any,
) -> Opened:
    """Return a table read by a library. parts : blocks of rows by column; numbers, texts : convert a column to these"""
    import numpy as np

    def cells(name: str, column: Any, request: Request) -> Cells:
        is_number = name in request.numbers
        if is_number and (values := numbers(column)) is not None and not np.isinf(values.values).any():
            return values
        return texts(column) if is_number or request.texts is None or name in request.texts else ()

    def blocks(size: int, requests: Requests) -> Iterator[Block]:
        line = 0
        for part in parts:
            request = requests()
            columns = [cells(*pair, request) for pair in zip(header, part, strict=True)]
            for first in range(line, line + len(part[0]), size):
                rows = slice(first - line, first - line + size)
                last = min(first + size, line + len(part[0]))
                yield Block(range(first + 1, last + 1), [cells[rows] for cells in columns])
            line += len(part[0])

    return Opened(header, rows_of(blocks(1 << 20, Request)), written, True, typed_blocks=blocks, **facts)


def number_cells(column: np.ndarray, integral: bool) -> NumberCells:
    """Return the cells of a numeric array, NaN for missing cells. integral : whether it is of integers"""
    import numpy as np

    values = np.asarray(column, np.float64)
    missing = int(np.isnan(values).sum())
    exact = not integral or bool((np.abs(values[~np.isnan(values)]) < 1e15).all())
    return NumberCells(values, {"": missing} if missing else {}, integral, exact)


def one_line(name: str) -> str:
    """Return the name of a column without line ends, which spreadsheets allow in a cell."""
    return _LINE_END.sub(" ", name)


def header_of_names(written: Sequence[str], where: str) -> tuple[str, ...]:
    """Return unique column names: a nameless column is named by its place, a repeated name gets a number."""
    if len(written) > MAX_COLUMNS:
        raise DataError(f"{where}: {len(written)} columns, {MAX_COLUMNS} are allowed")
    names = [cell or f"column {i}" for i, cell in enumerate(written, 1)]
    in_use = set(names)
    if len(in_use) == len(names):
        return tuple(names)
    seen: set[str] = set()
    count: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in seen:
            k = count.get(name, 1) + 1
            while f"{name} ({k})" in in_use:
                k += 1
            count[name] = k
            names[i] = f"{name} ({k})"
            in_use.add(names[i])
        seen.add(names[i])
    return tuple(names)


def texts_of(values: Iterable[Any]) -> list[str]:
    """Return values as in a CSV file; numbers to the bit."""
    return [text_of(value) for value in values]


def text_of(value: Any) -> str:
    """Return a value as in a CSV file, "" for a missing value."""
    if isinstance(value, str):
        return value.strip()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else str(value)
