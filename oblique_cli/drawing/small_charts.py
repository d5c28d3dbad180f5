"""Small charts as scenes, painted like trees: lines and points over two axes, points over levels, and bars.

They are for pages, whose style sheet has light and dark colors; `charts` has the figures for print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from oblique_cli.drawing.palette import N_COLORS
from oblique_cli.drawing.scene import SMALL, Dots, Group, Label, Line, Rectangle, Scene, Shape, shortened, width_of
from oblique_cli.drawing.view import number_of
from oblique_cli.ground.column_values import ColumnValues

WIDTH, HEIGHT = 300.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 10.0, 8.0, 34.0
FRAME = {"left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "low": HEIGHT - BOTTOM}  # of a plane without bars
LEVEL, LEVEL_NAMES = 18.0, 170.0  # height of a line, and most width for names
TICKS = 3  # approximate number of spaces between ticks
DIGITS = 6  # most digits of a tick
LARGEST = 1e300  # larger numbers are not drawn

# Styles of a chart page beside the styles of trees.
STYLE = ".curve { fill: none; stroke-width: 1.8; }\n"
ROWS = 20.0  # height of the bars of rows below a curve


class Marks(NamedTuple):
    """Points in the color of a code, optionally joined by a line; by steps if there are no values between them."""

    points: Sequence[tuple[float, float]]
    code: int
    joined: bool = False
    steps: bool = False


class Band(NamedTuple):
    """The area between two curves over the same values. points : (x, lower, upper) of each"""

    points: Sequence[tuple[float, float, float]]
    code: int
    steps: bool = False


@dataclass(frozen=True)
class Scale:
    """Ends and label of an axis."""

    low: float
    high: float
    label: str

    def share(self, value: float) -> float:
        """Return the position of a value along the axis, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def ticks(self) -> list[float]:
        """Return about four round numbers on the axis."""
        rough = (self.high - self.low) / TICKS
        unit = 10.0 ** np.floor(np.log10(rough))
        step = float(unit * min((1.0, 2.0, 2.5, 5.0, 10.0), key=lambda k: abs(k * unit - rough)))
        first = np.ceil(self.low / step - 1e-9)
        values = [float(first + k) * step for k in range(2 * TICKS + 2)]
        return [value for value in values if value <= self.high + 1e-9 * step]


def scale_of(values: Sequence[float], label: str, *, exact: bool = False) -> Scale | None:
    """Return an axis for all values, with a margin unless `exact`; None if they cannot be drawn."""
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers) or not np.isfinite(numbers).all() or np.abs(numbers).max() > LARGEST:
        return None
    low, high = float(numbers.min()), float(numbers.max())
    room = 0.0 if exact else 0.05 * (high - low)
    if high - low <= 1e-9 * max(abs(low), abs(high)) or high - low < 1e-290:
        room = max(0.05 * abs(low), 0.5)
    return Scale(low - room, high + room, label)


def plane(
    description: str,
    x: Scale,
    y: Scale,
    marks: Sequence[Marks],
    reference: Sequence[tuple[float, float]] = (),
    bands: Sequence[Band] = (),
    rows: ColumnValues | None = None,
) -> Scene:
    """Return lines and points over two axes.

    description : the content in words; reference : ends of a line; rows : values along x, as bars below the curves
    """
    has_bars = rows is not None and bool(rows.counts)
    right, low = WIDTH - RIGHT, HEIGHT - BOTTOM - (ROWS if has_bars else 0.0)

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return LEFT + (right - LEFT) * x.share(point[0]), low - (low - TOP) * y.share(point[1])

    shapes: list[Shape] = [Line([(LEFT, TOP), (LEFT, low), (right, low)], "axis")]
    if reference:
        shapes.append(Line([at(point) for point in reference], "axis"))
    if has_bars and rows is not None:
        wide = at((rows.start + rows.width, y.low))[0] - at((rows.start, y.low))[0]
        for k, count in enumerate(rows.counts):
            tall = (ROWS - 3.0) * count / max(rows.counts)
            if count:
                left = at((rows.start + k * rows.width, y.low))[0]
                shapes.append(Rectangle(left, low + ROWS - tall, max(wide - 0.6, 0.5), tall, "minus"))
    shapes += _ticks_below(x, HEIGHT - BOTTOM, LEFT, right)
    for band in bands:
        ends = [_stairs([(point[0], point[k]) for point in band.points], band.steps) for k in (1, 2)]
        style = f"t{band.code % N_COLORS}"
        shapes.append(Line([at(point) for point in [*ends[0], *ends[1][::-1]]], style, closed=True))
    for value in y.ticks():
        _, up = at((x.low, value))
        shapes += [
            Line([(LEFT - 3, up), (LEFT, up)], "axis"),
            Label(LEFT - 6, up + 3.5, number_of(value, DIGITS), "muted", "end", SMALL),
        ]
    for mark in marks:
        shapes += _drawn([at(point) for point in _stairs(mark.points, mark.steps)], mark)
    shapes.append(Label((LEFT + right) / 2, HEIGHT - 5, shortened(x.label, right - LEFT), "muted", "middle", SMALL))
    return Scene(WIDTH, HEIGHT, [Group(shapes)], y.label, description)


def _stairs(points: Sequence[tuple[float, float]], steps: bool) -> list[tuple[float, float]]:
    """Return the corners of a step function: each value holds halfway to its neighbors; the points without `steps`."""
    if not steps or len(points) < 2:
        return list(points)
    at = [x for x, _ in points]
    middles = [(a + b) / 2 for a, b in pairwise(at)]
    ends = zip([at[0], *middles], [*middles, at[-1]], points, strict=True)
    return [(x, y) for first, last, (_, y) in ends for x in (first, last)]


def levels(
    description: str, names: Sequence[str], x: Scale, marks: Sequence[Marks], bands: Sequence[Band] = ()
) -> Scene:
    """Return points beside names, one line per name.

    marks : y of their points is the place of a name, from 0; bands : x of their points is this place
    """
    names_wide = min(LEVEL_NAMES, 8 + max((width_of(name, SMALL) for name in names), default=0.0))
    low, right = TOP + LEVEL * len(names), WIDTH - RIGHT
    shapes: list[Shape] = [Line([(names_wide, TOP), (names_wide, low), (right, low)], "axis")]
    for place, name in enumerate(names):
        up = TOP + LEVEL * (place + 0.5)
        shapes.append(Label(names_wide - 6, up + 3.5, shortened(name, names_wide - 8, SMALL), "muted", "end", SMALL))

    def across(value: float) -> float:
        return names_wide + 4 + (right - names_wide - 4) * x.share(value)

    shapes += _ticks_below(x, low, names_wide + 4, right)
    for band in bands:
        for at, first, last in band.points:
            left, wide = across(first), max(across(last) - across(first), 0.5)
            shapes.append(Rectangle(left, TOP + LEVEL * (at + 0.25), wide, LEVEL / 2, f"t{band.code % N_COLORS}"))
    for mark in marks:
        shapes += _drawn([(across(value), TOP + LEVEL * (place + 0.5)) for value, place in mark.points], mark)
    label = shortened(x.label, right - names_wide)
    shapes.append(Label((names_wide + right) / 2, low + BOTTOM - 5, label, "muted", "middle", SMALL))
    return Scene(WIDTH, low + BOTTOM, [Group(shapes)], x.label, description)


def histogram(description: str, edges: Sequence[float], counts: Sequence[int], x: Scale) -> Scene:
    """Return counts of bins as bars. edges : one more than counts"""
    right, low, most = WIDTH - RIGHT, HEIGHT - BOTTOM, max(*counts, 1)
    shapes: list[Shape] = []
    for first, last, count in zip(edges[:-1], edges[1:], counts, strict=True):
        begin, end = (LEFT + (right - LEFT) * x.share(value) for value in (first, last))
        tall = (low - TOP) * count / most
        if count:
            shapes.append(Rectangle(begin + 0.5, low - tall, max(end - begin - 1.0, 0.5), tall, "t0"))
    frame = plane(description, x, Scale(0.0, float(most), "rows"), ())
    return Scene(WIDTH, HEIGHT, [Group(shapes), *frame.groups], "rows", description)


def _ticks_below(x: Scale, low: float, left: float, right: float) -> list[Shape]:
    """Return ticks with their numbers below a line at `low` from `left` to `right`."""
    shapes: list[Shape] = []
    for value in x.ticks():
        across = left + (right - left) * x.share(value)
        shapes += [
            Line([(across, low), (across, low + 3)], "axis"),
            Label(across, low + 14, number_of(value, DIGITS), "muted", "middle", SMALL),
        ]
    return shapes


def _drawn(points: list[tuple[float, float]], mark: Marks) -> list[Shape]:
    color = mark.code % N_COLORS
    if mark.joined:
        return [Line(points, f"curve dk{color}")]
    return [Dots(points, f"k{color}")]
