"""Bottom-up growth: clusters are the leaves, merged two by two into a tree (thesis 6.2.2, algorithm 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array, Ints, Rows
from oblique_cli.tree.structure import Tree, TreeBuilder

DISTANCES = ("centroid", "mahalanobis", "overlap")

# Distances within this share of the smallest are equal, so that rounding never chooses among points of a lattice.
TIE = 1e-9


class Plane(NamedTuple):
    """A hyperplane between two groups of rows: left iff coef @ x <= threshold. coef : (p,) unit length."""

    coef: Array
    threshold: float
    gain: float


# Rows (n, p), their group 0 or 1 as (n,) int32, and the number of the merge, 1, 2, ... -> plane; None if no plane
# separates the groups.
Splitter = Callable[[Array, Ints, int], Plane | None]


def merge_order(
    X: Array, clusters: Sequence[Rows], labels: Sequence[int], distance: str = "centroid"
) -> list[tuple[int, int]]:
    """Return the pair of nodes that each merge joins; merge i makes node m + i.
    clusters : m arrays of row numbers, none empty; labels : (m,) class codes; distance : "centroid" (Euclid),
    "mahalanobis" (by the pooled covariance of both, Landeweerd et al. 1983) or "overlap" (Bhattacharyya). The nearest
    two nodes of different classes are joined into a node with a new class; among equal distances the lowest numbers."""
    kinds = {"mahalanobis": _Mahalanobis, "overlap": _Overlap}
    measure: _Centroids | _Overlap = _Centroids(X) if distance == "centroid" else kinds[distance](X, clusters)
    rows = list(clusters)
    classes = list(labels)
    alive = list(range(len(rows)))
    summaries = [measure.summary(r) for r in rows]
    total = 2 * len(rows) - 1
    D = np.full((total, total), np.inf)  # upper triangle; infinite for pairs that may not be joined

    def compare(node: int) -> None:
        for other in alive:
            if other < node and classes[other] != classes[node]:
                D[other, node] = measure.between(summaries[other], summaries[node])

    for node in alive:
        compare(node)
    merges = []
    while len(alive) > 1:
        smallest = D.min()
        if not np.isfinite(smallest):
            raise ValueError("clusters of one class only have nothing to be told apart from")
        first, second = divmod(int(np.flatnonzero(D.ravel() <= smallest * (1.0 + TIE))[0]), total)
        merges.append((first, second))
        for node in (first, second):
            alive.remove(node)
            D[node, :] = D[:, node] = np.inf
        rows.append(np.concatenate([rows[first], rows[second]]))
        classes.append(-len(rows))
        summaries.append(measure.summary(rows[-1]))
        alive.append(len(rows) - 1)
        compare(alive[-1])
    return merges


def degrees_of_overlap(X: Array, clusters: Sequence[Rows], labels: Sequence[int]) -> Array:
    """Return the largest Bhattacharyya coefficient, 0 (disjoint) to 1 (equal), between each cluster's normal
    distribution and those of other classes, 0 without other classes; (m,). Arguments as for `merge_order`."""
    measure = _Overlap(X, clusters)
    summaries = [measure.summary(rows) for rows in clusters]
    degrees = np.zeros(len(clusters))
    for b, label in enumerate(labels):
        for a in range(b):
            if labels[a] != label:
                degree = np.exp(-max(measure.between(summaries[a], summaries[b]), 0.0))
                degrees[a], degrees[b] = max(degrees[a], degree), max(degrees[b], degree)
    return degrees


class _Centroids:
    """Euclidean distance between centroids."""

    def __init__(self, X: Array) -> None:
        self.X = X

    def summary(self, rows: Rows) -> tuple[Array, ...]:
        return (self.X[rows].mean(axis=0),)

    def between(self, a: tuple[Array, ...], b: tuple[Array, ...]) -> float:
        return float(np.linalg.norm(a[0] - b[0]))


class _Overlap:
    """Bhattacharyya distance between the normal distributions of two groups, independent of units. Each covariance
    includes p + 1 rows' weight of the covariance within clusters and so is regular."""

    def __init__(self, X: Array, clusters: Sequence[Rows]) -> None:
        spread = X.std(axis=0)
        self.Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        p = X.shape[1]
        within = sum(len(rows) * np.cov(self.Z[rows].T, bias=True).reshape(p, p) for rows in clusters) / len(X)
        self.prior = (p + 1) * (within + 1e-6 * np.eye(p))

    def summary(self, rows: Rows) -> tuple[Array, ...]:
        Z = self.Z[rows]
        centered = Z - Z.mean(axis=0)
        covariance = (centered.T @ centered + self.prior) / (len(rows) + Z.shape[1] + 1)
        return Z.mean(axis=0), covariance, np.linalg.slogdet(covariance)[1]

    def between(self, a: tuple[Array, ...], b: tuple[Array, ...]) -> float:
        mean = 0.5 * (a[1] + b[1])
        gap = a[0] - b[0]
        quadratic = gap @ np.linalg.solve(mean, gap) / 8.0
        return float(quadratic + 0.5 * (np.linalg.slogdet(mean)[1] - 0.5 * (a[2] + b[2])))


class _Mahalanobis(_Overlap):
    """Squared Mahalanobis distance between the means of two groups, by their pooled covariance."""

    def summary(self, rows: Rows) -> tuple[Array, ...]:
        return (*super().summary(rows), len(rows) + self.Z.shape[1] + 1)

    def between(self, a: tuple[Array, ...], b: tuple[Array, ...]) -> float:
        gap = a[0] - b[0]
        return float(gap @ np.linalg.solve((a[3] * a[1] + b[3] * b[1]) / (a[3] + b[3]), gap))


def grow_bottom_up(
    X: Array, y: Ints, n_classes: int, clusters: Sequence[Rows], merges: Sequence[tuple[int, int]], splitter: Splitter
) -> Tree:
    """Return the tree whose leaves are the clusters and whose nodes are the merges, each with its plane; the child of
    more rows is on the left. Counts and classes are those of the clusters' rows, wherever planes send them. If no plane
    separates the children, all rows go to the larger one, the first on a tie; the other becomes a leaf without rows."""
    builder = TreeBuilder(X.shape[1], n_classes)

    def add(rows: Rows) -> int:
        return builder.add(np.bincount(y[rows], minlength=n_classes).astype(np.float64), len(rows))

    members = list(clusters)
    for rows in members:
        add(rows)
    for number, (first, second) in enumerate(merges, start=1):
        a, b = len(members[first]), len(members[second])
        rows = np.concatenate([members[first], members[second]])
        members.append(rows)
        node = add(rows)
        group = np.repeat(np.array([0, 1], dtype=np.int32), [a, b])
        plane = splitter(X[rows], group, number)
        if plane is None:
            heavier, lighter = (first, second) if a >= b else (second, first)
            builder.split(node, np.eye(1, X.shape[1])[0], float(np.finfo(np.float64).max), 0.0, heavier, lighter)
            continue
        goes_left = np.asarray(_core.project(X[rows], plane.coef)) <= plane.threshold
        left_a, left_b = int(goes_left[:a].sum()), int(goes_left[a:].sum())
        # Rows that end on the side of their own child: with the first child on the left, then with the second.
        left, right = (first, second) if left_a + (b - left_b) >= left_b + (a - left_a) else (second, first)
        builder.split(node, plane.coef, plane.threshold, plane.gain, left, right)
    return builder.finish(len(members) - 1)


def grow_below(
    tree: Tree, X: Array, y: Ints, grow: Callable[[Rows, int], Tree], replaceable: NDArray[np.bool_] | None = None
) -> Tree:
    """Return `tree` with each leaf that rows (X, y) of another class reach replaced by a tree of `grow` (row numbers,
    number of the leaf -> tree). Counts below such a leaf are those of the arriving rows.
    replaceable : (n_nodes,) leaves that may be replaced, None for all"""
    leaf_of = tree.apply(X)
    builder = TreeBuilder(tree.n_features, tree.counts.shape[1])
    stack: list[tuple[Tree, int, int]] = []

    def enter(source: Tree, node: int) -> int:
        if source is tree and tree.is_leaf[node]:
            arriving = np.flatnonzero(leaf_of == node)
            if (replaceable is None or replaceable[node]) and (y[arriving] != tree.labels[node]).any():
                source, node = grow(arriving, node), 0
        new = builder.add(source.counts[node], int(source.n_rows[node]))
        stack.append((source, node, new))
        return new

    enter(tree, 0)
    while stack:
        source, node, new = stack.pop()
        if source.is_leaf[node]:
            continue
        left, right = enter(source, int(source.left[node])), enter(source, int(source.right[node]))
        builder.split(new, source.coef_[node], float(source.thresholds[node]), float(source.gains[node]), left, right)
    return builder.finish()
