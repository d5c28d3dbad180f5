"""A JavaScript module (ECMAScript 2022) for Node and browsers without imports, structured as the Python module."""

from __future__ import annotations

import json

from oblique_cli.models.exporting._exporter import WITHOUT_SEVERAL, Source, exporter
from oblique_cli.models.exporting._program import Table, nested, rows_of, script

USAGE = "predict(row) takes an object of values by column name, or an array in order; levels as text."
EXPORTED = ("CLASSES", "COLUMNS")


def _literal(value: object) -> str:
    return nested(value, lambda item: "NaN" if item != item else json.dumps(item), "[]")


def _table(table: Table) -> str:
    declared = f"{'export ' if table.name in EXPORTED else ''}const {table.name}"
    return f"{declared} = {rows_of(table, _literal, '  ', ' // {}'.format, '[]')};\n"


@exporter("javascript", "a module of JavaScript for Node and browsers", ".mjs", kinds=WITHOUT_SEVERAL)
def write(source: Source) -> str:
    """Return the module."""
    return script(source, "tree.mjs", "//", USAGE, _table)
