"""Top-down growth: in the compiled core if it has the heuristic, else node by node in Python.

`grow_by` is the growth loop for every kind of split in Python: heuristics for classes, heuristics on the signs of
residuals (residual_signs.py), and look-ahead (look_ahead.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Array, Rows
from oblique_cli.ground.geometry import crimcoord, level_codes, level_table
from oblique_cli.ground.magnitudes import summable
from oblique_cli.tree.missing import divide, divide_drawn, halved
from oblique_cli.tree.monotone import OPEN, Bounds, Signs, children_bounds, second_shares, way_across
from oblique_cli.tree.splitting import EQUAL, PLAIN, Finish, Node, Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree, TreeBuilder


class Division(NamedTuple):
    """Division of a node, with the split as in `Tree`.
    goes_left : (m,) of its rows; child_states : left and right, as `divide` takes them; worth : decrease of the
    impurity of all rows, used by best-first growth"""

    coef: Array
    threshold: float
    gain: float
    goes_left: NDArray[np.bool_]
    level_scores: Array | None = None
    missing_left: bool = False
    child_states: tuple[Any, Any] = (None, None)
    worth: float = 0.0


def grow_by(
    builder: TreeBuilder,
    n: int,
    divide: Callable[[Rows, int, int, Any], Division | None],
    weigh: Callable[[Rows], Array] = lambda rows: np.array([float(len(rows))]),
    root_state: Any = None,
    most_leaves: int | None = None,
    slack: float = 0.0,
) -> list[Any]:
    """Grow a tree on n rows from its root down; return the state of each node, in the builder's order.
    divide : rows, depth, path (turns from the root, after a leading 1), state -> division, None for a leaf; weigh :
    rows -> counts. With `most_leaves`, the leaf of largest worth is divided next; among leaves within a share of
    `slack` of it, the oldest."""
    everything = np.arange(n)
    states = [root_state]
    # Nodes with a known division, in the order in which they were opened; the node number records that order.
    waiting: list[tuple[int, Rows, int, int, Division]] = []

    def look_at(node: int, rows: Rows, depth: int, path: int) -> None:
        if (division := divide(rows, depth, path, states[node])) is not None:
            waiting.append((node, rows, depth, path, division))

    root, leaves = builder.add(weigh(everything), n), 1
    if leaves != most_leaves:
        look_at(root, everything, 0, 1)
    while waiting:
        place = -1
        if most_leaves is not None:
            most = max(division.worth for *_, division in waiting)
            equal = (i for i, (*_, division) in enumerate(waiting) if division.worth >= most - slack * most)
            place = min(equal, key=lambda i: waiting[i][0])
        node, rows, depth, path, division = waiting.pop(place)
        left, right = rows[division.goes_left], rows[~division.goes_left]
        ids = [builder.add(weigh(side), len(side)) for side in (left, right)]
        states += division.child_states
        hyperplane = (division.coef, division.threshold, division.gain)
        builder.split(node, *hyperplane, ids[0], ids[1], division.level_scores, division.missing_left)
        leaves += 1
        if leaves == most_leaves:
            break
        look_at(ids[1], right, depth + 1, 2 * path + 1)
        look_at(ids[0], left, depth + 1, 2 * path)
    return states


def best_first(tree: Tree, worths: Array, most_leaves: int, slack: float) -> Tree:
    """Return the subtree that growth limited to `most_leaves` leaves gives, see `grow_by`.
    worths : (n_nodes,) of the splits"""
    worth = np.where(tree.is_leaf, -np.inf, worths)
    open_now, turns = np.full(tree.n_nodes, -np.inf), np.zeros(tree.n_nodes, dtype=np.int64)
    open_now[0], is_split = worth[0], np.zeros(tree.n_nodes, dtype=np.bool_)
    for turn in range(1, most_leaves):
        if (most := open_now.max()) == -np.inf:
            break
        equal = np.flatnonzero(open_now >= most - slack * most)
        node = equal[turns[equal].argmin()]
        children = [tree.left[node], tree.right[node]]
        open_now[node], is_split[node] = -np.inf, True
        open_now[children], turns[children] = worth[children], (2 * turn - 1, 2 * turn)
    return tree.collapse(~is_split)


@dataclass(frozen=True)
class GrowthOptions:
    """Options of growth.

    engine : "native" grows the tree in the compiled core without the GIL; "reference" calls the proposer at every node;
        "auto" uses the native engine if the heuristic has one. Both give the same tree.
    seed : from 0 below 2**64; random streams are named after it and the place of the node
    levels : number of levels of each feature, 0 for a quantitative one; None without qualitative ones. Codes 0, 1, ...
        (no other code is a level) are replaced by their CRIMCOORD at every node (thesis 3.7)
    missing : whether the tree learns a side for rows with NaN (`missing.divide`), in the reference engine if X has NaN;
        ConfigError with engine "native"
    finish : refinement of the heuristic's split; n_threads : of native growth, which never change the tree
    max_features : features drawn at each node, None for all; zero_gain : whether a node that no split improves is
        divided (`missing.halved`); both in the reference engine only
    signs : (p,) of 1, -1 and 0, the order in which the second class's share is monotonic (monotone.py); None
        without. Not allowed with `missing` or a `finish`"""

    criterion: str = "gini"
    stopping: Stopping = field(default_factory=Stopping)
    min_leaf: float = 1.0
    ties: str = "tolerant"
    engine: str = "auto"
    seed: int = 0
    levels: Sequence[int] | None = None
    missing: bool = False
    finish: Finish = PLAIN
    n_threads: int = 1
    max_features: int | None = None
    zero_gain: bool = False
    signs: Signs | None = None


def grow_top_down(
    X: Array, y: NDArray[np.int32], n_classes: int, proposer: Proposer, *, weights: Array | None = None, **how: Any
) -> Tree:
    """Grow a tree.
    X : (n, p) float64 C order (or float32 for native growth), finite if quantitative (or NaN if `missing`); y : (n,)
    int32 codes below n_classes; weights : (n,) positive, or None; how : fields of `GrowthOptions`"""
    growth = GrowthOptions(**how)
    if weights is not None:
        weights = weights / weights.min()
        if np.all(weights == 1.0):
            weights = None  # equal weights change nothing, and without weights counts are exact
        elif len(weights) > _core.exact_sums_above():
            weights = summable(weights)  # the same rounding as for rows in blocks (docs/scale.md)
    levels = growth.levels
    incomplete = growth.missing and bool(np.isnan(X if levels is None else X[:, np.equal(levels, 0)]).any())
    if incomplete and growth.engine == "native":
        raise ConfigError("engine 'native' does not grow on missing values; set engine to 'auto' or 'reference'.")
    family = proposer.native_family()
    in_python = growth.engine == "reference" or growth.max_features is not None
    if in_python or family is None or incomplete:
        return _grow_reference(X, y, n_classes, proposer, weights, growth)
    limits = (growth.criterion, growth.stopping, growth.min_leaf, growth.ties)
    options = growth_options(*limits, growth.seed, growth.finish) | proposer.native_options()
    counts = np.array(levels, dtype=np.int32) if levels is not None and any(levels) else None
    arrays = _core.grow(
        X, y, weights, n_classes, family, options, levels=counts, n_threads=growth.n_threads, signs=growth.signs
    )
    tree = tree_of(arrays, levels)
    if growth.zero_gain and tree.n_leaves != growth.stopping.max_leaf_nodes:
        leaves = np.flatnonzero(tree.is_leaf)
        if not all(growth.stopping.is_leaf(tree.counts[node], int(tree.depths[node])) for node in leaves):
            return _grow_reference(X, y, n_classes, proposer, weights, growth)  # a node that no split improves
    return tree.with_missing_to_the_heavier() if growth.missing else tree


def growth_options(
    criterion: str, stopping: Stopping, min_leaf: float, ties: str, seed: int, finish: Finish = PLAIN
) -> dict[str, Any]:
    """Return the options of the core's growth, without those of the heuristic."""
    return {
        "criterion": criterion,
        "min_parent": float(stopping.min_parent),
        "epsilon": float(stopping.epsilon),
        "max_depth": -1 if stopping.max_depth is None else int(stopping.max_depth),
        "max_leaf_nodes": -1 if stopping.max_leaf_nodes is None else int(stopping.max_leaf_nodes),
        "min_leaf": float(min_leaf),
        "strict_ties": ties == "strict",
        "exhaustive": False,
        "seed": seed,
        **finish.options(),
    }


def tree_of(arrays: Mapping[str, NDArray[Any]], levels: Sequence[int] | None = None, **more: Any) -> Tree:
    """Return the tree of arrays from the core, under the core's names. more : other fields of the tree"""
    names = ("left", "right", "thresholds", "counts", "gains", "n_rows", "level_scores")
    parts: dict[str, Any] = {name: arrays[name] for name in names}
    return Tree(coef=arrays["weights"], levels=levels or (), **parts, **more)


def _grow_reference(
    X: Array, y: NDArray[np.int32], n_classes: int, proposer: Proposer, weights: Array | None, growth: GrowthOptions
) -> Tree:
    stopping, min_leaf, signs = growth.stopping, growth.min_leaf, growth.signs

    def class_weights(rows: NDArray[np.intp]) -> Array:
        w = None if weights is None else weights[rows]
        return np.bincount(y[rows], weights=w, minlength=n_classes).astype(np.float64)

    builder = TreeBuilder(X.shape[1], n_classes, growth.levels, takes_missing=growth.missing)

    def divided(rows: Rows, depth: int, path: int, bounds: Bounds) -> Division | None:
        here = class_weights(rows)
        if stopping.is_leaf(here, depth):
            return None
        w = None if weights is None else weights[rows]
        Z, level_scores = scored(X[rows], y[rows], w, n_classes, builder.levels)
        how = (growth.criterion, growth.ties, min_leaf, growth.seed)
        node = Node(Z, y[rows], w, n_classes, depth, *how, path, signs, bounds)
        if growth.max_features is None:
            division = divide(node, proposer, min_leaf, growth.finish)
        else:
            division = divide_drawn(node, proposer, min_leaf, growth.finish, growth.max_features)
        if division is None and growth.zero_gain:
            division = halved(node, min_leaf)
        if division is None or division.goes_left.all() or not division.goes_left.any():
            return None
        split, goes_left, missing_left = division
        worth = split.gain * float(here.sum())
        plane = (split.coef, split.threshold, split.gain)
        below: tuple[Bounds, Bounds] | None = (OPEN, OPEN)
        if signs is not None:
            left, right = (float(second_shares(class_weights(rows[side]))) for side in (goes_left, ~goes_left))
            below = children_bounds(way_across(signs, split.coef), left, right, bounds)
        return None if below is None else Division(*plane, goes_left, level_scores, missing_left, below, worth)

    slack = 0.0 if growth.ties == "strict" else EQUAL
    grow_by(builder, len(X), divided, class_weights, OPEN, stopping.max_leaf_nodes, slack)
    return builder.finish()


def scored(
    X: Array, y: NDArray[np.int32], weights: Array | None, n_classes: int, levels: Sequence[int]
) -> tuple[Array, Array]:
    """Return rows (n, p) of a node with each level replaced by its score at the node, and the scores (sum of levels,)
    (thesis 3.7).
    levels : p counts, 0 for a quantitative feature"""
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
