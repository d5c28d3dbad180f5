"""Generated data sets: those of the geometric tree paper and of Amalaman's dissertation, and the two-dimensional
examples of the thesis.

A generator takes a random stream and returns features and labels, or features and numbers for regression. The
catalogue has an entry for each of them, of availability "generated", so a configuration names one like any other set;
it is then drawn with `SEED`. The papers print no coordinates: the docstring or comment of each set gives their
description, and we chose the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data.dataset import Dataset
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.labels import label_order
from oblique_cli.ground.registry import Registry, fault_of_function

Drawn = tuple[Array, NDArray[np.str_]]
DrawnNumbers = tuple[Array, Array]
Part = tuple[str, int, tuple[float, float], float, float, float]  # of a set of BANDS or CLOUDS

# The seed of the sets that the catalogue names.
SEED = 1

SYNTHETIC: Registry[Callable[[np.random.Generator], Drawn | DrawnNumbers]] = Registry(
    "synthetic data set", "oblique data list", lambda function: fault_of_function(function, "rng")
)


def draw(name: str, seed: int = SEED, *, paper_code: str = "", note: str = "") -> Dataset:
    """Return the synthetic data set `name` drawn with `seed`; features are called x1, x2, ... Raises UnknownName.
    Stochasticity: one stream named (seed, "synthetic", name)."""
    X, labels = SYNTHETIC[name](seeds.generator(seed, "synthetic", name))
    regression = labels.dtype.kind == "f"
    classes = () if regression else tuple(sorted(set(labels.tolist()), key=label_order))
    y = np.array(labels if regression else [classes.index(label) for label in labels])
    y = y.astype(np.float64 if regression else np.int32)
    X = np.ascontiguousarray(X)
    X.flags.writeable = y.flags.writeable = False
    features = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    task = "regression" if regression else "classification"
    return Dataset(name, X, y, classes, features, task=task, paper_code=paper_code, note=note)


def _signs(positive: NDArray[np.bool_]) -> NDArray[np.str_]:
    return np.where(positive, "1", "-1")


def _rotation(degrees: float) -> Array:
    """Return the matrix M for which X @ M turns rows anticlockwise about the origin."""
    angle = np.radians(degrees)
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


# ---- Manwani and Sastry (2012), section IV ---------------------------------------------------------------------------


@SYNTHETIC.register("checkerboard_2x2")
def checkerboard_2x2(rng: np.random.Generator) -> Drawn:
    """2000 points, uniform in [-1, 1]^2; class 1 if x1 + x2 and x1 - x2 have the same sign; turned by 30 degrees.

    Manwani and Sastry (2012), dataset 1; theirs has 979 points of class 1."""
    X = rng.uniform(-1.0, 1.0, (2000, 2))
    first, second = X[:, 0] + X[:, 1], X[:, 0] - X[:, 1]
    return X @ _rotation(30.0), _signs(((first >= 0) & (second >= 0)) | ((first <= 0) & (second <= 0)))


@SYNTHETIC.register("checkerboard_4x4")
def checkerboard_4x4(rng: np.random.Generator) -> Drawn:
    """2000 points, uniform in [0, 4]^2; class 1 if the sum of the unit square's indices is even; turned.

    Manwani and Sastry (2012), dataset 2, turned by 30 degrees about the origin; theirs has 997 points of class 1."""
    X = rng.uniform(0.0, 4.0, (2000, 2))
    return X @ _rotation(30.0), _signs(np.floor(X).sum(axis=1) % 2 == 0)


@SYNTHETIC.register("synthetic_10d")
def synthetic_10d(rng: np.random.Generator) -> Drawn:
    """2000 points, uniform in [-1, 1]^10; the class depends on the sides of three hyperplanes through the origin.
    Manwani and Sastry (2012), dataset 3; theirs has 1020 points of class 1."""
    X = rng.uniform(-1.0, 1.0, (2000, 10))
    normals = np.array(
        [
            [1, 1, 0, 1, 0, 0, 1, 0, 0, 1],
            [1, -1, 0, 0, 1, 0, 0, 1, 0, 0],
            [0, 1, -1, 0, -1, 0, 1, 1, -1, 1],
        ]
    )
    first, second, third = normals @ X.T
    return X, _signs(
        ((first >= 0) & (second >= 0) & (third >= 0))
        | ((first <= 0) & (second <= 0) & (third >= 0))
        | ((first <= 0) & (second >= 0) & (third <= 0))
        | ((first >= 0) & (second <= 0) & (third <= 0))
    )


def balanced(y: NDArray[np.integer], rows: int = 3000, seed: int = 20260101) -> NDArray[np.intp]:
    """Return the row numbers, sorted, of `rows` rows of each class, drawn at random. y : (n,) class codes.

    The bundled `magic_balanced` holds these rows of `magic`; Manwani and Sastry (2012) drew 3000 of each class as well.
    """
    drawn = [
        seeds.generator(seed, "magic_balanced", int(code)).choice(np.flatnonzero(y == code), rows, replace=False)
        for code in np.unique(y)
    ]
    return np.sort(np.concatenate(drawn))


# ---- Amalaman (2015), Tables 2.3 and 3.2 -----------------------------------------------------------------------------


@SYNTHETIC.register("three_pieces")
def three_pieces(rng: np.random.Generator) -> DrawnNumbers:
    """300 points on three joined lines: along x1 at x2 = 0, twice, then along x2 at x1 = 200. Dataset #1 of Table 2.3.

    The table gives no spacing; here inputs are whole numbers, 100 a piece. The seed decides the order of the rows."""
    x = np.arange(100.0)
    zero = np.zeros(100)
    X = np.vstack([np.c_[x, zero], np.c_[x + 100, zero], np.c_[zero + 200, x]])
    y = np.concatenate([-2 * x, -700 + 5 * (x + 100), 300 - 3 * x])
    order = rng.permutation(300)
    return X[order], y[order]


@SYNTHETIC.register("one_bend")
def one_bend(rng: np.random.Generator) -> DrawnNumbers:
    """2500 points, x1 uniform in [0, 250], x2 = 0; y = x1 below 50 and 100 - x1 above. Dataset #2 of Table 2.3."""
    x = rng.uniform(0.0, 250.0, 2500)
    return np.c_[x, np.zeros(2500)], np.where(x < 50, x, 100 - x)


@SYNTHETIC.register("breiman_levels")
def breiman_levels(rng: np.random.Generator) -> DrawnNumbers:
    """750 points, x1 in {-1, 1}, nine more in {-1, 0, 1}; a linear function for each x1.

    The CART data set of Table 2.3. Noise is uniform in [-2, 2], as the text says, which alone is a squared error of
    1.33; the printed errors, below 0.1, need less noise."""
    X = np.c_[rng.choice([-1.0, 1.0], 750), rng.integers(-1, 2, (750, 9))]
    _, x2, x3, x4, x5, x6, x7 = X.T[:7]
    y = np.where(X[:, 0] > 0, 3 + 3 * x2 + 2 * x3 + x4, -3 + 3 * x5 + 2 * x6 + x7)
    return X, y + rng.uniform(-2.0, 2.0, 750)


@SYNTHETIC.register("sine_product")
def sine_product(rng: np.random.Generator) -> DrawnNumbers:
    """500 points, uniform in [-3, 3]^2, y = 3 sin(x1) sin(x2). 3DSin of Table 2.3."""
    X = rng.uniform(-3.0, 3.0, (500, 2))
    return X, 3 * np.sin(X[:, 0]) * np.sin(X[:, 1])


@SYNTHETIC.register("friedman")
def friedman(rng: np.random.Generator) -> DrawnNumbers:
    """700 points, uniform in [0, 1]^10, five features that matter, noise uniform in [-1, 1]. Fried of Table 2.3."""
    X = rng.uniform(0.0, 1.0, (700, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.uniform(-1.0, 1.0, 700)


Label = Callable[[Array, Array], NDArray[np.str_]]  # coordinates -> labels, "" for a point in a margin


def _with_margin(n: int, x: tuple[float, float], y: tuple[float, float]) -> Callable[[Label], Label]:
    """Register the first `n` of points drawn in a box whose label is not "" under the name of the labels' function."""

    def register(label: Label) -> Label:
        @SYNTHETIC.register(label.__name__)
        def points(rng: np.random.Generator) -> Drawn:
            X = np.c_[rng.uniform(*x, 4 * n), rng.uniform(*y, 4 * n)]
            labels = label(X[:, 0], X[:, 1])
            labeled = np.flatnonzero(labels != "")[:n]
            return X[labeled], labels[labeled]

        return label

    return register


@_with_margin(834, (0.0, 1.0), (-3.0, 3.0))
def sine_2d(x: Array, y: Array) -> NDArray[np.str_]:
    """834 points of (0, 1) x [-3, 3]: C+ over 0.3 above sin(2 pi x1), C- over 0.3 below. 2DSin of Table 3.2."""
    above = y - np.sin(2 * np.pi * x)
    return np.where(above > 0.3, "C+", np.where(above < -0.3, "C-", ""))


@_with_margin(1082, (-1.0, 1.0), (-1.0, 1.0))
def patches_4(x: Array, y: Array) -> NDArray[np.str_]:
    """1082 points: C- in the first and third quadrant, C+ in the others, 0.1 from the axes. 4Patches of Table 3.2, in
    (-1, 1), since the printed range, (0, 1), has no negative values."""
    inside = (np.abs(x) > 0.1) & (np.abs(y) > 0.1)
    return np.where(inside, np.where(x * y > 0, "C-", "C+"), "")


@_with_margin(1118, (-3.0, 3.0), (-3.0, 3.0))
def patches_6(x: Array, y: Array) -> NDArray[np.str_]:
    """1118 points of (-3, 3)^2: the quadrants, the first and third cut in two along x2 = x1. 6Patches of Table 3.2."""
    upper, lower = y > x + 0.2, y < x - 0.2
    inside = (np.abs(x) > 0.1) & (np.abs(y) > 0.1) & (upper | lower)
    same = x * y > 0
    return np.where(inside, np.where(same == upper, "C-", "C+"), "")


@_with_margin(1670, (-5.0, 5.0), (-5.0, 5.0))
def circles_2d(x: Array, y: Array) -> NDArray[np.str_]:
    """1670 points of (-5, 5)^2: C+ within 1.2 of the center or beyond 3.5, C- from 1.5 to 3. Table 3.2, 2DCircles."""
    r = np.hypot(x, y)
    return np.where((r > 3.5) | (r < 1.2), "C+", np.where((r > 1.5) & (r < 3), "C-", ""))


# ---- Wickramarachchi (2015), illustrations ---------------------------------------------------------------------------


ALONG_ROOT = float(np.degrees(np.arctan2(0.7231, -0.6907)))  # directions of hyperplanes of `five_regions`
ALONG_2_AND_9 = float(np.degrees(np.arctan2(0.7757, 0.6311)))
ALONG_4 = float(np.degrees(np.arctan2(0.6584, -0.7527)))

# Sets of points uniform in slanting rectangles: (label, count, center, direction in degrees, length, width) each.
BANDS: dict[str, list[Part]] = {
    # Two classes stretched side by side along one slanting direction, which is that of the separating hyperplane
    # (thesis 3.2, figure 3.1).
    "two_bands": [("1", 60, (0.42, 0.58), 40.0, 0.9, 0.16), ("2", 60, (0.58, 0.42), 40.0, 0.9, 0.16)],
    # Five linearly separable classes on the regions of the five printed hyperplanes (thesis 3.4, figures 3.5 to 3.10).
    # Every class is stretched along a hyperplane that bounds it, since the splits of the text use eigenvectors: node 1
    # (root) and node 3 those of class 1, the nodes below those of classes 2, 4 and 3. The six leaves hold five classes,
    # and the text does not state which class has two leaves; here it is class 5, which no split uses. Two of the
    # printed normals have digits swapped (0.6371 for 0.6311, 0.7321 for 0.7231), as their lengths show.
    "five_regions": [
        ("1", 60, (0.106, 0.295), ALONG_ROOT, 0.30, 0.16),
        ("2", 60, (0.256, 0.694), ALONG_2_AND_9, 0.50, 0.18),
        ("3", 60, (0.332, 0.439), ALONG_2_AND_9, 0.24, 0.14),
        ("4", 60, (0.624, 0.584), ALONG_4, 0.33, 0.20),
        ("5", 60, (0.313, 0.078), ALONG_ROOT, 0.20, 0.16),
        ("5", 15, (0.502, 0.300), ALONG_2_AND_9, 0.20, 0.16),
    ],
    # Class 2 on either side of class 1, the three clouds in a row (thesis 5.1.3, figure 5.3). In the text the
    # clustering hyperplane of class 2 crosses all three clouds. This happens if class 1 is wider across the row; with
    # equal widths it is random.
    "three_clouds": [
        ("2", 50, (0.15, 0.25), 125.5, 0.18, 0.18),
        ("1", 50, (0.50, 0.50), 125.5, 0.28, 0.18),
        ("2", 50, (0.85, 0.75), 125.5, 0.18, 0.18),
    ],
    # Five classes with A as the largest, which GDT therefore separates from the others (thesis 5.1.3, figure 5.6).
    "five_clouds": [
        ("A", 80, (0.25, 0.60), 60.0, 0.6, 0.16),
        ("B", 50, (0.50, 0.25), 60.0, 0.3, 0.16),
        ("C", 50, (0.60, 0.75), 60.0, 0.3, 0.16),
        ("D", 50, (0.80, 0.40), 60.0, 0.3, 0.16),
        ("E", 50, (0.90, 0.85), 60.0, 0.3, 0.16),
    ],
}
# Sets of normal clouds: (label, count, center, direction in degrees, deviations along it and across) each.
CLOUDS: dict[str, list[Part]] = {
    # Two classes of two clusters each, in a row with alternating classes (thesis 6.2.1, figures 6.1 and 6.2); each
    # region of the final partition is a cluster of its class.
    "alternating_clusters": [
        ("1", 45, (0.05, 0.10), 110.0, 0.13, 0.045),
        ("2", 45, (0.40, 0.25), 110.0, 0.13, 0.045),
        ("1", 45, (0.75, 0.40), 130.0, 0.13, 0.045),
        ("2", 45, (1.05, 0.65), 150.0, 0.13, 0.045),
    ],
    # Class 1 in two clusters, class 2 in one; the classes are linearly separable (thesis 6.3.3, figure 6.4).
    "paired_clusters": [
        ("1", 50, (0.10, 0.80), 0.0, 0.06, 0.06),
        ("1", 50, (0.90, 0.80), 0.0, 0.06, 0.06),
        ("2", 60, (0.50, 0.30), 0.0, 0.12, 0.07),
    ],
    # Two overlapping normal clouds, one per class (thesis figures 6.3, 6.6 and 6.8).
    "overlapping_clusters": [("1", 100, (0.35, 0.5), 60.0, 0.2, 0.09), ("2", 100, (0.62, 0.5), 60.0, 0.2, 0.09)],
}


def _of_parts(parts: Sequence[Part], normal: bool, rng: np.random.Generator) -> Drawn:
    """Draw the points of one set of BANDS or, if `normal`, of CLOUDS."""
    points, labels = [], []
    for label, count, center, degrees, along, across in parts:
        unit = rng.standard_normal((count, 2)) if normal else rng.uniform(-0.5, 0.5, (count, 2))
        points.append(unit * [along, across] @ _rotation(degrees) + center)
        labels += [label] * count
    return np.vstack(points), np.array(labels)


for _sets, _normal in ((BANDS, False), (CLOUDS, True)):
    for _name, _parts in _sets.items():
        SYNTHETIC.register(_name)(partial(_of_parts, _parts, _normal))


@SYNTHETIC.register("extreme_values")
def extreme_values(rng: np.random.Generator) -> Drawn:
    """Two parallel classes, each an ellipse with two extreme values across it (thesis 5.3, figures 5.15 to 5.17).

    The text shows one such class, whose extreme values pull its dominant eigenvector towards the direction of least
    variance of the majority. The second class, its mirror image, makes this a classification problem."""
    turn = _rotation(45.0)
    parts, labels = [], []
    for label, side in (("1", 1.0), ("2", -1.0)):
        radius, angle = np.sqrt(rng.uniform(0.0, 1.0, 40)), rng.uniform(0.0, 2.0 * np.pi, 40)
        ellipse = np.column_stack([radius * np.cos(angle), 0.25 * radius * np.sin(angle) + 0.35 * side])
        far = np.array([[1.0, 2.6], [1.2, 3.0]]) * side
        parts.append(np.vstack([ellipse, far]) @ turn)
        labels += [label] * 42
    return np.vstack(parts), np.array(labels)


@SYNTHETIC.register("bent_class")
def bent_class(rng: np.random.Generator) -> Drawn:
    """Class 1 bent around class 2, not linearly separable, without overlap (thesis 6.7, figure 6.7)."""
    turn, radius = rng.uniform(0.0, np.pi, 120), rng.normal(1.0, 0.08, 120)
    bow = np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])
    inner = rng.normal((0.0, 0.2), (0.16, 0.13), (60, 2))
    return np.vstack([bow, inner]), np.repeat(["1", "2"], [120, 60])
