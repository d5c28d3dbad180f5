"""`oblique explain`: reasons for a model's prediction of one row, and changes that would alter it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import called, working, write, write_json
from oblique_cli.cli._own import FileOptions, spare
from oblique_cli.errors import ConfigError, DataError, cut, quoted

if TYPE_CHECKING:
    from oblique_cli.ground.nouns import TextOptions
    from oblique_cli.models import Model
    from oblique_cli.models.explaining.wording import Shared
    from oblique_cli.models.procedure import Procedure

BLOCK = 16_384  # rows read at once


@dataclass(frozen=True)
class Params:
    """Parameters of `oblique explain`."""

    model: str = declare.argument()
    new: str | None = declare.argument(required=False)
    row: int | None = declare.option(
        "--row", "The row of NEW, from 1 below the header.", type=click.IntRange(1), metavar="N"
    )
    values: tuple[str, ...] = declare.option(
        "--values", "Values of a row; other columns are missing.", multiple=True, metavar="NAME=VALUE,..."
    )
    fix: tuple[str, ...] = declare.option(
        "--fix", "Do not change this column; may be repeated.", multiple=True, metavar="COLUMN"
    )
    to: str | None = declare.option("--to", "The class to reach.  [default: the nearest other one]", metavar="CLASS")
    shap: bool = declare.flag("--shap", "Exact Shapley values as well; of all rows, without --row: importances.")
    background: str | None = declare.option(
        "--background", "Rows to compare with, at most 100.  [default: rows of NEW itself]", metavar="TABLE"
    )
    terms: int = declare.option("--terms", "Columns shown of a sum.", type=click.IntRange(1), default=5)
    format_: str = declare.form(("text", "json"))
    output: str | None = declare.OUTPUT
    file: FileOptions = declare.group(FileOptions)


@declare.command()
def explain(params: Params = declare.group(Params)) -> None:
    """Explain the prediction of MODEL, a file of oblique fit, for one row of the table NEW, or for typed values.

    The output has the splits on the path, the distance of the row from each, the columns with the largest terms, the
    training rows of the leaf, and, for a leaf with a model, the contribution of each column to the log odds. It also
    has the nearest change of the row to another class, in standard deviations of the training columns, verified by
    predicting the changed row. This change is exact; for models with squares or products a lower bound of the distance
    is given. Columns of levels and missing cells stay unchanged (docs/explaining.md).

    --shap adds exact Shapley values, also for forests: the contribution of each column to the difference between the
    prediction and its mean over the rows of --background. Without --row, it prints the mean absolute value of each
    column over all rows of NEW.

    \b
    Example: oblique explain model.json new.csv --row 3
             oblique explain model.json --values age=41,dose=2.5 --fix age
             oblique explain model.json new.csv --row 3 --shap --background train.csv
             oblique explain model.json new.csv --shap
    """
    if (params.new is None) == (not params.values):
        raise click.UsageError("give either a table NEW with --row, or --values")
    if (params.new is None and params.row is not None) or (
        params.new is not None and params.row is None and not params.shap
    ):
        raise click.UsageError("NEW and --row, the number of the row, go together")
    if params.background and not params.shap:
        raise click.UsageError("--background is for --shap; give --shap, or leave it out")
    if params.shap and not params.background and (params.new is None or params.new == "-"):
        raise click.UsageError("--shap compares a row with others; give a table of them, --background FILE")

    from oblique_cli.models import load
    from oblique_cli.models.explaining import explain as explained
    from oblique_cli.models.explaining import wording as report
    from oblique_cli.models.new_rows import needs_table
    from oblique_cli.models.procedure import procedure_of

    spare(params.model, params.new, params.background)
    fitted = load(params.model)
    procedure = procedure_of(fitted)
    needs_table(fitted, params.model)
    explanation, shared = None, None
    with working(f"reading {called(params.new)}" if params.new else "reading the row") as progress:
        if params.new is not None and params.row is not None:
            title = f"row {params.row} of {called(params.new)}"
            cells = _row_of(fitted, params.new, params.row, params.file.text)
        elif params.new is not None:
            cells, title = None, f"the rows of {called(params.new)}"
        else:
            cells, title = _typed(fitted, params.values), "the row"
        if cells is not None and not (params.shap and procedure.is_forest):
            progress.doing("looking for the nearest change")
            explanation = explained(fitted, cells, fix=params.fix, to=params.to)
        if params.shap and (explanation is None or explanation.predicted is not None):
            progress.doing("adding up coalitions")
            shared = _shared(fitted, procedure, cells, params.new, params.background, params.file.text)
    if params.format_ == "json":
        plain = report.plain_of(explanation, procedure) if explanation else {}
        document = {"model": params.model, "row": params.row, **plain}
        if shared:
            document["shapley"] = report.shapley_plain(shared)
        write_json(document, params.output)
        return
    texts = [report.text_of(explanation, procedure, title, params.terms)] if explanation else []
    if shared and cells is None:
        texts.append(report.importance_text(shared, title))
    elif shared:
        heading = f"{title}: {'class ' if shared.predicted else ''}{shared.predicted or 'a number'}\n\n"
        texts.append(("" if explanation else heading) + report.shapley_text(shared, params.terms))
    write("\n".join(texts), params.output)


MOST_BACKGROUND = 100  # rows of the background


def _shared(
    model: Model, procedure: Procedure, cells: Any, new: str | None, background: str | None, options: TextOptions
) -> Shared:
    """Return the Shapley values of a row, or of all rows of the table if `cells` is None."""
    import os

    from oblique_cli.models.explaining.explanation import shown
    from oblique_cli.models.explaining.shapley import output_of, shapley_values
    from oblique_cli.models.explaining.wording import Shared

    table = str(background or new)
    others = _complete(model, procedure, table, options)
    some = others[:: max(1, -(-len(others) // MOST_BACKGROUND))]
    if cells is not None:
        rows = cells[None]
    else:
        rows = others if table == new else _complete(model, procedure, str(new), options)
    if not len(rows):
        raise DataError(f"{called(str(new))}: no row has all that the model needs.")
    values = shapley_values(model, rows, some, n_threads=os.cpu_count() or 1)
    against = f"{len(some)} rows of {called(table)}"
    if cells is None:
        return Shared(values, output_of(procedure), against)
    predicted = "" if procedure.is_regression else str(model.predict(rows)[0])
    row_values = tuple(shown(procedure, j, cells) for j in range(len(cells)))
    return Shared(values, output_of(procedure), against, predicted, row_values)


def _complete(model: Model, procedure: Procedure, table: str, options: TextOptions) -> Any:
    """Return the rows of a table without missing numbers that the model needs."""
    import numpy as np

    rows = np.concatenate([np.empty((0, len(procedure.cells))), *_blocks(model, table, options)])
    needed = list(procedure.needed)
    return rows[~np.isnan(rows[:, needed]).any(axis=1)]


def _blocks(model: Model, table: str, options: TextOptions) -> Iterator[Any]:
    """Yield the rows of a table as arrays of cells."""
    from oblique_cli.data.own.front import chunks
    from oblique_cli.models.new_rows import unused_columns

    for chunk in chunks(table, model.columns, BLOCK, options=options, unused=lambda: unused_columns(model)):
        yield chunk.X


def _row_of(model: Model, table: str, number: int, options: TextOptions) -> Any:
    before = 0
    for block in _blocks(model, table, options):
        if number <= before + len(block):
            return block[number - before - 1]
        before += len(block)
    raise DataError(f"{called(table)}: there is no row {number}; the table has {before} rows below its header.")


def _typed(model: Model, texts: tuple[str, ...]) -> Any:
    """Return a row from "name=value,name=value": a comma ends a value if a column name and "=" follow."""
    from oblique_cli.data.own.front import chunks
    from oblique_cli.data.own.source import Source
    from oblique_cli.ground.registry import close_matches

    names = model.columns.feature_names
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    values: dict[str, str] = {}
    for text in texts:
        for piece in re.split(rf",\s*(?=(?:{known})=)", text):
            match = re.match(rf"({known})=", piece)
            if match is None:
                typed_name = piece.partition("=")[0]
                hint = close_matches(cut(typed_name), names) or f" Its columns: {', '.join(map(cut, names[:20]))}."
                raise ConfigError(
                    f"--values must be NAME=VALUE, with names of the model's columns. Got {quoted(piece)}.{hint}"
                )
            if (name := match[1]) in values:
                raise ConfigError(f"--values names {quoted(name)} twice.")
            values[name] = piece[match.end() :]
    content = io.StringIO()
    writer = csv.writer(content, delimiter=model.columns.delimiter)
    # Add a column with an unused name, since an empty line would not count as a row.
    writer.writerows([[*names, "".join(names) + "+"], [*(values.get(name, "") for name in names), "+"]])
    (chunk,) = chunks(Source("--values", content=content.getvalue().encode()), model.columns)
    return chunk.X[0]
