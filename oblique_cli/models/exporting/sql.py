"""One SELECT of standard SQL that adds the prediction to the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from oblique_cli.errors import ConfigError, cut
from oblique_cli.models.exporting._exporter import BOOSTED, MOST, NUMBERS, Source, exporter
from oblique_cli.models.exporting._limits import Limits, limits_of
from oblique_cli.models.exporting._program import MOST_LEAVES, outputs_of
from oblique_cli.models.exporting._text import added, folded, heading, quoted, summands
from oblique_cli.models.exporting._words import conclusion
from oblique_cli.models.procedure import (
    CLIPPED,
    HALF_ROOT,
    MISSING,
    NUMBER,
    TIE,
    Lane,
    Leaf,
    Procedure,
    Scaled,
    Split,
    Steps,
    Term,
    square_of,
)
from oblique_cli.models.procedure import SUM as ADDED
from oblique_cli.tree.payloads import FARTHEST, FARTHEST_SQUARED

MOST_SPLITS = 1000  # SQLite has at most 2,000 columns in a result
MOST_SUMMED = 900  # summands: an expression of SQLite is at most 1,000 deep
BETWEEN = "|"  # labels of a set
LEAST_POWER = -700.0  # PostgreSQL takes the exponential of less for an error; it is 0 beside that of 0


@exporter(
    "sql",
    "a SELECT of standard SQL (SQLite, PostgreSQL, DuckDB)",
    ".sql",
    kinds=(*MOST, BOOSTED, NUMBERS),
    named="the table that holds the rows",
)
def write(source: Source) -> str:
    """Return the statement: all columns of the table, the leaf (of one tree), the prediction and its share."""
    procedure = source.procedure
    _refuse(procedure)
    table, limits = source.name or "data", limits_of(source)
    taken = [*(cell.name for cell in procedure.cells), procedure.target]
    names = {word: identifier(_new(word, taken)) for word in ("leaf", "prediction", "share", "set", "low", "high")}
    lines = [f"-- {line}".rstrip() for line in heading(procedure, coded=False)]
    lines += [
        "--",
        "-- A missing cell is NULL. Columns of numbers are taken as DOUBLE PRECISION; sums keep the order of training.",
        f"-- The rows are those of the table {quoted(table)}.",
    ]
    if procedure.is_forest:
        inner, origin = _voted(procedure, 2), identifier(table)
        chosen = _of_forest(procedure, limits)
        columns = {word: _or_null(procedure, _subquery(value, inner)) for word, value in chosen.items()}
    else:
        marked = _or_null(procedure, _subquery(f"{_prefix(procedure)}leaf0", _placed(procedure, 1)))
        lines.append(f"WITH marked AS (SELECT *,\n  {marked} AS {names['leaf']}\nFROM {identifier(table)})")
        columns, origin = _of_tree(source, limits, names["leaf"]), "marked"
    listed = ",\n".join(f"  {value} AS {names[word]}" for word, value in columns.items())
    return "\n".join([*lines, "SELECT *,", listed, f"FROM {origin};"]) + "\n"


def _of_forest(procedure: Procedure, limits: Limits | None) -> dict[str, str]:
    """The columns of the result, of the shares p0, p1, ... or the number p0."""
    places = [f"{_prefix(procedure)}p{k}" for k in range(len(procedure.classes) or 1)]
    if not procedure.is_regression:
        columns = dict(zip(("prediction", "share"), _of_shares(procedure), strict=True))
        return columns | ({"set": _set(procedure, limits, places, "")} if limits else {})
    columns = {"prediction": places[0]}
    if limits:
        below, above = limits.rows[-1]
        columns |= {"low": f"{places[0]} - {number(below)}", "high": f"{places[0]} + {number(above)}"}
    return columns


def _of_tree(source: Source, limits: Limits | None, leaf: str) -> dict[str, str]:
    """The columns of the result by the leaf of a row."""
    procedure, tree = source.procedure, source.procedure.tree
    numbered = [(tree.number(node), tree.leaf(node)) for node in tree.leaf_nodes]

    def by_leaf(values: Iterable[str]) -> str:
        return _by_leaf(f"CASE {leaf}", [(node, value) for (node, _), value in zip(numbered, values, strict=True)])

    if procedure.is_regression:
        values = [_Words(procedure).number_of(tree_leaf) for _, tree_leaf in numbered]
        columns = {"prediction": by_leaf(values)}
        for word, side, sign in (("low", 0, -1.0), ("high", 1, 1.0)) if limits else ():
            ends = (sign * limits.at(node)[side] for node, _ in numbered) if limits else ()
            columns[word] = by_leaf(map(_moved, values, ends))
        return columns
    if procedure.has_scores:
        inner = _scored(procedure, leaf, 2)
        columns = dict(zip(("prediction", "share"), _of_scores(procedure, leaf), strict=True))
        columns |= {"set": _set(procedure, limits, _scored_shares(procedure), leaf)} if limits else {}
        return {word: _subquery(value, inner) for word, value in columns.items()}
    columns = {
        "prediction": by_leaf(text(procedure.classes[tree_leaf.label]) for _, tree_leaf in numbered),
        "share": by_leaf(number(tree_leaf.shares[tree_leaf.label]) for _, tree_leaf in numbered),
    }
    if limits:
        members = (limits.labels(source, tree_leaf.shares, node) for node, tree_leaf in numbered)
        columns["set"] = by_leaf(text(BETWEEN.join(labels)) for labels in members)
    return columns


def identifier(name: str) -> str:
    """Return a name as a quoted identifier. ConfigError for one with a NUL, which no database takes."""
    if "\0" in name:
        raise ConfigError(f"a name in SQL holds no NUL character. Got {cut(name)!r}; rename the column.")
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text as a literal."""
    if "\0" in value:
        raise ConfigError(f"a text in SQL holds no NUL character. Got {cut(value)!r}; rename the level or class.")
    return "'" + value.replace("'", "''") + "'"


def number(value: float) -> str:
    """Return a number as a literal that every reader of decimals takes for this number, and not for its neighbor.

    Some databases, SQLite among them, read a decimal with a small error. The shortest text that stands for a number may
    lie next to the border to its neighbor, so digits are added until the text is clear of it.
    """
    for literal in (repr(value), f"{value:.16g}", f"{value:.17g}"):
        room = Fraction(min(math.ulp(value), abs(value) - math.nextafter(abs(value), 0.0)) if value else 0.0)
        if 20 * abs(Fraction(literal) - Fraction(value)) <= 9 * room:
            break
    return literal


def _new(word: str, taken: Sequence[str]) -> str:
    """A name for a column that the rows do not have, whatever the case."""
    known = {name.lower() for name in taken}
    new_name, count = word, 2
    while new_name in known:
        new_name, count = f"{word}_{count}", count + 1
    return new_name


def _refuse(procedure: Procedure) -> None:
    """Raise ConfigError for a model that databases would not take."""
    n_splits = sum(len(tree.inner) for tree in procedure.trees)
    if n_splits > MOST_SPLITS:
        what = "forests of at most {} splits in all" if procedure.is_forest else "trees of at most {} splits"
        smaller = "" if procedure.is_forest else "prune it, as by --set pruning=cv, or "
        raise ConfigError(
            f"format sql takes {what.format(MOST_SPLITS)}. This one has {n_splits}: {smaller}export python or c."
        )
    models = (leaf.scores for leaf in procedure.trees[0].leaves if leaf is not None and leaf.scores is not None)
    summed = max((1 + sum(1 + bool(part.curve) for part in leaf_scores.parts) for leaf_scores in models), default=0)
    if summed > MOST_SUMMED:
        raise ConfigError(
            f"format sql takes scores of at most {MOST_SUMMED} summands. This model has one of {summed}: export python "
            "or c."
        )


def _prefix(procedure: Procedure) -> str:
    """A prefix of column names that no column of the table has."""
    prefix = "row_"
    while any(cell.name.lower().startswith(prefix) for cell in procedure.cells):
        prefix += "_"
    return prefix


def _subquery(chosen: str, inner: str) -> str:
    """A value for one row, from a subquery whose columns stay out of the result."""
    return f"(SELECT {chosen}\n  FROM {inner})"


def _layer(columns: Sequence[tuple[str, str]], inner: str, name: str, depth: int) -> str:
    """A table of one row: values and their names, taken from the table `inner`, or from the row itself.

    DISTINCT changes nothing in one row. It keeps SQLite from putting the values in wherever their names stand, layer by
    layer, and from computing each of them that many times.
    """
    indent = "  " * depth
    listed = ",\n".join(f"{indent}  {value} AS {column}" for value, column in columns)
    return f"(SELECT DISTINCT\n{listed}" + (f"\n{indent}FROM {inner}" if inner else "") + f") AS {name}"


def _scored(procedure: Procedure, leaf: str, depth: int) -> str:
    """The scores s0, s1, ... of a row, and the largest of them."""
    tree, scaled, o = procedure.tree, procedure.scaled, _prefix(procedure)
    held = [(node, leaf_scores) for node in tree.leaf_nodes if (leaf_scores := tree.leaf(node).scores) is not None]
    place = {column: j for j, column in enumerate(scaled)}
    bent = {place[part.column] for _, leaf_scores in held for part in leaf_scores.parts if part.curve}
    of_rows = [(leaf, f"{o}leaf"), *((_deviations(column, procedure), f"{o}z{j}") for j, column in enumerate(scaled))]
    inner = _layer(of_rows, "", "scaled", depth + 3)
    if bent:
        outer = number(square_of(FARTHEST_SQUARED))
        columns = [(f"{o}leaf", f"{o}leaf"), *((f"{o}z{j}", f"{o}z{j}") for j in range(len(scaled)))]
        for j in sorted(bent):
            square = f"({o}z{j} * {o}z{j} - 1.0) * {number(HALF_ROOT)}"
            columns.append((f"CASE WHEN ABS({o}z{j}) < {FARTHEST_SQUARED} THEN {square} ELSE {outer} END", f"{o}q{j}"))
        inner = _layer(columns, inner, "bent", depth + 2)
    scores = []
    for k in range(len(procedure.scored)):
        cases = []
        for node, leaf_scores in held:
            pieces = [number(leaf_scores.intercept[k])]
            for part in leaf_scores.parts:
                for values, name in ((part.coef, "z"), (part.curve, "q")):
                    if values and values[k]:
                        sign = "-" if values[k] < 0 else "+"
                        pieces.append(f"{sign} {number(abs(values[k]))} * {o}{name}{place[part.column]}")
            cases.append(f"WHEN {node} THEN {folded(pieces, '  ' * (depth + 3))}")
        indent = "  " * (depth + 2)
        scores.append((f"CASE {o}leaf\n{indent}" + f"\n{indent}".join(cases) + f"\n{indent}END", f"{o}s{k}"))
    return _compared(procedure, _layer(scores, inner, "scored", depth + 1), depth)


def _compared(procedure: Procedure, inner: str, depth: int) -> str:
    """The scores s0, s1, ... of the table `inner`, and the largest of them."""
    o = _prefix(procedure)
    names = [f"{o}s{k}" for k in range(len(procedure.scored))]
    return _layer([*((name, name) for name in names), (_largest(names), f"{o}top")], inner, "compared", depth)


def _powers(procedure: Procedure) -> list[str]:
    """The exponential of each score less the largest of them."""
    o = _prefix(procedure)
    return [
        f"CASE WHEN {o}s{k} - {o}top < {LEAST_POWER} THEN 0.0 ELSE EXP({o}s{k} - {o}top) END"
        for k in range(len(procedure.scored))
    ]


def _deviations(column: Scaled, procedure: Procedure) -> str:
    """A column in standard deviations."""
    if column.level != NUMBER:
        there, other = map(number, column.by_level)
        return f"CASE WHEN {_has_level(procedure, column.cell, column.level)} THEN {there} ELSE {other} END"
    sign = "-" if column.center >= 0 else "+"
    z = f"({_cell(procedure, column.cell)} {sign} {number(abs(column.center))}) / {number(column.scale)}"
    most = number(FARTHEST)
    return f"COALESCE(CASE WHEN {z} > {most} THEN {most} WHEN {z} < -{most} THEN -{most} ELSE {z} END, 0.0)"


def _largest(names: Sequence[str]) -> str:
    """The largest of several columns: no function for it is the same in all databases."""
    cases = [
        f"WHEN {' AND '.join(f'{name} >= {other}' for other in names[i + 1 :])} THEN {name}"
        for i, name in enumerate(names[:-1])
    ]
    return f"CASE {' '.join(cases)} ELSE {names[-1]} END" if cases else names[0]


def _of_scores(procedure: Procedure, leaf: str) -> tuple[str, str]:
    """Prediction and its probability, of scores s0, s1, ... and the largest of them."""
    scored, powers, o = procedure.scored, _powers(procedure), _prefix(procedure)
    total = folded(["(" + powers[0], *(f"+ {power}" for power in powers[1:])], "    ") + ")"
    labels = [text(procedure.classes[code]) for code in scored]
    if procedure.threshold is None:
        return _first(labels, [f"{o}s{k} = {o}top" for k in range(len(scored))], leaf), f"1.0 / {total}"
    code, share = procedure.threshold
    mine, other = scored.index(code), 1 - scored.index(code)
    reached = f"{powers[mine]} >= {number(share)} * {total}"
    label = _first([labels[mine], labels[other]], [reached, ""], leaf)
    return label, _first([f"{powers[mine]} / {total}", f"{powers[other]} / {total}"], [reached, ""], leaf)


def _within(value: str, bounds: tuple[float, float], between: str = " ") -> str:
    """A number moved to the nearer of two bounds from outside. between : cases"""
    low, high = map(number, bounds)
    # Not every dialect has functions of the least and the largest of several numbers.
    cases = f"CASE WHEN {value} < {low} THEN {low}", f"WHEN {value} > {high} THEN {high}", f"ELSE {value} END"
    return between.join(cases)


def _moved(value: str, by: float) -> str:
    """A value and a number, added up."""
    return f"({value}) {'-' if by < 0 else '+'} {number(abs(by))}"


def _scored_shares(procedure: Procedure) -> list[str]:
    """The share of each class, of scores s0, s1, ... and the largest of them."""
    scored, powers = procedure.scored, _powers(procedure)
    total = "(" + " + ".join(powers) + ")"
    shares = ["0.0"] * len(procedure.classes)
    for code, power in zip(scored, powers, strict=True):
        shares[code] = f"({power} / {total})"
    return shares


def _set(procedure: Procedure, limits: Limits, shares: Sequence[str], leaf: str) -> str:
    """The labels of the classes in the set, in one text; NULL for rows without a leaf."""
    pieces = []
    for k, label in enumerate(procedure.classes):
        limit = number(limits.rows[-1][k])
        if limits.leaves:
            cases = " ".join(f"WHEN {node} THEN {number(limits.at(node)[k])}" for node in limits.leaves)
            limit = f"CASE {leaf} {cases} ELSE {limit} END"
        test = f"{shares[k]} >= {limit}"
        if limits.by_sums:
            likelier = [
                f"CASE WHEN {share} {'>=' if j < k else '>'} {shares[k]} THEN {share} ELSE 0.0 END"
                for j, share in enumerate(shares)
                if j != k
            ]
            test = f"{' + '.join([*likelier, f'0.5 * {shares[k]}'])} <= {limit}"
        pieces.append(f"CASE WHEN {test} THEN {text(BETWEEN + label)} ELSE '' END")
    joined = folded([pieces[0], *(f"|| {piece}" for piece in pieces[1:])], "    ")
    members = f"SUBSTR({joined}, {len(BETWEEN) + 1})"
    return f"CASE WHEN {leaf} IS NULL THEN NULL ELSE {members} END" if leaf else members


def _first(values: Sequence[str], conditions: Sequence[str], leaf: str = "") -> str:
    """The first value whose condition is fulfilled, the last without one; NULL for rows without a leaf."""
    cases = [f"WHEN {leaf} IS NULL THEN NULL"] if leaf else []
    cases += [f"WHEN {test} THEN {value}" for value, test in zip(values[:-1], conditions[:-1], strict=True)]
    return f"CASE {' '.join(cases)} ELSE {values[-1]} END" if cases else values[0]


def _voted(procedure: Procedure, depth: int) -> str:
    """The shares p0, p1, ... of a row in a forest, or the number p0."""
    n, o = len(procedure.scored) if procedure.has_scores else len(procedure.classes) or 1, _prefix(procedure)
    deep = depth + 3 * procedure.has_scores
    inner = _placed(procedure, deep + 3)
    if procedure.has_bounds:
        inner = _modeled(procedure, inner, deep + 2)
    votes = []
    for k in range(n):
        pieces = []
        for t, tree in enumerate(procedure.trees):
            summands = {node: _voice(procedure, tree.leaf(node), k, f"{o}m{t}") for node in tree.leaf_nodes}
            cases = [f"WHEN {node} THEN {value}" for node, value in summands.items() if value]
            if cases:
                pieces.append(f"CASE {o}leaf{t} {' '.join(cases)} ELSE 0.0 END")
        votes.append((folded([*pieces[:1], *(f"+ {piece}" for piece in pieces[1:])], "  " * (deep + 3)) or "0.0", k))
    if procedure.voting == CLIPPED:
        inner = _layer([(value, f"{o}v{k}") for value, k in votes], inner, "voted", deep + 2)
        votes = [(f"CASE WHEN {o}v{k} > 0.0 THEN {o}v{k} ELSE 0.0 END", k) for k in range(n)]
    inner = _layer([(value, f"{o}w{k}") for value, k in votes], inner, "weighed", deep + 1)
    total = number(float(len(procedure.trees)))
    shares = [(f"{o}w{k} / {total}", f"{o}p{k}") for k in range(n)]
    if procedure.voting == ADDED:
        name = "s" if procedure.has_scores else "p"
        shares = [(f"{o}w{k} + {number(start)}", f"{o}{name}{k}") for k, start in enumerate(procedure.base)]
    if procedure.has_scores:
        inner = _compared(procedure, _layer(shares, inner, "scored", depth + 3), depth + 2)
        inner = _layer([(power, f"{o}e{k}") for k, power in enumerate(_powers(procedure))], inner, "raised", depth + 1)
        total = " + ".join(f"{o}e{k}" for k in range(n))
        of_class = {code: f"{o}e{k} / ({total})" for k, code in enumerate(procedure.scored)}
        shares = [(of_class.get(code, "0.0"), f"{o}p{code}") for code in range(len(procedure.classes))]
    if procedure.voting == CLIPPED:
        total = " + ".join(f"{o}w{k}" for k in range(n))
        shares = [
            (f"CASE WHEN {total} > 0.0 THEN {o}w{k} / ({total}) ELSE {number(procedure.even[k])} END", f"{o}p{k}")
            for k in range(n)
        ]
    return _layer(shares, inner, "said", depth)


def _placed(procedure: Procedure, depth: int) -> str:
    """The leaves leaf0, leaf1, ... of a row: splits are columns of 0 and 1, and each leaf is a path of them.

    Parsers of SQL limit nesting, but take long lists of cases.
    """
    o, single = _prefix(procedure), not procedure.is_forest
    inner, decisions, leaves = "", [], []
    codes = {j: f"{o}c{j}" for j in range(len(procedure.cells), len(procedure.columns))}
    rotated = [(_cell(procedure, j), name) for j, name in codes.items()]
    between = "\n" + "  " * (depth + 2) if single else " "
    for t, tree in enumerate(procedure.trees):
        names = codes | {len(procedure.columns) + q: f"{o}r{t}_{q}" for q in range(len(tree.rotated))}
        rotated += [
            (folded(_Words(procedure).sum_of([lane]), "      ").lstrip(), name)
            for lane, name in zip(tree.rotated, [*names.values()][len(codes) :], strict=True)
        ]
        words, sides = _Words(procedure, names), {node: f"{o}l{t}_{node}" for node in tree.inner}
        decisions += [(words.goes_left(tree.split(node), "  " * (depth + 2)), side) for node, side in sides.items()]
        remarked = single and len(tree.leaf_nodes) <= MOST_LEAVES
        cases = [
            f"WHEN {' AND '.join(path) or '1 = 1'} THEN {tree.number(node) if single else node}"
            + (f" -- {conclusion(procedure, node, 6)}" if remarked else "")
            for node, path in _paths(tree, sides).items()
        ]
        leaves.append((f"CASE{between}{between.join(cases)}{between}END", f"{o}leaf{t}"))
    if rotated:
        inner = _layer(rotated, inner, "rotated", depth + 2)
    if decisions:
        inner = _layer(decisions, inner, "decided", depth + 1)
    return _layer(leaves, inner, "placed", depth)


def _modeled(procedure: Procedure, inner: str, depth: int) -> str:
    """The leaves of a row, of the table `inner`, and the values of their linear models without bounds: m0, m1, ..."""
    words, o = _Words(procedure), _prefix(procedure)
    places = [f"{o}leaf{t}" for t in range(len(procedure.trees))]
    models = []
    for t, tree in enumerate(procedure.trees):
        leaves = [(node, tree.leaf(node)) for node in tree.leaf_nodes]
        equations = [(node, words.equation(leaf.terms, leaf.intercept)) for node, leaf in leaves]
        models.append((_by_leaf(f"CASE {places[t]}", equations), f"{o}m{t}"))
    return _layer([*zip(places, places, strict=True), *models], inner, "modeled", depth)


def _voice(procedure: Procedure, leaf: Leaf, k: int, linear_value: str) -> str:
    """The summand of a leaf, "" for none. linear_value : of its linear model, if it has one"""
    if leaf.bounds is not None:
        return _within(linear_value, leaf.bounds)
    value = outputs_of(procedure, leaf)[k]
    return number(value) if value else ""


def _of_shares(procedure: Procedure) -> tuple[str, str]:
    """Prediction and its share, of the shares p0, p1, ...: the first of the largest, or by the threshold."""
    o = _prefix(procedure)
    names = [f"{o}p{k}" for k in range(len(procedure.classes))]
    if procedure.threshold:
        code, share = procedure.threshold
        reached, order = f"{names[code]} >= {number(share)}", (code, 1 - code)
        labels, shares = ([values[k] for k in order] for values in ([*map(text, procedure.classes)], names))
        return _first(labels, [reached, ""]), _first(shares, [reached, ""])
    top, tie = _largest(names), f" - {number(TIE)}" if procedure.voting == CLIPPED else ""
    tests = [f"{name} >= {top}{tie}" for name in names]
    return _first([text(label) for label in procedure.classes], tests), _first(names, tests)


def _paths(tree: Steps, names: Mapping[int, str]) -> dict[int, list[str]]:
    """The conditions on the path to each leaf. names : columns that are 1 where a row goes left at an inner node"""
    paths: dict[int, list[str]] = {}
    stack: list[tuple[int, list[str]]] = [(0, [])]
    while stack:  # from the root, as a forest may have nodes that no row comes to
        node, path = stack.pop()
        if tree.left[node] < 0:
            paths[node] = path
        else:
            stack += [
                (tree.right[node], [*path, f"{names[node]} = 0"]),
                (tree.left[node], [*path, f"{names[node]} = 1"]),
            ]
    return paths


def _by_leaf(at: str, values: Sequence[tuple[int, str]]) -> str:
    return f"{at}\n" + "\n".join(f"    WHEN {node} THEN {value}" for node, value in values) + "\n  END"


def _cell(procedure: Procedure, j: int) -> str:
    """A number of a row, or a code."""
    if j >= len(procedure.cells):
        code_column = procedure.coded[j - len(procedure.cells)]
        term = code_column.term
        source = _cell(procedure, term.cell)
        if term.level != NUMBER:
            source = f"CASE WHEN {_has_level(procedure, term.cell, term.level)} THEN 1.0 ELSE 0.0 END"
        cases = " ".join(f"WHEN {number(value)} THEN {code}" for code, value in enumerate(code_column.values))
        return f"CASE {source} {cases} ELSE {code_column.usual} END"
    cell = procedure.cells[j]
    if cell.levels:  # codes as numbers
        cases = " ".join(f"WHEN {text(level)} THEN {code}" for code, level in enumerate(cell.levels))
        level_code = f"CASE {identifier(cell.name)} {cases} ELSE {len(cell.levels)} END"
        plain = f"CASE WHEN {identifier(cell.name)} IS NULL THEN NULL ELSE {level_code} END"
    else:
        plain = identifier(cell.name)
    plain = f"CAST({plain} AS DOUBLE PRECISION)"
    return plain if cell.fill is None else f"COALESCE({plain}, {number(cell.fill)})"


def _has_level(procedure: Procedure, j: int, level: int) -> str:
    """Whether a cell has a level, or is missing."""
    cell = procedure.cells[j]
    name = identifier(cell.name)
    if cell.fill is not None:
        name = f"COALESCE({name}, {text(cell.levels[int(cell.fill)])})"
    return f"{name} IS NULL" if level == MISSING else f"{name} = {text(cell.levels[level])}"


class _Words:
    """Sums and conditions of SQL. names : columns that stand for rotated features and codes"""

    def __init__(self, procedure: Procedure, names: Mapping[int, str] | None = None) -> None:
        self.procedure = procedure
        self.names = names or {}

    def sum_of(self, lanes: Sequence[Lane]) -> list[str]:
        """A sum, as pieces to be joined by blanks."""
        return added([summands(lane, self._number, self._levels) for lane in lanes]) or ["0.0"]

    def _number(self, term: Term) -> tuple[str, str]:
        size, value = abs(term.coef), self.names.get(term.cell) or _cell(self.procedure, term.cell)
        return "-" if term.coef < 0 else "+", value if size == 1.0 else f"{number(size)} * {value}"

    def _levels(self, cell: int, terms: Sequence[Term]) -> str:
        cases = (f"WHEN {_has_level(self.procedure, cell, term.level)} THEN {number(term.coef)}" for term in terms)
        return f"CASE {' '.join(cases)} ELSE 0.0 END"

    def goes_left(self, split: Split, indent: str) -> str:
        """1 for a row that goes left, 0 for any other. NULL, where a number is missing, counts as not fulfilled."""
        pieces = [*self.sum_of(split.lanes), f"{'>' if split.missing_left else '<='} {number(split.threshold)}"]
        condition = folded(pieces, indent + "  ").lstrip()
        return f"CASE WHEN {condition} THEN {'0 ELSE 1' if split.missing_left else '1 ELSE 0'} END"

    def number_of(self, leaf: Leaf) -> str:
        """The number of a leaf: its linear model, within its bounds."""
        equation = self.equation(leaf.terms, leaf.intercept)
        if leaf.bounds is None:
            return equation
        return _within(equation, leaf.bounds, "\n      ")

    def equation(self, terms: Lane, intercept: float) -> str:
        """The value of a linear model."""
        if not terms:
            return number(intercept)
        sign = "-" if intercept < 0 else "+"
        return folded([*self.sum_of([terms]), f"{sign} {number(abs(intercept))}"], "      ")


def _or_null(procedure: Procedure, value: str) -> str:
    """A value, NULL for rows without a prediction."""
    if not procedure.needed:
        return value
    tests = " OR ".join(f"{identifier(procedure.cells[j].name)} IS NULL" for j in procedure.needed)
    return f"CASE WHEN {tests} THEN NULL ELSE\n  {value}\n  END"
