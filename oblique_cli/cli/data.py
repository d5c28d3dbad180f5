"""`oblique data`: the catalogue of data sets, checks of their files, and downloads."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import columns, note, working, write_json
from oblique_cli.cli._own import LineOptions
from oblique_cli.errors import DataError

if TYPE_CHECKING:
    from oblique_cli.data.entries import Entry


@click.group(invoke_without_command=True, subcommand_metavar="COMMAND [ARGS]...")
@click.pass_context
def data(ctx: click.Context) -> None:
    """List, show, verify and fetch data sets; convert a table to Parquet.

    Example: oblique data show bupa
    """
    if ctx.invoked_subcommand is None:
        raise click.UsageError(ctx.get_help())


def _facts(entry: Entry, data_dir: str | None) -> dict[str, Any]:
    """Return one row of the list as plain data."""
    from oblique_cli.data.catalogue import whereabouts

    return {
        "name": entry.name,
        "code": entry.paper_code,
        "task": entry.task,
        "rows": entry.n,
        "features": entry.p,
        "classes": len(entry.classes),
        "where": whereabouts(entry, data_dir),
    }


@declare.command("list", of=data)
def list_(data_dir: str | None = declare.DATA_DIR, as_json: bool = declare.AS_JSON) -> None:
    """List all data sets: name, code in the papers, size, and where the files are.

    Example: oblique data list --format json
    """
    from oblique_cli.data.catalogue import entries

    rows = [_facts(entry, data_dir) for entry in entries().values()]
    if as_json:
        write_json(rows)
        return
    keys = ("name", "code", "rows", "features", "classes", "where")
    cells = [[str(row[key] or "-") for key in keys] for row in rows]
    click.echo(columns([keys, *cells], right={2, 3, 4}, header=True))


@declare.command(of=data)
def show(
    name: str = declare.argument(shell_complete=declare.complete_dataset),
    data_dir: str | None = declare.DATA_DIR,
    as_json: bool = declare.AS_JSON,
) -> None:
    """Show the catalogue entry of the data set NAME: a name, an alias, or its code in a paper.

    Example: oblique data show BUPA
    """
    from oblique_cli.data.catalogue import entry as look_up
    from oblique_cli.data.catalogue import whereabouts

    entry = look_up(name)
    facts = [
        ("name", entry.name),
        ("title", entry.title),
        ("also called", ", ".join(entry.aliases)),
        ("in the papers", ", ".join(f"{code} ({source})" for source, code in entry.published.items())),
        ("task", entry.task),
        ("rows", " + ".join([str(f.rows) for f in entry.files.values()])),
        ("features", f"{entry.p} ({entry.numeric} numeric, {entry.categorical} categorical)"),
        ("categorical", ", ".join(entry.categorical_columns)),
        ("classes", ", ".join(f"{label}: {count}" for label, count in entry.classes.items())),
        ("where", whereabouts(entry, data_dir)),
        *(("file", f"{file.name}  sha256 {file.sha256}") for file in entry.files.values()),
        ("source", entry.source),
        ("origin", entry.origin),
        ("licence", entry.licence),
        ("note", entry.note),
        ("notes", entry.notes),
    ]
    if as_json:
        files = {file.name: file.sha256 for file in entry.files.values()}
        known = {key.replace(" ", "_"): value for key, value in facts if value and key != "file"}
        exact = {"rows": entry.n, "features": entry.p, "classes": dict(entry.classes), "files": files}
        write_json({**known, **exact})
        return
    click.echo(columns([(key, value) for key, value in facts if value]))


@declare.command(of=data)
def verify(
    names: tuple[str, ...] = declare.argument(nargs=-1, metavar="[NAME]...", shell_complete=declare.complete_dataset),
    data_dir: str | None = declare.DATA_DIR,
    as_json: bool = declare.AS_JSON,
) -> None:
    """Check files against the catalogue: sha256, rows, features, class counts.

    Without NAME, checks all data sets; a data set that was never fetched is no error.

    Example: oblique data verify bupa letter
    """
    from oblique_cli.data import catalogue

    checks = [catalogue.verify(name, data_dir) for name in names or catalogue.names()]
    if as_json:
        write_json([dataclasses.asdict(check) for check in checks])
    for check in checks if not as_json else ():
        click.echo(f"{check.status:<7} {check.message or check.name}")
    # A missing bundled file is an error even if the user did not name it.
    faults = [
        c.name
        for c in checks
        if c.status == "bad" or (c.status == "absent" and (names or catalogue.entry(c.name).bundled))
    ]
    if faults:
        raise DataError(f"{len(faults)} of {len(checks)} data sets are bad or absent: {', '.join(faults)}")


@declare.command(of=data)
def fetch(
    names: tuple[str, ...] = declare.argument(nargs=-1, metavar="NAME...", shell_complete=declare.complete_dataset),
    all_sets: bool = declare.flag("--all", "Fetch every set that the UCI archive has."),
    data_dir: str | None = declare.DATA_DIR,
    offline: bool = declare.OFFLINE,
) -> None:
    """Fetch data sets that are not bundled from the UCI archive.

    Files are written to --data-dir, else to $OBLIQUE_DATA, else to the cache. An interrupted download resumes.

    Example: oblique data fetch banknote seeds
    """
    from oblique_cli.data import catalogue
    from oblique_cli.data.fetch import fetch as fetch_entry
    from oblique_cli.data.files import data_folders

    if bool(names) == all_sets:
        raise click.UsageError("give either names of data sets or --all")
    wanted = [e for e in catalogue.entries().values() if e.recipe] if all_sets else [*map(catalogue.entry, names)]
    place = data_folders(data_dir)[0]
    failed: list[str] = []
    for entry in wanted:
        if entry.bundled or entry.generated:
            click.echo(f"{entry.name} is {entry.availability}")
            continue
        try:
            click.echo(f"{entry.name} is in {fetch_entry(entry, place, offline=offline).path}")
        except DataError as error:
            if len(wanted) == 1:
                raise
            # After an error, continue with the other data sets.
            failed.append(entry.name)
            note(f"{entry.name} failed: {error}")
    if failed:
        raise DataError(f"{len(failed)} of {len(wanted)} data sets could not be fetched: {', '.join(failed)}")


@declare.command(of=data)
def convert(
    source: str = declare.argument(type=click.Path()),
    target: str = declare.argument(type=click.Path()),
    single: bool = declare.flag("--single", "Numbers in single precision: half the bytes, seven digits."),
    as_json: bool = declare.AS_JSON,
    file: LineOptions = declare.group(LineOptions),
) -> None:
    """Convert SOURCE, a table that oblique fit can read, to the Parquet file TARGET; text files of any length in
    constant memory.

    The type of a column is the first of integer, number and text that fits all its cells, so SOURCE is read twice.
    Empty cells and the usual marks of missing values (NA, ?, null, ...) become empty cells.

    \b
    Example: oblique data convert big.csv big.parquet
    """
    from oblique_cli.scale.disk_tables import convert as converted

    with working(f"converting {source}"):
        table = converted(source, target, options=file.text, single=single)
    if as_json:
        write_json({"rows": table.rows, "columns": dict(table.kinds), "empty": dict(table.empty)})
        return
    named = {"int64": "whole numbers", "double": "numbers", "string": "text"}
    lines = [f"{table.rows} rows, {len(table.kinds)} columns written to {target}"]
    for name, kind in table.kinds.items():
        empty = table.empty.get(name, 0)
        lines.append(f"  {name}: {named[kind]}{f', {empty} empty cells' if empty else ''}")
    click.echo("\n".join(lines))
    note(*(f"note: {sentence}" for sentence in table.notes))
