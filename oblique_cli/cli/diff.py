"""`oblique diff`: how two stored runs differ."""

from __future__ import annotations

import click

from oblique_cli.cli._common import (
    NumberRange,
    database,
    format_option,
    metric_option,
    output_option,
    read_run,
    results_option,
    write,
)


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--second-results", metavar="DIR", help="Folder of results of SECOND.  [default: that of FIRST]")
@click.option(
    "--alpha",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the tests.",
)
@metric_option
@results_option
@format_option
@output_option
def diff(
    first: str,
    second: str,
    second_results: str | None,
    alpha: float,
    metrics: tuple[str, ...],
    results: str,
    format_: str,
    output: str | None,
) -> None:
    """Show how the stored run SECOND differs from FIRST: which cells, by how much, significantly or not, which folds.

    Algorithms are matched by their ids. Folds are compared one by one: correct rows, sizes, selected parameters, and
    the number of test rows with another prediction. If both runs have the same folds of the same data, the differences
    are tested.

    \b
    Example: oblique diff before after
             oblique diff bupa_hhgdt bupa_hhgdt --second-results other/results
    """
    from oblique_cli.evaluation.metrics import TESTED
    from oblique_cli.evaluation.tables import render, table_of, task_of_experiment
    from oblique_cli.experiments.diffing import Side
    from oblique_cli.experiments.diffing import diff as compared
    from oblique_cli.experiments.store import Store

    def side(store: Store, name: str) -> Side:
        run, rows = read_run(store, name), store.rows(name)
        names = metrics or TESTED[task_of_experiment(run.experiment)]
        return Side.of(store, run, rows, table_of(run.experiment, rows, names))

    with (
        Store(database(results), must_exist=True) as first_store,
        Store(database(second_results or results), must_exist=True) as second_store,
    ):
        comparison = compared(side(first_store, first), side(second_store, second), metrics, alpha)
    write(render(comparison, format_), output)
