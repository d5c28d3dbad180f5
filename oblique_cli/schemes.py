"""How rows are divided into training, pruning, tuning and test rows: one function a scheme.

Every draw comes from a stream named after what it serves (`oblique_cli.seeds`): the data set, the purpose, the
repetition, the fold. No name of an algorithm or of a scheme is among them, so all algorithms of an experiment see the
same folds, and a nested and a two-stage run with one seed test on the same partitions, as Wickramarachchi (2015),
section 5.2, asks.

Stochasticity, per data set: ("folds", r) cuts repetition r; ("pruning", r, k) draws the pruning rows of its fold k;
("tuning", r, k) cuts the inner folds of a nested run, and ("tuning",) those of stage 1 of a two-stage run; each tuning
pair i has pruning rows from ("tuning pruning", ..., i).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from oblique_cli import seeds
from oblique_cli.errors import ConfigError
from oblique_cli.nouns import CVSpec, Fold, TuningPair
from oblique_cli.registry import Registry

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset

Draw = Callable[["Dataset", CVSpec, int, int], Iterator[Fold]]


@dataclass(frozen=True)
class Scheme:
    """A way to divide rows.

    draw          (dataset, cv, seed, repeat) -> the folds of one repetition, which depend on no other repetition
    single        one fold a repetition; `cv.folds` is not used
    tunes         its folds carry tuning pairs, so that an algorithm may have a grid
    summary       one line for people
    """

    draw: Draw
    single: bool
    tunes: bool
    summary: str


SCHEMES: Registry[Scheme] = Registry("cross-validation scheme")


def scheme(name: str, *, single: bool = False, tunes: bool = False) -> Callable[[Draw], Draw]:
    """Register the decorated function as the scheme `name`; the first line of its docstring is the summary."""

    def keep(draw: Draw) -> Draw:
        SCHEMES.register(name)(Scheme(draw, single, tunes, (draw.__doc__ or "").partition("\n")[0]))
        return draw

    return keep


def folds(dataset: Dataset, cv: CVSpec, seed: int) -> tuple[Fold, ...]:
    """Return every fold of `cv` on `dataset`; ConfigError if they cannot be drawn (see `check`)."""
    check(dataset, cv)
    return tuple(fold for repeat in range(cv.repeats) for fold in SCHEMES[cv.scheme].draw(dataset, cv, seed, repeat))


def places(cv: CVSpec) -> list[tuple[int, int]]:
    """Return the (repeat, index) of every fold of `cv`, in order, without drawing any."""
    return [(r, k) for r in range(cv.repeats) for k in range(1 if SCHEMES[cv.scheme].single else cv.folds)]


def check(dataset: Dataset, cv: CVSpec) -> None:
    """Raise ConfigError, in one sentence with a way out, if `dataset` cannot be divided as `cv` asks."""
    kind = SCHEMES[cv.scheme]
    if is_stratified(cv) and dataset.task == "regression":
        raise ConfigError(f"data set {dataset.name!r} has no classes to keep the shares of: use scheme ordinary.")
    if cv.scheme == "split":
        if dataset.split is None:
            raise ConfigError(
                f"data set {dataset.name!r} comes without a train/test split: use another scheme, such as ordinary."
            )
        _check_train(dataset, len(dataset.split[0]))
    elif cv.scheme == "monte_carlo":
        n_test = _share(dataset.n, cv.test_fraction)
        if not 0 < n_test < dataset.n:
            raise ConfigError(
                f"data set {dataset.name!r} has {dataset.n} rows, test_fraction {cv.test_fraction:g} leaves "
                f"{dataset.n - n_test} for training and {n_test} for the test: use a test_fraction that leaves both."
            )
        _check_train(dataset, dataset.n - n_test)
    else:
        _check_cut(dataset, cv, cv.folds, "folds: {}", held_out=0)
    if kind.tunes:
        _check_cut(dataset, cv, cv.tune_folds, "tune: {{folds: {}}}", held_out=cv.folds if cv.scheme == "nested" else 0)


def _check_train(dataset: Dataset, n_train: int) -> None:
    if n_train < 2:  # one to grow on and one to prune on
        raise ConfigError(
            f"data set {dataset.name!r} has {dataset.n} rows, which leaves {n_train} to train on: use more rows."
        )


def _check_cut(dataset: Dataset, cv: CVSpec, v: int, remedy: str, held_out: int) -> None:
    """Check that `v` folds can be cut from what is left once one of `held_out` folds (0: none) is set aside."""
    who, key = f"data set {dataset.name!r}", remedy.format(v)
    if v < 2:
        raise ConfigError(f"{key} leaves nothing to train on: use at least 2 folds.")
    whose = " in training" if held_out else ""
    left = dataset.n - _largest_part(dataset.n, held_out)
    if left < v:
        way_out = f": use {remedy.format(left)}" if left >= 2 else ": use more rows"
        raise ConfigError(f"{who} has {left} rows{whose}, {v}-fold cross-validation needs {v}{way_out}.")
    _check_train(dataset, left - _largest_part(left, v))
    if not is_stratified(cv):
        return
    counts = np.bincount(dataset.y, minlength=len(dataset.classes))
    smallest = int(np.argmin(np.where(counts > 0, counts, dataset.n + 1)))
    left = int(counts[smallest]) - _largest_part(int(counts[smallest]), held_out)
    if left < v:
        unstratified = "scheme: ordinary" if cv.scheme == "stratified" else "stratified: false"
        fewer = f"{remedy.format(left)} or " if left >= 2 else ""
        raise ConfigError(
            f"{who}: smallest class {dataset.classes[smallest]!r} has {left} row{'' if left == 1 else 's'}{whose}, "
            f"stratified {v}-fold needs {v}: use {fewer}{unstratified}."
        )


def _largest_part(n: int, v: int) -> int:
    """Size of the largest of `v` nearly equal parts of `n` rows, 0 if there are no parts."""
    return -(-n // v) if v else 0


def is_stratified(cv: CVSpec) -> bool:
    """Return whether test folds, tuning folds and pruning rows keep class shares."""
    return cv.stratified or cv.scheme == "stratified"


# ---- schemes ---------------------------------------------------------------------------------------------------------


@scheme("ordinary")
def ordinary(dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
    """R x v-fold cross-validation: shuffle the rows, cut them into v folds of nearly equal size.

    Wickramarachchi (2015), section 1.9 [3]: each fold is the test set of a tree grown on the others.
    """
    rows = np.arange(dataset.n)
    for index, test in enumerate(_cut(dataset, cv, cv.folds, rows, seed, "folds", repeat)):
        train = _without(rows, test)
        yield Fold(repeat, index, train, test, _pruning(dataset, cv, train, seed, "pruning", repeat, index))


@scheme("stratified")
def stratified(dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
    """R x v-fold cross-validation whose test folds and pruning rows keep the class shares."""
    return ordinary(dataset, cv, seed, repeat)


@scheme("nested", tunes=True)
def nested(dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
    """R x v-fold cross-validation; inside each training set another one chooses the parameters.

    Wickramarachchi (2015), appendix B: the test rows never meet the choice.
    """
    for fold in ordinary(dataset, cv, seed, repeat):
        tuning = TuningFolds(dataset, cv, seed, fold.train, (repeat, fold.index))
        yield Fold(repeat, fold.index, fold.train, fold.test, fold.pruning, tuning)


@scheme("two_stage", tunes=True)
def two_stage(dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
    """One cross-validation over all rows chooses the parameters once, then R x v-fold on new partitions.

    Wickramarachchi (2015), sections 1.9 [4] and 5.2. The choice has seen every test row: optimistic, as published.
    """
    tuning = TuningFolds(dataset, cv, seed, np.arange(dataset.n), ())
    for fold in ordinary(dataset, cv, seed, repeat):
        yield Fold(repeat, fold.index, fold.train, fold.test, fold.pruning, tuning, tuning_id="all rows")


@scheme("monte_carlo", single=True)
def monte_carlo(dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
    """R random train/test divisions, each with `test_fraction` of the rows as test set.

    Wickramarachchi (2015), section 1.9 [2]: the test sets of different repetitions may overlap.
    """
    rows = np.arange(dataset.n)
    test = _draw(dataset, cv, rows, _share(dataset.n, cv.test_fraction), seed, "folds", repeat)
    train = _without(rows, test)
    yield Fold(repeat, 0, train, test, _pruning(dataset, cv, train, seed, "pruning", repeat, 0))


@scheme("split", single=True)
def split(dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
    """The data set's own train/test split, R trees that differ in their pruning rows.

    Wickramarachchi (2015), section 3.6: ten trees for Shuttle, each grown on a random 90 % of the training rows.
    """
    assert dataset.split is not None  # `check` has said so in words
    train, test = (np.sort(part) for part in dataset.split)
    yield Fold(repeat, 0, train, test, _pruning(dataset, cv, train, seed, "pruning", repeat, 0))


# ---- draws -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TuningFolds:
    """The pairs of a `cv.tune_folds`-fold cross-validation inside `rows`.

    They are drawn anew, and equal, whenever they are iterated: 10 x 10 folds with 10 pairs each would otherwise hold
    a thousand copies of the row ids. `names` tell one cross-validation of a data set from another.
    """

    dataset: Dataset
    cv: CVSpec
    seed: int
    rows: np.ndarray
    names: tuple[int, ...]

    def __iter__(self) -> Iterator[TuningPair]:
        parts = _cut(self.dataset, self.cv, self.cv.tune_folds, self.rows, self.seed, "tuning", *self.names)
        for i, valid in enumerate(parts):
            train = _without(self.rows, valid)
            pruning = _pruning(self.dataset, self.cv, train, self.seed, "tuning pruning", *self.names, i)
            yield TuningPair(train, valid, pruning)


def _cut(dataset: Dataset, cv: CVSpec, v: int, rows: np.ndarray, seed: int, *names: str | int) -> list[np.ndarray]:
    """Cut `rows` into `v` disjoint sorted parts whose sizes differ by at most one.

    Stratified: shuffled rows are laid out class after class and dealt to the parts in turn, so the parts' counts of
    every class differ by at most one as well.
    """
    shuffled = seeds.generator(seed, dataset.name, *names).permutation(rows)
    if is_stratified(cv):
        shuffled = shuffled[np.argsort(dataset.y[shuffled], kind="stable")]
        return [np.sort(shuffled[i::v]) for i in range(v)]
    return [np.sort(part) for part in np.array_split(shuffled, v)]


def _draw(dataset: Dataset, cv: CVSpec, rows: np.ndarray, k: int, seed: int, *names: str | int) -> np.ndarray:
    """Draw `k` of `rows` at random, sorted.

    Stratified: shuffled rows are laid out class after class and every (n/k)-th is taken from a random start, which
    rounds each class's share of k either down or up.
    """
    rng = seeds.generator(seed, dataset.name, *names)
    shuffled = rng.permutation(rows)
    if is_stratified(cv):
        shuffled = shuffled[np.argsort(dataset.y[shuffled], kind="stable")]
        # In whole numbers: (i n + start) // k < n for i < k and start < n, which floats do not promise.
        return np.sort(shuffled[(np.arange(k) * len(rows) + rng.integers(len(rows))) // k])
    return np.sort(shuffled[:k])


def _pruning(dataset: Dataset, cv: CVSpec, train: np.ndarray, seed: int, *names: str | int) -> np.ndarray:
    """Draw the pruning part of `train`: its `pruning_fraction`, at least one row, and at least one left to grow on."""
    k = min(max(1, _share(len(train), cv.pruning_fraction)), len(train) - 1)
    return _draw(dataset, cv, train, k, seed, *names)


def _without(rows: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return the sorted `rows` that are not in `part` (some of them); a fifth of the time of a set difference."""
    keep = np.ones(rows[-1] + 1, dtype=bool)
    keep[part] = False
    rest: np.ndarray = rows[keep[rows]]
    return rest


def _share(n: int, fraction: float) -> int:
    return round(fraction * n)
