"""`oblique plot`: pictures of stored runs."""

from __future__ import annotations

from dataclasses import dataclass

import click

from oblique_cli.cli._common import (
    PICTURES,
    KnownName,
    NumberRange,
    data_dir_option,
    database,
    gathered,
    off_terminal,
    offline_option,
    part_options,
    picture_form,
    results_option,
    say_missing,
    writable,
    write,
)
from oblique_cli.cli._completing import complete_metric

# The names in report.plotting.KINDS, which the help must know without importing it.
KINDS = (
    "box",
    "scatter",
    "curve",
    "regions",
    "calibration",
    "confusion",
    "cd",
    "time",
    "learning",
)


@dataclass(frozen=True)
class Params:
    """The parameters of `oblique plot`."""

    kind: str
    runs: tuple[str, ...]
    metric: str
    x: str
    datasets: tuple[str, ...]
    algorithms: tuple[str, ...]
    parameter: str
    features: str
    form: str | None
    width: float
    output: str | None
    results: str
    data_dir: str | None
    offline: bool


@click.command()
@click.argument("kind", type=KnownName(KINDS, "report.plotting:KINDS"))
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--metric",
    metavar="NAME",
    shell_complete=complete_metric,
    default="",
    help="Metric (oblique list metrics).  [default: accuracy]",
)
@click.option(
    "--x",
    metavar="NAME",
    shell_complete=complete_metric,
    default="leaves",
    show_default=True,
    help="The other metric of a scatter.",
)
@part_options
@click.option("--parameter", metavar="NAME", default="", help="The parameter of a tuning curve.")
@click.option("--features", metavar="A,B", default="", help="The two features of decision regions.")
@click.option(
    "--format", "form", type=click.Choice(PICTURES), help="Form of the picture.  [default: as the file is named]"
)
@click.option("--width", type=NumberRange(40, 400), default=85.0, show_default=True, help="Width in millimeters.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=writable,
    help="Output file.  [default: standard output, as SVG; on a terminal RUN-KIND.svg]",
)
@results_option
@data_dir_option
@offline_option
@gathered(Params, "params")
def plot(params: Params) -> None:
    """Draw stored runs (oblique status lists them), and print a caption for a paper.

    \b
    box          spread of a metric over folds, or over many data sets
    scatter      a metric against another, such as accuracy against leaves, with the Pareto front
    curve        what tuning found for each value of a parameter
    regions      predicted classes over two features; fits the models again
    calibration  how often a prediction of some probability is right; needs --keep-probabilities of the run
    confusion    which class was taken for which
    cd           critical-difference diagram of average ranks
    time         seconds of fitting and predicting
    learning     a metric by training rows, of a run with cv: {scheme: learning}

    Plugins may add kinds (docs/extending.md).

    \b
    Example: oblique plot scatter smoke --output scatter.svg
    """
    form = params.form
    output = params.output
    from pathlib import Path

    from oblique_cli.drawing.canvas import rendered
    from oblique_cli.experiments.store import Store
    from oblique_cli.report.material import gather
    from oblique_cli.report.plotting import Request, draw

    named_output, output = (
        output,
        off_terminal(output, f"{params.runs[0].replace('/', '-')}-{params.kind}.{form or 'svg'}"),
    )
    form = form or picture_form(output, ", or give --format")
    request = Request(
        params.metric,
        params.x,
        params.parameter,
        tuple(name.strip() for name in params.features.split(",") if name.strip()),
        params.width,
        params.data_dir,
        params.offline,
    )
    with Store(database(params.results), must_exist=True) as store:
        material = gather(store, params.runs, params.datasets, params.algorithms)
        for shown_run in material.shown:
            say_missing(shown_run.run)
        made = draw(params.kind, material, request)
        picture = rendered(made.figure, form, made.caption)
    write(picture, output)
    click.echo(made.caption, err=output is None)
    if named_output is None and output is not None:
        click.echo(f"written to {Path(output).name}", err=True)
