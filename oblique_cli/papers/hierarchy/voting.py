"""The k-nearest-neighbor rule, plain and weighted (Amalaman 2015, section 6.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array

Ints = NDArray[np.int64]

WEIGHTS = ("uniform", "distance")


def nearest(distances: Array, k: int) -> Ints:
    """Return the columns of the k smallest distances of each row, nearest first, (m, k); in a tie the first column."""
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


def votes(distances: Array, columns: Ints, codes: Ints, n_classes: int, weights: str) -> Array:
    """Return each class's votes, (m, n_classes).

    distances : (m, n); columns : (m, k) the neighbors; codes : (n,) classes of the columns
    weights : "uniform", or "distance" for votes of 1 / (1 + d)
    """
    out = np.zeros((len(columns), n_classes))
    rows = np.arange(len(columns))
    for j in range(columns.shape[1]):
        column = columns[:, j]
        out[rows, codes[column]] += 1.0 if weights == "uniform" else 1.0 / (1.0 + distances[rows, column])
    return out


def winners(ballots: Array, columns: Ints, codes: Ints) -> Ints:
    """Return the class with most votes of each row; in a tie (within 1e-12) the class of the nearest neighbor."""
    rows = np.arange(len(columns))
    most = ballots.max(axis=1, initial=0.0)
    out = np.zeros(len(columns), dtype=np.int64)
    for j in range(columns.shape[1] - 1, -1, -1):
        label = codes[columns[:, j]]
        leads = ballots[rows, label] >= most * (1 - 1e-12)
        out[leads] = label[leads]
    return out


def classify(distances: Array, codes: Ints, k: int, n_classes: int, weights: str = "uniform") -> Ints:
    """Return the class by the k-NN rule for each row of distances (m, n) to objects with codes (n,)."""
    columns = nearest(distances, k)
    return winners(votes(distances, columns, codes, n_classes, weights), columns, codes)
