"""What the leaves of a forest say of numbers: means of their rows, or ridge regressions on them.

Throughout, `numbers` (n, trees) are the places of the rows' leaves among all leaves, and `held` (trees, n) is the
weight that a row has in a tree, 0 where the tree did not draw it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RIDGES = (0.1, 1.0, 10.0, 100.0)  # penalties that rows out of bag choose among


def means_of(numbers: NDArray[np.int64], held: Array, targets: Array, n_leaves: int) -> Array:
    """Return the weighted mean of the targets of each leaf's rows, (leaves, 1). targets : (n,)

    Of targets (n, k) a mean each, (leaves, k, 1).
    """
    if targets.ndim > 1:
        return np.stack([means_of(numbers, held, target, n_leaves) for target in targets.T], axis=1)
    total, sums = np.zeros(n_leaves), np.zeros(n_leaves)
    middle = targets.mean()  # digits are not lost to an offset
    for at, weights in zip(numbers.T, held, strict=True):
        total += np.bincount(at, weights, n_leaves)
        sums += np.bincount(at, weights * (targets - middle), n_leaves)
    return np.asarray(sums / total + middle)[:, None]


def equations_of(
    numbers: NDArray[np.int64],
    held: Array,
    rows: Array,
    targets: Array,
    n_leaves: int,
    ridges: Sequence[float],
) -> dict[float, Array]:
    """Return for every penalty the equations of all leaves, (leaves, p + 3).

    rows : (n, p), targets : (n,). An equation has its coefficients, its intercept, and the least and the largest target
    of the leaf's rows. It is the least sum of w (y - a - b z)^2 + ridge |b|^2 over the rows of a leaf, z being the
    features over their standard deviations among all rows. Without a penalty the shortest of several solutions is
    taken. Of targets (n, k) there is an equation each, (leaves, k, p + 3), all of a leaf with one matrix of products.
    """
    p, every = rows.shape[1], targets.reshape(len(targets), -1)
    center, scale = rows.mean(axis=0), rows.std(axis=0)
    # A constant column says nothing, and rounding of its mean is no deviation.
    known = scale > 1e-12 * np.maximum(np.abs(rows).max(axis=0), np.finfo(float).tiny)
    z = np.where(known, (rows - center) / np.where(known, scale, 1.0), 0.0)
    out = {ridge: np.empty((n_leaves, every.shape[1], p + 3)) for ridge in ridges}
    for leaf, there, weights in _leaves(numbers, held):
        total = weights.sum()
        mean = weights @ z[there] / total
        off = z[there] - mean
        values, vectors = np.linalg.eigh((off.T * weights) @ off)
        least = max(float(values[-1]), 0.0) * 1e-10 * p
        raw = center + np.where(known, mean * scale, 0.0)
        for k, target in enumerate(every[there].T):
            middle = float(weights @ target / total)
            along = vectors.T @ (off.T @ (weights * (target - middle)))
            for ridge, equations in out.items():
                below = np.where(values > least, values, 0.0) + ridge
                with np.errstate(divide="ignore", invalid="ignore"):
                    coef = vectors @ np.where((below > 0.0) & (values > least), along / below, 0.0)
                coef = np.where(known, coef / np.where(known, scale, 1.0), 0.0)
                equations[leaf, k, :p] = coef
                equations[leaf, k, p:] = middle - coef @ raw, target.min(), target.max()
    return out if targets.ndim > 1 else {ridge: equations[:, 0] for ridge, equations in out.items()}


def _leaves(numbers: NDArray[np.int64], held: Array) -> Iterator[tuple[int, NDArray[np.intp], Array]]:
    """Every leaf with its rows and their weights."""
    for at, weights in zip(numbers.T, held, strict=True):
        there = np.flatnonzero(weights)
        there = there[np.argsort(at[there], kind="stable")]
        ends = np.flatnonzero(np.diff(at[there])) + 1
        for part in np.split(there, ends):
            yield int(at[part[0]]), part, weights[part]
