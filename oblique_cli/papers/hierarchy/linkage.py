"""The rivals: neighbor joining and UPGMA."""

from __future__ import annotations

import numpy as np

import oblique_cli._core as _core
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, number_of_objects, to_square
from oblique_cli.papers.hierarchy.hierarchies import Hierarchy


def neighbor_joining(condensed: Condensed) -> Hierarchy:
    """Return the tree of neighbor joining (Saitou & Nei 1987), with branch lengths, which may be negative.

    The tree has no root of its own: as in Amalaman (2015), section 5.5.1.1, the last ancestor found is taken, here the
    join of the last two clusters. O(n^3) time and 8 n^2 bytes. Libraries with neighbor joining (scikit-bio, Biopython)
    are larger than this package.
    """
    tree, lengths = _core.neighbor_joining(to_square(condensed))
    return Hierarchy(*tree, lengths)


def upgma(condensed: Condensed) -> Hierarchy:
    """Return SciPy's average linkage (UPGMA)."""
    if number_of_objects(condensed) == 1:
        return Hierarchy(np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    from scipy.cluster.hierarchy import linkage

    joins = linkage(condensed, "average")
    return Hierarchy(joins[:, :2].astype(np.int64), np.ascontiguousarray(joins[:, 2]))
