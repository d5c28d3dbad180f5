"""Tables in chunks, and comparisons of trees, for tests of growth beyond memory."""

from pathlib import Path

import numpy as np
import pytest

from oblique_cli.scale import fit_from_disk
from oblique_cli.scale.disk_tables import array_table
from oblique_cli.scale.store import Store
from oblique_cli.tree.structure import Tree

ARRAYS = ("left", "right", "coef_", "thresholds", "counts", "gains", "n_rows", "level_scores")


def stored(folder: Path, X, y, weights=None, *, n_classes=None, levels=(), blocks=1, order=None, parts=None) -> Store:
    """Rows as a store of some blocks, in an order."""
    folder.mkdir(parents=True)
    store = Store(folder, X.shape[1], n_classes or int(y.max()) + 1, weighted=weights is not None, levels=levels)
    cut = np.array_split(np.arange(len(X)), blocks)
    for rows in cut if order is None else [cut[i] for i in order]:
        part = np.zeros(len(rows), np.int8) if parts is None else parts[rows]
        store.add(X[rows].T, y[rows], None if weights is None else weights[rows], part)
    store.close()
    return Store.open(folder)


def same(a: Tree, b: Tree) -> list[str]:
    """Names of the arrays in which two trees differ in a bit."""
    return [name for name in ARRAYS if not np.array_equal(getattr(a, name), getattr(b, name))]


class Stopped(Exception):
    """A fit that was ended from outside."""


def stop_fit(folder: Path, X, y, algorithm: str, params, after: int = 1, **how) -> None:
    """Begin a fit that ends after so many levels or draws, with `folder` as its scratch folder."""
    left = [after]

    def say(level):
        left[0] -= 1
        if not left[0]:
            raise Stopped

    with pytest.raises(Stopped):
        fit_from_disk.fit(array_table(X, y), algorithm, params, scratch=folder, say=say, **how)


def table(seed: int, kind: str = "normal", n: int = 300, p: int = 3, n_classes: int = 3):
    """Rows whose classes are told by hyperplanes but for 15 %."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if kind == "whole numbers":
        X = np.round(X)
    if kind == "offset":
        X[:, 0] = 1e6 + np.round(X[:, 0], 2)
    if kind == "skewed":
        X = np.exp(3 * X)
    if kind == "heap":  # most rows in a few of the bins of equal width, which far ones stretch
        X = 1e-3 * X
        X[rng.random((n, p)) < 0.03] *= 1e5
    if kind == "tied heap":
        X = np.round(X)
        X[:3] = 1e4 * np.sign(X[:3] + 0.5)
    if kind == "ladder":  # each step of bins holds but the rows of its own size
        X = np.sign(X) * 2.0 ** rng.uniform(-40, 20, (n, p))
    if kind == "rounded beside an offset":  # many projections differ by less than counts as a difference
        X[:, 0] = np.round(X[:, 0], 1)
        X[:, 1], X[:, -1] = 2 * X[:, 0], rng.integers(0, 10, n)
    if kind == "constant":
        X[:, 0] = 0.1
    y = (X @ rng.normal(size=(p, n_classes))).argmax(axis=1)
    if kind == "rounded beside an offset":
        X[:, -1] += 1e12
    flipped = rng.random(n) < 0.15
    y[flipped] = rng.integers(0, n_classes, flipped.sum())
    return X, y.astype(np.int32)


def clusters(n: int, p: int, n_classes: int, kind: str = "numbers", seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows around a center for each class.

    kind : "numbers", "ties" and "two values" for few distinct values, "constant" for every other column, "separate"
        for a column that tells the classes, "same" for rows that are all alike
    """
    rng = np.random.default_rng([seed, n, p])
    y = rng.integers(0, n_classes, n).astype(np.int32)
    X = rng.normal(size=(n, p)) + 0.7 * rng.normal(size=(n_classes, p))[y]
    if kind == "ties":
        X = np.round(X)
    elif kind == "two values":
        X = (X > 0.5).astype(np.float64)
    elif kind == "constant":
        X[:, ::2] = 3.25
    elif kind == "separate":
        X[:, -1] = y
    return (np.ones_like(X) if kind == "same" else X), y
