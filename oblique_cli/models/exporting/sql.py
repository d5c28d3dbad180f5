"""One SELECT of standard SQL that adds the prediction to the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from oblique_cli.errors import ConfigError, cut
from oblique_cli.models.exporting._exporter import CLASSIFICATION, REGRESSION, Source, exporter
from oblique_cli.models.exporting._text import added, folded, heading, quoted, readable, summands
from oblique_cli.models.procedure import MISSING, Lane, Procedure, Split, Term

MOST_SPLITS = 1000  # SQLite has at most 2,000 columns in a result


@exporter(
    "sql",
    "a SELECT of standard SQL (SQLite, PostgreSQL, DuckDB)",
    ".sql",
    kinds=(CLASSIFICATION, REGRESSION),
    named="the table that holds the rows",
)
def write(source: Source) -> str:
    """Return the statement: all columns of the table, the leaf, the prediction and its share."""
    procedure = source.procedure
    n_splits = len(procedure.tree.inner)
    if n_splits > MOST_SPLITS:
        raise ConfigError(
            f"format sql takes trees of at most {MOST_SPLITS} splits. This one has {n_splits}: prune it, as by "
            "--set pruning=cv, or export python or c."
        )
    table = source.name or "data"
    names = [cell.name for cell in procedure.cells]
    leaf, prediction, share = (_new(word, [*names, procedure.target]) for word in ("leaf", "prediction", "share"))
    lines = [f"-- {line}".rstrip() for line in heading(procedure, coded=False)]
    lines += [
        "--",
        "-- A missing cell is NULL. Columns of numbers are taken as DOUBLE PRECISION; sums keep the order of training.",
        f"-- The rows are those of the table {quoted(table)}.",
    ]
    body = [*lines, "WITH"]
    if readable(procedure):
        body += [f"marked AS (SELECT *,\n{_nested(procedure)}\n  AS {identifier(leaf)}\nFROM {identifier(table)})"]
    else:
        body += _flat(procedure, identifier(leaf), identifier(table))
    at = f"CASE {identifier(leaf)}"
    tree = procedure.tree
    if procedure.is_regression:
        values = [
            (node, _sum((tree.leaf(node).terms,), procedure, tree.leaf(node).intercept)) for node in tree.leaf_nodes
        ]
        body += [f"SELECT *,\n{_by_leaf(at, values)} AS {identifier(prediction)}", "FROM marked;"]
        return "\n".join(body) + "\n"
    labels = [(node, text(procedure.classes[tree.leaf(node).label])) for node in tree.leaf_nodes]
    shares = [(node, number(tree.leaf(node).shares[tree.leaf(node).label])) for node in tree.leaf_nodes]
    body += [
        f"SELECT *,\n{_by_leaf(at, labels)} AS {identifier(prediction)},",
        f"{_by_leaf(at, shares)} AS {identifier(share)}",
        "FROM marked;",
    ]
    return "\n".join(body) + "\n"


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
    for found in (repr(value), f"{value:.16g}", f"{value:.17g}"):
        room = Fraction(min(math.ulp(value), abs(value) - math.nextafter(abs(value), 0.0)) if value else 0.0)
        if 20 * abs(Fraction(found) - Fraction(value)) <= 9 * room:
            break
    return found


def _new(word: str, taken: Sequence[str]) -> str:
    """A name for a column that the rows do not have, whatever the case."""
    known = {name.lower() for name in taken}
    found, count = word, 2
    while found in known:
        found, count = f"{word}_{count}", count + 1
    return found


def _by_leaf(at: str, values: Sequence[tuple[int, str]]) -> str:
    return f"  {at}\n" + "\n".join(f"    WHEN {node} THEN {value}" for node, value in values) + "\n  END"


def _cell(procedure: Procedure, j: int) -> str:
    """A number of a row."""
    cell = procedure.cells[j]
    if cell.levels:  # codes as numbers
        cases = " ".join(f"WHEN {text(level)} THEN {code}" for code, level in enumerate(cell.levels))
        found = f"CASE {identifier(cell.name)} {cases} ELSE {len(cell.levels)} END"
        plain = f"CASE WHEN {identifier(cell.name)} IS NULL THEN NULL ELSE {found} END"
    else:
        plain = identifier(cell.name)
    plain = f"CAST({plain} AS DOUBLE PRECISION)"
    return plain if cell.fill is None else f"COALESCE({plain}, {number(cell.fill)})"


def _summands(lane: Lane, procedure: Procedure) -> list[tuple[str, str]]:
    def one(term: Term) -> tuple[str, str]:
        size, cell = abs(term.coef), _cell(procedure, term.cell)
        return ("-" if term.coef < 0 else "+"), cell if size == 1.0 else f"{number(size)} * {cell}"

    def levels(j: int, terms: Sequence[Term]) -> str:
        cell = procedure.cells[j]
        name = identifier(cell.name)
        if cell.fill is not None:
            name = f"COALESCE({name}, {text(cell.levels[int(cell.fill)])})"
        cases = [
            f"WHEN {name} IS NULL THEN {number(term.coef)}"
            if term.level == MISSING
            else f"WHEN {name} = {text(cell.levels[term.level])} THEN {number(term.coef)}"
            for term in terms
        ]
        return f"CASE {' '.join(cases)} ELSE 0.0 END"

    return summands(lane, one, levels)


def _sum(lanes: Sequence[Lane], procedure: Procedure, intercept: float) -> str:
    """The value of a linear model."""
    pieces = added([_summands(lane, procedure) for lane in lanes])
    if not pieces:
        return number(intercept)
    sign = "-" if intercept < 0 else "+"
    return folded([*pieces, f"{sign} {number(abs(intercept))}"], "      ")


def _condition(split: Split, procedure: Procedure, indent: str) -> str:
    """What a row that goes left fulfills. NULL, where a number is missing, counts as not fulfilled."""
    pieces = added([_summands(lane, procedure) for lane in split.lanes]) or ["0.0"]
    return folded([*pieces, f"<= {number(split.threshold)}"], indent + "  ").lstrip()


def _refusal(procedure: Procedure) -> str:
    """The beginning of a CASE that gives NULL to rows without a prediction."""
    if not procedure.needed:
        return ""
    tests = " OR ".join(f"{identifier(procedure.cells[j].name)} IS NULL" for j in procedure.needed)
    return f"WHEN {tests} THEN NULL"


def _nested(procedure: Procedure) -> str:
    tree = procedure.tree
    refusal = _refusal(procedure)
    lines = [f"  CASE {refusal} ELSE"] if refusal else []
    stack: list[tuple[int | str, int]] = [(0, 1)]
    while stack:
        node, depth = stack.pop()
        indent = "  " * depth
        if isinstance(node, str):
            lines.append(indent + node)
        elif tree.left[node] < 0:
            lines.append(f"{indent}{node}{_remark(procedure, node)}")
        else:
            split = tree.split(node)
            condition = _condition(split, procedure, indent + "  ")
            first, second = tree.left[node], tree.right[node]
            if split.missing_left:  # what is NULL comes to ELSE
                condition, first, second = f"NOT ({condition})", second, first
            lines.append(f"{indent}CASE WHEN {condition} THEN")
            stack += [("END", depth), (second, depth + 1), ("ELSE", depth), (first, depth + 1)]
    return "\n".join(lines) + ("\n  END" if refusal else "")


def _remark(procedure: Procedure, node: int) -> str:
    leaf = procedure.tree.leaf(node)
    if procedure.is_regression:
        return f" -- {leaf.n_rows} training rows"
    of_class, rows = leaf.counts[leaf.label], sum(leaf.counts)
    return f" -- {quoted(procedure.classes[leaf.label])}: {of_class:.10g} of {rows:.10g} training rows"


def _flat(procedure: Procedure, leaf: str, table: str) -> list[str]:
    """The decisions of all splits as columns of 0 and 1, and a path of decisions for every leaf.

    Parsers of SQL have little room for nesting, and a long list of cases is nothing to them.
    """
    tree = procedure.tree
    inner = tree.inner
    taken = [cell.name for cell in procedure.cells]
    columns = {node: identifier(_new(f"went_left_{node}", taken)) for node in inner}
    decisions = []
    for node in inner:
        split = tree.split(node)
        condition = _condition(split, procedure, "    ")
        one, other = (1, 0)
        if split.missing_left:
            condition, one, other = f"NOT ({condition})", 0, 1
        decisions.append(f"  CASE WHEN {condition} THEN {one} ELSE {other} END AS {columns[node]}")
    paths: dict[int, list[str]] = {0: []}
    for node in inner:
        for child, side in ((tree.left[node], 1), (tree.right[node], 0)):
            paths[child] = [*paths[node], f"{columns[node]} = {side}"]
    cases = [_refusal(procedure)] if procedure.needed else []
    cases += [
        f"WHEN {' AND '.join(paths[node]) or '1 = 1'} THEN {node}{_remark(procedure, node)}" for node in tree.leaf_nodes
    ]
    return [
        "decided AS (SELECT *,\n" + ",\n".join(decisions) + f"\nFROM {table}),",
        "marked AS (SELECT *,\n  CASE\n"
        + "\n".join(f"    {case}" for case in cases)
        + f"\n  END AS {leaf}\nFROM decided)",
    ]
