"""Sheets of formatted cells, and their forms: text, Markdown, CSV, LaTeX, JSON."""

from __future__ import annotations

import html
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from oblique_cli.ground.registry import Registry, fault_of_function
from oblique_cli.ground.strict_yaml import printable

MISSING = "—"
FAILED = "†"
UNFINISHED = "‡"
OTHER_SETTINGS = "§"  # in the place of a published number
NOT_PRINTED = "¶"  # beside a number of ours where a published table has none
BEST = "▲"
SAME = "△"


@dataclass(frozen=True)
class TextGrid:
    """Header and rows of formatted cells; the first `left` columns hold names.

    marks : (row, column) -> mark; foot : number of rows at the end that summarize the others
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int
    caption: str = ""
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    foot: int = 0

    def cells(self, write: Callable[[str, str], str]) -> list[list[str]]:
        """Return the rows with each cell formatted by `write(cell, mark)`; the mark is "" for unmarked cells."""
        return [
            [write(cell, self.marks.get((i, j), "")) for j, cell in enumerate(row)] for i, row in enumerate(self.rows)
        ]


@dataclass(frozen=True)
class Sheet:
    """Content to print: grids and notes for people; records, at full precision, with the same keys, for programs.

    facts : further keys of the JSON document
    """

    title: str
    grids: tuple[TextGrid, ...]
    notes: tuple[str, ...]
    records: tuple[Mapping[str, Any], ...]
    facts: Mapping[str, Any]

    def sheet(self) -> Sheet:
        return self


class HasSheet(Protocol):
    def sheet(self) -> Sheet: ...


FORMATS: Registry[Callable[[Sheet], str]] = Registry(
    "table format", fault=lambda function: fault_of_function(function, "sheet")
)


def render(table: HasSheet, format: str) -> str:
    """Return a table in one of FORMATS, ending with a newline; raise UnknownName for another format.

    The bytes depend only on the table.
    """
    return FORMATS[format](table.sheet())


def narrow(table: HasSheet, width: int) -> str:
    """Return a table as text of at most `width` columns; a wider grid becomes one block per row with whole words."""
    sheet = table.sheet()
    blocks = [textwrap.fill(printable(sheet.title), width)]
    for grid in sheet.grids:
        if grid.caption:
            blocks.append(textwrap.fill(printable(grid.caption), width))
        text = _grid(grid, "simple", printable)
        if max(map(len, text.splitlines())) <= width:
            blocks.append(text)
            continue
        for row in grid.cells(lambda cell, mark: f"{mark} {cell}" if mark else cell):
            lines = [textwrap.fill(", ".join(printable(cell) for cell in row[: grid.left]), width)]
            for name, cell in zip(grid.header[grid.left :], row[grid.left :], strict=True):
                line = printable(f"{name}: {cell}")
                lines.append(textwrap.fill(line, width, initial_indent="  ", subsequent_indent="    "))
            blocks.append("\n".join(lines))
    if sheet.notes:
        blocks.append("\n".join(textwrap.fill(printable(note), width) for note in sheet.notes))
    return "\n\n".join(blocks) + "\n"


@FORMATS.register("text")
def _text(sheet: Sheet) -> str:
    return _tabulated(sheet, "simple", printable, title="{}", caption="{}", note="{}", best="{}")


@FORMATS.register("md")
def _markdown(sheet: Sheet) -> str:
    def escape(text: str) -> str:
        # GitHub's Markdown does not treat an underscore inside a word as emphasis, and escapes would make names
        # unreadable.
        return re.sub(r"[\\`*|~$\[\]]|(?<!\w)_|_(?!\w)", r"\\\g<0>", html.escape(printable(text), quote=False))

    return _tabulated(sheet, "pipe", escape, title="## {}", caption="**{}**", note="- {}", best="**{}**")


def _tabulated(
    sheet: Sheet, style: str, escape: Callable[[str], str], *, title: str, caption: str, note: str, best: str
) -> str:
    blocks = [title.format(escape(sheet.title))]
    for grid in sheet.grids:
        if grid.caption:
            blocks.append(caption.format(escape(grid.caption)))
        blocks.append(_grid(grid, style, escape, best))
    if sheet.notes:
        blocks.append("\n".join(note.format(escape(line)) for line in sheet.notes))
    return "\n\n".join(blocks) + "\n"


def _grid(grid: TextGrid, style: str, escape: Callable[[str], str], best: str = "{}") -> str:
    from tabulate import tabulate

    def written(cell: str, mark: str) -> str:
        text = escape(f"{mark} {cell}" if mark else cell)
        return best.format(text) if mark == BEST else text

    cells = list(grid.cells(written))
    sides = ["left"] * grid.left + ["right"] * (len(grid.header) - grid.left)
    text: str = tabulate(
        cells,
        headers=[escape(cell) for cell in grid.header],
        tablefmt=style,
        disable_numparse=True,
        colalign=sides if cells else None,  # tabulate below 0.10 does not accept sides for a table without rows
    )
    return text


@FORMATS.register("csv")
def _csv(sheet: Sheet) -> str:
    names = list(sheet.records[0])
    from oblique_cli.data.csv_text import csv_text

    return csv_text([names, *([record.get(name, "") for name in names] for record in sheet.records)])


@FORMATS.register("latex")
def _latex(sheet: Sheet) -> str:
    """Return one booktabs `table` per grid, with the notes below the last."""

    def row(cells: Iterable[str]) -> str:
        # The empty group prevents LaTeX from reading a first cell with a bracket as an argument of the previous line.
        return "{}" + " & ".join(cells) + r" \\"

    def cell(text: str, mark: str) -> str:
        return {BEST: r"\textbf{%s}", SAME: r"\underline{%s}"}.get(mark, "%s") % _latex_escape(text)

    out = [r"% \usepackage{booktabs}"]
    for number, grid in enumerate(sheet.grids, 1):
        caption = f"{sheet.title}: {grid.caption}" if grid.caption else sheet.title
        label = "-".join(re.findall("[a-z0-9]+", caption.lower())) or f"table-{number}"
        columns = "l" * grid.left + "r" * (len(grid.header) - grid.left)
        rows = list(map(row, grid.cells(cell)))
        out += [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex_escape(caption)}}}",
            rf"\label{{tab:{label}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            row(map(_latex_escape, grid.header)),
            r"\midrule",
            *rows[: len(rows) - grid.foot],
            *([r"\midrule", *rows[-grid.foot :]] if grid.foot else []),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        if grid is sheet.grids[-1] and sheet.notes:
            out.append(r"\par\smallskip\footnotesize\raggedright")
            out += [rf"{_latex_escape(note)}\par" for note in sheet.notes]
        out.append(r"\end{table}")
    return "\n".join(out) + "\n"


@FORMATS.register("json")
def _json(sheet: Sheet) -> str:
    document = {**sheet.facts, "title": sheet.title, "notes": sheet.notes, "rows": sheet.records}
    text = json.dumps(document, sort_keys=True, indent=2, allow_nan=False)
    # "</" may end a script element in a page that contains this document; "<\/" is the same JSON.
    return text.replace("</", r"<\/") + "\n"


LATEX_MARKS = {
    FAILED: r"\dag{}",
    UNFINISHED: r"\ddag{}",
    NOT_PRINTED: r"\P{}",
    MISSING: "---",
    "±": r"$\pm$",
    "−": "$-$",
    BEST: r"\textbf{Bold}:",  # in the note; cells are bold
    SAME: r"\underline{underlined}:",
}


def _latex_escape(text: str) -> str:
    from oblique_cli.ground.latex_text import escaped

    text = re.sub(r"(?<!\w)-(?=\d)", "−", printable(text))  # a minus sign is not a hyphen
    return escaped(text, LATEX_MARKS)
