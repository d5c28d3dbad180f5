"""Where the nodes of a tree stand: a tidy tree, as narrow as its order and its symmetry allow.

Buchheim, Juenger & Leipert (2002), "Improving Walker's algorithm to run in linear time", with a size for every node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class _Walk:
    """The walk from leaves to the root: the place of each node among its siblings, and what moves its subtree."""

    def __init__(self, children: Sequence[Sequence[int]], sizes: Sequence[float], gap: float, wider_gap: float) -> None:
        n = len(children)
        self.children, self.sizes, self.gap, self.wider_gap = children, sizes, gap, wider_gap
        self.parent, self.place = [-1] * n, [0] * n
        for node, below in enumerate(children):
            for k, child in enumerate(below):
                self.parent[child], self.place[child] = node, k
        self.prelim, self.mod, self.shift, self.change = ([0.0] * n for _ in range(4))
        self.thread, self.ancestor = [-1] * n, list(range(n))

    def apart(self, left: int, right: int) -> float:
        """Return the least distance between the middles of two neighbors."""
        siblings = self.parent[left] == self.parent[right]
        return (self.sizes[left] + self.sizes[right]) / 2 + (self.gap if siblings else self.wider_gap)

    def next_left(self, node: int) -> int:
        return self.children[node][0] if self.children[node] else self.thread[node]

    def next_right(self, node: int) -> int:
        return self.children[node][-1] if self.children[node] else self.thread[node]

    def moved(self, node: int, default: int) -> int:
        """Push the subtree of `node` away from those of its siblings on the left; return the next default ancestor."""
        if self.place[node] == 0:
            return default
        prelim, mod, place = self.prelim, self.mod, self.place
        siblings = self.children[self.parent[node]]
        inner_right = outer_right = node
        inner_left, outer_left = siblings[place[node] - 1], siblings[0]
        sum_inner_right, sum_outer_right = mod[inner_right], mod[outer_right]
        sum_inner_left, sum_outer_left = mod[inner_left], mod[outer_left]
        while self.next_right(inner_left) >= 0 and self.next_left(inner_right) >= 0:
            inner_left, inner_right = self.next_right(inner_left), self.next_left(inner_right)
            outer_left, outer_right = self.next_left(outer_left), self.next_right(outer_right)
            self.ancestor[outer_right] = node
            by = (prelim[inner_left] + sum_inner_left) - (prelim[inner_right] + sum_inner_right)
            by += self.apart(inner_left, inner_right)
            if by > 0.0:
                branch = self.ancestor[inner_left]
                branch = branch if self.parent[branch] == self.parent[node] else default
                share = by / (place[node] - place[branch])
                self.change[node] -= share
                self.change[branch] += share
                self.shift[node] += by
                prelim[node] += by
                mod[node] += by
                sum_inner_right += by
                sum_outer_right += by
            sum_inner_left += mod[inner_left]
            sum_inner_right += mod[inner_right]
            sum_outer_left += mod[outer_left]
            sum_outer_right += mod[outer_right]
        if self.next_right(inner_left) >= 0 and self.next_right(outer_right) < 0:
            self.thread[outer_right] = self.next_right(inner_left)
            mod[outer_right] += sum_inner_left - sum_outer_right
        if self.next_left(inner_right) >= 0 and self.next_left(outer_left) < 0:
            self.thread[outer_left] = self.next_left(inner_right)
            mod[outer_left] += sum_inner_right - sum_outer_left
            default = node
        return default

    def gather(self, node: int) -> None:
        """Place the children of a node beside each other, and the node above their middle."""
        below, prelim, mod = self.children[node], self.prelim, self.mod
        default = below[0]
        for k, child in enumerate(below):
            middle = prelim[child]  # of its own children
            if k:
                prelim[child] = prelim[below[k - 1]] + self.apart(below[k - 1], child)
                mod[child] = prelim[child] - middle
            default = self.moved(child, default)
        by = rate = 0.0
        for child in reversed(below):
            prelim[child] += by
            mod[child] += by
            rate += self.change[child]
            by += self.shift[child] + rate
        prelim[node] = (prelim[below[0]] + prelim[below[-1]]) / 2


def tidy(children: Sequence[Sequence[int]], sizes: Sequence[float], gap: float, wider_gap: float) -> Array:
    """Return the middle of every node along its level, (n_nodes,), the smallest edge at 0.

    children  : of every node, in order; node 0 is the root, and children have larger numbers than their parents
    sizes     : what each node takes along its level
    gap       : least distance between the edges of siblings; `wider_gap` between neighbors of different parents

    A parent stands midway between its outermost children, equal subtrees look equal wherever they are, and a mirrored
    tree is drawn as the mirror image.
    """
    walk = _Walk(children, sizes, gap, wider_gap)
    for node in range(len(children) - 1, -1, -1):  # children before their parents, since their numbers are larger
        if children[node]:
            walk.gather(node)
    middles, sums = np.array(walk.prelim), [0.0] * len(children)
    for node in range(1, len(children)):
        above = walk.parent[node]
        sums[node] = sums[above] + walk.mod[above]
        middles[node] += sums[node]
    return np.asarray(middles - (middles - np.asarray(sizes, dtype=np.float64) / 2).min())
