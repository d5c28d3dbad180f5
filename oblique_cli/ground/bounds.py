"""Limits on the size of files, so that no archive or list fills the memory; an environment variable raises each limit.

A limit is checked while a file is read, so the excess never enters memory. docs/reliability.md#limits lists them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from oblique_cli.errors import ConfigError


@dataclass(frozen=True)
class Bound:
    """Limit on the size of an input.

    variable : environment variable that sets another number
    default  : without the variable
    unit     : counted unit, for error messages"""

    variable: str
    default: int
    unit: str

    @property
    def value(self) -> int:
        """Present value; ConfigError if the variable is not an integer."""
        text = os.environ.get(self.variable, "")
        if not text:
            return self.default
        if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text) > 0):
            raise ConfigError(f"{self.variable} must be a whole number of {self.unit}, at least 1. Got {text[:40]!r}.")
        return int(text)

    @property
    def advice(self) -> str:
        """Advice for a user whose file is intentionally above the limit."""
        return f"set {self.variable} to read more"


TABLE_BYTES = Bound("OBLIQUE_MAX_TABLE_BYTES", 1 << 30, "bytes")  # of a table that is read as a whole, uncompressed
TABLE_CELLS = Bound("OBLIQUE_MAX_TABLE_CELLS", 50_000_000, "cells")  # some four gigabytes of memory
STDIN_BYTES = Bound("OBLIQUE_MAX_STDIN_BYTES", 4 << 30, "bytes")  # stored in a temporary file
CONFIG_BYTES = Bound("OBLIQUE_MAX_CONFIG_BYTES", 1 << 18, "bytes")  # PyYAML reads about 300 kB a second
CONFIG_VALUES = Bound("OBLIQUE_MAX_CONFIG_VALUES", 50_000, "values")
FOLDS = Bound("OBLIQUE_MAX_FOLDS", 3_000_000, "folds")  # a job takes about 300 bytes
BOUNDS = (TABLE_BYTES, TABLE_CELLS, STDIN_BYTES, CONFIG_BYTES, CONFIG_VALUES, FOLDS)
