"""Learning curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground.constraints import Constraint, Integer
from oblique_cli.ground.nouns import CVSpec, Fold
from oblique_cli.schemes._checks import largest_part
from oblique_cli.schemes._cross_validation import CrossValidation
from oblique_cli.schemes._draws import cut, draw_share, without
from oblique_cli.schemes._scheme import FOLDS, Dataset, Places, scheme

STEPS = 4  # 1/8, 1/4, 1/2 and all of the training rows


@scheme("learning")
class Learning(CrossValidation):
    """R x v-fold cross-validation in which every training set is halved again and again: a learning curve.

    The test sets are those of scheme `ordinary`. A fold has `steps` nested training sets: the last one is the whole
    training set, every other one half of the next. Tables show the mean over all of them, the height of the curve;
    `oblique plot learning` draws the curve."""

    keys: ClassVar[dict[str, Constraint]] = {"folds": FOLDS, "steps": Integer(2, 12)}
    disjoint: ClassVar[bool] = False
    estimate: ClassVar[str] = "mean over training sizes"
    pooling: ClassVar[str] = (
        "accuracy in % pooled over all sizes of the training set, which is the mean height of the learning curve; "
        "leaves and other numbers are averaged over the same trees"
    )

    @staticmethod
    def steps(cv: CVSpec) -> int:
        """Return the number of sizes of training sets."""
        return int(cv.options.get("steps", STEPS))

    def places(self, dataset: Dataset | None, cv: CVSpec) -> Places:
        return [(r, k) for r in range(cv.repeats) for k in range(cv.folds * self.steps(cv))]

    def check(self, dataset: Dataset, cv: CVSpec) -> None:
        super().check(dataset, cv)
        steps = self.steps(cv)
        n_train = dataset.n - largest_part(dataset.n, cv.folds)
        fewest = max(2, len(dataset.classes))
        if n_train >> (steps - 1) < fewest:
            most = next((s for s in range(steps - 1, 1, -1) if n_train >> (s - 1) >= fewest), 0)
            raise ConfigError(
                f"data set {dataset.name!r} has {n_train} training rows, halved {steps - 1} times they are "
                f"{n_train >> (steps - 1)}, and {fewest} are needed: use {f'steps: {most}' if most else 'more rows'}."
            )

    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        steps = self.steps(cv)
        rows = np.arange(dataset.n)
        for fold, test in enumerate(cut(dataset, cv, cv.folds, rows, seed, "folds", repeat)):
            trains = [without(rows, test)]
            for _ in range(steps - 1):
                half = len(trains[-1]) // 2
                trains.append(draw_share(dataset, cv, trains[-1], half, seed, "learning", repeat, fold, len(trains)))
            for step, train in enumerate(reversed(trains)):
                yield Fold(repeat, fold * steps + step, train, test)

    def protocol(self, cv: CVSpec) -> str:
        return f"{cv.repeats} x {cv.folds}-fold CV, {self.steps(cv)} sizes of the training set (learning)"

    def partition(self, cv: CVSpec) -> tuple[Any, ...]:
        return ("learning", cv.folds, self.steps(cv), cv.stratified)

    def test_over_train(self, cv: CVSpec) -> float | None:
        return None
