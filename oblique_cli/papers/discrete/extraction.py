"""Spectrum of a tree: by the paper's walk along the paths, or by a table with a fast transform.

Kargupta et al. (2006), section 4.2 and figure 3. Let F be the mean of the function below a node. A node n that splits
on feature k adds F(child of x_k) - F(n) to the function on its part of the domain. The node therefore adds to exactly
those partitions that hold k and any of the features on the path to n (lemma 4):

    w_j += |n| / |domain| * (1 / lambda_k) sum_i F(child i) psi_{j_k}(i) * prod psi_{j_a}(b_a) over path features a in j

This is the paper's ExtractFS, applied to all nodes of the tree at once. The number of terms is the sum over internal
nodes of (lambda_k - 1) prod of the lambdas on the path, about 2^depth a node for two values, whatever the number of
features in the domain. If the tree uses few features, a table of all their values and a fast Walsh-Hadamard transform
(for more than two values, Fourier) are quicker.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree
from oblique_cli.papers.discrete.domain import Domain, Ints, phases
from oblique_cli.papers.discrete.spectrum import Spectrum, TooLarge

TABLE_POINTS = 2**20  # largest table
MAX_TERMS = 2**22  # most terms of one tree
MAX_BYTES = 2**31  # memory of terms while they are summed; with many outputs fewer terms fit
MOST_COUNTED = 10**15  # the count of terms stops at this number
GROUP = 16  # size of the matrices of the fast transform


def spectrum_of(
    tree: DiscreteTree,
    leaf_values: NDArray[Any],
    *,
    max_order: int | None = None,
    max_terms: int | None = None,
    method: str = "auto",
) -> Spectrum:
    """Return the exact spectrum of the function that a tree computes.

    leaf_values : (n_nodes, K) value of K functions at each leaf; values at internal nodes are not read
    max_order   : leave out coefficients of higher order, without effect on the others
    max_terms   : TooLarge if more terms than this would have to be summed; None for MAX_TERMS, or what MAX_BYTES hold
    method      : "paths", "table", or "auto" for the faster method
    """
    values = np.array(leaf_values, dtype=np.float64).reshape(tree.n_nodes, -1)
    used = sorted({int(k) for k in tree.feature[~tree.is_leaf]})
    table = math.prod(tree.domain.cardinalities[k] for k in used)
    terms = count_terms(tree, max_order)
    if method == "auto":
        # A term of the paths is sorted and summed, which takes some twenty times as long as a point of the table.
        method = "table" if table <= min(TABLE_POINTS, max(20 * terms, 4096)) else "paths"
    if method == "table":
        if table > TABLE_POINTS:
            raise TooLarge(
                f"a table over the {len(used)} features of this tree has {table} points, more than the {TABLE_POINTS} "
                "allowed; use method 'paths'."
            )
        return _by_table(tree, values, used).truncated(max_order=max_order)
    if max_terms is None:
        max_terms = min(MAX_TERMS, MAX_BYTES // bytes_a_term(tree.domain, values.shape[1]))
    if terms > max_terms:
        raise TooLarge(
            f"the spectrum of a tree of depth {tree.depth} and {tree.n_leaves} leaves takes {terms} terms"
            f"{' or more' if terms == MOST_COUNTED else ''}, more than "
            f"the {max_terms} allowed; lower max_order or max_depth, or prune more (confidence)."
        )
    return _by_paths(tree, values, max_order)


def count_terms(tree: DiscreteTree, max_order: int | None = None) -> int:
    """Return the number of terms of the walk along the paths, including order 0, or MOST_COUNTED if there are more."""
    inner = np.flatnonzero(~tree.is_leaf)
    if max_order == 0 or len(inner) == 0:
        return 1
    features = tree.paths[0][inner]
    lambdas = np.where(features >= 0, tree.domain.lambdas[features], 1).astype(np.float64)
    partitions = tree.domain.lambdas[tree.feature[inner]] - 1.0
    if max_order is None:
        with np.errstate(over="ignore"):
            return 1 + int(min(partitions @ lambdas.prod(axis=1), MOST_COUNTED - 1))
    # ways[r] = number of partitions with r features of the path: coefficients of prod_a (1 + (lambda_a - 1) z).
    ways = np.zeros((len(inner), max_order))
    ways[:, 0] = 1.0
    for column in lambdas.T:
        ways[:, 1:] = np.minimum(ways[:, 1:] + ways[:, :-1] * (column[:, None] - 1.0), MOST_COUNTED)
    return 1 + int(min(partitions @ ways.sum(axis=1), MOST_COUNTED - 1))


def bytes_a_term(domain: Domain, n_outputs: int) -> int:
    """Return an upper bound of the memory of a term during summation: several copies of its key and weights."""
    return 120 + 40 * domain.n_words + 4 * (8 if domain.is_binary else 16) * n_outputs


def node_means(tree: DiscreteTree, leaf_values: Array) -> Array:
    """Return the mean of the function below every node (F of section 4.2), (n_nodes, K)."""
    means = np.array(leaf_values, dtype=np.float64)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        means[node] = means[tree.children(node)].mean(axis=0)
    return means


def _by_paths(tree: DiscreteTree, leaf_values: Array, max_order: int | None) -> Spectrum:
    domain = tree.domain
    means = node_means(tree, leaf_values)
    inner = np.flatnonzero(~tree.is_leaf)
    real = all(domain.cardinalities[k] <= 2 for k in tree.feature[inner])
    number = np.float64 if real and domain.is_binary else np.complex128
    origin = np.zeros((1, domain.n_words), dtype=np.uint64)
    if len(inner) == 0 or max_order == 0:
        return Spectrum(domain, origin, means[:1].astype(number)).cleaned()
    terms = _own_terms(tree, inner, means, number)
    where, keys, weights, orders = terms
    features, values = (array[inner] for array in tree.paths)
    for level in range(features.shape[1]):
        # Each term so far, repeated for each of its possible values of the feature on this level of its path.
        longer = np.ones(len(where), dtype=bool) if max_order is None else orders < max_order
        new_where, new_keys, new_weights, new_orders = [where], [keys], [weights], [orders]
        k_of, b_of = features[where, level], values[where, level]
        for cardinality in {domain.cardinalities[k] for k in features[:, level] if k >= 0}:
            table = phases(cardinality)
            fits = longer & (k_of >= 0)
            fits[fits] = domain.lambdas[k_of[fits]] == cardinality
            rows = np.flatnonzero(fits)
            word, shift = _fields(domain, k_of[rows])
            for p in range(1, cardinality):
                more = keys[rows]
                more[np.arange(len(rows)), word] |= np.uint64(p) << shift
                new_where.append(where[rows])
                new_keys.append(more)
                new_weights.append(weights[rows] * table[p, b_of[rows], None])
                new_orders.append(orders[rows] + 1)
        where, keys = np.concatenate(new_where), np.concatenate(new_keys)
        weights, orders = np.concatenate(new_weights), np.concatenate(new_orders)
    keys = np.concatenate([origin, keys])
    weights = np.concatenate([means[:1].astype(number), weights])
    return Spectrum.of_terms(domain, keys, weights)


def _own_terms(tree: DiscreteTree, inner: Ints, means: Array, number: Any) -> tuple[Any, ...]:
    """Return the terms of order 1 of each internal node's feature: place in `inner`, key, weight (K,), order."""
    domain = tree.domain
    where, keys, weights = [], [], []
    features = tree.feature[inner]
    for cardinality in sorted({domain.cardinalities[k] for k in features}):
        at = np.flatnonzero(domain.lambdas[features] == cardinality)
        below = means[tree.first_child[inner[at]][:, None] + np.arange(cardinality)]  # (nodes, lambda, K)
        word, shift = _fields(domain, features[at])
        for p in range(1, cardinality):
            key = np.zeros((len(at), domain.n_words), dtype=np.uint64)
            key[np.arange(len(at)), word] = np.uint64(p) << shift
            amplitude = np.tensordot(below, phases(cardinality)[p], axes=(1, 0)) / cardinality
            amplitude = amplitude * tree.measures[inner[at], None]
            where.append(at)
            keys.append(key)
            weights.append(amplitude.astype(number))
    terms = np.concatenate(where), np.concatenate(keys), np.concatenate(weights)
    # Branches of equal mean add nothing, and neither would the terms derived from them.
    alive = np.abs(terms[2]).max(axis=1) > 0.0
    return (*(part[alive] for part in terms), np.ones(int(alive.sum()), dtype=np.int8))


def _fields(domain: Domain, features: Ints) -> tuple[Ints, NDArray[np.uint64]]:
    words, shifts, _ = domain.layout
    return words[features], shifts[features]


def _by_table(tree: DiscreteTree, leaf_values: Array, used: list[int]) -> Spectrum:
    domain = tree.domain
    # Axes in falling weight of their fields in a key, so that the table is in the order of keys.
    places = {k: domain.place(k)[:2] for k in used}
    axes = sorted(used, key=lambda k: (places[k][0], -int(places[k][1])))
    sizes = [domain.cardinalities[k] for k in axes]
    axis_of = {feature: axis for axis, feature in enumerate(axes)}
    table = np.zeros((leaf_values.shape[1], *sizes))
    features, values = tree.paths
    leaves = np.flatnonzero(tree.is_leaf & (leaf_values != 0).any(axis=1))
    for leaf, on_path, held in zip(leaves, features[leaves].tolist(), values[leaves].tolist(), strict=True):
        box: list[Any] = [slice(None)] * (1 + len(axes))
        for k, b in zip(on_path, held, strict=True):
            if k >= 0:
                box[1 + axis_of[k]] = b
        part = table[tuple(box)]
        part += leaf_values[leaf].reshape(-1, *[1] * (part.ndim - 1))
    weights = np.stack([transform(plane, sizes) for plane in table], axis=1)
    if domain.is_binary:
        weights = np.ascontiguousarray(weights.real)
    elif not np.iscomplexobj(weights):
        weights = weights.astype(np.complex128)
    keys = np.zeros((1, domain.n_words), dtype=np.uint64)
    for k in reversed(axes):
        word, shift = places[k]
        more = np.zeros((domain.cardinalities[k], 1, domain.n_words), dtype=np.uint64)
        more[:, 0, word] = np.arange(domain.cardinalities[k], dtype=np.uint64) << shift
        keys = (more | keys).reshape(-1, domain.n_words)
    return Spectrum(domain, keys, weights).cleaned()


def transform(table: NDArray[Any], sizes: list[int]) -> NDArray[Any]:
    """Return the mean of f psi_j for all j, from a table of f over all values of features of these sizes. A matrix
    product transforms each group of features in place. For two values a feature this is the fast
    Walsh-Hadamard transform, four features at a time."""
    flat = np.asarray(table).reshape(-1)
    scale = 1.0 / len(flat)
    start, before = 0, 1  # the group's first feature, and the number of combinations of values before it
    while start < len(sizes):
        stop, matrix = start, np.ones((1, 1))
        while stop < len(sizes) and (stop == start or len(matrix) * sizes[stop] <= GROUP):
            matrix = np.kron(matrix, phases(sizes[stop]))
            stop += 1
        parts = flat.reshape(before, len(matrix), -1)
        # No group follows the last one: one product with the transpose, which equals the matrix, is faster.
        flat = (parts[:, :, 0] @ matrix if parts.shape[2] == 1 else matrix @ parts).reshape(-1)
        start, before = stop, before * len(matrix)
    return flat * scale
