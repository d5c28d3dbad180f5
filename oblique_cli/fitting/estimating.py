"""Cross-validated estimates: every row predicted by a fit that has not seen it, all rows pooled.

Breiman, Friedman, Olshen and Stone (1984), sections 3.4 and 8.3 (and 11.5): the standard error of a pooled estimate is
that of a mean over the rows, of right answers or of squared errors. Folds share training rows, so it is somewhat too
small; as in their rule of one standard error, it serves to call small differences none.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from oblique_cli import schemes
from oblique_cli.estimators.n_jobs import in_turn
from oblique_cli.evaluation import metrics
from oblique_cli.evaluation.holdout_report import reliability, residuals
from oblique_cli.evaluation.metrics import METRICS, TOLD, TOLD_OF_NUMBERS, TOLD_OF_TWO, Undefined
from oblique_cli.experiments import fits
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting.budget import Step, unseen
from oblique_cli.fitting.goals import Answers, Goal
from oblique_cli.fitting.tree_sizes import cut_to_goal
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import CVSpec, Fold, TuningPair

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset


FARTHEST = 1e150  # a number whose square is finite


@dataclass(frozen=True)
class Estimate:
    """What is to be expected on new rows.

    score      in the unit of the metric; the share of right answers for accuracy
    error      standard error of the score
    loss       what choices compare: the share of wrong answers, the mean squared error, the metric turned so that less
               is better
    loss_error standard error of the loss
    folds      of the cross-validation, 0 for rows held out once; tested : those whose rows were predicted
    nested     whether parameters or the algorithm were chosen inside the training rows
    rows       that were predicted
    metric     its name
    groups     column whose equal values no fold divides, "" for folds of single rows
    """

    score: float
    error: float
    loss: float
    loss_error: float
    folds: int
    nested: bool
    rows: int = 0
    metric: str = "accuracy"
    tested: int = 0
    groups: str = ""

    @classmethod
    def of(cls, answers: Answers, goal: Goal, folds: int, nested: bool, tested: int | None = None) -> Estimate:
        """Return the estimate from predictions of rows. Undefined for a metric that has no value on them.

        tested : folds whose rows they are, all of them without it
        """
        of_folds = folds if tested is None else min(tested, folds)
        measured = goal.measured(answers)
        return cls(*measured, folds, nested, len(answers.y), goal.metric.name, of_folds, answers.group_column)

    @property
    def by(self) -> str:
        """How it came about, in words."""
        whole = f" by groups of {self.groups!r}" if self.groups else ""
        if not self.folds:
            return f"{self.rows} rows held out{whole}"
        some = f"{self.tested} folds of " if self.tested < self.folds else ""
        return f"{some}{'nested ' if self.nested else ''}{self.folds}-fold cross-validation{whole}"

    def plain(self) -> dict[str, Any]:
        """Return what a model file and JSON hold."""
        how = "held-out rows" if not self.folds else "nested cross-validation" if self.nested else "cross-validation"
        extra: dict[str, Any] = {} if self.folds and self.tested == self.folds else {"rows": self.rows}
        if self.tested < self.folds:
            extra["folds_tested"] = self.tested
        if self.groups:
            how += f" by groups of {self.groups!r}"
            extra["groups"] = self.groups
        return {self.metric: self.score, "standard_error": self.error, "folds": self.folds, "by": how, **extra}


def details(answers: Answers, classes: Sequence[str]) -> dict[str, Any]:
    """Return further results of out-of-fold predictions. classes : () in regression

    For classes: confusion matrix, recalls, other metrics and calibration of probabilities. For numbers: coefficient of
    determination, mean absolute error and the distribution of residuals. Metrics without a value on these rows are left
    out.
    """
    if not classes:
        return _of_numbers(answers)
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(counts, (answers.y, answers.predicted), 1)
    rows = counts.sum(axis=1)
    facts: dict[str, Any] = {
        "confusion": counts.tolist(),
        "recalls": {label: float(counts[k, k] / rows[k]) for k, label in enumerate(classes) if rows[k]},
    }
    facts |= _values(answers, TOLD_OF_TWO if len(classes) == 2 else TOLD)
    if answers.shares is not None:
        likeliest = answers.shares.argmax(axis=1)
        facts["calibration"] = reliability(answers.shares.max(axis=1), likeliest == answers.y).plain()
    return facts


def _of_numbers(answers: Answers) -> dict[str, Any]:
    truth, predicted = (np.asarray(values, dtype=np.float64) for values in (answers.y, answers.predicted))
    if not max(np.abs(truth).max(), np.abs(predicted).max()) < FARTHEST:
        return {}
    return {**_values(answers, TOLD_OF_NUMBERS), "residuals": residuals(truth, predicted)}


def _values(answers: Answers, names: Sequence[str]) -> dict[str, float]:
    """Return values of metrics, shares instead of percentages; a metric without a value on these rows is left out."""
    values = {}
    for name in names:
        with suppress(Undefined):
            values[name] = answers.value(METRICS[name]) / (100 if METRICS[name].unit == "%" else 1)
    return values


def division(dataset: Dataset, folds: int, tuned: bool) -> CVSpec:
    """Return how rows are divided into folds, stratified if every class has rows enough; fewer folds for few rows."""
    if dataset.groups is not None:
        return _division_by_groups(dataset, folds, tuned)
    folds = max(2, min(folds, dataset.n // 2))
    counts = np.bincount(dataset.y, minlength=1) if dataset.task == "classification" else np.zeros(1, np.int64)
    # In a nested division a class loses a fold before it is divided again.
    least = int(counts[counts > 0].min()) if counts.any() else 0
    stratified = least - (-(-least // folds) if tuned else 0) >= folds
    return CVSpec("nested" if tuned else "ordinary", folds, 1, folds, stratified)


def _division_by_groups(dataset: Dataset, folds: int, tuned: bool) -> CVSpec:
    """The same by groups. A training set that is divided again has a fold less of the groups."""
    assert dataset.groups is not None
    number = len(np.unique(dataset.groups))
    folds = max(2, min(folds, number))
    inner = max(2, min(folds, number - -(-number // folds))) if tuned else folds
    of_classes = dataset.task == "classification"
    return CVSpec("group", folds, 1, inner, of_classes, options={"groups": dataset.group_column})


def folds_of(dataset: Dataset, cv: CVSpec, seed: int) -> list[Fold]:
    """Return the folds of one repetition."""
    schemes.check(dataset, cv, cv.scheme == "nested")
    return list(schemes.repetition(dataset, cv, seed, 0))


def tuning_pairs(dataset: Dataset, folds: int, seed: int) -> list[TuningPair]:
    """Return training and validation rows by which parameters for a fit to all rows are chosen."""
    cv = division(dataset, folds, tuned=False)
    if dataset.groups is not None:
        return [TuningPair(fold.train, fold.test, fold.pruning) for fold in folds_of(dataset, cv, seed)]
    shared = CVSpec("two_stage", cv.folds, 1, cv.folds, cv.stratified)
    return list(next(iter(schemes.repetition(dataset, shared, seed, 0))).tuning)


def answers_of(case: Case, fold: Fold, goal: Goal, seed: int) -> tuple[Answers, Any]:
    """Return what a fit to the training rows of a fold says of its test rows, and the fitted estimator.

    A grid is searched, and a tree is cut, inside the training rows.
    """
    chosen = fits.tune(case, fold.tuning, seed)[0] if case.spec.grid else {}
    cut = cut_to_goal(case, fold.train, goal, {**case.spec.params, **chosen}, seed)
    estimator, encoder = fits.fit_on(case, fold.train, fold.pruning, seed, {**chosen, **cut})
    X = fits.columns_of(case, encoder, fold.test)
    predicted, shares = np.asarray(estimator.predict(X)), None
    n_classes = 0 if case.dataset.task == "regression" else len(case.dataset.classes)
    if n_classes:
        with suppress(Undefined):
            shares = metrics.probabilities(estimator, X, n_classes)
    return Answers.of(case.dataset, fold.test, predicted, shares, n_classes), estimator


@dataclass(frozen=True, eq=False)
class Validated:
    """One algorithm cross-validated.

    answers : for every row tested; estimators : those of the folds; tested : folds whose rows they are, None for all
    """

    answers: Answers
    estimators: list[Any]
    folds: int
    nested: bool
    tested: int | None = None

    def estimate(self, goal: Goal) -> Estimate:
        """Return the estimate of the answers as they are."""
        return Estimate.of(self.answers, goal, self.folds, self.nested, self.tested)


def cross_validated(
    case: Case, folds: int, seed: int, goal: Goal, step: Step = unseen, held_out: bool = False
) -> Validated:
    """Predict rows by fits of one algorithm that have not seen them; a grid is searched inside each training set.

    held_out : the rows of the first fold are tested, and no others

    Folds are fitted by the threads that `estimators.n_jobs.threads` gives, if it does.

    Stochasticity: folds and fits have seeds named after `seed`, the data set and the fold.
    """
    tuned = bool(case.spec.grid)
    cv = division(case.dataset, folds, tuned)
    parts, estimators = [], []
    tested = folds_of(case.dataset, cv, seed)[: 1 if held_out else None]
    jobs = [seeds.integer(seed, case.dataset.name, "job", 0, number) for number in range(len(tested))]
    calls = [(case, fold, goal, job) for fold, job in zip(tested, jobs, strict=True)]
    if case.dataset.qualitative:
        # scikit-learn imports pandas when it first encodes levels; another thread would take it half imported.
        import_module("pandas")
    for answers, estimator in in_turn(answers_of, calls):
        parts.append(answers)
        estimators.append(estimator)
        step(case.spec.id)
    return Validated(Answers.together(parts), estimators, 0 if held_out else cv.folds, tuned)
