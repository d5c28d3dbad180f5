"""Two-stage cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from oblique_cli.ground.nouns import CVSpec, Fold
from oblique_cli.schemes._checks import TUNE_FOLDS, check_cut
from oblique_cli.schemes._cross_validation import CrossValidation
from oblique_cli.schemes._draws import TuningFolds
from oblique_cli.schemes._scheme import SHARED, Dataset, scheme


@scheme("two_stage")
class TwoStage(CrossValidation):
    """One cross-validation over all rows chooses the parameters once, then R x v-fold on new partitions.

    Wickramarachchi (2015), sections 1.9 [4] and 5.2. The choice uses every test row, so accuracies are optimistic."""

    tuning: ClassVar[str] = SHARED

    def check_tuning(self, dataset: Dataset, cv: CVSpec) -> None:
        check_cut(dataset, cv, cv.tune_folds, TUNE_FOLDS)

    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        tuning = TuningFolds(dataset, cv, seed, np.arange(dataset.n), ())
        for fold in super().draw(dataset, cv, seed, repeat):
            yield Fold(repeat, fold.index, fold.train, fold.test, fold.pruning, tuning, tuning_id="all rows")
