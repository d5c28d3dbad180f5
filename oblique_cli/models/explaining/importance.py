"""Global importances of columns: by exact Shapley values where that is cheap, else by what splits or errors say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oblique_cli.errors import ConfigError, cut
from oblique_cli.ground import seeds
from oblique_cli.models.explaining.games import PROBABILITY, SCORE, VALUE
from oblique_cli.models.explaining.shapley import ShapleyValues, mean_sizes, output_of, shapley_values
from oblique_cli.models.model import Model
from oblique_cli.models.procedure import columns_of, procedure_of

Array = NDArray[np.float64]

ROWS, BACKGROUND = 100, 50  # rows that are told apart, and those that they are compared with
LOOKS = 20  # rows that are looked at for each of these
MOST_CELLS = 200_000  # nodes times classes of a model: a second
STEPS = 1 << 23  # of all rows in all trees together: a second
MOST_KEPT = 100  # columns of a model file, the most important ones
MOST_SHUFFLED = 200  # columns whose cells are exchanged one after the other
SHAPLEY, IMPURITY, PERMUTATION = "shapley", "impurity", "permutation"
OUTPUTS = {PROBABILITY: "probability", SCORE: "log odds", VALUE: "predicted number"}


@dataclass(frozen=True)
class Importances:
    """Importances of the columns of a model."""

    by: str  # SHAPLEY, IMPURITY or PERMUTATION
    values: Mapping[str, float]  # column -> importance, the largest first, at most `MOST_KEPT`
    output: str = ""  # of SHAPLEY: what is explained, one of OUTPUTS
    rows: int = 0  # how many it is of; 0 of IMPURITY
    background: int = 0

    @property
    def description(self) -> str:
        """Description of the numbers, as the beginning of a sentence."""
        if self.by == SHAPLEY:
            return f"mean |Shapley value| of the {OUTPUTS[self.output]}, {self.rows} rows against {self.background}"
        if self.by == IMPURITY:
            return "share of the fall of impurity by splits"
        return f"what is lost on {self.rows} training rows when the cells of the column are exchanged"

    def sentence(self, most: int = 6) -> str:
        """Return the largest of them in a sentence. most : columns that are named"""
        shown = [f"{cut(name)} {value:.3g}" for name, value in list(self.values.items())[:most]]
        left = len(self.values) - most
        return f"Importance ({self.description}): {', '.join(shown)}{f' and {left} smaller' if left > 0 else ''}."

    def plain(self) -> dict[str, Any]:
        """Return what a model file and JSON hold."""
        how = {"output": self.output, "rows": self.rows, "background": self.background}
        return {"by": self.by, **{key: value for key, value in how.items() if value}, "values": dict(self.values)}

    @classmethod
    def from_plain(cls, plain: Any) -> Importances | None:
        """Return the inverse of `plain`; None for anything else, such as the facts of an older model file."""
        try:
            values = {str(name): float(value) for name, value in plain["values"].items()}
            counts = [int(plain.get(key, 0)) for key in ("rows", "background")]
            importances = cls(str(plain["by"]), values, str(plain.get("output", "")), *counts)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return None
        known = (
            importances.output in OUTPUTS if importances.by == SHAPLEY else importances.by in (IMPURITY, PERMUTATION)
        )
        return importances if known and np.isfinite(list(values.values())).all() else None


def sample(model: Model, X: Array, most: int) -> NDArray[np.intp]:
    """Return the indices of rows to predict: at most `most`, evenly over those that have every number it needs.

    X : (n, p). Of a long table only so many rows are looked at that gaps in all but a few of them do not matter.
    """
    needed = [j for j in range(X.shape[1]) if j not in model.may_be_empty]
    looked_at = np.arange(0, len(X), max(1, len(X) // (LOOKS * most)))
    able = looked_at[~np.isnan(X[looked_at][:, needed]).any(axis=1)]
    return able if len(able) <= most else able[np.linspace(0, len(able) - 1, most).round().astype(np.intp)]


@dataclass(frozen=True, eq=False)
class Affordable:
    """Exact Shapley values of some training rows. output : one of OUTPUTS; background : rows they are compared with"""

    values: ShapleyValues
    output: str
    background: int


def affordable_shapley(model: Model, X: ArrayLike) -> Affordable | None:
    """Return the Shapley values of at most `ROWS` of the rows against at most `BACKGROUND` of them.

    None for a model that has none, that is too large to take apart (`MOST_CELLS`), or whose planes have so many columns
    that `STEPS` do not suffice: the work is counted, so the answer is the same on any machine.
    """
    size = getattr(model.estimator, "n_nodes_", 0) * max(len(model.classes), 1)
    if size > MOST_CELLS:
        return None
    rows = np.asarray(X, dtype=np.float64)
    sampled, others = rows[sample(model, rows, ROWS)], rows[sample(model, rows, BACKGROUND)]
    try:
        procedure = procedure_of(model)
        steps = STEPS // (max(len(sampled), 1) * len(procedure.trees))
        values = shapley_values(model, sampled, others, n_threads=1, most_steps=steps)
        return Affordable(values, output_of(procedure), len(others))
    except ConfigError:
        return None


def importances_of(
    model: Model, X: ArrayLike, y: NDArray[Any] | None = None, shapley: Affordable | None = None
) -> Importances | None:
    """Return the importance of each column, by the first of these methods that is possible.

    The mean |Shapley value| over rows and classes (`affordable_shapley`), the columns' shares in the fall of impurity
    by the splits, and what is lost on training rows when the cells of a column are exchanged.

    X : (n, p) training rows as `Model.predict` takes them; y : (n,) their codes, or numbers; shapley : if it is known
    None where there is none of them.
    """
    affordable = shapley or affordable_shapley(model, X)
    if affordable is not None:
        values = affordable.values.values
        return _ranked(SHAPLEY, model, mean_sizes(values), affordable.output, len(values), affordable.background)
    impurity_shares = getattr(model.estimator, "feature_importances_", None)
    if impurity_shares is not None:
        sizes = np.zeros(len(model.feature_names))
        np.add.at(sizes, [cell for cell, _ in columns_of(model)], impurity_shares)
        return _ranked(IMPURITY, model, sizes)
    if y is None or len(model.feature_names) > MOST_SHUFFLED:
        return None
    return _by_exchange(model, np.asarray(X, dtype=np.float64), y)


def _ranked(by: str, model: Model, sizes: Array, output: str = "", rows: int = 0, background: int = 0) -> Importances:
    order = np.argsort(-sizes, kind="stable")[:MOST_KEPT].tolist()
    values = {model.feature_names[j]: float(sizes[j]) for j in order}
    return Importances(by, values, output, rows, background)


def _by_exchange(model: Model, X: Array, y: NDArray[Any]) -> Importances | None:
    """Permutation importances (Breiman 2001) of at most `ROWS` training rows: the accuracy lost, or the squared error
    won, over the variance.

    Stochasticity: the order of the cells of a column has a seed named after its place.
    """
    row_index = sample(model, X, ROWS)
    if not len(row_index):
        return None
    rows, truth, of_classes = X[row_index], y[row_index], model.task == "classification"
    if model.has_codes:
        truth = np.array(model.classes, dtype=object)[truth]

    def loss(cells: Array) -> float:
        predicted = model.predict(cells)
        return float(np.mean(predicted != truth if of_classes else (predicted - truth) ** 2))

    least, sizes = loss(rows), np.zeros(rows.shape[1])
    scale = 1.0 if of_classes else float(np.var(truth)) or 1.0
    for j in range(rows.shape[1]):
        mixed = rows.copy()
        mixed[:, j] = seeds.generator(0, "exchange", j).permutation(rows[:, j])
        sizes[j] = max(0.0, loss(mixed) - least) / scale
    return _ranked(PERMUTATION, model, sizes, rows=len(rows))
