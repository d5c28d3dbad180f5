"""Replays of a counterexample by `predict` and by the model's export, which share no code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.models.exporting import export
from oblique_cli.models.model import Model
from oblique_cli.models.procedure import Procedure


@dataclass(frozen=True, eq=False)
class Answers:
    """Predictions for n rows."""

    codes: NDArray[np.int64]  # (n,) of classes, 0 in regression
    shares: Array  # (n, K), in regression (n, 1) the numbers


@dataclass(frozen=True, eq=False)
class Replay:
    """A model and its export, which both predict rows."""

    model: Model
    procedure: Procedure

    def predicted(self, rows: Array) -> Answers:
        """Return the results of `predict` and `predict_proba`. rows : (n, p)"""
        filled = self.procedure.for_predict(rows)
        labels: Any = self.model.predict(filled)
        if self.procedure.is_regression:
            return self._answers(np.asarray(labels, np.float64)[:, None])
        coded = self.model.has_codes or self.model.threshold is not None
        known = list(self.procedure.classes) if coded else self.model.fitted.state["classes_"].tolist()
        codes = [known.index(label) for label in labels.tolist()]
        return self._answers(np.column_stack([codes, self.model.predict_proba(filled)]))

    def exported(self, rows: Array) -> Answers:
        """Return the results of the exported Python."""
        program: dict[str, Any] = {}
        exec(str(export(self.model, "python")), program)
        cells = [list(map(self._cell, range(len(row)), row)) for row in rows.tolist()]
        predict = program["predict"]
        if self.procedure.is_regression:
            return self._answers(np.array([[predict(row)] for row in cells]))
        classes, shares = program["CLASSES"], program["predict_proba"]
        return self._answers(np.array([[classes.index(predict(row)), *shares(row)] for row in cells]))

    def _answers(self, table: Array) -> Answers:
        """Return predictions from a table, (n, 1) numbers or (n, 1 + K) codes and shares."""
        if self.procedure.is_regression:
            return Answers(np.zeros(len(table), np.int64), table)
        return Answers(table[:, 0].astype(np.int64), table[:, 1:])

    def _cell(self, j: int, value: float) -> Any:
        levels = self.procedure.cells[j].levels
        if value != value:
            return None
        return value if not levels else levels[int(value)] if value < len(levels) else "\0"
