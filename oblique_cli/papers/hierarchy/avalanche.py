"""AVALANCHE: divisive clustering of a dissimilarity matrix (Amalaman 2015, chapter 4)."""

from __future__ import annotations

import oblique_cli._core as _core
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, number_of_objects
from oblique_cli.papers.hierarchy.hierarchies import Hierarchy


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
    tree, _, _ = _core.avalanche(condensed, number_of_objects(condensed), False)
    return Hierarchy(*tree)
