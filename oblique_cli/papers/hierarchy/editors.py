"""The k-nearest-neighbor rule (Amalaman 2015, section 6.2), and the editing of its objects (chapter 6).

Every editor takes the square matrix of distances between training objects and their class codes and returns a mask of
the objects that stay. An editor that would remove all objects removes none, because a classifier needs one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array
from oblique_cli.papers.hierarchy.hierarchies import Taxonomy
from oblique_cli.papers.hierarchy.measures import extract_clusters

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

WEIGHTS = ("uniform", "distance")


def nearest(distances: Array, k: int) -> Ints:
    """Return the columns of the k smallest distances of each row, nearest first, (m, k); in a tie the first column."""
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


def votes(distances: Array, columns: Ints, codes: Ints, n_classes: int, weights: str) -> Array:
    """Return each class's votes, (m, n_classes), each of weight 1 or 1 / (1 + d). columns : (m, k) the neighbors"""
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


def hc_edit(taxonomy: Taxonomy, threshold: float) -> Mask:
    """Keep the majority class of every largest sub-tree of at least this purity (HC-edit, section 6.3)."""
    owners = taxonomy.tree.owners(extract_clusters(taxonomy, threshold))
    in_majority: Mask = taxonomy.counts[np.arange(taxonomy.n), taxonomy.majority[owners]] > 0
    return in_majority


def wilson(square: Array, codes: Ints, k: int, weights: str = "uniform") -> Mask:
    """Keep the objects that the k-NN rule of all others classifies correctly (Wilson 1972; weighted: WilsonProb)."""
    if len(square) == 1:
        return np.ones(1, dtype=bool)
    others = square.copy()
    np.fill_diagonal(others, np.inf)
    mask: Mask = classify(others, codes, min(k, len(codes) - 1), int(codes.max()) + 1, weights) == codes
    return mask if mask.any() else np.ones_like(mask)


def multi_edit(square: Array, codes: Ints, k: int, n_subsets: int, quiet_rounds: int, rng: np.random.Generator) -> Mask:
    """Keep the objects left by rounds of mutual editing (Devijver & Kittler 1980), with one permutation per round.

    In every round each of `n_subsets` random subsets is edited by the k-NN rule of the next one, until `quiet_rounds`
    rounds remove nothing, or a subset or the result would be empty.
    """
    remaining = np.arange(len(codes))
    quiet = 0
    while quiet < quiet_rounds and len(remaining) >= n_subsets:
        parts = np.array_split(rng.permutation(len(remaining)), n_subsets)
        right = np.zeros(len(remaining), dtype=bool)
        for part, judges in zip(parts, [*parts[1:], parts[0]], strict=True):
            rows, columns = remaining[part], remaining[judges]
            guess = classify(
                square[np.ix_(rows, columns)], codes[columns], min(k, len(columns)), int(codes.max()) + 1, "uniform"
            )
            right[part] = guess == codes[rows]
        if not right.any():
            break
        quiet = quiet + 1 if right.all() else 0
        remaining = remaining[right]
    mask = np.zeros(len(codes), dtype=bool)
    mask[remaining] = True
    return mask


def supervised_clustering(square: Array, codes: Ints, weight: float, restarts: int, rng: np.random.Generator) -> Mask:
    """Keep the representatives of the best supervised clustering (Eick, Zeidat & Vilalta 2004) by SRIDHCR.

    A clustering is scored by its impurity plus `weight` sqrt((k - c) / n) for k representatives beyond the c classes.
    Each climb starts from c + 1 to 2c objects, drawn in number and place; among climbs of equal score the first wins.
    """
    n, n_classes = len(codes), int(codes.max()) + 1
    present = len(np.unique(codes))
    best, representatives = np.inf, np.arange(n, dtype=np.int32)
    labels = np.ascontiguousarray(codes, dtype=np.int32)
    for _ in range(restarts):
        k = min(n, int(rng.integers(present + 1, 2 * present + 1))) if present > 1 else 1
        start = np.sort(rng.choice(n, size=k, replace=False)).astype(np.int32)
        rows, q = _core.climb_representatives(np.ascontiguousarray(square), labels, n_classes, weight, start)
        if q < best - 1e-12:
            best, representatives = q, rows
    mask = np.zeros(n, dtype=bool)
    mask[representatives] = True
    return mask
