"""Replays of a counterexample by `predict` and by the model's export, which share no code."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Array
from oblique_cli.models.exporting import export
from oblique_cli.models.model import Model
from oblique_cli.models.procedure import Procedure

COMPILER = "cc"
PREDICT, IN_C, IN_PYTHON = "predict", "predict and the exported C", "predict and the exported Python (there is no cc)"
# Drivers of exported files in separate processes: rows in; numbers, or codes and shares, out.
C_MAIN = """
#include <stdio.h>
int main(void)
{{
    double row[OBLIQUE_COLUMNS], answer[{n}];
    while (fread(row, sizeof(double), OBLIQUE_COLUMNS, stdin) == OBLIQUE_COLUMNS) {{
        answer[0] = {call};
        fwrite(answer, sizeof(double), {n}, stdout);
    }}
    return 0;
}}
"""
PYTHON_MAIN = """
import json, sys
json.dump([[{call}] for row in json.load(sys.stdin)], sys.stdout)
"""


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

    def exported(self, rows: Array) -> tuple[Answers | None, str]:
        """Return the results of the export, and a description of it; None without an export."""
        with tempfile.TemporaryDirectory(prefix="oblique-") as folder:
            if program := self._program(Path(folder)):
                numbers = np.frombuffer(_output([program], rows.astype("<f8").tobytes()), "<f8")
                return self._answers(numbers.reshape(len(rows), -1)), IN_C
            try:
                source = str(export(self.model, "python"))
            except ConfigError:
                return None, PREDICT
            path = Path(folder) / "exported.py"
            call = "CLASSES.index(predict(row)), *predict_proba(row)"
            main = PYTHON_MAIN.format(call="predict(row)" if self.procedure.is_regression else call)
            path.write_text(source + main, encoding="utf-8")
            cells = [list(map(self._cell, range(len(row)), row)) for row in rows.tolist()]
            table = json.loads(_output([sys.executable, str(path)], json.dumps(cells).encode()))
        return self._answers(np.array(table)), IN_PYTHON

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

    def _program(self, folder: Path) -> str | None:
        """Return the path of the compiled export, None if it cannot be compiled."""
        compiler, path = shutil.which(COMPILER), folder / "model.c"
        if compiler is None:
            return None
        try:
            source = str(export(self.model, "c"))
        except ConfigError:
            return None
        n, call = 1 + len(self.procedure.classes), "oblique_predict_proba(row, answer + 1)"
        main = C_MAIN.format(n=n, call="oblique_predict(row)" if self.procedure.is_regression else call)
        path.write_text(source + main, encoding="utf-8")
        program = str(path.with_suffix(""))
        command = [compiler, "-std=c99", "-O1", "-o", program, str(path), "-lm"]
        return program if subprocess.run(command, capture_output=True, check=False).returncode == 0 else None


def _output(command: list[str], rows: bytes) -> bytes:
    return subprocess.run(command, input=rows, capture_output=True, check=True).stdout
