"""Table of a stored run: lines, notes, and published numbers where the settings are those of the published table."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from oblique_cli.config.checking import load
from oblique_cli.data import catalogue
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.evaluation import published, tables
from oblique_cli.evaluation.tables import ResultTable, method_of, method_titles
from oblique_cli.ground.nouns import AlgorithmSpec, CVSpec, DatasetSpec, Experiment, Row
from oblique_cli.schemes import SCHEMES

# Parameters that change neither the tree nor its classes.
WITHOUT_EFFECT = frozenset(("engine", "path", "probabilities", "probability_strength", "leaf_residuals"))


def table_of(
    experiment: Experiment, rows: Iterable[Row], metrics: Sequence[str] = (), remarks: Sequence[str] = ()
) -> ResultTable:
    """Return `tables.summarize` with titles and notes of algorithms and data sets. remarks : `Store.remarks`"""
    notes, rows = {spec.name: catalogue.remark(spec) for spec in experiment.datasets}, list(rows)
    titles = method_titles(name for spec in experiment.algorithms for name in (spec.name, spec.id))
    table = tables.summarize(
        rows, experiment, titles=titles, dataset_notes=notes, metrics=metrics, deviations=deviations(experiment)
    )
    further = (*tables.parameter_notes(experiment), *tables.pruning_notes(experiment))
    return replace(table, notes=(*table.notes, *further, *tables.edge_notes(experiment, rows), *remarks))


def deviations(experiment: Experiment) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Return (data set, algorithm id, published table) -> settings that differ from those of the table, in words.

    The settings of a table are those of its configurations (`configurations` of `papers/published/tables.csv`).
    The number of repetitions may differ, as it changes the precision of a mean alone."""
    differing = {}
    for reference in dict.fromkeys(experiment.published):
        table = published.find(reference)
        if not table.configurations:
            continue
        for dataset in experiment.datasets:
            for algorithm in experiment.algorithms:
                differences = _fewest(table, dataset, algorithm.on(dataset.name), experiment.cv)
                differing[dataset.name, algorithm.id, reference] = differences
    return differing


def _fewest(
    table: published.PublishedTable, dataset: DatasetSpec, algorithm: AlgorithmSpec, cv: CVSpec
) -> tuple[str, ...]:
    """Return the differences from the nearest of the table's configurations with this data set and method."""
    title = _title(algorithm)
    fewest: tuple[str, ...] | None = None
    for reference in map(_configuration, table.configurations.split()):
        for there, other in itertools.product(reference.datasets, reference.algorithms):
            if there.name == dataset.name and _title(other) == title:
                theirs = _settings(there, other.on(dataset.name), reference.cv)
                differences = tuple(_differences(_settings(dataset, algorithm, cv), theirs))
                fewest = differences if fewest is None else min(fewest, differences, key=len)
                if not fewest:  # further configurations need not be read
                    return fewest
    return (f"no configuration of the table has {title} on this data set",) if fewest is None else fewest


@cache
def _configuration(name: str) -> Experiment:
    return load(name)


def _title(algorithm: AlgorithmSpec) -> str:
    return method_of(algorithm, method_titles((algorithm.name, algorithm.id)))


def _differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings that differ: "criterion entropy (gini)", with that of the published table in brackets."""
    for key in dict.fromkeys((*theirs, *ours)):
        if key not in WITHOUT_EFFECT and ours.get(key) != theirs.get(key):
            yield f"{key} {_shown(ours.get(key))} ({_shown(theirs.get(key))})"


def _settings(dataset: DatasetSpec, algorithm: AlgorithmSpec, cv: CVSpec) -> dict[str, Any]:
    """Return everything that decides the expected results, defaults included; without a grid, nothing of tuning."""
    known, scheme, plain = ALGORITHMS[algorithm.name], SCHEMES[cv.scheme], cv.plain()
    how = SCHEMES[CVSpec.scheme] if scheme.tunes and not algorithm.grid else scheme
    return {
        **{f"dataset.{key}": getattr(dataset, key) for key in ("missing", "encoding", "qualitative")},
        **known.defaults,
        **known.current(algorithm.params),
        **{key: list(values) for key, values in known.current(algorithm.grid).items()},
        "cv.scheme": how.name,
        **{f"cv.{key}": plain[key] for key in how.takes() if key in plain and key != "repeats"},
        **({f"cv.{key}": plain.get(key) for key in ("tune_folds", "tune_metric")} if algorithm.grid else {}),
    }


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{{grid: {len(value)} values from {value[0]} to {value[-1]}}}"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
