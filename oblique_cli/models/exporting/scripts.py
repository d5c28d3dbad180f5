"""Modules of Python and of JavaScript (ECMAScript 2022, for Node and browsers), of the same structure.

Neither imports a package. The Python module imports `exp` of the standard library if leaves have scores.
"""

from __future__ import annotations

import json

from oblique_cli.models.exporting._exporter import KINDS, WITHOUT_SEVERAL, Source, exporter
from oblique_cli.models.exporting._program import Table, nested, rows_of, script

USE = "predict(row) takes {}; levels as text."
EXPORTED = ("CLASSES", "COLUMNS")  # tables that the JavaScript module exports


@exporter("python", "a module of Python without packages", ".py", kinds=KINDS)
def python(source: Source) -> str:
    """Return the module."""

    def literal(value: object) -> str:
        return nested(value, lambda item: 'float("nan")' if item != item else ascii(item), "()")

    def table(entry: Table) -> str:
        return f"{entry.name} = {rows_of(entry, literal, '    ', '  # {}'.format, '()')}\n"

    usage = USE.format("a mapping from column names, or the values in order")
    imports = "from math import exp\n\n" if source.procedure.has_scores and source.procedure.classes else ""
    return script(source, "tree.py.txt", "#", usage, table, imports)


@exporter("javascript", "a module of JavaScript for Node and browsers", ".mjs", kinds=WITHOUT_SEVERAL)
def javascript(source: Source) -> str:
    """Return the module."""

    def literal(value: object) -> str:
        return nested(value, lambda item: "NaN" if item != item else json.dumps(item), "[]")

    def table(entry: Table) -> str:
        declared = f"{'export ' if entry.name in EXPORTED else ''}const {entry.name}"
        return f"{declared} = {rows_of(entry, literal, '  ', ' // {}'.format, '[]')};\n"

    usage = USE.format("an object of values by column name, or an array in order")
    return script(source, "tree.mjs", "//", usage, table)
