"""First splits that hardly change the impurity and lead to small trees: two examples of the papers."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from oblique_cli import data
from oblique_cli.data.dataset import Dataset
from oblique_cli.drawing import partition
from oblique_cli.drawing.canvas import blank, color
from oblique_cli.drawing.diagram import drawn
from oblique_cli.drawing.view import view_of
from oblique_cli.evaluation import published
from oblique_cli.ground import geometry
from oblique_cli.ground.arrays import Array
from oblique_cli.papers.reproduction.figures.examples import accuracy, clustering_planes, full_tree, scatter
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration
from oblique_cli.papers.reproduction.figures.merged_clusters import SOFT, margin
from oblique_cli.tree.structure import Tree, TreeBuilder

OTHER_SPLIT = 2.8  # of the second feature, in section 1.8.1


@illustration
def greedy(setting: FigureSetting) -> Picture:
    """Draw the falls of impurity along both features, and below each the partition and the tree that begin there."""
    dataset = table_1_2()
    figure, axes = blank(2, 3)
    seen = []
    for row, (title, tree) in enumerate(
        {"greedy": full_tree("axis_parallel", dataset), "best": other(dataset)}.items()
    ):
        left, middle, right = axes[3 * row : 3 * row + 3]
        cuts, falls = falls_of_impurity(dataset, row)
        at = int(np.argmax(falls) if row == 0 else np.argmin(np.abs(cuts - OTHER_SPLIT)))
        left.plot(cuts, falls, color=color(0), marker="o", ms=2)
        left.plot(cuts[at], falls[at], color=color(1), marker="o")
        left.set_xlabel(dataset.feature_names[row])
        left.set_ylabel("fall of the Gini impurity")
        scatter(middle, dataset, f"{title} tree: {tree.n_leaves} regions", tree)
        drawn(view_of(tree, dataset.feature_names, dataset.classes), right)
        seen.append(
            f"along {dataset.feature_names[row]} the impurity falls most at {cuts[falls.argmax()]:g}, by "
            f"{falls.max():.4f}; the tree that begins at {cuts[at]:g} ({falls[at]:.6f}) has {tree.n_leaves} leaves "
            f"and {accuracy(tree, dataset):.0f} % of the rows right"
        )
    return Picture(figure, ". ".join(f"{text[0].upper()}{text[1:]}" for text in seen) + ".")


def table_1_2() -> Dataset:
    """Return the 34 examples of Table 1.2."""
    with open(published.FOLDER / "hhcart_table_1_2_sample.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row["X1"]), float(row["X2"])] for row in rows])
    y = np.array([int(row["Y"]) - 1 for row in rows], dtype=np.int32)
    return Dataset("table_1_2", X, y, ("1", "2"), ("X1", "X2"))


def falls_of_impurity(dataset: Dataset, feature: int) -> tuple[Array, Array]:
    """Return the cuts midway between values of a feature, and the fall of the Gini impurity at each (eq. 1.8.1)."""
    values = dataset.X[:, feature]
    cuts = np.array([(a + b) / 2 for a, b in pairwise(np.unique(values))])
    return cuts, np.array([fall_of_impurity(dataset, values <= cut) for cut in cuts])


def fall_of_impurity(dataset: Dataset, first: NDArray[np.bool_]) -> float:
    """Return the fall of the Gini impurity by a split. first : mask of the rows on one side"""
    sides = (dataset.y, dataset.y[first], dataset.y[~first])
    whole, *parts = (len(y) - float((np.bincount(y) ** 2).sum()) / len(y) for y in sides)
    return (whole - sum(parts)) / dataset.n


def other(dataset: Dataset) -> Tree:
    """Return the tree whose first split is at X2 = 2.8, grown greedily below it."""
    first = dataset.X[:, 1] <= OTHER_SPLIT
    builder = TreeBuilder(dataset.p, len(dataset.classes))

    def copied(tree: Tree, node: int = 0) -> int:
        new = builder.add(tree.counts[node], int(tree.n_rows[node]))
        if not tree.is_leaf[node]:
            left, right = (copied(tree, int(child[node])) for child in (tree.left, tree.right))
            builder.split(new, tree.coef_[node], float(tree.thresholds[node]), float(tree.gains[node]), left, right)
        return new

    sides = [full_tree("axis_parallel", replace(dataset, X=dataset.X[m], y=dataset.y[m])) for m in (first, ~first)]
    root = builder.add(np.bincount(dataset.y).astype(float), dataset.n)
    left, right = map(copied, sides)
    builder.split(root, np.array([0.0, 1.0]), OTHER_SPLIT, fall_of_impurity(dataset, first), left, right)
    return builder.finish(root)


@illustration
def bisectors(setting: FigureSetting) -> Picture:
    """Draw OC1's first split, and the clustering hyperplanes, dashed, with their bisectors."""
    dataset = data.load("patches_4", setting.data_dir, setting.offline)
    planes = clustering_planes(dataset.X, dataset.y == 0)
    candidates = {"OC1's split": root_plane(full_tree("oc1", dataset))}
    candidates |= {f"bisector {k}": each for k, each in enumerate(geometry.angle_bisectors(*planes), 1)}
    figure, axes = blank(1, 2)
    for panel, title in zip(axes, ("OC1", "angle bisectors"), strict=True):
        box = scatter(panel, dataset, title)
    for code, plane in enumerate(planes):
        partition.line(axes[1], plane, box, color=color(code), linestyle="--")
    seen = []
    for place, (title, plane) in enumerate(candidates.items()):
        partition.line(axes[min(place, 1)], plane, box, color="black")
        first = dataset.X @ plane[:2] + plane[2] <= 0
        separable = sum(is_separable(dataset, side) for side in (first, ~first))
        seen.append(
            f"{title}: the impurity falls by {fall_of_impurity(dataset, first):.3f}, and the classes are linearly "
            f"separable on {separable} of its 2 sides"
        )
    sizes = ", ".join(f"{name} {full_tree(key, dataset).n_leaves}" for name, key in (("GDT", "gdt"), ("OC1", "oc1")))
    return Picture(figure, f"{'; '.join(seen)}. Leaves: {sizes}.")


def is_separable(dataset: Dataset, rows: NDArray[np.bool_]) -> bool:
    """Return whether the line of a support vector machine separates the classes of the marked rows."""
    y = dataset.y[rows]
    return len(np.unique(y)) == 1 or margin(replace(dataset, X=dataset.X[rows], y=y), SOFT[1]).wrong == 0


def root_plane(tree: Tree) -> Array:
    """Return the hyperplane (w1, w2, b) of the root."""
    return np.append(tree.coef_[0], tree.intercept_[0])
