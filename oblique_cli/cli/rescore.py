"""`oblique rescore`: metrics of a stored run that nobody asked for when it was run."""

from __future__ import annotations

import click

from oblique_cli.cli._common import database, format_option, output_option, read_run, results_option, write


@click.command()
@click.argument("run")
@click.option(
    "--metric",
    "metrics",
    metavar="NAME",
    multiple=True,
    required=True,
    help="A metric; may be repeated (oblique list metrics).",
)
@results_option
@format_option
@output_option
def rescore(run: str, metrics: tuple[str, ...], results: str, format_: str, output: str | None) -> None:
    """Compute metrics of RUN from its stored predictions, without fitting anything, and print their table.

    The values are stored with the folds; oblique table, significance and diff can then use them.

    Example: oblique rescore bupa_hhgdt --metric mcc --metric f1_macro
    """
    from oblique_cli.evaluation.metrics import METRICS
    from oblique_cli.evaluation.tables import render, table_of
    from oblique_cli.experiments.rescoring import rescored
    from oblique_cli.experiments.store import Store

    with Store(database(results), must_exist=True) as store:
        stored_run = read_run(store, run)
        rows = rescored(store, stored_run, store.rows(run), metrics)
        if not store.read_only:
            names = [name for name in metrics if METRICS[name].measured]
            new = {row.key: {name: row.measures[name] for name in names} for row in rows if row.status == "ok"}
            store.add_measures(run, new)
        remarks = store.remarks(run)
    write(render(table_of(stored_run.experiment, rows, metrics, remarks), format_), output)
