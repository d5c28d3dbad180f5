"""Cost-complexity pruning of regression trees (Breiman et al. 1984, sections 8.5 and 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from oblique_cli.tree.pruning import PruningPath, complexity_path
from oblique_cli.tree.regression_tree import RegressionTree

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

Grown = Callable[[Rows], RegressionTree]


def path_of(tree: RegressionTree) -> PruningPath:
    """Return the weakest-link sequence: R(t) is the residual sum of a node as a share of the root's."""
    total = float(tree.rss[0])
    # A model of more parameters never leaves more error, but for rounding.
    errors = np.maximum(tree.rss, 0.0) / total if total > 0.0 else np.zeros(tree.n_nodes)
    return complexity_path(tree.splits, errors)


def squared_errors(tree: RegressionTree, path: PruningPath, alphas: Array, X: Array, y: Array) -> Array:
    """Return the squared error of every row under every T(alpha). alphas : (m,) rising; returns (n, m)."""
    stops = tree.splits.apply_limits(X, alphas, path.node_alpha)
    return np.column_stack([(tree.at(nodes, X) - y) ** 2 for nodes in np.asarray(stops).T])


def cross_validated(
    tree: RegressionTree, X: Array, y: Array, parts: Sequence[Rows], grown: Grown, standard_errors: float
) -> RegressionTree:
    """Return the member of the tree's sequence that cross-validation chooses by the c-SE rule (`chosen_alpha`)."""
    alpha = chosen_alpha(tree, X, y, parts, grown, standard_errors)
    return tree if alpha == -np.inf else tree.collapse(path_of(tree).node_alpha <= alpha)


def chosen_alpha(
    tree: RegressionTree, X: Array, y: Array, parts: Sequence[Rows], grown: Grown, standard_errors: float
) -> float:
    """Return the complexity that cross-validation chooses by the c-SE rule, -inf for the tree as grown.

    parts : rows left out by each fold, none in two; grown : rows -> the tree of these rows

    The trees of the folds are cut at the geometric mean of neighboring complexities of the main tree. The standard
    error is that of the mean squared error over all rows.
    """
    path = path_of(tree)
    if len(path.alphas) < 2 or len(parts) < 2:
        return -np.inf
    positive = np.maximum(path.alphas, 0.0)
    cuts = np.append(np.sqrt(positive[:-1] * positive[1:]), np.inf)
    every = np.arange(len(y))
    errors = np.concatenate(
        [squared_errors(part := grown(np.setdiff1d(every, out)), path_of(part), cuts, X[out], y[out]) for out in parts]
    )
    means = errors.mean(axis=0)
    best = int(np.flatnonzero(means <= means.min())[-1])
    error_of_mean = float(errors[:, best].std(ddof=1)) / np.sqrt(len(errors))
    chosen = int(np.flatnonzero(means <= means[best] + standard_errors * error_of_mean)[-1])
    return float(path.alphas[chosen])
