"""Chapter 6 of the thesis in the plane: top-down and bottom-up trees, clusters as leaves, and their failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli import data
from oblique_cli.data.synthetic import SEED, draw
from oblique_cli.drawing import partition
from oblique_cli.drawing.canvas import blank, color
from oblique_cli.drawing.polygons import divide
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.ground.arrays import Array
from oblique_cli.papers.reproduction.figures.examples import accuracy, full_tree, scatter, thesis_numbers
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration
from oblique_cli.tree.structure import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from oblique_cli.data.dataset import Dataset

ONE_CLUSTER: Mapping[str, Any] = {"max_components": 1}
BY_BIC: Mapping[str, Any] = {"n_init": 10}  # a mixture with a single start may miss the second cluster
FRESH = SEED + 1000  # seed of rows that no tree was grown on
HARD = 1e6  # penalty at which no row may enter the margin between linearly separable classes
SOFT = (1.0, 100.0)  # penalties where none does: a wide margin, and a narrow one


def bottom_up_tree(dataset: Dataset, **options: Any) -> Tree:
    """Return the tree of HHBUT on all rows; a cluster is a leaf."""
    tree: Tree = ALGORITHMS["hhbut"].make(random_state=SEED, **options).fit(dataset.X, dataset.y).tree_
    return tree


@illustration
def top_down_sequence(setting: FigureSetting) -> Picture:
    """Draw the tree, and the partition after each of its splits."""
    dataset = data.load("alternating_clusters", setting.data_dir, setting.offline)
    tree = full_tree("hhcart_a", dataset)
    numbers = thesis_numbers(tree)
    inner = sorted((node for node in range(tree.n_nodes) if not tree.is_leaf[node]), key=lambda node: numbers[node])
    figure, axes = blank(1, len(inner) + 1)
    _diagram(axes[0], tree, numbers)
    for shown, panel in enumerate(axes[1:], start=1):
        box = scatter(panel, dataset, f"split {shown}, of node {numbers[inner[shown - 1]]}")
        for node in inner[:shown]:
            partition.cuts(panel, tree, box, [node], width=2.0 if node == inner[shown - 1] else 0.8)
        _number_regions(panel, tree, box, numbers, inner[:shown])
    clusters = cluster_of_leaf(tree, dataset)
    return Picture(
        figure,
        f"HHCART(A) splits nodes {', '.join(str(numbers[node]) for node in inner)} and has {tree.n_leaves} leaves with "
        f"{accuracy(tree, dataset):.0f} % of the rows right; {len(set(clusters.values()))} of the 4 clusters that were "
        f"drawn lie whole in a leaf of their own.",
    )


def cluster_of_leaf(tree: Tree, dataset: Dataset) -> dict[int, int]:
    """Return, by leaf, the number of the drawn cluster of `alternating_clusters` with its rows; 45 rows each."""
    leaves = tree.apply(dataset.X)
    drawn = np.arange(dataset.n) // 45
    clusters_in = {int(leaf): np.unique(drawn[leaves == leaf]) for leaf in np.unique(leaves)}
    return {
        leaf: int(clusters[0])
        for leaf, clusters in clusters_in.items()
        if len(clusters) == 1 and (leaves[drawn == clusters[0]] == leaf).all()
    }


def _diagram(axes: Axes, tree: Tree, numbers: Mapping[int, int]) -> None:
    """Draw the tree with the numbers of its nodes, leaves as squares in the color of their class."""
    axes.set_title("the tree")
    axes.axis("off")
    places = {}
    for node, number in numbers.items():
        depth = number.bit_length() - 1
        places[node] = ((number - 2**depth + 0.5) / 2**depth, -float(depth))
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(-float(tree.depth) - 0.4, 0.4)
    for node in numbers:
        if not tree.is_leaf[node]:
            for child in (int(tree.left[node]), int(tree.right[node])):
                axes.plot(*np.array([places[node], places[child]]).T, color="0.4", linewidth=0.8, zorder=1)
    for node, number in numbers.items():
        leaf = bool(tree.is_leaf[node])
        shade = color(int(tree.labels[node])) if leaf else "0.4"
        shape = {"boxstyle": "square" if leaf else "circle", "facecolor": "white", "edgecolor": shade}
        axes.text(*places[node], str(number), ha="center", va="center", bbox=shape, zorder=2)


def _number_regions(axes: Axes, tree: Tree, box: Array, numbers: Mapping[int, int], split: list[int]) -> None:
    """Write the number of each node into its region, for the nodes that `split` leaves undivided."""
    leaves = divide(tree, box).leaves
    of_split = {numbers[node] for node in split}
    for number in numbers.values():
        if number // 2 in of_split and number not in of_split:
            corners = np.vstack([polygon for leaf, polygon in leaves.items() if _is_below(numbers[leaf], number)])
            x, y = corners.mean(axis=0).tolist()
            axes.text(x, y, str(number), ha="center", va="center", fontsize=10)


def _is_below(number: int, ancestor: int) -> bool:
    """Return whether a node is or descends from another node, by the numbers of the thesis."""
    while number > ancestor:
        number //= 2
    return number == ancestor


@illustration
def bottom_up_leaves(setting: FigureSetting) -> Picture:
    """Draw HHBUT beside an unpruned top-down tree on two clouds; HHBUT with BIC's clusters, and with one."""
    clouds = data.load("overlapping_clusters", setting.data_dir, setting.offline)
    fresh = draw("overlapping_clusters", FRESH)
    paired = data.load("paired_clusters", setting.data_dir, setting.offline)
    panels = (
        ("HHBUT", clouds, bottom_up_tree(clouds, **ONE_CLUSTER)),
        ("HHCART(A), unpruned", clouds, full_tree("hhcart_a", clouds)),
        ("HHBUT, clusters by BIC", paired, bottom_up_tree(paired, **BY_BIC)),
        ("HHBUT, one cluster a class", paired, bottom_up_tree(paired, **ONE_CLUSTER)),
    )
    figure, axes = blank(2, 2, width=3.6)
    seen = []
    for panel, (title, dataset, tree) in zip(axes, panels, strict=True):
        scatter(panel, dataset, f"{title}: {tree.n_leaves} leaves", tree)
        also = f", {accuracy(tree, fresh):.1f} % of as many fresh ones" if dataset is clouds else ""
        seen.append(f"{title}: {tree.n_leaves} leaves, {accuracy(tree, dataset):.1f} % of the rows right{also}")
    return Picture(figure, "; ".join(seen) + ".")


@illustration
def svm_margin(setting: FigureSetting) -> Picture:
    """Draw two bands with the hard margin; two clouds with a small and a large penalty."""
    bands = data.load("two_bands", setting.data_dir, setting.offline)
    clouds = data.load("overlapping_clusters", setting.data_dir, setting.offline)
    figure, axes = blank(1, 3)
    seen = []
    for panel, dataset, cost in ((axes[0], bands, HARD), (axes[1], clouds, SOFT[0]), (axes[2], clouds, SOFT[1])):
        svm = margin(dataset, cost)
        title = "separable" if cost == HARD else f"not separable, cost {cost:g}"
        box = scatter(panel, dataset, title)
        for shift, style in ((-svm.half, "--"), (0.0, "-"), (svm.half, "--")):
            moved = svm.plane + np.array([0.0, 0.0, shift])
            partition.line(panel, moved, box, color="black", linewidth=0.9, linestyle=style)
        inside = dataset.X[svm.inside]
        panel.plot(*inside.T, linestyle="none", marker="o", markersize=6, markerfacecolor="none", color="0.3",
                   markeredgewidth=0.6)  # fmt: skip
        seen.append(
            f"{title}: margin {2 * svm.half:.3f} wide, {len(inside)} rows on it or inside it, {svm.wrong} on the "
            "wrong side"
        )
    return Picture(figure, "; ".join(seen) + ".")


@dataclass(frozen=True, eq=False)
class Margin:
    """Margin of a linear SVM between two classes.

    plane    (w1, w2, b), w of length 1
    half     distance of either edge of the margin from the plane: 1 / ||beta|| (thesis eq. 6.4.1)
    inside   row numbers on the margin's edge, inside it or beyond the plane: the support vectors
    wrong    number of rows on the other class' side of the plane
    """

    plane: Array
    half: float
    inside: NDArray[np.intp]
    wrong: int


def margin(dataset: Dataset, cost: float) -> Margin:
    """Fit the linear SVM of thesis eq. 6.4.4 with penalty C = cost; return its margin in the units of the features."""
    from sklearn.svm import SVC

    machine = SVC(C=cost, kernel="linear", tol=1e-6).fit(dataset.X, dataset.y)
    beta = machine.coef_[0]
    length = float(np.linalg.norm(beta))
    plane = np.append(beta, machine.intercept_) / length
    wrong = int((machine.predict(dataset.X) != dataset.y).sum())
    return Margin(plane, 1.0 / length, np.sort(machine.support_).astype(np.intp), wrong)


@illustration
def bottom_up_failures(setting: FigureSetting) -> Picture:
    """Draw a class bent around the other, and two overlapping clouds: one-cluster trees, HHCART(A), the hybrid."""
    figure, axes = blank(2, 3)
    seen = []
    for row, (name, what) in enumerate((("bent_class", "not separable"), ("overlapping_clusters", "overlapping"))):
        dataset, fresh = data.load(name, setting.data_dir, setting.offline), draw(name, FRESH)
        trees = failures(dataset)
        texts = []
        for panel, (title, tree) in zip(axes[3 * row : 3 * row + 3], trees.items(), strict=True):
            scatter(panel, dataset, f"{title}: {tree.n_leaves} leaves", tree)
            texts.append(
                f"{title} has {tree.n_leaves} leaves, {accuracy(tree, dataset):.1f} % of the rows right and "
                f"{accuracy(tree, fresh):.1f} % of fresh ones"
            )
        seen.append(f"{what}: {'; '.join(texts)}")
    return Picture(figure, ". ".join(f"{text[0].upper()}{text[1:]}" for text in seen) + ".")


def failures(dataset: Dataset) -> dict[str, Tree]:
    """Return the trees that section 6.7 compares, with one cluster per class, and the hybrid of section 7.2."""
    return {
        "HHBUT": bottom_up_tree(dataset, **ONE_CLUSTER),
        "HHCART(A), unpruned": full_tree("hhcart_a", dataset),
        "hybrid": bottom_up_tree(dataset, hybrid=True, **ONE_CLUSTER),
    }
