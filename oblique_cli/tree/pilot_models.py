"""PILOT: linear model trees grown by boosting models of one predictor along the path (Raymaekers, Rousseeuw, Verdonck
& Yao 2024, "Fast linear model trees by PILOT", Machine Learning 113).

At a node, five models of the residuals are compared, each on its best predictor: a constant (CON), a line (LIN), a
constant on either side of a cut (PCON), a continuous line that bends at a cut (BLIN), and a line on either side of a
cut (PLIN). The least BIC decides. CON makes a leaf; LIN continues at the same node with its residuals; the other three
divide the node. So a leaf predicts the sum of the models on its path, one linear model of the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array, Rows
from oblique_cli.ground.geometry import gap_middle
from oblique_cli.tree.growing import Division, grow_by
from oblique_cli.tree.least_squares import EQUAL, PERFECT, ZERO, scaled
from oblique_cli.tree.payloads import Equations
from oblique_cli.tree.structure import Tree, TreeBuilder

Line = tuple[float, float]  # slope, intercept

CON, LIN, PCON, BLIN, PLIN = "con", "lin", "pcon", "blin", "plin"
MODELS = (LIN, PCON, BLIN, PLIN)  # in the order of the core's columns
# Degrees of freedom of CON, then of MODELS: parameters, and three more for a cut.
DEGREES = (1, 2, 5, 5, 7)


@dataclass(frozen=True)
class Settings:
    """Stopping rules, and which models are allowed.

    min_fit         a node of fewer rows is a leaf
    min_leaf        least rows on either side of a cut
    max_depth       cuts on the path to a leaf; max_models : cuts and lines together
    min_values      distinct values that a slope needs, on either side of a cut
    min_improvement share of the residual sum that a line without a cut must remove for the node to continue"""

    min_fit: int = 10
    min_leaf: int = 5
    max_depth: int = 12
    max_models: int = 100
    min_values: int = 5
    min_improvement: float = 0.0


class Choice(NamedTuple):
    """The model of least BIC: its kind, its predictor, and its cut, rows with x <= cut left; -1 and 0 without."""

    model: str
    feature: int = -1
    cut: float = 0.0


@dataclass
class _Here:
    """State of a node: rows sorted by each predictor, and the model so far, of scaled features and target."""

    orders: NDArray[np.int64]
    coef: Array
    constant: float
    n_models: int
    rss: float = 0.0


def grow(X: Array, y: Array, settings: Settings) -> Tree:
    """Return the tree grown on rows X (n, p) with targets y (n,), n >= 1, whose order depends on content only."""
    n, p = X.shape
    Z, center, spread = scaled(X)
    Z = np.ascontiguousarray(Z)
    target, middle, unit = scaled(y[:, None])
    residuals = np.ascontiguousarray(target[:, 0])
    noise = PERFECT * float(residuals @ residuals)

    def divide(rows: Rows, depth: int, path: int, here: _Here) -> Division | None:
        split = _fitted(rows, depth, here)
        node_residuals = residuals[rows]
        here.rss = float(node_residuals @ node_residuals)
        if split is None:
            return None
        j = split.feature
        goes_left = Z[rows, j] <= split.cut
        threshold = gap_middle(X[rows, j], goes_left)
        knot = (threshold - center[j]) / spread[j]
        lines = lines_of(split.model, Z[rows, j], node_residuals, goes_left, knot)
        is_left = np.zeros(n, np.bool_)
        is_left[rows[goes_left]] = True
        below, left_over = [], 0.0
        for line, mine in zip(lines, (goes_left, ~goes_left), strict=True):
            inside = rows[mine]
            residuals[inside] -= line[0] * Z[inside, j] + line[1]
            left_over += float(residuals[inside] @ residuals[inside])
            child_orders = here.orders[is_left[here.orders] == is_left[inside[0]]].reshape(p, -1)
            coef = here.coef.copy()
            coef[j] += line[0]
            child = (coef, here.constant + line[1], here.n_models + 1)
            below.append(_Here(np.ascontiguousarray(child_orders), *child))
        gain = max(here.rss - left_over, 0.0) * float(unit[0] ** 2)
        return Division(np.eye(1, p, j)[0], threshold, gain, goes_left, child_states=(below[0], below[1]))

    def _fitted(rows: Rows, depth: int, here: _Here) -> Choice | None:
        """Add lines and the last constant to a node; return the cut that divides it, None for a leaf."""
        if len(rows) < max(settings.min_fit, 2) or depth >= settings.max_depth:
            return None
        while here.n_models < settings.max_models:
            node_residuals = residuals[rows]
            total = float(((node_residuals - node_residuals.mean()) ** 2).sum())
            if total <= noise:
                return None
            choice = best_model(Z, residuals, here.orders, settings)
            if choice.model == CON:
                here.constant += float(node_residuals.mean())
                residuals[rows] -= node_residuals.mean()
                return None
            if choice.model != LIN:
                return choice
            slope, level = line_of(Z[rows, choice.feature], node_residuals)
            residuals[rows] -= slope * Z[rows, choice.feature] + level
            here.coef[choice.feature] += slope
            here.constant += level
            here.n_models += 1
            if float(residuals[rows] @ residuals[rows]) > (1.0 - settings.min_improvement) * total:
                return None
        return None

    orders = np.ascontiguousarray(np.argsort(Z, axis=0, kind="stable").T.astype(np.int64))
    builder = TreeBuilder(p, 1)
    held: list[_Here] = grow_by(builder, n, divide, root_state=_Here(orders, np.zeros(p), 0.0, 0))
    of_y = float(unit[0])
    slopes = np.array([state.coef for state in held]) * of_y / np.where(spread > 0.0, spread, 1.0)
    starts = np.array([state.constant for state in held]) * of_y + float(middle[0]) - slopes @ center
    return builder.finish(payload=Equations(slopes, starts, np.array([state.rss for state in held]) * of_y**2))


def best_model(X: Array, y: Array, orders: NDArray[np.int64], settings: Settings) -> Choice:
    """Return the model of least BIC = m log(rss / m) + v log m, v of DEGREES, for the rows of a node; among equals the
    simplest, then that of the first predictor.
    X : (n, p); y : (n,) residuals; orders : (p, m) the node's rows by each predictor, ascending"""
    m = orders.shape[1]
    targets = y[orders[0]]
    total = float(((targets - targets.mean()) ** 2).sum())
    rss, cuts = _core.pilot_models(X, y, orders, settings.min_leaf, settings.min_values, ZERO)
    if not total > 0.0 or not np.isfinite(rss).any():
        return Choice(CON)
    shares = np.maximum(np.concatenate([np.ones((1, len(rss))), rss.T / total]), EQUAL)
    scores = m * np.log(shares) + np.log(m) * np.array(DEGREES)[:, None]
    kind, feature = divmod(int(np.argmax(scores <= scores.min() + m * EQUAL)), len(rss))
    if kind == 0:
        return Choice(CON)
    return Choice(MODELS[kind - 1], feature, float(cuts[feature, kind - 2]) if kind > 1 else 0.0)


def lines_of(model: str, x: Array, y: Array, goes_left: NDArray[np.bool_], knot: float) -> tuple[Line, Line]:
    """Return the least-squares lines on both sides of a cut. x, y : (m,); knot : where BLIN bends"""
    if model == BLIN:
        above = np.maximum(x - knot, 0.0)
        columns = np.column_stack([x - x.mean(), above - above.mean()])
        (slope, bend), *_ = np.linalg.lstsq(columns, y - y.mean(), rcond=None)
        start = float(y.mean() - slope * x.mean() - bend * above.mean())
        return (float(slope), start), (float(slope + bend), start - float(bend) * knot)
    left, right = (line_of(x[side], y[side], flat=model == PCON) for side in (goes_left, ~goes_left))
    return left, right


def line_of(x: Array, y: Array, flat: bool = False) -> Line:
    """Return the least-squares line, or the mean if `flat` or x is constant. x, y : (m,)"""
    moved = x - x.mean()
    square = float(moved @ moved)
    slope = 0.0 if flat or not square > 0.0 else float(moved @ (y - y.mean())) / square
    return slope, float(y.mean()) - slope * float(x.mean())
