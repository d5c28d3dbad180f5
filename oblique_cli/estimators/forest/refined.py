"""A forest of trees that are refined as a whole (tree alternating optimization)."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from oblique_cli.estimators.forest.bagged import Heuristics, _names, families
from oblique_cli.estimators.forest.base import SHARED, Array, ForestClassifier, relative
from oblique_cli.estimators.jobs import LARGEST
from oblique_cli.ground import seeds
from oblique_cli.ground.constraints import Choice, Constraint, Integer, Optional, Real
from oblique_cli.ground.magnitudes import refuse_extreme
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.refining import SURROGATES, PlaneSpace, Settings
from oblique_cli.tree.splitting import PROPOSERS, Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree

REFINED: Mapping[str, Constraint] = {
    "proposer": Heuristics(),
    "penalty": Optional(Real(0.0)),
    "surrogate": Choice(SURROGATES),
    "max_sweeps": Integer(1),
    **{name: constraint for name, constraint in SHARED.items() if name not in ("max_features", "min_samples_leaf")},
    "max_depth": Optional(Integer(1, LARGEST)),
}


class TAOForestClassifier(ForestClassifier):
    """A bag of refined trees: each is grown on a bootstrap sample and then optimized as a whole.

    A tree is grown unpruned by a heuristic, and its hyperplanes are improved one after another by tree alternating
    optimization (Carreira-Perpinan & Tavallali 2018; forests of such trees in Carreira-Perpinan & Zharmagambetov 2020)
    on the rows that the tree drew.

    Parameters
    ----------
    proposer : str, Proposer or list of them, default "hhgdt"
        The heuristic that grows the trees, as in `BaggedForestClassifier`; several take turns.
    penalty : float or None, default None
        Price of a unit of |w|_1 as a share of the training weight, the same for all trees. None is 1 / n, the weight of
        one row among n of equal weight: a cut that a single row pays for is noise. Nothing is cross-validated.
    surrogate : {"logistic", "squared_hinge"}, default "logistic"
        Loss whose penalized minima are proposed as hyperplanes.
    max_sweeps : int, default 5
        Most passes over all nodes of a tree.
    n_estimators, probabilities, probability_strength, oob_score, warm_start, n_jobs, random_state
        As in `MPSVMForestClassifier`.
    max_depth : int or None, default None
        Longest path from the root to a leaf before trees are refined; None for no limit.
    bootstrap : bool or None, default None
        Whether trees are grown on bootstrap samples. None is True.
    voting : {"mean", "majority"}, default "mean"
        Whether a tree gives each class its share of the leaf or votes for one class.

    Attributes
    ----------
    As in `MPSVMForestClassifier`; the rows of a tree are drawn from the streams that those of other forests are.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = REFINED
    max_features = None
    min_samples_leaf = 1

    def __init__(
        self,
        proposer: Any = "hhgdt",
        penalty: float | None = None,
        *,
        surrogate: str = "logistic",
        max_sweeps: int = 5,
        n_estimators: int = 50,
        max_depth: int | None = None,
        bootstrap: bool | None = None,
        voting: str = "mean",
        probabilities: str = "counts",
        probability_strength: float | str = 1.0,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.proposer = proposer
        self.penalty = penalty
        self.surrogate = surrogate
        self.max_sweeps = max_sweeps
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.voting = voting
        self.probabilities = probabilities
        self.probability_strength = probability_strength
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _options(self, p: int) -> dict[str, Any]:
        return {}

    def _families(self) -> list[tuple[str, dict[str, Any]]]:
        return families(self.proposer, "gini", 1.0)

    def _measured(self, weights: Array) -> Array:
        return relative(weights)

    def _grow(
        self,
        forest: Any,
        rows: Array,
        codes: NDArray[np.int32],
        weights: Array | None,
        options: dict[str, Any],
        more: int,
        threads: int,
    ) -> None:
        refuse_extreme(rows, type(self).__name__)
        made = [PROPOSERS[one]() if isinstance(one, str) else one for one in _names(self.proposer)]
        first, seed = forest.first_number + len(forest), int(forest.__getstate__()[2])
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

        with ThreadPoolExecutor(threads) as pool:
            forest.restore([*forest.state(), *pool.map(grown, range(more))])

    def _refined(self, X: Array, codes: NDArray[np.int32], weights: Array, proposer: Proposer, seed: int) -> Tree:
        """The tree of the rows it drew, in units of the least weight."""
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
        if start.n_leaves == 1:
            return start
        space = PlaneSpace(X, codes, len(self.classes_), weights)
        penalty = 1.0 / len(X) if self.penalty is None else float(self.penalty)
        planes, _ = space.refine(space.planes(start), penalty, Settings(self.surrogate, self.max_sweeps))
        return space.tree(planes)


def state_of(tree: Tree, rows: Array) -> dict[str, Any]:
    """Return a tree as `Forest.state()` has it, children side by side. rows : (n, p), for the ranges of features"""
    p = tree.coef_.shape[1]
    order, left = [0], []
    for node in order:  # grows as it goes
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
    total = tree.counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        pure = np.where(total > 0, (tree.counts**2).sum(axis=1) / total, 0.0)
    fall = np.maximum(pure[tree.left[splits]] + pure[tree.right[splits]] - pure[splits], 0.0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        # Half a range does not overflow; products beyond the number line are cut off.
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
