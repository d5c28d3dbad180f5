"""Replays of a counterexample: by `predict`, and by the model's export, which shares no code with it."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.models.exporting import export
from oblique_cli.models.model import Model
from oblique_cli.models.procedure import Procedure

Array = NDArray[np.float64]

COMPILER = "cc"
PREDICT, IN_C, IN_PYTHON = "predict", "predict and the exported C", "predict and the exported Python (there is no cc)"
ANSWER = """
#include <stdio.h>
int main(void)
{{
    double row[OBLIQUE_COLUMNS], said[{n}];
    while (fread(row, sizeof(double), OBLIQUE_COLUMNS, stdin) == OBLIQUE_COLUMNS) {{
{calls}
        fwrite(said, sizeof(double), {n}, stdout);
    }}
    return 0;
}}
"""
OF_NUMBERS = "        said[0] = oblique_predict(row);"
OF_CLASSES = "        said[0] = oblique_predict_proba(row, said + 1);"


# The driver of an exported Python file, in a process of its own: rows in, labels and shares out.
OF_LABELS = """
import json, sys
json.dump([[predict(row) for row in json.load(sys.stdin)], []], sys.stdout)
"""
OF_SHARES = """
import json, sys
rows = json.load(sys.stdin)
json.dump([[predict(row) for row in rows], [predict_proba(row) for row in rows]], sys.stdout)
"""


@dataclass(frozen=True, eq=False)
class Answers:
    """codes : (n,) of classes, 0 in regression; shares : (n, K), in regression (n, 1) the numbers"""

    codes: NDArray[np.int64]
    shares: Array


@dataclass(frozen=True, eq=False)
class Replay:
    """A model and its export, which both predict rows."""

    model: Model
    procedure: Procedure

    def predicted(self, rows: Array) -> Answers:
        """Return the answers of `predict` and `predict_proba`. rows : (n, p)"""
        filled = self.procedure.for_predict(rows)
        labels: Any = self.model.predict(filled)
        if self.procedure.is_regression:
            return Answers(np.zeros(len(rows), np.int64), np.asarray(labels, np.float64)[:, None])
        coded = self.model.has_codes or self.model.threshold is not None
        known = list(self.procedure.classes) if coded else self.model.fitted.state["classes_"].tolist()
        codes = np.array([known.index(label) for label in labels.tolist()], np.int64)
        return Answers(codes, self.model.predict_proba(filled))

    def exported(self, rows: Array) -> tuple[Answers | None, str]:
        """Return the answers of the export, and in words which export it was; None where nothing is exported."""
        with tempfile.TemporaryDirectory(prefix="oblique-") as folder:
            program = self._program(Path(folder))
            if program is None:
                return self._by_python(rows, Path(folder))
            done = subprocess.run([program], input=rows.astype("<f8").tobytes(), capture_output=True, check=True)
        width = 1 if self.procedure.is_regression else 1 + len(self.procedure.classes)
        numbers = np.array(struct.unpack(f"<{len(done.stdout) // 8}d", done.stdout)).reshape(len(rows), width)
        if self.procedure.is_regression:
            return Answers(np.zeros(len(rows), np.int64), numbers), IN_C
        return Answers(numbers[:, 0].astype(np.int64), numbers[:, 1:]), IN_C

    def _by_python(self, rows: Array, folder: Path) -> tuple[Answers | None, str]:
        try:
            source = str(export(self.model, "python"))
        except ConfigError:
            return None, PREDICT
        cells = [
            [
                None
                if value != value
                else value
                if not cell.levels
                else cell.levels[int(value)]
                if value < len(cell.levels)
                else "\0"
                for cell, value in zip(self.procedure.cells, row, strict=True)
            ]
            for row in rows.tolist()
        ]
        path = folder / "exported.py"
        path.write_text(source + (OF_LABELS if self.procedure.is_regression else OF_SHARES), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(path)], input=json.dumps(cells).encode(), capture_output=True, check=True
        )
        labels, shares = json.loads(done.stdout)
        if self.procedure.is_regression:
            return Answers(np.zeros(len(rows), np.int64), np.array(labels)[:, None]), IN_PYTHON
        classes = list(self.procedure.classes)
        return Answers(np.array([classes.index(label) for label in labels], np.int64), np.array(shares)), IN_PYTHON

    def _program(self, folder: Path) -> str | None:
        """The path of the compiled export, None where it cannot be had."""
        compiler = shutil.which(COMPILER)
        if compiler is None:
            return None
        try:
            source = str(export(self.model, "c"))
        except ConfigError:
            return None
        regression = self.procedure.is_regression
        n = 1 if regression else 1 + len(self.procedure.classes)
        path = folder / "model.c"
        calls = OF_NUMBERS if regression else OF_CLASSES
        path.write_text(source + ANSWER.format(n=n, calls=calls), encoding="utf-8")
        program = str(path.with_suffix(""))
        done = subprocess.run(
            [compiler, "-std=c99", "-O1", "-o", program, str(path), "-lm"], capture_output=True, check=False
        )
        return program if done.returncode == 0 else None
