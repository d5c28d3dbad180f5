"""Conformal prediction: limits such that sets or intervals contain the truth for most new rows.

A score measures how poorly the truth of a row fits the prediction of a model not trained on the row. Among n such
scores the limit is that of rank ceil((n + 1) c): a new row, exchangeable with these, has a score within it with
probability at least c (Vovk, Gammerman and Shafer 2005). With G exchangeable groups every group has weight 1 / (G + 1),
divided among its rows, and a row of a new group has a score within the limit with the same probability (Lee, Barber and
Willett 2023). docs/guarantees.md explains the choices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.ground.arrays import Array

# Sets of classes: by the share of a class (Sadinle, Lei and Wasserman 2019), by cumulative shares (Romano, Sesia and
# Candes 2020), by the share within each class and within each leaf (Vovk 2012).
LAC, APS, BY_CLASS, BY_LEAF = "lac", "aps", "class", "leaf"
# Intervals: of constant width, of width proportional to the leaf's errors (Lei et al. 2018), and between quantiles of
# the leaf (Romano, Patterson and Candes 2019).
ABSOLUTE, NORMALIZED, QUANTILE = "absolute", "normalized", "quantile"
OF_CLASSES, OF_NUMBERS = (LAC, APS, BY_CLASS, BY_LEAF), (ABSOLUTE, NORMALIZED, QUANTILE)
LEAFWISE = (BY_LEAF, NORMALIZED, QUANTILE)
CROSS, SPLIT = "cross", "split"
SMOOTHING = 5.0  # number of rows with the errors of all leaves that are added to those of a leaf
Limits = tuple[tuple[int, ...], tuple[tuple[float, ...], ...]]  # leaves and limits of a `Guarantee`


@dataclass(frozen=True)
class Guarantee:
    """Rule that turns predictions of a model into sets or intervals.

    name      one of OF_CLASSES or OF_NUMBERS; how : CROSS or SPLIT; rows : number of scores behind the limits
    coverage  required share of new rows whose truth is inside
    limits    one row for all rows, or one for each of `leaves` and a last one for any other leaf. In regression each is
              (below, above), the distances from the prediction to the ends of the interval; for classes the least share
              of a class in the set, one number or one for each class, or under APS the largest cumulative share
    leaves    node numbers, () if leaves do not matter
    size      mean number of classes in the sets, or mean width of the intervals, of the rows behind the limits
    groups    number of groups of these rows, 0 for independent rows"""

    name: str
    coverage: float
    how: str
    rows: int
    limits: tuple[tuple[float, ...], ...]
    leaves: tuple[int, ...] = ()
    size: float = 0.0
    groups: int = 0

    def at(self, leaves: NDArray[Any] | None, n: int) -> Array:
        """Return the limits of n rows, (n, width). leaves : (n,) node numbers, None if they do not matter"""
        table = np.array(self.limits, np.float64)
        if leaves is None or not self.leaves:
            return np.repeat(table[:1], n, axis=0)
        place = {leaf: i for i, leaf in enumerate(self.leaves)}
        return np.asarray(table[[place.get(int(leaf), len(self.leaves)) for leaf in leaves]])

    def sets(self, shares: Array, leaves: NDArray[Any] | None = None) -> NDArray[np.bool_]:
        """Return which classes are in the sets, (n, C). shares : (n, C)"""
        limits = self.at(leaves, len(shares))
        return running_sums(shares) <= limits if self.name == APS else shares >= limits

    def intervals(self, predicted: Array, leaves: NDArray[Any] | None = None) -> Array:
        """Return the ends of the intervals, (n, 2). predicted : (n,)"""
        limits = self.at(leaves, len(predicted))
        return np.column_stack([predicted - limits[:, 0], predicted + limits[:, 1]])

    def sentence(self, n_classes: int) -> str:
        """Return a sentence on the coverage and the size of sets or intervals. n_classes : 0 for numbers"""
        what = "sets" if n_classes else "intervals"
        new = "the rows of new groups, on average over groups" if self.groups else "new rows"
        size = f"{self.size:.2f} of {n_classes} classes" if n_classes else f"{self.size:.4g} wide"
        whose = f" of {self.groups} groups" if self.groups else ""
        rows = f"{self.rows} rows{whose} {'held out' if self.how == SPLIT else 'that fits without them judged'}"
        return (
            f"Its {what} are to hold the truth for {100 * self.coverage:g} % of {new} ({self.name}, limits by "
            f"{rows}): {size} on average."
        )

    def plain(self) -> dict[str, Any]:
        """Return plain data for a model file."""
        plain = {**vars(self), "limits": [list(row) for row in self.limits], "leaves": list(self.leaves)}
        return plain if self.groups else {key: value for key, value in plain.items() if key != "groups"}

    @classmethod
    def from_plain(cls, plain: Any, n_classes: int) -> Guarantee:
        """Return the guarantee from a model file. n_classes : 0 for numbers. DataError for invalid data."""
        try:
            guarantee = cls(
                plain["name"], float(plain["coverage"]), plain["how"], int(plain["rows"]),
                tuple(tuple(float(value) for value in row) for row in plain["limits"]),
                tuple(int(leaf) for leaf in plain["leaves"]), float(plain["size"]),
                int(plain.get("groups", 0)),
            )  # fmt: skip
            widths = {len(row) for row in guarantee.limits}
            fits = (
                plain.keys() == guarantee.plain().keys()
                and guarantee.name in (OF_CLASSES if n_classes else OF_NUMBERS)
                and guarantee.how in (CROSS, SPLIT)
                and 0.0 < guarantee.coverage < 1.0
                and len(guarantee.limits) == (len(guarantee.leaves) + 1 if guarantee.leaves else 1)
                and widths <= ({1, n_classes} if n_classes else {2})
                and np.isfinite(guarantee.limits).all()
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            fits = False
        if not fits:
            raise DataError(f"guarantee must be an object as oblique fit --coverage writes it. Got {quoted(plain)}")
        return guarantee


def running_sums(shares: Array) -> Array:
    """Return, for each class, the sum of the shares of more likely classes and half its own share, (n, C).

    Among equal shares the first class counts as more likely. Romano, Sesia and Candes (2020) add a random part of the
    class's share; half of it makes the sets deterministic. Exported models add in the same order."""
    sums = np.zeros_like(shares)
    for j in range(shares.shape[1]):
        share = shares[:, j : j + 1]
        likelier = share > shares
        likelier[:, j + 1 :] |= share == shares[:, j + 1 :]
        sums += np.where(likelier, share, 0.0)
    return sums + 0.5 * shares


def least_rows(coverage: float) -> int:
    """Return the least number n of scores that gives a limit: ceil((n + 1) c) <= n."""
    return math.ceil(coverage / (1.0 - coverage) - 1e-9)


def limit_of(scores: Array, coverage: float, groups: NDArray[Any] | None = None) -> float:
    """Return the score of rank ceil((n + 1) c) in ascending order; n is at least `least_rows`.
    groups : (n,); each group counts once, its weight divided among its rows"""
    if groups is not None:
        _, member, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        order = np.argsort(scores, kind="stable")
        reached = np.cumsum(1.0 / sizes[member[order]]) >= (len(sizes) + 1) * coverage - 1e-9
        return float(scores[order[np.argmax(reached)]])
    rank = math.ceil((len(scores) + 1) * coverage - 1e-9)
    return float(np.partition(scores, rank - 1)[rank - 1])


def checked(name: str, coverage: float, regression: bool) -> str:
    """Return the name of a guarantee, the default for ""; ConfigError for a name not available for the task."""
    if not 0.0 < coverage < 1.0:
        raise ConfigError(f"the coverage must be a share above 0 and below 1, such as 0.9. Got {coverage:g}.")
    known = OF_NUMBERS if regression else OF_CLASSES
    if name and name not in known:
        what = "intervals of numbers" if regression else "sets of classes"
        raise ConfigError(f"the guarantee of {what} must be one of {', '.join(known)}. Got {quoted(name)}.")
    return name or known[0]


@dataclass(frozen=True, eq=False)
class Held:
    """Predictions of a model for held-out rows, (n, C) shares or (n,) numbers, and the truth, (n,) codes or numbers.

    leaves  (n,) node numbers of the rows in the final model, None if leaves do not matter
    spread  (n, 2) of the leaf in the model that gives `answers`: as of `spreads_of`
    groups  (n,) group of each row, None for independent rows"""

    answers: Array
    truth: NDArray[Any]
    leaves: NDArray[Any] | None = None
    spread: Array | None = None
    groups: NDArray[Any] | None = None

    @classmethod
    def joined(cls, parts: Sequence[Held], leaves: NDArray[Any] | None) -> Held:
        """Return the predictions of the models of several folds for their test rows, by folds. leaves : as above"""
        spread = [part.spread for part in parts if part.spread is not None]
        groups = [part.groups for part in parts if part.groups is not None]
        return cls(
            np.concatenate([part.answers for part in parts]),
            np.concatenate([part.truth for part in parts]),
            leaves,
            np.concatenate(spread) if spread else None,
            np.concatenate(groups) if groups else None,
        )


def guarantee_of(
    name: str,
    coverage: float,
    how: str,
    held: Held,
    spreads: Mapping[int, tuple[float, float]] | None = None,
    classes: Sequence[str] = (),
) -> Guarantee:
    """Return the guarantee from scores of held-out rows; ConfigError, with the least number, for too few rows.
    spreads : as `Held.spread`, by leaf, -1 for any other leaf; classes : their names in error messages"""
    n, groups, of_numbers = len(held.truth), held.groups, name in OF_NUMBERS
    _enough(n, coverage, "", groups)
    if of_numbers:
        leaves, limits = _limits_of_numbers(name, coverage, held, spreads)
    else:
        leaves, limits = _limits_of_classes(name, coverage, held, classes)
    n_groups = 0 if groups is None else _units(n, groups)
    guarantee = Guarantee(name, coverage, how, n, limits, leaves, groups=n_groups)
    if of_numbers:
        ends = guarantee.intervals(held.answers, held.leaves)
        sizes = ends[:, 1] - ends[:, 0]
    else:
        sizes = guarantee.sets(held.answers, held.leaves).sum(axis=1)
    return replace(guarantee, size=float(sizes.mean()))


def _units(n: int, groups: NDArray[Any] | None) -> int:
    return n if groups is None else len(np.unique(groups))


def _part(groups: NDArray[Any] | None, rows: NDArray[np.bool_]) -> NDArray[Any] | None:
    return None if groups is None else groups[rows]


def _enough(n: int, coverage: float, of: str, groups: NDArray[Any] | None) -> None:
    n, what = _units(n, groups), "rows" if groups is None else "groups"
    if n < (least := least_rows(coverage)):
        most = n / (n + 1)
        raise ConfigError(
            f"a coverage of {coverage:g} needs at least {least} calibration {what}{of}. There are {n}; give more "
            f"{what}, or a coverage of at most {math.floor(1000 * most) / 1000:g}."
        )


def _limits_of_classes(name: str, coverage: float, held: Held, classes: Sequence[str]) -> Limits:
    truth, groups = held.truth, held.groups
    shares = held.answers[np.arange(len(truth)), truth]
    if name == BY_LEAF:
        return _limits_of_leaves(shares, held.leaves, coverage, groups)
    if name == APS:
        return (), ((limit_of(running_sums(held.answers)[np.arange(len(truth)), truth], coverage, groups),),)
    if name == LAC:
        return (), ((-limit_of(-shares, coverage, groups),),)
    limits = []
    for k, label in enumerate(classes or [str(k) for k in range(held.answers.shape[1])]):
        of_class = truth == k
        _enough(int(of_class.sum()), coverage, f" of each class, of {quoted(label)} too", _part(groups, of_class))
        limits.append(-limit_of(-shares[of_class], coverage, _part(groups, of_class)))
    return (), (tuple(limits),)


def _limits_of_leaves(
    shares: Array, leaves: NDArray[Any] | None, coverage: float, groups: NDArray[Any] | None
) -> Limits:
    """Return a limit for each leaf with enough rows; other leaves share a limit (all classes if rows are few)."""
    assert leaves is not None

    def limit(rows: NDArray[np.bool_]) -> float | None:
        enough = _units(int(rows.sum()), _part(groups, rows)) >= least_rows(coverage)
        return -limit_of(-shares[rows], coverage, _part(groups, rows)) if enough else None

    limits = {int(leaf): limit(leaves == leaf) for leaf in np.unique(leaves)}
    of_large = {leaf: of_leaf for leaf, of_leaf in limits.items() if of_leaf is not None}
    of_rest = limit(~np.isin(leaves, list(of_large)))
    return tuple(of_large), (*((of_leaf,) for of_leaf in of_large.values()), (0.0 if of_rest is None else of_rest,))


def _limits_of_numbers(
    name: str, coverage: float, held: Held, spreads: Mapping[int, tuple[float, float]] | None
) -> Limits:
    errors, groups = held.truth - held.answers, held.groups
    if name == ABSOLUTE:
        limit = limit_of(np.abs(errors), coverage, groups)
        return (), ((limit, limit),)
    assert held.spread is not None and spreads is not None
    if name == NORMALIZED:
        limit = limit_of(np.abs(errors) / held.spread[:, 0], coverage, groups)
        rows = {leaf: (limit * scale, limit * scale) for leaf, (scale, _) in spreads.items()}
    else:
        limit = limit_of(np.maximum(-errors - held.spread[:, 0], errors - held.spread[:, 1]), coverage, groups)
        rows = {leaf: (below + limit, above + limit) for leaf, (below, above) in spreads.items()}
    leaves = tuple(sorted(leaf for leaf in rows if leaf != -1))
    return leaves, tuple(rows[leaf] for leaf in (*leaves, -1))


def spreads_of(name: str, coverage: float, errors: Array, leaves: NDArray[Any]) -> dict[int, tuple[float, float]]:
    """Return the spread of the errors in each leaf of a model. errors : (n,) of its training rows

    NORMALIZED: the root mean square of a leaf's errors, with those of all rows as SMOOTHING further rows. QUANTILE: the
    distances of the quantiles (1 - c) / 2 and (1 + c) / 2 of the errors below and above 0."""
    overall = float((errors**2).mean())
    tails = ((1.0 - coverage) / 2.0, (1.0 + coverage) / 2.0)

    def spread(leaf_errors: Array) -> tuple[float, float]:
        if name == NORMALIZED:
            size = math.sqrt((float((leaf_errors**2).sum()) + SMOOTHING * overall) / (len(leaf_errors) + SMOOTHING))
            return (size, size) if size > 0.0 else (1.0, 1.0)
        low, high = np.quantile(leaf_errors, tails)
        return -float(low), float(high)

    spreads = {int(leaf): spread(errors[leaves == leaf]) for leaf in np.unique(leaves)}
    return {**spreads, -1: spread(errors)}


def spread_at(spreads: Mapping[int, tuple[float, float]], leaves: NDArray[Any]) -> Array:
    """Return the spreads of rows by their leaves, (n, 2)."""
    return np.array([spreads.get(int(leaf), spreads[-1]) for leaf in leaves]).reshape(-1, 2)
