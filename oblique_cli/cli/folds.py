"""`oblique folds`: every fold of a stored run, one line each."""

from __future__ import annotations

import click

from oblique_cli.cli._common import database, output_option, read_run, results_option
from oblique_cli.cli._tidy import tidy_format_option, write_tidy


@click.command()
@click.argument("run")
@click.option("--inner", is_flag=True, help="The candidates that parameters were chosen from, one line each, instead.")
@results_option
@tidy_format_option
@output_option
def folds(run: str, inner: bool, results: str, format_: str, escape: bool, output: str | None) -> None:
    """Print every stored fold of RUN, one line each, in full precision, for other programs.

    A line has correct and tested rows, sizes, times, the selected parameters, metrics, the message of a failed fold,
    and its environment (versions, linear algebra, processor). With --inner: the inner cross-validation score of every
    candidate, and which candidate was selected.

    \b
    Example: oblique folds bupa_hhgdt --output folds.csv
             oblique folds bupa_hhgdt --inner --format parquet --output choices.parquet
    """
    from oblique_cli.experiments import tidy
    from oblique_cli.experiments.store import Store

    with Store(database(results), must_exist=True) as store:
        make = tidy.choices if inner else tidy.folds
        write_tidy(make(store, read_run(store, run)), format_, output, escape)
