"""Runs of configurations and steps for a study, and the conversion of their tables to cells."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Any, TypeVar

from oblique_cli import config
from oblique_cli.data import catalogue
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import EXIT_FAILED_FOLDS, EXIT_OK, DataError
from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published
from oblique_cli.evaluation.tables import Line, ResultTable, method_of, method_titles, summarize
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.dispatching import Call, Crew, Signals
from oblique_cli.experiments.environment import environment
from oblique_cli.experiments.fits import failed
from oblique_cli.experiments.progress import Progress
from oblique_cli.experiments.running import count_workers, run
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import DatasetSpec, Experiment, Job, Row, Tuning
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.studies import Cost, ExtraTable, StudyRequest, StudyResult

QUICK_REPEATS = 2
QUICK_ROWS = 800  # rows of the largest data set of a quick profile
DATABASE = "oblique.sqlite"


@dataclass(frozen=True)
class Outcome:
    """A configuration that was run: the experiment, its stored rows, and its table. Empty if nothing was requested."""

    experiment: Experiment
    rows: tuple[Row, ...] = ()
    tunings: tuple[Tuning, ...] = ()
    table: ResultTable = field(default_factory=lambda: ResultTable("", (), (), ()))
    cost: Cost = field(default_factory=Cost)
    exit_code: int = 0

    def lines(self) -> dict[tuple[str, str], Line]:
        """Return lines by data set and title of the method."""
        titles = method_titles()
        named = {spec.id: method_of(spec, titles) for spec in self.experiment.algorithms}
        return {(line.dataset, named[line.algorithm]): line for line in self.table.lines}

    def good_rows(self, dataset: str, algorithm: str) -> list[Row]:
        """Return the rows of an algorithm on a data set whose fold did not fail."""
        return [r for r in self.rows if (r.dataset, r.algorithm, r.status) == (dataset, algorithm, "ok")]


def outcome(
    request: StudyRequest,
    name: str,
    *overrides: str,
    datasets: Collection[str] | None = None,
    algorithms: Collection[str] | None = None,
) -> Outcome:
    """Run or resume the bundled configuration `name` as `request` asks.

    datasets, algorithms    names or ids to keep, None for all

    The run is stored under a name derived from its content. Folds that any run in the store has completed are reused,
    so studies that share folds, and a full profile after a quick one, run them once.
    """
    experiment = config.load(name, [f"seed={request.seed}", *overrides])
    is_full = request.profile == "full"
    if not is_full:
        experiment = replace(experiment, cv=replace(experiment.cv, repeats=min(QUICK_REPEATS, experiment.cv.repeats)))
    chosen_sets = tuple(
        spec
        for spec in experiment.datasets
        if (datasets is None or spec.name in datasets)
        and request.wants("dataset", spec.name)
        and (is_full or is_quick(spec.name))
    )
    chosen_algorithms = tuple(
        spec
        for spec in experiment.algorithms
        if (algorithms is None or spec.id in algorithms) and request.wants("algorithm", spec.id, spec.name)
    )
    if not chosen_sets or not chosen_algorithms:
        return Outcome(replace(experiment, datasets=(), algorithms=()))
    experiment = replace(experiment, published=(), datasets=chosen_sets, algorithms=chosen_algorithms)
    experiment = replace(experiment, name=f"{name.rpartition('/')[2]}-{experiment.digest()[:8]}")
    started = time.perf_counter()
    with Store(f"{request.results}/{DATABASE}") as store:
        summary = run(
            experiment,
            store,
            n_jobs=request.n_jobs,
            fresh=request.fresh,
            adopt=not request.fresh,
            progress=Progress(quiet=not sys.stderr.isatty(), closing=False),
            data_dir=request.data_dir,
            offline=request.offline,
        )
        rows, tunings = tuple(store.rows(experiment.name)), tuple(store.tunings(experiment.name))
    experiment = replace(experiment, fold_counts=summary.fold_counts)
    seconds = time.perf_counter() - started
    done = [row for row in rows if row.status == "ok"]
    work = sum(row.tune_seconds + row.fit_seconds + row.predict_seconds for row in done)
    work += sum(tuning.seconds for tuning in tunings)
    cost = Cost(summary.done - summary.resumed, seconds, len(done), work)
    request.say(
        f"{name}: {summary.done} of {summary.total} folds, {cost.trees} of them now, {len(summary.failures)} failed, "
        f"{seconds:.1f} s"
    )
    if summary.stopped:
        raise KeyboardInterrupt
    table = summarize(rows, experiment, titles=method_titles())
    return Outcome(experiment, rows, tunings, table, cost, summary.exit_code)


def is_quick(dataset: str) -> bool:
    """Return whether a data set is small and available, bundled or generated, as the quick profile requires."""
    entry = catalogue.entry(dataset)
    return (entry.bundled or entry.generated) and entry.n <= QUICK_ROWS


def dataset_names(source: str) -> dict[str, str]:
    """Return the names in our catalogue of the data sets of a document, by its codes."""
    codes = {published.dataset_code(source, name): name for name in catalogue.names()}
    return {code: name for code, name in codes.items() if code is not None}


# Mean, SD and a note.
Number = tuple[float | None, float | None, str]

# Returns our number for a published one on a data set; None if this run has no such number.
Ours = Callable[[Published, str], Number | None]


def cells(
    request: StudyRequest, reference: str, ours: Ours, not_run: Mapping[str, str] = MappingProxyType({})
) -> tuple[Cell, ...]:
    """Return the cells of a published table.

    ours        returns our number for a published one and the name of its data set, or None
    not_run     reason for not running a printed method, a data set of ours or a metric

    A number that the profile or `only` leaves out has no cell. In a full profile without `only` every printed number
    has one.
    """
    source, table = reference.split(":")
    names = dataset_names(source)
    numbers = published.numbers(source, table)
    # A single fold has the SD over the ten folds that is printed below them.
    of_folds = {(n.metric, n.qualifiers.get("cv")): n.sd for n in numbers if n.qualifiers.get("fold") == "all"}
    cells = []
    for number in numbers:
        if number.mean is None:
            continue
        dataset = names.get(number.dataset, number.dataset)
        value = ours(number, dataset)
        if value is None:
            reason = not_run.get(number.method) or not_run.get(dataset) or not_run.get(number.metric)
            if not request.is_whole:
                continue
            value = (None, None, f"not run: {reason or 'no experiment of ours answers it'}")
        mean, sd, note = value
        printed_sd = of_folds.get((number.metric, number.qualifiers.get("cv"))) if number.sd is None else number.sd
        place, remarks = (reference, dataset, number.method, number.metric), filter(None, (note, number.remark))
        cells.append(Cell(*place, mean, sd, number.mean, printed_sd, qualifier(number), "; ".join(remarks)))
    return tuple(cells)


# Qualifiers that describe how a number was computed but do not identify it.
DESCRIPTIVE = ("sd_over", "unit", "class_size", "criterion", "variant", "role", "duplicate_of", "kernel",
               "printed_code")  # fmt: skip


def qualifier(number: Published) -> str:
    """Return the qualifiers of a number among those of its data set, method and metric, such as "fold=3"."""
    return "; ".join(f"{key}={value}" for key, value in number.qualifiers.items() if key not in DESCRIPTIVE)


METRICS = {"accuracy_percent": "accuracy", "n_leaves": "leaves", "depth": "depth"}


def of_outcomes(*outcomes: Outcome) -> Ours:
    """Return a function for METRICS in the lines of runs; the later of two runs of a method wins."""
    lines = {key: line for each in outcomes for key, line in each.lines().items()}

    def ours(number: Published, dataset: str) -> Number | None:
        name = METRICS.get(number.metric)
        line = next((lines[dataset, m] for m in number.methods if (dataset, m) in lines), None)
        if line is None or name is None:
            return None
        value = line.value(name)
        return value.mean, value.sd, "" if line.repeats == line.repeats_expected else f"{line.mark} folds"

    return ours


def result_of(
    outcomes: Iterable[Outcome | Steps], cells: Iterable[Cell] = (), tables: Iterable[ExtraTable] = ()
) -> StudyResult:
    """Return the result of a study: the total cost of its runs, their worst exit code, and the tables with rows."""
    outcomes = list(outcomes)
    cost = Cost(*map(sum, zip(*(each.cost for each in outcomes), strict=True)))
    code = max((each.exit_code for each in outcomes), default=0)
    return StudyResult(tuple(cells), tuple(table for table in tables if table.rows), cost, code)


# ---- steps -----------------------------------------------------------------------------------------------------------

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Steps:
    """Stored rows of a study's steps, which are not folds of a configuration: good rows, and the number of new ones."""

    rows: tuple[Row, ...]
    now: int
    seconds: float
    exit_code: int

    @property
    def cost(self) -> Cost:
        """The cost of the steps."""
        work = sum(row.fit_seconds + row.predict_seconds for row in self.rows)
        return Cost(self.now, self.seconds, len(self.rows), work)

    def measures_by(self, keyed: Iterable[tuple[Key, Call]]) -> dict[Key, list[Mapping[str, float]]]:
        """Return the measures by the key of each step. keyed : the steps, in the order of the keys"""
        measured = {row.key: row.measures for row in self.rows}
        measures: dict[Key, list[Mapping[str, float]]] = {}
        for key, (job, *_) in keyed:
            if job.key in measured:
                measures.setdefault(key, []).append(measured[job.key])
        return measures


def loaded(request: StudyRequest, study: str, policy: DatasetSpec) -> Dataset | None:
    """Return a data set, or None after a message that the study leaves it out."""
    try:
        return catalogue.load(policy, request.data_dir, request.offline)
    except DataError as error:
        request.say(f"{study}: {policy.name} is left out, {error}")
        return None


def measuring(measure: Callable[..., Mapping[str, float]]) -> Callable[..., Row]:
    """Decorator that makes a step of a measuring function; the step takes its job first and returns its row."""

    @wraps(measure)
    def row_of(job: Job, *arguments: Any) -> Row:
        started = time.perf_counter()
        measures = measure(job, *arguments)
        return Row.of(job, fit_seconds=time.perf_counter() - started, measures=measures)

    return row_of


def step(study: str, dataset: str, algorithm: str, repeat: int, seed: int, *decides: Any) -> Job:
    """Return the job of a step. `decides` is plain data on which its result also depends."""
    key = jobs_of.digest([jobs_of.FORM, study, dataset, algorithm, repeat, seed, *decides])
    return Job(key, dataset, algorithm, repeat, 0, seed)


def take(request: StudyRequest, study: str, calls: Sequence[Call]) -> Steps:
    """Run the steps of a study that are not stored yet, and return the rows of all in the order of `calls`.

    Rows are in the store under a name that depends on the steps and that no configuration can have. A step that another
    profile has run in the same environment is reused. A failed step is shown with its message, and runs again next
    time.
    """
    started = time.perf_counter()
    by_key = {job.key: (job, function, arguments) for job, function, arguments in calls}
    name = f"reproduce/{study}-{jobs_of.digest(sorted(by_key))[:16]}"
    progress = Progress(quiet=not sys.stderr.isatty(), closing=False)
    code = EXIT_OK

    def remaining(left: Iterable[Job]) -> Iterator[list[Call]]:
        for job in left:
            _, function, arguments = by_key[job.key]
            yield [(job, _attempt, (job, function, arguments))]

    with Store(f"{request.results}/{DATABASE}") as store, Signals(progress) as signals:
        uses = [function for _, function, _ in calls]
        store.begin(name, {}, len(calls), environment=environment(uses), fresh=request.fresh)
        if not request.fresh:
            store.adopt(name, by_key)
        pending = store.pending(name, [job for job, _, _ in calls])
        progress.begin(study, len(calls), len(calls) - len(pending), unit="steps")
        try:
            for row in Crew(count_workers(request.n_jobs), False, signals).results(pending, remaining, failed):
                store.append(name, row)
                if row.status != "ok":
                    code = EXIT_FAILED_FOLDS
                progress.step(f"{row.dataset}/{row.algorithm} r{row.repeat}", row.message)
        finally:
            progress.end()
        if signals.received:
            raise KeyboardInterrupt
        stored = {row.key: row for row in store.rows(name) if row.status == "ok"}
    rows = tuple(stored[key] for key in by_key if key in stored)
    return Steps(rows, len(pending), time.perf_counter() - started, code)


def _attempt(job: Job, function: Callable[..., Row], arguments: tuple[Any, ...]) -> Row:
    """Return the row of a step; for an exception the row of a failed step with its message."""
    try:
        return function(job, *arguments)
    except Exception as error:  # an exception affects only this step, as in a fold
        return failed(job, error)


# ---- repetitions and folds -------------------------------------------------------------------------------------------

Score = Callable[[Row], float]


def mean_sd(values: Iterable[float]) -> tuple[float, float | None]:
    """Return the mean of some values, and their SD if there are several."""
    values = list(values)
    return fmean(values), stdev(values) if len(values) > 1 else None


def by_repeat(rows: Iterable[Row], score: Score) -> dict[int, list[float]]:
    """Return the scores of the folds of each repetition."""
    repeats: dict[int, list[float]] = {}
    for row in rows:
        repeats.setdefault(row.repeat, []).append(score(row))
    return repeats


@dataclass(frozen=True)
class FoldScore:
    """Mean over all folds, SD over the folds of the first repetition, and SD over the means of the repetitions.
    Chapters 2 and 3 of Amalaman (2015) state ten repetitions, but the printed leaf counts fit ten whole numbers:
    their SDs are over the ten folds of one cross-validation. All other tables use the SD over repetition means."""

    mean: float
    over_folds: float | None
    over_repeats: float | None

    def number(self, unit: float = 1.0) -> tuple[float, float | None, str]:
        """Return the number for a cell in a unit, with the SD over folds."""
        note = "SD over the folds of one cross-validation"
        if self.over_repeats is not None:
            note += f"; over repetition means {self.over_repeats:.3g}"
        return self.mean / unit, None if self.over_folds is None else self.over_folds / unit, note


def fold_score(rows: Sequence[Row], score: Score) -> FoldScore:
    """Return the score of the rows of one algorithm on one data set."""
    repeats = by_repeat(rows, score)
    return FoldScore(
        fmean(value for values in repeats.values() for value in values),
        mean_sd(repeats[min(repeats)])[1],
        mean_sd(map(fmean, repeats.values()))[1],
    )


def rows_by_method(outcomes: Iterable[Outcome], names: Mapping[str, str]) -> dict[tuple[str, str], list[Row]]:
    """Return rows by data set and printed method; the later of two runs of a method wins. names : printed by id"""
    rows_of: dict[tuple[str, str], list[Row]] = {}
    for each in outcomes:
        of_run: dict[tuple[str, str], list[Row]] = {}
        for row in each.rows:
            if row.algorithm in names:
                of_run.setdefault((row.dataset, names[row.algorithm]), []).append(row)
        rows_of |= of_run
    return rows_of


# By data set and printed method: scores by name.
FoldScores = Mapping[tuple[str, str], Mapping[str, FoldScore]]


def fold_scores(outcomes: Iterable[Outcome], names: Mapping[str, str], scores: Mapping[str, Score]) -> FoldScores:
    """Return the scores of each method without a failed fold on a data set. names : as in `rows_by_method`"""
    rows_of = {
        key: rows for key, rows in rows_by_method(outcomes, names).items() if all(r.status == "ok" for r in rows)
    }
    return {key: {name: fold_score(rows, of) for name, of in scores.items()} for key, rows in rows_of.items()}
