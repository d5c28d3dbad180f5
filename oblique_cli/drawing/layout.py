"""Positions of the nodes of a tree: a tidy tree, as narrow as its order and its symmetry allow.

Kennedy (1996), "Functional pearls: drawing trees", with a size for every node: subtrees are packed from the left and
from the right, and placed at the mean of both positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# The outermost edges of a subtree on each level, relative to the middle of its root.
Outline = tuple[Array, Array]


def tidy(children: Sequence[Sequence[int]], sizes: Sequence[float], gap: float, wider_gap: float) -> Array:
    """Return the center of every node along its level, (n_nodes,), the smallest edge at 0.

    children  : of every node, in order; node 0 is the root, and children have larger numbers than their parents
    sizes     : size of each node along its level
    gap       : least distance between the edges of siblings; `wider_gap` between neighbors of different parents

    A parent stands midway between its outermost children, equal subtrees are drawn alike, and a mirrored tree is
    drawn as the mirror image.
    """
    half = np.asarray(sizes, dtype=np.float64) / 2
    middles = np.zeros(len(children))  # relative to the middle of the parent, later to the left edge of the tree
    outlines: dict[int, Outline] = {}
    for node in range(len(children) - 1, -1, -1):  # children before their parents, since their numbers are larger
        low = high = np.empty(0)
        if below := list(children[node]):
            parts = [outlines.pop(child) for child in below]
            mirrored = [(-right, -left) for left, right in reversed(parts)]
            places = (_packed(parts, gap, wider_gap) - _packed(mirrored, gap, wider_gap)[::-1]) / 2
            middles[below] = places - (places[0] + places[-1]) / 2
            low, high = _together(parts, middles[below])
        outlines[node] = (np.append(-half[node], low), np.append(half[node], high))
    for node, lower in enumerate(children):
        middles[list(lower)] += middles[node]
    return np.asarray(middles - (middles - half).min())


def _packed(parts: Sequence[Outline], gap: float, wider_gap: float) -> Array:
    """Return the positions of neighbors packed from the left."""
    places = [0.0]
    for count, (left, _) in enumerate(parts[1:], 1):
        before = _together(parts[:count], np.array(places))[1]
        common = min(len(before), len(left))
        apart = before[:common] - left[:common] + np.where(np.arange(common) == 0, gap, wider_gap)
        places.append(float(apart.max()))
    return np.array(places)


def _together(parts: Sequence[Outline], places: Array) -> Outline:
    """Return the outline of subtrees at their positions."""
    levels = max(len(left) for left, _ in parts)
    low, high = np.full(levels, np.inf), np.full(levels, -np.inf)
    for (left, right), place in zip(parts, places, strict=True):
        low[: len(left)] = np.minimum(low[: len(left)], left + place)
        high[: len(right)] = np.maximum(high[: len(right)], right + place)
    return low, high
