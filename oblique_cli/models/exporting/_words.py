"""Splits and leaves in words."""

from __future__ import annotations

from collections.abc import Sequence

from oblique_cli.models.exporting._text import quoted, summands
from oblique_cli.models.procedure import MISSING, Lane, Procedure, Split, Term


def condition(split: Split, procedure: Procedure, precision: int, left: bool) -> str:
    """Return what the rows of one side fulfill: "0.5 * "age" - 2 * "bmi" <= 3 (or missing)", ""sex" is not "male""."""
    if (level := split.by_level) is not None:
        is_there = split.level_goes_left == left
        return f"{quoted(procedure.cells[level.cell].name)} is {'' if is_there else 'not '}{level_of(procedure, level)}"
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


def terms_of(lane: Lane, procedure: Procedure, precision: int) -> list[tuple[str, str]]:
    """Return the summands of a lane as signs and texts."""

    def number(term: Term) -> tuple[str, str]:
        size, name = f"{abs(term.coef):.{precision}g}", quoted(procedure.columns[term.cell].name)
        return ("-" if term.coef < 0 else "+"), name if size == "1" else f"{size} * {name}"

    def levels(cell: int, terms: Sequence[Term]) -> str:
        says = (f"{term.coef:.{precision}g} if {level_of(procedure, term)}" for term in terms)
        return f"{quoted(procedure.cells[cell].name)}[{', '.join(says)}, else 0]"

    return summands(lane, number, levels)


def level_of(procedure: Procedure, term: Term) -> str:
    """Return the level of a term."""
    return "missing" if term.level == MISSING else quoted(procedure.cells[term.cell].levels[term.level])


def joined(pieces: Sequence[tuple[str, str]]) -> str:
    """Return summands as one sum."""
    text = " ".join(f"{sign} {piece}" for sign, piece in pieces)
    return text.removeprefix("+ ") if text.startswith("+") else text.replace("- ", "-", 1)
