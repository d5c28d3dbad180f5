"""`oblique plot`: plots of stored runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import note, open_results, say_missing, write

# The names in report.plot_kinds.KINDS, repeated here so that the help need not import it.
KINDS = ("box", "scatter", "curve", "regions", "calibration", "confusion", "cd", "time", "learning")


@dataclass(frozen=True)
class Params:
    """Parameters of `oblique plot`."""

    kind: str = declare.argument(type=declare.KnownName(KINDS, "report.plot_kinds:KINDS"))
    runs: tuple[str, ...] = declare.run(nargs=-1, required=True, metavar="RUN...")
    metric: str = declare.metric("--metric", "Metric (oblique list metrics).  [default: accuracy]", default="")
    x: str = declare.metric("--x", "The other metric of a scatter.", default="leaves")
    datasets: tuple[str, ...] = declare.SHOWN_DATASETS
    algorithms: tuple[str, ...] = declare.SHOWN_ALGORITHMS
    parameter: str = declare.option("--parameter", "The parameter of a tuning curve.", metavar="NAME", default="")
    features: str = declare.option("--features", "The two features of decision regions.", metavar="A,B", default="")
    form: str | None = declare.option(
        "--format", "Form of the picture.  [default: as the file is named]", type=click.Choice(declare.PICTURES)
    )
    width: float = declare.option("--width", "Width in millimeters.", type=declare.NumberRange(40, 400), default=85.0)
    output: str | None = declare.file(
        "-o", "--output", help="Output file.  [default: standard output, as SVG; on a terminal RUN-KIND.svg]"
    )
    results: str = declare.RESULTS
    data_dir: str | None = declare.DATA_DIR
    offline: bool = declare.OFFLINE


@declare.command()
def plot(params: Params = declare.group(Params)) -> None:
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
    from oblique_cli.drawing.canvas import rendered
    from oblique_cli.report.material import gather
    from oblique_cli.report.plot_kinds import Request, draw

    usual_name = f"{params.runs[0].replace('/', '-')}-{params.kind}.{params.form or 'svg'}"
    output = declare.off_terminal(params.output, usual_name)
    form = params.form or declare.picture_form(output, ", or give --format")
    features = tuple(name.strip() for name in params.features.split(",") if name.strip())
    of_plot = (params.metric, params.x, params.parameter, features, params.width)
    request = Request(*of_plot, params.data_dir, params.offline)
    with open_results(params.results) as store:
        material = gather(store, params.runs, params.datasets, params.algorithms)
        for shown_run in material.shown:
            say_missing(shown_run.run)
        made = draw(params.kind, material, request)
        picture = rendered(made.figure, form, made.caption)
    write(picture, output)
    click.echo(made.caption, err=output is None)
    if params.output is None and output is not None:
        note(f"written to {Path(output).name}")
