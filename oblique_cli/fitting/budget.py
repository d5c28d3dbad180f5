"""Candidates of `auto`; cost of a fit and remaining budget, computed from rows, columns and classes, not the clock.

A choice that depends on the clock would give another model on a busy machine. So the budget, in seconds, is spent
according to the table in costs.yaml, and the clock is only a brake: if the work takes much longer than computed, the
remaining fits are skipped, and the outcome reports it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from oblique_cli.data.dataset import Dataset
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.default_pruning import BY_CV, BY_HOLDOUT
from oblique_cli.experiments.fits import Case
from oblique_cli.ground.nouns import AlgorithmSpec, CVSpec
from oblique_cli.ground.strict_yaml import Problems, parse, read
from oblique_cli.schemes import SCHEMES

# Planned seconds of work per second of the budget: on other data and machines the work may take longer than measured,
# and the clock stops it at twice the planned time.
PLANNED = 0.7
BRAKE = 2 * PLANNED  # multiple of the budget, in CPU time, after which no further fit starts

COMPARISON_SECONDS = 40.0 * PLANNED  # for a cross-validation whose size the user did not set
SMALLER_SIZES = {"repeats": (5, 3, 2, 1), "folds": (5, 3, 2)}  # tried in this order

TREE_SECONDS = 15.0  # for the trees of a default algorithm, beyond which a cheaper algorithm takes its place
AROUND_SECONDS = 1.1e-6  # of CPU per cell: reading a table, terms that no row needs, drawing
MEASURED_FROM = 10_000  # rows of a fit from which the costs of large tables hold
GROWTHS = 10  # cost of a tree pruned by cross-validation, relative to a tree pruned on separate rows


def candidates(task: str) -> tuple[dict[str, Any], ...]:
    """Return the algorithms that auto compares for a task, in the form of a configuration, each with name and id.

    task : "classification" or "regression"; with the suffix "_readable", the additional candidates for a readable tree
    """
    entries = ({"name": item} if isinstance(item, str) else item for item in table("candidates.yaml")[task])
    return tuple({"id": entry["name"], **entry} for entry in entries)


def recommended(task: str) -> str:
    """Return the name of the algorithm that auto compares first."""
    return str(table("candidates.yaml")["recommended"][task])


@cache
def table(name: str) -> dict[str, Any]:
    """Return the content of a file in this folder."""
    problems = Problems()
    plain: dict[str, Any] = parse(read(Path(__file__).with_name(name), name, problems), problems).plain()
    return plain


@dataclass(frozen=True)
class Cost:
    """Seconds of one fit: base + seconds (rows / 1000)^rows (columns / 10)^columns (classes / 2)^classes."""

    base: float
    seconds: float
    rows: float
    columns: float
    classes: float

    def of(self, rows: float, columns: int, classes: int) -> float:
        """Return the seconds. classes : 1 in regression"""
        sizes = ((rows / 1000, self.rows), (columns / 10, self.columns), (classes / 2, self.classes))
        return self.base + self.seconds * prod(float(size**power) for size, power in sizes)


@cache
def costs(task: str) -> dict[str, Cost]:
    """Return the costs of the candidates of a task, by name."""
    return {name: Cost(**cost) for name, cost in table("costs.yaml")[task].items()}


def cost_of(case: Case, rows: float, folds: int) -> float:
    """Return the seconds of one fit of an algorithm to `rows` rows of its data set, including its grid search.

    An unlisted algorithm has the cost of the most expensive one.
    """
    dataset, listed = case.dataset, costs(case.dataset.task)
    columns = seen_columns(dataset, case.policy.encoding)
    classes = len(dataset.classes) or 1
    known = [listed[case.spec.name]] if case.spec.name in listed else list(listed.values())
    once = max(cost.of(max(rows, 1.0), columns, classes) for cost in known)
    if case.spec.params.get("pruning") == BY_HOLDOUT["pruning"]:
        grown = growth_seconds(dataset.task, rows, columns, classes) if rows >= MEASURED_FROM else {}
        once = grown.get(case.spec.name, once / GROWTHS)
    path = getattr(case.algorithm, "path_parameter", None)
    searched = prod(len(values) for name, values in case.spec.grid.items() if name != path)
    return once * (1 + folds * searched) if case.spec.grid else once


def growth_seconds(task: str, rows: float, columns: int, classes: int) -> dict[str, float]:
    """Return the seconds of one tree of each default algorithm and its substitutes, from the default on."""
    # A class has at most as many eigenvectors as rows: HHCART(A) searches columns * eigenvectors directions of it.
    searched_columns = round((columns * min(columns, max(rows / classes, 1.0))) ** 0.5)
    return {name: cost.of(rows, searched_columns, classes) for name, cost in costs(f"{task}_growth").items()}


def affordable_tree(
    spec: AlgorithmSpec, fits: int, rows: float, columns: int, classes: int
) -> tuple[str, float, float]:
    """Return the algorithm that a default command takes for `spec`, and the seconds of `spec` and of this algorithm.

    It is the first in costs.yaml, from `spec` on, whose trees take at most TREE_SECONDS, else the cheapest. fits : of
    `rows` rows each, with all trees of the pruning
    """
    by_cv = spec.params.items() >= BY_CV.items()
    trees = 1 + spec.params.get("pruning_folds", 10) * spec.params.get("pruning_repeats", 1) if by_cv else 1
    task = ALGORITHMS[spec.name].family.task
    listed = [(name, fits * trees * each) for name, each in growth_seconds(task, rows, columns, classes).items()]
    seconds = dict(itertools.dropwhile(lambda item: item[0] != spec.name, listed))
    fitting = [name for name in seconds if spec.params.keys() <= ALGORITHMS[name].parameters.keys()]
    if not fitting:  # no default algorithm
        return spec.name, 0.0, 0.0
    name = next((name for name in fitting if seconds[name] <= TREE_SECONDS), min(fitting, key=seconds.__getitem__))
    return name, seconds[spec.name], seconds[name]


def fold_cost(case: Case, folds: int) -> tuple[float, bool]:
    """Return the seconds of a fold of an experiment, and whether the table lists it. folds : of the tuning"""
    return cost_of(case, case.dataset.n, folds), case.spec.name in costs(case.dataset.task)


def affordable_cv(cv: CVSpec, cases: Sequence[Case], least: Mapping[str, int]) -> tuple[CVSpec, float, float]:
    """Return the cross-validation that COMPARISON_SECONDS allow, the seconds of `cv`, and those of the result.

    cases : the algorithms on their data sets; unlisted algorithms cost nothing
    least : key of SMALLER_SIZES -> its minimum; other keys stay. The smallest size may take longer.
    """
    scheme = SCHEMES[cv.scheme]
    listed = [case for case in cases if case.spec.name in costs(case.dataset.task)]
    free = [key for key in SMALLER_SIZES if key in least and key in scheme.takes() and key not in scheme.fixed]

    def seconds(of: CVSpec) -> float:
        share = 1 - 1 / of.folds if "folds" in scheme.takes() else 1.0
        fits = [len(scheme.places(case.dataset, of)) for case in listed]
        each = [cost_of(case, share * case.dataset.n, of.tune_folds) for case in listed]
        return sum(n * cost for n, cost in zip(fits, each, strict=True))

    whole = seconds(cv)
    smaller = ((key, n) for key in free for n in SMALLER_SIZES[key] if least[key] <= n < getattr(cv, key))
    for key, n in smaller:
        if seconds(cv) <= COMPARISON_SECONDS:
            break
        cv = replace(cv, folds=n, tune_folds=min(cv.tune_folds, n)) if key == "folds" else replace(cv, repeats=n)
    return cv, whole, seconds(cv)


def seen_columns(dataset: Dataset, encoding: str) -> int:
    """Return the number of columns of the estimator's input; one-hot encoding has one column per level."""
    if encoding != "onehot":
        return max(dataset.p, 1)
    return dataset.p - len(dataset.qualitative) + sum(len(dataset.levels.get(j, ())) for j in dataset.qualitative)


# Called after each fit with its description, to show progress.
Step = Callable[[str], None]


def unseen(name: str) -> None:
    """Show no progress: the default `Step`."""


class Budget:
    """Limit on the work of a fit, in seconds.

    seconds  the user's limit, None for no limit
    clock    CPU time of this process, for the brake; step : called after each fit
    counted  seconds of the comparisons and fits so far, by their costs
    """

    def __init__(
        self, seconds: float | None, clock: Callable[[], float] = time.process_time, step: Step = unseen
    ) -> None:
        self.seconds, self.step = seconds, step
        self._clock = clock
        self._started = clock()
        self.counted = 0.0
        self.cut = ""  # the first skipped work, "" for none

    @property
    def work(self) -> float:
        """Return the seconds of work that may be planned."""
        return float("inf") if self.seconds is None else self.seconds * PLANNED

    def is_over(self, what: str) -> bool:
        """Return whether the time for `what` is over; if so, record it as skipped."""
        if self.seconds is None or self._clock() - self._started <= BRAKE * self.seconds:
            return False
        self.cut = self.cut or what
        return True

    def plain(self) -> dict[str, Any]:
        """Return the entries for a model file."""
        return {"seconds": self.seconds, **({"clock_cut": self.cut} if self.cut else {})}
