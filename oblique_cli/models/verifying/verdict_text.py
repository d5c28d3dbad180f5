"""A verification in words, and as plain data."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from oblique_cli.models.verifying.verification import (
    MONOTONE,
    NEVER_USES,
    PROVED,
    REFUTED,
    ROBUST,
    UNDECIDED,
    Counterexample,
    Verdict,
    Verification,
)

MOST_ROWS = 5  # counterexamples to show


def text_of(verification: Verification, first_row: int = 1) -> str:
    """Return a verification as lines. first_row : the number of its first row"""
    lines: list[str] = []
    for verdict in verification.verdicts:
        if verdict.kind != ROBUST:
            because = f" ({verdict.pairs} pairs of leaves, {verdict.programs} programs)"
            because = f": {verdict.why}" if verdict.why else because if verdict.outcome == PROVED else ""
            lines.append(f"{verdict.outcome.upper()}  {_property(verification, verdict)}{because}")
            lines += _shown(verification, verdict)
    rows = [verdict for verdict in verification.verdicts if verdict.kind == ROBUST]
    if rows:
        counts = Counter(row.outcome for row in rows)
        outcome = next((candidate for candidate in (REFUTED, UNDECIDED) if counts[candidate]), PROVED)
        lines.append(
            f"{outcome.upper()}  rows keep their class within {verification.reach:g} {verification.unit} of each "
            f"number: {counts[PROVED]} of {len(rows)} do, {counts[REFUTED]} do not"
            + (f", {counts[UNDECIDED]} are undecided" if counts[UNDECIDED] else "")
        )
        broken = [row for row in rows if row.outcome == REFUTED]
        for row in broken[:MOST_ROWS]:
            lines.append(f"    row {row.row + first_row}:")
            lines += _shown(verification, row)
        if len(broken) > MOST_ROWS:
            lines.append(f"    {len(broken) - MOST_ROWS} more rows: --format json has them all")
    ends = ", ".join(f"{name} from {least:g} to {most:g}" for name, (least, most) in verification.within.items())
    everything = "All rows were asked for, numbers without bounds; --within COLUMN=LEAST:MOST asks for fewer."
    lines.append(f"Rows that were asked for: {ends}; other numbers without bounds." if ends else everything)
    if gaps := ", ".join(verification.gaps):
        lines.append(f"Rows without a number in {gaps} have answers too, of which nothing is said.")
    return "\n".join(lines) + "\n"


def plain_of(verification: Verification, first_row: int = 1) -> dict[str, Any]:
    """Return a verification as plain data."""
    properties = []
    for verdict in verification.verdicts:
        entry: dict[str, Any] = {"property": verdict.kind}
        if verdict.kind == ROBUST:
            entry |= {"row": verdict.row + first_row, "reach": verification.reach, "unit": verification.unit}
        else:
            entry["column"] = verdict.column
        if verdict.kind == MONOTONE:
            entry |= {"direction": verdict.direction, "of": verification.of}
        entry |= {"outcome": verdict.outcome, "pairs": verdict.pairs, "programs": verdict.programs}
        if verdict.why:
            entry["why"] = verdict.why
        if (shown := verdict.counterexample) is not None:
            entry["counterexample"] = {
                "row": _cells(verification, shown.row),
                "changed": _cells(verification, shown.changed),
                "before": shown.before,
                "after": shown.after,
                **({} if verification.is_regression else {"of": shown.of, "shares": list(shown.shares)}),
                "replayed": shown.replayed,
            }
        properties.append(entry)
    within = {name: list(ends) for name, ends in verification.within.items()}
    return {"holds": verification.holds, "within": within, "gaps": list(verification.gaps), "properties": properties}


def _property(verification: Verification, verdict: Verdict) -> str:
    if verdict.kind == NEVER_USES:
        return f"no answer changes with {verdict.column}"
    what = verification.of if verification.is_regression else f"the share of class {verification.of}"
    return f"{what} never {'falls' if verdict.direction > 0 else 'rises'} as {verdict.column} grows"


def _shown(verification: Verification, verdict: Verdict) -> list[str]:
    shown = verdict.counterexample
    if shown is None:
        return []
    before, after = _cells(verification, shown.row), _cells(verification, shown.changed)
    moved = [name for name in before if before[name] != after[name]]
    held = [f"{name}={_value_text(value)}" for name, value in before.items() if name not in moved]
    lines = [f"    {name} from {_value_text(before[name])} to {_value_text(after[name])}" for name in moved]
    if verdict.kind != ROBUST and held:
        lines.append(f"    at {', '.join(held)}")
    return [*lines, f"    {_answers(verification, shown)}; replayed by {shown.replayed}"]


def _answers(verification: Verification, shown: Counterexample) -> str:
    before, after = (f"{share:.4g}" for share in shown.shares)
    if before == after:
        before, after = map(repr, shown.shares)
    if verification.is_regression:
        return f"{verification.of} from {before} to {after}"
    shares = f"the share of {shown.of} from {before} to {after}"
    if shown.before == shown.after:
        return f"class {shown.before} stays, {shares}"
    return f"class {shown.before} becomes {shown.after}, {shares}"


def _cells(verification: Verification, row: Any) -> dict[str, Any]:
    """Return cells of the columns that the model uses, in the user's units."""
    cells: dict[str, Any] = {}
    for j, name in enumerate(verification.columns):
        if j in verification.used:
            value, levels = float(row[j]), verification.levels.get(j, ())
            cells[name] = None if value != value else value
            if levels and value == value:
                cells[name] = levels[int(value)] if value < len(levels) else "a level never seen"
    return cells


def _value_text(value: Any) -> str:
    if value is None:
        return "missing"
    return str(value) if isinstance(value, str) else np.format_float_positional(value, trim="-", unique=True)
