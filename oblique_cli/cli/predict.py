"""`oblique predict` and `oblique score`: predictions for new rows, and metrics on rows with known targets."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import called, columns, note, working, write, write_json
from oblique_cli.cli._own import FileOptions, loaded

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
        "Also quantiles of the target, such as 0.1,0.5,0.9, by the training rows of the leaf; a tree of numbers "
        "that was fitted with --set leaf_residuals=true.",
        metavar="SHARES",
    )
    abstain: bool = declare.flag("--abstain", "No prediction where the set does not have exactly one class.")
    keep: tuple[str, ...] = declare.option(
        "--keep",
        "A column of NEW to put before the predictions; may be repeated; none keeps none.  [default: identifiers "
        "that fit left out]",
        metavar="COLUMN",
        multiple=True,
    )
    format_: str = declare.form(FORMATS, "csv", title="Form of the predictions")
    escape: bool = declare.ESCAPE
    output: str | None = declare.OUTPUT
    file: FileOptions = declare.group(FileOptions)


@declare.command()
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
    from oblique_cli.models.new_rows import WRITERS, Request, Unseen, identifiers, predictions
    from oblique_cli.tree.leaf_quantiles import shares_of

    if params.format_ == "parquet" and params.output is None:
        raise click.UsageError("--format parquet needs --output, the file to write to")
    fitted = loaded(params.model, params.new)
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


@declare.command()
def score(
    model: str = declare.argument(type=click.Path()),
    test: str = declare.argument(type=click.Path()),
    metrics: tuple[str, ...] = declare.metrics("accuracy and balanced_accuracy, or rmse, mae and r2"),
    format_: str = declare.form(("text", "json")),
    output: str | None = declare.OUTPUT,
    file: FileOptions = declare.group(FileOptions),
) -> None:
    """Compare the predictions of MODEL, a file of oblique fit, for the table TEST ("-": standard input) with its
    target.

    TEST must contain the columns of the training table and the target. Scores on training rows are too optimistic;
    oblique fit prints an estimate for new rows.

    \b
    Example: oblique score model.json test.csv
             oblique score model.json test.csv --metric roc_auc --metric confusion
    """
    from oblique_cli.evaluation.metrics import METRICS
    from oblique_cli.fitting import scoring

    for name in metrics:
        METRICS[name]  # raises UnknownName before a file is read
    fitted = loaded(model, test)
    with working(f"scoring {called(test)}"):
        scores = scoring.score(fitted, test, called(test), metrics, file.text)
    if format_ == "json":
        write_json({"model": model, "rows": scores.rows, "metrics": scores.values}, output)
    else:
        lines = [("rows", str(scores.rows), "")]
        text = ""
        for name, value in scores.values.items():
            if METRICS[name].matrix and not isinstance(value, str):
                text += f"\n{METRICS[name].title}, rows: the class, columns: the prediction\n"
                text += _matrix(value, scores.classes) + "\n"
            else:
                lines.append((str(METRICS[name].title), *_shown(value, str(METRICS[name].unit))))
        write(columns(lines, {1}) + "\n" + text, output)
    note(*(f"note: {sentence}" for sentence in [*scores.notes, *scores.unseen.sentences()]))


def _shown(value: Any, unit: str) -> tuple[str, str]:
    if isinstance(value, str):
        return "-", value
    return (f"{value:.2f}" if unit == "%" else f"{value:.4g}"), unit


def _matrix(counts: Any, classes: tuple[str, ...]) -> str:
    head = ("", *classes)
    rows = [(label, *(f"{count:g}" for count in row)) for label, row in zip(classes, counts, strict=True)]
    return columns([head, *rows], set(range(1, len(head))))
