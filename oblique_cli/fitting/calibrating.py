"""`oblique fit --coverage`: limits of prediction sets or intervals, from rows that the fits have not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.conformal_limits import (
    CROSS,
    LEAFWISE,
    NORMALIZED,
    QUANTILE,
    SPLIT,
    Held,
    checked,
    guarantee_of,
    spread_at,
    spreads_of,
)
from oblique_cli.fitting.choosing import part
from oblique_cli.fitting.estimating import division, folds_of
from oblique_cli.ground import seeds
from oblique_cli.models.model import Model

SPLIT_PARTS = 4  # SPLIT reserves one of this number of parts for calibration

# Runs the whole procedure: (data set, seed) -> model.
Fit = Callable[["Dataset", int], Model]


@dataclass(frozen=True)
class Promise:
    """Requested coverage, name of a guarantee ("" for the default), and CROSS or SPLIT."""

    coverage: float
    name: str = ""
    how: str = CROSS

    def checked(self, dataset: Dataset) -> Promise:
        """Return the promise with its name; raise ConfigError for an invalid coverage or name."""
        return replace(self, name=checked(self.name, self.coverage, dataset.task == "regression"))


def training_rows(dataset: Dataset, promise: Promise | None, seed: int) -> NDArray[np.intp]:
    """Return the training rows of the model: all rows, or with SPLIT all but the calibration rows."""
    if promise is None or promise.how != SPLIT:
        return np.arange(dataset.n)
    split_seed = seeds.integer(seed, dataset.name, "calibration")
    return np.asarray(folds_of(dataset, division(dataset, SPLIT_PARTS, tuned=False), split_seed)[0].train)


def guaranteed(model: Model, dataset: Dataset, promise: Promise, folds: int, seed: int, fit: Fit) -> Model:
    """Return the model with its guarantee. dataset : all rows; with SPLIT, `model` is fitted to `training_rows`

    With CROSS the same procedure is fitted again without each fold, and scores the rows of the fold.
    """
    train = training_rows(dataset, promise, seed)
    spreads = _spreads(model, dataset, train, promise)
    classes = dataset.classes
    how = (promise.name, promise.coverage, promise.how)
    if promise.how == SPLIT:
        rows = np.setdiff1d(np.arange(dataset.n), train)
        held = _held(model, dataset, rows, promise, spreads)
        return replace(model, guarantee=guarantee_of(*how, held, spreads, classes))
    parts, places = [], []
    folds_seed = seeds.integer(seed, dataset.name, "calibration")
    for number, fold in enumerate(folds_of(dataset, division(dataset, folds, tuned=False), folds_seed)):
        other = fit(part(dataset, fold.train), seeds.integer(seed, dataset.name, "calibration", number))
        parts.append(_held(other, dataset, fold.test, promise, _spreads(other, dataset, fold.train, promise)))
        places.append(fold.test)
    rows = np.concatenate(places)
    held = Held.joined(parts, _leaves(model, dataset.X[rows], promise))
    return replace(model, guarantee=guarantee_of(*how, held, spreads, classes))


def _held(model: Model, dataset: Dataset, rows: NDArray[np.intp], promise: Promise, spreads: Any) -> Held:
    """Return the predictions of a model for held-out rows."""
    X, truth = np.ascontiguousarray(dataset.X[rows]), dataset.y[rows]
    answers = np.asarray(model.predict(X), np.float64) if dataset.task == "regression" else model.predict_proba(X)
    leaves = _leaves(model, X, promise)
    spread = spread_at(spreads, leaves) if spreads and leaves is not None else None
    return Held(answers, truth, leaves, spread, None if dataset.groups is None else dataset.groups[rows])


def _spreads(model: Model, dataset: Dataset, rows: NDArray[np.intp], promise: Promise) -> Any:
    """Return the spread of the training errors by leaf; None if the guarantee does not use it."""
    if promise.name not in (NORMALIZED, QUANTILE):
        return None
    X = np.ascontiguousarray(dataset.X[rows])
    leaves = _leaves(model, X, promise)
    assert leaves is not None
    return spreads_of(promise.name, promise.coverage, dataset.y[rows] - model.predict(X), leaves)


def _leaves(model: Model, X: NDArray[np.float64], promise: Promise) -> NDArray[Any] | None:
    if promise.name not in LEAFWISE:
        return None
    leaves = model.apply(X)
    if leaves.ndim > 1:
        raise ConfigError(
            f"the guarantee {promise.name} goes by the leaf of a row, and {model.algorithm} has many trees; take "
            f"{'absolute' if model.task == 'regression' else 'lac'}, or an algorithm of one tree."
        )
    return leaves
