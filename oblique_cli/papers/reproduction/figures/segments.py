"""PATHFINDER: clusters, boundary points and regions on the artificial sets, its trees, and their sizes on all sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from oblique_cli import data
from oblique_cli.data.synthetic import SEED
from oblique_cli.drawing import partition
from oblique_cli.drawing.canvas import blank, color, tint
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.estimators.algorithms import make
from oblique_cli.papers.pathfinder.classifier import PathfinderClassifier
from oblique_cli.papers.pathfinder.regions import RegionTree
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration
from oblique_cli.papers.reproduction.studies.pathfinder import grid_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ARTIFICIAL = ("patches_4", "patches_6", "sine_2d", "circles_2d")
STEPS = 100  # points along an axis at which the regions are evaluated


@illustration
def pathfinder_regions(setting: FigureSetting) -> Picture:
    """Draw a panel per set: tints of the classes, white where a row is rejected, the root's clusters of one class."""
    figure, axes = blank(2, 2, width=2.3, height=2.3)
    seen = []
    for panel, name in zip(axes, ARTIFICIAL, strict=True):
        dataset = data.load(name, setting.data_dir, setting.offline)
        model = PathfinderClassifier(grid_sizes()[name]).fit(dataset.X, dataset.y)
        box = surroundings(dataset.X)
        partition.frame(panel, box, dataset.name)
        (left, bottom), (right, top) = box.tolist()
        across, up = np.linspace(left, right, STEPS), np.linspace(bottom, top, STEPS)
        places = np.array(np.meshgrid(across, up)).reshape(2, -1).T
        codes, rejected = model.predict_with_reject(places)
        tints = np.array([tint(code, 0.3) for code in range(len(dataset.classes))])
        image = np.where(rejected[:, None], 1.0, tints[codes]).reshape(STEPS, STEPS, 3)
        panel.imshow(image, origin="lower", extent=(left, right, bottom, top), aspect="auto", interpolation="nearest")
        partition.points(panel, dataset.X[::3], dataset.y[::3], 2.0)  # a third of the rows, for a small file
        root = model.tree_.nodes[0].split
        if root is not None:
            low, width = dataset.X.min(axis=0), np.ptp(dataset.X, axis=0)
            for corners in root.corners:
                x, y = (corners[[0, 2]] * width[0] + low[0]), (corners[[1, 3]] * width[1] + low[1])
                panel.plot(x[[0, 1, 1, 0, 0]], y[[0, 0, 1, 1, 0]], color=color(root.pivot), linewidth=0.8)
            panel.plot(*(root.points * width + low).T, linestyle="none", marker="x", markersize=3.0, color="black")
        seen.append(
            f"{dataset.name}: {model.n_leaves_} leaves, {0 if root is None else root.n_clusters} clusters at the root, "
            f"{100 * model.score(dataset.X, dataset.y):.1f} % of its rows right, "
            f"{100 * model.reject_.mean():.1f} % rejected"
        )
    return Picture(figure, "; ".join(seen) + ".")


@illustration
def pathfinder_trees(setting: FigureSetting) -> Picture:
    """Draw nodes as circles with their clusters' number, leaves as squares with their rows; a dash rejects all."""
    figure, axes = blank(1, len(ARTIFICIAL), width=2.0, height=2.0)
    seen = []
    for panel, name in zip(axes, ARTIFICIAL, strict=True):
        dataset = data.load(name, setting.data_dir, setting.offline)
        tree = PathfinderClassifier(grid_sizes()[name]).fit(dataset.X, dataset.y).tree_
        panel.set_title(name)
        _diagram(panel, tree)
        clusters = sum(node.split.n_clusters for node in tree.nodes if node.split is not None)
        seen.append(f"{name}: {tree.n_leaves} leaves by {clusters} clusters")
    return Picture(figure, "; ".join(seen) + ".")


def _diagram(axes: Axes, tree: RegionTree) -> None:
    places: dict[int, tuple[float, float]] = {}
    leaves = 0.0

    def place(index: int, depth: int) -> None:
        nonlocal leaves
        node = tree.nodes[index]
        if node.left < 0:
            places[index] = (leaves, -float(depth))
            leaves += 1.0
            return
        place(node.left, depth + 1)
        place(node.right, depth + 1)
        places[index] = ((places[node.left][0] + places[node.right][0]) / 2, -float(depth))

    place(0, 0)
    axes.axis("off")
    axes.set_xlim(-0.7, leaves - 0.3)
    axes.set_ylim(min(y for _, y in places.values()) - 0.4, 0.4)
    for index, node in enumerate(tree.nodes):
        for child in (node.left, node.right):
            if child >= 0:
                axes.plot(*np.array([places[index], places[child]]).T, color="0.4", linewidth=0.8, zorder=1)
    for index, node in enumerate(tree.nodes):
        inner = node.split is not None
        text = str(node.split.n_clusters) if node.split is not None else f"{node.counts.sum()}"
        shape = {"boxstyle": "circle" if inner else "square", "facecolor": "white"}
        shape["edgecolor"] = "0.4" if inner else color(node.label)
        axes.text(*places[index], "-" if node.rejects else text, ha="center", va="center", bbox=shape, fontsize=6)


@illustration
def pathfinder_sizes(setting: FigureSetting) -> Picture:
    """Draw one tree of all rows per set, with the grids of Table 3.4; pruning by cross-validation."""
    figure, (axes,) = blank(1, 1, width=6.0, height=2.4)
    sizes = []
    for name, size in grid_sizes().items():
        dataset = data.load(name, setting.data_dir, setting.offline)
        plain = make("axis_parallel", pruning="cv", random_state=SEED).fit(dataset.X, dataset.y)
        sizes.append((name, PathfinderClassifier(size).fit(dataset.X, dataset.y).n_leaves_, plain.n_leaves_))
    at = np.arange(len(sizes))
    for code, label in enumerate(("PATHFINDER", "axis-parallel, pruned")):
        axes.bar(at + 0.4 * code, [each[1 + code] for each in sizes], width=0.4, color=color(code), label=label)
    axes.set_xticks(at + 0.2, [each[0] for each in sizes], rotation=30, ha="right", fontsize=6)
    axes.set_ylabel("leaves")
    axes.legend(frameon=False)
    fewer = sum(ours < plain for _, ours, plain in sizes)
    listed = ", ".join(f"{name} {ours} and {plain}" for name, ours, plain in sizes)
    return Picture(figure, f"PATHFINDER has fewer leaves on {fewer} of {len(sizes)} sets: {listed}.")
