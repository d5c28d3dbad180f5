"""What binary trees of every kind have in common. Nodes are numbers, the root is 0, parents come before children."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

INDENT = "    "

# Children by node, -1 at leaves.
Children = Sequence[int] | NDArray[np.integer[Any]]

BLANK = "\N{NO-BREAK SPACE}"

# A level of such words stands as it is; of others, and of words that rules are made of, quotes show where it ends.
_PLAIN = re.compile(r"[\w.%+/&'’-]+([ \N{NO-BREAK SPACE}][\w.%+/&'’-]+)*")
_OURS = {"and", "or", "not", "is", "in", "with", "if", "else", "missing", "any"}


def spoken(level: str) -> str:
    """Return a level as it stands in a rule: in quotes where its end would not be seen."""
    if _PLAIN.fullmatch(level) and not _OURS & set(level.lower().replace(BLANK, " ").split(" ")):
        return level
    return '"' + level.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Indicator(str):
    """The name "island=Biscoe" of a feature that is 1 for one level of a column and 0 for its others.

    column, level : what it is made of; level "" is an empty cell
    """

    column: str
    level: str

    def __new__(cls, column: str, level: str) -> Self:
        """Return the name of both."""
        made = super().__new__(cls, f"{column}={level}")
        made.column, made.level = column, level
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a copy is made, which other strings need not say."""
        return type(self), (self.column, self.level)

    def each(self, change: Callable[[str], str]) -> Indicator:
        """Return the name with both parts changed."""
        return Indicator(change(self.column), change(self.level))

    def holds(self, positive: bool = True) -> str:
        """Return "island is Biscoe" for 1, or "island is not Biscoe"; no line breaks within it."""
        level = spoken(self.level) if self.level else "missing"
        return BLANK.join((self.column, "is", *(() if positive else ("not",)), level))


def pairs_of(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the two indicators of each column with two levels; every row with a value has one of them."""
    of_column: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        if isinstance(name, Indicator):
            of_column.setdefault(name.column, []).append(j)
    return [(indicators[0], indicators[1]) for indicators in of_column.values() if len(indicators) == 2]


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
