"""Hierarchies of dissimilarities: AVALANCHE, STAXAC, and their rivals neighbor joining and UPGMA."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import oblique_cli._core as _core
from oblique_cli.errors import DataError
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, number_of_objects, to_square
from oblique_cli.papers.hierarchy.hierarchies import Hierarchy

GRAPHS = ("nearest", "renewed", "gabriel")


def avalanche(condensed: Condensed) -> Hierarchy:
    """Return the tree of AVALANCHE (Amalaman 2015, chapter 4); heights are mean distances between the two sides.

    A node is split by moving its anti-medoid (largest sum of distances) to the right side, then the nearest neighbor of
    the object moved last, as long as the sum of distances between the sides (equation 3) grows. The failing move is
    undone, as in figure 4.2; the pseudo-code leaves it in. Ties, sums within 1e-9, go to the lowest number.
    """
    tree, _, _ = _core.avalanche(condensed, number_of_objects(condensed), False)
    return Hierarchy(*tree)


def staxac(condensed: Condensed, codes: ArrayLike, graph: str = "nearest") -> tuple[Hierarchy, int]:
    """Return the supervised taxonomy of algorithm 1 (Amalaman 2015, section 5.3), and how many graphs it needed.

    Every step merges the two neighboring clusters whose union leaves the purest clustering; in a tie the merge of the
    smaller mean distance, then of the lowest objects. The union has the neighbors of both; graph "renewed" recomputes
    neighbors after every merge, as in step 2; "gabriel" is the wider graph that the paper proposes. The paper stops
    without candidates; here the remaining clusters are linked with their nearest ones, and merging goes on.
    """
    n = number_of_objects(condensed)
    labels = np.ascontiguousarray(codes, dtype=np.int32)
    if labels.shape != (n,):
        raise DataError(f"{n} objects need {n} labels. Got {len(labels)}.")
    edges = _core.gabriel_edges(condensed, n) if graph == "gabriel" and n > 1 else None
    tree, rounds = _core.staxac(condensed, labels, int(labels.max()) + 1, edges, graph == "renewed")
    return Hierarchy(*tree), rounds


def neighbor_joining(condensed: Condensed) -> Hierarchy:
    """Return the tree of neighbor joining (Saitou & Nei 1987), with branch lengths, which may be negative. The tree is
    unrooted: as in Amalaman (2015), section 5.5.1.1, the last ancestor becomes the root, here the join of the last two
    clusters. O(n^3) time and 8 n^2 bytes. Libraries with neighbor joining (scikit-bio, Biopython) are larger than this
    package."""
    tree, lengths = _core.neighbor_joining(to_square(condensed))
    return Hierarchy(*tree, lengths)


def upgma(condensed: Condensed) -> Hierarchy:
    """Return SciPy's average linkage (UPGMA)."""
    if number_of_objects(condensed) == 1:
        return Hierarchy(np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    from scipy.cluster.hierarchy import linkage

    joins = linkage(condensed, "average")
    return Hierarchy(joins[:, :2].astype(np.int64), np.ascontiguousarray(joins[:, 2]))
