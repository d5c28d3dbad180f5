"""A tree of any kind, prepared for display by any painter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.nodes import BLANK as BLANK
from oblique_cli.ground.nodes import Indicator, spoken
from oblique_cli.tree.payloads import LeafModels
from oblique_cli.tree.reading import LevelNames, Reading, Term, Units, number, read, turned
from oblique_cli.tree.scorecards import MOST_SCORES, Score, notes_of, scores_of
from oblique_cli.tree.sparse import arrivals, scored
from oblique_cli.tree.structure import Tree

Array = NDArray[np.float64]

BINS = 24
MOST_TERMS = 7  # of a sum in a line of text
LARGEST = "largest score"  # the prediction rule of a leaf with scores


@dataclass(frozen=True)
class Histogram:
    """Training rows of a node along the sum of its split, by class.

    low, high : ends of the outermost bins, which also count the rows beyond; counts : (bins, classes)
    threshold : the edge of a bin; rows of the first child are all below, those of the second all above
    """

    low: float
    high: float
    threshold: float
    counts: Array


@dataclass(frozen=True)
class NodeView:
    """One node.

    number     number in the fitted tree
    parent     place in `TreeView.nodes`, -1 for the root; parents come before children, siblings in their order
    text       text in the node: the sum or the feature of a split, the class or the equation of a leaf
    way        text beside the line that leads to it, "" for the root
    label      class code as a leaf, -1 if there is none
    is_leaf    whether it has no children; `hidden` counts the hidden leaves below
    counts     (classes,) weight of each class, () if unknown
    n_rows     training rows, -1 if unknown
    terms      of a sum of several features, or of levels: the largest first
    brief      the equation of a leaf with its largest terms only, "" if it is short
    idle       terms of the split that change the side of no training row and are not shown
    scores     class scores of a leaf with a model, or ()
    condition  condition of the first child, in one line
    rule       routing rule as plain data for the page, see `page.py`; {} if the page has none
    """

    number: int
    parent: int
    text: str
    way: str = ""
    label: int = -1
    is_leaf: bool = True
    hidden: int = 0
    counts: tuple[float, ...] = ()
    n_rows: int = -1
    terms: tuple[Term, ...] = ()
    condition: str = ""
    histogram: Histogram | None = None
    rule: Mapping[str, Any] = field(default_factory=dict)
    brief: str = ""
    idle: int = 0
    scores: tuple[Score, ...] = ()

    def largest_scores(self, most: int) -> tuple[Score, ...]:
        """Return at most `most` scores, of the classes with the most rows here, in the order of the classes."""
        if len(self.scores) <= most:
            return self.scores
        first = sorted(self.scores, key=lambda score: (-self.counts[score.label], score.label))[:most]
        return tuple(sorted(first, key=lambda score: score.label))


@dataclass(frozen=True)
class Plane:
    """Rows of two features for the partition beside the tree. tree : its regions are drawn"""

    tree: Tree
    X: Array
    y: NDArray[np.int32]
    names: tuple[str, str]


@dataclass(frozen=True)
class TreeView:
    """A tree, its title and its notes.

    classes : names, () in regression; notes : lines below the title
    toward  : class at the second child of all splits; "" if there is none
    models  : of the leaves, for the page; None without
    """

    title: str
    nodes: tuple[NodeView, ...]
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    plane: Plane | None = None
    toward: str = ""
    models: LeafModels | None = None

    def noted(self, notes: Sequence[str]) -> TreeView:
        """Return the view with further notes before the present ones."""
        return replace(self, notes=(*notes, *self.notes))

    def counts_of(self, node: NodeView, digits: int = 6) -> str:
        """Return the rows of a node, by class if there are classes; "" if unknown."""
        if self.classes and node.counts:
            pairs = zip(self.classes, node.counts, strict=True)
            return ", ".join(f"{name}: {count:.{digits}g}" for name, count in pairs if count)
        return f"{node.n_rows} row{'' if node.n_rows == 1 else 's'}" if node.n_rows >= 0 else ""

    def direction(self, where: str) -> str:
        """Return the meaning of `toward` in a sentence, or "". where : of the second child, as "The right" """
        if not self.toward:
            return ""
        share = f"{where} is the side with the larger share of class {self.toward}"
        return f"{share}; in a node without it, of the node's largest class."

    @property
    def children(self) -> list[list[int]]:
        """Children of every node, in their order."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for place, node in enumerate(self.nodes):
            if node.parent >= 0:
                children[node.parent].append(place)
        return children

    @property
    def depths(self) -> list[int]:
        """Distance of every node from the root."""
        depths = [0] * len(self.nodes)
        for place, node in enumerate(self.nodes[1:], 1):
            depths[place] = depths[node.parent] + 1
        return depths

    def cut(self, depth: int | None) -> TreeView:
        """Return the upper `depth` levels of splits, all if None; leaves below are counted in `hidden`."""
        depths = self.depths
        if depth is None or max(depths) <= depth:
            return self
        leaves = [0] * len(self.nodes)
        for place in reversed(range(len(self.nodes))):
            leaves[place] += self.nodes[place].is_leaf
            if place:
                leaves[self.nodes[place].parent] += leaves[place]
        places: dict[int, int] = {-1: -1}
        nodes: list[NodeView] = []
        for place, node in enumerate(self.nodes):
            if depths[place] > depth:
                continue
            places[place] = len(nodes)
            hidden = 0 if node.is_leaf or depths[place] < depth else leaves[place]
            node = replace(node, parent=places[node.parent])
            if hidden:
                label = self.classes[node.label] if 0 <= node.label < len(self.classes) else ""
                node = replace(node, hidden=hidden, text=label, terms=(), condition="", histogram=None, rule={})
            nodes.append(node)
        shown = f"{depth} level{'' if depth == 1 else 's'} of splits of {max(depths)}"
        return replace(self, nodes=tuple(nodes), notes=(*self.notes, f"The first {shown} are shown."))


def printable(name: str) -> str:
    """Return a name without line ends and control characters, which a CSV header may hold; an `Indicator` stays one."""
    if isinstance(name, Indicator):
        return name.each(printable)
    return "".join(char if char.isprintable() or char == BLANK else " " for char in str(name))


def unbroken(name: str) -> str:
    """Return a name without line breaks; an `Indicator` stays one."""
    if isinstance(name, Indicator):
        return name.each(unbroken)
    return printable(name).replace(" ", BLANK)


def view_of(
    tree: Tree,
    feature_names: Sequence[str],
    class_names: Sequence[str],
    *,
    title: str = "",
    precision: int = 3,
    level_names: LevelNames | None = None,
    rows: tuple[Array, NDArray[np.int32]] | None = None,
    units: Units | None = None,
    light: Tree | None = None,
    most: int | None = None,
) -> TreeView:
    """Return a hyperplane tree prepared for display.

    feature_names, class_names : (p,), an `Indicator` where a feature is a level, and (C,)
    level_names : qualitative feature -> a name for each level code
    rows  : the training rows (n, p) and their class codes, for histograms, and for the partition of two features
    units : of weights; without them standard deviations of the rows, or the features' own without rows
    light : the same tree with fewer terms (`tree.sparse.Light`), whose splits are shown instead
    most : number of terms to show per condition, None for all
    """
    light = light or tree
    names = [unbroken(name) for name in feature_names]
    classes = tuple(printable(name) for name in class_names)
    levels = {j: [spoken(unbroken(name)) for name in texts] for j, texts in (level_names or {}).items()}
    if units is None:
        units = Units.raw(tree.n_features) if rows is None else Units.deviations(rows[0], tree.levels)
    flipped = turned(tree)
    arrived = None if rows is None else arrivals(tree, rows[0])
    nodes: list[NodeView] = []
    models, toward = tree.leaf_models, int(tree.labels[0])
    cards: dict[str, Any] = {"first": toward, "raw": not units.standard, "precision": precision, "most": most}
    cards["level_names"] = level_names or {}
    summed = False
    stack: list[tuple[int, int, str]] = [(0, -1, "")]
    while stack:
        node, parent, way = stack.pop()
        counts = tuple(tree.counts[node].tolist())
        label, n_rows = int(tree.labels[node]), int(tree.n_rows[node])
        place = len(nodes)
        if tree.is_leaf[node]:
            leaf = NodeView(node, parent, classes[label], way, label, True, 0, counts, n_rows)
            nodes.append(leaf if models is None else _scored(leaf, models, names, classes, **cards))
            continue
        reading = read(light, node, bool(flipped[node]), names, units, precision, levels, most)
        summed |= len(reading.terms) > 1
        histogram = None
        if rows is not None and arrived is not None:
            histogram = _histogram(light, node, reading, rows[0], rows[1], arrived[node], len(classes))
        split = (node, parent, reading.expression, way, label, False, 0, counts, n_rows)
        terms = reading.terms if len(reading.terms) > 1 or reading.terms[0].levels else ()
        rule = _rule(tree, light, node, bool(flipped[node]), reading)
        idle = int(np.count_nonzero(tree.coef_[node]) - np.count_nonzero(light.coef_[node]))
        nodes.append(NodeView(*split, terms, reading.condition, histogram, rule, idle=idle))
        first, second = int(tree.left[node]), int(tree.right[node])
        if flipped[node]:
            first, second = second, first
        stack += [(second, place, reading.second), (first, place, reading.first)]
    remarks: list[str] = []
    if summed and units.standard:
        remarks.append("Weights are per standard deviation: in a sum, a name stands for (value - mean) / SD.")
    if models is not None and any(node.scores for node in nodes):
        remarks += notes_of(models, classes, toward, not units.standard)
    plane = None
    if rows is not None and models is None and tree.n_features == 2 and not any(tree.levels):
        plane = Plane(tree, *rows, (names[0], names[1])) if np.isfinite(rows[0]).all() else None
    side = classes[toward] if len(nodes) > 1 else ""
    return TreeView(printable(title), tuple(nodes), classes, tuple(remarks), plane, side, models)


def _scored(leaf: NodeView, models: LeafModels, names: Sequence[str], classes: Sequence[str], **how: Any) -> NodeView:
    """Return a leaf with its model; if no model has a term, with the class of the largest intercept."""
    node = leaf.number
    scores = scores_of(models, node, names, classes, **how)
    if not any(score.terms for score in scores):
        label = int(models.intercept[node].argmax())
        return replace(leaf, text=classes[label], label=label)
    return replace(leaf, text=scores[0].name if len(scores) == 1 else LARGEST, label=-1, scores=scores)


def _histogram(
    tree: Tree, node: int, reading: Reading, X: Array, y: NDArray[np.int32], rows: NDArray[np.intp], n_classes: int
) -> Histogram | None:
    """Return the histogram of a node's rows along the sum of its split, without rows that lack a value of it."""
    coef = tree.coef_[node]
    alone = len(reading.terms) == 1
    is_of_levels = alone and (reading.terms[0].levels or reading.terms[0].yes)
    if not len(rows) or is_of_levels or np.abs(tree.thresholds[node]) > 1e300:
        return None
    used = np.flatnonzero(coef)
    numbers = [j for j in used if j not in tree.level_columns]
    part = X[rows]
    known = np.isfinite(part[:, numbers]).all(axis=1)
    values = scored(tree, node, part[known])
    sums = values @ coef
    goes_first = (sums <= tree.thresholds[node]) != reading.flipped
    if alone:
        # The axis is the feature itself; larger values are on the right, whichever child they go to.
        sums = values[:, used[0]]
        below = sums <= reading.threshold if coef[used[0]] > 0 else sums < reading.threshold
    else:
        sums, below = (sums - reading.shift) / reading.scale, goes_first
    return histogram(sums, below, reading.threshold, y[rows][known], n_classes)


def histogram(
    sums: Array, below: NDArray[np.bool_], threshold: float, codes: NDArray[Any], n_classes: int
) -> Histogram | None:
    """Return the histogram of `sums` (n,) by class; `below` (n,) is whether a row lies below the threshold."""
    if not len(sums) or not np.isfinite(sums).all() or not np.isfinite(threshold):
        return None
    # A few distant rows would leave one bin for all others.
    low, high = np.quantile(sums, [0.01, 0.99])
    low, high = min(float(low), threshold), max(float(high), threshold)
    if not high > low:
        low, high = threshold - 0.5, threshold + 0.5
    width = (high - low) / (BINS - 1)
    if not 0.0 < width < np.inf:
        return None
    before = int(np.clip(np.ceil((threshold - low) / width - 1e-9), 1, BINS - 1))
    low = threshold - before * width
    bins = np.floor((np.clip(sums, low, low + BINS * width) - low) / width).astype(np.int64)
    bins = np.where(below, np.clip(bins, 0, before - 1), np.clip(bins, before, BINS - 1))
    counts = np.bincount(bins * n_classes + codes, minlength=BINS * n_classes).reshape(BINS, n_classes).astype(float)
    return Histogram(low, low + BINS * width, threshold, counts)


def _rule(tree: Tree, light: Tree, node: int, flipped: bool, reading: Reading) -> dict[str, Any]:
    """Return the rule that routes rows in the page: sums over `c` of at most `t` go to the first child; `f` reverses.

    The page shows the sum over `v` with the threshold `w` if it has fewer terms.
    """

    def sum_of(source: Tree) -> list[list[float]]:
        return [[j, float(source.coef_[node, j])] for j in np.flatnonzero(source.coef_[node]).tolist()]

    rule: dict[str, Any] = {"c": sum_of(tree), "t": float(tree.thresholds[node]), "f": int(flipped)}
    if light is not tree and not np.array_equal(light.coef_[node], tree.coef_[node]):
        rule |= {"v": sum_of(light), "w": float(light.thresholds[node])}
    if scores := {
        str(j): tree.level_scores[node, tree.level_columns[j]].tolist() for j, _ in rule["c"] if j in tree.level_columns
    }:
        rule["s"] = scores
    if tree.missing_left is not None:
        rule["m"] = int(tree.missing_left[node])
    rule["u"] = [reading.scale, reading.shift, reading.threshold] if len(reading.terms) > 1 else []
    return rule


def text_of(view: TreeView, precision: int = 3, width: int = 100) -> str:
    """Return the view of a tree as nested "if" and "else", lines broken between terms, never in a name.

    One split, with four training rows of class a on its left, one of a and three of b on its right:

        if 0.8 height - 0.6 width <= 0.5:  (a: 5, b: 3)
            a  (a: 4)
        else:
            b  (a: 1, b: 3)
    """
    children = view.children

    def counted(node: NodeView) -> str:
        if not view.classes:
            return ""
        counts = zip(view.classes, node.counts, strict=True)
        return f"  ({', '.join(f'{unbroken(name)}: {n:.10g}' for name, n in counts if n)})"

    lines: list[str] = []
    stack: list[tuple[int | str, int]] = [(0, 0)]
    while stack:
        entry, depth = stack.pop()
        indent = "    " * depth
        if isinstance(entry, str):
            lines.append(indent + entry)
            continue
        node = view.nodes[entry]
        if node.is_leaf and len(node.scores) == 1:
            lines += broken(f"{node.text}: {node.scores[0].formula}{counted(node)}", indent, width)
        elif node.is_leaf:
            lines += broken(f"{node.brief or node.text}{counted(node)}", indent, width)
            shown = node.largest_scores(MOST_SCORES)
            for score in shown:
                lines += broken(f"{unbroken(score.name)}: {score.formula}", f"{indent}    ", width)
            if len(shown) < len(node.scores):
                lines.append(f"{indent}    and {len(node.scores) - len(shown)} more classes")
        elif node.hidden:
            mostly = f", mostly {node.text}" if node.text else ""
            lines.append(f"{indent}...  {node.hidden} leaves{mostly}{counted(node)}")
        else:
            lines += broken(f"if {node.condition}:{counted(node)}", indent, width)
            first, second = children[entry]
            stack += [(second, depth + 1), ("else:", depth), (first, depth + 1)]
    return "\n".join(line.replace(BLANK, " ") for line in lines) + "\n"


# A line of rules may break only before a sign, a comparison or the text after a condition, and after a comma.
_BREAKS = re.compile(r" (?=[+-][ \N{NO-BREAK SPACE}]|[<>]=? |with |and \d+ (?:smaller|more) term|\()|(?<=,) ")


def broken(text: str, indent: str, width: int) -> list[str]:
    """Return a line of rules as lines of at most `width` characters, if its names allow."""
    first, *pieces = _BREAKS.split(text)
    lines, line = [], indent + first
    for piece in pieces:
        if len(line) + 1 + len(piece) > width:
            lines.append(line.rstrip())
            line = f"{indent}      {piece.lstrip()}"
        else:
            line += f" {piece}"
    return [*lines, line]


def number_of(value: float, precision: int = 3) -> str:
    """Return a number as text of drawings, with a typographic minus sign."""
    text = number(value, precision)
    return f"−{text[1:]}" if text[0] == "-" else text
