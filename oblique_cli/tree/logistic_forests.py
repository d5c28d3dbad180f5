"""Bags of logistic model trees whose common settings are chosen on out-of-bag rows.

Every tree is grown on a bootstrap sample; its nodes get models as in `tree.logistic_trees`, each starting from its
parent's. A single logistic model tree chooses its size and ridge penalty by cross-validation. A forest needs none: each
tree has out-of-bag rows. One ridge penalty, one complexity and one kind of models are chosen for all trees, by the loss
of their mean probabilities on out-of-bag rows. So trees may be larger, and their models less penalized,
than the best single tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array, Ints
from oblique_cli.tree.logistic_trees import LEAST_SHARE, How, ModelRows, NodeModels, collapses
from oblique_cli.tree.payloads import softmax
from oblique_cli.tree.structure import Tree

# Candidate complexities, as shares of a tree's training weight: the error reduction that one more leaf must give.
COMPLEXITIES = (0.0, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, np.inf)
# Trees take part in the choice until they have about this many out-of-bag rows, so that the choice is stable.
ENOUGH_ROWS, FEWEST_TREES = 20_000, 10


class Member(NamedTuple):
    """Tree as grown.
    drawn : (m,) numbers of the training rows it drew; counts : (m,) weight of each; left_out : numbers of the other
    rows of positive weight"""

    tree: Tree
    drawn: NDArray[np.intp]
    counts: Array
    left_out: NDArray[np.intp]


@dataclass(frozen=True)
class Rows:
    """Training rows. X : (n, p); codes : (n,) below n_classes; weights : (n,) positive, or None"""

    X: Array
    codes: Ints
    n_classes: int
    weights: Array | None

    def of(self, member: Member) -> ModelRows:
        """Return the rows that a tree drew, in the form of its models."""
        drawn = member.drawn
        return ModelRows(np.ascontiguousarray(self.X[drawn]), self.codes[drawn], self.n_classes, member.counts)


@dataclass(frozen=True)
class ForestChoice:
    """Settings common to all trees.
    how : of their models; complexity : at which they are cut; loss : misclassified share and weighted log loss of their
    mean on out-of-bag rows, NaN without such rows; tried : how -> loss at each of the complexities"""

    how: How
    complexity: float
    loss: float
    tried: dict[How, Array]


def trees_that_choose(n: int, n_trees: int) -> int:
    """Return the number of trees that take part in the choice. n : training rows"""
    return min(n_trees, max(FEWEST_TREES, -(-ENOUGH_ROWS // n)))


def choose_forest(
    members: Sequence[Member],
    rows: Rows,
    hows: Sequence[Sequence[How]],
    complexities: Sequence[float],
    log_loss_weight: float,
    each: Callable[[Callable[[int], Array], int], Sequence[Array]],
) -> ForestChoice:
    """Return the common choice of least loss on out-of-bag rows, the first of equals.
    hows : paths of ridge penalties by kind of models, tried from the middle in both directions while the loss falls;
    each : runs a function for every number below a limit, with threads or without"""
    of_trees = [rows.of(member) for member in members]
    near: list[NodeModels | None] = [None] * len(members)
    times = np.zeros(len(rows.X))
    for member in members:
        times[member.left_out] += 1.0
    known = times > 0.0
    codes = rows.codes[known]
    weights = np.ones(len(codes)) if rows.weights is None else rows.weights[known]
    tried: dict[How, Array] = {}

    def of_tree(how: How) -> Callable[[int], Array]:
        def shares(i: int) -> Array:
            models = near[i] = NodeModels(members[i].tree, of_trees[i], how, near=near[i])
            return shares_when_cut(models, rows.X[members[i].left_out], complexities)

        return shares

    def loss(how: How) -> float:
        if how not in tried:
            sums = np.zeros((len(complexities), len(rows.X), rows.n_classes))
            for member, shares in zip(members, each(of_tree(how), len(members)), strict=True):
                sums[:, member.left_out] += shares
            mean = sums[:, known] / times[known, None]
            true_shares = np.maximum(mean[:, np.arange(len(codes)), codes], LEAST_SHARE)
            wrong = (mean.argmax(axis=2) != codes) - log_loss_weight * np.log(true_shares)
            tried[how] = np.asarray(wrong @ weights / weights.sum())
        return float(tried[how].min())

    if not known.any():  # a single row, or every tree drew all rows
        return ForestChoice(hows[0][len(hows[0]) // 2], complexities[-1], np.nan, {})
    place = len(hows[0]) // 2
    for path in hows:
        for step in (-1, 1):
            while 0 <= place + step < len(path) and loss(path[place + step]) < loss(path[place]):
                place += step
        loss(path[place])
    how = min(tried, key=loss)
    k = int(tried[how].argmin())
    return ForestChoice(how, complexities[k], float(tried[how][k]), tried)


def shares_when_cut(models: NodeModels, X: Array, complexities: Sequence[float]) -> Array:
    """Return the probabilities of a tree cut at each of several complexities, (complexities, n, C). X : (n, p)"""
    tree = models.tree
    alone, _ = collapses(tree, models.path)
    parents = tree.parents
    columns = models.rows.columns(models.how.terms, np.ascontiguousarray(X))
    leaves = tree.apply(np.ascontiguousarray(X))
    scores = np.empty((len(complexities), len(X), models.rows.n_classes))
    for k, complexity in enumerate(complexities):
        stops = np.arange(tree.n_nodes)
        for node in range(1, tree.n_nodes):  # parents come before their children
            above = stops[parents[node]]
            if alone[above] <= complexity:
                stops[node] = above
        ends = stops[leaves]
        for end in np.unique(ends):
            here = ends == end
            model = models.models[end]
            scores[k, here] = columns[here] @ model[:, :-1].T + model[:, -1]
    return np.asarray(softmax(scores))


def finished(member: Member, rows: Rows, choice: ForestChoice) -> Tree:
    """Return a tree of the forest, cut at the common complexity, with the models of its leaves."""
    of_tree = rows.of(member)
    path = NodeModels(member.tree, of_tree, choice.how).path
    tree = path.member(member.tree, int(np.searchsorted(path.alphas, choice.complexity, side="right")) - 1)
    return NodeModels(tree, of_tree, choice.how, 1e-6).with_models()
