"""A tree over discrete features: a branch for every value of the feature at a node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.strict_yaml import printable
from oblique_cli.papers.discrete.domain import Domain, Ints

SCHEMA = "oblique-discrete-tree/1"


class DiscreteTree:
    """A multiway tree as frozen arrays. The root is node 0, and nodes are numbered level by level.

    domain      : Domain
    feature     : (n_nodes,)    feature that a node splits on, -1 at leaves; no feature repeats on a path
    first_child : (n_nodes,)    the child for value v is first_child + v; -1 at leaves
    values      : (n_nodes, V)  values at the nodes: training weight of each class, or averages of a function
    labels      : (n_nodes,)    class code of the node as a leaf
    """

    def __init__(
        self, domain: Domain, feature: NDArray[Any], first_child: NDArray[Any], values: NDArray[Any], labels: Any
    ) -> None:
        self.domain = domain
        self.feature = _frozen(feature, np.int64)
        self.first_child = _frozen(first_child, np.int64)
        self.values = _frozen(values, np.float64)
        self.labels = _frozen(labels, np.int64)
        for node, path in enumerate(self.paths[0]):
            if self.feature[node] >= 0 and self.feature[node] in path:
                raise ValueError(f"feature {self.feature[node]} comes twice on the path to node {node}")

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included: the tree complexity of the paper."""
        return len(self.feature)

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf, (n_nodes,)."""
        return self.feature < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @cached_property
    def depths(self) -> Ints:
        """Distance of each node from the root, the order of the node's schema, (n_nodes,)."""
        depths = np.zeros(self.n_nodes, dtype=np.int64)
        for node in np.flatnonzero(~self.is_leaf):
            depths[self.children(node)] = depths[node] + 1
        return depths

    @property
    def depth(self) -> int:
        """Longest path from the root, 0 for a single leaf."""
        return int(self.depths.max())

    @cached_property
    def parents(self) -> Ints:
        """Parent of every node, -1 for the root, (n_nodes,)."""
        parents = np.full(self.n_nodes, -1, dtype=np.int64)
        for node in np.flatnonzero(~self.is_leaf):
            parents[self.children(node)] = node
        return parents

    def children(self, node: int | np.integer[Any]) -> slice:
        """Return the node numbers of an internal node's children, in the order of the values of its feature."""
        first = int(self.first_child[node])
        return slice(first, first + self.domain.cardinalities[self.feature[node]])

    @cached_property
    def paths(self) -> tuple[Ints, Ints]:
        """Features and values on the path to every node, two arrays (n_nodes, depth) padded with -1."""
        width = self.depth
        features = np.full((self.n_nodes, width), -1, dtype=np.int64)
        values = np.full((self.n_nodes, width), -1, dtype=np.int64)
        for node in np.flatnonzero(~self.is_leaf):
            below, level = self.children(node), self.depths[node]
            features[below], values[below] = features[node], values[node]
            features[below, level] = self.feature[node]
            values[below, level] = np.arange(below.stop - below.start)
        return features, values

    @cached_property
    def measures(self) -> NDArray[np.float64]:
        """Share of the domain that each node covers, (n_nodes,)."""
        shares = np.ones(self.n_nodes)
        for node in np.flatnonzero(~self.is_leaf):
            below = self.children(node)
            shares[below] = shares[node] / (below.stop - below.start)
        return shares

    def apply(self, points: NDArray[Any]) -> Ints:
        """Return the leaf of each point. points : (n, n_features) whole numbers in the domain; returns (n,)."""
        node = np.zeros(len(points), dtype=np.int64)
        rows = np.arange(len(points))
        while len(rows):
            rows = rows[self.feature[node[rows]] >= 0]
            at = node[rows]
            node[rows] = self.first_child[at] + points[rows, self.feature[at]]
        return node

    def branch_shares(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return the share of each node in the weight of the children of its parent, equal shares without any weight;
        1 for the root. weights : (n_nodes,); returns (n_nodes,)"""
        shares = np.ones(self.n_nodes)
        for node in np.flatnonzero(~self.is_leaf):
            below = self.children(node)
            total = weights[below].sum()
            shares[below] = weights[below] / total if total > 0 else 1.0 / (below.stop - below.start)
        return shares

    def means(
        self, points: NDArray[Any], values: NDArray[Any], shares: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the values of points, (n, K), and which of them go down several branches, (n,).

        A point whose code is -1 goes down all branches; its value is the mean of theirs, weighted by `shares`.
        points : (n, n_features) codes, -1 if unknown; values : (n_nodes, K); shares : (n_nodes,) of `branch_shares`"""
        divided = np.zeros(len(points), dtype=bool)
        gone = (points < 0).any(axis=1)
        if not gone.all():
            held_by_leaves = values[self.apply(np.maximum(points, 0))]
            if gone.any():
                held_by_leaves[gone], divided[gone] = self.means(points[gone], values, shares)
            return held_by_leaves, divided
        rows = {0: np.arange(len(points))}
        inner = np.flatnonzero(~self.is_leaf).tolist()
        for node in inner:
            here = rows[node]
            codes = points[here, self.feature[node]]
            divided[here[codes < 0]] = True
            for code, child in enumerate(range(self.n_nodes)[self.children(node)]):
                rows[child] = here[(codes == code) | (codes < 0)]
        held = {node: values[np.full(len(rows[node]), node)] for node in np.flatnonzero(self.is_leaf).tolist()}
        for node in reversed(inner):
            codes = points[rows[node], self.feature[node]]
            held[node] = np.zeros((len(codes), values.shape[1]))
            for code, child in enumerate(range(self.n_nodes)[self.children(node)]):
                there, of_child = codes[(codes == code) | (codes < 0)], held.pop(child)
                held[node][codes == code] = of_child[there == code]
                held[node][codes < 0] += shares[child] * of_child[there < 0]
        return held[0], divided

    def pruned(self, leaves: NDArray[np.bool_]) -> DiscreteTree:
        """Return the tree in which every marked node is a leaf. leaves : (n_nodes,) bool."""
        order, first = [0], []
        for old in order:  # grows during the iteration: level by level
            inner = self.feature[old] >= 0 and not leaves[old]
            first.append(len(order) if inner else -1)
            if inner:
                order.extend(range(self.children(old).start, self.children(old).stop))
        nodes, first_child = np.array(order), np.array(first)
        feature = np.where(first_child >= 0, self.feature[nodes], -1)
        return DiscreteTree(self.domain, feature, first_child, self.values[nodes], self.labels[nodes])

    def merged(self) -> DiscreteTree:
        """Return the tree without splits whose leaves all have the same label: equal labels, fewer nodes."""
        single = np.ones(self.n_nodes, dtype=bool)
        label = self.labels.copy()
        for node in np.flatnonzero(~self.is_leaf)[::-1]:
            below = self.children(node)
            single[node] = single[below].all() and len(np.unique(label[below])) == 1
            label[node] = label[below.start]
        labels = np.where(single, label, self.labels)
        return DiscreteTree(self.domain, self.feature, self.first_child, self.values, labels).pruned(single)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data for JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("feature", "first_child", "values", "labels")}
        return {"schema": SCHEMA, "cardinalities": list(self.domain.cardinalities), **arrays}


def _frozen(values: Any, dtype: Any) -> NDArray[Any]:
    out = np.array(values, dtype=dtype)
    out.flags.writeable = False
    return out


def indicators(labels: NDArray[np.integer], n_classes: int) -> NDArray[np.float64]:
    """Return the indicators of class codes (n,), (n, K): one for two classes, else one per class."""
    if n_classes <= 2:
        return np.asarray(labels == 1, dtype=np.float64)[:, None]
    return np.asarray(np.eye(n_classes)[labels])


def counted_labels(tree: DiscreteTree, codes: Ints) -> Ints:
    """Return the class codes that a C4.5 tree predicts, (n,). codes : (n, p), -1 for unknown"""
    if (codes >= 0).all():
        return np.asarray(tree.labels[tree.apply(codes)])
    labels = tree.labels[tree.apply(np.maximum(codes, 0))]
    means, divided = tree.means(codes, class_shares(tree), tree.branch_shares(tree.values.sum(axis=1)))
    return np.where(divided, np.argmax(means, axis=1), labels)


def class_shares(tree: DiscreteTree) -> NDArray[np.float64]:
    """Return the class shares of the nodes of a C4.5 tree, (n_nodes, C); without training rows 1 for the label."""
    counts = tree.values
    empty = counts.sum(axis=1) == 0
    held = np.where(empty[:, None], np.eye(counts.shape[1])[tree.labels], counts)
    return np.asarray(held / held.sum(axis=1, keepdims=True))


class DiscreteTreeBuilder:
    """Appends nodes in any order; `finish` numbers them level by level and freezes."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._values: list[Any] = []
        self._labels: list[int] = []
        self._splits: dict[int, tuple[int, Sequence[int]]] = {}

    def __len__(self) -> int:
        return len(self._labels)

    def add(self, values: Any, label: int) -> int:
        """Append a leaf and return its id."""
        self._values.append(values)
        self._labels.append(label)
        return len(self._labels) - 1

    def split(self, node: int, feature: int, children: Sequence[int]) -> None:
        """Make `node` internal: `children` are for the values of `feature`, in order."""
        self._splits[node] = (feature, children)

    def finish(self, root: int = 0) -> DiscreteTree:
        """Return the tree below `root`."""
        order, feature, first = [root], [], []
        for old in order:  # grows during the iteration
            k, children = self._splits.get(old, (-1, ()))
            feature.append(k)
            first.append(len(order) if k >= 0 else -1)
            order.extend(children)
        values = np.array([self._values[i] for i in order], dtype=np.float64)
        return DiscreteTree(self.domain, np.array(feature), np.array(first), values, [self._labels[i] for i in order])


def describe(
    tree: DiscreteTree,
    feature_names: Sequence[str],
    value_names: Sequence[Sequence[str]],
    class_names: Sequence[str],
    precision: int = 3,
) -> str:
    """Return the rules of a tree, one line per branch; a leaf shows its class and its values: F8 = 0: 0  (24, 3)."""
    texts, _ = node_texts(tree, feature_names, value_names, class_names, precision)
    lines = []
    stack: list[tuple[int, int, str]] = [(0, -1, "")]  # node, level, text of the branch to it
    while stack:
        node, level, condition = stack.pop()
        inner = tree.feature[node] >= 0
        if condition or not inner:
            text = condition + (":" if condition else "")
            lines.append("    " * max(level, 0) + (text if inner else f"{text} {texts[node]}".strip()))
        if inner:
            below, k = tree.children(node), int(tree.feature[node])
            names = [f"{feature_names[k]} {name}" for name in value_names[k]]
            stack += [(below.start + v, level + 1, names[v]) for v in reversed(range(below.stop - below.start))]
    return "\n".join(map(printable, lines)) + "\n"


def node_texts(
    tree: DiscreteTree,
    feature_names: Sequence[str],
    value_names: Sequence[Sequence[str]],
    class_names: Sequence[str],
    precision: int = 3,
) -> tuple[list[str], list[str]]:
    """Return the text of each node, its feature or its class with its values, and the value that leads to it."""
    texts, ways = [], [""] * tree.n_nodes
    for node in range(tree.n_nodes):
        if tree.feature[node] < 0:
            held = ", ".join(f"{value:.{precision}g}" for value in tree.values[node])
            texts.append(f"{class_names[tree.labels[node]]}  ({held})")
            continue
        feature = int(tree.feature[node])
        below = tree.children(node)
        ways[below] = [str(name) for name in value_names[feature]]
        texts.append(feature_names[feature])
    return texts, ways
