"""Rules for people: one for each leaf, all that a row has to fulfill and what follows."""

from __future__ import annotations

from collections.abc import Sequence

from oblique_cli.models.exporting._exporter import SINGLE, Source, exporter
from oblique_cli.models.exporting._text import heading, quoted, summands
from oblique_cli.models.procedure import MISSING, NUMBER, Lane, Procedure, Scaled, Split, Term


@exporter("rules", "a rule for each leaf, in words", ".txt", kinds=SINGLE, digits=6)
def write(source: Source) -> str:
    """Return the rules, one a line, the leaf with most training rows first."""
    procedure = source.procedure
    tree = procedure.tree
    paths: dict[int, list[str]] = {0: []}
    for node in tree.inner:
        paths[tree.left[node]] = [*paths[node], condition(tree.split(node), procedure, source.precision, left=True)]
        paths[tree.right[node]] = [*paths[node], condition(tree.split(node), procedure, source.precision, left=False)]
    nodes = sorted(tree.leaf_nodes, key=lambda node: -tree.leaf(node).n_rows)
    lines = [f"# {line}".rstrip() for line in heading(procedure, coded=False)]
    lines += ["#", "# Exactly one rule holds for a row that has a prediction."]
    if procedure.has_scores:
        lines += _deviations(procedure, source.precision)
    lines.append("")
    for node in nodes:
        lines.append(f"if {' and '.join(paths[node]) or 'true'} then {conclusion(procedure, node, source.precision)}")
        if procedure.has_scores:
            lines += [*(f"    {line}" for line in scores_of(procedure, node, source.precision)), ""]
    return "\n".join(lines) + "\n"


def condition(split: Split, procedure: Procedure, precision: int, left: bool) -> str:
    """Return what the rows of one side fulfill: "0.5 * "age" - 2 * "bmi" <= 3 (or missing)", ""sex" is not "male""."""
    if (level := split.by_level) is not None:
        is_there = split.level_goes_left == left
        return f"{quoted(procedure.cells[level.cell].name)} is {'' if is_there else 'not '}{_level(procedure, level)}"
    # In the order of the columns, so that all levels of one are together.
    pieces = terms_of(tuple(sorted(split.terms, key=lambda term: term.cell)), procedure, precision)
    compared = "<=" if left else ">"
    total = joined(pieces) or "0"
    missing = " (or missing)" if split.missing_left is not None and split.missing_left == left else ""
    return f"{total} {compared} {split.threshold:.{precision}g}{missing}"


def conclusion(procedure: Procedure, node: int, precision: int) -> str:
    """Return the conclusion of a leaf."""
    leaf = procedure.tree.leaf(node)
    rows = f"{leaf.n_rows} training row{'' if leaf.n_rows == 1 else 's'}"
    if procedure.is_regression:
        pieces = terms_of(leaf.terms, procedure, precision)
        sign = "-" if leaf.intercept < 0 else "+"
        total = joined([*pieces, (sign, f"{abs(leaf.intercept):.{precision}g}")])
        if leaf.bounds is not None:
            total += f", within {leaf.bounds[0]:.{precision}g} to {leaf.bounds[1]:.{precision}g}"
        return f"{quoted(procedure.target)} = {total}  [{rows}]"
    if leaf.scores is not None:
        decision = "the class of the largest score"
        if procedure.threshold is not None:
            code, least = procedure.threshold
            names = [quoted(procedure.classes[k]) for k in (code, 1 - code)]
            decision = f"class {names[0]} if its probability is at least {least:.{precision}g}, else {names[1]}"
        return f"{decision}  [{rows}]"
    if not leaf.counts:
        return f"class {quoted(procedure.classes[leaf.label])}  [probability {leaf.shares[leaf.label]:.1%}]"
    share, probability = leaf.counts[leaf.label] / (sum(leaf.counts) or 1.0), leaf.shares[leaf.label]
    smoothed = f", probability {probability:.1%}" if abs(share - probability) > 1e-9 else ""
    return f"class {quoted(procedure.classes[leaf.label])}  [{share:.1%} of {rows}{smoothed}]"


def scores_of(procedure: Procedure, node: int, precision: int) -> list[str]:
    """Return the scores of the classes in a leaf: "score of "no" = 0.3 + 1.2 * z("age") - 0.5 * square("age")"."""
    scores = procedure.tree.leaf(node).scores
    assert scores is not None
    lines = []
    for k, code in enumerate(scores.classes):
        pieces = [("-" if scores.intercept[k] < 0 else "+", f"{abs(scores.intercept[k]):.{precision}g}")]
        for part in scores.parts:
            for values, square in ((part.coef, False), (part.curve, True)):
                if values and values[k]:
                    sign, size = "-" if values[k] < 0 else "+", f"{abs(values[k]):.{precision}g}"
                    pieces.append((sign, f"{size} * {_deviation(procedure, part.column, square)}"))
        lines.append(f"score of {quoted(procedure.classes[code])} = {joined(pieces)}")
    return lines


def _deviation(procedure: Procedure, column: Scaled, square: bool = False) -> str:
    name = quoted(procedure.cells[column.cell].name)
    if column.level != NUMBER:
        name += f" is {_level(procedure, Term(1.0, column.cell, column.level))}"
    return f"{'square' if square else 'z'}({name})"


def _deviations(procedure: Procedure, precision: int) -> list[str]:
    """Definitions of the standardized columns of scores."""
    lines = ["# A probability is exp(score), divided by the sum of those of all classes. In scores stand", "#"]
    for column in procedure.scaled:
        deviation = _deviation(procedure, column)
        if column.level != NUMBER:
            there, other = column.by_level
            lines.append(f"#   {deviation}: {there:.{precision}g}, else {other:.{precision}g}")
            continue
        sign = "-" if column.center >= 0 else "+"
        name, center = quoted(procedure.cells[column.cell].name), f"{abs(column.center):.{precision}g}"
        gone = "; 0 where it is missing" if procedure.cells[column.cell].fill is None and not procedure.needed else ""
        lines.append(f"#   {deviation}: ({name} {sign} {center}) / {column.scale:.{precision}g}{gone}")
    return [*lines, "#", "# and square(...): (z * z - 1) / sqrt(2), where z is at most 3 from 0."]


def terms_of(lane: Lane, procedure: Procedure, precision: int) -> list[tuple[str, str]]:
    """Return the summands of a lane as signs and texts."""

    def number(term: Term) -> tuple[str, str]:
        size, name = f"{abs(term.coef):.{precision}g}", quoted(procedure.columns[term.cell].name)
        return ("-" if term.coef < 0 else "+"), name if size == "1" else f"{size} * {name}"

    def levels(cell: int, terms: Sequence[Term]) -> str:
        says = (f"{term.coef:.{precision}g} if {_level(procedure, term)}" for term in terms)
        return f"{quoted(procedure.cells[cell].name)}[{', '.join(says)}, else 0]"

    return summands(lane, number, levels)


def _level(procedure: Procedure, term: Term) -> str:
    return "missing" if term.level == MISSING else quoted(procedure.cells[term.cell].levels[term.level])


def joined(pieces: Sequence[tuple[str, str]]) -> str:
    """Return summands as one sum."""
    text = " ".join(f"{sign} {piece}" for sign, piece in pieces)
    return text.removeprefix("+ ") if text.startswith("+") else text.replace("- ", "-", 1)
