"""Steps of a study that are no folds of a configuration: stored as folds are, so that an interrupted study goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from oblique_cli.data import catalogue
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import EXIT_FAILED_FOLDS, EXIT_OK, DataError
from oblique_cli.experiments import digests
from oblique_cli.experiments.dispatching import Call, Crew, Signals
from oblique_cli.experiments.environment import environment
from oblique_cli.experiments.progress import Progress
from oblique_cli.experiments.running import count_workers, failed
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import DatasetSpec, Job, Row
from oblique_cli.papers.reproduction.framework.runs import DATABASE
from oblique_cli.papers.reproduction.framework.studies import Cost, StudyRequest

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Steps:
    """What is stored of a study's steps: good rows by data set, algorithm and repetition; and how many were taken
    now."""

    rows: tuple[Row, ...]
    now: int
    seconds: float
    exit_code: int

    @property
    def cost(self) -> Cost:
        """What the steps took."""
        work = sum(row.fit_seconds + row.predict_seconds for row in self.rows)
        return Cost(self.now, self.seconds, len(self.rows), work)

    def measures_by(self, keyed: Iterable[tuple[Key, Call]]) -> dict[Key, list[Mapping[str, float]]]:
        """Return what was measured, by what each step is of. keyed : the steps, in the order of the keys"""
        measured = {row.key: row.measures for row in self.rows}
        measures: dict[Key, list[Mapping[str, float]]] = {}
        for key, (job, *_) in keyed:
            if job.key in measured:
                measures.setdefault(key, []).append(measured[job.key])
        return measures


def loaded(request: StudyRequest, study: str, policy: DatasetSpec) -> Dataset | None:
    """Return a data set, or None with a message that the study leaves it out."""
    try:
        return catalogue.load(policy, request.data_dir, request.offline)
    except DataError as error:
        request.say(f"{study}: {policy.name} is left out, {error}")
        return None


def step(study: str, dataset: str, algorithm: str, repeat: int, seed: int, *decides: Any) -> Job:
    """Return the job of a step. `decides` is what else decides its result, as plain data."""
    key = digests.digest([digests.FORM, study, dataset, algorithm, repeat, seed, *decides])
    return Job(key, dataset, algorithm, repeat, 0, seed)


def take(request: StudyRequest, study: str, calls: Sequence[Call]) -> Steps:
    """Take those steps of a study that are not stored yet, and return the rows of all in the order of `calls`.

    calls   a step's job, what makes its row, and the arguments that follow the job

    The rows are in the store under a name that no configuration can have, so `oblique status` does not list them. The
    name goes by what the steps are; a step that another profile has taken already, in the same environment, is taken
    over. A step that fails is shown with its message, and is taken again next time.
    """
    started = time.perf_counter()
    by_key = {job.key: (job, function, arguments) for job, function, arguments in calls}
    name = f"reproduce/{study}-{digests.digest(sorted(by_key))[:16]}"
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
    """Return the row of a step; an exception is the message of a failed one."""
    try:
        return function(job, *arguments)
    except Exception as error:  # an exception belongs to this step alone, as in a fold
        return failed(job, error)
