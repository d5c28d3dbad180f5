"""`oblique significance`: which differences between the algorithms of stored runs are more than chance."""

from __future__ import annotations

import click

from oblique_cli.cli._common import (
    NumberRange,
    database,
    format_option,
    metric_option,
    output_option,
    read_run,
    rendered,
    results_option,
    writable,
    write,
)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@metric_option
@click.option(
    "--alpha",
    type=NumberRange(0, 0.5, min_open=True),
    default=0.05,
    show_default=True,
    help="Level of the tests.",
)
@click.option(
    "--rope",
    metavar="POINTS",
    type=NumberRange(0, 100),
    default=1.0,
    show_default=True,
    help="Accuracies that differ by less are practically the same; of a metric without %, hundredths.",
)
@click.option(
    "--rope-leaves",
    metavar="SHARE",
    type=NumberRange(0, 10),
    default=0.1,
    show_default=True,
    help="Leaves, errors and times that differ by a smaller share are practically the same.",
)
@results_option
@format_option
@output_option
@click.option(
    "--diagram",
    metavar="FILE",
    callback=writable,
    help="Write the critical-difference diagrams to FILE as well, as SVG.",
)
def significance(
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    alpha: float,
    rope: float,
    rope_leaves: float,
    results: str,
    format_: str,
    output: str | None,
    diagram: str | None,
) -> None:
    """Test the differences between the algorithms of stored runs (oblique status lists them).

    On each data set: the 1-SD and 2-SD rules, the corrected resampled t test and its Bayesian counterpart. Over five or
    more data sets: sign test, Wilcoxon with Holm's correction, Bayesian signed-rank test, Friedman and Nemenyi with a
    critical-difference diagram. Several runs are tested together, on the data sets with results of all algorithms.
    docs/experiments.md explains the choice of a test.

    Example: oblique significance smoke --metric leaves
    """
    from oblique_cli.drawing.ranks import critical_differences
    from oblique_cli.drawing.svg import svg
    from oblique_cli.evaluation.paired import StoredRun, pair
    from oblique_cli.evaluation.significance_report import Limits, judge
    from oblique_cli.evaluation.tables import method_titles
    from oblique_cli.experiments.store import Store

    stored = []
    with Store(database(results), must_exist=True) as store:
        for name in runs:
            stored_run = read_run(store, name)
            stored.append(StoredRun(stored_run.experiment, store.rows(name), stored_run.content["data"]))
    title = " and ".join(run.experiment.title or run.experiment.name for run in stored)
    verdicts = judge(pair(stored, method_titles(), metrics), title, Limits(alpha, rope, rope_leaves))
    if diagram is not None:
        write(svg(critical_differences([ranks for ranks, _ in verdicts.diagrams()])), diagram)
    write(rendered(verdicts, format_, output), output)
