"""PATHFINDER: seconds a tree on image segmentation, and the search of a node beside the same in NumPy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import oblique_cli._core as _core
from benchmarks.measuring import Ratio, Report, alternate, main
from oblique_cli import data
from oblique_cli.estimators.algorithms import make
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.papers.pathfinder.grid_clusters import CellGrid, best_clusters, clusters_of

GRID = 16  # Table 3.4


def numpy_inside(found: Any, U: Any) -> Any:
    """The inside test for all rows at once by NumPy, as far as every rectangle has two points not in line with it."""
    P, S = found.points, U[:, [found.x, found.y]]
    distances = ((S[:, None, :] - P[None]) ** 2).sum(axis=2)
    near = distances.argmin(axis=1)
    own = found.owner[near][:, None] == found.owner[None]
    apart = ((P[near][:, None, :] - P[None]) ** 2).sum(axis=2) > 1e-24
    second = np.where(own & apart, distances, np.inf).argmin(axis=1)
    p, along, center = P[near], P[second] - P[near], found.centers[found.owner[near]]

    def side(q: Any) -> Any:
        return along[:, 0] * (q - p)[:, 1] - along[:, 1] * (q - p)[:, 0]

    return side(S) * side(center) >= 0


def run(report: Report, repeat: int) -> None:
    """Image segmentation, 2310 x 19 with 7 classes, thresholds at 100 %."""
    dataset = data.load(DatasetSpec("image_segmentation"))
    step = 8 if report.quick else 1
    X, y = np.ascontiguousarray(dataset.X[::step]), np.ascontiguousarray(dataset.y[::step], dtype=np.int32)
    times, found = alternate({"tree": lambda: make("pathfinder", grid_size=GRID).fit(X, y)}, repeat)
    tree = found["tree"]
    report.table(
        f"PATHFINDER on image segmentation, {len(X):,} rows: median CPU seconds",
        [
            {
                "fit, s": times["tree"].median,
                "leaves": tree.n_leaves_,
                "depth": tree.depth_,
                "training accuracy, %": 100 * tree.score(X, y),
                "rejected, %": 100 * float(tree.reject_.mean()),
            }
        ],
    )
    report.claim("PATHFINDER, one tree on image segmentation", "< 60", times["tree"], unit="s")
    _inside(report, repeat, X, y)


def _inside(report: Report, repeat: int, X: Any, y: Any) -> None:
    """The test of all rows against the clusters of the root split."""
    spread = np.ptp(X, axis=0)
    U = np.ascontiguousarray((X - X.min(axis=0)) / np.where(spread > 0, spread, 1.0))
    grid = CellGrid(GRID, 1.0, 1.0)
    split = best_clusters(U, y, 7, grid)
    assert split is not None
    # Of the planes of the first features, the clusters with the most boundary points: what costs most.
    planes = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    many = max((clusters_of(U, y, 7, plane, (0, 4), grid) for plane in planes), key=lambda c: len(c.points))
    rows = np.ascontiguousarray(U[:, [many.x, many.y]])
    arguments = (many.points, many.owner, many.centers, many.cluster, rows)
    contestants = {"core": lambda: _core.inside_regions(*arguments), "NumPy": lambda: numpy_inside(many, U)}
    times, found = alternate(contestants, max(3, repeat))
    same = float((np.asarray(found["core"]).astype(bool) == found["NumPy"]).mean())
    report.table(
        "Which rows lie inside",
        [{"rows": len(U), "boundary points": len(many.points), "answers that agree, %": 100 * same}],
    )
    report.claim("NumPy / core, which rows lie inside", None, Ratio.of(times["NumPy"], times["core"]))


if __name__ == "__main__":
    sys.exit(main({"pathfinder": run}, __doc__ or ""))
