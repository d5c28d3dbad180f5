"""A fitted tree as a drawing: conditions above, leaves with their class and counts below."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.drawing.canvas import blank, tint
from oblique_cli.drawing.partition import cuts, frame, points, regions
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.errors import ConfigError
from oblique_cli.nodes import depths_of_parents
from oblique_cli.tree.describe import condition
from oblique_cli.tree.structure import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# No page shows more leaves than this, or more terms in a condition, legibly.
MOST_LEAVES = 64
MOST_TERMS = 8
LEAF_WIDTH = 1.5
BETWEEN_LEVELS = 0.7
LINE_HEIGHT = 0.13
LETTERS = 26  # in a line of a condition
GREY = (0.9, 0.9, 0.9)


@dataclass(frozen=True)
class Sketch:
    """What a drawing needs to know of a tree of any kind.

    parents   (n_nodes,) -1 for the root, which is node 0; parents come before children, and siblings in their order
    texts     what stands in each node
    ways      what stands beside the line that leads to each node, "" for the root
    shades    class code that a leaf is tinted by, -1 for a node that is grey
    """

    parents: NDArray[np.int64]
    texts: Sequence[str]
    ways: Sequence[str]
    shades: Sequence[int]

    @property
    def children(self) -> list[list[int]]:
        """Children of every node, in their order."""
        found: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                found[parent].append(node)
        return found

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return sum(not below for below in self.children)


def drawn(sketch: Sketch, title: str = "", beside: bool = False) -> tuple[Figure, Axes | None]:
    """Return the figure of a sketch, and with `beside` the square axes next to it.

    Raises ConfigError for a tree of more than 64 leaves, or without matplotlib.
    """
    if sketch.n_leaves > MOST_LEAVES:
        raise ConfigError(
            f"the tree has {sketch.n_leaves} leaves and at most {MOST_LEAVES} can be drawn: limit it, as by "
            "--set max_depth=4, or print it as text."
        )
    depth = int(depths_of_parents(sketch.parents).max())
    most_lines = max(text.count("\n") + 1 for text in sketch.texts)
    figure, axes = blank(
        widths=(max(LEAF_WIDTH * sketch.n_leaves, 3.0), *((4.0,) if beside else ())),
        height=max((BETWEEN_LEVELS + LINE_HEIGHT * most_lines) * (depth + 1), 3.6 if beside else 0.0),
    )
    figure.suptitle(title, fontsize=9.0, parse_math=False)
    diagram(axes[0], sketch)
    return figure, axes[1] if beside else None


def drawing(
    tree: Tree,
    feature_names: Sequence[str],
    class_names: Sequence[str],
    *,
    title: str = "",
    precision: int = 3,
    level_names: Mapping[int, Sequence[str]] | None = None,
    rows: tuple[NDArray[np.float64], NDArray[np.int32]] | None = None,
) -> Figure:
    """Return the figure of a tree. rows : training rows and codes, shown too if there are two quantitative features.

    Raises ConfigError for a tree of more than 64 leaves, or without matplotlib.
    """
    beside = rows is not None and tree.n_features == 2 and not any(tree.levels)
    figure, axes = drawn(sketch_of(tree, feature_names, class_names, precision, level_names), title, beside)
    if rows is not None and axes is not None:
        box = surroundings(rows[0])
        frame(axes, box, names=feature_names)
        regions(axes, tree, box)
        cuts(axes, tree, box)
        points(axes, *rows)
    return figure


def sketch_of(
    tree: Tree,
    feature_names: Sequence[str],
    class_names: Sequence[str],
    precision: int = 3,
    level_names: Mapping[int, Sequence[str]] | None = None,
) -> Sketch:
    """Return the sketch of a hyperplane tree: where a condition holds, the way goes left."""
    return Sketch(
        tree.parents,
        _texts(tree, feature_names, class_names, precision, level_names),
        yes_or_no(tree.left),
        np.where(tree.is_leaf, tree.labels, -1).tolist(),
    )


def yes_or_no(left: Sequence[int] | NDArray[np.integer[Any]]) -> list[str]:
    """Return the words beside the lines of a binary tree whose conditions lead to the left."""
    first = {int(child) for child in left if child >= 0}
    return ["", *("yes" if node in first else "no" for node in range(1, len(left)))]


def wrapped(text: str, letters: int = LETTERS) -> str:
    """Return a condition in the short lines of a node."""
    return textwrap.fill(text, letters)


def diagram(axes: Axes, sketch: Sketch) -> None:
    """Draw a tree on axes of its own."""
    depths = depths_of_parents(sketch.parents)
    children = sketch.children
    across = positions(children)
    axes.set_xlim(-0.6, sketch.n_leaves - 0.4)
    axes.set_ylim(-int(depths.max()) - 0.5, 0.5)
    axes.axis("off")
    for node, text in enumerate(sketch.texts):
        here = (across[node], -depths[node])
        for child in children[node]:
            there = (across[child], -depths[child])
            axes.plot([here[0], there[0]], [here[1], there[1]], color="0.6", linewidth=0.8, zorder=0)
            middle = ((here[0] + 2 * there[0]) / 3, (here[1] + 2 * there[1]) / 3)
            side = "right" if there[0] < here[0] else "left" if there[0] > here[0] else "center"
            # Names are the user's: a dollar sign in one is no mathematics.
            axes.text(*middle, sketch.ways[child], ha=side, va="bottom", fontsize=6.5, color="0.35", parse_math=False)
        face = tint(sketch.shades[node]) if sketch.shades[node] >= 0 else GREY
        box = {"boxstyle": "round,pad=0.3", "facecolor": face, "edgecolor": "none"}
        # A dollar sign in a user's name is no mathematics.
        axes.text(*here, text, ha="center", va="center", fontsize=6.5, bbox=box, parse_math=False)


def _texts(
    tree: Tree,
    feature_names: Sequence[str],
    class_names: Sequence[str],
    precision: int,
    level_names: Mapping[int, Sequence[str]] | None,
) -> list[str]:
    """What stands in each node: its condition, or the class with the counts, in short lines."""
    texts = []
    for node in range(tree.n_nodes):
        if tree.is_leaf[node]:
            present = [(name, n) for name, n in zip(class_names, tree.counts[node], strict=True) if n]
            counts = ", ".join(f"{name}: {n:.6g}" for name, n in present)
            texts.append(f"{class_names[tree.labels[node]]}\n" + textwrap.fill(f"({counts})", LETTERS - 6))
        else:
            rule = condition(tree, node, feature_names, precision, level_names, MOST_TERMS)
            texts.append(wrapped(rule))
    return texts


def positions(children: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return how far to the right each node stands: leaves at 0, 1, ..., an inner node midway between the outermost."""
    across = np.zeros(len(children))
    leaves, stack = [], [0]
    while stack:
        node = stack.pop()
        if not children[node]:
            leaves.append(node)
        stack += reversed(children[node])
    across[leaves] = np.arange(len(leaves))
    # A child's number is larger than its parent's, so children are placed first.
    for node in reversed(range(len(children))):
        if children[node]:
            across[node] = (across[children[node][0]] + across[children[node][-1]]) / 2
    return across
