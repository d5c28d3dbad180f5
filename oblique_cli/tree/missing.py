"""Split of a node with missing values: the side of rows with missing values is learned with the hyperplane."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Mask
from oblique_cli.tree.splitting import PLAIN, Candidates, Finish, Node, Proposer, Split, best_split, search
from oblique_cli.tree.structure import EVERYTHING, lacking


class MissingDivision(NamedTuple):
    """Division of a node. goes_left : (n,) rows; missing_left : side of rows without a value the hyperplane uses."""

    split: Split
    goes_left: Mask
    missing_left: bool


def divide(node: Node, proposer: Proposer, min_leaf: float = 1.0, finish: Finish = PLAIN) -> MissingDivision | None:
    """Return the best division of a node, or None if there is no split. NaN in node.X is a missing value.

    Without NaN this is `best_split` refined by `finish`. With NaN the candidates are, in this order:

    1. The heuristic's split of the complete rows, using only features with some value at the node. Rows without a value
       of a feature it uses go left as a block, then right as a block; other rows go by their values.
    2. Only if there is none: for every feature the best axis-parallel cut of the rows that have a value, with the
       others left, then right.
    3. For every feature with missing and present values: rows with a value go left, the others right.

    The score over all rows decides; among equals, by the tie rule of every search, the first."""
    absent = np.isnan(node.X)
    if not absent.any():
        split = best_split(node, proposer, min_leaf, finish=finish)
        return None if split is None else _by_values(node, split)
    known = np.flatnonzero(~absent.all(axis=0))
    plane = _on_complete_rows(node, known, proposer, min_leaf, finish)
    alone = () if plane else (_on_complete_rows(node, np.array([j]), None, min_leaf) for j in known)
    options = [side for split in (plane, *alone) if split for side in _either_side(node, split)]
    for j in known[absent[:, known].any(axis=0)]:
        split = Split(np.eye(1, len(absent[0]), j)[0], EVERYTHING, 0.0, 0)
        options.append(MissingDivision(split, ~absent[:, j], missing_left=False))
    if not options:
        return None
    # Each option becomes a feature with two values, so that the exact search compares the options.
    right = np.column_stack([~option.goes_left for option in options]).astype(np.float64)
    best = search(replace(node, X=right), [Candidates.axes()], min_leaf)
    if best is None:
        return None
    chosen = options[best.order]
    return chosen._replace(split=chosen.split._replace(gain=best.gain))


def divide_drawn(node: Node, proposer: Proposer, min_leaf: float, finish: Finish, count: int) -> MissingDivision | None:
    """Return the division of a node as `divide` does, from `count` features that are drawn among those that vary at the
    node; from all features where these have no split, as in scikit-learn."""
    low, high = np.fmin.reduce(node.X), np.fmax.reduce(node.X)
    varied = np.flatnonzero((high > low) | (np.isnan(node.X).any(axis=0) & ~np.isnan(low)))
    chosen = np.sort(node.rng("features").permutation(varied)[:count])
    if len(chosen) == len(varied):
        return divide(node, proposer, min_leaf, finish)
    signs = None if node.signs is None else node.signs[chosen]
    part = replace(node, X=np.ascontiguousarray(node.X[:, chosen]), signs=signs)
    division = divide(part, proposer, min_leaf, finish)
    if division is None:
        return divide(node, proposer, min_leaf, finish)
    return division._replace(split=division.split.over(chosen, node.X.shape[1]))


def halved(node: Node, min_leaf: float) -> MissingDivision | None:
    """Return the division of a node at the middle of a feature, for a node that no split improves; None without any.

    Of the features, the one is taken whose halves the best axis-parallel cuts improve most, the first of equals."""
    weights = np.ones(len(node.X)) if node.weights is None else node.weights
    options = []
    for j, column in enumerate(node.X.T):
        known = ~np.isnan(column)
        values, place = np.unique(column[known], return_inverse=True)
        below = np.cumsum(np.bincount(place, weights[known], len(values)))
        allowed = (below >= min_leaf) & (below[-1:] - below >= min_leaf)
        if not allowed[:-1].any():
            continue
        k = int(np.argmin(np.where(allowed, np.abs(2 * below - below[-1]), np.inf)))
        middle = values[k] / 2 + values[k + 1] / 2
        threshold = middle if middle < values[k + 1] else values[k]
        options.append(_either_side(node, Split(np.eye(1, node.X.shape[1], j)[0], float(threshold), 0.0, j))[0])

    def improvement(option: MissingDivision) -> float:
        total = 0.0
        for side in (option.goes_left, ~option.goes_left):
            half = replace(node.of_rows(side), X=np.nan_to_num(node.X[side]), signs=None)
            best = search(half, [Candidates.axes()], min_leaf)
            total += 0.0 if best is None else best.gain * float(half.class_weights.sum())
        return total

    return max(options, key=improvement, default=None)


def _on_complete_rows(
    node: Node, features: NDArray[np.intp], proposer: Proposer | None, min_leaf: float, finish: Finish = PLAIN
) -> Split | None:
    """Return the split of rows complete in `features` by a heuristic, or by axis-parallel cuts if it is None."""
    rows = np.flatnonzero(~np.isnan(node.X[:, features]).any(axis=1))
    if len(features) == 0 or len(np.unique(node.y[rows])) < 2:
        return None
    part = replace(node.of_rows(rows), X=np.ascontiguousarray(node.X[np.ix_(rows, features)]))
    if proposer is None:
        split = search(part, [Candidates.axes()], min_leaf)
    else:
        split = best_split(part, proposer, min_leaf, finish=finish)
    return None if split is None else split.over(features, node.X.shape[1])


def _by_values(node: Node, split: Split) -> MissingDivision:
    """Return the sides of rows by their values, as in prediction; a missing value counts 0, and the heavier child takes
    missing values of other rows."""
    X = np.where(np.isnan(node.X), 0.0, node.X)
    goes_left = np.asarray(_core.project(X, split.coef)) <= split.threshold
    left, right = (node.of_rows(side).class_weights.sum() for side in (goes_left, ~goes_left))
    return MissingDivision(split, goes_left, bool(left >= right))


def _either_side(node: Node, split: Split) -> list[MissingDivision]:
    """Return divisions with the block of incomplete rows left, then right; one division if no row lacks a value."""
    division, block = _by_values(node, split), lacking(node.X, split.coef)
    if not block.any():
        return [division]
    left = MissingDivision(split, division.goes_left | block, missing_left=True)
    return [left, MissingDivision(split, division.goes_left & ~block, missing_left=False)]
