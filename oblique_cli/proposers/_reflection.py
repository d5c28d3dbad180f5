"""Common base of the Householder heuristics: reflected spaces of given vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, Real
from oblique_cli.ground.geometry import ZERO_COMPONENT, householder_vector, parallel_to_an_axis
from oblique_cli.parameters import parameter
from oblique_cli.tree.splitting import Candidates, Node, Proposer

TAU = Real(0.0, 2.0)
SIGN = Choice(("negative", "positive"))
SIGNS = {"negative": -1.0, "positive": 1.0}


def scaled(X: Array) -> Array:
    """Return rows X (n, p) times a power of 2 that brings the widest column near 1, so that squares neither overflow
    nor underflow; directions and ratios do not change."""
    reach = (X.max(axis=0) - X.min(axis=0)).max()
    return np.asarray(np.ldexp(X, -np.frexp(reach)[1]))


def reflections(vectors: Iterable[Array], tau: float, both: bool = False) -> Iterator[Candidates]:
    """Yield the space of each unit vector: its reflection, or, if it is within tau of an axis, the original axes, only
    at the first such vector (thesis 3.5, algorithms 3 and 8).
    both : the reflection of the opposite vector follows; its other p - 1 axes differ"""
    original = False
    for d in vectors:
        # On an axis there is no reflection for any tau: some component of e_1 - d must not count as zero.
        if not parallel_to_an_axis(d, max(tau, ZERO_COMPONENT * np.sqrt(len(d)))):
            yield Candidates.reflection(householder_vector(d))
            if both:
                yield Candidates.reflection(householder_vector(-d))
        elif not original:
            original = True
            yield Candidates.axes()


class Reflecting(Proposer):
    """Heuristic that reflects along the vectors of `_vectors`."""

    tau: float = parameter(
        default=0.0,
        allowed=TAU,
        help="A vector within this distance of a feature axis is not reflected (0 in the thesis).",
    )
    sign: str = parameter(
        default="negative",
        allowed=SIGN,
        help="Sign given to the first non-zero component of every vector, on which the further axes of a reflection "
        "depend.",
    )
    reflections: str = parameter(
        default="one",
        allowed=Choice(("one", "both")),
        help='"both" reflects the opposite of every vector as well, at twice the cost (beyond the papers).',
    )

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield a space for each vector; the original axes if there is no vector (thesis 3.6)."""
        with_safe_squares = replace(node, X=scaled(node.X))
        any_space = False
        for space in reflections(self._vectors(with_safe_squares), self.tau, self.reflections == "both"):
            any_space = True
            yield space
        if not any_space:
            yield Candidates.axes()

    @abstractmethod
    def _vectors(self, node: Node) -> Iterator[Array]:
        """Yield unit vectors, oriented, in the order in which their spaces are searched. node : its rows `scaled`"""

    def native_options(self) -> dict[str, Any]:
        return {"tau": float(self.tau), "sign": SIGNS[self.sign], "both_signs": self.reflections == "both"}
