"""Where the nodes of a tree stand: a tidy tree, as narrow as its order and its symmetry allow.

Buchheim, Juenger & Leipert (2002), "Improving Walker's algorithm to run in linear time", with a size for every node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def tidy(children: Sequence[Sequence[int]], sizes: Sequence[float], gap: float, wider_gap: float) -> Array:
    """Return the middle of every node along its level, (n_nodes,), the smallest edge at 0.

    children  : of every node, in order; node 0 is the root, and children have larger numbers than their parents
    sizes     : what each node takes along its level
    gap       : least distance between the edges of siblings; `wider_gap` between neighbors of different parents

    A parent stands midway between its outermost children, equal subtrees look equal wherever they are, and a mirrored
    tree is drawn as the mirror image.
    """
    n = len(children)
    parent, place = [-1] * n, [0] * n
    for node, below in enumerate(children):
        for k, child in enumerate(below):
            parent[child], place[child] = node, k
    prelim, mod, shift, change = ([0.0] * n for _ in range(4))
    thread, ancestor = [-1] * n, list(range(n))

    def apart(left: int, right: int) -> float:
        return (sizes[left] + sizes[right]) / 2 + (gap if parent[left] == parent[right] else wider_gap)

    def next_left(node: int) -> int:
        return children[node][0] if children[node] else thread[node]

    def next_right(node: int) -> int:
        return children[node][-1] if children[node] else thread[node]

    def moved(node: int, default: int) -> int:
        """Push the subtree of `node` away from those of its siblings on the left; return the next default ancestor."""
        if place[node] == 0:
            return default
        siblings = children[parent[node]]
        inner_right = outer_right = node
        inner_left, outer_left = siblings[place[node] - 1], siblings[0]
        sum_inner_right, sum_outer_right = mod[inner_right], mod[outer_right]
        sum_inner_left, sum_outer_left = mod[inner_left], mod[outer_left]
        while next_right(inner_left) >= 0 and next_left(inner_right) >= 0:
            inner_left, inner_right = next_right(inner_left), next_left(inner_right)
            outer_left, outer_right = next_left(outer_left), next_right(outer_right)
            ancestor[outer_right] = node
            by = (prelim[inner_left] + sum_inner_left) - (prelim[inner_right] + sum_inner_right)
            by += apart(inner_left, inner_right)
            if by > 0.0:
                branch = ancestor[inner_left]
                branch = branch if parent[branch] == parent[node] else default
                share = by / (place[node] - place[branch])
                change[node] -= share
                change[branch] += share
                shift[node] += by
                prelim[node] += by
                mod[node] += by
                sum_inner_right += by
                sum_outer_right += by
            sum_inner_left += mod[inner_left]
            sum_inner_right += mod[inner_right]
            sum_outer_left += mod[outer_left]
            sum_outer_right += mod[outer_right]
        if next_right(inner_left) >= 0 and next_right(outer_right) < 0:
            thread[outer_right] = next_right(inner_left)
            mod[outer_right] += sum_inner_left - sum_outer_right
        if next_left(inner_right) >= 0 and next_left(outer_left) < 0:
            thread[outer_left] = next_left(inner_right)
            mod[outer_left] += sum_inner_right - sum_outer_left
            default = node
        return default

    # Children are placed before their parents, since their numbers are larger.
    for node in range(n - 1, -1, -1):
        below = children[node]
        if not below:
            continue
        default = below[0]
        for k, child in enumerate(below):
            middle = prelim[child]  # of its own children
            if k:
                prelim[child] = prelim[below[k - 1]] + apart(below[k - 1], child)
                mod[child] = prelim[child] - middle
            else:
                mod[child] = 0.0
            default = moved(child, default)
        by = rate = 0.0
        for child in reversed(below):
            prelim[child] += by
            mod[child] += by
            rate += change[child]
            by += shift[child] + rate
        prelim[node] = (prelim[below[0]] + prelim[below[-1]]) / 2
    middles, sums = np.zeros(n), [0.0] * n
    middles[0] = prelim[0]
    for node in range(1, n):
        sums[node] = sums[parent[node]] + mod[parent[node]]
        middles[node] = prelim[node] + sums[node]
    first = float((middles - np.asarray(sizes, dtype=np.float64) / 2).min())
    return np.asarray(middles - first)
