"""`oblique table`: the table of a stored run, finished or not."""

from __future__ import annotations

import click

from oblique_cli.cli._common import (
    database,
    find_run,
    format_option,
    metric_option,
    output_option,
    rendered,
    results_option,
    table_of,
    write,
)


@click.command()
@click.argument("run")
@metric_option
@results_option
@format_option
@output_option
def table(run: str, metrics: tuple[str, ...], results: str, format_: str, output: str | None) -> None:
    """Print the table of the stored run RUN (oblique status lists them).

    Nothing is run, and neither the configuration nor the data is needed. The table is the one that oblique run prints;
    in that of an unfinished run, marks show where folds are missing. Metrics of what every fold has (accuracy,
    balanced_accuracy, sizes, times) can be shown of any run; others were computed if the run was asked for them.

    \b
    Example: oblique table bupa_hhgdt --format latex --output bupa.tex
             oblique table bupa_hhgdt --metric accuracy --metric nodes --metric fit
    """
    from oblique_cli.experiments.store import Store
    from oblique_cli.nouns import Experiment

    with Store(database(results), must_exist=True) as store:
        found = find_run(store, run)
        rows = store.rows(run)
    experiment = Experiment.from_content(run, found.content, **found.presentation)
    write(rendered(table_of(experiment, rows, metrics), format_, output), output)
