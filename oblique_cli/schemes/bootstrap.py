"""The .632 bootstrap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground import seeds
from oblique_cli.ground.constraints import Boolean, Constraint
from oblique_cli.ground.nouns import NO_INFORMATION_ERROR, CVSpec, Fold, Row
from oblique_cli.schemes._checks import check_train
from oblique_cli.schemes._scheme import Dataset, Places, Scheme, is_stratified, scheme

OUT_OF_BAG = Fraction(632, 1000)  # 1 - 1/e: the expected share of distinct rows in a bootstrap sample
ALL_ROWS = (0, 1)  # place of the tree that is grown and tested on all rows


@scheme("bootstrap")
class Bootstrap(Scheme):
    """R bootstrap samples, each tested on the rows not drawn; the accuracy is the .632 (or .632+) estimate.

    Efron (1983): error = .368 x resubstitution error + .632 x out-of-bag error. The resubstitution error is that of one
    more tree, grown and tested on all rows (Wickramarachchi 2015, eq. 1.9.1); the out-of-bag error is the mean over the
    samples. `plus: true` is the .632+ estimate of Efron and Tibshirani (1997), which gives the out-of-bag error more
    weight the more a tree overfits.

    A row that is drawn twice occurs twice in the training rows, since not every algorithm takes weights. Pruning rows
    are drawn from the distinct rows of a sample, and no copy of a pruning row is used for growth. Stratified: each
    class is sampled separately, with as many draws as it has rows."""

    keys: ClassVar[dict[str, Constraint]] = {"plus": Boolean()}
    unused: ClassVar[dict[str, str]] = {"folds": "cv.repeats is the number of its samples"}
    defaults: ClassVar[dict[str, Any]] = {"repeats": 50}
    covers: ClassVar[bool] = False
    replacement: ClassVar[bool] = True
    estimate: ClassVar[str] = ".632"
    pooling: ClassVar[str] = (
        "accuracy in % is 0.368 x that of a tree of all rows on these rows + 0.632 x that of a sample's tree on the "
        "rows it lacks (Efron 1983); leaves and other numbers are those of the samples' trees alone"
    )
    pooling_plus: ClassVar[str] = (
        "accuracy in % as for .632, with a weight between 0.632 and 1 that grows with the relative overfitting (Efron "
        "and Tibshirani 1997); leaves and other numbers are those of the samples' trees alone"
    )

    def places(self, dataset: Dataset | None, cv: CVSpec) -> Places:
        return [(0, 0), ALL_ROWS, *((r, 0) for r in range(1, cv.repeats))]

    def apparent(self, cv: CVSpec) -> frozenset[tuple[int, int]]:
        return frozenset({ALL_ROWS})

    def check(self, dataset: Dataset, cv: CVSpec) -> None:
        if dataset.task == "regression":
            raise ConfigError(
                f"data set {dataset.name!r} is for regression, and the .632 estimate is one of misclassification "
                "rates: use scheme ordinary."
            )
        check_train(dataset, dataset.n - 1)
        if is_stratified(cv) and np.bincount(dataset.y).max() < 2:
            raise ConfigError(
                f"data set {dataset.name!r} has one row a class, so a stratified bootstrap sample lacks none: use "
                "stratified: false."
            )

    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        yield Fold(repeat, 0, *_sample(dataset, cv, seed, repeat))
        if repeat == ALL_ROWS[0]:
            rows = np.arange(dataset.n)
            yield Fold(*ALL_ROWS, rows, rows, apparent=True)

    def protocol(self, cv: CVSpec) -> str:
        strata = ", stratified" if cv.stratified else ""
        return f"{cv.repeats} bootstrap samples ({self.estimate_of(cv)}{strata})"

    def estimate_of(self, cv: CVSpec) -> str:
        return ".632+" if cv.options.get("plus") else self.estimate

    def pooling_of(self, cv: CVSpec) -> str:
        return self.pooling_plus if cv.options.get("plus") else self.pooling

    def partition(self, cv: CVSpec) -> tuple[Any, ...]:
        return (self.name, cv.stratified)

    def accuracies(self, cv: CVSpec, repetitions: Sequence[Sequence[Row]], apparent: Sequence[Row]) -> list[Fraction]:
        """Return the estimate of each sample; their mean is the scheme's estimate."""
        (whole,) = apparent
        errors = [_error(rows[0]) for rows in repetitions]
        weight, too_much = OUT_OF_BAG, Fraction(0)
        if cv.options.get("plus"):
            # Efron and Tibshirani 1997, eqs. 24-32: the weight .632 / (1 - .368 R), and the part of the out-of-bag
            # error that is cut off. R = (err1 - err) / (gamma - err) in [0, 1], gamma the error of the same predictions
            # if labels and rows were independent.
            out_of_bag, no_information = sum(errors) / Fraction(len(errors)), whole.measures[NO_INFORMATION_ERROR]
            cut_off, overfitting = min(out_of_bag, Fraction(no_information)), Fraction(0)
            if cut_off > _error(whole):
                overfitting = (cut_off - _error(whole)) / (Fraction(no_information) - _error(whole))
            weight, too_much = OUT_OF_BAG / (1 - (1 - OUT_OF_BAG) * overfitting), out_of_bag - cut_off
        return [100 * (1 - (1 - weight) * _error(whole) - weight * (error - too_much)) for error in errors]


def _sample(dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted rows of a bootstrap sample (at least two distinct), and the rows not drawn (at least one)."""
    rng = seeds.generator(seed, dataset.name, "folds", repeat)
    strata = [np.arange(dataset.n)]
    if is_stratified(cv):
        strata = [rows for code in range(len(dataset.classes)) if len(rows := np.flatnonzero(dataset.y == code))]
    while True:
        train = np.sort(np.concatenate([rows[rng.integers(len(rows), size=len(rows))] for rows in strata]))
        out = np.ones(dataset.n, dtype=bool)
        out[train] = False
        if 0 < out.sum() < dataset.n - 1:
            return train, np.flatnonzero(out)


def _error(row: Row) -> Fraction:
    return Fraction(row.n_test - row.n_correct, row.n_test)
