"""`oblique repair`: what is damaged in a results file is dropped and run again."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from oblique_cli.cli._common import Runner, database, rerunning_options, run_again, say_missing, write
from oblique_cli.errors import EXIT_OK, StoreError, UnknownName

if TYPE_CHECKING:
    from oblique_cli.experiments.store import Damage
    from oblique_cli.ground.nouns import Job


@click.command()
@click.argument("run", required=False)
@click.option("--check", is_flag=True, help="Only say what is damaged; exit code 5 if anything is.")
@click.option("--drop", is_flag=True, help="Drop what is damaged and run nothing.")
@rerunning_options
def repair(run: str | None, check: bool, drop: bool, runner: Runner, format_: str, output: str | None) -> None:
    """Find damaged folds of RUN (without RUN, of all runs), delete them, and run only these folds again.

    If the structure of the results file is damaged, its readable part is copied into a new file; the damaged file is
    renamed to oblique.sqlite.damaged. The command of the run then runs the unreadable folds again.

    Example: oblique repair bupa_hhgdt --check
    """
    from oblique_cli.evaluation.tables import render
    from oblique_cli.experiments.store import Store, is_sound, salvage

    path = database(runner.results)
    saved = None
    if not is_sound(path):
        if check:
            raise StoreError(f"{path} is damaged: oblique repair saves what can be read.")
        saved = salvage(path)
        click.echo(f"{path}: {saved.records} records saved; the damaged file is {saved.aside}.", err=True)
        if saved.lost:
            folds = f", among them {_listed(saved.folds)}" if saved.folds else ""
            click.echo(f"{path}: {saved.lost} records or more are lost{folds}.", err=True)
    with Store(path, must_exist=True) as store:
        names = store.names() if run is None else [store.run(run).name if run not in store.names() else run]
        damaged = {name: store.damage(name) if check else store.repair(name) for name in names}
        described = {name for name in damaged if not check and store.is_described(name)}
        for name in sorted(described) if saved and saved.lost else ():
            with contextlib.suppress(UnknownName):  # a step of a study, which has no table
                say_missing(store.run(name))
    damaged = {name: damage for name, damage in damaged.items() if damage}
    for name, damage in damaged.items():
        click.echo(
            f"{name}: {len(damage)} damaged{'' if check else ', dropped'}: {_listed([fold.name for fold in damage])}"
        )
    if not damaged and not saved:
        click.echo("nothing is damaged")
    if check and damaged:
        raise StoreError("stored folds are damaged: oblique repair runs them again.")
    code, tables = EXIT_OK, []
    for name, damage in () if check or drop else damaged.items():
        if name not in described:
            click.echo(f"{name}: nothing is left that says what it was; give its command again.", err=True)
            continue
        summary, table = run_again(runner, name, functools.partial(_is_among, damage))
        runner.report(summary)
        code = max(code, summary.exit_code)
        if summary.stopped:
            break
        tables.append(render(table, format_))
    if tables:
        write("\n".join(tables), output)
    raise SystemExit(code)


def _is_among(damage: list[Damage], job: Job) -> bool:
    """Whether the fold of a job was dropped: by its key, or by its place if the key is damaged."""
    name = f"{job.dataset}/{job.algorithm} r{job.repeat} f{job.fold}"
    return any(job.key == fold.key or name == fold.name for fold in damage)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
