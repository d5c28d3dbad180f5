"""Texts about columns for the user: lists of names, names quoted for a shell, and conversions of cells."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence

from oblique_cli.data.own.cell_forms import IN_MINUTES, SPACES
from oblique_cli.data.own.columns import Column
from oblique_cli.errors import MOST_QUOTED, cut_list, quoted

WHY = {
    "identifier": "tells rows apart",
    "text": "free text",
    "date": "dates",
    "constant": "one value",
    "empty": "empty",
    "dropped": "dropped",
}


def conversions(column: Column, cells: Iterable[str]) -> str:
    """Return a description of the conversions of a column's cells, with an example of each form, or ""."""
    wanted = {*column.written, *(["unit"] if column.unit else [])}
    form, plain = column.form, column.form._replace(unit="")
    examples: list[str] = []
    for cell in dict.fromkeys(cells):
        if not wanted:
            break
        with contextlib.suppress(ValueError):
            value, names = form.parsed(cell)
            used = {*names, *(["unit"] if column.unit and not plain.holds(cell) else [])}
            if used & wanted:
                wanted -= used
                minutes = " minutes" if used & set(IN_MINUTES) else " inches" if "feet" in used else ""
                examples.append(f"{quoted(cell)} is {value:.12g}{minutes}")
    return f"{quoted(column.name)} ({', '.join(examples)})" if examples else ""


def named_sign(sign: str) -> str:
    """Return the name of a thousands separator."""
    return {".": "points", ",": "commas"}.get(sign, "spaces" if sign in SPACES else "apostrophes")


def row_count(count: int) -> str:
    """Return "1 row" or "7 rows"."""
    return "1 row" if count == 1 else f"{count} rows"


def few(names: Sequence[str]) -> str:
    """Return the first names, quoted."""
    return cut_list([quoted(name) for name in names])


def short(names: Sequence[str]) -> list[str]:
    """Return the names that are short enough to show."""
    return [name for name in names if len(name) <= MOST_QUOTED]


def as_typed(name: str) -> str:
    """Return a name quoted for a shell."""
    if len(name) > MOST_QUOTED:
        return quoted(name)
    return name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"'
