"""Data and trees that several benchmarks use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification

import oblique_cli._core as _core
from oblique_cli import data
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.tree.growing import growth_options
from oblique_cli.tree.splitting import Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree

Data = tuple[NDArray[np.float64], NDArray[np.int32]]

TREE_ARRAYS = ("left", "right", "weights", "thresholds", "counts", "gains", "n_rows")


def letter(rows: int | None = None) -> Data:
    """Letter Recognition: 20,000 rows, 16 whole-numbered features, 26 classes; or its first `rows` rows."""
    dataset = data.load(DatasetSpec("letter"))
    return dataset.X[:rows], dataset.y[:rows]


def synthetic(rows: int, features: int = 50, classes: int = 3, informative: int | None = None) -> Data:
    """Continuous features, a fifth of them informative if not said, 5 % of the labels noise; always the same."""
    X, y = make_classification(
        rows,
        features,
        n_informative=informative or features // 5,
        n_classes=classes,
        flip_y=0.05,
        random_state=20260101,
    )
    return np.ascontiguousarray(X), y.astype(np.int32)


def grow(
    X: NDArray[np.float64],
    y: NDArray[np.int32],
    name: str,
    *,
    exhaustive: bool = False,
    n_threads: int = 1,
    **params: Any,
) -> Any:
    """Grow an algorithm's tree in the compiled core as its estimator would, and return the core's own dict.

    exhaustive : sort the projections on every direction instead of bounding them
    params     : of the algorithm, as a configuration names them
    """
    model = ALGORITHMS[name].make(**params)
    proposer = model.proposer
    assert isinstance(proposer, Proposer) and proposer.native is not None, f"{name} must grow in the core"
    stopping = Stopping(model.min_parent, model.epsilon)
    options = growth_options(model.criterion, stopping, model.min_samples_leaf, model.ties, seed=0)
    options |= {"exhaustive": exhaustive, **proposer.native_options()}
    return _core.grow(X, y, None, int(y.max()) + 1, proposer.native, options, n_threads=n_threads)


def tree_of(arrays: dict[str, Any]) -> Tree:
    """Return what `grow` gave as a Tree."""
    return Tree(*(arrays[name] for name in TREE_ARRAYS))
