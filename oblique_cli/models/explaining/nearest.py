"""The nearest point of a polyhedron, and with it the nearest change of a row that leads to another class.

The rows that reach a leaf are a polyhedron: one half-space a split. The nearest of them is a quadratic program, which
Lawson and Hanson ("Solving Least Squares Problems", 1974, chapter 23, algorithm LDP) turn into a least-squares problem
with non-negative unknowns. Finitely many steps over active sets solve it exactly, so the result has no iteration
tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.models.procedure import NUMBER, Lane, Procedure, Steps

# Distance of a changed row inside every half-space, in standard deviations. On the border rounding would decide, and
# the border belongs to one side only. The smaller distance is for leaves thinner than the larger one.
MARGINS = (1e-6, 1e-10)

FARTHEST = 1e100  # standard deviations; no row lies beyond
BRANCHES = 200  # most programs of a search for whole numbers

Polyhedron = tuple[int, Array, Array]  # node, G and h: G u >= h of changes u that lead there


def least_distance(G: Array, h: Array) -> Array | None:
    """Return the u of smallest Euclidean norm with G u >= h, None if there is no such u.

    G : (m, n) rows of norm 1; h : (m,); returns (n,)
    By hand: G = [[1, 0]], h = [2] gives (2, 0); G = [[1], [-1]], h = [1, 1] gives None.
    """
    m, n = G.shape
    violated = h > 0.0
    if not violated.any():
        return np.zeros(n)
    if n == 0:
        return None
    from scipy.optimize import nnls

    # In units of the farthest border, so that the norm of the answer is about 1.
    unit = float(h.max())
    scaled = h / unit
    E, f = np.vstack([G.T, scaled]), np.append(np.zeros(n), 1.0)
    try:
        y, _ = nnls(E, f, maxiter=max(100, 30 * m))
    except RuntimeError:  # too many steps: too degenerate for the method
        return None
    r = E @ y - f
    if not abs(r[n]) > 1e-13:
        return None
    u = -r[:n] / r[n]
    active = y > 0.0
    # The projection on the active borders has fewer roundings.
    exact = np.linalg.lstsq(G[active], scaled[active], rcond=None)[0]
    slack = 1e-3 * MARGINS[-1] / unit
    inside = (G @ exact >= scaled - slack).all() and np.linalg.norm(exact) <= np.linalg.norm(u) * (1 + 1e-9)
    solution = exact if inside else u
    tolerance = 1e-9 * (1.0 + float(np.linalg.norm(solution)))
    return np.asarray(solution * unit) if (G @ solution >= scaled - tolerance).all() else None


@dataclass(frozen=True)
class Candidate:
    """A changed row in a leaf."""

    node: int
    row: Array
    distance: float  # of the change, in standard deviations
    code: int = -1  # required class, -1 for that of the leaf


Solve = Callable[[Array, Array], Array | None]  # E, e -> the shortest change u with E u >= e, None if there is none


def candidates(shapes: Iterable[Polyhedron], row: Array, deviations: Array) -> Iterator[tuple[Candidate, Solve]]:
    """Yield the nearest row in each polyhedron that changes can reach, and the program that has found it.

    row : (p,) as in `predict`, missing cells filled where a fill exists; deviations : (p,)
    """
    for leaf, G, h in shapes:
        for margin in MARGINS:

            def solve(E: Array, e: Array, G: Array = G, h: Array = h, margin: float = margin) -> Array | None:
                return least_distance(np.vstack([G, E]), np.append(h, e) + margin)

            u = solve(np.zeros((0, len(row))), np.zeros(0))
            if u is not None:
                yield Candidate(leaf, changed_by(u, row, deviations), float(np.linalg.norm(u))), solve
                break


def changed_by(u: Array, row: Array, deviations: Array) -> Array:
    """Return a row after a change in standard deviations; other cells keep their bits."""
    changed: Array = np.where(u != 0.0, row + deviations * u, row)
    return changed


def within(
    shapes: Iterable[Polyhedron],
    row: Array,
    deviations: Array,
    free: NDArray[np.bool_],
    ranges: tuple[Array, Array],
) -> Iterator[Polyhedron]:
    """Yield polyhedra without changes that lead out of the ranges of the training rows.

    ranges : least and largest number of each column, (p,) each, infinite if unknown. A cell beyond may go no further
    """
    normals, offsets = [], []
    for sign, end in ((1.0, np.minimum(ranges[0], row)), (-1.0, np.maximum(ranges[1], row))):
        columns = np.flatnonzero(free & np.isfinite(end))
        normal = np.zeros((len(columns), len(row)))
        normal[np.arange(len(columns)), columns] = sign
        normals.append(normal)
        offsets.append(sign * (end - row)[columns] / deviations[columns])
    # The searches add a margin to every offset; the ends of a range have none.
    E, e = np.vstack(normals), np.concatenate(offsets) - MARGINS[0]
    for node, G, h in shapes:
        yield node, np.vstack([G, E]), np.append(h, e)


def nearest_whole(solve: Solve, row: Array, deviations: Array, whole: NDArray[np.bool_]) -> Array | None:
    """Return the shortest change to whole numbers in some columns, by branch and bound (Land and Doig 1960).

    None if there is none, or none among `BRANCHES` programs. whole : (p,) columns, whose cells of the row are whole
    """
    p, number = len(row), 0
    heap: list[tuple[float, int, Array, Array, Array]] = []

    def add(E: Array, e: Array) -> None:
        nonlocal number
        number += 1
        u = solve(E, e)
        if u is not None:
            heappush(heap, (float(np.linalg.norm(u)), number, u, E, e))

    add(np.zeros((0, p)), np.zeros(0))
    while heap and number < BRANCHES:
        _, _, u, E, e = heappop(heap)
        changed = row + deviations * u
        ends = np.rint(changed)
        off = np.where(whole, np.abs(changed - ends) - 4 * MARGINS[0] * deviations - 1e-9 * np.abs(ends), 0.0)
        j = int(off.argmax())
        if off[j] <= 0.0:
            return np.where(whole & (u != 0.0), (ends - row) / np.where(whole, deviations, 1.0), u)
        for sign, end in ((-1.0, np.floor(changed[j])), (1.0, np.ceil(changed[j]))):
            normal = np.zeros(p)
            normal[j] = sign
            add(np.vstack([E, normal]), np.append(e, sign * (end - row[j]) / deviations[j] - MARGINS[0]))
    return None


def polyhedra(
    procedure: Procedure, row: Array, deviations: Array, free: NDArray[np.bool_], nodes: list[int]
) -> Iterator[Polyhedron]:
    """Yield leaf, G and h of each given leaf: changes u, in standard deviations, with G u >= h lead there."""
    tree, parents = procedure.tree, procedure.tree.parents
    planes = {node: _plane(tree, node, row, deviations, free) for node in tree.inner}
    for leaf in nodes:
        G, h = [], []
        node, reachable = leaf, True
        while node in parents and reachable:
            normal, offset, goes_left = planes[parents[node]]
            left = tree.left[parents[node]] == node
            if normal is None:
                reachable = goes_left == left
            else:
                G.append(-normal if left else normal)
                h.append(-offset if left else offset)
            node = parents[node]
        if reachable:
            yield leaf, np.array(G).reshape(len(G), len(row)), np.array(h)


def _plane(
    tree: Steps, node: int, row: Array, deviations: Array, free: NDArray[np.bool_]
) -> tuple[Array | None, float, bool]:
    """Return a split in standard deviations from the row: normal, offset, and whether the row itself goes left.

    A row goes left while normal @ u <= offset; the normal, (p,) of length 1, is None if it has no free number.
    """
    split = tree.split(node)
    total, lacking = total_of(split.lanes, row)
    goes_left = bool(split.missing_left) if lacking else total <= split.threshold
    normal = np.zeros(len(row))
    for term in split.terms:
        if term.level == NUMBER and free[term.cell]:
            normal[term.cell] += term.coef * deviations[term.cell]
    # Scaled first: squares may overflow or vanish.
    size = float(np.abs(normal).max())
    if lacking or size == 0.0:
        return None, 0.0, goes_left
    length = size * float(np.linalg.norm(normal / size))
    if abs(split.threshold) > FARTHEST * length:  # a threshold that separates missing values from all others
        return None, 0.0, goes_left
    return normal / length, (split.threshold - total) / length, goes_left


def total_of(lanes: tuple[Lane, ...], row: Array) -> tuple[float, bool]:
    """Return the sum of a split for a row, with the bits of the core, and whether one of its numbers is missing."""
    sums, lacking = [], False
    for lane in lanes:
        total = 0.0
        for term in lane:
            value = float(row[term.cell])
            if term.level == NUMBER:
                lacking |= value != value
                total += term.coef * value
            elif term.holds(value):
                total += term.coef
        sums.append(total)
    if len(sums) == 4:
        return (sums[0] + sums[1]) + (sums[2] + sums[3]), lacking
    return sums[0] if sums else 0.0, lacking
