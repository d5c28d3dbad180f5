"""Points of two features, the regions of a tree, and lines among them, on given axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.drawing.canvas import color, marker, tint
from oblique_cli.drawing.polygons import divide, halves
from oblique_cli.tree.structure import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]


def frame(axes: Axes, box: Array, title: str = "", names: Sequence[str] = ()) -> None:
    """Set the axes to the rectangle `box`, with equal scales."""
    axes.set_xlim(box[0, 0], box[1, 0])
    axes.set_ylim(box[0, 1], box[1, 1])
    axes.set_aspect("equal")
    axes.set_title(title)
    if names:
        axes.set_xlabel(names[0])
        axes.set_ylabel(names[1])


def points(axes: Axes, X: Array, y: NDArray[Any], size: float = 7.0) -> None:
    """Draw rows as points, class by class; as an image even in SVG, where a point costs a hundred bytes."""
    for code in np.unique(y):
        axes.plot(
            *X[y == code].T, linestyle="none", marker=marker(code), markersize=size**0.5, color=color(code),
            markeredgewidth=0.0, rasterized=True,
        )  # fmt: skip


def regions(axes: Axes, tree: Tree, box: Array) -> None:
    """Fill each leaf with the tint of its class."""
    for leaf, polygon in divide(tree, box).leaves.items():
        axes.fill(polygon[:, 0], polygon[:, 1], color=tint(int(tree.labels[leaf]), 0.15), linewidth=0.0)


def cuts(
    axes: Axes, tree: Tree, box: Array, nodes: Iterable[int] | None = None, *, color: str = "black", width: float = 1.2
) -> None:
    """Draw the hyperplanes of `nodes` (by default of all nodes), each inside its node's region."""
    segments = divide(tree, box).cuts
    for node in segments if nodes is None else nodes:
        if node in segments:
            axes.plot(*segments[node].T, color=color, linewidth=width)


def line(axes: Axes, plane: Array, box: Array, **style: Any) -> None:
    """Draw the whole line w @ x + b = 0 of a plane (w1, w2, b) across the rectangle."""
    (x0, y0), (x1, y1) = box
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    ends = halves(corners, plane[:2], -float(plane[2]))[2]
    if len(ends) == 2:
        axes.plot(*ends.T, **style)


def arrow(axes: Axes, start: Array, direction: Array, length: float, **style: Any) -> None:
    """Draw a direction as an arrow of `length` in data units."""
    arrow = {"arrowstyle": "-|>", "shrinkA": 0, **style}
    axes.annotate("", xy=tuple(start + length * direction), xytext=tuple(start), arrowprops=arrow)
