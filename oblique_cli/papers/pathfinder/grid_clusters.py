"""Clusters of one class against another in a plane, and the rows inside (algorithms 2, 2.1 and 3).

The work is in `core/pathfinder/`, whose comments list the choices that the paper leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array

Ints = NDArray[np.int32]


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
        """Return whether each row lies inside a cluster: on the center's side of the line through two points near it.
        U : (n, p); False for all rows without boundary points"""
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
    """Return the clusters of pair[0] against pair[1] in a plane, on a grid over the range of the rows.
    U : (n, p); y : (n,) codes"""
    corners, cluster, centers, points, owner = _core.regions(
        U, y, n_classes, *plane, *pair, grid.cells, grid.alpha, grid.theta
    )
    return GridClusters(*plane, *pair, corners, cluster, centers, points, owner)


def best_clusters(U: Array, y: Ints, n_classes: int, grid: CellGrid) -> tuple[GridClusters, float] | None:
    """Return the clusters whose inside and outside part the rows with the largest Gini gain, and the gain. The search
    goes over all planes and ordered pairs of classes, and the first wins in a tie; None without a gain. U : (n,
    p); y : (n,)"""
    best = _core.region_split(U, y, n_classes, grid.cells, grid.alpha, grid.theta)
    if best is None:
        return None
    first, second, pivot, other, gain = best
    return clusters_of(U, y, n_classes, (first, second), (pivot, other), grid), gain
