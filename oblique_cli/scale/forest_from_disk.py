"""A forest of a table beyond memory: tree by tree, each grown from its drawn rows and features."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.forest.bagged import BaggedForestClassifier, bottom_up_trees, proposers_of
from oblique_cli.estimators.forest.drawn_trees import state_of
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import FeatureCount, rows_of
from oblique_cli.scale.growing import Checkpoint, Level, Plan, digest_of, grow, stored
from oblique_cli.scale.passes import Here
from oblique_cli.scale.store import GROW, Room, Rows, Store, writing
from oblique_cli.tree.probabilities import COUNTS, VOTES
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree

NOT_DRAWN = 3  # beside GROW, PRUNE and TEST: a row that this tree does not use
# Parameters that need all rows of a node, or of the forest, at once.
AS_USUAL = ("node_bootstrap", "probabilities", "probability_strength", "oob_score", "warm_start", "monotonic_cst")


class Drawn(Store):
    """The rows of a store drawn for one tree: the number of draws of a row is its weight.

    times : (rows that grow,) in the order of the table; features : indices of the drawn features, ascending"""

    def __init__(self, whole: Store, first: NDArray[np.int64], times: NDArray[Any], features: NDArray[np.intp]) -> None:
        """Wrap a store. first : (chunks + 1,) growth rows before each chunk, and their total"""
        super().__init__(
            whole.path, len(features), whole.n_classes, whole.dtype, True, (), whole.sizes, whole.sums, room=whole.room
        )
        self._whole, self._first, self._times, self._features = whole, first, times, features

    def read(self, chunk: int, room: Room | None = None) -> Rows:
        """Return a chunk; rows that were not drawn have the part NOT_DRAWN."""
        before = self._whole.bytes_read
        rows = self._whole.read(chunk, room)
        self.bytes_read += self._whole.bytes_read - before
        weights, growing = np.zeros(len(rows.codes)), rows.parts == GROW
        weights[growing] = self._times[self._first[chunk] : self._first[chunk + 1]]
        parts = np.where(growing & (weights == 0.0), np.int8(NOT_DRAWN), rows.parts)
        if rows.weights is not None:
            weights *= rows.weights
        return Rows(np.ascontiguousarray(rows.columns[self._features]), rows.codes, weights, parts)


def refuse(algorithm: str, estimator: BaggedForestClassifier) -> None:
    """Raise ConfigError for options of a forest that need all rows in memory."""
    if bottom_up_trees(estimator.proposer):
        raise ConfigError(
            f"proposer {estimator.proposer!r} needs all rows in memory, to find clusters; a table larger than that has "
            "a heuristic such as 'hhcart_d'."
        )
    for name in AS_USUAL:
        value, usual = getattr(estimator, name), estimator.parameters[name].default
        if value not in (usual, COUNTS):
            raise ConfigError(f"{name} {value!r} needs all rows in memory; a table larger than that has {usual!r}.")
    if estimator.max_features is not None:
        raise ConfigError(
            f"max_features {estimator.max_features!r} of {algorithm} draws features at every node, which needs its "
            "rows in memory. Set max_features to null, and max_features_per_tree to what each tree is to draw."
        )


def plans_of(estimator: BaggedForestClassifier, memory: int) -> list[Plan]:
    """Return the plans of trees, used in turn; ConfigError for an unsupported heuristic."""
    stopping = Stopping(1.0, 0.0, estimator.max_depth)
    least = float(estimator.min_samples_leaf)
    proposers = proposers_of(estimator.proposer)
    plans = [Plan(proposer, estimator.criterion, stopping, least, memory=memory) for proposer in proposers]
    for plan in plans:
        plan.family  # noqa: B018  (ConfigError before the table is copied)
    return plans


def grow_forest(
    estimator: BaggedForestClassifier,
    rows: Store,
    plans: list[Plan],
    threads: int,
    X: Array,
    kept_in: Path | None,
    say: Callable[[Level], None],
) -> list[Level]:
    """Grow the forest of an estimator; return the levels of all trees. X : some rows, for the units of importances;
    kept_in : folder for finished trees, which the same fit loads when it is restarted, or None"""
    p, C = rows.n_features, rows.n_classes
    seed = int(check_random_state(estimator.random_state).randint(2**31))
    first = grows_before(rows)
    n = int(first[-1])
    many, drawn = FeatureCount.of(estimator.max_features_per_tree, p, planes=True), estimator._rows_drawn(n)
    levels: list[Level] = []

    def grown(number: int) -> dict[str, Any]:
        plan = plans[number % len(plans)]
        plan = replace(plan, min_leaf=rows_of(plan.min_leaf, drawn))
        identity = [digest_of(plan), seed, number, many, drawn, estimator._draws_rows, n]
        file = None if kept_in is None else KeptTree(kept_in, number, identity, (p, C))
        if file is not None and (state := file.load()) is not None:
            return state
        draws = _core.Forest(p, C, seed, number).draws(n, 1, estimator._draws_rows, drawn)
        times = np.asarray(draws)[0].astype(np.uint16)
        features = np.sort(seeds.generator(seed, "features of a tree", number).choice(p, many, replace=False))
        view = Drawn(rows, first, times, features)
        fitted = grow(Here(view, threads), view, plan, None if file is None else file.level, say)
        levels.extend(fitted.levels)
        tree, coef = fitted.tree, np.zeros((fitted.tree.n_nodes, p))  # over all features
        coef[:, features] = tree.coef_
        whole = Tree(tree.left, tree.right, coef, tree.thresholds, tree.counts, tree.gains, tree.n_rows)
        state = state_of(whole, X)
        if file is not None:
            file.save(state)
        return state

    forest = _core.Forest(p, C, seed)
    forest.restore([grown(number) for number in range(estimator.n_estimators)])
    estimator._drawing = estimator._draws_rows, estimator.max_samples
    estimator.forest_ = forest
    if estimator.probabilities != COUNTS:
        estimator.probability_strength_ = VOTES
    return levels


def grows_before(rows: Store) -> NDArray[np.int64]:
    """Return the number of growth rows before each chunk, and their total, (chunks + 1,); ConfigError for none."""
    counts = [int((rows.read(chunk, rows.room).parts == GROW).sum()) for chunk in range(len(rows.sizes))]
    if not any(counts):
        raise ConfigError("there must be rows to grow a tree on. All are kept for the test.")
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


class KeptTree:
    """A tree of a resumable fit: its file, and the state of its growth until the file is written."""

    def __init__(self, folder: Path, number: int, identity: list[Any], shape: tuple[int, int]) -> None:
        self._shape = shape
        self.path = folder / f"tree_{number:06d}.npz"
        self.level = Checkpoint(folder / f"state_{number:06d}.npz")
        self._digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()

    def save(self, state: Mapping[str, Any]) -> None:
        """Save the arrays of `Forest.state`, and the other data of the tree that is being grown."""
        with writing(self.path) as stream:
            np.savez(stream, **state, forest=np.array(self._digest))
        self.level.path.unlink(missing_ok=True)

    def load(self) -> dict[str, Any] | None:
        """Return the stored tree, None without one; DataError for a damaged file, or the file of another fit."""

        def state(arrays: dict[str, Any]) -> dict[str, Any]:
            state: dict[str, Any] = {**arrays, "width": int(arrays["width"]), "depth": int(arrays["depth"])}
            _core.Forest(*self._shape, 0).restore([state])  # checks that it is a tree
            return state

        fault = "not a tree of a fit ({}); remove it to grow it anew"
        return stored(self.path, "forest", self._digest, state, fault)
