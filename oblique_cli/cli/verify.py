"""`oblique verify`: properties of a model, proved for all rows or refuted by a counterexample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import called, note, working, write, write_json
from oblique_cli.cli._own import loaded
from oblique_cli.errors import EXIT_REFUTED, ConfigError, DataError, quoted

if TYPE_CHECKING:
    from oblique_cli.models import Model

BLOCK = 16_384  # rows read at once


@declare.command()
def verify(
    model: str = declare.argument(),
    monotone: tuple[str, ...] = declare.option(
        "--monotone", "The prediction only rises, or falls, with it.", multiple=True, metavar="COLUMN[:+|-]"
    ),
    of: str | None = declare.option(
        "--of", "The class whose share --monotone is about.  [default: the last one]", metavar="CLASS"
    ),
    never_uses: tuple[str, ...] = declare.option(
        "--never-uses", "No prediction depends on this column.", multiple=True, metavar="COLUMN"
    ),
    robust: float | None = declare.option(
        "--robust", "Rows keep their class within it.", type=declare.NumberRange(0, min_open=True), metavar="REACH"
    ),
    rows: str | None = declare.option("--rows", "The rows of --robust.", metavar="TABLE"),
    within: tuple[str, ...] = declare.option(
        "--within", "Only rows with numbers in this range.", multiple=True, metavar="COLUMN=LEAST:MOST"
    ),
    format_: str = declare.form(("text", "json")),
    output: str | None = declare.OUTPUT,
) -> None:
    """Prove properties of MODEL, a file of oblique fit, for all rows, or show a row for which they do not hold.

    --monotone COLUMN: the share of a class (of two), or the predicted number, never decreases in the column; with :- it
    never increases. --never-uses COLUMN: no prediction changes with the column. --robust REACH: each row of --rows
    keeps its class if every number changes by at most REACH standard deviations of the training rows. Options may be
    repeated and combined. Linear programs over pairs of leaves decide trees exactly; a forest may remain undecided.
    Every counterexample is predicted again, also by the exported C if there is a compiler. The exit code is 7 if a
    property is refuted or undecided (docs/guarantees.md).

    \b
    Example: oblique verify model.json --monotone age --monotone dose:- --within age=0:120
             oblique verify model.json --never-uses sex
             oblique verify model.json --robust 0.1 --rows new.csv --format json
    """
    if not (monotone or never_uses or robust is not None):
        raise click.UsageError("say what to verify: --monotone, --never-uses or --robust")
    if (robust is None) != (rows is None):
        raise click.UsageError("--robust and --rows go together: how far rows may move, and which rows")

    from oblique_cli.models.verifying import verify as verified
    from oblique_cli.models.verifying.verdict_text import plain_of, text_of
    from oblique_cli.models.verifying.verification import PROVED

    fitted = loaded(model, rows)
    with working("looking for a counterexample"):
        verification = verified(
            fitted,
            monotone=monotone,
            never_uses=never_uses,
            robust=robust,
            rows=None if rows is None else _rows(fitted, rows),
            within=dict(map(_range, within)),
            of=of,
        )
    if format_ == "json":
        write_json({"model": model, **plain_of(verification)}, output)
    else:
        write(text_of(verification), output)
    if not verification.holds:
        outcomes = [verdict.outcome for verdict in verification.verdicts if verdict.outcome != PROVED]
        counts = " and ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in dict.fromkeys(outcomes))
        note(f"of {len(verification.verdicts)} properties {counts}.")
        raise SystemExit(EXIT_REFUTED)


def _range(text: str) -> tuple[str, tuple[float, float]]:
    name, _, ends = text.rpartition("=")
    least, colon, most = ends.partition(":")
    try:
        if name and colon:
            return name, (float(least), float(most))
    except ValueError:
        pass
    raise ConfigError(f"--within must be COLUMN=LEAST:MOST, such as age=0:120. Got {quoted(text)}.")


def _rows(model: Model, table: str) -> Any:
    """Return the rows of a table; raise DataError, with its place, for a missing number that the model needs."""
    import numpy as np

    from oblique_cli.data.own.front import chunks
    from oblique_cli.models.procedure import procedure_of

    procedure = procedure_of(model)
    empty = np.empty((0, len(procedure.cells)))
    rows = np.concatenate([empty, *(chunk.X for chunk in chunks(table, model.columns, BLOCK))])
    needed = list(procedure.needed)
    lacking = np.flatnonzero(np.isnan(rows[:, needed]).any(axis=1))
    if lacking.size:
        column = next(j for j in needed if np.isnan(rows[lacking[0], j]))
        raise DataError(
            f"{called(table)}: row {lacking[0] + 1} has no {quoted(procedure.cells[column].name)}, and the model takes "
            "no missing values; leave the row out."
        )
    return rows
