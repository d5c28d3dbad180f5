"""The nearest row that a leaf with linear models of the classes gives to another class.

A leaf predicts the class with the largest score. The difference of two scores is a sum of one function per column,
linear or, with squares, quadratic within three standard deviations and linear beyond, and of products of columns. If
it is linear, the rows of class k are a polyhedron, whose nearest row is exact (`nearest.least_distance`). With squares
or products the set may not be convex: SLSQP starts from several rows, and the nearest result counts.

Then only a lower bound is certain. The Lagrangian is a sum over columns, each of whose minima is one of a few
numbers, so the dual function is known exactly for any multipliers, and no row is nearer than its value (weak duality).
Where the bound equals the distance of the change, no row is nearer. A product is no sum over columns; there the bound
is that of the larger |a| (u^2 + v^2) / 2 >= a u v.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.nearest import MARGINS, Candidate, Polyhedron, Solve, changed_by, least_distance
from oblique_cli.models.procedure import HALF_ROOT, NUMBER, Procedure, Scaled, Scores, near, square_of
from oblique_cli.tree.payloads import FARTHEST_SQUARED

PROVEN = 1e-4  # largest relative gap between a distance and its lower bound at which the distance counts as minimal
STEPS = 100  # of SLSQP, and of the search for multipliers
ROUNDS = 8  # of programs with tangents instead of squares
PUSHED = 3  # columns that are moved, one at a time, to where their squares help most


class Factor(NamedTuple):
    """Factor of a product before `near`: start + rate * (the variable at `place`); rate 0 for a constant."""

    place: int
    start: float
    rate: float

    def at(self, x: float) -> float:
        """Return its value where the variable is x."""
        return self.start + self.rate * x if self.rate else self.start


@dataclass(frozen=True)
class Lead:
    """Score of a class less that of another one, for changes u of the free columns in standard deviations.

    constant + sum over columns of slope * z + bend * square_of(z), z = start + rate * u; all but constant (n,)
    products : of each its amount and its two factors, whose places are columns
    """

    constant: float
    start: Array
    rate: Array
    slope: Array
    bend: Array
    products: tuple[tuple[float, Factor, Factor], ...] = ()

    @property
    def is_curved(self) -> bool:
        """Whether the lead is no linear function."""
        return bool(self.bend.any() or self.products)

    def of(self, u: Array) -> float:
        """Return the lead."""
        z = self.start + self.rate * u
        of_products = sum(amount * near(a.at(u[a.place])) * near(b.at(u[b.place])) for amount, a, b in self.products)
        return float(self.constant + self.slope @ z + self.bend @ _squares(z) + of_products)

    def gradient(self, u: Array) -> Array:
        """Return its derivatives, (n,)."""
        z = self.start + self.rate * u
        inside = np.abs(z) < FARTHEST_SQUARED
        derivatives: Array = self.rate * (self.slope + self.bend * 2.0 * HALF_ROOT * np.where(inside, z, 0.0))
        for amount, *factors in self.products:
            for moving, other in (factors, factors[::-1]):
                if abs(moving.at(u[moving.place])) < FARTHEST_SQUARED:
                    derivatives[moving.place] += amount * moving.rate * near(other.at(u[other.place]))
        return derivatives

    @property
    def separable(self) -> Lead:
        """A lead that is nowhere less and has no products."""
        bend, constant = self.bend.copy(), self.constant
        for amount, *factors in self.products:
            for factor in factors:
                constant += 0.5 * abs(amount) * (1.0 if factor.rate else near(factor.start) ** 2)
                bend[factor.place] += 0.5 * abs(amount) / HALF_ROOT if factor.rate else 0.0
        return replace(self, constant=constant, bend=bend, products=()) if self.products else self

    @cached_property
    def size(self) -> float:
        """An upper bound of the length of the gradient."""
        steepest = np.abs(self.slope) + np.abs(self.bend) * 2.0 * HALF_ROOT * FARTHEST_SQUARED
        steepest = np.abs(self.rate) * steepest
        for amount, *factors in self.products:
            for factor in factors:
                steepest[factor.place] += abs(amount * factor.rate) * FARTHEST_SQUARED
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
        constant = scores.intercept[leader] - scores.intercept[rival] - log_odds
        start, rate, slope, bend = (np.zeros(len(row)) for _ in range(4))
        products: list[tuple[float, Factor, Factor]] = []
        for part in scores.parts:
            column, j = part.column, part.column.cell
            a = part.coef[leader] - part.coef[rival]
            if part.other is not None:
                x, y = (_factor(each, row, deviations, free) for each in part.columns)
                products.append((a, x, y))
                for factor in (x, y):
                    if factor.rate:
                        start[factor.place], rate[factor.place] = factor.start, factor.rate
                continue
            b = part.curve[leader] - part.curve[rival] if part.curve else 0.0
            if column.level == NUMBER and free[j]:
                start[j], rate[j] = (row[j] - column.center) / column.scale, deviations[j] / column.scale
                slope[j], bend[j] = a, b
            else:
                z = column.of(float(row[j]))
                constant += a * z + b * square_of(z)
        moving = tuple(product for product in products if product[0] and (product[1].rate or product[2].rate))
        constant += sum(a * near(x.start) * near(y.start) for a, x, y in products if not (x.rate or y.rate))
        by_rival.append(Lead(constant, start, rate, slope, bend, moving))
    return by_rival


def _factor(column: Scaled, row: Array, deviations: Array, free: NDArray[np.bool_]) -> Factor:
    """Return a column as a factor, fixed unless it is a free number."""
    j = column.cell
    if column.level == NUMBER and free[j]:
        return Factor(j, float(row[j] - column.center) / column.scale, float(deviations[j]) / column.scale)
    return Factor(j, column.of(float(row[j])), 0.0)


@dataclass(frozen=True)
class Region:
    """Changes u that lead into a leaf and, in that leaf, to a class."""

    node: int
    code: int
    G: Array  # G u >= h, rows of length 1: the leaf, and leads without squares
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
            rows, offsets = _half_spaces([lead for lead in moving if not lead.is_curved], G.shape[1])
            curved = tuple(lead for lead in moving if lead.is_curved)
            planes, borders = np.vstack([G, rows]), np.append(h, offsets)
            u = least_distance(planes, borders)
            if u is not None:
                reachable.append(Region(node, code, planes, borders, curved, u))
    return sorted(reachable, key=lambda region: (region.above, region.node, region.code))


def changed_rows(region: Region, row: Array, deviations: Array) -> Iterator[tuple[Candidate, Solve]]:
    """Yield rows of a region, the safest last: the exact nearest row of a polyhedron, else the results of searches.

    With each comes the program that searches the region with further half-spaces
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
    """Return leads without squares as rows of length 1 and offsets: a lead is at least 0 where rows @ u >= offsets."""
    rows, offsets = [np.zeros((0, n))], [np.zeros(0)]
    for lead in linear:
        rows.append((lead.rate * lead.slope / lead.size)[None])
        offsets.append(np.array([-(lead.constant + float(lead.slope @ lead.start)) / lead.size]))
    return np.vstack(rows), np.concatenate(offsets)


def _squares(z: Array) -> Array:
    near = np.clip(z, -FARTHEST_SQUARED, FARTHEST_SQUARED)
    squares: Array = (near * near - 1.0) * HALF_ROOT
    return squares


def _searched(region: Region, margin: float) -> list[Array]:
    """Return short changes inside a region with squares, by SLSQP from several starts."""
    from scipy.optimize import minimize

    n = region.G.shape[1]
    moves = region.G.any(axis=0) | np.any([lead.rate != 0.0 for lead in region.over], axis=0)
    moves[[factor.place for lead in region.over for _, *factors in lead.products for factor in factors]] = True
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
    beyond = [
        Lead(lead.constant + 8.0 * HALF_ROOT * float(lead.bend.sum()), lead.start, lead.rate, lead.slope, 0 * lead.bend)
        for lead in region.over
        if lead.slope.any()
    ]
    rows, offsets = _half_spaces([lead for lead in beyond if lead.size > 0.0], n)
    far = least_distance(np.vstack([region.G, rows]), np.append(region.h, offsets))
    if far is not None:
        yield far
    lead = min(region.over, key=lambda other: other.of(base) / other.size)  # the lead that is farthest below 0
    centered = base.copy()
    inward = (lead.bend < 0.0) & (lead.rate != 0.0)
    centered[inward] = (-lead.start / np.where(lead.rate != 0.0, lead.rate, 1.0))[inward]
    yield centered
    helped = np.where(lead.rate != 0.0, lead.bend, 0.0)
    for j in np.argsort(-helped, kind="stable")[:PUSHED].tolist():
        for end in (-FARTHEST_SQUARED, FARTHEST_SQUARED) if helped[j] > 0.0 else ():
            pushed = base.copy()
            pushed[j] = (0.99 * end - lead.start[j]) / lead.rate[j]
            yield pushed


def _tangents(region: Region, u: Array) -> Iterator[Array]:
    """Yield the last of several programs, each with the tangents of the squares at the result of the previous one."""
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
    start, rate = over[0].start, over[0].rate
    slope = np.array([lead.slope for lead in over]) / sizes[:, None]
    bend = np.array([lead.bend for lead in over]) / sizes[:, None]
    constant = np.array([lead.constant for lead in over]) / sizes

    def value(multipliers: Array) -> tuple[float, Array, Array]:
        """Return the dual function, its derivatives, and the minimizer of the Lagrangian."""
        of_planes, of_leads = multipliers[: len(h)], multipliers[len(h) :]
        linear, a, b = of_planes @ G, of_leads @ slope, of_leads @ bend
        u = _least(linear, a, b, start, rate)
        z = start + rate * u
        residual = np.concatenate([h - G @ u, -(constant + slope @ z + bend @ _squares(z))])
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


def _least(linear: Array, a: Array, b: Array, start: Array, rate: Array) -> Array:
    """Return the minimizer of u^2 - linear u - a z - b square_of(z), z = start + rate u, column by column, (n,)."""
    steps = np.where(rate != 0.0, rate, 1.0)
    ends = np.sort([(-FARTHEST_SQUARED - start) / steps, (FARTHEST_SQUARED - start) / steps], axis=0)
    force = linear + a * rate
    beyond = 0.5 * force
    # Within three standard deviations: (1 - c) u^2 - (force + 2 b start rate / sqrt 2) u.
    c = b * HALF_ROOT * rate * rate
    pull = force + 2.0 * HALF_ROOT * b * start * rate
    within = np.where(c < 1.0, 0.5 * pull / np.where(c < 1.0, 1.0 - c, 1.0), ends[0])
    tried = np.array(
        [np.clip(within, *ends), ends[0], ends[1], np.minimum(beyond, ends[0]), np.maximum(beyond, ends[1])]
    )
    tried = np.where(rate != 0.0, tried, beyond)
    values = tried * tried - force * tried - b * _squares(start + rate * tried)
    return np.asarray(np.take_along_axis(tried, np.argmin(values, axis=0)[None], axis=0)[0])
