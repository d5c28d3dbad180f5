"""GDT: the better angle bisector of the two clustering hyperplanes of a node, with its offset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice
from oblique_cli.ground.geometry import (
    Standard,
    angle_bisectors,
    augmented_moment,
    clustering_hyperplane,
    distinct_gap,
    has_normal,
    normalize_plane,
)
from oblique_cli.ground.magnitudes import common_exponent, measured
from oblique_cli.parameters import parameter
from oblique_cli.proposers._discriminant import largest_class
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer

BISECTOR_CLASSES = Choice(("super", "all"))
PlaneOf = Callable[[Array, Array, Standard], tuple[Array | None, str]]


def bisectors(node: Node, plane_of: PlaneOf = clustering_hyperplane) -> list[Array]:
    """Return the one or two angle bisectors (w, b) of the largest class, the lowest code on a tie, against the rest;
    none if a plane has no w (thesis 5.1.1, 5.1.2). Features whose squares overflow or underflow are scaled by a common
    power of 2.
    plane_of : as `clustering_hyperplane`"""
    positive = largest_class(node)
    power = common_exponent(node.X)
    X = measured(node.X, power)
    standard = Standard.of(X)
    moments = [augmented_moment(X[side], node.of_rows(side).weights, standard) for side in (positive, ~positive)]
    planes = []
    for A, B in (moments, moments[::-1]):
        w, _ = plane_of(A, B, standard)
        plane = None if w is None or not has_normal(w, standard) else normalize_plane(w)
        if plane is None:
            return []
        planes.append(plane)
    bisectors = angle_bisectors(planes[0], planes[1])
    for plane in bisectors:
        plane[-1] = np.ldexp(plane[-1], power)
    if node.ties == "tolerant":
        # Rows on the plane itself must go left, whatever the rounding.
        for plane in bisectors:
            plane[-1] -= distinct_gap(node.X, plane[:-1])
    return bisectors


def better_bisector(node: Node, bisector_classes: str, plane_of: PlaneOf = clustering_hyperplane) -> Array | None:
    """Return the bisector of larger gain over all classes (with "super" over the largest class against the rest), the
    first on a tie or if neither has a gain; None without a bisector."""
    planes = bisectors(node, plane_of)
    if not planes:
        return None
    y, n_classes = node.y, node.n_classes
    if bisector_classes == "super":
        y, n_classes = (~largest_class(node)).astype(np.int32), 2
    D = np.array([plane[:-1] for plane in planes])
    t = np.array([-plane[-1] for plane in planes])
    split = _core.search(node.X, y, node.weights, n_classes, node.criterion, [("directions", D, t)], 0.0, False, False)
    return planes[0 if split is None else split[3]]


@PROPOSERS.register("gdt")
class GDT(Proposer):
    """Geometric decision tree, with the thesis' treatment of rank deficiency.

    A bisector that leaves one side empty, or has no normal, makes the node a leaf. The limit epsilon on the
    misclassification rate is tuned; there is no pruning (thesis 5.2)."""

    title = "GDT"
    source = "Manwani & Sastry (2012), section II; Wickramarachchi (2015), section 5.1, algorithm 7"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini", "max_misrate": 0.05}
    limit_name: ClassVar[str | None] = "epsilon"
    native: ClassVar[str | None] = "gdt"
    member_defaults: ClassVar[Mapping[str, Any]] = {"bisector_classes": "all"}

    bisector_classes: str = parameter(
        default="super",
        allowed=BISECTOR_CLASSES,
        help='"super" takes the bisector that splits the two super-classes, the largest class and the rest, better '
        '(thesis 5.1.2); "all" the one that splits all classes of the node better. With two classes both are equation '
        "6 of Manwani & Sastry (2012).",
    )

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the better bisector with its offset."""
        plane = better_bisector(node, self.bisector_classes)
        if plane is not None:
            yield Candidates.directions(plane[None, :-1], -plane[-1:])

    def native_options(self) -> dict[str, Any]:
        return {"bisector_by_super_classes": self.bisector_classes == "super"}
