"""Linear-logistic models in the leaves of a tree: logistic model trees, simplified (Landwehr, Hall & Frank 2005).

The model of a leaf is a multinomial logistic regression of its rows. Its scores start from the logarithms of the leaf's
probabilities, which know the path to it (tree/probabilities.py), and what the rows add is penalized:

    minimize over b, W:  sum_i v_i (log sum_k exp f_k(x_i) - f_y(x_i)) + penalty / 2 (|b|^2 + |W|^2)
    f_k(x) = log q_k + b_k + W_k . z,   z: features standardized on the training rows of the tree

So a leaf of few rows, or a large penalty, leaves the probabilities as they are, and the minimum is unique and finite
whatever the rows. Landwehr et al. boost the model of the parent by LogitBoost, whose number of steps does what the
penalty does here, and prune by the errors of these models; here a tree is pruned as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.tree.payloads import LeafModels, standardized
from oblique_cli.tree.structure import Tree

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Rows = tuple[Array, Codes, Array | None]  # features (n, p), class codes (n,), weights (n,) or None

PENALTIES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)  # among which cross-validation chooses
LEAST = float(np.finfo(np.float64).eps)  # of a probability in a log loss
TOLERANCE = 1e-13  # of the loss of a row
LIGHT = 0.01  # share of the weight below which rows are no unit


def fitted_models(tree: Tree, X: Array, codes: Codes, weights: Array | None, penalty: float) -> LeafModels:
    """Return the models of a tree's leaves.

    X : (n, p) its training rows; weights : (n,) or None; penalty : > 0, in rows of weight `unit_of`
    """
    v = np.ones(len(X)) if weights is None else weights / unit_of(weights)
    center, scale = moments(tree.levels, X, v)
    n_classes = tree.counts.shape[1]
    # No class is taken for impossible: the least share is that of one row among all.
    prior = np.maximum(np.nan_to_num(tree.shares), 1.0 / (tree.counts[0].sum() + n_classes))
    intercept = np.log(prior / prior.sum(axis=1, keepdims=True))
    coef = np.zeros((tree.n_nodes, n_classes, tree.n_features))
    z, leaves = standardized(X, center, scale), tree.apply(X)
    used = [j for j in range(tree.n_features) if not tree.levels[j]]
    for leaf in np.unique(leaves):
        rows = np.flatnonzero(leaves == leaf)
        of_leaf = (np.ascontiguousarray(z[rows][:, used]), codes[rows].astype(np.int32), v[rows])
        found = np.asarray(_core.softmax_fit(*of_leaf, np.ascontiguousarray(intercept[leaf]), penalty, TOLERANCE))
        intercept[leaf] += found[:, -1]
        coef[leaf][:, used] = found[:, :-1]
    return LeafModels(center, scale, coef, intercept)


def best_penalty(folds: Iterable[tuple[Tree, Rows, Rows]]) -> float:
    """Return the penalty of `PENALTIES` with the least log loss on rows that trees have not seen; the first of equals.

    folds : a tree, the rows it was grown on and rows it was not grown on, each as features, class codes and weights
    """
    losses = np.zeros(len(PENALTIES))
    for tree, grown_on, (X, codes, weights) in folds:
        leaves = tree.apply(X)
        for i, penalty in enumerate(PENALTIES):
            shares = fitted_models(tree, *grown_on, penalty=penalty).shares(X, leaves)[np.arange(len(X)), codes]
            each = -np.log(np.maximum(shares, LEAST))
            losses[i] += each.sum() if weights is None else each @ weights
    return PENALTIES[int(np.argmin(losses))]


def unit_of(weights: Array) -> float:
    """Return the weight of the row in which penalties are counted: the lightest, those of next to no weight left out.

    Rows that are no heavier hold at least LIGHT of all weight. So penalties do not depend on the scale of the weights,
    whole weights are as good as repeated rows, and one very light row does not make all penalties weak.
    """
    ordered = np.sort(weights)
    held = np.cumsum(ordered)
    return float(ordered[np.searchsorted(held, LIGHT * held[-1])])


def moments(levels: Sequence[int], X: Array, v: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation (p,) of each feature; scale 1 for constants and qualitative features.

    levels : p counts, 0 for a quantitative feature; X : (n, p), NaN is left out; v : (n,) weights
    """
    known = ~np.isnan(X)
    # Each feature in a power of 2 near its largest number, whose square is then a number.
    power = np.frexp(np.where(known, np.abs(X), 0.0).max(axis=0))[1]
    X = np.ldexp(X, -power)
    total = np.maximum((v[:, None] * known).sum(axis=0), 1.0)
    center = (v[:, None] * np.where(known, X, 0.0)).sum(axis=0) / total
    deviation = np.where(known, X - center, 0.0)
    scale = np.sqrt((v[:, None] * deviation**2).sum(axis=0) / total)
    qualitative = np.array(levels) > 0
    # A spread that is rounding of the mean is none.
    constant = qualitative | ~(scale > 1e-12 * np.abs(center)) | ~(scale > 0.0)
    # A spread below the least number there is would be 0, by which nothing can be divided.
    spread = np.maximum(np.ldexp(scale, power), np.finfo(float).smallest_subnormal)
    return np.where(qualitative, 0.0, np.ldexp(center, power)), np.where(constant, 1.0, spread)
