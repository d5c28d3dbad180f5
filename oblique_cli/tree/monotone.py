"""Monotonic trees: predictions never fall, or never rise, as a constrained feature grows.

A split whose hyperplane uses a constrained feature is allowed only if rows that cross it in the direction of the
constraint come from the side of smaller predictions. Its children get bounds: the middle of their predictions is the
upper bound of everything below one child and the lower bound of everything below the other. So two rows that differ in
a constrained feature separate at one split, if at all, and their leaves' predictions lie on the correct sides of its
middle. A node that pruning turns into a leaf predicts within its bounds, so every pruned tree is monotonic too.

The method is the basic method of LightGBM (Auguste, Malory and Smirnov 2020), which scikit-learn has for axis-parallel
trees, extended to hyperplanes. The core does the same (core/split/monotone.hpp)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.tree.structure import Tree

Signs = NDArray[np.int32]  # for each feature 1, -1, or 0 without a constraint


class Bounds(NamedTuple):
    """Range of predictions that the splits above a node allow."""

    low: float = -np.inf
    high: float = np.inf


OPEN = Bounds()


def way_across(signs: Signs, coef: Array) -> int | None:
    """Return the direction in which rows cross a hyperplane (p,) as constrained features move in their direction: 1
    left to right, -1 right to left, 0 neither; None if features disagree."""
    agreement = np.sign(signs * coef)
    rises, falls = bool((agreement > 0).any()), bool((agreement < 0).any())
    return None if rises and falls else int(rises) - int(falls)


def agreeing(signs: Signs, coef: Array, way: int) -> Array:
    """Return the part of a normal that agrees with a crossing direction, of unit length. coef : (p,)"""
    part = np.where(way * signs * coef < 0.0, 0.0, coef)
    return np.asarray(part / np.linalg.norm(part))


def children_bounds(way: int | None, left: float, right: float, bounds: Bounds) -> tuple[Bounds, Bounds] | None:
    """Return the bounds of two children from their predictions; None if these violate the order or the node's `bounds`.
    way : as of `way_across`"""
    within = bounds.low <= left <= bounds.high and bounds.low <= right <= bounds.high
    if way is None or not within or (way and not way * left < way * right):
        return None
    if way == 0:
        return bounds, bounds
    middle = 0.5 * left + 0.5 * right
    below, above = bounds._replace(high=middle), bounds._replace(low=middle)
    return (below, above) if way == 1 else (above, below)


def bounds_of(tree: Tree, signs: Signs, answers: Array) -> tuple[Array, Array]:
    """Return the least and the largest prediction allowed at each node of a fitted tree, (n_nodes,) twice.
    answers : (n_nodes,) that are in order at every split"""
    low, high = np.full(tree.n_nodes, -np.inf), np.full(tree.n_nodes, np.inf)
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.left[node], tree.right[node]
        left, right = answers[list(children)].tolist()
        node_bounds = Bounds(float(low[node]), float(high[node]))
        child_bounds = children_bounds(way_across(signs, tree.coef_[node]), left, right, node_bounds)
        assert child_bounds is not None, "the tree keeps no order"
        for child, bounds in zip(children, child_bounds, strict=True):
            low[child], high[child] = bounds
    return low, high


def within_order(tree: Tree, signs: Signs) -> Tree:
    """Return a two-class tree whose probabilities are monotonic in the same features as the shares of its counts."""
    second = np.clip(tree.shares[:, 1], *bounds_of(tree, signs, second_shares(tree.counts)))
    return tree.with_probabilities(np.stack([1.0 - second, second], axis=1))


def second_shares(counts: Array) -> Array:
    """Return the share of the second of two classes. counts : (..., 2); returns (...,)"""
    return np.asarray(counts[..., 1] / (counts[..., 0] + counts[..., 1]))
