"""One SELECT of standard SQL that adds the prediction to the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from oblique_cli.errors import ConfigError, cut
from oblique_cli.models.exporting._exporter import BOOSTED, MOST, NUMBERS, Source, exporter
from oblique_cli.models.exporting._program import MOST_LEAVES, outputs_of
from oblique_cli.models.exporting._text import added, conclusion, folded, heading, quoted, summands
from oblique_cli.models.procedure import (
    CLIPPED,
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
    fresh,
)
from oblique_cli.models.procedure import SUM as ADDED

MOST_SPLITS = 1000  # SQLite has at most 2,000 columns in a result
MOST_SUMMED = 900  # summands: SQLite limits an expression to a depth of 1,000
BETWEEN = "|"  # separator of the labels of a set
LEAST_POWER = -700.0  # PostgreSQL raises an error for the exponential of less; the term is negligible beside exp(0)


@exporter(
    "sql",
    "a SELECT of standard SQL (SQLite, PostgreSQL, DuckDB)",
    ".sql",
    kinds=(*MOST, BOOSTED, NUMBERS),
    named="the table that holds the rows",
)
def write(source: Source) -> str:
    """Return the statement: all columns of the table, the leaf (of a single tree), the prediction and its share."""
    _refuse(source.procedure)
    return _Select(source).statement()


def identifier(name: str) -> str:
    """Return a name as a quoted identifier. ConfigError for a name with NUL, which no database accepts."""
    if "\0" in name:
        raise ConfigError(f"a name in SQL holds no NUL character. Got {cut(name)!r}; rename the column.")
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text as a literal."""
    if "\0" in value:
        raise ConfigError(f"a text in SQL holds no NUL character. Got {cut(value)!r}; rename the level or class.")
    return "'" + value.replace("'", "''") + "'"


def number(value: float) -> str:
    """Return a number as a literal that every decimal reader converts to exactly this number.

    Some databases, SQLite among them, read a decimal with a small error. The shortest text of a number may lie close to
    the midpoint between two numbers, so digits are added until the text is clear of it.
    """
    for literal in (repr(value), f"{value:.16g}", f"{value:.17g}"):
        room = Fraction(min(math.ulp(value), abs(value) - math.nextafter(abs(value), 0.0)) if value else 0.0)
        if 20 * abs(Fraction(literal) - Fraction(value)) <= 9 * room:
            break
    return literal


def _refuse(procedure: Procedure) -> None:
    """Raise ConfigError for a model that databases would not accept."""
    n_splits = sum(len(tree.inner) for tree in procedure.trees)
    if n_splits > MOST_SPLITS:
        what = "forests of at most {} splits in all" if procedure.is_forest else "trees of at most {} splits"
        smaller = "" if procedure.is_forest else "prune it, as by --set pruning=cv, or "
        raise ConfigError(
            f"format sql takes {what.format(MOST_SPLITS)}. This one has {n_splits}: {smaller}export python or c."
        )
    models = (leaf.scores for leaf in procedure.trees[0].leaves if leaf is not None and leaf.scores is not None)
    summed = max((1 + len(leaf_scores.parts) for leaf_scores in models), default=0)
    if summed > MOST_SUMMED:
        raise ConfigError(
            f"format sql takes scores of at most {MOST_SUMMED} summands. This model has one of {summed}: export python "
            "or c."
        )


def _subquery(chosen: str, inner: str) -> str:
    """Return a value for one row by a subquery whose columns stay out of the result."""
    return f"(SELECT {chosen}\n  FROM {inner})"


def _layer(columns: Sequence[tuple[str, str]], inner: str, name: str, depth: int) -> str:
    """Return a table of one row: named values taken from the table `inner`, or from the row itself.

    DISTINCT does not change one row. It keeps SQLite from substituting the values for their names, layer by layer,
    and from computing each of them that many times.
    """
    indent = "  " * depth
    listed = ",\n".join(f"{indent}  {value} AS {column}" for value, column in columns)
    return f"(SELECT DISTINCT\n{listed}" + (f"\n{indent}FROM {inner}" if inner else "") + f") AS {name}"


def _sum(pieces: Sequence[str], indent: str, operator: str = "+") -> str:
    """Return pieces joined by an operator, in lines."""
    return folded([*pieces[:1], *(f"{operator} {piece}" for piece in pieces[1:])], indent)


def _largest(names: Sequence[str]) -> str:
    """Return the largest of several columns: no function for it is the same in all databases."""
    return _first(names, [" AND ".join(f"{name} >= {other}" for other in names[i:]) for i, name in enumerate(names, 1)])


def _within(value: str, bounds: tuple[float, float], between: str = " ") -> str:
    """Return a number limited to bounds, as CASE. between : separator of cases"""
    low, high = map(number, bounds)
    # Not every dialect has functions for the minimum and maximum of several numbers.
    cases = f"CASE WHEN {value} < {low} THEN {low}", f"WHEN {value} > {high} THEN {high}", f"ELSE {value} END"
    return between.join(cases)


def _moved(value: str, by: float) -> str:
    return f"({value}) {'-' if by < 0 else '+'} {number(abs(by))}"


def _first(values: Sequence[str], conditions: Sequence[str], leaf: str = "") -> str:
    """Return the first value whose condition holds, else the last value; NULL for rows without a leaf."""
    cases = [f"WHEN {leaf} IS NULL THEN NULL"] if leaf else []
    cases += [f"WHEN {test} THEN {value}" for value, test in zip(values[:-1], conditions[:-1], strict=True)]
    return f"CASE {' '.join(cases)} ELSE {values[-1]} END" if cases else values[0]


def _paths(tree: Steps, names: Mapping[int, str]) -> dict[int, list[str]]:
    """Return the conditions on the path to each leaf. names : columns that are 1 if a row goes left at an inner node"""
    paths: dict[int, list[str]] = {}
    stack: list[tuple[int, list[str]]] = [(0, [])]
    while stack:  # from the root, as a forest may have nodes that no row reaches
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


class _Select:
    """One statement. Its column names begin with a prefix that no column of the table has."""

    def __init__(self, source: Source) -> None:
        self.source, self.procedure, self.limits = source, source.procedure, source.limits
        cells = [cell.name for cell in self.procedure.cells]
        self.prefix = "row_"
        while any(name.lower().startswith(self.prefix) for name in cells):
            self.prefix += "_"
        taken = {name.lower() for name in (*cells, self.procedure.target)}
        words = ("leaf", "prediction", "share", "set", "low", "high")
        self.derived: Mapping[int, str] = {}  # columns of the statement for codes and rotated features
        self.names = {word: identifier(fresh(word, taken, "_")) for word in words}

    def statement(self) -> str:
        """Return the whole statement."""
        procedure, table = self.procedure, self.source.name or "data"
        lines = [f"-- {line}".rstrip() for line in heading(procedure, coded=False)]
        lines += [
            "--",
            "-- A missing cell is NULL. Columns of numbers are taken as DOUBLE PRECISION; sums keep the order of "
            "training.",
            f"-- The rows are those of the table {quoted(table)}.",
        ]
        if procedure.is_forest:
            inner, origin = self._voted(2), identifier(table)
            places = self._columns("p", len(procedure.classes) or 1)
            if not procedure.is_regression:
                values = self._of_shares(places) | self._set(places, "")
            else:
                values = {"prediction": places[0]}
                if self.limits:
                    below, above = map(number, self.limits.rows[-1])
                    values |= {"low": f"{places[0]} - {below}", "high": f"{places[0]} + {above}"}
            columns = {word: self._or_null(_subquery(value, inner)) for word, value in values.items()}
        else:
            marked = self._or_null(_subquery(f"{self.prefix}leaf0", self._placed(1)))
            lines.append(f"WITH marked AS (SELECT *,\n  {marked} AS {self.names['leaf']}\nFROM {identifier(table)})")
            columns, origin = self._of_tree(self.names["leaf"]), "marked"
        listed = ",\n".join(f"  {value} AS {self.names[word]}" for word, value in columns.items())
        return "\n".join([*lines, "SELECT *,", listed, f"FROM {origin};"]) + "\n"

    def _of_tree(self, leaf: str) -> dict[str, str]:
        """Return the columns of the result by the leaf of a row."""
        procedure, limits, tree = self.procedure, self.limits, self.procedure.tree
        numbered = [(tree.number(node), tree.leaf(node)) for node in tree.leaf_nodes]

        def by_leaf(values: Iterable[str]) -> str:
            return _by_leaf(f"CASE {leaf}", [(node, value) for (node, _), value in zip(numbered, values, strict=True)])

        if procedure.is_regression:
            scored = procedure.has_scores
            values = [f"{self.prefix}s0" if scored else self._equation(tree_leaf) for _, tree_leaf in numbered]
            for i, (_, tree_leaf) in enumerate(numbered):
                if tree_leaf.bounds is not None:
                    values[i] = _within(values[i], tree_leaf.bounds, "\n      ")
            columns = {"prediction": by_leaf(values)}
            if limits:
                ends = [limits.at(node) for node, _ in numbered]
                columns["low"] = by_leaf(_moved(value, -below) for value, (below, _) in zip(values, ends, strict=True))
                columns["high"] = by_leaf(_moved(value, above) for value, (_, above) in zip(values, ends, strict=True))
            inner = self._scored(leaf, 2) if scored else ""
            return {word: _subquery(value, inner) for word, value in columns.items()} if scored else columns
        if procedure.has_scores:
            inner, columns = self._scored(leaf, 2), self._of_scores(leaf)
            return {word: _subquery(value, inner) for word, value in columns.items()}
        columns = {
            "prediction": by_leaf(text(procedure.classes[tree_leaf.label]) for _, tree_leaf in numbered),
            "share": by_leaf(number(tree_leaf.shares[tree_leaf.label]) for _, tree_leaf in numbered),
        }
        if limits:
            members = (self.source.members(tree_leaf.shares, node) for node, tree_leaf in numbered)
            columns["set"] = by_leaf(text(BETWEEN.join(labels)) for labels in members)
        return columns

    def _scored(self, leaf: str, depth: int) -> str:
        """Return a table with the scores s0, s1, ... of a row, and the largest score."""
        tree, scaled, o = self.procedure.tree, self.procedure.scaled, self.prefix
        held = [(node, leaf_scores) for node in tree.leaf_nodes if (leaf_scores := tree.leaf(node).scores) is not None]
        place = {column: j for j, column in enumerate(scaled)}
        of_rows = [(leaf, f"{o}leaf"), *((self._deviations(column), f"{o}z{j}") for j, column in enumerate(scaled))]
        inner = _layer(of_rows, "", "scaled", depth + 3)
        scores = []
        for k in range(len(self.procedure.scored)):
            cases = []
            for node, leaf_scores in held:
                pieces = [number(leaf_scores.intercept[k])]
                for part in leaf_scores.parts:
                    if weight := part.coef[k]:
                        factors = " * ".join(f"{o}z{place[column]}" for column in part.columns)
                        pieces.append(f"{'-' if weight < 0 else '+'} {number(abs(weight))} * {factors}")
                cases.append(f"WHEN {node} THEN {folded(pieces, '  ' * (depth + 3))}")
            indent = "  " * (depth + 2)
            scores.append((f"CASE {o}leaf\n{indent}" + f"\n{indent}".join(cases) + f"\n{indent}END", f"{o}s{k}"))
        return self._compared(_layer(scores, inner, "scored", depth + 1), depth)

    def _compared(self, inner: str, depth: int) -> str:
        """Return the scores s0, s1, ... of the table `inner`, and the largest score."""
        names = self._columns("s", len(self.procedure.scored))
        columns = [*zip(names, names, strict=True), (_largest(names), f"{self.prefix}top")]
        return _layer(columns, inner, "compared", depth)

    def _powers(self) -> list[str]:
        """Return the exponential of each score less the largest score."""
        logarithms = [f"{name} - {self.prefix}top" for name in self._columns("s", len(self.procedure.scored))]
        return [f"CASE WHEN {power} < {LEAST_POWER} THEN 0.0 ELSE EXP({power}) END" for power in logarithms]

    def _deviations(self, column: Scaled) -> str:
        """Return a column in standard deviations."""
        if column.level != NUMBER:
            there, other = map(number, column.by_level)
            return f"CASE WHEN {self._has_level(column.cell, column.level)} THEN {there} ELSE {other} END"
        sign = "-" if column.center >= 0 else "+"
        z = f"({self._cell(column.cell)} {sign} {number(abs(column.center))}) / {number(column.scale)}"
        low, high = number(column.low), number(column.high)
        return f"COALESCE(CASE WHEN {z} > {high} THEN {high} WHEN {z} < {low} THEN {low} ELSE {z} END, 0.0)"

    def _of_scores(self, leaf: str) -> dict[str, str]:
        """Return prediction, probability and set from the scores s0, s1, ... and the largest score."""
        scored, powers = self.procedure.scored, self._powers()
        total = f"({_sum(powers, '    ')})"
        labels, names = [text(self.procedure.classes[code]) for code in scored], self._columns("s", len(scored))
        label, share = _first(labels, [f"{name} = {self.prefix}top" for name in names], leaf), f"1.0 / {total}"
        if self.procedure.threshold is not None:
            code, least = self.procedure.threshold
            order = scored.index(code), 1 - scored.index(code)
            reached = [f"{powers[order[0]]} >= {number(least)} * {total}", ""]
            label = _first([labels[k] for k in order], reached, leaf)
            share = _first([f"{powers[k]} / {total}" for k in order], reached, leaf)
        of_class = dict(zip(scored, powers, strict=True))
        total = f"({' + '.join(powers)})"
        places = range(len(self.procedure.classes))
        shares = [f"({of_class[code]} / {total})" if code in of_class else "0.0" for code in places]
        return {"prediction": label, "share": share} | self._set(shares, leaf)

    def _set(self, shares: Sequence[str], leaf: str) -> dict[str, str]:
        """Return the labels in the set as one text, if there are limits; NULL for rows without a leaf."""
        limits, pieces = self.limits, []
        if limits is None:
            return {}
        for k, label in enumerate(self.procedure.classes):
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
        members = f"SUBSTR({_sum(pieces, '    ', '||')}, {len(BETWEEN) + 1})"
        return {"set": f"CASE WHEN {leaf} IS NULL THEN NULL ELSE {members} END" if leaf else members}

    def _voted(self, depth: int) -> str:
        """Return the shares p0, p1, ... of a row in a forest, or the number p0."""
        procedure, o, scores = self.procedure, self.prefix, self.procedure.has_scores
        n = len(procedure.scored) if scores else len(procedure.classes) or 1
        deep = depth + 3 * scores
        inner = self._placed(deep + 3)
        if procedure.has_bounds:
            places, models = self._columns("leaf", len(procedure.trees)), []  # m0, m1, ...: models without bounds
            for t, tree in enumerate(procedure.trees):
                equations = [(node, self._equation(tree.leaf(node))) for node in tree.leaf_nodes]
                models.append((_by_leaf(f"CASE {places[t]}", equations), f"{o}m{t}"))
            inner = _layer([*zip(places, places, strict=True), *models], inner, "modeled", deep + 2)
        votes = []
        for k in range(n):
            pieces = []
            for t, tree in enumerate(procedure.trees):
                cases = []
                for node in tree.leaf_nodes:
                    if (bounds := tree.leaf(node).bounds) is not None:
                        cases.append(f"WHEN {node} THEN {_within(f'{o}m{t}', bounds)}")
                    elif summand := outputs_of(procedure, tree.leaf(node))[k]:
                        cases.append(f"WHEN {node} THEN {number(summand)}")
                if cases:
                    pieces.append(f"CASE {o}leaf{t} {' '.join(cases)} ELSE 0.0 END")
            votes.append(_sum(pieces, "  " * (deep + 3)) or "0.0")
        weights, names = self._columns("w", n), self._columns("p", n)
        clipped = procedure.voting == CLIPPED
        if clipped:
            sums = self._columns("v", n)
            inner = _layer(list(zip(votes, sums, strict=True)), inner, "voted", deep + 2)
            votes = [f"CASE WHEN {name} > 0.0 THEN {name} ELSE 0.0 END" for name in sums]
        inner = _layer(list(zip(votes, weights, strict=True)), inner, "weighed", deep + 1)
        total, trees = " + ".join(weights), number(float(len(procedure.trees)))
        shares = [f"{weight} / {trees}" for weight in weights]
        if procedure.prior:
            added = zip(weights, procedure.prior, strict=True)
            shares = [f"({weight} + {number(prior)}) / {number(procedure.votes)}" for weight, prior in added]
        if clipped:
            even = map(number, procedure.even)
            shares = [
                f"CASE WHEN {total} > 0.0 THEN {weight} / ({total}) ELSE {share} END"
                for weight, share in zip(weights, even, strict=True)
            ]
        if procedure.voting == ADDED:
            shares = [f"{weight} + {number(start)}" for weight, start in zip(weights, procedure.base, strict=True)]
        if scores:
            scored = list(zip(shares, self._columns("s", n), strict=True))
            inner = self._compared(_layer(scored, inner, "scored", depth + 3), depth + 2)
            powers = self._columns("e", n)
            inner = _layer(list(zip(self._powers(), powers, strict=True)), inner, "raised", depth + 1)
            of_class = dict(zip(procedure.scored, powers, strict=True))
            names = self._columns("p", len(procedure.classes))
            total = " + ".join(powers)
            shares = [f"{of_class[code]} / ({total})" if code in of_class else "0.0" for code in range(len(names))]
        return _layer(list(zip(shares, names, strict=True)), inner, "said", depth)

    def _placed(self, depth: int) -> str:
        """Return the leaves leaf0, leaf1, ... of a row: splits are columns of 0 and 1, and each leaf is a path of them.

        Parsers of SQL limit nesting but accept long lists of cases.
        """
        o, single = self.prefix, not self.procedure.is_forest
        inner, decisions, leaves = "", [], []
        n_cells, n = len(self.procedure.cells), len(self.procedure.columns)
        codes = {j: f"{o}c{j}" for j in range(n_cells, n)}
        rotated = [(self._cell(j), name) for j, name in codes.items()]
        between = "\n" + "  " * (depth + 2) if single else " "
        for t, tree in enumerate(self.procedure.trees):
            self.derived = {}
            sums = [folded(self._sum_of([lane]), "      ").lstrip() for lane in tree.rotated]
            rotated += [(total, f"{o}r{t}_{q}") for q, total in enumerate(sums)]
            self.derived = codes | {n + q: f"{o}r{t}_{q}" for q in range(len(sums))}
            sides = {node: f"{o}l{t}_{node}" for node in tree.inner}
            decisions += [(self._goes_left(tree.split(node), "  " * (depth + 2)), side) for node, side in sides.items()]
            remarked = single and len(tree.leaf_nodes) <= MOST_LEAVES
            cases = [
                f"WHEN {' AND '.join(path) or '1 = 1'} THEN {tree.number(node) if single else node}"
                + (f" -- {conclusion(self.procedure, node, 6)}" if remarked else "")
                for node, path in _paths(tree, sides).items()
            ]
            leaves.append((f"CASE{between}{between.join(cases)}{between}END", f"{o}leaf{t}"))
        if rotated:
            inner = _layer(rotated, inner, "rotated", depth + 2)
        if decisions:
            inner = _layer(decisions, inner, "decided", depth + 1)
        return _layer(leaves, inner, "placed", depth)

    def _of_shares(self, names: Sequence[str]) -> dict[str, str]:
        """Return prediction and share from the columns of shares: the first largest one, or by the threshold."""
        order: Sequence[int] = range(len(names))
        top, tie = _largest(names), f" - {number(TIE)}" if self.procedure.voting == CLIPPED else ""
        tests = [f"{name} >= {top}{tie}" for name in names]
        if self.procedure.threshold:
            code, share = self.procedure.threshold
            order, tests = (code, 1 - code), [f"{names[code]} >= {number(share)}", ""]
        labels = [text(self.procedure.classes[k]) for k in order]
        return {"prediction": _first(labels, tests), "share": _first([names[k] for k in order], tests)}

    def _cell(self, j: int) -> str:
        """Return a number of a row, or a code."""
        if j >= len(self.procedure.cells):
            code_column = self.procedure.coded[j - len(self.procedure.cells)]
            term = code_column.term
            source = self._cell(term.cell)
            if term.level != NUMBER:
                source = f"CASE WHEN {self._has_level(term.cell, term.level)} THEN 1.0 ELSE 0.0 END"
            cases = " ".join(f"WHEN {number(value)} THEN {code}" for code, value in enumerate(code_column.values))
            return f"CASE {source} {cases} ELSE {code_column.usual} END"
        cell = self.procedure.cells[j]
        if cell.levels:  # codes as numbers
            cases = " ".join(f"WHEN {text(level)} THEN {code}" for code, level in enumerate(cell.levels))
            level_code = f"CASE {identifier(cell.name)} {cases} ELSE {len(cell.levels)} END"
            plain = f"CASE WHEN {identifier(cell.name)} IS NULL THEN NULL ELSE {level_code} END"
        else:
            plain = identifier(cell.name)
        plain = f"CAST({plain} AS DOUBLE PRECISION)"
        return plain if cell.fill is None else f"COALESCE({plain}, {number(cell.fill)})"

    def _has_level(self, j: int, level: int) -> str:
        """Return the test whether a cell has a level, or is missing."""
        cell = self.procedure.cells[j]
        name = identifier(cell.name)
        if cell.fill is not None:
            name = f"COALESCE({name}, {text(cell.levels[int(cell.fill)])})"
        return f"{name} IS NULL" if level == MISSING else f"{name} = {text(cell.levels[level])}"

    def _columns(self, letter: str, n: int) -> list[str]:
        return [f"{self.prefix}{letter}{k}" for k in range(n)]

    # ---- sums --------------------------------------------------------------------------------------------------------

    def _sum_of(self, lanes: Sequence[Lane]) -> list[str]:
        """Return a sum as pieces to join with blanks."""
        return added([summands(lane, self._summand, self._levels) for lane in lanes]) or ["0.0"]

    def _summand(self, term: Term) -> tuple[str, str]:
        size, value = abs(term.coef), self.derived.get(term.cell) or self._cell(term.cell)
        return "-" if term.coef < 0 else "+", value if size == 1.0 else f"{number(size)} * {value}"

    def _levels(self, cell: int, terms: Sequence[Term]) -> str:
        cases = (f"WHEN {self._has_level(cell, term.level)} THEN {number(term.coef)}" for term in terms)
        return f"CASE {' '.join(cases)} ELSE 0.0 END"

    def _goes_left(self, split: Split, indent: str) -> str:
        """Return 1 for a row that goes left, else 0; NULL, where a number is missing, counts as false."""
        pieces = [*self._sum_of(split.lanes), f"{'>' if split.missing_left else '<='} {number(split.threshold)}"]
        condition = folded(pieces, indent + "  ").lstrip()
        return f"CASE WHEN {condition} THEN {'0 ELSE 1' if split.missing_left else '1 ELSE 0'} END"

    def _equation(self, leaf: Leaf) -> str:
        """Return the value of the linear model of a leaf, without its bounds."""
        if not leaf.terms:
            return number(leaf.intercept)
        sign = "-" if leaf.intercept < 0 else "+"
        return folded([*self._sum_of([leaf.terms]), f"{sign} {number(abs(leaf.intercept))}"], "      ")

    def _or_null(self, value: str) -> str:
        """Return a value that is NULL for rows without a prediction."""
        if not self.procedure.needed:
            return value
        tests = " OR ".join(f"{identifier(self.procedure.cells[j].name)} IS NULL" for j in self.procedure.needed)
        return f"CASE WHEN {tests} THEN NULL ELSE\n  {value}\n  END"
