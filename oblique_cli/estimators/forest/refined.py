"""Forest of trees that are each refined by tree alternating optimization."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.estimators.forest.bagged import BaggedForestClassifier, Heuristics, families, proposers_of
from oblique_cli.estimators.forest.base import ForestClassifier, Table, relative
from oblique_cli.estimators.oblique.groups import Refinement
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Integer, Optional, Real
from oblique_cli.ground.magnitudes import refuse_extreme
from oblique_cli.parameters import as_in, parameter
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.refining import PlaneSpace, Settings
from oblique_cli.tree.splitting import Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree


class TAOForestClassifier(ForestClassifier, kw_only=True):
    """A bag of refined trees: each is grown on a bootstrap sample and then optimized as a whole.

    A tree is grown unpruned by a heuristic, and its hyperplanes are improved one after another by tree alternating
    optimization (Carreira-Perpinan & Tavallali 2018; forests of such trees in Carreira-Perpinan & Zharmagambetov 2020)
    on the rows that the tree drew.

    Attributes
    ----------
    As in `MPSVMForestClassifier`; the rows of a tree are drawn from the streams that those of other forests are."""

    max_features = None
    min_samples_leaf = 1
    _measured = staticmethod(relative)

    proposer: Any = parameter(
        default="hhgdt",
        allowed=Heuristics(),
        kw_only=False,
        help="The heuristic that grows the trees, as in `BaggedForestClassifier`; several take turns.",
    )
    penalty: float | None = parameter(
        default=None,
        allowed=Optional(Real(0.0)),
        kw_only=False,
        help="Penalty on |w|_1 as a share of the training weight, equal for all trees. None is 1 / n, the weight of "
        "one row among n of equal weight: a cut that a single row justifies is noise. Nothing is cross-validated.",
    )
    surrogate: str = as_in(Refinement, "surrogate")
    max_sweeps: int = parameter(default=5, allowed=Integer(1), help="Most passes over all nodes of a tree.")
    max_depth: int | None = parameter(
        default=None, help="Longest path from the root to a leaf before trees are refined; None for no limit."
    )
    voting: str = as_in(BaggedForestClassifier, "voting")

    def _options(self, p: int) -> dict[str, Any]:
        return {}

    def _families(self, drawn: int = 1) -> list[tuple[str, dict[str, Any]]]:
        return families(self.proposer, "gini", 1.0)

    def _grow(self, forest: Any, table: Table, options: dict[str, Any], more: int, threads: int) -> None:
        rows, codes, weights = table.rows, table.codes, table.weights
        refuse_extreme(rows, type(self).__name__)
        made = proposers_of(self.proposer)
        first, seed = forest.first_number + len(forest), forest.seed
        draws = np.asarray(forest.draws(len(rows), more, options["bootstrap"], options["max_samples"]))

        def grown(i: int) -> dict[str, Any]:
            number = first + i
            proposer: Proposer = made[number % len(made)]
            there = np.flatnonzero(draws[i])
            counts = draws[i][there].astype(np.float64)
            held = counts if weights is None else counts * weights[there]
            tree = self._refined(
                np.ascontiguousarray(rows[there]), codes[there], held, proposer, seeds.integer(seed, "tree", number)
            )
            return state_of(tree, rows)

        states: list[dict[str, Any]] = []

        def grow() -> None:
            with ThreadPoolExecutor(threads) as pool:
                states.extend(pool.map(grown, range(more)))

        self._watched(more, lambda: len(states), grow)
        forest.restore([*forest.state(), *states])

    def _refined(self, X: Array, codes: NDArray[np.int32], weights: Array, proposer: Proposer, seed: int) -> Tree:
        """Return the refined tree of the rows it drew, with weights in units of the smallest."""
        start = grow_top_down(
            X,
            codes,
            len(self.classes_),
            proposer,
            weights=weights / weights.min(),
            criterion="gini",
            stopping=Stopping(1.0, 0.0, self.max_depth),
            seed=seed,
        )
        return refined_start(self, start, PlaneSpace(X, codes, len(self.classes_), weights))


def refined_start(forest: Any, start: Tree, space: PlaneSpace, **options: Any) -> Tree:
    """Return a tree of the rows of `space`, refined as the parameters of a forest say. options : of `space.tree`"""
    if start.n_leaves == 1:
        return start
    penalty = 1.0 / len(space.Z) if forest.penalty is None else float(forest.penalty)
    planes, _ = space.step(space.begin(start), penalty, Settings(forest.surrogate, forest.max_sweeps))
    return space.tree(planes, **options)


def gini_falls(tree: Tree) -> Array:
    """Return the decrease of Gini impurity by each split, times the weight of its rows, (n_nodes,)."""
    total = tree.counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        pure = np.where(total > 0, (tree.counts**2).sum(axis=1) / total, 0.0)
    return np.where(tree.is_leaf, 0.0, np.maximum(pure[tree.left] + pure[tree.right] - pure, 0.0))


def state_of(tree: Tree, rows: Array, falls: Array | None = None) -> dict[str, Any]:
    """Return a tree in the form of `Forest.state()`.
    rows : (n, p), for ranges of features; falls : (n_nodes,) impurity decrease of every split, None for Gini's"""
    p = tree.coef_.shape[1]
    order, left = [0], []
    for node in order:  # the list grows during the loop
        left.append(len(order) if tree.left[node] >= 0 else -1)
        if tree.left[node] >= 0:
            order += [int(tree.left[node]), int(tree.right[node])]
    inner = np.array([child >= 0 for child in left])
    nodes = np.array(order)
    leaves, splits = nodes[~inner], nodes[inner]
    numbers = np.array(left, dtype=np.int32)
    numbers[~inner] = ~np.arange(len(leaves), dtype=np.int32)
    terms = np.zeros(len(nodes), dtype=np.int32)
    terms[inner] = np.arange(len(splits))
    held = tree.counts[leaves]
    here, classes = np.nonzero(held)
    fall = (gini_falls(tree) if falls is None else falls)[splits]
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        # Half a range does not overflow; products are clipped to finite numbers.
        parts = np.abs(tree.coef_[splits]) * (0.5 * rows.max(axis=0) - 0.5 * rows.min(axis=0))
        parts = np.nan_to_num(parts)
        parts = parts / np.maximum(parts.max(axis=1, keepdims=True), np.finfo(float).tiny) if len(splits) else parts
    return {
        "threshold": np.ascontiguousarray(np.where(inner, tree.thresholds[nodes], 0.0)),
        "left": numbers,
        "term": terms,
        "width": p if len(splits) else 0,
        "feature": np.tile(np.arange(p, dtype=np.int32), len(splits)),
        "coef": np.ascontiguousarray(tree.coef_[splits].ravel()),
        "label": held.argmax(axis=1).astype(np.int32),
        "leaf_start": np.searchsorted(here, np.arange(len(leaves) + 1)).astype(np.uint32),
        "leaf_class": classes.astype(np.int32),
        "leaf_weight": np.ascontiguousarray(held[here, classes]),
        "rotation_start": np.zeros(0, dtype=np.int32),
        "rotation_feature": np.zeros(0, dtype=np.int32),
        "rotation_coef": np.zeros(0),
        "importance": (fall / np.maximum(parts.sum(axis=1), np.finfo(float).tiny)) @ parts,
        "depth": int(tree.depth),
    }
