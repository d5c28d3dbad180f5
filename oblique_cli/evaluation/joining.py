"""Joining of several stored runs into one table, to compare their algorithms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.paired import StoredRun, partition
from oblique_cli.evaluation.tables import Line, ResultTable, listed


def joined(tables: Mapping[str, ResultTable], runs: Mapping[str, StoredRun]) -> ResultTable:
    """Return the lines of several runs, by name, as one table with the metrics that all of them show.

    Raise ConfigError if two runs have different data under one data set name, or different tasks.
    """
    data: dict[str, tuple[str, str]] = {}
    for run, stored in runs.items():
        for name, digest in stored.data.items():
            first, known = data.setdefault(name, (run, digest))
            if digest != known:
                raise ConfigError(
                    f"runs {first!r} and {run!r} have different data under the name {name!r}: give one of them another "
                    "name (--set dataset.name=...) and run it again."
                )
    metrics = [table.metrics for table in tables.values()]
    common = tuple(name for name in metrics[0] if all(name in other for other in metrics))
    if len(common) < 2 and any(other != metrics[0] for other in metrics):
        raise ConfigError(f"runs {listed(list(tables))} have no metrics in common, as they predict different things.")
    seen = Counter((line.dataset, line.algorithm) for table in tables.values() for line in table.lines)
    lines: dict[tuple[str, str], Line] = {}
    for run, table in tables.items():
        for line in table.lines:
            if seen[line.dataset, line.algorithm] > 1:
                line = replace(line, algorithm=f"{line.algorithm}@{run}", label=f"{line.label} ({run})")
            lines[line.dataset, line.algorithm] = line
    datasets = list(dict.fromkeys(dataset for dataset, _ in lines))
    notes = dict.fromkeys(f"{run}: {note}" for run, table in tables.items() for note in table.notes)
    ways = {
        name: {partition(run, name) for run in runs.values() if name in {spec.name for spec in run.experiment.datasets}}
        for name in datasets
    }
    if apart := [name for name in datasets if len(ways[name]) > 1]:
        notes[f"The runs divided the rows of {listed(apart)} in different ways, so their folds are not paired."] = None
    return ResultTable(
        title=f"runs {listed(list(tables))}" if len(tables) > 1 else next(iter(tables.values())).title,
        lines=tuple(sorted(lines.values(), key=lambda line: datasets.index(line.dataset))),
        references=(),
        notes=tuple(notes),
        metrics=common,
    )
