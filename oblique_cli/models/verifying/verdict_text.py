"""A verification in words, and as plain data."""

from __future__ import annotations

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

MOST_ROWS = 5  # counterexamples of rows that are shown
SAID = {PROVED: "PROVED", REFUTED: "REFUTED", UNDECIDED: "UNDECIDED"}


def text_of(found: Verification, first_row: int = 1) -> str:
    """Return a verification as lines. first_row : the number of the first of its rows"""
    lines: list[str] = []
    for verdict in found.verdicts:
        if verdict.kind != ROBUST:
            lines.append(f"{SAID[verdict.outcome]}  {_property(found, verdict)}{_because(verdict)}")
            lines += _shown(found, verdict)
    rows = [verdict for verdict in found.verdicts if verdict.kind == ROBUST]
    if rows:
        counts = {outcome: sum(row.outcome == outcome for row in rows) for outcome in SAID}
        outcome = next((one for one in (REFUTED, UNDECIDED) if counts[one]), PROVED)
        lines.append(
            f"{SAID[outcome]}  rows keep their class within {found.reach:g} {found.unit} of each number: "
            f"{counts[PROVED]} of {len(rows)} do, {counts[REFUTED]} do not"
            + (f", {counts[UNDECIDED]} are undecided" if counts[UNDECIDED] else "")
        )
        broken = [row for row in rows if row.outcome == REFUTED]
        for row in broken[:MOST_ROWS]:
            lines.append(f"    row {row.row + first_row}:")
            lines += _shown(found, row)
        if len(broken) > MOST_ROWS:
            lines.append(f"    {len(broken) - MOST_ROWS} more rows: --format json has them all")
    lines += _domain(found)
    return "\n".join(lines) + "\n"


def plain_of(found: Verification, first_row: int = 1) -> dict[str, Any]:
    """Return a verification as plain data."""
    properties = []
    for verdict in found.verdicts:
        one: dict[str, Any] = {"property": verdict.kind}
        if verdict.kind == ROBUST:
            one |= {"row": verdict.row + first_row, "reach": found.reach, "unit": found.unit}
        else:
            one["column"] = verdict.column
        if verdict.kind == MONOTONE:
            one |= {"direction": verdict.direction, "of": found.of}
        one |= {"outcome": verdict.outcome, "pairs": verdict.pairs, "programs": verdict.programs}
        if verdict.why:
            one["why"] = verdict.why
        if (shown := verdict.counterexample) is not None:
            one["counterexample"] = {
                "row": _cells(found, shown.row),
                "changed": _cells(found, shown.changed),
                "before": shown.before,
                "after": shown.after,
                **({} if found.is_regression else {"of": shown.of, "shares": list(shown.shares)}),
                "replayed": shown.replayed,
            }
        properties.append(one)
    within = {name: list(ends) for name, ends in found.within.items()}
    return {"holds": found.holds, "within": within, "gaps": list(found.gaps), "properties": properties}


def _property(found: Verification, verdict: Verdict) -> str:
    if verdict.kind == NEVER_USES:
        return f"no answer changes with {verdict.column}"
    assert verdict.kind == MONOTONE
    what = found.of if found.is_regression else f"the share of class {found.of}"
    return f"{what} never {'falls' if verdict.direction > 0 else 'rises'} as {verdict.column} grows"


def _because(verdict: Verdict) -> str:
    if verdict.why:
        return f": {verdict.why}"
    if verdict.outcome == PROVED:
        return f" ({verdict.pairs} pairs of leaves, {verdict.programs} programs)"
    return ""


def _shown(found: Verification, verdict: Verdict) -> list[str]:
    shown = verdict.counterexample
    if shown is None:
        return []
    before, after = _cells(found, shown.row), _cells(found, shown.changed)
    moved = [name for name in before if before[name] != after[name]]
    held = [f"{name}={_said(value)}" for name, value in before.items() if name not in moved]
    lines = [f"    {name} from {_said(before[name])} to {_said(after[name])}" for name in moved]
    if verdict.kind != ROBUST and held:
        lines.append(f"    at {', '.join(held)}")
    return [*lines, f"    {_answers(found, shown)}; replayed by {shown.replayed}"]


def _answers(found: Verification, shown: Counterexample) -> str:
    before, after = (f"{share:.4g}" for share in shown.shares)
    if before == after:
        before, after = map(repr, shown.shares)
    if found.is_regression:
        return f"{found.of} from {before} to {after}"
    shares = f"the share of {shown.of} from {before} to {after}"
    if shown.before == shown.after:
        return f"class {shown.before} stays, {shares}"
    return f"class {shown.before} becomes {shown.after}, {shares}"


def _cells(found: Verification, row: Any) -> dict[str, Any]:
    """Cells of the columns that the model takes, as the user has them."""
    cells: dict[str, Any] = {}
    for j, name in enumerate(found.columns):
        if j not in found.used:
            continue
        value = float(row[j])
        if value != value:
            cells[name] = None
        elif j in found.levels:
            levels = found.levels[j]
            cells[name] = levels[int(value)] if value < len(levels) else "a level never seen"
        else:
            cells[name] = value
    return cells


def _said(value: Any) -> str:
    if value is None:
        return "missing"
    return str(value) if isinstance(value, str) else np.format_float_positional(value, trim="-", unique=True)


def _domain(found: Verification) -> list[str]:
    lines = []
    if found.within:
        ends = ", ".join(f"{name} from {least:g} to {most:g}" for name, (least, most) in found.within.items())
        lines.append(f"Rows that were asked for: {ends}; other numbers without bounds.")
    else:
        lines.append("All rows were asked for, numbers without bounds; --within COLUMN=LEAST:MOST asks for fewer.")
    if found.gaps:
        lines.append(f"Rows without a number in {', '.join(found.gaps)} have answers too, of which nothing is said.")
    return lines
