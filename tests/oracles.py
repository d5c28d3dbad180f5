"""Slow and obviously right versions of what the package does fast, for the tests to compare with.

Nothing here calls the package's search, pruning or geometry; `walk` follows a tree one row and one node at a time.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from oblique_cli.tree.structure import Tree, TreeBuilder

TOLERANCE = 1e-9  # ties: projections within this of the scale are equal, scores within this of the best are tied
NO_GAIN = 1e-13  # a gain this small is rounding


# Criteria, as thesis 1.6 and 1.8.1 write them


def impurity(shares: np.ndarray, criterion: str) -> np.ndarray:
    """Impurity of nodes with class shares (..., C)."""
    if criterion == "gini":
        return 1.0 - (shares**2).sum(axis=-1)
    if criterion == "entropy":
        logs = np.log2(shares, where=shares > 0, out=np.zeros_like(shares))
        return -(shares * logs).sum(axis=-1)
    raise ValueError(criterion)


def gains(left: np.ndarray, totals: np.ndarray, criterion: str) -> np.ndarray:
    """Score of cuts with class weights left (m, C) of a node with class weights totals (C,); returns (m,)."""
    right = totals - left
    n, n_left, n_right = totals.sum(), left.sum(axis=1), right.sum(axis=1)
    share_left, share_right = left / n_left[:, None], right / n_right[:, None]
    if criterion == "twoing":
        return n_left * n_right / n**2 / 4.0 * np.abs(share_left - share_right).sum(axis=1) ** 2
    if criterion in ("max_minority", "sum_minority"):
        minorities = np.array([n_left - left.max(axis=1), n_right - right.max(axis=1)])
        joined = minorities.max(axis=0) if criterion == "max_minority" else minorities.sum(axis=0)
        return (n - totals.max() - joined) / n
    before = impurity(totals / n, criterion)
    after = (n_left * impurity(share_left, criterion) + n_right * impurity(share_right, criterion)) / n
    return before - after


# Split search


class Winner(NamedTuple):
    order: int
    goes_left: np.ndarray
    gain: float
    low: float  # largest projection on the left
    high: float  # smallest projection on the right


def distinct_gap(X: np.ndarray, h: np.ndarray) -> float:
    """Projections on h further apart than this are distinct (the tolerant rule)."""
    reach = np.abs(h) @ (X.max(axis=0) - X.min(axis=0))
    rounding = 0.0 if np.count_nonzero(h) == 1 else 32.0 * np.finfo(float).eps * (np.abs(h) @ np.abs(X).max(axis=0))
    return TOLERANCE * reach + rounding


def naive_search(
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    n_classes: int,
    criterion: str,
    directions: np.ndarray,
    thresholds: np.ndarray | None = None,
    min_leaf: float = 1.0,
    strict: bool = False,
) -> Winner | None:
    """Every threshold of every direction (rows of `directions`), then the tie rule of docs/core.md.

    The winner is the first cut, by direction and then by threshold, whose gain is within 1e-9 of the best one's.
    """
    w = np.ones(len(y)) if weights is None else weights
    per_row = np.zeros((len(y), n_classes))
    per_row[np.arange(len(y)), y] = w
    totals = per_row.sum(axis=0)
    results: list[tuple[float, int, np.ndarray, float, float]] = []
    for order, h in enumerate(directions):
        z = X @ h
        by_z = np.argsort(z, kind="stable")
        if thresholds is None:
            gap = 0.0 if strict else distinct_gap(X, h)
            last = np.flatnonzero(np.diff(z[by_z]) > gap)  # the last row on the left
        else:
            n_left = int((z <= thresholds[order]).sum())
            last = np.array([n_left - 1] if 0 < n_left < len(y) else [], dtype=int)
        if len(last) == 0:
            continue
        left = np.cumsum(per_row[by_z], axis=0)[last]
        right = np.cumsum(per_row[by_z[::-1]], axis=0)[::-1][last + 1]
        allowed = np.minimum(left.sum(axis=1), right.sum(axis=1)) >= min_leaf * (1.0 - 1e-12)
        last, left = last[allowed], left[allowed]
        for at, gain in zip(last, gains(left, totals, criterion), strict=True):
            results.append((float(gain), order, by_z[: at + 1], float(z[by_z[at]]), float(z[by_z[at + 1]])))
    best = max((gain for gain, *_ in results), default=0.0)
    if best <= NO_GAIN:
        return None
    for gain, order, rows, low, high in results:
        if gain >= best * (1.0 - TOLERANCE):
            goes_left = np.zeros(len(y), dtype=bool)
            goes_left[rows] = True
            return Winner(order, goes_left, gain, low, high)
    raise AssertionError("the best cut is among those found")


# Geometry


def naive_householder(d: np.ndarray) -> np.ndarray:
    """The matrix of thesis 3.3.2, entry by entry. d : (p,) unit vector other than e_1."""
    p = len(d)
    H = np.zeros((p, p))
    for i in range(p):
        for j in range(p):
            if i == 0 or j == 0:
                H[i, j] = d[max(i, j)]
            else:
                H[i, j] = (1.0 if i == j else 0.0) - d[i] * d[j] / (1.0 - d[0])
    return H


def reflected_axes(u: np.ndarray) -> np.ndarray:
    """The directions of a reflection: rows of I - 2uu'."""
    return np.array([[(1.0 if i == j else 0.0) - 2.0 * u[i] * u[j] for j in range(len(u))] for i in range(len(u))])


# Trees


def walk(tree: Tree, x: np.ndarray, leaves: frozenset[int] = frozenset()) -> int:
    """The node where x stops if `leaves` were leaves."""
    node = 0
    while tree.left[node] >= 0 and node not in leaves:
        goes_left = x @ tree.coef_[node] <= tree.thresholds[node]
        node = int(tree.left[node] if goes_left else tree.right[node])
    return node


def internal_nodes(tree: Tree) -> list[int]:
    return [node for node in range(tree.n_nodes) if tree.left[node] >= 0]


def leaves_below(tree: Tree, node: int, collapsed: frozenset[int] = frozenset()) -> list[int]:
    """Leaves of the branch below a node if `collapsed` were leaves, itself if it is one."""
    if tree.left[node] < 0 or node in collapsed:
        return [node]
    return leaves_below(tree, int(tree.left[node]), collapsed) + leaves_below(tree, int(tree.right[node]), collapsed)


def reached(tree: Tree, collapsed: frozenset[int]) -> frozenset[int]:
    """Internal nodes that are left if `collapsed` were leaves."""
    out, stack = set(), [0]
    while stack:
        node = stack.pop()
        if tree.left[node] >= 0 and node not in collapsed:
            out.add(node)
            stack += [int(tree.left[node]), int(tree.right[node])]
    return frozenset(out)


def weakest_links(tree: Tree, errors: list[int]) -> list[tuple[Fraction | None, frozenset[int]]]:
    """The pruning sequence by exact arithmetic: (alpha, internal nodes left), the first with alpha None.

    errors : misclassified rows of each node as a leaf. At every step all alphas are computed anew and every node at the
    smallest one collapses (Breiman et al. 1984).
    """
    n = int(tree.counts[0].sum())
    collapsed: frozenset[int] = frozenset()
    sequence: list[tuple[Fraction | None, frozenset[int]]] = [(None, reached(tree, collapsed))]
    while sequence[-1][1]:
        alphas = {}
        for node in sequence[-1][1]:
            leaves = leaves_below(tree, node, collapsed)
            saved = errors[node] - sum(errors[leaf] for leaf in leaves)
            alphas[node] = Fraction(saved, n * (len(leaves) - 1))
        smallest = min(alphas.values())
        collapsed |= {node for node, alpha in alphas.items() if alpha == smallest}
        sequence.append((smallest, reached(tree, collapsed)))
    return sequence


def pruned_subtrees(tree: Tree, node: int = 0) -> Iterator[frozenset[int]]:
    """Every set of nodes that can be made leaves together: all prunings of the branch below a node."""
    if tree.left[node] < 0:
        yield frozenset()
        return
    yield frozenset({node})
    for left in pruned_subtrees(tree, int(tree.left[node])):
        for right in pruned_subtrees(tree, int(tree.right[node])):
            yield left | right


def random_tree(rng: np.random.Generator, n_internal: int, n_classes: int = 3, n_features: int = 2) -> Tree:
    """A tree of random shape whose leaves hold a few rows each; counts add up from the leaves to the root."""
    builder = TreeBuilder(n_features, n_classes)
    leaves, children = [0], {}
    for node in range(n_internal):
        split = leaves.pop(int(rng.integers(len(leaves))))
        children[split] = (2 * node + 1, 2 * node + 2)
        leaves += children[split]

    counts: dict[int, np.ndarray] = {}

    def count(node: int) -> np.ndarray:
        if node in children:
            counts[node] = count(children[node][0]) + count(children[node][1])
        else:
            counts[node] = rng.integers(0, 4, n_classes).astype(float)
            counts[node][rng.integers(n_classes)] += 1.0
        return counts[node]

    count(0)
    for node in range(2 * n_internal + 1):
        builder.add(counts[node], int(counts[node].sum()))
    for node, (left, right) in children.items():
        h = rng.normal(size=n_features)
        builder.split(node, h / np.linalg.norm(h), float(rng.normal()), 0.1, left, right)
    return builder.finish()


def errors_of_axis_cuts(X, y, least, error):
    """What every cut of every feature leaves: error(X, y) of its two sides, of at least `least` rows each, added up."""
    results = []
    for j in range(X.shape[1]):
        for t in np.sort(X[:, j])[:-1]:
            left = X[:, j] <= t
            if least <= left.sum() <= len(y) - least:
                results.append(error(X[left], y[left]) + error(X[~left], y[~left]))
    return results
