"""Users' tables: analyzed once (`read_own`), and read again by the same decisions (`chunks`).

`Columns` holds these decisions, and a fitted model stores it. docs/own_data.md has the rules.
"""

from oblique_cli.data.own.cells import chunks, header_of
from oblique_cli.data.own.columns import FEATURES, LEFT_OUT, TREATMENTS, Chunk, Column, Columns
from oblique_cli.data.own.look import Reading, read_own

__all__ = [
    "FEATURES",
    "LEFT_OUT",
    "TREATMENTS",
    "Chunk",
    "Column",
    "Columns",
    "Reading",
    "chunks",
    "header_of",
    "read_own",
]
