"""A Python module without dependencies: it imports only `exp` of the standard library, if leaves have scores."""

from __future__ import annotations

from oblique_cli.models.exporting._exporter import KINDS, Source, exporter
from oblique_cli.models.exporting._program import Table, functions_of, nested, rows_of, tables_of
from oblique_cli.models.exporting._text import heading

TEXTS = {
    "codes": """
    for cell, level, known, usual in CODED:
        value = cells[cell]
        if level != -1:
            value = float(value == level or (level == -2 and value != value))
        cells.append(float(known.index(value) if value in known else usual))""",
    "read": '''

def _cells(row):
    """Return the cells of a row as numbers, NaN where one is missing; None if it lacks a number that the model needs.

    row : a mapping from the names of columns, or the values of the columns in order
    """
    values = [row.get(name) for name in COLUMNS] if hasattr(row, "keys") else list(row)
    if len(values) != len(COLUMNS):
        raise ValueError(f"a row has {len(COLUMNS)} columns. Got {len(values)} values.")
    cells = []
    for value, levels, fill in zip(values, LEVELS, FILLS):
        if value is None or value == "" or value != value:
            cells.append(fill)
        elif levels:
            cells.append(float(levels.index(str(value)) if str(value) in levels else len(levels)))
        else:
            cells.append(float(value))$codes
    return None if any(cells[j] != cells[j] for j in NEEDED) else cells
''',
    "sum": '''

def _sum(terms, cells):
    """Return the sum of (coefficient, column, level) from the first on; level -1 is the number, -2 a missing cell."""
    total = 0.0
    for coef, cell, level in terms:
        value = cells[cell]
        if level == -1:
            total += coef * value
        elif value == level or (level == -2 and value != value):
            total += coef
    return total
''',
    "walk": '''

def _walk(at, cells):
    """Return the leaf under the node `at`, from 0 on."""
    while at >= 0:
        left, right, threshold, missing_left, lanes = NODES[at]
        sums = [_sum(terms, cells) for terms in lanes]
        total = sums[0] if len(sums) == 1 else (sums[0] + sums[1]) + (sums[2] + sums[3])
        # A missing number makes the total NaN, which is neither above nor below anything.
        goes_left = not total > threshold if missing_left else total <= threshold
        at = left if goes_left else right
    return -1 - at
''',
    "leaf": '''

def leaf(row):
    """Return the leaf of a row as a node number of the tree, None if it lacks a number that the model needs."""
    cells = _cells(row)
    return None if cells is None else NUMBERS[_walk(ROOTS[0], cells)]
''',
    "rotated": " + [_sum(terms, cells) for terms in ROTATED[tree]]",
    "rotated none": "",
    "model": """
        for k, (terms, intercept) in enumerate(MODELS[at]):
            totals[k] += _sum(terms, cells) + intercept""",
    "model bounded": """
        for k, (terms, intercept, low, high) in enumerate(MODELS[at]):
            totals[k] += min(max(_sum(terms, cells) + intercept, low), high)""",
    "scores": '''

def _scores(at, cells):
    """Return the scores of the classes SCORED in a leaf."""
    intercepts, parts = SCORES[at]
    scores = list(intercepts)
    for cell, level, center, scale, squared, coefs in parts:
        value = cells[cell]
        if level != -1:
            value = float(value == level or (level == -2 and value != value))
        # In standard deviations; a missing number counts as the center.
        z = 0.0 if value != value else min(max((value - center) / scale, -$farthest), $farthest)
        if squared:
            z = min(max(z, -$near), $near)
            z = (z * z - 1.0) * $half_root
        for k, coef in enumerate(coefs):
            scores[k] += coef * z
    return scores
''',
    "softmax": '''

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
''',
    "added votes": """
        totals[LABELS[at]] += 1.0""",
    "added outputs": """
        for k, value in enumerate(OUTPUTS[at]):
            totals[k] += value""",
    "added models": "$model",
    "added scores": """
        for k, score in enumerate(_scores(at, cells)):
            totals[k] += score""",
    "added shares": """
        for k, share in enumerate(_shares_of(_scores(at, cells))):
            totals[k] += share""",
    "based": """
    totals = [total + start for total, start in zip(totals, BASE)]""",
    "totals": '''

def _totals(row):
    """Return the sums of the outputs of all trees, None for a row that lacks a number that the model needs."""
    cells = _cells(row)
    if cells is None:
        return None
    totals = [0.0] * $outputs
    for tree, root in enumerate(ROOTS):
        at = _walk(root, cells$rotated)$added$based
    return totals
''',
    "mean": " / len(ROOTS)",
    "mean none": "",
    "value": '''

def predict(row):
    """Return the number predicted, None for a row that lacks a number that the model needs."""
    totals = _totals(row)
    return None if totals is None else totals[0]$mean
''',
    "value several": '''

def predict(row):
    """Return the numbers predicted, None for a row that lacks a number that the model needs."""
    totals = _totals(row)
    return None if totals is None else tuple(total$mean for total in totals)
''',
    "clip": '''

def _clipped(totals):
    """Return the sums that are positive, divided by their total."""
    votes = [max(vote, 0.0) for vote in totals]
    total = 0.0
    for vote in votes:  # `sum` rounds otherwise from Python 3.12 on
        total += vote
    return tuple(vote / total for vote in votes) if any(votes) else EVEN
''',
    "shares mean": "tuple(total / len(ROOTS) for total in totals)",
    "shares softmax": "_shares_of(totals)",
    "shares clipped": "_clipped(totals)",
    "proba": '''

def predict_proba(row):
    """Return the share of each class, in the order of CLASSES; None for a row that lacks a number."""
    totals = _totals(row)
    return None if totals is None else $shares
''',
    "values cells": "_cells",
    "values totals": "_totals",
    "values shares": "predict_proba",
    "decided label": "LABELS[_walk(ROOTS[0], values)]",
    "decided first": "values.index(max(values))",
    "decided scored": "SCORED[values.index(max(values))]",
    "decided clipped": "next(k for k, share in enumerate(values) if share >= max(values) - $tie)",
    "decided threshold": "$code if values[$code] >= $share else $other",
    "predict": '''

def predict(row):
    """Return the class of a row, None if it lacks a number that the model needs."""
    values = $values(row)
    return None if values is None else CLASSES[$decided]
''',
    "at leaf": "LIMITS[LIMITED.index(leaf(row)) if leaf(row) in LIMITED else -1]",
    "at all": "LIMITS[0]",
    "running": '''

def _running_sum(shares, k):
    """Return the sum of the shares of likelier classes, the first of equal ones, and half of the share itself."""
    total = 0.0
    for j, share in enumerate(shares):
        if share > shares[k] or (share == shares[k] and j < k):
            total += share
    return total + 0.5 * shares[k]
''',
    "inside shares": "shares[k] >= limit",
    "inside sums": "_running_sum(shares, k) <= limit",
    "set": '''

def predict_set(row):
    """Return the classes that hold the true one $promise.

    None as `predict_proba`.
    """
    shares = predict_proba(row)
    if shares is None:
        return None
    return tuple(label for k, (label, limit) in enumerate(zip(CLASSES, $at)) if $inside)
''',
    "interval": '''

def predict_interval(row):
    """Return the ends of the interval that holds the true number $promise.

    None as `predict`.
    """
    value = predict(row)
    if value is None:
        return None
    below, above = $at
    return (value - below, value + above)
''',
}


def _literal(value: object) -> str:
    return nested(value, lambda item: 'float("nan")' if item != item else ascii(item), "()")


def _table(table: Table) -> str:
    about = "".join(f"# {line}\n" for line in table.about.splitlines())
    return f"{about}{table.name} = {rows_of(table, _literal, '    ', '  # {}'.format, '()')}\n"


@exporter("python", "a module of Python without packages", ".py", kinds=KINDS)
def write(source: Source) -> str:
    """Return the module."""
    lines = [f"# {line}".rstrip() for line in heading(source.procedure, coded=False)]
    lines += ["#", "# predict(row) takes a mapping from column names, or the values in order; levels as text.", "", ""]
    imports = "from math import exp\n\n" if source.procedure.has_scores else ""
    tables = "".join(map(_table, tables_of(source)))
    return "\n".join(lines) + imports + tables + functions_of(source, TEXTS)
