"""Trees of a forest that Python grows, each on the rows that the core draws for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.estimators.forest.base import ForestClassifier, Table
from oblique_cli.ground.arrays import Array
from oblique_cli.tree.structure import Tree


def add_trees(
    estimator: ForestClassifier,
    forest: Any,
    table: Table,
    options: dict[str, Any],
    more: int,
    threads: int,
    tree_of: Callable[[Array, NDArray[np.int32], Array, int], Tree],
) -> None:
    """Add `more` trees to a forest of the core. tree_of : rows drawn (m, p), their codes (m,), how often each was drawn
    times its weight (m,), and the number of the tree -> the tree, over p features"""
    rows, codes, weights = table.rows, table.codes, table.weights
    first = forest.first_number + len(forest)
    draws = np.asarray(forest.draws(len(rows), more, options["bootstrap"], options["max_samples"]))

    def grown(i: int) -> dict[str, Any]:
        there = np.flatnonzero(draws[i])
        counts = draws[i][there].astype(np.float64)
        held = counts if weights is None else counts * weights[there]
        return state_of(tree_of(np.ascontiguousarray(rows[there]), codes[there], held, first + i), rows)

    states: list[dict[str, Any]] = []

    def grow() -> None:
        with ThreadPoolExecutor(threads) as pool:
            states.extend(pool.map(grown, range(more)))

    estimator._watched(more, lambda: len(states), grow)
    forest.restore([*forest.state(), *states])


def gini_falls(tree: Tree) -> Array:
    """Return the decrease of Gini impurity by each split, times the weight of its rows, (n_nodes,)."""
    total = tree.counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        pure = np.where(total > 0, (tree.counts**2).sum(axis=1) / total, 0.0)
    return np.where(tree.is_leaf, 0.0, np.maximum(pure[tree.left] + pure[tree.right] - pure, 0.0))


def state_of(tree: Tree, rows: Array, falls: Array | None = None) -> dict[str, Any]:
    """Return a tree in the form of `Forest.state()`.
    rows : (n, p), for ranges of features; falls : (n_nodes,) impurity decrease of every split, None for Gini's"""
    p = tree.coef_.shape[1]
    order, left = [0], []
    for node in order:  # the list grows during the loop
        left.append(len(order) if tree.left[node] >= 0 else -1)
        if tree.left[node] >= 0:
            order += [int(tree.left[node]), int(tree.right[node])]
    inner = np.array([child >= 0 for child in left])
    nodes = np.array(order)
    leaves, splits = nodes[~inner], nodes[inner]
    numbers = np.array(left, dtype=np.int32)
    numbers[~inner] = ~np.arange(len(leaves), dtype=np.int32)
    terms = np.zeros(len(nodes), dtype=np.int32)
    terms[inner] = np.arange(len(splits))
    held = tree.counts[leaves]
    here, classes = np.nonzero(held)
    fall = (gini_falls(tree) if falls is None else falls)[splits]
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        # Half a range does not overflow; products are clipped to finite numbers.
        parts = np.abs(tree.coef_[splits]) * (0.5 * rows.max(axis=0) - 0.5 * rows.min(axis=0))
        parts = np.nan_to_num(parts)
        parts = parts / np.maximum(parts.max(axis=1, keepdims=True), np.finfo(float).tiny) if len(splits) else parts
    return {
        "threshold": np.ascontiguousarray(np.where(inner, tree.thresholds[nodes], 0.0)),
        "left": numbers,
        "term": terms,
        "width": p if len(splits) else 0,
        "feature": np.tile(np.arange(p, dtype=np.int32), len(splits)),
        "coef": np.ascontiguousarray(tree.coef_[splits].ravel()),
        "label": held.argmax(axis=1).astype(np.int32),
        "leaf_start": np.searchsorted(here, np.arange(len(leaves) + 1)).astype(np.uint32),
        "leaf_class": classes.astype(np.int32),
        "leaf_weight": np.ascontiguousarray(held[here, classes]),
        "rotation_start": np.zeros(0, dtype=np.int32),
        "rotation_feature": np.zeros(0, dtype=np.int32),
        "rotation_coef": np.zeros(0),
        "importance": (fall / np.maximum(parts.sum(axis=1), np.finfo(float).tiny)) @ parts,
        "depth": int(tree.depth),
    }
