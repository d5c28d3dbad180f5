"""Data sets: the catalogue, users' own CSV files, fetching, and the resulting arrays.

Importing this package imports nothing numerical; `load` does.
"""

from oblique_cli.data.catalogue import entry, load, names, resolve
from oblique_cli.data.entries import Entry

__all__ = ["Entry", "entry", "load", "names", "resolve"]
