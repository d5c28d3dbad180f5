"""Pruning: functions from a tree to a smaller tree.

Minimal cost-complexity pruning is that of thesis 1.7.1 (Breiman et al. 1984); reduced-error and pessimistic pruning are
those of Quinlan (1987), named there as alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oblique_cli.tree.structure import Tree

Array = NDArray[np.float64]

TIE = 1e-12  # complexities closer than this collapse in one step (Breiman et al. 1984)


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The weakest-link sequence of a tree.

    alphas     : (K,) ascending; member k is the tree in which every node of complexity <= alphas[k] is a leaf. The
                 first is -inf: the tree as grown. The last leaves the root alone.
    node_alpha : (n_nodes,) complexity at which an internal node collapses; -inf at leaves
    n_leaves   : (K,) leaves of each member
    """

    alphas: Array
    node_alpha: Array
    n_leaves: NDArray[np.int64]

    def member(self, tree: Tree, k: int) -> Tree:
        """Return member k of the sequence."""
        return tree.collapse(self.node_alpha <= self.alphas[k])


def cost_complexity_path(tree: Tree) -> PruningPath:
    """Return the weakest-link sequence: repeatedly collapse the internal node of smallest
    alpha(t) = (R(t) - R(T_t)) / (leaves(T_t) - 1), R = misclassified share of the training weight.

    Nodes tied at the smallest alpha within 1e-12 collapse together.
    """
    errors = tree.errors / tree.counts[0].sum()
    node_alpha = np.asarray(tree.walker.weakest_links(np.ascontiguousarray(errors), TIE))
    # A node below one of smaller alpha is gone before its turn, so only the running minimum from the root matters.
    effective = np.where(tree.is_leaf, -np.inf, node_alpha)
    for node in np.flatnonzero(~tree.is_leaf):
        for child in (tree.left[node], tree.right[node]):
            if not tree.is_leaf[child]:
                effective[child] = min(effective[child], effective[node])
    internal = np.sort(effective[~tree.is_leaf])
    if len(internal) == 0:
        return PruningPath(np.array([-np.inf]), node_alpha, np.array([1]))
    # A step ends where the next alpha is further away than a tie.
    last_of_step = np.append(np.diff(internal) > TIE, True)
    alphas = np.concatenate([[-np.inf], internal[last_of_step]])
    still_internal = len(internal) - np.searchsorted(internal, alphas, side="right")
    return PruningPath(alphas, node_alpha, 1 + still_internal)


def sequence_errors(
    tree: Tree, path: PruningPath, alphas: Array, X: Array, y: NDArray[np.int32], weights: Array | None = None
) -> Array:
    """Return the misclassified weight of every T(alpha) on given rows. alphas : (m,) ascending; returns (m,)."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    return np.asarray(
        tree.walker.sequence_errors(
            path.node_alpha, tree.labels, np.ascontiguousarray(alphas), X, np.ascontiguousarray(y, np.int32), weights
        )
    )


def smallest_within(errors: Array, total: float, standard_errors: float) -> int:
    """Return the last member whose error is within c standard errors of the smallest (thesis 1.7.1).

    errors : (K,) misclassified weight on independent rows weighing `total`; the standard error is
    sqrt(q (1 - q) / total) at the smallest rate q. Members shrink as k grows, so the last one is the smallest tree.
    """
    q = float(errors.min()) / total
    limit = q + standard_errors * np.sqrt(q * (1.0 - q) / total)
    return int(np.flatnonzero(errors / total <= limit + 1e-12)[-1])


def cost_complexity(
    tree: Tree, X: Array, y: NDArray[np.int32], weights: Array | None = None, standard_errors: float = 0.0
) -> Tree:
    """Prune with an independent set: the smallest member of the sequence within c standard errors of the best.

    X, y, weights : rows that were not used for growth
    """
    path = cost_complexity_path(tree)
    total = float(len(y)) if weights is None else float(weights.sum())
    if total <= 0.0:
        return tree
    errors = sequence_errors(tree, path, path.alphas, X, y, weights)
    return path.member(tree, smallest_within(errors, total, standard_errors))


def fixed_alpha(tree: Tree, alpha: float) -> Tree:
    """Return the member of the sequence at complexity `alpha` (in units of the training misclassification rate)."""
    return tree.collapse(cost_complexity_path(tree).node_alpha <= alpha)


def reduced_error(tree: Tree, X: Array, y: NDArray[np.int32], weights: Array | None = None) -> Tree:
    """Prune with an independent set, bottom-up: a branch that is not better than its root as a leaf collapses.

    Quinlan (1987). Ties collapse, so the result is the smallest of the most accurate subtrees on that set.
    """
    wrong = np.zeros(tree.n_nodes)
    w = np.ones(len(y)) if weights is None else weights
    X = np.ascontiguousarray(X, dtype=np.float64)
    here = np.zeros(len(y), dtype=np.int64)
    leaf = tree.apply(X)
    parent = np.full(tree.n_nodes, -1)
    for node in np.flatnonzero(~tree.is_leaf):
        parent[tree.left[node]] = parent[tree.right[node]] = node
    # Each row is counted at every node of its path.
    here = leaf.astype(np.int64)
    active = np.arange(len(y))
    while len(active):
        nodes = here[active]
        missed = tree.labels[nodes] != y[active]
        np.add.at(wrong, nodes[missed], w[active][missed])
        here[active] = parent[nodes]
        active = active[here[active] >= 0]
    branch = wrong.copy()
    collapse = np.zeros(tree.n_nodes, dtype=bool)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        below = branch[tree.left[node]] + branch[tree.right[node]]
        if wrong[node] <= below + 1e-12:
            collapse[node] = True
            branch[node] = wrong[node]
        else:
            branch[node] = below
    return tree.collapse(collapse)


def pessimistic(tree: Tree) -> Tree:
    """Prune without further rows: collapse a branch whose corrected error is not better by a standard error.

    Quinlan (1987): half an error is added per leaf; a branch with E errors and L leaves has E' = E + L / 2 with
    standard error sqrt(E' (n - E') / n). It becomes a leaf if its root's own errors + 1/2 are at most E' plus that.
    Nodes are visited from the root down, so a collapsed branch is not looked into.
    """
    totals = tree.counts.sum(axis=1)
    errors = tree.errors.copy()
    leaves = np.ones(tree.n_nodes)
    branch = errors.copy()
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        branch[node] = branch[tree.left[node]] + branch[tree.right[node]]
        leaves[node] = leaves[tree.left[node]] + leaves[tree.right[node]]
    corrected = branch + leaves / 2.0
    deviation = np.sqrt(corrected * np.maximum(totals - corrected, 0.0) / totals)
    collapse = ~tree.is_leaf & (errors + 0.5 <= corrected + deviation + 1e-12)
    return tree.collapse(collapse)
