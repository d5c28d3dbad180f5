"""Probabilities of the leaves of a forest, by the rules of single trees (tree/probabilities.py).

All leaves of all trees stand one behind the other, as in `Forest.sums` of the core: those of a tree in the order of
their numbers, ``~left[node]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.constraints import Choice, Constraint, Either, Real, Text
from oblique_cli.tree.probabilities import LEAST, RULES, STRENGTHS, inner_by_depth

Array = NDArray[np.float64]

OUT_OF_BAG = "oob"
FOREST_PROBABILITIES: Mapping[str, Constraint] = {
    "probabilities": Choice(RULES),
    "probability_strength": Either(Real(0.0), Text(OUT_OF_BAG, f"'{OUT_OF_BAG}'")),
}


class Branches(NamedTuple):
    """Children of the nodes of one tree, -1 at leaves."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]


def branches_of(left: NDArray[Any]) -> Branches:
    """Return the children of a tree of `Forest.state()`, whose right child stands behind the left one."""
    inner = left >= 0
    return Branches(np.where(inner, left, -1).astype(np.int64), np.where(inner, left + 1, -1).astype(np.int64))


def counts_of(state: Mapping[str, Any], n_classes: int) -> Array:
    """Return the class weights at every node of a tree of `Forest.state()`, (n_nodes, C)."""
    left = np.asarray(state["left"])
    leaves = np.flatnonzero(left < 0)
    starts = np.asarray(state["leaf_start"], dtype=np.int64)
    held = starts[1:] - starts[:-1]
    in_leaves = np.zeros((len(leaves), n_classes))
    in_leaves[np.repeat(np.arange(len(held)), held), state["leaf_class"]] = state["leaf_weight"]
    counts = np.zeros((len(left), n_classes))
    counts[leaves] = in_leaves[~left[leaves]]
    for inner in reversed(list(inner_by_depth(branches_of(left)))):
        counts[inner] = counts[left[inner]] + counts[left[inner] + 1]
    return counts


class Leaves:
    """The leaves of all trees of a forest.

    states      as `Forest.state()` has them
    first       (trees + 1,) where the leaves of each tree begin
    """

    def __init__(self, states: Sequence[Mapping[str, Any]], n_classes: int) -> None:
        self._left = [np.asarray(state["left"]) for state in states]
        self._counts = [counts_of(state, n_classes) for state in states]
        self.first = np.concatenate([[0], np.cumsum([len(state["label"]) for state in states])]).astype(np.int64)

    def shares(self, rule: str, strength: float) -> Array:
        """Return the probabilities of a rule of `RULES` other than counts, (leaves, C)."""
        found = RULES[rule]
        assert found is not None
        out = np.empty((int(self.first[-1]), self._counts[0].shape[1]))
        for first, left, counts in zip(self.first[:-1], self._left, self._counts, strict=True):
            leaves = np.flatnonzero(left < 0)
            out[first + ~left[leaves]] = found(branches_of(left), counts, strength)[leaves]
        return out

    def numbers(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the place among all leaves of node numbers of leaves, (n, trees)."""
        places = [
            first + ~left[nodes[:, t]] for t, (first, left) in enumerate(zip(self.first, self._left, strict=False))
        ]
        return np.stack(places, axis=1)


def out_of_bag_shares(table: Array, numbers: NDArray[np.int64], unseen: NDArray[np.bool_]) -> Array:
    """Return the sums of the probabilities of the trees that did not draw a row, (n, C).

    table : (leaves, C); numbers : (n, trees) places of leaves; unseen : (n, trees)
    """
    out = np.zeros((len(numbers), table.shape[1]))
    for at, without in zip(numbers.T, unseen.T, strict=True):
        out[without] += table[at[without]]
    return out


def best_strength(
    leaves: Leaves,
    rule: str,
    unit: float,
    numbers: NDArray[np.int64],
    unseen: NDArray[np.bool_],
    codes: NDArray[Any],
    weights: Array | None,
) -> float:
    """Return the strength of `STRENGTHS` with the least out-of-bag log loss, the first of equals.

    unit : what strengths are multiplied by; codes : (n,); weights : (n,) or None. 1 if every tree has seen all rows, as
    happens with two rows or one.
    """
    trees = unseen.sum(axis=1)
    rows = np.flatnonzero(trees)
    if not len(rows):
        return 1.0
    losses = []
    for strength in STRENGTHS:
        own = leaves.shares(rule, strength * unit)[numbers[rows], codes[rows, None]]
        mean = (own * unseen[rows]).sum(axis=1) / trees[rows]
        each = -np.log(np.maximum(mean, LEAST))
        losses.append(float(each.sum() if weights is None else each @ weights[rows]))
    return STRENGTHS[int(np.argmin(losses))]
