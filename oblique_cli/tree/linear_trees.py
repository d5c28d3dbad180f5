"""Linear model trees of few leaves: a ridge regression at every node that starts from its parent's model;
cross-validation chooses kind of cuts, terms, tree size and penalty. The counterpart of logistic_trees.py.

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

Models may have products and hinges too, the same in all nodes, which forward selection at the root chooses. Trees with
such models are grown to few leaves: their terms take the place of leaves.
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
from oblique_cli.tree.leaf_models import LINEAR, PARTS, ModelColumns
from oblique_cli.tree.least_squares import EQUAL, PERFECT, ZERO, scaled
from oblique_cli.tree.logistic_trees import screen_pairs
from oblique_cli.tree.payloads import Equations, paired
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
MOST_PARTS, ROUNDS = 24, 6  # products and hinges of models at most, and rounds in which they are chosen
MOST_TERMS = 100  # of all leaves of a tree with products and hinges, for a reader


@dataclass(frozen=True)
class Limits:
    """Stopping rules. min_leaf : least rows of a child; max_depth, max_leaves : None for no limit
    further_least : further `min_leaf`, compared until one is better, with the best cuts and penalties near the best"""

    min_leaf: int = 10
    max_depth: int | None = 8
    max_leaves: int | None = 40
    further_least: tuple[int, ...] = ()


class ModelRows:
    """Training rows X (n, p) with targets y (n,), and both standardized for the models.
    products, hinges : whether models have such terms, at most MOST_PARTS"""

    def __init__(self, X: Array, y: Array, products: bool = False, hinges: bool = False) -> None:
        self.X, self.y = np.ascontiguousarray(X), y
        Z, self._center, spread = scaled(self.X)
        target, middle, unit = scaled(y[:, None])
        self.columns = np.hstack([Z, np.ones((len(X), 1))])
        self.Z, self.target = np.ascontiguousarray(Z), np.ascontiguousarray(target[:, 0])
        self._spread = np.where(spread > 0.0, spread, 1.0)
        self._middle, self._unit = float(middle[0]), float(unit[0])
        self.n_parts = 0
        if products or hinges:
            self.weights, self.seen = np.ones(len(X)), ModelColumns((0,) * X.shape[1], self.X, np.ones(len(X)))
            screen_pairs(self, LINEAR, products, hinges, MOST_PARTS, ROUNDS)
            self.n_parts = len(self.seen.pairs)
        if self.n_parts:
            parts = paired(self.X, self.seen.center, self.seen.scale, self.seen.pairs, self.seen.knots)
            deviations = parts.std(axis=0)
            deviations = np.where(deviations > 0.0, deviations, 1.0)
            self.seen.take_pairs(self.seen.pairs, self.seen.knots, parts.mean(axis=0), deviations)
            self.columns = np.hstack([self.seen.of(self.X, PARTS), np.ones((len(X), 1))])

    def one_leaf(self, A: Array) -> tuple[Array, Array]:
        """Return the model (1, q + 1) of all rows with these columns (n, q), and its excess (n, 1)."""
        columns = np.hstack([A, np.ones((len(A), 1))])
        start, penalty = np.zeros((1, columns.shape[1])), np.array([GROWN_AT])
        model = ridge_steps(columns.T @ columns, columns.T @ self.target, start, penalty)
        return model, columns @ model.T - self.target[:, None]

    def slopes(self, models: Array) -> Array:
        """Return the coefficients of models (..., q + 1) in the features' original units, (..., p)."""
        return models[..., : len(self._spread)] / self._spread

    def equations(self, models: Array, rss: Array) -> Equations:
        """Return the equations of nodes in original units of features and target. models : (n_nodes, q + 1)"""
        if self.n_parts:
            scores = models[:, None] * self._unit
            scores[..., -1] += self._middle
            nothing = np.zeros((len(models), len(self._spread)))
            leaf_models = self.seen.as_leaf_models(scores, PARTS)
            return Equations(nothing, nothing[:, 0], rss * self._unit**2, leaf_models=leaf_models)
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
    start = np.zeros(rows.columns.shape[1])
    held = grow_by(builder, n, divide, root_state=start, most_leaves=limits.max_leaves, slack=EQUAL)
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
    mean squared error on held-out rows; least : rows of a leaf; terms : of a model, as a multiple of the features"""

    cuts: str
    penalty: float
    member: int
    leaves: int
    error: float
    least: int
    terms: float = 1.0

    def loss(self, price: float) -> float:
        """Return the objective. price : share by which the error must fall for twice the leaves, or twice the terms"""
        return self.error * (1.0 + price * log2(self.leaves * self.terms))


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
        terms = "" if self.tree.equations.leaf_models is None else " with products and hinges"
        return f"{self.tree.n_leaves} {plural}{by}, models{terms} by ridge {self.chosen.penalty:g}{validation}"


class Comparison:
    """Trees that cross-validation compares, by their models of all rows. X (n, p), y (n,), train_rows : of all rows,
    then of each fold; parts : held-out rows of each fold"""

    def __init__(self, X: Array, y: Array, parts: Sequence[Rows], limits: Limits, truncate: str, price: float) -> None:
        self.X, self.y, self.parts, self.limits = X, y, parts, limits
        self.truncate, self.price = truncate, price
        every = np.arange(len(y))
        self.train_rows = [every, *(np.setdiff1d(every, out) for out in parts)]
        self.candidates: list[Candidate] = []
        self._whole: dict[tuple[str, float, int, float], tuple[NodeModels, int]] = {}

    def rows(self, products: bool = False, hinges: bool = False) -> list[ModelRows]:
        """Return the training rows of the tree and of each fold. products, hinges : terms of their models"""
        return [ModelRows(self.X[rows], self.y[rows], products, hinges) for rows in self.train_rows]

    def models(self, rows: ModelRows, cuts: str, least: int, penalties: Sequence[float]) -> NodeModels:
        """Return the models of the tree grown on `rows`, which has few leaves if models have products or hinges."""
        most = self.limits.max_leaves
        if rows.n_parts:
            readable = max(1, MOST_TERMS // (self.X.shape[1] + rows.n_parts))
            most = readable if most is None else min(most, readable)
        return NodeModels(grown(rows, cuts, replace(self.limits, min_leaf=least, max_leaves=most)), rows, penalties)

    def add(self, all_rows: Sequence[ModelRows], cuts: str, least: int, penalties: Sequence[float]) -> None:
        """Add the trees of one way to cut, at each penalty and size, with their errors on held-out rows."""
        models, *of_folds = (self.models(rows, cuts, least, penalties) for rows in all_rows)
        terms = 1.0 + all_rows[0].n_parts / self.X.shape[1]
        for place, penalty in enumerate(penalties):
            self._whole[cuts, penalty, least, terms] = models, place
            path = models.pruned(place, self.truncate)[1]
            errors = np.zeros(len(path.alphas))
            for part, out in zip(of_folds, self.parts, strict=True):
                pruned = part.pruned(place, self.truncate)
                errors += squared_errors(*pruned, path.between, self.X[out], self.y[out]).sum(axis=0)
            self.candidates.extend(
                Candidate(cuts, penalty, member, int(path.n_leaves[member]), float(error), least, terms)
                for member, error in enumerate(errors / len(self.y))
            )

    def best(self) -> Candidate:
        """Return the candidate of the least loss; of equal ones the smallest."""
        least_loss = min(candidate.loss(self.price) for candidate in self.candidates)
        equal = (c for c in self.candidates if c.loss(self.price) <= least_loss * (1.0 + EQUAL))
        return min(equal, key=lambda candidate: candidate.leaves)

    def choice(self) -> LinearChoice:
        """Return the best candidate with its tree."""
        chosen = self.best()
        models, place = self._whole[chosen.cuts, chosen.penalty, chosen.least, chosen.terms]
        tree, path = models.pruned(place, self.truncate)
        return LinearChoice(path.member(tree, chosen.member), chosen, tuple(self.candidates))


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
    products: bool = False,
    hinges: bool = False,
) -> LinearChoice:
    """Return the linear model tree of rows X (n, p), y (n,) with the least cross-validation error plus price of size.
    ways : of CUTS; parts : held-out rows of each fold; for fewer than two the tree is one leaf at the middle penalty;
    products, hinges : whether models with such terms are compared, with the best way"""
    trees = Comparison(X, y, parts, limits, truncate, doubling_price)
    least = limits.min_leaf
    if len(parts) < 2:
        place = len(penalties) // 2
        tree, path = trees.models(ModelRows(X, y), ways[0], least, penalties).pruned(place, truncate)
        only = Candidate(ways[0], penalties[place], len(path.alphas) - 1, 1, float("nan"), least)
        return LinearChoice(path.member(tree, only.member), only, (only,))
    best_rows = trees.rows()
    for cuts in ways:
        trees.add(best_rows, cuts, least, penalties)
    first = trees.best()
    with_parts = trees.rows(products, hinges) if products or hinges else []
    if with_parts and with_parts[0].n_parts:
        trees.add(with_parts, first.cuts, least, penalties)
        if (first := trees.best()).terms > 1.0:
            best_rows = with_parts
    at = penalties.index(first.penalty)
    for least in limits.further_least:
        trees.add(best_rows, first.cuts, least, penalties[max(at - 1, 0) : at + 2])
        if trees.best().least == least:
            break
    return trees.choice()
