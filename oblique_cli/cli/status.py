"""`oblique status`: stored, failed and missing folds, the remaining time, and running processes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import columns, facts, open_results, write_json
from oblique_cli.errors import StoreError

if TYPE_CHECKING:
    from oblique_cli.experiments.remaining_time import Estimate
    from oblique_cli.experiments.store import Run, Session, Store

# Columns of a failed fold, and facts of a run.
FAILURE = ("dataset", "algorithm", "repeat", "fold", "message")
SHOWN = ("run", "folds", "done", "failed", "left", "begun", "command")


@declare.command()
def status(
    run: str | None = declare.run(required=False), results: str = declare.RESULTS, as_json: bool = declare.AS_JSON
) -> None:
    """List stored runs: completed, failed and missing folds, the remaining time, and the processes that write.

    With RUN, lists its failed folds with their messages. The remaining time is estimated from stored folds of the same
    data set and algorithm, for the number of workers of the last session. The exit code is 5 if stored folds are
    damaged.

    Example: oblique status bupa_hhgdt
    """
    from oblique_cli.experiments.progress import duration

    with open_results(results) as store:
        runs = store.runs() if run is None else [store.run(run)]
        damaged = [stored.name for stored in runs if stored.damaged]
        times = [_time_left(store, stored) for stored in runs]
        failures = [row for row in store.rows(run) if row.status == "failed"] if run is not None and not damaged else []
    counts = [_counts(stored, time_left) for stored, time_left in zip(runs, times, strict=True)]
    if run is None and as_json:
        write_json(counts)
    elif run is None:
        lines = [["run", "folds", "done", "failed", "left", "time left", "begun (UTC)", "command"]]
        for entry in counts:
            seconds, cells = entry["seconds_left"], [str(entry[key]) for key in SHOWN]
            lines.append([*cells[:5], "-" if seconds is None else duration(seconds), *cells[5:]])
        click.echo(columns(lines, right=range(1, 6), header=True))
        for stored in runs:
            for session in _at_work(stored):
                click.echo(f"{stored.name}: {_writer(session)}")
    else:
        ((stored,), (entry,), (time_left,)) = runs, counts, times
        failed = [{key: getattr(row, key) for key in FAILURE} for row in failures]
        if as_json:
            write_json({**entry, "environment": stored.environment, "failures": failed})
        else:
            packages = [f"{name} {version}" for name, version in stored.environment.get("packages", {}).items()]
            writers = {f"writer {i}" if i else "writer": _writer(w) for i, w in enumerate(_at_work(stored))}
            shown = {key: str(entry[key]) for key in SHOWN} | {"time left": time_left.text if time_left else ""}
            click.echo(facts({**shown, **writers, "packages": ", ".join(packages)}))
            for failure in failed:
                click.echo("! {dataset}/{algorithm} r{repeat} f{fold} failed: {message}".format_map(failure))
    if damaged:
        names = " ".join(damaged)
        raise StoreError(f"stored folds of {names} are damaged: oblique repair names them and runs them again.")


def _time_left(store: Store, run: Run) -> Estimate | None:
    """Return the remaining time of a run; None if it is complete or damaged, or has no times to estimate from."""
    if run.damaged or run.done + run.failed >= run.total or "datasets" not in run.content:
        return None
    from oblique_cli.experiments.remaining_time import estimate, left_of

    rows = store.rows(run.name)
    return estimate(left_of(run, rows), rows, max(1, run.workers))


def _counts(run: Run, time_left: Estimate | None) -> dict[str, Any]:
    return {
        "run": run.name,
        "folds": run.total,
        "done": run.done,
        "failed": run.failed,
        "left": run.total - run.done - run.failed,
        "begun": _time(run.created),
        "command": shlex.join(run.argv),
        "damaged": run.damaged,
        "seconds_left": None if time_left is None else time_left.seconds,
        "writers": [
            {**session.process, "since": session.started, "last_stored": session.beat} for session in _at_work(run)
        ],
    }


def _at_work(run: Run) -> list[Session]:
    """Return the sessions whose process may still be running."""
    return [session for session in run.writers if session.alive is not False]


def _writer(session: Session) -> str:
    process = session.process
    unsure = "" if session.alive else ", if it still runs"
    return (
        f"process {process['pid']} on {process['host']} is running it since {_time(session.started)}, "
        f"last stored at {_time(session.beat)}{unsure}"
    )


def _time(text: str) -> str:
    return text.removesuffix("+00:00").replace("T", " ")
