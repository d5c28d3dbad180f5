"""`oblique merge`: parts of a run, from several results folders, put together."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from oblique_cli.cli._common import database, results_option


@click.command()
@click.argument("run")
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True)
@results_option
def merge(run: str, folders: tuple[str, ...], results: str) -> None:
    """Take the folds of RUN from results FOLDERs into --results, one folder after the other, each whole or not at all.

    This joins the parts of oblique run --shard; the table then equals that of a single run. Folders with other data,
    another configuration or a different result for a fold are refused. Folds that exist already stay.

    Example: oblique merge bupa_hhgdt part1 part2 --results results
    """
    from oblique_cli.experiments.store import Store

    sources = [Path(folder) if Path(folder).is_file() else database(folder) for folder in folders]
    for folder, source in zip(folders, sources, strict=True):
        if source.resolve() == database(results).resolve():
            raise click.UsageError(f"{folder} is where --results is: give the folders that folds come from")
    with ExitStack() as stack:
        others = [stack.enter_context(Store(source, must_exist=True)) for source in sources]
        for other in others:
            other.run(run)  # before a file of results is made that nothing can be taken into
        store = stack.enter_context(Store(database(results)))
        for source, other in zip(sources, others, strict=True):
            new, known = store.take_over(other, run)
            click.echo(f"{source}: {new} folds taken, {known} there already", err=True)
        state = store.run(run)
    left = state.total - state.done - state.failed
    click.echo(f"{run}: {state.done} of {state.total} folds, {state.failed} failed, {left} left -> {database(results)}")
