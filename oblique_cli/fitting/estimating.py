"""Cross-validated estimates: every row predicted by a fit that has not seen it, all rows pooled.

Breiman, Friedman, Olshen and Stone (1984), sections 3.4 and 8.3 (and 11.5): the standard error of a pooled estimate is
that of a mean over the rows, of right answers or of squared errors. Folds share training rows, so it is somewhat too
small; as in their rule of one standard error, it serves to call small differences none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli import schemes, seeds
from oblique_cli.experiments import running
from oblique_cli.experiments.running import Case
from oblique_cli.nouns import CVSpec, Fold, TuningPair

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset


# Called with the name of an algorithm for each fold that is done, for whoever shows how far the work is.
Step = Callable[[str], None]


def unseen(name: str) -> None:
    """The `Step` of whoever shows nothing."""


@dataclass(frozen=True)
class Estimate:
    """What is to be expected on new rows.

    score      share of right answers, or the root of the mean squared error in regression
    error      standard error of the score
    loss       what choices compare: the share of wrong answers, or the mean squared error
    loss_error standard error of the loss
    folds      of the cross-validation; nested : whether parameters or the algorithm were chosen inside them
    """

    score: float
    error: float
    loss: float
    loss_error: float
    folds: int
    nested: bool

    @classmethod
    def of(cls, dataset: Dataset, predicted: NDArray[Any], folds: int, nested: bool) -> Estimate:
        """Return the estimate from a prediction of every row."""
        if dataset.task == "regression":
            squares = (np.asarray(predicted, dtype=np.float64) - dataset.y) ** 2
            loss = float(squares.mean())
            loss_error = float(squares.std()) / sqrt(dataset.n)
            score = sqrt(loss)
            return cls(score, loss_error / (2 * score) if score > 0 else 0.0, loss, loss_error, folds, nested)
        score = int((predicted == dataset.y).sum()) / dataset.n
        error = sqrt(score * (1 - score) / dataset.n)
        return cls(score, error, 1 - score, error, folds, nested)

    def plain(self, task: str) -> dict[str, Any]:
        """Return what a model file and JSON hold."""
        name = "rmse" if task == "regression" else "accuracy"
        how = "nested cross-validation" if self.nested else "cross-validation"
        return {name: self.score, "standard_error": self.error, "folds": self.folds, "by": how}


def division(dataset: Dataset, folds: int, tuned: bool) -> CVSpec:
    """Return how rows are divided into folds, stratified if every class has rows enough; fewer folds for few rows."""
    folds = max(2, min(folds, dataset.n // 2))
    counts = np.bincount(dataset.y, minlength=1) if dataset.task == "classification" else np.zeros(1, np.int64)
    # In a nested division a class loses a fold before it is divided again.
    least = int(counts[counts > 0].min()) if counts.any() else 0
    stratified = least - (-(-least // folds) if tuned else 0) >= folds
    return CVSpec("nested" if tuned else "ordinary", folds, 1, folds, stratified)


def folds_of(dataset: Dataset, cv: CVSpec, seed: int) -> list[Fold]:
    """Return the folds of one repetition."""
    schemes.check(dataset, cv, cv.scheme == "nested")
    return list(schemes.repetition(dataset, cv, seed, 0))


def tuning_pairs(dataset: Dataset, folds: int, seed: int) -> list[TuningPair]:
    """Return training and validation rows by which parameters for a fit to all rows are chosen."""
    cv = division(dataset, folds, tuned=False)
    shared = CVSpec("two_stage", cv.folds, 1, cv.folds, cv.stratified)
    return list(next(iter(schemes.repetition(dataset, shared, seed, 0))).tuning)


def out_of_fold(dataset: Dataset, folds: list[Fold], predicted: Callable[[Fold, int], NDArray[Any]]) -> NDArray[Any]:
    """Return a prediction for every row, (n,), by `predicted`(fold, its number) for the test rows of each fold."""
    found = np.zeros(dataset.n, dtype=dataset.y.dtype)
    for number, fold in enumerate(folds):
        found[fold.test] = predicted(fold, number)
    return found


def cross_validated(case: Case, folds: int, seed: int, step: Step = unseen) -> Estimate:
    """Return the estimate of one algorithm; parameters with a grid are chosen inside each training set.

    Stochasticity: folds and fits have seeds named after `seed`, the data set and the fold.
    """
    tuned = bool(case.spec.grid)
    cv = division(case.dataset, folds, tuned)

    def predicted(fold: Fold, number: int) -> NDArray[Any]:
        there = running.predictions(case, fold, seeds.integer(seed, case.dataset.name, "job", 0, number))
        step(case.spec.id)
        return there

    found = out_of_fold(case.dataset, folds_of(case.dataset, cv, seed), predicted)
    return Estimate.of(case.dataset, found, cv.folds, tuned)
