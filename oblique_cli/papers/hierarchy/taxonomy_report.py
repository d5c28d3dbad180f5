"""Report of a taxonomy: text and SVG, colored by class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from oblique_cli.ground.strict_yaml import printable
from oblique_cli.papers.hierarchy import measures
from oblique_cli.papers.hierarchy.hierarchies import Taxonomy, shown_names

BAR = 40  # characters of the longest bar
MAX_LINES = 200  # of one block of text
MODES = {0: "no subclass", 1: "unimodal"}

# Distinct in print and for most color-blind readers (Okabe and Ito); further classes repeat them.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442")
MIXED = "#999999"


@dataclass(frozen=True, eq=False)
class TaxonomyReport:
    """Content of a report: clusters of at least `threshold` purity, subclasses of at least `min_size` objects.

    classes : names of the class codes; names : of the objects, None for numbers from 1; notes : origin of the tree
    """

    title: str
    taxonomy: Taxonomy
    classes: Sequence[str]
    names: Sequence[str] | None
    threshold: float
    min_size: int
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data: the tree, class counts and purity of every node, and the measures."""
        taxonomy, tree = self.taxonomy, self.taxonomy.tree
        depth = measures.purity_per_depth(taxonomy)
        return {
            "title": self.title,
            "notes": list(self.notes),
            "objects": shown_names(self.names, taxonomy.n),
            "classes": list(self.classes),
            "children": tree.children.tolist(),
            "heights": tree.heights.tolist(),
            "counts": taxonomy.counts.tolist(),
            "purity": taxonomy.purity.tolist(),
            "threshold": self.threshold,
            "min_size": self.min_size,
            "clusters": measures.extract_clusters(taxonomy, self.threshold).tolist(),
            "modality": dict(zip(self.classes, self._modality().tolist(), strict=True)),
            "classification_complexity": measures.classification_complexity(taxonomy),
            "edited_size": measures.edited_size(taxonomy, self.threshold),
            "family_changes": measures.family_changes(taxonomy),
            "purity_thresholds": measures.purity_thresholds(taxonomy).tolist(),
            "purity_per_depth": depth.purity.tolist(),
            "nodes_per_depth": depth.nodes.tolist(),
        }

    def _modality(self) -> Any:
        return measures.modality(self.taxonomy, self.threshold, self.min_size)

    def text(self, paint: Callable[[str, int], str] = lambda text, code: text) -> str:
        """Return the report as text. paint : gives a text the color of a class code."""
        blocks = [
            "\n".join([printable(self.title), *map(printable, self.notes)]),
            self._summary(),
            "\n".join([f"tree, edited at purity {self.threshold:g}", *_limited(self._tree_lines(paint))]),
            "\n".join([f"subclasses of at least {self.min_size} objects", *self._histogram(paint)]),
            "\n".join(["purity per depth", *_limited(self._depth_lines())]),
        ]
        return "\n\n".join(blocks) + "\n"

    def _summary(self) -> str:
        taxonomy = self.taxonomy
        thresholds = measures.purity_thresholds(taxonomy)
        shown = [f"{t:.3g}" for t in thresholds[:8]]
        facts = {
            "classification complexity": f"{measures.classification_complexity(taxonomy):.3f}  (0 easy, below 0.5)",
            "clusters": str(len(measures.extract_clusters(taxonomy, self.threshold))),
            "objects a cluster": f"{measures.mean_cluster_size(taxonomy, self.threshold):.2f}",
            "nodes of the edited tree": f"{measures.edited_size(taxonomy, self.threshold)} of {taxonomy.tree.n_nodes}",
            "sub-family changes": str(measures.family_changes(taxonomy)),
            "purity thresholds": f"{len(thresholds)}: {', '.join(shown)}{', ...' if len(thresholds) > 8 else ''}",
        }
        width = max(map(len, facts))
        return "\n".join(f"{name:<{width}}  {value}" for name, value in facts.items())

    def _tree_lines(self, paint: Callable[[str, int], str]) -> list[str]:
        taxonomy, tree = self.taxonomy, self.taxonomy.tree
        lines: list[str] = []
        open_ = [(tree.n_nodes - 1, "", "")]
        while open_:
            node, lead, below = open_.pop()
            label = int(taxonomy.majority[node])
            counts = " ".join(str(c) for c in taxonomy.counts[node])
            what = paint(printable(self.classes[label]), label)
            lines.append(f"{lead}{what}  {tree.sizes[node]} objects, purity {taxonomy.purity[node]:.3g}  [{counts}]")
            if node >= tree.n and taxonomy.purity[node] < self.threshold:
                a, b = tree.children[node - tree.n].tolist()
                open_ += [(b, below + "`- ", below + "   "), (a, below + "|- ", below + "|  ")]
        return lines

    def _histogram(self, paint: Callable[[str, int], str]) -> list[str]:
        subclasses = measures.subclasses(self.taxonomy, self.threshold, self.min_size)
        width = max((len(str(name)) for name in self.classes), default=0)
        lines = []
        for s in subclasses[:MAX_LINES]:
            bar = paint("#" * max(1, round(BAR * s.size / subclasses[0].size)), s.label)
            lines.append(f"{printable(self.classes[s.label]):<{width}}  {s.size:>6}  {s.purity:.3f}  {bar}")
        for name, modes in zip(self.classes, self._modality().tolist(), strict=True):
            lines.append(f"{printable(name):<{width}}  {MODES.get(modes, f'{modes}-modal')}")
        return lines

    def _depth_lines(self) -> list[str]:
        depth = measures.purity_per_depth(self.taxonomy)
        return [
            f"{d:>5}  {purity:.3f}  {nodes:>6} nodes  {100 * share:>5.1f}% of 2^{d}"
            for d, (purity, nodes, share) in enumerate(zip(depth.purity, depth.nodes, depth.share, strict=True))
        ]

    def svg(self) -> str:
        """Return the dendrogram with branches in the colors of pure nodes, and the histogram of subclasses below."""
        taxonomy, tree = self.taxonomy, self.taxonomy.tree
        names = shown_names(self.names, tree.n)
        step = 12.0 if tree.n <= 200 else max(1.0, 1600.0 / tree.n)
        margin, width, top = 20.0, 700.0, 60.0
        y = np.zeros(tree.n_nodes)
        y[tree.order] = top + step * (np.arange(tree.n) + 0.5)
        heights = np.concatenate([np.zeros(tree.n), tree.raised])
        x = margin + width * (1.0 - heights / (heights[-1] if heights[-1] > 0 else 1.0))
        parts = [f'<text x="{margin}" y="20" font-size="14">{_escaped(self.title)}</text>']
        for code, name in enumerate(self.classes):
            at = margin + 160.0 * code
            parts.append(f'<rect x="{at}" y="30" width="10" height="10" fill="{_color(code)}"/>')
            parts.append(f'<text x="{at + 15}" y="39">{_escaped(name)}</text>')
        for join, (a, b) in enumerate(tree.children.tolist(), tree.n):
            y[join] = (y[a] + y[b]) / 2
            for child in (a, b):
                pure = taxonomy.purity[child] >= self.threshold
                color = _color(int(taxonomy.majority[child])) if pure else MIXED
                path = f"M{x[join]:.1f} {y[join]:.1f}V{y[child]:.1f}H{x[child]:.1f}"
                title = f"{tree.sizes[child]} objects, purity {taxonomy.purity[child]:.3g}"
                parts.append(f'<path d="{path}" stroke="{color}" fill="none"><title>{title}</title></path>')
        if tree.n <= 200:
            for leaf, name in enumerate(names):
                color = _color(int(taxonomy.majority[leaf]))
                parts.append(
                    f'<text x="{margin + width + 4}" y="{y[leaf] + 3:.1f}" fill="{color}">{_escaped(name)}</text>'
                )
        bottom = top + step * tree.n + 30
        subclasses = measures.subclasses(taxonomy, self.threshold, self.min_size)
        complexity = measures.classification_complexity(taxonomy)
        parts.append(
            f'<text x="{margin}" y="{bottom}">subclasses at purity {self.threshold:g} with at least {self.min_size} '
            f"objects; classification complexity {complexity:.3f}</text>"
        )
        for i, s in enumerate(subclasses):
            row = bottom + 10 + 14 * i
            length = width * s.size / subclasses[0].size
            parts.append(
                f'<rect x="{margin}" y="{row:.1f}" width="{length:.1f}" height="10" fill="{_color(s.label)}"/>'
                f'<text x="{margin + length + 4:.1f}" y="{row + 9:.1f}">{s.size}</text>'
            )
        total = bottom + 30 + 14 * len(subclasses)
        right = max(width + 200.0, 160.0 * len(self.classes)) + margin
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right:.0f} {total:.0f}" '
            f'font-family="sans-serif" font-size="10">\n' + "\n".join(parts) + "\n</svg>\n"
        )


def _escaped(text: str) -> str:
    return escape(printable(text))


def _color(code: int) -> str:
    return COLORS[code % len(COLORS)]


def _limited(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MAX_LINES else [*lines[:MAX_LINES], f"... and {len(lines) - MAX_LINES} lines more"]
