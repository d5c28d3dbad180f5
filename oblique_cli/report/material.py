"""Stored runs side by side, as plots and reports take them: rows by method and data set, predictions, tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from oblique_cli import schemes
from oblique_cli.data import catalogue
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.evaluation.metrics import METRICS, Undefined
from oblique_cli.evaluation.paired import StoredRun
from oblique_cli.evaluation.tables import ResultTable, not_measured, summarize, task_of_experiment
from oblique_cli.experiments.predictions import Labels, Predictions, unpack, unpack_labels
from oblique_cli.experiments.store import Run, Store
from oblique_cli.nouns import AlgorithmSpec, DatasetSpec, Experiment, Row, Tuning
from oblique_cli.registry import close_matches


@dataclass(frozen=True, eq=False)
class Shown:
    """A stored run with everything that was stored of it."""

    run: Run
    experiment: Experiment
    rows: Sequence[Row]
    tunings: Sequence[Tuning]
    remarks: Sequence[str]
    data: Mapping[str, str]

    def stored(self) -> StoredRun:
        """The run as tests of significance take it."""
        return StoredRun(self.experiment, self.rows, self.data)

    def table(self, metrics: Sequence[str] = ()) -> ResultTable:
        """Return its table, with titles and notes of its algorithms and data sets."""
        titles = {name: algorithm.title for name, algorithm in ALGORITHMS.items()}
        notes = {
            spec.name: catalogue.entry(spec.name).note.partition(": ")[2]
            for spec in self.experiment.datasets
            if spec.target is None and spec.name in catalogue.names()
        }
        table = summarize(self.rows, self.experiment, titles=titles, dataset_notes=notes, metrics=metrics)
        return replace(table, notes=(*table.notes, *self.remarks))


@dataclass(frozen=True, eq=False)
class Method:
    """An algorithm of a run under the name that a plot gives it; `code` is its color and shape."""

    shown: Shown
    spec: AlgorithmSpec
    label: str
    code: int

    def rows(self, dataset: str) -> list[Row]:
        """Return its good rows on a data set, by repetition and fold."""
        own = [row for row in self.shown.rows if (row.dataset, row.algorithm) == (dataset, self.spec.id)]
        return sorted((row for row in own if row.status == "ok"), key=lambda row: (row.repeat, row.fold))

    def repetitions(self, dataset: str) -> list[list[Row]]:
        """Return the rows of each complete repetition; what is tested on its own training rows is left out."""
        experiment = self.shown.experiment
        scheme = schemes.SCHEMES[experiment.cv.scheme]
        apparent = scheme.apparent(experiment.cv)
        places = [place for place in schemes.expected_places(experiment, dataset) if place not in apparent]
        done = {(row.repeat, row.fold): row for row in self.rows(dataset)}
        wanted: dict[int, list[tuple[int, int]]] = {}
        for place in places:
            wanted.setdefault(place[0], []).append(place)
        return [[done[place] for place in each] for each in wanted.values() if all(place in done for place in each)]

    def values(self, dataset: str, metric: str) -> list[float]:
        """Return a metric fold by fold; folds where it is undefined are left out."""
        return [float(value) for value in self._each(metric, ([row] for row in self.rows(dataset)))]

    def by_repetition(self, dataset: str, metric: str) -> list[float]:
        """Return a metric repetition by repetition."""
        return [float(value) for value in self._each(metric, self.repetitions(dataset))]

    def _each(self, metric: str, groups: Any) -> Iterator[Fraction]:
        for rows in groups:
            try:
                yield measured(metric, rows, self.shown.experiment)
            except Undefined:
                continue


def measured(metric: str, rows: Sequence[Row], experiment: Experiment) -> Any:
    """Return a metric of the folds of a repetition; ConfigError if it was not computed when they ran."""
    from oblique_cli.evaluation.metrics import NotMeasured

    try:
        return METRICS[metric].of_repetition(rows)
    except NotMeasured as error:
        raise not_measured(metric, experiment) from error


@dataclass(frozen=True, eq=False)
class Material:
    """The runs to be shown together, cut down to the data sets and algorithms asked for."""

    shown: tuple[Shown, ...]
    store: Store = field(repr=False)
    only_datasets: tuple[str, ...] = ()
    only_algorithms: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The titles of the runs."""
        return " and ".join(one.experiment.title or one.experiment.name for one in self.shown)

    @cached_property
    def task(self) -> str:
        """Classification or regression; ConfigError if the runs are of both."""
        tasks = {task_of_experiment(one.experiment): one.run.name for one in self.shown}
        if len(tasks) > 1:
            raise ConfigError(
                f"{tasks['regression']} predicts numbers and {tasks['classification']} classes; show runs of one kind."
            )
        return next(iter(tasks))

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """Names of the data sets, in the order of the runs."""
        known = dict.fromkeys(spec.name for one in self.shown for spec in one.experiment.datasets)
        return _chosen(self.only_datasets, known, "data set", "dataset")

    @cached_property
    def methods(self) -> tuple[Method, ...]:
        """The algorithms. Two runs that have one each under the same name make two, "hhgdt (run)"."""
        ids = [spec.id for one in self.shown for spec in one.experiment.algorithms]
        wanted = _chosen(self.only_algorithms, dict.fromkeys(ids), "algorithm", "algorithm")
        found: list[Method] = []
        for one in self.shown:
            for spec in one.experiment.algorithms:
                label = ALGORITHMS[spec.name].title if spec.id == spec.name and spec.name in ALGORITHMS else spec.id
                if ids.count(spec.id) > 1:
                    label = f"{label} ({one.run.name})"
                if spec.id in wanted:
                    found.append(Method(one, spec, label, len(found)))
        return tuple(found)

    def has(self, method: Method, dataset: str) -> bool:
        """Whether a method was asked to run on a data set."""
        return any(spec.name == dataset for spec in method.shown.experiment.datasets)

    def policy(self, method: Method, dataset: str) -> DatasetSpec:
        """What the configuration of a method says of a data set."""
        return next(spec for spec in method.shown.experiment.datasets if spec.name == dataset)

    def predictions(self, method: Method, row: Row) -> Predictions | None:
        """Return what a fold predicted, None if that was not kept."""
        packed = self.store.packed(method.shown.run.name, row)
        return unpack(packed) if packed else None

    def labels(self, method: Method, dataset: str) -> Labels | None:
        """Return the true labels of a data set, None if they are not stored."""
        packed = self.store.labels(method.shown.data.get(dataset, ""))
        return unpack_labels(packed) if packed else None


def gather(
    store: Store, names: Sequence[str], datasets: Sequence[str] = (), algorithms: Sequence[str] = ()
) -> Material:
    """Return stored runs as material.

    ConfigError if one is given twice, if none has a finished fold, or if two of them read different data under one
    name, which no picture could tell apart.
    """
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ConfigError(f"run {twice!r} is given twice; give each run once.")
    shown = []
    for name in names:
        run = store.run(name)
        rows = store.rows(name)
        shown.append(Shown(run, run.experiment, rows, store.tunings(name), store.remarks(name), run.content["data"]))
    digests: dict[str, tuple[str, str]] = {}
    for one in shown:
        for dataset, digest in one.data.items():
            other = digests.setdefault(dataset, (digest, one.run.name))
            if other[0] != digest:
                raise ConfigError(
                    f"runs {other[1]!r} and {one.run.name!r} read different data under the name {dataset!r} (digests "
                    f"{other[0][:8]} and {digest[:8]}); show them apart, or run both on the same data."
                )
    if not any(row.status == "ok" for one in shown for row in one.rows):
        raise ConfigError(
            f"{' and '.join(map(repr, names))} has no finished fold to show; oblique run goes on with it, oblique "
            "status says what failed."
        )
    material = Material(tuple(shown), store, tuple(datasets), tuple(algorithms))
    _ = material.datasets, material.methods  # refuse unknown names now
    return material


def _chosen(asked: Sequence[str], known: Mapping[str, Any], what: str, option: str) -> tuple[str, ...]:
    for name in asked:
        if name not in known:
            hint = close_matches(name, known) or f" They have {', '.join(known)}."
            raise ConfigError(f"the runs have no {what} {name!r}, asked for by --{option}.{hint}")
    return tuple(name for name in known if not asked or name in asked)


def mean(values: Sequence[float]) -> float:
    """The mean, NaN of nothing."""
    return float(np.mean(values)) if len(values) else float("nan")


def deviation(values: Sequence[float]) -> float:
    """The standard deviation with divisor n - 1, 0 of fewer than two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
