"""Pivot of a table of results: a grid per metric, with data sets as rows, methods as columns, and ranks at the foot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.comparing import FIRST, SECOND, TIE, verdict
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.evaluation.sheets import BEST, MISSING, HasSheet, Sheet, TextGrid
from oblique_cli.evaluation.significance_tests import average_ranks
from oblique_cli.evaluation.tables import Line, ResultTable, TableValue, clusters_text, is_matrix, shown

RULE = "1-SD"  # of wins, ties and losses


@dataclass(frozen=True)
class Foot:
    """Summary of the methods by one metric.

    datasets    number of data sets on which every method has the metric; methods without any value do not count
    means       method -> mean over these data sets
    ranks       method -> mean rank on them; 1 is the best, ties share a rank
    counts      method -> wins, ties and losses against each other method on each data set, by RULE
    Ranks and counts are {} for a single method and for a measure without a better direction.
    """

    datasets: int
    means: Mapping[str, float] = field(default_factory=dict)
    ranks: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)


def foot(table: ResultTable, metric: str) -> Foot:
    """Return the foot of a metric's grid."""
    by_set: dict[str, dict[str, tuple[float, float]]] = {}
    for line in table.lines:
        value = line.value(metric)
        if value.mean is not None:
            by_set.setdefault(line.dataset, {})[line.algorithm] = (value.mean, value.sd or 0.0)
    methods = [method for method in _methods(table) if any(method in numbers for numbers in by_set.values())]
    means = np.array([[numbers[m][0] for m in methods] for numbers in by_set.values() if len(numbers) == len(methods)])
    if not len(means):
        return Foot(0)
    averages = dict(zip(methods, map(float, means.mean(axis=0)), strict=True))
    if len(methods) < 2 or metric not in METRICS:
        return Foot(len(means), averages)
    larger = METRICS[metric].larger_is_better
    ranks = average_ranks(means if larger else -means)
    counts: dict[str, Counter[str | None]] = {method: Counter() for method in methods}
    for numbers in by_set.values():
        for a, b in permutations(numbers, 2):
            counts[a][verdict(*numbers[a], *numbers[b], rule=RULE, smaller_is_better=not larger)] += 1
    return Foot(
        len(means),
        averages,
        dict(zip(methods, map(float, ranks), strict=True)),
        {method: (count[FIRST], count[TIE], count[SECOND]) for method, count in counts.items()},
    )


def pivot(table: ResultTable) -> Sheet:
    """Return the sheet of a pivot: a grid per metric, then clusters, then matrices as in the long form.

    raises ConfigError if the table shows no number
    """
    long = table.sheet()
    metrics = [name for name in table.metrics if not is_matrix(name)]
    if not metrics:
        raise ConfigError(f"{table.title}: a pivot shows numbers; {', '.join(table.metrics)} has none. Use --long.")
    feet = {name: foot(table, name) for name in metrics}
    grids = [_grid(table, name, feet[name]) for name in metrics]
    if any(line.clusters for line in table.lines):
        rows = [
            (dataset, *(clusters_text(line) if line else MISSING for line in lines)) for dataset, lines in _rows(table)
        ]
        grids.append(TextGrid(("data set", *_methods(table).values()), tuple(rows), 1, "clusters"))
    notes = [*table.notes]
    if any(each.ranks for each in feet.values()):
        notes += [] if table.marks else [f"{BEST} the best of a row."]
        notes.append(
            "Mean and mean rank are over the data sets with results of all methods; wins/ties/losses are against each "
            f"other method on each data set by the {RULE} rule, where a missing SD counts as 0."
        )
    return replace(
        long,
        grids=(*grids, *long.grids[1:]),
        notes=tuple(notes),
        records=tuple(_record(name, dataset, lines) for name in metrics for dataset, lines in _rows(table)),
        facts={**long.facts, "summary": {name: asdict(each) for name, each in feet.items()}},
    )


def in_form(table: HasSheet, format: str, long: bool = False) -> HasSheet:
    """Return a table in the shape of a format: in LaTeX the pivot of results unless `long`, else the table itself."""
    if format != "latex" or long or not isinstance(table, ResultTable) or all(map(is_matrix, table.metrics)):
        return table
    return pivot(table)


def _methods(table: ResultTable) -> dict[str, str]:
    """Return the labels of the methods by their ids, in the order of the table."""
    return {line.algorithm: line.label for line in table.lines}


def _rows(table: ResultTable) -> list[tuple[str, list[Line | None]]]:
    """Return each data set with the lines of all methods on it, None where a method was not run."""
    lines = {(line.dataset, line.algorithm): line for line in table.lines}
    return [
        (dataset, [lines.get((dataset, method)) for method in _methods(table)])
        for dataset in dict.fromkeys(line.dataset for line in table.lines)
    ]


def _grid(table: ResultTable, name: str, summary: Foot) -> TextGrid:
    labels, lines_of = _methods(table), _rows(table)
    beside = {line.algorithm for line in table.lines if line.value(name).published}
    header, columns = ["data set"], {}
    for method, label in labels.items():
        columns[method] = len(header)
        header += [label, f"{label}, published"] if method in beside else [label]
    rows: list[list[str]] = []
    marks: dict[tuple[int, int], str] = {}
    for dataset, lines in lines_of:
        row = [dataset]
        best = _best({line.algorithm: line.value(name).mean for line in lines if line}, name)
        for method, line in zip(labels, lines, strict=True):
            if mark := table.marks.get((dataset, method, name), "") if table.marks else BEST * (method in best):
                marks[len(rows), len(row)] = mark
            row.append(shown(name, line.value(name), line.mark) if line else MISSING)
            if method in beside:
                row.append(table.published_text(line, name) if line else MISSING)
        rows.append(row)
    for title, best, texts in _foot_rows(name, summary):
        marks |= {(len(rows), columns[method]): BEST for method in best}
        rows.append([title] + [""] * (len(header) - 1))
        for method, text in texts.items():
            rows[-1][columns[method]] = text
    return TextGrid(
        tuple(header), tuple(map(tuple, rows)), 1, table.heading(name), marks, foot=len(rows) - len(lines_of)
    )


def _best(means: Mapping[str, float | None], name: str) -> set[str]:
    """Return the methods with the best of two or more means."""
    values = {method: mean for method, mean in means.items() if mean is not None}
    if len(values) < 2 or name not in METRICS:
        return set()
    best = max(values.values()) if METRICS[name].larger_is_better else min(values.values())
    return {method for method, mean in values.items() if mean == best}


def _foot_rows(name: str, summary: Foot) -> Iterator[tuple[str, set[str], dict[str, str]]]:
    """Yield title, best methods and texts by method of each row of a foot."""
    if summary.datasets > 1:
        means = {method: shown(name, TableValue(mean, None)) for method, mean in summary.means.items()}
        yield f"mean of {summary.datasets}", _best(summary.means, name), means
    if summary.ranks:
        first = min(summary.ranks.values())
        ranks = {method: f"{rank:.2f}" for method, rank in summary.ranks.items()}
        yield "mean rank", {method for method, rank in summary.ranks.items() if rank == first}, ranks
        yield "wins/ties/losses", set(), {method: "/".join(map(str, count)) for method, count in summary.counts.items()}


def _record(name: str, dataset: str, lines: Iterable[Line | None]) -> dict[str, Any]:
    record: dict[str, Any] = {"metric": name, "dataset": dataset}
    for line in filter(None, lines):
        record |= {f"{line.algorithm}_{part}": getattr(line.value(name), part) for part in ("mean", "sd")}
    return record
