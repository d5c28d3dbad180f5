"""PATHFINDER on the artificial sets: clusters, boundary points, and the regions that a tree makes of them."""

from __future__ import annotations

import numpy as np

from oblique_cli import data
from oblique_cli.data.synthetic import SEED
from oblique_cli.drawing import partition
from oblique_cli.drawing.canvas import blank, color, tint
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.papers.pathfinder.classifier import PathfinderClassifier
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration

# Cells along an axis, Table 3.4.
GRIDS = {"patches_4": 20, "patches_6": 20, "sine_2d": 12, "circles_2d": 18}
STEPS = 100  # points along an axis at which the regions are looked up


@illustration(
    "pathfinder_regions",
    "PATHFINDER's regions, clusters and boundary points",
    "figure 3.8 of Amalaman (2015), without its trees; sets of Table 3.2",
    "it isolates clusters of high purity in a node in a single step; two leaves on 4Patches and 2DSin with no row "
    "rejected, 2.2 leaves on 6Patches and 2.4 on 2DCircles with 2.3 and 6.1 % rejected (cross-validated).",
    SEED,
)
def pathfinder_regions(setting: FigureSetting) -> Picture:
    """One panel a set: tints of the classes, white where a row is rejected, and the root's clusters of one class."""
    figure, axes = blank(2, 2, width=2.3, height=2.3)
    seen = []
    for panel, (name, size) in zip(axes, GRIDS.items(), strict=True):
        dataset = data.load(name, setting.data_dir, setting.offline)
        model = PathfinderClassifier(size).fit(dataset.X, dataset.y)
        box = surroundings(dataset.X)
        partition.frame(panel, box, dataset.name)
        (left, bottom), (right, top) = box.tolist()
        across, up = np.linspace(left, right, STEPS), np.linspace(bottom, top, STEPS)
        places = np.array(np.meshgrid(across, up)).reshape(2, -1).T
        codes, rejected = model.predict_with_reject(places)
        tints = np.array([tint(code, 0.3) for code in range(len(dataset.classes))])
        image = np.where(rejected[:, None], 1.0, tints[codes]).reshape(STEPS, STEPS, 3)
        panel.imshow(image, origin="lower", extent=(left, right, bottom, top), aspect="auto", interpolation="nearest")
        partition.points(panel, dataset.X[::3], dataset.y[::3], 2.0)  # a third of them, for a small file
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
