"""Properties of a `verify` request, checked against the model."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from oblique_cli.errors import ConfigError, cut, quoted
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.registry import close_matches
from oblique_cli.models.explaining.shapley import checked_rows
from oblique_cli.models.procedure import CLIPPED, SUM, Procedure

SIGNS = {"+": 1, "-": -1}


@dataclass(frozen=True, eq=False)
class Query:
    """Properties by indices of columns."""

    monotone: Mapping[int, int]  # column -> 1 or -1
    never_uses: tuple[int, ...]
    reach: float  # of `rows`, (n, p), or None without rows
    rows: Array | None
    within: Mapping[int, tuple[float, float]]  # column -> (least, most)
    of: int  # code of the class whose share is examined


def query_of(
    procedure: Procedure,
    monotone: Mapping[str, int] | Iterable[str],
    never_uses: Iterable[str],
    robust: float | None,
    rows: ArrayLike | None,
    within: Mapping[str, tuple[float, float]],
    of: str | None,
) -> Query:
    """Return the requested properties; ConfigError for an invalid property, or an empty request."""
    if procedure.coded:
        raise ConfigError(
            f"{procedure.title} cannot be verified: it takes the numbers of a column for levels, which have no order."
        )
    adds_up = procedure.voting == SUM or (procedure.is_forest and procedure.is_regression)
    if adds_up and (monotone or robust is not None):
        raise ConfigError(
            f"{procedure.title} adds up what its trees say, and can only be verified for never_uses; take a tree."
        )
    directions = _directions(procedure, monotone)
    unused = tuple(column_of(procedure, name) for name in never_uses)
    if (robust is None) != (rows is None):
        raise ConfigError("robust and rows go together: how far rows may move, and which rows.")
    if not directions and not unused and robust is None:
        raise ConfigError("there is nothing to verify: say monotone, never_uses or robust.")
    if procedure.voting == CLIPPED and (directions or robust is not None):
        raise ConfigError(
            f"{procedure.title} cuts negative sums of its trees off, and can only be verified for never_uses; take a "
            "tree, or a forest that averages."
        )
    if directions and len(procedure.classes) > 2:
        raise ConfigError(
            f"monotone is about the share of one of two classes, or a number, and {procedure.title} has "
            f"{len(procedure.classes)} classes."
        )
    bounds = {leaf.bounds for tree in procedure.trees for leaf in tree.leaves if leaf and (leaf.terms or leaf.scores)}
    # If all leaves have the same bounds, these preserve the order and equality of the bounded values.
    if len(bounds) > 1 and (directions or procedure.used & set(unused)):
        instead = "leaves constant" if procedure.is_forest else "truncate 'none' or 'all'"
        raise ConfigError(
            f"{procedure.title} has leaves with bounds of their own, which verify does not follow; fit with {instead}."
        )
    if robust is not None:
        if procedure.is_regression:
            raise ConfigError(f"robust is about classes, and {procedure.title} predicts numbers.")
        if not (math.isfinite(robust) and robust > 0.0):
            raise ConfigError(f"robust must be a number above 0. Got {robust!r}.")
    return Query(
        directions,
        unused,
        robust or 0.0,
        None if rows is None else checked_rows(procedure, rows, "rows")[0],
        _within(procedure, within),
        _class(procedure, of, bool(directions)),
    )


def signed_column(text: str, names: Collection[str]) -> tuple[str, int]:
    """Return the column and the sign of "COLUMN", "COLUMN:+" or "COLUMN:-". names : of all columns"""
    name, colon, sign = text.rpartition(":")
    return (name, SIGNS[sign]) if colon and sign in SIGNS and text not in names else (text, 1)


def column_of(procedure: Procedure, name: str) -> int:
    """Return the index of a column; ConfigError for an unknown name."""
    names = [cell.name for cell in procedure.cells]
    if name not in names:
        hint = close_matches(cut(name), names) or f" Its columns: {', '.join(map(cut, names[:20]))}."
        raise ConfigError(f"the model has no column {quoted(name)}.{hint}")
    return names.index(name)


def _directions(procedure: Procedure, monotone: Mapping[str, int] | Iterable[str]) -> dict[int, int]:
    names = {cell.name for cell in procedure.cells}
    directions: dict[int, int] = {}
    of_texts = () if isinstance(monotone, Mapping) else (signed_column(text, names) for text in monotone)
    pairs: Iterable[tuple[str, Any]] = monotone.items() if isinstance(monotone, Mapping) else of_texts
    for name, direction in pairs:
        if direction not in (1, -1):
            raise ConfigError(f"monotone must be 1 or -1 for each column. Got {quoted(direction)} for {quoted(name)}.")
        cell = column_of(procedure, name)
        if procedure.cells[cell].levels:
            raise ConfigError(f"monotone is about numbers, and column {quoted(name)} has levels, which have no order.")
        if directions.get(cell, direction) != direction:
            raise ConfigError(f"monotone has column {quoted(name)} in both directions.")
        directions[cell] = int(direction)
    return directions


def _within(procedure: Procedure, within: Mapping[str, tuple[float, float]]) -> dict[int, tuple[float, float]]:
    bounds = {}
    for name, ends in within.items():
        cell = column_of(procedure, name)
        if procedure.cells[cell].levels:
            raise ConfigError(f"within is about numbers, and column {quoted(name)} has levels.")
        least, most = (float(end) for end in ends)
        if not least < most:
            raise ConfigError(f"within must have a least below the most. Got {least!r} to {most!r} for {quoted(name)}.")
        bounds[cell] = (least, most)
    return bounds


def _class(procedure: Procedure, of: str | None, needed: bool) -> int:
    if of is None:
        return len(procedure.classes) - 1
    if not needed or of not in procedure.classes:
        known = ", ".join(map(cut, procedure.classes[:20]))
        raise ConfigError(
            f"of names the class whose share monotone is about{f', one of {known}' if known else ''}. Got {quoted(of)}."
        )
    return procedure.classes.index(of)
