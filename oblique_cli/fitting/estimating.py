"""Cross-validated estimates: each row is predicted by a fit that has not seen it, and all rows are pooled.

Breiman, Friedman, Olshen and Stone (1984), sections 3.4 and 8.3 (and 11.5): the standard error of a pooled estimate is
that of a mean over the rows, of correct predictions or of squared errors. Folds share training rows, so it is somewhat
too small; as in their rule of one standard error, it serves to ignore small differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from oblique_cli import schemes
from oblique_cli.data.dataset import Dataset
from oblique_cli.estimators.encoding import ColumnEncoder
from oblique_cli.estimators.n_jobs import in_turn
from oblique_cli.evaluation import metrics
from oblique_cli.evaluation.holdout_report import reliability, residuals, thresholds
from oblique_cli.evaluation.metrics import METRICS, REPORTED, REPORTED_OF_NUMBERS, REPORTED_OF_TWO, Undefined
from oblique_cli.experiments import fits
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting.budget import Step, unseen
from oblique_cli.fitting.goals import Answers, Goal, positive_of
from oblique_cli.fitting.tree_sizes import cut_to_goal
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import CVSpec, Fold, TuningPair

FARTHEST = 1e150  # its square is finite


@dataclass(frozen=True)
class Estimate:
    """Estimate of the error on new rows.

    score      in the unit of the metric; the share of correct predictions for accuracy
    error      standard error of the score
    loss       value that choices compare: the share of errors, the mean squared error, or the metric with the sign
               for which less is better
    loss_error standard error of the loss
    folds      of the cross-validation, 0 for a single held-out part; tested : number of folds whose rows were predicted
    nested     whether parameters or the algorithm were chosen inside the training rows
    rows       number of predicted rows
    metric     its name
    groups     column whose equal values stay in one fold, "" for folds of single rows
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
        """Return the estimate from predictions of rows of `tested` folds; Undefined for a metric without a value."""
        of_folds = folds if tested is None else min(tested, folds)
        measured = goal.measured(answers)
        return cls(*measured, folds, nested, len(answers.y), goal.metric.name, of_folds, answers.group_column)

    @property
    def by(self) -> str:
        """Return the method of the estimate in words."""
        whole = f" by groups of {self.groups!r}" if self.groups else ""
        if not self.folds:
            return f"{self.rows} rows held out{whole}"
        some = f"{self.tested} folds of " if self.tested < self.folds else ""
        return f"{some}{'nested ' if self.nested else ''}{self.folds}-fold cross-validation{whole}"

    def plain(self) -> dict[str, Any]:
        """Return plain data for a model file and JSON."""
        how = "held-out rows" if not self.folds else "nested cross-validation" if self.nested else "cross-validation"
        extra: dict[str, Any] = {} if self.folds and self.tested == self.folds else {"rows": self.rows}
        if self.tested < self.folds:
            extra["folds_tested"] = self.tested
        if self.groups:
            how += f" by groups of {self.groups!r}"
            extra["groups"] = self.groups
        return {self.metric: self.score, "standard_error": self.error, "folds": self.folds, "by": how, **extra}


def details(answers: Answers, dataset: Dataset, metric: str) -> dict[str, Any]:
    """Return further results of out-of-fold predictions of rows of a data set. metric : of the goal

    For classes: confusion matrix, recalls, other metrics, calibration of probabilities and, of two classes, what
    thresholds on the share of one would give. For numbers: coefficient of determination, mean absolute error and the
    distribution of residuals. Metrics without a value on these rows are omitted.
    """
    classes = dataset.classes
    if not classes:
        truth, predicted = (np.asarray(values, dtype=np.float64) for values in (answers.y, answers.predicted))
        if not max(np.abs(truth).max(), np.abs(predicted).max()) < FARTHEST:
            return {}
        names = dataset.feature_names
        columns = {name: (dataset.X[answers.rows, j], dataset.levels.get(j)) for j, name in enumerate(names)}
        return {
            **_values(answers, REPORTED_OF_NUMBERS),
            "residuals": residuals(truth, predicted, columns),
        }
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(counts, (answers.y, answers.predicted), 1)
    rows = counts.sum(axis=1)
    facts: dict[str, Any] = {
        "confusion": counts.tolist(),
        "recalls": {label: float(counts[k, k] / rows[k]) for k, label in enumerate(classes) if rows[k]},
    }
    facts |= _values(answers, REPORTED_OF_TWO if len(classes) == 2 else REPORTED)
    if answers.shares is not None:
        likeliest = answers.shares.argmax(axis=1)
        facts["calibration"] = reliability(answers.shares.max(axis=1), likeliest == answers.y).plain()
        if len(classes) == 2:
            positive = positive_of(metric, classes, np.bincount(dataset.y, minlength=2))
            table = thresholds(answers.shares[:, positive], answers.y == positive)
            facts["thresholds"] = {"label": classes[positive], **table}
    return facts


def _values(answers: Answers, names: Sequence[str]) -> dict[str, float]:
    """Return values of metrics, shares instead of percentages; metrics without a value on these rows are omitted."""
    values = {}
    for name in names:
        with suppress(Undefined):
            values[name] = answers.value(METRICS[name]) / (100 if METRICS[name].unit == "%" else 1)
    return values


def division(dataset: Dataset, folds: int, tuned: bool) -> CVSpec:
    """Return the cross-validation, stratified if every class has enough rows; fewer folds for few rows."""
    if dataset.groups is not None:  # by groups; an inner cross-validation has the groups of one fold less
        number = len(np.unique(dataset.groups))
        folds = max(2, min(folds, number))
        inner = max(2, min(folds, number - -(-number // folds))) if tuned else folds
        of_classes = dataset.task == "classification"
        return CVSpec("group", folds, 1, inner, of_classes, options={"groups": dataset.group_column})
    folds = max(2, min(folds, dataset.n // 2))
    counts = np.bincount(dataset.y, minlength=1) if dataset.task == "classification" else np.zeros(1, np.int64)
    # In nested cross-validation, a training set lacks one fold of each class.
    least = int(counts[counts > 0].min()) if counts.any() else 0
    stratified = least - (-(-least // folds) if tuned else 0) >= folds
    return CVSpec("nested" if tuned else "ordinary", folds, 1, folds, stratified)


def folds_of(dataset: Dataset, cv: CVSpec, seed: int) -> list[Fold]:
    """Return the folds of one repetition."""
    schemes.check(dataset, cv, cv.scheme == "nested")
    return list(schemes.repetition(dataset, cv, seed, 0))


def tuning_pairs(dataset: Dataset, folds: int, seed: int) -> list[TuningPair]:
    """Return the training and validation rows that choose the parameters of a fit to all rows."""
    cv = division(dataset, folds, tuned=False)
    if dataset.groups is not None:
        return [TuningPair(fold.train, fold.test, fold.pruning) for fold in folds_of(dataset, cv, seed)]
    shared = CVSpec("two_stage", cv.folds, 1, cv.folds, cv.stratified)
    return list(next(iter(schemes.repetition(dataset, shared, seed, 0))).tuning)


def answers_of(case: Case, fold: Fold, goal: Goal, seed: int) -> tuple[Answers, FoldFit]:
    """Return the predictions for the test rows of a fold by a fit to its training rows, and this fit."""
    chosen = fits.tune(case, fold.tuning, seed)[0] if case.spec.grid else {}
    cut = cut_to_goal(case, fold.train, goal, {**case.spec.params, **chosen}, seed)
    estimator, encoder = fits.fit_on(case, fold.train, fold.pruning, seed, {**chosen, **cut})
    X = fits.columns_of(case, encoder, fold.test)
    predicted, shares = np.asarray(estimator.predict(X)), None
    n_classes = 0 if case.dataset.task == "regression" else len(case.dataset.classes)
    if n_classes:
        with suppress(Undefined):
            shares = metrics.probabilities(estimator, X, n_classes)
    return Answers.of(case.dataset, fold.test, predicted, shares, n_classes), FoldFit(estimator, encoder, fold.train)


@dataclass(frozen=True, eq=False)
class FoldFit:
    """Estimator fitted to the training rows of a fold, its encoder, and the numbers of these rows."""

    estimator: Any
    encoder: ColumnEncoder | None
    train: np.ndarray


@dataclass(frozen=True, eq=False)
class Validated:
    """Cross-validated algorithm: answers for every tested row, and the fits of its `tested` folds (None: all)."""

    answers: Answers
    fold_fits: list[FoldFit]
    folds: int
    nested: bool
    tested: int | None = None

    def estimate(self, goal: Goal) -> Estimate:
        """Return the estimate from the answers."""
        return Estimate.of(self.answers, goal, self.folds, self.nested, self.tested)


def cross_validated(
    case: Case, folds: int, seed: int, goal: Goal, step: Step = unseen, held_out: bool = False
) -> Validated:
    """Predict each row by a fit of one algorithm that has not seen it; grids are searched inside each training set.

    held_out : test only the rows of the first fold. Folds are fitted in the threads of `estimators.n_jobs.threads`.
    """
    tuned = bool(case.spec.grid)
    cv = division(case.dataset, folds, tuned)
    parts, fold_fits = [], []
    tested = folds_of(case.dataset, cv, seed)[: 1 if held_out else None]
    jobs = [seeds.integer(seed, case.dataset.name, "job", 0, number) for number in range(len(tested))]
    calls = [(case, fold, goal, job) for fold, job in zip(tested, jobs, strict=True)]
    if case.dataset.qualitative:
        # scikit-learn imports pandas when it first encodes levels; a second thread would use it half imported.
        import_module("pandas")
    for answers, fold_fit in in_turn(answers_of, calls):
        parts.append(answers)
        fold_fits.append(fold_fit)
        step(case.spec.id)
    return Validated(Answers.together(parts), fold_fits, 0 if held_out else cv.folds, tuned)
