"""Top-down growth: in the compiled core where it knows the heuristic, else node by node from Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.ground.geometry import crimcoord, level_codes, level_table
from oblique_cli.ground.magnitudes import summable
from oblique_cli.tree.missing import divide
from oblique_cli.tree.splitting import PLAIN, Finish, Node, Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree, TreeBuilder

Array = NDArray[np.float64]


def grow_top_down(
    X: Array,
    y: NDArray[np.int32],
    n_classes: int,
    proposer: Proposer,
    *,
    weights: Array | None = None,
    criterion: str = "gini",
    stopping: Stopping | None = None,
    min_leaf: float = 1.0,
    ties: str = "tolerant",
    engine: str = "auto",
    seed: int = 0,
    levels: Sequence[int] | None = None,
    missing: bool = False,
    finish: Finish = PLAIN,
    n_threads: int = 1,
) -> Tree:
    """Grow a tree.

    X : (n, p) float64 C order (or float32 for native growth), finite where quantitative (but for NaN if `missing`)
    y : (n,) int32 codes below n_classes
    weights : (n,) positive, or None
    engine : "native" grows the whole tree in the compiled core without the GIL; "reference" calls the proposer at every
        node; "auto" takes the native one where it exists. Both give the same tree.
    seed : of the tree, from 0 below 2**64; what nodes draw is named after it and their place
    levels : number of levels of each feature, 0 for a quantitative one; None if all are. A qualitative feature holds
        codes 0, 1, ... and anything else for no level; at every node its levels are replaced by their CRIMCOORD (thesis
        3.7)
    missing : whether the tree learns where rows with missing values (NaN) go, see `missing.divide`. If there are any,
        the reference engine grows the tree; ConfigError if that is ruled out by "native"
    finish : what becomes of the split that the heuristic finds at a node
    n_threads : of native growth; the tree is the same for any number
    """
    stopping = stopping or Stopping()
    if weights is not None:
        weights = weights / weights.min()
        if np.all(weights == 1.0):
            weights = None  # equal weights are no weights, and counts are exact
        elif len(weights) > _core.exact_sums_above():
            weights = summable(weights)  # as where rows come in blocks (docs/scale.md)
    incomplete = missing and bool(np.isnan(X if levels is None else X[:, np.equal(levels, 0)]).any())
    if incomplete and engine == "native":
        raise ConfigError("engine 'native' does not grow on missing values; set engine to 'auto' or 'reference'.")
    family = proposer.native_family()
    if engine == "reference" or family is None or incomplete:
        return _grow_reference(
            X, y, n_classes, proposer, weights, criterion, stopping, min_leaf, ties, seed, levels, missing, finish
        )
    options = {
        "criterion": criterion,
        "min_parent": float(stopping.min_parent),
        "max_misrate": float(stopping.max_misrate),
        "max_depth": -1 if stopping.max_depth is None else int(stopping.max_depth),
        "min_leaf": float(min_leaf),
        "strict_ties": ties == "strict",
        "exhaustive": False,
        "seed": seed,
    } | finish.options()
    qualitative = levels is not None and any(levels)
    arrays = _core.grow(
        X,
        y,
        weights,
        n_classes,
        family,
        options | proposer.native_options(),
        levels=np.array(levels, dtype=np.int32) if qualitative else None,
        n_threads=n_threads,
    )
    tree = Tree(
        arrays["left"],
        arrays["right"],
        arrays["weights"],
        arrays["thresholds"],
        arrays["counts"],
        arrays["gains"],
        arrays["n_rows"],
        levels,
        arrays["level_scores"],
    )
    return tree.with_missing_to_the_heavier() if missing else tree


def _grow_reference(
    X: Array,
    y: NDArray[np.int32],
    n_classes: int,
    proposer: Proposer,
    weights: Array | None,
    criterion: str,
    stopping: Stopping,
    min_leaf: float,
    ties: str,
    seed: int,
    levels: Sequence[int] | None,
    missing: bool,
    finish: Finish,
) -> Tree:
    def class_weights(rows: NDArray[np.intp]) -> Array:
        w = None if weights is None else weights[rows]
        return np.bincount(y[rows], weights=w, minlength=n_classes).astype(np.float64)

    builder = TreeBuilder(X.shape[1], n_classes, levels, takes_missing=missing)
    everything = np.arange(len(X))
    stack = [(builder.add(class_weights(everything), len(X)), everything, 0, 1)]
    while stack:
        node_id, rows, depth, path = stack.pop()
        if stopping.is_leaf(class_weights(rows), depth):
            continue
        w = None if weights is None else weights[rows]
        Z, level_scores = scored(X[rows], y[rows], w, n_classes, builder.levels)
        node = Node(Z, y[rows], w, n_classes, depth, criterion, ties, min_leaf, seed, path)
        division = divide(node, proposer, min_leaf, finish)
        if division is None:
            continue
        split, goes_left, missing_left = division
        if goes_left.all() or not goes_left.any():
            continue
        left, right = rows[goes_left], rows[~goes_left]
        ids = [builder.add(class_weights(side), len(side)) for side in (left, right)]
        hyperplane = (split.coef, split.threshold, split.gain)
        builder.split(node_id, *hyperplane, ids[0], ids[1], level_scores, missing_left)
        stack.extend([(ids[1], right, depth + 1, 2 * path + 1), (ids[0], left, depth + 1, 2 * path)])
    return builder.finish()


def scored(
    X: Array, y: NDArray[np.int32], weights: Array | None, n_classes: int, levels: Sequence[int]
) -> tuple[Array, Array]:
    """Return the rows of a node with every level replaced by its score there, and the scores (thesis 3.7).

    X : (n, p); levels : p counts, 0 for a quantitative feature; returns (n, p) and (sum of levels,)
    """
    if not any(levels):
        return X, np.empty(0)
    Z, scores = X.copy(), []
    for j, count in enumerate(levels):
        if count == 0:
            continue
        codes = level_codes(X[:, j], count)
        of_level = crimcoord(level_table(codes, y, weights, count, n_classes))
        Z[:, j] = np.where(codes >= 0, of_level[codes], 0.0)
        scores.append(of_level)
    return Z, np.concatenate(scores)
