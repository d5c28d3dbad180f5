"""Draws common to schemes: parts of rows, a share of rows, pruning rows, tuning pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import CVSpec, TuningPair
from oblique_cli.ground.row_groups import share_of
from oblique_cli.schemes._scheme import Dataset, is_stratified

# (dataset, cv, number of parts, rows, seed, *names) -> the parts
Cut = Callable[..., list[np.ndarray]]


def cut(dataset: Dataset, cv: CVSpec, v: int, rows: np.ndarray, seed: int, *names: str | int) -> list[np.ndarray]:
    """Cut `rows` into `v` disjoint sorted parts whose sizes differ by at most one row; stratified, also in the count of
    every class: shuffled rows, class after class, are dealt in turn."""
    shuffled = seeds.generator(seed, dataset.name, *names).permutation(rows)
    if is_stratified(cv):
        shuffled = shuffled[np.argsort(dataset.y[shuffled], kind="stable")]
        return [np.sort(shuffled[i::v]) for i in range(v)]
    return [np.sort(part) for part in np.array_split(shuffled, v)]


def draw_share(dataset: Dataset, cv: CVSpec, rows: np.ndarray, k: int, seed: int, *names: str | int) -> np.ndarray:
    """Draw `k` of `rows` at random, sorted; stratified, every (n/k)-th of the rows, shuffled within and sorted by
    class, from a random start, so each class's share of k is rounded down or up."""
    rng = seeds.generator(seed, dataset.name, *names)
    shuffled = rng.permutation(rows)
    if is_stratified(cv):
        shuffled = shuffled[np.argsort(dataset.y[shuffled], kind="stable")]
        # In integers: (i n + start) // k < n for i < k and start < n, which floats do not guarantee.
        return np.sort(shuffled[(np.arange(k) * len(rows) + rng.integers(len(rows))) // k])
    return np.sort(shuffled[:k])


def pruning_rows(dataset: Dataset, cv: CVSpec, train: np.ndarray, seed: int, *names: str | int) -> np.ndarray:
    """Draw the pruning rows: a share `pruning_fraction` of `train`, at least one row; at least one is left for growth.

    In a data set with groups they are whole groups. A single group cannot be divided: it gives its last row, and an
    estimator that needs pruning rows refuses it (`experiments.fits.fit_on`)."""
    if dataset.groups is not None:
        groups = dataset.groups[train]
        if (groups == groups[0]).all():
            return train[-1:]
        strata = dataset.y[train] if is_stratified(cv) else None
        rng = seeds.generator(seed, dataset.name, *names)
        return np.asarray(train[share_of(groups, cv.pruning_fraction, rng, strata)])
    k = min(max(1, share(len(train), cv.pruning_fraction)), len(train) - 1)
    return draw_share(dataset, cv, train, k, seed, *names)


def without(rows: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return the sorted `rows` without `part`, a subset; takes a fifth of the time of a set difference."""
    keep = np.ones(rows[-1] + 1, dtype=bool)
    keep[part] = False
    return np.asarray(rows[keep[rows]])


def share(n: int, fraction: float) -> int:
    """Return the number of rows of a share of `n` rows."""
    return round(fraction * n)


@dataclass(frozen=True, eq=False)
class TuningFolds:
    """Pairs of a `cv.tune_folds`-fold cross-validation inside `rows`. Each iteration draws the same pairs again, which
    avoids a thousand copies of the row ids. `names` distinguish cross-validations of a data set; `cut` divides rows."""

    dataset: Dataset
    cv: CVSpec
    seed: int
    rows: np.ndarray
    names: tuple[int, ...]
    cut: Cut = cut

    def __iter__(self) -> Iterator[TuningPair]:
        parts = self.cut(self.dataset, self.cv, self.cv.tune_folds, self.rows, self.seed, "tuning", *self.names)
        for i, valid in enumerate(parts):
            train = without(self.rows, valid)
            pruning = pruning_rows(self.dataset, self.cv, train, self.seed, "tuning pruning", *self.names, i)
            yield TuningPair(train, valid, pruning)
