"""The pictures of docs/algorithms/: what each algorithm makes of the same two small sets of two features.

`python -m tools.algorithm_pages` draws them. Left the five classes that the thesis explains HHCART with, right the
petals of iris; for regression, the fuel that a car takes by its weight.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from oblique_cli import data
from oblique_cli.data import files
from oblique_cli.drawing import partition
from oblique_cli.drawing.canvas import blank, rendered, tint
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.tree.structure import Tree
from tools.algorithm_pages import FOLDER, PAGES

SEED = 1
# Points along the longer side at which an algorithm without hyperplanes is asked for its class.
GRID = 160
LETTERS = 34  # in a line of a title
# Where the defaults would show little; top-down trees are pruned by cross-validation.
SETTINGS: dict[str, dict[str, Any]] = {
    "cart_regression": {"max_leaf_nodes": 6},
    "m5_style": {"min_node_percent": 10},
    "logistic_tree": {"squares": False},  # a square and one leaf are enough for these rows
    "tprti_a": {"subset_size": 20},
    "tprti_b": {"subset_size": 20},
    **{name: {"n_neighbors": 3} for name in PAGES["editing"]},
    "knn": {"n_neighbors": 5},
}
# Of a page of many algorithms, those in the picture.
SHOWN = {
    "mpsvm_forests": ("raf", "mpraf_t", "rof", "mprrof_t"),
    "bagged_forest": ("hhgdt_forest", "hhcart_forest", "heterogeneous_forest", "tao_forest"),
    "editing": ("knn", "wilson", "supervised_clustering_edit", "hc_edit_staxac"),
}


@dataclass(frozen=True, eq=False)
class Panel:
    """One fitted algorithm on one set, and what is said above it."""

    name: str
    X: np.ndarray
    y: np.ndarray
    features: tuple[str, ...]
    estimator: Any

    @property
    def title(self) -> str:
        """The algorithm, and its size or how much it has right."""
        fitted, called = self.estimator, ALGORITHMS[self.name].title
        if self.name == "knn":
            return f"{called}: k = {fitted.n_neighbors}"
        if hasattr(fitted, "kept_"):
            return f"{called}: {len(fitted.kept_)} of {len(self.X)} rows kept"
        if getattr(fitted, "tree_", None) is not None:
            return f"{called}: {fitted.get_n_leaves()} leaves"
        right = 100.0 * float((fitted.predict(self.X) == self.y).mean())
        return f"{called}: {right:.0f} % right"


def panels(page: str) -> list[list[Panel]]:
    """Return the fitted panels of a page's picture, row by row."""
    return [list(_panels(name)) for name in SHOWN.get(page, PAGES[page])]


def _panels(name: str) -> Iterator[Panel]:
    algorithm = ALGORITHMS[name]
    settings = {"pruning": "cv"} if "pruning_folds" in algorithm.parameters else SETTINGS.get(name, {})
    for X, y, features in _cars() if algorithm.family.task == "regression" else _classes():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of mixtures on few rows
            estimator = algorithm.make(random_state=SEED, **settings).fit(X, y)
        yield Panel(name, X, y, features, estimator)


def _classes() -> Iterator[tuple[np.ndarray, np.ndarray, tuple[str, ...]]]:
    regions, iris = data.load("five_regions", None, True), data.load("iris", None, True)
    yield regions.X, regions.y, ("$x_1$", "$x_2$")
    yield iris.X[:, 2:], iris.y, ("petal length, cm", "petal width, cm")


def _cars() -> Iterator[tuple[np.ndarray, np.ndarray, tuple[str, ...]]]:
    cars = data.load("auto_mpg", None, True, "regression")
    weight = cars.X[:, [cars.feature_names.index("weight")]] / 1000.0
    yield weight, cars.y, ("weight, 1000 lb", "miles per gallon")


def draw(pages: Iterable[str]) -> None:
    """Write the pictures of some pages."""
    for page in pages:
        files.write(FOLDER / f"{page}.svg", picture(page))


def picture(page: str) -> bytes:
    """Return the picture of a page as SVG, the same bytes for the same versions of the libraries."""
    rows = panels(page)
    if len(rows[0]) == 1:  # regression: algorithms side by side
        rows = [[panel for row in rows for panel in row]]
    figure, axes = blank(len(rows), max(2, len(rows[0])), width=3.2, height=2.6)
    for axis in axes[sum(map(len, rows)) :]:
        axis.axis("off")
    for axis, panel in zip(axes, (panel for row in rows for panel in row), strict=False):
        (_curve if panel.X.shape[1] == 1 else _regions)(axis, panel)
    return rendered(figure, "svg")


def _regions(axes: Any, panel: Panel) -> None:
    """Fill the regions of the classes and draw the rows; of an editor those that it keeps."""
    box = surroundings(panel.X)
    partition.frame(axes, box, fill(panel.title, LETTERS), panel.features)
    axes.set_aspect("auto")
    tree = getattr(panel.estimator, "tree_", None)
    if isinstance(tree, Tree):
        partition.regions(axes, tree, box)
        partition.cuts(axes, tree, box)
    else:
        axes.imshow(
            _shades(panel.estimator, box),
            extent=(*box[:, 0], *box[:, 1]),
            origin="lower",
            aspect="auto",
            interpolation="nearest",
        )
    retained = getattr(panel.estimator, "kept_", np.arange(len(panel.X)))
    partition.points(axes, panel.X[retained], panel.y[retained], size=3.0)


def _shades(estimator: Any, box: np.ndarray) -> np.ndarray:
    """Return the tint of the class that is predicted at each point of a grid, white where a row would be rejected."""
    across, up = (np.linspace(box[0, i], box[1, i], GRID) for i in (0, 1))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    if hasattr(estimator, "predict_with_reject"):
        codes, rejected = estimator.predict_with_reject(grid)
    else:
        codes, rejected = estimator.predict(grid), np.zeros(len(grid), dtype=bool)
    colors = np.array([tint(code, 0.15) for code in range(int(codes.max()) + 1)])[codes.astype(int)]
    colors[rejected] = 1.0
    return colors.reshape(GRID, GRID, 3)


def _curve(axes: Any, panel: Panel) -> None:
    """Draw what is predicted over the one feature."""
    axes.plot(panel.X[:, 0], panel.y, "o", color="0.6", markersize=1.7, markeredgewidth=0.0, rasterized=True)
    across = np.linspace(panel.X.min(), panel.X.max(), 2001)
    values = panel.estimator.predict(across[:, None])
    # A jump between two leaves is no line.
    step = np.abs(np.diff(values)) > 0.05 * np.ptp(panel.y)
    axes.plot(across, np.where(np.append(step, False), np.nan, values), color="#0072B2", linewidth=1.6)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.features[0])
    axes.set_ylabel(panel.features[1])


def path_of(page: str) -> Path:
    """Where the picture of a page is."""
    return FOLDER / f"{page}.svg"
