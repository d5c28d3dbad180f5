"""Critical-difference diagrams (Demsar 2006, figure 1) as SVG: average ranks on an axis, bars over methods that are
not told apart. The best rank is on the left."""

from __future__ import annotations

from html import escape

from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.significance_report import FEWEST_DATASETS, Ranking, SignificanceReport
from oblique_cli.evaluation.tables import title_of

WIDTH, MARGIN, LINE = 760, 200, 18  # pixels; names stand in the margins


def svg(verdicts: SignificanceReport) -> str:
    """Return the diagrams of all metrics, one below the other. ConfigError if there are too few data sets for one."""
    parts: list[str] = []
    top = 0
    for one in verdicts.metrics:
        if one.ranking is None:
            n = len(verdicts.paired.scores)
            raise ConfigError(f"a critical-difference diagram needs at least {FEWEST_DATASETS} data sets. Got {n}.")
        caption = f"{title_of(one.metric)}: average ranks over {one.ranking.friedman.n} data sets"
        names = [verdicts.paired.methods[method] for method in one.ranking.methods]
        drawn, height = _diagram(one.ranking, names, caption)
        parts += [f'<g transform="translate(0 {top})">', *drawn, "</g>"]
        top += height
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" viewBox="0 0 {WIDTH} {top}"'
        ' font-family="sans-serif" font-size="13" stroke="black" fill="black">',
        f'<rect width="{WIDTH}" height="{top}" fill="white" stroke="none"/>',
        *parts,
        "</svg>",
        "",
    ])  # fmt: skip


def _diagram(ranking: Ranking, names: list[str], caption: str) -> tuple[list[str], int]:
    """Return the elements of one diagram and its height."""
    k = len(names)

    def x(rank: float) -> float:
        return MARGIN + (rank - 1) / (k - 1) * (WIDTH - 2 * MARGIN)

    critical = ranking.critical_difference
    axis = 4 * LINE
    out = [_text(WIDTH / 2, LINE, caption, "middle")]
    # Its bar ends with the picture where the critical difference is much longer than the axis; the number says it.
    out += [_line(x(1), 2 * LINE, min(x(1 + critical), WIDTH - 10.0), 2 * LINE, 2)]
    out += [_text(x(1) - 8, 2 * LINE + 5, f"CD = {critical:.2f}", "end"), _line(x(1), axis, x(k), axis, 1)]
    for rank in range(1, k + 1):
        out += [_line(x(rank), axis - 5, x(rank), axis, 1), _text(x(rank), axis - 9, str(rank), "middle")]
    for level, group in enumerate(ranking.groups, 1):
        y = axis + 8 * level
        out.append(_line(x(ranking.ranks[group[0]]) - 4, y, x(ranking.ranks[group[-1]]) + 4, y, 4))
    order = sorted(range(k), key=lambda i: ranking.ranks[i])
    left = (k + 1) // 2
    below = axis + 8 * len(ranking.groups) + LINE
    for place, i in enumerate(order):
        # The better half is named on the left from top to bottom, the other on the right from bottom to top.
        row = place if place < left else k - 1 - place
        end, anchor = (MARGIN - 20, "end") if place < left else (WIDTH - MARGIN + 20, "start")
        y = below + LINE * row
        at = x(ranking.ranks[i])
        out += [_line(at, axis, at, y, 1), _line(at, y, end, y, 1)]
        out.append(_text(end + (-5 if anchor == "end" else 5), y + 4, f"{names[i]} ({ranking.ranks[i]:.2f})", anchor))
    return out, below + LINE * left + LINE


def _line(x1: float, y1: float, x2: float, y2: float, width: int) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" stroke="none">{escape(text)}</text>'
