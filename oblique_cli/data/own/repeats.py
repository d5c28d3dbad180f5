"""Rows of a table that seem to belong together: several measurements of one person, or copies of a row.

With such rows an estimate by single rows is for persons seen in training; the result for new persons is worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from oblique_cli.data.own.numbers import plain_numbers
from oblique_cli.data.own.roles import is_named_identifier
from oblique_cli.errors import quoted

LEAST_ROWS, LEAST_LEVELS = 30, 10
REPEATED = 0.9  # share of the rows whose level another row has
SAVED = 0.5  # share of the best constant's error that the other rows of the level remove
NEAR = 0.5  # share of the rows whose nearest row by the features has the same level
TIMES_CHANCE = 3.0  # and its multiple of the share expected by chance
DENSE = 0.8  # share of the integers between minimum and maximum that occur
COPIES = 0.2  # share of the rows that repeat another row in every feature
MOST_ROWS, MOST_FEATURES = 1000, 50  # that are compared with each other
MOST_COMPARED = 20_000  # rows of a table that is searched for copies


def repeats_of(
    cells: Mapping[str, Sequence[str]], X: np.ndarray, names: Sequence[str], levels: Sequence[int], y: np.ndarray
) -> tuple[str, ...]:
    """Return messages on rows that seem to belong together, each with `--groups`; () for none.

    cells : name of a column of the file -> its cells without the target; levels : columns of X with codes
    A column is named if its values repeat, predict the target from the other rows of their value far better than
    chance, and are those of the nearest row by the other features; of several such columns the column with most values.
    """
    if len(y) < LEAST_ROWS or np.ptp(y) == 0:
        return ()
    suspects: list[tuple[int, str]] = []
    for name, column in cells.items():
        place = {cell: k for k, cell in enumerate(dict.fromkeys(column))}
        number = len(place)
        if not LEAST_LEVELS <= number <= len(y) / 2 or not _names_things(name, list(place)):
            continue
        codes = np.fromiter(map(place.__getitem__, column), np.int64, len(y))
        sizes = np.bincount(codes)
        if sizes[sizes > 1].sum() < REPEATED * len(codes) or not _predicts(codes, y):
            continue
        others = [j for j, feature in enumerate(names) if feature != name]
        if others and _are_near(codes, _comparable(X[:, others], [i for i, j in enumerate(others) if j in levels])):
            suspects.append((number, name))
    if suspects:
        number, name = max(suspects)
        return (
            f"column {quoted(name)} has {number} values in {len(y)} rows, and rows of one value have much the same "
            f"target: if they belong together, as those of one person do, say --groups {name}; estimates by single "
            "rows are too good then.",
        )
    if len(y) > MOST_COMPARED or not any(len(np.unique(column)) >= max(50, len(y) / 10) for column in X.T):
        return ()  # rows of few different cells are equal by chance
    copies = _copies(X)
    codes = np.unique(_comparable(X, levels), axis=0, return_inverse=True)[1].ravel()
    by_chance = np.random.default_rng(0)  # permutes every column independently
    if copies >= COPIES * len(y) and _predicts(codes, y) and _copies(by_chance.permuted(X, axis=0)) < copies / 10:
        return (
            f"{copies} of {len(y)} rows are those of another row in every feature: if such rows belong together, name "
            "the column that tells whose they are by --groups, or leave copies out; estimates by single rows are too "
            "good then.",
        )
    return ()


def _names_things(name: str, cells: Sequence[str]) -> bool:
    """Return whether cells are words, counts, or integers named as an identifier, rather than measurements."""
    try:
        values = {int(cell) for cell in cells if cell.strip()}
    except ValueError:
        return plain_numbers(list(filter(str.strip, cells))) is None
    return is_named_identifier(name) or (bool(values) and len(values) >= DENSE * (max(values) - min(values) + 1))


def _predicts(codes: np.ndarray, y: np.ndarray) -> bool:
    """Return whether the other rows with its value predict a row's target with at most half of the error."""
    sizes = np.bincount(codes)[codes]
    some = sizes > 1
    if not some.any():
        return False
    if y.dtype.kind == "f":
        others = (np.bincount(codes, y)[codes] - y)[some] / (sizes[some] - 1)
        return bool(((y[some] - others) ** 2).sum() <= SAVED * ((y[some] - y.mean()) ** 2).sum())
    counts = np.zeros((int(codes.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (codes, y), 1)
    others = counts[codes]
    others[np.arange(len(y)), y] -= 1
    wrong = (others[some].argmax(axis=1) != y[some]).mean()
    constant = 1.0 - np.bincount(y).max() / len(y)
    spread = np.sqrt(constant * (1.0 - constant) / some.sum())
    return bool(wrong <= SAVED * constant and constant - wrong > 4.0 * spread)


def _comparable(X: np.ndarray, levels: Sequence[int]) -> np.ndarray:
    """Return features in comparable units, missing cells at 0, and codes of levels far from each other."""
    X = np.array(X[:, :MOST_FEATURES], dtype=np.float64)
    with np.errstate(all="ignore"):
        center, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        Z = (X - center) / np.where(spread > 0, spread, 1.0)
    for j in levels:
        if j < Z.shape[1]:
            Z[:, j] = X[:, j] * 1e3  # different levels are farther apart than any numbers
    return np.asarray(np.nan_to_num(Z, nan=0.0, posinf=0.0, neginf=0.0))


def _are_near(codes: np.ndarray, Z: np.ndarray) -> bool:
    """Return whether half of the rows, and far more than by chance, share the value of their nearest row."""
    if len(Z) > MOST_ROWS:  # all rows of some values, drawn at random
        rng = np.random.default_rng(0)
        order = rng.permutation(int(codes.max()) + 1)
        sizes = np.bincount(codes)[order]
        drawn = order[: max(2, int(np.searchsorted(np.cumsum(sizes), MOST_ROWS)))]
        rows = np.flatnonzero(np.isin(codes, drawn))[: 4 * MOST_ROWS]
        codes, Z = codes[rows], Z[rows]
    squares = (Z**2).sum(axis=1)
    apart = squares[:, None] + squares[None, :] - 2.0 * Z @ Z.T
    np.fill_diagonal(apart, np.inf)
    near = (codes[apart.argmin(axis=1)] == codes).mean()
    sizes = np.bincount(codes)
    chance = (sizes * (sizes - 1)).sum() / (len(codes) * (len(codes) - 1.0))
    return bool(near >= NEAR and near >= TIMES_CHANCE * chance)


def _copies(X: np.ndarray) -> int:
    """Return the number of rows that equal an earlier or a later row."""
    sizes = np.unique(np.nan_to_num(X, nan=np.inf), axis=0, return_counts=True)[1]
    return int(sizes[sizes > 1].sum())
