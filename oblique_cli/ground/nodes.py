"""Common functions of all binary trees. Nodes are numbers, the root is 0, parents come before children."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

INDENT = "    "

# Children by node, -1 at leaves.
Children = Sequence[int] | NDArray[np.integer[Any]]

BLANK = "\N{NO-BREAK SPACE}"

# Levels of such words are not quoted; other levels, and words used in rules, are quoted so that their end is visible.
_PLAIN = re.compile(r"[\w.%+/&'’-]+([ \N{NO-BREAK SPACE}][\w.%+/&'’-]+)*")
_OURS = {"and", "or", "not", "is", "in", "with", "if", "else", "missing", "any"}


def spoken(level: str) -> str:
    """Return a level as text of a rule, in quotes if its end would be unclear."""
    if _PLAIN.fullmatch(level) and not _OURS & set(level.lower().replace(BLANK, " ").split(" ")):
        return level
    return '"' + level.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Indicator(str):
    """Name "island=Biscoe" of a feature that is 1 for one level of a column and 0 for its others.

    column, level : its parts; level "" is an empty cell"""

    column: str
    level: str

    def __new__(cls, column: str, level: str) -> Self:
        """Return the name for a column and a level."""
        made = super().__new__(cls, f"{column}={level}")
        made.column, made.level = column, level
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments for copies; plain strings have no such attributes."""
        return type(self), (self.column, self.level)

    def each(self, change: Callable[[str], str]) -> Indicator:
        """Return the name with a function applied to both parts."""
        return Indicator(change(self.column), change(self.level))

    def holds(self, positive: bool = True) -> str:
        """Return "island is Biscoe" for 1, or "island is not Biscoe", without line breaks."""
        level = spoken(self.level) if self.level else "missing"
        return BLANK.join((self.column, "is", *(() if positive else ("not",)), level))


def pairs_of(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the two indicators of each column with two levels; every row with a value has one of the two."""
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
    """Return a tree as nested "if" and "else". condition, leaf : texts of an inner node and of a leaf"""
    lines = []
    # An explicit stack, because a tree may be deeper than Python's call stack. An entry is a node, or the line between
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
    """Return the decrease of each node's spread about its mean by its split, 0 at leaves, (n_nodes,).

    weights : (n_nodes,) of the rows at a node; means : (n_nodes, k) of the rows. If means are class shares, a decrease
    is the node's weight times its Gini impurity minus the same for its children."""
    out = np.zeros(len(parents))
    below = np.arange(1, len(parents))
    moved = ((means[below] - means[parents[below]]) ** 2).sum(axis=1)
    np.add.at(out, parents[below], weights[below] * moved)
    return out


def paths(leaves: NDArray[Any], parents: NDArray[np.int64]) -> csr_matrix:
    """Return which nodes lie on the path to each leaf. leaves : (n,) node numbers; returns (n, n_nodes), sparse."""
    from scipy.sparse import csr_matrix  # predictions by files do without it

    there, which = np.unique(leaves, return_inverse=True)
    ways = []
    for leaf in there.tolist():
        way = [leaf]
        while parents[way[-1]] >= 0:
            way.append(int(parents[way[-1]]))
        ways.append(np.array(way[::-1], dtype=np.int64))
    lengths = np.array([len(way) for way in ways], dtype=np.int64)[which]
    columns = np.concatenate([ways[i] for i in which.tolist()])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return csr_matrix((np.ones(len(columns), dtype=np.int64), columns, starts), shape=(len(leaves), len(parents)))


def ranges_of(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return half the range of every column, ignoring NaN, 0 for a column of NaN only, (p,). X : (n, p)."""
    low = np.fmin.reduce(X, axis=0).astype(np.float64)
    high = np.fmax.reduce(X, axis=0).astype(np.float64)
    # Half of it, since the range of finite numbers may overflow.
    return np.where(np.isnan(low), 0.0, high / 2 - low / 2)


class Spreads(NamedTuple):
    """Statistics of the columns of rows, without missing values. means, deviations : (p,), deviations 0 for a constant;
    whole : whether all numbers of a column are whole; shares : qualitative column -> share of each level, whose mean
    and deviation are 0; low, high : (p,) least and largest number, infinite for a column without numbers"""

    means: NDArray[np.float64]
    deviations: NDArray[np.float64]
    whole: tuple[bool, ...]
    shares: dict[int, NDArray[np.float64]]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def spreads_of(X: NDArray[Any], levels: Sequence[int] = (), most: int | None = None) -> Spreads:
    """Return the statistics of rows X (n, p). levels : p counts, 0 for a quantitative column

    most : about this many rows are enough for means, deviations and shares; None for all"""
    low, high = np.fmin.reduce(X, axis=0, initial=np.inf), np.fmax.reduce(X, axis=0, initial=-np.inf)
    unknown = low > high
    low, high = np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)
    X = X if most is None else X[:: max(1, len(X) // most)]
    present = np.isfinite(X)
    counts = np.maximum(present.sum(axis=0), 1)
    known = np.where(present, X, 0.0)
    # Computed relative to the largest value, since the sum of finite numbers may overflow.
    size = np.maximum(np.abs(known).max(axis=0, initial=0.0), np.finfo(np.float64).tiny)
    scaled = known / size
    mean = scaled.sum(axis=0) / counts
    variance = (np.where(present, scaled - mean, 0.0) ** 2).sum(axis=0) / counts
    means, deviations = mean * size, np.sqrt(variance) * size
    deviations = np.where(deviations <= 1e-12 * size, 0.0, deviations)
    whole = (known == np.rint(known)).all(axis=0) & present.any(axis=0)
    shares = {}
    for j, count in enumerate(levels):
        if count:
            whole[j] = False
            codes = X[present[:, j], j].astype(np.int64)
            shares[j] = np.bincount(codes[(codes >= 0) & (codes < count)], minlength=count) / counts[j]
            means[j] = deviations[j] = 0.0
    return Spreads(means, deviations, tuple(whole.tolist()), shares, low, high)
