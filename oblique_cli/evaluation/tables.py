"""Tables of results: data set x algorithm, metrics as mean ± SD over repetitions, published numbers beside them.

Computation of a number (Wickramarachchi 2015, eq. 1.9.3):
accuracy of a repetition   correct test predictions summed over its folds / test rows summed over its folds
leaves of a repetition     plain mean over the trees of its folds
other metrics              as in the registry (`metrics.Metric.aggregate`)
a cell                     mean over repetitions, and SD with divisor R - 1 (none for one repetition)
Beside published tables of folds alone (`published.CROSS_VALIDATION`) a cell is the mean over all folds, and the SD is
that over the folds of the first repetition. A metric is in the unit in which they print it.

No missing number is estimated. Pooling needs every row tested once, so only complete repetitions are averaged: a
repetition with failed or unfinished folds is excluded from the mean, and the cell has a mark and the count of its
folds: `†99/100` if folds failed, `‡37/100` if folds are still to run. A cell without a complete repetition shows a
dash, as does a metric without a value in some fold; a note gives the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from math import floor, log10, sqrt
from typing import Any

from oblique_cli import schemes
from oblique_cli.errors import ConfigError, cut_list
from oblique_cli.estimators.algorithms import ALGORITHMS, task_of
from oblique_cli.estimators.default_pruning import pruning_of
from oblique_cli.evaluation import published
from oblique_cli.evaluation.metrics import METRICS, READ, SHOWN, NotMeasured, Undefined, check_scheme, weighted_sum
from oblique_cli.evaluation.metrics import chosen as checked
from oblique_cli.evaluation.published import Published
from oblique_cli.evaluation.sheets import BEST, FAILED, MISSING, OTHER_SETTINGS, SAME, UNFINISHED, Sheet, TextGrid
from oblique_cli.ground.nouns import NO_INFORMATION_ERROR, AlgorithmSpec, Experiment, Row

FOLD_COUNTS = ("folds_ok", "folds_failed", "folds_expected")  # of a line

FEWEST_VALUES = 3  # of a grid with an interior
LEAST_POWER, MOST_POWER = -5, 6  # exponents of numbers written without a power of ten


@dataclass(frozen=True)
class TableValue:
    """Metric of a line: mean and SD over complete repetitions, published number, and reason for a missing mean."""

    mean: float | None
    sd: float | None
    published: Published | None = None
    undefined: str = ""

    @property
    def difference(self) -> float | None:
        """Return our mean minus the published mean."""
        if self.mean is None or self.published is None or self.published.mean is None:
            return None
        return self.mean - self.published.mean

    def divided(self, unit: float) -> TableValue:
        """Return our mean and SD in a unit."""
        mean, sd = (None if value is None else value / unit for value in (self.mean, self.sd))
        return self if unit == 1 else replace(self, mean=mean, sd=sd)


@dataclass(frozen=True)
class Line:
    """One algorithm on one data set.

    algorithm   its id in the configuration
    label       name in tables: the published title, or the id if the configuration sets one
    repeats     complete repetitions, which are averaged
    message     message of the first failed fold, by repetition and fold
    clusters    class -> its clusters, averaged over the training sets of the complete repetitions; {} for an algorithm
                without clusters. `clusters_published` are those of a published table, as printed, "" without any
    values      name -> value: of the metrics shown, and of the measures of estimators (`Row.measures`), which are
                averaged over the folds of a repetition
    matrices    name of a metric -> its matrix of counts, mean over repetitions
    classes     the classes of its rows and columns
    deviations  published table with a number for the line -> settings that differ, for which the number is left out
    """

    dataset: str
    algorithm: str
    label: str
    values: Mapping[str, TableValue]
    repeats: int
    repeats_expected: int
    folds_ok: int
    folds_failed: int
    folds_expected: int
    message: str = ""
    clusters: Mapping[str, float] = field(default_factory=dict)
    clusters_published: str = ""
    matrices: Mapping[str, tuple[tuple[float, ...], ...]] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    deviations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def value(self, name: str) -> TableValue:
        """Return the value of a metric, without a mean if the line does not have the metric."""
        return self.values.get(name, TableValue(None, None))

    @property
    def accuracy(self) -> TableValue:
        return self.value("accuracy")

    @property
    def leaves(self) -> TableValue:
        return self.value("leaves")

    @property
    def mark(self) -> str:
        """Return a mark for missing folds and the count of good folds, such as "†99/100"; "" if all are done."""
        if self.folds_ok == self.folds_expected:
            return ""
        return f"{FAILED if self.folds_failed else UNFINISHED}{self.folds_ok}/{self.folds_expected}"


@dataclass(frozen=True)
class ResultTable:
    """Lines in the order of the experiment, data sets first; `references` names the published tables shown.

    metrics     names of the columns, in order: metrics, and measures of estimators
    estimate    name of the accuracy, if it is not the share of correct test rows
    marks       (data set, algorithm, metric) -> BEST or SAME, for marked cells (`marking.marked`)
    """

    title: str
    lines: tuple[Line, ...]
    references: tuple[str, ...]
    notes: tuple[str, ...]
    metrics: tuple[str, ...] = SHOWN["classification"]
    estimate: str = ""
    marks: Mapping[tuple[str, str, str], str] = field(default_factory=dict)

    def sheet(self) -> Sheet:
        """Return the sheet for `render`."""
        header = ["data set", "algorithm"]
        numbers = [name for name in self.metrics if not is_matrix(name)]
        for name in numbers:
            header += [self.heading(name), "published", "diff"] if self.references else [self.heading(name)]
        clusters = any(line.clusters for line in self.lines)
        if clusters:
            header += ["clusters", "published"] if self.references else ["clusters"]
        rows: list[tuple[str, ...]] = []
        marks: dict[tuple[int, int], str] = {}
        for line in self.lines:
            row = [line.dataset, line.label]
            for name in numbers:
                value = line.value(name)
                if mark := self.marks.get((line.dataset, line.algorithm, name)):
                    marks[len(rows), len(row)] = mark
                row.append(shown(name, value, line.mark))
                if self.references:
                    row += [self.published_text(line, name), _difference(name, value)]
            if clusters:
                row.append(clusters_text(line))
                if self.references:
                    row.append(line.clusters_published or MISSING)
            rows.append(tuple(row))
        return Sheet(
            title=self.title,
            grids=(
                TextGrid(header=tuple(header), rows=tuple(rows), left=2, marks=marks),
                *(
                    _matrix_grid(line, name)
                    for name in filter(is_matrix, self.metrics)
                    for line in self.lines
                    if name in line.matrices
                ),
            ),
            notes=self.notes,
            records=tuple(self._record(line, clusters) for line in self.lines),
            facts={
                "published": [
                    {
                        name: getattr(published.find(reference), name)
                        for name in ("source", "table", "caption", "citation")
                    }
                    for reference in self.references
                ],
                **({"accuracy": self.estimate} if self.estimate and "accuracy" in self.metrics else {}),
            },
        )

    def heading(self, name: str) -> str:
        """Return the title of a metric, with the name of an accuracy that is no share of correct test rows."""
        return f"{title_of(name)} ({self.estimate})" if self.estimate and name == "accuracy" else title_of(name)

    def published_text(self, line: Line, name: str) -> str:
        """Return the published number of a metric as printed, or a mark for none."""
        number = line.value(name).published
        if number is None:
            return OTHER_SETTINGS if line.deviations else MISSING
        return f"{number.printed} [{number.table}]" if len(self.references) > 1 else number.printed

    def _record(self, line: Line, clusters: bool) -> dict[str, Any]:
        record: dict[str, Any] = {
            "dataset": line.dataset,
            "algorithm": line.algorithm,
            **{name: getattr(line, name) for name in ("repeats", "repeats_expected", *FOLD_COUNTS)},
        }
        if self.estimate and "accuracy" in self.metrics:
            record["accuracy_estimate"] = self.estimate
        for metric in self.metrics:
            if is_matrix(metric):
                record[f"{metric}_mean"] = json.dumps(line.matrices.get(metric))
                continue
            value = line.value(metric)
            record[f"{metric}_mean"] = value.mean
            record[f"{metric}_sd"] = value.sd
            if self.marks:
                mark = self.marks.get((line.dataset, line.algorithm, metric), "")
                record[f"{metric}_mark"] = {BEST: "best", SAME: "not significantly worse"}.get(mark)
            if self.references:
                for name in ("mean", "sd", "source", "table"):
                    record[f"{metric}_published_{name}"] = getattr(value.published, name, None)
                record[f"{metric}_difference"] = value.difference
        if clusters:
            record["clusters_mean"] = json.dumps(line.clusters)
            if self.references:
                record["clusters_published"] = line.clusters_published or None
        return record


# Measure to compare with the published accuracy of an algorithm whose paper counts rejected rows as correct.
AS_PUBLISHED = "published_accuracy_percent"


def is_matrix(name: str) -> bool:
    """Return whether a metric is a matrix of counts."""
    return name in METRICS and METRICS[name].matrix


def title_of(name: str) -> str:
    """Return the heading of a column: a metric's title, or the name of an estimator's measure in words."""
    return str(METRICS[name].title) if name in METRICS else name.replace("_", " ")


def shown(name: str, value: TableValue, mark: str = "") -> str:
    """Return a cell: "67.9 ± 1.9", with the decimals of its metric."""
    decimals = METRICS[name].decimals if name in METRICS else None
    return measured(value, mark) if decimals is None else mean_and_sd(value, mark)


def clusters_text(line: Line) -> str:
    """Return the clusters by class, "(1.0, 1.5)", a dash for an algorithm without clusters."""
    return f"({', '.join(f'{n:.1f}' for n in line.clusters.values())})" if line.clusters else MISSING


def _difference(name: str, value: TableValue) -> str:
    if value.difference is None:
        return MISSING
    decimals = METRICS[name].decimals if name in METRICS else None
    return f"{value.difference:+z.3g}" if decimals is None else f"{value.difference:+z.1f}"


def _matrix_grid(line: Line, name: str) -> TextGrid:
    cells = zip(line.classes, line.matrices[name], strict=True)
    rows = tuple((label, *(f"{count:.4g}" for count in counts)) for label, counts in cells)
    caption = f"{line.dataset}, {line.label}: {title_of(name)}, rows of a class by the class predicted, a repetition"
    return TextGrid(("class", *line.classes), rows, left=1, caption=caption)


# -- from rows to lines ------------------------------------------------------------------------------------------------


def method_titles(names: Iterable[str] | None = None) -> dict[str, str]:
    """Return the titles of algorithms in tables: "hhgdt" -> "HHGDT". names : the algorithms, None for all"""
    names = (*ALGORITHMS, *ALGORITHMS.former) if names is None else names
    return {name: ALGORITHMS[name].title for name in names if name in ALGORITHMS}


def method_of(algorithm: AlgorithmSpec, titles: Mapping[str, str]) -> str:
    """Return the title of the method of an algorithm, or the class of another library's algorithm.

    If the id of one of our algorithms names another method, return that method: RETIS with other parameters is TPRTI-A.
    """
    if algorithm.name not in titles:
        return algorithm.name.rpartition(".")[2]
    return titles.get(algorithm.id, titles[algorithm.name])


def summarize(
    rows: Iterable[Row],
    experiment: Experiment,
    *,
    titles: Mapping[str, str] | None = None,
    dataset_notes: Mapping[str, str] | None = None,
    metrics: Sequence[str] = (),
    deviations: Mapping[tuple[str, str, str], tuple[str, ...]] | None = None,
) -> ResultTable:
    """Return the table of an experiment from the rows of its jobs, in any order.

    rows            rows of jobs of this experiment, at most one per job; ValueError otherwise
    titles          algorithm name -> the method's title in published tables, "hhgdt" -> "HHGDT"
    dataset_notes   data set -> a line to print below the table, "" for none
    metrics         names of the metrics to show; default: accuracy and leaves (errors and leaves of regression),
                    the additional metrics of the experiment, and the measures of estimators
    deviations      (data set, algorithm id, published table) -> settings that differ from those of the table, which
                    then has no number in that line
    raises ConfigError if a metric is unknown, is for another task, or was not computed when the folds were run
    raises ConfigError if a table in `experiment.published` is unknown or has no means over repetitions
    """
    tables = [published.comparable(reference) for reference in dict.fromkeys(experiment.published)]
    places = {spec.name: schemes.expected_places(experiment, spec.name) for spec in experiment.datasets}
    expected = {(name, *place) for name, dataset_places in places.items() for place in dataset_places}
    cells: dict[tuple[str, str], dict[tuple[int, int], Row]] = {
        (dataset.name, algorithm.id): {} for dataset in experiment.datasets for algorithm in experiment.algorithms
    }
    for row in rows:
        cell, place = cells.get((row.dataset, row.algorithm)), (row.repeat, row.fold)
        if cell is None or (row.dataset, *place) not in expected or place in cell:
            raise ValueError(
                f"{row.algorithm} on {row.dataset}, repetition {row.repeat}, fold {row.fold} is "
                f"{'there twice' if cell and place in cell else f'no job of {experiment.name}'}"
            )
        cell[place] = row

    task = task_of_experiment(experiment)
    requested = checked(metrics or experiment.metrics, task, experiment.name, matrices=True)
    check_scheme(requested, experiment.cv, experiment.name)
    names = requested if metrics else _default_columns(SHOWN[task], requested, cells.values())
    lines = [
        _line(
            name,
            algorithm,
            titles or {},
            cells[name, algorithm.id],
            places[name],
            experiment,
            names,
            {table: (deviations or {}).get((name, algorithm.id, table.reference), ()) for table in tables},
        )
        for name in places
        for algorithm in experiment.algorithms
    ]
    return ResultTable(
        title=experiment.title or experiment.name,
        lines=tuple(lines),
        references=tuple(table.reference for table in tables),
        notes=(
            *_protocol_notes(experiment, names, _are_of_folds(tables)),
            *_gap_notes(lines),
            *_undefined_notes(lines, names),
            *_published_notes(lines, tables),
            *(f"{name}: {note}" for name in places if (note := (dataset_notes or {}).get(name))),
        ),
        metrics=names,
        estimate=schemes.SCHEMES[experiment.cv.scheme].estimate_of(experiment.cv),
    )


def task_of_experiment(experiment: Experiment) -> str:
    """Return the task of the data sets: "regression" if all algorithms predict numbers."""
    tasks = {task_of(algorithm.name) for algorithm in experiment.algorithms}
    return "regression" if tasks == {"regression"} else "classification"


def _default_columns(
    metrics: Sequence[str], added: Sequence[str], cells: Iterable[Mapping[Any, Row]]
) -> tuple[str, ...]:
    """Return the columns: `metrics` with the measures of the estimators before the last, then the sizes that all good
    rows have, then the `added` metrics.
    """
    measured = {name for done in cells for row in done.values() for name in row.measures}
    extra = sorted(measured - set(METRICS) - {NO_INFORMATION_ERROR})
    rows = [row for done in cells for row in done.values() if row.status == "ok"]
    sizes = [name for name in READ if rows and all(name in row.measures for row in rows)]
    return tuple(dict.fromkeys((*metrics[:-1], *extra, metrics[-1], *sizes, *added)))


def _line(
    dataset: str,
    algorithm: AlgorithmSpec,
    titles: Mapping[str, str],
    done: Mapping[tuple[int, int], Row],
    places: list[tuple[int, int]],
    experiment: Experiment,
    names: Sequence[str],
    deviations: Mapping[published.PublishedTable, tuple[str, ...]],
) -> Line:
    title = method_of(algorithm, titles)
    shown = [table for table, settings in deviations.items() if not settings]
    failed = [done[place] for place in places if place in done and done[place].status != "ok"]
    scheme = schemes.SCHEMES[experiment.cv.scheme]
    apparent = sorted(scheme.apparent(experiment.cv))
    completed = complete(done, [place for place in places if place not in apparent])
    if any(place not in done or done[place].status != "ok" for place in apparent):
        completed = []  # every repetition needs it
    averaged = [row for rows in completed for row in rows]
    clusters = {
        name: float(Fraction(sum(row.clusters[name] for row in averaged), len(averaged)))
        for name in (averaged[0].clusters if averaged else ())
    }
    extra = set(completed[0][0].measures) - set(METRICS) if completed else set()
    values: dict[str, TableValue] = {}
    matrices: dict[str, tuple[tuple[float, ...], ...]] = {}
    for name in dict.fromkeys((*names, "accuracy", "leaves")):
        if name in METRICS and not METRICS[name].suits(task_of(algorithm.name)):
            continue
        standard = "accuracy" if name == AS_PUBLISHED else name
        printed = (METRICS[standard].published if standard in METRICS else "") or name
        # The published accuracy stands in one column.
        elsewhere = name == ("accuracy" if AS_PUBLISHED in extra else AS_PUBLISHED)
        number = None if elsewhere else _published(shown, experiment, dataset, title, printed)
        if name == "accuracy" and scheme.estimate:
            whole = [done[place] for place in apparent] if completed else []
            values[name] = _value(scheme.accuracies(experiment.cv, completed, whole) if completed else [], number)
        elif not is_matrix(name):
            value = _table_value(name, completed, number, experiment, extra, _are_of_folds(deviations))
            units = [published.unit(table, dataset, printed) for table in deviations]
            values[name] = value.divided(max(units, default=1))
        elif completed:
            try:
                sums = [METRICS[name].of_repetition(rows) for rows in completed]
            except NotMeasured as error:
                raise not_measured(name, experiment) from error
            matrices[name] = tuple(
                tuple(float(sum(counts) / len(completed)) for counts in zip(*lines, strict=True))
                for lines in zip(*sums, strict=True)
            )
    return Line(
        dataset=dataset,
        algorithm=algorithm.id,
        label=title if algorithm.id == algorithm.name or title == titles.get(algorithm.id) else algorithm.id,
        values=values,
        repeats=len(completed),
        repeats_expected=len({repeat for repeat, _ in places}),
        folds_ok=len(done) - len(failed),
        folds_failed=len(failed),
        folds_expected=len(places),
        message=failed[0].message if failed else "",
        clusters=clusters,
        clusters_published=_published_clusters(shown, dataset, title) if clusters else "",
        matrices=matrices,
        classes=tuple(completed[0][0].per_class) if completed else (),
        deviations={
            table.reference: settings
            for table, settings in deviations.items()
            if settings and published.prints(table, dataset, title)
        },
    )


def _table_value(
    name: str,
    complete: list[list[Row]],
    number: Published | None,
    experiment: Experiment,
    extra: set[str],
    of_folds: bool,
) -> TableValue:
    """Return the value of one column. extra : names of the additional measures of the estimator"""
    if name not in METRICS and name not in extra:
        return TableValue(None, None, number)
    try:
        if of_folds and complete:
            of = METRICS[name].of if name in METRICS else lambda row: Fraction(row.measures[name])
            folds = [[of(row) for row in rows] for rows in complete]
            return replace(_value([*chain(*folds)], number), sd=_value(folds[0], number).sd)
        if name in METRICS:
            return _value([METRICS[name].of_repetition(rows) for rows in complete], number)
        # Exact arithmetic: the order of rows or of sums changes no digit.
        return _value(
            [weighted_sum([r.measures[name] for r in rows], [1] * len(rows)) / len(rows) for rows in complete], number
        )
    except NotMeasured as error:
        raise not_measured(name, experiment) from error
    except Undefined:
        reasons, averaged = [], [row for rows in complete for row in rows]
        for row in averaged:
            try:
                METRICS[name].of(row)
            except Undefined as reason:
                reasons.append(str(reason))
        why = f"in {len(reasons)} of {len(averaged)} folds ({reasons[0]})"
        return TableValue(None, None, number, undefined=why)


def not_measured(name: str, experiment: Experiment) -> ConfigError:
    """Return the error for a metric that was not computed when the folds of an experiment were run."""
    return ConfigError(
        f"run {experiment.name!r} was run without metric {name}, which is computed with the predictions: compute it "
        f"from those that are stored with oblique rescore {experiment.name} --metric {name}."
    )


def complete(done: Mapping[tuple[int, int], Row], places: list[tuple[int, int]]) -> list[list[Row]]:
    """Return the repetitions whose folds are all good, each as the list of its rows."""
    ok = {place: row for place, row in done.items() if row.status == "ok"}
    repeats: dict[int, list[tuple[int, int]]] = {}
    for place in places:
        repeats.setdefault(place[0], []).append(place)
    return [[ok[place] for place in folds] for folds in repeats.values() if all(map(ok.__contains__, folds))]


def _value(repetitions: list[Fraction], shown: Published | None) -> TableValue:
    if not repetitions:
        return TableValue(None, None, shown)
    mean = sum(repetitions) / Fraction(len(repetitions))
    if len(repetitions) == 1:
        return TableValue(float(mean), None, shown)
    variance = sum((value - mean) ** 2 for value in repetitions) / Fraction(len(repetitions) - 1)
    return TableValue(float(mean), sqrt(variance), shown)


# -- published numbers -------------------------------------------------------------------------------------------------


def _are_of_folds(tables: Iterable[published.PublishedTable]) -> bool:
    return {table.level for table in tables} == {published.CROSS_VALIDATION}


def _published(
    shown: list[published.PublishedTable], experiment: Experiment, dataset: str, title: str, metric: str
) -> Published | None:
    """Return the number of the first table that has it; a cell shows one number with its table."""
    sampling = "STRS" if schemes.is_stratified(experiment.cv) else "SRS"
    for table in shown:
        has_sampling = published.qualifier_values(table.source, table.table, "sampling")
        qualifiers = {"sampling": sampling} if has_sampling else {}
        number = published.lookup(table.source, table.table, dataset, title, metric, **qualifiers)
        if number:
            return number
    return None


def _published_clusters(shown: list[published.PublishedTable], dataset: str, title: str) -> str:
    """Return the numbers of clusters by class in the first of the tables that has them: "(1.0, 1.4, 1.5)"."""
    for table in shown:
        cluster_counts: list[str] = []
        where = (table.source, table.table, dataset, title, "avg_clusters_per_class")
        for index in published.qualifier_values(table.source, table.table, "class_index"):
            number = published.lookup(*where, class_index=index)
            if number:
                cluster_counts.append(number.printed)
        if cluster_counts:
            return f"({', '.join(cluster_counts)})"
    return ""


# -- notes -------------------------------------------------------------------------------------------------------------


def _protocol_notes(experiment: Experiment, names: Sequence[str], of_folds: bool) -> list[str]:
    cv = experiment.cv
    over = "" if cv.repeats == 1 else "; mean ± SD over repetitions, divisor R - 1"
    scheme = schemes.SCHEMES[cv.scheme]
    pooling = scheme.pooling_of(cv)
    if of_folds:
        pooling, over = "mean over all folds ± SD over the folds of the first repetition, as published", ""
    elif pooling == schemes.Scheme.pooling or (scheme.estimate and "accuracy" not in names):
        # The default depends on the metric.
        titles: dict[str, list[str]] = {"pooled": [], "averaged": [], "summed": []}
        for name in filter(METRICS.__contains__, names):
            way = {"mean": "averaged", "sum": "summed"}.get(str(METRICS[name].aggregate), "pooled")
            titles[way].append(title_of(name) + " in %" * (METRICS[name].unit == "%"))
        parts = (f"{listed(some)} {way} over the folds of a repetition" for way, some in titles.items() if some)
        pooling = ", ".join(parts)
    protocol = f"{scheme.protocol(cv)}{': ' if pooling else ''}{pooling}{over}."
    notes = [protocol]
    once = [name for name, counts in experiment.fold_counts.items() if len(counts) < cv.repeats]
    if once:
        notes.append(f"{listed(once)}: one repetition, as there is one way only to divide the rows.")
    algorithms = [spec.on(dataset.name) for spec in experiment.algorithms for dataset in experiment.datasets]
    chosen = sorted({name for algorithm in algorithms for name in algorithm.grid})
    if scheme.tuning == schemes.SHARED and chosen:
        notes.append(
            f"{' and '.join(chosen)} {'was' if len(chosen) == 1 else 'were'} chosen by a CV over all rows, test rows "
            "included, as the paper did; the accuracy may be optimistic."
        )
    return notes


def listed(names: Sequence[str]) -> str:
    """Return names in a phrase: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _undefined_notes(lines: list[Line], names: Sequence[str]) -> list[str]:
    """Return one note per method, metric and reason, for all its data sets."""
    datasets_of: dict[tuple[str, str, str], list[str]] = {}
    for line in lines:
        for name in names:
            if why := line.value(name).undefined:
                datasets_of.setdefault((line.label, name, why), []).append(line.dataset)
    every = len({line.dataset for line in lines})
    return [
        f"{MISSING} {'all data sets' if len(sets) == every > 1 else listed(sets)}, {label}: {title_of(name)} is "
        f"undefined {why}."
        for (label, name, why), sets in datasets_of.items()
    ]


def _gap_notes(lines: list[Line]) -> list[str]:
    notes = []
    for line in lines:
        if not line.mark:
            continue
        left = line.folds_expected - line.folds_ok - line.folds_failed
        what = [f"{line.folds_ok} of {line.folds_expected} folds"]
        if line.folds_failed:
            what.append(f"{line.folds_failed} failed (first: {line.message or 'no message'})")
        if left:
            what.append(f"{left} still to run")
        averaged = f"{line.repeats} of {line.repeats_expected} repetitions are complete and averaged"
        notes.append(f"{line.mark} {line.dataset}, {line.label}: {', '.join(what)}; {averaged}.")
    return notes


def _published_notes(lines: list[Line], shown: list[published.PublishedTable]) -> list[str]:
    notes = []
    numbers = [(line.dataset, v.published) for line in lines for v in line.values.values() if v.published]
    for table in shown:
        protocols = dict.fromkeys(n.protocol for _, n in numbers if (n.source, n.table) == (table.source, table.table))
        text = f"published: {table.citation}. Table {table.table}: {table.caption}. "
        notes.append(text + (f"Protocol: {' / '.join(protocols)}." if protocols else "None of its numbers is shown."))
    datasets_of: dict[tuple[str, str], dict[str, None]] = {}
    for dataset, number in numbers:
        remarks = (number.remark, published.dataset_note(number.source, dataset))
        for remark in filter(None, remarks):
            datasets_of.setdefault((number.table, remark), {})[dataset] = None
    lines_of: dict[str, list[str]] = {}
    for line in lines:
        for reference, settings in line.deviations.items():
            text = f"Table {published.find(reference).table} has other settings in brackets: {cut_list(settings)}"
            lines_of.setdefault(f"{line.label}: {text}", []).append(line.dataset)
    return [
        *notes,
        *(f"{OTHER_SETTINGS} {listed(datasets)}, {text}." for text, datasets in lines_of.items()),
        *(f"Table {table}, {', '.join(names)}: {remark}." for (table, remark), names in datasets_of.items()),
    ]


def parameter_notes(experiment: Experiment) -> Iterator[str]:
    """Yield one note per algorithm with parameters of single data sets."""
    for spec in experiment.algorithms:
        for dataset, there in spec.per_dataset.items():
            grids = {key: f"{len(values)} values" for key, values in there["grid"].items()}
            settings = [f"{key} {value}" for key, value in {**there["params"], **grids}.items()]
            yield f"{spec.id} on {dataset}: {', '.join(settings)}."


def pruning_notes(experiment: Experiment) -> Iterator[str]:
    """Yield one note per kind of pruning, with the algorithms that use it."""
    ids: dict[str, list[str]] = {}
    for spec in experiment.algorithms:
        ids.setdefault(pruning_of(spec), []).append(spec.id)
    for how, names in ids.items():
        if how:
            yield f"{', '.join(names)}: {how}."


def edge_notes(experiment: Experiment, rows: Sequence[Row]) -> Iterator[str]:
    """Yield a warning for each tuned parameter whose chosen value is the smallest or largest of its grid in most folds.

    An end that is also the limit of the parameter causes no warning.
    """
    for spec in experiment.algorithms:
        mine = [row for row in rows if row.algorithm == spec.id and row.dataset not in spec.per_dataset]
        chosen = [row.chosen for row in mine if row.status == "ok" and row.chosen]
        for name, values in spec.grid.items():
            if len(values) < FEWEST_VALUES or not all(isinstance(v, int | float) and v == v for v in values):
                continue
            for end, way in ((min(values), "smaller"), (max(values), "larger")):
                count = sum(params.get(name) == end for params in chosen)
                if 2 * count > len(chosen) and _goes_on(spec, name, end, way):
                    yield (
                        f"Warning: {spec.id} took {name} {end:g}, the end of its grid, in {count} of {len(chosen)} "
                        f"folds; try {way} values too."
                    )


def _goes_on(spec: AlgorithmSpec, name: str, end: float, way: str) -> bool:
    """Return whether the parameter may have values beyond the end of its grid."""
    if spec.name not in ALGORITHMS or (allowed := ALGORITHMS[spec.name].parameters.get(name)) is None:
        return True
    step = 1 if isinstance(end, int) else max(abs(end), 1e-3) / 100
    return allowed.holds(end - step if way == "smaller" else end + step)


# -- cells as text -----------------------------------------------------------------------------------------------------


def mean_and_sd(value: TableValue, mark: str = "", decimals: int = 1) -> str:
    """Return "67.9 ± 1.9": one decimal as in the thesis, two if the SD would be printed as 0.0; or a dash."""
    if value.mean is None:
        text = MISSING
    elif value.sd is None:
        text = f"{value.mean:.{decimals}f}"
    else:
        decimals += 0 < value.sd < 0.5 / 10**decimals
        text = f"{value.mean:.{decimals}f} ± {value.sd:.{decimals}f}"
    return f"{text} {mark}".rstrip()


def measured(value: TableValue, mark: str = "") -> str:
    """Return "0.02271 ± 0.00040": four significant digits of the mean or a larger SD; extremes as powers of ten."""
    if value.mean is None or value.sd is None or not (size := max(abs(value.mean), value.sd)):
        text = MISSING if value.mean is None else f"{value.mean:.4g}"
        return " ".join(filter(None, (text if value.sd is None else f"{text} ± 0", mark)))
    power = floor(log10(size))
    if LEAST_POWER <= power <= MOST_POWER:
        return mean_and_sd(value, mark, max(0, 3 - power))
    return " ".join(filter(None, (f"{value.mean:.3e} ± {value.sd:.3e}", mark)))
