"""The nearest row that a leaf with linear models of the classes gives to another class.

A leaf predicts the class with the largest score. The difference of two scores is a sum of one function per column,
linear or with bends (hinges, and squares that are constant beyond three standard deviations), and of products of two
columns. If it is linear, the rows of class k are a polyhedron, whose nearest row is exact (`nearest.least_distance`).
With bends the set may not be convex: SLSQP starts from several rows, and the nearest result counts.

Then only a lower bound is certain. The Lagrangian is a sum over columns, each of whose minima is one of a few
numbers, so the dual function is known exactly for any multipliers, and no row is nearer than its value (weak duality).
Where the bound equals the distance of the change, no row is nearer. A product is no sum over columns; there the bound
is that of the larger |a| (u^2 + v^2) / 2 >= a u v.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.nearest import MARGINS, Candidate, Polyhedron, Solve, changed_by, least_distance
from oblique_cli.models.procedure import NUMBER, Procedure, Scores
from oblique_cli.tree.payloads import FARTHEST, FARTHEST_SQUARED

PROVEN = 1e-4  # largest relative gap between a distance and its lower bound at which the distance counts as minimal
STEPS = 100  # of SLSQP, and of the search for multipliers
ROUNDS = 8  # of programs with tangents instead of squares
PUSHED = 3  # columns that are moved, one at a time, to where their squares help most


class Factor(NamedTuple):
    """Factor of a bend: start + rate * (the variable at `place`), within [low, high]; rate 0 for a constant."""

    place: int
    start: float
    rate: float
    low: float = -FARTHEST_SQUARED
    high: float = FARTHEST_SQUARED

    def at(self, x: float) -> float:
        """Return its value where the variable is x."""
        return min(max(self.start + self.rate * x if self.rate else self.start, self.low), self.high)

    @property
    def knots(self) -> list[float]:
        """Values of the variable at which the factor reaches a limit."""
        ends = [(end - self.start) / self.rate for end in (self.low, self.high) if abs(end) < FARTHEST and self.rate]
        return sorted(end for end in ends if np.isfinite(end))


Bend = tuple[float, tuple[Factor, ...]]  # amount of a hinge or of a product of two factors; a square has equal ones


@dataclass(frozen=True)
class Lead:
    """Score of a class less that of another one, for changes u of the free columns in standard deviations.

    constant + slope @ u + sum of the bends, whose places are columns; slope (n,)
    """

    constant: float
    slope: Array
    bends: tuple[Bend, ...] = ()

    def of(self, u: Array) -> float:
        """Return the lead."""
        bends = sum(amount * prod(f.at(u[f.place]) for f in factors) for amount, factors in self.bends)
        return float(self.constant + self.slope @ u + bends)

    def gradient(self, u: Array) -> Array:
        """Return its derivatives, (n,)."""
        derivatives = self.slope.copy()
        for amount, factors in self.bends:
            for moving, *others in (factors, factors[::-1])[: len(factors)]:
                if moving.low < moving.start + moving.rate * u[moving.place] < moving.high:
                    derivatives[moving.place] += amount * moving.rate * prod(f.at(u[f.place]) for f in others)
        return derivatives

    @property
    def separable(self) -> Lead:
        """A lead without products of two columns that is an upper bound of this one."""
        bends = list[Bend]()
        for amount, factors in self.bends:
            pair = len(set(factors)) > 1
            bends += [(0.5 * abs(amount), (f, f)) for f in factors] if pair else [(amount, factors)]
        return replace(self, bends=tuple(bends))

    @cached_property
    def size(self) -> float:
        """An upper bound of the length of the gradient."""
        steepest = np.abs(self.slope)
        for amount, factors in self.bends:
            for moving, *others in (factors, factors[::-1])[: len(factors)]:
                steepest[moving.place] += abs(amount * moving.rate) * prod(max(-f.low, f.high) for f in others)
        return float(np.linalg.norm(steepest))


def leads(
    procedure: Procedure, scores: Scores, code: int, row: Array, deviations: Array, free: NDArray[np.bool_]
) -> list[Lead]:
    """Return the leads of a class over all other classes with a score, in one leaf.

    row, deviations, free : (n,) of the columns
    """
    leader = scores.classes.index(code)
    log_odds = 0.0
    if procedure.threshold is not None:  # of two classes: the lead must reach the log odds of the threshold
        first, share = procedure.threshold
        log_odds = float(np.log(share / (1.0 - share))) * (1.0 if code == first else -1.0)
    by_rival = []
    for rival in range(len(scores.classes)):
        if rival == leader:
            continue
        constant, slope = scores.intercept[leader] - scores.intercept[rival] - log_odds, np.zeros(len(row))
        bends: list[Bend] = []
        for part in scores.parts:
            amount, factors = part.coef[leader] - part.coef[rival], tuple[Factor, ...]()
            for column in part.columns:
                j = column.cell
                if column.level == NUMBER and free[j]:
                    start, rate = float(row[j] - column.center) / column.scale, float(deviations[j]) / column.scale
                    factors += (Factor(j, start, rate, column.low, column.high),)
                else:
                    amount *= column.of(float(row[j]))
            if not factors:
                constant += amount
            elif not factors[0].knots and len(factors) == 1:
                constant += amount * factors[0].start
                slope[factors[0].place] += amount * factors[0].rate
            elif amount:
                bends.append((amount, factors))
        by_rival.append(Lead(constant, slope, tuple(bends)))
    return by_rival


@dataclass(frozen=True)
class Region:
    """Changes u that lead into a leaf and, in that leaf, to a class."""

    node: int
    code: int
    G: Array  # G u >= h, rows of length 1: the leaf, and leads without bends
    h: Array
    over: tuple[Lead, ...]  # leads that must be positive
    shortest: Array  # the shortest u without `over`

    @property
    def above(self) -> float:
        """A lower bound of the length of every u of the region that costs no search."""
        return float(np.linalg.norm(self.shortest))

    @cached_property
    def dual(self) -> tuple[float, Array]:
        """A lower bound of that length from the dual program, and the u of its multipliers."""
        return _dual(self.G, self.h, tuple(lead.separable for lead in self.over))

    @property
    def at_least(self) -> float:
        """The larger of the two lower bounds."""
        return max(self.above, self.dual[0]) if self.over else self.above


def regions(
    polyhedra: Iterable[Polyhedron],
    procedure: Procedure,
    row: Array,
    deviations: Array,
    free: NDArray[np.bool_],
    codes: Iterable[int],
) -> list[Region]:
    """Return the regions of some classes, the least `above` first. polyhedra : node, G and h of each leaf"""
    reachable = []
    wanted = list(codes)
    for node, G, h in polyhedra:
        scores = procedure.tree.leaf(node).scores
        assert scores is not None
        if least_distance(G, h) is None:
            continue
        for code in wanted:
            if code not in scores.classes:
                continue
            over = tuple(leads(procedure, scores, code, row, deviations, free))
            if not np.isfinite([(lead.constant, lead.size) for lead in over]).all():
                continue  # scores overflow
            if any(lead.size == 0.0 and lead.constant <= 0.0 for lead in over):
                continue  # no free column takes part
            moving = [lead for lead in over if lead.size > 0.0]
            rows, offsets = _half_spaces([lead for lead in moving if not lead.bends], G.shape[1])
            curved = tuple(lead for lead in moving if lead.bends)
            planes, borders = np.vstack([G, rows]), np.append(h, offsets)
            u = least_distance(planes, borders)
            if u is not None:
                reachable.append(Region(node, code, planes, borders, curved, u))
    return sorted(reachable, key=lambda region: (region.above, region.node, region.code))


def changed_rows(region: Region, row: Array, deviations: Array) -> Iterator[tuple[Candidate, Solve]]:
    """Yield rows of a region, the safest last: the exact nearest row of a polyhedron, else the results of searches.

    With each row comes the program that searches the region under further half-spaces
    """
    for margin in MARGINS:

        def solve(E: Array, e: Array, margin: float = margin) -> Array | None:
            changes = _shortest(region, margin, E, e)
            return changes[0] if changes else None

        changes = _shortest(region, margin)
        for u in changes:
            candidate = Candidate(region.node, changed_by(u, row, deviations), float(np.linalg.norm(u)), region.code)
            yield candidate, solve
        if changes:
            return


def _shortest(region: Region, margin: float, E: Array | None = None, e: Array | None = None) -> list[Array]:
    """Return changes inside a region, the shortest first. E, e : further half-spaces E u >= e"""
    if E is not None and e is not None:
        G, h = np.vstack([region.G, E]), np.append(region.h, e)
        shortest = least_distance(G, h)
        if shortest is None:
            return []
        region = replace(region, G=G, h=h, shortest=shortest)
    if region.over:
        return sorted(_searched(region, margin), key=lambda u: float(np.linalg.norm(u)))
    u = least_distance(region.G, region.h + margin)
    return [] if u is None else [u]


def _half_spaces(linear: Sequence[Lead], n: int) -> tuple[Array, Array]:
    """Return leads without bends as rows of length 1 and offsets: a lead is at least 0 where rows @ u >= offsets."""
    rows, offsets = [np.zeros((0, n))], [np.zeros(0)]
    for lead in linear:
        rows.append((lead.slope / lead.size)[None])
        offsets.append(np.array([-lead.constant / lead.size]))
    return np.vstack(rows), np.concatenate(offsets)


def _searched(region: Region, margin: float) -> list[Array]:
    """Return short changes inside a region with bends, by SLSQP from several starts."""
    from scipy.optimize import minimize

    n = region.G.shape[1]
    moves = region.G.any(axis=0) | np.any([lead.slope != 0.0 for lead in region.over], axis=0)
    moves[[factor.place for lead in region.over for _, factors in lead.bends for factor in factors]] = True
    moving = np.flatnonzero(moves)
    G, h = region.G[:, moving], region.h + margin

    def whole(part: Array) -> Array:
        u = np.zeros(n)
        u[moving] = part
        return u

    constraints = [
        {
            "type": "ineq",
            "fun": lambda part, lead=lead: lead.of(whole(part)) / lead.size - margin,
            "jac": lambda part, lead=lead: lead.gradient(whole(part))[moving] / lead.size,
        }
        for lead in region.over
    ]
    if len(h):
        constraints.append({"type": "ineq", "fun": lambda part: G @ part - h, "jac": lambda part: G})
    changes = []
    for start in _starts(region):
        with np.errstate(all="ignore"):
            ended = minimize(
                lambda part: 0.5 * float(part @ part),
                start[moving],
                jac=lambda part: part,
                method="SLSQP",
                constraints=constraints,
                options={"maxiter": STEPS, "ftol": 1e-12},
            )
        part = np.asarray(ended.x)
        if not np.isfinite(part).all():
            continue
        u = whole(part)
        # The tolerance of SLSQP is as small as the margin.
        inside = (region.G @ u >= region.h + 0.5 * margin).all()
        if inside and all(lead.of(u) >= 0.5 * margin * lead.size for lead in region.over):
            changes.append(u)
            if float(np.linalg.norm(u)) <= region.at_least * (1.0 + 0.01 * PROVEN) + 2.0 * margin:
                break  # no other start is nearer
    return changes


def _starts(region: Region) -> Iterator[Array]:
    """Yield starting points, the best first: of tangent programs, of the dual, and of helpful squares."""
    n, base = region.G.shape[1], region.shortest
    yield from _tangents(region, region.dual[1])
    yield region.dual[1]
    yield from _tangents(region, base)
    yield base
    # Beyond three standard deviations squares are constant.
    of_squares = [[(a, f[0]) for a, f in lead.bends if f[0] == f[-1] and f[1:]] for lead in region.over]
    beyond = [
        Lead(lead.constant + sum(amount * factor.high**2 for amount, factor in squares), lead.slope)
        for lead, squares in zip(region.over, of_squares, strict=True)
        if lead.slope.any()
    ]
    rows, offsets = _half_spaces([lead for lead in beyond if lead.size > 0.0], n)
    far = least_distance(np.vstack([region.G, rows]), np.append(region.h, offsets))
    if far is not None:
        yield far
    behind = [lead.of(base) / lead.size for lead in region.over]
    squares = of_squares[int(np.argmin(behind))]  # of the lead that is farthest below 0
    centered = base.copy()
    for amount, factor in squares:
        if amount < 0.0:
            centered[factor.place] = -factor.start / factor.rate
    yield centered
    for amount, factor in sorted(squares, key=lambda square: -square[0])[:PUSHED]:
        for knot in factor.knots if amount > 0.0 else ():
            pushed = base.copy()
            pushed[factor.place] = 0.99 * knot - 0.01 * factor.start / factor.rate
            yield pushed


def _tangents(region: Region, u: Array) -> Iterator[Array]:
    """Yield the last of several programs, each with the tangents of the leads at the result of the previous one."""
    solution = None
    for _ in range(ROUNDS):
        rows, offsets = [], []
        for lead in region.over:
            gradient = lead.gradient(u)
            length = float(np.linalg.norm(gradient))
            if not length > 1e-9 * lead.size:
                return
            rows.append(gradient / length)
            offsets.append(float(gradient @ u - lead.of(u)) / length)
        ended = least_distance(np.vstack([region.G, *rows]), np.append(region.h, offsets))
        if ended is None:
            break
        u = solution = ended
    if solution is not None:
        yield solution


def _dual(G: Array, h: Array, over: tuple[Lead, ...]) -> tuple[float, Array]:
    """Return a lower bound of the length of u with G u >= h and leads >= 0, and the u of the best multipliers."""
    from scipy.optimize import minimize

    sizes = np.array([lead.size for lead in over])
    slope = np.array([lead.slope for lead in over]) / sizes[:, None]
    constant = np.array([lead.constant for lead in over]) / sizes
    bends = _Bends.of(over, sizes)

    def value(multipliers: Array) -> tuple[float, Array, Array]:
        """Return the dual function, its derivatives, and the minimizer of the Lagrangian."""
        of_planes, of_leads = multipliers[: len(h)], multipliers[len(h) :]
        u = bends.least(of_planes @ G + of_leads @ slope, of_leads @ bends.amounts)
        residual = np.concatenate([h - G @ u, -(constant + slope @ u + bends.amounts @ bends.at(u[None])[0])])
        return float(u @ u + multipliers @ residual), residual, u

    zero = np.zeros(len(h) + len(over))
    with np.errstate(all="ignore"):
        ended = minimize(
            lambda m: (-(evaluation := value(m))[0], -evaluation[1]),
            np.full_like(zero, 0.1),
            jac=True,
            method="SLSQP",
            bounds=[(0.0, None)] * len(zero),
            options={"maxiter": STEPS, "ftol": 1e-10},
        )
        multipliers = np.maximum(np.asarray(ended.x), 0.0)
        best, _, u = value(multipliers) if np.isfinite(multipliers).all() else value(zero)
    return float(np.sqrt(max(best, 0.0))) if np.isfinite(best) else 0.0, u


@dataclass(frozen=True)
class _Bends:
    """All hinges and squares of separable leads, T of them.

    amounts : (leads, T); places : (T, n), 1 at the column of each; start, rate, low, high, power : (T,) of the factors;
    knots : (K, n) rising for each column, between which all are linear or quadratic
    """

    amounts: Array
    places: Array
    start: Array
    rate: Array
    low: Array
    high: Array
    power: Array
    knots: Array

    @classmethod
    def of(cls, over: Sequence[Lead], sizes: Array) -> _Bends:
        """Return the bends of leads divided by their sizes."""
        keys = list(dict.fromkeys(factors for lead in over for _, factors in lead.bends))
        amounts, places = np.zeros((len(over), len(keys))), np.zeros((len(keys), len(over[0].slope)))
        by_column: list[set[float]] = [set() for _ in over[0].slope]
        for i, lead in enumerate(over):
            for amount, factors in lead.bends:
                amounts[i, keys.index(factors)] += amount / sizes[i]
        for t, (factor, *_) in enumerate(keys):
            places[t, factor.place] = 1.0
            by_column[factor.place].update(factor.knots)
        most = max(1, *map(len, by_column))
        knots = [[*sorted(column), *[max(column, default=0.0)] * (most - len(column))] for column in by_column]
        _, start, rate, low, high = np.array([factors[0] for factors in keys], np.float64).reshape(-1, 5).T
        power = np.array([len(factors) for factors in keys])
        return cls(amounts, places, start, rate, low, high, power, np.array(knots).T)

    def at(self, u: Array) -> Array:
        """Return the values of the bends, (m, T). u : (m, n)"""
        return np.asarray(np.clip(self.start + self.rate * (u @ self.places.T), self.low, self.high) ** self.power)

    def least(self, linear: Array, weights: Array) -> Array:
        """Return the minimizer of u @ u - linear @ u - weights @ (the bends), column by column, (n,). weights : (T,)"""
        knots, end = self.knots, np.full((1, len(linear)), np.inf)
        first, last = np.vstack([-end, knots]), np.vstack([knots, end])
        middle = np.vstack([knots[:1] - 1.0, 0.5 * (knots[1:] + knots[:-1]), knots[-1:] + 1.0])  # of each piece
        z = self.start + self.rate * (middle @ self.places.T)
        steep = weights * self.rate * ((self.low < z) & (z < self.high))
        # On a piece (1 - c) u^2 - pull u: a bend is linear, or quadratic.
        pull = linear + (steep * np.where(self.power > 1, 2.0 * self.start, 1.0)) @ self.places
        c = (steep * np.where(self.power > 1, self.rate, 0.0)) @ self.places
        inside = np.clip(0.5 * pull / np.where(c < 1.0, 1.0 - c, 1.0), first, last)
        tried = np.vstack([np.where(c < 1.0, inside, np.where(np.isfinite(first), first, last)), knots])
        values = tried * tried - linear * tried - (weights * self.at(tried)) @ self.places
        return np.asarray(np.take_along_axis(tried, np.argmin(values, axis=0)[None], axis=0)[0])
