"""Leave-one-out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground.nouns import CVSpec, Fold
from oblique_cli.schemes._checks import check_train
from oblique_cli.schemes._scheme import Dataset, Places, Scheme, scheme


@scheme("leave_one_out")
class LeaveOneOut(Scheme):
    """n-fold cross-validation of n rows: every row is tested by a tree grown on all the others.

    Wickramarachchi (2015), section 1.9 [1]: the estimate has a high variance, and is useful for few rows. Repetitions
    (one by default) differ in pruning rows and seeds only."""

    unused: ClassVar[dict[str, str]] = {"folds": "it has a fold for every row"}
    defaults: ClassVar[dict[str, Any]] = {"repeats": 1}
    redraws: ClassVar[bool] = False
    single_row_tests: ClassVar[bool] = True
    places_from_data: ClassVar[bool] = True
    pooling: ClassVar[str] = (
        "accuracy in % over all rows, each tested once; leaves and other numbers averaged over the trees"
    )

    def places(self, dataset: Dataset | None, cv: CVSpec) -> Places:
        assert dataset is not None  # `places_from_data`
        return [(r, k) for r in range(cv.repeats) for k in range(dataset.n)]

    def check(self, dataset: Dataset, cv: CVSpec) -> None:
        if dataset.task == "regression":
            raise ConfigError(
                f"data set {dataset.name!r} is for regression, and a test set of one row has no RMSE or R2 of its own: "
                "use scheme ordinary."
            )
        check_train(dataset, dataset.n - 1)

    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        rows = np.arange(dataset.n)
        for index in range(dataset.n):
            yield Fold(repeat, index, np.delete(rows, index), rows[index : index + 1])

    def protocol(self, cv: CVSpec) -> str:
        return f"{cv.repeats} x leave-one-out CV"

    def partition(self, cv: CVSpec) -> tuple[Any, ...]:
        return (self.name,)
