r"""A tree for LaTeX: a document with a tikzpicture in our layout."""

from __future__ import annotations

from oblique_cli.drawing.dot import label_of
from oblique_cli.drawing.layout import tidy
from oblique_cli.drawing.palette import COLORS, N_COLORS
from oblique_cli.drawing.view import BLANK, TreeView
from oblique_cli.ground.latex_text import escaped

MOST_TERMS = 5
LINE = 0.36  # cm
LETTER = 0.155

# A label shows every character literally: no ligatures of dashes, no curved quotation marks.
LABEL_CHARACTERS = {
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "-": "{-}",
    "²": r"\textsuperscript{2}",
    BLANK: "~",
}


def tikz(view: TreeView) -> str:
    """Return a document for lualatex, xelatex or pdflatex."""
    labels = [label_of(node, view, MOST_TERMS).split("\n") for node in view.nodes]
    widths = [max(len(line) for line in lines) * LETTER + 0.5 for lines in labels]
    widths = [max(width, len(node.way) * LETTER + 0.3) for width, node in zip(widths, view.nodes, strict=True)]
    across = tidy(view.children, widths, 0.35, 0.6)
    depths = view.depths
    most_lines = [0] * (max(depths) + 1)
    for lines, depth in zip(labels, depths, strict=True):
        most_lines[depth] = max(most_lines[depth], len(lines))
    down = [0.0]
    for count in most_lines[:-1]:
        down.append(down[-1] + count * LINE + 1.7)
    used = sorted({node.label % N_COLORS for node in view.nodes if node.is_leaf and view.classes and node.label >= 0})
    lines = [rf"\definecolor{{oblique{k}}}{{HTML}}{{{COLORS[k][1:]}}}" for k in used]
    lines += [
        r"\begin{tikzpicture}[",
        r"  every node/.style={font=\sffamily\scriptsize},",
        r"  split/.style={draw=black!30, rounded corners=2pt, align=center, anchor=north, inner sep=3pt},",
        r"  way/.style={pos=0.65, fill=white, inner sep=1pt, text=black!70}]",
    ]
    for place, (node, depth) in enumerate(zip(view.nodes, depths, strict=True)):
        style = "split"
        if node.is_leaf and view.classes and node.label >= 0:
            style += f", fill=oblique{node.label % N_COLORS}!14"
        text = r" \\{} ".join(escaped(line, LABEL_CHARACTERS) for line in labels[place])
        lines.append(rf"  \node[{style}] (n{place}) at ({across[place]:.2f}, {-down[depth]:.2f}) {{{text}}};")
    for place, node in enumerate(view.nodes):
        if node.parent >= 0:
            way = escaped(node.way, LABEL_CHARACTERS)
            lines.append(rf"  \draw[black!40] (n{node.parent}.south) -- (n{place}.north) node[way] {{{way}}};")
    lines.append(r"\end{tikzpicture}")
    title = [f"% {line}".replace("\n", " ").replace(BLANK, " ") for line in (view.title, *view.notes) if line]
    packages = [r"\documentclass[tikz,border=6pt]{standalone}", r"\usepackage{textcomp}", r"\usepackage{iftex}"]
    packages += [r"\ifpdftex\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\else\usepackage{fontspec}\fi"]
    return "\n".join([*title, *packages, r"\begin{document}", *lines, r"\end{document}"]) + "\n"
