"""How well a model does on rows with known answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.evaluation import metrics
from oblique_cli.evaluation.metrics import MODEL, PROBABILITIES, ROW, Scored, Undefined
from oblique_cli.models.model import Model
from oblique_cli.models.new_rows import Asked, Unseen, predictions

if TYPE_CHECKING:
    from oblique_cli.data.own.front import Chunk


@dataclass(frozen=True, eq=False)
class Score:
    """Values of metrics on `rows` rows, by name; a text with the reason where one is undefined."""

    rows: int
    values: dict[str, Any]
    unseen: Unseen


def names(asked: Sequence[str], model: Model) -> tuple[str, ...]:
    """Return the metrics to compute. ConfigError for one that is unknown, for another task, or of a run alone."""
    chosen = metrics.chosen(asked or metrics.SCORED[model.task], model.task, "oblique score", matrices=True)
    for name in chosen:
        if metrics.METRICS[name].needs == ROW:
            raise ConfigError(f"metric {name} is of a fold of a run, not of predictions; leave it out.")
    return chosen


def score(model: Model, source: Any, where: str, asked: Sequence[str] = ()) -> Score:
    """Compare the predictions for a table with its target column.

    source : a path, "-" for standard input, or a `Source`; where : what messages begin with; asked : names of metrics
    DataError, with the line, for a row whose target is missing or no class of the model
    """
    wanted = [metrics.METRICS[name] for name in names(asked, model)]
    shares = any(metric.needs == PROBABILITIES for metric in wanted)
    keeps_rows = any(metric.needs == MODEL for metric in wanted)
    unseen, ys, predicted, probabilities, rows = Unseen(), [], [], [], []
    code = {label: k for k, label in enumerate(model.classes)}
    for some in predictions(model, source, where, Asked(proba=shares), unseen=unseen):
        if not len(some.labels):
            break
        ys.append(_answers(model, some.chunk, where))
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
    found = Scored(
        y,
        np.concatenate(predicted),
        len(model.classes),
        lambda: np.concatenate(probabilities),
        model.estimator if keeps_rows else None,
        np.concatenate(rows) if keeps_rows else np.zeros((len(y), 0)),
    )
    values: dict[str, Any] = {}
    for metric in wanted:
        try:
            values[metric.name] = metric.evaluate(found)
        except Undefined as reason:
            values[metric.name] = f"{metrics.UNDEFINED}{reason}"
    return Score(len(y), values, unseen)


def _answers(model: Model, chunk: Chunk, where: str) -> Any:
    """The target of some rows, checked."""
    target = model.columns.target
    if chunk.y is None:
        raise DataError(
            f"{where}: there is no column {quoted(target)}, the target; use oblique predict for rows without it."
        )
    bad = np.isnan(chunk.y) if model.task == "regression" else chunk.y < 0
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        label = chunk.labels[i]
        known = ", ".join(map(quoted, model.classes[:10])) + (", ..." if len(model.classes) > 10 else "")
        is_label = label and model.task == "classification" and label.lower() not in model.columns.missing
        what = f"is {quoted(label)}, which is no class of the model ({known})" if is_label else "is missing"
        raise DataError(f"{where}: line {chunk.lines[i]}: the target {quoted(target)} {what}; leave the row out.")
    return chunk.y
