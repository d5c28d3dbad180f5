"""Scores of a model on rows with known targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.evaluation import metrics
from oblique_cli.evaluation.metrics import MODEL, PROBABILITIES, ROW, Scored, Undefined
from oblique_cli.ground.nouns import NO_OPTIONS, TextOptions
from oblique_cli.models.model import Model
from oblique_cli.models.new_rows import Request, Unseen, predictions

if TYPE_CHECKING:
    from oblique_cli.data.own.front import Chunk


@dataclass(frozen=True, eq=False)
class Score:
    """Values of metrics on `rows` rows, by name; an undefined value is a text with the reason.

    classes : those of the model, and unknown classes of the rows
    """

    rows: int
    values: dict[str, Any]
    unseen: Unseen
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def names(metric_names: Sequence[str], model: Model) -> tuple[str, ...]:
    """Return the metrics to compute. Raise ConfigError for an unknown metric, another task's, or one of runs only."""
    chosen = metrics.chosen(metric_names or metrics.SCORED[model.task], model.task, "oblique score", matrices=True)
    for name in chosen:
        if metrics.METRICS[name].needs == ROW:
            raise ConfigError(f"metric {name} is of a fold of a run, not of predictions; leave it out.")
    return chosen


def score(
    model: Model, source: Any, where: str, metric_names: Sequence[str] = (), options: TextOptions = NO_OPTIONS
) -> Score:
    """Compare the predictions for a table with its target column.

    source : a path, "-" for standard input, or a `Source`; where : start of error messages; metric_names : metrics;
    options : format of the table
    In metrics of predicted labels, a row with an unknown class is an error. Raise DataError, with the line, for
    a row with a missing target.
    """
    wanted = [metrics.METRICS[name] for name in names(metric_names, model)]
    shares = any(metric.needs == PROBABILITIES for metric in wanted)
    keeps_rows = any(metric.needs == MODEL for metric in wanted)
    unseen, ys, predicted, probabilities, rows = Unseen(), [], [], [], []
    notes: list[str] = []
    code = {label: k for k, label in enumerate(model.classes)}
    unknown: Counter[str] = Counter()  # rows of classes that the model does not have
    request = Request(proba=shares)
    for some in predictions(model, source, where, request, unseen=unseen, options=options, notes=notes):
        if not len(some.labels):
            break
        ys.append(_answers(model, some.chunk, where, unknown))
        if model.task == "regression":
            predicted.append(some.labels)
        else:
            predicted.append(np.fromiter((code[label] for label in some.labels), np.int32, len(some.labels)))
        if some.shares is not None:
            probabilities.append(some.shares)
        if keeps_rows:
            rows.append(model.encoded(some.chunk.X))
    if not ys:
        raise DataError(f"{where}: there are no rows below the header")
    y = np.concatenate(ys)
    if model.task == "regression" and not np.isfinite(np.concatenate(predicted)).all():
        raise DataError(f"{where}: the model's predictions are not finite.")

    def shares_of_known() -> Any:
        if unknown:
            raise Undefined(f"{unknown.total()} rows have a class that the model does not know")
        return np.concatenate(probabilities)

    scored = Scored(
        y,
        np.concatenate(predicted),
        len(model.classes) + len(unknown),
        shares_of_known,
        model.estimator if keeps_rows else None,
        np.concatenate(rows) if keeps_rows else np.zeros((len(y), 0)),
    )
    values = metrics.measure((), scored, wanted)
    if unknown:
        shown = ", ".join(map(quoted, list(unknown)[:5])) + (", ..." if len(unknown) > 5 else "")
        count = unknown.total()
        notes.append(
            f"{count} row{' has a class' if count == 1 else 's have classes'} that the model does not know ({shown}); "
            f"{'it counts as an error' if count == 1 else 'they count as errors'}."
        )
    return Score(len(y), values, unseen, (*model.classes, *unknown), tuple(notes))


def _answers(model: Model, chunk: Chunk, where: str, unknown: Counter[str]) -> Any:
    """Return the checked targets of some rows. unknown : counter for rows of classes that the model does not have"""
    target = model.columns.target
    if chunk.y is None:
        raise DataError(
            f"{where}: there is no column {quoted(target)}, the target; use oblique predict for rows without it."
        )
    y = chunk.y
    if model.task == "classification" and (y < 0).any():
        y, codes = y.copy(), {label: len(model.classes) + k for k, label in enumerate(unknown)}
        for i in np.flatnonzero(y < 0):
            if (label := chunk.labels[i]) and label.lower() not in model.columns.missing:
                unknown[label] += 1
                y[i] = codes.setdefault(label, len(model.classes) + len(codes))
    bad = np.isnan(y) if model.task == "regression" else y < 0
    if bad.any():
        line = chunk.lines[int(np.flatnonzero(bad)[0])]
        raise DataError(f"{where}: line {line}: the target {quoted(target)} is missing; leave the row out.")
    return y
