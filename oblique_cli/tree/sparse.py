"""Removal of terms from the hyperplanes of a finished tree, to make it easier to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import DataError
from oblique_cli.ground.arrays import Array, Ints
from oblique_cli.ground.geometry import gap_middle, level_codes
from oblique_cli.tree.structure import Tree, TreeBuilder, lacking

# A gap between two sums must be wider than this share of their range, so that prediction, which may round unlike a
# matrix product, finds rows on the side where they were counted.
LEAST_GAP = 1e-9

NEAR = 64  # rows on each side that are tried first
EXACT_EVERY = 64  # number of removed terms after which a sum is recomputed


class SparseTree(NamedTuple):
    """Tree with fewer terms. terms_before, terms_after : in all splits together"""

    tree: Tree
    terms_before: int
    terms_after: int


@dataclass(frozen=True)
class Light:
    """Terms that a display of a tree's splits can omit: without them no training row changes its side.
    pairs : (first, second) feature of two indicators, the first 1 minus the second; cuts : node -> threshold and
    omitted features, after the first feature of each pair is expressed by the second"""

    pairs: tuple[tuple[int, int], ...]
    cuts: Mapping[int, tuple[float, tuple[int, ...]]]

    @classmethod
    def of(cls, tree: Tree, X: Array, pairs: Sequence[tuple[int, int]] = ()) -> Light:
        """Return the terms that the training rows X (n, p), NaN if missing, do not need, tried from the smallest as in
        `sparsified` without a loss at each node that sends rows both ways.
        pairs : as in `Light`; a pair stays two features if some row has neither or both indicators"""
        pairs = tuple(pair for pair in pairs if (X[:, list(pair)].sum(axis=1) == 1.0).all())
        merged = _merged(tree, pairs)
        arrived = arrivals(tree, X)
        cuts: dict[int, tuple[float, tuple[int, ...]]] = {}
        on_left = np.zeros(len(X), dtype=np.bool_)
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            rows = arrived[node]
            on_left[rows] = False
            on_left[arrived[tree.left[node]]] = True
            goes_left = on_left[rows]
            if len(rows) and goes_left.any() and not goes_left.all():
                coef, threshold = _without_idle_terms(merged, node, X[rows], goes_left)
                gone = np.flatnonzero((merged.coef_[node] != 0.0) & (coef == 0.0)).tolist()
                if gone:
                    cuts[node] = (threshold, tuple(gone))
        return cls(pairs, cuts)

    def tree(self, tree: Tree) -> Tree:
        """Return the tree with the same nodes and fewer terms, its normals rescaled to length 1."""
        merged = _merged(tree, self.pairs)
        coef, thresholds = merged.coef_.copy(), merged.thresholds.copy()
        for node, (threshold, gone) in self.cuts.items():
            coef[node, list(gone)] = 0.0
            thresholds[node] = threshold
        changed = np.flatnonzero((coef != tree.coef_).any(axis=1))
        lengths = np.linalg.norm(coef[changed], axis=1)
        coef[changed] /= lengths[:, None]
        thresholds[changed] /= lengths
        return tree.changed(coef=coef, thresholds=thresholds)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for the facts of a model file: a few bytes for each omitted term."""
        cuts = [[node, threshold, list(gone)] for node, (threshold, gone) in self.cuts.items()]
        return {"pairs": [list(pair) for pair in self.pairs], "cuts": cuts}

    @classmethod
    def from_plain(cls, plain: Any, tree: Tree) -> Light:
        """Return the inverse of `to_plain`; DataError if the data do not fit this tree."""
        try:
            pairs = tuple((_index(a, tree.n_features), _index(b, tree.n_features)) for a, b in plain["pairs"])
            if any(a == b or {a, b} & set(tree.level_columns) for a, b in pairs):
                raise ValueError("a pair must be two numbers")
            merged = _merged(tree, pairs)
            cuts = {}
            for node, threshold, gone in plain["cuts"]:
                used = set(np.flatnonzero(merged.coef_[_index(node, tree.n_nodes)]).tolist())
                left_out = tuple(_index(j, tree.n_features) for j in gone)
                if not (isinstance(threshold, float | int) and np.isfinite(threshold) and set(left_out) < used):
                    raise ValueError("a cut must leave a term and have a threshold")
                cuts[node] = (float(threshold), left_out)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise DataError(
                "what the model leaves out of its splits (facts.sparse) does not fit its tree: fit the model again."
            ) from None
        return cls(pairs, cuts)


def idle_terms(tree: Tree, light: Tree) -> tuple[str, ...]:
    """Return notes on the terms that a light tree omits, () if there are none."""
    before, after = (int(np.count_nonzero(each_tree.coef_)) for each_tree in (tree, light))
    if before == after:
        return ()
    gone = f"{before - after} of {before} terms move no training row and are not shown"
    return (f"{gone}: --full shows them, and they count for new rows.",)


def _index(value: Any, count: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise ValueError("a place is out of range")
    return value


def _merged(tree: Tree, pairs: Sequence[tuple[int, int]]) -> Tree:
    """Return the tree with the first of each pair expressed by the second: a (1 - x) + b x = a + (b - a) x."""
    coef, thresholds = tree.coef_.copy(), tree.thresholds.copy()
    for first, second in pairs:
        # If only the second had a term and it vanished, the split would have none.
        here = (coef[:, first] != 0.0) & (coef[:, first] != coef[:, second])
        thresholds[here] -= coef[here, first]
        coef[here, second] -= coef[here, first]
        coef[here, first] = 0.0
    return tree.changed(coef=coef, thresholds=thresholds) if len(pairs) else tree


def arrivals(tree: Tree, X: Array) -> list[NDArray[np.intp]]:
    """Return the rows of X (n, p) that arrive at each node, in their order."""
    leaves = tree.apply(X)
    order = np.argsort(leaves, kind="stable")
    rows_at: list[NDArray[np.intp]] = [np.arange(0)] * tree.n_nodes
    there, starts = np.unique(leaves[order], return_index=True)
    for leaf, part in zip(there.tolist(), np.split(order, starts[1:]), strict=True):
        rows_at[leaf] = part
    for node in range(tree.n_nodes - 1, -1, -1):
        if not tree.is_leaf[node]:
            rows_at[node] = np.sort(np.concatenate([rows_at[tree.left[node]], rows_at[tree.right[node]]]))
    return rows_at


# Candidate losses of a single split's impurity decrease; one is chosen so that the whole tree is accurate enough.
LOSSES = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005)


def simplified(tree: Tree, X: Array, y: Ints, tolerance: float = 0.0, weights: Array | None = None) -> SparseTree:
    """Return the tree of fewest terms by `sparsified`, over the losses in `LOSSES` and none, that is accurate enough on
    training rows.
    X : (n, p), NaN if missing; y : (n,) class codes; weights : (n,) or None; tolerance : share of the weight, 0 to 1,
    that may be wrong in addition; 0 keeps each row on its side"""
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)

    def right(candidate: Tree) -> float:
        return float(weights[candidate.labels[candidate.apply(X)] == y].sum())

    best = sparsified(tree, X, y, 0.0, weights)
    least = right(tree) - tolerance * float(weights.sum())
    for loss in LOSSES if tolerance > 0.0 else ():
        candidate = sparsified(tree, X, y, loss, weights)
        if right(candidate.tree) >= least and candidate.terms_after < best.terms_after:
            best = candidate
    return best


def sparsified(tree: Tree, X: Array, y: Ints, loss: float = 0.0, weights: Array | None = None) -> SparseTree:
    """Return the tree with terms dropped from its splits, from the root down.

    X, y, weights : as in `simplified`
    loss : share of a split's decrease of Gini impurity that may be lost, from 0 to 1

    At a node, terms are tried from the smallest, by |coefficient| times the standard deviation at the node. First a
    term is dropped if some threshold leaves every training row on its side; then, with a loss, if the best threshold
    without the term keeps at least 1 - loss of the decrease. Other terms keep their ratios. Counts are those of the
    training rows under the new tree; a split that sends all rows to one child is replaced by that child."""
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
            # Replace the node by the child that gets its rows.
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
    """Return the hyperplane of a node with fewer terms, its threshold, and which rows it sends left."""
    coef, threshold = tree.coef_[node].copy(), float(tree.thresholds[node])
    values = scored(tree, node, X)
    to_left = tree.missing_left is not None and bool(tree.missing_left[node])
    goes_left = _goes_left(coef, threshold, X, values, to_left)
    used = np.flatnonzero(coef)
    if len(used) < 2:
        return coef, threshold, goes_left
    full = decrease(goes_left, y, weights, n_classes)
    coef, threshold = _without_idle_terms(tree, node, X, goes_left)
    goes_left = _goes_left(coef, threshold, X, values, to_left)
    for j in _from_the_smallest(coef, values) if loss > 0.0 else ():
        if np.count_nonzero(coef) < 2:
            break
        fewer = coef.copy()
        fewer[j] = 0.0
        absent = lacking(X, fewer)
        sums = np.where(absent, 0.0, values @ fewer)
        fewer_threshold = _best(sums, y, weights, n_classes, absent, to_left, (1.0 - loss) * full)
        if fewer_threshold is not None:
            coef, threshold = fewer, fewer_threshold
            goes_left = _goes_left(coef, threshold, X, values, to_left)
    length = float(np.linalg.norm(coef))
    return coef / length, threshold / length, goes_left


def _from_the_smallest(coef: Array, values: Array) -> list[int]:
    """Return the features of a hyperplane by the spread of their terms over the rows, the smallest first."""
    used = np.flatnonzero(coef)
    spread = np.abs(coef[used]) * (values if len(used) == values.shape[1] else values[:, used]).std(axis=0)
    return [int(j) for j in used[np.argsort(spread, kind="stable")]]


def _without_idle_terms(tree: Tree, node: int, X: Array, goes_left: NDArray[np.bool_]) -> tuple[Array, float]:
    """Return the normal of a node, not rescaled, without terms that a new threshold can replace, and the threshold.
    X : (n, p) rows at the node; goes_left : (n,) their sides, both non-empty"""
    coef, threshold = tree.coef_[node].copy(), float(tree.thresholds[node])
    used = np.flatnonzero(coef)
    if len(used) < 2:
        return coef, threshold
    values = scored(tree, node, X)
    to_left = tree.missing_left is not None and bool(tree.missing_left[node])
    gaps = np.isnan(X) if tree.missing_left is not None else None

    def parting(sums: Array, lacks: Any) -> float | None:
        return _separating(sums, goes_left, None if lacks is None else lacks > 0, to_left)

    sums, lacks = values @ coef, None if gaps is None else gaps[:, used].sum(axis=1)
    near = _next_to_threshold(sums, goes_left) if gaps is None and 0 < goes_left.sum() < len(sums) else None
    order: Sequence[int] = ()
    if near is None or _some_is_idle(sums[near], coef[used] * values[np.ix_(near, used)], goes_left[near]):
        order = _from_the_smallest(coef, values)
    sure, dropped, before = (coef.copy(), threshold), 0, -1
    while dropped > before:  # the removal of a term may make another term removable
        before = dropped
        for j in order:
            if coef[j] == 0.0 or np.count_nonzero(coef) < 2:
                continue
            # Most terms are needed, as a few rows already show.
            if near is not None and not _some_is_idle(sums[near], coef[j] * values[near, j : j + 1], goes_left[near]):
                continue
            # One feature is subtracted from the sum: adding up the others anew would take p times as long.
            fewer = sums - coef[j] * values[:, j]
            fewer_lack = None if gaps is None else lacks - gaps[:, j]
            fewer_threshold = parting(fewer, fewer_lack)
            if fewer_threshold is None:
                continue
            coef[j], threshold, sums, lacks, dropped = 0.0, fewer_threshold, fewer, fewer_lack, dropped + 1
            if dropped % EXACT_EVERY == 0:
                sums = values @ coef
        # Repeated subtraction accumulates rounding; a side counts only by the recomputed sum of the remaining terms.
        sums = values @ coef
        exact = parting(sums, lacks)
        if exact is None:
            return sure
        threshold = exact
        sure = coef.copy(), threshold
    return sure


def _next_to_threshold(sums: Array, goes_left: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the rows of the largest sums on the left and of the smallest on the right."""
    left, right = np.flatnonzero(goes_left), np.flatnonzero(~goes_left)
    few = [min(NEAR, len(rows)) - 1 for rows in (left, right)]
    below = left[np.argpartition(-sums[left], few[0])[: few[0] + 1]]
    return np.concatenate([below, right[np.argpartition(sums[right], few[1])[: few[1] + 1]]])


def _some_is_idle(sums: Array, terms: Array, goes_left: NDArray[np.bool_]) -> bool:
    """Return whether these rows stay on their sides without some of `terms` (n, terms)."""
    fewer = sums[:, None] - terms
    return bool((~(fewer[goes_left].max(axis=0) >= fewer[~goes_left].min(axis=0))).any())


def scored(tree: Tree, node: int, X: Array) -> Array:
    """Return the rows with level codes replaced by the node's scores, missing values by 0. X : (n, p)"""
    if not tree.level_columns and np.isfinite(X.sum()):
        return np.asarray(X, dtype=np.float64)
    values = np.array(X, dtype=np.float64)
    for j, columns in tree.level_columns.items():
        scores = tree.level_scores[node, columns]
        codes = level_codes(values[:, j], len(scores))
        values[:, j] = np.where(codes >= 0, scores[codes], 0.0)
    return np.nan_to_num(values, copy=False, nan=0.0)


def decrease(goes_left: NDArray[np.bool_], y: Ints, weights: Array, n_classes: int) -> float:
    """Return the decrease of the weighted Gini impurity of rows by a division."""

    def squares(side: NDArray[np.bool_]) -> float:
        counts = np.bincount(y[side], weights[side], n_classes)
        total = counts.sum()
        return float(counts @ counts / total) if total > 0 else 0.0

    return squares(goes_left) + squares(~goes_left) - squares(np.ones(len(y), dtype=np.bool_))


def _goes_left(coef: Array, threshold: float, X: Array, values: Array, to_left: bool) -> NDArray[np.bool_]:
    absent = lacking(X, coef)
    return np.where(absent, to_left, values @ coef <= threshold)


def _separating(
    sums: Array, goes_left: NDArray[np.bool_], absent: NDArray[np.bool_] | None, to_left: bool
) -> float | None:
    """Return a threshold that leaves every row on its side, or None. absent : rows with a missing value, or None"""
    if absent is not None:
        if (goes_left[absent] != to_left).any():
            return None
        sums, goes_left = sums[~absent], goes_left[~absent]
    left, right = sums[goes_left], sums[~goes_left]
    if not len(left) or not len(right):
        return None
    below, above = float(left.max()), float(right.min())
    scale = max(float(sums.max() - sums.min()), abs(below), abs(above))
    return gap_middle(sums, goes_left) if above - below > LEAST_GAP * scale else None


def _best(
    sums: Array, y: Ints, weights: Array, n_classes: int, absent: NDArray[np.bool_], to_left: bool, least: float
) -> float | None:
    """Return the threshold of the largest decrease of impurity, the lowest of equals; None if below `least`."""
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
    return gap_middle(ordered, np.arange(len(ordered)) <= best)
