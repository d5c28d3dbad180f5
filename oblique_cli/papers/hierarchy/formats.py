"""Readers of square or condensed CSV and PHYLIP matrices; writers of PHYLIP matrices and Newick trees."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from oblique_cli.errors import DataError
from oblique_cli.papers.hierarchy.dissimilarities import (
    Condensed,
    checked_condensed,
    from_square,
    number_of_objects,
    to_square,
)
from oblique_cli.papers.hierarchy.hierarchies import Hierarchy, shown_names

STRICT = 10  # characters of a name in strict PHYLIP
COUNT_DIGITS = 18  # a longer integer is no number of objects


def read_matrix(text: str, where: str) -> tuple[list[str] | None, Condensed]:
    """Return the names of the objects, None if the text has none, and the condensed matrix. where : prefix of messages

    A single integer in the first line begins a PHYLIP matrix, square or lower triangle, whose rows may span several
    lines. Its names end at a blank (relaxed), or if this gives no matrix, after 10 characters (strict). Anything else
    is CSV (comma, semicolon or tab): one row or column is a condensed matrix, several are
    a square one, with names in the first row, the first column, both or neither. DataError for anything else.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise DataError(f"{where}: the file is empty.")
    try:
        if _is_phylip(lines):
            names, square = _phylip(int(lines[0]), lines[1:])
            return names, from_square(square, names=names)
        names_, rows = _csv(lines)
        if names_ is None and 1 in (len(rows), len(rows[0])) and rows != [[0.0]]:
            return None, checked_condensed(np.concatenate([np.asarray(row) for row in rows]))
        return names_, from_square(np.array(rows), names=names_)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def _is_phylip(lines: Sequence[str]) -> bool:
    """Return whether the first line is an integer and the next ones have names."""
    first = lines[0].strip()
    if not (first.isdecimal() and first.isascii() and len(first) <= COUNT_DIGITS and len(lines) > 1):
        return False
    return any(len(line.split()) > 1 for line in lines[1:]) or not _is_number(lines[1].strip())


def _phylip(n: int, lines: Sequence[str]) -> tuple[list[str], np.ndarray]:
    if n < 1:
        raise DataError(f"a PHYLIP matrix begins with the number of its objects, at least 1. Got {n}.")
    try:
        return _relaxed(n, lines)
    except DataError:
        strict = _strict(n, lines)
        if strict is None:
            raise
        return strict


def _relaxed(n: int, lines: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return names and the square matrix of a PHYLIP text whose names have no blanks."""
    tokens = " ".join(lines).split()
    begins = set(np.cumsum([0, *(len(line.split()) for line in lines)]).tolist())  # indices of words that begin a line
    is_square = len(tokens) == n * (n + 1)
    if not is_square and len(tokens) != n + n * (n - 1) // 2:
        raise DataError(
            f"a PHYLIP matrix of {n} objects has {n} names with {n * n} numbers (square) or {n * (n - 1) // 2} (lower "
            f"triangle), and names have no blanks or {STRICT} characters. Got {len(tokens)} words."
        )
    names, square, place = [], np.zeros((n, n)), 0
    for i in range(n):
        if place not in begins:
            raise DataError(
                f"every name of a PHYLIP matrix begins a line. Got {tokens[place]!r} as name {i + 1} within one."
            )
        names.append(tokens[place])
        width = n if is_square else i
        square[i, :width] = [_number(token, f"row {i + 1}") for token in tokens[place + 1 : place + 1 + width]]
        place += 1 + width
    return _unique(names), square if is_square else square + square.T


def _strict(n: int, lines: Sequence[str]) -> tuple[list[str], np.ndarray] | None:
    """Return names and the square matrix of a PHYLIP text whose names are the first 10 characters of n lines; None if
    the rest is no matrix. Lines that begin with a blank continue a row."""
    rows: list[tuple[str, list[str]]] = []
    for line in lines:
        if line[0].isspace() and rows:
            rows[-1][1].extend(line.split())
        else:
            rows.append((line[:STRICT].strip(), line[STRICT:].split()))
    widths = [len(numbers) for _, numbers in rows]
    if widths not in ([n] * n, list(range(n))) or not all(_is_number(word) for _, words in rows for word in words):
        return None
    square = np.zeros((n, n))
    for i, (_, numbers) in enumerate(rows):
        square[i, : len(numbers)] = [float(number) for number in numbers]
    return _unique([name for name, _ in rows]), square if widths[0] else square + square.T


def _csv(lines: Sequence[str]) -> tuple[list[str] | None, list[list[float]]]:
    delimiter = max(",;\t", key=lines[0].count)
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter, strict=True)]
    except csv.Error as error:
        raise DataError(f"it cannot be read as CSV ({error}).") from None
    first, has_corner = cells[0], len(cells) == len(cells[-1]) and not (cells[0][0] and _is_number(cells[0][0]))
    has_header = len(cells) > 1 and (has_corner or not all(map(_is_number, first[1:] or first)))
    header = cells.pop(0) if has_header else None
    names = None
    if not all(_is_number(row[0]) for row in cells) and len(cells[0]) > 1:
        names = [row.pop(0) for row in cells]
        if header is not None and len(header) == len(cells[0]) + 1:
            header = header[1:]
    width = len(cells[0])
    for number, row in enumerate(cells, 1):
        if len(row) != width:
            raise DataError(f"row {number} of the matrix has {len(row)} numbers, the first has {width}.")
    if header is not None and names is None and width > 1:
        names = header
    elif header is not None and names is not None and header != names:
        raise DataError("the names in the first row and in the first column must be the same, in the same order.")
    if names is not None and width > 1 and len(names) != width:
        raise DataError(f"a matrix of {width} columns needs {width} names. Got {len(names)}.")
    rows = [[_number(cell, f"row {number}") for cell in row] for number, row in enumerate(cells, 1)]
    return (None if names is None else _unique(names)), rows


def _unique(names: list[str]) -> list[str]:
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise DataError(f"every object needs a name of its own. Got {twice!r} twice.")
    return names


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return not cell  # an empty cell is a missing number, not a name
    return True


def _number(cell: str, place: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise DataError(f"{place} of the matrix holds {cell!r} where a number is expected.") from None


def read_labels(text: str, where: str, names: Sequence[str] | None, n: int) -> list[str]:
    """Return the label of each of n objects from a text with one label, or a name and a label, per line. With
    two columns and named objects, lines are matched by name, and a first line that names no object is a header. With
    one column, the first of n + 1 lines is a header. DataError if an object has no label, or a label no object."""
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if any(map(str.strip, row))]
    except csv.Error as error:
        raise DataError(f"{where}: it cannot be read as CSV ({error}).") from None
    if not rows or len({len(row) for row in rows}) > 1 or len(rows[0]) > 2:
        raise DataError(f"{where}: a file of labels has one label a line, or a name, a comma and a label.")
    if len(rows[0]) == 2 and names is not None:
        if rows[0][0] not in names:
            rows = rows[1:]
        label_of = dict(rows)
        for name in names:
            if name not in label_of:
                raise DataError(f"{where}: there is no label for {name!r}.")
        if len(rows) != n:
            raise DataError(f"{where}: {n} objects need {n} labels. Got {len(rows)}.")
        return _not_blank([label_of[name] for name in names], where, names)
    labels = [row[-1] for row in rows]
    if len(labels) == n + 1:
        labels = labels[1:]
    if len(labels) != n:
        raise DataError(f"{where}: {n} objects need {n} labels. Got {len(labels)}.")
    return _not_blank(labels, where, shown_names(names, n))


def _not_blank(labels: list[str], where: str, names: Sequence[str]) -> list[str]:
    if "" in labels:
        raise DataError(f"{where}: the label of {names[labels.index('')]!r} is empty.")
    return labels


def phylip(condensed: Condensed, names: Sequence[str] | None = None, lower: bool = False, strict: bool = False) -> str:
    """Return a PHYLIP matrix, square or its lower triangle, whose numbers are read back to the bit.

    Relaxed names have no blanks and end at one; strict names have up to 10 characters, blanks too. DataError for a
    name that does not fit.
    """
    n = number_of_objects(condensed)
    shown = shown_names(names, n)
    for name in shown:
        if not name.strip() or (len(name) > STRICT if strict else len(name.split()) > 1):
            limit = f"1 to {STRICT} characters" if strict else "characters without blanks"
            raise DataError(f"a {'strict' if strict else 'relaxed'} PHYLIP matrix has names of {limit}. Got {name!r}.")
    square = to_square(condensed)
    lines = [str(n)]
    for i, name in enumerate(shown):
        row = square[i, : i if lower else n].tolist()
        lines.append(" ".join([f"{name:<{STRICT}}", *(np.format_float_positional(d, trim="-") for d in row)]))
    return "\n".join(lines) + "\n"


def newick(tree: Hierarchy, names: Sequence[str] | None = None) -> str:
    """Return the tree in Newick form, with branch lengths to 10 digits. Without branch lengths of the tree they are
    half the difference of its `raised` heights, so that two objects joined at distance d lie d apart. Names with
    other than letters, digits and ._- are quoted."""
    shown = [_quoted(name) for name in shown_names(names, tree.n)]
    lengths = tree.lengths
    if lengths is None:
        heights = np.concatenate([np.zeros(tree.n), tree.raised])
        lengths = np.append(0.5 * (heights[tree.parents[:-1]] - heights[:-1]), 0.0)
    parts: list[str] = list(shown)
    for a, b in tree.children.tolist():
        parts.append(f"({parts[a]}:{lengths[a]:.10g},{parts[b]}:{lengths[b]:.10g})")
        parts[a] = parts[b] = ""  # the texts of a deep tree would take quadratic memory
    return parts[-1] + ";\n"


def _quoted(name: str) -> str:
    plain = name and all(c.isascii() and (c.isalnum() or c in "._-") for c in name)
    return name if plain else "'" + name.replace("'", "''") + "'"
