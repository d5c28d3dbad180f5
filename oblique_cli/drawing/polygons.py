"""Regions of a tree in a rectangle as exact polygons, without a grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.tree.structure import Tree

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DividedPolygon:
    """A rectangle divided by a tree of two features.

    leaves   leaf -> its corners in order, (k, 2); a leaf that has no area in the rectangle is left out
    cuts     inner node -> the two ends of its hyperplane inside the node's own region, (2, 2)
    """

    leaves: Mapping[int, Array]
    cuts: Mapping[int, Array]


def divide(tree: Tree, box: Array) -> DividedPolygon:
    """Cut the rectangle with corners box[0] (lower left) and box[1] (upper right) as the tree does.

    Raises ConfigError if the tree does not have two quantitative features.
    """
    if tree.n_features != 2 or any(tree.levels):
        raise ConfigError(f"a partition is drawn for two quantitative features, and the tree has {tree.n_features}.")
    (x0, y0), (x1, y1) = box
    leaves: dict[int, Array] = {}
    cuts: dict[int, Array] = {}
    stack = [(0, np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], dtype=float))]
    while stack:
        node, polygon = stack.pop()
        if tree.is_leaf[node]:
            leaves[node] = polygon
            continue
        left, right, cut = halves(polygon, tree.coef_[node], float(tree.thresholds[node]))
        if len(cut) == 2:
            cuts[node] = cut
        children = (int(tree.left[node]), left), (int(tree.right[node]), right)
        stack += [(child, part) for child, part in children if len(part) >= 3]
    return DividedPolygon(leaves, cuts)


def halves(polygon: Array, normal: Array, threshold: float) -> tuple[Array, Array, Array]:
    """Cut a convex polygon by normal @ x = threshold; return the part below, the part above, and the ends of the cut.

    A part without area has fewer than three corners; a line that only touches the polygon gives fewer than two ends.
    """
    height = polygon @ normal - threshold
    side = np.sign(height)  # the product of two small heights would underflow to zero
    below: list[Array] = []
    above: list[Array] = []
    ends: list[Array] = []
    for i, corner in enumerate(polygon):
        j = (i + 1) % len(polygon)
        if height[i] <= 0.0:
            below.append(corner)
        if height[i] >= 0.0:
            above.append(corner)
        if height[i] == 0.0:
            ends.append(corner)
        elif side[i] * side[j] < 0.0:
            crossing = corner + (polygon[j] - corner) * (height[i] / (height[i] - height[j]))
            for part in (below, above, ends):
                part.append(crossing)
    return np.array(below), np.array(above), np.array(ends)


def surroundings(X: Array, margin: float = 0.05) -> Array:
    """Return the rectangle of the rows of X (n, 2) with a margin relative to its longer side: (2, 2) corners."""
    low, high = X.min(axis=0), X.max(axis=0)
    edge = margin * float((high - low).max()) or 1.0
    return np.array([low - edge, high + edge])
