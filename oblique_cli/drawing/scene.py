"""A drawing as shapes on a page, the input of every painter; and the scene of a tree.

Lengths are CSS pixels (1/72 inch on paper), y grows downward. A shape names a class of `STYLES`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from oblique_cli.drawing.layout import tidy
from oblique_cli.drawing.palette import N_COLORS
from oblique_cli.drawing.polygons import divide
from oblique_cli.drawing.view import BLANK, Histogram, NodeView, Plane, TreeView, number_of
from oblique_cli.tree.scorecards import more

SIZE = 11.0  # of text
SMALL = 9.5
LINE = 15.0
PAD = 9.0
MOST_TERMS = 5
MANY_SPLITS = 24  # a larger tree shows FEWER_TERMS per node
FEWER_TERMS = 3
MOST_COUNTS = 4  # of classes, as numbers; the bar shows all
MOST_LINES = 6
HISTOGRAM = 34.0
BAR = 6.0
WIDEST, ROOMY = 230.0, 420.0  # most width of a card; the second one for long names, where the whole tree has room
NARROWEST = 92.0
MARGIN = 18.0
WIDE_TREE = 1080.0  # a wider tree is drawn sideways
MOST_POINTS = 4000
WHOLE, FIRST = 40, 4  # a page shows trees of up to WHOLE leaves completely, of larger trees the FIRST levels


class Rectangle(NamedTuple):
    """A box; radius of its corners."""

    x: float
    y: float
    width: float
    height: float
    style: str
    radius: float = 0.0


class Line(NamedTuple):
    """A line through points, closed to a polygon if `closed`."""

    points: Sequence[tuple[float, float]]
    style: str
    closed: bool = False


class Link(NamedTuple):
    """A smooth line from parent to child: straight to `knee`, past all cards of the level, then curved."""

    start: tuple[float, float]
    knee: tuple[float, float]
    end: tuple[float, float]
    sideways: bool
    child: int
    style: str = "link"

    @property
    def bends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The control points between knee and end."""
        (a, b), (c, d) = self.knee, self.end
        if self.sideways:
            return ((a + c) / 2, b), ((a + c) / 2, d)
        return (a, (b + d) / 2), (c, (b + d) / 2)


class Label(NamedTuple):
    """A line of text on its baseline. anchor : start, middle or end"""

    x: float
    y: float
    text: str
    style: str = "text"
    anchor: str = "start"
    size: float = SIZE
    bold: bool = False


class Dots(NamedTuple):
    """Points of one class."""

    points: Sequence[tuple[float, float]]
    style: str


Shape = Rectangle | Line | Link | Label | Dots


@dataclass
class Group:
    """Shapes of a node. place : in `TreeView.nodes`, -1 without a node; title : the tooltip"""

    shapes: list[Shape] = field(default_factory=list)
    place: int = -1
    title: str = ""


@dataclass(frozen=True)
class Scene:
    """A whole picture. sideways : whether the root of its tree is on the left"""

    width: float
    height: float
    groups: list[Group]
    title: str
    description: str
    sideways: bool = False


# ---- text ------------------------------------------------------------------------------------------------------------

# Advance widths of DejaVu Sans from the blank on, in hundredths of the size. Few sans-serif fonts are wider.
_WIDTHS = (
    "32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53 100 68 69 70 77 "
    "63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50 50 61 63 55 63 62 35 63 63 28 "
    "28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84"
)
_WIDTH = {chr(32 + k): int(width) / 100 for k, width in enumerate(_WIDTHS.split())}


def width_of(text: str, size: float = SIZE, bold: bool = False) -> float:
    """Return an estimate of the width of a text, rather too large than too small."""
    total = 0.0
    for char in text:
        if unicodedata.combining(char):
            continue
        wide = unicodedata.east_asian_width(char) in "WF"
        total += _WIDTH.get(char, 1.05 if wide else 0.32 if char == BLANK else 0.7)
    return total * size * (1.1 if bold else 1.0)


def shortened(text: str, most: float, size: float = SIZE, bold: bool = False) -> str:
    """Return the text, shortened in the middle if it is wider than `most`."""
    if width_of(text, size, bold) <= most:
        return text
    for keep in range(len(text) - 1, 0, -1):
        tail = keep // 3
        cut = f"{text[: keep - tail]}…{text[len(text) - tail :] if tail else ''}"
        if width_of(cut, size, bold) <= most:
            return cut
    return "…"


def lines_of(text: str, most: float, size: float = SIZE, bold: bool = False, count: int = MOST_LINES) -> list[str]:
    """Return a text in lines of at most that width, broken between words only; wider words are shortened."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if line and width_of(longer, size, bold) > most:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    if len(lines) > count:
        lines = [*lines[: count - 1], lines[count - 1] + " …"]
    return [shortened(line.strip(" "), most, size, bold) for line in lines]


# ---- nodes -----------------------------------------------------------------------------------------------------------


@dataclass
class Card:
    """A node drawn with its upper left corner at the origin."""

    width: float
    height: float
    shapes: list[Shape]


def style_of(code: int) -> str:
    """Return the style of a class: the color of its code; colors repeat."""
    return f"k{code % N_COLORS}"


def _card(node: NodeView, view: TreeView, most_terms: int, widest: float) -> Card:
    """Return the card of a node: its text, its histogram, its classes as a bar and as counts."""
    if node.scores:
        return _scorecard(node, view, most_terms, widest)
    return _leaf(node, view, widest) if node.is_leaf or node.hidden else _split(node, view, most_terms, widest)


def _lines(text: str, widest: float, **how: Any) -> list[str]:
    """Return a text in lines of a card, wider than WIDEST only for a word that would be cut."""
    word = max((width_of(word, bold=how.get("bold", False)) for word in text.split()), default=0.0)
    return lines_of(text, min(max(WIDEST, word + 2 * PAD), widest) - 2 * PAD, **how)


def _split(node: NodeView, view: TreeView, most_terms: int, widest: float) -> Card:
    shapes: list[Shape] = []
    y = PAD
    if len(node.terms) > 1:
        shown = node.terms if len(node.terms) <= most_terms + 1 else node.terms[:most_terms]
        width = max(_width_of_bars([term.name for term in shown], widest), 168.0)
        largest = max(abs(term.weight) for term in node.terms) or 1.0
        shapes += _bars([(term.name, term.weight) for term in shown], y, width, largest)
        y += LINE * len(shown)
        if len(shown) < len(node.terms):
            more = len(node.terms) - len(shown)
            shapes.append(Label(PAD, y + 10, f"and {more} smaller terms", "muted", size=SMALL))
            y += LINE
    else:
        lines = _lines(node.text, widest, bold=True)
        width = max(max(width_of(line, bold=True) for line in lines) + 2 * PAD, 132.0)
        shapes += _middle(lines, y, width)
        y += LINE * len(lines)
    if node.histogram is not None:
        y += 5
        shapes += histogram_shapes(node.histogram, PAD, y, width - 2 * PAD, HISTOGRAM)
        y += HISTOGRAM + 4
    return _finished(node, view, shapes, width, y, "card")


BARS, NUMBERS = 44.0, 40.0  # widths


def _width_of_bars(names: Sequence[str], widest: float) -> float:
    longest = max((width_of(name) for name in names), default=0.0)
    return min(longest, widest - 2 * PAD - BARS - NUMBERS - 12) + BARS + NUMBERS + 12 + 2 * PAD


def _bars(weights: Sequence[tuple[str, float]], y: float, width: float, largest: float) -> list[Shape]:
    """Return names with their weights as bars about an axis, one per line; largest : the weight of the longest bar"""
    across = width - BARS - NUMBERS - 12 - 2 * PAD + 1e-6  # so that rounding shortens no name
    middle = PAD + across + 6 + BARS / 2
    shapes: list[Shape] = [Line([(middle, y + 1), (middle, y + LINE * len(weights) - 1)], "axis")]
    for name, weight in weights:
        length = BARS / 2 * abs(weight) / largest
        left = middle - length if weight < 0 else middle
        text = number_of(weight, 3)
        if 0.05 <= largest <= 1.0 + 1e-9:  # as weights per standard deviation are
            text = "0.00" if abs(weight) < 0.005 else f"{weight:.2f}".replace("-", "−")
        shapes += [
            Label(PAD, y + 11, shortened(name, across)),
            Rectangle(left, y + 3.5, max(length, 0.6), 8, "minus" if weight < 0 else "plus", 1.0),
            Label(width - PAD, y + 11, text, "text", "end"),
        ]
        y += LINE
    return shapes


def _scorecard(node: NodeView, view: TreeView, most_terms: int, widest: float) -> Card:
    """Return the card of a leaf with scores: for each class the intercept and the largest terms."""
    shown = node.largest_scores(MOST_COUNTS)
    most = most_terms if len(shown) < MOST_COUNTS else min(most_terms, FEWER_TERMS)
    parts = [score.terms if len(score.terms) <= most + 1 else score.terms[:most] for score in shown]
    width = max(_width_of_bars([term.name for terms in parts for term in terms], widest), 168.0)
    largest = max((abs(term.weight) for terms in parts for term in terms), default=1.0)
    shapes: list[Shape] = []
    y = PAD
    for score, terms in zip(shown, parts, strict=True):
        start = number_of(score.intercept, 3)
        room = width - 2 * PAD - 16 - width_of(start)
        shapes += [
            Rectangle(PAD, y + 3, 8, 8, style_of(score.label), 1.5),
            Label(PAD + 13, y + 11, shortened(score.name, room, bold=True), bold=True),
            Label(width - PAD, y + 11, start, "text", "end"),
        ]
        y += LINE
        if terms:
            shapes += _bars([(term.name, term.weight) for term in terms], y, width, largest)
            y += LINE * len(terms)
        if rest := more(len(score.terms) - len(terms)):
            shapes.append(Label(PAD, y + 10, rest.strip(), "muted", size=SMALL))
            y += LINE
        y += 3
    if len(shown) < len(node.scores):
        shapes.append(Label(PAD, y + 10, f"and {len(node.scores) - len(shown)} more classes", "muted", size=SMALL))
        y += LINE
    return _finished(node, view, shapes, width, y, "leaf")


def _leaf(node: NodeView, view: TreeView, widest: float) -> Card:
    if not view.classes and not node.hidden:
        return _equation(node, view, widest)
    text = node.text
    if node.hidden:
        text = f"{node.hidden} leaves" + (f"\nmostly {text}" if text else "")
    lines = _lines(text, widest, bold=True)
    width = max(max(width_of(line, bold=True) for line in lines) + 2 * PAD, NARROWEST)
    counts = _counts(node, view)
    width = min(max(width, sum(width_of(text, SMALL) + 17 for _, text in counts) + 2 * PAD - 6), widest)
    shapes, y = _middle(lines, PAD - 1, width), PAD - 1 + LINE * len(lines)
    return _finished(node, view, shapes, width, y, "more" if node.hidden else "leaf")


def _middle(lines: Sequence[str], y: float, width: float) -> list[Shape]:
    return [Label(width / 2, y + 11 + LINE * k, line, anchor="middle", bold=True) for k, line in enumerate(lines)]


def _equation(node: NodeView, view: TreeView, widest: float) -> Card:
    """Return the card of a model tree's leaf."""
    lines = _lines(node.text, widest, count=12)
    width = max(max(width_of(line) for line in lines) + 2 * PAD, NARROWEST)
    shapes: list[Shape] = [Label(PAD, PAD + 10 + LINE * k, line) for k, line in enumerate(lines)]
    return _finished(node, view, shapes, width, PAD + LINE * len(lines), "leaf")


def _finished(node: NodeView, view: TreeView, shapes: list[Shape], width: float, y: float, style: str) -> Card:
    """Return the card with its bar and counts, on its background."""
    if view.classes and sum(node.counts) > 0:
        y += 2
        x, total = PAD, sum(node.counts)  # a bar of the shares of classes
        for code, count in enumerate(node.counts):
            if count > 0:
                wide = (width - 2 * PAD) * count / total
                shapes.append(Rectangle(x, y, wide, BAR, style_of(code)))
                x += wide
        y += BAR + 3
    if counts := _counts_row(node, view, width, y):
        shapes += counts
        y += LINE - 1
    height = y + PAD - 4
    back: list[Shape] = [Rectangle(0, 0, width, height, style, 7.0)]
    if style == "leaf" and view.classes and node.label >= 0:
        back.append(Rectangle(0, 0, width, height, f"t{node.label % N_COLORS}", 7.0))
    return Card(width, height, back + shapes)


def _counts(node: NodeView, view: TreeView) -> list[tuple[int, str]]:
    """Return class codes with their counts as text, the largest first; -1 for a remark."""
    if not view.classes or not node.counts:
        return [(-1, view.counts_of(node))] if node.n_rows >= 0 else []
    present = [(code, count) for code, count in enumerate(node.counts) if count > 0]
    present.sort(key=lambda pair: (-pair[1], pair[0]))
    shown = present if len(present) <= MOST_COUNTS else present[: MOST_COUNTS - 1]
    counts = [(code, f"{count:.6g}") for code, count in shown]
    if rest := sum(count for _, count in present[len(shown) :]):
        counts.append((-1, f"+{rest:.6g}"))
    return counts


def _counts_row(node: NodeView, view: TreeView, width: float, y: float) -> list[Shape]:
    counts = _counts(node, view)
    widths = [width_of(text, SMALL) + (11 if code >= 0 else 0) for code, text in counts]
    total = sum(widths) + 8 * (len(widths) - 1)
    x = (width - total) / 2
    shapes: list[Shape] = []
    for (code, text), wide in zip(counts, widths, strict=True):
        if code >= 0:
            shapes.append(Rectangle(x, y + 3, 7, 7, style_of(code), 1.5))
        shapes.append(Label(x + (11 if code >= 0 else 0), y + 10.5, text, "muted", size=SMALL))
        x += wide + 8
    return shapes


def histogram_shapes(histogram: Histogram, x: float, y: float, width: float, height: float) -> list[Shape]:
    """Return a stacked histogram with its threshold; one outline per class."""
    bins, n_classes = histogram.counts.shape
    most = float(histogram.counts.sum(axis=1).max()) or 1.0
    step = width / bins
    shapes: list[Shape] = []
    base = np.zeros(bins)
    for code in range(n_classes):
        column = histogram.counts[:, code]
        if not column.any():
            continue
        top = base + column
        for first, last in _runs(column > 0):
            upper = [(k, top[k]) for k in range(first, last)]
            lower = [(k, base[k]) for k in range(last - 1, first - 1, -1)]
            points = [point for k, value in upper for point in ((k, value), (k + 1, value))]
            points += [point for k, value in lower for point in ((k + 1, value), (k, value))]
            places = [(x + k * step, y + height * (1.0 - value / most)) for k, value in points]
            shapes.append(Line(_without_repeats(places), style_of(code), closed=True))
        base = top
    shapes.append(Line([(x, y + height), (x + width, y + height)], "axis"))
    at = x + width * (histogram.threshold - histogram.low) / (histogram.high - histogram.low)
    shapes.append(Line([(at, y - 2), (at, y + height + 2)], "cut"))
    return shapes


def _runs(flags: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the first and last + 1 index of every run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _without_repeats(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of an outline, without repeated points and points on a straight piece."""
    corners: list[tuple[float, float]] = []
    for point in points:
        if corners and point == corners[-1]:
            continue
        if len(corners) > 1 and corners[-2][1] == corners[-1][1] == point[1]:
            corners.pop()
        corners.append(point)
    return corners


# ---- the whole picture -----------------------------------------------------------------------------------------------


def scene_of(view: TreeView, sideways: bool | None = None, heading: bool = True) -> Scene:
    """Return the picture of a tree.

    sideways : whether the root is on the left; by default only if the tree would otherwise be too wide
    heading  : whether title, notes and classes are above the tree
    """
    splits = sum(not node.is_leaf for node in view.nodes)
    most_terms = MOST_TERMS if splits <= MANY_SPLITS else FEWER_TERMS
    depths = view.depths
    ways = [lines_of(node.way, 132.0, SMALL, count=2) if node.way else [] for node in view.nodes]
    for widest in (ROOMY, WIDEST):
        cards = [_card(node, view, most_terms, widest) for node in view.nodes]
        wide = _placed(view, cards, depths, ways, sideways=False)[1] > WIDE_TREE
        if not wide:
            break
    sideways = wide if sideways is None else sideways
    corners, width, height, ends = _placed(view, cards, depths, ways, sideways)
    head, top = Group(), MARGIN
    if heading:
        head, top = _heading(view, max(width, 320.0), "Below" if sideways else "The right")
    tree: list[Group] = []
    links = Group()
    for place, node in enumerate(view.nodes):
        x, y = corners[place]
        card = cards[place]
        tree.append(Group(list(_shifted(card.shapes, x + MARGIN, y + top)), place, _tooltip(node, view)))
        if node.parent < 0:
            continue
        px, py = corners[node.parent]
        above = cards[node.parent]
        if sideways:
            start = (px + above.width, py + above.height / 2)
            knee, end = (ends[depths[node.parent]], start[1]), (x, y + card.height / 2)
        else:
            start = (px + above.width / 2, py + above.height)
            knee, end = (start[0], ends[depths[node.parent]]), (x + card.width / 2, y)
        start, knee, end = ((a + MARGIN, b + top) for a, b in (start, knee, end))
        links.shapes.append(Link(start, knee, end, sideways, place))
        for k, line in enumerate(reversed(ways[place])):
            at = (end[0] - 6, end[1] - 5 - 12 * k) if sideways else (end[0], end[1] - 7 - 12 * k)
            links.shapes.append(Label(*at, line, "way", "end" if sideways else "middle", SMALL))
    groups = [head, links, *tree]
    height += top + MARGIN
    least = 320.0 if heading else 0.0
    labels = (shape for shape in head.shapes if isinstance(shape, Label))
    edges = (label.x + width_of(label.text, label.size, label.bold) for label in labels)
    width = max(width + 2 * MARGIN, least, *(edge + MARGIN for edge in edges))
    if view.plane is not None:
        side = 300.0
        groups.append(Group(partition_shapes(view.plane, width + 34, top + 4, side)))
        width += side + 34 + MARGIN
        height = max(height, top + side + 50)
    title = view.title or "A decision tree"
    description = f"{title}. {' '.join(view.notes)}"
    return Scene(float(np.ceil(width)), float(np.ceil(height)), groups, title, description, sideways)


def _placed(
    view: TreeView, cards: Sequence[Card], depths: Sequence[int], ways: Sequence[Sequence[str]], sideways: bool
) -> tuple[list[tuple[float, float]], float, float, list[float]]:
    """Return the upper left corners of the cards, their total width and height, and the end of each level."""
    levels = max(depths) + 1
    on_level: list[list[int]] = [[] for _ in range(levels)]
    for place, depth in enumerate(depths):
        on_level[depth].append(place)
    wide = [max((width_of(line, SMALL) for line in lines), default=0.0) for lines in ways]
    if sideways:
        along = [card.height + max(0.0, 12.0 * len(lines) - 8) for card, lines in zip(cards, ways, strict=True)]
        deep = [max(cards[place].width for place in level) for level in on_level]
        gaps = [max(wide[place] for place in level) + 34.0 for level in on_level]
    else:
        along = [max(card.width, w) for card, w in zip(cards, wide, strict=True)]
        deep = [max(cards[place].height for place in level) for level in on_level]
        gaps = [30.0 + 12.0 * max(len(ways[place]) for place in level) for level in on_level]
    middles = tidy(view.children, along, 14.0, 22.0)
    starts, at = [], 0.0
    for d in range(levels):
        at += gaps[d] if d else 0.0
        starts.append(at)
        at += deep[d]
    corners = [
        (starts[depth], middle - card.height / 2) if sideways else (middle - card.width / 2, starts[depth])
        for card, depth, middle in zip(cards, depths, middles.tolist(), strict=True)
    ]
    length = float((middles + np.array(along) / 2).max())
    ends = [start + size for start, size in zip(starts, deep, strict=True)]
    return (corners, at, length, ends) if sideways else (corners, length, at, ends)


def _heading(view: TreeView, width: float, second: str) -> tuple[Group, float]:
    """Return title, notes and classes, and the upper edge of the tree."""
    group, y = Group(), MARGIN
    wide = max(width, 560.0)
    if view.title:
        for line in lines_of(view.title, wide, 15.0, bold=True):
            group.shapes.append(Label(MARGIN, y + 13, line, size=15.0, bold=True))
            y += 21
    for note in filter(None, (*view.notes, view.direction(second))):
        for line in lines_of(note, wide, SIZE):
            group.shapes.append(Label(MARGIN, y + 11, line, "muted"))
            y += LINE
    if view.classes:
        y += 5
        x = MARGIN
        root = view.nodes[0].counts
        for code, name in enumerate(view.classes):
            text = shortened(name, 220.0) + (f"{BLANK}({root[code]:.6g})" if root else "")
            long = width_of(text) + 32
            if x > MARGIN and x + long > wide + MARGIN:
                x, y = MARGIN, y + LINE + 2
            group.shapes += [Rectangle(x, y + 2, 10, 10, style_of(code), 2.0), Label(x + 15, y + 11, text)]
            x += long
        y += LINE + 2
    return group, y + 16


def _tooltip(node: NodeView, view: TreeView) -> str:
    hidden = f"{node.hidden} leaves, not shown" if node.hidden else ""
    scores = [score.formula if len(node.scores) == 1 else f"{score.name}: {score.formula}" for score in node.scores]
    text = "; ".join(part for part in (node.condition or node.text, *scores, hidden, view.counts_of(node, 10)) if part)
    return text.replace(BLANK, " ")


def _shifted(shapes: Sequence[Shape], x: float, y: float) -> Iterator[Shape]:
    for shape in shapes:
        if isinstance(shape, Rectangle | Label):
            yield shape._replace(x=shape.x + x, y=shape.y + y)
        elif isinstance(shape, Line | Dots):
            yield shape._replace(points=[(a + x, b + y) for a, b in shape.points])


def partition_shapes(plane: Plane, x: float, y: float, side: float) -> list[Shape]:
    """Return the regions of a tree of two features with its rows, in a square."""
    # Each feature is scaled to fill its side, because units may differ.
    low, high = plane.X.min(axis=0), plane.X.max(axis=0)
    edge = np.where(high > low, 0.05 * (high - low), 0.5)
    (x0, y0), (x1, y1) = low - edge, high + edge
    box = np.array([[x0, y0], [x1, y1]])

    def at(points: np.ndarray) -> list[tuple[float, float]]:
        across = x + side * (points[:, 0] - x0) / (x1 - x0)
        up = y + side * (1.0 - (points[:, 1] - y0) / (y1 - y0))
        return [(float(a), float(b)) for a, b in zip(across, up, strict=True)]

    divided = divide(plane.tree, box)
    shapes: list[Shape] = [
        Line(at(polygon), f"t{int(plane.tree.labels[leaf]) % N_COLORS}", closed=True)
        for leaf, polygon in divided.leaves.items()
    ]
    shapes += [Line(at(ends), "cut") for ends in divided.cuts.values()]
    step = -(-len(plane.X) // MOST_POINTS)
    for code in np.unique(plane.y):
        shapes.append(Dots(at(plane.X[plane.y == code][::step]), style_of(int(code))))
    corners = [(x, y), (x + side, y), (x + side, y + side), (x, y + side)]
    shapes.append(Line(corners, "frame", closed=True))
    shapes += [
        Label(x, y + side + 16, shortened(plane.names[0], side - 90), "text"),
        Label(x + side, y + side + 16, f"{number_of(float(x0))} to {number_of(float(x1))}", "muted", "end", SMALL),
        Label(x, y - 8, shortened(plane.names[1], side - 90), "text"),
        Label(x + side, y - 8, f"{number_of(float(y0))} to {number_of(float(y1))}", "muted", "end", SMALL),
    ]
    return shapes
