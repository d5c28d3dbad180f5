"""The two-dimensional examples of the thesis and of the geometric tree paper, redrawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli import data
from oblique_cli.data.synthetic import SEED
from oblique_cli.drawing import partition
from oblique_cli.drawing.canvas import blank, color
from oblique_cli.drawing.diagram import drawn
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.drawing.view import view_of
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.ground import geometry
from oblique_cli.ground.arrays import Array
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration
from oblique_cli.tree.structure import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from oblique_cli.data.dataset import Dataset

# The hyperplanes of figures 3.6 to 3.10 by their nodes: w1, w2, b.
PRINTED = {
    1: (-0.7231, -0.6907, 0.3835),
    2: (-0.7757, 0.6371, -0.1227),
    3: (-0.6907, 0.7321, 0.0311),
    4: (-0.6584, -0.7527, 0.7108),
    9: (-0.7757, 0.6311, 0.0804),
}


def full_tree(name: str, dataset: Dataset) -> Tree:
    """Return the unpruned tree of an algorithm on all rows, grown completely, with its other defaults."""
    algorithm = ALGORITHMS[name]
    limits: dict[str, Any] = {"epsilon": 0.0} if "epsilon" in algorithm.parameters else {"pruning": "none"}
    tree: Tree = algorithm.make(random_state=SEED, **limits).fit(dataset.X, dataset.y).tree_
    return tree


def clustering_planes(X: Array, positive: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the clustering hyperplanes (w, b) of the marked rows and of the other rows (thesis 5.1.2)."""
    first, second = (geometry.augmented_moment(X[mask]) for mask in (positive, ~positive))
    return clustering_plane(first, second)[0], clustering_plane(second, first)[0]


def clustering_plane(near: Array, far: Array) -> tuple[Array, str]:
    """Return the plane near the rows of one moment matrix and far from those of another, and the case of the pair."""
    w, case = geometry.clustering_hyperplane(near, far)
    plane = None if w is None else geometry.normalize_plane(w)
    assert plane is not None  # two clouds of points in the plane
    return plane, case


def thesis_numbers(tree: Tree) -> dict[int, int]:
    """Return the number in the thesis of each node of our tree: the root is 1, the children of t are 2t and 2t + 1.
    Child 2t is where the hyperplane is at most 0, with a negative first coefficient as in all printed ones."""
    theirs = {0: 1}
    for node in range(tree.n_nodes):
        if not tree.is_leaf[node]:
            children = int(tree.left[node]), int(tree.right[node])
            first, second = children if tree.coef_[node, 0] < 0 else children[::-1]
            theirs[first], theirs[second] = 2 * theirs[node], 2 * theirs[node] + 1
    return theirs


def angle(first: Sequence[float] | Array, second: Sequence[float] | Array) -> float:
    """Return the angle between two lines given by their normals, in degrees, 0 to 90."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    cosine = abs(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.degrees(np.arccos(min(1.0, cosine))))


def accuracy(tree: Tree, dataset: Dataset) -> float:
    """Return the accuracy of the tree on the training rows, in percent."""
    return 100.0 * float((tree.labels[tree.apply(dataset.X)] == dataset.y).mean())


def scatter(axes: Axes, dataset: Dataset, title: str, tree: Tree | None = None) -> Array:
    """Draw the rows on new axes, optionally with a tree's partition; return the rectangle."""
    box = surroundings(dataset.X)
    partition.frame(axes, box, title)
    if tree is not None:
        partition.regions(axes, tree, box)
        partition.cuts(axes, tree, box)
    partition.points(axes, dataset.X, dataset.y, size=5.0 if dataset.n < 500 else 1.5)
    return box


# ---- Wickramarachchi (2015), chapter 3 -------------------------------------------------------------------------------


@illustration
def householder(setting: FigureSetting) -> Picture:
    """Draw two bands, their reflection, and the single split in the original space."""
    dataset = data.load("two_bands", setting.data_dir, setting.offline)
    figure, axes = blank(1, 3)
    box = scatter(axes[0], dataset, "dominant eigenvectors")
    directions = []
    for code in (0, 1):
        rows = dataset.X[dataset.y == code]
        covariance = geometry.class_covariance(rows)
        assert covariance is not None
        directions.append(geometry.principal_axes(covariance)[0])
        partition.arrow(axes[0], rows.mean(axis=0), -directions[code], 0.3, color="black")
    reflected = dataset.X @ geometry.householder(directions[0])
    partition.frame(axes[1], surroundings(reflected), "reflected space")
    partition.points(axes[1], reflected, dataset.y, size=5.0)
    below, above = sorted((reflected[dataset.y == code, 1] for code in (0, 1)), key=np.mean)
    axes[1].axhline((below.max() + above.min()) / 2, color="black")
    tree, plain = full_tree("hhcart_d", dataset), full_tree("axis_parallel", dataset)
    scatter(axes[2], dataset, "split in the original space", tree)
    partition.cuts(axes[2], plain, box, color="0.6", width=0.6)
    off = angle(tree.coef_[0], (-directions[0][1], directions[0][0]))
    return Picture(
        figure,
        f"HHCART(D) has {tree.n_leaves} leaves and {accuracy(tree, dataset):.0f} % of the rows right, its split "
        f"{off:.1f} degrees from the eigenvector of class 1; in the reflected space the classes are apart by "
        f"{above.min() - below.max():.3f} along the second axis. An axis-parallel tree (gray) has {plain.n_leaves} "
        "leaves.",
    )


@illustration
def hhcart_growth(setting: FigureSetting) -> Picture:
    """Draw the five splits in the order of the thesis, ours in black and the printed ones dashed."""
    dataset = data.load("five_regions", setting.data_dir, setting.offline)
    tree = full_tree("hhcart_a", dataset)
    nodes = {number: node for node, number in thesis_numbers(tree).items() if not tree.is_leaf[node]}
    figure, axes = blank(2, 3)
    box = scatter(axes[0], dataset, "the five classes")
    shown: list[int] = []
    for panel, number in zip(axes[1:], sorted(nodes), strict=False):
        scatter(panel, dataset, f"node {number}")
        partition.cuts(panel, tree, box, shown, width=0.8)
        partition.cuts(panel, tree, box, [nodes[number]], width=2.0)
        shown.append(nodes[number])
        if number in PRINTED:
            partition.line(panel, np.array(PRINTED[number]), box, color="0.4", linewidth=0.8, linestyle="--")
    same = sorted(nodes) == sorted(PRINTED)
    off = ", ".join(f"{angle(tree.coef_[nodes[k]], PRINTED[k][:2]):.1f}" for k in sorted(PRINTED) if k in nodes)
    return Picture(
        figure,
        f"HHCART(A) splits nodes {', '.join(map(str, sorted(nodes)))} ({'the same' if same else 'not the same'}), has "
        f"{tree.n_leaves} leaves and {accuracy(tree, dataset):.0f} % of the rows right; its hyperplanes are {off} "
        "degrees from the printed ones (dashed). The data were laid out on the printed regions, so this shows that "
        "HHCART(A) finds them, not that the thesis' own points are these.",
    )


@illustration
def partitions(setting: FigureSetting) -> Picture:
    """Draw one panel per algorithm."""
    dataset = data.load("five_regions", setting.data_dir, setting.offline)
    names = ("axis_parallel", "hhcart_a", "hhcrv", "gdt", "hhgdt", "oc1")
    figure, axes = blank(2, 3)
    seen = []
    for panel, name in zip(axes, names, strict=True):
        tree = full_tree(name, dataset)
        title = f"{ALGORITHMS[name].title}: {tree.n_leaves} leaves"
        scatter(panel, dataset, title, tree)
        seen.append(f"{title}, {accuracy(tree, dataset):.1f} % of the rows right")
    return Picture(figure, "; ".join(seen) + ".")


# ---- Wickramarachchi (2015), section 5.1 -----------------------------------------------------------------------------


@illustration
def range_space(setting: FigureSetting) -> Picture:
    """Draw the nine points of Table 5.1."""
    X = np.repeat(np.arange(1.0, 10.0), 2).reshape(-1, 2)
    y = (np.arange(9) > 4).astype(np.int32)
    A, B = (geometry.augmented_moment(X[y == code]) for code in (0, 1))
    figure, axes = blank(1, 1)
    box = surroundings(X)
    partition.frame(axes[0], box, "clustering hyperplanes")
    partition.points(axes[0], X, y, size=20.0)
    seen = []
    for code, (mine, other) in enumerate(((A, B), (B, A))):
        plane, case = clustering_plane(mine, other)
        partition.line(axes[0], plane, box, color=color(code), linestyle="--" if code == 0 else "-")
        middle = X[y == code].mean(axis=0)
        seen.append(
            f"class {code + 1}: case {case}, normal ({plane[0]:.4f}, {plane[1]:.4f}), "
            f"{abs(plane[:2] @ middle + plane[2]):.2f} from its own mean"
        )
    return Picture(figure, "; ".join(seen) + ".")


@illustration
def two_class(setting: FigureSetting) -> Picture:
    """Draw the scatter plot, the clustering hyperplanes, and both partitions."""
    dataset = data.load("three_clouds", setting.data_dir, setting.offline)
    gdt, hhgdt = full_tree("gdt", dataset), full_tree("hhgdt", dataset)
    figure, axes = blank(2, 2)
    scatter(axes[0], dataset, "two classes")
    box = scatter(axes[1], dataset, "clustering hyperplanes")
    # Class 2 is the larger one, so it is GDT's positive class.
    second, first = clustering_planes(dataset.X, dataset.y == 1)
    partition.line(axes[1], second, box, color=color(1))
    partition.line(axes[1], first, box, color=color(0), linestyle="--")
    for panel, name, tree in ((axes[2], "GDT", gdt), (axes[3], "HHGDT", hhgdt)):
        scatter(panel, dataset, f"{name}: {tree.n_leaves} leaves", tree)
    crossed = clouds_crossed(dataset, second)
    return Picture(
        figure,
        f"class 2's hyperplane (solid) crosses {crossed} of the 3 clouds; GDT has {gdt.n_leaves} leaves "
        f"({accuracy(gdt, dataset):.0f} % of the rows right), HHGDT {hhgdt.n_leaves} "
        f"({accuracy(hhgdt, dataset):.0f} %).",
    )


def clouds_crossed(dataset: Dataset, plane: Array) -> int:
    """Return the number of clouds of `three_clouds` with points on both sides of a plane (w, b)."""
    middle = float(np.median(dataset.X[dataset.y == 0, 0]))
    side = dataset.X @ plane[:2] + plane[2] > 0
    second = dataset.y == 1
    clouds = (dataset.y == 0, second & (dataset.X[:, 0] < middle), second & (dataset.X[:, 0] > middle))
    return sum(bool(side[cloud].any() and not side[cloud].all()) for cloud in clouds)


@illustration
def five_class(setting: FigureSetting) -> Picture:
    """Draw the scatter plot, the bisector, the reflected space, HHGDT's best split, and both partitions."""
    dataset = data.load("five_clouds", setting.data_dir, setting.offline)
    gdt, hhgdt = full_tree("gdt", dataset), full_tree("hhgdt", dataset)
    figure, axes = blank(2, 3)
    scatter(axes[0], dataset, "five classes")
    box = scatter(axes[1], dataset, "GDT's bisector at the root")
    for plane in clustering_planes(dataset.X, dataset.y == 0):
        partition.line(axes[1], plane, box, color="0.5", linewidth=0.8, linestyle="--")
    partition.cuts(axes[1], gdt, box, [0], width=2.0)
    reflected = dataset.X @ geometry.householder(gdt.coef_[0])
    partition.frame(axes[2], surroundings(reflected), "reflected space")
    partition.points(axes[2], reflected, dataset.y, size=5.0)
    scatter(axes[3], dataset, "HHGDT's best split at the root")
    partition.cuts(axes[3], hhgdt, box, [0], width=2.0)
    for panel, name, tree in ((axes[4], "GDT", gdt), (axes[5], "HHGDT", hhgdt)):
        scatter(panel, dataset, f"{name}: {tree.n_leaves} leaves", tree)
    kind = "parallel" if angle(gdt.coef_[0], hhgdt.coef_[0]) < 45.0 else "perpendicular"
    return Picture(
        figure,
        f"the first split of HHGDT is {kind} to GDT's; unpruned, GDT has {gdt.n_leaves} leaves "
        f"({accuracy(gdt, dataset):.0f} % of the rows right) and HHGDT {hhgdt.n_leaves} "
        f"({accuracy(hhgdt, dataset):.0f} %).",
    )


# ---- Wickramarachchi (2015), section 5.3 -----------------------------------------------------------------------------


@illustration
def representative_vector(setting: FigureSetting) -> Picture:
    """Draw the class with its ellipse, both vectors, and the trees that use them."""
    dataset = data.load("extreme_values", setting.data_dir, setting.offline)
    rows = dataset.X[dataset.y == 0]
    major, dominant, representative, usual = class_directions(rows)
    figure, axes = blank(2, 2)
    box = surroundings(rows)
    middle = rows.mean(axis=0)
    panels = (
        (axes[0], "ellipse of the majority", None),
        (axes[1], "dominant eigenvector", dominant),
        (axes[2], "class representative vector", representative),
    )
    center, spread = rows[usual].mean(axis=0), np.linalg.cholesky(4.0 * np.cov(rows[usual].T))
    turn = np.linspace(0.0, 2.0 * np.pi, 60)
    ellipse = center + np.column_stack([np.cos(turn), np.sin(turn)]) @ spread.T
    for panel, title, vector in panels:
        partition.frame(panel, box, title)
        partition.points(panel, rows, np.zeros(len(rows), dtype=int))
        if vector is None:
            panel.plot(*ellipse.T, color="0.4", linewidth=0.8)
        else:
            partition.line(panel, np.array([-vector[1], vector[0], vector[1] * middle[0] - vector[0] * middle[1]]), box,
                           color="black")  # fmt: skip
    trees = {name: full_tree(name, dataset) for name in ("hhcart_d", "hhcrv")}
    scatter(axes[3], dataset, "HHCRV; HHCART(D) in gray", trees["hhcrv"])
    partition.cuts(axes[3], trees["hhcart_d"], surroundings(dataset.X), color="0.5", width=0.8)
    return Picture(
        figure,
        f"the dominant eigenvector is {angle(major, dominant):.0f} degrees off the majority's main direction, the "
        f"representative vector {angle(major, representative):.0f}. On two such classes HHCART(D) needs "
        f"{trees['hhcart_d'].n_leaves} leaves, HHCRV {trees['hhcrv'].n_leaves}.",
    )


def class_directions(rows: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Return main direction of the majority, dominant eigenvector, representative vector, and the mask of usual rows.
    Usual rows are all but the two farthest from the median."""
    distance = np.linalg.norm(rows - np.median(rows, axis=0), axis=1)
    usual = distance < np.sort(distance)[-2]
    matrices = geometry.class_covariance(rows[usual]), geometry.class_covariance(rows), geometry.unit_scatter(rows)
    major, dominant, representative = (geometry.principal_axes(each)[0] for each in matrices if each is not None)
    return major, dominant, representative, usual


# ---- Manwani and Sastry (2012) ---------------------------------------------------------------------------------------


@illustration
def checkerboard(setting: FigureSetting) -> Picture:
    """Draw the hyperplanes of the root and its left child, for GDT and OC1."""
    dataset = data.load("checkerboard_4x4", setting.data_dir, setting.offline)
    figure, axes = blank(1, 2, width=3.4, height=3.4)
    seen = []
    for panel, name in zip(axes, ("gdt", "oc1"), strict=True):
        tree = full_tree(name, dataset)
        box = scatter(panel, dataset, f"{ALGORITHMS[name].title}: root (thick) and left child")
        partition.cuts(panel, tree, box, [0], width=2.4)
        partition.cuts(panel, tree, box, [int(tree.left[0])], width=1.4)
        root, child = (off_the_board(tree, node) for node in (0, int(tree.left[0])))
        seen.append(
            f"{ALGORITHMS[name].title}: root {root[0]:.1f} degrees and {root[1]:.2f} squares off the nearest of the "
            f"board's lines, left child {child[0]:.1f} and {child[1]:.2f}"
        )
    return Picture(figure, "; ".join(seen) + ".")


def off_the_board(tree: Tree, node: int) -> tuple[float, float]:
    """Return the deviation of a hyperplane from the lines of the 4 x 4 checkerboard: in degrees, and in squares.
    The distance is measured at mid-board, from the nearest line of the direction closer to the hyperplane's."""
    turn = np.radians(30.0)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    angles = [angle(tree.coef_[node], axis) for axis in axes]
    nearest = axes[int(np.argmin(angles))]
    middle = 2.0 * axes.sum(axis=0)
    foot = middle - (tree.coef_[node] @ middle + tree.intercept_[node]) * tree.coef_[node]
    place = float(foot @ nearest)
    return min(angles), float(min(abs(place - line) for line in (1.0, 2.0, 3.0)))


# ---- trees -----------------------------------------------------------------------------------------------------------


@illustration
def tree(setting: FigureSetting) -> Picture:
    """Draw the tree as a diagram."""
    dataset = data.load("five_regions", setting.data_dir, setting.offline)
    tree = full_tree("hhcart_a", dataset)
    figure = drawn(view_of(tree, dataset.feature_names, dataset.classes))
    depths = ", ".join(str(depth) for depth in sorted(tree.depths[tree.is_leaf].tolist()))
    return Picture(figure, f"leaves at depths {depths}.")
