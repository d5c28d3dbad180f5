"""Tables of a user's own: read and decided once (`read_own`), and read again by the same decisions (`chunks`).

`Columns` says how a table becomes numbers, which a fitted model keeps. docs/own_data.md has the rules.
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
