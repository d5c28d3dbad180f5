"""STAXAC: supervised taxonomies, merged from neighboring clusters for purity (Amalaman 2015, section 5.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import oblique_cli._core as _core
from oblique_cli.errors import DataError
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, number_of_objects
from oblique_cli.papers.hierarchy.hierarchies import Hierarchy

GRAPHS = ("nearest", "renewed", "gabriel")


def staxac(condensed: Condensed, codes: ArrayLike, graph: str = "nearest") -> tuple[Hierarchy, int]:
    """Return the supervised taxonomy of algorithm 1, and how often its proximity graph was made.

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
