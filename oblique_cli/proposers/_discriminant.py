"""Common parts of QUEST, SADT, FDT, Cline and GDT: super-classes, whitened rows, Fisher's direction, planes."""

from __future__ import annotations

import numpy as np

from oblique_cli.ground.arrays import Array, Mask
from oblique_cli.ground.geometry import Standard, distinct_gap, is_wide, orient
from oblique_cli.tree.splitting import Candidates, Node

SAME_MEAN = 1e-9  # whitened means closer than this, in standard deviations of the node, are equal up to rounding
ZERO_EIGENVALUE = 1e-10  # relative to the largest


def largest_class(node: Node) -> Mask:
    """Return the rows of the largest class, the lowest code on a tie: the super-classes of GDT in thesis 2.4."""
    return np.asarray(node.y == int(np.argmax(node.class_weights)))


def weighted_mean(rows: Array, weights: Array | None) -> Array:
    """Return the mean of rows : (n, k) or (n,)."""
    return np.asarray(rows.mean(axis=0) if weights is None else weights @ rows / weights.sum())


def mean_of(rows: Array, mask: Mask, weights: Array | None) -> Array:
    """Return the mean of the rows in the mask."""
    return weighted_mean(rows[mask], None if weights is None else weights[mask])


def standard_scores(node: Node) -> Standard:
    """Return coordinates in which every feature has mean 0 and variance 1; the scale of a constant feature is 1."""
    units = Standard.of(node.X)
    Z = (node.X - units.center) / units.scale
    mean = weighted_mean(Z, node.weights)
    deviation = np.sqrt(weighted_mean((Z - mean) ** 2, node.weights))
    scale = np.maximum(units.scale * deviation, np.finfo(float).smallest_subnormal)
    varies = node.X.max(axis=0) > node.X.min(axis=0)
    return Standard(units.center + units.scale * mean, np.where(varies, scale, 1.0))


def whiten(node: Node, tolerance: float = ZERO_EIGENVALUE) -> tuple[Array, Array, Standard]:
    """Return rows in coordinates in which their covariance over all classes together is the identity.

    The result is scores (n, k), basis (p, k) and the standard coordinates z = (x - mean) / scale, with scores = z @
    basis; k counts the eigenvalues above tolerance times the largest, and is 0 if all rows are equal.

    Fisher's direction W^-1 (m_1 - m_2) of any two groups is the difference of their mean scores: with T the covariance
    of all rows, T^-1 (m_1 - m_2) is parallel to it. If W is singular and the means differ in its null space, the
    pseudo-inverse of T gives the part of the difference in that null space, where Fisher's quotient is infinite."""
    standard = standard_scores(node)
    Z = (node.X - standard.center) / standard.scale
    w = np.ones(len(Z)) if node.weights is None else node.weights
    if is_wide(*Z.shape):  # only eigenvectors in the span of the rows; the other eigenvalues are 0
        _, lengths, directions = np.linalg.svd(Z * np.sqrt(w / w.sum())[:, None], full_matrices=False)
        values, vectors = lengths[::-1] ** 2, directions[::-1].T
    else:
        values, vectors = np.linalg.eigh((Z * w[:, None]).T @ Z / w.sum())
    nonzero = values > max(tolerance * values[-1], 0.0)
    basis = vectors[:, nonzero] / np.sqrt(values[nonzero])
    basis[np.abs(Z).max(axis=0) == 0.0] = 0.0  # the coefficient of a constant feature is exactly 0, without rounding
    return Z @ basis, basis, standard


def fisher(scores: Array, first: Mask, weights: Array | None) -> Array | None:
    """Return Fisher's direction (k,) for whitened rows (n, k), from the first group to others, None for equal means."""
    difference = mean_of(scores, ~first, weights) - mean_of(scores, first, weights)
    return difference if float(np.linalg.norm(difference)) > SAME_MEAN else None


def unit_normal(normal: Array, standard: Standard) -> Array:
    """Return a direction over z as an oriented unit normal over x = center + scale z, without overflow in any units."""
    used = normal != 0.0
    w = np.zeros_like(normal)
    w[used] = normal[used] * (standard.scale[used].min() / standard.scale[used])
    w /= np.abs(w).max()
    return orient(w / np.linalg.norm(w))


def plane(node: Node, normal: Array, offset: float, standard: Standard) -> Candidates:
    """Return the plane normal @ z = offset as a proposal. With tolerant ties, rows on the plane go left."""
    w = unit_normal(normal, standard)
    length = float(np.linalg.norm(normal))
    threshold = w @ (standard.center + standard.scale * (normal / length) * (offset / length))
    if node.ties == "tolerant":
        threshold += distinct_gap(node.X, w)
    return Candidates.directions(w[None, :], np.array([threshold]))
