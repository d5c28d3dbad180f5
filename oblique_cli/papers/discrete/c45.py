"""C4.5-style trees over discrete features: gain ratio, a branch for every value, pessimistic pruning.

Quinlan (1993), C4.5: Programs for Machine Learning, for discrete features. A row with an unknown value (code -1) of the
feature of a split goes down all branches, its weight divided as the weight of the other rows (chapter 3 of the book):
the gain counts known values only, times their share of the weight, and unknown values are one more branch of the split
information. Where the book leaves a choice, this module follows the widely used free implementation (J48): a test needs
a gain of at least the average gain less 0.001, and a subtree is replaced unless its estimated number of errors is lower
by at least 0.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Boolean, Choice, Integer, Optional, Real, rows_of
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree
from oblique_cli.papers.discrete.domain import Domain, Ints
from oblique_cli.parameters import Declared, parameter

TIE = 1e-9  # scores closer than this are equal, and the first feature wins
SLACK = 0.1  # a pruned tree may have this many more estimated errors


class Growth(Declared):
    """Parameters of growth and pruning of a C4.5-style tree."""

    criterion: str = parameter(
        default="gain_ratio",
        allowed=Choice(("gain_ratio", "gain")),
        help="Information gain over the entropy of the branches' sizes, or information gain alone.",
    )
    min_samples_leaf: float = parameter(
        default=2.0,
        allowed=Real(0.0, open_low=True),
        also="min_cases",
        help="Least number of rows, or their weight, of at least two branches of a test (C4.5's m); below 1 a share "
        "of the rows that the tree is grown on, rounded up.",
    )
    max_depth: int | None = parameter(
        default=None, allowed=Optional(Integer(0)), help="Longest path from the root to a leaf; None for no limit."
    )
    pruning: str = parameter(
        default="pessimistic",
        allowed=Choice(("pessimistic", "none")),
        help='"pessimistic" replaces a subtree where the upper limit of a leaf\'s error rate is no worse, by the leaf '
        'or by a branch; "none" keeps the tree as grown.',
    )
    confidence: float = parameter(
        default=0.25,
        allowed=Real(0.0, 0.5, open_low=True),
        help="Confidence of the upper limit that replaces an error rate (CF); lower prunes more.",
    )
    subtree_raising: bool = parameter(
        default=True, allowed=Boolean(), help="Whether pruning may replace a subtree by its largest branch."
    )


class C45(Growth, BaseEstimator):
    """How a tree is grown and pruned, as an object with scikit-learn's parameters."""

    max_features: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1)),
        help="Features drawn at random at each node, as in a random forest; None for all.",
    )

    def grow(self, rows: Rows, rng: np.random.Generator | None = None) -> DiscreteTree:
        """Return the tree of rows. rng : draws the features of each node if `max_features` is set

        A leaf without rows has the label of its parent. On equal counts the lowest class code wins.
        """
        root = self._grow(rows, np.flatnonzero(rows.class_weights.any(axis=1)), rng)
        if self.pruning == "pessimistic":
            for node in _postorder(root):  # a leaf where the subtree has no fewer errors on its rows
                if node.children and node.errors <= _total(leaf.errors for leaf in node.leaves()) + 1e-3:
                    node.close()
            root = self._prune(root, rows)
        return _finished(root, rows.domain)

    def _grow(self, rows: Rows, everything: Ints, rng: np.random.Generator | None) -> _Node:
        root = _Node(everything, None, rows.counts(everything))
        least = rows_of(self.min_samples_leaf, float(root.counts.sum()))
        stack = [(root, 0, np.ones(rows.domain.n_features, dtype=bool))]
        while stack:
            node, depth, free = stack.pop()
            if self.max_depth is not None and depth >= self.max_depth:
                continue
            feature = self._best(node, rows, free, rng, least)
            if feature is None:
                continue
            node.split(feature, rows)
            left = free.copy()
            left[feature] = False
            stack.extend((child, depth + 1, left) for child in reversed(node.children))
        return root

    def _best(
        self, node: _Node, rows: Rows, free: NDArray[np.bool_], rng: np.random.Generator | None, least: float
    ) -> int | None:
        """Return the feature to split a node on, None for a leaf."""
        total = float(node.counts.sum())
        if total < 2 * least or np.count_nonzero(node.counts) < 2:
            return None
        allowed = free & (rows.domain.lambdas > 1)
        if self.max_features is not None and rng is not None:
            # Features are drawn until one of them can split, as in random trees; a node that no feature can split is a
            # leaf.
            drawn = rng.permutation(np.flatnonzero(allowed))
            for start in range(0, len(drawn), self.max_features):
                only = np.zeros_like(allowed)
                only[drawn[start : start + self.max_features]] = True
                best = self._best_of(node, rows, only, total, least)
                if best is not None:
                    return best
            return None
        return self._best_of(node, rows, allowed, total, least)

    def _best_of(self, node: _Node, rows: Rows, allowed: NDArray[np.bool_], total: float, least: float) -> int | None:
        score = self._scores(node, rows, allowed, total, least)
        return int(np.argmax(score >= score.max() - TIE)) if score.max() > -np.inf else None

    def _scores(self, node: _Node, rows: Rows, allowed: NDArray[np.bool_], total: float, least: float) -> Array:
        """Return the score of a split on each feature, minus infinity if it is not allowed, (n_features,)."""
        table = rows.tables(node.rows, node.shares)  # (all values of all features, classes)
        sizes = table.sum(axis=1)
        starts = rows.starts
        big = np.add.reduceat((sizes >= least - 1e-9).astype(np.int64), starts)
        after = np.add.reduceat(_bits(table, sizes), starts)
        known = np.add.reduceat(table, starts, axis=0) if rows.has_gaps else node.counts[None]
        known_total = known.sum(axis=1)
        gain = (_bits(known, known_total) - after) / total
        possible = allowed & (big >= 2) & (gain > TIE)
        score = gain
        if possible.any() and self.criterion == "gain_ratio":
            possible &= gain >= gain[possible].mean() - 1e-3
            shares = sizes / total
            information = -np.add.reduceat(shares * np.log2(np.where(shares > 0, shares, 1.0)), starts)
            unknown = np.maximum(total - known_total, 0.0) / total if rows.has_gaps else np.zeros(1)
            information -= unknown * np.log2(np.where(unknown > 0, unknown, 1.0))
            possible &= information > TIE
            score = np.where(possible, gain / np.where(information > 0, information, 1.0), 0.0)
        return np.where(possible, score, -np.inf)

    def _prune(self, root: _Node, rows: Rows) -> _Node:
        todo = _postorder(root)[::-1]
        while todo:
            node = todo.pop()
            if not node.children:
                continue
            as_leaf = self._estimate(node.counts)
            as_tree = _total(self._estimate(leaf.counts) for leaf in node.leaves())
            largest = max(node.children, key=lambda child: float(child.counts.sum()))
            as_branch = self._raised_estimate(largest, node, rows) if self.subtree_raising else math.inf
            if as_leaf <= as_tree + SLACK and as_leaf <= as_branch + SLACK:
                node.close()
            elif as_branch <= as_tree + SLACK:
                node.feature, node.children = largest.feature, largest.children
                node.distribute(rows)
                # The branch now has other rows than those of its pruning, so it is pruned again.
                todo.extend(reversed(_postorder(node)))
        return root

    def _raised_estimate(self, branch: _Node, parent: _Node, rows: Rows) -> float:
        """Estimate the errors of a branch if all rows of its parent went to it."""
        total, stack = 0.0, [(branch, parent.rows, parent.shares)]
        while stack:
            node, here, shares = stack.pop()
            if node.children:
                parts = rows.parts(here, shares, node.feature)
                stack.extend((child, *part) for child, part in zip(node.children, parts, strict=True))
            else:
                total += self._estimate(rows.counts(here, shares))
        return total

    def _estimate(self, counts: Array) -> float:
        """Return the errors of a leaf plus the pessimistic correction of C4.5."""
        total = float(counts.sum())
        errors = total - float(counts.max())
        return errors + added_errors(total, errors, self.confidence) if total > 0 else 0.0


def _total(numbers: Iterable[float]) -> float:
    """Return the sum, added up from the first number on; from Python 3.12 on `sum` rounds differently."""
    return reduce(add, numbers, 0.0)


def added_errors(total: float, errors: float, confidence: float) -> float:
    """Return the correction of C4.5 to the errors among `total` cases: the sum is their upper limit at `confidence`. By
    hand: no error among 6 cases at 25 % gives 6 (1 - 0.25^(1/6)) = 1.238."""
    if errors < 1.0:
        base: float = total * (1.0 - confidence ** (1.0 / total))
        return base if errors <= 0.0 else base + errors * (added_errors(total, 1.0, confidence) - base)
    if errors + 0.5 >= total:
        return max(total - errors, 0.0)
    z = NormalDist().inv_cdf(1.0 - confidence)
    f = (errors + 0.5) / total
    spread = z * math.sqrt(f / total - f * f / total + z * z / (4.0 * total * total))
    return (f + z * z / (2.0 * total) + spread) / (1.0 + z * z / total) * total - errors


def _bits(table: Array, sizes: Array) -> Array:
    """Return weight times entropy of each row of a table of class weights."""
    shares = table / np.where(sizes > 0, sizes, 1.0)[:, None]
    bits: Array = -(table * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    return bits


@dataclass(frozen=True)
class Rows:
    """Training rows with an indicator for each value of each feature, so that a matrix product counts values."""

    codes: Ints
    class_weights: Array  # (n, n_classes): a row's weight in the column of its class
    indicators: Array
    starts: Ints  # first indicator of each feature
    domain: Domain
    has_gaps: bool = False  # whether a code is unknown

    @classmethod
    def of(cls, codes: NDArray[np.integer], y: NDArray[np.integer], n_classes: int, domain: Domain) -> Rows:
        """Return rows of weight 1. codes : (n, n_features) in the domain, -1 if unknown; y : (n,) class codes."""
        gone = np.asarray(codes) == -1
        rows = domain.check(np.where(gone, 0, codes))
        starts = np.concatenate([[0], np.cumsum(domain.lambdas)[:-1]])
        indicators = np.zeros((len(rows), int(domain.lambdas.sum())))
        indicators[np.arange(len(rows))[:, None], starts + rows] = ~gone
        class_weights = np.zeros((len(rows), n_classes))
        class_weights[np.arange(len(rows)), y] = 1.0
        return cls(np.where(gone, -1, rows), class_weights, indicators, starts, domain, bool(gone.any()))

    def weighted(self, weights: Array) -> Rows:
        """Return the same rows with other weights, (n,) non-negative."""
        return replace(self, class_weights=(self.class_weights > 0) * np.asarray(weights, dtype=np.float64)[:, None])

    def weights(self, at: Ints, shares: Array | None = None) -> Array:
        """Return the class weights of the rows `at`, (n, n_classes). shares : (n,) of their weights; None for all"""
        return self.class_weights[at] if shares is None else self.class_weights[at] * shares[:, None]

    def counts(self, at: Ints, shares: Array | None = None) -> Array:
        """Return the class weights of some rows together, (n_classes,)."""
        return np.asarray(self.weights(at, shares).sum(axis=0))

    def tables(self, at: Ints, shares: Array | None = None) -> Array:
        """Return the class weights of each value of each feature, (all values, n_classes)."""
        return np.asarray(self.indicators[at].T @ self.weights(at, shares))

    def parts(self, at: Ints, shares: Array | None, feature: int) -> list[tuple[Ints, Array | None]]:
        """Return rows and their shares for each value of a feature; rows of unknown value are in all parts."""
        column, n_values = self.codes[at, feature], self.domain.cardinalities[feature]
        gone = column < 0
        if not gone.any():
            masks = [column == v for v in range(n_values)]
            return [(at[mask], None if shares is None else shares[mask]) for mask in masks]
        held = np.ones(len(at)) if shares is None else shares
        sizes = np.bincount(column[~gone], self.weights(at, held)[~gone].sum(axis=1), minlength=n_values)
        fractions = sizes / sizes.sum() if sizes.sum() > 0 else np.full(n_values, 1.0 / n_values)
        masks = [(column == v) | (gone & (fractions[v] > 0)) for v in range(n_values)]
        return [
            (at[mask], held[mask] * np.where(gone[mask], fraction, 1.0))
            for mask, fraction in zip(masks, fractions, strict=True)
        ]


@dataclass
class _Node:
    rows: Ints
    shares: Array | None  # of the weights of the rows, (n,); None for all
    counts: Array
    feature: int = -1
    children: list[_Node] = field(default_factory=list)

    @property
    def errors(self) -> float:
        return float(self.counts.sum() - self.counts.max())

    def split(self, feature: int, rows: Rows) -> None:
        parts = rows.parts(self.rows, self.shares, feature)
        self.feature, self.children = feature, [_Node(*part, rows.counts(*part)) for part in parts]

    def close(self) -> None:
        self.feature, self.children = -1, []

    def distribute(self, rows: Rows) -> None:
        """Send the rows of this node through the splits below it."""
        for node in reversed(_postorder(self)):
            if node.children:
                parts = rows.parts(node.rows, node.shares, node.feature)
                for child, part in zip(node.children, parts, strict=True):
                    child.rows, child.shares = part
                    child.counts = rows.counts(*part)

    def leaves(self) -> list[_Node]:
        return [node for node in reversed(_postorder(self)) if not node.children]


def _postorder(root: _Node) -> list[_Node]:
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.children)
    return order[::-1]


def _finished(root: _Node, domain: Domain) -> DiscreteTree:
    order, labels, first = [root], [int(np.argmax(root.counts))], []
    for node, label in zip(order, labels, strict=True):  # both grow during the iteration: level by level
        first.append(len(order) if node.children else -1)
        order += node.children
        labels += [int(np.argmax(child.counts)) if child.counts.sum() > 0 else label for child in node.children]
    feature = np.array([node.feature for node in order])
    return DiscreteTree(domain, feature, np.array(first), np.array([node.counts for node in order]), labels)
