"""A fitted tree as a drawing: conditions above, leaves with their class and counts below."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oblique_cli.drawing.canvas import blank, tint
from oblique_cli.drawing.partition import cuts, frame, points, regions
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.errors import ConfigError
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
    if tree.n_leaves > MOST_LEAVES:
        raise ConfigError(
            f"the tree has {tree.n_leaves} leaves and at most {MOST_LEAVES} can be drawn: limit it, as by "
            "--set max_depth=4, or print it as text."
        )
    texts = _texts(tree, feature_names, class_names, precision, level_names)
    beside = rows is not None and tree.n_features == 2 and not any(tree.levels)
    most_lines = max(text.count("\n") + 1 for text in texts)
    figure, axes = blank(
        widths=(max(LEAF_WIDTH * tree.n_leaves, 3.0), *((4.0,) if beside else ())),
        height=max((BETWEEN_LEVELS + LINE_HEIGHT * most_lines) * (tree.depth + 1), 3.6 if beside else 0.0),
    )
    figure.suptitle(title, fontsize=9.0, parse_math=False)
    diagram(axes[0], tree, texts)
    if rows is not None and beside:
        box = surroundings(rows[0])
        frame(axes[1], box, names=feature_names)
        regions(axes[1], tree, box)
        cuts(axes[1], tree, box)
        points(axes[1], *rows)
    return figure


def diagram(axes: Axes, tree: Tree, texts: Sequence[str]) -> None:
    """Draw a tree on axes of its own, with a text for each node; a row goes left where the condition holds."""
    across = positions(tree)
    axes.set_xlim(-0.6, tree.n_leaves - 0.4)
    axes.set_ylim(-tree.depth - 0.5, 0.5)
    axes.axis("off")
    for node, text in enumerate(texts):
        here = (across[node], -tree.depths[node])
        leaf = bool(tree.is_leaf[node])
        if not leaf:
            for child, word, side in ((tree.left[node], "yes", "right"), (tree.right[node], "no", "left")):
                there = (across[child], -tree.depths[child])
                axes.plot([here[0], there[0]], [here[1], there[1]], color="0.6", linewidth=0.8, zorder=0)
                middle = ((here[0] + 2 * there[0]) / 3, (here[1] + 2 * there[1]) / 3)
                axes.text(*middle, word, ha=side, va="bottom", fontsize=6.5, color="0.35")
        face = tint(int(tree.labels[node])) if leaf else GREY
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
            texts.append(textwrap.fill(rule, LETTERS))
    return texts


def positions(tree: Tree) -> NDArray[np.float64]:
    """Return how far to the right each node stands: leaves at 0, 1, ..., an inner node midway between its children."""
    across = np.zeros(tree.n_nodes)
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if not tree.is_leaf[node]:
            stack += [int(tree.right[node]), int(tree.left[node])]
    leaves = [node for node in order if tree.is_leaf[node]]
    across[leaves] = np.arange(len(leaves))
    # A child's number is larger than its parent's, so children are placed first.
    for node in reversed(range(tree.n_nodes)):
        if not tree.is_leaf[node]:
            across[node] = (across[tree.left[node]] + across[tree.right[node]]) / 2
    return across
