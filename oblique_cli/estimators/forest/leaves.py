"""Predictions of a forest's leaves: votes, scores, numbers, probabilities by the rules of tree/probabilities.py.

All leaves of all trees are stored in sequence, as in `Forest.sums` of the core: tree by tree, and in each by their
numbers, ``~left[node]``. Estimators and model files have these functions in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.tree.probabilities import LEAST, RULES, STRENGTHS, inner_by_depth, least_log_loss

OUT_OF_BAG = "oob"
RIDGES = (0.1, 1.0, 10.0, 100.0)  # candidate penalties for the choice on out-of-bag rows


class Branches(NamedTuple):
    """Children of nodes, -1 at leaves."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]


def branches_of(left: NDArray[Any]) -> Branches:
    """Return the children of a tree of `Forest.state()`, in which the right child follows the left one."""
    inner = left >= 0
    return Branches(np.where(inner, left, -1).astype(np.int64), np.where(inner, left + 1, -1).astype(np.int64))


class Leaves:
    """The leaves of trees, `states` as `Forest.state()` has them; counts : (nodes of all trees, C) class weights"""

    def __init__(self, states: Sequence[Mapping[str, Any]], n_classes: int) -> None:
        lefts = [np.asarray(state["left"], dtype=np.int64) for state in states]
        first_node = _starts([len(left) for left in lefts])
        first_leaf = _starts([len(state["label"]) for state in states])
        self._first_node = first_node[:-1]
        self._roots = np.repeat(first_node[:-1], np.diff(first_node))
        # Number of a node among the nodes of all trees if it is a child, of a leaf among all leaves if it is one.
        left = np.concatenate(
            [
                np.where(of_tree >= 0, of_tree + node, of_tree - leaf)
                for of_tree, node, leaf in zip(lefts, first_node[:-1], first_leaf[:-1], strict=True)
            ]
        )
        self._branches, self._leaves = branches_of(left), np.flatnonzero(left < 0)
        self._number = np.where(left < 0, ~left, -1)
        held = np.concatenate([np.diff(np.asarray(state["leaf_start"], dtype=np.int64)) for state in states])
        in_leaves = np.zeros((int(first_leaf[-1]), n_classes))
        classes, weights = (
            np.concatenate([np.asarray(s[name]) for s in states]) for name in ("leaf_class", "leaf_weight")
        )
        in_leaves[np.repeat(np.arange(len(held)), held), classes] = weights
        self.counts = np.zeros((len(left), n_classes))
        self.counts[self._leaves] = in_leaves[self._number[self._leaves]]
        for inner in reversed(list(inner_by_depth(self._branches, first_node[:-1]))):
            self.counts[inner] = self.counts[left[inner]] + self.counts[left[inner] + 1]

    def shares(self, rule: str, strength: float) -> Array:
        """Return the probabilities by a rule of `RULES` for leaves, other than counts and dirichlet, (leaves, C)."""
        rule_function = RULES[rule]
        assert rule_function is not None
        out = np.empty((len(self._leaves), self.counts.shape[1]))
        of_nodes = rule_function(self._branches, self.counts, strength, self._roots)
        out[self._number[self._leaves]] = of_nodes[self._leaves]
        return out

    def numbers(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the index among all leaves of leaves given by node number, (n, trees)."""
        return np.asarray(self._number[nodes + self._first_node])


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return the start of each of several parts of given sizes, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def out_of_bag_shares(table: Array, numbers: NDArray[np.int64], unseen: NDArray[np.bool_]) -> Array:
    """Return sums of shares over the trees that did not draw a row, (n, C). numbers : (n, trees) places in the table"""
    out = np.zeros((len(numbers), table.shape[1]))
    for at, without in zip(numbers.T, unseen.T, strict=True):
        out[without] += table[at[without]]
    return out


def vote_shares(votes: Array, trees: Any, prior: float = 0.0) -> Array:
    """Return the shares of votes (n, C) of a number of trees, or of (n, 1) numbers: (v_k + s / C) / (trees + s).
    prior : s, the votes that all classes together have beforehand; the largest share is that of the most votes"""
    return np.asarray((votes + prior / votes.shape[1]) / (trees + prior))


def prior_of(state: Mapping[str, Any]) -> float:
    """Return the prior of a fitted forest's `vote_shares` from its attributes, 0 without."""
    return 0.0 if "leaf_probabilities_" in state else state.get("probability_strength_", 0.0)


def best_prior(votes: Array, codes: NDArray[Any], weights: Array | None) -> float:
    """Return the prior of `STRENGTHS` for `vote_shares` with the least log loss of out-of-bag votes (n, C).
    codes, weights : (n,); the first of equals"""
    trees = votes.sum(axis=1, keepdims=True)
    seen = trees[:, 0] > 0.0
    parts = (votes[seen], codes[seen], None if weights is None else weights[seen])
    return least_log_loss(STRENGTHS, [(lambda prior: vote_shares(parts[0], trees[seen], prior), *parts[1:])])


def best_strength(
    leaves: Leaves,
    rule: str,
    unit: float,
    numbers: NDArray[np.int64],
    unseen: NDArray[np.bool_],
    codes: NDArray[Any],
    weights: Array | None,
) -> float:
    """Return the strength of `STRENGTHS` with the least out-of-bag log loss, the first of equals; 1 if no row is out of
    bag. unit : factor of the strengths; codes, weights : (n,)"""
    trees = unseen.sum(axis=1)
    rows = np.flatnonzero(trees)
    if not len(rows):
        return 1.0
    losses = []
    for strength in STRENGTHS:
        shares = leaves.shares(rule, strength * unit)[numbers[rows], codes[rows, None]]
        mean = (shares * unseen[rows]).sum(axis=1) / trees[rows]
        each = -np.log(np.maximum(mean, LEAST))
        losses.append(float(each.sum() if weights is None else each @ weights[rows]))
    return STRENGTHS[int(np.argmin(losses))]


# Below, `numbers` (n, trees) are indices of the rows' leaves among all leaves, and `held` (trees, n) is the weight of a
# row in a tree, 0 if the tree did not draw it.


def means_of(numbers: NDArray[np.int64], held: Array, targets: Array, n_leaves: int) -> Array:
    """Return the weighted means of targets (n,) of each leaf's rows, (leaves, 1); of targets (n, k) (leaves, k, 1)."""
    if targets.ndim > 1:
        return np.stack([means_of(numbers, held, target, n_leaves) for target in targets.T], axis=1)
    total, sums = np.zeros(n_leaves), np.zeros(n_leaves)
    middle = targets.mean()  # centering avoids the loss of digits to an offset
    for at, weights in zip(numbers.T, held, strict=True):
        total += np.bincount(at, weights, n_leaves)
        sums += np.bincount(at, weights * (targets - middle), n_leaves)
    return np.asarray(sums / total + middle)[:, None]


def equations_of(
    numbers: NDArray[np.int64], held: Array, rows: Array, targets: Array, n_leaves: int, ridges: Sequence[float]
) -> dict[float, Array]:
    """Return for every penalty the equations of all leaves, (leaves, p + 3).

    rows : (n, p), targets : (n,). An equation consists of its coefficients, its intercept, and the least and the
    largest target of the leaf's rows. It minimizes the sum of w (y - a - b z)^2 + ridge |b|^2 over the rows of a leaf,
    with z the features divided by their standard deviations over all rows. Without a penalty the minimum-norm solution
    is taken. Targets (n, k) give one equation each, (leaves, k, p + 3), with one matrix of products a leaf."""
    p, every = rows.shape[1], targets.reshape(len(targets), -1)
    center, scale = rows.mean(axis=0), rows.std(axis=0)
    # A constant column adds no information, and rounding of its mean is not a deviation.
    known = scale > 1e-12 * np.maximum(np.abs(rows).max(axis=0), np.finfo(float).tiny)
    z = np.where(known, (rows - center) / np.where(known, scale, 1.0), 0.0)
    out = {ridge: np.empty((n_leaves, every.shape[1], p + 3)) for ridge in ridges}
    for leaf, there, weights in _leaves(numbers, held):
        total = weights.sum()
        mean = weights @ z[there] / total
        off = z[there] - mean
        values, vectors = np.linalg.eigh((off.T * weights) @ off)
        least = max(float(values[-1]), 0.0) * 1e-10 * p
        raw = center + np.where(known, mean * scale, 0.0)
        for k, target in enumerate(every[there].T):
            middle = float(weights @ target / total)
            along = vectors.T @ (off.T @ (weights * (target - middle)))
            for ridge, equations in out.items():
                below = np.where(values > least, values, 0.0) + ridge
                with np.errstate(divide="ignore", invalid="ignore"):
                    coef = vectors @ np.where((below > 0.0) & (values > least), along / below, 0.0)
                coef = np.where(known, coef / np.where(known, scale, 1.0), 0.0)
                equations[leaf, k, :p] = coef
                equations[leaf, k, p:] = middle - coef @ raw, target.min(), target.max()
    return out if targets.ndim > 1 else {ridge: equations[:, 0] for ridge, equations in out.items()}


def _leaves(numbers: NDArray[np.int64], held: Array) -> Iterator[tuple[int, NDArray[np.intp], Array]]:
    for at, weights in zip(numbers.T, held, strict=True):
        there = np.flatnonzero(weights)
        there = there[np.argsort(at[there], kind="stable")]
        ends = np.flatnonzero(np.diff(at[there])) + 1
        for part in np.split(there, ends):
            yield int(at[part[0]]), part, weights[part]


def votes_of(forest: Any, rows: Array, voting: str, leaf_probabilities: Array | None, threads: int) -> Array:
    """Return the sum over trees for rows (n, p), (n, C): of votes, shares of leaves, or `leaf_probabilities`."""
    if leaf_probabilities is not None:
        return np.asarray(forest.sums(rows, leaf_probabilities, threads))
    return np.asarray(forest.votes(rows, voting == "mean", threads))


def scores_of(forest: Any, rows: Array, leaf_values: Array, baseline: Array, threads: int) -> Array:
    """Return the scores of rows (n, p), (n, K): the baseline (K,) plus values of leaves (leaves, K), or of linear
    models of one score (leaves, p + 3)."""
    added = np.ascontiguousarray(leaf_values)
    if added.shape[1] != len(baseline):
        return np.asarray(forest.model_sums(rows, added, threads)[:, None] + baseline)
    return np.asarray(forest.sums(rows, added, threads) + baseline)


def mean_shares(trees: Sequence[Any], rows: Array) -> Array:
    """Return the mean of the class probabilities of trees with models in their leaves, (n, C). rows : (n, p)"""
    total: Array = sum(tree.predicted_shares(rows) for tree in trees)
    return total / len(trees)


def shares_of(scores: Array, n_classes: int) -> Array:
    """Return class shares (n, C) from scores (n, K): logistic if K is 1 for two classes, else softmax."""
    if n_classes == 2:
        scores = np.hstack([np.zeros_like(scores), scores])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def means_of_trees(forest: Any, rows: Array, leaf_values: Array, threads: int) -> Array:
    """Return the mean prediction of the trees for rows (n, p), (n,) or (n, k).
    leaf_values : (leaves, 1) or (leaves, p + 3), with k outputs an axis for them in the middle"""
    if leaf_values.ndim > 2:
        if leaf_values.shape[2] == 1:
            return np.asarray(forest.sums(rows, np.ascontiguousarray(leaf_values[:, :, 0]), threads) / len(forest))
        return np.column_stack([means_of_trees(forest, rows, output, threads) for output in leaf_values.swapaxes(0, 1)])
    values = np.ascontiguousarray(leaf_values)
    if values.shape[1] == 1:
        return np.asarray(forest.sums(rows, values, threads)[:, 0] / len(forest))
    return np.asarray(forest.model_sums(rows, values, threads) / len(forest))
