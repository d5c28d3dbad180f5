"""Dissimilarities between objects (Amalaman 2015): checked matrices, distances of rows.

A condensed matrix lists n (n - 1) / 2 dissimilarities as SciPy does: d(0,1), d(0,2), ..., d(1,2), ... In float64 that
is 4 n (n - 1) bytes, in float32 half of it (100 and 50 MB for 5000 objects).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oblique_cli.errors import DataError
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.later import Later
from oblique_cli.ground.magnitudes import exponents, measured, refuse_extreme, refuse_wide

distance: Any = Later("scipy.spatial.distance")

Condensed = NDArray[Any]

METRICS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "hamming")
SCALINGS = ("zscore", "none")
DTYPES = ("float64", "float32")
LEAST = np.finfo(float).smallest_subnormal  # so that no scale is rounded to 0


def number_of_objects(condensed: Condensed) -> int:
    """Return n for n (n - 1) / 2 dissimilarities; DataError if no n fits."""
    m = len(condensed)
    n = (1 + math.isqrt(1 + 8 * m)) // 2
    if n * (n - 1) // 2 != m:
        raise DataError(
            f"a condensed matrix of {n} objects has {n * (n - 1) // 2} dissimilarities and one of {n + 1} has "
            f"{n * (n + 1) // 2}. Got {m}."
        )
    return n


def checked_condensed(values: ArrayLike) -> Condensed:
    """Return a condensed matrix as a contiguous array of finite non-negative numbers; DataError otherwise."""
    array = _numbers(values)
    if array.ndim != 1:
        raise DataError(f"a condensed matrix is a list of dissimilarities. Got {array.ndim} dimensions.")
    n = number_of_objects(array)
    _check_values(array, lambda k: pair_at(k, n), None)
    return _stored(array, n, "float64")


def from_square(matrix: ArrayLike, dtype: str = "float64", names: Sequence[str] | None = None) -> Condensed:
    """Return the condensed form of a square matrix; DataError unless it is symmetric, finite and zero on its diagonal.
    Both halves may differ by rounding, 1e-9 of the larger of both numbers (1e-6 for float32); the upper one counts."""
    array = _numbers(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        shape = " x ".join(map(str, array.shape))
        raise DataError(f"a dissimilarity matrix has as many columns as rows. Got {shape}.")
    if not len(array):
        raise DataError("a dissimilarity matrix needs at least one object. Got none.")
    _check_values(array.ravel(), lambda k: divmod(k, len(array)), names)
    diagonal = np.flatnonzero(np.diagonal(array) != 0)
    if len(diagonal):
        i = int(diagonal[0])
        raise DataError(
            f"the dissimilarity of {object_name(i, names)} to itself must be 0. Got {array[i, i]:g}; "
            "is this a similarity matrix?"
        )
    slack = 1e-6 if array.dtype == np.float32 else 1e-9
    apart = np.abs(array - array.T) > slack * np.maximum(array, array.T)
    if apart.any():
        i, j = map(int, np.argwhere(apart)[0])
        raise DataError(
            f"a dissimilarity matrix must be symmetric: {object_name(i, names)} to {object_name(j, names)} is "
            f"{array[i, j]:g}, and the way back is {array[j, i]:g}."
        )
    return _stored(condensed_of(array), len(array), dtype)


def condensed_of(square: NDArray[Any]) -> Condensed:
    """Return the upper half of a square matrix, unchecked."""
    return np.asarray(distance.squareform(square, force="tovector", checks=False))


def pair_at(k: int, n: int) -> tuple[int, int]:
    """Return the two of n objects whose dissimilarity has place k of a condensed matrix."""
    ends = np.cumsum(np.arange(n - 1, 0, -1))
    i = int(np.searchsorted(ends, k, side="right"))
    return i, int(k - ends[i] + n)


def to_square(condensed: Condensed) -> Array:
    """Return the square float64 matrix of a condensed one."""
    if not len(condensed):
        return np.zeros((1, 1))
    return np.asarray(distance.squareform(np.asarray(condensed, dtype=np.float64), checks=False))


def spread_of(X: Array, scaling: str, metric: str) -> tuple[Array, Array]:
    """Return the shift and scale of each column: mean and standard deviation (1 for equal values), or 0 and 1 for
    scaling "none". DataError names a column of extreme numbers that is not scaled, unless the metric only tests
    equality."""
    if scaling == "none":
        if metric != "hamming":
            refuse_extreme(X, "scaling none")
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    refuse_wide(X, "the distance of two rows")
    powers = exponents(X)
    Z = measured(X, powers)
    shift, scale = Z.mean(axis=0), Z.std(axis=0)
    varies = (scale > 0) & (np.ptp(Z, axis=0) > 0)
    return measured(shift, -powers), np.where(varies, np.maximum(measured(scale, -powers), LEAST), 1.0)


def pairwise(X: ArrayLike, metric: str = "euclidean", scaling: str = "zscore", dtype: str = "float64") -> Condensed:
    """Return the condensed distances between the rows of X (n, p), columns scaled first. DataError if the metric is not
    defined for some rows (a cosine with a row of zeros)."""
    rows = np.asarray(X, dtype=np.float64)
    shift, scale = spread_of(rows, scaling, metric)
    return _stored(_defined(distance.pdist((rows - shift) / scale, metric), metric), len(rows), dtype)


def between(A: Array, B: Array, metric: str) -> Array:
    """Return the distances of the rows of A (m, p) to those of B (n, p), (m, n), limited to the largest float."""
    with np.errstate(over="ignore", invalid="ignore"):
        distances = np.asarray(distance.cdist(A, B, metric))
    beyond = ~np.isfinite(distances).all(axis=1)
    if beyond.any():
        distances[beyond] = _from_afar(A[beyond], B, metric)
    return _defined(distances, metric)


def _from_afar(A: Array, B: Array, metric: str) -> Array:
    """Return distances of rows whose squares or sums overflow, computed after scaling by a power of 2."""
    powers = np.frexp(np.abs(A).max(axis=1))[1]
    turns = metric in ("cosine", "correlation")  # metrics of directions, which no unit changes
    distances = np.empty((len(A), len(B)))
    for row, power, line in zip(A, powers, distances, strict=True):
        near = distance.cdist(np.ldexp(row, -power)[None], B if turns else np.ldexp(B, -power), metric)[0]
        with np.errstate(over="ignore"):
            line[:] = near if turns else np.ldexp(near, power * (2 if metric == "sqeuclidean" else 1))
    return np.where(np.isinf(distances), np.finfo(np.float64).max, distances)


def _defined(distances: Array, metric: str) -> Array:
    if not np.isfinite(distances).all():
        raise DataError(f"the {metric} distance of some rows is not a number; choose another metric or scaling.")
    # Rounding may make cosine and correlation of equal directions negative.
    return np.maximum(distances, 0.0)


def _stored(distances: NDArray[Any], n: int, dtype: str) -> Condensed:
    """Return distances of n objects as a contiguous array; DataError if their squares or sums would be infinite."""
    limit = min(math.sqrt(np.finfo(np.float64).max), float(np.finfo(dtype).max)) / n**2
    largest = float(distances.max(initial=0.0))
    if largest > limit:
        raise DataError(
            f"sums of dissimilarities of {n} objects need each to be {limit:.3g} or less in {dtype}. Got "
            f"{largest:.3g}; divide all by the same number."
        )
    return np.ascontiguousarray(distances, dtype=dtype)


def _numbers(values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype == np.float32:
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("dissimilarities must be numbers.") from None


def _check_values(flat: NDArray[Any], place_of: Any, names: Sequence[str] | None) -> None:
    """Raise DataError at the first value that is not finite, or negative."""
    for wrong, what in ((~np.isfinite(flat), "a finite number"), (flat < 0, "0 or more")):
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            i, j = place_of(k)
            raise DataError(
                f"the dissimilarity of {object_name(i, names)} and {object_name(j, names)} must be {what}. "
                f"Got {flat[k]:g}."
            )


def object_name(i: int, names: Sequence[str] | None) -> str:
    """Return the name of an object in messages."""
    return f"object {i + 1}" if names is None else repr(names[i])
