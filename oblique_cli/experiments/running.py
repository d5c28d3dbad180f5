"""Runs of experiments: missing folds are determined before workers start, and each fold is stored as it finishes.

No other module of a run uses the store.
"""

from __future__ import annotations

import contextlib
import itertools
import signal
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, Unpack

import joblib
import numpy as np

from oblique_cli import schemes
from oblique_cli.data import catalogue
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import EXIT_FAILED_FOLDS, EXIT_INTERRUPTED, EXIT_OK, EXIT_TERMINATED, ConfigError, StoreError
from oblique_cli.estimators.outside import known
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.evaluation.tables import task_of_experiment
from oblique_cli.experiments import environment as environments
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.dispatching import Call, Crew, Signals
from oblique_cli.experiments.fits import Case, failed, failed_tuning, run_job, tune_job
from oblique_cli.experiments.progress import Progress
from oblique_cli.experiments.remaining_time import Remaining, seconds_of
from oblique_cli.experiments.store import Store
from oblique_cli.experiments.stored_predictions import Labels, pack_labels
from oblique_cli.ground.nouns import Experiment, Fold, Job, Row, Tuning, TuningPair
from oblique_cli.schemes import SCHEMES

Cell = tuple[str, str]  # data set, algorithm


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run: folds of the experiment, good rows now in the store, and those that were there before.

    failures : the rows that failed in this call; stopped : the signal that stopped the run, 0 if none did"""

    name: str
    total: int
    done: int
    resumed: int
    failures: tuple[Row, ...]
    stopped: int
    seconds: float
    fold_counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """Return the exit code for the command line."""
        if self.stopped:
            return EXIT_TERMINATED if self.stopped == signal.SIGTERM else EXIT_INTERRUPTED
        return EXIT_FAILED_FOLDS if self.failures else EXIT_OK


class RunOptions(TypedDict, total=False):
    """Options of `run`, all with defaults.

    n_jobs     processors to use, default "auto" (all)
    fresh      delete the run's results first
    adopt      copy folds from other runs in the store: equal keys and environments are equal results
    data_dir, offline   sources of data sets, see `catalogue.load`
    strict_environment  raise ConfigError if stored folds have another environment: other versions, another
               processor. Without it, a note below the table reports them
    scheduler  address of a Dask scheduler, whose workers replace the n_jobs processors
    costs      (case, folds of its tuning) -> seconds of a fold by the sizes of the data, for the remaining time, and
               whether they compare with those of other algorithms"""

    n_jobs: int | str
    fresh: bool
    adopt: bool
    data_dir: str | None
    offline: bool
    strict_environment: bool
    scheduler: str | None
    costs: Callable[[Case, int], tuple[float, bool]]


@dataclass(frozen=True)
class Shard:
    """Part `index` of `count` parts of a run, counted from 1: every `count`-th fold, with all its algorithms.

    Some algorithms of a fold share work. Every part makes the choices of parameters that folds share."""

    index: int
    count: int

    def of(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs of this part."""
        places = {place: i for i, place in enumerate(dict.fromkeys((j.dataset, j.repeat, j.fold) for j in jobs))}
        return [job for job in jobs if places[job.dataset, job.repeat, job.fold] % self.count == self.index - 1]


def run(
    experiment: Experiment,
    store: Store,
    *,
    progress: Progress | None = None,
    argv: Sequence[str] = (),
    shard: Shard | None = None,
    only: Callable[[Job], bool] | None = None,
    **options: Unpack[RunOptions],
) -> RunSummary:
    """Run or resume `experiment`: every fold without a good row in `store`, including failed folds.

    shard      run only the folds of one part
    only       run only the folds for which it returns True
    options    see `RunOptions`

    After the first Ctrl-C or SIGTERM no job starts, and running jobs finish and are stored; the second exits at once.
    In both cases the summary contains the signal, and the same call resumes the run. Raise StoreError if another
    process restarts the run meanwhile."""
    if unknown := options.keys() - RunOptions.__annotations__.keys():
        raise TypeError(f"run has no option {min(unknown)!r}; it has {', '.join(RunOptions.__annotations__)}")
    started = time.perf_counter()
    name, fresh = experiment.name, options.get("fresh", False)
    workers = count_workers(options.get("n_jobs", "auto"))
    progress = progress or Progress(quiet=True)
    data_dir = options.get("data_dir")
    datasets = load_datasets(experiment, data_dir, options.get("offline", False))
    jobs = jobs_of.expand(experiment, datasets)
    cases = Case.all_of(experiment, datasets)
    fold_counts = _fold_counts(experiment, datasets)
    libraries = known.packages_of(spec.name for spec in experiment.algorithms)
    here = environments.environment(_used(experiment, cases), libraries)
    if options.get("strict_environment") and not fresh:
        _refuse_other_environments(store, name, here)
    if not fresh:
        store.refuse_others(name, jobs)
    store.begin(
        name,
        jobs_of.content(experiment, datasets),
        len(jobs),
        argv=argv,
        environment=here,
        presentation=experiment.presentation()
        | ({"fold_counts": fold_counts} if fold_counts else {})
        | ({"data_dir": str(Path(data_dir).resolve())} if data_dir else {}),
        workers=workers,
        fresh=fresh,
    )
    try:
        for dataset in datasets:
            for note in dataset.notes:
                progress.remark(f"{dataset.name}: {note}")
        store.add_labels({d.digest: pack_labels(Labels(d.classes, d.y)) for d in datasets})
        if options.get("adopt"):
            shared = [jobs_of.shared_tuning(experiment, d, spec) for d in datasets for spec in experiment.algorithms]
            store.adopt(name, [job.key for job in jobs], [tuning.key for tuning in shared])
        if shard is not None:
            jobs = shard.of(jobs)
        missing = store.pending(name, jobs)
        resumed = len(jobs) - len(missing)
        _note_others(name, store, progress)
        with Signals(progress) as signals, _connected(options.get("scheduler")) as cluster:
            crew = Crew(workers, all(case.lets_go for case in cases.values()), signals, cluster)
            pending = [job for job in missing if only is None or only(job)]
            rows = store.rows(name) if resumed and "costs" in options else ()
            remaining = _remaining(experiment, cases, pending, rows, crew.workers, options)
            folds = _Folds(experiment, cases, store, crew, progress, remaining)
            done, failures = folds.run(pending, len(jobs), resumed)
    finally:
        with contextlib.suppress(StoreError):  # the earlier error is the important one
            store.end(name)
    seconds = time.perf_counter() - started
    return RunSummary(name, len(jobs), done, resumed, failures, signals.received, seconds, fold_counts)


@dataclass(frozen=True)
class _Folds:
    """Folds of an experiment in this run: their workers, store and display."""

    experiment: Experiment
    cases: Mapping[Cell, Case]
    store: Store
    crew: Crew
    progress: Progress
    remaining: Remaining

    def run(self, pending: Sequence[Job], total: int, done: int) -> tuple[int, tuple[Row, ...]]:
        """Run folds, store each as it finishes; return how many of `total` are done, and the failures in order."""
        failures: list[Row] = []
        try:
            for row in self._results(pending, total, done):
                self.store.append(self.experiment.name, row)
                self.remaining.add(row)
                if row.status == "ok":
                    done += 1
                else:
                    failures.append(row)
                self.progress.step(f"{row.dataset}/{row.algorithm} r{row.repeat} f{row.fold}", row.message)
        except KeyboardInterrupt:
            if not self.crew.signals.received:
                raise
        finally:
            self.progress.end()
        return done, tuple(sorted(failures, key=lambda row: (row.dataset, row.algorithm, row.repeat, row.fold)))

    def _results(self, pending: Sequence[Job], total: int, done: int) -> Iterator[Row]:
        """Yield the rows of `pending` as they finish, after the choices of parameters that folds share."""
        tunings = self._shared_tunings(pending)
        self.progress.begin(self.experiment.name, total, done, remaining=self.remaining.text)

        def call(job: Job, fold: Fold, shared: dict[bytes, Any]) -> Call:
            tuning = tunings.get((job.dataset, job.algorithm))
            if tuning is not None and tuning.status != "ok":
                return job, failed, (job, f"choosing parameters: {tuning.message}")
            chosen = None if tuning is None else tuning.chosen
            return job, run_job, (job, self.cases[job.dataset, job.algorithm], fold, chosen, shared)

        def calls(left: Iterable[Job]) -> Iterator[list[Call]]:
            for together, fold in self._with_folds(tunings, left):
                shared: dict[bytes, Any] = {}
                yield [call(job, fold, shared) for job in together]

        yield from self.crew.results(pending, calls, failed)

    def _with_folds(self, tunings: Mapping[Cell, Tuning], jobs: Iterable[Job]) -> Iterator[tuple[list[Job], Fold]]:
        """Pair jobs with their fold, one fold in memory at a time; jobs of a fold that share work are grouped.

        With threads as workers, data sets alternate fold by fold: Python code, dominant in small folds, runs beside the
        compiled code of large folds."""

        def work_of(job: Job) -> Hashable:
            case, tuning = self.cases[job.dataset, job.algorithm], tunings.get((job.dataset, job.algorithm))
            if tuning is None and case.spec.grid:
                return None  # the job first chooses its parameters by separate fits
            return case.algorithm.shared_work({**case.spec.params, **(tuning.chosen if tuning else {})})

        in_turn, cv, seed = self.crew.shares_interpreter, self.experiment.cv, self.experiment.seed
        if in_turn:
            jobs = sorted(jobs, key=lambda job: (job.repeat, job.fold))
        repetitions: dict[str, tuple[int, Iterator[Fold]]] = {}
        places: dict[str, list[tuple[int, int]]] = {}
        for (name, repeat, index), group in itertools.groupby(
            jobs, key=lambda job: (job.dataset, job.repeat, job.fold)
        ):
            if not in_turn and name not in repetitions:
                repetitions.clear()
            if name not in repetitions or repetitions[name][0] != repeat:
                dataset = next(case.dataset for (of, _), case in self.cases.items() if of == name)
                if name not in places:
                    places[name] = schemes.places(cv, dataset)
                repetitions[name] = repeat, iter(schemes.repetition(dataset, cv, seed, repeat, places[name]))
            fold = next(fold for fold in repetitions[name][1] if fold.index == index)
            together: dict[Hashable, list[Job]] = {}
            for job in group:
                work = work_of(job)
                together.setdefault(job.key if work is None else work, []).append(job)
            for some in together.values():
                yield some, fold

    def _shared_tunings(self, pending: Iterable[Job]) -> dict[Cell, Tuning]:
        """Return the parameters chosen for all folds, computed and stored if missing; {} if none are shared."""
        experiment, progress = self.experiment, self.progress
        if SCHEMES[experiment.cv.scheme].tuning != schemes.SHARED:
            return {}
        needed: dict[str, Job] = {}
        pairs: dict[str, Iterable[TuningPair]] = {}
        for cell in dict.fromkeys((job.dataset, job.algorithm) for job in pending):
            case = self.cases[cell]
            if case.spec.grid:
                fold = next(iter(schemes.repetition(case.dataset, experiment.cv, experiment.seed, 0)))
                job = jobs_of.shared_tuning(experiment, case.dataset, case.spec)
                needed[job.key], pairs[job.key] = job, fold.tuning
        tunings = {t.key: t for t in self.store.tunings(experiment.name) if t.key in needed and t.status == "ok"}
        missing = [job for job in needed.values() if job.key not in tunings]

        def calls(left: Iterable[Job]) -> Iterator[list[Call]]:
            for job in left:
                yield [(job, tune_job, (job, self.cases[job.dataset, job.algorithm], pairs[job.key]))]

        if missing:
            progress.begin(f"{experiment.name}, choosing parameters", len(needed), len(tunings), unit="searches")
            for tuning in self.crew.results(missing, calls, failed_tuning):
                self.store.add_tuning(experiment.name, tuning)
                tunings[tuning.key] = tuning
                progress.step(f"{tuning.dataset}/{tuning.algorithm}", tuning.message)
            progress.end()
        return {(t.dataset, t.algorithm): t for t in tunings.values()}


def _remaining(
    experiment: Experiment,
    cases: Mapping[Cell, Case],
    pending: Sequence[Job],
    rows: Iterable[Row],
    workers: int,
    options: RunOptions,
) -> Remaining:
    """Return the remaining time of `pending`. rows : stored folds of the run"""
    left = Counter((job.dataset, job.algorithm) for job in pending)
    cost = options.get("costs")
    costs = {} if cost is None else {cell: cost(case, experiment.cv.tune_folds or 1) for cell, case in cases.items()}
    seconds = seconds_of(row for row in rows if (row.dataset, row.algorithm) in cases)
    comparable = frozenset(algorithm for (_, algorithm), (_, compares) in costs.items() if compares)
    return Remaining(left, {cell: seconds for cell, (seconds, _) in costs.items()}, comparable, workers, seconds)


def _used(experiment: Experiment, cases: Mapping[Cell, Case]) -> list[Any]:
    """Return the objects of a run that files outside the package may define."""
    algorithms = [case.algorithm for case in cases.values()]
    names = [*experiment.metrics, *([experiment.cv.tune_metric] if experiment.cv.tune_metric else [])]
    return [
        *(type(algorithm) for algorithm in algorithms),
        *(part for algorithm in algorithms for part in vars(algorithm).values() if callable(part)),
        *(METRICS[name] for name in names),
        type(SCHEMES[experiment.cv.scheme]),
    ]


def _refuse_other_environments(store: Store, run: str, here: Mapping[str, Any]) -> None:
    now = environments.deciding(here)
    for stored in store.environments(run).values():
        if stored != now:
            what = ", ".join(environments.differences(stored, now))
            raise ConfigError(
                f"run {run!r} has folds that another environment has made ({what}): use --fresh to start over, another "
                "name to keep both (--set name=...), or leave --strict-environment out."
            )


def _note_others(run: str, store: Store, progress: Progress) -> None:
    """Show, before the first fold, the stored folds outside this run's configuration or from another environment."""
    if more := store.not_asked_for(run):
        progress.note(f"{run}: {more} stored folds are of repetitions beyond cv.repeats; kept, not shown")
    if others := store.made_elsewhere(run):
        progress.note(f"{run}: {others}; the table will say so, --strict-environment refuses, --fresh starts over")


@contextlib.contextmanager
def _connected(scheduler: str | None) -> Iterator[Any]:
    """Yield a connection to a cluster, or None without an address."""
    if scheduler is None:
        yield None
        return
    from oblique_cli.experiments.cluster import Cluster

    cluster = Cluster(scheduler)
    try:
        yield cluster
    finally:
        cluster.close()


def _fold_counts(experiment: Experiment, datasets: Sequence[Dataset]) -> dict[str, tuple[int, ...]]:
    """Return the numbers of folds for tables, which have no access to the data: `Experiment.fold_counts`."""
    made = SCHEMES[experiment.cv.scheme]
    usual = None if made.places_from_data else schemes.places(experiment.cv)
    places_of = {dataset.name: schemes.places(experiment.cv, dataset) for dataset in datasets}
    return {
        name: tuple(np.bincount([repeat for repeat, _ in places]).tolist())
        for name, places in places_of.items()
        if places != usual
    }


def load_datasets(experiment: Experiment, data_dir: str | None, offline: bool) -> list[Dataset]:
    """Return the data sets of `experiment`. data_dir : folder of --data-dir, searched first"""
    place, task = data_dir or experiment.data_dir, task_of_experiment(experiment)
    groups = SCHEMES[experiment.cv.scheme].group_column(experiment.cv)
    return [
        catalogue.load(spec, data_dir=place, offline=offline, task=task, groups=groups) for spec in experiment.datasets
    ]


def count_workers(n_jobs: int | str) -> int:
    """Return the number of workers for `n_jobs`: a number, or "auto" for one per processor."""
    if n_jobs == "auto":
        return int(joblib.cpu_count())
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs < 1:
        raise ConfigError(f"the number of jobs must be auto or a whole number, at least 1. Got {n_jobs!r}.")
    return n_jobs
