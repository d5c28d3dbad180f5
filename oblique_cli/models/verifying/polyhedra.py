"""Leaves of trees of hyperplanes as polyhedra, and the linear programs that look for rows in them.

A row is a vector of variables: each number that the model takes, in standard deviations from the training mean, and
for each column of levels one variable of 0 or 1 for every level that some term asks for, and one for all others. So
the sum of every split is linear, and the rows of a leaf are a polyhedron, or the 0-1 points of one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oblique_cli.models.explaining.games import unrotated
from oblique_cli.models.explaining.nearest import FARTHEST
from oblique_cli.models.explaining.spread import Spread
from oblique_cli.models.procedure import MISSING, NUMBER, Leaf, Procedure, Scores, Steps, Term, square_of
from oblique_cli.tree.payloads import FARTHEST_SQUARED

Array = NDArray[np.float64]

# How deep inside a leaf a row must be able to lie to be looked for, in standard deviations: on the border of a leaf the
# roundings of a sum decide, and the solver itself goes by 1e-7.
MARGIN = 1e-7
DEEP = 1e-2  # nobody needs to be deeper
STEPS = 400  # boxes that squares are divided into, for one pair of leaves
HIGHEST_SQUARE = square_of(FARTHEST_SQUARED)
LOWEST_SQUARE = square_of(0.0)


class Undecided(Exception):
    """The solver has not come to an end."""


@dataclass(frozen=True)
class Square:
    """`amount` times `square_of(z)`, z = start + rate * (the variable at `place`)."""

    place: int
    start: float
    rate: float
    amount: float


@dataclass(frozen=True, eq=False)
class Form:
    """The output of a leaf at row v: constant + vector @ v + the squares."""

    vector: Array
    constant: float
    squares: tuple[Square, ...] = ()

    def of(self, v: Array) -> float:
        """Return its value."""
        squares = sum(
            square.amount * square_of(square.start + square.rate * float(v[square.place])) for square in self.squares
        )
        return float(self.constant + self.vector @ v + squares)

    @property
    def size(self) -> float:
        """Its change over a standard deviation, the scale of tolerances."""
        steep = sum(abs(square.amount * square.rate) for square in self.squares)
        return float(np.abs(self.vector).max(initial=0.0) + steep)


@dataclass(frozen=True, eq=False)
class Shape:
    """The rows of a leaf: A v <= b, where `strict` means <. A : (m, n) of length 1; turns : (node, left) on the way

    low, high : (n,) bounds that rows of one number give at once
    """

    node: int
    A: Array
    b: Array
    strict: NDArray[np.bool_]
    turns: tuple[tuple[int, bool], ...]
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Frame:
    """The variables of a row.

    center, scale  (p,) of the columns: a number is center + scale * variable
    numbers        column -> its variable; states : column of levels -> code -> its variable
    low, high      (n,) bounds; codes of states are those of levels, of MISSING, or of some other level
    """

    procedure: Procedure
    center: Array
    scale: Array
    numbers: Mapping[int, int]
    states: Mapping[int, Mapping[int, int]]
    low: Array
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
        n = 0
        for cell in sorted(procedure.used):
            if not procedure.cells[cell].levels:
                numbers[cell] = n
                n += 1
                continue
            states[cell] = {}
            for code in _states(procedure, cell):
                states[cell][code] = n
                n += 1
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
        for places in states.values():
            low[list(places.values())], high[list(places.values())] = 0.0, 1.0
        for cell, (least, most) in within.items():
            if cell in numbers:
                low[numbers[cell]] = (least - center[cell]) / scale[cell]
                high[numbers[cell]] = (most - center[cell]) / scale[cell]
        return cls(procedure, center, scale, numbers, states, low, high)

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.low)

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Which variables are 0 or 1, (n,)."""
        is_binary = np.zeros(self.n, np.bool_)
        for places in self.states.values():
            is_binary[list(places.values())] = True
        return is_binary

    def places(self, cell: int) -> list[int]:
        """Return the variables of a column, none if the model does not take it."""
        return [self.numbers[cell]] if cell in self.numbers else list(self.states.get(cell, {}).values())

    def row(self, v: Array) -> Array:
        """Return the cells of a row, (p,); the mean, or the first level, where the model takes nothing."""
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
        """Return a sum of terms as vector and constant. lacking : columns whose numbers are missing and add nothing"""
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
        stack: list[tuple[int, list[tuple[Array, float, bool]], tuple[tuple[int, bool], ...]]] = [(0, [], ())]
        while stack:
            node, rows, turns = stack.pop()
            if tree.left[node] < 0:
                shape = self._shape(node, rows, turns)
                if (shape.low <= shape.high).all():
                    shapes.append(shape)
                continue
            side, vector, threshold = self._plane(tree, node, lacking)
            for left in (False, True):
                if side not in (None, left):
                    continue
                child = tree.left[node] if left else tree.right[node]
                half_spaces = (
                    [] if side is not None else [(vector, threshold, False) if left else (-vector, -threshold, True)]
                )
                stack.append((child, [*rows, *half_spaces], (*turns, (node, left))))
        return shapes

    def _plane(self, tree: Steps, node: int, lacking: frozenset[int]) -> tuple[bool | None, Array, float]:
        """A split as vector @ v <= threshold, scaled to length 1; first the side if all rows go there."""
        split = tree.split(node)
        terms = plain_terms(self.procedure, tree, node)
        if any(term.level == NUMBER and term.cell in lacking for term in terms):
            return bool(split.missing_left), np.zeros(self.n), 0.0
        vector, constant = self.sum(terms)
        size = float(np.abs(vector).max(initial=0.0))
        length = size * float(np.linalg.norm(vector / size)) if size > 0.0 else 0.0
        # A cut that divides missing values from all others is as far away as numbers go.
        if abs(split.threshold) > FARTHEST * length or length == 0.0:
            return constant <= split.threshold, vector, 0.0
        return None, vector / length, (split.threshold - constant) / length

    def _shape(
        self, node: int, rows: Sequence[tuple[Array, float, bool]], turns: tuple[tuple[int, bool], ...]
    ) -> Shape:
        low, high = self.low.copy(), self.high.copy()
        for vector, threshold, _ in rows:
            if np.count_nonzero(vector) == 1:
                j = int(np.flatnonzero(vector)[0])
                if vector[j] > 0.0:
                    high[j] = min(high[j], threshold / vector[j])
                else:
                    low[j] = max(low[j], threshold / vector[j])
        return Shape(
            node,
            np.array([vector for vector, _, _ in rows]).reshape(len(rows), self.n),
            np.array([threshold for _, threshold, _ in rows]),
            np.array([strict for _, _, strict in rows], np.bool_),
            turns,
            low,
            high,
        )

    def number(self, leaf: Leaf) -> Form:
        """Return the form of a regression tree's leaf."""
        vector, constant = self.sum(leaf.terms)
        return Form(vector, constant + leaf.intercept)

    def score(self, scores: Scores, weights: Sequence[float], lacking: frozenset[int] = frozenset()) -> Form:
        """Return a sum of the scores of a leaf. weights : one for each class that has a score"""
        vector, constant = np.zeros(self.n), float(np.dot(weights, scores.intercept))
        squares: list[Square] = []
        for part in scores.parts:
            column, cell = part.column, part.column.cell
            a = float(np.dot(weights, part.coef))
            b = float(np.dot(weights, part.curve)) if part.curve else 0.0
            if column.level != NUMBER:
                there, other = (a * z + b * square_of(z) for z in column.by_level)
                constant += other
                if (place := self.states[cell].get(column.level)) is not None:
                    vector[place] += there - other
            elif cell in lacking:
                constant += b * square_of(0.0)
            else:
                start, rate = (self.center[cell] - column.center) / column.scale, self.scale[cell] / column.scale
                vector[self.numbers[cell]] += a * rate
                constant += a * start
                if b:
                    squares.append(Square(self.numbers[cell], float(start), float(rate), b))
        return Form(vector, constant, tuple(squares))

    def sums_of_states(self) -> Array:
        """Return rows that hold exactly one state of each column of levels: rows @ v = 1, (k, n)."""
        sums = np.zeros((len(self.states), self.n))
        for k, places in enumerate(self.states.values()):
            sums[k, list(places.values())] = 1.0
        return sums


def plain_terms(procedure: Procedure, tree: Steps, node: int) -> list[Term]:
    """Return the terms of a split, rotated features written out."""
    return [part for term in tree.split(node).terms for part in unrotated(term, tree, len(procedure.columns))]


def _states(procedure: Procedure, cell: int) -> list[int]:
    """Codes of a column of levels that terms name, and last a level that none names."""
    named_levels = {level for at, level in procedure.taken() if at == cell and level != NUMBER}
    known = range(len(procedure.cells[cell].levels))
    other = next((code for code in known if code not in named_levels), len(known))
    return [*sorted(named_levels), other]


@dataclass(frozen=True, eq=False)
class Program:
    """Rows v with A v <= b, bounds, E v = 1, some of them 0 or 1. b : what closed polyhedra have"""

    A: Array
    b: Array
    strict: NDArray[np.bool_]
    low: Array
    high: Array
    E: Array
    whole: NDArray[np.bool_]

    def also(self, rows: Array, limits: Array) -> Program:
        """Return the same with more rows: rows @ v <= limits."""
        return Program(
            np.vstack([self.A, rows]), np.append(self.b, limits), np.append(self.strict, np.zeros(len(rows), np.bool_)),
            self.low, self.high, self.E, self.whole,
        )  # fmt: skip

    def deepest(self, strict_only: bool = False) -> tuple[Array, float] | None:
        """Return a row as deep inside all rows of A as there is, and its depth (at most DEEP); None without a row.

        strict_only : whether rows of <= need no depth
        """
        n = self.A.shape[1]
        depth = self.strict.astype(np.float64) if strict_only else np.ones(len(self.b))
        A = np.hstack([self.A, depth[:, None]])
        solution = self._solved(np.append(np.zeros(n), -1.0), A, self.b, [0.0], [DEEP])
        return None if solution is None else (solution[:n], float(solution[n]))

    def nearest(self, depth: float, numbers: Sequence[int], to: Array | None = None) -> Array | None:
        """Return a row at some depth whose numbers are as near to others as can be (Chebyshev); None without one.

        to : of `numbers`; the means without it
        """
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

        With squares, boxes of their columns are divided until the bound of a box is at most `enough` or a row in it
        exceeds it. Undecided where STEPS boxes do not do.
        """
        boxes = [
            {square.place: (float(self.low[square.place]), float(self.high[square.place])) for square in form.squares}
        ]
        for _ in range(STEPS):
            if not boxes:
                return None
            box = boxes.pop()
            solution = self.bounded(form, box, enough)
            if solution is None or solution[1] <= enough:
                continue
            if not form.squares or form.of(solution[0]) > enough:
                return solution[0]
            boxes += _divided(form, box, solution[0])
        raise Undecided

    def bound(self, form: Form) -> float:
        """Return a number that a form does not exceed; the largest value without squares. -inf without a row."""
        box = {square.place: (float(self.low[square.place]), float(self.high[square.place])) for square in form.squares}
        solution = self.bounded(form, box, np.inf)
        return -math.inf if solution is None else solution[1]

    def bounded(self, form: Form, box: Mapping[int, tuple[float, float]], enough: float) -> tuple[Array, float] | None:
        """Return the row where a form is largest whose squares are bounded by lines in a box, and this value.

        Values far beyond `enough` are cut off, so that there is an end. None without a row.
        """
        vector, constant = form.vector.copy(), form.constant
        low, high = self.low.copy(), self.high.copy()
        for place, ends in box.items():
            low[place], high[place] = ends
        for square in form.squares:
            slope, offset = _line(square, *box[square.place])
            vector[square.place] += slope
            constant += offset
        size = 1.0 + abs(enough) + abs(constant) + 10.0 * float(np.abs(vector).max(initial=0.0))
        A, b = self.A, self.b - MARGIN
        if math.isfinite(size):
            A, b = np.vstack([A, vector]), np.append(b, size)
        solution = Program(A, b, np.zeros(len(b), np.bool_), low, high, self.E, self.whole)._solved(-vector, A, b)
        return None if solution is None else (solution, float(vector @ solution + constant))

    def _solved(
        self, objective: Array, A: Array, b: Array, low: Sequence[float] = (), high: Sequence[float] = ()
    ) -> Array | None:
        """The v of least objective, None if there is no v at all; Undecided where the solver does not say."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        if not len(objective):  # the model takes no column, and the solver no program without variables
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


def _line(square: Square, low: float, high: float) -> tuple[float, float]:
    """A line in the variable that is nowhere below a square within an interval: slope and offset."""
    ends = sorted((square.start + square.rate * low, square.start + square.rate * high))
    z0, z1 = ends
    if z1 <= -FARTHEST_SQUARED or z0 >= FARTHEST_SQUARED:
        return 0.0, square.amount * HIGHEST_SQUARE
    if z0 < -FARTHEST_SQUARED or z1 > FARTHEST_SQUARED:
        if square.amount > 0.0:
            return 0.0, square.amount * HIGHEST_SQUARE
        return 0.0, square.amount * LOWEST_SQUARE
    at = 0.5 * (z0 + z1)
    slope = 2.0 * at * math.sqrt(0.5)  # of the secant, and of the tangent in the middle
    through = square_of(z0) - slope * z0 if square.amount > 0.0 else square_of(at) - slope * at
    return square.amount * slope * square.rate, square.amount * (through + slope * square.start)


def _divided(form: Form, box: Mapping[int, tuple[float, float]], v: Array) -> list[dict[int, tuple[float, float]]]:
    """Two boxes of one, cut where a square is farthest from its line."""

    def gap(square: Square) -> float:
        slope, offset = _line(square, *box[square.place])
        x = float(v[square.place])
        return slope * x + offset - square.amount * square_of(square.start + square.rate * x)

    worst = max(form.squares, key=gap)
    low, high = box[worst.place]
    corners = sorted((end - worst.start) / worst.rate for end in (-FARTHEST_SQUARED, FARTHEST_SQUARED))
    inner = [corner for corner in corners if low < corner < high]
    at = min(inner, key=lambda corner: abs(corner - v[worst.place])) if inner else 0.5 * (low + high)
    return [{**box, worst.place: (low, at)}, {**box, worst.place: (at, high)}]
