"""A fitted tree of any kind as a drawing: the sketch from its estimator, and the figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.drawing.painter import painted
from oblique_cli.drawing.scene import scene_of
from oblique_cli.drawing.view import NodeView, TreeView, printable
from oblique_cli.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Trees with more leaves fit no page and no screen.
MOST_LEAVES = 200


@dataclass(frozen=True)
class Sketch:
    """Content of a drawing of a tree of any kind.

    parents   (n_nodes,) -1 for the root, which is node 0; parents come before children, and siblings in their order
    texts     text in each node
    ways      text beside the line that leads to each node, "" for the root
    shades    class code that tints a leaf, -1 for a grey node
    rules     routing rule of each node, for the page (`page.py`); () if the page cannot apply them
    briefs    condition of the first child, or a leaf's equation with its largest terms only; () if equal to `texts`
    """

    parents: NDArray[np.int64]
    texts: Sequence[str]
    ways: Sequence[str]
    shades: Sequence[int]
    rules: Sequence[Mapping[str, Any]] = field(default=())
    briefs: Sequence[str] = field(default=())

    def view(
        self,
        title: str = "",
        class_names: Sequence[str] = (),
        counts: NDArray[np.float64] | None = None,
        n_rows: NDArray[np.int64] | None = None,
        notes: Sequence[str] = (),
    ) -> TreeView:
        """Return the tree prepared for display.

        class_names : () in regression; counts : (n_nodes, C) rows of each class; n_rows : (n_nodes,)
        """
        inner = set(self.parents.tolist())
        briefs = self.briefs or self.texts
        nodes: list[NodeView] = []
        for node, parent in enumerate(self.parents.tolist()):
            is_leaf, brief = node not in inner, printable(briefs[node])
            texts = (printable(self.texts[node]), printable(self.ways[node]))
            more: dict[str, Any] = {"brief": brief} if is_leaf else {"condition": brief}
            more |= {} if counts is None else {"counts": tuple(counts[node].tolist())}
            more |= {} if n_rows is None else {"n_rows": int(n_rows[node])}
            more |= {"rule": self.rules[node]} if self.rules else {}
            nodes.append(NodeView(node, parent, *texts, int(self.shades[node]), is_leaf, **more))
        return _in_order(TreeView(printable(title), tuple(nodes), tuple(map(printable, class_names)), tuple(notes)))


def _in_order(view: TreeView) -> TreeView:
    """Return the view with nodes in depth-first order from the left, each with its number."""
    children = view.children
    places: dict[int, int] = {-1: -1}
    nodes: list[NodeView] = []
    stack = [0]
    while stack:
        old = stack.pop()
        places[old] = len(nodes)
        nodes.append(replace(view.nodes[old], parent=places[view.nodes[old].parent]))
        stack += reversed(children[old])
    return replace(view, nodes=tuple(nodes))


def drawn(view: TreeView, ax: Axes | None = None) -> Any:
    """Return the figure of a tree, or `ax` with the tree drawn in it; ConfigError for more than 200 leaves, or without
    matplotlib."""
    leaves = sum(node.is_leaf or node.hidden > 0 for node in view.nodes)
    if leaves > MOST_LEAVES:
        raise ConfigError(
            f"the tree has {leaves} leaves and at most {MOST_LEAVES} can be drawn as a figure: show its top, as by "
            "--depth 4, limit it, as by --set max_depth=4, or take svg, html or text."
        )
    return painted(scene_of(view), ax)


def yes_or_no(left: Sequence[int] | NDArray[np.integer[Any]]) -> list[str]:
    """Return the labels of the edges of a binary tree in which a true condition leads to the left child."""
    first = {int(child) for child in left if child >= 0}
    return ["", *("yes" if node in first else "no" for node in range(1, len(left)))]
