"""Groups of dependent rows, such as the rows of one patient: divisions that keep every group together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Rows

Groups = NDArray[np.int64]


def checked_groups(groups: ArrayLike | None, n: int, owner: str) -> Groups | None:
    """Return the code of the group of every row, (n,), None without groups. groups : (n,) of any values that are equal
    within a group; ConfigError for another length or a missing value"""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n,):
        raise ConfigError(f"groups of {owner} must hold one value for each of the {n} rows. Got shape {values.shape}.")
    cells = values.tolist()
    missing = [i for i, cell in enumerate(cells) if cell is None or cell != cell]
    if missing:
        raise ConfigError(
            f"groups of {owner} must not be missing. Got {cells[missing[0]]!r} in row {missing[0]}; fill it in, or "
            "leave the row out."
        )
    if values.dtype == object:  # values of several types have no order
        places: dict[Any, int] = {}
        return np.fromiter((places.setdefault(cell, len(places)) for cell in cells), np.int64, n)
    return np.unique(values, return_inverse=True)[1].astype(np.int64).reshape(n)


def parts_of(groups: Groups, number: int, rng: Any, strata: NDArray[Any] | None = None) -> list[Rows]:
    """Return `number` disjoint parts of rows, ascending, each group in one part; fewer parts if there are fewer groups.

    groups : (n,) values that are equal within a group; strata : (n,) codes, such as classes, or None
    rng : its `permutation` gives the order of the groups. Each group goes to the part with the fewest rows so far; with
    strata to the part with the fewest rows of its classes, each class measured in shares of its rows. Ties go to the
    part of fewest groups, then to the first. The order is random, not by descending size (which balances better):
    otherwise groups of different sizes would be divided equally in every repetition. ConfigError for a single group."""
    present, member = np.unique(groups, return_inverse=True)
    if len(present) < 2:
        raise ConfigError(
            "a single group is left in the training rows, and a division inside a fit needs two: give more groups, or "
            "leave out what divides the rows (as by pruning: none)."
        )
    number = min(number, len(present))
    classes = np.zeros(len(groups), dtype=np.int64) if strata is None else strata
    sizes = np.zeros((len(present), int(classes.max()) + 1))
    np.add.at(sizes, (member, classes), 1)
    totals = np.maximum(sizes.sum(axis=0), 1)
    load, count = np.zeros((number, sizes.shape[1])), np.zeros(number, dtype=np.int64)
    part_of = np.empty(len(present), dtype=np.int64)
    for group in rng.permutation(len(present)):
        # The part whose squared load grows least: with one stratum, the part with the fewest rows.
        grows = (load * sizes[group] / totals**2).sum(axis=1)
        part = np.lexsort((count, grows))[0]
        part_of[group] = part
        load[part] += sizes[group]
        count[part] += 1
    return [np.flatnonzero(part_of[member] == part) for part in range(number)]


def share_of(groups: Groups, fraction: float, rng: Any, strata: NDArray[Any] | None = None) -> Rows:
    """Return about a `fraction` of the rows, ascending: whole groups, at least one, at most all but one. Parameters as
    in `parts_of`; ConfigError for a single group."""
    number = max(2, round(1.0 / min(fraction, 1.0 - fraction)))
    parts = parts_of(groups, number, rng, strata)
    wanted = min(max(1, round(fraction * len(parts))), len(parts) - 1)
    return np.sort(np.concatenate(parts[:wanted]))


def spread_of_sums(errors: NDArray[Any], weights: NDArray[Any]) -> float:
    """Return the standard error of sum(errors) / sum(weights) over independent groups.

    errors, weights : (G,) sums over the rows of each group. The ratio estimator of cluster sampling (Cochran 1977,
    equation 10.34 without the correction for a finite population); 0 for a single group."""
    n = len(errors)
    if n < 2:
        return 0.0
    apart = errors - weights * (errors.sum() / weights.sum())
    return float(np.sqrt(n / (n - 1) * (apart**2).sum()) / weights.sum())
