"""Refitting of the tree of a stored fold: results store no trees, and a job determines its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oblique_cli import schemes
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError, DataError, StoreError
from oblique_cli.estimators.algorithms import is_outside
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.fits import Case, fitted
from oblique_cli.experiments.running import load_datasets
from oblique_cli.experiments.store import Run
from oblique_cli.ground.nouns import Experiment, Row


@dataclass(frozen=True, eq=False)
class Regrown:
    """Estimator of a fold. X, y : its training rows as it received them; encoder : that encoded X, or None"""

    case: Case
    row: Row
    estimator: Any
    encoder: Any
    X: np.ndarray
    y: np.ndarray

    @property
    def dataset(self) -> Dataset:
        """Return the data set with all rows."""
        return self.case.dataset


def regrown(
    run: Run,
    rows: Sequence[Row],
    *,
    repeat: int,
    fold: int,
    dataset: str | None = None,
    algorithm: str | None = None,
    csv: str | None = None,
    data_dir: str | None = None,
    offline: bool = False,
) -> Regrown:
    """Return the estimator of a stored fold, refitted with its stored parameters.

    dataset, algorithm : needed if the run has several; csv : the file of a run whose path is not stored
    Raise ConfigError for an unknown fold, DataError for other data, StoreError if the tree differs from the stored one.
    """
    experiment = Experiment.from_content(run.name, run.content, run.presentation)
    policy = _selected(experiment.datasets, "name", dataset, f"run {run.name!r} has several data sets", "--dataset")
    spec = _selected(experiment.algorithms, "id", algorithm, f"run {run.name!r} has several algorithms", "--algorithm")
    if is_outside(spec.name):
        raise ConfigError(
            f"algorithm {spec.id!r} is of another library ({spec.name}): only trees of this package are shown."
        )
    row = _row(run.name, rows, policy.name, spec.id, repeat, fold)
    if csv is not None:
        policy = replace(policy, csv=csv)
    elif policy.target is not None and policy.csv is None and not policy.source:
        raise ConfigError(
            f"run {run.name!r} is on a file of your own, {policy.name!r}: say where it is, by --csv FILE."
        )
    experiment = replace(experiment, datasets=(policy,), algorithms=(spec,))
    (data,) = load_datasets(experiment, data_dir, offline)
    expected = run.content.get("data", {}).get(policy.name)
    if data.digest != expected:
        raise DataError(f"data set {policy.name!r} is not what run {run.name!r} was made with: its contents differ.")
    job = next((job for job in jobs_of.expand(experiment, [data]) if job.key == row.key), None)
    if job is None:
        raise StoreError(
            f"the fold was stored by a version of oblique that grew other trees: run {run.name!r} again with --fresh."
        )
    drawn = schemes.repetition(data, experiment.cv, experiment.seed, repeat)
    place = next(drawn_fold for drawn_fold in drawn if drawn_fold.index == fold)
    case = Case.of(experiment, data, policy, spec)
    estimator, encoder, X = fitted(case, place, job.seed, row.chosen)
    for name, attribute in (("n_leaves", "n_leaves_"), ("n_nodes", "n_nodes_"), ("depth", "depth_")):
        grown, stored = int(getattr(estimator, attribute, 0)), getattr(row, name)
        if grown != stored:
            raise StoreError(
                f"the tree grown again has {name} {grown} and the stored one {stored}: versions or processors differ "
                f"from those of run {run.name!r} (oblique status)."
            )
    return Regrown(case, row, estimator, encoder, X, data.y[place.train])


def _selected(specs: Sequence[Any], key: str, wanted: str | None, several: str, option: str) -> Any:
    names = [getattr(spec, key) for spec in specs]
    if wanted is None and len(specs) == 1:
        return specs[0]
    if wanted in names:
        return specs[names.index(wanted)]
    problem = several if wanted is None else f"there is no {wanted!r}"
    raise ConfigError(f"{problem}: choose one of {', '.join(names)} by {option}.")


def _row(run: str, rows: Sequence[Row], dataset: str, algorithm: str, repeat: int, fold: int) -> Row:
    mine = [row for row in rows if (row.dataset, row.algorithm) == (dataset, algorithm)]
    row = next((row for row in mine if (row.repeat, row.fold) == (repeat, fold)), None)
    where = f"fold {fold} of repetition {repeat} of {algorithm} on {dataset}"
    if row is None:
        places = sorted({row.repeat for row in mine}), sorted({row.fold for row in mine})
        known = (
            f"repetitions are {places[0][0]} to {places[0][-1]} and folds {places[1][0]} to {places[1][-1]}"
            if mine
            else "none of its folds is"
        )
        raise ConfigError(f"run {run!r} has not stored {where}: {known}.")
    if row.status != "ok":
        raise ConfigError(f"{where} of run {run!r} failed ({row.message}): it has no tree.")
    return row
