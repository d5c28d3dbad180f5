"""Configurations run for a study, and their tables turned into cells."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from oblique_cli import config
from oblique_cli.data import catalogue
from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published
from oblique_cli.evaluation.tables import Line, ResultTable, method_of, method_titles, summarize
from oblique_cli.experiments.progress import Progress
from oblique_cli.experiments.running import run
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Experiment, Row, Tuning
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.studies import Cost, StudyRequest

QUICK_REPEATS = 2
QUICK_ROWS = 800  # of the largest data set of a quick profile
DATABASE = "oblique.sqlite"


@dataclass(frozen=True)
class Outcome:
    """A configuration that was run: the experiment, its stored rows, and its table."""

    experiment: Experiment
    rows: tuple[Row, ...]
    tunings: tuple[Tuning, ...]
    table: ResultTable
    cost: Cost
    exit_code: int

    def lines(self) -> dict[tuple[str, str], Line]:
        """Lines by data set and title of the method."""
        titles = method_titles()
        named = {spec.id: method_of(spec, titles) for spec in self.experiment.algorithms}
        return {(line.dataset, named[line.algorithm]): line for line in self.table.lines}


def outcome(
    request: StudyRequest,
    name: str,
    *overrides: str,
    datasets: Iterable[str] | None = None,
    algorithms: Iterable[str] | None = None,
) -> Outcome | None:
    """Run or resume the bundled configuration `name` as `request` asks; None if the request leaves nothing to run.

    datasets, algorithms    names or ids to keep, None for all

    The run is stored under a name made of its content. A fold that any run in the store has done already is taken from
    there, so studies that share folds, and a full profile after a quick one, run them once.
    """
    experiment = config.load(name, [f"seed={request.seed}", *overrides])
    if request.profile == "quick":
        cv = replace(experiment.cv, repeats=min(QUICK_REPEATS, experiment.cv.repeats))
        experiment = replace(experiment, cv=cv)
    sets = None if datasets is None else set(datasets)
    wanted = None if algorithms is None else set(algorithms)
    experiment = replace(
        experiment,
        published=(),
        datasets=tuple(
            spec
            for spec in experiment.datasets
            if (sets is None or spec.name in sets)
            and request.wants("dataset", spec.name)
            and (request.profile == "full" or is_quick(spec.name))
        ),
        algorithms=tuple(
            spec
            for spec in experiment.algorithms
            if (wanted is None or spec.id in wanted) and request.wants("algorithm", spec.id, spec.name)
        ),
    )
    if not experiment.datasets or not experiment.algorithms:
        return None
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
        rows, tunings = store.rows(experiment.name), store.tunings(experiment.name)
    experiment = replace(experiment, fold_counts=summary.fold_counts)
    seconds = time.perf_counter() - started
    done = [row for row in rows if row.status == "ok"]
    cost = Cost(
        trees=summary.done - summary.resumed,
        seconds=seconds,
        stored_trees=len(done),
        stored_seconds=sum(row.tune_seconds + row.fit_seconds + row.predict_seconds for row in done)
        + sum(tuning.seconds for tuning in tunings),
    )
    request.say(
        f"{name}: {summary.done} of {summary.total} folds, {cost.trees} of them now, {len(summary.failures)} failed, "
        f"{seconds:.1f} s"
    )
    titles = method_titles()
    if summary.stopped:
        raise KeyboardInterrupt
    return Outcome(
        experiment,
        tuple(rows),
        tuple(tunings),
        summarize(rows, experiment, titles=titles),
        cost,
        summary.exit_code,
    )


def is_quick(dataset: str) -> bool:
    """Return whether a data set is small and at hand, bundled or drawn, as the quick profile requires."""
    entry = catalogue.entry(dataset)
    return (entry.bundled or entry.generated) and entry.n <= QUICK_ROWS


def dataset_names(source: str) -> dict[str, str]:
    """Return the names in our catalogue of the data sets of a document, by its codes."""
    codes = {published.dataset_code(source, name): name for name in catalogue.names()}
    return {code: name for code, name in codes.items() if code is not None}


# Mean, SD and a note.
Number = tuple[float | None, float | None, str]

# Finds our number beside a published one on a data set; None if this run has no such number.
Ours = Callable[[Published, str], Number | None]


def cells(request: StudyRequest, reference: str, ours: Ours, not_run: Mapping[str, str]) -> tuple[Cell, ...]:
    """Return the cells of a published table.

    ours        finds our number for a published one and the name of its data set, or returns None
    not_run     why a method as printed, a data set of ours or a metric is not run

    A number that the profile or `only` leaves out makes no cell. In a full profile without `only` every printed number
    makes one.
    """
    source, table = reference.split(":")
    names = dataset_names(source)
    cells = []
    for number in published.numbers(source, table):
        if number.mean is None:
            continue
        dataset = names.get(number.dataset, number.dataset)
        value = ours(number, dataset)
        if value is None:
            reason = not_run.get(number.method) or not_run.get(dataset) or not_run.get(number.metric)
            complete = request.profile == "full" and not request.only
            if not complete:
                continue
            value = (None, None, f"not run: {reason or 'no experiment of ours answers it'}")
        mean, sd, note = value
        cells.append(
            Cell(
                reference,
                dataset,
                number.method,
                number.metric,
                mean,
                sd,
                number.mean,
                number.sd,
                qualifier(number),
                "; ".join(part for part in (note, number.remark) if part),
            )
        )
    return tuple(cells)


# Qualifiers that say how a number was made, not which one it is.
DESCRIPTIVE = ("sd_over", "class_size", "criterion", "variant", "role", "duplicate_of", "kernel", "printed_code")


def qualifier(number: Published) -> str:
    """Return the qualifiers of a number among those of its data set, method and metric, such as "fold=3"."""
    return "; ".join(f"{key}={value}" for key, value in number.qualifiers.items() if key not in DESCRIPTIVE)


METRICS = {"accuracy_percent": "accuracy", "n_leaves": "leaves"}


def of_lines(lines: Mapping[tuple[str, str], Line]) -> Ours:
    """Return what finds accuracy and leaves in `lines`, by data set and title of the method."""

    def ours(number: Published, dataset: str) -> Number | None:
        name = METRICS.get(number.metric)
        line = next((lines[dataset, m] for m in number.methods if (dataset, m) in lines), None)
        if line is None or name is None:
            return None
        value = getattr(line, name)
        return value.mean, value.sd, "" if line.repeats == line.repeats_expected else f"{line.mark} folds"

    return ours


def lines_of(outcomes: Iterable[Outcome | None]) -> dict[tuple[str, str], Line]:
    """Return the lines of several runs, by data set and title of the method."""
    return {key: line for each in outcomes if each is not None for key, line in each.lines().items()}


def total(outcomes: Iterable[Outcome | None]) -> tuple[Cost, int]:
    """Return what several runs cost together, and the worst of their exit codes."""
    cost, code = Cost(), 0
    for each in outcomes:
        if each is not None:
            cost, code = cost + each.cost, max(code, each.exit_code)
    return cost, code
