"""A tree with models in its leaves in two languages: C and SQL say what `predict` says.

python examples/export_both.py
"""

from __future__ import annotations

import ctypes
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from oblique_cli import Model, data, export, make

table = data.load("bupa")
tree = make("hhgdt", max_depth=2, leaf_models="logistic", leaf_penalty=1.0, random_state=1).fit(table.X, table.y)
model = Model.of(tree, algorithm="hhgdt", classes=table.classes, feature_names=table.feature_names)
expected, shares = model.predict(table.X), model.predict_proba(table.X)

with tempfile.TemporaryDirectory() as folder:
    source, library = Path(folder, "leaves.c"), Path(folder, "leaves.so")
    source.write_text(export(model, "c", name="leaves"), encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", str(source), "-o", str(library), "-lm"], check=True)
    predict = ctypes.CDLL(str(library)).leaves_predict_proba
    said, found = [], np.zeros_like(shares)
    for row, out in zip(np.ascontiguousarray(table.X), found, strict=True):
        numbers, result = ((ctypes.c_double * len(values))(*values) for values in (row.tolist(), out.tolist()))
        said.append(predict(numbers, result))
        out[:] = list(result)

with sqlite3.connect(":memory:") as base:
    names = ", ".join(f'"{name}" REAL' for name in table.feature_names)
    base.execute(f"CREATE TABLE blood (number INTEGER, {names})")
    marks = ", ".join("?" * (1 + table.p))
    base.executemany(f"INSERT INTO blood VALUES ({marks})", [(i, *row) for i, row in enumerate(table.X.tolist())])
    statement = str(export(model, "sql", name="blood")).rstrip().removesuffix(";")
    answers = base.execute(f"SELECT prediction, share FROM ({statement}) ORDER BY number").fetchall()

assert said == expected.tolist() and [label for label, _ in answers] == [table.classes[k] for k in said]
apart = max(np.abs(found - shares).max(), np.abs(np.array([share for _, share in answers]) - shares.max(axis=1)).max())
leaves = tree.tree_.n_leaves
print(f"{len(said)} rows, {leaves} leaves: C and SQL say what predict says, probabilities within {apart:.1e}")
