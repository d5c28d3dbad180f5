"""Plain JSON of the steps, for whoever writes the next exporter: docs/models.md says what the keys mean."""

from __future__ import annotations

import json
from typing import Any

from oblique_cli import __version__
from oblique_cli.models.exporting._exporter import KINDS, PLAIN, Source, exporter, kind_of
from oblique_cli.models.procedure import CLIPPED, MISSING, NUMBER, SUM, Coded, Lane, Leaf, Procedure, Scores, Steps

SCHEMA = "oblique-export/1"
YOUNGER = "oblique-export/2"  # of a document with keys that readers of the first do not know


@exporter("json", "the model as plain steps in JSON", ".json", kinds=KINDS)
def write(source: Source) -> str:
    """Return the document, a node a line."""
    document = as_plain(source.procedure)
    if source.model.guarantee is not None:
        document |= {"schema": YOUNGER, "guarantee": source.model.guarantee.plain()}
    trees = document.pop("trees")
    head = json.dumps(document, ensure_ascii=False, indent=1).removesuffix("\n}")
    lines = [
        '  {"rotated": '
        + _text(tree["rotated"])
        + ', "nodes": [\n   '
        + ",\n   ".join(map(_text, tree["nodes"]))
        + "]}"
        for tree in trees
    ]
    return f'{head},\n "trees": [\n' + ",\n".join(lines) + "\n ]\n}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_plain(procedure: Procedure) -> dict[str, Any]:
    """Return a model as plain data."""
    further: dict[str, Any] = {}
    if procedure.coded:
        further["codes"] = [_coded(code_column) for code_column in procedure.coded]
    if procedure.even:
        further["even"] = list(procedure.even)
    if procedure.voting == SUM:
        further["base"] = procedure.base[0] if procedure.is_regression else list(procedure.base)
    if procedure.threshold:
        further["threshold"] = dict(zip(("class", "share"), procedure.threshold, strict=True))
    return {
        "schema": SCHEMA if kind_of(procedure) in PLAIN and not procedure.has_bounds else YOUNGER,
        "version": __version__,
        "algorithm": procedure.title,
        "task": "regression" if procedure.is_regression else "classification",
        "target": procedure.target,
        "classes": list(procedure.classes),
        "voting": procedure.voting,
        "columns": [
            {"name": cell.name, "levels": list(cell.levels) or None, "fill": cell.fill, "unit": cell.unit or None}
            for cell in procedure.cells
        ],
        "needed": [procedure.cells[j].name for j in procedure.needed],
        "farthest": procedure.farthest,
        **further,
        "trees": [_tree(tree, procedure) for tree in procedure.trees],
    }


def _tree(tree: Steps, procedure: Procedure) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for node in range(tree.n_nodes):
        if tree.left[node] < 0:
            numbered = {"node": tree.number(node)} if tree.numbers else {}
            nodes.append({**_leaf(tree.leaf(node), procedure), **numbered})
            continue
        split = tree.split(node)
        entry: dict[str, Any] = {"left": tree.left[node], "right": tree.right[node], "threshold": split.threshold}
        if split.missing_left is not None:
            entry["missing"] = "left" if split.missing_left else "right"
        entry["lanes"] = [_terms(lane, procedure) for lane in split.lanes]
        nodes.append(entry)
    return {"rotated": [_terms(lane, procedure) for lane in tree.rotated], "nodes": nodes}


def _leaf(leaf: Leaf, procedure: Procedure) -> dict[str, Any]:
    if leaf.outputs:
        return {"outputs": [_leaf(output, procedure) for output in leaf.outputs], "rows": leaf.n_rows}
    if procedure.is_regression:
        bounds = {} if leaf.bounds is None else {"bounds": list(leaf.bounds)}
        return {"intercept": leaf.intercept, "terms": _terms(leaf.terms, procedure), **bounds, "rows": leaf.n_rows}
    if leaf.scores is not None:
        return _scores(leaf.scores)
    if procedure.voting == CLIPPED:
        return {"shares": list(leaf.shares)}
    return {"class": leaf.label, "shares": list(leaf.shares)}


def _scores(scores: Scores) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    for part in scores.parts:
        column = part.column
        entry: dict[str, Any] = {
            "column": column.cell,
            "center": column.center,
            "scale": column.scale,
            "coefficients": part.coef,
        }
        if column.level != NUMBER:
            entry["level"] = None if column.level == MISSING else column.level
        if part.curve:
            entry["squares"] = part.curve
        parts.append(entry)
    return {"scored": scores.classes, "intercepts": scores.intercept, "parts": parts}


def _coded(code_column: Coded) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "column": code_column.term.cell,
        "values": list(code_column.values),
        "usual": code_column.usual,
    }
    if code_column.term.level != NUMBER:
        entry["level"] = None if code_column.term.level == MISSING else code_column.term.level
    return entry


def _terms(lane: Lane, procedure: Procedure) -> list[dict[str, Any]]:
    entries = []
    for term in lane:
        entry: dict[str, Any] = {"coefficient": term.coef}
        if term.cell >= len(procedure.columns):
            entry["rotated"] = term.cell - len(procedure.columns)
        else:
            entry["column"] = term.cell
        if term.level != NUMBER:
            entry["level"] = None if term.level == MISSING else term.level
        entries.append(entry)
    return entries
