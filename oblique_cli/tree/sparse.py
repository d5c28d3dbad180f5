"""Fewer terms in the hyperplanes of a finished tree, for people to read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.tree.structure import Tree, TreeBuilder, lacking

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

# A gap between two sums must be wider than this share of their range, so that prediction, which may round otherwise
# than a matrix product, finds rows on the side where they were counted.
LEAST_GAP = 1e-9


class SparseTree(NamedTuple):
    """A tree with fewer terms. terms_before, terms_after : in all splits together"""

    tree: Tree
    terms_before: int
    terms_after: int


# What a single split may lose of its decrease of impurity, as it is tried until the whole tree is right enough.
LOSSES = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005)


def simplified(tree: Tree, X: Array, y: Ints, tolerance: float = 0.0, weights: Array | None = None) -> SparseTree:
    """Return the tree of the fewest terms, made by `sparsified`, that is about as right on training rows.

    X : (n, p) training rows, NaN where a value is missing; y : (n,) class codes; weights : (n,) or None
    tolerance : share of the weight of all rows that may be wrong in addition, from 0 to 1; 0 keeps each row on its side

    What each split may lose is one of `LOSSES`, the same throughout the tree, or nothing.
    """
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)

    def right(found: Tree) -> float:
        return float(weights[found.labels[found.apply(X)] == y].sum())

    best = sparsified(tree, X, y, 0.0, weights)
    least = right(tree) - tolerance * float(weights.sum())
    for loss in LOSSES if tolerance > 0.0 else ():
        found = sparsified(tree, X, y, loss, weights)
        if right(found.tree) >= least and found.terms_after < best.terms_after:
            best = found
    return best


def sparsified(tree: Tree, X: Array, y: Ints, loss: float = 0.0, weights: Array | None = None) -> SparseTree:
    """Return the tree with terms dropped from its splits, from the root down.

    X, y, weights : as in `simplified`
    loss : share of a split's decrease of Gini impurity that may go, from 0 to 1

    At a node, terms are tried from the smallest, by |coefficient| times the standard deviation of the feature at the
    node (of a qualitative feature, of its scores). First a term goes if some threshold leaves every training row of the
    node on its side. Then, with a loss above 0, a term goes if the best threshold without it keeps at least 1 - loss of
    the decrease of impurity that the full split had. The coefficients that stay keep their
    proportions, and the threshold is the middle of the gap. A row may then arrive at other nodes than before: counts
    are those of the training rows as the new tree sends them, and a split that sends all rows of its node one way is
    dropped with what is below it on the other.
    """
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    n_classes = tree.counts.shape[1]
    builder = TreeBuilder(tree.n_features, n_classes, tree.levels, tree.missing_left is not None)

    def add(rows: NDArray[np.intp]) -> int:
        return builder.add(np.bincount(y[rows], weights[rows], n_classes).astype(np.float64), len(rows))

    everything = np.arange(len(y))
    stack = [(0, add(everything), everything)]
    after = 0
    while stack:
        old, new, rows = stack.pop()
        if tree.is_leaf[old] or len(np.unique(y[rows])) < 2:
            continue
        coef, threshold, goes_left = _lighter(tree, old, X[rows], y[rows], weights[rows], n_classes, loss)
        if goes_left.all() or not goes_left.any():
            # The node is as if it were the child that takes its rows.
            stack.append((int(tree.left[old] if goes_left.all() else tree.right[old]), new, rows))
            continue
        after += int(np.count_nonzero(coef))
        parts = rows[goes_left], rows[~goes_left]
        ids = [add(part) for part in parts]
        missing_left = tree.missing_left is not None and bool(tree.missing_left[old])
        gain = float(tree.gains[old])
        builder.split(new, coef, threshold, gain, ids[0], ids[1], tree.level_scores[old], missing_left)
        stack += [(int(tree.right[old]), ids[1], parts[1]), (int(tree.left[old]), ids[0], parts[0])]
    return SparseTree(builder.finish(), int(np.count_nonzero(tree.coef_)), after)


def _lighter(
    tree: Tree, node: int, X: Array, y: Ints, weights: Array, n_classes: int, loss: float
) -> tuple[Array, float, NDArray[np.bool_]]:
    """The hyperplane of a node with fewer terms, its threshold, and which rows it sends left."""
    coef, threshold = tree.coef_[node].copy(), float(tree.thresholds[node])
    values = scored(tree, node, X)
    to_left = tree.missing_left is not None and bool(tree.missing_left[node])
    goes_left = _goes_left(coef, threshold, X, values, to_left)
    used = np.flatnonzero(coef)
    if len(used) < 2:
        return coef, threshold, goes_left
    spread = np.abs(coef[used]) * np.nan_to_num(values[:, used]).std(axis=0)
    order = used[np.argsort(spread, kind="stable")].tolist()
    full = decrease(goes_left, y, weights, n_classes)
    for exact in (True, False) if loss > 0.0 else (True,):
        for j in order:
            if coef[j] == 0.0 or np.count_nonzero(coef) < 2:
                continue
            fewer = coef.copy()
            fewer[j] = 0.0
            absent = lacking(X, fewer)
            sums = np.where(absent, 0.0, values @ fewer)
            found = (
                _separating(sums, goes_left, absent, to_left)
                if exact
                else _best(sums, y, weights, n_classes, absent, to_left, (1.0 - loss) * full)
            )
            if found is not None:
                coef, threshold = fewer, found
                goes_left = _goes_left(coef, threshold, X, values, to_left)
    length = float(np.linalg.norm(coef))
    return coef / length, threshold / length, goes_left


def scored(tree: Tree, node: int, X: Array) -> Array:
    """Return the rows with the scores of a node in place of level codes, missing values as 0. X : (n, p)"""
    values = np.array(X, dtype=np.float64)
    for j, columns in tree.level_columns.items():
        scores = tree.level_scores[node, columns]
        codes = np.where(np.isfinite(values[:, j]), values[:, j], -1.0)
        known = (codes >= 0) & (codes < len(scores)) & (codes == np.floor(codes))
        values[:, j] = np.where(known, scores[np.where(known, codes, 0).astype(np.int64)], 0.0)
    return np.nan_to_num(values, nan=0.0)


def decrease(goes_left: NDArray[np.bool_], y: Ints, weights: Array, n_classes: int) -> float:
    """Return how much of the weighted Gini impurity of rows goes by dividing them."""

    def squares(side: NDArray[np.bool_]) -> float:
        counts = np.bincount(y[side], weights[side], n_classes)
        total = counts.sum()
        return float(counts @ counts / total) if total > 0 else 0.0

    return squares(goes_left) + squares(~goes_left) - squares(np.ones(len(y), dtype=np.bool_))


def _goes_left(coef: Array, threshold: float, X: Array, values: Array, to_left: bool) -> NDArray[np.bool_]:
    absent = lacking(X, coef)
    return np.where(absent, to_left, values @ coef <= threshold)


def _separating(sums: Array, goes_left: NDArray[np.bool_], absent: NDArray[np.bool_], to_left: bool) -> float | None:
    """A threshold that leaves every row on its side, or None."""
    if (goes_left[absent] != to_left).any():
        return None
    left, right = sums[goes_left & ~absent], sums[~goes_left & ~absent]
    if not len(left) or not len(right):
        return None
    below, above = float(left.max()), float(right.min())
    scale = max(float(sums.max() - sums.min()), abs(below), abs(above))
    return _middle(below, above) if above - below > LEAST_GAP * scale else None


def _best(
    sums: Array,
    y: Ints,
    weights: Array,
    n_classes: int,
    absent: NDArray[np.bool_],
    to_left: bool,
    least: float,
) -> float | None:
    """The threshold of the largest decrease of impurity, the lowest of equal ones, or None if that is below `least`."""
    known = np.flatnonzero(~absent)
    if len(known) < 2:
        return None
    order = known[np.argsort(sums[known], kind="stable")]
    ordered = sums[order]
    block = np.bincount(y[absent], weights[absent], n_classes).astype(np.float64)
    each = np.zeros((len(order), n_classes))
    each[np.arange(len(order)), y[order]] = weights[order]
    total = each.sum(axis=0) + block
    left = np.cumsum(each, axis=0)[:-1] + (block if to_left else 0.0)
    right = total - left
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = (left**2).sum(axis=1) / left.sum(axis=1) + (right**2).sum(axis=1) / right.sum(axis=1)
    scale = max(float(ordered[-1] - ordered[0]), abs(float(ordered[0])), abs(float(ordered[-1])))
    scores[~(np.diff(ordered) > LEAST_GAP * scale)] = -np.inf
    best = int(np.argmax(scores >= scores.max() - 1e-9 * abs(scores.max()))) if np.isfinite(scores.max()) else -1
    if best < 0 or scores[best] - float(total @ total / total.sum()) < least:
        return None
    return _middle(float(ordered[best]), float(ordered[best + 1]))


def _middle(below: float, above: float) -> float:
    """A number between two, the lower one where rounding would give the upper."""
    middle = below + (above - below) / 2.0
    return middle if middle < above else below
