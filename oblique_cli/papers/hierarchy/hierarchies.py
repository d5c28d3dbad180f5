"""`Hierarchy`, a binary tree over objects, with the algorithms that grow it, and `Taxonomy`, the tree with classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import oblique_cli._core as _core
from oblique_cli.errors import DataError
from oblique_cli.ground.arrays import Array
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, number_of_objects, to_square

Ints = NDArray[np.int64]

GRAPHS = ("nearest", "renewed", "gabriel")


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A full binary tree over n objects.

    Objects are nodes 0 .. n - 1, joins are nodes n .. 2n - 2; children have smaller numbers than their parent, and the
    root is the last node.

    children   (n - 1, 2) the two nodes under each join
    heights    (n - 1,) distance between the two sides of each join by the method of the tree: the mean distance
               between their objects, or for neighbor joining the joined distance. A join may be lower than one below it
    lengths    (2n - 1,) length of the branch above each node, or None
    """

    children: Ints
    heights: Array
    lengths: Array | None = None

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.children) + 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes, 2n - 1."""
        return 2 * len(self.children) + 1

    @cached_property
    def sizes(self) -> Ints:
        """Number of objects under each node, (2n - 1,)."""
        return self.sums(np.ones(self.n, dtype=np.int64))

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of values (n,) or (n, k) over the objects under each node, (2n - 1,) or (2n - 1, k)."""
        out = np.zeros((self.n_nodes, *values.shape[1:]), dtype=values.dtype)
        out[: self.n] = values
        for join, (a, b) in enumerate(self.children.tolist(), self.n):
            out[join] = out[a] + out[b]
        return out

    @cached_property
    def parents(self) -> Ints:
        """The node above each node, -1 for the root, (2n - 1,)."""
        out = np.full(self.n_nodes, -1, dtype=np.int64)
        out[self.children] = np.arange(self.n, self.n_nodes)[:, None]
        return out

    @cached_property
    def depths(self) -> Ints:
        """Steps from the root to each node, (2n - 1,)."""
        out = np.zeros(self.n_nodes, dtype=np.int64)
        for node in range(self.n_nodes - 2, -1, -1):
            out[node] = out[self.parents[node]] + 1
        return out

    @cached_property
    def starts(self) -> Ints:
        """Place of each node's first object in `order`, (2n - 1,)."""
        out = np.zeros(self.n_nodes, dtype=np.int64)
        for join in range(self.n_nodes - 1, self.n - 1, -1):
            a, b = self.children[join - self.n]
            out[a], out[b] = out[join], out[join] + self.sizes[a]
        return out

    @cached_property
    def order(self) -> Ints:
        """Objects from left to right in a drawing without crossings, (n,): objects under a node are adjacent."""
        out = np.empty(self.n, dtype=np.int64)
        out[self.starts[: self.n]] = np.arange(self.n)
        return out

    def owners(self, nodes: ArrayLike) -> Ints:
        """Return the one of `nodes` above each object, (n,). Every object must be under exactly one of `nodes`."""
        chosen = np.asarray(nodes, dtype=np.int64)
        chosen = chosen[np.argsort(self.starts[chosen])]
        out = np.empty(self.n, dtype=np.int64)
        out[self.order] = np.repeat(chosen, self.sizes[chosen])
        return out

    @cached_property
    def raised(self) -> Array:
        """Heights of joins, raised to the highest join below, so that no parent is lower than a child; (n - 1,)."""
        out = self.heights.copy()
        for k, (a, b) in enumerate(self.children.tolist()):
            out[k] = max(out[k], *(out[c - self.n] for c in (a, b) if c >= self.n), 0.0)
        return out

    def linkage(self) -> Array:
        """Return SciPy's linkage matrix, (n - 1, 4), valid and monotone: joins are in the order of their heights
        `raised`."""
        order = np.argsort(self.raised, kind="stable")
        number = np.arange(self.n_nodes)
        number[self.n + order] = np.arange(self.n, self.n_nodes)
        pairs = np.sort(number[self.children[order]], axis=1)
        return np.column_stack([pairs, self.raised[order], self.sizes[self.n :][order]]).astype(np.float64)

    def cut(self, n_clusters: int) -> Ints:
        """Return a cluster number, 0 to n_clusters - 1, for each object, after undoing the highest joins (`raised`)."""
        if not 1 <= n_clusters <= self.n:
            raise DataError(f"{self.n} objects can be cut into 1 to {self.n} clusters. Got {n_clusters}.")
        undone = np.argsort(self.raised, kind="stable")[self.n - n_clusters :] + self.n
        below = self.children[undone - self.n].ravel()
        nodes = np.setdiff1d(np.append(below, self.n_nodes - 1), undone)
        return np.unique(self.owners(nodes), return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A hierarchy whose objects have classes. counts : (2n - 1, C) objects of each class under each node"""

    tree: Hierarchy
    counts: Ints

    @classmethod
    def of(cls, tree: Hierarchy, codes: ArrayLike, n_classes: int | None = None) -> Taxonomy:
        """Return a tree with classes of its objects, codes (n,) from 0. DataError for a wrong number of codes."""
        labels = np.asarray(codes, dtype=np.int64)
        if labels.shape != (tree.n,):
            raise DataError(f"{tree.n} objects need {tree.n} labels. Got {len(labels)}.")
        width = int(labels.max()) + 1 if n_classes is None else n_classes
        return cls(tree, tree.sums(np.eye(width, dtype=np.int64)[labels]))

    @property
    def n(self) -> int:
        """Number of objects."""
        return self.tree.n

    @property
    def n_classes(self) -> int:
        """Number of classes with objects."""
        return int((self.counts[-1] > 0).sum())

    @cached_property
    def purity(self) -> Array:
        """Share of the largest class under each node, (2n - 1,)."""
        shares: Array = self.counts.max(axis=1) / self.tree.sizes
        return shares

    @cached_property
    def majority(self) -> Ints:
        """The largest class under each node, (2n - 1,). In a tie the parent's class if it is tied, else the lowest
        code. The paper calls this class the node's sub-family and has no rule for ties."""
        most = self.counts == self.counts.max(axis=1, keepdims=True)
        out: Ints = most.argmax(axis=1).astype(np.int64)
        for node in range(self.tree.n_nodes - 2, -1, -1):
            above = out[self.tree.parents[node]]
            if most[node, above]:
                out[node] = above
        return out

    @cached_property
    def purity_above(self) -> Array:
        """Highest purity of the ancestors of each node, (2n - 1,); 0 for the root."""
        out = np.zeros(self.tree.n_nodes)
        for node in range(self.tree.n_nodes - 2, -1, -1):
            above = self.tree.parents[node]
            out[node] = max(out[above], self.purity[above])
        return out


def shown_names(names: Sequence[str] | None, n: int) -> list[str]:
    """Return the names of n objects, or their numbers from 1."""
    return [str(i + 1) for i in range(n)] if names is None else list(names)


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


def divisive(condensed: Condensed, codes: ArrayLike) -> Hierarchy:
    """Return a supervised taxonomy grown from the root, an interpretation of Amalaman (2015), chapter 7, which proposes
    one without its algorithm. codes : (n,) classes from 0

    As in section 5.1 each step leaves the purest clustering of neighbors, here of neighbors in the minimum spanning
    tree: a node is divided by removing the edge after which the majority classes of both sides have most objects; among
    equals the edge with the largest sum of distances between the sides (equation 3). Sums within 1e-9 are equal; of
    equal edges the first in a walk from object 0 is removed. O(n^2) numbers of memory, O(n^2) time per level of the
    hierarchy."""
    labels = np.asarray(codes, dtype=np.int64)
    n = number_of_objects(condensed)
    if labels.shape != (n,):
        raise DataError(f"{n} objects need {n} labels. Got {len(labels)}.")
    distances, member = to_square(condensed), np.eye(int(labels.max()) + 1, dtype=np.int64)[labels]
    children, heights = np.zeros((n - 1, 2), dtype=np.int64), np.zeros(n - 1)
    join = n - 1
    open_nodes = [(*_walk(distances), -1, 0)]
    while open_nodes:
        objects, sizes, parent, side = open_nodes.pop()
        node = int(objects[0])
        if len(objects) > 1:
            join -= 1
            node = n + join
            start, within = _purest_cut(distances[np.ix_(objects, objects)], member[objects], sizes)
            end = start + sizes[start]
            below = slice(start, end)
            rest = np.r_[0:start, end : len(objects)]
            heights[join] = within / (len(rest) * (end - start))
            places = np.arange(len(objects))
            above = (places < start) & (places + sizes > start)  # the subtrees that lose the one below the edge
            open_nodes.append((objects[rest], np.where(above, sizes - sizes[start], sizes)[rest], join, 0))
            open_nodes.append((objects[below], sizes[below], join, 1))
        if parent >= 0:
            children[parent, side] = node
    return Hierarchy(children, heights)


def _walk(distances: Array) -> tuple[Ints, Ints]:
    """Return the objects in a walk down the minimum spanning tree from object 0, and the size of each subtree, (n,)."""
    n = len(distances)
    nearest, upper, outside = distances[0].copy(), np.zeros(n, dtype=np.int64), np.arange(n) > 0
    below: list[list[int]] = [[] for _ in range(n)]
    for _ in range(n - 1):
        new = int(np.where(outside, nearest, np.inf).argmin())
        below[upper[new]].append(new)
        outside[new] = False
        closer = outside & (distances[new] < nearest)
        nearest[closer], upper[closer] = distances[new][closer], new
    order, stack, sizes = [], [0], np.ones(n, dtype=np.int64)
    while stack:
        order.append(stack.pop())
        stack += below[order[-1]]
    for node in order[:0:-1]:
        sizes[upper[node]] += sizes[node]
    return np.array(order), sizes[order]


def _purest_cut(distances: Array, member: Ints, sizes: Ints) -> tuple[int, float]:
    """Return the place in the walk below the edge to take away, and the sum of distances between both sides.
    distances : (m, m); member : (m, C) 1 for the class of an object; sizes : (m,) of the subtrees"""
    start = np.arange(1, len(sizes))
    end = start + sizes[1:]
    sums = np.zeros((len(sizes) + 1, len(sizes) + 1))
    distances.cumsum(axis=0).cumsum(axis=1, out=sums[1:, 1:])
    counts = np.vstack([np.zeros_like(member[:1]), member.cumsum(axis=0)])
    below = counts[end] - counts[start]
    majorities = below.max(axis=1) + (counts[-1] - below).max(axis=1)
    inside = sums[end, end] - 2.0 * sums[start, end] + sums[start, start]
    between = sums[end, -1] - sums[start, -1] - inside
    best = majorities == majorities.max()
    first = int(np.flatnonzero(best & (between >= between[best].max() * (1.0 - 1e-9)))[0])
    return first + 1, float(between[first])


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
