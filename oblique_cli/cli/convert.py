"""`oblique convert`: a table as Parquet."""

from __future__ import annotations

import json

import click

from oblique_cli.cli._common import working, write
from oblique_cli.cli._own import FileOptions, line_options


@click.command()
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@click.option("--single", is_flag=True, help="Numbers in single precision: half the bytes, seven digits.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="Form of what is said.")
@line_options
def convert(source: str, target: str, single: bool, format_: str, file: FileOptions) -> None:
    """Write SOURCE, a table that oblique fit reads, as TARGET, a Parquet file; a text of any length in constant memory.

    A column becomes whole numbers, numbers or text, the first of these that all its cells are; so SOURCE is read twice.
    Empty cells and the usual marks of missing values (NA, ?, null, ...) stay empty.

    \b
    Example: oblique convert big.csv big.parquet
    """
    from oblique_cli.scale.disk_tables import convert as converted

    with working(f"converting {source}"):
        table = converted(source, target, options=file.text, single=single)
    if format_ == "json":
        write(
            json.dumps({"rows": table.rows, "columns": dict(table.kinds), "empty": dict(table.empty)}, indent=1) + "\n"
        )
        return
    named = {"int64": "whole numbers", "double": "numbers", "string": "text"}
    lines = [f"{table.rows} rows, {len(table.kinds)} columns written to {target}"]
    for name, kind in table.kinds.items():
        empty = table.empty.get(name, 0)
        lines.append(f"  {name}: {named[kind]}{f', {empty} empty cells' if empty else ''}")
    write("\n".join(lines) + "\n")
    for sentence in table.notes:
        click.echo(f"note: {sentence}", err=True)
