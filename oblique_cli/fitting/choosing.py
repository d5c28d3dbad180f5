"""Model selection `auto`: the smallest of several models that are as good as the best.

If fitting all of them to all rows exceeds the budget, they are compared by successive halving (Jamieson and
Talwalkar 2016): first on few rows, then the better half of them on more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError, ObliqueError
from oblique_cli.evaluation import metrics
from oblique_cli.experiments import fits
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting.budget import Budget, Step, cost_of, recommended
from oblique_cli.fitting.estimating import (
    Estimate,
    FoldFit,
    Validated,
    answers_of,
    cross_validated,
    division,
    folds_of,
    tuning_pairs,
)
from oblique_cli.fitting.goals import Answers, Goal
from oblique_cli.fitting.tree_sizes import cut_to_goal
from oblique_cli.ground import seeds

Cases = Callable[["Dataset"], Mapping[str, Case]]

LEAST_ROWS = 300  # in a comparison
FEW_TESTED = 3  # folds of the estimate, if comparisons on all rows in every fold exceed the budget
HELD_OUT_FROM = 5000  # number of rows from which one held-out part replaces cross-validation


@dataclass(frozen=True)
class Size:
    """Size of a model, compared by terms, then by leaves.

    leaves   of the tree, of all trees of a forest; 0 for a model without trees, which counts as larger than any tree
    n_terms  leaves, coefficients of hyperplanes and coefficients of models in leaves, together (`metrics.n_terms`)
    """

    leaves: int = 0
    n_terms: int = 0

    @classmethod
    def of(cls, estimator: Any) -> Size:
        """Return the size of a fitted estimator."""
        return cls(int(getattr(estimator, "n_leaves_", 0)), metrics.n_terms(estimator))

    @property
    def key(self) -> tuple[float, int]:
        """Return the key for comparisons."""
        return (self.n_terms or np.inf, self.leaves)


@dataclass(frozen=True)
class Candidate:
    """Algorithm in the comparison, identified by its id.

    size      median of the models of the folds; written : size of the model that is fitted to all rows
    failure   reason for a missing estimate, or for a missing estimate on more rows
    rows      of its comparison; dropped : whether other algorithms went on to more rows without it
    """

    algorithm: str
    estimate: Estimate | None
    size: Size
    failure: str = ""
    rows: int = 0
    dropped: bool = False
    is_tree: bool = True
    written: Size | None = None

    @property
    def shown(self) -> Size:
        """Return the size of the model fitted to all rows, or else of the models of the folds."""
        return self.written or self.size


@dataclass(frozen=True)
class Plan:
    """Plan for a budget: test folds of the nested cross-validation (0 for a held-out part), ids of the algorithms whose
    fits to all rows the budget allows, and seconds of counted work of one comparison."""

    tested: int
    entrants: tuple[str, ...]
    work: float

    @property
    def held_out(self) -> bool:
        """Return whether the estimate is from a single held-out part."""
        return not self.tested


@dataclass(frozen=True)
class Choice:
    """Comparison and its result: the smallest model whose loss is within one standard error of the least.

    threshold : chosen on the predictions of the chosen algorithm, or set by the user; None without any
    """

    candidates: tuple[Candidate, ...]
    chosen: str
    threshold: float | None = field(default=None, compare=False)

    @property
    def last(self) -> tuple[Candidate, ...]:
        """Return the candidates that were compared on the most rows."""
        return tuple(c for c in self.candidates if c.estimate and not c.dropped)

    @property
    def limit(self) -> float:
        """Return the largest loss that counts as good as the best."""
        return _limit(self.last)

    @property
    def best_tree(self) -> Candidate | None:
        """Return the chosen single tree, or else the smallest single tree that is as good as the best single tree."""
        trees = [c for c in self.last if c.is_tree]
        return next((c for c in trees if c.algorithm == self.chosen), _smallest(trees) if trees else None)

    def with_written(self, algorithm: str, estimator: Any) -> Choice:
        """Return the choice with the size of a model that is fitted to all rows."""
        size = Size.of(estimator)
        candidates = (replace(c, written=size) if c.algorithm == algorithm else c for c in self.candidates)
        return replace(self, candidates=tuple(candidates))

    def plain(self) -> list[dict[str, Any]]:
        """Return the table for a model file and JSON."""
        return [
            {
                "algorithm": c.algorithm,
                "leaves": c.shown.leaves,
                "n_terms": c.shown.n_terms,
                **({"failure": c.failure} if c.estimate is None else c.estimate.plain()),
                "compared_on": c.rows,
                "dropped": c.dropped,
                "chosen": c.algorithm == self.chosen,
            }
            for c in self.candidates
        ]


def _loss(candidate: Candidate) -> float:
    assert candidate.estimate is not None
    return candidate.estimate.loss


def _limit(candidates: Sequence[Candidate]) -> float:
    """Return the largest loss that counts as good as the best."""
    best = min((c.estimate for c in candidates if c.estimate), key=lambda e: e.loss)
    return best.loss + best.loss_error


def _smallest(candidates: Sequence[Candidate]) -> Candidate:
    """Return the smallest candidate within one standard error of the least loss; ties by loss, then by order."""
    limit = _limit(candidates)
    within = [(c.size.key, _loss(c), i) for i, c in enumerate(candidates) if _loss(c) <= limit]
    return candidates[min(within)[2]]


def ranked(candidates: Sequence[Candidate], goal: Goal) -> list[Candidate]:
    """Return candidates in order of preference: the smallest within one standard error of the least loss.

    For a readable model, single trees with a split: those within the limit by size, then the others by loss.
    """
    if not goal.readable:
        return [_smallest(candidates)]
    limit = _limit(candidates)
    trees = [c for c in candidates if c.is_tree and c.size.leaves > 1]
    within = sorted((c for c in trees if _loss(c) <= limit), key=lambda c: (c.size.key, _loss(c)))
    beyond = sorted((c for c in trees if _loss(c) > limit), key=_loss)
    return [*within, *beyond] or [_smallest(candidates)]


def planned(by_id: Mapping[str, Case], n: int, folds: int, budget: Budget) -> Plan:
    """Return the plan of the budget for n rows: nested cross-validation, if the budget allows half of the algorithms.

    Half of the work may go into fits of the chosen algorithm; the comparisons share the rest. If that does not suffice
    for all algorithms on all rows, only the rows of `FEW_TESTED` folds are predicted.
    """
    cheapest = in_turn_of(by_id, by_id, n, folds)
    half = cheapest[: max(1, len(cheapest) // 2)]
    for tested in (folds, min(folds, FEW_TESTED)):
        plan = _planned(by_id, cheapest, n, folds, budget, tested)
        least = _round_work(by_id, half, min(n, LEAST_ROWS), folds) * _rounds(len(half))
        pays = len(plan.entrants) >= len(half) and least <= plan.work and cheapest[0] in plan.entrants
        in_full = len(plan.entrants) == len(by_id) and _round_work(by_id, cheapest, n, folds) <= plan.work
        if in_full or (pays and (len(by_id) == 1 or tested < folds)):
            return plan
    return _planned(by_id, cheapest, n, folds, budget, 0)


def in_turn_of(by_id: Mapping[str, Case], names: Iterable[str], n: int, folds: int) -> list[str]:
    """Return ids in the order of the comparison: the recommended algorithm, then the cheapest on n rows."""
    tasks = {case.dataset.task for case in by_id.values()}
    first = {recommended(task) for task in tasks}
    return sorted(names, key=lambda name: (by_id[name].spec.name not in first, cost_of(by_id[name], n, folds)))


def _planned(
    by_id: Mapping[str, Case], cheapest: Sequence[str], n: int, folds: int, budget: Budget, tested: int
) -> Plan:
    """Return the plan for an estimate on `tested` folds. cheapest : the ids in the order of `in_turn_of`"""
    fits, comparisons = (tested + 1, tested + 1) if tested else (2, 1)
    entrants = [name for name in cheapest if fits * cost_of(by_id[name], n, folds) <= budget.work / 2]
    reserve = max((fits * cost_of(by_id[name], n, folds) for name in entrants), default=0.0)
    work = budget.work if budget.seconds is None else (budget.work - reserve) / comparisons
    return Plan(tested, tuple(entrants or [min(by_id, key=lambda name: cost_of(by_id[name], n, folds))]), work)


def choose(
    dataset: Dataset,
    cases: Cases,
    folds: int,
    seed: int,
    goal: Goal,
    budget: Budget,
    work: float,
    entrants: Sequence[str],
) -> Choice:
    """Compare algorithms, the `entrants`, on the same folds and choose the best; ties in size by loss, then by order.

    If `work`, in seconds of counted work, suffices for all of them on all rows, there is one comparison. Otherwise each
    round has an equal part of the work, uses as many rows as that allows, and keeps the better half. If `LEAST_ROWS`
    rows take more than half of the work, the most expensive are excluded before the first round. Raise ConfigError if
    no algorithm could be fitted.
    """
    by_id = cases(dataset)
    compared = {name: Candidate(name, None, Size(), NOT_PAID) for name in by_id}
    answers: dict[str, Validated] = {}
    alive, before = in_turn_of(by_id, entrants, dataset.n, folds), 0
    while True:
        rounds = _rounds(len(alive))
        rows = _affordable(by_id, alive, folds, work, rounds, dataset.n)  # at least `LEAST_ROWS`
        if rows <= before:
            break
        while not before and len(alive) > 1 and _round_work(by_id, alive, rows, folds) > work / min(rounds, 2):
            alive.pop()
        work, before = work - _round_work(by_id, alive, rows, folds), rows
        budget.counted += _round_work(by_id, alive, rows, folds)
        some = cases(dataset if rows == dataset.n else part(dataset, rows_in_turn(dataset, rows, seed)))
        good: list[str] = []
        for name in alive:
            if any(c.estimate for c in compared.values()) and budget.is_over(f"{name} on {rows:,} rows"):
                compared[name] = replace(compared[name], failure=CLOCK, dropped=bool(good))
                continue
            compared[name], validated = _compared(some[name], rows, folds, seed, goal, budget.step)
            if validated is not None:
                answers[name] = validated
                good.append(name)
        if rows == dataset.n or rounds == 1 or len(good) < 2 or budget.cut:
            break
        # The better half: the best, the best single tree, the smallest as good as the best, then by loss.
        by_loss = sorted((compared[name] for name in good), key=_loss)
        first = [by_loss[0], *[c for c in by_loss if c.is_tree][:1], _smallest([compared[name] for name in good])]
        names = list(dict.fromkeys(c.algorithm for c in [*first, *by_loss]))
        better = set(names[: max(2, ceil(len(good) / 2))])
        alive = [name for name in good if name in better]
        for name in good:
            compared[name] = replace(compared[name], dropped=name not in alive)
    listed = tuple(compared[name] for name in by_id)
    last_ones = [c for c in listed if c.estimate and not c.dropped]
    if not last_ones:
        raise ConfigError(f"none of {', '.join(by_id)} could be fitted ({compared[alive[0]].failure}).")
    chosen = ranked(last_ones, goal)[0].algorithm
    return Choice(listed, chosen, goal.decided(answers[chosen].answers)[1])


NOT_PAID = "not compared: more work than the budget pays for"
CLOCK = "left out: the clock cut"


def _rounds(n: int) -> int:
    """Return the number of rounds until two algorithms remain, including the round that compares these."""
    return ceil(log2(max(n, 2))) if n > 1 else 1


def _tested(rows: int, folds: int) -> tuple[int, float]:
    """Return the number of fits in a comparison on so many rows, and the number of rows of each fit."""
    return (1 if rows >= HELD_OUT_FROM else folds), rows * (folds - 1) / folds


def _round_work(by_id: Mapping[str, Case], names: Sequence[str], rows: int, folds: int) -> float:
    fits, of = _tested(rows, folds)
    return fits * sum(cost_of(by_id[name], of, folds) for name in names)


def _affordable(by_id: Mapping[str, Case], names: Sequence[str], folds: int, work: float, rounds: int, n: int) -> int:
    """Return the rows of a round: all if the remaining work suffices, else those for an equal part of the work."""
    if _round_work(by_id, names, n, folds) <= work:
        return n
    share = work / rounds
    low, high = min(n, LEAST_ROWS), n
    if n >= HELD_OUT_FROM:  # one test fold of many rows takes less time than all folds of slightly fewer rows
        pays = _round_work(by_id, names, HELD_OUT_FROM, folds) <= share
        low, high = (HELD_OUT_FROM, n) if pays else (low, HELD_OUT_FROM)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _round_work(by_id, names, middle, folds) <= share else (low, middle)
    return low


def _compared(
    case: Case, rows: int, folds: int, seed: int, goal: Goal, step: Step
) -> tuple[Candidate, Validated | None]:
    try:
        validated = cross_validated(case, folds, seed, goal, step, held_out=_tested(rows, folds)[0] == 1)
        estimate = replace(validated, answers=goal.decided(validated.answers)[0]).estimate(goal)
    except (ObliqueError, ValueError, FloatingPointError) as error:
        return Candidate(case.spec.id, None, Size(), fits.first_line(error), rows), None
    estimators = [fold_fit.estimator for fold_fit in validated.fold_fits]
    sizes = sorted(map(Size.of, estimators), key=lambda size: size.key)
    is_tree = all(hasattr(estimator, "tree_") for estimator in estimators)
    return Candidate(case.spec.id, estimate, sizes[len(sizes) // 2], rows=rows, is_tree=is_tree), validated


def rows_in_turn(dataset: Dataset, n: int, seed: int) -> NDArray[np.intp]:
    """Return the first n rows, sorted, of a random order in which the classes are spread evenly."""
    shuffled = seeds.generator(seed, dataset.name, "rounds").permutation(dataset.n)
    if dataset.task == "classification":
        turn = np.empty(dataset.n)
        for k in range(len(dataset.classes)):
            of_class = shuffled[dataset.y[shuffled] == k]
            turn[of_class] = (np.arange(len(of_class)) + 0.5) / max(len(of_class), 1)
        shuffled = shuffled[np.argsort(turn[shuffled], kind="stable")]
    return np.sort(shuffled[:n])


def fit_to_all(case: Case, folds: int, seed: int, goal: Goal) -> tuple[Any, Any, dict[str, Any]]:
    """Return the estimator fitted to all rows, its encoder (or None), and the parameters chosen by a grid."""
    dataset, chosen = case.dataset, {}
    if case.spec.grid:
        pairs = tuning_pairs(dataset, folds, seed)
        chosen = fits.tune(case, pairs, seeds.integer(seed, dataset.name, "tuning"))[0]
    tree_seed = seeds.integer(seed, dataset.name, "tree")
    cut = cut_to_goal(case, np.arange(dataset.n), goal, {**case.spec.params, **chosen}, tree_seed)
    return *fits.fit_on(case, slice(None), None, tree_seed, {**chosen, **cut}), chosen


def estimated(
    dataset: Dataset, cases: Cases, plan: Plan, folds: int, seed: int, goal: Goal, budget: Budget
) -> tuple[Validated, Choice]:
    """Return out-of-fold predictions of the whole procedure, of some or all folds, and the choice of the first."""
    cv = division(dataset, folds, tuned=True)
    if dataset.groups is None and not any(case.spec.grid for case in cases(dataset).values()):
        cv = replace(cv, scheme="ordinary")  # without the inner folds of a grid search
    parts: list[Answers] = []
    fold_fits: list[FoldFit] = []
    choices: list[Choice] = []
    for number, fold in enumerate(folds_of(dataset, cv, seed)[: plan.tested or 1]):
        if parts and budget.is_over(f"fold {number + 1} of the estimate"):
            break
        inner = seeds.integer(seed, dataset.name, "auto", number)
        within = part(dataset, fold.train)
        choice = choose(within, cases, folds, inner, goal, budget, plan.work, plan.entrants)
        job = seeds.integer(seed, dataset.name, "job", 0, number)
        budget.counted += cost_of(cases(dataset)[choice.chosen], len(fold.train), folds)
        answers, fold_fit = answers_of(cases(dataset)[choice.chosen], fold, goal, job)
        fold_fits.append(fold_fit)
        parts.append(goal.applied(answers, choice.threshold))
        choices.append(choice)
        budget.step(f"{choice.chosen}, test rows")
    of_folds = 0 if plan.held_out else cv.folds
    return Validated(Answers.together(parts), fold_fits, of_folds, nested=True, tested=len(parts)), choices[0]


def part(dataset: Dataset, rows: NDArray[np.intp]) -> Dataset:
    """Return some rows of a data set as a data set."""
    groups, weights = (None if each is None else each[rows] for each in (dataset.groups, dataset.weights))
    X, y = np.ascontiguousarray(dataset.X[rows]), np.ascontiguousarray(dataset.y[rows])
    return replace(dataset, X=X, y=y, split=None, groups=groups, weights=weights)
