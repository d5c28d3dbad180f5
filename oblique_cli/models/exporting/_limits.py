"""The limits of sets and intervals, as formats write them (docs/guarantees.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oblique_cli.estimators.conformal_limits import APS
from oblique_cli.models.exporting._exporter import Source


@dataclass(frozen=True)
class Limits:
    """Limits of sets of classes, or of intervals.

    rows      limits of each of `leaves` and, last, of any other leaf: a number for each class, or (below, above)
    by_sums   whether running sums must not exceed the limit, in place of shares that must reach it
    promise   the guarantee for new rows
    """

    rows: tuple[tuple[float, ...], ...]
    leaves: tuple[int, ...]
    by_sums: bool
    promise: str

    def at(self, leaf: int) -> tuple[float, ...]:
        """Return the limits in a leaf."""
        return self.rows[self.leaves.index(leaf) if leaf in self.leaves else -1]

    def labels(self, source: Source, shares: tuple[float, ...], leaf: int) -> list[str]:
        """Return the classes in the set of a row with these shares."""
        assert source.model.guarantee is not None
        (members,) = source.model.guarantee.sets(np.array([shares]), np.array([leaf]))
        return [label for label, inside in zip(source.procedure.classes, members, strict=True) if inside]


def limits_of(source: Source) -> Limits | None:
    """Return the limits of a model, None for one without a guarantee."""
    guarantee = source.model.guarantee
    if guarantee is None:
        return None
    width = 2 if source.procedure.is_regression else len(source.procedure.classes)
    rows = tuple(row if len(row) == width else row * width for row in guarantee.limits)
    promise = f"for {100 * guarantee.coverage:g} % of new rows, by {guarantee.rows} rows that were not learned from"
    return Limits(rows, guarantee.leaves, guarantee.name == APS, promise)
