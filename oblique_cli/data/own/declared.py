"""Text formats that declare their columns: ARFF and KEEL, the header of Orange, LIBSVM, and JSON."""

from __future__ import annotations

import itertools
import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from oblique_cli.data.own.opened import MAX_COLUMNS, Opened, Row, header_of_names, text_of
from oblique_cli.data.own.text import ORANGE_KINDS, ORANGE_TARGETS, is_orange
from oblique_cli.errors import DataError, quoted

# ---- ARFF and KEEL ---------------------------------------------------------------------------------------------------

# A name in quotes or without, and the rest of the line.
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.I | re.S)
_KIND = re.compile(r"(\{|string|date|numeric|real|integer)(?:$|[\s\[{]|(?<=\{))", re.I)
_KINDS = {"{": "levels", "string": "text", "date": "date"}
# A cell in either kind of quotes, with doubled or escaped ones inside, or without quotes up to the next comma.
_CELL = re.compile(
    r"""\s*(?: '(?P<single>(?:[^'\\]|\\.|'')*)'
             | "(?P<double>(?:[^"\\]|\\.|"")*)"
             | (?P<bare>(?:[^,'"\\\s]|\\.)(?:[^,\\]|\\.)*|)
        )\s*(?P<end>,|$)""",
    re.X,
)
NULL = "<null>"  # a missing value in KEEL


def _cells(text: str) -> list[str] | None:
    """Return the cells of a row, None if its quotes do not match."""
    if not any(sign in text for sign in "'\"\\"):
        return [cell.strip() for cell in text.split(",")]
    cells: list[str] = []
    at = 0
    while True:
        match = _CELL.match(text, at)
        if match is None:
            return None
        single, double, bare, end = match.groups()
        cell = bare if bare is not None else single.replace("''", "'") if double is None else double.replace('""', '"')
        cells.append(re.sub(r"\\(.)", r"\1", cell).strip())
        at = match.end()
        if not end:
            return cells


def arff(lines: Iterator[str], where: str) -> Opened:
    """Return the table of ARFF (https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/), or of KEEL,
    which has ranges behind kinds, and lists features and targets as @inputs and @outputs."""
    names: list[str] = []
    kinds: list[str] = []
    zeros: list[str] = []  # default cells of a sparse row: 0, or the first level
    parts: dict[str, list[str]] = {}
    number = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        word = text.split(None, 1)[0].lower() if text else ""
        if not text or text.startswith("%") or word == "@relation":
            continue
        if word == "@data":
            break
        if word in ("@input", "@inputs", "@output", "@outputs"):
            parts[word.rstrip("s")] = [name.strip("'\"") for name in _cells(text[len(word) :].strip()) or ()]
            continue
        match = _ATTRIBUTE.fullmatch(text)
        kind = _KIND.match(match[2]) if match else None
        if match is None or kind is None:
            raise DataError(f"{where}: line {number} is no attribute of an ARFF file that can be read: {quoted(text)}")
        names.append(re.sub(r"\\(.)", r"\1", match[1][1:-1]) if match[1][0] in "'\"" else match[1])
        kinds.append(_KINDS.get(kind[1].lower(), "number"))
        levels = _cells(match[2].strip().strip("{}")) if kinds[-1] == "levels" else None
        zeros.append(levels[0] if levels else "0")
    header = header_of_names(names, where) if names else ()
    if not header:
        raise DataError(f"{where}: there is no attribute before @data")
    declared = dict(zip(header, kinds, strict=True))
    named = parts.get("@input", []) + parts.get("@output", [])
    if parts.get("@input") and set(named) <= set(header):
        declared |= {name: "ignored" for name in header if name not in named}
    target = parts.get("@output", [""])
    rows = _arff_rows(lines, number, zeros, where)
    return Opened(
        header, rows, tuple(names), True, declared, target[0] if len(target) == 1 else "", format="arff"
    )  # fmt: skip


def _arff_rows(lines: Iterator[str], before: int, zeros: Sequence[str], where: str) -> Iterator[Row]:
    for at, line in enumerate(lines, before + 1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        sparse = text.startswith("{") and text.endswith("}")
        cells = _cells(text[1:-1] if sparse else text)
        if cells is None:
            raise DataError(f"{where}: line {at} cannot be read as ARFF (a quote is not closed, or ends in a cell)")
        if sparse:
            cells = _whole_row(text[1:-1], zeros, f"{where}: line {at}")
        if len(cells) == len(zeros) + 1 and not cells[-1]:
            cells.pop()
        if len(cells) != len(zeros):
            fields = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
            raise DataError(f"{where}: line {at} has {fields}, the header has {len(zeros)}")
        yield at, ["" if cell == NULL else cell for cell in cells]


def _whole_row(text: str, zeros: Sequence[str], where: str) -> list[str]:
    """Return all cells of a sparse row of ARFF, a list of pairs of a place from 0 and a cell."""
    cells = list(zeros)
    for pair in re.findall(r"""\s*(\d+\s+(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*))(?:,|$)|(.)""", text):
        place, _, cell = pair[0].partition(" ") if " " in pair[0] else pair[0].partition("\t")
        if pair[1].strip() or not place.isdigit() or int(place) >= len(zeros):
            raise DataError(f"{where} is no sparse row of ARFF with places from 0 to {len(zeros) - 1}")
        cells[int(place)] = (_cells(cell.strip()) or [""])[0]
    return cells


# ---- Orange ----------------------------------------------------------------------------------------------------------

_ORANGE_PREFIX = re.compile(r"([mciw]?)([CDST]?)#(.+)")
_IGNORED = ("m", "meta", "i", "ignore", "w", "weight")


class Orange(NamedTuple):
    """Content of an Orange header; kinds and target as in `Opened`."""

    names: list[str]
    kinds: dict[str, str]
    target: str


def orange(header: Sequence[str], first: Sequence[Row]) -> Orange | None:
    """Return the content of an Orange header, None for others (https://orange3.readthedocs.io, "Loading your data").

    One line has prefixes such as C# (a number), D# (levels), cD# (levels of the target) and m# (no feature); of three
    lines the second has kinds and the third flags. first : the two rows below the names"""
    names, kinds, flags = list(header), [""] * len(header), [""] * len(header)
    marked = [_ORANGE_PREFIX.fullmatch(name) for name in header]
    if any(match and (match[1] or match[2]) for match in marked):
        for i, match in enumerate(marked):
            if match:
                flags[i], kinds[i], names[i] = match[1], match[2].lower(), match[3]
    elif len(first) == 2 and is_orange(first[0][1], first[1][1]):
        kinds, flags = first[0][1], first[1][1]
    else:
        return None
    declared = {}
    for name, kind, flag in zip(names, kinds, flags, strict=True):
        declared[name] = "ignored" if flag in _IGNORED else ORANGE_KINDS.get(kind, "levels" if kind else "")
    target = next((name for name, flag in zip(names, flags, strict=True) if flag in ORANGE_TARGETS), "")
    return Orange(names, {name: kind for name, kind in declared.items() if kind}, target)


# ---- LIBSVM ----------------------------------------------------------------------------------------------------------


def libsvm(stream: BinaryIO, wanted: Sequence[str], where: str) -> tuple[int, int, bool]:
    """Return the first and the last place in the lines of LIBSVM, and whether they have queries (qid)."""
    low, high, queries = 1, 0, False
    for number, line in enumerate(stream, 1):
        text = line.partition(b"#")[0]
        queries = queries or b" qid:" in text
        places = re.findall(rb"[ \t]([0-9]+):", text)
        if places:
            low, high = min(low, int(places[0])), max(high, int(places[-1]))
        if high > MAX_COLUMNS:
            raise DataError(f"{where}: line {number} has place {high}, {MAX_COLUMNS} columns are allowed")
    places = [int(name[1:]) for name in wanted if re.fullmatch("x[0-9]{1,6}", name)]
    return low, max([high, *places]), queries


def libsvm_table(stream: BinaryIO, low: int, high: int, queries: bool, where: str) -> Opened:
    """Return the table of LIBSVM's lines, "label place:value ...": columns label, x1, x2, ..., 0 at absent places."""
    header = ("label", *(["qid"] if queries else []), *(f"x{place}" for place in range(low, high + 1)))
    kinds = {"qid": "ignored"} if queries else {}

    def rows() -> Iterator[Row]:
        for number, line in enumerate(stream, 1):
            text = line.decode("utf-8", "replace").partition("#")[0].split()
            if not text:
                continue
            cells = [text[0], *(["0"] * (len(header) - 1))]
            for pair in text[1:]:
                place, _, value = pair.partition(":")
                if place == "qid":
                    cells[1] = value
                elif place.isdigit() and value and low <= int(place) <= high:
                    cells[int(place) - low + 1 + queries] = value
                else:
                    raise DataError(f"{where}: line {number} holds {quoted(pair)}, not place:value as in LIBSVM")
            yield number, cells

    return Opened(header, rows(), header, True, kinds, "label", format="libsvm")


# ---- JSON ------------------------------------------------------------------------------------------------------------


def json_table(stream: BinaryIO, again: BinaryIO, where: str) -> Opened:
    """Return the table of JSON: records, one per line, or columns. Nested records have names such as "size.width"; an
    absent key is an empty cell. stream, again : the bytes twice, since the last line may have a new column"""
    first, second = (line.strip() for line in (stream.readline(), stream.readline()))
    if first.removeprefix(BOM_UTF8).startswith(b"{") and first.endswith(b"}") and second.startswith(b"{"):
        once = itertools.chain([first, second], stream)
        names = dict.fromkeys(name for _, record in _json_lines(once, where) for name in record)
        header = header_of_names(list(names), where)
        rows = ((line, [record.get(name, "") for name in names]) for line, record in _json_lines(again, where))
        return Opened(header, rows, tuple(names), format="json")
    records = _json_records(_parsed(again.read(), where), where)
    names = dict.fromkeys(name for record in records for name in record)
    header = header_of_names(list(names), where) if names else ()
    if not header:
        raise DataError(f"{where}: the JSON holds no records with columns")
    rows = ((k, [record.get(name, "") for name in names]) for k, record in enumerate(records, 1))
    return Opened(header, rows, tuple(names), format="json")


def _parsed(text: bytes, where: str) -> Any:
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=lambda _: None)
    except UnicodeDecodeError:
        raise DataError(f"{where}: this is not UTF-8 text, as JSON must be") from None
    except RecursionError:
        raise DataError(f"{where}: the JSON is nested too deeply for a table") from None
    except ValueError as error:
        raise DataError(f"{where}: the text is no JSON ({error})") from None


def _json_lines(stream: Iterable[bytes], where: str) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(stream, 1):
        if line.strip():
            yield number, _record(_parsed(line, f"{where}: line {number}"), f"{where}: line {number}")


def _json_records(plain: Any, where: str) -> list[dict[str, str]]:
    if isinstance(plain, dict) and isinstance(plain.get("columns"), list) and isinstance(plain.get("data"), list):
        plain = [plain["columns"], *plain["data"]]  # pandas, orient="split"
    elif isinstance(plain, dict):
        columns = {key: value for key, value in plain.items() if isinstance(value, list)}
        if len(columns) == 1 and all(isinstance(item, dict) for item in next(iter(columns.values()))):
            plain = next(iter(columns.values()))  # records under one key, such as "data"
        elif len(plain) > 1 and all(isinstance(value, dict) for value in plain.values()):  # pandas, orient="columns"
            keys = dict.fromkeys(key for column in plain.values() for key in column)
            rows = {key: {name: column.get(key) for name, column in plain.items()} for key in keys}
            return [_record(row, f"{where}: record {key!r}") for key, row in rows.items()]
        elif len(columns) == len(plain) and len({len(column) for column in columns.values()}) == 1:
            plain = [list(columns), *zip(*columns.values(), strict=True)]
        elif not columns:
            plain = [plain]
    if not isinstance(plain, list) or not plain:
        raise DataError(f"{where}: the JSON is no list of records, and no mapping from columns to lists of one length")
    if all(isinstance(item, list | tuple) for item in plain):
        names = [text_of(name) for name in plain[0]]
        if wrong := next((k for k, row in enumerate(plain) if len(row) != len(names)), 0):
            raise DataError(f"{where}: row {wrong} has {len(plain[wrong])} cells, the header has {len(names)}")
        plain = [dict(zip(names, row, strict=True)) for row in plain[1:]]
    return [_record(item, f"{where}: record {k}") for k, item in enumerate(plain, 1)]


def _record(item: Any, where: str, prefix: str = "") -> dict[str, str]:
    if not isinstance(item, dict):
        raise DataError(f"{where} is {quoted(item)}, not a record with names")
    cells: dict[str, str] = {}
    for key, value in item.items():
        if isinstance(value, dict):
            cells |= _record(value, where, f"{prefix}{key}.")
        elif isinstance(value, list):
            raise DataError(
                f"{where}: column {quoted(prefix + key)} holds a list, which is neither a number nor a text"
            )
        else:
            cells[prefix + key] = text_of(value)
    return cells
