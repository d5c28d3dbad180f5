"""`oblique repair`: removal of damaged records from a results file, and a rerun of their folds."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import Runner, database, note, open_results, run_again, say_missing, write
from oblique_cli.errors import EXIT_OK, StoreError, UnknownName, cut_list

if TYPE_CHECKING:
    from oblique_cli.experiments.store import Store
    from oblique_cli.ground.nouns import Job


@declare.command()
def repair(
    run: str | None = declare.run(required=False),
    check: bool = declare.flag("--check", "Only say what is damaged; exit code 5 if anything is."),
    drop: bool = declare.flag("--drop", "Drop what is damaged and run nothing."),
    runner: Runner = declare.group(Runner, "fresh", "strict_environment", "keep_probabilities"),
) -> None:
    """Find damaged folds of RUN (without RUN, of all runs), delete them, and run only these folds again.

    If pages of the results file are damaged, all readable records go into a new file, and the damaged file is renamed
    to oblique.sqlite.damaged. repair names the lost folds; the command of the run runs these again.

    Example: oblique repair bupa_hhgdt --check
    """
    from oblique_cli.evaluation.pivot import in_form
    from oblique_cli.evaluation.sheets import render
    from oblique_cli.experiments.store import is_sound, salvage

    path = database(runner.results)
    saved = None
    if not is_sound(path):
        if check:
            raise StoreError(f"{path} is damaged: oblique repair saves what can be read.")
        saved, aside = salvage(path)
        note(
            f"{path}: {saved} records saved; the damaged file is {aside}. Give the command of every run again, which "
            "runs what is lost."
        )
    with open_results(runner.results) as store:
        names = store.names() if run is None else [store.run(run).name if run not in store.names() else run]
        damaged = {name: store.damage(name) if check else store.repair(name) for name in names}
        described = {name for name in damaged if not check and store.is_described(name)}
        for name in sorted(described) if saved else ():
            with contextlib.suppress(UnknownName):  # a step of a study, which has no table
                say_missing(store.run(name))
                if missing := _missing(store, name):
                    note(f"{name}: not stored are {cut_list(missing)}.")
    damaged = {name: damage for name, damage in damaged.items() if damage}
    for name, damage in damaged.items():
        click.echo(
            f"{name}: {len(damage)} damaged{'' if check else ', dropped'}: {cut_list([fold.name for fold in damage])}"
        )
    if not damaged and not saved:
        click.echo("nothing is damaged")
    if check and damaged:
        raise StoreError("stored folds are damaged: oblique repair runs them again.")
    code, tables = EXIT_OK, []
    for name, damage in () if check or drop else damaged.items():
        if name not in described:
            note(f"{name}: nothing is left that says what it was; give its command again.")
            continue
        # By the key, or by the place if the key is damaged.
        lost = {fold.key for fold in damage} | {fold.name for fold in damage}
        summary, table = run_again(runner, name, functools.partial(_is_among, lost))
        runner.report(summary)
        code = max(code, summary.exit_code)
        if summary.stopped:
            break
        tables.append(render(in_form(table, runner.format_), runner.format_))
    if tables:
        write("\n".join(tables), runner.output)
    raise SystemExit(code)


def _is_among(lost: set[str], job: Job) -> bool:
    return bool(lost & {job.key, f"{job.dataset}/{job.algorithm} r{job.repeat} f{job.fold}"})


def _missing(store: Store, name: str) -> list[str]:
    """Return the folds of a run that have no row."""
    from oblique_cli import schemes

    experiment = store.run(name).experiment
    stored = {(row.dataset, row.algorithm, row.repeat, row.fold) for row in store.rows(name)}
    return [
        f"{spec.name}/{algorithm.id} r{repeat} f{fold}"
        for spec in experiment.datasets
        for algorithm in experiment.algorithms
        for repeat, fold in schemes.expected_places(experiment, spec.name)
        if (spec.name, algorithm.id, repeat, fold) not in stored
    ]
