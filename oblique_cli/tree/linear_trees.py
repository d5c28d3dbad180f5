"""Linear model trees of few leaves: a ridge regression at every node that starts from its parent's model;
cross-validation chooses kind of cuts, tree size and penalty. The counterpart of logistic_trees.py.

At a node of rows (z_i, y_i), features and target standardized on all training rows,

    minimize over d:  sum_i (y_i - (m + d) . (z_i, 1))^2 + penalty |d|^2,   m: the model of the parent, 0 at the root

So a node of few rows, or a large penalty, stays close to its parent's model (Landwehr, Hall & Frank 2005 chain logistic
models in this way; M5 smooths along the path for the same reason). There are three ways to cut. Each takes the best of
all cuts along a feature, and the node of the largest gain is cut first:

- "bends": the residuals of the node's model get a line, or a mean, on either side, so a cut lies where the trend bends
  (PLIN and PCON of PILOT, Raymaekers et al. 2024);
- "steps": the residuals get a mean on either side, so a cut lies where the trend jumps;
- "means": the target itself gets a mean on either side, as in CART and M5.

The first two also cut along the node's own model: a target that is a curve of one weighted sum bends along that sum,
and along no single feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2
from typing import NamedTuple

import numpy as np

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array, Rows
from oblique_cli.ground.geometry import distinct_gap, gap_middle
from oblique_cli.tree.growing import Division, grow_by
from oblique_cli.tree.least_squares import EQUAL, PERFECT, ZERO, scaled
from oblique_cli.tree.payloads import Equations
from oblique_cli.tree.pruning import PruningPath, cost_complexity_path, squared_errors
from oblique_cli.tree.sparse import arrivals
from oblique_cli.tree.structure import Tree, TreeBuilder
from oblique_cli.tree.truncation import truncated

BENDS, STEPS, MEANS = "bends", "steps", "means"
CUTS = (BENDS, STEPS, MEANS)
PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)  # in rows, candidates for cross-validation
GROWN_AT = 3.0  # penalty of the models whose residuals the search for cuts uses
LEAST_VALUES = 2  # distinct values that a slope needs, on either side of a cut
SINGULAR = 1e-12  # least penalty, as a share of the sum of squares of a node's columns


@dataclass(frozen=True)
class Limits:
    """Stopping rules. min_leaf : least rows of a child; max_depth, max_leaves : None for no limit"""

    min_leaf: int = 10
    max_depth: int | None = 8
    max_leaves: int | None = 40


class ModelRows:
    """Training rows X (n, p) with targets y (n,), and both standardized for the models."""

    def __init__(self, X: Array, y: Array) -> None:
        self.X, self.y = np.ascontiguousarray(X), y
        Z, self._center, spread = scaled(self.X)
        target, middle, unit = scaled(y[:, None])
        self.columns = np.hstack([Z, np.ones((len(X), 1))])
        self.Z, self.target = np.ascontiguousarray(Z), np.ascontiguousarray(target[:, 0])
        self._spread = np.where(spread > 0.0, spread, 1.0)
        self._middle, self._unit = float(middle[0]), float(unit[0])

    def slopes(self, models: Array) -> Array:
        """Return the coefficients of models (..., p + 1) in the features' original units, (..., p)."""
        return models[..., :-1] / self._spread

    def equations(self, models: Array, rss: Array) -> Equations:
        """Return the equations of nodes in original units of features and target. models : (n_nodes, p + 1)"""
        coef = self.slopes(models) * self._unit
        return Equations(coef, models[:, -1] * self._unit + self._middle - coef @ self._center, rss * self._unit**2)


def grown(rows: ModelRows, cuts: str, limits: Limits) -> Tree:
    """Return the tree grown by one way to cut, without models. rows : in an order that depends on content only"""
    n, p = rows.X.shape
    noise = PERFECT * float(rows.target @ rows.target)

    def divide(here: Rows, depth: int, path: int, parent: Array) -> Division | None:
        if len(here) < 2 * limits.min_leaf or depth == limits.max_depth:
            return None
        model, left_over = parent, rows.target[here]
        if cuts != MEANS:
            A = rows.columns[here]
            model = parent + ridge_steps(A.T @ A, A.T @ left_over, parent[None], np.array([GROWN_AT]))[0]
            left_over = left_over - A @ model
        if float(left_over @ left_over) <= noise:
            return None
        division = _cut(rows, here, left_over, cuts, rows.slopes(model), limits.min_leaf)
        return None if division is None else division._replace(child_states=(model, model))

    builder = TreeBuilder(p, 1)
    held = grow_by(builder, n, divide, root_state=np.zeros(p + 1), most_leaves=limits.max_leaves, slack=EQUAL)
    nothing = np.zeros(len(held))
    return builder.finish(payload=Equations(np.zeros((len(held), p)), nothing, nothing))


def ridge_steps(gram: Array, moments: Array, models: Array, penalties: Array) -> Array:
    """Return the change of a node's models from its parent's, one for each penalty; (L, q).
    gram : (q, q) sums of products of columns; moments : (q,) of column times target; models : (L, q) of the parent"""
    held = np.maximum(penalties, SINGULAR * gram.trace())  # a least penalty keeps dependent columns solvable
    ridge = gram + held[:, None, None] * np.eye(len(gram))
    return np.asarray(np.linalg.solve(ridge, (moments - models @ gram)[:, :, None])[:, :, 0])


def _cut(rows: ModelRows, here: Rows, left_over: Array, cuts: str, slopes: Array, least: int) -> Division | None:
    """Return the best division of the rows `here`, or None.
    left_over : (m,) residuals to explain; slopes : (p,) of the node's model, a further direction to cut along"""
    X, columns = np.ascontiguousarray(rows.X[here]), rows.Z[here]
    p, values = len(slopes), X
    if cuts != MEANS and np.count_nonzero(slopes) > 1:
        sums = np.asarray(_core.project(X, slopes))
        values = np.column_stack([X, sums])
        columns = np.column_stack([columns, _merged(sums, distinct_gap(X, slopes))])
    total = float(((left_over - left_over.mean()) ** 2).sum())
    columns = np.ascontiguousarray(columns)
    orders = np.ascontiguousarray(np.argsort(columns, axis=0, kind="stable").T, np.int64)
    rss, at = map(np.asarray, _core.pilot_models(columns, left_over, orders, least, LEAST_VALUES, ZERO))
    bent = (rss[:, 3] < rss[:, 1]) & (cuts == BENDS)
    # Of each column the residual sum of both sides of its best cut, and the largest value that goes left.
    least_rss, largest = np.where(bent, rss[:, 3], rss[:, 1]), np.where(bent, at[:, 2], at[:, 0])
    best, along = total, -1
    for j, column_rss in enumerate(least_rss.tolist()):
        if column_rss < best - EQUAL * total:
            best, along = column_rss, j
    if along < 0:
        return None
    goes_left, gain = columns[:, along] <= largest[along], total - best
    coef = slopes if along == p else np.eye(1, p, along)[0]
    return Division(coef, gap_middle(values[:, along], goes_left), gain, goes_left, worth=gain)


def _merged(values: Array, gap: float) -> Array:
    """Return the values (m,) minus their mean, with values that differ only by rounding (at most `gap`) made equal."""
    order = np.argsort(values, kind="stable")
    rising = values[order]
    first = np.append(True, np.diff(rising) > gap)
    merged = np.empty_like(values)
    merged[order] = rising[first][np.cumsum(first) - 1]
    return np.asarray(merged - merged.mean())


class NodeModels:
    """Models of all nodes of a tree at each penalty. penalties : (L,) positive, in rows"""

    def __init__(self, tree: Tree, rows: ModelRows, penalties: Sequence[float]) -> None:
        self.tree, self._rows = tree, rows
        strengths, parents = np.asarray(penalties, dtype=np.float64), tree.parents
        self._models = np.zeros((len(penalties), tree.n_nodes, rows.columns.shape[1]))
        self._rss = np.zeros((len(penalties), tree.n_nodes))
        for node, here in enumerate(arrivals(tree, rows.X)):  # parents before their children
            A, target = rows.columns[here], rows.target[here]
            parent = self._models[:, parents[node]] if node else np.zeros_like(self._models[:, 0])
            self._models[:, node] = parent + ridge_steps(A.T @ A, A.T @ target, parent, strengths)
            self._rss[:, node] = ((target[:, None] - A @ self._models[:, node].T) ** 2).sum(axis=0)

    def pruned(self, place: int, truncate: str) -> tuple[Tree, PruningPath]:
        """Return the tree with the models of one penalty, and its weakest-link sequence by their errors."""
        tree = self.tree.changed(payload=self._rows.equations(self._models[place], self._rss[place]))
        tree = truncated(tree, self._rows.X, self._rows.y, truncate)
        return tree, cost_complexity_path(tree)


class Candidate(NamedTuple):
    """Candidate tree of cross-validation.
    cuts : of CUTS; penalty : in rows; member : of the weakest-link sequence; leaves : of the tree on all rows; error :
    mean squared error on held-out rows; least : rows of a leaf"""

    cuts: str
    penalty: float
    member: int
    leaves: int
    error: float
    least: int

    def loss(self, price: float) -> float:
        """Return the objective. price : share by which the error must fall for twice the leaves"""
        return self.error * (1.0 + price * log2(self.leaves))


@dataclass(frozen=True, eq=False)
class LinearChoice:
    """Chosen linear model tree, with all candidates that cross-validation compared."""

    tree: Tree
    chosen: Candidate
    candidates: tuple[Candidate, ...]

    def summary(self) -> str:
        """Return a sentence on the choice and its cross-validation error."""
        plural, validation = "leaf" if self.tree.n_leaves == 1 else "leaves", ""
        if len(self.candidates) > 1:
            root = float(np.sqrt(self.chosen.error))
            validation = f", root mean squared error {root:.3g} in cross-validation of {len(self.candidates)} trees"
        by = f" cut by {self.chosen.cuts}, at least {self.chosen.least} rows each" if self.tree.n_leaves > 1 else ""
        return f"{self.tree.n_leaves} {plural}{by}, models by ridge {self.chosen.penalty:g}{validation}"


def chosen_tree(
    X: Array,
    y: Array,
    ways: Sequence[str],
    penalties: Sequence[float],
    limits: Limits,
    parts: Sequence[Rows],
    *,
    truncate: str,
    doubling_price: float,
    further_least: Sequence[int] = (),
) -> LinearChoice:
    """Return the linear model tree of rows X (n, p), y (n,) with the least cross-validation error plus price of size.
    ways : of CUTS; parts : held-out rows of each fold; for fewer than two the tree is one leaf at the middle penalty;
    further_least : further `Limits.min_leaf`, compared until one is better, with the best of the ways and
    penalties near the best"""

    def models_of(train_rows: Rows, cuts: str, least: int, penalties: Sequence[float]) -> NodeModels:
        rows = ModelRows(X[train_rows], y[train_rows])
        return NodeModels(grown(rows, cuts, replace(limits, min_leaf=least)), rows, penalties)

    every = np.arange(len(y))
    if len(parts) < 2:
        place = len(penalties) // 2
        tree, path = models_of(every, ways[0], limits.min_leaf, penalties).pruned(place, truncate)
        only = Candidate(ways[0], penalties[place], len(path.alphas) - 1, 1, float("nan"), limits.min_leaf)
        return LinearChoice(path.member(tree, only.member), only, (only,))
    candidates: list[Candidate] = []
    whole: dict[tuple[str, float, int], tuple[NodeModels, int]] = {}

    def compare(cuts: str, least: int, penalties: Sequence[float]) -> None:
        models = models_of(every, cuts, least, penalties)
        of_parts = [(models_of(np.setdiff1d(every, out), cuts, least, penalties), out) for out in parts]
        for place, penalty in enumerate(penalties):
            whole[cuts, penalty, least] = models, place
            path = models.pruned(place, truncate)[1]
            errors = np.zeros(len(path.alphas))
            for part, out in of_parts:
                errors += squared_errors(*part.pruned(place, truncate), path.between, X[out], y[out]).sum(axis=0)
            candidates.extend(
                Candidate(cuts, penalty, member, int(path.n_leaves[member]), float(error), least)
                for member, error in enumerate(errors / len(y))
            )

    def best() -> Candidate:
        least_loss = min(candidate.loss(doubling_price) for candidate in candidates)
        equal = (c for c in candidates if c.loss(doubling_price) <= least_loss * (1.0 + EQUAL))
        return min(equal, key=lambda candidate: candidate.leaves)

    for cuts in ways:
        compare(cuts, limits.min_leaf, penalties)
    first = best()
    at = penalties.index(first.penalty)
    for least in further_least:
        compare(first.cuts, least, penalties[max(at - 1, 0) : at + 2])
        if best().least == least:
            break
    chosen = best()
    models, place = whole[chosen.cuts, chosen.penalty, chosen.least]
    tree, path = models.pruned(place, truncate)
    return LinearChoice(path.member(tree, chosen.member), chosen, tuple(candidates))
