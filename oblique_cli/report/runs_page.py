"""One page with all results of stored runs: tables, ranks, plots, choices, trees, failures, times, origin. It is one
file that needs no network, and is readable without scripts.

The page is one template with four fields, filled by `string.Template`; all other text is escaped by `html.escape`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any

import oblique_cli
from oblique_cli.drawing import charts, markup
from oblique_cli.drawing.canvas import color, rendered
from oblique_cli.drawing.palette import STYLES
from oblique_cli.errors import ConfigError, DataError, StoreError
from oblique_cli.evaluation.paired import ALPHA, joined, marked
from oblique_cli.evaluation.pivot import in_form, pivot
from oblique_cli.evaluation.sheets import BEST, SAME, HasSheet, Sheet, TextGrid, render
from oblique_cli.evaluation.significance_report import judge
from oblique_cli.evaluation.tables import ResultTable
from oblique_cli.experiments import environment as environments
from oblique_cli.ground.nouns import Row
from oblique_cli.report.material import Material, Method, Shown
from oblique_cli.report.plot_kinds import Request, draw
from oblique_cli.report.prediction_plots import confusions

# Kinds of plots that every report tries; a kind is omitted if the runs lack the data for it.
PLOTS = ("scatter", "box", "cd", "curve", "learning", "calibration", "time")
FEW_ROWS, MANY_ROWS = 12, 60  # a longer list is folded
MANY_CLASSES = 30  # a larger matrix is not shown
FEW_TREES = 24  # shown without --trees
LONG_SHEET = 400  # rows; a longer sheet has a single export format
# A page of more runs or methods than these has no export formats, configurations, tests of all pairs and plots, each of
# which has its command.
MANY_RUNS, MANY_METHODS = 12, 40
MOST_TREES = 60_000  # characters of the trees of such a page


@dataclass(frozen=True)
class DrawnTree:
    """Tree of a fold. svg : its picture, "" for none; text : its rules"""

    title: str
    svg: str
    text: str


# (method, row) -> the tree of a fold; raises ConfigError, DataError or StoreError without a tree.
TreeOf = Callable[[Method, Row], DrawnTree]


def page(
    material: Material, request: Request, tree_of: TreeOf | None = None, trees: int | None = None, command: str = ""
) -> str:
    """Return the page as HTML.

    request   options of the plots, see `plot_kinds.Request`
    tree_of   refits the tree of a fold; None shows no trees
    trees     number of folds of every method and data set whose tree is shown; None: one fold each, the smallest trees
    command   the command line that makes the page
    """
    sections = (
        ("results", "Results", _results(material)),
        ("significance", "Significance", _significance(material)),
        ("plots", "Plots", _plots(material, request)),
        ("choices", "Choices of parameters", _choices(material)),
        ("trees", "Trees", _trees(material, tree_of, trees)),
        ("failures", "Failures", _failures(material)),
        ("times", "Times", _times(material)),
        ("origin", "Where the numbers come from", _origin(material, command)),
    )
    style, script = (
        markup.file("report/runs_page.css"),
        markup.file("report/pages.js") + markup.file("report/runs_page.js"),
    )
    return markup.sectioned(material.title, *_head(material), sections, style, script, painted=True)


def _head(material: Material) -> tuple[str, dict[str, str], list[str]]:
    """Return the names of the runs, counts, and the most important notes."""
    done = sum(shown.done for shown in material.shown)
    total = sum(shown.total for shown in material.shown)
    failed = sum(shown.failed for shown in material.shown)
    counts = {
        "data sets": str(len(material.datasets)),
        "algorithms": str(len(material.methods)),
        "folds": f"{done:,} of {total:,}" if done < total else f"{done:,}",
        "failed": f"{failed:,}",
    }
    alarms = []
    if failed:
        alarms.append(f'{failed} folds failed: see <a href="#failures">Failures</a>.')
    if done + failed < total:
        alarms.append(f"{total - done - failed} folds are still to run; tables average complete repetitions.")
    alarms += [escape(remark) for shown in material.shown for remark in shown.remarks]
    names = ", ".join(shown.run.name for shown in material.shown)
    return f"{'run' if len(material.shown) == 1 else 'runs'} {names}", counts, alarms


# ---- tables ----------------------------------------------------------------------------------------------------------


def _results(material: Material) -> str:
    parts = []
    tables: dict[str, ResultTable] = {}
    for shown in material.shown:
        table = shown.table()
        with suppress(ConfigError):  # a single algorithm, or a scheme whose folds are not compared, has no marks
            table = marked(table, shown.stored())
        tables[shown.run.name] = table
        if len(material.shown) > 1:
            parts.append(f"<h3>{escape(shown.experiment.title or shown.run.name)}</h3>")
        parts.append(_sheet(table, forms=len(material.shown) <= MANY_RUNS))
    more = "oblique table RUN --format csv (or latex, md) prints the table of a run."
    return (markup.soft(more) if len(material.shown) > MANY_RUNS else "") + "".join(parts) + _pivots(material, tables)


def _pivots(material: Material, tables: Mapping[str, ResultTable]) -> str:
    """Return the pivot of every metric as a template, of which the script shows the chosen one."""
    try:
        runs = {shown.run.name: shown.stored() for shown in material.shown}
        table = joined(tables, runs) if len(tables) > 1 else next(iter(tables.values()))
        grids = pivot(table).grids
    except ConfigError:  # runs of different tasks or data, or matrices alone
        return ""
    return f'<template id="pivots">{"".join(_grid(grid) for grid in grids if grid.header[0] == "data set")}</template>'


def _sheet(table: HasSheet, forms: bool = True) -> str:
    """Return a table with its notes and, if requested, export formats."""
    sheet: Sheet = table.sheet()
    grids = "".join((f"<h3>{escape(grid.caption)}</h3>" if grid.caption else "") + _grid(grid) for grid in sheet.grids)
    # The page shows marks as styles.
    plain = [note.replace(BEST, "Bold and shaded:").replace(SAME, "shaded:") for note in sheet.notes]
    notes = "".join(f"<li>{escape(note)}</li>" for note in plain)
    long = sum(len(grid.rows) for grid in sheet.grids) > LONG_SHEET
    shown_forms = "".join(
        f'<details data-copy="{title}"><summary>as {title}</summary>'
        f"{markup.source(render(in_form(table, form), form), title)}</details>"
        for title, form in (("CSV", "csv"), ("LaTeX", "latex"), ("Markdown", "md"))[
            : 0 if not forms else 1 if long else None
        ]
    )
    return f'<div class="result"><div class="tools"></div>{grids}<ul class="notes">{notes}</ul>{shown_forms}</div>'


def _grid(grid: TextGrid) -> str:
    def cell(text: str, column: int, mark: str) -> str:
        names = {BEST: "best", SAME: "same"}
        return markup.cell(
            "td", text, " ".join(filter(None, ("name" if column < grid.left else "", names.get(mark, ""))))
        )

    rows = ""
    for i, row in enumerate(grid.rows):
        cells = "".join(cell(text, j, grid.marks.get((i, j), "")) for j, text in enumerate(row))
        rows += f'<tr class="foot">{cells}</tr>' if i >= len(grid.rows) - grid.foot else f"<tr>{cells}</tr>"
    return markup.table(grid.caption or "Results", grid.header, rows, grid.left)


def _significance(material: Material) -> str:
    if (n := len(material.methods)) > MANY_METHODS:
        return markup.soft(
            f"{n} algorithms are {n * (n - 1) // 2:,} pairs: oblique significance RUN... tests a choice."
        )
    try:
        verdicts = judge(material.paired(), material.title)
    except ConfigError as why:
        return markup.soft(escape(str(why))) if len(material.methods) > 1 else ""
    intro = markup.soft(f"Pairs of algorithms at {ALPHA:g}, on the folds they share.")
    wins = _wins(verdicts) if any(verdict.matches for verdict in verdicts.metrics) else ""
    return f"{intro}{markup.folded('all tests', _sheet(verdicts))}{wins}"


def _wins(verdicts: Any) -> str:
    """Return wins and losses of each pair over data sets, with Wilcoxon's test."""
    rows = []
    for verdict in verdicts.metrics:
        for match in verdict.matches:
            names = [verdicts.paired.methods[name] for name in (match.first, match.second)]
            wins = f"{match.sign.wins} / {match.sign.losses}"
            rows.append((verdict.metric, *names, wins, f"{match.wilcoxon.p:.3g}", f"{match.p_holm:.3g}"))
    table = markup.plain_table(
        "Pairs of algorithms", ("metric", "first", "second", "wins / losses", "Wilcoxon p", "p (Holm)"), rows, 3
    )
    return table if len(rows) <= FEW_ROWS else markup.folded(f"{len(rows)} pairs", table)


# ---- pictures --------------------------------------------------------------------------------------------------------


def _plots(material: Material, request: Request) -> str:
    if (n := len(material.methods)) > MANY_METHODS:
        return markup.soft(f"Plots of {n} algorithms cannot be read: oblique plot KIND RUN... draws a choice of them.")
    figures, left_out = [], []
    for kind in PLOTS:
        try:
            made = draw(kind, material, request)
        except ConfigError as why:
            left_out.append(f"{kind}: {why}")
            continue
        picture = _inline(rendered(made.figure, "svg").decode(), kind)
        header, rows = made.numbers
        names = sum(title in charts.NAMES for title in header)
        table = markup.numbers(f"Numbers of the plot {kind}", header, rows, names) if rows else ""
        figures.append(f"<figure>{picture}<figcaption>{escape(made.caption)}</figcaption>{table}</figure>")
    rest = ""
    if left_out:
        notes = "".join(f"<li>{escape(why)}</li>" for why in left_out)
        rest = markup.folded("plots that are not here", f'<ul class="notes">{notes}</ul>')
    matrices = _confusions(material) if material.task == "classification" else ""
    legend = "".join(markup.key(method.code, method.label, color(method.code)) for method in material.methods)
    legend = f'<ul class="legend">{legend}</ul>' if figures else ""
    return f'{legend}<div class="plots">{"".join(figures)}</div>{rest}{matrices}'


def _confusions(material: Material) -> str:
    """Return confusion matrices as tables, shaded by the share of their row."""
    parts = []
    for dataset in material.datasets:
        try:
            classes, counts_of = confusions(material, dataset)
        except ConfigError:  # a run of an earlier version, without predictions
            continue
        if len(classes) > MANY_CLASSES:
            continue
        tables = "".join(markup.matrix(method.label, classes, counts) for method, counts in counts_of)
        parts.append(markup.folded(dataset, f'<div class="plots">{tables}</div>', {"set": dataset}))
    if not parts:
        return ""
    return (
        '<h3>Confusion matrices</h3><p class="soft">Test rows of each class by the class predicted, mean over '
        f"repetitions; shades are shares of a row.</p>{''.join(parts)}"
    )


def _inline(svg: str, name: str) -> str:
    """Return a picture as part of the page: no prologue, unique ids, text in the color of the page, no background."""
    prefix = re.sub(r"\W", "-", name)
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    svg = re.sub(r'<g id="[^"]*-patch_1">.*?</g>', "", svg, count=1, flags=re.S)
    svg = re.sub(rf"(fill|stroke): ?(#000000|black|{STYLES['text'].fill})\b", r"\1: currentColor", svg)
    svg = re.sub(r"fill: ?#ffffff\b", "fill: none", svg)
    return re.sub(r'\s(width|height)="[\d.]+pt"', "", svg, count=2)


# ---- folds -----------------------------------------------------------------------------------------------------------


def _choices(material: Material) -> str:
    """Return the tuned parameters, counted over folds and fold by fold."""
    counted, each = [], []
    for method in material.methods:
        if not method.spec.grid:
            continue
        for dataset in material.datasets:
            rows = [row for row in method.rows(dataset) if row.chosen]
            for name in method.spec.grid:
                counts = Counter(_value(row.chosen.get(name)) for row in rows)
                if counts:
                    often = ", ".join(f"{value} ({count})" for value, count in counts.most_common())
                    counted.append((dataset, method.label, name, often))
            each += [
                (dataset, method.label, str(row.repeat), str(row.fold),
                 ", ".join(f"{name} {_value(value)}" for name, value in row.chosen.items()), f"{len(row.inner)}")
                for row in rows
            ]  # fmt: skip
    if not counted:
        return ""
    table = markup.plain_table(
        "Chosen values", ("data set", "algorithm", "parameter", "chosen (folds)"), counted, 4, long=(3,)
    )
    folds = markup.plain_table(
        "Chosen values by fold", ("data set", "algorithm", "repetition", "fold", "chosen", "values tried"), each, 2
    )
    return f"{table}{markup.folded(f'fold by fold ({len(each)})', folds)}"


def _trees(material: Material, tree_of: TreeOf | None, trees: int | None) -> str:
    if tree_of is None or trees == 0:
        return ""
    wanted = [
        (method, row)
        for dataset in material.datasets
        for method in material.methods
        if material.has(method, dataset)
        for row in method.rows(dataset)[: trees or 1]
    ]
    left_out = 0
    if trees is None:  # a model without leaves is not a tree and is included; a sentence gives the reason
        sized = sorted((row.n_leaves, i) for i, (_, row) in enumerate(wanted) if row.n_leaves)
        large = {i for _, i in sized[FEW_TREES:]}
        left_out = len(large)
        wanted = [pair for i, pair in enumerate(wanted) if i not in large]
    parts: list[str] = []
    missing: dict[str, list[str]] = {}
    failed: set[tuple[str, str]] = set()
    for method, row in wanted:
        if (method.label, row.dataset) in failed:
            continue
        if len(material.methods) > MANY_METHODS and sum(map(len, parts)) > MOST_TREES:
            left_out += 1
            continue
        try:
            drawn = tree_of(method, row)
        except (ConfigError, DataError, StoreError) as why:
            missing.setdefault(str(why), []).append(f"{method.label} on {row.dataset}")
            failed.add((method.label, row.dataset))
            continue
        fold = f"repetition {row.repeat}, fold {row.fold}, {row.n_leaves} leaves"
        tree = markup.scrolling(drawn.svg, drawn.title, "tree") + markup.source(drawn.text, f"Rules of {drawn.title}")
        data = {"set": row.dataset, "method": method.label}
        parts.append(markup.folded(f"{row.dataset}, {drawn.title}: {fold}", tree, data))
    run = material.shown[0].run.name
    others = f"Those of fewest leaves; <code>--trees 1</code> shows {left_out} more. " if left_out else ""
    more = markup.soft(
        f"Grown again from the stored jobs. {others}Any other fold: <code>oblique tree {escape(run)} "
        "--fold N --repeat R --dataset NAME --algorithm ID --html</code>."
    )
    notes = "".join(
        markup.soft(f"{escape(why)} ({escape(', '.join(who[:6]))}{', ...' if len(who) > 6 else ''})")
        for why, who in missing.items()
    )
    return (more + "".join(parts) if parts else "") + notes


def _failures(material: Material) -> str:
    rows = [
        (shown.run.name, row.dataset, row.algorithm, str(row.repeat), str(row.fold), row.message)
        for shown in material.shown
        for row in shown.rows
        if row.status != "ok"
    ]
    if not rows:
        return ""
    table = markup.plain_table(
        "Failures", ("run", "data set", "algorithm", "repetition", "fold", "message"), rows, 3, long=(5,)
    )
    names = {row[0] for row in rows}
    commands = ", ".join(
        f"<code>{escape(shlex.join(shown.run.argv))}</code>" for shown in material.shown if shown.run.name in names
    )
    how = markup.soft(f"Run them again with {commands}.")
    return how + (table if len(rows) <= MANY_ROWS else markup.folded(f"{len(rows)} folds", table))


def _times(material: Material) -> str:
    rows = []
    for method in material.methods:
        rows_ = [row for dataset in material.datasets for row in method.rows(dataset)]
        if not rows_:
            continue
        fit, tune = sum(row.fit_seconds for row in rows_), sum(row.tune_seconds for row in rows_)
        predict, tested = sum(row.predict_seconds for row in rows_), sum(row.n_test for row in rows_)
        speed = f"{tested / predict:,.0f}" if predict > 0 else "-"
        rows.append((method.label, f"{len(rows_):,}", f"{fit / len(rows_):.4g}", f"{tune:.4g}", f"{fit:.4g}", speed))
    header = ("algorithm", "folds", "fit s a fold", "tuning s", "fitting s", "rows predicted a second")
    return markup.plain_table("Times", header, rows, 1)


# ---- origin ----------------------------------------------------------------------------------------------------------


def _origin(material: Material, command: str) -> str:
    if len(material.shown) <= MANY_RUNS:
        parts = [_run_facts(shown, material) for shown in material.shown]
    else:
        facts = [
            (shown.run.name, shown.run.created, str(shown.run.experiment.seed), shown.run.experiment.digest())
            for shown in material.shown
        ]
        header = ("run", "first begun", "seed", "digest of the experiment")
        digests = sorted({pair for shown in material.shown for pair in shown.data.items()})
        parts = [markup.plain_table("Runs", header, facts, 2)]
        parts += [markup.plain_table("Data", ("data set", "digest of the data"), digests, 2)]
    if command:
        version = escape(oblique_cli.__version__)
        parts.append(markup.soft(f"This page: <code>{escape(command)}</code>, oblique {version}."))
    return "".join(parts)


def _run_facts(shown: Shown, material: Material) -> str:
    argv = shlex.join(shown.run.argv)
    experiment = shown.run.experiment  # the whole experiment, even if only a part is shown
    facts = [("run", shown.run.name), ("first begun", shown.run.created), ("command", argv or "not stored"),
             ("seed", str(experiment.seed)), ("digest of the experiment", experiment.digest())]  # fmt: skip
    made = material.store.environments(shown.run.name)
    for number, facts_of_one in enumerate(made.values(), 1):
        which = f"environment {number}" if len(made) > 1 else "environment"
        text = ", ".join(f"{name} {value}" for name, value in environments.facts(facts_of_one).items())
        facts.append((which, text))
    table = markup.plain_table("Origin", ("what", "value"), facts, 1, long=(1,))
    digests = markup.plain_table("Data", ("data set", "digest of the data"), sorted(shown.data.items()), 2)
    content = json.dumps(experiment.content(), indent=2, sort_keys=True)
    title = f"<h3>{escape(shown.experiment.title or shown.run.name)}</h3>"
    data = markup.folded(f"data ({len(shown.data)})", digests)
    return f"{title}{table}{data}{markup.folded('configuration', markup.source(content, 'Configuration'))}"


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
