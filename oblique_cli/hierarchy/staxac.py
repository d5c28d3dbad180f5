"""STAXAC: supervised taxonomies, merged from neighbouring clusters for purity (Amalaman 2015, section 5.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import oblique_cli._core as _core
from oblique_cli.errors import DataError
from oblique_cli.hierarchy.dissimilarities import Condensed, number_of_objects
from oblique_cli.hierarchy.structure import Hierarchy

GRAPHS = ("nearest", "renewed", "gabriel")


def staxac(condensed: Condensed, codes: ArrayLike, graph: str = "nearest") -> tuple[Hierarchy, int]:
    """Return the supervised taxonomy of algorithm 1, and how often its proximity graph was made.

    condensed : float64 or float32; codes : (n,) class codes from 0; graph : one of GRAPHS

    Among neighbouring clusters the two are merged whose merge leaves the purest clustering; the union has the
    neighbours of both. Of equally pure merges the one of the smaller mean distance is made, then the one of the lowest
    objects. The paper stops when no candidates are left, which with nearest neighbours is usually before one cluster
    is: then the remaining clusters are linked with their nearest ones by mean distance, and it goes on.

    Graph "renewed" takes step 2 at its word, in which the nearest neighbour is that in the clustering X: it is found
    anew after every merge and edges are not inherited. "gabriel" is the wider graph that the paper proposes; it is
    connected, and in more than a few dimensions nearly complete.

    Memory: one copy of the matrix. In float32 the copy is too, and sums of distances, which only settle ties in purity,
    are rounded to 24 bits.
    """
    n = number_of_objects(condensed)
    labels = np.ascontiguousarray(codes, dtype=np.int32)
    if labels.shape != (n,):
        raise DataError(f"{n} objects need {n} labels. Got {len(labels)}.")
    edges = _core.gabriel_edges(condensed, n) if graph == "gabriel" and n > 1 else None
    tree, rounds = _core.staxac(condensed, labels, int(labels.max()) + 1, edges, graph == "renewed")
    return Hierarchy(*tree), rounds
