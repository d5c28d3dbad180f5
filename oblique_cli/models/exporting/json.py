"""Plain JSON of the steps, the basis for further exporters: docs/models.md defines the keys."""

from __future__ import annotations

import json
from typing import Any

from oblique_cli import __version__
from oblique_cli.models.exporting._exporter import KINDS, PLAIN, Source, exporter, kind_of
from oblique_cli.models.procedure import CLIPPED, MISSING, NUMBER, SUM, Lane, Leaf, Procedure, Scaled, Scores, Steps
from oblique_cli.tree.payloads import FARTHEST

SCHEMA = "oblique-export/1"
YOUNGER = "oblique-export/2"  # version of a document with keys that readers of the first version do not know
WITH_PAIRS = "oblique-export/4"  # of scores with squares, products of two columns, or hinges


@exporter("json", "the model as plain steps in JSON", ".json", kinds=KINDS)
def write(source: Source) -> str:
    """Return the document, one node per line."""
    document = as_plain(source.procedure)
    if source.model.guarantee is not None:
        document |= {"schema": YOUNGER, "guarantee": source.model.guarantee.plain()}
    trees = document.pop("trees")
    head = json.dumps(document, ensure_ascii=False, indent=1).removesuffix("\n}")
    lines = []
    for tree in trees:
        nodes = ",\n   ".join(map(_text, tree["nodes"]))
        lines.append(f'  {{"rotated": {_text(tree["rotated"])}, "nodes": [\n   {nodes}]}}')
    return f'{head},\n "trees": [\n' + ",\n".join(lines) + "\n ]\n}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_plain(procedure: Procedure) -> dict[str, Any]:
    """Return a model as plain data."""
    further: dict[str, Any] = {}
    if procedure.coded:
        further["codes"] = [
            {"column": c.term.cell, "values": c.values, "usual": c.usual, **_level(c.term.level)}
            for c in procedure.coded
        ]
    if procedure.even:
        further["even"] = procedure.even
    if procedure.prior:
        further |= {"prior": procedure.prior, "votes": procedure.votes}
    if procedure.voting == SUM:
        further["base"] = procedure.base[0] if procedure.is_regression else procedure.base
    if procedure.threshold:
        further["threshold"] = dict(zip(("class", "share"), procedure.threshold, strict=True))
    is_plain = kind_of(procedure) in PLAIN and not procedure.has_bounds and not procedure.prior
    return {
        "schema": WITH_PAIRS if any(c.low != -FARTHEST for c in procedure.scaled) else SCHEMA if is_plain else YOUNGER,
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
    n = len(procedure.columns)
    nodes: list[dict[str, Any]] = []
    for node in range(tree.n_nodes):
        if tree.left[node] < 0:
            numbered = {"node": tree.number(node)} if tree.numbers else {}
            nodes.append({**_leaf(tree.leaf(node), procedure), **numbered})
            continue
        split = tree.split(node)
        nodes.append({"left": tree.left[node], "right": tree.right[node], "threshold": split.threshold})
        if split.missing_left is not None:
            nodes[-1]["missing"] = "left" if split.missing_left else "right"
        nodes[-1]["lanes"] = [_terms(lane, n) for lane in split.lanes]
    return {"rotated": [_terms(lane, n) for lane in tree.rotated], "nodes": nodes}


def _leaf(leaf: Leaf, procedure: Procedure) -> dict[str, Any]:
    if leaf.outputs:
        return {"outputs": [_leaf(output, procedure) for output in leaf.outputs], "rows": leaf.n_rows}
    if procedure.is_regression:
        bounds = {} if leaf.bounds is None else {"bounds": leaf.bounds}
        parts = {} if leaf.scores is None else {"parts": _parts(leaf.scores)}
        terms = _terms(leaf.terms, len(procedure.columns))
        return {"intercept": leaf.intercept, "terms": terms, **parts, **bounds, "rows": leaf.n_rows}
    if leaf.scores is not None:
        return {"scored": leaf.scores.classes, "intercepts": leaf.scores.intercept, "parts": _parts(leaf.scores)}
    label = {} if procedure.voting == CLIPPED else {"class": leaf.label}
    return {**label, "shares": leaf.shares}


def _parts(scores: Scores) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for part in scores.parts:
        column, *rest = map(_scaled, part.columns)
        parts.append({**column, "coefficients": part.coef, **({"times": rest[0]} if rest else {})})
    return parts


def _terms(lane: Lane, n_columns: int) -> list[dict[str, Any]]:
    entries = []
    for term in lane:
        beyond = term.cell - n_columns
        place = {"rotated": beyond} if beyond >= 0 else {"column": term.cell}
        entries.append({"coefficient": term.coef, **place, **_level(term.level)})
    return entries


def _scaled(column: Scaled) -> dict[str, Any]:
    ends = {"least": (column.low, -FARTHEST), "largest": (column.high, FARTHEST)}
    limits = {name: end for name, (end, usual) in ends.items() if end != usual}
    return {"column": column.cell, "center": column.center, "scale": column.scale, **limits, **_level(column.level)}


def _level(level: int) -> dict[str, int | None]:
    return {} if level == NUMBER else {"level": None if level == MISSING else level}
