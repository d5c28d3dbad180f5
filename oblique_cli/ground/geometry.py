"""Eigenvectors, Householder reflections, clustering hyperplanes, bisectors and CRIMCOORD as in the papers: a readable
reference of the compiled growers (`core/heuristic/`, `core/rows/`); tests check that both agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array

ZERO_COMPONENT = 1e-9  # a smaller component of a unit vector counts as zero: its sign may be rounding
REPEATED = 1e-10  # eigenvalues closer than this, relative to the largest, are equal
SAME_VALUE = 8 * np.finfo(float).eps  # values of a class closer than this, relative to the largest, are equal


def is_wide(n: int, p: int) -> bool:
    """Return whether n is so small beside p that computations use the rows' span; no published table is so wide."""
    return p > 100 and n + 1 < p


def orient(v: Array, sign: float = -1.0) -> Array:
    """Return v or -v for a unit vector v, so that the first non-zero component has the given sign.

    All further axes of a reflection depend on the sign, and a negative one keeps e_1 - d away from zero."""
    for component in v:
        if abs(component) > ZERO_COMPONENT:
            return -v if component * sign < 0 else v
    return v


def canonical_basis(columns: Array) -> Array:
    """Return the orthonormal basis, (p, k), from projections of e_1, e_2, ... on the space of orthonormal `columns`.

    A solver may return any basis of a repeated eigenspace; this basis depends on the space only."""
    p, k = columns.shape
    basis: list[Array] = []
    for axis in range(p):
        if len(basis) == k:
            break
        r = columns @ columns[axis]
        for _ in range(2):  # twice is enough
            for b in basis:
                r = r - (b @ r) * b
        length = float(np.linalg.norm(r))
        if length >= 1e-6:
            basis.append(r / length)
    return np.column_stack(basis) if len(basis) == k else columns


def runs_of_repeated(values: Array) -> Iterator[slice]:
    """Yield the runs of equal eigenvalues of a falling sequence, each as a slice."""
    first = 0
    for last in range(len(values)):
        if last + 1 == len(values) or not values[last] - values[last + 1] <= REPEATED * values[0]:
            yield slice(first, last + 1)
            first = last + 1


def principal_axes(covariance: Array, tolerance: float = 1e-10, sign: float = -1.0) -> Array:
    """Return the eigenvectors of non-zero eigenvalue, (k, p) rows by descending eigenvalue, each oriented.

    An eigenvalue of at most tolerance times the largest is zero (thesis 3.6 gives no tolerance)."""
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    if not values[0] > 0:
        return np.empty((0, len(values)))
    count = int(np.sum(values > tolerance * values[0]))
    out: list[Array] = []
    for run in runs_of_repeated(values[:count]):
        block = vectors[:, run]
        if block.shape[1] > 1:
            block = canonical_basis(block)
        out.extend(orient(v, sign) for v in block.T)
    return np.array(out)


def parallel_to_an_axis(d: Array, tau: float) -> bool:
    """Return whether |e_j - d| <= tau or |e_j + d| <= tau for some axis j (thesis 3.5, for both signs of d)."""
    j = int(np.argmax(np.abs(d)))
    e = np.zeros_like(d)
    e[j] = np.copysign(1.0, d[j])
    return float(np.linalg.norm(e - d)) <= tau


def householder_vector(d: Array) -> Array:
    """Return the unit vector u of the reflection H = I - 2uu' that sends a unit vector d other than e_1 to e_1 (thesis
    eq. 3.3.1). Example: d = (0, 1) gives u = (1, -1) / sqrt(2)."""
    u = -d
    u[0] += 1.0
    u[np.abs(u) <= ZERO_COMPONENT] = 0.0
    return u / np.linalg.norm(u)


def householder(d: Array) -> Array:
    """Return H = I - 2uu' with H d = e_1, symmetric and orthogonal; its first column is d (thesis 3.3.2)."""
    u = householder_vector(d)
    return np.eye(len(d)) - 2.0 * np.outer(u, u)


def class_covariance(X: Array, weights: Array | None = None) -> Array | None:
    """Return the (p, p) covariance of one class (thesis eq. 3.2.1), None if its rows are all equal."""
    centered = _centered(X, weights)
    if centered is None:
        return None
    w = np.ones(len(X)) if weights is None else weights
    covariance: Array = (centered * w[:, None]).T @ centered / max(w.sum() - 1.0, 1.0)
    return covariance


def pooled_variances(X: Array, y: NDArray[np.int32], weights: Array | None = None) -> Array:
    """Return the variance of every feature within the classes, (p,): squared deviations from the class means, summed
    over all rows and divided by the weight minus one unit for each class present. y : (n,) codes"""
    w = np.ones(len(X)) if weights is None else weights
    squares = np.zeros(X.shape[1])
    codes = np.unique(y)
    for code in codes:
        mask = y == code
        centered = _centered(X[mask], w[mask])
        if centered is not None:
            squares += w[mask] @ centered**2
    variances: Array = squares / max(w.sum() - len(codes), 1.0)
    return variances


def shrunk(covariance: Array, variances: Array, weight: float) -> Array:
    """Return (1 - l) S + l diag(variances), l = max(0, 1 - weight / (5 p)): the covariance S of a class of few rows,
    shrunk to a diagonal (thesis 3.6). variances : of `pooled_variances`; weight : rows of the class"""
    share = max(0.0, 1.0 - weight / (5.0 * len(variances)))
    return (1.0 - share) * covariance + share * np.diag(variances)


def unit_scatter(X: Array, weights: Array | None = None) -> Array | None:
    """Return X'X of one class, its rows centered and scaled to unit length (thesis 5.3); None if all rows are equal.

    Its leading eigenvector is the class representative vector (eq. 5.3.1). Rows within 1e-9 of the mean are ignored."""
    centered = _centered(X, weights)
    if centered is None:
        return None
    lengths = np.linalg.norm(centered, axis=1)
    away = lengths > 1e-9 * lengths.max()
    unit = centered[away] / lengths[away, None]
    w = np.ones(len(unit)) if weights is None else weights[away]
    scatter: Array = (unit * w[:, None]).T @ unit
    return scatter


def _centered(X: Array, weights: Array | None) -> Array | None:
    """Return X minus its weighted mean, constant columns exactly 0; None if the rows are all equal. A column whose
    values differ only by rounding (SAME_VALUE) is constant; its eigenvectors would depend on the linear algebra
    library."""
    if len(X) < 2:
        return None
    high, low = X.max(axis=0), X.min(axis=0)
    varies = 0.5 * high - 0.5 * low > 0.5 * SAME_VALUE * np.maximum(np.abs(high), np.abs(low))
    if not varies.any():
        return None
    w = np.ones(len(X)) if weights is None else weights
    return np.where(varies, X - w @ X / w.sum(), 0.0)


def level_codes(column: Array, n_levels: int) -> NDArray[np.intp]:
    """Return the level of each cell as an integer; -1 for anything but 0, 1, ..., n_levels - 1 (NaN included)."""
    known = (column >= 0) & (column < n_levels) & (column == np.floor(column))
    return np.where(known, column, -1).astype(np.intp)


def level_table(
    codes: NDArray[np.intp], y: NDArray[np.int32], weights: Array | None, n_levels: int, n_classes: int
) -> Array:
    """Return the weight of the rows of each level in each class, (n_levels, n_classes), without rows of code -1."""
    known = codes >= 0
    w = None if weights is None else weights[known]
    cells = np.bincount(codes[known] * n_classes + y[known], weights=w, minlength=n_levels * n_classes)
    return cells.reshape(n_levels, n_classes).astype(np.float64)


def dummy_scatter(table: Array) -> tuple[Array, Array]:
    """Return B and W, (L, L) scatter of dummy vectors between and within classes (thesis eq. 3.7.2a and 3.7.2b), whose
    sum is T (eq. 3.7.2c). table : (L, C) of `level_table`"""
    of_class = table.sum(axis=0)
    means = table / np.where(of_class > 0, of_class, 1.0)  # a column for each class
    apart = means - (table.sum(axis=1) / table.sum())[:, None]
    B = (apart * of_class) @ apart.T
    W = np.diag(table.sum(axis=1)) - (means * of_class) @ means.T
    return B, W


def crimcoord(table: Array) -> Array:
    """Return the score of each level, (L,), the largest discriminant coordinate (thesis 3.7). table : (L, C) of
    `level_table`

    The scores are the unit vector a that maximizes a'Ba / a'Ta, the leading eigenvector of T^- B, T = B + W (Loh & Shih
    1997; thesis eq. 3.7.3 and 4.1.4), with a positive first nonzero component. Levels without weight get 0."""
    scores = np.zeros(len(table))
    present = table.sum(axis=1) > 0
    if present.sum() < 2:
        return scores
    B, W = dummy_scatter(table[present])
    values, vectors = np.linalg.eigh(B + W)
    nonzero = values > 1e-12 * values[-1]
    R = vectors[:, nonzero] / np.sqrt(values[nonzero])  # RR' = T^-
    quotients, y = np.linalg.eigh(R.T @ B @ R)
    # The quotients lie between 0 and 1, so that "equal" needs no scale.
    solutions = np.linalg.qr(R @ y[:, quotients[-1] - quotients <= REPEATED])[0]
    if solutions.shape[1] > 1:
        solutions = canonical_basis(solutions)
    scores[present] = orient(solutions[:, 0], 1.0)
    return scores


@dataclass(frozen=True)
class Standard:
    """Coordinates in which rows have a range of about 1 around 0: x = center + scale * z.

    Computations in these coordinates lose no digits to units and offsets; a quotient of moments is invariant under
    affine maps.
    center, scale : (p,); scale holds powers of 2, so that scaling is exact"""

    center: Array
    scale: Array

    @classmethod
    def of(cls, X: Array) -> Standard:
        """Return coordinates for the rows of X : (n, p)."""
        low, high = X.min(axis=0), X.max(axis=0)
        spread = np.where(high > low, high - low, 1.0)
        return cls(0.5 * low + 0.5 * high, np.exp2(np.ceil(np.log2(spread))))

    def to_original(self, planes: Array) -> Array:
        """Return planes (w, b) over z, in columns, as planes over x. planes : (p + 1, k)."""
        w = planes[:-1] / self.scale[:, None]
        return np.vstack([w, planes[-1] - self.center @ w])

    def to_standard(self, planes: Array) -> Array:
        """Return planes (w, b) over x, in columns, as planes over z. planes : (p + 1, k)."""
        return np.vstack([planes[:-1] * self.scale[:, None], planes[-1] + self.center @ planes[:-1]])


def augmented_moment(X: Array, weights: Array | None = None, standard: Standard | None = None) -> Array:
    """Return the mean of [x 1]'[x 1] over rows in `standard` coordinates, (p + 1, p + 1): G and H of Manwani & Sastry
    (2012), section II.A."""
    w = np.ones(len(X)) if weights is None else weights
    Z = X if standard is None else (X - standard.center) / standard.scale
    A = np.column_stack([Z, np.ones(len(X))])
    moments: Array = (A * w[:, None]).T @ A / w.sum()
    return moments


def clustering_hyperplane(A: Array, B: Array, standard: Standard | None = None) -> tuple[Array | None, str]:
    """Return the plane (w, b) maximizing w'Bw / w'Aw and the case that applied (thesis 5.1.2, algorithm 7).

    A, B : (p + 1, p + 1) positive semidefinite, moments in the coordinates `standard`; the plane is over the original x

    full_rank     leading eigenvector of A^-1 B
    null_space    A is singular and N(A) is not inside N(B): leading eigenvector of B projected on N(A)
    range_space   N(A) lies inside N(B): the same quotient within the range of A (thesis eq. 5.1.9)
    none          A is zero

    The rank is the number of eigenvalues above eps (p + 1) times the largest in standard coordinates, where units do
    not matter; norms and orthogonality are those of the original coordinates."""
    m = len(A)
    standard = standard or Standard(np.zeros(m - 1), np.ones(m - 1))
    values, vectors = np.linalg.eigh(A)
    eps = np.finfo(float).eps * m
    if not values[-1] > 0:
        return None, "none"
    zero = ~(values > eps * values[-1])
    N = np.empty((m, 0))
    if zero.any():
        outside = np.linalg.eigvalsh(vectors[:, zero].T @ B @ vectors[:, zero])[-1] > 16.0 * eps * np.trace(B)
        N = np.linalg.qr(standard.to_original(vectors[:, zero]))[0]
        if outside:
            Z = standard.to_standard(N)
            return _leading(Z.T @ B @ Z, N), "null_space"
    R = vectors[:, ~zero] / np.sqrt(values[~zero])
    w = _leading(R.T @ B @ R, standard.to_original(R))
    return w - N @ (N.T @ w), "range_space" if zero.any() else "full_rank"


def _leading(M: Array, basis: Array) -> Array:
    """Return basis @ (leading eigenvector of M), for a repeated leading eigenvalue by the canonical basis."""
    values, vectors = np.linalg.eigh((M + M.T) / 2.0)
    repeated = values[-1] - values <= REPEATED * abs(values[-1])
    solutions: Array = basis @ vectors[:, repeated]
    if solutions.shape[1] == 1:
        return solutions[:, 0]
    return canonical_basis(np.linalg.qr(solutions)[0])[:, 0]


def distinct_gap(X: Array, w: Array) -> float:
    """Return the gap above which two projections X w are distinct (docs/core.md, ties): 1e-9 times the sum over j of
    |w_j| (range of feature j), plus a few rounding errors of the projection's magnitude."""
    scale = np.abs(w) @ (X.max(axis=0) - X.min(axis=0))
    return float(1e-9 * scale + 32.0 * np.finfo(float).eps * (np.abs(w) @ np.abs(X).max(axis=0)))


def gap_middle(values: Array, goes_left: NDArray[np.bool_]) -> float:
    """Return the middle of the gap between two sides, the largest left value if there is no gap. values : (m,)"""
    low, high = float(values[goes_left].max()), float(values[~goes_left].min())
    middle = low + 0.5 * (high - low)
    return middle if middle < high else low


def has_normal(plane: Array, standard: Standard) -> bool:
    """Return whether w is not zero, in standard coordinates."""
    z = standard.to_standard(plane[:, None])[:, 0]
    return bool(np.abs(z[:-1]).max() > 1e-14 * abs(z[-1]))


def normalize_plane(plane: Array) -> Array | None:
    """Return (w, b) scaled so that |w| = 1 and the first non-zero component of w is negative; None if w is zero."""
    largest = float(np.abs(plane[:-1]).max())
    if not 0.0 < largest < np.inf:
        return None
    plane = plane / largest
    length = float(np.linalg.norm(plane[:-1]))
    plane = plane / length
    return plane if np.array_equal(orient(plane[:-1]), plane[:-1]) else -plane


def angle_bisectors(first: Array, second: Array) -> list[Array]:
    """Return the bisectors of two normalized planes: sum and difference, or the plane midway between parallel ones
    (Manwani & Sastry 2012, eq. 4 and 5). first, second : (p + 1,) as `normalize_plane` returns them"""
    cosine = float(first[:-1] @ second[:-1])
    if abs(cosine) > 1.0 - 1e-12:
        sign = 1.0 if cosine > 0 else -1.0
        midway = first.copy()
        midway[-1] = 0.5 * (first[-1] + sign * second[-1])
        candidates = [midway]
    else:
        candidates = [first + second, first - second]
    planes = [normalize_plane(c) for c in candidates]
    return [plane for plane in planes if plane is not None]
