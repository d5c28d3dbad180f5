"""Critical-difference diagrams (Demsar 2006, figure 1): average ranks on an axis, the best on the left, and bars over
methods that do not differ significantly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from oblique_cli.drawing.scene import Group, Label, Rectangle, Scene, Shape, shortened, width_of

WIDTH, SIZE = 760.0, 13.0  # of a separate picture
INK = "text"  # the color of lines too, so that they are as dark as the names
WIDEST_NAMES = 0.36  # share of the width, on either side


@dataclass(frozen=True)
class Ranks:
    """Data of one diagram.

    title      heading, "" for none
    methods    (name, average rank), at least two
    groups     positions in `methods`, from the best rank to the worst, of methods that do not differ
    critical   critical difference
    """

    title: str
    methods: Sequence[tuple[str, float]]
    groups: Sequence[Sequence[int]]
    critical: float


def critical_differences(diagrams: Sequence[Ranks], width: float = WIDTH, size: float = SIZE) -> Scene:
    """Return diagrams, one below the other. width : of the picture; size : of its text"""
    groups = []
    height = 0.0
    for diagram in diagrams:
        shapes, height = _diagram(diagram, width, size, height)
        groups.append(Group(shapes))
    description = "; ".join(
        f"{diagram.title + ': ' if diagram.title else ''}"
        + ", ".join(f"{name} {rank:.2f}" for name, rank in sorted(diagram.methods, key=lambda method: method[1]))
        + f", critical difference {diagram.critical:.2f}"
        for diagram in diagrams
    )
    return Scene(width, height, groups, "Average ranks", description)


def _diagram(ranks: Ranks, width: float, size: float, top: float) -> tuple[list[Shape], float]:
    """Return the shapes of one diagram below `top`, and its lower edge."""
    methods, k = ranks.methods, len(ranks.methods)
    thin, line, gap = size / 10, 1.4 * size, 0.5 * size
    numbers = [f" ({rank:.2f})" for _, rank in methods]
    label = f"CD = {ranks.critical:.2f}"
    wanted = max([width_of(label, size), *(width_of(methods[i][0] + numbers[i], size) for i in range(k))])
    room = min(wanted, WIDEST_NAMES * width)
    margin = room + 4 * gap

    def x(rank: float) -> float:
        return margin + (rank - 1) / (k - 1) * (width - 2 * margin)

    def across(x1: float, x2: float, y: float, thick: float) -> Rectangle:
        return Rectangle(x1, y - thick / 2, x2 - x1, thick, INK)

    def down(at: float, y1: float, y2: float) -> Rectangle:
        return Rectangle(at - thin / 2, y1, thin, y2 - y1, INK)

    shapes: list[Shape] = []
    y = top + line
    if ranks.title:
        shapes.append(Label(width / 2, y, ranks.title, anchor="middle", size=size))
        y += line
    # If the critical difference is much longer than the axis, its bar ends at the picture; the number is beside it.
    shapes += [
        Label(x(1) - gap, y + 0.35 * size, label, anchor="end", size=size),
        across(x(1), min(x(1 + ranks.critical), width - gap), y, 2 * thin),
    ]
    axis = y + 2 * line
    shapes.append(across(x(1), x(k), axis, thin))
    step = ceil(2 * size / (x(2) - x(1)))  # between numbers that must not touch
    for rank in range(1, k + 1):
        shapes.append(down(x(rank), axis - gap, axis))
        if (rank - 1) % step == 0:
            shapes.append(Label(x(rank), axis - 0.75 * size, str(rank), anchor="middle", size=size))
    for level, group in enumerate(ranks.groups, 1):
        first, last = methods[group[0]][1], methods[group[-1]][1]
        shapes.append(across(x(first) - gap / 2, x(last) + gap / 2, axis + 0.65 * size * level, 3 * thin))
    below = axis + 0.65 * size * len(ranks.groups) + line
    left = (k + 1) // 2
    for place, i in enumerate(sorted(range(k), key=lambda i: methods[i][1])):
        # The better half is named on the left from top to bottom, the other on the right from bottom to top.
        better = place < left
        y = below + line * (place if better else k - 1 - place)
        name, mean = methods[i]
        end = margin - 2 * gap if better else width - margin + 2 * gap
        text = name + numbers[i]
        if width_of(text, size) > room:
            text = shortened(name, room - width_of(numbers[i], size), size) + numbers[i]
        shapes += [
            down(x(mean), axis, y),
            across(min(x(mean), end), max(x(mean), end), y, thin),
            Label(end - gap if better else end + gap, y + 0.35 * size, text, anchor="end" if better else "start",
                  size=size),
        ]  # fmt: skip
    return shapes, below + line * (left - 1) + line
