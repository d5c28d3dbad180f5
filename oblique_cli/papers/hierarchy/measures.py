"""Measures of trees: distances within and between clusters, and EUREKA (Amalaman 2015, sections 4.4.3 and 5.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, to_square
from oblique_cli.papers.hierarchy.hierarchies import Hierarchy, Taxonomy

Ints = NDArray[np.int64]


# ---- compactness (4.4.3) ---------------------------------------------------------------------------------------------


def mean_distances(tree: Hierarchy, condensed: Condensed) -> tuple[float, float]:
    """Return the average distance within and between the clusters of a tree, weighted by cluster size. Within is sum
    |C| / N d(C) over all 2n - 1 nodes C, with N the sum of their sizes and d(C) the mean distance of two objects of C,
    0 for single objects. The paper does not define "between"; here that is the mean distance of two objects on
    different sides of C, averaged in the same way, single objects with their 0 included."""
    if tree.n == 1:
        return 0.0, 0.0
    square = to_square(condensed)[np.ix_(tree.order, tree.order)]
    # Prefix sums of the matrix in dendrogram order give the sum over any block.
    corner = np.zeros((tree.n + 1, tree.n + 1))
    np.cumsum(np.cumsum(square, axis=0), axis=1, out=corner[1:, 1:])

    def block(a: Ints, b: Ints) -> Array:
        """Return the sum of distances between the objects under the nodes a and b."""
        i, j, k, m = tree.starts[a], tree.starts[a] + tree.sizes[a], tree.starts[b], tree.starts[b] + tree.sizes[b]
        return np.asarray(corner[j, m] - corner[i, m] - corner[j, k] + corner[i, k])

    joins = np.arange(tree.n, tree.n_nodes)
    size = tree.sizes[joins].astype(np.float64)
    left, right = tree.children[:, 0], tree.children[:, 1]
    within = block(joins, joins) / (size * (size - 1))
    apart = block(left, right) / (tree.sizes[left] * tree.sizes[right])
    return float((size * within).sum() / tree.sizes.sum()), float((size * apart).sum() / tree.sizes.sum())


# ---- tree topology (5.4.1) -------------------------------------------------------------------------------------------


def edited_size(taxonomy: Taxonomy, threshold: float = 1.0) -> int:
    """Return the number of nodes after every sub-tree of at least this purity becomes a leaf."""
    return int((taxonomy.purity_above < threshold).sum())


def family_changes(taxonomy: Taxonomy) -> int:
    """Return the number of branches with different majority classes at their ends."""
    below = np.arange(taxonomy.tree.n_nodes - 1)
    return int((taxonomy.majority[below] != taxonomy.majority[taxonomy.tree.parents[below]]).sum())


@dataclass(frozen=True, eq=False)
class PurityPerDepth:
    """Mean purity and number of the nodes at each depth from the root on, (depth + 1,)."""

    purity: Array
    nodes: Ints

    @property
    def share(self) -> Array:
        """Number of nodes relative to the 2^d nodes of a balanced tree."""
        return self.nodes / 2.0 ** np.arange(len(self.nodes))


def purity_per_depth(taxonomy: Taxonomy) -> PurityPerDepth:
    """Return the mean purity of the nodes at each depth of the full tree."""
    depths = taxonomy.tree.depths
    nodes = np.bincount(depths)
    return PurityPerDepth(np.bincount(depths, weights=taxonomy.purity) / nodes, nodes)


# ---- clusters and classes (5.4.2) ------------------------------------------------------------------------------------


def purity_thresholds(taxonomy: Taxonomy) -> Array:
    """Return the thresholds that can give different clusterings, rising (algorithm 3). The thresholds are the purities
    of joins above which no node is purer, and 1, the purity of single objects."""
    joins = slice(taxonomy.n, None)
    useful = taxonomy.purity[joins] >= taxonomy.purity_above[joins]
    return np.unique(np.append(taxonomy.purity[joins][useful], 1.0))


def extract_clusters(taxonomy: Taxonomy, threshold: float) -> Ints:
    """Return the largest sub-trees of at least this purity, by falling size, then rising number (algorithm 2)."""
    nodes = np.flatnonzero((taxonomy.purity >= threshold) & (taxonomy.purity_above < threshold))
    return nodes[np.argsort(-taxonomy.tree.sizes[nodes], kind="stable")]


@dataclass(frozen=True)
class Subclass:
    """A sufficiently pure and large cluster: its node, class code, number of objects, and purity."""

    node: int
    label: int
    size: int
    purity: float


def subclasses(taxonomy: Taxonomy, threshold: float, min_size: int) -> list[Subclass]:
    """Return the clusters of at least this purity and size, by falling size (algorithm 4, steps 2 to 4)."""
    return [
        Subclass(node, int(taxonomy.majority[node]), int(taxonomy.tree.sizes[node]), float(taxonomy.purity[node]))
        for node in extract_clusters(taxonomy, threshold).tolist()
        if taxonomy.tree.sizes[node] >= min_size
    ]


def modality(taxonomy: Taxonomy, threshold: float, min_size: int) -> Ints:
    """Return the number of subclasses of each class code, (C,): 0, 1 or more modes (algorithm 4, step 6)."""
    labels = [subclass.label for subclass in subclasses(taxonomy, threshold, min_size)]
    return np.bincount(np.array(labels, dtype=np.int64), minlength=taxonomy.counts.shape[1])


# ---- complexity (5.4.3) ----------------------------------------------------------------------------------------------


def complexity_of_sizes(sizes: Ints, n_classes: int) -> float:
    """Return the classification complexity of pure clusters with these sizes (algorithm 5). The sum over k = c .. |X|
    of the objects outside the k largest clusters, divided by n (|X| - c + 1). The pseudo-code lacks the brackets around
    this divisor; with them one cluster a class gives 0 and single objects (n - c) / (2n), as the text says (figure
    5.5)."""
    falling = np.sort(np.asarray(sizes, dtype=np.int64))[::-1]
    n, k = int(falling.sum()), len(falling)
    if k < n_classes:
        raise ValueError(f"{n_classes} classes need at least {n_classes} pure clusters. Got {k}.")
    outside = n - np.cumsum(falling)[n_classes - 1 :]
    return float(outside.sum() / (n * (k - n_classes + 1)))


def classification_complexity(taxonomy: Taxonomy) -> float:
    """Return the classification complexity of a data set from its taxonomy: 0 easy, towards 1/2 hard."""
    return complexity_of_sizes(taxonomy.tree.sizes[extract_clusters(taxonomy, 1.0)], taxonomy.n_classes)


def mean_cluster_size(taxonomy: Taxonomy, threshold: float = 1.0) -> float:
    """Return objects per extracted cluster (section 5.5.2.3)."""
    return taxonomy.n / len(extract_clusters(taxonomy, threshold))
