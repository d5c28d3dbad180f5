"""Top-down growth of model trees: cuts from turning points, from all values, or from means; scored by a look-ahead.

TPRTI-A and TPRTI-B: Amalaman (2015), algorithms 2 and 3. RETIS: section 2.2. M5: Quinlan (1992), section 2.1 there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from oblique_cli.ground.arrays import Array, Rows
from oblique_cli.tree.growing import Division, grow_by
from oblique_cli.tree.least_squares import EQUAL, PERFECT, Linear, Passes, left_out_error
from oblique_cli.tree.monotone import Signs, children_bounds
from oblique_cli.tree.monotone_models import Held, fit_in_order
from oblique_cli.tree.payloads import Equations
from oblique_cli.tree.pruning import cheapest
from oblique_cli.tree.sparse import arrivals
from oblique_cli.tree.structure import Tree, TreeBuilder
from oblique_cli.tree.turning_points import TurningPoints

WEIGHTINGS = ("size", "sum")
SMALL_CHILDREN = ("avoid", "leaf")
SELECTIONS = ("rss", "leave_one_out")


@dataclass(frozen=True)
class Settings:
    """Stopping rules and scoring of cuts.

    min_node          a node of fewer rows is a leaf
    min_improvement   least share of the node's error, in [0, 1], that the best cut must remove
    min_child         least rows of a child
    max_depth         None for no limit
    weighting         score of a cut. "size": the two residual sums, each times its share of the rows; "sum": their
                      plain sum
    improvement_by    weighting of the chosen cut's error for min_improvement; None for `weighting`
    small_children    "avoid": a cut that leaves a child below min_child is never chosen; "leaf": a node whose chosen
                      cut leaves one is a leaf
    selection         "rss" as in the paper; "leave_one_out" rescores the `shortlist` best cuts by RSS by the error of
                      predicting each row from a model of the others of its side, and stops by that error
    constant          cuts are scored by the variance around means, not around linear models (M5)
    signs             (p,) monotonic constraints of features (monotone_models.py), None without"""

    min_node: float
    min_improvement: float
    min_child: float = 1
    max_depth: int | None = None
    weighting: str = "size"
    improvement_by: str | None = None
    small_children: str = "avoid"
    selection: str = "rss"
    shortlist: int = 20
    constant: bool = False
    signs: Signs | None = None


@dataclass(frozen=True)
class Cut:
    """Cut of a node: `n_left` rows with feature <= threshold go left.
    error : the score by which it was chosen; children_error : the score for the least improvement"""

    feature: int
    threshold: float
    error: float
    children_error: float
    n_left: int


Values = dict[int, Array]  # feature -> rising thresholds


class Proposals(ABC):
    """Candidate cuts of a node, as thresholds by feature."""

    @abstractmethod
    def thresholds(self, X: Array, model: Linear) -> Values:
        """Return ascending thresholds by feature. X : (n, p) rows of the node; model : fitted to them."""

    def divide(self, cut: Cut) -> tuple[Proposals, Proposals]:
        """Return the proposals that remain for the two children."""
        return self, self


class EveryValue(Proposals):
    """RETIS: every distinct value of every feature."""

    def thresholds(self, X: Array, model: Linear) -> Values:
        return {j: np.unique(X[:, j]) for j in range(X.shape[1])}


class Means(Proposals):
    """M5 as section 2.1 describes it: the mean of every feature."""

    def thresholds(self, X: Array, model: Linear) -> Values:
        return {j: X[:, j].mean(keepdims=True) for j in range(X.shape[1])}


@dataclass(frozen=True)
class AllTurns(Proposals):
    """TPRTI-A: every turning point inside the node, on the feature along which it was computed."""

    points: TurningPoints

    def thresholds(self, X: Array, model: Linear) -> Values:
        points = self.points
        return {j: np.unique(points.centers[points.feature == j, j]) for j in np.unique(points.feature).tolist()}

    def divide(self, cut: Cut) -> tuple[AllTurns, AllTurns]:
        goes_left = self.points.centers[:, cut.feature] <= cut.threshold
        return replace(self, points=self.points.where(goes_left)), replace(self, points=self.points.where(~goes_left))


@dataclass(frozen=True)
class FarthestTurn(AllTurns):
    """TPRTI-B: the turning point farthest from the node's model, on each of its coordinates. Algorithm 3 has one
    threshold per feature: a node that none of them divides is a leaf."""

    def thresholds(self, X: Array, model: Linear) -> Values:
        if len(self.points) == 0:
            return {}
        # All distances to one plane have the same denominator, so residuals give the same order as distances.
        farthest = np.argmax(np.abs(self.points.targets - model.predict(self.points.centers)))
        return {j: self.points.centers[farthest, [j]] for j in range(X.shape[1])}


def grow(X: Array, y: Array, proposals: Proposals, settings: Settings) -> Tree:
    """Return the tree grown on rows X (n, p), y (n,), n >= 1, in an order that depends on their content only."""
    noise, fit = PERFECT * float(((y - y.mean()) ** 2).sum()), partial(fit_in_order, signs=settings.signs)

    def divide(rows: Rows, depth: int, path: int, state: tuple[Held, Proposals]) -> Division | None:
        held, left_over = state
        model = held.model
        if len(rows) < settings.min_node or depth == settings.max_depth or model.rss <= noise:
            return None
        A, b = X[rows], y[rows]
        cut = best_cut(A, b, held, left_over, settings)
        if cut is None or min(cut.n_left, len(rows) - cut.n_left) < settings.min_child:
            return None
        error = model.rss
        if settings.constant and not held.shares_slope:
            error = float(((b - b.mean()) ** 2).sum())
        elif settings.selection == "leave_one_out" and not held.shares_slope:
            error = left_out_error(A, b)
        if cut.children_error > (1.0 - settings.min_improvement) * error:
            return None
        goes_left = A[:, cut.feature] <= cut.threshold
        axis = np.eye(1, X.shape[1], cut.feature)[0]
        sides = held.divided(fit, A, b, axis, goes_left, settings.signs)
        if sides is None:
            return None
        gain = max(model.rss - sides[0].model.rss - sides[1].model.rss, 0.0)
        below = left_over.divide(cut)
        return Division(axis, cut.threshold, gain, goes_left, child_states=((sides[0], below[0]), (sides[1], below[1])))

    builder = TreeBuilder(X.shape[1], 1)
    owned = grow_by(builder, len(y), divide, root_state=(Held(fit(X, y)), proposals))
    return builder.finish(payload=Equations.of([held.model for held, _ in owned]))


def best_cut(X: Array, y: Array, held: Held, proposals: Proposals, settings: Settings) -> Cut | None:
    """Return the cut of the least error, the first of equals by feature and threshold, or None.
    X : (n, p); y : (n,) of a node; held : state of the node"""
    values = proposals.thresholds(X, held.model)
    if settings.signs is None:
        cuts = _scored(X, Passes(X, y, constant=settings.constant), values, settings)
    else:
        cuts = _scored_in_order(X, y, held, values, settings, settings.signs)
    if not cuts:
        return None
    if settings.selection == "leave_one_out":
        cuts.sort(key=lambda cut: cut.error)
        cuts = [_left_out(X, y, cut, settings) for cut in cuts[: settings.shortlist]]
    margin = EQUAL * float(((y - y.mean()) ** 2).sum())
    best = cuts[0]
    for cut in cuts[1:]:
        if cut.error < best.error - margin:
            best = cut
    return best


def _scored_in_order(X: Array, y: Array, held: Held, values: Values, settings: Settings, signs: Signs) -> list[Cut]:
    """Return every allowed cut, scored by constants if both sides keep the node's slope, else by separate models."""
    rest, allowed_cuts = held.rest(X, y), []
    shared = Passes(X, y if settings.constant and not held.shares_slope else rest, constant=True)
    side_passes = None if held.shares_slope else Passes(X, y, constant=settings.constant)
    for j, thresholds in values.items():
        keeps_slope = held.shares_slope or signs[j] != 0
        cuts = _scored(X, shared if keeps_slope or side_passes is None else side_passes, {j: thresholds}, settings)
        if keeps_slope:
            cuts = [cut for cut in cuts if _in_order(X[:, j], rest, cut, int(signs[j]), held)]
        allowed_cuts += cuts
    return allowed_cuts


def _in_order(x: Array, rest: Array, cut: Cut, way: int, held: Held) -> bool:
    goes_left = x <= cut.threshold
    return children_bounds(way, float(rest[goes_left].mean()), float(rest[~goes_left].mean()), held.bounds) is not None


def _scored(X: Array, passes: Passes, values: Values, settings: Settings) -> list[Cut]:
    """Return every possible cut with its error by residual sums of squares."""
    n = len(X)
    scored_cuts = []
    for j, thresholds in values.items():
        order = np.argsort(X[:, j], kind="stable")
        counts = np.searchsorted(X[order, j], thresholds, side="right")
        least = max(1, settings.min_child) if settings.small_children == "avoid" else 1
        possible = np.flatnonzero((counts >= least) & (n - counts >= least))
        # Among thresholds that divide the rows equally, the first.
        possible = possible[np.unique(counts[possible], return_index=True)[1]]
        if len(possible) == 0:
            continue
        cuts = counts[possible].astype(np.int64)
        errors = (each.tolist() for each in _weighted(*passes.sides(order, cuts), cuts, n, settings))
        columns = (thresholds[possible].tolist(), *errors, cuts.tolist())
        scored_cuts += [Cut(j, *values) for values in zip(*columns, strict=True)]
    return scored_cuts


def _weighted(left: Array, right: Array, n_left: Any, n: int, settings: Settings) -> tuple[Array, Array]:
    """Return the scores of cuts for the choice among them, and for the least improvement, from both sides' errors."""
    weighted, total = (n_left * left + (n - n_left) * right) / n, left + right
    choice, improvement = (
        total if weighting == "sum" else weighted
        for weighting in (settings.weighting, settings.improvement_by or settings.weighting)
    )
    return choice, improvement


def _left_out(X: Array, y: Array, cut: Cut, settings: Settings) -> Cut:
    goes_left = X[:, cut.feature] <= cut.threshold
    left, right = (np.asarray(left_out_error(X[side], y[side])) for side in (goes_left, ~goes_left))
    error, improvement_error = _weighted(left, right, cut.n_left, len(y), settings)
    return replace(cut, error=float(error), children_error=float(improvement_error))


def prune(tree: Tree, X: Array, y: Array) -> Tree:
    """Return the tree pruned as in M5 (Quinlan 1992, section 3.2): the error of a model of v coefficients on the n
    training rows of a node is its mean absolute residual times (n + v) / (n - v), infinity for n <= v; a subtree
    becomes a leaf if the row-weighted mean error of its leaves is not lower."""
    costs = np.empty(tree.n_nodes)
    models = tree.equations
    for at, rows in enumerate(arrivals(tree, X)):
        n, v = len(rows), 1 + int(np.count_nonzero(models.coef[at]))
        residuals = y[rows] - X[rows] @ models.coef[at] - models.intercept[at]
        costs[at] = n * float(np.abs(residuals).mean()) * (n + v) / (n - v) if n > v else np.inf
    return cheapest(tree, costs, np.zeros(tree.n_nodes), 0.0)
