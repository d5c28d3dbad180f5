"""Charts of results: boxes, points with a Pareto front, curves with bands, reliability diagrams, confusion matrices,
times. Their input is plain numbers and names; their width is a column of print.

Colors and shapes are those of `canvas`, so that either identifies a method; text is never smaller than 6 points at
the requested width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.drawing.canvas import blank, color, marker, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

COLUMN = 85.0  # millimeters, one column of most journals
MILLIMETERS = 25.4  # an inch
NARROW = 100.0  # below this ratio of its ends a logarithmic axis has even ticks, because few powers fit
LETTER_WIDTH, LETTER_HEIGHT = 0.052, 0.16  # inches, of a character in a legend
HANDLE = 6  # characters, for a line and its gaps


@dataclass(frozen=True)
class Group:
    """Values under a name, drawn in the color of `code`."""

    label: str
    values: Sequence[float]
    code: int


@dataclass(frozen=True)
class Point:
    """A named point with the half lengths of its error bars, 0 for none."""

    label: str
    x: float
    y: float
    code: int
    x_bar: float = 0.0
    y_bar: float = 0.0


@dataclass(frozen=True)
class Curve:
    """A line over x with a band of `spread` on either side; `marked` are x values to highlight, with their counts."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float]
    code: int
    marked: Mapping[float, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """A pair of axes: title and content."""

    title: str
    things: Sequence[Any]


@dataclass(frozen=True)
class Axis:
    """Label of an axis. log : its base, 0 for a linear scale"""

    label: str
    log: int = 0


# ---- distributions ---------------------------------------------------------------------------------------------------


def boxes(panels: Sequence[Panel], axis: Axis, width: float = COLUMN) -> Figure:
    """Draw a box over the quartiles of each `Group`, whiskers to the last value within 1.5 times the quartile range."""
    most = max(len(panel.things) for panel in panels)
    figure, axes = blank(len(panels), 1, width / MILLIMETERS, 0.62 + 0.24 * most)
    for place, panel in zip(axes, panels, strict=True):
        groups = panel.things[::-1]
        drawn = place.boxplot(
            [group.values for group in groups], orientation="horizontal", widths=0.6, patch_artist=True,
            medianprops={"color": "black", "linewidth": 1.4}, boxprops={"linewidth": 0.6},
            whiskerprops={"linewidth": 0.6}, capprops={"linewidth": 0.6}, flierprops={"markersize": 2.0},
        )  # fmt: skip
        for box, outliers, group in zip(drawn["boxes"], drawn["fliers"], groups, strict=True):
            box.set_facecolor(tint(group.code, 0.5))
            box.set_edgecolor(color(group.code))
            outliers.set(marker=marker(group.code), markerfacecolor=color(group.code), markeredgewidth=0.0)
        place.set_yticks(range(1, len(groups) + 1), [group.label for group in groups])
        place.tick_params(axis="y", length=0)
        _scaled(place, "x", axis)
        _headed(place, panel.title)
    axes[-1].set_xlabel(axis.label)
    return figure


# ---- points and curves -----------------------------------------------------------------------------------------------


def scatter(panel: Panel, x: Axis, y: Axis, front: Sequence[Point] = (), width: float = COLUMN) -> Figure:
    """Draw every `Point`, and `front` as a step line; a legend has the names."""
    figure, (axes,) = blank(1, 1, width / MILLIMETERS, 0.8 * width / MILLIMETERS)
    for point in panel.things:
        axes.errorbar(
            point.x, point.y, xerr=point.x_bar or None, yerr=point.y_bar or None, marker=marker(point.code),
            color=color(point.code), markersize=5.0, elinewidth=0.6, markeredgecolor="white", markeredgewidth=0.4,
            label=point.label, linestyle="none",
        )  # fmt: skip
    _scaled(axes, "x", x)
    _scaled(axes, "y", y)
    if front:
        line = sorted(front, key=lambda point: point.x)
        axes.step([p.x for p in line], [p.y for p in line], where="post", color="0.45", linewidth=0.9, linestyle="--")
    axes.set_xlabel(x.label)
    axes.set_ylabel(y.label)
    axes.margins(0.12)
    _headed(axes, panel.title)
    _legend(figure, (axes,))
    return figure


def curves(panels: Sequence[Panel], x: Axis, y: Axis, width: float = COLUMN, ticks: Sequence[float] = ()) -> Figure:
    """Draw each `Curve` with its band; marked values are rings on the line, larger for larger counts."""
    figure, axes = blank(len(panels), 1, width / MILLIMETERS, 0.62 * width / MILLIMETERS)
    for place, panel in zip(axes, panels, strict=True):
        for curve in panel.things:
            xs, ys, spread = (np.asarray(values, dtype=np.float64) for values in (curve.x, curve.y, curve.spread))
            place.fill_between(xs, ys - spread, ys + spread, color=color(curve.code), alpha=0.15, linewidth=0.0)
            place.plot(
                xs, ys, color=color(curve.code), marker=marker(curve.code), markersize=3.0, label=curve.label,
                linewidth=1.2,
            )  # fmt: skip
            often = max(curve.marked.values(), default=1)
            for value, count in curve.marked.items():
                place.plot(
                    value, float(np.interp(value, xs, ys)), marker="o", markersize=4.0 + 5.0 * (count / often) ** 0.5,
                    markerfacecolor="none", markeredgecolor=color(curve.code), markeredgewidth=0.9, linestyle="none",
                )  # fmt: skip
        _scaled(place, "x", x)
        _scaled(place, "y", y)
        if ticks:
            place.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
            place.minorticks_off()
        place.set_ylabel(y.label)
        _headed(place, panel.title)
    axes[-1].set_xlabel(x.label)
    if any(len(panel.things) > 1 for panel in panels):
        _legend(figure, axes)
    return figure


# ---- predictions -----------------------------------------------------------------------------------------------------


def calibration(panels: Sequence[Panel], width: float = COLUMN) -> Figure:
    """Draw reliability diagrams: the accuracy by predicted confidence, points sized by the rows of their bins.

    things : (`Curve` of share by confidence, rows of each bin)
    """
    side = width / MILLIMETERS
    figure, axes = blank(len(panels), 1, side, 0.85 * side)
    for place, panel in zip(axes, panels, strict=True):
        place.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle=":")
        for curve, counts in panel.things:
            place.plot(curve.x, curve.y, color=color(curve.code), linewidth=1.0)
            total = max(sum(counts), 1)
            sizes = [(2.0 + 9.0 * (count / total) ** 0.5) ** 2 for count in counts]
            place.scatter(
                curve.x, curve.y, s=sizes, marker=marker(curve.code), color=color(curve.code), edgecolors="white",
                linewidths=0.4, zorder=3,
            )  # fmt: skip
            place.plot([], [], color=color(curve.code), marker=marker(curve.code), markersize=4.0, label=curve.label)
        place.set_aspect("equal")
        place.set_xlim(0, 1.02)
        place.set_ylim(0, 1.02)
        place.set_ylabel("share of these rows that is right")
        _headed(place, panel.title)
    axes[-1].set_xlabel("probability of the predicted class")
    _legend(figure, axes)
    return figure


def confusion(panels: Sequence[Panel], classes: Sequence[str], width: float = COLUMN) -> Figure:
    """Draw matrices of counts, shaded by the share of their row. things : [(C, C) counts, rows of a class]"""
    from matplotlib.colors import LinearSegmentedColormap

    side = width / MILLIMETERS
    figure, axes = blank(len(panels), 1, side, 0.9 * side)
    shades = LinearSegmentedColormap.from_list("", ["white", color(0)])
    letters = 7.0 if len(classes) <= 8 else 56.0 / len(classes)
    for place, panel in zip(axes, panels, strict=True):
        counts = np.asarray(panel.things[0], dtype=np.float64)
        totals = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
        place.imshow(shares, cmap=shades, vmin=0.0, vmax=1.0)
        if letters >= 3.0:
            for (i, j), count in np.ndenumerate(counts):
                if count:
                    ink = "white" if shares[i, j] > 0.55 else "black"
                    text = f"{count:.0f}" if float(count).is_integer() else f"{count:.1f}"
                    place.text(j, i, text, ha="center", va="center", fontsize=letters, color=ink)
        turned = max(map(len, classes)) * len(classes) > 36
        place.set_xticks(range(len(classes)), classes, rotation=90 if turned else 0, fontsize=max(letters, 3.0))
        place.set_yticks(range(len(classes)), classes, fontsize=max(letters, 3.0))
        place.tick_params(length=0)
        place.spines[:].set_visible(False)
        place.set_ylabel("class")
        place.set_xlabel("predicted class")
        _headed(place, panel.title)
    return figure


# ---- shared ----------------------------------------------------------------------------------------------------------


def _legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """Add a legend above the axes, where it covers nothing; its lines increase the figure's height."""
    named: dict[str, Any] = {}
    for place in axes:
        for handle, label in zip(*place.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    width, height = figure.get_size_inches()
    room = int(width / LETTER_WIDTH)
    columns = max(1, min(len(named), room // (max(map(len, named)) + HANDLE)))
    lines = -(-len(named) // columns)
    figure.set_size_inches(width, height + lines * LETTER_HEIGHT)
    figure.legend(
        named.values(), named.keys(), frameon=False, fontsize=6.5, handlelength=1.6, ncols=columns,
        loc="outside upper left",
    )  # fmt: skip


def _headed(axes: Axes, title: str) -> None:
    if title:
        axes.set_title(title, loc="left", fontsize=8.5)


def _scaled(axes: Axes, which: str, axis: Axis) -> None:
    """Set the scale of the x or y axis, with plain numbers as ticks."""
    if not axis.log:
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    (axes.set_xscale if which == "x" else axes.set_yscale)("log", base=axis.log)
    scale = axes.xaxis if which == "x" else axes.yaxis
    low, high = scale.get_view_interval()
    scale.set_major_locator(MaxNLocator(5) if 0 < high < NARROW * low else LogLocator(base=axis.log))
    scale.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    scale.set_minor_formatter(NullFormatter())
