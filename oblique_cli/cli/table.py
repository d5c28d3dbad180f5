"""`oblique table`: the table of a stored run, finished or not."""

from __future__ import annotations

import click

from oblique_cli.cli._common import (
    database,
    format_option,
    metric_option,
    output_option,
    read_run,
    rendered,
    results_option,
    write,
)


@click.command()
@click.argument("run")
@metric_option
@click.option("--mark", is_flag=True, help="Mark the best of every data set, and what is not significantly worse.")
@results_option
@format_option
@output_option
def table(run: str, metrics: tuple[str, ...], mark: bool, results: str, format_: str, output: str | None) -> None:
    """Print the table of the stored run RUN (oblique status lists them).

    Nothing is run, and neither the configuration nor the data is needed. The table equals that of oblique run; in an
    unfinished run, marks show missing folds. Accuracy, balanced_accuracy, sizes and times are available for every run;
    other metrics only if the run or oblique rescore computed them.

    \b
    Example: oblique table bupa_hhgdt --format latex --output bupa.tex
             oblique table bupa_hhgdt --metric accuracy --metric nodes --metric fit
    """
    from oblique_cli.evaluation.marking import marked
    from oblique_cli.evaluation.paired import StoredRun
    from oblique_cli.evaluation.tables import table_of
    from oblique_cli.experiments.store import Store

    with Store(database(results), must_exist=True) as store:
        stored_run = read_run(store, run)
        rows, remarks = store.rows(run), store.remarks(run)
    shown = table_of(stored_run.experiment, rows, metrics, remarks)
    if mark:
        shown = marked(shown, StoredRun(stored_run.experiment, rows, stored_run.content["data"]))
    write(rendered(shown, format_, output), output)
