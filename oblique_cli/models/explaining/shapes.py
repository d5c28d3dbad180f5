"""A model along one column: its partial dependence (Friedman 2001), and the Shapley values of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.importance import ROWS, Affordable, sample
from oblique_cli.models.explaining.shapley import ShapleyValues
from oblique_cli.models.model import Model

MOST_SHAPES = 6  # columns of a page or of a model file
DIGITS = 5  # of numbers in a model file
POINTS = 25  # per column of numbers, at quantiles of its values, without repetitions
MOST_LEVELS = 12  # per column, the most frequent ones
MOST_OUTPUTS = 4  # classes to follow, the most frequent ones; one of two classes


@dataclass(frozen=True, eq=False)
class Shape:
    """Outputs of a model along a column.

    at, mean (g,) values of the column, and (g, K) the model's output at each, mean over `rows` rows
    ends     (2, g, K) the least and the largest of these means among the models of the folds; None if unknown
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
    ends: Array | None = None

    def plain(self) -> dict[str, Any]:
        """Return plain data for a model file, without Shapley values, which belong to single rows."""

        def short(values: Array) -> Any:
            return np.vectorize(lambda value: float(f"{value:.{DIGITS}g}"), otypes=[float])(values).tolist()

        plain: dict[str, Any] = {"column": self.column, "levels": list(self.levels), "outputs": list(self.outputs)}
        plain |= {"at": self.at.tolist(), "mean": short(self.mean), "rows": self.rows}
        return plain if self.ends is None else {**plain, "ends": short(self.ends)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Shape:
        """Return the inverse of `plain`."""
        at, mean = (np.array(plain[key], dtype=np.float64) for key in ("at", "mean"))
        ends = np.array(plain["ends"], dtype=np.float64) if "ends" in plain else None
        outputs, levels = tuple(map(int, plain["outputs"])), tuple(map(str, plain["levels"]))
        return cls(str(plain["column"]), levels, outputs, at, mean, int(plain["rows"]), ends=ends)


def shapes_of(
    model: Model,
    X: Array,
    names: Sequence[str],
    shapley: Affordable | None,
    of_folds: Sequence[Model] = (),
    follow: str | None = None,
) -> list[Shape]:
    """Return the shapes of the named columns without constant ones; means are over at most `ROWS` of the rows.

    X : (n, p) training rows; names : of the columns; shapley : of these rows (`affordable_shapley`), or None
    of_folds : the same kind of model, fitted to other rows, for `Shape.ends`
    follow : label of the only class to follow, instead of the usual choice
    """
    row_index = sample(model, X, ROWS)
    if not len(row_index):
        return []
    outputs = followed(model) if follow is None else (model.classes.index(follow),)
    values = None if shapley is None else _followed(model, shapley.values, outputs)
    levels: dict[int, tuple[str, ...]] = {} if model.columns is None else dict(model.columns.levels)
    shapes = []
    for name in names:
        j = model.feature_names.index(name)
        at = _places(X[:, j], j in levels)
        if len(at) < 2:
            continue
        changed = np.repeat(X[row_index][None], len(at), axis=0)
        changed[:, :, j] = at[:, None]
        means = [
            _responses(each, changed.reshape(-1, X.shape[1]), outputs).reshape(*changed.shape[:2], -1).mean(axis=1)
            for each in (model, *of_folds)
        ]
        shape = Shape(name, levels.get(j, ()), outputs, at, means[0], len(row_index))
        if of_folds:
            shape = replace(shape, ends=np.array([np.min(means[1:], axis=0), np.max(means[1:], axis=0)]))
        if shapley is not None and values is not None:
            shape = replace(shape, cells=shapley.values.data[:, j], shapley=values[:, j])
        shapes.append(shape)
    return shapes


def followed(model: Model) -> tuple[int, ...]:
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
