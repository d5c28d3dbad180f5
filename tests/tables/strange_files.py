"""Files of strange tables: lines that are no rows around the rows, and the formats in which they are written."""

from __future__ import annotations

import csv
import functools
import io
import json
import re
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

Line = str | Sequence[str]  # as it stands in a text, or cells
Write = Callable[[Sequence[Line], bool, Mapping[str, str]], bytes]


@dataclass(frozen=True)
class Lines:
    """Lines that are no rows: above the header, second below it, between the rows, and below them.

    Cells are filled up with empty ones, as spreadsheets do, and HEADER is the header once more."""

    above: tuple[Line, ...] = ()
    second: tuple[Line, ...] = ()
    between: tuple[Line, ...] = ()
    below: tuple[Line, ...] = ()

    def __add__(self, other: Lines) -> Lines:
        return Lines(*(getattr(self, key) + getattr(other, key) for key in ("above", "second", "between", "below")))

    @property
    def are_reported(self) -> bool:
        """Whether any of them has cells."""
        return any(map(any, (*self.above, *self.second, *self.between, *self.below)))

    def around(self, header: Sequence[str], rows: Sequence[Line]) -> list[Line]:
        """All lines of a file."""
        half, p = len(rows) // 2, len(header)
        lines = [*self.above, header, *self.second, *rows[:half], *self.between, *rows[half:], *self.below]
        lines = [header if line is HEADER else line for line in lines]
        return [line if isinstance(line, str) else [*line[:p], *[""] * (p - len(line))] for line in lines]


HEADER = ("the header",)
ABOVE = {
    "title": Lines(("Weights of the survey",)),
    "title and blank": Lines(("Weights of the survey", "")),
    "title of cells": Lines((("Weights of the survey",), ())),
    "two titles": Lines((("Deaths by district",), ("Office of statistics; 2020, second edition",), ())),
    "date of export": Lines(("Exported 2020-03-01", "Filter: none")),
    "name and value": Lines((("Station", "Harbor"), ("Year", "2020"), ())),
    "comment": Lines(("# made by hand",)),
    "comments": Lines(("% source: survey; 2020", "% unit: kg, m")),
    "comment of slashes": Lines(("// made by hand, 2020",)),
}
INSIDE = {
    "second header": Lines(second=(("mm", "kg", "s"),)),
    "second header in brackets": Lines(second=(("[mm]", "(kg)", "(s)"),)),
    "header again": Lines(between=(HEADER,)),
    "comment between": Lines(above=("# made by hand",), between=("# from here on by another scale, 2020",)),
    "blank between": Lines(between=("",)),
}
BELOW = {
    "total": Lines(below=(("Total", "3000", "3000"),)),
    "total and mean": Lines(below=(("Total:", "3000"), ("Mean", "12.5"))),
    "total of German": Lines(below=(("Summe", "3000", "3000"),)),
    "footer": Lines(below=("Source: national survey",)),
    "footer of Spanish": Lines(below=("Fuente: INE",)),
    "footer of cells": Lines(below=((), ("(c) Office of statistics",))),
    "footer after a blank": Lines(below=("", "* provisional values")),
    "two footers": Lines(below=("Notes:", "Weights are rounded to a tenth, see the manual.")),
    "count of rows": Lines(below=("(60 rows)",)),
    "empty rows": Lines(below=((), (), ())),
    "comment below": Lines(above=("# made by hand",), below=("# end",)),
}
LINES = {**ABOVE, **INSIDE, **BELOW}

_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def typed(cell: str) -> str | float | None:
    """A cell as formats with types have it: numbers are numbers."""
    return (float(cell) if "." in cell else int(cell)) if _PLAIN.fullmatch(cell) else cell or None


def text(delimiter: str = "", charset: str = "utf-8", end: str = "\n", first: str = "", quoting: int = 0) -> Write:
    """Text with a delimiter: a comma, or a semicolon beside decimal commas. Several blanks or tabs cut like one."""

    def write(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str]) -> bytes:
        sign = delimiter or (";" if comma else ",")
        stream = io.StringIO()
        writer = csv.writer(stream, delimiter=sign[0], lineterminator="\n", quoting=quoting)  # type: ignore[arg-type]
        for line in lines:
            stream.write(f"{line}\n") if isinstance(line, str) else writer.writerow(line)
        rows = (
            stream.getvalue()
            if len(sign) == 1
            else re.sub(f'{sign[0]}(?=([^"]*"[^"]*")*[^"]*$)', sign, stream.getvalue())
        )
        return (first.format(sign) + rows).replace("\n", end).encode(charset)

    return write


def _blanks(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str]) -> bytes:
    """Columns of one width, as they are printed."""
    cells = [[_quoted(cell) for cell in line] for line in lines if not isinstance(line, str)]
    width = max(len(cell) for line in cells for cell in line) + 2
    rows = iter("".join(cell.ljust(width) for cell in line).rstrip() for line in cells)
    return "\n".join(line if isinstance(line, str) else next(rows) for line in lines).encode()


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if re.search(r'[\s"]|^$', cell) else cell


def _row_names(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str]) -> bytes:
    """As R writes it: the rows have names, for which the header has none."""
    return text()([lines[0], *([str(k), *line] for k, line in enumerate(lines[1:], 1))], comma, kinds)


def _excel(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("survey")
    for line in lines:
        sheet.append([line] if isinstance(line, str) else [typed(cell) for cell in line])
    return _saved(book.save)


def _saved(save: Callable[[io.BytesIO], Any]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()


def _declared(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str], form: str = "arff") -> bytes:
    """ARFF, its sparse form, or KEEL: levels are listed, whatever they look like."""
    header, *rows = lines
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    numbers = {
        name: [x for cell in cells if isinstance(x := typed(cell), int | float)] for name, cells in columns.items()
    }
    levels = {name: list(dict.fromkeys(columns[name])) for name in header if kinds[name] == "levels"}
    ranges = {name: f" [{min(x)}, {max(x)}]" if x and form == "keel" else "" for name, x in numbers.items()}
    types = {name: "{" + ", ".join(levels[name]) + "}" if name in levels else f"real{ranges[name]}" for name in header}
    head = ["@relation strange", *(f"@attribute {name} {types[name]}" for name in header)]
    if form == "keel":
        head += [f"@inputs {', '.join(header[:-1])}", f"@outputs {header[-1]}"]
    gap = "<null>" if form == "keel" else "?"
    filled = [[cell.replace("\\", r"\\") or gap for cell in row] for row in rows]
    if form == "sparse":
        zeros = [levels[name][0] if name in levels else "0" for name in header]
        pairs = [[f"{k} {c}" for k, c in enumerate(row) if c != zeros[k]] for row in filled]
        return "\n".join([*head, "@data", *("{" + ", ".join(row) + "}" for row in pairs)]).encode()
    return "\n".join([*head, "@data", *map(", ".join, filled)]).encode()


def _orange(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str], short: bool = False) -> bytes:
    header, *rows = lines
    sign = {"levels": "D" if short else "discrete", "date": "S" if short else "string"}
    signs = [sign.get(kinds[name], "C" if short else "continuous") for name in header]
    flags = [*[""] * (len(header) - 1), "class"]
    if short:
        names = [f"{flag[:1]}{sign}#{name}" for flag, sign, name in zip(flags, signs, header, strict=True)]
        return text("\t")([names, *rows], comma, kinds)
    return text("\t")([header, signs, flags, *rows], comma, kinds)


def libsvm(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str]) -> bytes:
    """The last column is the label; what a row leaves out is 0."""
    rows = [
        " ".join([row[-1], *(f"{k}:{cell}" for k, cell in enumerate(row[:-1], 1) if float(cell))]) for row in lines[1:]
    ]
    return "\n".join(rows).encode()


def _json(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str], form: str = "records") -> bytes:
    header, *rows = ([typed(cell) for cell in line] for line in lines)
    if form == "columns":
        return json.dumps(dict(zip(header, zip(*rows, strict=True), strict=True))).encode()
    records = [dict(zip(header, row, strict=True)) for row in rows]
    if form == "lines":  # a gap has no key
        present = [{name: x for name, x in record.items() if x is not None} for record in records]
        return "\n".join(map(json.dumps, present)).encode()
    return json.dumps(records).encode()


def _sqlite(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str]) -> bytes:
    places = ", ".join("?" for _ in lines[0])
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE strange ({', '.join(lines[0])})")
        base.executemany(f"INSERT INTO strange VALUES ({places})", [[typed(c) for c in row] for row in lines[1:]])
        base.commit()
        return base.serialize()


def _frame(lines: Sequence[Line], comma: bool, kinds: Mapping[str, str], form: str) -> bytes:
    """By pandas: a column of numbers has their type, any other is text."""
    import pandas

    cells = dict(zip(lines[0], zip(*lines[1:], strict=True), strict=True))
    columns = {name: [typed(cell) for cell in column] for name, column in cells.items()}
    table = pandas.DataFrame(
        {name: c if not any(isinstance(x, str) for x in c) else cells[name] for name, c in columns.items()}
    )
    if form == "spss":
        import pyreadstat

        with tempfile.NamedTemporaryFile(suffix=".sav") as file:
            pyreadstat.write_sav(table, file.name)
            return file.read()
    how = {"write_index": False, "version": 118} if form == "stata" else {}
    return _saved(functools.partial(getattr(table, f"to_{form}"), **how))


TEXTS: dict[str, Write] = {
    "commas": text(),
    "tabs": text("\t"),
    "bars": text("|"),
    "doubled tabs": text("\t\t"),
    "doubled tabs and quotes": text("\t\t", quoting=csv.QUOTE_ALL),
    "blanks": _blanks,
    "one blank": text(" "),
    "delimiter in the first line": text(first="sep={}\n"),
    "all in quotes": text(quoting=csv.QUOTE_ALL),
    "Windows": text(charset="cp1252", end="\r\n"),
    "UTF-16": text(charset="utf-16", end="\r\n"),
    "UTF-8 with its mark": text(charset="utf-8-sig"),
    "old Macintosh": text(end="\r"),
}  # fmt: skip
SHEETS: dict[str, Write] = {"Excel": _excel}
NAMED_ROWS: dict[str, Write] = {"names of rows": _row_names}  # whose names are left out
DECLARED: dict[str, Write] = {
    "ARFF": _declared,
    "sparse ARFF": functools.partial(_declared, form="sparse"),
    "KEEL": functools.partial(_declared, form="keel"),
    "Orange": _orange,
    "Orange in one line": functools.partial(_orange, short=True),
}
TYPED: dict[str, Write] = {
    "JSON": _json,
    "JSON lines": functools.partial(_json, form="lines"),
    "JSON columns": functools.partial(_json, form="columns"),
    "SQLite": _sqlite,
    **{form: functools.partial(_frame, form=form) for form in ("feather", "parquet", "stata", "spss")},
}
