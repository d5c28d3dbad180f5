"""Parts of the documentation generated from the results of the studies, so that both always agree."""

from __future__ import annotations

import csv
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from oblique_cli.drawing.canvas import blank, color, marker
from oblique_cli.errors import ConfigError
from oblique_cli.papers.reproduction.framework.printed_cells import AGREES, DEVIATES, Cell, agreement
from oblique_cli.papers.reproduction.framework.studies import STUDIES
from oblique_cli.papers.reproduction.framework.study_report import EXPLAINING, UNEXPLAINED, classes, read_cells, reasons

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The text between these marks is generated; NAME is a key of `blocks`.
BLOCK = re.compile(r"(<!-- begin (?P<name>[\w-]+) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)
DOCUMENTS = ("docs/reproduction.md", "docs/choosing.md", "README.md")
# Methods of the field that docs/choosing.md recommends or that readers compare, and their descriptions.
CHOICES = (
    "logistic_tree",
    "logistic_forest",
    "tao_forest",
    "svm-rbf",
    "hhgdt_forest",
    "random-forest-500",
    "xgboost-100",
    "tao",
    "hhgdt",
    "cart",
)
NOT_YET = "Not run with the full profile yet.\n"


def blocks(results: Path) -> dict[str, str]:
    """Return the text of every block by name, from the full profiles in `results`; ConfigError if there are none."""
    studies = studied(results)
    all_cells = [cell for cells in studies.values() for cell in cells]
    compared, agree, explained, unexplained = _counts(all_cells)
    agreed = (
        f"{agree} of {compared} cells agree; of the others {explained} have a measured reason and {unexplained} are "
        f"{UNEXPLAINED}. {len(all_cells) - compared} cells are not run.\n"
    )
    counts = [(f"`{study}`", *map(str, _counts(cells))) for study, cells in studies.items()]
    out = {
        "agreement": agreed + by_source(all_cells),
        "summary": f"{agreed}\n{_summary(all_cells)}",
        "power": _power(results / "reproduction" / "verdicts.csv"),
        "classes": _classes(all_cells),
        "studies": _table(("study", "cells", "agree", "measured reason", UNEXPLAINED), counts),
    }
    front = results / "field" / "front.md"  # by tools/field_folds.py
    out["field-front"] = front.read_text(encoding="utf-8") if front.is_file() else NOT_YET
    out["field-choices"] = _copied(results / "field" / "third_means.csv", methods=CHOICES)
    return out


def studied(results: Path) -> dict[str, tuple[Cell, ...]]:
    """Return the cells of every study with results, in the order of names; ConfigError if there are none."""
    names = sorted(name for name, study in STUDIES.items() if study.tables)
    paths = {name: results / "reproduction" / f"{name}.csv" for name in names}
    studies = {name: cells for name, path in paths.items() if path.is_file() and (cells := read_cells(path))}
    if not studies:
        raise ConfigError(f"{results} has no results of a full profile: run oblique reproduce first, or see --results.")
    return studies


def filled(text: str, made: Mapping[str, str]) -> str:
    """Return `text` with every block regenerated; ConfigError for an unknown block."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in made:
            raise ConfigError(f"there is no block {name!r} to make; there are {', '.join(made)}.")
        return f"{match[1]}\n{made[name]}\n{match[3]}"

    return BLOCK.sub(block, text)


def _table(header: tuple[str, ...], rows: Iterable[Sequence[str]]) -> str:
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in (header, ("---",) * len(header), *rows)]
    return "".join(f"| {' | '.join(row)} |\n" for row in escaped)


def _counts(cells: Iterable[Cell]) -> tuple[int, ...]:
    """Return the numbers of cells that are compared, agree, deviate with a measured reason, and are unexplained."""
    kinds = Counter(kind_of(cell) for cell in cells if cell.verdict in (AGREES, DEVIATES))
    return kinds.total(), *(kinds[kind] for kind in KINDS)


AUTHORS = {
    "wickramarachchi2015": "Wickramarachchi",
    "manwani2012": "Manwani and Sastry",
    "amalaman2015": "Amalaman",
    "zhang2014": "Zhang and Suganthan",
    "kargupta2006": "Kargupta et al.",
}


def by_source(cells: Iterable[Cell]) -> str:
    """Return how many cells of each paper agree, and how many repeat a printed number of another table of the paper."""
    compared = [cell for cell in cells if cell.verdict in (AGREES, DEVIATES)]
    counts = []
    for source, authors in AUTHORS.items():
        of_source = [cell for cell in compared if cell.table.startswith(f"{source}:")]
        agreeing = sum(cell.verdict == AGREES for cell in of_source)
        counts.append(f"{authors} {agreeing} of {len(of_source)}")
    numbers = {(c.table.partition(":")[0], c.dataset, c.method, c.metric, c.qualifier, c.published) for c in compared}
    text = f"{', '.join(counts)}. {len(compared) - len(numbers)} cells repeat the number of another table."
    return textwrap.fill(text, 120) + "\n"


def _power(path: Path) -> str:
    """Return the numbers of biased and weak measures of tables, from the file of `python -m studies.power`."""
    if not path.is_file():
        return NOT_YET
    with open(path, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    counts = {word: sum(word in row["verdict"] for row in rows) for word in ("biased", "weak", "?")}
    return (
        f"Of {len(rows)} measures in {len({row['table'] for row in rows})} tables {counts['biased']} are biased, "
        f"{counts['weak']} are weak, and {counts['?']} cannot be weak because their table has one method only.\n"
    )


def _classes(cells: Iterable[Cell]) -> str:
    """Return the number of deviating cells of each class of reasons, and of those without a reason."""
    none = ("readings tried, none fits", "")
    counts = Counter(classes().get(cell.key, none)[0] for cell in cells if cell.verdict == DEVIATES)
    rows = [(kind, str(count), "yes" if kind in EXPLAINING else "no") for kind, count in counts.most_common()]
    return _table(("class", "cells", "explains"), rows)


def _summary(cells: Iterable[Cell]) -> str:
    counts: dict[str, list[str]] = {}
    for (table, metric), each in agreement(cells).items():
        if each.compared:
            counts.setdefault(table, []).append(f"{metric_name(metric)} {each.agree}/{each.compared}")
    rows = [(table_name(table), ", ".join(words)) for table, words in counts.items()]
    return _table(("table", "cells that agree"), rows)


def _copied(path: Path, methods: Sequence[str]) -> str:
    """Return the rows of a CSV file whose first cell is one of `methods`, which may have a star behind its name."""
    if not path.is_file():
        return NOT_YET
    with open(path, encoding="utf-8", newline="") as handle:
        header, *rows = csv.reader(handle)
    return _table(tuple(header), [row for row in rows if row[0].removesuffix(" *") in methods])


def table_name(table: str) -> str:
    """Return a table's name with its author, such as "Amalaman 2.7"."""
    source, _, name = table.partition(":")
    return f"{source.rstrip('0123456789').capitalize()} {name}"


def metric_name(metric: str) -> str:
    """Return a metric in words, such as "class accuracy"."""
    return metric.removesuffix("_percent").removeprefix("n_").replace("_", " ")


# ---- the picture of all cells ----------------------------------------------------------------------------------------

COLUMNS = 6  # panels in a row
KINDS = ("agrees", "has a measured reason", "unexplained")


def kind_of(cell: Cell) -> str:
    """Return the kind, one of KINDS, of a cell with both numbers."""
    if cell.verdict == AGREES:
        return KINDS[0]
    return KINDS[1] if cell.key in reasons() else KINDS[2]


def agreement_picture(studies: Mapping[str, tuple[Cell, ...]]) -> Figure:
    """Draw ours against the printed number, one panel per table, linear from -1 to 1 and logarithmic beyond."""
    tables: dict[str, list[Cell]] = {}
    for cells in studies.values():
        for cell in cells:
            if cell.verdict in (AGREES, DEVIATES):
                tables.setdefault(cell.table, []).append(cell)
    figure, axes = blank(ceil((len(tables) + 1) / COLUMNS), COLUMNS, width=1.6, height=1.6)
    for panel, (table, members) in zip(axes, tables.items(), strict=False):
        source, _, name = table.partition(":")
        panel.set_title(f"{source.rstrip('0123456789')} {name}", fontsize=7)
        pairs = [(cell.published or 0.0, cell.ours or 0.0, kind_of(cell)) for cell in members]
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
