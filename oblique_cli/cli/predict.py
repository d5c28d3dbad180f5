"""`oblique predict`: predictions of a model for new rows."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import called, note, working
from oblique_cli.cli._own import FileOptions, spare

FORMATS = ("csv", "json", "parquet")


@dataclass(frozen=True)
class Params:
    """Parameters of `oblique predict`."""

    model: str = declare.argument(type=click.Path())
    new: str = declare.argument(type=click.Path())
    proba: bool = declare.flag("--proba", "Also the share of each class.")
    leaf: bool = declare.flag("--leaf", "Also the leaf, as a node number; of a forest the leaf in each tree.")
    sets: bool = declare.flag("--sets", "Also the classes in the set of a model fitted with --coverage.")
    intervals: bool = declare.flag("--intervals", "Also the ends of the interval of a model fitted with --coverage.")
    quantiles: str | None = declare.option(
        "--quantiles",
        metavar="SHARES",
        help="Also quantiles of the target, such as 0.1,0.5,0.9, by the training rows of the leaf; a tree of numbers "
        "that was fitted with --set leaf_residuals=true.",
    )
    abstain: bool = declare.flag("--abstain", "No prediction where the set does not have exactly one class.")
    keep: tuple[str, ...] = declare.option(
        "--keep",
        metavar="COLUMN",
        multiple=True,
        help="A column of NEW to put before the predictions; may be repeated; none keeps none.  [default: identifiers "
        "that fit left out]",
    )
    format_: str = declare.form(FORMATS, "csv", title="Form of the predictions")
    escape: bool = declare.ESCAPE
    output: str | None = declare.OUTPUT
    file: FileOptions = declare.group(FileOptions)


@click.command()
@declare.parameters
def predict(params: Params = declare.group(Params)) -> None:
    """Print what MODEL, a file of oblique fit, predicts for each row of the table NEW, or of standard input for "-".

    NEW must contain the columns of the training table, in any order; other columns are ignored. A missing column or an
    unreadable cell is an error that names the place. A level that did not occur in training counts as no level, and a
    note names it. Rows are processed block by block, so NEW may have any length.

    The output begins with the identifier columns that fit left out, as text, to match predictions with rows;
    --keep selects other columns instead. A selected column with the name of a prediction column, such as "row",
    becomes "input.row".

    A model that was fitted with --coverage returns sets of classes (--sets, labels separated by "|") or intervals
    (--intervals, "low" and "high") that contain the true value for that share of new rows. --abstain leaves the
    prediction empty if the set does not have exactly one class (docs/guarantees.md).

    --quantiles adds columns "q0.1" and so on: quantiles of the training targets in the leaf, shifted by the model of a
    linear leaf. They are no guarantee for new rows (docs/algorithms/tprti.md).

    \b
    Example: oblique predict model.json new.csv --proba --output predictions.csv
             oblique predict model.json new.csv --keep patient --keep visit
             oblique predict model.json new.csv --sets --abstain
             oblique predict model.json new.csv --quantiles 0.1,0.5,0.9
             zcat new.csv.gz | oblique predict model.json - --format json
    """
    from oblique_cli.data import files
    from oblique_cli.models.model import load
    from oblique_cli.models.new_rows import WRITERS, Request, Unseen, identifiers, needs_table, predictions
    from oblique_cli.tree.leaf_quantiles import shares_of

    if params.format_ == "parquet" and params.output is None:
        raise click.UsageError("--format parquet needs --output, the file to write to")
    spare(params.model, params.new)
    fitted = load(params.model)
    needs_table(fitted, params.model)
    unseen, notes = Unseen(), list[str]()
    keep: tuple[str, ...] = ()
    if params.keep != ("none",):
        keep = tuple(dict.fromkeys(params.keep)) or identifiers(fitted, params.new, params.file.text)
    shares = () if params.quantiles is None else tuple(shares_of(params.quantiles.split(",")).tolist())
    request = Request(params.proba, params.leaf, params.sets, params.intervals, params.abstain, shares)
    more: dict[str, Any] = {"unseen": unseen, "keep": keep, "options": params.file.text, "notes": notes}
    blocks = predictions(fitted, params.new, called(params.new), request, **more)
    options = {"escape": params.escape} if params.format_ == "csv" else {}
    # Predictions printed on a terminal show the progress themselves.
    with working(f"predicting {called(params.new)}", quiet=params.output is None and sys.stdout.isatty()):
        sys.stdout.flush()
        with nullcontext(sys.stdout.buffer) if params.output is None else files.written(Path(params.output)) as stream:
            writer = WRITERS[params.format_](stream, fitted, **options)
            for block in blocks:
                writer.add(block)
            writer.close()
        sys.stdout.buffer.flush()
    note(*(f"note: {sentence}" for sentence in [*notes, *unseen.sentences()]))
