"""`oblique status`: what is stored, what failed, and what is left."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli._common import columns, database, facts, find_run, json_option, results_option

if TYPE_CHECKING:
    from oblique_cli.experiments.store import Run

# What a failed fold is shown by.
FAILURE = ("dataset", "algorithm", "repeat", "fold", "message")


@click.command()
@click.argument("run", required=False)
@results_option
@json_option
def status(run: str | None, results: str, as_json: bool) -> None:
    """List stored runs: folds done, failed and left. With RUN, list its failed folds with their messages.

    Example: oblique status bupa_hhgdt
    """
    from oblique_cli.experiments.store import Store

    with Store(database(results), must_exist=True) as store:
        runs = store.runs() if run is None else [find_run(store, run)]
        failures = [] if run is None else [row for row in store.rows(run) if row.status == "failed"]
    if run is None:
        if as_json:
            click.echo(json.dumps([_counts(one) for one in runs], indent=2))
            return
        header = ("run", "folds", "done", "failed", "left", "begun (UTC)", "command")
        lines = [[str(cell) for cell in _counts(one).values()] for one in runs]
        click.echo(columns([header, *lines], right=range(1, 5), header=True))
        return
    (one,) = runs
    failed = [{key: getattr(row, key) for key in FAILURE} for row in failures]
    if as_json:
        click.echo(json.dumps({**_counts(one), "environment": one.environment, "failures": failed}, indent=2))
        return
    counts = {key: str(value) for key, value in _counts(one).items()}
    packages = ", ".join(f"{name} {version}" for name, version in one.environment.get("packages", {}).items())
    click.echo(facts({**counts, "packages": packages}))
    for failure in failed:
        click.echo("! {dataset}/{algorithm} r{repeat} f{fold} failed: {message}".format_map(failure))


def _counts(run: Run) -> dict[str, Any]:
    return {
        "run": run.name,
        "folds": run.total,
        "done": run.done,
        "failed": run.failed,
        "left": run.total - run.done - run.failed,
        "begun": run.created.removesuffix("+00:00").replace("T", " "),
        "command": shlex.join(run.argv),
    }
