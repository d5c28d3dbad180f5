"""Nested cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from oblique_cli.ground.nouns import CVSpec, Fold
from oblique_cli.schemes._checks import TUNE_FOLDS, check_cut
from oblique_cli.schemes._cross_validation import CrossValidation
from oblique_cli.schemes._scheme import NESTED, Dataset, scheme


@scheme("nested")
class Nested(CrossValidation):
    """R x v-fold cross-validation; inside each training set another cross-validation chooses the parameters.

    Wickramarachchi (2015), appendix B: the choice never uses the test rows."""

    tuning: ClassVar[str] = NESTED

    def check_tuning(self, dataset: Dataset, cv: CVSpec) -> None:
        check_cut(dataset, cv, cv.tune_folds, TUNE_FOLDS, held_out=cv.folds)

    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        return self.draw_nested(dataset, cv, seed, repeat)
