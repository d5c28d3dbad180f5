"""`oblique status`: stored, failed and missing folds, and running processes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import columns, database, facts, write_json
from oblique_cli.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oblique_cli.experiments.store import Run

# Columns of a failed fold, and of a run.
FAILURE = ("dataset", "algorithm", "repeat", "fold", "message")
SHOWN = ("run", "folds", "done", "failed", "left", "begun", "command")


@click.command()
@declare.parameters
def status(
    run: str | None = declare.run(required=False),
    results: str = declare.RESULTS,
    as_json: bool = declare.AS_JSON,
) -> None:
    """List stored runs: completed, failed and missing folds, and the processes that write.

    With RUN, lists its failed folds with their messages. The exit code is 5 if stored folds are damaged.

    Example: oblique status bupa_hhgdt
    """
    from oblique_cli.experiments.store import Store

    with Store(database(results), must_exist=True) as store:
        runs = store.runs() if run is None else [store.run(run)]
        damaged = [stored.name for stored in runs if stored.damaged]
        failures = [row for row in store.rows(run) if row.status == "failed"] if run is not None and not damaged else []
    counts = [_counts(stored) for stored in runs]
    if run is None and as_json:
        write_json(counts)
    elif run is None:
        lines = [[str(entry[key]) for key in SHOWN] for entry in counts]
        header = [key.replace("begun", "begun (UTC)") for key in SHOWN]
        click.echo(columns([header, *lines], right=range(1, 5), header=True))
        for entry in counts:
            for writer in entry["writers"]:
                click.echo(f"{entry['run']}: {_writer(writer)}")
    else:
        ((stored,), (entry,)) = runs, counts
        failed = [{key: getattr(row, key) for key in FAILURE} for row in failures]
        if as_json:
            write_json({**entry, "environment": stored.environment, "failures": failed})
        else:
            packages = [f"{name} {version}" for name, version in stored.environment.get("packages", {}).items()]
            writers = {f"writer {i}" if i else "writer": _writer(w) for i, w in enumerate(stored.writers)}
            shown = {key: str(entry[key]) for key in SHOWN}
            click.echo(facts({**shown, **writers, "packages": ", ".join(packages)}))
            for failure in failed:
                click.echo("! {dataset}/{algorithm} r{repeat} f{fold} failed: {message}".format_map(failure))
    if damaged:
        names = " ".join(damaged)
        raise StoreError(f"stored folds of {names} are damaged: oblique repair names them and runs them again.")


def _counts(run: Run) -> dict[str, Any]:
    return {
        "run": run.name,
        "folds": run.total,
        "done": run.done,
        "failed": run.failed,
        "left": run.total - run.done - run.failed,
        "begun": _time(run.created),
        "command": shlex.join(run.argv),
        "damaged": run.damaged,
        "writers": list(run.writers),
    }


def _writer(process: Mapping[str, Any]) -> str:
    return f"process {process['pid']}, which began it at {_time(process['since'])}, still runs"


def _time(text: str) -> str:
    return text.removesuffix("+00:00").replace("T", " ")
