"""Critical-difference diagrams: ranks where they belong, nothing beyond the picture, the same for every painter."""

import re
from itertools import pairwise

import pytest

from oblique_cli.drawing.painter import painted
from oblique_cli.drawing.ranks import Ranks, critical_differences
from oblique_cli.drawing.scene import Label, Rectangle, width_of
from oblique_cli.drawing.svg import svg

# Demsar (2006), figure 1a: Nemenyi's test at 0.05 tells the first from the last alone.
DEMSAR = Ranks("", [("C4.5", 3.143), ("C4.5+m", 2.0), ("C4.5+cf", 2.893), ("C4.5+m+cf", 1.964)], [(3, 1, 2, 0)], 1.25)
MANY = Ranks(
    "20 methods",
    [(f"a method with a name that is rather long, {k}" if k % 3 else f"m{k}", 1.0 + (7 * k) % 20) for k in range(20)],
    [(0, 3, 6), (3, 6, 9)],
    30.0,
)


def shapes_of(scene, kind):
    return [shape for group in scene.groups for shape in group.shapes if isinstance(shape, kind)]


def test_methods_are_named_from_the_best_on_the_left_with_their_ranks():
    scene = critical_differences([DEMSAR])
    named = [label for label in shapes_of(scene, Label) if "(" in label.text]
    assert [label.text for label in named] == ["C4.5+m+cf (1.96)", "C4.5+m (2.00)", "C4.5+cf (2.89)", "C4.5 (3.14)"]
    two = critical_differences([Ranks("", [("HHGDT", 1.6), ("pruned", 1.4)], [], 0.88)], 241.0, 6.5)
    assert [label.text for label in shapes_of(two, Label)][-2:] == ["pruned (1.40)", "HHGDT (1.60)"]
    assert [label.anchor for label in named] == ["end", "end", "start", "start"]
    assert named[0].y == named[3].y < named[1].y == named[2].y


def test_ranks_and_bars_are_where_the_axis_has_them():
    scene = critical_differences([DEMSAR])
    boxes = shapes_of(scene, Rectangle)
    numbers = {label.text: label.x for label in shapes_of(scene, Label) if label.anchor == "middle"}
    unit = numbers["2"] - numbers["1"]
    assert numbers["4"] - numbers["1"] == pytest.approx(3 * unit)
    critical, axis = boxes[:2]
    assert critical.width == pytest.approx(1.25 * unit) and axis.width == pytest.approx(3 * unit)
    stems = sorted(box.x + box.width / 2 for box in boxes if box.height > 20)
    assert stems == pytest.approx([numbers["1"] + (rank - 1) * unit for rank in (1.964, 2.0, 2.893, 3.143)])
    (bar,) = [box for box in boxes if box.height == pytest.approx(3.9)]
    assert bar.x < stems[0] and bar.x + bar.width > stems[-1]


@pytest.mark.parametrize(("width", "size"), [(760.0, 13.0), (241.0, 6.5), (113.4, 6.5)])
@pytest.mark.parametrize("ranks", [DEMSAR, MANY], ids=["4", "20"])
def test_nothing_lies_beyond_the_picture_and_numbers_do_not_touch(width, size, ranks):
    scene = critical_differences([ranks, ranks], width, size)
    for box in shapes_of(scene, Rectangle):
        assert box.width >= 0 and box.height > 0
        assert box.x >= 0 and box.x + box.width <= width and box.y >= 0 and box.y + box.height <= scene.height
    for label in shapes_of(scene, Label):
        wide = width_of(label.text, size)
        left = label.x - {"start": 0, "middle": wide / 2, "end": wide}[label.anchor]
        assert left >= size / 4 and left + wide <= width - size / 4 and 0 < label.y < scene.height, label
    ticks = [label for label in shapes_of(scene, Label) if label.text.isdecimal()]
    for first, other in pairwise(ticks):
        if first.y == other.y:
            assert other.x - first.x > width_of(other.text, size)


def test_svg_and_matplotlib_paint_the_same_diagram():
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib")
    scene = critical_differences([DEMSAR, MANY])
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg(scene))
    assert texts == [text.get_text() for text in painted(scene).axes[0].texts]
    assert "20 methods" in texts and "CD = 1.25" in texts
