"""Rows for growth and pruning, their division into folds, and the random numbers of a fit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

from oblique_cli.errors import ConfigError, cut_list
from oblique_cli.estimators.checked_rows import refuse_negative
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array, Rows
from oblique_cli.ground.magnitudes import comparable, product
from oblique_cli.ground.row_groups import Groups, parts_of, share_of
from oblique_cli.tree.pruning import LabeledRows
from oblique_cli.tree.splitting import Proposer


class Training(LabeledRows):
    """Rows for growth or pruning."""

    @classmethod
    def of(cls, X: Array, codes: NDArray[Any], weights: Array | None, groups: Groups | None) -> Training:
        """Return rows with their groups. Groups are not a field, which would change how plugins unpack rows."""
        made = cls(X, codes, weights)
        made.__dict__["groups"] = groups
        return made

    @property
    def groups(self) -> Groups | None:
        """Codes of groups of dependent rows, (n,); None for independent rows."""
        return self.__dict__.get("groups")

    @property
    def unit(self) -> float:
        """Smallest weight."""
        return 1.0 if self.weights is None else float(self.weights.min())

    def part(self, rows: Rows) -> Training:
        """Return some of the rows, by ascending row numbers."""
        if len(rows) == len(self.X):
            return self
        weights = None if self.weights is None else self.weights[rows]
        return Training.of(self.X[rows], self.codes[rows], weights, None if self.groups is None else self.groups[rows])

    def folds(self, number: int, seed: int) -> Iterator[tuple[Training, Training]]:
        """Yield the training rows and the test rows of each fold."""
        for grow_on, test_on in shuffled_folds(len(self.X), number, seed, self.groups):
            yield self.part(grow_on), self.part(test_on)


class Draws(NamedTuple):
    """Random numbers of a fit.

    rng : for pruning rows and folds; numbers : of trees, those of folds after the tree's"""

    seed: int
    rng: np.random.Generator
    numbers: Iterator[int]

    @classmethod
    def of(cls, seed: int) -> Draws:
        """Return the draws of a fit with this seed."""
        return cls(seed, np.random.default_rng(seed), itertools.count())

    def tree_seed(self, proposer: Proposer) -> int:
        """Return the seed of the next tree."""
        number = next(self.numbers)
        return int(self.rng.integers(2**63)) if proposer.draws_tree_seed else seeds.integer(self.seed, "tree", number)

    def folds(self, rows: Training, number: int, purpose: str) -> Iterator[tuple[Training, Training, Draws]]:
        """Yield the training and test rows of each fold (leave-one-out if rows are few), and the draws of its fits."""
        divided = rows.folds(min(number, len(rows.X)), seeds.integer(self.seed, f"{purpose} folds"))
        for i, (part, left_out) in enumerate(divided):
            yield part, left_out, Draws.of(seeds.integer(self.seed, f"{purpose} fold", i))


def weights_of(rows: Array, labels: NDArray[Any], sample_weight: Any, class_weight: Any, owner: str) -> Array | None:
    """Return checked weights of rows (n, p), those of their classes included; None if there are none."""
    weights = None if sample_weight is None else _check_sample_weight(sample_weight, rows, dtype=np.float64)
    if weights is not None:
        refuse_negative(weights)
    if class_weight is None:
        return None if weights is None else comparable(weights, f"sample_weight of {owner}")
    try:
        of_class = compute_sample_weight(class_weight, labels)
    except ValueError as error:
        classes = np.unique(labels).tolist()
        unknown = next((label for label in class_weight if label not in classes), None)
        raise ConfigError(
            f"class_weight of {owner} does not fit y: {unknown!r} is not in y, whose classes are "
            f"{cut_list([repr(label) for label in classes])}."
        ) from error
    if weights is None:
        return comparable(of_class, f"class_weight of {owner}")
    return product(weights, of_class, f"sample_weight times class_weight of {owner}")


def divided(
    n: int, useful: Rows, pruning_rows: ArrayLike | None, fraction: float, groups: Groups | None, rng: Any
) -> tuple[Rows, Rows]:
    """Return the row numbers for growth and for pruning, out of the `useful` ones among n.
    pruning_rows : the latter, None to draw a `fraction`; ConfigError if none are left for growth"""
    if pruning_rows is not None:
        prune_on = np.asarray(pruning_rows)
        whole = prune_on.ndim == 1 and (prune_on.dtype.kind in "iu" or len(prune_on) == 0)
        if not whole or (len(prune_on) and not 0 <= prune_on.min() <= prune_on.max() < n):
            raise ConfigError(f"pruning_rows must be row numbers from 0 to {n - 1}. Got {pruning_rows!r}.")
        prune_on = prune_on.astype(np.intp)
    elif len(useful) < 2:
        prune_on = useful[:0]
    elif groups is not None:
        prune_on = useful[share_of(groups[useful], fraction, rng)]
    else:
        size = min(max(round(fraction * len(useful)), 1), len(useful) - 1)
        prune_on = rng.choice(useful, size=size, replace=False)
    prunes = np.isin(useful, prune_on)
    if prunes.all():
        raise ConfigError("pruning_rows must leave rows to grow the tree on. They cover all rows.")
    return useful[~prunes], useful[prunes]


def shuffled_folds(n: int, folds: int, seed: int, groups: Groups | None = None) -> Iterator[tuple[Rows, Rows]]:
    """Yield the training and test rows, ascending, of each fold of n shuffled rows, as `KFold(folds, shuffle=True,
    random_state=seed)` does; its module takes longer to load than most trees take to grow.
    groups : (n,) of dependent rows, which may give fewer folds; None for independent rows"""
    order = np.arange(n)
    rng = check_random_state(seed)
    if groups is None:
        rng.shuffle(order)
    for test_on in np.array_split(order, folds) if groups is None else parts_of(groups, folds, rng):
        tested = np.zeros(n, dtype=np.bool_)
        tested[test_on] = True
        yield np.flatnonzero(~tested), np.flatnonzero(tested)
