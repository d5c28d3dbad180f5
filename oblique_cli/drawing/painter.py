"""A scene drawn by matplotlib: for PNG, PDF, and figures that users edit further."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oblique_cli.drawing.canvas import STYLE, needs_matplotlib
from oblique_cli.drawing.palette import COLORS, STYLES
from oblique_cli.drawing.scene import Dots, Label, Line, Link, Rectangle, Scene, Shape
from oblique_cli.drawing.view import BLANK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PER_INCH = 72.0


def painted(scene: Scene, ax: Axes | None = None) -> Any:
    """Return the figure of a scene, on one axes; with `ax` these axes, drawn in their size. ConfigError without
    matplotlib."""
    matplotlib = needs_matplotlib()
    from oblique_cli.drawing.notebook_figure import NotebookFigure

    with matplotlib.rc_context(STYLE):
        axes, scale = ax, 1.0
        if axes is None:
            figure = NotebookFigure(
                figsize=(scene.width / PER_INCH, scene.height / PER_INCH), facecolor=STYLES["page"].fill
            )
            axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        else:
            room = axes.get_window_extent()
            points = PER_INCH / axes.figure.dpi
            scale = min(room.width * points / scene.width, room.height * points / scene.height)
            axes.set_aspect("equal")
        axes.set_xlim(0.0, scene.width)
        axes.set_ylim(scene.height, 0.0)
        axes.axis("off")
        for order, shape in enumerate(shape for group in scene.groups for shape in group.shapes):
            _paint(axes, shape, order + 1, scale)
    return figure if ax is None else ax


def _paint(axes: Axes, shape: Shape, order: int, scale: float) -> None:
    if isinstance(shape, Label):
        across = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
        look = STYLES[shape.style]
        style: dict[str, Any] = {
            "fontsize": shape.size * scale,
            "fontweight": "bold" if shape.bold else "normal",
            "color": look.fill,
            "parse_math": False,  # a dollar sign in a user's name starts no formula
        }
        if look.line:  # a halo; matplotlib's stroke effect would turn text into outlines
            style["bbox"] = {"boxstyle": "square,pad=0.1", "facecolor": look.line, "edgecolor": "none"}
        text = shape.text.replace(BLANK, " ")
        axes.text(shape.x, shape.y, text, ha=across, va="baseline", zorder=order, **style)
    elif isinstance(shape, Dots):
        color = COLORS[int(shape.style[1:])]
        x, y = zip(*shape.points, strict=True)
        # As an image even in PDF, where a point costs a hundred bytes.
        axes.plot(x, y, "o", color=color, markersize=4.0, markeredgewidth=0.0, zorder=order, rasterized=True)
    else:
        axes.add_patch(_patch(shape, order))


def _patch(shape: Rectangle | Line | Link, order: int) -> Any:
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.path import Path

    look = STYLES[shape.style]
    style: dict[str, Any] = {
        "facecolor": look.fill or "none",
        "edgecolor": look.line or "none",
        "linewidth": look.width if look.line else 0.0,
        "zorder": order,
        "clip_on": False,  # nothing lies outside the picture, and clipping adds an attribute to each shape in SVG
    }
    if look.opacity < 1.0:
        style["alpha"] = look.opacity
    if isinstance(shape, Rectangle):
        radius = min(shape.radius, shape.width / 2, shape.height / 2)
        box = f"round,pad=0,rounding_size={radius}" if radius > 2.0 else "square,pad=0"
        return FancyBboxPatch((shape.x, shape.y), shape.width, shape.height, boxstyle=box, **style)
    if isinstance(shape, Link):
        return PathPatch(Path([shape.start, shape.knee, *shape.bends, shape.end], [1, 2, 4, 4, 4]), **style)
    points = [*shape.points, shape.points[0]] if shape.closed else list(shape.points)
    return PathPatch(Path(points, closed=shape.closed), **style)
