"""How tidy tables of stored runs are written: CSV and JSON to a stream, Parquet to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from oblique_cli.cli._common import form_option

if TYPE_CHECKING:
    from oblique_cli.experiments.tidy import Table

FORMATS = ("csv", "json", "parquet")

tidy_format_option = form_option(FORMATS, "csv", what="Form of the lines; parquet needs the extra parquet")


def write_tidy(table: Table, format_: str, output: str | None) -> None:
    """Write a table to a file, or to standard output."""
    from oblique_cli.experiments import tidy

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
