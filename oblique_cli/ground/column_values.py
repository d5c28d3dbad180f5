"""The numbers of a column in the training rows: their range, and a histogram that discloses no single row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from oblique_cli.ground.arrays import Array

BINS = 30  # most bins of a histogram


@dataclass(frozen=True)
class ColumnValues:
    """Range and histogram of the numbers of a column.

    low, high : least and largest number; whole : whether all numbers are integers
    counts : rows in bins of `width`, the first of which begins at `start`; () if unknown"""

    low: float
    high: float
    whole: bool = False
    counts: tuple[int, ...] = ()

    @property
    def start(self) -> float:
        """Lower end of the first bin; the bin of an integer has the integer in its middle."""
        return self.low - 0.5 if self.whole else self.low

    @property
    def width(self) -> float:
        """Width of a bin; bins of integers hold the same number of integers each."""
        return float(np.ceil((self.high - self.low + 1) / BINS)) if self.whole else (self.high - self.low) / BINS

    @classmethod
    def of(cls, numbers: Array) -> ColumnValues | None:
        """Return the values of a column, (n,) without NaN; None if the column has no finite range."""
        if not len(numbers):
            return None
        low, high = float(numbers.min()), float(numbers.max())
        if not np.isfinite(high - low):
            return None
        values = cls(low, high, bool((numbers == np.round(numbers)).all()))
        if not values.width > 0.0:
            return values
        bins = np.clip((numbers - values.start) // values.width, 0, BINS - 1).astype(np.int64)
        return cls(low, high, values.whole, tuple(np.bincount(bins).tolist()))

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], whole: bool) -> ColumnValues | None:
        """Return the values from the facts of a model file on a column; None for a column without a range."""
        if "least" not in facts:
            return None
        return cls(float(facts["least"]), float(facts["most"]), whole, tuple(map(int, facts.get("histogram", ()))))

    def plain(self) -> dict[str, Any]:
        """Return the facts of the column, as `of_facts` takes them."""
        return {"least": self.low, "most": self.high, **({"histogram": list(self.counts)} if self.counts else {})}
