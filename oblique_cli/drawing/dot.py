"""A tree as Graphviz text: `dot -Tpdf tree.dot -o tree.pdf`."""

from __future__ import annotations

from oblique_cli.drawing.palette import COLORS, N_COLORS
from oblique_cli.drawing.view import BLANK, NodeView, TreeView, number_of
from oblique_cli.tree.scorecards import more

MOST_TERMS = 8
MOST_SCORES = 4  # most classes of a leaf whose scores are drawn


def dot(view: TreeView) -> str:
    """Return a directed graph with a box per node; names are quoted, with quotes and backslashes escaped."""
    lines = [
        "digraph tree {",
        f"  label={quoted(view.title)}; labelloc=t;",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica", fontsize=10];',
        '  edge [fontname="Helvetica", fontsize=9];',
        *(f"  // {note.replace(BLANK, ' ')}" for note in view.notes),
    ]
    for place, node in enumerate(view.nodes):
        fill = ""
        if node.is_leaf and view.classes and node.label >= 0:
            fill = f', color="{COLORS[node.label % N_COLORS]}", fillcolor="{COLORS[node.label % N_COLORS]}22"'
        lines.append(f"  n{place} [label={quoted(label_of(node, view))}{fill}];")
    for place, node in enumerate(view.nodes):
        if node.parent >= 0:
            lines.append(f"  n{node.parent} -> n{place} [label={quoted(node.way.replace(BLANK, ' '))}];")
    return "\n".join([*lines, "}"]) + "\n"


def label_of(node: NodeView, view: TreeView, most_terms: int = MOST_TERMS) -> str:
    """Return the label of a node, one line per term."""
    lines = [node.text]
    if node.hidden:
        lines = [f"{node.hidden} leaves", *([f"mostly {node.text}"] if node.text else [])]
    elif node.scores:
        lines = []
        for score in node.largest_scores(MOST_SCORES):
            lines.append(f"{score.name}: {number_of(score.intercept)}")
            lines += [f"{number_of(term.weight)} {term.name}" for term in score.terms[:most_terms]]
            if len(score.terms) > most_terms:
                lines.append(more(len(score.terms) - most_terms).strip())
        if len(node.scores) > MOST_SCORES:
            lines.append(f"and {len(node.scores) - MOST_SCORES} more classes")
    elif len(node.terms) > 1:
        lines = [f"{number_of(term.weight)} {term.name}" for term in node.terms[:most_terms]]
        if len(node.terms) > most_terms:
            lines.append(f"and {len(node.terms) - most_terms} smaller terms")
    if counts := view.counts_of(node):
        lines.append(counts)
    return "\n".join(line.replace(BLANK, " ") for line in lines)


def quoted(text: str) -> str:
    r"""Return a text as a Graphviz literal, line ends as \n."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
