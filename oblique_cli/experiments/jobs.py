"""Jobs of an experiment: one for each algorithm on each fold of each data set.

A job has its key before anything runs. The key is a digest of configuration, data, seed and fold, so a job is done if a
good row with its key is stored, after any kill and in any order of the jobs. The environment, code included, is stored
beside the row (`environment`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from oblique_cli import schemes
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import ALGORITHMS, Algorithm, is_outside, task_of
from oblique_cli.estimators.encoding import n_columns, prepared
from oblique_cli.evaluation import metrics
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec, Experiment, Job

# The content of a key begins with its format, which never changes, because stored results use it.
FORM = 2


def digest(value: Any) -> str:
    """Return the SHA-256 of plain data, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _base(content: Mapping[str, Any], dataset: str, algorithm: str) -> str:
    """Return a digest of the part of `content` that determines an algorithm's folds on a data set.

    The number of repetitions is excluded: repetition 3 of 5 is repetition 3 of 10."""
    cv = {key: value for key, value in content["cv"].items() if key != "repeats"}
    (plain,) = [a for a in content["algorithms"] if a["id"] == algorithm]
    method = AlgorithmSpec(**plain).on(dataset)
    (spec,) = [d for d in content["datasets"] if d["name"] == dataset]
    how = [method.id, method.name, method.params, method.grid]
    how += [part for part in (method.prepare, content.get("code")) if part]  # newer than the first results
    data = [dataset, content["data"][dataset], spec["missing"], spec["encoding"]]
    return digest([FORM, content["seed"], cv, how, data, *([content["metrics"]] if "metrics" in content else [])])


def expand(experiment: Experiment, datasets: Sequence[Dataset]) -> list[Job]:
    """Return the jobs by data set, repetition, fold, algorithm. All algorithms of a fold share its seed.

    Raise ConfigError or DataError as in `check`, or if the folds cannot be drawn."""
    jobs = []
    for spec, dataset in zip(experiment.datasets, datasets, strict=True):
        check(experiment, spec, dataset)
        data_content = content(experiment, [dataset])
        bases = {a.id: _base(data_content, dataset.name, a.id) for a in experiment.algorithms}
        for repeat, fold in schemes.places(experiment.cv, dataset):
            seed = seeds.integer(experiment.seed, dataset.name, "job", repeat, fold)
            for algorithm, base in bases.items():
                jobs.append(Job(digest([base, repeat, fold]), dataset.name, algorithm, repeat, fold, seed))
    return jobs


def shared_tuning(experiment: Experiment, dataset: Dataset, algorithm: AlgorithmSpec) -> Job:
    """Return the job that chooses parameters for all folds of a data set: fold -1, as it has no test rows."""
    base = _base(content(experiment, [dataset]), dataset.name, algorithm.id)
    seed = seeds.integer(experiment.seed, dataset.name, "tuning")
    return Job(digest([base, "tuning"]), dataset.name, algorithm.id, 0, -1, seed)


def content(experiment: Experiment, datasets: Sequence[Dataset]) -> dict[str, Any]:
    """Return everything that determines the results of `experiment`, including the data, as plain data."""
    names = metrics.to_measure(experiment.metrics)  # of the rows, in addition to those of every run
    measured = {"metrics": list(names)} if names else {}
    return {**experiment.content(), **measured, "data": {dataset.name: dataset.digest for dataset in datasets}}


def algorithm_of(spec: AlgorithmSpec, table: Mapping[str, Algorithm] = ALGORITHMS) -> Algorithm:
    """Return the algorithm of a configuration: from the table, or a class of another library."""
    if not is_outside(spec.name):
        return table[spec.name]
    from oblique_cli.estimators.outside.algorithm import OutsideAlgorithm

    return OutsideAlgorithm.of(spec)


def check(experiment: Experiment, spec: DatasetSpec, dataset: Dataset, imports: bool = True) -> None:
    """Raise ConfigError or DataError for a setting that would fail every fold on `dataset`, read by `spec`.

    imports : whether classes of other libraries may be imported, to compare their parameters"""
    who = f"data set {dataset.name!r}"
    for algorithm in experiment.algorithms:
        if task_of(algorithm.name) != dataset.task:
            fault = f"algorithm {algorithm.id!r} predicts {'numbers' if dataset.task != 'regression' else 'classes'}"
            raise DataError(f"{who} is for {dataset.task}, and {fault}: leave it out.")
    if dataset.task == "classification":
        present = {dataset.classes[code] for code in set(dataset.y.tolist())}
        if len(present) < 2:
            raise DataError(f"{who} has one class only, {''.join(present)!r}: there is nothing to tell apart.")
    metrics.chosen(experiment.metrics, dataset.task, who, matrices=True)
    metrics.check_scheme(experiment.metrics, experiment.cv, who)
    if experiment.cv.tune_metric:
        metrics.chosen([experiment.cv.tune_metric], dataset.task, who)
    algorithms = [algorithm.on(spec.name) for algorithm in experiment.algorithms]
    tuned = [algorithm for algorithm in algorithms if algorithm.grid]
    schemes.check(dataset, experiment.cv, tuned=bool(tuned))
    if tuned and not schemes.SCHEMES[experiment.cv.scheme].tunes:
        raise ConfigError(
            f"algorithm {tuned[0].id!r} has a grid for {', '.join(tuned[0].grid)}, and scheme "
            f"{experiment.cv.scheme!r} chooses no parameters: use scheme "
            f"{schemes.named(lambda scheme: scheme.tunes)}, or one value."
        )
    n_features = n_columns(dataset, spec)
    for algorithm in algorithms:
        outside = is_outside(algorithm.name)
        if not outside and algorithm.name not in ALGORITHMS:
            continue
        maker: Any = algorithm_of(algorithm)
        for params in algorithm.candidates():
            try:
                estimator = maker.make(**params) if outside else maker.built(params, n_features)
            except ConfigError as error:
                raise ConfigError(f"{who}: {error}") from error
            prepared(estimator, dataset, spec)
            if outside and imports:
                maker.check(params)
