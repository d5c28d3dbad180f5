"""How tidy tables of stored runs are written: CSV and JSON to a stream, Parquet to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli._common import escape_option, form_option

if TYPE_CHECKING:
    from oblique_cli.experiments.tidy import Table

FORMATS = ("csv", "json", "parquet")


def tidy_format_option(command: Any) -> Any:
    """Add --format, and --escape-formulas for texts in CSV."""
    what = "Form of the lines; parquet needs the extra parquet"
    return form_option(FORMATS, "csv", what=what)(escape_option(command))


def write_tidy(table: Table, format_: str, output: str | None, escape: bool) -> None:
    """Write a table to a file, or to standard output. escape : whether no text of CSV is to be taken for a formula"""
    from oblique_cli.experiments import tidy

    if escape and format_ == "csv":
        table = tidy.escaped_table(table)
    if output is None:
        if format_ == "parquet":
            raise click.UsageError("--format parquet needs --output FILE, because it is no text")
        for part in tidy.FORMATS[format_](table):
            click.echo(part, nl=False)
        return
    from oblique_cli.data import files

    with files.written(Path(output)) as stream:
        if format_ == "parquet":
            tidy.write_parquet(table, stream)
        else:
            stream.writelines(part.encode(errors="replace") for part in tidy.FORMATS[format_](table))
