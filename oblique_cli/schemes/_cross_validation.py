"""R x v-fold cross-validation, the basis of several schemes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from oblique_cli.ground.constraints import Constraint
from oblique_cli.ground.nouns import CVSpec, Fold
from oblique_cli.schemes._checks import FOLDS as FOLDS_KEY
from oblique_cli.schemes._checks import check_cut
from oblique_cli.schemes._draws import Cut, TuningFolds, cut, without
from oblique_cli.schemes._scheme import FOLDS, Dataset, Places, Scheme


class CrossValidation(Scheme):
    """Each fold is the test set of a tree grown on the others (Wickramarachchi 2015, section 1.9 [3]).

    cut   divides rows into parts"""

    keys: ClassVar[dict[str, Constraint]] = {"folds": FOLDS}
    cut: ClassVar[Cut] = staticmethod(cut)

    def places(self, dataset: Dataset | None, cv: CVSpec) -> Places:
        return [(r, k) for r in range(self.repeats(dataset, cv)) for k in range(cv.folds)]

    def check(self, dataset: Dataset, cv: CVSpec) -> None:
        check_cut(dataset, cv, cv.folds, FOLDS_KEY)

    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        rows = np.arange(dataset.n)
        for index, test in enumerate(self.cut(dataset, cv, cv.folds, rows, seed, "folds", repeat)):
            yield Fold(repeat, index, without(rows, test), test)

    def draw_nested(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        """Yield the folds of `CrossValidation.draw` with tuning pairs inside each training set."""
        for fold in CrossValidation.draw(self, dataset, cv, seed, repeat):
            tuning = TuningFolds(dataset, cv, seed, fold.train, (repeat, fold.index), self.cut)
            yield replace(fold, tuning=tuning)

    def protocol(self, cv: CVSpec) -> str:
        strata = ", stratified" if cv.stratified and not self.fixed.get("stratified") else ""
        return f"{cv.repeats} x {cv.folds}-fold CV ({self.name}{strata})"

    def partition(self, cv: CVSpec) -> tuple[Any, ...]:
        # The names of streams do not include the scheme's name, so schemes share partitions.
        return ("folds", cv.folds, cv.stratified)

    def test_over_train(self, cv: CVSpec) -> float | None:
        return 1 / (cv.folds - 1)
