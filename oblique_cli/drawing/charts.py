"""Charts of results: boxes, points with a Pareto front, curves with bands, reliability diagrams, confusion matrices,
times. Their input is plain numbers and names; their width is a column of print.

Colors and markers are those of `canvas`, and each identifies a method; text is never smaller than 6 points at
the requested width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.drawing.canvas import blank, color, marker, method, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

COLUMN = 85.0  # millimeters, one column of most journals
MILLIMETERS = 25.4  # an inch
NAMES = ("data set", "algorithm")  # columns of names in tables of what is drawn
MANY = 6  # most classes to name in one line
NARROW = 6.0  # below this ratio of its ends a logarithmic axis has even ticks, because few of 1, 2, 5 times a power fit
LETTER_WIDTH, LETTER_HEIGHT = 0.052, 0.16  # inches, of a character in a legend
HANDLE = 6  # characters, for a line and its gaps
WIDE = 300.0  # from this ratio of its ends on, a logarithmic axis has ticks at powers only


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


def numbers(panels: Sequence[Panel], y: str, x: str = "") -> tuple[Sequence[str], list[Sequence[str]]]:
    """Return the header and the rows of a table of what is drawn: quartiles of groups, points, points of curves."""
    named = any(panel.title for panel in panels)
    rows: list[Sequence[str]] = []
    for panel in panels:
        for thing in panel.things:
            first = (panel.title, thing.label) if named else (thing.label,)
            if isinstance(thing, Group):
                shown = [np.quantile(thing.values, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist()] if len(thing.values) else []
            elif isinstance(thing, Point):
                shown = [[thing.x, thing.y]]
            else:
                shown = [list(pair) for pair in zip(thing.x, thing.y, strict=True)]
            rows += [(*first, *(f"{value:.4g}" for value in values)) for values in shown]
    columns = (x, y) if x else (f"{y}: least", "25 %", "50 %", "75 %", "most")
    return (*(NAMES if named else NAMES[1:]), *columns), rows


# ---- distributions ---------------------------------------------------------------------------------------------------


def boxes(panels: Sequence[Panel], axis: Axis, width: float = COLUMN) -> Figure:
    """Draw a box over the quartiles of each `Group`, whiskers to the last value within 1.5 times the quartile range."""
    most = max(len(panel.things) for panel in panels)
    figure, axes = _below(panels, width, 0.62 + 0.24 * most)
    for place, panel in zip(axes, panels, strict=True):
        groups = panel.things[::-1]
        drawn = place.boxplot(
            [group.values for group in groups], orientation="horizontal", widths=0.6, patch_artist=True,
            medianprops={"color": "black", "linewidth": 1.4}, boxprops={"linewidth": 0.6},
            whiskerprops={"linewidth": 0.6}, capprops={"linewidth": 0.6}, flierprops={"markersize": 2.0},
        )  # fmt: skip
        for k, group in enumerate(groups):
            box, outliers = drawn["boxes"][k], drawn["fliers"][k]
            ends = [line for part in ("whiskers", "caps") for line in drawn[part][2 * k : 2 * k + 2]]
            for part in (box, outliers, drawn["medians"][k], *ends):
                part.set_gid(method(group.code))
            box.set_facecolor(tint(group.code, 0.5))
            box.set_edgecolor(color(group.code))
            outliers.set(marker=marker(group.code), markerfacecolor=color(group.code), markeredgewidth=0.0)
        place.set_yticks(range(1, len(groups) + 1), [group.label for group in groups])
        place.tick_params(axis="y", length=0)
        _scaled(place, "x", axis)
    axes[-1].set_xlabel(axis.label)
    return figure


def times(panel: Panel, axis: Axis, width: float = COLUMN) -> Figure:
    """Draw pairs of groups, a filled and a hollow point each with a bar from the smallest to the largest value.

    things : (filled, hollow) groups of one method
    """
    figure, (axes,) = _below([panel], width, 0.75 + 0.26 * len(panel.things))
    for row, pair in enumerate(panel.things[::-1]):
        for group, face, offset in ((pair[0], color(pair[0].code), 0.13), (pair[1], "white", -0.13)):
            positive = [value for value in group.values if value > 0]
            if not positive:
                continue
            middle = float(np.exp(np.mean(np.log(positive))))
            ends = [min(positive), max(positive)]
            axes.plot(ends, [row + offset] * 2, color=color(group.code), linewidth=0.8, gid=method(group.code))
            axes.plot(
                middle, row + offset, marker=marker(group.code), markersize=4.5, color=color(group.code),
                markerfacecolor=face, linestyle="none", gid=method(group.code),
            )  # fmt: skip
    axes.set_yticks(range(len(panel.things)), [pair[0].label for pair in panel.things[::-1]])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(panel.things) - 0.4)
    _scaled(axes, "x", axis)
    axes.set_xlabel(axis.label)
    return figure


# ---- points and curves -----------------------------------------------------------------------------------------------


def scatter(panel: Panel, x: Axis, y: Axis, front: Sequence[Point] = (), width: float = COLUMN) -> Figure:
    """Draw every `Point` with its name beside it, and `front` as a step line."""
    figure, (axes,) = _below([panel], width, 0.8 * width / MILLIMETERS)
    for point in panel.things:
        drawn = axes.errorbar(
            point.x, point.y, xerr=point.x_bar or None, yerr=point.y_bar or None, marker=marker(point.code),
            color=color(point.code), markersize=5.0, elinewidth=0.6, markeredgecolor="white", markeredgewidth=0.4,
        )  # fmt: skip
        for part in drawn.get_children():
            part.set_gid(method(point.code))
    _scaled(axes, "x", x)
    _scaled(axes, "y", y)
    if front:
        line = sorted(front, key=lambda point: point.x)
        axes.step([p.x for p in line], [p.y for p in line], where="post", color="0.45", linewidth=0.9, linestyle="--")
    axes.set_xlabel(x.label)
    axes.set_ylabel(y.label)
    axes.margins(0.12)
    _named(figure, axes, panel.things)
    return figure


def curves(panels: Sequence[Panel], x: Axis, y: Axis, width: float = COLUMN, ticks: Sequence[float] = ()) -> Figure:
    """Draw each `Curve` with its band; marked values are rings on the line, larger for larger counts."""
    figure, axes = _below(panels, width, 0.62 * width / MILLIMETERS)
    for place, panel in zip(axes, panels, strict=True):
        for curve in panel.things:
            xs, ys, spread = (np.asarray(values, dtype=np.float64) for values in (curve.x, curve.y, curve.spread))
            place.fill_between(
                xs, ys - spread, ys + spread, color=color(curve.code), alpha=0.15, linewidth=0.0, gid=method(curve.code)
            )
            place.plot(
                xs, ys, color=color(curve.code), marker=marker(curve.code), markersize=3.0, label=curve.label,
                linewidth=1.2, gid=method(curve.code),
            )  # fmt: skip
            often = max(curve.marked.values(), default=1)
            for value, count in curve.marked.items():
                place.plot(
                    value, float(np.interp(value, xs, ys)), marker="o", markersize=4.0 + 5.0 * (count / often) ** 0.5,
                    markerfacecolor="none", markeredgecolor=color(curve.code), markeredgewidth=0.9, linestyle="none",
                    gid=method(curve.code),
                )  # fmt: skip
        _scaled(place, "x", x)
        _scaled(place, "y", y)
        if ticks:
            place.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
            place.minorticks_off()
        place.set_ylabel(y.label)
    axes[-1].set_xlabel(x.label)
    if any(len(panel.things) > 1 for panel in panels):
        _legend(figure, axes)
    return figure


# ---- predictions -----------------------------------------------------------------------------------------------------


def calibration(panels: Sequence[Panel], width: float = COLUMN) -> Figure:
    """Draw reliability diagrams: the accuracy by predicted confidence, points sized by the rows of their bins.

    things : (`Curve` of share by confidence, rows of each bin)
    """
    figure, axes = _below(panels, width, 0.85 * (width / MILLIMETERS))
    for place, panel in zip(axes, panels, strict=True):
        place.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle=":")
        for curve, counts in panel.things:
            place.plot(curve.x, curve.y, color=color(curve.code), linewidth=1.0, gid=method(curve.code))
            total = max(sum(counts), 1)
            sizes = [(2.0 + 9.0 * (count / total) ** 0.5) ** 2 for count in counts]
            place.scatter(
                curve.x, curve.y, s=sizes, marker=marker(curve.code), color=color(curve.code), edgecolors="white",
                linewidths=0.4, zorder=3, gid=method(curve.code),
            )  # fmt: skip
            place.plot([], [], color=color(curve.code), marker=marker(curve.code), markersize=4.0, label=curve.label)
        place.set_aspect("equal")
        place.set_xlim(0, 1.02)
        place.set_ylim(0, 1.02)
        place.set_ylabel("share of these rows that is right")
    axes[-1].set_xlabel("probability of the predicted class")
    _legend(figure, axes)
    return figure


def confusion(panels: Sequence[Panel], classes: Sequence[str], width: float = COLUMN) -> Figure:
    """Draw matrices of counts, shaded by the share of their row. things : [(C, C) counts, rows of a class]"""
    from matplotlib.colors import LinearSegmentedColormap

    figure, axes = _below(panels, width, 0.9 * (width / MILLIMETERS))
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
    return figure


def regions(
    panels: Sequence[Panel], box: Array, names: Sequence[str], classes: Sequence[str], width: float = COLUMN
) -> Figure:
    """Draw the class that a model predicts at every point of a rectangle, and rows on it.

    box : (2, 2) lower and upper corner; things : [(m, m) codes, first row lowest; (n, 2) rows; (n,) codes]
    """
    figure, axes = _below(panels, width, 0.8 * (width / MILLIMETERS))
    for place, panel in zip(axes, panels, strict=True):
        codes, X, y = panel.things
        image = np.array([tint(code, 0.25) for code in range(len(classes))])[codes]
        place.imshow(
            image, origin="lower", extent=(*box[:, 0], *box[:, 1]), aspect="auto", interpolation="nearest"
        )  # fmt: skip
        for code, label in enumerate(classes):
            mine = X[y == code]
            place.plot(
                mine[:, 0], mine[:, 1], marker=marker(code), color=color(code), markersize=2.6, linestyle="none",
                markeredgewidth=0.0, label=label, rasterized=len(X) > 500,
            )  # fmt: skip
        place.set_ylabel(names[1])
    axes[-1].set_xlabel(names[0])
    if len(classes) <= MANY:
        _legend(figure, axes)
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


def _below(panels: Sequence[Panel], width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with titled axes of the panels, one below the other. width : millimeters; height : inches each"""
    figure, axes = blank(len(panels), 1, width / MILLIMETERS, height)
    for place, panel in zip(axes, panels, strict=True):
        if panel.title:
            place.set_title(panel.title, loc="left", fontsize=8.5)
    return figure, axes


def _scaled(axes: Axes, which: str, axis: Axis) -> None:
    """Set the scale of the x or y axis, with plain numbers as ticks."""
    if not axis.log:
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    (axes.set_xscale if which == "x" else axes.set_yscale)("log", base=axis.log)
    scale = axes.xaxis if which == "x" else axes.yaxis
    low, high = scale.get_view_interval()
    fine = axis.log == 10 and low > 0 and high / low < WIDE
    if low > 0 and high / low < NARROW:
        scale.set_major_locator(MaxNLocator(5, steps=(1, 2, 2.5, 5, 10)))
        scale.set_minor_locator(NullLocator())
    else:
        scale.set_major_locator(LogLocator(base=axis.log, subs=(1.0, 2.0, 5.0) if fine else (1.0,)))
    scale.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    scale.set_minor_formatter(NullFormatter())


# Places of a name beside its point, in print points; the first free place is used.
PLACES = (
    (5, 0, "left", "center"), (0, 6, "center", "bottom"), (0, -6, "center", "top"), (-5, 0, "right", "center"),
    (5, 6, "left", "bottom"), (5, -6, "left", "top"), (-5, 6, "right", "bottom"), (-5, -6, "right", "top"),
    (5, 12, "left", "bottom"), (5, -12, "left", "top"), (-5, 12, "right", "bottom"), (-5, -12, "right", "top"),
)  # fmt: skip


def _named(figure: Figure, axes: Axes, points: Sequence[Point]) -> None:
    """Write the name of every point beside it, without covering another name or point."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    renderer: Any = canvas.get_renderer()  # type: ignore[no-untyped-call]
    inside = axes.get_window_extent(renderer)
    at = axes.transData.transform([(point.x, point.y) for point in points])
    taken: list[Any] = []
    for point, here in zip(points, at, strict=True):
        best = None
        for dx, dy, across, up in PLACES:
            text = axes.annotate(
                point.label, (point.x, point.y), xytext=(dx, dy), textcoords="offset points", ha=across, va=up,
                fontsize=6.5, color=color(point.code), gid=method(point.code),
            )  # fmt: skip
            extent = text.get_window_extent(renderer)
            covered = sum(extent.overlaps(other) for other in taken)
            covered += sum(extent.contains(*other) for other in at if tuple(other) != tuple(here))
            outside = extent.x0 < inside.x0 or extent.x1 > inside.x1 + 40 or not inside.y0 <= extent.y0 <= inside.y1
            cost = 2 * covered + outside
            if best is None or cost < best[0]:
                if best is not None:
                    best[1].remove()
                best = (cost, text, extent)
            else:
                text.remove()
            if cost == 0:
                break
        if best is not None:
            taken.append(best[2])
