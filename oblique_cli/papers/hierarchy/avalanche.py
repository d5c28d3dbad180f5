"""AVALANCHE: divisive clustering of a dissimilarity matrix (Amalaman 2015, chapter 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, number_of_objects
from oblique_cli.papers.hierarchy.hierarchies import Hierarchy


@dataclass(frozen=True, eq=False)
class Moves:
    """Every move that AVALANCHE tried, in order.

    nodes     (m,) the node that was being split
    objects   (m,) what was moved from its left side to its right side
    between   (m,) H1, the sum of distances between both sides after the move
    accepted  (m,) whether it was more than before; if not, the move was undone and the split ended
    """

    nodes: NDArray[np.int64]
    objects: NDArray[np.int64]
    between: NDArray[np.float64]
    accepted: NDArray[np.bool_]


def avalanche(condensed: Condensed) -> Hierarchy:
    """Return the tree of AVALANCHE down to single objects; heights are mean distances between the two sides.

    condensed : float64 or float32, as `dissimilarities` returns it

    A node is split by moving its anti-medoid (largest sum of distances) to the right side, then the nearest neighbor,
    among what is left, of the object moved last, as long as the sum of distances between the sides (equation 3) grows.
    The failing move is undone, as in the text and in figure 4.2; the pseudo-code leaves it in. Ties, on which the paper
    is silent, go to the lowest number; sums that differ by less than 1e-9 of the node's largest one count as equal. All
    splits together cost O(n^2) unless most of a node moves to the right again and again. Beyond the matrix, memory is
    O(n).
    """
    return _traced(condensed, False)[0]


def avalanche_moves(condensed: Condensed) -> tuple[Hierarchy, Moves]:
    """Return the tree and every move on the way to it."""
    return _traced(condensed, True)


def _traced(condensed: Condensed, trace: bool) -> tuple[Hierarchy, Moves]:
    tree, what, between = _core.avalanche(condensed, number_of_objects(condensed), trace)
    return Hierarchy(*tree), Moves(what[:, 0], what[:, 1], between, what[:, 2].astype(bool))
