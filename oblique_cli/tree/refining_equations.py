"""Refinement of regression trees: tree alternating optimization (Carreira-Perpinan & Tavallali 2018).

One node after another, the deepest first, gets its best hyperplane with all others fixed; leaves are then refitted to
the rows that reach them. The objective is

    E = sum of squared errors / sum of squares at the root + penalty * sum over nodes of |w|_1, with |w|_2 = 1

over features standardized on the training rows. A row with equal errors in the left and the right branch has no
preferred side; every other row has one, with the difference of its squared errors as its weight. Planes are proposed
and accepted by E, so E never rises. No plane leaves a leaf with fewer rows than the limit of growth: a least-squares
model of fewer rows may predict anything away from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array, Rows
from oblique_cli.ground.geometry import distinct_gap
from oblique_cli.tree import refining
from oblique_cli.tree.least_squares import Linear, scaled
from oblique_cli.tree.payloads import Equations
from oblique_cli.tree.pruning import LabeledRows
from oblique_cli.tree.refining import EQUAL, Fold, Path, Refined, Run, Space
from oblique_cli.tree.residual_signs import Settings, model_of
from oblique_cli.tree.structure import Tree, TreeBuilder

N_PENALTIES = 8
FOLDS = 5
MAX_SWEEPS = 40
TOLERANCE = 1e-6  # a sweep that lowers E by less than this share of E is the last one
SURROGATES = 5  # number of l1 penalties of the logistic surrogate at a node, each a fifth of the previous one


@dataclass(eq=False)
class _Branch:
    """Mutable node. A leaf predicts by `model`; a node with children has a hyperplane."""

    model: Linear
    coef: Array
    threshold: float = 0.0
    left: _Branch | None = None
    right: _Branch | None = None

    @property
    def children(self) -> tuple[_Branch, _Branch]:
        assert self.left is not None and self.right is not None
        return self.left, self.right

    @property
    def is_leaf(self) -> bool:
        return self.left is None

    def become(self, other: _Branch) -> None:
        self.model, self.coef, self.threshold = other.model, other.coef, other.threshold
        self.left, self.right = other.left, other.right


@dataclass(frozen=True, eq=False)
class _Plane:
    """Candidate plane: rows with coef @ x <= threshold go left; `loss` is the node's cost, penalty included."""

    coef: Array
    threshold: float
    loss: float


def _below(branch: _Branch) -> list[_Branch]:
    """Return a node and all nodes below it, parents first."""
    branches = [branch]
    for node in branches:
        if not node.is_leaf:
            branches += node.children
    return branches


class Problem(Space):
    """Training rows X (n, p), y (n,), and the kind and limits of leaves. A state is the root of a mutable tree."""

    def __init__(self, X: Array, y: Array, settings: Settings) -> None:
        self.X, self.y, self.settings = X, y, settings
        Z, _, self.spread = scaled(X)  # 0 for a constant column
        self.Z, centered = np.ascontiguousarray(Z), y - y.mean()
        self.total = float(centered @ centered)

    def begin(self, tree: Tree) -> _Branch:
        """Return a tree in mutable form."""
        models = tree.equations
        made = [
            _Branch(Linear(models.coef[i], float(models.intercept[i]), float(models.rss[i]), 0), tree.coef_[i].copy())
            for i in range(tree.n_nodes)
        ]
        for i in np.flatnonzero(~tree.is_leaf):
            made[i].threshold = float(tree.thresholds[i])
            made[i].left, made[i].right = made[tree.left[i]], made[tree.right[i]]
        return made[0]

    def step(self, state: Any, penalty: float, settings: Any, leaves: Any) -> tuple[Any, Run]:
        """Return the state, refined in place, and the record of the run."""
        if self.total == 0.0:  # a constant target has one leaf, and shares of its zero error are undefined
            return state, Run(penalty, 0, True, np.zeros(1), np.zeros(1, np.int32), np.full(1, -1, np.int32))
        return state, run(self, state, penalty)

    def end(self, state: Any, start: Any = None, leaves: Any = None) -> Tree:
        """Return the tree with the models of the training rows at every node; leaves keep theirs."""
        builder, reached = TreeBuilder(self.X.shape[1], 1), self.reached(state)
        number = {id(node): builder.add(np.array([float(len(rows))]), len(rows)) for node, rows, _ in reached}
        models = []
        for node, rows, _ in reached:
            X, y = self.X[rows], self.y[rows]
            model = node.model if node.is_leaf else model_of(X, y, self.settings)
            residuals = y - model.predict(X)
            models.append(replace(model, rss=float(residuals @ residuals)))
        for node, _, _ in reached:
            if not node.is_leaf:
                at, left, right = (number[id(each)] for each in (node, *node.children))
                gain = max(models[at].rss - models[left].rss - models[right].rss, 0.0)
                builder.split(at, node.coef, node.threshold, gain, left, right)
        return builder.finish(payload=Equations.of(models))

    def reached(self, root: _Branch) -> list[tuple[_Branch, Rows, int]]:
        """Return all nodes with the rows that reach them and their depths, parents first."""
        reached = [(root, np.arange(len(self.y)), 0)]
        for node, rows, depth in reached:
            if not node.is_leaf:
                goes_left = np.asarray(_core.project(np.ascontiguousarray(self.X[rows]), node.coef)) <= node.threshold
                left, right = node.children
                reached += [(left, rows[goes_left], depth + 1), (right, rows[~goes_left], depth + 1)]
        return reached

    def price(self, coef: Array) -> float:
        """Return the penalty term |w|_1 / |w|_2 of a hyperplane over the standardized features, from 1 to sqrt(p)."""
        w = np.abs(coef) * self.spread
        largest = float(w.max(initial=0.0))
        if largest == 0.0:
            return 1.0
        w = w / largest
        return float(w.sum() / np.sqrt(w @ w))

    def errors(self, branch: _Branch, rows: Rows) -> tuple[Array, NDArray[np.intp]]:
        """Return the squared error of each of `rows` below a node, as a share of the root's, and its leaf's number."""
        squared, leaf = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.intp)
        stack, number = [(branch, np.arange(len(rows)))], 0
        while stack:
            node, places = stack.pop()
            A = np.ascontiguousarray(self.X[rows[places]])
            if node.is_leaf:
                squared[places] = (self.y[rows[places]] - node.model.predict(A)) ** 2
                leaf[places] = number
                number += 1
            else:
                goes_left = np.asarray(_core.project(A, node.coef)) <= node.threshold
                left, right = node.children
                stack += [(right, places[~goes_left]), (left, places[goes_left])]
        return squared / self.total, leaf

    def prices(self, branch: _Branch) -> float:
        """Return the sum of the penalty terms of all hyperplanes from a node down."""
        return float(sum(self.price(node.coef) for node in _below(branch) if not node.is_leaf))

    def objective(self, branch: _Branch, penalty: float) -> float:
        """Return E of a tree."""
        return float(self.errors(branch, np.arange(len(self.y)))[0].sum()) + penalty * self.prices(branch)


class Reduced:
    """Cost of one node's hyperplane with everything else fixed.
    X, Z : (m, p) its rows, original and standardized; left, right : (m,) cost of each row in either branch; left_leaf,
    right_leaf : (m,) its leaf in either branch"""

    def __init__(self, problem: Problem, branch: _Branch, rows: Rows, penalty: float) -> None:
        self.problem, self.penalty, self.branch = problem, penalty, branch
        self.X = np.ascontiguousarray(problem.X[rows])
        self.Z = np.ascontiguousarray(problem.Z[rows])
        left, right = branch.children
        self.left, self.left_leaf = problem.errors(left, rows)
        self.right, self.right_leaf = problem.errors(right, rows)
        self.leaves = tuple(sum(node.is_leaf for node in _below(side)) for side in (left, right))

    def _room(self, rank: NDArray[np.intp], leaf: NDArray[np.intp], count: int) -> int:
        """Return how many of the first rows must go to a branch so that each of its leaves has enough rows."""
        least, needed = self.problem.settings.min_leaf, 1
        for number in range(count):
            places = rank[leaf == number]
            if len(places) < least:
                return len(rank) + 1
            needed = max(needed, int(np.partition(places, least - 1)[least - 1]) + 1)
        return needed

    def best_along(self, coef: Array) -> _Plane | None:
        """Return the best cut along a direction, with the branches in either order, in the middle of its gap."""
        values = np.asarray(_core.project(self.X, np.ascontiguousarray(coef)))
        order = np.argsort(values, kind="stable")
        along, m = values[order], len(values)
        cuts = np.flatnonzero(np.diff(along) > distinct_gap(self.X, coef)) + 1
        rank = np.empty(m, dtype=np.intp)
        rank[order] = np.arange(m)
        difference = np.cumsum((self.left - self.right)[order])
        price = self.penalty * self.problem.price(coef)
        best: _Plane | None = None
        for turned in (False, True):
            low, high = rank, m - 1 - rank
            if turned:
                low, high = high, low
            first = self._room(low, self.left_leaf, self.leaves[0])
            last = m - self._room(high, self.right_leaf, self.leaves[1])
            n_left = cuts if not turned else m - cuts  # rows on the left
            allowed = cuts[(n_left >= first) & (n_left <= last)]
            if len(allowed) == 0:
                continue
            if turned:
                losses = float(self.left.sum()) - difference[allowed - 1]
            else:
                losses = float(self.right.sum()) + difference[allowed - 1]
            at = int(np.argmin(losses))
            if best is None or losses[at] + price < best.loss - EQUAL:
                lower, upper = float(along[allowed[at] - 1]), float(along[allowed[at]])
                middle = lower + 0.5 * (upper - lower)
                sign = -1.0 if turned else 1.0
                best = _Plane(np.ascontiguousarray(sign * coef), sign * middle, float(losses[at]) + price)
        return best

    def directions(self) -> list[Array]:
        """Return the directions to search: every axis, the present normal, and those of the surrogate."""
        p = self.X.shape[1]
        axes = [np.eye(1, p, j)[0] for j in np.flatnonzero(np.ptp(self.X, axis=0) > 0.0).tolist()]
        return [*axes, self.branch.coef, *self.surrogates()]

    def surrogates(self) -> list[Array]:
        """Return normals of l1-penalized logistic regression on rows with a preferred side, weighted by preference."""
        difference = self.left - self.right
        care = np.abs(difference) > EQUAL / len(self.problem.y)
        side = np.where(difference[care] > 0.0, 1.0, -1.0)
        if len(side) == 0 or side.min() == side.max():
            return []
        weights = np.abs(difference[care])
        weights = np.ascontiguousarray(weights * (len(side) / weights.sum()))
        Z = np.ascontiguousarray(self.Z[care])
        share = float(weights[side > 0.0].sum() / len(side))
        slopes = np.abs((weights * ((side > 0.0) - share)) @ Z)
        l1 = float(slopes.max(initial=0.0))
        normals: list[Array] = []
        start: Array | None = None
        usable = self.problem.spread > 0.0
        for _ in range(SURROGATES if l1 > 0.0 else 0):
            l1 /= 5.0
            w, b, *_ = _core.linear_fit(Z, side, weights, l1=l1, tolerance=1e-7, start=start)
            start = np.append(w, b)
            coef = np.where(usable, w, 0.0) / np.where(usable, self.problem.spread, 1.0)
            largest = float(np.abs(coef).max(initial=0.0))
            if largest > 0.0:
                coef /= largest
                normals.append(np.ascontiguousarray(coef / np.sqrt(coef @ coef)))
        return normals


def update(problem: Problem, branch: _Branch, rows: Rows, penalty: float) -> float:
    """Give a node with children its best hyperplane with all others fixed; return by how much E falls, 0 or more."""
    reduced = Reduced(problem, branch, rows, penalty)
    left, right = branch.children
    below = [penalty * problem.prices(side) for side in (left, right)]
    goes_left = np.asarray(_core.project(reduced.X, branch.coef)) <= branch.threshold
    present = float(np.where(goes_left, reduced.left, reduced.right).sum()) + penalty * problem.price(branch.coef)
    now = present + below[0] + below[1]
    model = model_of(reduced.X, problem.y[rows], problem.settings)
    leaf = _Branch(model, np.zeros_like(branch.coef))
    ends = [
        (float(problem.errors(leaf, rows)[0].sum()), leaf),
        (float(reduced.left.sum()) + below[0], left),
        (float(reduced.right.sum()) + below[1], right),
    ]
    best, chosen = now - EQUAL, None
    for loss, end in ends:
        if loss < best:
            best, chosen = loss, end
    for plane in filter(None, map(reduced.best_along, reduced.directions())):
        loss = plane.loss + below[0] + below[1]
        if loss < best - EQUAL:
            best, chosen = loss, _Branch(branch.model, plane.coef, plane.threshold, left, right)
    if chosen is None:
        return 0.0
    branch.become(chosen)
    return now - best


def run(problem: Problem, root: _Branch, penalty: float) -> Run:
    """Optimize a tree in place at one penalty."""
    objective, nodes, sweeps = [problem.objective(root, penalty)], [-1], [0]
    converged, sweep = False, 0
    while not converged and sweep < MAX_SWEEPS:
        sweep += 1
        before = now = objective[-1]
        # Nodes of one depth share no rows, and an update below a node changes no row that reaches the node.
        reached = problem.reached(root)
        for number in sorted(range(len(reached)), key=lambda number: (-reached[number][2], number)):
            node, rows, _ = reached[number]
            if not node.is_leaf:
                now -= update(problem, node, rows, penalty)
                objective.append(now)
                nodes.append(number)
        for node, rows, _ in problem.reached(root):
            if node.is_leaf:
                X, y = problem.X[rows], problem.y[rows]
                model = model_of(X, y, problem.settings)
                new, old = y - model.predict(X), y - node.model.predict(X)
                if new @ new < old @ old:
                    node.model = model
        objective.append(min(problem.objective(root, penalty), now))
        nodes.append(-1)
        sweeps += [sweep] * (len(nodes) - len(sweeps))
        converged = before - objective[-1] <= TOLERANCE * max(before, 0.0)
    steps = (np.array(which, dtype=np.int32) for which in (sweeps, nodes))
    return Run(float(penalty), sweep, converged, np.array(objective), *steps)


def penalties_of(tree: Tree, n: int) -> Array:
    """Return a geometric path of penalties, as shares of the root's sum of squares: from the mean squared error of one
    row (a cut for one row is noise) to the mean gain of a split, beyond which few cuts pay."""
    left = max(float(tree.equations.rss[tree.is_leaf].sum() / tree.equations.rss[0]), 0.0)
    low = max(left / n, 1e-9)
    high = max((1.0 - left) / max(tree.n_leaves - 1, 1), 2.0 * low)
    return np.geomspace(low, high, N_PENALTIES)


def refined(
    start: Tree, X: Array, y: Array, settings: Settings, parts: Sequence[NDArray[Any]], grown: Callable[[Rows], Tree]
) -> Refined:
    """Refine a tree at the penalty of least cross-validation error, then fewest coefficients; keep the start if no
    penalty is better.
    start : the tree of rows X (n, p), y (n,); parts : held-out rows of each fold; grown : rows -> start"""
    if start.n_leaves == 1 or not start.equations.rss[0] > 0.0 or len(parts) < 2:
        return Refined(start, Path([], []), np.empty(0), None)

    def fold(out: Rows) -> Fold:
        training_rows = np.setdiff1d(np.arange(len(y)), out)
        space = Problem(np.ascontiguousarray(X[training_rows]), y[training_rows], settings)
        return Fold(space, LabeledRows(X[out], y[out], None), [lambda: grown(training_rows)])

    space = Problem(np.ascontiguousarray(X), y, settings)
    penalties = penalties_of(start, len(y))
    return refining.refined(space, [lambda: start], map(fold, parts), penalties, 0.0, refining.Settings(), True)
