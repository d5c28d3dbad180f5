"""Stored runs side by side: folds paired on the same partitions of the same data, joined tables, marks in tables.

Tests on one data set pair folds, so they need shared folds; tests over data sets pair means. Both use the
repetitions that are complete for every method, since means over other repetitions are means over other partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from oblique_cli import schemes
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.metrics import METRICS, TESTED, NotMeasured, Undefined
from oblique_cli.evaluation.metrics import chosen as checked
from oblique_cli.evaluation.sheets import BEST, SAME
from oblique_cli.evaluation.tables import Line, ResultTable, listed, not_measured, task_of_experiment, title_of
from oblique_cli.ground.nouns import AlgorithmSpec, Experiment, Row

ALPHA = 0.05  # level of marks in tables

Marks = Mapping[tuple[str, str, str], str]


@dataclass(frozen=True)
class StoredRun:
    """Run from the store; `data` maps its data sets to their digests."""

    experiment: Experiment
    rows: Sequence[Row]
    data: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Results of the methods on one data set, over the repetitions that all of them completed: metric -> method -> ...

    repetitions, folds : one number each, folds {} if they are not shared; undefined : why a method has no numbers
    test_over_train : test rows to training rows of a fold, None if repetitions do not redraw the partition
    """

    dataset: str
    repetitions: Mapping[str, Mapping[str, np.ndarray]]
    means: Mapping[str, Mapping[str, float]]
    folds: Mapping[str, Mapping[str, np.ndarray]]
    undefined: Mapping[str, Mapping[str, str]]
    test_over_train: float | None


@dataclass(frozen=True)
class Paired:
    """methods: id -> label, in the order of the runs. notes: omissions with their reasons. metrics: names."""

    methods: Mapping[str, str]
    scores: tuple[PairedScores, ...]
    notes: tuple[str, ...]
    metrics: tuple[str, ...]

    def whole(self, metric: str) -> tuple[tuple[str, ...], tuple[PairedScores, ...]]:
        """Return the methods and data sets for tests of a metric over data sets: every method has it on each set.

        A method without any value is omitted. If a metric is compared by ratios, a mean of 0 counts as missing.
        """
        positive = METRICS[metric].ratio
        has = [{m for m, mean in entry.means[metric].items() if mean > 0 or not positive} for entry in self.scores]
        methods = tuple(method for method in self.methods if any(method in each for each in has))
        scores = tuple(entry for entry, each in zip(self.scores, has, strict=True) if each.issuperset(methods))
        return methods, scores


@dataclass(frozen=True)
class _Results:
    """One method on one data set: its rows by repetition and fold, and the settings that determine its partitions."""

    rows: Mapping[tuple[int, int], Row]
    experiment: Experiment
    partition: tuple[Any, ...]
    places: list[tuple[int, int]]

    def complete(self) -> set[int]:
        bad = {r for r, k in self.places if (r, k) not in self.rows or self.rows[r, k].status != "ok"}
        return {r for r, _ in self.places} - bad

    def gap(self) -> str:
        """Return the reason for missing repetitions; "" if none is missing."""
        failed = [row for row in self.rows.values() if row.status != "ok"]
        left = len(self.places) - len(self.rows)
        what = [f"{len(failed)} failed (first: {failed[0].message or 'no message'})"] if failed else []
        return ", ".join([*what, *([f"{left} still to run"] if left else [])])

    def repetition(self, repeat: int) -> list[Row]:
        return [self.rows[place] for place in self.places if place[0] == repeat]


def pair(runs: Sequence[StoredRun], titles: Mapping[str, str] | None = None, metrics: Sequence[str] = ()) -> Paired:
    """Return the results of the methods of `runs` by data set. titles : algorithm name -> title to print

    metrics : names; default: those of TESTED and those in the configurations of all runs
    A method is an algorithm of a configuration. An algorithm that two runs have on the same data set, or with different
    settings, becomes two methods, "hhgdt (run)". Raise ConfigError if there is nothing to compare.
    """
    names = [run.experiment.name for run in runs]
    if len(set(names)) < len(names):
        raise ConfigError(f"significance: a run is given twice ({', '.join(names)}); give each once.")
    tasks = {task_of_experiment(run.experiment): run.experiment.name for run in runs}
    if len(tasks) > 1:
        raise ConfigError(
            f"significance: {tasks['regression']} predicts numbers and {tasks['classification']} classes; give runs of "
            "one kind."
        )
    (task,) = tasks
    configured = [name for name in runs[0].experiment.metrics if not METRICS[name].matrix]
    common = [name for name in configured if all(name in run.experiment.metrics for run in runs)]
    names_of_metrics = checked(metrics or (*TESTED[task], *common), task, "significance")
    for run in runs:
        if estimate := schemes.SCHEMES[run.experiment.cv.scheme].estimate:
            raise ConfigError(
                f"significance: {run.experiment.name} was run by scheme {run.experiment.cv.scheme}, whose accuracy is "
                f"of its own kind ({estimate}), no share of test rows that folds could be paired by; use a "
                "cross-validation, such as scheme ordinary."
            )
    labels, results_of = _methods(runs, titles or {})
    if len(labels) < 2:
        raise ConfigError(
            f"significance: {' and '.join(names)} has one algorithm, {next(iter(labels))}; a test needs two: give "
            "another run as well."
        )
    notes: list[str] = []
    scores = []
    for dataset in dict.fromkeys(spec.name for run in runs for spec in run.experiment.datasets):
        results = results_of[dataset]
        missing = [labels[method] for method in labels if method not in results]
        if missing:
            notes.append(f"{dataset} is left out: {listed(missing)} was not run on it.")
            continue
        entry = _scores(dataset, labels, {method: results[method] for method in labels}, notes, names_of_metrics)
        if entry:
            scores.append(entry)
    if not scores:
        raise ConfigError(f"significance: no data set can be used. {' '.join(notes)}")
    paired = Paired(labels, tuple(scores), (), names_of_metrics)
    compared = tuple(name for name in names_of_metrics if any(len(entry.means[name]) > 1 for entry in scores))
    left_out = [note for name in names_of_metrics for note in _left_out(paired, name)]
    if not compared:
        raise ConfigError(f"significance: no two algorithms have {listed(names_of_metrics)}. {' '.join(left_out)}")
    return Paired(labels, tuple(scores), (*notes, *left_out), compared)


def _left_out(paired: Paired, metric: str) -> list[str]:
    """Note the methods and data sets that tests on a metric omit; one note per reason."""
    methods, scores = paired.whole(metric)
    title = title_of(metric)
    nowhere: dict[str, list[str]] = {}
    for method in paired.methods:
        if method not in methods:
            why = next(
                (entry.undefined[metric][method] for entry in paired.scores if entry.undefined[metric]), "it is 0"
            )
            nowhere.setdefault(why, []).append(paired.methods[method])
    notes = [f"{listed(labels)}: no {title} to test ({why})." for why, labels in nowhere.items()]
    for entry in paired.scores:
        if entry in scores:
            continue
        lacking = [method for method in methods if method not in entry.means[metric]]
        zero = [method for method in methods if entry.means[metric].get(method) == 0]
        why = f"undefined ({entry.undefined[metric][lacking[0]]})" if lacking else "0 and has no ratio to another one"
        who = listed([paired.methods[method] for method in lacking or zero])
        notes.append(f"{entry.dataset}: tests of {title} over data sets leave it out, as that of {who} is {why}.")
    return notes


def _methods(
    runs: Sequence[StoredRun], titles: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, dict[str, _Results]]]:
    """Return method id -> label, and data set -> method id -> results."""
    settings: dict[str, list[tuple[str, Any]]] = {}
    for run in runs:
        for algorithm in run.experiment.algorithms:
            settings.setdefault(algorithm.id, []).append((run.experiment.name, _setting(run.experiment, algorithm)))
    sets = {run.experiment.name: {spec.name for spec in run.experiment.datasets} for run in runs}
    labels: dict[str, str] = {}
    results: dict[str, dict[str, _Results]] = {name: {} for names in sets.values() for name in names}
    for run in runs:
        experiment = run.experiment
        rows_of: dict[tuple[str, str], dict[tuple[int, int], Row]] = {}
        for row in run.rows:
            rows_of.setdefault((row.dataset, row.algorithm), {})[row.repeat, row.fold] = row
        for algorithm in experiment.algorithms:
            others = [(name, setting) for name, setting in settings[algorithm.id] if name != experiment.name]
            mine = _setting(experiment, algorithm)
            clash = any(setting != mine or sets[name] & sets[experiment.name] for name, setting in others)
            method = f"{algorithm.id} ({experiment.name})" if clash else algorithm.id
            label = titles.get(algorithm.name, algorithm.name) if algorithm.id == algorithm.name else algorithm.id
            labels[method] = f"{label} ({experiment.name})" if clash else label
            for spec in experiment.datasets:
                rows = rows_of.get((spec.name, algorithm.id), {})
                places = schemes.expected_places(experiment, spec.name)
                results[spec.name][method] = _Results(rows, experiment, partition(run, spec.name), places)
    return labels, results


def _setting(experiment: Experiment, algorithm: AlgorithmSpec) -> Any:
    """Return the settings that make an algorithm of two runs one method: its parameters, tuning and test scheme."""
    cv = experiment.cv.plain()
    del cv["repeats"]
    return algorithm.name, dict(algorithm.params), dict(algorithm.grid), dict(algorithm.per_dataset), cv


def partition(run: StoredRun, dataset: str) -> tuple[Any, ...]:
    """Return the settings that determine the partition of rows (`schemes`), without the name of the scheme."""
    experiment = run.experiment
    (spec,) = [spec for spec in experiment.datasets if spec.name == dataset]
    how = schemes.SCHEMES[experiment.cv.scheme].partition(experiment.cv)
    return (experiment.seed, run.data.get(dataset, ""), spec.missing, *how)


def _scores(
    dataset: str, labels: Mapping[str, str], results: Mapping[str, _Results], notes: list[str], metrics: Sequence[str]
) -> PairedScores | None:
    complete = {method: result.complete() for method, result in results.items()}
    common = sorted(set.intersection(*complete.values()))
    gaps = "; ".join(f"{labels[m]} {why}" for m, result in results.items() if (why := result.gap()))
    if not common:
        notes.append(f"{dataset} is left out, no repetition is complete for every method: {gaps or 'none in common'}.")
        return None
    n_repeats = max(len({repeat for repeat, _ in result.places}) for result in results.values())
    if len(common) < n_repeats:
        why = f": {gaps}" if gaps else ""
        notes.append(
            f"{dataset}: {len(common)} of {n_repeats} repetitions are complete for every method and used{why}."
        )
    rows = {method: [result.repetition(r) for r in common] for method, result in results.items()}
    sizes = {tuple(row.n_test for repetition in rows[m] for row in repetition) for m in rows}
    shared = len({result.partition for result in results.values()}) == 1 and len(sizes) == 1
    if not shared:
        notes.append(f"{dataset}: the runs divided its rows differently, so its folds cannot be paired by a t test.")
    repetitions: dict[str, dict[str, list[Fraction]]] = {name: {} for name in metrics}
    folds: dict[str, dict[str, np.ndarray]] = {name: {} for name in metrics} if shared else {}
    undefined: dict[str, dict[str, str]] = {name: {} for name in metrics}
    for name, method in product(metrics, labels):
        try:
            repetitions[name][method] = [METRICS[name].of_repetition(rep) for rep in rows[method]]
            if shared:
                each = (METRICS[name].of(row) for rep in rows[method] for row in rep)
                folds[name][method] = np.array([float(value) for value in each])
        except NotMeasured as error:
            raise not_measured(name, results[method].experiment) from error
        except Undefined as reason:
            undefined[name][method] = str(reason)
    cv = next(iter(results.values())).experiment.cv
    exact = {name: {m: np.array(v, dtype=float) for m, v in each.items()} for name, each in repetitions.items()}
    means = {name: {m: float(sum(v) / len(v)) for m, v in each.items()} for name, each in repetitions.items()}
    ratio = schemes.SCHEMES[cv.scheme].test_over_train(cv)
    return PairedScores(dataset, exact, means, folds, undefined, ratio)


# ---- tables ----------------------------------------------------------------------------------------------------------


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
    repeated = {algorithm for (_, algorithm), count in seen.items() if count > 1}
    lines: dict[tuple[str, str], Line] = {}
    for run, table in tables.items():
        for line in table.lines:
            if line.algorithm in repeated:  # on every data set, so that a method of a run has one name
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


def marks(run: StoredRun, metrics: Sequence[str], alpha: float = ALPHA) -> Marks:
    """Return (data set, algorithm, metric) -> BEST, or SAME for a mean not significantly worse than the best.

    Uses the corrected resampled t test, two-sided, on shared folds. Raise ConfigError if there is nothing to compare.
    """
    from oblique_cli.evaluation.significance_tests import corrected_resampled_t

    cell_marks: dict[tuple[str, str, str], str] = {}
    paired = pair([run], {}, metrics)
    for scores in paired.scores:
        for metric in metrics:
            means = scores.means[metric]
            if not means:
                continue
            best = max(means.values()) if METRICS[metric].larger_is_better else min(means.values())
            leader = next(method for method, mean in means.items() if mean == best)
            folds = scores.folds.get(metric)
            for method, mean in means.items():
                ratio, d = scores.test_over_train, None if folds is None else folds[leader] - folds[method]
                if mean == best:
                    cell_marks[scores.dataset, method, metric] = BEST
                elif ratio is not None and d is not None and len(d) > 1 and corrected_resampled_t(d, ratio).p > alpha:
                    cell_marks[scores.dataset, method, metric] = SAME
    return cell_marks


def marked(table: ResultTable, run: StoredRun, alpha: float = ALPHA) -> ResultTable:
    """Return the table of a run with marks on the best cells and a note; raise ConfigError as in `marks`."""
    metrics = [name for name in table.metrics if name in METRICS and not METRICS[name].matrix]
    if not metrics:
        raise ConfigError(f"{run.experiment.name}: the table shows no metric whose best could be marked.")
    cell_marks = marks(run, metrics, alpha)
    test = f"at {alpha:g} by the corrected resampled t test"
    note = f"{BEST} the best on its data set; {SAME} not significantly worse {test}."
    return replace(table, notes=(*table.notes, note), marks=cell_marks)
