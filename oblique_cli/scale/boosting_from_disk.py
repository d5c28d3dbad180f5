"""Boosting of a table beyond memory on a sample of rows that is redrawn every few rounds.

That is stochastic gradient boosting (Friedman 2002) with one draw for `ROUNDS` trees, which also sets their bins and
the steps of their leaves. Scores are not stored: the trees so far compute those of each sample."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.forest.base import moderate
from oblique_cli.estimators.forest.boosting import FIXED_ROUNDS, ObliqueBoostingClassifier
from oblique_cli.estimators.forest.leaves import scores_of
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.scale.forest_from_disk import KeptTree, grows_before
from oblique_cli.scale.store import GROW, Store

ROUNDS = 10  # trees per draw
LEAST_ROWS = 1000  # least number of rows of a draw, if the table has so many


@dataclass(frozen=True)
class Part:
    """Statistics of the trees of one draw. trees : so far; rows : drawn; loss : their mean log loss"""

    trees: int
    rows: int
    loss: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.trees} trees: {self.rows} rows drawn, log loss {self.loss:.4g} on them, {self.seconds:.1f} s"


def refuse(algorithm: str, estimator: ObliqueBoostingClassifier) -> None:
    """Raise ConfigError for options of boosting that need all rows in memory."""
    if estimator.n_iter_no_change is not None:
        raise ConfigError(
            f"n_iter_no_change {estimator.n_iter_no_change!r} of {algorithm} asks rows kept from growth after every "
            "round, which needs them in memory; a table larger than that has null."
        )
    estimator._families()  # raises ConfigError before the table is copied


def rows_in(memory: int, p: int, n_classes: int) -> int:
    """Return the rows of a draw: the core's data for them and the temporary copies must fit into memory."""
    return memory // (34 * p + 24 * n_classes + 128)


def boost(
    estimator: ObliqueBoostingClassifier,
    rows: Store,
    memory: int,
    threads: int,
    kept_in: Path | None,
    say: Callable[[Part], None],
) -> list[Part]:
    """Grow the trees of an estimator; return trees, rows, loss and seconds of each part. kept_in : as in `grow_forest`.

    If memory holds all rows, all trees are grown on all rows and equal those of a fit in memory."""
    p, C = rows.n_features, rows.n_classes
    seed = int(check_random_state(estimator.random_state).randint(2**31))
    first = grows_before(rows)
    n = int(first[-1])
    drawn = min(n, rows_in(memory, p, C))
    if drawn < min(n, LEAST_ROWS):
        raise ConfigError(
            f"{type(estimator).__name__} has to hold {min(n, LEAST_ROWS)} rows of {p} features at a time, and memory "
            f"is for {drawn}; set --memory higher."
        )
    rounds = FIXED_ROUNDS if isinstance(estimator.n_estimators, str) else estimator.n_estimators
    at_once = rounds if drawn == n else ROUNDS
    options, grown_by = estimator._options(drawn, p), estimator._families()
    facts = [repr(options), repr(grown_by), repr(estimator._boosting(rounds)), seed, n, drawn]
    forest, values = _core.Forest(p, C, seed), np.empty((0, 1 if C == 2 else C))
    baseline, trees, parts = np.zeros(values.shape[1]), list[dict[str, Any]](), list[Part]()
    for begin in range(0, rounds, at_once):
        started, count = time.perf_counter(), min(at_once, rounds - begin)
        files = [] if kept_in is None else [KeptTree(kept_in, begin + i, [*facts, begin], (p, C)) for i in range(count)]
        loaded = [file.load() for file in files]
        states = [state for state in loaded if state is not None]
        if len(states) < count:
            X, codes, weights = _drawn(rows, first, drawn, seeds.generator(seed, "rows of boosting", begin))
            start = scores_of(forest, X, values, baseline, threads) if begin else None
            part = _core.Forest(p, C, seed, begin)
            empty = np.empty((0, p)), np.empty(0, np.int32), None
            made = part.boost(X, codes, weights, *empty, options, grown_by, estimator._boosting(count), start)
            ends = np.cumsum((np.asarray(part.n_nodes()) + 1) // 2)[:-1]
            of_trees = np.split(np.asarray(made["leaf_values"]), ends)
            begins = np.asarray(made["baseline"]) if begin == 0 else baseline
            states = [
                {**state, "values": leaf_values, "loss": np.array(loss), "baseline": begins}
                for state, leaf_values, loss in zip(part.state(), of_trees, made["training_loss"], strict=True)
            ]
            for file, state in zip(files, states, strict=bool(files)):
                file.save(state)
        trees += states
        forest.restore(trees)
        baseline = np.asarray(states[0]["baseline"])
        values = np.concatenate([values, *(np.asarray(state["values"]) for state in states)])
        parts.append(Part(len(forest), drawn, float(states[-1]["loss"]), time.perf_counter() - started))
        say(parts[-1])
    estimator.forest_, estimator.baseline_, estimator.leaf_values_ = forest, baseline, values
    estimator.training_loss_, estimator.n_estimators_ = np.array([float(state["loss"]) for state in trees]), len(forest)
    return parts


def _drawn(
    rows: Store, first: NDArray[np.int64], drawn: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int32], Array | None]:
    """Return drawn rows for growth, without replacement, in the order of the table. first : as in `grows_before`"""
    of_chunk = np.diff(first)
    counts = of_chunk if drawn == first[-1] else rng.multivariate_hypergeometric(of_chunk, drawn, method="marginals")
    X, codes = np.empty((drawn, rows.n_features)), np.empty(drawn, np.int32)
    weights = np.empty(drawn) if rows.weighted else None
    at = 0
    for chunk in np.flatnonzero(counts).tolist():
        block, count = rows.read(chunk, rows.room), int(counts[chunk])
        chosen = np.flatnonzero(block.parts == GROW)
        if count < len(chosen):
            chosen = np.sort(rng.choice(chosen, count, replace=False))
        here = slice(at, at + count)
        X[here], codes[here] = block.columns[:, chosen].T, block.codes[chosen]
        if weights is not None and block.weights is not None:
            weights[here] = block.weights[chosen]
        at += count
    return X, codes, None if weights is None else moderate(weights)
