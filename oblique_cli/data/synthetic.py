"""The synthetic data of Manwani & Sastry (2012), section IV, made again from its description, and their part of MAGIC.

The papers' own draws are not to be had. The bundled files are what these functions return for SEED, so that every
machine has the same bytes; tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from oblique_cli import seeds

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

SEED = 20260101
ROWS = 2000
DECIMALS = 6  # of a coordinate in the file; labels are those of the rounded points
ANGLE = np.pi / 6  # of the checkerboards, anticlockwise
MAGIC_ROWS = 3000  # of each class


def checkerboard_2x2(seed: int = SEED) -> tuple[Array, Labels]:
    """Points of [-1, 1]^2, 1 where x1 + x2 and x1 - x2 have one sign, else -1; then rotated. (2000, 2), (2000,)."""
    X = seeds.generator(seed, "checkerboard_2x2").uniform(-1.0, 1.0, (ROWS, 2))
    y = np.where((X[:, 0] + X[:, 1] >= 0) == (X[:, 0] - X[:, 1] >= 0), 1, -1)
    return _rotated(X), y


def checkerboard_4x4(seed: int = SEED) -> tuple[Array, Labels]:
    """Points of [0, 4]^2, 1 where the indices of the unit square have an even sum, else -1; then rotated."""
    X = seeds.generator(seed, "checkerboard_4x4").uniform(0.0, 4.0, (ROWS, 2))
    return _rotated(X), np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)


NORMALS = np.array(
    [
        [1, 1, 0, 1, 0, 0, 1, 0, 0, 1],
        [1, -1, 0, 0, 1, 0, 0, 1, 0, 0],
        [0, 1, -1, 0, -1, 0, 1, 1, -1, 1],
    ]
)


def synthetic_10d(seed: int = SEED) -> tuple[Array, Labels]:
    """Points of [-1, 1]^10, 1 where an even number of the three hyperplanes through 0 has them below, else -1."""
    X = np.round(seeds.generator(seed, "synthetic_10d").uniform(-1.0, 1.0, (ROWS, 10)), DECIMALS)
    return X, np.where((X @ NORMALS.T < 0).sum(axis=1) % 2 == 0, 1, -1)


GENERATORS: Mapping[str, Callable[[], tuple[Array, Labels]]] = {
    "checkerboard_2x2": checkerboard_2x2,
    "checkerboard_4x4": checkerboard_4x4,
    "synthetic_10d": synthetic_10d,
}


def balanced(y: Labels, rows: int = MAGIC_ROWS, seed: int = SEED) -> Labels:
    """Return the row numbers, sorted, of `rows` rows of each class, drawn at random. y : (n,) class codes."""
    drawn = [
        seeds.generator(seed, "magic_balanced", int(code)).choice(np.flatnonzero(y == code), rows, replace=False)
        for code in np.unique(y)
    ]
    return np.sort(np.concatenate(drawn))


def as_csv(X: Array, y: Labels) -> bytes:
    """Return the file of a generated set: x1, x2, ..., class."""
    lines = [",".join([*(f"x{j + 1}" for j in range(X.shape[1])), "class"])]
    for row, label in zip(X, y, strict=True):
        lines.append(",".join([*(f"{value:.{DECIMALS}f}" for value in row), str(label)]))
    return ("\n".join(lines) + "\n").encode()


def _rotated(X: Array) -> Array:
    turn = np.array([[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]])
    return np.round(X @ turn.T, DECIMALS)
