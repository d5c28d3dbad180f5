"""Least squares at a node: a model of its rows, and the residual sums of many cuts in one pass over the rows.

A pass rotates each row into a triangular factor (`core/model_tree/direction_cuts.hpp`), at a cost of O(p^2) per row,
which gives the residual sum of squares after every row. Columns are first centered and scaled at the node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array

# A column counts as linearly dependent if less than this share of its spread remains after projecting out others.
ZERO = 1e-9
# A residual sum below this share of the root's is rounding: the node is fitted exactly and is a leaf.
PERFECT = 1e-20
# Errors within this share are equal: the first is taken.
EQUAL = 1e-12


@dataclass(frozen=True)
class Linear:
    """Linear model y = coef @ x + intercept with its residual sum of squares and rank (intercept included).
    coef : (p,) and intercept : a number; for k outputs (k, p) and (k,), and `rss` is the sum over outputs"""

    coef: Array
    intercept: float | Array
    rss: float
    rank: int

    def predict(self, X: Array) -> Array:
        """Return predictions, (n,) or (n, k). X : (n, p)"""
        return X @ self.coef.T + self.intercept


def scaled(values: Array) -> tuple[Array, Array, Array]:
    """Return columns (n, m) scaled to mean 0 and standard deviation 1, the means, and the deviations. A column that
    varies only by rounding becomes 0."""
    center = values.mean(axis=0)
    spread = values.std(axis=0)
    noise = 64 * np.finfo(float).eps * np.abs(values).max(axis=0, initial=0.0)
    constant = (values.max(axis=0) == values.min(axis=0)) | (spread <= noise)
    spread = np.where(constant, 1.0, spread)
    out = (values - center) / spread
    out[:, constant] = 0.0
    return out, center, np.where(constant, 0.0, spread)


def fit_linear(X: Array, y: Array) -> Linear:
    """Return the least-squares model of y (n,) or (n, k) on X (n, p), n >= 1; if it is not unique, the model whose
    scaled coefficients have the smallest norm."""
    Z, center, spread = scaled(X)
    middle = y.mean(axis=0)
    target = y - middle
    used = spread > 0
    coef = np.zeros((*y.shape[1:], X.shape[1]))
    rank = 1
    if used.any():
        beta, _, effective_rank, _ = np.linalg.lstsq(Z[:, used], target, rcond=ZERO)
        coef[..., used] = beta.T / spread[used]
        rank += int(effective_rank)
    residuals = target - (X - center) @ coef.T
    return Linear(coef, middle - coef @ center, float(np.vdot(residuals, residuals)), rank)


class Passes:
    """Rows of a node, prepared for residual sums of both sides of any cut.
    X : (n, p); y : (n,), or (n, k), whose sums are added; constant : model the mean only (M5's splits)"""

    def __init__(self, X: Array, y: Array, *, constant: bool = False) -> None:
        target, _, spread = scaled(y.reshape(len(y), -1))
        largest = float(spread.max())
        # Scale all outputs alike, so that their ratios stay.
        target *= spread / (largest or 1.0)
        self._unit, self._targets = largest**2, len(spread)
        Z, _, widths = scaled(X)
        columns = [np.ones((len(X), 1)), target] if constant else [np.ones((len(X), 1)), Z[:, widths > 0], target]
        self._rows = np.ascontiguousarray(np.hstack(columns))

    def sides(self, order: NDArray[np.intp], cuts: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return the residual sums of squares left and right of each cut.
        order : (n,) row order; cuts : (k,) ascending numbers of rows on the left"""
        rows = self._rows[order]
        left = _core.prefix_rss(rows, cuts, ZERO, self._targets)
        backward = np.ascontiguousarray(len(order) - cuts[::-1])
        right = _core.prefix_rss(np.ascontiguousarray(rows[::-1]), backward, ZERO, self._targets)[::-1]
        return self._unit * left, self._unit * right

    def along(self, X: Array, directions: Array, thresholds: Array | None, least: int) -> tuple[Array, Array]:
        """Return, for each direction, the least residual sum of both sides over its cuts (infinite if no cut leaves
        `least` rows on both sides) and the threshold: the middle of a gap, the first of equals.
        X : (n, p) the same rows; directions : (k, p); thresholds : (k,) the only cut along each, or None to search"""
        return _core.cuts_along(X, directions, thresholds, self._rows, self._unit, least, ZERO, self._targets)


def left_out_error(X: Array, y: Array) -> float:
    """Return the leave-one-out sum of squared errors, e_i / (1 - h_i) with h_i the diagonal of the hat matrix; if h_i =
    1, row i is predicted by the mean of the others.
    X : (n, p); y : (n,)"""
    n = len(y)
    if n == 1:
        return np.inf
    Z, _, spread = scaled(X)
    design = np.hstack([np.full((n, 1), 1.0), Z[:, spread > 0]])
    U, singular, _ = np.linalg.svd(design, full_matrices=False)
    U = U[:, singular > ZERO * singular[0]]
    target = y - y.mean()
    residuals = target - U @ (U.T @ target)
    room = 1.0 - np.einsum("ij,ij->i", U, U)
    alone = room <= 1e-10
    errors = np.where(alone, target * n / (n - 1), residuals / np.where(alone, 1.0, room))
    return float(errors @ errors)
