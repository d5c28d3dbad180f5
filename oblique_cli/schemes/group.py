"""Group cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground import seeds
from oblique_cli.ground.constraints import Constraint, Text
from oblique_cli.ground.nouns import CVSpec, Fold
from oblique_cli.ground.row_groups import parts_of
from oblique_cli.schemes._checks import FOLDS as FOLDS_KEY
from oblique_cli.schemes._checks import TUNE_FOLDS, check_train, largest_part
from oblique_cli.schemes._cross_validation import CrossValidation
from oblique_cli.schemes._draws import Cut
from oblique_cli.schemes._scheme import FOLDS, NESTED, Dataset, is_stratified, scheme


def cut_groups(
    dataset: Dataset, cv: CVSpec, v: int, rows: np.ndarray, seed: int, *names: str | int
) -> list[np.ndarray]:
    """Cut `rows` into `v` disjoint sorted parts with every group in one part, as `ground.row_groups.parts_of` does;
    ConfigError for fewer than `v` groups."""
    assert dataset.groups is not None
    groups = dataset.groups[rows]
    if (present := len(np.unique(groups))) < v:
        raise _too_few(dataset, present, v, " in training", TUNE_FOLDS)
    strata = dataset.y[rows] if is_stratified(cv) else None
    return [rows[part] for part in parts_of(groups, v, seeds.generator(seed, dataset.name, *names), strata)]


def _too_few(dataset: Dataset, n_groups: int, v: int, whose: str, remedy: str) -> ConfigError:
    way_out = f"use {remedy.format(n_groups)}" if n_groups >= 2 else "use a column with more"
    return ConfigError(
        f"data set {dataset.name!r} has {n_groups} group{'' if n_groups == 1 else 's'}{whose} in column "
        f"{dataset.group_column!r}, {v}-fold cross-validation by groups needs {v}: {way_out}."
    )


@scheme("group")
class Group(CrossValidation):
    """R x v-fold cross-validation that keeps equal values of the column `groups` together; may tune as nested does.

    For dependent rows, such as several rows of one patient. The column is not a feature; no division into training and
    test, tuning or pruning rows separates a group; and the folds are as equal in size as whole groups in random order
    allow. Pruning rows are whole groups. With as many folds as groups, each fold holds out one group, so all
    repetitions would be equal and there is only one."""

    keys: ClassVar[dict[str, Constraint]] = {"folds": FOLDS, "groups": Text()}
    required: ClassVar[tuple[str, ...]] = ("groups",)
    tuning: ClassVar[str] = NESTED
    cut: ClassVar[Cut] = staticmethod(cut_groups)

    def repeats(self, dataset: Dataset | None, cv: CVSpec) -> int:
        alike = dataset is not None and dataset.groups is not None and len(self._sizes(dataset)) == cv.folds
        return 1 if alike else cv.repeats

    def group_column(self, cv: CVSpec) -> str:
        return str(cv.options.get("groups", ""))

    def check(self, dataset: Dataset, cv: CVSpec) -> None:
        if cv.folds < 2:
            raise ConfigError(f"folds: {cv.folds} leaves nothing to train on: use at least 2 folds.")
        sizes = self._sizes(dataset)
        if len(sizes) < cv.folds:
            raise _too_few(dataset, len(sizes), cv.folds, "", FOLDS_KEY)
        check_train(dataset, dataset.n - int(sizes.max()))

    def check_tuning(self, dataset: Dataset, cv: CVSpec) -> None:
        groups = len(self._sizes(dataset))
        left = groups - largest_part(groups, cv.folds)
        if left < cv.tune_folds:
            raise _too_few(dataset, left, cv.tune_folds, " in training", TUNE_FOLDS)

    def _sizes(self, dataset: Dataset) -> np.ndarray:
        if dataset.groups is None:
            raise ConfigError(f"data set {dataset.name!r} was read without a column of groups: use cv.groups.")
        return np.unique(dataset.groups, return_counts=True)[1]

    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        return self.draw_nested(dataset, cv, seed, repeat)

    def protocol(self, cv: CVSpec) -> str:
        strata = ", stratified" if cv.stratified else ""
        return f"{cv.repeats} x {cv.folds}-fold CV ({self.name} by {self.group_column(cv)}{strata})"

    def partition(self, cv: CVSpec) -> tuple[Any, ...]:
        return (self.name, self.group_column(cv), cv.folds, cv.stratified)
