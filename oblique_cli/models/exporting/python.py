"""A Python module that needs nothing but Python: `exp` of its own library where leaves have models, else no import."""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Iterator, Sequence

from oblique_cli.models.exporting._conditions import Conditions
from oblique_cli.models.exporting._exporter import KINDS, Source, exporter
from oblique_cli.models.exporting._limits import LimitsText
from oblique_cli.models.exporting._tables import Tables, tables_of
from oblique_cli.models.exporting._text import folded, heading, identifiers, readable
from oblique_cli.models.procedure import (
    ANYTHING,
    CLIPPED,
    HALF_ROOT,
    MEAN,
    MISSING,
    TIE,
    Leaf,
    Procedure,
    Split,
    Term,
)
from oblique_cli.models.procedure import SUM as ADDED
from oblique_cli.tree.payloads import FARTHEST, FARTHEST_SQUARED

OWN = {"row", "cells", "leaf", "predict", "predict_proba", "annotations", "exp", "needed"}
RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *OWN})

READ = '''

def _cells(row):
    """Return the cells of a row as numbers: NaN where one is missing, codes of levels.

    row : a mapping from the names of columns, or the values of the columns in order
    """
    values = [row.get(name) for name in COLUMNS] if hasattr(row, "keys") else list(row)
    if len(values) != len(COLUMNS):
        raise ValueError(f"a row has {len(COLUMNS)} columns. Got {len(values)} values.")
    cells = []
    for value, levels, fill in zip(values, LEVELS, FILLS):
        missing = value is None or value == "" or value != value
        if missing:
            cells.append(fill)
        elif levels is None:
            cells.append(float(value))
        else:
            cells.append(float(levels.get(str(value), len(levels))))
    return cells
'''

CODES = """    for cell, level, known, usual in CODED:
        value = cells[cell]
        if level != -1:
            value = float(value == level or (level == -2 and value != value))
        cells.append(float(known.index(value) if value in known else usual))
    return cells
"""

SCORES_AT = f'''

def _scores_at(at, cells):
    """Return the scores of the classes SCORED in a leaf."""
    intercepts, parts = SCORES[at]
    scores = list(intercepts)
    for number, coefs, curves in parts:
        cell, level, center, scale = SCALED[number]
        value = cells[cell]
        if level != -1:
            value = float(value == level or (level == -2 and value != value))
        # In standard deviations; a missing number counts as the center.
        z = 0.0 if value != value else min(max((value - center) / scale, -{FARTHEST!r}), {FARTHEST!r})
        for k, coef in enumerate(coefs):
            scores[k] += coef * z
        near = min(max(z, -{FARTHEST_SQUARED!r}), {FARTHEST_SQUARED!r})
        for k, coef in enumerate(curves):
            scores[k] += coef * ((near * near - 1.0) * {HALF_ROOT!r})
    return scores
'''

SHARES_OF = '''

def _shares_of(scores):
    """Return the probability of each class, in the order of CLASSES."""
    top = max(scores)
    powers = [exp(score - top) for score in scores]
    total = 0.0
    for power in powers:  # `sum` rounds otherwise from Python 3.12 on
        total += power
    shares = [0.0] * len(CLASSES)
    for code, power in zip(SCORED, powers):
        shares[code] = power / total
    return tuple(shares)
'''

SCORES = '''

def _scores(cells):
    """Return the scores of the classes SCORED in the leaf of a row, None if it lacks a number that the model needs."""
    at = _leaf(cells)
    return None if at is None else _scores_at(at, cells)


def predict_proba(row):
    """Return the probability of each class, in the order of CLASSES; None for a row that lacks a number."""
    scores = _scores(_cells(row))
    return None if scores is None else _shares_of(scores)
'''

LARGEST_SCORE = '''    """Return the class of the largest score, None for a row that lacks a number."""
    scores = _scores(_cells(row))
    return None if scores is None else CLASSES[SCORED[scores.index(max(scores))]]
'''

AT_THRESHOLD = '''    """Return a class from a probability of it on, the other one below it; None as `predict_proba`."""
    shares = predict_proba(row)
    return None if shares is None else CLASSES[{code} if shares[{code}] >= {share!r} else {other}]
'''

CLASSES_OF_TREE = '''

def predict(row):
    """Return the class of a row, None if it lacks a number that the model needs."""
    at = leaf(row)
    return None if at is None else CLASSES[LABELS[at]]


def predict_proba(row):
    """Return the share of each class, in the order of CLASSES, in the leaf of a row; None as `predict`."""
    at = leaf(row)
    return None if at is None else SHARES[at]
'''

VALUE_OF_TREE = '''

def predict(row):
    """Return the {what} in the leaf of a row, None if it lacks a number that the model needs."""
    cells = _cells(row)
    at = _leaf(cells)
    if at is None:
        return None
    {statements}
'''
UNBOUNDED = "(_sum(terms, cells) if terms else 0.0) + intercept"
BOUNDED = f"min(max({UNBOUNDED}, low), high)"

SUM = '''

def _sum(terms, cells):
    """Return the sum of (coefficient, cell, level) from the first on; level -1 is the number, -2 a missing cell."""
    total = 0.0
    for coef, cell, level in terms:
        value = cells[cell]
        if level == -1:
            total += coef * value
        elif value == level or (level == -2 and value != value):
            total += coef
    return total
'''

LEAF = '''

def leaf(row):
    """Return the leaf of a row as a node number of the tree, None if it lacks a number that the model needs."""
    return _leaf(_cells(row))
'''

WALK = '''

def _walk(at, cells):
    """Return the leaf under the node `at`, -1 - its number in the tables."""
    while at >= 0:
        lanes = [_sum(TERMS[at * LANES + k], cells) for k in range(LANES)]
        total = lanes[0] if LANES == 1 else (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        # A missing number makes the total NaN, which is neither above nor below anything.
        left = not total > THRESHOLD[at] if MISSING_LEFT[at] else total <= THRESHOLD[at]
        at = LEFT[at] if left else RIGHT[at]
    return -1 - at
'''

LEAF_OF_TABLES = """

def _leaf(cells):
    if any(cells[j] != cells[j] for j in NEEDED):
        return None
    return NODE[_walk(ROOTS[0], cells)]
"""

LOGISTIC_FOREST = '''

def predict_proba(row):
    """Return the mean probability of each class, in the order of CLASSES; None for a row that lacks a number."""
    cells = _cells(row)
    if any(cells[j] != cells[j] for j in NEEDED):
        return None
    total = [0.0] * len(CLASSES)
    for root in ROOTS:
        for k, share in enumerate(_shares_of(_scores_at(_walk(root, cells), cells))):
            total[k] += share
    return tuple(share / len(ROOTS) for share in total)
'''

BOOSTED = '''

def predict_proba(row):
    """Return the probability of each class, in the order of CLASSES; None for a row that lacks a number."""
    scores = _votes(row)
    return None if scores is None else _shares_of([score + start for score, start in zip(scores, BASE)])
'''

PREDICT = """

def predict(row):
"""

LARGEST_SHARE = '''    """Return the class of the largest probability, the first on a tie; None as `predict_proba`."""
    shares = predict_proba(row)
    return None if shares is None else CLASSES[shares.index(max(shares))]
'''

FOREST = '''

def _votes(row):
    cells = _cells(row)
    if any(cells[j] != cells[j] for j in NEEDED):
        return None
    votes = [0.0] * len(SHARES[0])
    for root, rotated in zip(ROOTS, ROTATED):
        at = _walk(root, cells + [_sum(terms, cells) for terms in rotated])
        for k, share in enumerate(SHARES[at]):
            votes[k] += share
    return votes


def predict(row):
    """Return the class with most votes, the first on a tie; None for a row that lacks a number."""
    votes = _votes(row)
    return None if votes is None else CLASSES[votes.index(max(votes))]


def predict_proba(row):
    """Return the share of the votes of each class, in the order of CLASSES; None as `predict`."""
    votes = _votes(row)
    return None if votes is None else tuple(vote / len(ROOTS) for vote in votes)
'''

NUMBERS = """

def predict(row):
    \"\"\"Return {what}, None for a row that lacks a number that the model needs.\"\"\"
    cells = _cells(row)
    if any(cells[j] != cells[j] for j in NEEDED):
        return None
    total = 0.0
    for root in ROOTS:
        {added}
    return {total}
"""

SEVERAL_NUMBERS = """

def predict(row):
    \"\"\"Return the means of the trees, None for a row that lacks a number that the model needs.\"\"\"
    cells = _cells(row)
    if any(cells[j] != cells[j] for j in NEEDED):
        return None
    totals = [0.0] * {n}
    for root in ROOTS:
        for k, value in enumerate({values}):
            totals[k] += value
    return tuple(total / len(ROOTS) for total in totals)
"""

CLIPPED_FOREST = f'''

def predict_proba(row):
    """Return the sums that are positive, divided by their total, in the order of CLASSES; None as `predict`."""
    votes = _votes(row)
    if votes is None:
        return None
    votes = [max(vote, 0.0) for vote in votes]
    total = 0.0
    for vote in votes:  # `sum` rounds otherwise from Python 3.12 on
        total += vote
    return tuple(vote / total for vote in votes) if any(votes) else EVEN


def predict(row):
    """Return the class of the largest share, the first of nearly equal ones; None for a row that lacks a number."""
    shares = predict_proba(row)
    if shares is None:
        return None
    return next(label for label, share in zip(CLASSES, shares) if share >= max(shares) - {TIE!r})
'''


GUARANTEED = LimitsText(
    table="""
# Limits by leaf, under None those of any other leaf.
LIMITS = {rows}
""",
    row="LIMITS.get(leaf(row), LIMITS[None])",
    only="LIMITS[None]",
    sets="""

def predict_set(row):
    \"\"\"Return the classes that hold the true one {promise}.

    None as `predict_proba`.
    \"\"\"
    shares = predict_proba(row)
    if shares is None:
        return None
    limits = {limits}
    return tuple(label for k, label in enumerate(CLASSES) if {test})
""",
    running_sum="""

def _running_sum(shares, k):
    \"\"\"Return the sum of the shares of likelier classes, the first of equal ones, and half of the share itself.\"\"\"
    total = 0.0
    for j, share in enumerate(shares):
        if share > shares[k] or (share == shares[k] and j < k):
            total += share
    return total + 0.5 * shares[k]
""",
    reached="shares[k] >= limits[k]",
    not_exceeded="_running_sum(shares, k) <= limits[k]",
    interval="""

def predict_interval(row):
    \"\"\"Return the ends of the interval that holds the true number {promise}.

    None as `predict`.
    \"\"\"
    value = predict(row)
    if value is None:
        return None
    below, above = {limits}
    return (value - below, value + above)
""",
)


@exporter("python", "a module of Python without packages", ".py", kinds=KINDS)
def write(source: Source) -> str:
    """Return the module."""
    return _predicting(source) + GUARANTEED.of(source, repr)


def _predicting(source: Source) -> str:
    """The module without sets and intervals."""
    procedure = source.procedure
    lines = [f"# {line}".rstrip() for line in heading(procedure, coded=False)]
    lines += ["#", "# predict(row) takes a mapping from column names, or the values in order; levels as text.", ""]
    lines += ["from math import exp", ""] if procedure.has_scores else []
    lines += _columns(procedure)
    read = READ.removesuffix("    return cells\n") + CODES if procedure.coded else READ
    parts = ["\n".join(lines) + "\n", read]
    if procedure.is_forest:
        tables = tables_of(procedure)
        if procedure.has_scores and procedure.voting == MEAN:
            scores = _score_tables(procedure, list(enumerate(_leaves(procedure))))
            parts += ["\n", _walked(tables), scores, SUM, WALK, SCORES_AT, SHARES_OF, LOGISTIC_FOREST]
            return "".join([*parts, PREDICT, LARGEST_SHARE])
        if procedure.is_regression:
            return "".join([*parts, "\n", _walked(tables), *_numbers(procedure)])
        parts += ["\n", _walked(tables), _forest_tables(procedure, tables), SUM, WALK]
        votes, _, _ = FOREST.partition("\n\ndef predict(row)")
        if procedure.has_scores:
            return "".join([*parts, votes, SHARES_OF, BOOSTED, PREDICT, _decided(procedure, LARGEST_SHARE)])
        return "".join([*parts, votes + CLIPPED_FOREST if procedure.voting == CLIPPED else FOREST])
    if readable(procedure):
        parts += ["\n", _leaf_tables(procedure), LEAF, "\n\n" + _nested(procedure)]
        parts += [SUM] if procedure.is_regression else []
    else:
        tables = tables_of(procedure)
        parts += ["\n", _walked(tables), f"NODE = {tuple(tables.node)!r}\n", _leaf_tables(procedure)]
        parts += [LEAF, LEAF_OF_TABLES, SUM, WALK]
    if procedure.has_scores:
        return "".join([*parts, SCORES_AT, SHARES_OF, SCORES, PREDICT, _decided(procedure, LARGEST_SCORE)])
    return "".join([*parts, _value_of_tree(procedure) if procedure.is_regression else CLASSES_OF_TREE])


def _numbers(procedure: Procedure) -> list[str]:
    """The outputs of a numeric forest's leaves, and the functions that combine them."""
    several, sums, leaves = procedure.n_outputs > 1, procedure.voting == ADDED, _leaves(procedure)
    if procedure.has_bounds:
        names, at = "intercept, terms, low, high", "MODELS[_walk(root, cells)]"
        leaf_value, added = f"[{BOUNDED} for {names} in {at}]", f"{names} = {at}\n        total += {BOUNDED}"
        rows = [f"    {(_models_of if several else _model_of)(leaf, bounded=True)}," for leaf in leaves]
        what = "intercept, terms (coefficient, column, level), least and largest number"
        values = f"# Of each leaf{' and output' if several else ''}: {what}.\nMODELS = (\n{_lines(rows)})\n"
    else:
        leaf_value = "VALUES[_walk(root, cells)]"
        added = f"total += {leaf_value}"
        rows = [f"    {tuple(output.intercept for output in leaf.each)!r}," for leaf in leaves]
        listed = f"(\n{_lines(rows)})" if several else _listed([leaf.intercept for leaf in leaves])
        values = f"# What each leaf says{' of each output' if several else ''}.\nVALUES = {listed}\n"
    if several:
        return [values, SUM, WALK, SEVERAL_NUMBERS.format(n=procedure.n_outputs, values=leaf_value)]
    what = "the sum of the trees and the number that they start from" if sums else "the mean of the trees"
    total = f"total + {procedure.base[0]!r}" if sums else "total / len(ROOTS)"
    return [values, SUM, WALK, NUMBERS.format(what=what, added=added, total=total)]


def _decided(procedure: Procedure, largest: str) -> str:
    """The body of `predict`. largest : where no threshold decides"""
    if procedure.threshold is None:
        return largest
    code, share = procedure.threshold
    return AT_THRESHOLD.format(code=code, share=share, other=1 - code)


def _value_of_tree(procedure: Procedure) -> str:
    bounded = procedure.has_bounds
    value = BOUNDED if bounded else UNBOUNDED
    if procedure.n_outputs > 1:
        names = "intercept, terms, low, high" if bounded else "intercept, terms"
        statement = f"return tuple({value} for {names} in MODELS[at])"
        return VALUE_OF_TREE.format(what="values of the linear models", statements=statement)
    lines = ["intercept, terms = MODELS[at]", *(["low, high = BOUNDS[at]"] if bounded else []), f"return {value}"]
    return VALUE_OF_TREE.format(what="value of the linear model", statements="\n    ".join(lines))


def _columns(procedure: Procedure) -> Iterator[str]:
    if not procedure.is_regression:
        yield f"CLASSES = {_listed(procedure.classes)}"
    yield f"COLUMNS = {_listed([cell.name for cell in procedure.cells])}"
    yield "# Codes of levels by column, None for a number."
    yield f"LEVELS = {_listed([{v: k for k, v in enumerate(c.levels)} if c.levels else None for c in procedure.cells])}"
    yield "# What stands for a missing cell."
    yield f"FILLS = {_listed([math.nan if cell.fill is None else cell.fill for cell in procedure.cells])}"
    yield "# Columns without which there is no prediction."
    yield f"NEEDED = {tuple(procedure.needed)!r}"
    if procedure.coded:
        yield "# Columns of codes, behind the others: of which column, or of its level (-1 the number, -2 missing),"
        yield "# numbers by code, and the code of any other."
        coded = [
            (code_column.term.cell, code_column.term.level, code_column.values, code_column.usual)
            for code_column in procedure.coded
        ]
        yield f"CODED = {_listed(coded)}"


def _listed(values: Sequence[object]) -> str:
    """A tuple, in lines if it is long; characters beyond ASCII as escapes."""
    items = ['float("nan")' if value != value else ascii(value) for value in values]
    text = "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
    return text if len(text) <= 100 else "(\n    " + folded([f"{item}," for item in items], "    ") + "\n)"


def _leaf_tables(procedure: Procedure) -> str:
    tree = procedure.tree
    if procedure.has_scores:
        return _score_tables(procedure, [(node, tree.leaf(node)) for node in tree.leaf_nodes])
    if procedure.n_outputs > 1:
        rows = [f"    {node}: {_models_of(tree.leaf(node), procedure.has_bounds)}," for node in tree.leaf_nodes]
        further = ", least and largest number" if procedure.has_bounds else ""
        return (
            f"# Of each leaf and output: intercept and terms (coefficient, column, level){further}.\nMODELS = {{\n"
            + _lines(rows)
            + "}\n"
        )
    if procedure.is_regression:
        rows = [
            f"    {node}: ({tree.leaf(node).intercept!r}, {_terms(tree.leaf(node).terms)})," for node in tree.leaf_nodes
        ]
        text = "# Intercept and terms (coefficient, column, level) of each leaf.\nMODELS = {\n" + _lines(rows) + "}\n"
        if procedure.has_bounds:
            bounds = [f"    {node}: {tree.leaf(node).bounds or ANYTHING!r}," for node in tree.leaf_nodes]
            text += "# Least and largest number that each leaf says.\nBOUNDS = {\n" + _lines(bounds) + "}\n"
        return text
    labels = [f"    {tree.number(node)}: {tree.leaf(node).label}," for node in tree.leaf_nodes]
    shares = [f"    {tree.number(node)}: {tree.leaf(node).shares!r}," for node in tree.leaf_nodes]
    return "LABELS = {\n" + _lines(labels) + "}\nSHARES = {\n" + _lines(shares) + "}\n"


def _models_of(leaf: Leaf, bounded: bool) -> str:
    """The models of all outputs of a leaf."""
    return f"({', '.join(_model_of(output, bounded) for output in leaf.outputs)})"


def _model_of(leaf: Leaf, bounded: bool) -> str:
    bounds = "".join(f", {end!r}" for end in leaf.bounds or ANYTHING) if bounded else ""
    return f"({leaf.intercept!r}, {_terms(leaf.terms)}{bounds})"


def _leaves(procedure: Procedure) -> list[Leaf]:
    """The leaves of all trees, in the order of their numbers in the tables."""
    return [tree.leaf(node) for tree in procedure.trees for node in tree.leaf_nodes]


def _scored(procedure: Procedure) -> str:
    return f"# Codes of the classes that have a score.\nSCORED = {procedure.scored!r}\n"


def _score_tables(procedure: Procedure, leaves: Sequence[tuple[int, Leaf]]) -> str:
    """The scores of leaves. leaves : the name of each, and the leaf"""
    scaled = procedure.scaled
    place = {column: number for number, column in enumerate(scaled)}
    columns = [f"    {(column.cell, column.level, column.center, column.scale)!r}," for column in scaled]
    rows: list[str] = []
    for name, leaf in leaves:
        leaf_scores = leaf.scores
        assert leaf_scores is not None
        rows.append(f"    {name}: ({leaf_scores.intercept!r}, (")
        rows += [f"        ({place[part.column]}, {part.coef!r}, {part.curve!r})," for part in leaf_scores.parts]
        rows.append("    )),")
    return (
        f"{_scored(procedure)}"
        "# Columns in standard deviations: column, level (-1 the number, -2 a missing cell), center, scale.\n"
        "SCALED = (\n" + _lines(columns) + ")\n"
        "# Of each leaf: intercepts, and what columns in standard deviations add: which column, coefficients by\n"
        "# class, and those of squares.\nSCORES = {\n" + _lines(rows) + "}\n"
    )


def _lines(rows: Sequence[str]) -> str:
    return "".join(row + "\n" for row in rows)


def _terms(terms: Sequence[Term]) -> str:
    return repr(tuple((term.coef, term.cell, term.level) for term in terms))


def _walked(tables: Tables) -> str:
    of_terms = list(zip(tables.terms.coef, tables.terms.cell, tables.terms.level, strict=True))
    lanes = [tuple(of_terms[a:b]) for a, b in zip(tables.starts, tables.starts[1:], strict=False)]
    return (
        "# Inner nodes: a row goes left if the sum of (coefficient, column, level) is at most the threshold.\n"
        "# Children of 0 or more are inner nodes, others are -1 - the number of a leaf.\n"
        f"ROOTS = {_listed(tables.roots)}\nLEFT = {_listed(tables.left)}\nRIGHT = {_listed(tables.right)}\n"
        f"THRESHOLD = {_listed(tables.threshold)}\nMISSING_LEFT = {_listed(tables.missing_left)}\n"
        f"LANES = {tables.n_lanes}\nTERMS = (\n" + _lines([f"    {lane!r}," for lane in lanes]) + ")\n"
    )


def _forest_tables(procedure: Procedure, tables: Tables) -> str:
    rotated = [f"    ({''.join(_terms(lane) + ', ' for lane in tree.rotated)})," for tree in procedure.trees]
    base = f"# Scores before the first tree.\nBASE = {procedure.base!r}\n"
    return (
        (f"# Shares where no sum is positive.\nEVEN = {procedure.even!r}\n" if procedure.even else "")
        + (_scored(procedure) + base if procedure.has_scores else "")
        + f"# What each leaf adds to the {'scores' if procedure.has_scores else 'votes'}.\nSHARES = (\n"
        + _lines([f"    {voice!r}," for voice in tables.voice])
        + ")\n# Features of each tree that are sums of columns.\nROTATED = (\n"
        + _lines(rotated)
        + ")\n"
    )


class _Conditions(Conditions):
    """The words of Python."""

    case = "{value} if {test} else "
    otherwise, end = "else:", ""
    remark = "  # {}"

    def __init__(self, procedure: Procedure) -> None:
        super().__init__(procedure)
        self.names = identifiers([cell.name for cell in procedure.columns], RESERVED)

    def value(self, cell: int) -> str:
        return self.names[cell]

    def has_level(self, cell: int, level: int) -> str:
        name = self.names[cell]
        return f"{name} != {name}" if level == MISSING else f"{name} == {level}"

    def called(self, label: str) -> str:
        return ascii(label)

    def leaf(self, node: int) -> str:
        return f"return {self.procedure.tree.number(node)}"

    def opened(self, split: Split, indent: str) -> list[str]:
        pieces, compared = self.sum_of(split.lanes), f"<= {split.threshold!r}"
        if split.missing_left:
            pieces, compared = ["not", *pieces], f"> {split.threshold!r}"
        text = folded([*pieces, compared], indent + self.indent)
        if "\n" in text:
            return [
                f"{indent}if (",
                *(indent + self.indent + line.strip() for line in text.splitlines()),
                f"{indent}):",
            ]
        return [f"{indent}if {text}:" + (self.remark.format("or if a number is missing") if split.missing_left else "")]


def _nested(procedure: Procedure) -> str:
    words = _Conditions(procedure)
    lines = ["def _leaf(cells):", "    if any(cells[j] != cells[j] for j in NEEDED):", "        return None"]
    lines += [f"    {words.names[j]} = cells[{j}]" for j in procedure.tree.split_columns]
    return "\n".join([*lines, *words.lines()]) + "\n"
