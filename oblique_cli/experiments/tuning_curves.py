"""Accuracy by value of a tuned parameter, from the tables of all choices of a run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from oblique_cli import schemes
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.fits import Case, tune
from oblique_cli.experiments.running import load_datasets
from oblique_cli.ground.nouns import Experiment


@dataclass(frozen=True)
class Curve:
    """Accuracy in percent of the validation rows and mean leaves for each value of a parameter; `chosen` by the run.

    fold        the outer fold of repetition 0 whose training rows were used; -1 for all rows (two-stage)"""

    dataset: str
    algorithm: str
    fold: int
    values: tuple[float, ...]
    accuracy: tuple[float, ...]
    leaves: tuple[float, ...]
    chosen: float


def tuning_curves(
    experiment: Experiment, parameter: str, data_dir: str | None = None, offline: bool = False
) -> Iterator[Curve]:
    """Yield the curves of an experiment that tunes only `parameter`, by data set, algorithm and fold.

    Folds, seeds and rule are those of a run: a nested scheme has one curve for each fold of repetition 0."""
    datasets = load_datasets(experiment, data_dir, offline)
    job_seeds = {(job.dataset, job.fold): job.seed for job in jobs_of.expand(experiment, datasets) if job.repeat == 0}
    sets = zip(experiment.datasets, datasets, strict=True)
    for (policy, dataset), spec in itertools.product(sets, experiment.algorithms):
        case = Case.of(experiment, dataset, policy, spec)
        for fold in schemes.repetition(dataset, experiment.cv, experiment.seed, 0):
            index = -1 if fold.tuning_id else fold.index
            if index < 0:
                seed = jobs_of.shared_tuning(experiment, dataset, spec).seed
            else:
                seed = job_seeds[dataset.name, index]
            chosen, table = tune(case, fold.tuning, seed)
            yield Curve(
                dataset.name,
                spec.id,
                index,
                tuple(entry["params"][parameter] for entry in table),
                tuple(100.0 * entry["n_correct"] / entry["n_rows"] for entry in table),
                tuple(entry["n_leaves"] / entry["n_trees"] for entry in table),
                chosen[parameter],
            )
            if index < 0:
                break
