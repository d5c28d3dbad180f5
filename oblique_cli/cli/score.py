"""`oblique score`: metrics of a model on rows with known targets."""

from __future__ import annotations

from typing import Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import called, columns, note, working, write, write_json
from oblique_cli.cli._own import FileOptions, spare


@click.command()
@declare.parameters
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
    from oblique_cli.models.model import load
    from oblique_cli.models.new_rows import needs_table

    for name in metrics:
        METRICS[name]  # raises UnknownName before a file is read
    spare(model, test)
    fitted = load(model)
    needs_table(fitted, model)
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
