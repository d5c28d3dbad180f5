"""A model as a program of tables and functions, in the form common to languages with arrays and loops.

A language has a file of functions in `templates/` and a form for tables. In that file a comment `== NAME VARIANT`
begins a function, or a piece of one, in which $words are replaced. Trees of all sizes are rows of one table of inner
nodes, because compilers limit nested conditions; rows of small trees have remarks in words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from string import Template
from typing import Any

from oblique_cli.ground.resources import PACKAGE
from oblique_cli.models.exporting._exporter import Source
from oblique_cli.models.exporting._text import conclusion, condition, folded, heading
from oblique_cli.models.procedure import ANYTHING, CLIPPED, MAJORITY, SUM, TIE, Lane, Leaf, Procedure

MOST_LEAVES = 64  # largest tree whose rows have remarks
SHORT = 90  # characters of a table on one line

# Quantities that the functions add up over the trees of a forest, or read from the only tree.
VOTES, OUTPUTS, MODELS, SCORES, SHARES = "votes", "outputs", "models", "scores", "shares"
NUMBER = "number"  # the only score, within bounds


@dataclass(frozen=True)
class Rows:
    """A group of rows, of any number, within a row of another table. kind : as `Table.kind`"""

    kind: str
    items: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """A table of the program."""

    name: str
    kind: str  # of a row, or of each of its numbers: "int", "double", "text" or the name of a record (`RECORDS` of C)
    about: str  # a comment above the table, or ""
    rows: Sequence[Any]
    remarks: Sequence[str] = ()  # a comment behind each row, or ()


# Pieces within functions.
PARTS = (
    "required", "codes", "rotated", "model", "added", "based", "mean", "shares", "values", "decided", "at", "inside",
)  # fmt: skip


def texts_of(file: str) -> dict[str, str]:
    """Return the texts of a file in `templates/` by name and variant."""
    source = (PACKAGE / "models/exporting/templates" / file).read_text(encoding="utf-8")
    names_and_texts = re.split(r"^(?://|#) == (.+)\n", source, flags=re.MULTILINE)[1:]
    return dict(zip(names_and_texts[::2], names_and_texts[1::2], strict=True))


def functions_of(source: Source, texts: Mapping[str, str], **words: object) -> str:
    """Return the functions of a model, of those that a language has. words : those that the language adds"""
    procedure, limits = source.procedure, source.limits
    code, share = procedure.threshold or (0, 0.0)
    outputs = procedure.n_outputs  # totals that the program adds up
    if not procedure.is_regression:
        of_scores = procedure.has_scores and procedure.voting in (None, SUM)
        outputs = len(procedure.scored if of_scores else procedure.classes)
    words |= {
        "tie": repr(TIE),
        "outputs": outputs,
        "code": code,
        "other": 1 - code,
        "share": repr(share),
        "votes": repr(procedure.votes),
        "promise": limits.promise if limits else "",
    }
    functions = []
    for name, variant in variants_of(source).items():
        key = f"{name} {variant}".rstrip()
        text = "" if variant is None else Template(texts.get(key, "")).substitute(words)
        words[name] = text.rstrip("\n")
        if name not in PARTS:
            functions.append(text)
    return "".join(functions)


def added_of(procedure: Procedure) -> str:
    """Return the quantity that a leaf adds: VOTES, OUTPUTS, MODELS, SCORES, SHARES or NUMBER."""
    if procedure.is_regression:
        if procedure.has_scores:
            return NUMBER
        leaves = (output for tree in procedure.trees for node in tree.leaf_nodes for output in tree.leaf(node).each)
        return MODELS if any(leaf.terms or leaf.bounds for leaf in leaves) else OUTPUTS
    if procedure.has_scores:
        return SCORES if not procedure.is_forest else OUTPUTS if procedure.voting == SUM else SHARES
    return VOTES if procedure.voting == MAJORITY else OUTPUTS


def variants_of(source: Source) -> dict[str, str | None]:
    """Return the functions of a program in order, each with its variant, or None if the program lacks it."""
    procedure, limits = source.procedure, source.limits
    added, single = added_of(procedure), not procedure.is_forest
    has_levels = any(cell.levels for cell in procedure.cells)
    forms: dict[str, str | None] = {
        "level_code": "" if has_levels else None,
        "largest": None,
        "required": "" if procedure.needed else None,
        "codes": "" if procedure.coded else None,
        "read": "",
        "sum": "",
        "walk": "",
        "leaf": "" if single else None,
        "rotated": "" if any(tree.rotated for tree in procedure.trees) else "none",
        "model": "bounded" if procedure.has_bounds else "",
        "scores": "" if added in (SCORES, SHARES, NUMBER) else None,
        "softmax": "" if procedure.has_scores and added != NUMBER else None,
        "added": added,
        "based": "" if procedure.base else None,
        "totals": "",
        "mean": "" if procedure.voting != SUM else None,
    }
    if procedure.is_regression:
        forms["value"] = "" if procedure.n_outputs == 1 else "several"
    else:
        shares, values, decided = "smoothed" if procedure.prior else "mean", "totals", "first"
        if procedure.has_scores and added != SHARES:
            shares = "softmax"
        if procedure.threshold:
            values, decided = "shares", "threshold"
        elif procedure.voting == CLIPPED:
            shares, values, decided = "clipped", "shares", "clipped"
        elif procedure.has_scores:
            values, decided = ("totals", "scored") if single else ("shares", "first")
        elif single:
            values, decided = "cells", "label"
        forms |= {"clip": "" if shares == "clipped" else None, "shares": shares, "values": values, "decided": decided}
        forms |= {"proba": "", "predict": "", "largest": None if decided in ("label", "threshold") else ""}
    if limits:
        forms["at"] = "leaf" if limits.leaves else "all"
        if procedure.is_regression:
            forms["interval"] = ""
        else:
            forms |= {"running": "" if limits.by_sums else None, "inside": "sums" if limits.by_sums else "shares"}
            forms["set"] = ""
    return forms


def outputs_of(procedure: Procedure, leaf: Leaf) -> tuple[float, ...]:
    """Return the summands of a leaf in a forest: numbers, a vote, class shares, or scores."""
    if procedure.is_regression:
        return tuple(output.intercept for output in leaf.each)
    if leaf.scores is not None:
        return leaf.scores.intercept
    if procedure.voting == MAJORITY:
        return tuple(float(k == leaf.label) for k in range(len(procedure.classes)))
    return leaf.shares


def _models_of(procedure: Procedure, leaf: Leaf) -> tuple[Any, ...]:
    bounded = procedure.has_bounds
    return tuple(
        (terms_of(output.terms), output.intercept, *((output.bounds or ANYTHING) if bounded else ()))
        for output in leaf.each
    )


def _scores_of(procedure: Procedure, leaf: Leaf) -> tuple[Any, ...]:
    scores = leaf.scores
    assert scores is not None
    parts = []
    for part in scores.parts:
        for at, column in enumerate(part.columns):
            coef = part.coef if at == len(part.columns) - 1 else (0.0,) * len(part.coef)
            parts.append((*astuple(column), at, coef))
    return scores.intercept, Rows("part", tuple(parts))


_IN_MODELS = "intercept, and least and largest number where some leaf has bounds"
_IN_PARTS = (
    "column, level (-1 the number, -2 missing), center, scale, least and largest value, whether it is a factor of the\n"
    "product with the part before, coefficients"
)
# By the quantity that a leaf adds: the name of the table, the kind of its rows, a comment, and the row of a leaf.
_LEAVES: dict[str, tuple[str, str, str, Callable[[Procedure, Leaf], tuple[Any, ...]]]] = {
    OUTPUTS: ("OUTPUTS", "double", "Numbers, shares or scores of each leaf.", outputs_of),
    MODELS: ("MODELS", "model", f"Linear models of each leaf: terms, {_IN_MODELS}.", _models_of),
    SCORES: ("SCORES", "scores", f"Scores of each leaf: intercepts, and parts:\n{_IN_PARTS}.", _scores_of),
}
_LEAVES[SHARES] = _LEAVES[NUMBER] = _LEAVES[SCORES]


def terms_of(lane: Lane) -> Rows:
    """Return the terms of a sum."""
    return Rows("term", tuple((term.coef, term.cell, term.level) for term in lane))


def tables_of(source: Source) -> list[Table]:
    """Return the tables of a program. All splits of a model have the same number of lanes, four or one."""
    procedure, limits = source.procedure, source.limits
    cells, trees, added = procedure.cells, procedure.trees, added_of(procedure)
    small = not procedure.is_forest and len(procedure.tree.leaf_nodes) <= MOST_LEAVES
    levels = [Rows("text", cell.levels) for cell in cells]
    tables = [
        Table("COLUMNS", "text", "", [cell.name for cell in cells]),
        Table("LEVELS", "range", "Levels of each column, none of a number.", levels),
        Table("FILLS", "double", "What stands for a missing cell.", procedure.fills.tolist()),
        Table("NEEDED", "int", "Columns without which there is no prediction.", procedure.needed),
    ]
    if procedure.classes:
        tables.insert(1, Table("CLASSES", "text", "", procedure.classes))
    if procedure.coded:
        about = (
            "Columns of codes behind the others: column, level (-1 the number, -2 missing), numbers by code, others."
        )
        rows = [(c.term.cell, c.term.level, Rows("value", c.values), c.usual) for c in procedure.coded]
        tables.append(Table("CODED", "coded", about, rows))
    nodes: list[Any] = []
    leaves: list[Leaf] = []
    roots, on_nodes, on_leaves = [], [], []
    for tree in trees:
        number = {node: len(nodes) + i for i, node in enumerate(tree.inner)}
        number |= {node: -1 - len(leaves) - i for i, node in enumerate(tree.leaf_nodes)}
        roots.append(number[0])
        for node in tree.inner:
            split, children = tree.split(node), (number[tree.left[node]], number[tree.right[node]])
            lanes = tuple(map(terms_of, split.lanes))
            nodes.append((*children, split.threshold, int(split.missing_left is True), lanes))
            if small:
                on_nodes.append(f"{number[node]}: {condition(split, procedure, 6, left=True)}")
        for node in tree.leaf_nodes:
            leaves.append(tree.leaf(node))
            if small:
                on_leaves.append(f"{number[node]}: {conclusion(procedure, node, 6)}")
    about = "Inner nodes: left child, right child, threshold, whether a missing number goes left, terms of the sums."
    tables += [
        Table("NODES", "node", f"{about}\nOf the children, those below 0 are leaves: -1 the first.", nodes, on_nodes),
        Table("ROOTS", "int", "The root of each tree.", roots),
    ]
    if any(tree.rotated for tree in trees):
        rotated = [Rows("lane", tuple(map(terms_of, tree.rotated))) for tree in trees]
        tables.append(Table("ROTATED", "range", "Features of each tree that are sums of columns.", rotated))
    if not procedure.is_forest:
        numbers = [procedure.tree.number(node) for node in procedure.tree.leaf_nodes]
        tables.append(Table("NUMBERS", "int", "The number of each leaf in the tree.", numbers))
    if not procedure.has_scores and not procedure.is_regression and procedure.voting in (None, MAJORITY):
        tables.append(Table("LABELS", "int", "The class of each leaf.", [leaf.label for leaf in leaves]))
    if added == NUMBER:
        bounds = [leaf.bounds or ANYTHING for leaf in leaves]
        tables.append(Table("BOUNDS", "double", "Least and largest number of each leaf.", bounds))
    elif procedure.has_scores:
        tables.append(Table("SCORED", "int", "Codes of the classes that have a score.", procedure.scored))
    if added != VOTES:
        name, kind, about, row = _LEAVES[added]
        tables.append(Table(name, kind, about, [row(procedure, leaf) for leaf in leaves], on_leaves))
    if procedure.base:
        tables.append(Table("BASE", "double", "What is added to the sums of the trees.", procedure.base))
    if procedure.prior:
        tables.append(Table("PRIOR", "double", "What is added to the votes of each class.", procedure.prior))
    if procedure.even:
        tables.append(Table("EVEN", "double", "Shares where no sum is positive.", procedure.even))
    if limits:
        about = "Limits of the leaves with these numbers, and last those of any other leaf."
        if limits.leaves:
            tables.append(Table("LIMITED", "int", "Numbers of the leaves with limits of their own.", limits.leaves))
        tables.append(Table("LIMITS", "double", about, limits.rows))
    return tables


def rows_of(
    table: Table, literal: Callable[[Any], str], indent: str, remark: Callable[[str], str], brackets: str
) -> str:
    """Return all rows of a table as a literal. literal : of a row; remark : form of a remark behind a row"""
    pieces = [f"{literal(row)}," for row in table.rows]
    text = brackets[0] + " ".join(pieces).removesuffix("," if len(pieces) > 1 or brackets != "()" else "") + brackets[1]
    if not table.remarks and len(text) <= SHORT:
        return text
    if not table.remarks and not any(isinstance(row, tuple | Rows) for row in table.rows):
        lines = folded(pieces, indent) + "\n"
        return f"{brackets[0]}\n{indent}{lines}{brackets[1]}"
    remarks = [*map(remark, table.remarks)] or [""] * len(pieces)
    lines = "".join(f"{indent}{piece}{text}\n" for piece, text in zip(pieces, remarks, strict=True))
    return f"{brackets[0]}\n{lines}{brackets[1]}"


def nested(value: Any, scalar: Callable[[Any], str], brackets: str) -> str:
    """Return a row as a literal in brackets. scalar : of a number or text; brackets : the two of them"""
    if isinstance(value, Rows):
        value = value.items
    if not isinstance(value, tuple):
        return scalar(value)
    items = [nested(item, scalar, brackets) for item in value]
    return brackets[0] + ", ".join(items) + ("," if len(items) == 1 and brackets == "()" else "") + brackets[1]


def script(source: Source, file: str, mark: str, usage: str, table: Callable[[Table], str], imports: str = "") -> str:
    """Return a program of comments, tables and the functions of a file in `templates/`.

    mark : begins a comment; usage : comment on the use of `predict`; table : text of a table behind its comment
    """
    head = [*heading(source.procedure, coded=False), "", usage]
    text = "".join(f"{mark} {line}".rstrip() + "\n" for line in head) + "\n" + imports
    for entry in tables_of(source):
        text += "".join(f"{mark} {line}\n" for line in entry.about.splitlines()) + table(entry)
    return text + functions_of(source, texts_of(file))
