"""Folds of a scheme, checked before and verified after they are drawn.

A scheme may be a user's file. Its folds are checked against the scheme's declarations, so that a mistake in the file
gives an error that names scheme and fold, and never a wrong number in a table.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground.nouns import CVSpec, Experiment, Fold, TuningPair
from oblique_cli.schemes._draws import pruning_rows
from oblique_cli.schemes._scheme import NESTED, SCHEMES, SHARED, Dataset, Places, Scheme, is_stratified, stated


def folds(dataset: Dataset, cv: CVSpec, seed: int) -> tuple[Fold, ...]:
    """Return every fold of `cv` on `dataset`; ConfigError if they cannot be drawn (see `check`)."""
    check(dataset, cv)
    declared = places(cv, dataset)
    repeats = SCHEMES[cv.scheme].repeats(dataset, cv)
    return tuple(fold for repeat in range(repeats) for fold in repetition(dataset, cv, seed, repeat, declared))


def places(cv: CVSpec, dataset: Dataset | None = None) -> Places:
    """Return the (repeat, index) of every fold of `cv`, in order, without drawing any; ConfigError if the scheme needs
    the `dataset` and it is None."""
    made = SCHEMES[cv.scheme]
    if made.places_from_data and dataset is None:
        raise ConfigError(f"scheme {cv.scheme} has folds that depend on the data, which are not known here.")
    return stated(made, dataset, cv)


def expected_places(experiment: Experiment, dataset: str) -> Places:
    """Return the places of one data set of an experiment without reading its data; see `Experiment.fold_counts`."""
    counts = experiment.fold_counts.get(dataset)
    if counts is None:
        return places(experiment.cv)
    return [(r, k) for r, count in enumerate(counts[: experiment.cv.repeats]) for k in range(count)]


def check(dataset: Dataset, cv: CVSpec, tuned: bool = True) -> None:
    """Raise ConfigError, in one sentence with a remedy, if `dataset` cannot be divided as `cv` requires.

    tuned   whether the tuning pairs, if the scheme has them, are needed"""
    made = SCHEMES[cv.scheme]
    if is_stratified(cv) and dataset.task == "regression":
        raise ConfigError(f"data set {dataset.name!r} has no classes to keep the shares of: use scheme ordinary.")
    made.check(dataset, cv)
    if made.tunes and tuned:
        made.check_tuning(dataset, cv)


def repetition(dataset: Dataset, cv: CVSpec, seed: int, repeat: int, declared: Places | None = None) -> Repetition:
    """Return the verified folds of one repetition; ConfigError names scheme, fold and fault. Each fold is drawn twice,
    for verification and for use, since all n folds of n rows may not fit in memory.
    declared : `places(cv, dataset)`, of all repetitions, from a caller that draws many of them"""
    made = SCHEMES[cv.scheme]
    declared = stated(made, dataset, cv) if declared is None else declared
    where = _where(dataset, cv, repeat)
    marks = []
    times = np.zeros(dataset.n, dtype=np.int64)
    apparent = made.apparent(cv)
    for fold in made.draw(dataset, cv, seed, repeat):
        place = (fold.repeat, fold.index)
        if fault := _fault(made, place in apparent, dataset.n, fold):
            raise ConfigError(f"{where}, fold {fold.index}: {fault}.")
        marks.append((place, _mark(fold)))
        if place not in apparent:
            times[fold.test] += 1
            if made.disjoint and times[fold.test].max() > 1:
                twice = fold.test[times[fold.test] > 1]
                raise ConfigError(f"{where}, fold {fold.index}: {_some(twice)} tested in an earlier fold as well.")
    expected = declared[bisect_left(declared, (repeat, 0)) : bisect_left(declared, (repeat + 1, 0))]
    drawn = [place for place, _ in marks]
    if drawn != expected:
        wrong = next((place for want, place in zip(expected, drawn, strict=False) if want != place), None)
        at = f", the first that differs {wrong}" if wrong is not None else ""
        raise ConfigError(f"{where}: {len(drawn)} folds are drawn and {len(expected)} are stated by its places{at}.")
    if made.covers and times.min() == 0:
        raise ConfigError(f"{where}: {_some(np.flatnonzero(times == 0))} in no test set, and the scheme covers all.")
    return Repetition(dataset, cv, seed, repeat, tuple(mark for _, mark in marks))


@dataclass(frozen=True, eq=False)
class Repetition:
    """Verified folds, drawn anew at each iteration."""

    dataset: Dataset
    cv: CVSpec
    seed: int
    repeat: int
    marks: tuple[int, ...]

    def __iter__(self) -> Iterator[Fold]:
        made = SCHEMES[self.cv.scheme]
        drawn = made.draw(self.dataset, self.cv, self.seed, self.repeat)
        for fold, mark in zip(drawn, self.marks, strict=True):
            where = f"{_where(self.dataset, self.cv, self.repeat)}, fold {fold.index}"
            if _mark(fold) != mark:
                raise ConfigError(f"{where}: two draws differ: draw from oblique_cli.ground.seeds only.")
            if not len(fold.pruning):
                rows, names = np.unique(fold.train), ("pruning", fold.repeat, fold.index)
                fold = replace(fold, pruning=pruning_rows(self.dataset, self.cv, rows, self.seed, *names))
            if made.tunes:
                rows = fold.train if made.tuning == NESTED else np.arange(self.dataset.n)
                fold = replace(fold, tuning=_TuningPairs(fold.tuning, rows, self.dataset.n, where))
            yield fold


def _where(dataset: Dataset, cv: CVSpec, repeat: int) -> str:
    return f"scheme {cv.scheme!r}, data set {dataset.name!r}, repetition {repeat}"


@dataclass(frozen=True, eq=False)
class _TuningPairs:
    """Tuning pairs that are verified when used: most runs that could tune do not."""

    pairs: Iterable[TuningPair]
    rows: np.ndarray
    n: int
    where: str

    def __iter__(self) -> Iterator[TuningPair]:
        for i, pair in enumerate(self.pairs):
            fault = _fault_of_rows(self.n, pair.train, pair.valid, pair.pruning, "validation", repeats=False)
            for name, part in (("training", pair.train), ("validation", pair.valid)):
                if not fault and len(outside := part[~_mask(self.n, self.rows)[part]]):
                    fault = f"{_some(outside)} among the {name} rows and not in the training set of the fold"
            if fault:
                raise ConfigError(f"{self.where}, tuning pair {i}: {fault}.")
            yield pair


def _fault(made: Scheme, apparent: bool, n: int, fold: Fold) -> str:
    """Return the fault of one fold, "" for none."""
    if apparent != fold.apparent:
        return "only the folds that the scheme's `apparent` names are tested on their training rows"
    if fault := _fault_of_rows(n, fold.train, fold.test, fold.pruning, "test", made.replacement, apparent):
        return fault
    has_pairs = not (isinstance(fold.tuning, tuple) and not fold.tuning)
    if has_pairs != made.tunes:
        return f"it has {'' if has_pairs else 'no '}tuning pairs, and the scheme's tuning is {made.tuning!r}"
    if bool(fold.tuning_id) != (made.tuning == SHARED):
        return f"its tuning_id is {fold.tuning_id!r}, and the scheme's tuning is {made.tuning!r}"
    return ""


def _fault_of_rows(
    n: int, train: Any, test: Any, pruning: Any, test_name: str, repeats: bool, apparent: bool = False
) -> str:
    for name, rows in (("training", train), (test_name, test), ("pruning", pruning)):
        if not (isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind in "iu"):
            kind = f"an array of {rows.dtype}" if isinstance(rows, np.ndarray) else f"a {type(rows).__name__}"
            return f"the {name} rows are {kind}, not an array of whole numbers"
        if not len(rows) and (name != "pruning" or test_name == "validation"):
            return f"there are no {name} rows"
        outside = rows[(rows < 0) | (rows >= n)]
        if len(outside):
            return f"{name} row {outside[0]} is none of the {n} rows"
        steps = np.diff(rows)
        again = repeats and name == "training"
        if (steps < 0).any() or (not again and (steps == 0).any()):
            return f"the {name} rows are not sorted{'' if again else ', or not different'}"
    in_train = _mask(n, train)
    if apparent:
        if not np.array_equal(train, test):
            return f"the {test_name} rows are not the training rows"
    elif in_train[test].any():
        return f"{_some(test[in_train[test]])} among the training and the {test_name} rows"
    if not in_train[pruning].all():
        return f"{_some(pruning[~in_train[pruning]])} among the pruning and not among the training rows"
    if in_train.sum() == len(pruning):
        return "all training rows are pruning rows, and none is left to grow on"
    return ""


def _mask(n: int, rows: np.ndarray) -> np.ndarray:
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask


def _mark(fold: Fold) -> int:
    mark = 0
    for rows in (fold.train, fold.test, fold.pruning):
        mark = zlib.crc32(rows.tobytes(), mark)
    return mark


def _some(rows: np.ndarray) -> str:
    """Return "row 5 is", or "12 rows, the first 5, are"."""
    return f"row {rows[0]} is" if len(rows) == 1 else f"{len(rows)} rows, the first {rows[0]}, are"
