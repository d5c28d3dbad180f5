"""CSV text that can be read back exactly."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any

from oblique_cli.ground.labels import is_number

_QUOTED = re.compile(r'[,"\r\n]')


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV whose lines end in a line feed, with every kind of line end in a cell quoted, so that reading
    restores the cells; `csv.writer` quotes only its configured line end."""
    lines = _Lines()
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return "".join(lines)


def csv_cell(text: str) -> str:
    """Return the text of a cell as in `csv_text`."""
    return csv_text([[text, ""]]).removesuffix(",\n") if _QUOTED.search(text) else text


def escaped(cell: Any) -> Any:
    """Return a cell that no spreadsheet treats as a formula: a text such as "=1+1" with ' before it. Numbers stay."""
    is_formula = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number(cell)
    return f"'{cell}" if is_formula else cell


class _Lines(list[str]):
    """Collector of the lines of a `csv.writer`, which writes each line by one call."""

    def write(self, line: str) -> None:
        self.append(f"{line[:-2]}\n")
