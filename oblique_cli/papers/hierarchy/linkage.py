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
    """Return the tree of AVALANCHE down to single objects; heights are mean distances between the two sides.

    Divisive clustering of a matrix, float64 or float32 (Amalaman 2015, chapter 4). A node is split by moving its
    anti-medoid (largest sum of distances) to the right side, then the nearest neighbor, among what is left, of the
    object moved last, as long as the sum of distances between the sides (equation 3) grows. The failing move is undone,
    as in the text and in figure 4.2; the pseudo-code leaves it in. Ties, on which the paper is silent, go to the lowest
    number; sums that differ by less than 1e-9 of the node's largest one count as equal. All splits together cost O(n^2)
    unless most of a node moves to the right again and again. Beyond the matrix, memory is O(n).
    """
    tree, _, _ = _core.avalanche(condensed, number_of_objects(condensed), False)
    return Hierarchy(*tree)


def staxac(condensed: Condensed, codes: ArrayLike, graph: str = "nearest") -> tuple[Hierarchy, int]:
    """Return the supervised taxonomy of algorithm 1 (Amalaman 2015, section 5.3), and how often its proximity graph was
    made.

    condensed : float64 or float32; codes : (n,) class codes from 0; graph : one of GRAPHS

    Every step merges the two neighboring clusters whose union leaves the purest clustering; the union has the neighbors
    of both. Among equally pure merges, the one of the smaller mean distance is made, then the one of the lowest
    objects. The paper stops when no candidates are left. With nearest neighbors that usually happens before one cluster
    is left; the remaining clusters are then linked with their nearest ones by mean distance, and merging goes on.

    Graph "renewed" takes step 2 literally, where the nearest neighbor is the one in the clustering X: neighbors are
    found anew after every merge, and edges are not inherited. "gabriel" is the wider graph that the paper proposes;
    that graph is connected, and nearly complete in more than a few dimensions.

    Memory: one copy of the matrix. The copy of a float32 matrix is float32 as well, and sums of distances, which only
    settle ties in purity, are rounded to 24 bits.
    """
    n = number_of_objects(condensed)
    labels = np.ascontiguousarray(codes, dtype=np.int32)
    if labels.shape != (n,):
        raise DataError(f"{n} objects need {n} labels. Got {len(labels)}.")
    edges = _core.gabriel_edges(condensed, n) if graph == "gabriel" and n > 1 else None
    tree, rounds = _core.staxac(condensed, labels, int(labels.max()) + 1, edges, graph == "renewed")
    return Hierarchy(*tree), rounds


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
