"""Rows as CSV text that is read back as it was."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any

from oblique_cli.ground.labels import is_number

_QUOTED = re.compile(r'[,"\r\n]')


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV whose lines end in a line feed, read back as they were: a cell with a line end of any kind is
    quoted, which `csv.writer` does for its own line ends alone."""
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
