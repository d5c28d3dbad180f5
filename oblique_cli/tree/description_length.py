"""The number of bits that send the classes of the training rows by a tree, for minimum-description-length pruning.

Quinlan & Rivest (1989) and Mehta, Rissanen & Agrawal (1995): sender and receiver both have the rows without their
classes. The sender sends the tree, and at each leaf the classes of its rows. A branch pays for itself if it saves more
bits at the leaves than it takes. Both papers have axis-parallel splits only; the code for hyperplanes is ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from oblique_cli.tree.structure import Tree

Array = NDArray[np.float64]

NODE = 1.0  # bits that say whether a node is a leaf


def class_bits(counts: Array) -> Array:
    """Return the bits of the classes of the rows at each node. counts : (n_nodes, C) weights; returns (n_nodes,).

    The mixture of Krichevsky and Trofimov, in which a class that was seen k times in n rows has probability
    (k + 1/2) / (n + C/2) as the next one: -log2 of Gamma(C/2) / Gamma(n + C/2) times the product over the classes of
    Gamma(n_k + 1/2) / Gamma(1/2). For many rows that is the stochastic complexity of Mehta et al. (1995, equation 1),
    n times the entropy plus (C - 1) / 2 times log2(n / 2) and a constant. Their formula is below 0 where rows are few
    and classes many; this one is the length of a code whatever they are.
    """
    n, classes = counts.sum(axis=1), counts.shape[1]
    nats = gammaln(n + classes / 2) - gammaln(classes / 2)
    nats -= gammaln(counts + 0.5).sum(axis=1) - classes * gammaln(0.5)
    bits: Array = nats / np.log(2.0)
    return bits


def split_bits(tree: Tree) -> Array:
    """Return the bits of the hyperplane of each node, (n_nodes,), 0 at leaves.

    A hyperplane over k of p features is: the number k (log2 p bits), which features (log2 of p over k), and which of
    the divisions of the n rows at the node that hyperplanes of k features can make. Rows in general position have
    sum_{i=1..k} of (n - 1) over i of these (Cover 1965), and all coefficients that divide the rows alike are one
    message, so neither a number of digits nor a prior of the coefficients has to be chosen. For an axis k = 1, and the
    last part is log2(n - 1), that of Mehta et al. With k >= n - 1 every division can be made and takes n - 1 bits, as
    much as the labels of two classes: dense hyperplanes of few rows never pay.

    A qualitative feature has a coefficient for each level but one. The side of missing values is one bit, in a tree
    that has such.
    """
    bits = np.zeros(tree.n_nodes)
    n_rows, p = tree.counts.sum(axis=1), tree.n_features
    free = np.maximum(np.array(tree.levels) - 1, 1)
    for node in np.flatnonzero(~tree.is_leaf):
        used = tree.coef_[node] != 0.0
        chosen = np.log2(p) + _log2_binomial(p, float(used.sum()))
        bits[node] = chosen + log2_divisions(int(n_rows[node] + 1e-9), int(free[used].sum()))
    return bits + (tree.missing_left is not None) * ~tree.is_leaf


def log2_divisions(n: int, k: int) -> float:
    """Return log2 of the number of ways in which hyperplanes divide n points in general position in k dimensions.

    Both sides have a point, and sides have no names. At least one way, whatever n.
    """
    if n <= 2:
        return 0.0
    if k >= n - 1:
        return float(n - 1 + np.log2(1.0 - 2.0 ** (1 - n)))
    return float(logsumexp(_log2_binomial(n - 1, np.arange(1, k + 1)) * np.log(2.0)) / np.log(2.0))


def _log2_binomial(n: int, k: NDArray[Any] | float) -> Array:
    bits: Array = (gammaln(n + 1) - gammaln(np.asarray(k) + 1) - gammaln(n - np.asarray(k) + 1)) / np.log(2.0)
    return bits
