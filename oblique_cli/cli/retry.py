"""`oblique retry`: the failed folds of a stored run once more."""

from __future__ import annotations

import click

from oblique_cli.cli._common import Runner, database, rerunning_options, run_again, write


@click.command()
@click.argument("run")
@rerunning_options
def retry(run: str, runner: Runner, format_: str, output: str | None) -> None:
    """Run the failed folds of RUN again, and no other fold; print the table.

    Neither the configuration nor its options are needed: what was asked is stored. To run what is left as well, give
    the run's own command again.

    Example: oblique retry bupa_hhgdt
    """
    from oblique_cli.evaluation.tables import render
    from oblique_cli.experiments.store import Store

    with Store(database(runner.results), must_exist=True) as store:
        store.run(run)
        failed = {row.key for row in store.rows(run) if row.status != "ok"}
    summary, table = run_again(runner, run, lambda job: job.key in failed)
    if not summary.stopped:
        write(render(table, format_), output)
    runner.report(summary)
    raise SystemExit(summary.exit_code)
