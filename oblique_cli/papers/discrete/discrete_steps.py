"""Trees over discrete features as plain steps: every multiway branch becomes binary comparisons.

A node of m branches becomes m - 1 comparisons of a code, which halve its range. Where codes are bins, this compares
the number with an end of a bin; where they are values, the number is coded first (`Coded`), because a number that
training did not have takes the most frequent code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oblique_cli.models.model import Model
from oblique_cli.models.procedure import CLIPPED, MAJORITY, Cell, Classes, Coded, Leaf, Procedure, Split, Steps, Term
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree, indicators
from oblique_cli.papers.discrete.tcfs import ClassShares, label_of


def procedure(model: Model, cells: Sequence[Cell], columns: Sequence[tuple[int, int]], classes: Classes) -> Procedure:
    """Return the steps of a fitted classifier. columns : cell and level of each column; classes : those of the fit"""
    state, n = model.fitted.state, len(classes.known)
    takes_missing = model.parameters.get("missing") == "impute"
    coding = _Coding(state["columns_"], columns, len(cells), takes_missing)
    if "weights_" in state:  # orthogonal trees: a weighted sum of the values in their leaves
        labels = model.parameters.get("leaves") == "label"
        trees = []
        for place, (tree, weight) in enumerate(zip(state["trees_"], state["weights_"].tolist(), strict=True)):
            held = weight * (indicators(tree, n) if labels else tree.values)
            if n <= 2:  # one output for the second class; the first class has the complement
                held = np.hstack([(place == 0) - held, held])[:, :n]
            trees.append(_steps(tree, coding, [Leaf(shares=classes.spread(shares)) for shares in held]))
        even = classes.spread([1.0 / n] * n)
        return Procedure(tuple(cells), tuple(trees), model.classes, CLIPPED, coded=coding.coded, even=even)
    if "tree_" not in state:
        leaves = [
            [Leaf(classes.known[k], classes.spread(np.eye(n)[k])) for k in tree.labels] for tree in state["trees_"]
        ]
        steps = tuple(_steps(tree, coding, answers) for tree, answers in zip(state["trees_"], leaves, strict=True))
        return Procedure(tuple(cells), steps, model.classes, MAJORITY, coded=coding.coded)
    tree = state["tree_"]
    if "spectrum_" in state:  # of an aggregated tree, whose leaves hold averages
        shares = ClassShares(n)(tree.values)
        answers = [Leaf(classes.known[label_of(share)], classes.spread(share)) for share in shares]
    else:
        answers = [_counted(tree, node, classes) for node in range(tree.n_nodes)]
    return Procedure(tuple(cells), (_steps(tree, coding, answers),), model.classes, coded=coding.coded)


def _counted(tree: DiscreteTree, node: int, classes: Classes) -> Leaf:
    """Return a leaf of weights of training rows; a leaf without weights predicts its label."""
    counts, label = tree.values[node], int(tree.labels[node])
    total = counts.sum()
    shares = counts / total if total > 0 else np.eye(len(classes.known))[label]
    return Leaf(classes.known[label], classes.spread(shares), classes.spread(counts), round(float(total)))


class _Coding:
    """The names of comparisons of codes, and the columns of codes that they need."""

    def __init__(self, coded: Any, columns: Sequence[tuple[int, int]], n_cells: int, takes_missing: bool) -> None:
        self.columns, self.takes_missing, self.n_cells = coded, takes_missing, n_cells
        self.terms = [Term(1.0, *place) for place in columns]
        self.places: dict[int, int] = {}

    @property
    def coded(self) -> tuple[Coded, ...]:
        """The columns of codes, in the order of their first use."""
        columns = []
        for j in self.places:
            column = self.columns[j]
            values = tuple(column.levels.tolist())
            columns.append(Coded(self.terms[j], values, int(column.usual), self.takes_missing))
        return tuple(columns)

    def at_most(self, j: int, code: int) -> Split:
        """Return the split that sends codes of feature j up to `code` to the left."""
        column = self.columns[j]
        if len(column.levels):
            place = self.places.setdefault(j, len(self.places))
            return Split(((Term(1.0, self.n_cells + place),),), code + 0.5)
        side = int(column.usual) <= code if self.takes_missing else None
        return Split(((self.terms[j],),), float(column.cuts[code]), side)


def _steps(tree: DiscreteTree, coding: _Coding, leaves: Sequence[Leaf]) -> Steps:
    left: list[int] = [-1]
    right: list[int] = [-1]
    splits: list[Split | None] = [None]
    numbers = [0]
    stack = [(0, 0, 1)]  # a node, and the nodes of the tree that it replaces: a single one, or some branches of a node
    while stack:
        at, first, end = stack.pop()
        node = first
        if end - first == 1:
            numbers[at] = node
            if tree.feature[node] < 0:
                continue
            below = tree.children(node)
            first, end = below.start, below.stop
            if end - first == 1:
                stack.append((at, first, end))
                continue
        parent = int(tree.parents[first])
        numbers[at] = parent
        middle = (first + end) // 2
        splits[at] = coding.at_most(int(tree.feature[parent]), middle - 1 - int(tree.first_child[parent]))
        left[at], right[at] = len(left), len(left) + 1
        for each in (left, right):
            each += [-1, -1]
        splits += [None, None]
        numbers += [-1, -1]
        stack += [(right[at], middle, end), (left[at], first, middle)]
    answers = tuple(leaves[number] for number in numbers)
    return Steps(tuple(left), tuple(right), tuple(splits), answers, numbers=tuple(numbers))
