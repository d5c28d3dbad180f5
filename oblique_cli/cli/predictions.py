"""`oblique predictions`: what every fold of a stored run predicted."""

from __future__ import annotations

import click

from oblique_cli.cli._common import database, output_option, part_options, read_run, results_option
from oblique_cli.cli._tidy import tidy_format_option, write_tidy
from oblique_cli.errors import ConfigError
from oblique_cli.ground.registry import close_matches


@click.command()
@click.argument("run")
@part_options
@results_option
@tidy_format_option
@output_option
def predictions(
    run: str,
    datasets: tuple[str, ...],
    algorithms: tuple[str, ...],
    results: str,
    format_: str,
    escape: bool,
    output: str | None,
) -> None:
    """Print the predictions of every fold of RUN, one line per test row: true value, prediction, probabilities.

    Rows are numbered from 0 in the order of the data set. Probabilities are available if the run stored them (oblique
    run --keep-probabilities, or keep: probabilities in the configuration).

    \b
    Example: oblique predictions bupa_hhgdt --algorithm hhgdt
             oblique predictions bupa_hhgdt --format parquet --output bupa.parquet
    """
    from oblique_cli.experiments import tidy
    from oblique_cli.experiments.store import Store

    with Store(database(results), must_exist=True) as store:
        stored_run = read_run(store, run)
        experiment = stored_run.experiment
        known = ("data set", [spec.name for spec in experiment.datasets], datasets)
        for what, names, wanted in (known, ("algorithm", [spec.id for spec in experiment.algorithms], algorithms)):
            for name in wanted:
                if name not in names:
                    hint = close_matches(name, names) or f" It has {', '.join(names)}."
                    raise ConfigError(f"run {run!r} has no {what} {name!r}.{hint}")
        table = tidy.predictions(
            store,
            stored_run,
            lambda row: (not datasets or row.dataset in datasets) and (not algorithms or row.algorithm in algorithms),
        )
        write_tidy(table, format_, output, escape)
