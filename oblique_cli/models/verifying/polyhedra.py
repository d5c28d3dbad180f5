"""Leaves of hyperplane trees as polyhedra, and the linear programs that search for rows in them.

A row is a vector of variables: each number that the model takes, in standard deviations from the training mean, and
for each column of levels a 0-1 variable for every level of some term, and one for all other levels. So the sum of
every split is linear, and the rows of a leaf are a polyhedron, or its 0-1 points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.games import unrotated
from oblique_cli.models.explaining.nearest import FARTHEST
from oblique_cli.models.explaining.scored import Factor
from oblique_cli.models.explaining.spread import Spread
from oblique_cli.models.procedure import (
    MISSING,
    NUMBER,
    Leaf,
    Procedure,
    Scaled,
    Scores,
    Steps,
    Term,
)

# Depth inside a leaf, in standard deviations, at which rows are searched: on the border of a leaf the roundings of a
# sum decide, and the solver has a tolerance of 1e-7.
MARGIN = 1e-7
DEEP = 1e-2  # sufficient depth
STEPS = 400  # boxes for the division of products, per pair of leaves


Box = dict[int, tuple[float, float]]  # variables of products, and their ranges
Turns = tuple[tuple[int, bool], ...]  # nodes of a path, and whether it goes left there
HalfSpace = tuple[Array, float, bool]  # vector @ v <= threshold, and whether it is <


class Undecided(Exception):
    """The solver has not finished."""


@dataclass(frozen=True)
class Product:
    """`amount` times a hinge, or the product of two factors; those of a square are equal."""

    amount: float
    factors: tuple[Factor, ...]

    def at(self, v: Array) -> float:
        """Return its value at a row."""
        return self.amount * math.prod(factor.at(float(v[factor.place])) for factor in self.factors)

    def plane(self, box: Box) -> tuple[list[float], float]:
        """Return a plane in the variables that is nowhere below the product in a box: slopes and offset.

        For one variable a line (`_line`). For two, where both factors are linear, the plane of McCormick (1976); else
        the largest value.
        """
        if len(set(self.factors)) == 1:
            slope, offset = self._line(*box[self.factors[0].place])
            return [slope] + [0.0] * (len(self.factors) - 1), offset
        (f, g), (a, b, f_linear), (c, d, g_linear) = (
            self.factors,
            *(_ends(factor, *box[factor.place]) for factor in self.factors),
        )
        if not (f_linear and g_linear):
            return [0.0, 0.0], max(self.amount * x * y for x in (a, b) for y in (c, d))
        (a, b), least = sorted((a, b)), min(c, d)
        edge = b if self.amount > 0.0 else a  # u v <= edge v + least u - edge least; >= for a negative amount
        slopes, offset = [0.0, 0.0], -self.amount * edge * least
        for k, (factor, weight, ends) in enumerate(((f, least, (a, b)), (g, edge, (c, d)))):
            if ends[0] == ends[1]:
                offset += self.amount * weight * ends[0]
            else:
                slopes[k] = self.amount * weight * factor.rate
                offset += self.amount * weight * factor.start
        return slopes, offset

    def _line(self, low: float, high: float) -> tuple[float, float]:
        """Return a line in the variable that is nowhere below a hinge or square in an interval: slope and offset, which
        is infinite where no line is above. It is parallel to the secant, or to the infinite end."""
        factor, power = self.factors[0], len(self.factors)

        def value(x: float) -> float:
            return self.amount * factor.at(x) ** power

        endless = [end for end in (low, high) if math.isinf(end)]
        steep = any(abs(factor.at(end)) >= FARTHEST for end in endless)  # a hinge, on its side
        if len(endless) == 2 and steep and self.amount > 0.0:
            return 0.0, math.inf
        slope = self.amount * factor.rate if len(endless) == 1 and steep else 0.0
        if not endless and low < high:
            slope = (value(high) - value(low)) / (high - low)
        points = [x for x in (low, high, *factor.knots) if low <= x <= high and math.isfinite(x)]
        if power > 1:  # a parabola is farthest from its line where it has the same slope
            at = (0.5 * slope / (self.amount * factor.rate) - factor.start) / factor.rate
            points += [at] if low < at < high and factor.low < factor.start + factor.rate * at < factor.high else []
        return slope, max(value(x) - slope * x for x in points)


@dataclass(frozen=True, eq=False)
class Form:
    """Output of a leaf at row v: constant + vector @ v + the products."""

    vector: Array
    constant: float
    products: tuple[Product, ...] = ()

    def of(self, v: Array) -> float:
        """Return its value."""
        return float(self.constant + self.vector @ v + sum(product.at(v) for product in self.products))

    @property
    def negative(self) -> Form:
        """The form with all signs changed."""
        products = tuple(replace(product, amount=-product.amount) for product in self.products)
        return Form(-self.vector, -self.constant, products)

    @property
    def places(self) -> set[int]:
        """Variables of products."""
        return {factor.place for product in self.products for factor in product.factors}

    @property
    def size(self) -> float:
        """The change of the form over a standard deviation, the scale of tolerances."""
        steep = sum(abs(product.amount * factor.rate) for product in self.products for factor in product.factors)
        return float(np.abs(self.vector).max(initial=0.0) + steep)


@dataclass(frozen=True, eq=False)
class Shape:
    """The rows of a leaf: A v <= b, where `strict` means <."""

    node: int
    A: Array  # (m, n) rows of length 1
    b: Array
    strict: NDArray[np.bool_]
    turns: Turns  # of the path
    low: Array  # (n,) bounds from splits on one number
    high: Array


@dataclass(frozen=True, eq=False)
class Frame:
    """The variables of a row."""

    procedure: Procedure
    center: Array  # (p,) of the columns: a number is center + scale * variable
    scale: Array
    numbers: Mapping[int, int]  # column -> its variable
    states: Mapping[int, Mapping[int, int]]  # column of levels -> code, MISSING or other level -> its variable
    low: Array  # (n,) bounds
    high: Array

    @classmethod
    def of(cls, procedure: Procedure, spread: Spread | None, within: Mapping[int, tuple[float, float]]) -> Frame:
        """Return the variables of a model. spread : None for units of the columns; within : bounds of columns"""
        p = len(procedure.cells)
        center, scale = np.zeros(p), np.ones(p)
        if spread is not None:
            scale = np.where(np.array(spread.deviations) > 0.0, spread.deviations, 1.0)
            center = np.array(spread.means, np.float64)
        numbers: dict[int, int] = {}
        states: dict[int, dict[int, int]] = {}
        low: list[float] = []
        high: list[float] = []
        for cell in sorted(procedure.used):
            if procedure.cells[cell].levels:
                used = sorted({level for at, level in procedure.taken() if at == cell and level != NUMBER})
                codes = [*used, next(code for code in itertools.count() if code not in used)]  # the last in no term
                states[cell] = {code: len(low) + k for k, code in enumerate(codes)}
                low, high = low + [0.0] * len(codes), high + [1.0] * len(codes)
            else:
                numbers[cell] = len(low)
                ends = within.get(cell, (-np.inf, np.inf))
                least, most = ((end - center[cell]) / scale[cell] for end in ends)
                low, high = [*low, least], [*high, most]
        return cls(procedure, center, scale, numbers, states, np.array(low), np.array(high))

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.low)

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Whether each variable is 0 or 1, (n,)."""
        return np.asarray(self.sums_of_states().any(axis=0))

    def places(self, cell: int) -> list[int]:
        """Return the variables of a column, none if the model does not use it."""
        return [self.numbers[cell]] if cell in self.numbers else list(self.states.get(cell, {}).values())

    def row(self, v: Array) -> Array:
        """Return the cells of a row, (p,); the mean, or the first level, of columns that the model does not use."""
        values = np.where([bool(cell.levels) for cell in self.procedure.cells], 0.0, self.center)
        for cell, place in self.numbers.items():
            values[cell] = self.center[cell] + self.scale[cell] * v[place]
        for cell, places in self.states.items():
            code = max(places, key=lambda code: v[places[code]])
            values[cell] = math.nan if code == MISSING else float(code)
        return values

    def variables(self, row: Array) -> Array:
        """Return the variables of a row, (n,), 0 for a missing number. row : (p,), filled"""
        v = np.zeros(self.n)
        for cell, place in self.numbers.items():
            v[place] = 0.0 if math.isnan(row[cell]) else (row[cell] - self.center[cell]) / self.scale[cell]
        for cell, places in self.states.items():
            code = MISSING if math.isnan(row[cell]) else int(row[cell])
            v[places.get(code, [*places.values()][-1])] = 1.0
        return v

    def sum(self, terms: Iterable[Term], lacking: frozenset[int] = frozenset()) -> tuple[Array, float]:
        """Return a sum of terms as vector and constant. lacking : columns whose numbers are missing and add 0"""
        vector, constant = np.zeros(self.n), 0.0
        for term in terms:
            if term.level != NUMBER:
                if (place := self.states[term.cell].get(term.level)) is not None:
                    vector[place] += term.coef
            elif term.cell not in lacking:
                vector[self.numbers[term.cell]] += term.coef * self.scale[term.cell]
                constant += term.coef * self.center[term.cell]
        return vector, constant

    def shapes(self, tree: Steps, lacking: frozenset[int] = frozenset()) -> list[Shape]:
        """Return the leaves of a tree that rows may reach. lacking : columns whose numbers are missing"""
        shapes: list[Shape] = []
        stack: list[tuple[int, list[HalfSpace], Turns]] = [(0, [], ())]
        while stack:
            node, rows, turns = stack.pop()
            if tree.left[node] < 0:
                shape = self._shape(node, rows, turns)
                if (shape.low <= shape.high).all():
                    shapes.append(shape)
                continue
            sides = self._sides(tree, node, lacking)
            for left, child in ((False, tree.right[node]), (True, tree.left[node])):
                if left in sides:
                    stack.append((child, [*rows, *sides[left]], (*turns, (node, left))))
        return shapes

    def _sides(self, tree: Steps, node: int, lacking: frozenset[int]) -> dict[bool, list[HalfSpace]]:
        """Return left and right of a split, scaled to length 1; only one side if all rows go there."""
        split = tree.split(node)
        terms = plain_terms(self.procedure, tree, node)
        if any(term.level == NUMBER and term.cell in lacking for term in terms):
            return {bool(split.missing_left): []}
        vector, constant = self.sum(terms)
        size = float(np.abs(vector).max(initial=0.0))
        length = size * float(np.linalg.norm(vector / size)) if size > 0.0 else 0.0
        # The threshold that separates missing values from all others is as far away as numbers go.
        if abs(split.threshold) > FARTHEST * length or length == 0.0:
            return {constant <= split.threshold: []}
        unit, threshold = vector / length, (split.threshold - constant) / length
        return {True: [(unit, threshold, False)], False: [(-unit, -threshold, True)]}

    def _shape(self, node: int, rows: Sequence[HalfSpace], turns: Turns) -> Shape:
        low, high = self.low.copy(), self.high.copy()
        for vector, threshold, _ in rows:
            if np.count_nonzero(vector) == 1:
                j = int(np.flatnonzero(vector)[0])
                if vector[j] > 0.0:
                    high[j] = min(high[j], threshold / vector[j])
                else:
                    low[j] = max(low[j], threshold / vector[j])
        vectors, thresholds, strict = zip(*rows, strict=True) if rows else ((), (), ())
        A = np.array(vectors).reshape(len(rows), self.n)
        return Shape(node, A, np.array(thresholds), np.array(strict, np.bool_), turns, low, high)

    def number(self, leaf: Leaf) -> Form:
        """Return the form of a regression tree's leaf."""
        vector, constant = self.sum(leaf.terms)
        return Form(vector, constant + leaf.intercept)

    def score(self, scores: Scores, weights: Sequence[float], lacking: frozenset[int] = frozenset()) -> Form:
        """Return a weighted sum of the scores of a leaf. weights : one per class with a score"""
        vector, constant = np.zeros(self.n), float(np.dot(weights, scores.intercept))
        products: list[Product] = []
        for part in scores.parts:
            amount = float(np.dot(weights, part.coef))
            if not amount or any(each.level == NUMBER and each.cell in lacking for each in part.columns):
                continue  # a missing number adds nothing
            factors = tuple(map(self._factor, part.columns))
            factor = factors[0]
            if len(factors) == 1 and (part.columns[0].level != NUMBER or not factor.knots):
                constant += amount * factor.start
                vector[factor.place] += amount * factor.rate
            else:
                products.append(Product(amount, factors))
        return Form(vector, constant, tuple(products))

    def _factor(self, column: Scaled) -> Factor:
        """Return a column as a factor."""
        if column.level == NUMBER:
            start = (self.center[column.cell] - column.center) / column.scale
            rate = float(self.scale[column.cell] / column.scale)
            return Factor(self.numbers[column.cell], float(start), rate, column.low, column.high)
        there, other = column.by_level
        place = self.states[column.cell].get(column.level)
        return Factor(place or 0, other, 0.0 if place is None else there - other)

    def sums_of_states(self) -> Array:
        """Return the equations for exactly one state of each column of levels: rows @ v = 1, (k, n)."""
        sums = np.zeros((len(self.states), self.n))
        for k, places in enumerate(self.states.values()):
            sums[k, list(places.values())] = 1.0
        return sums


def plain_terms(procedure: Procedure, tree: Steps, node: int) -> list[Term]:
    """Return the terms of a split, with rotated features expanded."""
    return [part for term in tree.split(node).terms for part in unrotated(term, tree, len(procedure.columns))]


@dataclass(frozen=True, eq=False)
class Program:
    """Rows v with A v <= b, bounds, E v = 1, some of them 0 or 1."""

    A: Array
    b: Array
    strict: NDArray[np.bool_]
    low: Array
    high: Array
    E: Array
    whole: NDArray[np.bool_]

    def also(self, rows: Array, limits: Array) -> Program:
        """Return this program with more rows: rows @ v <= limits."""
        strict = np.append(self.strict, np.zeros(len(rows), np.bool_))
        return replace(self, A=np.vstack([self.A, rows]), b=np.append(self.b, limits), strict=strict)

    def deepest(self, strict_only: bool = False) -> tuple[Array, float] | None:
        """Return the row deepest inside all (or only the strict) rows of A, and its depth; None if there is no row."""
        n = self.A.shape[1]
        depth = self.strict.astype(np.float64) if strict_only else np.ones(len(self.b))
        A = np.hstack([self.A, depth[:, None]])
        solution = self._solved(np.append(np.zeros(n), -1.0), A, self.b, [0.0], [DEEP])
        return None if solution is None else (solution[:n], float(solution[n]))

    def nearest(self, depth: float, numbers: Sequence[int], to: Array | None = None) -> Array | None:
        """Return a row at some depth with numbers nearest to the given ones (Chebyshev); None if there is no row."""
        n = self.A.shape[1]
        k = len(numbers)
        sides = np.zeros((2 * k, n + 1))
        sides[np.arange(k), list(numbers)] = 1.0
        sides[np.arange(k, 2 * k), list(numbers)] = -1.0
        sides[:, n] = -1.0
        A = np.vstack([np.hstack([self.A, np.zeros((len(self.b), 1))]), sides])
        target = np.zeros(k) if to is None else to
        b = np.concatenate([self.b - depth, target, -target])
        solution = self._solved(np.append(np.zeros(n), 1.0), A, b, [0.0], [np.inf])
        return None if solution is None else solution[:n]

    def highest(self, form: Form, enough: float) -> Array | None:
        """Return a row inside by MARGIN where a form exceeds `enough`, None if there is none.

        With products, boxes of their columns are divided until the bound of a box is at most `enough` or a
        row in it exceeds it. Undecided if STEPS boxes do not suffice.
        """
        boxes = [self._box(form)]
        for _ in range(STEPS):
            if not boxes:
                return None
            box = boxes.pop()
            solution = self.bounded(form, box, enough)
            if solution is None or solution[1] <= enough:
                continue
            if math.isfinite(solution[1]) and (not form.places or form.of(solution[0]) > enough):
                return solution[0]
            boxes += _divided(form, box, solution[0])
        raise Undecided

    def bound(self, form: Form) -> float:
        """Return an upper bound of a form; its maximum without products. -inf if there is no row."""
        solution = self.bounded(form, self._box(form), np.inf)
        return -math.inf if solution is None else solution[1]

    def _box(self, form: Form) -> Box:
        return {place: (float(self.low[place]), float(self.high[place])) for place in form.places}

    def bounded(self, form: Form, box: Box, enough: float) -> tuple[Array, float] | None:
        """Return the maximizing row and maximum of a form in a box, with lines and planes above products.

        Values far above `enough` are limited, so that the search ends. None if there is no row.
        """
        vector, constant = form.vector.copy(), form.constant
        low, high = self.low.copy(), self.high.copy()
        for place, ends in box.items():
            low[place], high[place] = ends
        for product in form.products:
            slopes, offset = product.plane(box)
            constant += offset
            for factor, slope in zip(product.factors, slopes, strict=True):
                vector[factor.place] += slope
        if constant == math.inf:  # until the box is divided
            return np.zeros(len(vector)), math.inf
        size = 1.0 + abs(enough) + abs(constant) + 10.0 * float(np.abs(vector).max(initial=0.0))
        program = replace(self, b=self.b - MARGIN, low=low, high=high)
        if math.isfinite(size):
            program = program.also(vector[None], np.array([size]))
        solution = program._solved(-vector, program.A, program.b)
        return None if solution is None else (solution, float(vector @ solution + constant))

    def _solved(
        self, objective: Array, A: Array, b: Array, low: Sequence[float] = (), high: Sequence[float] = ()
    ) -> Array | None:
        """Return the v of least objective, None if there is no v at all; Undecided if the solver has no result."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        if not len(objective):  # the model uses no column, and the solver accepts no program without variables
            return np.zeros(0) if (b >= 0.0).all() else None
        if not np.isfinite(objective).all():
            raise Undecided
        more = len(low)
        constraints = [LinearConstraint(A, -np.inf, b)] if len(b) else []
        if len(self.E):
            constraints.append(LinearConstraint(np.hstack([self.E, np.zeros((len(self.E), more))]), 1.0, 1.0))
        ended = milp(
            objective,
            integrality=np.append(self.whole, np.zeros(more)).astype(np.int64),
            bounds=Bounds(np.append(self.low, low), np.append(self.high, high)),
            constraints=constraints,
            # With presolve, HiGHS prints a line to standard output for some programs with whole numbers.
            options={"presolve": not self.whole.any()},
        )
        if ended.status == 2 or (self.low > self.high).any():
            return None
        if ended.x is None or ended.status != 0:
            raise Undecided
        return np.asarray(ended.x, np.float64)


def _ends(factor: Factor, low: float, high: float) -> tuple[float, float, bool]:
    """Return the values of a factor at the ends of an interval, and whether it is linear there."""
    first, last = factor.at(low), factor.at(high)
    return first, last, first == last or not any(low < knot < high for knot in factor.knots)


def _divided(form: Form, box: Box, v: Array) -> list[Box]:
    """Return two halves of a box, cut where a product is farthest from its plane."""

    def gap(product: Product) -> float:
        slopes, offset = product.plane(box)
        lines = (slope * float(v[factor.place]) for slope, factor in zip(slopes, product.factors, strict=True))
        return sum(lines, offset) - product.at(v)

    def width(factor: Factor) -> float:
        low, high, _ = _ends(factor, *box[factor.place])
        return abs(high - low)

    worst = max(max(form.products, key=gap).factors, key=width)
    low, high = box[worst.place]
    inner = [knot for knot in worst.knots if low < knot < high]
    at = min(inner, key=lambda knot: abs(knot - v[worst.place])) if inner else 0.5 * (low + high)
    return [{**box, worst.place: (low, at)}, {**box, worst.place: (at, high)}]
