"""How tidy tables of stored runs are written: CSV and JSON to a stream, Parquet to a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oblique_cli.cli._common import form_option
from oblique_cli.errors import DataError

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
    place = Path(output)
    temporary = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        if format_ == "parquet":
            tidy.write_parquet(table, temporary)
        else:
            _write(temporary, tidy.FORMATS[format_](table))
        os.replace(temporary, place)
    except OSError as error:
        raise DataError(f"{output}: cannot be written ({error.strerror})") from None
    finally:
        temporary.unlink(missing_ok=True)


def _write(path: Path, parts: Iterable[str]) -> None:
    with open(path, "x", encoding="utf-8", newline="") as stream:
        stream.writelines(parts)
        stream.flush()
        os.fsync(stream.fileno())
