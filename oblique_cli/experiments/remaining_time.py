"""Estimate of the remaining time of a run from its stored folds, and of its unmeasured folds from sizes of data."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, geometric_mean
from typing import NamedTuple

from oblique_cli import schemes
from oblique_cli.experiments.progress import duration
from oblique_cli.experiments.store import Run
from oblique_cli.ground.nouns import Row

Cell = tuple[str, str]  # data set, algorithm

# Seconds of a fold grow with about this power of the costs in fitting/costs.yaml. It counts as much as two measured
# data sets whose costs differ by a factor of 4.
USUAL_POWER = 0.8


def seconds_of(rows: Iterable[Row]) -> dict[Cell, list[float]]:
    """Return the durations of the good folds, by data set and algorithm."""
    seconds: dict[Cell, list[float]] = defaultdict(list)
    for row in rows:
        if row.status == "ok":
            seconds[row.dataset, row.algorithm].append(row.tune_seconds + row.fit_seconds + row.predict_seconds)
    return seconds


class Estimate(NamedTuple):
    """Estimated time of all workers. text : "about 3:20 with 2 workers", or "at least" if a cell has no stored fold"""

    seconds: float
    text: str


def estimate(left: Mapping[Cell, int], rows: Iterable[Row], workers: int) -> Estimate | None:
    """Return the time that the `left` number of folds per cell take by good `rows` of the same cells, None without."""
    seconds = seconds_of(rows)
    known = {cell: n * fmean(seconds[cell]) for cell, n in left.items() if n and cell in seconds}
    if not known:
        return None
    total = sum(known.values()) / workers
    about = "about" if all(cell in known for cell, n in left.items() if n) else "at least"
    return Estimate(total, f"{about} {duration(total)} with {workers} worker{'' if workers == 1 else 's'}")


@dataclass
class Remaining:
    """Remaining time of a run, by data set and algorithm, while its folds finish.

    left     number of remaining folds of each cell
    costs    seconds of a fold that the sizes of the data predict, right up to a factor for each algorithm; may be empty
    comparable algorithms whose costs are right up to one factor for all of them
    workers  folds that run at the same time
    seconds  times of finished folds"""

    left: Counter[Cell]
    costs: Mapping[Cell, float]
    comparable: frozenset[str]
    workers: int
    seconds: dict[Cell, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: Row) -> None:
        """Count a finished fold."""
        self.left[row.dataset, row.algorithm] -= 1
        for cell, seconds in seconds_of([row]).items():
            self.seconds[cell] += seconds

    def text(self, since: float = 0.0) -> str:
        """Return the remaining time, "" if nothing is known. since : seconds since the latest fold finished

        Until every cell has a finished fold: "at least" counts only cells with one, "perhaps" estimates the others from
        the sizes of their data."""
        left = {cell: n for cell, n in self.left.items() if n > 0}
        if not left:
            return ""
        folds = {cell: self._seconds(cell) for cell in left}
        measured = {cell: seconds for cell, seconds in folds.items() if seconds and cell in self.seconds}
        least = self._together(left, measured, since)
        if len(measured) == len(left):
            return f"left about {roughly(least)}"
        known = {cell: seconds for cell, seconds in folds.items() if seconds is not None}
        texts = [f"at least {roughly(least)}"] if least > 0 else []
        if len(known) == len(left):
            texts.append(f"perhaps {roughly(self._together(left, known, since))}")
        return f"left {', '.join(texts)}" if texts else ""

    def _together(self, left: Mapping[Cell, int], folds: Mapping[Cell, float], since: float) -> float:
        """Return the seconds of folds on all workers, at least the longest fold."""
        if not folds:
            return 0.0
        total = sum(left[cell] * seconds for cell, seconds in folds.items())
        return max(max(total / self.workers, *folds.values()) - since, 0.0)

    def _seconds(self, cell: Cell) -> float | None:
        """Return the seconds of a fold: measured, else from its cost by the power law of the same algorithm on other
        data sets, else by that of all measured algorithms; None if unknown."""
        if cell in self.seconds:
            return fmean(self.seconds[cell])
        if cell not in self.costs:
            return None
        cost, algorithm = self.costs[cell], cell[1]
        same = [other for other in self.seconds if other[1] == algorithm and other in self.costs]
        if same:
            sizes = [math.log(self.costs[other]) for other in same]
            times = [math.log(max(fmean(self.seconds[other]), 1e-6)) for other in same]
            size, time = fmean(sizes), fmean(times)
            products = sum((x - size) * (t - time) for x, t in zip(sizes, times, strict=True))
            power = (products + USUAL_POWER) / (sum((x - size) ** 2 for x in sizes) + 1.0)
            return math.exp(time + min(max(power, 0.0), 1.0) * (math.log(cost) - size))
        if algorithm not in self.comparable:
            return None
        others = [other for other in self.seconds if other[1] in self.comparable and other in self.costs]
        ratios = [max(fmean(self.seconds[other]), 1e-6) / self.costs[other] for other in others]
        return cost * (geometric_mean(ratios) if ratios else 1.0)


def roughly(seconds: float) -> str:
    """Return a duration of two digits at most: "4 s", "45 s", "22 min", "3.5 h"."""
    if seconds < 9.5:
        return f"{max(round(seconds), 1)} s"
    if seconds < 57.5:
        return f"{5 * round(seconds / 5)} s"
    if seconds < 90 * 60:
        return f"{max(round(seconds / 60), 1)} min"
    return f"{round(seconds / 1800) / 2:g} h"


def left_of(run: Run, rows: Iterable[Row]) -> dict[Cell, int]:
    """Return the number of remaining folds per cell of a stored run."""
    experiment, stored = run.experiment, Counter((row.dataset, row.algorithm) for row in rows)
    return {
        (spec.name, algorithm.id): len(schemes.expected_places(experiment, spec.name)) - stored[spec.name, algorithm.id]
        for spec in experiment.datasets
        for algorithm in experiment.algorithms
    }
