"""`oblique report`: one page with all results of stored runs, or the model card of a model file."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import called, command_line, open_results, say_missing, working, write
from oblique_cli.cli._own import spare

if TYPE_CHECKING:
    from oblique_cli.ground.nouns import Row
    from oblique_cli.report.material import Method
    from oblique_cli.report.runs_page import DrawnTree

MODEL_SUFFIX = ".json"  # names of runs never end in it
PICTURED = 12  # maximal number of leaves of a tree that is also drawn


@declare.command()
def report(
    runs: tuple[str, ...] = declare.run(nargs=-1, required=True, metavar="RUN...|MODEL"),
    metric: str = declare.metric("--metric", "Metric of the plots.  [default: accuracy, or RMSE]", default=""),
    datasets: tuple[str, ...] = declare.SHOWN_DATASETS,
    algorithms: tuple[str, ...] = declare.SHOWN_ALGORITHMS,
    trees: int | None = declare.option(
        "--trees",
        "Show the trees of so many folds of every algorithm and data set; 0 for none.  [default: of one fold each "
        "the smallest 24]",
        type=click.IntRange(0),
    ),
    table: str | None = declare.option(
        "--rows", "Of MODEL: its training rows, for curves along the columns.", metavar="TABLE"
    ),
    output: str | None = declare.file(
        "-o", "--output", help="Output file.  [default: the name of the first run or of the model, .html]"
    ),
    results: str = declare.RESULTS,
    data_dir: str | None = declare.DATA_DIR,
    offline: bool = declare.OFFLINE,
) -> None:
    """Write all results of stored runs into one HTML file (oblique status lists runs).

    The page has tables to sort and to copy as LaTeX, CSV or Markdown, tests of significance with the
    critical-difference diagram, plots, selected parameters of each fold, trees, failures, times, environments, digests
    of the data and the configuration. It needs no network, and is readable without scripts. Plots need matplotlib.

    For MODEL, a *.json of oblique fit, the page is the model card (docs/explaining.md) of oblique fit --report.

    \b
    Example: oblique report smoke --output smoke.html
             oblique report model.json --rows my.csv
    """
    if any(name.endswith(MODEL_SUFFIX) for name in runs):
        if len(runs) > 1 or metric or datasets or algorithms or trees is not None:
            raise click.UsageError("a model file goes alone, with --rows and --output")
        _card(runs[0], table, output)
        return
    if table:
        raise click.UsageError(f"--rows goes with a model file, a *{MODEL_SUFFIX}; runs know their rows")
    from oblique_cli.report.material import gather
    from oblique_cli.report.plot_kinds import Request
    from oblique_cli.report.runs_page import page

    place = output or declare.writable(click.get_current_context(), None, f"{runs[0].replace('/', '-')}.html")
    request = Request(metric=metric, data_dir=data_dir, offline=offline)

    def tree_of(method: Method, row: Row) -> DrawnTree:
        return _tree(method, row, data_dir, offline)

    with open_results(results) as store:
        material = gather(store, runs, datasets, algorithms)
        for shown_run in material.shown:
            say_missing(shown_run.run)
        text = page(material, request, tree_of, trees, shlex.join(command_line()))
    _written(text, place, output)


def _written(text: str, place: str | None, output: str | None) -> None:
    write(text, place)
    click.echo(f"{output or place}: {os.path.getsize(str(place)) / 1e6:.2f} MB")


def _card(path: str, table: str | None, output: str | None) -> None:
    """Write the model card of a model file."""
    import numpy as np

    from oblique_cli.data.own.front import chunks
    from oblique_cli.models import load
    from oblique_cli.models.new_rows import needs_table
    from oblique_cli.report.model_card import model_card

    place = output or declare.writable(click.get_current_context(), None, f"{Path(path).stem}.html")
    spare(path, table)
    with working(f"reading {called(path)}") as progress:
        model, rows = load(path), None
        if table:
            needs_table(model, path)
            progress.doing(f"reading {called(table)}")
            rows = np.concatenate([chunk.X for chunk in chunks(table, model.columns)])
        progress.doing("drawing the card")
        text = model_card(model, rows)
    _written(text, place, output)


def _tree(method: Method, row: Row, data_dir: str | None, offline: bool) -> DrawnTree:
    """Return the refitted tree of a fold."""
    from oblique_cli.cli._fitting import fitted_again, shown_tree
    from oblique_cli.drawing import scene
    from oblique_cli.experiments.regrowing import regrown
    from oblique_cli.models import showing
    from oblique_cli.report.runs_page import DrawnTree

    place: dict[str, Any] = {name: getattr(row, name) for name in ("repeat", "fold", "dataset", "algorithm")}
    fold = regrown(method.shown.run, [row], **place, data_dir=data_dir, offline=offline)
    shown = shown_tree(fitted_again(fold))
    depth = None if row.n_leaves <= scene.WHOLE else scene.FIRST
    text = showing.content(shown, "text", precision=3, raw=False, depth=depth).decode()
    svg = ""
    if shown.is_hyperplanes and row.n_leaves <= PICTURED:
        svg = showing.content(shown, "svg", precision=3, raw=False, depth=None).decode()
    return DrawnTree(method.label, svg, text)
