"""A tree as one HTML page, which works offline and, with scripts blocked, still shows a picture and rules.

The page is one template with a few fields, so `string.Template` fills it without a template engine. User content
enters in two ways only: as escaped text of the picture and the rules, and as JSON in a data script, where "<" is
written as an escape, so that no name ends it. Scripts insert it as text, never as markup. A content security policy
with the digests of our script and style forbids all others, and every connection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.drawing import markup
from oblique_cli.drawing.scene import scene_of
from oblique_cli.drawing.svg import FONTS, drawing, style_sheet
from oblique_cli.drawing.view import BINS, BLANK, Histogram, NodeView, TreeView, printable
from oblique_cli.ground.column_values import ColumnValues
from oblique_cli.ground.nodes import Indicator
from oblique_cli.tree.payloads import FARTHEST_SQUARED, HINGE, LEVEL, PRODUCT, SQUARE, VALUE
from oblique_cli.tree.reading import Units
from oblique_cli.tree.scorecards import Score, scores_of

MOST_CELLS = 20_000  # most cells of training rows on the page
MOST_BARS = 30  # most columns whose importance is shown


@dataclass(frozen=True)
class Field:
    """Column of the table, with the page's input field and the tree's features.

    name     : of the column; levels : its levels, () for a number
    features : the feature with its number or code, or one feature per level
    empty    : feature that is 1 if the cell is empty, or -1
    usual    : number or code that replaces an empty cell, None if it stays empty
    values   : of numbers, the values in the training rows; None if unknown
    """

    name: str
    features: tuple[int, ...]
    levels: tuple[str, ...] = ()
    empty: int = -1
    usual: float | None = None
    values: ColumnValues | None = None

    @property
    def is_spread(self) -> bool:
        """Whether each level has a separate feature."""
        return bool(self.levels) and (len(self.features) > 1 or len(self.levels) == 1 or self.empty >= 0)


@dataclass(frozen=True)
class PageData:
    """Data of the page beside the picture.

    feature_names : (p,), as the tree sees them; level_names : feature -> names of its codes
    target        : name of the predicted column
    units         : of weights, None for the features' own
    rows, values  : training rows (n, p) and their codes or numbers (n,); None for a page without rows
    leaves        : (n,) number of each row's leaf, as `NodeView.number` has it
    parents       : (n_nodes,) of the fitted tree, to find the displayed ancestor of a hidden leaf
    rules         : the tree as text
    fields        : columns of the table from which features are derived, () if they are the features themselves
    importances   : columns with their importances, the largest first; () for none
    importances_are : description of these numbers, a sentence
    """

    feature_names: Sequence[str]
    target: str = "class"
    level_names: Mapping[int, Sequence[str]] | None = None
    units: Units | None = None
    rows: NDArray[np.float64] | None = None
    values: NDArray[Any] | None = None
    leaves: NDArray[Any] | None = None
    parents: NDArray[Any] | None = None
    rules: str = ""
    fields: Sequence[Field] = ()
    importances: Sequence[tuple[str, float]] = ()
    importances_are: str = ""


def page(view: TreeView, data: PageData) -> str:
    """Return the page of a tree; equal trees give equal bytes."""
    scene = scene_of(view, heading=False)
    style = Template(markup.file("drawing/page.css")).substitute(fonts=FONTS) + markup.BARS + style_sheet()
    title = printable(view.title or "A decision tree")
    body = Template(markup.file("drawing/page.html")).substitute(
        heading=escape(title),
        legend=_legend(view),
        facts=_facts(view, scene.sideways),
        svg=drawing(scene),
        importances=_importances(data),
        rules=escape("".join(char if char.isprintable() or char == "\n" else " " for char in data.rules)),
        data=markup.json_text(_plain(view, data, scene.sideways)),
    )
    return markup.document(title, style, body.rstrip("\n"), markup.file("drawing/page.js"))


def _legend(view: TreeView) -> str:
    """Return the classes with their colors and training rows."""
    root = view.nodes[0].counts
    shown = [f"{name} ({root[code]:.6g})" if root else name for code, name in enumerate(view.classes)]
    return "".join(markup.key(code, text) for code, text in enumerate(shown))


def _importances(data: PageData) -> str:
    if not data.importances:
        return ""
    shown = [(printable(name).replace(BLANK, " "), value) for name, value in data.importances[:MOST_BARS]]
    left = len(data.importances) - len(shown)
    more = f" Of {len(data.importances)} columns the first {MOST_BARS}." if left else ""
    return f'<div class="importances">{markup.bars(data.importances_are + more, shown)}</div>'


def _facts(view: TreeView, sideways: bool) -> str:
    """Return notes on the tree, one item per line."""
    notes = filter(None, (*view.notes, view.direction("Below" if sideways else "The right")))
    return "".join(f"<li>{escape(note.replace(BLANK, ' '))}</li>" for note in notes)


def _plain(view: TreeView, data: PageData, sideways: bool) -> dict[str, Any]:
    names = [name.holds() if isinstance(name, Indicator) else name for name in data.feature_names]
    features = [{"n": printable(name).replace(BLANK, " ")} for name in names]
    standard = data.units is not None and data.units.standard
    inner = [node for node in view.nodes if not node.is_leaf and not node.hidden]
    models: dict[str, Any] | None = None
    if (of := view.models) is not None:  # common data of leaf scores: the units of features, and the range of squares
        models = {"center": of.center.tolist(), "scale": of.scale.tolist(), "far": FARTHEST_SQUARED}
    return {
        "classes": list(view.classes),
        "target": printable(data.target),
        "features": features,
        "fields": [_field(field, data) for field in _fields(data)],
        "standard": standard,
        "units": {"center": data.units.center.tolist()} if data.units is not None and standard else None,
        "bins": BINS,
        "sideways": sideways,
        "follows": all(node.rule for node in inner),
        "models": models,
        "nodes": [_node(node) | _scores(node, view, data) for node in view.nodes],
        "rows": _rows(view, data),
    }


def _fields(data: PageData) -> Sequence[Field]:
    levels = data.level_names or {}
    columns = (Field(name, (j,), tuple(levels.get(j, ()))) for j, name in enumerate(data.feature_names))
    return data.fields or tuple(columns)


def _field(field: Field, data: PageData) -> dict[str, Any]:
    """Return a field for the script, without default values; values are by default those of the training rows."""
    values = field.values
    if values is None and not field.levels and data.rows is not None:
        numbers = data.rows[:, field.features[0]]
        values = ColumnValues.of(numbers[np.isfinite(numbers)])
    further = {
        "l": [printable(level) for level in field.levels] or None,
        "o": 1 if field.is_spread else None,
        "e": field.empty if field.empty >= 0 else None,
        "u": field.usual,
        "r": None if values is None else [values.low, values.high],
        "i": 1 if values is not None and values.whole else None,
        "b": list(values.counts) if values is not None and values.counts else None,
        "w": values.width if values is not None and values.counts else None,
    }
    return {"n": printable(field.name), "j": list(field.features), **_present(further)}


def _node(node: NodeView) -> dict[str, Any]:
    """Return a node for the script, without default values."""
    terms: list[list[Any]] = []
    for term in node.terms:
        groups = [[list(group.names), _rounded(group.weight)] for group in term.levels]
        terms.append([term.feature, _rounded(term.weight), *([groups] if groups else [])])
    further = {
        "w": node.way.replace(BLANK, " ") or None,
        "leaf": 1 if node.is_leaf else None,
        "h": node.hidden or None,
        "k": node.label if node.label >= 0 else None,
        "c": [_short(count) for count in node.counts] or None,
        "q": node.condition.replace(BLANK, " ") or None,
        "r": node.rule or None,
        "i": node.idle or None,
        "g": terms or None,
        "x": node.histogram and _histogram(node.histogram),
    }
    return {"p": node.parent, "t": node.text.replace(BLANK, " "), **_present(further)}


def _histogram(histogram: Histogram) -> dict[str, Any]:
    by_class = {
        str(code): [_short(count) for count in histogram.counts[:, code].tolist()]
        for code in np.flatnonzero(histogram.counts.any(axis=0)).tolist()
    }
    ends = {"lo": histogram.low, "hi": histogram.high, "at": histogram.threshold}
    return {**{key: _rounded(end) for key, end in ends.items()}, "b": by_class}


def _present(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value is not None}


def _scores(node: NodeView, view: TreeView, data: PageData) -> dict[str, Any]:
    """Return the scores of a leaf to the bit, in standard deviations in any picture; {} for a leaf without scores."""
    if view.models is None or not node.scores:
        return {}
    names = [name if isinstance(name, Indicator) else printable(name) for name in data.feature_names]
    of = scores_of(
        view.models, node.number, names, view.classes, first=node.scores[0].label, level_names=data.level_names
    )
    return {"m": [[score.label, score.against, score.intercept, terms_of(score)] for score in of]}


def terms_of(score: Score) -> list[list[Any]]:
    """Return the terms of a score as the page's script takes them: kind, feature, level or other part, weight, name."""
    kinds = {VALUE: 0, SQUARE: 1, LEVEL: 2, PRODUCT: 3, HINGE: 4}
    return [
        [
            *(kinds[term.kind], term.feature),
            {PRODUCT: term.other, HINGE: [term.knot, term.other]}.get(term.kind, term.level),
            term.weight,
            printable(term.name).replace(BLANK, " "),
        ]
        for term in score.terms
    ]


def _rows(view: TreeView, data: PageData) -> dict[str, Any] | None:
    """Return the training rows, at most as many as the page may hold."""
    if data.rows is None or data.values is None or data.leaves is None:
        return None
    n = len(data.rows)
    fields = _fields(data)
    step = max(-(-n * max(len(fields), 1) // MOST_CELLS), 1)
    rows = np.arange(0, n, step)
    place_of = {node.number: place for place, node in enumerate(view.nodes)}
    if data.parents is not None:
        for node, parent in enumerate(data.parents.tolist()):  # parents come before children
            place_of.setdefault(node, place_of.get(parent, 0))

    def cell(row: list[float], field: Field) -> Any:
        if field.is_spread:  # a level without a feature is not listed
            empty = field.empty >= 0 and row[field.empty] == 1.0
            held = (code for code, j in enumerate(field.features) if row[j] == 1.0)
            return None if empty else next(held, len(field.levels))
        value = row[field.features[0]]
        if not np.isfinite(value):
            return None
        return int(value) if field.levels or value == int(value) else value

    values = data.values[rows].tolist()
    return {
        "x": [[cell(row, field) for field in fields] for row in data.rows[rows].tolist()],
        "y": values,
        "at": [place_of[int(leaf)] for leaf in data.leaves[rows]],
        "number": (rows + 1).tolist(),
        "of": n,
        "step": step,
    }


def _short(count: float) -> float:
    return int(count) if count == int(count) else count


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")
