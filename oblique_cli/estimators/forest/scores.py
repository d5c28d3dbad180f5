"""Functions common to estimators and model files: votes of forests, and class shares from scores of boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oblique_cli.ground.arrays import Array


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
