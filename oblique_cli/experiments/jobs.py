"""The work of an experiment as a list: one job for each algorithm on each fold of each data set.

A job knows its key before anything runs. The key is a digest of everything that decides the result, so a stored row
answers "is this done?" by itself, whatever was killed, in whatever order the jobs ran.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from oblique_cli import schemes, seeds
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import ALGORITHMS, task_of
from oblique_cli.estimators.encoding import n_columns, prepared
from oblique_cli.estimators.outside.algorithm import OutsideAlgorithm, is_outside
from oblique_cli.evaluation import metrics
from oblique_cli.nouns import AlgorithmSpec, DatasetSpec, Experiment, Job

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset

# Part of every key. Add one whenever the same configuration and data can give other results than before.
RESULT_VERSION = 2


def expand(experiment: Experiment, datasets: Sequence[Dataset]) -> list[Job]:
    """Return the jobs of `experiment`, whose data sets are `datasets`: by data set, repetition, fold, algorithm.

    A job's seed is named after data set, repetition and fold, and not after the algorithm, so all algorithms share what
    they draw. ConfigError if the folds cannot be drawn, a grid has nothing to choose by, or parameters do not suit a
    data set; DataError if a data set has no classes to tell apart.
    """
    jobs = []
    for spec, dataset in zip(experiment.datasets, datasets, strict=True):
        check(experiment, spec, dataset)
        bases = {a.id: digest(_decides(experiment, spec, dataset, a)) for a in experiment.algorithms}
        for repeat, fold in schemes.places(experiment.cv, dataset):
            seed = seeds.integer(experiment.seed, dataset.name, "job", repeat, fold)
            for algorithm, base in bases.items():
                key = digest([base, repeat, fold])
                jobs.append(Job(key, dataset.name, algorithm, repeat, fold, seed))
    return jobs


def shared_tuning(experiment: Experiment, spec: DatasetSpec, dataset: Dataset, algorithm: AlgorithmSpec) -> Job:
    """Return the job that chooses the parameters of `algorithm` once for all folds of `dataset`.

    Its fold is -1, because the job belongs to no test rows.
    """
    key = digest([digest(_decides(experiment, spec, dataset, algorithm)), "tuning"])
    return Job(key, dataset.name, algorithm.id, 0, -1, seeds.integer(experiment.seed, dataset.name, "tuning"))


def content(experiment: Experiment, datasets: Sequence[Dataset]) -> dict[str, Any]:
    """Return everything that decides the results of `experiment`, data included, as plain data."""
    digests = {dataset.name: dataset.digest for dataset in datasets}
    return {**experiment.content(), **_measured(experiment), "data": digests, "result_version": RESULT_VERSION}


def _measured(experiment: Experiment) -> dict[str, list[str]]:
    """The metrics that its rows hold because it asks for them, under the key of the configuration; {} if none."""
    names = metrics.to_measure(experiment.metrics)
    return {"metrics": list(names)} if names else {}


def _decides(experiment: Experiment, spec: DatasetSpec, dataset: Dataset, algorithm: AlgorithmSpec) -> list[Any]:
    """What decides every fold of one algorithm on one data set.

    The number of repetitions is left out: repetition 3 of 5 is repetition 3 of 10.
    """
    cv = experiment.cv.plain()
    del cv["repeats"]
    grid = {name: list(values) for name, values in algorithm.grid.items()}
    how: list[Any] = [algorithm.id, algorithm.name, dict(algorithm.params), grid]
    how += [part for part in (algorithm.prepare, experiment.code_digests()) if part]
    data = [dataset.name, dataset.digest, spec.missing, spec.encoding]
    return [RESULT_VERSION, experiment.seed, cv, how, data, *_measured(experiment).values()]


def digest(value: Any) -> str:
    """Return the SHA-256 of plain data, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def check(experiment: Experiment, spec: DatasetSpec, dataset: Dataset, imports: bool = True) -> None:
    """Raise ConfigError or DataError for what would fail every fold on `dataset`, which is read as `spec` says.

    imports : whether classes of other libraries may be imported, to compare their parameters
    """
    who = f"data set {dataset.name!r}"
    for algorithm in experiment.algorithms:
        if task_of(algorithm.name) != dataset.task:
            predicts = "numbers" if task_of(algorithm.name) == "regression" else "classes"
            one = f"algorithm {algorithm.id!r} predicts {predicts}"
            raise DataError(f"{who} is for {dataset.task}, and {one}: leave it out.")
    if dataset.task == "classification":
        present = {dataset.classes[code] for code in set(dataset.y.tolist())}
        if len(present) < 2:
            raise DataError(f"{who} has one class only, {''.join(present)!r}: there is nothing to tell apart.")
    metrics.chosen(experiment.metrics, dataset.task, who, matrices=True)
    metrics.check_scheme(experiment.metrics, experiment.cv, who)
    if experiment.cv.tune_metric:
        metrics.chosen([experiment.cv.tune_metric], dataset.task, who)
    schemes.check(dataset, experiment.cv, tuned=any(algorithm.grid for algorithm in experiment.algorithms))
    if not schemes.SCHEMES[experiment.cv.scheme].tunes:
        for algorithm in experiment.algorithms:
            if algorithm.grid:
                raise ConfigError(
                    f"algorithm {algorithm.id!r} has a grid for {', '.join(algorithm.grid)}, and scheme "
                    f"{experiment.cv.scheme!r} chooses no parameters: use scheme "
                    f"{schemes.named(lambda one: one.tunes)}, or one value."
                )
    n_features = n_columns(dataset, spec)
    for algorithm in experiment.algorithms:
        if is_outside(algorithm.name):
            outside = OutsideAlgorithm.of(algorithm)
            for params in algorithm.candidates():
                prepared(outside.make(**params), dataset, spec)
                if imports:
                    outside.check(params)
        elif algorithm.name in ALGORITHMS:
            for params in algorithm.candidates():
                if message := ALGORITHMS[algorithm.name].clash(params, n_features):
                    raise ConfigError(f"{who}: {message}")
                prepared(ALGORITHMS[algorithm.name].make(**params), dataset, spec)
