"""Global importances of columns: exact Shapley values if they are cheap, else impurity or permutation importances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oblique_cli.errors import ConfigError, cut
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.games import PROBABILITY, SCORE, VALUE
from oblique_cli.models.explaining.shapley import ShapleyValues, mean_sizes, output_of, shapley_values
from oblique_cli.models.model import Model
from oblique_cli.models.procedure import columns_of, procedure_of

ROWS, BACKGROUND = 100, 50  # rows to explain, and rows to compare them with
LOOKS = 20  # rows to examine for each of these
MOST_CELLS = 200_000  # nodes times classes of a model: takes a second
STEPS = 1 << 23  # of all rows in all trees together: takes a second
MOST_KEPT = 100  # columns of a model file, the most important ones
MOST_SHUFFLED = 200  # columns whose cells are permuted, one column at a time
SHAPLEY, IMPURITY, PERMUTATION = "shapley", "impurity", "permutation"
OUTPUTS = {PROBABILITY: "probability", SCORE: "log odds", VALUE: "predicted number"}


@dataclass(frozen=True)
class Importances:
    """Importances of the columns of a model."""

    by: str  # SHAPLEY, IMPURITY or PERMUTATION
    values: Mapping[str, float]  # column -> importance, the largest first, at most `MOST_KEPT`
    output: str = ""  # of SHAPLEY: the output, one of OUTPUTS
    rows: int = 0  # number of rows; 0 of IMPURITY
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
        """Return the largest importances in a sentence. most : the number of columns to name"""
        shown = [f"{cut(name)} {value:.3g}" for name, value in list(self.values.items())[:most]]
        left = len(self.values) - most
        return f"Importance ({self.description}): {', '.join(shown)}{f' and {left} smaller' if left > 0 else ''}."

    def largest(self, most: int, names: Sequence[str]) -> tuple[str, ...]:
        """Return the most important ones of some columns, without those of no importance."""
        return tuple(name for name, value in self.values.items() if value > 0.0 and name in names)[:most]

    def plain(self) -> dict[str, Any]:
        """Return the data for a model file and JSON."""
        how = {"output": self.output, "rows": self.rows, "background": self.background}
        return {"by": self.by, **{key: value for key, value in how.items() if value}, "values": dict(self.values)}

    @classmethod
    def from_plain(cls, plain: Any) -> Importances | None:
        """Return the inverse of `plain`; None for any other data, such as the facts of an older model file."""
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
    """Return the indices of rows to predict: at most `most`, spread over those with every number that the model needs.

    X : (n, p). Of a long table only a sample is examined, large enough even if most rows have missing cells.
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

    None for a model without Shapley values, a model above `MOST_CELLS`, or hyperplanes with too many columns for
    `STEPS`: the limit counts work, not time, so the result is the same on any machine.
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

    The mean |Shapley value| over rows and classes (`affordable_shapley`), the columns' shares in the decrease of
    impurity, and the permutation importance on training rows.

    X : (n, p) training rows as `Model.predict` takes them; y : (n,) their codes, or numbers; shapley : if it is known
    None if no method applies.
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
    """Return permutation importances (Breiman 2001) of at most `ROWS` training rows: the loss of accuracy, or the
    increase of the squared error over the variance.

    Stochasticity: the permutation of a column has a seed named after the column's position.
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
