"""SADT: simulated annealing of a hyperplane's coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Integer, Real
from oblique_cli.parameters import parameter
from oblique_cli.proposers._discriminant import plane, standard_scores
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer

ON_PLANE = 1e-9  # rows this close to the plane are on it, and so on its left


@PROPOSERS.register("sadt")
class SADT(Proposer):
    """Change one random coefficient by U(-0.5, 0.5) at a time; accept a loss d of score with probability exp(-d / T).

    Thesis 2.2 leaves the schedule, the end and the coordinates open. Choices of this package: features have mean 0 and
    variance 1 at the node, so that a change of 0.5 means the same for all of them; the start is the plane through the
    mean with all coefficients 1, which is parallel to no axis; features that are constant at the node keep the
    coefficient 0; the offset is one of the coefficients; an empty side scores 0; the best plane of the walk wins.

    The random numbers of a node do not depend on its rows, so order and duplicates of rows do not change the split."""

    title = "SADT"
    source = "Heath, Kasif & Salzberg (1993); Wickramarachchi (2015), section 2.2"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini"}

    temperature: float = parameter(
        default=0.01,
        allowed=Real(0.0),
        help="T at the start, in units of the score of a perfect split (one that cuts off a whole class).",
    )
    cooling: float = parameter(
        default=0.995, allowed=Real(0.0, 1.0, open_low=True), help="Factor on T after every step."
    )
    patience: int = parameter(
        default=1000, allowed=Integer(1), help="Steps without a new best plane after which the search ends."
    )

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the best plane with its offset."""
        varies = node.X.max(axis=0) > node.X.min(axis=0)
        if not varies.any():
            return
        standard = standard_scores(node)
        rows = ((node.X - standard.center) / standard.scale)[:, varies]
        best = self._anneal(np.vstack([rows.T, np.ones(len(rows))]), node)
        if best[:-1].any():
            normal = np.zeros(len(varies))
            normal[varies] = best[:-1]
            yield plane(node, normal, -float(best[-1]), standard)

    def _anneal(self, columns: Array, node: Node) -> Array:
        """Return the coefficients, offset last, of the best plane of the walk. columns : (m + 1, n), the last all 1."""
        energy_of = _energy(node)
        coefficients = np.ones(len(columns))
        coefficients[-1] = 0.0
        z = columns[:-1].sum(axis=0)
        energy = energy_of(z)
        best, lowest = coefficients.copy(), energy
        temperature, idle = self.temperature, 0
        for j, change, threshold in _steps(node.rng(), len(columns)):
            moved = z + change * columns[j]
            moved_energy = energy_of(moved)
            # threshold is exponential, so a plane worse by d is accepted with probability exp(-d / T).
            if moved_energy - energy <= temperature * threshold:
                z, energy = moved, moved_energy
                coefficients[j] += change
            idle += 1
            if energy < lowest - 1e-12:
                best, lowest, idle = coefficients.copy(), energy, 0
            if idle >= self.patience:
                break
            temperature *= self.cooling
        return best


def _steps(rng: np.random.Generator, m: int, block: int = 256) -> Iterator[tuple[int, float, float]]:
    while True:
        draws = rng.integers(m, size=block), rng.uniform(-0.5, 0.5, block), rng.exponential(size=block)
        yield from zip(*(d.tolist() for d in draws), strict=True)


def _energy(node: Node) -> Any:
    """Return the negative score of the split z <= 0 as a function of z : (n,)."""
    present, y = np.unique(node.y, return_inverse=True)
    totals = np.ascontiguousarray(node.class_weights[present])
    belongs = np.equal.outer(np.arange(len(present)), y) * (1.0 if node.weights is None else node.weights)
    unit = max(_core.cut_value(row, totals, node.criterion)[1] for row in np.diag(totals))

    def energy(z: Array) -> float:
        left = z <= ON_PLANE
        if left.all() or not left.any():
            return 0.0
        return -_core.cut_value(belongs @ left, totals, node.criterion)[1] / unit

    return energy
