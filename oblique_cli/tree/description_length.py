"""Description length of the training classes given a tree, for minimum-description-length pruning.

Quinlan & Rivest (1989) and Mehta, Rissanen & Agrawal (1995): sender and receiver both have the rows without their
classes. The sender transmits the tree and, for each leaf, the classes of its rows. A branch is worth its bits if it
saves more bits at the leaves than it costs. The papers have axis-parallel splits; the code for hyperplanes is ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from oblique_cli.ground.arrays import Array
from oblique_cli.tree.structure import Tree

NODE = 1.0  # bits that encode whether a node is a leaf


def class_bits(counts: Array) -> Array:
    """Return the bits that encode the classes of the rows at each node, (n_nodes,).
    counts : (n_nodes, C) weights. Uses the mixture of Krichevsky and Trofimov: after k rows of a class among n, the
    next row has that class with probability (k + 1/2) / (n + C/2). Equation 1 of Mehta et al. (1995) is the limit for
    many rows, but is negative for few rows of many classes."""
    n, classes = counts.sum(axis=1), counts.shape[1]
    nats = gammaln(n + classes / 2) - gammaln(classes / 2)
    nats -= gammaln(counts + 0.5).sum(axis=1) - classes * gammaln(0.5)
    return np.asarray(nats / np.log(2.0))


def split_bits(tree: Tree) -> Array:
    """Return the bits of the hyperplane of each node, (n_nodes,), 0 at leaves: the number k of its features, which k of
    p, and which of the divisions of n rows that k features allow (Cover 1965). So neither a number of digits nor a
    prior of coefficients is needed; for k = 1 this is Mehta et al. A feature of L levels has L - 1 coefficients."""
    bits = np.zeros(tree.n_nodes)
    n_rows, p = tree.counts.sum(axis=1), tree.n_features
    free = np.maximum(np.array(tree.levels) - 1, 1)
    for node in np.flatnonzero(~tree.is_leaf):
        used = tree.coef_[node] != 0.0
        chosen = np.log2(p) + _log2_binomial(p, float(used.sum()))
        bits[node] = chosen + log2_divisions(int(n_rows[node] + 1e-9), int(free[used].sum()))
    return bits + (tree.missing_left is not None) * ~tree.is_leaf


def log2_divisions(n: int, k: int) -> float:
    """Return log2 of the number (at least 1) of ways in which hyperplanes divide n points in general position in k
    dimensions into two unordered sides."""
    if n <= 2:
        return 0.0
    if k >= n - 1:
        return float(n - 1 + np.log2(1.0 - 2.0 ** (1 - n)))
    return float(logsumexp(_log2_binomial(n - 1, np.arange(1, k + 1)) * np.log(2.0)) / np.log(2.0))


def _log2_binomial(n: int, k: NDArray[Any] | float) -> Array:
    return np.asarray((gammaln(n + 1) - gammaln(np.asarray(k) + 1) - gammaln(n - np.asarray(k) + 1)) / np.log(2.0))
