"""Trees over discrete features as plain steps: every multiway branch becomes binary comparisons.

A node of m branches becomes m - 1 comparisons of a code, which halve its range. If codes are bins, the number is
compared with an end of a bin. If codes are values, the number is coded first (`Coded`), because a number not seen in
training gets the most frequent code. If such a row goes down all branches instead, the code after the last has a
separate branch, which combines the trees below.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Array
from oblique_cli.models.model import Model
from oblique_cli.models.procedure import (
    CLIPPED,
    MAJORITY,
    Cell,
    Classes,
    Coded,
    Leaf,
    Procedure,
    Split,
    Steps,
    Term,
    codes_of_scores,
)
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree, class_shares, indicators
from oblique_cli.papers.discrete.tcfs import ClassShares, label_of

MOST_NODES = 20_000  # of all trees, with branches for unknown levels


@dataclass(frozen=True)
class _Mixture:
    """The place of a row with an unknown code of `feature`: all branches of a node, each with its share of the row."""

    feature: int
    branches: tuple[tuple[float, _Place], ...]


_Place = int | _Mixture  # a node of a tree, or several
_Answer = Callable[[_Place, Array], Leaf]  # of a place, and of its value: that of the node, or the mean of several


def procedure(model: Model, cells: Sequence[Cell], columns: Sequence[tuple[int, int]], classes: Classes) -> Procedure:
    """Return the steps of a fitted classifier. columns : cell and level of each column; classes : those of the fit.

    ConfigError if branches for levels that training did not have make the trees too large"""
    state, n = model.fitted.state, len(classes.known)
    missing = model.parameters.get("missing")
    spread: Mapping[Any, Container[int]] = {"error": state.get("levels_", {}), "shares": range(len(columns))}
    values_of = {j: tuple(map(float, codes)) for j, codes in codes_of_scores(model).items()}
    coding = _Coding(state["columns_"], values_of, columns, len(cells), missing == "impute", spread.get(missing, ()))
    is_function, shares = "energy_kept_" in state, ClassShares(n)
    trees = [state["tree_"]] if "tree_" in state else state["trees_"]

    def shares_of(place: _Place, value: Array) -> Leaf:
        share = shares(value)
        return Leaf(classes.known[label_of(share)], classes.spread(share.tolist()))

    steps: list[Steps] = []
    for place, tree in enumerate(trees):
        branch_shares = tree.branch_shares(tree.measures if is_function else tree.values.sum(axis=1))
        answer: _Answer = shares_of
        if "weights_" in state:  # orthogonal trees: a weighted sum of the values in their leaves
            labels = model.parameters.get("leaves") == "label"
            values = state["weights_"].tolist()[place] * (indicators(tree.labels, n) if labels else tree.values)
            if n <= 2:  # one output for the second class; the first class has the complement
                values = np.hstack([(place == 0) - values, values])[:, :n]
            answer = _summand(classes)
        elif is_function:
            values = tree.values
            answer = shares_of if "tree_" in state else _vote(tree, classes, lambda value: label_of(shares(value)))
        else:
            values = class_shares(tree)
            answer = _counted(tree, classes) if "tree_" in state else _vote(tree, classes, _first_largest)
        room = MOST_NODES - sum(earlier.n_nodes for earlier in steps)
        steps.append(_steps(tree, coding, branch_shares, _at(values, answer), room))
    if "weights_" in state:
        even = classes.spread([1.0 / n] * n)
        return Procedure(tuple(cells), tuple(steps), model.classes, CLIPPED, coded=coding.coded, even=even)
    voting = None if "tree_" in state else MAJORITY
    return Procedure(tuple(cells), tuple(steps), model.classes, voting, coded=coding.coded)


def _at(values: Array, answer: _Answer) -> Callable[[_Place], Leaf]:
    return lambda place: answer(place, _value(place, values))


def _first_largest(value: Array) -> int:
    return int(np.argmax(value))


def _summand(classes: Classes) -> _Answer:
    return lambda place, value: Leaf(shares=classes.spread(value.tolist()))


def _vote(tree: DiscreteTree, classes: Classes, label: Callable[[Array], int]) -> _Answer:
    def leaf(place: _Place, value: Array) -> Leaf:
        k = int(tree.labels[place]) if isinstance(place, int) else label(value)
        return Leaf(classes.known[k], classes.spread(np.eye(len(classes.known))[k].tolist()))

    return leaf


def _counted(tree: DiscreteTree, classes: Classes) -> _Answer:
    """Return leaves of weights of training rows; a leaf without weights predicts its label."""

    def leaf(place: _Place, value: Array) -> Leaf:
        if not isinstance(place, int):
            return Leaf(classes.known[_first_largest(value)], classes.spread(value.tolist()))
        counts, label = tree.values[place], int(tree.labels[place])
        return Leaf(
            classes.known[label],
            classes.spread(value.tolist()),
            classes.spread(counts.tolist()),
            round(float(counts.sum())),
        )

    return leaf


def _value(place: _Place, values: Array) -> Array:
    """Return the value of a place. values : (n_nodes, K); returns (K,)"""
    if isinstance(place, int):
        return np.asarray(values[place])
    total = np.zeros(values.shape[1])
    for share, branch in place.branches:  # in the order of `DiscreteTree.means`, so that sums are equal to the bit
        total += share * _value(branch, values)
    return total


class _Coding:
    """The names of comparisons of codes, and the columns of codes that they need.

    words : codes in the cells, by column of levels; takes_missing : whether missing values have the most frequent code
    spread : columns whose unknown values have the code after the last
    """

    def __init__(
        self,
        coded: Any,
        words: Mapping[int, tuple[float, ...]],
        columns: Sequence[tuple[int, int]],
        n_cells: int,
        takes_missing: bool,
        spread: Container[int],
    ) -> None:
        self.columns, self.words, self.n_cells = coded, words, n_cells
        self.takes_missing, self.spread = takes_missing, spread
        self.terms = [Term(1.0, *place) for place in columns]
        self.places: dict[int, int] = {}

    @property
    def coded(self) -> tuple[Coded, ...]:
        """The columns of codes, in the order of their first use."""
        columns = []
        for j in self.places:
            column = self.columns[j]
            values = self.words.get(j) or tuple(column.levels.tolist())
            other = len(values) if self.has_other(j) else int(column.usual)
            columns.append(Coded(self.terms[j], values, other, self.takes_missing or self.has_other(j)))
        return tuple(columns)

    def has_other(self, j: int) -> bool:
        """Return whether unknown values of column j have a code."""
        return j in self.spread and len(self.columns[j].levels) > 0

    def at_most(self, j: int, code: int) -> Split:
        """Return the split that sends codes of feature j up to `code` to the left."""
        column = self.columns[j]
        if len(column.levels):
            place = self.places.setdefault(j, len(self.places))
            return Split(((Term(1.0, self.n_cells + place),),), code + 0.5)
        side = int(column.usual) <= code if self.takes_missing else None
        return Split(((self.terms[j],),), float(column.cuts[code]), side)


def _steps(
    tree: DiscreteTree, coding: _Coding, shares: Array, answer: Callable[[_Place], Leaf], most_nodes: int
) -> Steps:
    """Return a tree as steps; ConfigError for more than `most_nodes` nodes. shares : (n_nodes,) of `branch_shares`"""

    def below(place: _Place, codes: Mapping[int, int]) -> _Place:
        """Return where a row with known codes of some features is."""
        if not isinstance(place, int):
            return _Mixture(place.feature, tuple((share, below(branch, codes)) for share, branch in place.branches))
        feature = int(tree.feature[place])
        if feature not in codes:
            return place
        children = range(tree.n_nodes)[tree.children(place)]
        if codes[feature] < len(children):
            return below(children[codes[feature]], codes)
        return _Mixture(feature, tuple((float(shares[child]), below(child, codes)) for child in children))

    left: list[int] = [-1]
    right: list[int] = [-1]
    splits: list[Split | None] = [None]
    leaves: list[Leaf | None] = [None]
    numbers = [0]
    # A step, its place, the known codes on the path, and the feature and range of codes between which it decides.
    stack: list[tuple[int, _Place, dict[int, int], int, int, int]] = [(0, 0, {}, -1, 0, 0)]
    while stack:
        at, place, codes, feature, first, end = stack.pop()
        if end - first == 1:
            codes = {**codes, feature: first}
            place, feature = below(place, codes), -1
        if feature < 0:
            feature = _next_feature(tree, place)
            first, end = 0, tree.domain.cardinalities[feature] + coding.has_other(feature) if feature >= 0 else 0
        leaves[at], numbers[at] = answer(place), _number(place, coding.columns)
        if feature < 0:
            continue
        if end - first == 1:
            stack.append((at, place, codes, feature, first, end))
            continue
        middle = (first + end) // 2
        splits[at] = coding.at_most(feature, middle - 1)
        left[at], right[at] = len(left), len(left) + 1
        if len(left) + 2 > most_nodes and len(left) + 2 > 2 * tree.n_nodes:
            raise ConfigError(
                f"a level that training did not have goes down all branches, and the tree of all such ways has more "
                f"than {MOST_NODES:,} nodes, so the model can only predict; fit it with missing=impute, which takes "
                "the most frequent level instead."
            )
        for each in (left, right):
            each += [-1, -1]
        splits += [None, None]
        leaves += [None, None]
        numbers += [-1, -1]
        stack += [
            (right[at], place, codes, feature, middle, end),
            (left[at], place, codes, feature, first, middle),
        ]
    return Steps(tuple(left), tuple(right), tuple(splits), tuple(leaves), numbers=tuple(numbers))


def _next_feature(tree: DiscreteTree, place: _Place) -> int:
    """Return the feature of the first split of a place, -1 without one."""
    if isinstance(place, int):
        return int(tree.feature[place])
    features = (_next_feature(tree, branch) for _, branch in place.branches)
    return next((feature for feature in features if feature >= 0), -1)


def _number(place: _Place, columns: Any) -> int:
    """Return the node that `apply` gives: that of the most frequent code."""
    while not isinstance(place, int):
        place = place.branches[int(columns[place.feature].usual)][1]
    return place
