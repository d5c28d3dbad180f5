"""A Python module without dependencies: it imports only `exp` of the standard library, if leaves have scores."""

from __future__ import annotations

from oblique_cli.models.exporting._exporter import KINDS, Source, exporter
from oblique_cli.models.exporting._program import Table, nested, rows_of, script

USAGE = "predict(row) takes a mapping from column names, or the values in order; levels as text."


def _literal(value: object) -> str:
    return nested(value, lambda item: 'float("nan")' if item != item else ascii(item), "()")


def _table(table: Table) -> str:
    return f"{table.name} = {rows_of(table, _literal, '    ', '  # {}'.format, '()')}\n"


@exporter("python", "a module of Python without packages", ".py", kinds=KINDS)
def write(source: Source) -> str:
    """Return the module."""
    imports = "from math import exp\n\n" if source.procedure.has_scores else ""
    return script(source, "tree.py.txt", "#", USAGE, _table, imports)
