"""Scores of boosted trees, as estimators and model files turn them into class shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def scores_of(forest: Any, rows: Array, leaf_values: Array, baseline: Array, threads: int) -> Array:
    """Return the scores of rows (n, p), (n, K): the baseline (K,) and what the leaves add, (leaves, K)."""
    found: Array = forest.sums(rows, np.ascontiguousarray(leaf_values), threads) + baseline
    return found


def shares_of(scores: Array, n_classes: int) -> Array:
    """Return class shares (n, C) of scores (n, K): logistic where K is 1 for two classes, else softmax."""
    if n_classes == 2:
        scores = np.hstack([np.zeros_like(scores), scores])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    out: Array = shares / shares.sum(axis=1, keepdims=True)
    return out
