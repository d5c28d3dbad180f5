"""`Opened`: a table of a user's own as every reader gives it, and names for its columns."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oblique_cli.data.own.text import Row
from oblique_cli.errors import DataError

MAX_COLUMNS = 100_000

# What a file may declare of a column; "ignored" is no feature.
KINDS = ("number", "levels", "text", "date", "identifier", "ignored")

_LINE_END = re.compile(r"\s*[\r\n]+\s*")


class Opened(NamedTuple):
    """A table as it is read.

    header : names of the columns, no two alike
    rows : the rows below the header, each with as many cells as the header has
    written : the names as they are in the file, of which some may be alike or empty
    typed : whether numbers are numbers in the file, so that no spelling has to be found out
    kinds : column -> one of KINDS, for the columns whose kind the file itself declares
    target : the column that the file itself declares to be predicted, "" without
    notes : lines of the file that are no rows, sentences for the user; complete when the last row is read
    format, delimiter, charset : as in `Columns`
    """

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


def one_line(name: str) -> str:
    """Return the name of a column without line ends, which spreadsheets allow in a cell."""
    return _LINE_END.sub(" ", name)


def header_of_names(written: Sequence[str], where: str) -> tuple[str, ...]:
    """Names of columns, none twice. One without a name is called by its place, and the second of a name is numbered."""
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
    """Values as a CSV file would have them; numbers to the bit."""
    return [text_of(value) for value in values]


def text_of(value: Any) -> str:
    """Return a value as a CSV file would have it, "" for one that is missing."""
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
