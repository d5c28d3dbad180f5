"""Class probabilities of the nodes of a tree other than the shares of its training rows.

The shares of a pure leaf are 0 and 1 however few rows it has, so the log loss of an unpruned tree is infinite. The
rules here shrink the shares of a leaf towards equal shares, those of the root, or those of its ancestors. They never
change the predicted class, which is the most frequent class of the leaf. By "dirichlet", the mean under a symmetric
Dirichlet prior, this class also has the largest probability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.tree.structure import Tree

# A tree and held-out rows: features (n, p), class codes (n,), weights (n,) or None.
Unseen = tuple[Tree, Array, NDArray[np.int32], Array | None]


class Branching(Protocol):
    """Structure of one tree, or of several concatenated trees, that rules need: children by node, -1 at leaves."""

    @property
    def left(self) -> NDArray[Any]: ...
    @property
    def right(self) -> NDArray[Any]: ...


Nodes = NDArray[Any]
ROOT = np.zeros(1, dtype=np.intp)  # the root of a single tree
COUNTS = "counts"  # the shares n_k / n
DIRICHLET = "dirichlet"  # (n_k + s / C) / (n + s) for C classes
CV = "cv"  # strength: by cross-validation
AUTO = "auto"  # strength: 1, and of "dirichlet" the one of least mean log loss in results/tables/probabilities.csv
ROWS, VOTES = 5.0, 0.5  # that strength in a tree, and in the votes of a forest
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)  # candidates for cross-validation
LEAST = float(np.finfo(np.float64).eps)  # least probability in a log loss, as in the metric `log_loss`


def laplace(tree: Branching, counts: Array, strength: float, roots: Nodes = ROOT) -> Array:
    """Return (n_k + s) / (n + s C) for C classes: Laplace's rule of succession with s = 1."""
    return _divided(counts + strength, counts.sum(axis=1) + strength * counts.shape[1], counts[roots])


def m_estimate(tree: Branching, counts: Array, strength: float, roots: Nodes = ROOT) -> Array:
    """Return (n_k + m P_k) / (n + m), P_k the share of class k at the root (Cestnik 1990)."""
    prior = counts[roots] / counts[roots].sum(axis=1, keepdims=True)
    return _divided(counts + strength * prior, counts.sum(axis=1) + strength, counts[roots])


def shrinkage(tree: Branching, counts: Array, strength: float, roots: Nodes = ROOT) -> Array:
    """Return hierarchical shrinkage (Agarwal et al. 2022, equation 2): the shares of the root, plus every change of
    shares on the path, divided by 1 + s / n of the node above. Computed as a mean of the shares on the path with
    non-negative weights, so that rounding gives no probability outside 0 and 1."""
    n = counts.sum(axis=1)
    shares = _divided(counts, n, counts[roots])
    # fixed : the part of a node's probabilities that does not depend on the rest of the path.
    fixed, weight = np.zeros_like(counts), np.ones(len(counts))
    for inner in inner_by_depth(tree, roots):
        held, above = n[inner], weight[inner]
        retained = np.divide(held, held + strength, out=np.ones(len(inner)), where=held > 0.0)
        below = np.minimum(retained, above)
        for children in (tree.left[inner], tree.right[inner]):
            fixed[children] = fixed[inner] + (above - below)[:, None] * shares[inner]
            weight[children] = below
            empty = n[children] == 0.0  # in a tree merged from clusters
            shares[children[empty]] = shares[inner[empty]]
    return np.asarray(fixed + weight[:, None] * shares)


def inner_by_depth(tree: Branching, roots: Nodes = ROOT) -> Iterator[Nodes]:
    """Yield the inner nodes, grouped by depth, from the roots down."""
    left, right = np.asarray(tree.left), np.asarray(tree.right)
    nodes = np.unique(roots)
    while len(inner := nodes[left[nodes] >= 0]):
        yield inner
        nodes = np.concatenate([left[inner], right[inner]])


def _divided(values: Array, totals: Array, root: Array) -> Array:
    """Return rows of values divided by their totals; a node without rows gets the shares of the root."""
    empty = totals <= 0.0
    shares = root / root.sum(axis=1, keepdims=True)
    return np.asarray(np.where(empty[:, None], shares, values / np.where(empty, 1.0, totals)[:, None]))


def strength_of(rule: str, strength: float | str, usual: float = ROWS) -> float | str:
    """Return the strength of a rule. strength : a number, how it is chosen, or "auto"; usual : of "dirichlet"."""
    if strength != AUTO:
        return strength
    return usual if rule == DIRICHLET else 1.0


# A rule takes children, counts (n_nodes, C), strength, and the root of every node, (n_nodes,), or the one root, (1,).
Rule = Callable[[Branching, Array, float, Nodes], Array]
RULES: Mapping[str, Rule | None] = MappingProxyType(
    {DIRICHLET: None, COUNTS: None, "laplace": laplace, "m_estimate": m_estimate, "shrinkage": shrinkage}
)


def with_probabilities(tree: Tree, rule: str, strength: float) -> Tree:
    """Return the tree with the probabilities by a rule of `RULES`. strength : in units of its counts"""
    estimate = RULES[rule]
    if rule == DIRICHLET:
        return tree.with_prior(strength)
    return tree if estimate is None else tree.with_probabilities(estimate(tree, tree.counts, strength, ROOT))


def best_strength(rule: str, folds: Iterable[Unseen]) -> float:
    """Return the strength of `STRENGTHS` with the least log loss on held-out rows, the first of equals.
    folds : for each fold, a tree and rows that it was not grown on"""

    def shares_of(tree: Tree, leaves: Nodes, strength: float) -> Array:
        return with_probabilities(tree, rule, strength).shares[leaves]

    of_folds = ((partial(shares_of, tree, tree.apply(X)), *classes) for tree, X, *classes in folds)
    return least_log_loss(STRENGTHS, of_folds)


def least_log_loss(candidates: Sequence[float], folds: Iterable[Any]) -> float:
    """Return the candidate with the least log loss on held-out rows, the first of equals.
    folds : for each fold, candidate -> shares (n, C), class codes (n,), weights (n,) or None"""
    losses = np.zeros(len(candidates))
    for shares_of, codes, weights in folds:
        for i, candidate in enumerate(candidates):
            each = -np.log(np.maximum(shares_of(candidate)[np.arange(len(codes)), codes], LEAST))
            losses[i] += each.sum() if weights is None else each @ weights
    return candidates[int(np.argmin(losses))]
