"""Importances of the features of a hyperplane tree."""

from __future__ import annotations

import numpy as np

from oblique_cli.ground.arrays import Array
from oblique_cli.ground.nodes import spread_decreases
from oblique_cli.tree.structure import Tree


def ranges_of(X: Array) -> Array:
    """Return half the range of every column, ignoring NaN, 0 for a column of NaN only, (p,). X : (n, p)."""
    low = np.fmin.reduce(X, axis=0).astype(np.float64)
    high = np.fmax.reduce(X, axis=0).astype(np.float64)
    # Half of it, since the range of finite numbers may overflow.
    return np.where(np.isnan(low), 0.0, high / 2 - low / 2)


def gini_decreases_by_feature(tree: Tree, ranges: Array) -> Array:
    """Return the decrease of Gini impurity by feature, (p,): each node's decrease, weighted by its rows as in Breiman
    et al. (1984), is divided among its features by |coefficient| times range.
    ranges : (p,) of the training rows, in any common unit; of a qualitative feature that of its scores at the node"""
    totals = tree.counts.sum(axis=1)
    shares = tree.counts / totals[:, None]
    gains = spread_decreases(tree.parents, totals / totals[0], shares)
    out = np.zeros(tree.n_features)
    for node in np.flatnonzero(gains > 0):
        reach = np.abs(tree.coef_[node])
        spans = ranges.copy()
        for j, columns in tree.level_columns.items():
            spans[j] = np.ptp(tree.level_scores[node, columns]) / 2
        largest = float(spans[reach > 0].max())
        # A cut that separates missing values may use only features that are constant in the training rows.
        moved = reach * (spans / largest) if largest > 0 else reach
        out += gains[node] * moved / moved.sum()
    return out
