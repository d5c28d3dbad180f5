"""Estimate of the remaining time of a run from its stored folds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from oblique_cli import schemes
from oblique_cli.experiments.progress import duration
from oblique_cli.experiments.store import Run
from oblique_cli.ground.nouns import Row

Cell = tuple[str, str]  # data set, algorithm


@dataclass(frozen=True)
class Estimate:
    """seconds: of all workers, None without a stored fold. complete: whether every unfinished cell has stored folds"""

    seconds: float | None
    complete: bool
    workers: int

    def __str__(self) -> str:
        """Return a readable estimate: "about 3:20 with 2 workers", "" if nothing remains or is known."""
        if self.seconds is None:
            return ""
        plural = "" if self.workers == 1 else "s"
        about = "about" if self.complete else "at least"
        return f"{about} {duration(self.seconds)} with {self.workers} worker{plural}"


def seconds_of(rows: Iterable[Row]) -> dict[Cell, list[float]]:
    """Return the durations of the good folds, by data set and algorithm."""
    seconds: dict[Cell, list[float]] = defaultdict(list)
    for row in rows:
        if row.status == "ok":
            seconds[row.dataset, row.algorithm].append(row.tune_seconds + row.fit_seconds + row.predict_seconds)
    return seconds


def estimate(left: Mapping[Cell, int], rows: Iterable[Row], workers: int) -> Estimate:
    """Return the estimated time for the `left` number of folds per cell, from good `rows` of the same cells."""
    seconds = seconds_of(rows)
    known = {cell: n * fmean(seconds[cell]) for cell, n in left.items() if n and cell in seconds}
    complete = all(cell in known for cell, n in left.items() if n)
    return Estimate(sum(known.values()) / workers if known else None, complete, workers)


def left_of(run: Run, rows: Iterable[Row]) -> dict[Cell, int]:
    """Return the number of remaining folds per cell of a stored run."""
    experiment, stored = run.experiment, Counter((row.dataset, row.algorithm) for row in rows)
    return {
        (spec.name, algorithm.id): len(schemes.expected_places(experiment, spec.name)) - stored[spec.name, algorithm.id]
        for spec in experiment.datasets
        for algorithm in experiment.algorithms
    }
