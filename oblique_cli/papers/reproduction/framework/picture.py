"""Every cell of the published tables in one picture: ours against the printed number, a panel a table."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

from oblique_cli.drawing.canvas import blank, color, marker
from oblique_cli.papers.reproduction.framework.printed_cells import AGREES, DEVIATES, Cell
from oblique_cli.papers.reproduction.framework.study_report import reasons

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 6
KINDS = ("agrees", "has a measured reason", "unexplained")


def agreement_picture(studies: Mapping[str, tuple[Cell, ...]]) -> Figure:
    """Return the picture; numbers from -1 to 1 are on a linear scale, larger ones on a logarithmic one.

    studies : study -> cells
    """
    tables: dict[str, list[Cell]] = {}
    for cells in studies.values():
        for cell in cells:
            if cell.verdict in (AGREES, DEVIATES):
                tables.setdefault(cell.table, []).append(cell)
    figure, axes = blank(ceil((len(tables) + 1) / COLUMNS), COLUMNS, width=1.6, height=1.6)
    for panel, (table, members) in zip(axes, tables.items(), strict=False):
        source, _, name = table.partition(":")
        panel.set_title(f"{source.rstrip('0123456789')} {name}", fontsize=7)
        pairs = [(cell.published or 0.0, cell.ours or 0.0, _kind(cell)) for cell in members]
        ends = [value for published, ours, _ in pairs for value in (published, ours)]
        low, high = min(ends), max(ends)
        panel.plot([low, high], [low, high], color="0.7", linewidth=0.6, zorder=0)
        for code, kind in enumerate(KINDS):
            across = [published for published, _, mine in pairs if mine == kind]
            up = [ours for _, ours, mine in pairs if mine == kind]
            panel.plot(across, up, linestyle="none", marker=marker(code), markersize=2.5, color=color(code), label=kind)
        for set_scale in (panel.set_xscale, panel.set_yscale):
            set_scale("symlog", linthresh=1.0)
        panel.tick_params(labelsize=5)
    for panel in axes[len(tables) :]:
        panel.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    axes[len(tables)].legend(handles, labels, frameon=False, loc="upper left", fontsize=7)
    figure.supxlabel("published", fontsize=8)
    figure.supylabel("ours", fontsize=8)
    return figure


def _kind(cell: Cell) -> str:
    if cell.verdict == AGREES:
        return KINDS[0]
    return KINDS[1] if cell.key in reasons() else KINDS[2]
