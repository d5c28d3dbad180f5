"""HHCART: reflections of the eigenvectors of each class' covariance matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from oblique_cli.constraints import Constraint, Real
from oblique_cli.geometry import class_covariance, principal_axes
from oblique_cli.proposers._reflection import SIGN, SIGNS, TAU, reflections
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer

Array = NDArray[np.float64]


@PROPOSERS.register("hhcart_a")
class HHCART(Proposer):
    """HHCART(A): at every node, reflect along each eigenvector of each class and search all axes of each space.

    tau : an eigenvector within this distance of a feature axis is not reflected (0.05 in the thesis)
    sign : sign given to the first non-zero component of every eigenvector. The thesis leaves it open, and for p > 2 the
        p - 1 further axes of a reflection depend on it
    eigenvalue_tolerance : eigenvalues at most this times the largest count as zero

    Classes with fewer than two distinct rows give no vector; if no class gives one, the original axes are searched
    (thesis 3.6).
    """

    title = "HHCART(A)"
    source = "Wickramarachchi (2015), section 3.5, algorithm 3"
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "tau": TAU,
        "sign": SIGN,
        "eigenvalue_tolerance": Real(0.0, 1.0, open_high=True),
    }
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "twoing"}
    native: ClassVar[str | None] = "hhcart_a"

    def __init__(self, tau: float = 0.05, sign: str = "negative", eigenvalue_tolerance: float = 1e-10) -> None:
        self.tau = tau
        self.sign = sign
        self.eigenvalue_tolerance = eigenvalue_tolerance

    def propose(self, node: Node, rng: np.random.Generator) -> Iterator[Candidates]:
        """Yield one space per vector: by class code, then by falling eigenvalue."""
        found = False
        for space in reflections(self._vectors(node), self.tau):
            found = True
            yield space
        if not found:
            yield Candidates.axes()

    def _vectors(self, node: Node) -> Iterator[Array]:
        for code in np.unique(node.y):
            X, weights = node.of_class(code)
            # Only the directions matter: brought near 1 by a power of 2, squares neither overflow nor vanish.
            reach = (X.max(axis=0) - X.min(axis=0)).max()
            covariance = class_covariance(np.ldexp(X, -np.frexp(reach)[1]), weights)
            if covariance is not None:
                yield from self._chosen(principal_axes(covariance, self.eigenvalue_tolerance, SIGNS[self.sign]))

    def _chosen(self, axes: Array) -> Array:
        return axes

    def native_options(self) -> dict[str, Any]:
        """tau, sign and tolerance as numbers."""
        return {
            "tau": float(self.tau),
            "sign": SIGNS[self.sign],
            "eigenvalue_tolerance": float(self.eigenvalue_tolerance),
        }


@PROPOSERS.register("hhcart_d")
class HHCARTDominant(HHCART):
    """HHCART(D): as HHCART(A), with the dominant eigenvector of each class only."""

    title = "HHCART(D)"
    native: ClassVar[str | None] = "hhcart_d"

    def _chosen(self, axes: Array) -> Array:
        return axes[:1]
