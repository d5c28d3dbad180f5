"""Stored runs in the form for plots and reports: rows by method and data set, predictions, tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from oblique_cli import schemes
from oblique_cli.config.result_tables import table_of
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.metrics import METRICS, NotMeasured, Undefined
from oblique_cli.evaluation.paired import Paired, StoredRun, pair
from oblique_cli.evaluation.tables import ResultTable, complete, method_titles, not_measured, task_of_experiment
from oblique_cli.experiments.store import Run, Store
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec, Experiment, Row, Tuning
from oblique_cli.ground.registry import close_matches


@dataclass(frozen=True, eq=False)
class Shown:
    """Stored run with all its stored results."""

    run: Run
    experiment: Experiment
    rows: Sequence[Row]
    tunings: Sequence[Tuning]
    remarks: Sequence[str]
    data: Mapping[str, str]

    @cached_property
    def good(self) -> Mapping[tuple[str, str], Sequence[Row]]:
        """Return the good rows by data set and algorithm, in the order of repetitions and folds."""
        rows_of: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            if row.status == "ok":
                rows_of.setdefault((row.dataset, row.algorithm), []).append(row)
        return {key: sorted(rows, key=lambda row: (row.repeat, row.fold)) for key, rows in rows_of.items()}

    @property
    def done(self) -> int:
        """Return the number of good folds."""
        return sum(row.status == "ok" for row in self.rows)

    @property
    def failed(self) -> int:
        """Return the number of failed folds."""
        return len(self.rows) - self.done

    @property
    def total(self) -> int:
        """Return the number of all folds of the run."""
        places = sum(len(schemes.expected_places(self.experiment, spec.name)) for spec in self.experiment.datasets)
        return places * len(self.experiment.algorithms)

    def stored(self) -> StoredRun:
        """Return the run in the form that tests of significance need."""
        return StoredRun(self.experiment, self.rows, self.data)

    def only(self, datasets: Collection[str], algorithms: Collection[str]) -> Shown:
        """Return the part of the run with these data sets and algorithms."""

        def wanted(record: Row | Tuning) -> bool:
            return record.dataset in datasets and record.algorithm in algorithms

        experiment = replace(
            self.experiment,
            datasets=tuple(spec for spec in self.experiment.datasets if spec.name in datasets),
            algorithms=tuple(spec for spec in self.experiment.algorithms if spec.id in algorithms),
        )
        return replace(
            self,
            experiment=experiment,
            rows=[row for row in self.rows if wanted(row)],
            tunings=[tuning for tuning in self.tunings if wanted(tuning)],
            data={name: digest for name, digest in self.data.items() if name in datasets},
        )

    def table(self, metrics: Sequence[str] = ()) -> ResultTable:
        """Return the table of the run, with titles and notes of its algorithms and data sets."""
        return table_of(self.experiment, self.rows, metrics, self.remarks)


@dataclass(frozen=True, eq=False)
class Method:
    """Algorithm of a run under its name in plots; `code` determines its color and marker."""

    shown: Shown
    spec: AlgorithmSpec
    label: str
    code: int
    computed: dict[tuple[str, ...], Any] = field(default_factory=dict, repr=False)  # by name and arguments

    def rows(self, dataset: str) -> list[Row]:
        """Return the good rows on a data set, by repetition and fold."""
        return list(self.shown.good.get((dataset, self.spec.id), ()))

    def tested(self, dataset: str) -> list[Row]:
        """Return the good rows except for folds that are tested on their own training rows."""
        cv = self.shown.experiment.cv
        apparent = schemes.SCHEMES[cv.scheme].apparent(cv)
        return [row for row in self.rows(dataset) if (row.repeat, row.fold) not in apparent]

    def repetitions(self, dataset: str) -> list[list[Row]]:
        """Return the rows of `tested` of each complete repetition."""
        if (name := ("repetitions", dataset)) in self.computed:
            return list(self.computed[name])
        experiment = self.shown.experiment
        apparent = schemes.SCHEMES[experiment.cv.scheme].apparent(experiment.cv)
        done = {(row.repeat, row.fold): row for row in self.tested(dataset)}
        expected = schemes.expected_places(experiment, dataset)
        self.computed[name] = complete(done, [place for place in expected if place not in apparent])
        return list(self.computed[name])

    def values(self, dataset: str, metric: str) -> list[float]:
        """Return a metric for each fold where it is defined."""
        return self._each(metric, dataset, "folds", lambda: [[row] for row in self.tested(dataset)])

    def by_repetition(self, dataset: str, metric: str) -> list[float]:
        """Return a metric for each repetition."""
        return self._each(metric, dataset, "repetitions", lambda: self.repetitions(dataset))

    def _each(self, metric: str, dataset: str, by: str, groups: Callable[[], list[list[Row]]]) -> list[float]:
        if (name := (metric, dataset, by)) not in self.computed:
            values = self.computed[name] = []
            for rows in groups():
                with suppress(Undefined):
                    values.append(float(measured(metric, rows, self.shown.experiment)))
        return list(self.computed[name])


def measured(metric: str, rows: Sequence[Row], experiment: Experiment) -> Any:
    """Return a metric of the folds of a repetition; raise ConfigError if it was not computed when they ran."""
    try:
        return METRICS[metric].of_repetition(rows)
    except NotMeasured as error:
        raise not_measured(metric, experiment) from error


@dataclass(frozen=True, eq=False)
class Material:
    """The runs to be shown together, cut down to the requested data sets and algorithms (`gather`)."""

    shown: tuple[Shown, ...]
    store: Store = field(repr=False)

    @property
    def title(self) -> str:
        """Return the titles of the runs."""
        return " and ".join(shown.experiment.title or shown.experiment.name for shown in self.shown)

    @cached_property
    def task(self) -> str:
        """Return classification or regression; raise ConfigError if the runs have both tasks."""
        tasks = {task_of_experiment(shown.experiment): shown.run.name for shown in self.shown}
        if len(tasks) > 1:
            raise ConfigError(
                f"{tasks['regression']} predicts numbers and {tasks['classification']} classes; show runs of one kind."
            )
        return next(iter(tasks))

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """Return the names of the data sets, in the order of the runs."""
        return tuple(dict.fromkeys(spec.name for shown in self.shown for spec in shown.experiment.datasets))

    @cached_property
    def methods(self) -> tuple[Method, ...]:
        """Return the algorithms. Algorithms of two runs with the same name are two methods, "hhgdt (run)"."""
        ids = [spec.id for shown in self.shown for spec in shown.experiment.algorithms]
        methods: list[Method] = []
        for shown in self.shown:
            for spec in shown.experiment.algorithms:
                label = method_titles().get(spec.name, spec.id) if spec.id == spec.name else spec.id
                if ids.count(spec.id) > 1:
                    label = f"{label} ({shown.run.name})"
                methods.append(Method(shown, spec, label, len(methods)))
        return tuple(methods)

    def paired(self, metrics: Sequence[str] = ()) -> Paired:
        """Return the runs as input of significance tests; raise ConfigError if there is nothing to compare."""
        return pair([shown.stored() for shown in self.shown], method_titles(), metrics)

    def has(self, method: Method, dataset: str) -> bool:
        """Return whether the configuration runs a method on a data set."""
        return any(spec.name == dataset for spec in method.shown.experiment.datasets)

    def policy(self, method: Method, dataset: str) -> DatasetSpec:
        """Return the settings of a data set in the configuration of a method."""
        return next(spec for spec in method.shown.experiment.datasets if spec.name == dataset)


def gather(
    store: Store, names: Sequence[str], datasets: Sequence[str] = (), algorithms: Sequence[str] = ()
) -> Material:
    """Return the stored runs, restricted to some data sets and algorithms (default: all), as material.

    Raise ConfigError if a run is repeated, if no run has a finished fold, if two runs have different data under one
    name, which plots could not distinguish, or for a name that no run has.
    """
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ConfigError(f"run {twice!r} is given twice; give each run once.")
    shown = []
    for name in names:
        run = store.run(name)
        rows = store.rows(name)
        shown.append(Shown(run, run.experiment, rows, store.tunings(name), store.remarks(name), run.content["data"]))
    known = [spec.name for entry in shown for spec in entry.experiment.datasets]
    ids = [spec.id for entry in shown for spec in entry.experiment.algorithms]
    datasets = _chosen(datasets, known, "data set", "dataset")
    algorithms = _chosen(algorithms, ids, "algorithm", "algorithm")
    shown = [entry.only(datasets, algorithms) for entry in shown]
    shown = [entry for entry in shown if entry.experiment.datasets and entry.experiment.algorithms]
    digests: dict[str, tuple[str, str]] = {}
    for entry in shown:
        for dataset, digest in entry.data.items():
            other = digests.setdefault(dataset, (digest, entry.run.name))
            if other[0] != digest:
                raise ConfigError(
                    f"runs {other[1]!r} and {entry.run.name!r} read different data under the name {dataset!r} (digests "
                    f"{other[0][:8]} and {digest[:8]}); show them apart, or run both on the same data."
                )
    if not any(row.status == "ok" for entry in shown for row in entry.rows):
        raise ConfigError(
            f"{' and '.join(map(repr, names))} has no finished fold to show; oblique run goes on with it, oblique "
            "status says what failed."
        )
    return Material(tuple(shown), store)


def _chosen(requested: Sequence[str], known: Sequence[str], what: str, option: str) -> tuple[str, ...]:
    """Return the requested names, or all known names without a request; raise ConfigError for an unknown name."""
    for name in requested:
        if name not in known:
            hint = close_matches(name, known) or f" They have {', '.join(dict.fromkeys(known))}."
            raise ConfigError(f"the runs have no {what} {name!r}, asked for by --{option}.{hint}")
    return tuple(requested or known)


def mean(values: Sequence[float]) -> float:
    """Return the mean, NaN without values."""
    return float(np.mean(values)) if len(values) else float("nan")


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation with divisor n - 1, 0 for fewer than two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
