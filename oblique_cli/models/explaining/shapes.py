"""A model along one column: its partial dependence (Friedman 2001), and the Shapley values of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.importance import ROWS, Affordable, sample
from oblique_cli.models.explaining.shapley import ShapleyValues
from oblique_cli.models.model import Model

POINTS = 25  # per column of numbers, at quantiles of its values, without repetitions
MOST_LEVELS = 12  # per column, the most frequent ones
MOST_OUTPUTS = 4  # classes to follow, the most frequent ones; one of two classes


@dataclass(frozen=True, eq=False)
class Shape:
    """Outputs of a model along a column.

    at, mean (g,) values of the column, and (g, K) the model's output at each, mean over `rows` rows
    cells    (m,) cells of rows, and `shapley`, (m, K), the Shapley value of the column in each; None if not computed
    """

    column: str  # its name
    levels: tuple[str, ...]  # names of the codes in `at` and `cells`, () for numbers
    outputs: tuple[int, ...]  # places of the followed classes, (0,) for a predicted number
    at: Array
    mean: Array
    rows: int
    cells: Array | None = None
    shapley: Array | None = None


def shapes_of(model: Model, X: Array, names: tuple[str, ...], shapley: Affordable | None) -> list[Shape]:
    """Return the shapes of the named columns without constant ones; means are over at most `ROWS` of the rows.

    X : (n, p) training rows; names : of the columns; shapley : of these rows (`affordable_shapley`), or None
    """
    row_index = sample(model, X, ROWS)
    if not len(row_index):
        return []
    outputs = _outputs(model, X[row_index])
    values = None if shapley is None else _followed(model, shapley.values, outputs)
    levels: dict[int, tuple[str, ...]] = {} if model.columns is None else dict(model.columns.levels)
    shapes = []
    for name in names:
        j = model.feature_names.index(name)
        at = _places(X[:, j], j in levels)
        if len(at) < 2:
            continue
        mean = np.empty((len(at), len(outputs)))
        for place, value in enumerate(at.tolist()):
            changed = X[row_index]
            changed[:, j] = value
            mean[place] = _responses(model, changed, outputs).mean(axis=0)
        shape = Shape(name, levels.get(j, ()), outputs, at, mean, len(row_index))
        if shapley is not None and values is not None:
            shape = replace(shape, cells=shapley.values.data[:, j], shapley=values[:, j])
        shapes.append(shape)
    return shapes


def _outputs(model: Model, rows: Array) -> tuple[int, ...]:
    """Return the places of the classes to follow, in order: of two classes the one with fewer rows."""
    if model.task == "regression":
        return (0,)
    counts = model.facts.get("class_counts", {})
    often = np.array([float(counts.get(label, 0)) for label in model.classes])
    order = np.argsort(-often, kind="stable")
    chosen = order[-1:] if len(often) == 2 else order[:MOST_OUTPUTS]
    return tuple(sorted(chosen.tolist()))


def _followed(model: Model, values: ShapleyValues, outputs: tuple[int, ...]) -> Array | None:
    """Return Shapley values of the followed classes, (m, p, K); None if the model scores other classes."""
    if values.output_names is None:
        return np.asarray(values.values)[:, :, None]
    names = list(values.output_names)
    labels = [model.classes[k] for k in outputs]
    if not set(labels) <= set(names):
        return None
    return np.asarray(values.values[:, :, [names.index(label) for label in labels]])


def _places(cells: Array, has_levels: bool) -> Array:
    known = cells[np.isfinite(cells)]
    if not has_levels:
        shares = np.linspace(0.0, 1.0, POINTS)
        return np.unique(np.quantile(known, shares, method="inverted_cdf")) if len(known) else known
    codes, counts = np.unique(known, return_counts=True)
    return np.sort(codes[np.argsort(-counts, kind="stable")[:MOST_LEVELS]])


def _responses(model: Model, rows: Array, outputs: tuple[int, ...]) -> Array:
    """Return class probabilities, else indicators of the predicted class; numbers in regression, (n, K)."""
    if model.task == "regression":
        return np.asarray(model.predict(rows), dtype=np.float64)[:, None]
    try:
        return model.predict_proba(rows)[:, list(outputs)]
    except ConfigError:
        predicted = model.predict(rows)
        classes = np.array(model.classes, dtype=object) if model.has_codes else model.fitted.state["classes_"]
        return np.asarray(predicted[:, None] == classes[list(outputs)], dtype=np.float64)
