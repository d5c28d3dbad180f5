"""Rows of text from a user's own table: delimited, ARFF, Parquet or .npy, a row at a time in constant memory."""

from __future__ import annotations

import contextlib
import csv
import datetime
import gc
import io
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from oblique_cli.data import npy
from oblique_cli.data.own.source import Source
from oblique_cli.errors import ConfigError, DataError, ObliqueError, cut, quoted
from oblique_cli.ground.bounds import TABLE_BYTES
from oblique_cli.ground.labels import is_number

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}

HEADERS = ("first", "none")  # the first row has the names of the columns, or there are none

_LINE_END = re.compile(r"\s*[\r\n]+\s*")
_SEPARATOR = re.compile(r'"?sep=([^"\r\n])"?', re.I)

SAMPLE = 200  # lines that the delimiter is told from
MAX_LINE = 1 << 24  # characters
MAX_COLUMNS = 100_000

# What a file may declare of a column; "ignored" is no feature.
KINDS = ("number", "levels", "text", "date", "identifier", "ignored")

Row = tuple[int, list[str]]  # line in the file, from 1, and cells without blanks around them


class Opened(NamedTuple):
    """A table as it is read.

    header : names of the columns, no two alike
    written : the names as they are in the file, of which some may be alike or empty
    rows : the rows below the header, each with as many cells as the header has
    typed : whether numbers are numbers in the file, so that no spelling has to be found out
    kinds : column -> one of KINDS, for the columns whose kind the file itself declares
    target : the column that the file itself declares to be predicted, "" without
    notes : lines of the file that are no rows, sentences for the user; complete when the last row is read
    """

    header: tuple[str, ...]
    rows: Iterator[Row]
    written: tuple[str, ...]
    typed: bool = False
    kinds: Mapping[str, str] = {}
    target: str = ""
    notes: Sequence[str] = ()

    @property
    def declared(self) -> frozenset[str]:
        """The columns whose levels the file itself declares."""
        return frozenset(name for name, kind in self.kinds.items() if kind == "levels")


@contextmanager
def opened(source: Source, kind: str, delimiter: str, charset: str, header: str = "") -> Iterator[Opened]:
    """Open a table for reading. DataError, one sentence that begins with `source.where`, for whatever is wrong.

    header : of a text with a delimiter, one of HEADERS or "" if nobody said; columns of none are called by their place
    """
    if kind == "parquet":
        with _parquet(source) as table:
            yield table
        return
    if kind == "npy":
        yield _npy(source)
        return
    with source.opened() as stream:
        lines = _lines(stream, charset, source.where)
        yield _arff(lines, source.where) if kind == "arff" else _delimited(lines, delimiter, source.where, header)


def taken(rows: Iterator[Row], most: int) -> list[Row]:
    """Return at most `most` rows. Python's search for cycles waits: it would look at all rows again and again as their
    number grows, a third of the time of 200,000 rows, and rows have no cycles."""
    searches = gc.isenabled()
    gc.disable()
    try:
        return list(itertools.islice(rows, most))
    finally:
        if searches:
            gc.enable()


def sniffed(source: Source, charset: str) -> str:
    """Return the delimiter of a table: the one that cuts the header into most names, and all lines like the header.

    A first line "sep=;" says it. Delimiters inside quotes do not count. DataError if two of them do alike.
    """
    with source.opened() as stream:
        sample = list(itertools.islice(_lines(stream, charset, source.where), SAMPLE))
    if said := _said_delimiter(sample[0] if sample else ""):
        return said
    counts: dict[str, int] = {}
    even: dict[str, bool] = {}
    for delimiter in DELIMITERS:
        # A sample can end inside quotes.
        rows: list[list[str]] = []
        with contextlib.suppress(csv.Error):
            rows = [row for row in csv.reader(sample, delimiter=delimiter, skipinitialspace=True) if any(row)]
        counts[delimiter] = len(rows[0]) if rows else 0
        even[delimiter] = counts[delimiter] > 1 and all(len(row) == counts[delimiter] for row in rows[1:])
    candidates = [delimiter for delimiter in DELIMITERS if even[delimiter]] or list(DELIMITERS)
    most = max(counts[delimiter] for delimiter in candidates)
    best = [delimiter for delimiter in candidates if counts[delimiter] == most]
    if most > 1 and len(best) > 1:
        names = " or ".join(DELIMITERS[delimiter] for delimiter in best)
        raise DataError(f"{source.where}: the header can be cut at {names} alike; say which with --delimiter")
    return best[0]


def delimiter_of(text: str) -> str:
    """Return the delimiter that a user means: a character, or its name, such as "tab"."""
    found = NAMED.get(text.lower(), text)
    if len(found) != 1 or found in '"\r\n\0':
        raise ConfigError(f"a delimiter is one character, or {', '.join(NAMED)}. Got {quoted(text)}.")
    return found


def _lines(stream: Any, charset: str, where: str) -> Iterator[str]:
    """Lines with their ends, whatever these are."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig" if charset == "utf-8" else charset, newline="")
    number = 0
    try:
        while line := text.readline(MAX_LINE):
            number += 1
            if "\0" in line:
                raise DataError(f"{where}: line {number} holds a NUL byte, so this is not a text file")
            if len(line) == MAX_LINE:
                raise DataError(f"{where}: line {number} has more than {MAX_LINE} characters, so this is no table")
            yield line
    except UnicodeError:
        raise DataError(
            f"{where}: line {number + 1} or one soon after it is not {charset} text; say what it is with --charset, "
            "as in --charset cp1252"
        ) from None
    finally:
        with contextlib.suppress(ValueError, DataError):
            text.detach()


def _said_delimiter(line: str) -> str:
    """The delimiter of a first line "sep=;", which is Excel's and no row of the table; "" for any other line."""
    found = _SEPARATOR.fullmatch(line.rstrip("\r\n"))
    return found[1] if found else ""


def _delimited(lines: Iterator[str], delimiter: str, where: str, header: str) -> Opened:
    start = next(lines, "")
    before = 1 if _said_delimiter(start) else 0
    lines = lines if before else itertools.chain([start], lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    rows = _cut(reader, where, before)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{where}: the file is empty")
    if header == "none":
        written = [""] * len(first[1])
        rows = itertools.chain([first], rows)
    else:
        written = [one_line(cell) for cell in first[1]]
        if not header and all(is_number(cell.replace(",", ".")) for cell in written if cell):
            raise DataError(
                f"{where}: the first row holds only numbers; it must be a header with the column names. Say --header "
                "none if it is a row, or --header first if it has names"
            )
    names = _header(written, where)
    return Opened(names, _even(rows, names, where), tuple(written))


def _cut(reader: Any, where: str, before: int) -> Iterator[Row]:
    """Rows of a csv reader, without empty lines. before : lines of the file that it does not get

    A blank line is a row only below a header of one column, where it cannot be told from an empty cell in quotes.
    """
    blank_is_row = False
    try:
        for row in reader:
            if len(row) > 1 or (row and (blank_is_row or row[0].strip())):
                yield before + reader.line_num, list(map(str.strip, row))
                blank_is_row = len(row) == 1
    except csv.Error as error:
        raise DataError(f"{where}: line {before + reader.line_num} cannot be read as CSV ({error})") from None


def _even(rows: Iterator[Row], header: Sequence[str], where: str) -> Iterator[Row]:
    """Rows as long as the header. A delimiter at the end of every row but not of the header is passed over."""
    p = len(header)
    for line, cells in rows:
        if len(cells) == p + 1 and not cells[-1]:
            cells.pop()
        if len(cells) != p:
            fields = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
            raise DataError(f"{where}: line {line} has {fields}, the header has {p}")
        yield line, cells


def one_line(name: str) -> str:
    """The name of a column without line ends, which spreadsheets allow in a cell."""
    return _LINE_END.sub(" ", name)


def _header(written: Sequence[str], where: str) -> tuple[str, ...]:
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


# ---- ARFF ------------------------------------------------------------------------------------------------------------

# A name in quotes or without, and the rest of the line.
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.I | re.S)
_NUMERIC = ("numeric", "real", "integer")
# A cell in either kind of quotes, doubled or escaped inside, or one without, up to the next comma.
_CELL = re.compile(
    r"""\s*(?: '(?P<single>(?:[^'\\]|\\.|'')*)'
             | "(?P<double>(?:[^"\\]|\\.|"")*)"
             | (?P<bare>(?:[^,'"\\\s]|\\.)(?:[^,\\]|\\.)*|)
        )\s*(?P<end>,|$)""",
    re.X,
)


def _arff_cells(text: str) -> list[str] | None:
    """The cells of a row, None if its quotes are at odds."""
    if not any(sign in text for sign in "'\"\\"):
        return [cell.strip() for cell in text.split(",")]
    cells: list[str] = []
    at = 0
    while True:
        found = _CELL.match(text, at)
        if found is None:
            return None
        single, double, bare, end = found.groups()
        cell = bare if bare is not None else single.replace("''", "'") if double is None else double.replace('""', '"')
        cells.append(re.sub(r"\\(.)", r"\1", cell).strip())
        at = found.end()
        if not end:
            return cells


def _arff(lines: Iterator[str], where: str) -> Opened:
    """The table of an ARFF file (https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/)."""
    names: list[str] = []
    kinds: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("%") or text.lower().startswith("@relation"):
            continue
        if text.lower().startswith("@data"):
            break
        found = _ATTRIBUTE.fullmatch(text)
        kind = found[2].strip().lower() if found else ""
        if found is None or not (kind.startswith(("{", "string", "date")) or kind in _NUMERIC):
            raise DataError(f"{where}: line {number} is no attribute of an ARFF file that can be read: {quoted(text)}")
        name = re.sub(r"\\(.)", r"\1", found[1][1:-1]) if found[1][0] in "'\"" else found[1]
        names.append(name)
        first = kind.split()[0]
        kinds.append("levels" if first.startswith("{") else {"string": "text", "date": "date"}.get(first, "number"))
    header = _header(names, where) if names else ()
    if not header:
        raise DataError(f"{where}: there is no attribute before @data")

    def rows() -> Iterator[Row]:
        for at, line in enumerate(lines, number + 1):
            text = line.strip()
            if not text or text.startswith("%"):
                continue
            if text.startswith("{"):
                raise DataError(f"{where}: line {at} is of a sparse ARFF file, which cannot be read; save it as CSV")
            cells = _arff_cells(text)
            if cells is None:
                raise DataError(f"{where}: line {at} cannot be read as ARFF (a quote is not closed, or ends in a cell)")
            yield at, cells

    declared = dict(zip(header, kinds, strict=True))
    return Opened(header, _even(rows(), header, where), tuple(names), typed=True, kinds=declared)


# ---- Parquet ---------------------------------------------------------------------------------------------------------


@contextmanager
def _parquet(source: Source) -> Iterator[Opened]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DataError(
            f"{source.where}: Parquet needs pyarrow; install it with pip install 'oblique-trees[parquet]'"
        ) from None
    where = source.where
    with contextlib.ExitStack() as stack:
        with _whole_parquet(where):
            if source.path is not None and not _is_packed(source):
                file = stack.enter_context(pyarrow.parquet.ParquetFile(source.path))
            else:  # the end of the file is read first, so an archive has to be unpacked as a whole, in memory
                stream = stack.enter_context(replace(source, most=source.most or TABLE_BYTES).opened())
                file = stack.enter_context(pyarrow.parquet.ParquetFile(io.BytesIO(stream.read())))
            schema = file.schema_arrow
            names, kinds = schema.names, schema.types
        for name, kind in zip(names, kinds, strict=True):
            if pyarrow.types.is_nested(kind) or pyarrow.types.is_binary(kind):
                raise DataError(f"{where}: column {quoted(name)} holds {kind}, which is neither a number nor a text")
        yield Opened(_header(names, where), _parquet_rows(file, where), tuple(names), typed=True)


@contextmanager
def _whole_parquet(where: str) -> Iterator[None]:
    """Say in one sentence what pyarrow finds wrong with a file. Damage gives whatever error its place leads to."""
    try:
        yield
    except ObliqueError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        raise DataError(f"{where}: not a whole Parquet file ({cut(said) or type(error).__name__})") from None


def _is_packed(source: Source, magic: bytes = b"PAR1") -> bool:
    assert source.path is not None
    with open(source.path, "rb") as stream:
        return stream.read(len(magic)) != magic


def _parquet_rows(file: Any, where: str) -> Iterator[Row]:
    number = 0
    # Over several row groups at once, pyarrow would keep all it has read.
    groups = (file.iter_batches(batch_size=8192, row_groups=[group]) for group in range(file.num_row_groups))
    batches = itertools.chain.from_iterable(groups)
    while True:
        with _whole_parquet(where):
            batch = next(batches, None)
            columns = [] if batch is None else [_texts(column.to_pylist()) for column in batch.columns]
        if batch is None:
            return
        for cells in zip(*columns, strict=True):
            number += 1
            yield number, list(cells)


# ---- .npy ------------------------------------------------------------------------------------------------------------


def _npy(source: Source) -> Opened:
    if source.path is not None and not _is_packed(source, npy.MAGIC):
        X = npy.table_of(source.path, source.where)
    else:
        with replace(source, most=source.most or TABLE_BYTES).opened() as stream:
            X = npy.table_of(stream.read(), source.where)
    # Whoever names a file for the target is told what is wrong with it where its cells are looked at.
    beside = [npy.column_of(path, len(X), "the target") for _, path in source.beside]
    header = (*npy.names(X.shape[1]), *(name for name, _ in source.beside))
    if len(header) > MAX_COLUMNS:
        raise DataError(f"{source.where}: {len(header)} columns, {MAX_COLUMNS} are allowed")
    return Opened(header, _npy_rows([X, *beside]), header, typed=True)


def _npy_rows(arrays: Sequence[Any]) -> Iterator[Row]:
    n, step = len(arrays[0]), 8192
    for first in range(0, n, step):
        X, *beside = (_plain(part[first : first + step]) for part in arrays)
        columns = [_texts(column.tolist()) for column in (*X.T, *beside)]
        for i, cells in enumerate(zip(*columns, strict=True), first + 1):
            yield i, list(cells)


def _plain(values: Any) -> Any:
    """Values that become texts as those of other files do: truth values are 0 and 1."""
    return values.astype("u1") if values.dtype.kind == "b" else values


def _texts(values: Iterable[Any]) -> list[str]:
    """Values as a CSV file would have them; numbers to the bit."""
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else str(value)
