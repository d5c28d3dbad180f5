"""Linear-logistic models in the leaves of a tree: logistic model trees, simplified (Landwehr, Hall & Frank 2005).

The model of a leaf is a multinomial logistic regression of its rows. Its scores start from the logarithms of the leaf's
probabilities, which depend on the path to the leaf (tree/probabilities.py); what the rows add is penalized:

    minimize over b, W:  sum_i v_i (log sum_k exp f_k(x_i) - f_y(x_i)) + penalty / 2 (|b|^2 + |W|^2)
    f_k(x) = log q_k + b_k + W_k . z,   z: features standardized on the training rows of the tree

A leaf of few rows, or a large penalty, leaves the probabilities nearly unchanged; the minimum is always unique and
finite. Landwehr et al. boost the model of the parent by LogitBoost, whose number of steps acts as the penalty does
here, and prune by the errors of these models; here trees are pruned without regard to the models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.geometry import level_codes
from oblique_cli.tree.payloads import LeafModels, paired, squares, standardized
from oblique_cli.tree.probabilities import least_log_loss
from oblique_cli.tree.structure import Tree

Codes = NDArray[np.int32]
Rows = tuple[Array, Codes, Array | None]  # features (n, p), class codes (n,), weights (n,) or None

PENALTIES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)  # candidates for cross-validation
TOLERANCE = 1e-13  # convergence tolerance, for the loss of one row
LIGHT = 0.01  # rows that together have less than this share of the weight do not define the unit
TERMS = LINEAR, SQUARES, PAIRS = "linear", "squares", "pairs"  # of a model: features; squares too; products, hinges too
PARTS = "parts"  # features, and products and hinges, whose products have squares among them
NO_PAIRS: NDArray[np.int64] = np.empty((0, 2), dtype=np.int64)


class ModelColumns:
    """Columns of leaf models: quantitative features, their squares and products in standard deviations, and hinges and
    indicators of levels, standardized; no indicator for the first of two levels, nor for a level of all rows or none.
    levels : p counts, 0 for a quantitative feature; X : (n, p) training rows, NaN for missing; v : (n,) weights"""

    def __init__(self, levels: Sequence[int], X: Array, v: Array) -> None:
        self.levels = tuple(levels)
        self.center, self.scale = moments(levels, X, v)
        self.used = [j for j, count in enumerate(levels) if not count]
        # The square of a feature of two values adds no information.
        self.bent = [j for j in self.used if len(np.unique(X[:, j][~np.isnan(X[:, j])])) > 2]
        self.take_pairs(NO_PAIRS, *np.zeros((3, 0)))
        self._shown: list[tuple[int, int, int]] = []  # feature, code, and column of `LeafModels.level_coef`
        shares, begin = [], 0
        for j, count in enumerate(levels):
            codes = level_codes(X[:, j], count) if count else np.empty(0, dtype=np.intp)
            for level in range(int(count == 2), count):
                share = float(v[codes == level].sum() / v.sum())
                if 0.0 < share < 1.0:
                    self._shown.append((j, level, begin + level))
                    shares.append(share)
            begin += count
        self._mean = np.array(shares)
        self._deviation = np.sqrt(self._mean * (1.0 - self._mean))

    def take_pairs(self, pairs: NDArray[np.int64], knots: Array, means: Array, deviations: Array) -> None:
        """Take products and hinges as columns. pairs, knots : as of `LeafModels`; means, deviations : (P,) that
        standardize them"""
        self.pairs, self.knots, self._pair_mean, self._pair_deviation = pairs, knots, means, deviations

    def of(self, X: Array, terms: str) -> Array:
        """Return the columns of rows X (n, p): features, squares and pairs, as of `terms`, and levels; (n, q)."""
        z = standardized(X, self.center, self.scale)
        parts = [z[:, self.used]]
        if terms in (SQUARES, PAIRS):
            parts.append(squares(z[:, self.bent]))
        if terms in (PAIRS, PARTS):
            columns = paired(X, self.center, self.scale, self.pairs, self.knots)
            parts.append((columns - self._pair_mean) / self._pair_deviation)
        if self._shown:
            there = np.column_stack([X[:, j] == level for j, level, _ in self._shown])
            parts.append((there - self._mean) / self._deviation)
        return np.ascontiguousarray(np.hstack(parts))

    @property
    def indicators(self) -> tuple[list[int], Array, Array]:
        """Columns of `LeafModels.level_coef` with an indicator, and mean and standard deviation of each."""
        return [column for _, _, column in self._shown], self._mean, self._deviation

    def as_leaf_models(self, scores: Array, terms: str) -> LeafModels:
        """Return models as trees store them. scores : (n_nodes, C, q + 1) of the columns, then the intercept"""
        n_nodes, n_classes = scores.shape[:2]
        coef = np.zeros((n_nodes, n_classes, len(self.levels)))
        coef[:, :, self.used] = scores[:, :, : len(self.used)]
        curve, at = None, len(self.used)
        further: dict[str, Any] = {}
        if terms in (SQUARES, PAIRS):
            curve = np.zeros_like(coef)
            curve[:, :, self.bent] = scores[:, :, at : at + len(self.bent)]
            at += len(self.bent)
        intercept = scores[:, :, -1]
        if terms in (PAIRS, PARTS) and len(self.pairs):
            weights = scores[:, :, at : at + len(self.pairs)] / self._pair_deviation
            knots = self.knots if (self.pairs < 0).any() else None
            further = {"pairs": self.pairs, "pair_coef": weights, "knots": knots}
            intercept = intercept - weights @ self._pair_mean
            at += len(self.pairs)
        if not self._shown:
            return LeafModels(self.center, self.scale, coef, intercept, curve, **further)
        of_levels = np.zeros((n_nodes, n_classes, sum(self.levels)))
        of_levels[:, :, self.indicators[0]] = level_weights = scores[:, :, at:-1] / self._deviation
        intercept = intercept - level_weights @ self._mean
        return LeafModels(self.center, self.scale, coef, intercept, curve, of_levels, self.levels, **further)


def fitted_models(tree: Tree, X: Array, codes: Codes, weights: Array | None, penalty: float) -> LeafModels:
    """Return the models of a tree's leaves.
    X : (n, p) its training rows; weights : (n,) or None; penalty : > 0, in rows of weight `unit_of`"""
    v = np.ones(len(X)) if weights is None else weights / unit_of(weights)
    columns = ModelColumns(tree.levels, X, v)
    n_classes = tree.counts.shape[1]
    # No class has probability 0: the least share is that of one row among all.
    prior = np.maximum(np.nan_to_num(tree.shares), 1.0 / (tree.counts[0].sum() + n_classes))
    z, leaves = columns.of(X, LINEAR), tree.apply(X)
    scores = np.zeros((tree.n_nodes, n_classes, z.shape[1] + 1))
    scores[:, :, -1] = np.log(prior / prior.sum(axis=1, keepdims=True))
    for leaf in np.unique(leaves):
        rows = np.flatnonzero(leaves == leaf)
        of_leaf = (np.ascontiguousarray(z[rows]), codes[rows].astype(np.int32), v[rows])
        start = np.ascontiguousarray(scores[leaf, :, -1])
        scores[leaf] += np.asarray(_core.softmax_fit(*of_leaf, start, penalty, TOLERANCE))
    return columns.as_leaf_models(scores, LINEAR)


def best_penalty(folds: Iterable[tuple[Tree, Rows, Rows]]) -> float:
    """Return the penalty of `PENALTIES` with the least log loss on held-out rows, the first of equals.
    folds : a tree, its training rows and held-out rows, each as features, class codes and weights"""

    def shares_of(tree: Tree, grown_on: Rows, X: Array, leaves: NDArray[np.int32], penalty: float) -> Array:
        return fitted_models(tree, *grown_on, penalty=penalty).shares(X, leaves)

    of_folds = ((partial(shares_of, tree, rows, X, tree.apply(X)), *classes) for tree, rows, (X, *classes) in folds)
    return least_log_loss(PENALTIES, of_folds)


def unit_of(weights: Array) -> float:
    """Return the weight that counts as one row in penalties, so that whole weights equal repeated rows: the smallest
    weight, ignoring the lightest rows that together have less than a share LIGHT of all weight."""
    ordered = np.sort(weights)
    held = np.cumsum(ordered)
    return float(ordered[np.searchsorted(held, LIGHT * held[-1])])


def moments(levels: Sequence[int], X: Array, v: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation (p,) of each feature, 0 and 1 for qualitative ones, scale 1 for constants.
    levels : p counts, 0 for a quantitative feature; X : (n, p), NaN is ignored; v : (n,) weights"""
    known = ~np.isnan(X)
    # Each feature is scaled by a power of 2 near its largest number, so that squares do not overflow.
    power = np.frexp(np.where(known, np.abs(X), 0.0).max(axis=0))[1]
    X = np.ldexp(X, -power)
    total = np.maximum((v[:, None] * known).sum(axis=0), 1.0)
    center = (v[:, None] * np.where(known, X, 0.0)).sum(axis=0) / total
    deviation = np.where(known, X - center, 0.0)
    scale = np.sqrt((v[:, None] * deviation**2).sum(axis=0) / total)
    qualitative = np.array(levels) > 0
    # A spread within the rounding error of the mean counts as zero.
    constant = qualitative | ~(scale > 1e-12 * np.abs(center)) | ~(scale > 0.0)
    # A spread below the smallest positive number would be 0, a division by zero.
    spread = np.maximum(np.ldexp(scale, power), np.finfo(float).smallest_subnormal)
    return np.where(qualitative, 0.0, np.ldexp(center, power)), np.where(constant, 1.0, spread)
