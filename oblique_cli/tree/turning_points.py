"""Turning points: where the trend of the target along one feature changes direction (Amalaman 2015, algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array


@dataclass(frozen=True)
class TurningPoints:
    """Centroids at which the trend turns, in the space of all features and the target.
    feature : (t,) along which each was computed; centers : (t, p) means of all features over the rows of its window;
    targets : (t,) means of y"""

    feature: NDArray[np.intp]
    centers: Array
    targets: Array

    def __len__(self) -> int:
        return len(self.feature)

    def where(self, keep: NDArray[np.bool_]) -> TurningPoints:
        """Return the marked turning points. keep : (t,)."""
        return TurningPoints(self.feature[keep], self.centers[keep], self.targets[keep])


def turning_points(
    X: Array, y: Array, discrete: NDArray[np.bool_], subset_size: int, step: int, cos_beta: float
) -> TurningPoints:
    """Return the turning points of every plane (feature, target), features in order, in each by ascending value.

    X : (n, p); y : (n,); discrete : (p,) features whose every distinct value is a turning point, at its centroid
    subset_size, step   S and K: a window of S rows, sorted by the feature, drops its first K rows and takes the next K;
                        the last rows are ignored if they fill no window
    cos_beta            a centroid, except the first and the last, is a turning point if the cosine of the angle of the
                        segments before and after it is below this; 1 means straight on

    Rows of equal value are sorted by target, then by position. Centroids at the same place count once."""
    both = np.column_stack([X, y])
    planes, centroids = [], []
    for j in range(X.shape[1]):
        rows = both[np.lexsort((y, X[:, j]))]
        if discrete[j]:
            starts = np.flatnonzero(np.r_[True, rows[1:, j] != rows[:-1, j]])
            sizes = np.diff(np.r_[starts, len(rows)])
            turns = np.add.reduceat(rows, starts, axis=0) / sizes[:, None]
            turns[:, j] = rows[starts, j]  # the value itself, without the rounding of a mean
        else:
            begins = range(0, len(rows) - subset_size + 1, step)
            windows = [rows[begin : begin + subset_size].mean(axis=0) for begin in begins]
            turns = _turns(np.array(windows).reshape(-1, rows.shape[1]), j, cos_beta)
        planes.append(np.full(len(turns), j))
        centroids.append(turns)
    points = np.vstack(centroids)
    return TurningPoints(np.concatenate(planes), points[:, :-1], points[:, -1])


def _turns(centroids: Array, feature: int, cos_beta: float) -> Array:
    """Return the centroids at which the line through all of them in the plane (feature, target) turns."""
    plane = centroids[:, [feature, -1]]
    moved = np.r_[True, (plane[1:] != plane[:-1]).any(axis=1)][: len(plane)]
    centroids, plane = centroids[moved], plane[moved]
    if len(plane) < 3:
        return centroids[:0]
    steps = np.diff(plane, axis=0)
    steps = steps / np.hypot(steps[:, 0], steps[:, 1])[:, None]
    cosines = (steps[:-1] * steps[1:]).sum(axis=1)
    return np.asarray(centroids[1:-1][cosines < cos_beta])
