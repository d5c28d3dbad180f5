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
    runs: tuple[str, ...] = declare.run(nargs=-1, required=True, metavar="RUN...|MODEL [MODEL]"),
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
        "--rows", "Of MODEL: its training rows, for curves; of two models: the rows to compare on.", metavar="TABLE"
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

    For MODEL, a *.json of oblique fit, the page is the model card (docs/explaining.md) of oblique fit --report. For two
    models and --rows, it compares their answers to the rows of a table.

    \b
    Example: oblique report smoke --output smoke.html
             oblique report model.json --rows my.csv
             oblique report model.json other.json --rows my.csv --output two.html
    """
    if any(name.endswith(MODEL_SUFFIX) for name in runs):
        models = [name for name in runs if name.endswith(MODEL_SUFFIX)]
        if len(runs) > 2 or len(models) < len(runs) or metric or datasets or algorithms or trees is not None:
            raise click.UsageError("one or two model files go alone, with --rows and --output")
        if len(models) == 2:
            _compared(models, table, output)
        else:
            _card(models[0], table, output)
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
    from oblique_cli.models import load
    from oblique_cli.models.new_rows import rows_of
    from oblique_cli.report.model_card import model_card

    place = output or declare.writable(click.get_current_context(), None, f"{Path(path).stem}.html")
    spare(path, table)
    with working(f"reading {called(path)}") as progress:
        model, rows = load(path), None
        if table:
            progress.doing(f"reading {called(table)}")
            rows, _ = rows_of(model, path, table)
        progress.doing("drawing the card")
        text = model_card(model, rows)
    _written(text, place, output)


def _compared(paths: list[str], table: str | None, output: str | None) -> None:
    """Write the page of two models on the rows of a table."""
    from oblique_cli.errors import ConfigError
    from oblique_cli.models import load
    from oblique_cli.models.new_rows import rows_of
    from oblique_cli.report.two_models import Read, check, two_models

    if table is None:
        raise click.UsageError("two models are compared on rows: give a table with the target column by --rows")
    stems = "-".join(Path(path).stem for path in paths)
    place = output or declare.writable(click.get_current_context(), None, f"{stems}.html")
    spare(*paths, table)
    with working(f"reading {called(table)}") as progress:
        names = [Path(path).name for path in paths]
        names = paths if names[0] == names[1] else names
        models = [load(path) for path in paths]
        check(names[0], models[0], names[1], models[1])
        reads = []
        for name, path, model in zip(names, paths, models, strict=True):
            X, y = rows_of(model, path, table)
            if y is None or not len(y):
                raise ConfigError(f"{called(table)}: no row has a value in the target column of {path}.")
            reads.append(Read(name, model, X, y))
        progress.doing("comparing the models")
        text = two_models(reads[0], reads[1], Path(table).name)
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
