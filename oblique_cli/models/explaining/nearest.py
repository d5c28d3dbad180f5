"""The nearest point of a polyhedron, and with it the nearest change of a row that leads to another class.

The rows that reach a leaf are a polyhedron: one half-space a split. The nearest of them is a quadratic program, which
Lawson and Hanson ("Solving Least Squares Problems", 1974, chapter 23, algorithm LDP) turn into a least-squares problem
with non-negative unknowns. Finitely many steps over active sets solve it exactly, so the result has no iteration
tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.models.procedure import NUMBER, Lane, Procedure, Steps

# Distance of a changed row inside every half-space, in standard deviations. On the border rounding would decide, and
# the border belongs to one side only. The smaller distance is for leaves thinner than the larger one.
MARGINS = (1e-6, 1e-10)

FARTHEST = 1e100  # standard deviations; no row lies beyond


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


def candidates(
    procedure: Procedure, row: Array, deviations: Array, free: NDArray[np.bool_], nodes: list[int]
) -> Iterator[Candidate]:
    """Yield the nearest row in each of the given leaves that changes of the free numbers can reach.

    row : (p,) as in `predict`, missing cells filled where a fill exists; deviations : (p,); free : (p,) bool
    """
    for leaf, G, h in polyhedra(procedure, row, deviations, free, nodes):
        for margin in MARGINS:
            u = least_distance(G, h + margin)
            if u is not None:
                changed = np.where(u != 0.0, row + deviations * u, row)
                yield Candidate(leaf, changed, float(np.linalg.norm(u)))
                break


def polyhedra(
    procedure: Procedure, row: Array, deviations: Array, free: NDArray[np.bool_], nodes: list[int]
) -> Iterator[tuple[int, Array, Array]]:
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
