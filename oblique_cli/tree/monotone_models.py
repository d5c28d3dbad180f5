"""Monotonic regression trees: models of nodes, and cuts that keep them in order.

Linear models of two leaves intersect somewhere unless their slopes are equal. So all leaves below the topmost split on
a constrained feature have the slope of that node's model, whose constrained coefficients have the required signs. Each
leaf has its own constant; the splits keep the constants in order as in a tree of constants (tree/monotone.py). So slope
@ x and the constant are both monotonic, and so is their sum. Splits further up use no constrained feature, so that no
row crosses them by moving in such a feature: each side has a model of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.tree.least_squares import Linear, Passes, fit_linear, scaled
from oblique_cli.tree.monotone import OPEN, Bounds, Signs, agreeing, children_bounds, way_across

NOISE = 1e-9  # a coefficient that moves rows by at most this share of the largest coefficient's effect is rounding


AT_ONCE = 256  # number of normals whose cuts are evaluated together

Plane = tuple[Array, float | None, int]  # normal, threshold if fixed, and the crossing direction
Fit = Callable[[Array, Array], Linear]  # rows (n, p) and their targets -> model


class Held(NamedTuple):
    """State of a node: model of its rows; whether all nodes below have its slope; then bounds of its constant."""

    model: Linear
    shares_slope: bool = False
    bounds: Bounds = OPEN

    def rest(self, X: Array, y: Array) -> Array:
        """Return the targets minus the slope's part. X : (n, p); y : (n,); returns (n,)"""
        return np.asarray(y - X @ self.model.coef)

    def divided(
        self, fit: Fit, X: Array, y: Array, coef: Array, goes_left: NDArray[np.bool_], signs: Signs | None
    ) -> tuple[Held, Held] | None:
        """Return the states of the children; None if they are not in order.
        fit : of a side's model, if it does not share its slope; X, y : rows of the node; goes_left : (n,)"""
        sides = goes_left, ~goes_left
        way = 0 if signs is None else way_across(signs, coef)
        if way == 0 and not self.shares_slope:
            left, right = (Held(fit(X[side], y[side])) for side in sides)
            return left, right
        rest = self.rest(X, y)
        models = [_with_slope(self.model.coef, rest[side]) for side in sides]
        bounds = children_bounds(way, float(models[0].intercept), float(models[1].intercept), self.bounds)
        return None if bounds is None else (Held(models[0], True, bounds[0]), Held(models[1], True, bounds[1]))


def _with_slope(slope: Array, rest: Array) -> Linear:
    mean = float(rest.mean())
    return Linear(slope, mean, float(((rest - mean) ** 2).sum()), 1)


def fit_in_order(X: Array, y: Array, signs: Signs | None) -> Linear:
    """Return the least-squares model of y (n,) on X (n, p), n >= 1, whose coefficients have the signs (p,) or are 0, by
    the active sets of Stark and Parker (1995) if the unconstrained model violates the signs."""
    free = fit_linear(X, y)
    if signs is None or not (signs * free.coef < 0.0).any():
        return free
    from scipy.optimize import lsq_linear

    Z, center, spread = scaled(X)
    used, coef = spread > 0.0, np.zeros(X.shape[1])
    ends = np.where(signs[used] > 0, 0.0, -np.inf), np.where(signs[used] < 0, 0.0, np.inf)
    beta = lsq_linear(Z[:, used], y - y.mean(), ends, method="bvls").x
    coef[used] = np.where(signs[used] * beta < 0.0, 0.0, beta) / spread[used]
    intercept = float(y.mean() - center @ coef)
    residuals = y - y.mean() - (X - center) @ coef
    return Linear(coef, intercept, float(residuals @ residuals), 1 + int(np.count_nonzero(coef)))


class Cut(NamedTuple):
    """Hyperplane with rows of coef @ x <= threshold on the left, and the residual sum of both sides."""

    coef: Array
    threshold: float
    error: float


def planes_in_order(X: Array, directions: Array, thresholds: Array | None, signs: Signs) -> Iterator[Plane]:
    """Yield normals in which all constrained features agree, with a fixed threshold if there is one, and the crossing
    direction; two normals for a direction whose features disagree.
    X : (n, p) rows of a node; directions : (k, p); thresholds : (k,) or None"""
    widths = np.ptp(X, axis=0)
    for k, direction in enumerate(directions):
        moves = np.abs(direction) * widths
        noise = (signs != 0) & (moves <= NOISE * moves.max())
        normal = np.where(noise, 0.0, direction)
        if not normal.any():
            normal = direction
        way = way_across(signs, normal)
        if way is not None:
            yield normal, None if thresholds is None else float(thresholds[k]), way
            continue
        for sign in (1, -1):
            yield agreeing(signs, normal, sign), None, sign


def best_in_order(
    X: Array, rest: Array, planes: Sequence[Plane], bounds: Bounds, least: int, margin: float
) -> Cut | None:
    """Return the allowed cut with the least residual sum of constants for `rest` (n,), the first within `margin`, or
    None.
    least : rows on either side"""
    best: Cut | None = None
    for first in range(0, len(planes), AT_ONCE):
        some = planes[first : first + AT_ONCE]
        errors, thresholds = _best_along(X, rest, some, bounds, least)
        for (normal, *_), error, threshold in zip(some, errors.tolist(), thresholds.tolist(), strict=True):
            if np.isfinite(error) and (best is None or error < best.error - margin):
                best = Cut(normal, threshold, error)
    return best


def _best_along(X: Array, rest: Array, planes: Sequence[Plane], bounds: Bounds, least: int) -> tuple[Array, Array]:
    """Return the residual sum of the best allowed cut along each of k normals, infinite without one, and its threshold.
    Means of both sides come from running sums of numbers minus their mean."""
    n = len(X)
    normals, ways = np.array([plane[0] for plane in planes]), np.array([plane[2] for plane in planes])
    fixed_thresholds = np.array([np.nan if plane[1] is None else plane[1] for plane in planes])
    Z = X @ normals.T
    order = np.argsort(Z, axis=0, kind="stable")
    Z = np.take_along_axis(Z, order, axis=0)
    shift = rest.mean()
    centered = rest - shift
    sums, total = np.cumsum(centered[order], axis=0)[:-1], float(centered.sum())
    n_left = np.arange(1, n)[:, None]
    left, right = sums / n_left, (total - sums) / (n - n_left)
    apart = np.diff(Z, axis=0) > NOISE * (np.abs(normals) @ np.ptp(X, axis=0))
    at_fixed = (Z[:-1] <= fixed_thresholds) & (fixed_thresholds < Z[1:])
    allowed = np.where(np.isnan(fixed_thresholds), apart, at_fixed) & (np.minimum(n_left, n - n_left) >= least)
    allowed &= (np.minimum(left, right) >= bounds.low - shift) & (np.maximum(left, right) <= bounds.high - shift)
    allowed &= (ways == 0) | (ways * left < ways * right)
    explained = np.where(allowed, left * sums + right * (total - sums), -np.inf)
    at, k = explained.argmax(axis=0), np.arange(len(planes))
    middle = Z[at, k] + 0.5 * (Z[at + 1, k] - Z[at, k])
    return float((centered**2).sum()) - explained[at, k], np.where(np.isnan(fixed_thresholds), middle, fixed_thresholds)


def best_of_models(
    X: Array, y: Array, groups: Iterable[tuple[Array, Array | None]], least: int, margin: float, constant: bool = False
) -> Cut | None:
    """Return the cut of least residual sum by separate models of both sides, the first within `margin`, or None.
    y : (n,) or (n, k); groups : normals (k, p), and thresholds (k,) or None to search them; constant : means, not
    linear models"""
    passes, best = Passes(X, y, constant=constant), None
    for directions, fixed_thresholds in groups:
        errors, thresholds = passes.along(X, directions, fixed_thresholds, least)
        for k in np.flatnonzero(np.isfinite(errors)).tolist():
            if best is None or errors[k] < best.error - margin:
                best = Cut(directions[k].copy(), float(thresholds[k]), float(errors[k]))
    return best
