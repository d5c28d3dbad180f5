"""A module of JavaScript (ECMAScript 2022) for Node and browsers, without imports: as the module of Python."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from oblique_cli.models.exporting._conditions import Conditions
from oblique_cli.models.exporting._exporter import BOOSTED, MOST, Source, exporter
from oblique_cli.models.exporting._exporter import NUMBERS as NUMBER_FOREST
from oblique_cli.models.exporting._limits import LimitsText
from oblique_cli.models.exporting._tables import Tables, tables_of
from oblique_cli.models.exporting._text import folded, heading, identifiers, readable
from oblique_cli.models.procedure import (
    ANYTHING,
    CLIPPED,
    HALF_ROOT,
    MISSING,
    TIE,
    Lane,
    Procedure,
)
from oblique_cli.models.procedure import SUM as ADDED
from oblique_cli.tree.payloads import FARTHEST, FARTHEST_SQUARED

# Words of the language, and names of the module.
RESERVED = frozenset({
    "arguments", "async", "await", "break", "case", "catch", "cells", "class", "const", "continue", "debugger",
    "default", "delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function",
    "get", "if", "implements", "import", "in", "infinity", "instanceof", "interface", "let", "nan", "needed", "new",
    "null", "number", "of", "package", "private", "protected", "public", "return", "set", "static", "super", "switch",
    "this", "throw", "true", "try", "typeof", "undefined", "var", "void", "while", "with", "yield",
})  # fmt: skip

READ = """
// The cells of a row as numbers: NaN where one is missing, codes of levels.
function cellsOf(row) {
  const named = !Array.isArray(row);
  if (!named && row.length !== COLUMNS.length) {
    throw new RangeError(`a row has ${COLUMNS.length} columns. Got ${row.length} values.`);
  }
  const cells = COLUMNS.map((name, j) => {
    const value = !named ? row[j] : Object.hasOwn(row, name) ? row[name] : null;
    if (value === null || value === undefined || value === "" || Number.isNaN(value)) return FILLS[j];
    if (LEVELS[j] !== null) return LEVELS[j].get(String(value)) ?? LEVELS[j].size;
    const found = Number(value);
    if (Number.isNaN(found)) throw new TypeError(`${name} must be a number. Got ${value}.`);
    return found;
  });
"""

CODES = """  for (const [cell, level, known, usual] of CODED) {
    const code = known.indexOf(valueOf(cells, cell, level));
    cells.push(code < 0 ? usual : code);
  }
"""

VALUE = """
// A cell as a number, or 1 where it has a level and 0 elsewhere; level -1 is the number, -2 a missing cell.
function valueOf(cells, cell, level) {
  const value = cells[cell];
  return level === -1 ? value : Number(value === level || (level === -2 && Number.isNaN(value)));
}
"""

LEAF = """
// The leaf of a row as a node number of the tree, null if it lacks a number that the model needs.
export function leaf(row) {
  return leafOf(cellsOf(row));
}
"""

CLASSES_OF_TREE = """
// The class of a row, null if it lacks a number that the model needs.
export function predict(row) {
  const at = leaf(row);
  return at === null ? null : CLASSES[LABELS.get(at)];
}

// The share of each class, in the order of CLASSES, in the leaf of a row; null as `predict`.
export function predictProba(row) {
  const at = leaf(row);
  return at === null ? null : [...SHARES.get(at)];
}
"""

VALUE_OF_TREE = """
// The value of the linear model in the leaf of a row, null if it lacks a number that the model needs.
export function predict(row) {{
  const cells = cellsOf(row);
  const at = leafOf(cells);
  if (at === null) return null;
  const [intercept, terms] = MODELS.get(at);
  {statements};
}}
"""
UNBOUNDED = "return sumOf(terms, cells) + intercept"
WITHIN = "Math.min(Math.max(sumOf(terms, cells) + intercept, low), high)"
BOUNDED = f"""const [low, high] = BOUNDS.get(at);
  return {WITHIN}"""
CONSTANT_ADDED = "total += VALUES[walk(root, cells)];"
LINEAR_ADDED = f"""{{
    const [intercept, terms, low, high] = MODELS[walk(root, cells)];
    total += {WITHIN};
  }}"""

SUM = """
// The sum of (coefficient, cell, level) from the first on.
function sumOf(terms, cells) {
  let total = 0;
  for (const [coef, cell, level] of terms) {
    const value = cells[cell];
    if (level === -1) total += coef * value;
    else if (value === level || (level === -2 && Number.isNaN(value))) total += coef;
  }
  return total;
}
"""

WALK = """
// The leaf under the node `at`, -1 - its number in the tables.
function walk(at, cells) {
  while (at >= 0) {
    const lanes = TERMS.slice(at * LANES, (at + 1) * LANES).map((terms) => sumOf(terms, cells));
    const total = LANES === 1 ? lanes[0] : lanes[0] + lanes[1] + (lanes[2] + lanes[3]);
    // A missing number makes the total NaN, which is neither above nor below anything.
    const left = MISSING_LEFT[at] ? !(total > THRESHOLD[at]) : total <= THRESHOLD[at];
    at = left ? LEFT[at] : RIGHT[at];
  }
  return -1 - at;
}
"""

LACKING = "NEEDED.some((j) => Number.isNaN(cells[j]))"

LEAF_OF_TABLES = f"""
function leafOf(cells) {{
  return {LACKING} ? null : NODE[walk(ROOTS[0], cells)];
}}
"""

VOTES = f"""
function votesOf(row) {{
  const cells = cellsOf(row);
  if ({LACKING}) return null;
  const votes = SHARES[0].map(() => 0);
  ROOTS.forEach((root, t) => {{
    const at = walk(root, [...cells, ...ROTATED[t].map((terms) => sumOf(terms, cells))]);
    SHARES[at].forEach((share, k) => {{
      votes[k] += share;
    }});
  }});
  return votes;
}}
"""

FOREST = """
// The class with most votes, the first on a tie; null for a row that lacks a number.
export function predict(row) {
  const votes = votesOf(row);
  return votes === null ? null : CLASSES[firstOfLargest(votes)];
}

// The share of the votes of each class, in the order of CLASSES; null as `predict`.
export function predictProba(row) {
  const votes = votesOf(row);
  return votes === null ? null : votes.map((vote) => vote / ROOTS.length);
}
"""

NUMBERS = f"""
// {{what}}; null for a row that lacks a number.
export function predict(row) {{{{
  const cells = cellsOf(row);
  if ({LACKING}) return null;
  let total = 0;
  for (const root of ROOTS) {{added}}
  return {{total}};
}}}}
"""

CLIPPED_FOREST = f"""
// The sums that are positive, divided by their total, in the order of CLASSES; null as `predict`.
export function predictProba(row) {{
  const votes = votesOf(row);
  if (votes === null) return null;
  const positive = votes.map((vote) => (vote > 0 ? vote : 0));
  const total = positive.reduce((sum, vote) => sum + vote, 0);
  return total > 0 ? positive.map((vote) => vote / total) : [...EVEN];
}}

// The class of the largest share, the first of nearly equal ones; null for a row that lacks a number.
export function predict(row) {{
  const shares = predictProba(row);
  if (shares === null) return null;
  const top = shares[firstOfLargest(shares)];
  return CLASSES[shares.findIndex((share) => share >= top - {TIE!r})];
}}
"""

LARGEST = """
function firstOfLargest(values) {
  let best = 0;
  values.forEach((value, k) => {
    if (value > values[best]) best = k;
  });
  return best;
}
"""

SCORES = f"""
// The scores of the classes SCORED in the leaf of a row, null if it lacks a number that the model needs.
function scoresOf(row) {{
  const cells = cellsOf(row);
  const at = leafOf(cells);
  if (at === null) return null;
  const [intercepts, parts] = SCORES.get(at);
  const scores = [...intercepts];
  for (const [number, coefs, curves] of parts) {{
    const [cell, level, center, scale] = SCALED[number];
    const value = valueOf(cells, cell, level);
    // In standard deviations; a missing number counts as the center.
    const z = Number.isNaN(value) ? 0 : Math.min(Math.max((value - center) / scale, -{FARTHEST!r}), {FARTHEST!r});
    const near = Math.min(Math.max(z, -{FARTHEST_SQUARED!r}), {FARTHEST_SQUARED!r});
    coefs.forEach((coef, k) => {{
      scores[k] += coef * z;
    }});
    curves.forEach((coef, k) => {{
      scores[k] += coef * ((near * near - 1) * {HALF_ROOT!r});
    }});
  }}
  return scores;
}}

// The probability of each class, in the order of CLASSES; null for a row that lacks a number.
export function predictProba(row) {{
  const scores = scoresOf(row);
  return scores === null ? null : sharesOf(scores);
}}
"""

BOOSTED_FOREST = """
// The probability of each class, in the order of CLASSES; null for a row that lacks a number.
export function predictProba(row) {
  const scores = votesOf(row);
  return scores === null ? null : sharesOf(scores.map((score, k) => score + BASE[k]));
}
"""

LARGEST_SHARE = """
// The class of the largest probability, the first on a tie; null for a row that lacks a number.
export function predict(row) {
  const shares = predictProba(row);
  return shares === null ? null : CLASSES[firstOfLargest(shares)];
}
"""

SHARES_OF = """
// The probability of each class, of the scores of the classes SCORED.
function sharesOf(scores) {
  const top = scores[firstOfLargest(scores)];
  const powers = scores.map((score) => Math.exp(score - top));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const shares = CLASSES.map(() => 0);
  SCORED.forEach((code, k) => {
    shares[code] = powers[k] / total;
  });
  return shares;
}
"""

LARGEST_SCORE = """
// The class of the largest score, null for a row that lacks a number.
export function predict(row) {
  const scores = scoresOf(row);
  return scores === null ? null : CLASSES[SCORED[firstOfLargest(scores)]];
}
"""

AT_THRESHOLD = """
// A class of two from a probability of it on, the other one below it; null as `predictProba`.
export function predict(row) {{
  const shares = predictProba(row);
  return shares === null ? null : CLASSES[shares[{code}] >= {share!r} ? {code} : {other}];
}}
"""


GUARANTEED = LimitsText(
    table="""
// Limits by leaf, under null those of any other leaf.
const LIMITS = {rows};
""",
    row="LIMITS.get(leaf(row)) ?? LIMITS.get(null)",
    only="LIMITS.get(null)",
    sets="""
// The classes that hold the true one {promise}; null as `predictProba`.
export function predictSet(row) {{
  const shares = predictProba(row);
  if (shares === null) return null;
  const limits = {limits};
  return CLASSES.filter((_, k) => {test});
}}
""",
    running_sum="""
// The sum of the shares of likelier classes, the first of equal ones, and half of the share itself.
function runningSum(shares, k) {
  let total = 0;
  shares.forEach((share, j) => {
    if (share > shares[k] || (share === shares[k] && j < k)) total += share;
  });
  return total + 0.5 * shares[k];
}
""",
    reached="shares[k] >= limits[k]",
    not_exceeded="runningSum(shares, k) <= limits[k]",
    interval="""
// The ends of the interval that holds the true number {promise}; null as `predict`.
export function predictInterval(row) {{
  const value = predict(row);
  if (value === null) return null;
  const [below, above] = {limits};
  return [value - below, value + above];
}}
""",
)


@exporter("javascript", "a module of JavaScript for Node and browsers", ".mjs", kinds=(*MOST, BOOSTED, NUMBER_FOREST))
def write(source: Source) -> str:
    """Return the module."""
    return _predicting(source) + GUARANTEED.of(source, js)


def _predicting(source: Source) -> str:
    """The module without sets and intervals."""
    procedure = source.procedure
    lines = [f"// {line}".rstrip() for line in heading(procedure, coded=False)]
    lines += [
        "//",
        "// predict(row) takes an object of values by column name, or an array in order; levels as text.",
        "",
    ]
    lines += _columns(procedure)
    parts = [
        "\n".join(lines) + "\n",
        VALUE if procedure.coded or (procedure.has_scores and not procedure.is_forest) else "",
    ]
    parts += [READ, CODES if procedure.coded else "", "  return cells;\n}\n"]
    tables = tables_of(procedure)
    nested = readable(procedure)
    if not nested:
        parts += ["\n", _walked(tables)]
    if procedure.is_forest and procedure.is_regression:
        sums = procedure.voting == ADDED
        what = "The sum of the trees and the number that they start from" if sums else "The mean of the trees"
        total = f"total + {js(procedure.base[0])}" if sums else "total / ROOTS.length"
        if procedure.has_bounds:
            leaf_models = [
                (leaf.intercept, _terms(leaf.terms), *(leaf.bounds or ANYTHING))
                for tree in procedure.trees
                for leaf in map(tree.leaf, tree.leaf_nodes)
            ]
            head, added = "Of each leaf: intercept, terms (coefficient, column, level), bounds", LINEAR_ADDED
            values = f"// {head}.\nconst MODELS = {js(leaf_models)};\n"
        else:
            values, added = f"// What each leaf says.\nconst VALUES = {js(tables.intercept)};\n", CONSTANT_ADDED
        return "".join([*parts, values, SUM, WALK, NUMBERS.format(what=what, added=added, total=total)])
    if procedure.is_forest:
        parts += [_forest_tables(procedure, tables), SUM, WALK, LARGEST, VOTES]
        if procedure.has_scores:
            return "".join([*parts, SHARES_OF, BOOSTED_FOREST, _decided(procedure, LARGEST_SHARE)])
        return "".join([*parts, CLIPPED_FOREST if procedure.voting == CLIPPED else FOREST])
    parts += [f"const NODE = {js(tables.node)};\n" if not nested else "\n", _leaf_tables(procedure), LEAF]
    parts.append(f"\n{_nested(procedure)}" if nested else LEAF_OF_TABLES + WALK)
    if procedure.is_regression or not nested:
        parts.append(SUM)
    if not procedure.has_scores:
        value = VALUE_OF_TREE.format(statements=BOUNDED if procedure.has_bounds else UNBOUNDED)
        return "".join([*parts, value if procedure.is_regression else CLASSES_OF_TREE])
    return "".join([*parts, LARGEST, SHARES_OF, SCORES, _decided(procedure, LARGEST_SCORE)])


def _decided(procedure: Procedure, largest: str) -> str:
    """The function `predict`. largest : where no threshold decides"""
    if procedure.threshold is None:
        return largest
    code, share = procedure.threshold
    return AT_THRESHOLD.format(code=code, share=share, other=1 - code)


def js(value: Any) -> str:
    """Return a value as a literal: characters beyond ASCII as escapes, a dictionary as a Map."""
    if isinstance(value, dict):
        return f"new Map({js(list(value.items()))})"
    if isinstance(value, list | tuple):
        text = "[" + ", ".join(map(js, value)) + "]"
        return text if len(text) <= 100 else "[\n  " + folded([f"{js(item)}," for item in value], "  ") + "\n]"
    if isinstance(value, float):
        return "NaN" if value != value else repr(value)
    return json.dumps(value)


def _columns(procedure: Procedure) -> Iterator[str]:
    if not procedure.is_regression:
        yield f"export const CLASSES = {js(procedure.classes)};"
    yield f"export const COLUMNS = {js([cell.name for cell in procedure.cells])};"
    yield "// Codes of levels by column, null for a number."
    levels = [{level: code for code, level in enumerate(c.levels)} if c.levels else None for c in procedure.cells]
    yield f"const LEVELS = {js(levels)};"
    yield "// What stands for a missing cell."
    yield f"const FILLS = {js([float('nan') if cell.fill is None else cell.fill for cell in procedure.cells])};"
    yield "// Columns without which there is no prediction."
    yield f"const NEEDED = {js(procedure.needed)};"
    if procedure.coded:
        yield "// Columns of codes, behind the others: of which column, or of its level (-1 the number, -2 missing),"
        yield "// numbers by code, and the code of any other."
        coded = [
            (code_column.term.cell, code_column.term.level, code_column.values, code_column.usual)
            for code_column in procedure.coded
        ]
        yield f"const CODED = {js(coded)};"


def _terms(terms: Lane) -> list[tuple[float, int, int]]:
    return [(term.coef, term.cell, term.level) for term in terms]


def _mapped(name: str, rows: Sequence[tuple[int, Any]]) -> str:
    return f"const {name} = new Map([\n" + "".join(f"  {js(row)},\n" for row in rows) + "]);\n"


def _leaf_tables(procedure: Procedure) -> str:
    tree = procedure.tree
    leaves = [(tree.number(node), tree.leaf(node)) for node in tree.leaf_nodes]
    if procedure.is_regression:
        rows = [(node, (leaf.intercept, _terms(leaf.terms))) for node, leaf in leaves]
        bounds = [(node, leaf.bounds or ANYTHING) for node, leaf in leaves]
        text = "// Intercept and terms (coefficient, column, level) of each leaf.\n" + _mapped("MODELS", rows)
        if procedure.has_bounds:
            text += "// Least and largest number that each leaf says.\n" + _mapped("BOUNDS", bounds)
        return text
    if not procedure.has_scores:
        labels, shares = ([(node, getattr(leaf, name)) for node, leaf in leaves] for name in ("label", "shares"))
        return _mapped("LABELS", labels) + _mapped("SHARES", shares)
    place = {column: number for number, column in enumerate(procedure.scaled)}
    models = [
        (node, (leaf_scores.intercept, [(place[part.column], part.coef, part.curve) for part in leaf_scores.parts]))
        for node, leaf in leaves
        if (leaf_scores := leaf.scores) is not None
    ]
    scaled = [(column.cell, column.level, column.center, column.scale) for column in procedure.scaled]
    return (
        _scored(procedure)
        + "// Columns in standard deviations: column, level (-1 the number, -2 a missing cell), center, scale.\n"
        f"const SCALED = {js(scaled)};\n"
        "// Of each leaf: intercepts, and what columns in standard deviations add: which column, coefficients by\n"
        "// class, and those of squares.\n" + _mapped("SCORES", models)
    )


def _scored(procedure: Procedure) -> str:
    return f"// Codes of the classes that have a score.\nconst SCORED = {js(procedure.scored)};\n"


def _walked(tables: Tables) -> str:
    of_terms = list(zip(tables.terms.coef, tables.terms.cell, tables.terms.level, strict=True))
    lanes = [of_terms[a:b] for a, b in zip(tables.starts, tables.starts[1:], strict=False)]
    arrays = {
        "ROOTS": tables.roots,
        "LEFT": tables.left,
        "RIGHT": tables.right,
        "THRESHOLD": tables.threshold,
        "MISSING_LEFT": tables.missing_left,
        "LANES": tables.n_lanes,
        "TERMS": lanes,
    }
    return (
        "// Inner nodes: a row goes left if the sum of (coefficient, column, level) is at most the threshold.\n"
        "// Children of 0 or more are inner nodes, others are -1 - the number of a leaf.\n"
        + "".join(f"const {name} = {js(values)};\n" for name, values in arrays.items())
    )


def _forest_tables(procedure: Procedure, tables: Tables) -> str:
    rotated = [[_terms(lane) for lane in tree.rotated] for tree in procedure.trees]
    even = f"// Shares where no sum is positive.\nconst EVEN = {js(procedure.even)};\n" if procedure.even else ""
    base = f"// Scores before the first tree.\nconst BASE = {js(procedure.base)};\n"
    scored = _scored(procedure) + base if procedure.has_scores else ""
    what = "scores" if procedure.has_scores else "votes"
    return (
        f"{even}{scored}// What each leaf adds to the {what}.\nconst SHARES = {js(tables.voice)};\n"
        f"// Features of each tree that are sums of columns.\nconst ROTATED = {js(rotated)};\n"
    )


class _Conditions(Conditions):
    """The words of JavaScript."""

    indent = "  "
    zero = "0"

    def __init__(self, procedure: Procedure) -> None:
        super().__init__(procedure)
        self.names = identifiers([cell.name for cell in procedure.columns], RESERVED)

    def value(self, cell: int) -> str:
        return self.names[cell]

    def has_level(self, cell: int, level: int) -> str:
        return f"Number.isNaN({self.names[cell]})" if level == MISSING else f"{self.names[cell]} === {level}"


def _nested(procedure: Procedure) -> str:
    words = _Conditions(procedure)
    lines = ["function leafOf(cells) {", f"  if ({LACKING}) return null;"]
    lines += [f"  const {words.names[j]} = cells[{j}];" for j in procedure.tree.split_columns]
    return "\n".join([*lines, *words.lines()]) + "\n}\n"
