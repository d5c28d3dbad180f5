"""Data sets: the catalogue, users' own CSV files, fetching, and the arrays that come of them.

Importing this package imports nothing numerical; `load` does.
"""

from oblique_cli.data.catalogue import Entry, entry, load, names, published_code, resolve

__all__ = ["Entry", "entry", "load", "names", "published_code", "resolve"]
