"""PATHFINDER trees, whose leaves may reject a row, and the clusters that split them (Amalaman 2015, chapter 3).

Clusters of one class against another in a plane (algorithms 2, 2.1 and 3) are the work of `core/pathfinder/`, whose
comments list the choices that the paper leaves open. Algorithm 1 grows the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.nodes import depths_of, nested_rules, parents_of

Ints = NDArray[np.int32]

SCHEMA = "oblique-region-tree/1"

# Rows that a leaf rejects.
OUTSIDE, IMPURE = "outside", "impure"


@dataclass(frozen=True, eq=False)
class CellGrid:
    """Cells per axis, and the least share of the pivot class in a row or column, and in a cluster."""

    cells: int
    alpha: float
    theta: float


@dataclass(frozen=True, eq=False)
class GridClusters:
    """Rectangles of the class `pivot` against the class `other` in the plane of two features. Arrays are read-only.

    corners : (m, 4)   x and y of the lower, then of the upper corner of each rectangle (sub-cluster)
    cluster : (m,)     the cluster of each rectangle; rectangles of a cluster touch
    centers : (m, 2)   middles of the rectangles
    points  : (k, 2)   boundary points; owner : (k,) the rectangle of each
    """

    x: int
    y: int
    pivot: int
    other: int
    corners: Array
    cluster: Ints
    centers: Array
    points: Array
    owner: Ints

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0

    def inside(self, U: Array) -> NDArray[np.bool_]:
        """Return whether each row of U (n, p) lies inside a cluster; False for all rows without boundary points."""
        if len(self.points) == 0:
            return np.zeros(len(U), dtype=bool)
        rows = np.ascontiguousarray(U[:, [self.x, self.y]])
        inside = _core.inside_regions(self.points, self.owner, self.centers, self.cluster, rows)
        return np.asarray(inside).astype(bool)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in values.items()}


def clusters_of(
    U: Array, y: Ints, n_classes: int, plane: tuple[int, int], pair: tuple[int, int], grid: CellGrid
) -> GridClusters:
    """Return the clusters of pair[0] against pair[1] in a plane, on a grid over the range of the rows U (n, p)."""
    corners, cluster, centers, points, owner = _core.regions(
        U, y, n_classes, *plane, *pair, grid.cells, grid.alpha, grid.theta
    )
    return GridClusters(*plane, *pair, corners, cluster, centers, points, owner)


def best_clusters(U: Array, y: Ints, n_classes: int, grid: CellGrid) -> tuple[GridClusters, float] | None:
    """Return the clusters of the largest Gini gain, the first in a tie, and the gain; None without a gain."""
    best = _core.region_split(U, y, n_classes, grid.cells, grid.alpha, grid.theta)
    if best is None:
        return None
    first, second, pivot, other, gain = best
    return clusters_of(U, y, n_classes, (first, second), (pivot, other), grid), gain


@dataclass(frozen=True, eq=False)
class RegionNode:
    """A node of the tree; rows inside the clusters of `split` go left.

    left, right   children, -1 at leaves
    counts        (C,) training rows of each class
    accepts       of a leaf: the clusters that a row must lie inside; None if it accepts every row (`rejects` False)
                  or none (`rejects` True)
    """

    counts: Ints
    left: int = -1
    right: int = -1
    split: GridClusters | None = None
    accepts: GridClusters | None = None
    rejects: bool = False

    @property
    def label(self) -> int:
        """Class code of the node: the most frequent class, in a tie the lowest code."""
        return int(np.argmax(self.counts))


@dataclass(frozen=True, eq=False)
class RegionTree:
    """Nodes, the root first, children after their parents."""

    nodes: tuple[RegionNode, ...]

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.nodes)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (self.n_nodes + 1) // 2

    @property
    def left(self) -> list[int]:
        """Left child of every node, -1 at leaves."""
        return [node.left for node in self.nodes]

    @property
    def right(self) -> list[int]:
        """Right child of every node, -1 at leaves."""
        return [node.right for node in self.nodes]

    @cached_property
    def depth(self) -> int:
        """Longest path from the root."""
        return int(depths_of(self.left, self.right).max())

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """Parent of every node, -1 for the root, (n_nodes,)."""
        return parents_of(self.left, self.right)

    def apply(self, U: Array) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the leaf of each row and whether the leaf rejects it. U : (n, p) normalized; returns (n,), (n,)."""
        leaves = np.zeros(len(U), dtype=np.int32)
        rejected = np.zeros(len(U), dtype=bool)
        members: list[NDArray[np.intp]] = [np.arange(len(U))] + [np.arange(0)] * (self.n_nodes - 1)
        for i, node in enumerate(self.nodes):
            rows = members[i]
            if node.split is not None:
                inside = node.split.inside(U[rows])
                members[node.left], members[node.right] = rows[inside], rows[~inside]
                continue
            leaves[rows] = i
            rejected[rows] = ~node.accepts.inside(U[rows]) if node.accepts is not None else node.rejects
        return leaves, rejected

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data for JSON, in normalized coordinates."""
        nodes = []
        for node in self.nodes:
            split, accepts = (None if part is None else part.to_dict() for part in (node.split, node.accepts))
            children = {"left": node.left, "right": node.right}
            rules = {"split": split, "accepts": accepts, "rejects": node.rejects}
            nodes.append({"counts": node.counts.tolist(), **children, **rules})
        return {"schema": SCHEMA, "nodes": nodes}


def grow(
    U: Array, y: Ints, n_classes: int, grid: CellGrid, min_node: float, min_gain: float, rejected: str = OUTSIDE
) -> RegionTree:
    """Return the tree of rows U (n, p), normalized, with class codes y (n,).

    min_node   a node of fewer rows is a leaf
    min_gain   least Gini gain of a split, as a share of the node's Gini index
    rejected   OUTSIDE: rows that lie inside no cluster of their leaf's class; IMPURE: the rows of leaves whose largest
               class has less than the share `grid.theta`
    """
    nodes: list[RegionNode] = [_node(y, n_classes)]
    parents: list[tuple[GridClusters, bool, NDArray[np.intp]] | None] = [None]
    stack = [(0, np.arange(len(y)))]
    while stack:
        i, rows = stack.pop()
        counts = nodes[i].counts
        gini = 1.0 - float(((counts / counts.sum()) ** 2).sum())
        best = None
        if gini > 0 and len(rows) >= min_node:
            best = best_clusters(np.ascontiguousarray(U[rows]), y[rows], n_classes, grid)
        if best is None or best[1] < min_gain * gini:
            if rejected == IMPURE:
                nodes[i] = RegionNode(counts, rejects=bool(counts.max() < grid.theta * counts.sum() - 1e-9))
            else:
                nodes[i] = _leaf(nodes[i], parents[i], U, y, n_classes, grid)
            continue
        split = best[0]
        inside = split.inside(U[rows])
        left, right = len(nodes), len(nodes) + 1
        nodes[i] = RegionNode(counts, left, right, split)
        for side, within in ((rows[inside], True), (rows[~inside], False)):
            nodes.append(_node(y[side], n_classes))
            parents.append((split, within, rows))
        stack += [(right, rows[~inside]), (left, rows[inside])]
    return RegionTree(tuple(nodes))


def _node(y: Ints, n_classes: int) -> RegionNode:
    return RegionNode(np.bincount(y, minlength=n_classes).astype(np.int32))


def _leaf(
    node: RegionNode,
    parent: tuple[GridClusters, bool, NDArray[np.intp]] | None,
    U: Array,
    y: Ints,
    n_classes: int,
    grid: CellGrid,
) -> RegionNode:
    """Return the node as a leaf that accepts rows inside a cluster of its class (section 3.3.3), in its parent's plane.
    A root accepts every row if it has one class, else none."""
    if parent is None:
        return RegionNode(node.counts, rejects=int((node.counts > 0).sum()) > 1)
    split, within, rows = parent
    if node.label == split.pivot:
        return RegionNode(node.counts, rejects=not within)
    clusters = clusters_of(
        np.ascontiguousarray(U[rows]), y[rows], n_classes, (split.x, split.y), (node.label, split.pivot), grid
    )
    return RegionNode(node.counts, accepts=clusters)


def export_text(tree: RegionTree, feature_names: Sequence[str], class_names: Sequence[str]) -> str:
    """Return the rules of a tree as nested "if" and "else"."""
    texts = node_texts(tree, feature_names, class_names)
    return nested_rules(tree.left, tree.right, texts.__getitem__, texts.__getitem__)


def node_texts(tree: RegionTree, feature_names: Sequence[str], class_names: Sequence[str]) -> list[str]:
    """Return the text of each node: the condition for the left child, or the class and accepted rows of a leaf."""

    def names_of_clusters(region: GridClusters) -> str:
        names = f"{class_names[region.pivot]} against {class_names[region.other]}"
        plane = f"({feature_names[region.x]}, {feature_names[region.y]})"
        clusters = f"{region.n_clusters} cluster{'' if region.n_clusters == 1 else 's'}"
        return f"inside {clusters} of {names} in {plane}, {len(region.points)} boundary points"

    def text(node: RegionNode) -> str:
        if node.split is not None:
            return names_of_clusters(node.split)
        counts = ", ".join(f"{name}: {n}" for name, n in zip(class_names, node.counts, strict=True) if n)
        label = class_names[node.label]
        if node.rejects:
            label = f"rejected, {label} if it must be"
        elif node.accepts is not None:
            label = f"{label} if {names_of_clusters(node.accepts)}, else rejected"
        return f"{label}  ({counts})"

    return list(map(text, tree.nodes))
