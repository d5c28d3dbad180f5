"""Discretization of number columns, learned from training rows: the domain of trees over discrete features.

Fayyad and Irani (1993), "Multi-interval discretization of continuous-valued attributes for classification learning",
for the cuts that the minimum description length principle accepts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, Integer
from oblique_cli.papers.discrete.domain import entropy
from oblique_cli.parameters import Declared, parameter

Ints = NDArray[np.int64]

METHODS = ("mdl", "quantile", "none")


@dataclass(frozen=True)
class Column:
    """Coding of one column.

    levels : its values, ascending; of a column of words the positions of its levels
    cuts   : upper ends of bins, each included in its bin; used if there are no levels
    usual  : most frequent code of the training rows
    """

    levels: Array
    cuts: Array
    usual: int

    @property
    def cardinality(self) -> int:
        """Number of codes, at least 1."""
        return max(len(self.levels), len(self.cuts) + 1)

    def code(self, values: Array, spread: bool = False) -> Ints:
        """Return the codes of values, (n,). spread : whether NaN and other values than `levels` get -1, not `usual`"""
        if len(self.levels):
            at = np.minimum(np.searchsorted(self.levels, values), len(self.levels) - 1)
            known = self.levels[at] == values
        else:
            at = np.searchsorted(self.cuts, values)
            known = ~np.isnan(values)
        return np.where(known, at, -1 if spread else self.usual).astype(np.int64)

    def names(self) -> list[str]:
        """Return the meaning of each code as text behind the feature's name: "= 2", "<= 3.5", "in (3.5, 7]"."""
        if len(self.levels):
            return [f"= {level:.10g}" for level in self.levels]
        if len(self.cuts) == 0:
            return ["is anything"]
        ends = [f"{cut:.6g}" for cut in self.cuts]
        between = [f"in ({low}, {high}]" for low, high in itertools.pairwise(ends)]
        return [f"<= {ends[0]}", *between, f"> {ends[-1]}"]


class Bins(Declared):
    """Parameters of the coding of columns, for any method of cutting."""

    n_bins: int = parameter(default=4, allowed=Integer(2), help='Bins of "quantile"; fewer where values repeat.')
    max_levels: int = parameter(
        default=10,
        allowed=Integer(1),
        help="A column of at most this many different whole numbers is taken as it is, each number a level.",
    )


class Discretizer(Bins, BaseEstimator, kw_only=True):
    """What columns of numbers become, as an object with scikit-learn's parameters."""

    method: str = parameter(
        default="mdl",
        allowed=Choice(METHODS),
        kw_only=False,
        help='For columns that are not levels: "mdl" cuts by class entropy as long as it pays, "quantile" into bins of '
        'equally many training rows, "none" refuses them. Cuts are learned from the rows of `fit`.',
    )

    def learn(
        self, X: Array, y: NDArray[np.integer], n_classes: int, counts: Mapping[int, int] = MappingProxyType({})
    ) -> tuple[Column, ...]:
        """Return the coding of each column. X : (n, p), NaN for missing; y : (n,) class codes.

        counts : number of levels of each column of words, which has the positions of its levels"""
        return tuple(
            _with_usual(Column(np.arange(float(counts[j])), np.zeros(0), 0), column[~np.isnan(column)])
            if counts.get(j)
            else self._column(j, column, y, n_classes)
            for j, column in enumerate(X.T)
        )

    def _column(self, j: int, values: Array, y: NDArray[np.integer], n_classes: int) -> Column:
        there = ~np.isnan(values)
        known, classes = values[there], y[there]
        distinct = np.unique(known)
        if len(distinct) == 0:
            return Column(np.zeros(0), np.zeros(0), 0)
        if len(distinct) <= self.max_levels and (distinct == np.round(distinct)).all():
            return _with_usual(Column(distinct, np.zeros(0), 0), known)
        if self.method == "none":
            raise ConfigError(
                f"column {j} has {len(distinct)} different values, which discretization 'none' leaves as they are; set "
                "discretization to mdl or quantile, or raise max_levels if they are levels."
            )
        cuts = quantile_cuts(known, self.n_bins) if self.method == "quantile" else mdl_cuts(known, classes, n_classes)
        return _with_usual(Column(np.zeros(0), cuts, 0), known)


def coded(X: Array, columns: tuple[Column, ...], spread: Container[int] = ()) -> Ints:
    """Return the codes of rows, (n, p). spread : columns whose unknown values get -1, as in `Column.code`"""
    each = enumerate(zip(columns, X.T, strict=True))
    return np.stack([column.code(values, j in spread) for j, (column, values) in each], axis=1)


def _with_usual(column: Column, known: Array) -> Column:
    return Column(column.levels, column.cuts, int(np.argmax(np.bincount(column.code(known)))))


def quantile_cuts(values: Array, n_bins: int) -> Array:
    """Return at most n_bins - 1 cuts, halfway between neighboring values, that divide rows as evenly as possible."""
    distinct, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts)[:-1] / len(values)  # share of rows up to each gap
    wanted = np.arange(1, n_bins) / n_bins
    if len(below) == 0:
        return np.zeros(0)
    gaps = np.unique(np.argmin(np.abs(below[None] - wanted[:, None]), axis=1))
    return _halfway(distinct, gaps)


def mdl_cuts(values: Array, y: NDArray[np.integer], n_classes: int) -> Array:
    """Return the cuts that the minimum description length principle accepts, ascending. A set is cut where the class
    entropy after it is least (the lowest such value), if the gain exceeds (log2(N - 1) + log2(3^k - 2) - (k E - k1 E1 -
    k2 E2)) / N, and both parts are cut likewise."""
    distinct, place = np.unique(values, return_inverse=True)
    table = np.zeros((len(distinct), n_classes))
    np.add.at(table, (place, y), 1.0)
    gaps: list[int] = []
    stack = [(0, len(distinct))]
    while stack:
        first, last = stack.pop()
        gap = _accepted(table[first:last])
        if gap is not None:
            gaps.append(first + gap)
            stack += [(first, first + gap + 1), (first + gap + 1, last)]
    return _halfway(distinct, np.array(sorted(gaps), dtype=np.int64))


def _accepted(table: Array) -> int | None:
    """Return the number of values before the best cut, less 1; None without one. table : (values, classes)."""
    if len(table) < 2:
        return None
    total = table.sum(axis=0)
    below = np.cumsum(table, axis=0)[:-1]
    above = total - below
    n, n_below, n_above = total.sum(), below.sum(axis=1), above.sum(axis=1)
    e, e_below, e_above = entropy(total / n), entropy(below / n_below[:, None]), entropy(above / n_above[:, None])
    after = (n_below * e_below + n_above * e_above) / n
    best = int(np.argmax(after <= after.min() + 1e-12))
    k, k_below, k_above = (int((counts > 0).sum()) for counts in (total, below[best], above[best]))
    delta = math.log2(3.0**k - 2.0) - (k * e - k_below * e_below[best] - k_above * e_above[best])
    return best if e - after[best] > (math.log2(max(n - 1.0, 1.0)) + delta) / n else None


def _halfway(distinct: Array, gaps: Ints) -> Array:
    low, high = distinct[gaps], distinct[gaps + 1]
    middle = 0.5 * low + 0.5 * high
    # Two neighboring floats have no number between them: the lower one is the cut, and belongs below.
    return np.where(middle < high, middle, low)
