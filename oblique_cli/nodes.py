"""What binary trees of every kind have in common. Nodes are numbers, the root is 0, parents come before children."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

INDENT = "    "

# Children by node, -1 at leaves.
Children = Sequence[int] | NDArray[np.integer[Any]]


def depths_of(left: Children, right: Children) -> NDArray[np.int64]:
    """Return the distance of every node from the root, (n_nodes,)."""
    depths = np.zeros(len(left), dtype=np.int64)
    for node in np.flatnonzero(np.asarray(left) >= 0).tolist():
        depths[left[node]] = depths[right[node]] = depths[node] + 1
    return depths


def nested_rules(left: Children, right: Children, condition: Callable[[int], str], leaf: Callable[[int], str]) -> str:
    """Return a tree as nested "if" and "else". condition, leaf : what an internal node and a leaf say"""
    lines = []
    # An explicit stack, because a tree may be deeper than Python's own stack. An entry is a node, or the line between
    # two branches.
    stack: list[tuple[int | str, int]] = [(0, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, str):
            text = node
        elif left[node] < 0:
            text = leaf(node)
        else:
            text = f"if {condition(node)}:"
            stack += [(int(right[node]), depth + 1), ("else:", depth), (int(left[node]), depth + 1)]
        lines.append(INDENT * depth + text)
    return "\n".join(lines) + "\n"


def depths_of_parents(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distance of every node from the root, (n_nodes,). parents : (n_nodes,), -1 for the root"""
    depths = np.zeros(len(parents), dtype=np.int64)
    for node in range(1, len(parents)):
        depths[node] = depths[parents[node]] + 1
    return depths


def parents_of(left: Children, right: Children) -> NDArray[np.int64]:
    """Return the parent of every node, -1 for the root, (n_nodes,)."""
    parents = np.full(len(left), -1, dtype=np.int64)
    inner = np.flatnonzero(np.asarray(left) >= 0)
    for children in (left, right):
        parents[np.asarray(children)[inner]] = inner
    return parents


def spread_decreases(
    parents: NDArray[np.int64], weights: NDArray[np.float64], means: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how much of the spread about its mean each node loses by its split, 0 at leaves, (n_nodes,).

    weights : (n_nodes,) of the rows at a node; means : (n_nodes, k) what they are on average. Where means are class
    shares, a decrease is the node's weight times its Gini impurity less the same of its children.
    """
    out = np.zeros(len(parents))
    below = np.arange(1, len(parents))
    moved = ((means[below] - means[parents[below]]) ** 2).sum(axis=1)
    np.add.at(out, parents[below], weights[below] * moved)
    return out
