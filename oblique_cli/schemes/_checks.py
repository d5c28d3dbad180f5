"""Error messages common to schemes, for too few rows."""

from __future__ import annotations

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground.nouns import CVSpec
from oblique_cli.schemes._scheme import SCHEMES, Dataset, is_stratified

FOLDS = "folds: {}"
TUNE_FOLDS = "tune: {{folds: {}}}"


def check_train(dataset: Dataset, n_train: int) -> None:
    """Raise ConfigError unless at least one row is left for growth and one for pruning."""
    if n_train < 2:
        raise ConfigError(
            f"data set {dataset.name!r} has {dataset.n} rows, which leaves {n_train} to train on: use more rows."
        )


def check_cut(dataset: Dataset, cv: CVSpec, v: int, remedy: str, held_out: int = 0) -> None:
    """Check that the rows left after one of `held_out` folds (0: none) is set aside can be cut into `v` folds.
    remedy : FOLDS or TUNE_FOLDS, text that suggests another value of the key"""
    who, key = f"data set {dataset.name!r}", remedy.format(v)
    if v < 2:
        raise ConfigError(f"{key} leaves nothing to train on: use at least 2 folds.")
    whose = " in training" if held_out else ""
    left = dataset.n - largest_part(dataset.n, held_out)
    if left < v:
        way_out = f": use {remedy.format(left)}" if left >= 2 else ": use more rows"
        raise ConfigError(f"{who} has {left} rows{whose}, {v}-fold cross-validation needs {v}{way_out}.")
    check_train(dataset, left - largest_part(left, v))
    if not is_stratified(cv):
        return
    counts = np.bincount(dataset.y, minlength=len(dataset.classes))
    smallest = int(np.argmin(np.where(counts > 0, counts, dataset.n + 1)))
    left = int(counts[smallest]) - largest_part(int(counts[smallest]), held_out)
    if left < v:
        unstratified = "scheme: ordinary" if SCHEMES[cv.scheme].fixed.get("stratified") else "stratified: false"
        fewer = f"{remedy.format(left)} or " if left >= 2 else ""
        raise ConfigError(
            f"{who}: smallest class {dataset.classes[smallest]!r} has {left} row{'' if left == 1 else 's'}{whose}, "
            f"stratified {v}-fold needs {v}: use {fewer}{unstratified}."
        )


def largest_part(n: int, v: int) -> int:
    """Return the size of the largest of `v` nearly equal parts of `n` rows, 0 if there are no parts."""
    return -(-n // v) if v else 0
