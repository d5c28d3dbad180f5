"""Helpers of text formats: names, sums in the order of the core, splits and leaves in words, heads of files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import groupby

from oblique_cli import __version__
from oblique_cli.models.procedure import MISSING, NUMBER, Lane, Procedure, Split, Term

WIDTH = 110

# (sign, text) of a summand; a group of levels of one cell is one summand, as at most one of them is not 0.
Summand = tuple[str, str]


def quoted(name: str) -> str:
    """Return a name in double quotes on one line, with escapes for characters that do not print."""
    return '"' + "".join(_shown(char) for char in name) + '"'


def _shown(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return char if char.isprintable() else f"\\u{ord(char):04x}"


def identifiers(
    names: Iterable[str], reserved: Container[str] = (), empty: str = "x", upper: bool = False
) -> list[str]:
    """Return a unique identifier of ASCII letters, digits and underscores for each name, similar to it.

    reserved : excluded words; empty : prefix of names without a usable character
    """
    words: list[str] = []
    taken: set[str] = set()
    for i, name in enumerate(names, start=1):
        folded = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
        word = re.sub(r"_{2,}", "_", re.sub(r"\W+", "_", folded)).strip("_")
        word = word.upper() if upper else word
        if not word or word[0].isdigit():
            word = f"{empty}{i}" if not word else f"{empty}_{word}"
        stem, number = word, 2
        while word in taken or word in reserved or word.lower() in reserved:
            word, number = f"{stem}_{number}", number + 1
        taken.add(word)
        words.append(word)
    return words


def summands(
    lane: Lane, number: Callable[[Term], Summand], levels: Callable[[int, Sequence[Term]], str]
) -> list[Summand]:
    """Return the summands of a lane in its order. levels : text of the terms of neighboring levels of one cell"""
    pieces: list[Summand] = []
    for (cell, of_number), neighbors in groupby(lane, lambda term: (term.cell, term.level == NUMBER)):
        terms = tuple(neighbors)
        pieces += map(number, terms) if of_number else [("+", levels(cell, terms))]
    return pieces


def added(lanes: Sequence[Sequence[Summand]]) -> list[str]:
    """Return the sum as pieces to join with blanks: one lane from its first term, four as (0 + 1) + (2 + 3)."""
    if len(lanes) == 1:
        return _in_turn(lanes[0])
    pairs = [_pair(_in_turn(lanes[i]), _in_turn(lanes[i + 1])) for i in range(0, len(lanes), 2)]
    return _pair(*pairs)


def _in_turn(lane: Sequence[Summand]) -> list[str]:
    pieces = [f"{sign} {text}" for sign, text in lane]
    if pieces:
        sign, text = lane[0]
        pieces[0] = text if sign == "+" else f"-{text}"
    return pieces


def _pair(first: list[str], second: list[str]) -> list[str]:
    if not first or not second:
        return first or second
    if len(second) == 1:
        (piece,) = second
        return [*first, f"- {piece[1:]}" if piece.startswith("-") else f"+ {piece}"]
    return [*first, f"+ ({second[0]}", *second[1:-1], f"{second[-1]})"]


def folded(pieces: Sequence[str], indent: str, width: int = WIDTH) -> str:
    """Return pieces in lines of at most `width` if possible; the second and later lines begin with `indent`."""
    lines = [""]
    for piece in pieces:
        if lines[-1].strip() and len(lines[-1]) + 1 + len(piece) > width - len(indent) * (len(lines) == 1):
            lines.append(indent + piece)
        else:
            lines[-1] += (" " if lines[-1] else "") + piece
    return "\n".join(lines)


def heading(procedure: Procedure, coded: bool = True) -> Iterator[str]:
    """Yield the lines at the head of a file: target, columns, and rules for missing cells.

    coded : whether levels are passed as codes
    """
    what = quoted(procedure.target) if procedure.is_regression else f"class {quoted(procedure.target)}"
    kind = f"forest of {len(procedure.trees)} trees" if procedure.is_forest else "tree"
    if not procedure.is_forest:
        leaves = len(procedure.tree.leaf_nodes)
        kind = f"tree of {leaves} {'leaf' if leaves == 1 else 'leaves'}"
    yield f"{procedure.title}: {what} by a {kind}."
    yield f"Written by oblique {__version__}."
    yield ""
    if not procedure.is_regression:
        yield "Classes: " + ", ".join(f"{k} {quoted(label)}" for k, label in enumerate(procedure.classes))
        yield ""
    yield "Columns of a row, in this order:"
    for j, cell in enumerate(procedure.cells):
        description = "a number"
        if cell.levels:
            known = (f"{code} {quoted(level)}" if coded else quoted(level) for code, level in enumerate(cell.levels))
            description = ("code of a level: " if coded else "a level: ") + ", ".join(known)
            if coded:
                description += f", {len(cell.levels)} any other"
        if cell.unit:
            description += f" ({cell.unit})"
        if cell.fill is not None:
            stands = quoted(cell.levels[int(cell.fill)]) if cell.levels else repr(cell.fill)
            description += f"; {stands} where it is missing"
        if j not in procedure.used:
            description += "; not used"
        yield f"  {j} {quoted(cell.name)}: {description}"
    for cell, code_column in zip(procedure.columns[len(procedure.cells) :], procedure.coded, strict=True):
        values = ", ".join(f"{value:.10g}" for value in code_column.values)
        kind = (
            "code" if procedure.cells[code_column.term.cell].levels and code_column.term.level == NUMBER else "number"
        )
        yield f"  {quoted(cell.name)}: the place of its {kind} among {values}, from 0 on;"
        yield f"    {code_column.usual} for any other{', or where it is missing' if code_column.takes_missing else ''}"
    yield ""
    if procedure.needed:
        few = ", ".join(quoted(procedure.cells[j].name) for j in procedure.needed)
        yield f"A row that lacks one of these numbers has no prediction: {few}."
    else:
        yield "Every row has a prediction, whatever is missing."
    yield "A level that is not listed counts as one that training did not show."
    farthest = f"{procedure.farthest:.0e}".replace("+", "")
    yield f"Numbers lie within -{farthest} and {farthest}: beyond, sums may overflow, and answers differ."


# ---- words -----------------------------------------------------------------------------------------------------------


def condition(split: Split, procedure: Procedure, precision: int, left: bool) -> str:
    """Return the condition of one side: "0.5 * "age" - 2 * "bmi" <= 3 (or missing)", ""sex" is not "male""."""
    if (level := split.by_level) is not None:
        is_there = split.level_goes_left == left
        return f"{quoted(procedure.cells[level.cell].name)} is {'' if is_there else 'not '}{level_of(procedure, level)}"
    # In the order of the columns, so that the levels of one column stand together.
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
        if leaf.scores is not None:
            total = f"the sum of {len(leaf.scores.parts)} terms"
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


def terms_of(lane: Lane, procedure: Procedure, precision: int) -> list[Summand]:
    """Return the summands of a lane as signs and texts."""

    def number(term: Term) -> Summand:
        size, name = f"{abs(term.coef):.{precision}g}", quoted(procedure.columns[term.cell].name)
        return ("-" if term.coef < 0 else "+"), name if size == "1" else f"{size} * {name}"

    def levels(cell: int, terms: Sequence[Term]) -> str:
        says = (f"{term.coef:.{precision}g} if {level_of(procedure, term)}" for term in terms)
        return f"{quoted(procedure.cells[cell].name)}[{', '.join(says)}, else 0]"

    return summands(lane, number, levels)


def level_of(procedure: Procedure, term: Term) -> str:
    """Return the level of a term."""
    return "missing" if term.level == MISSING else quoted(procedure.cells[term.cell].levels[term.level])


def joined(pieces: Sequence[Summand]) -> str:
    """Return summands as one sum."""
    return " ".join(_in_turn(pieces))
