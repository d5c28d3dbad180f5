"""The data set's own split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground.nouns import CVSpec, Fold
from oblique_cli.schemes._checks import check_train
from oblique_cli.schemes._scheme import Dataset, Places, Scheme, scheme


@scheme("split")
class Split(Scheme):
    """The data set's own train/test split, R trees that differ in their pruning rows.

    Wickramarachchi (2015), section 3.6: ten trees for Shuttle, each grown on a random 90 % of the training rows."""

    unused: ClassVar[dict[str, str]] = {"folds": "the data set itself says which rows are tested"}
    covers: ClassVar[bool] = False
    redraws: ClassVar[bool] = False
    pooling: ClassVar[str] = ""

    def places(self, dataset: Dataset | None, cv: CVSpec) -> Places:
        return [(r, 0) for r in range(cv.repeats)]

    def check(self, dataset: Dataset, cv: CVSpec) -> None:
        if dataset.split is None:
            raise ConfigError(
                f"data set {dataset.name!r} comes without a train/test split: use another scheme, such as ordinary."
            )
        check_train(dataset, len(dataset.split[0]))

    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        assert dataset.split is not None  # `check` has raised an error otherwise
        train, test = (np.sort(part) for part in dataset.split)
        yield Fold(repeat, 0, train, test)

    def protocol(self, cv: CVSpec) -> str:
        return f"{cv.repeats} x one training and test set ({self.name})"

    def partition(self, cv: CVSpec) -> tuple[Any, ...]:
        return (self.name,)
