"""Quantiles of a regression tree's leaves: those of the residuals of their training rows.

A leaf with a constant predicts the quantiles of its training targets, as quantile regression trees do (Chaudhuri & Loh
2002; forests: Meinshausen 2006); a linear leaf adds the quantiles of its residuals to its model. The residuals are
those of the rows the leaf was fitted to, so nothing is guaranteed for new rows (conformal intervals:
docs/guarantees.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Array
from oblique_cli.tree.structure import Tree


@dataclass(frozen=True, eq=False)
class LeafResiduals:
    """Targets minus predictions of the training rows, by leaf.
    starts : (n_nodes + 1,) int64, where each node's values begin, and the end; values : (n,) ascending in each node"""

    starts: NDArray[np.int64]
    values: Array

    @classmethod
    def of(cls, tree: Tree, X: Array, y: Array) -> LeafResiduals:
        """Return the residuals of rows X (n, p) with targets y (n,)."""
        leaves, residuals = tree.apply(X), y - tree.predicted(X)
        order = np.lexsort((residuals, leaves))
        starts = np.searchsorted(leaves[order], np.arange(tree.n_nodes + 1)).astype(np.int64)
        return cls(starts, residuals[order])

    def check(self, n_nodes: int) -> None:
        """Raise ValueError unless these are residuals of a tree of `n_nodes` nodes."""
        ends = self.starts[:1].tolist() + self.starts[-1:].tolist()
        if len(self.starts) != n_nodes + 1 or ends != [0, len(self.values)] or (np.diff(self.starts) < 0).any():
            raise ValueError("starts of leaf_residuals_ must rise from 0 to the number of values, one more than nodes")

    def quantiles(self, leaves: NDArray[np.int32], q: Array) -> Array:
        """Return the quantiles q (k,) of residuals in leaves (n,), (n, k), linear between two rows as in
        `numpy.quantile`, NaN in a leaf that no training row reached."""
        quantiles = np.full((len(leaves), len(q)), np.nan)
        for leaf in np.unique(leaves):
            residuals = self.values[self.starts[leaf] : self.starts[leaf + 1]]
            if len(residuals):
                quantiles[leaves == leaf] = np.quantile(residuals, q)
        return quantiles


def shares_of(q: ArrayLike | Sequence[float]) -> Array:
    """Return the requested quantiles, (k,); ConfigError unless they are rising shares from 0 to 1."""
    try:
        shares = np.atleast_1d(np.asarray(q, dtype=np.float64))
    except (TypeError, ValueError):
        shares = np.empty(0)
    rising = shares.ndim == 1 and len(shares) > 0 and bool((np.diff(shares) > 0).all())
    if not (rising and (shares >= 0.0).all() and (shares <= 1.0).all()):
        raise ConfigError(f"quantiles must be rising shares from 0 to 1, such as 0.1, 0.5, 0.9. Got {q!r}.")
    return shares


def quantiles_of(tree: Tree, residuals: LeafResiduals | None, X: Array, q: ArrayLike | Sequence[float]) -> Array:
    """Return the quantiles of the target for rows, (n, k). X : (n, p); residuals : of the tree, ConfigError for None"""
    shares = shares_of(q)
    if tree.equations.n_outputs > 1:
        raise ConfigError("quantiles are those of one output; fit a tree to each column of y.")
    if residuals is None:
        raise ConfigError(
            "this model kept no residuals of its leaves; fit it with leaf_residuals, as by --set leaf_residuals=true."
        )
    return np.asarray(tree.predicted(X)[:, None] + residuals.quantiles(tree.apply(X), shares))
