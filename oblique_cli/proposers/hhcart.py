"""HHCART: reflections of the eigenvectors of each class' covariance matrix, or of two groups of classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Boolean, Real
from oblique_cli.ground.geometry import class_covariance, pooled_variances, principal_axes, shrunk
from oblique_cli.parameters import parameter
from oblique_cli.proposers._discriminant import largest_class
from oblique_cli.proposers._reflection import SIGNS, Reflecting
from oblique_cli.tree.splitting import PROPOSERS, Node


@PROPOSERS.register("hhcart_a")
class HHCART(Reflecting):
    """HHCART(A): at every node, reflect along each eigenvector of each class and search all axes of each space.

    Classes with fewer than two distinct rows give no vector; if no class gives one, the original axes are searched
    (thesis 3.6)."""

    title = "HHCART(A)"
    source = "Wickramarachchi (2015), section 3.5, algorithm 3"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "twoing"}
    native: ClassVar[str | None] = "hhcart_a"
    dominant_only: ClassVar[bool] = False

    tau: float = parameter(
        default=0.05,
        help="An eigenvector within this distance of a feature axis is not reflected (0.05 in the thesis).",
    )
    sign: str = parameter(
        default="negative",
        help="Sign given to the first non-zero component of every eigenvector. The thesis leaves it open, and for p > "
        "2 the p - 1 further axes of a reflection depend on it.",
    )
    eigenvalue_tolerance: float = parameter(
        default=1e-10,
        allowed=Real(0.0, 1.0, open_high=True),
        help="Eigenvalues at most this times the largest count as zero.",
    )
    shrinkage: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Draw the covariance of a class of fewer than 5 p rows towards the diagonal of pooled variances, by l = 1 "
        "- rows / (5 p), see `geometry.shrunk` (beyond the papers).",
    )

    def _vectors(self, node: Node) -> Iterator[Array]:
        """Yield the vectors by class code, then by descending eigenvalue."""
        variances = pooled_variances(node.X, node.y, node.weights) if self.shrinkage else None
        for code in np.unique(node.y):
            covariance = class_covariance(*node.of_class(code))
            if covariance is not None:
                if variances is not None:
                    covariance = shrunk(covariance, variances, node.class_weights[code])
                axes = principal_axes(covariance, self.eigenvalue_tolerance, SIGNS[self.sign])
                yield from axes[:1] if self.dominant_only else axes

    def native_options(self) -> dict[str, Any]:
        eigenvectors = {"eigenvalue_tolerance": float(self.eigenvalue_tolerance), "shrinkage": bool(self.shrinkage)}
        return super().native_options() | eigenvectors


@PROPOSERS.register("hhcart_d")
class HHCARTDominant(HHCART):
    """HHCART(D): as HHCART(A), with the dominant eigenvector of each class only."""

    title = "HHCART(D)"
    classifier = "HHCARTDClassifier"
    native: ClassVar[str | None] = "hhcart_d"
    dominant_only: ClassVar[bool] = True


@PROPOSERS.register("hhcart_g")
class HHCARTG(Reflecting):
    """HHCART(G) of the R package hhcartr: reflect along the dominant eigenvector of the covariance of the largest class
    (the lowest code on a tie), then of all other rows together, and search all axes of both spaces with all classes.

    A group with fewer than two distinct rows gives no vector; if neither gives one, the original axes are searched.
    The article itself reflects along a bisector of GDT, which is "hhgdt" with bisector_classes="super"."""

    title = "HHCART(G)"
    source = "R package hhcartr 1.0.0; Wickramarachchi, Robertson, Reale, Price & Brown (2019)"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini"}
    native: ClassVar[str | None] = "hhcart_g"

    def _vectors(self, node: Node) -> Iterator[Array]:
        """Yield at most two vectors: of the largest class, then of the rest."""
        largest = largest_class(node)
        for group in (largest, ~largest):
            rows = node.of_rows(group)
            covariance = class_covariance(rows.X, rows.weights)
            if covariance is not None:
                yield from principal_axes(covariance, sign=SIGNS[self.sign])[:1]
