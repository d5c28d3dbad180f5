"""Monte Carlo cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground.constraints import Constraint
from oblique_cli.ground.nouns import CVSpec, Fold
from oblique_cli.schemes._checks import check_train
from oblique_cli.schemes._draws import draw_share, share, without
from oblique_cli.schemes._scheme import FRACTION, Dataset, Places, Scheme, scheme


@scheme("monte_carlo")
class MonteCarlo(Scheme):
    """R random train/test divisions, each with `test_fraction` of the rows as test set.

    Wickramarachchi (2015), section 1.9 [2]: the test sets of different repetitions may overlap."""

    keys: ClassVar[dict[str, Constraint]] = {"test_fraction": FRACTION}
    covers: ClassVar[bool] = False
    pooling: ClassVar[str] = ""

    def places(self, dataset: Dataset | None, cv: CVSpec) -> Places:
        return [(r, 0) for r in range(cv.repeats)]

    def check(self, dataset: Dataset, cv: CVSpec) -> None:
        n_test = share(dataset.n, cv.test_fraction)
        if not 0 < n_test < dataset.n:
            raise ConfigError(
                f"data set {dataset.name!r} has {dataset.n} rows, test_fraction {cv.test_fraction:g} leaves "
                f"{dataset.n - n_test} for training and {n_test} for the test: use a test_fraction that leaves both."
            )
        check_train(dataset, dataset.n - n_test)

    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        rows = np.arange(dataset.n)
        test = draw_share(dataset, cv, rows, share(dataset.n, cv.test_fraction), seed, "folds", repeat)
        yield Fold(repeat, 0, without(rows, test), test)

    def protocol(self, cv: CVSpec) -> str:
        return f"{cv.repeats} x one training and test set ({self.name})"

    def partition(self, cv: CVSpec) -> tuple[Any, ...]:
        return (self.name, cv.test_fraction, cv.stratified)

    def test_over_train(self, cv: CVSpec) -> float | None:
        return cv.test_fraction / (1 - cv.test_fraction)
