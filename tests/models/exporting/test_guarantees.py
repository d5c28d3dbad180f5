"""Sets and intervals in exported models are those of `Model.sets` and `Model.intervals`."""

from __future__ import annotations

import ctypes
import json
import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from oblique_cli import Model, make
from oblique_cli.errors import ConfigError
from oblique_cli.estimators import conformal_limits as conformal
from oblique_cli.estimators.conformal_limits import Held, guarantee_of
from oblique_cli.models.exporting import export

RNG = np.random.default_rng(5)
X = np.round(RNG.normal(size=(400, 3)), 3)
NUMBER = X @ [1.0, -2.0, 0.5] + np.where(X[:, 0] > 0, 3.0, 0.0) + RNG.normal(size=400)
Y = np.digitize(NUMBER, [-1.0, 2.0])
NAMES = ("first", "a 'b'", "c|d")

CLASSIFIERS = {
    "tree": lambda: make("hhcart_a", max_depth=3, random_state=1),
    "linear leaves": lambda: make("hhcart_a", max_depth=2, leaf_models="logistic", leaf_penalty=1.0, random_state=1),
    "forest": lambda: make("hhgdt_forest", n_estimators=5, random_state=1),
    "boosting": lambda: make("oblique_boosting", n_estimators=5, learning_rate=0.5, random_state=1),
}
CASES = [
    (kind, name)
    for kind in CLASSIFIERS
    for name in conformal.OF_CLASSES
    if name != "leaf" or kind not in ("forest", "boosting")
]
CASES += [("numbers", name) for name in conformal.OF_NUMBERS]


@cache
def guaranteed(kind: str, name: str) -> tuple[Model, np.ndarray]:
    """A model of 200 rows, with limits of 100 others; 100 more to ask."""
    if kind == "numbers":
        model = Model.of(make("m5_style").fit(X[:200], NUMBER[:200]))
        errors = NUMBER[:200] - model.predict(X[:200])
        spreads = conformal.spreads_of(name, 0.92, errors, model.apply(X[:200])) if name != "absolute" else None
        leaves = model.apply(X[200:300])
        spread = conformal.spread_at(spreads, leaves) if spreads else None
        held = Held(model.predict(X[200:300]), NUMBER[200:300], leaves if spreads else None, spread)
        return replace(model, guarantee=guarantee_of(name, 0.92, "split", held, spreads)), X[300:]
    fitted = CLASSIFIERS[kind]().fit(X[:200], Y[:200])
    model = Model.of(fitted, classes=NAMES)
    held = Held(model.predict_proba(X[200:300]), Y[200:300], model.apply(X[200:300]) if name == "leaf" else None)
    return replace(model, guarantee=guarantee_of(name, 0.92, "split", held)), X[300:]


def expected(model: Model, rows: np.ndarray) -> list[list]:
    if model.task == "regression":
        return model.intervals(rows).tolist()
    return [[NAMES[k] for k in np.flatnonzero(own)] for own in model.sets(rows)]


def in_python(model: Model, rows: np.ndarray, folder: Path) -> list[list]:
    names: dict = {}
    exec(export(model, "python"), names)
    ask = names["predict_interval" if model.task == "regression" else "predict_set"]
    return [list(ask(row)) for row in rows.tolist()]


def in_javascript(model: Model, rows: np.ndarray, folder: Path) -> list[list]:
    (folder / "model.mjs").write_text(export(model, "javascript"))
    ask = "predictInterval" if model.task == "regression" else "predictSet"
    script = (
        f"import {{{ask}}} from './model.mjs'; console.log(JSON.stringify({json.dumps(rows.tolist())}.map({ask})));"
    )
    (folder / "ask.mjs").write_text(script)
    ended = subprocess.run(["node", "ask.mjs"], cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


def in_c(model: Model, rows: np.ndarray, folder: Path) -> list[list]:
    (folder / "model.c").write_text(export(model, "c"))
    strict = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-fPIC", "-shared"]
    subprocess.run([*strict, "-o", "model.so", "model.c", "-lm"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "model.so"))
    found = []
    for row in rows:
        given = (ctypes.c_double * len(row))(*row)
        if model.task == "regression":
            ends = (ctypes.c_double * 2)()
            assert library.oblique_predict_interval(given, ends) == 0
            found.append(list(ends))
            continue
        inside = (ctypes.c_ubyte * len(NAMES))()
        assert library.oblique_predict_set(given, inside) == sum(inside)
        found.append([name for name, own in zip(NAMES, inside, strict=True) if own])
    return found


def in_sql(model: Model, rows: np.ndarray, folder: Path) -> list[list]:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE data (x1 REAL, x2 REAL, x3 REAL)")
        base.executemany("INSERT INTO data VALUES (?, ?, ?)", rows.tolist())
        answer = base.execute(export(model, "sql"))
        names = [column[0] for column in answer.description]
        found = [dict(zip(names, row, strict=True)) for row in answer]
    if model.task == "regression":
        return [[row["low"], row["high"]] for row in found]
    return [row["set"] for row in found]


def in_onnx(model: Model, rows: np.ndarray, folder: Path) -> list[list]:
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(export(model, "onnx"))
    feeds = {f"x{j + 1}": rows[:, j : j + 1] for j in range(rows.shape[1])}
    if model.task == "regression":
        return session.run(["interval"], feeds)[0].tolist()
    return [[NAMES[k] for k in np.flatnonzero(own)] for own in session.run(["set"], feeds)[0]]


ASK = {"python": in_python, "javascript": in_javascript, "c": in_c, "sql": in_sql, "onnx": in_onnx}
NEEDED = {"javascript": "node", "c": "cc"}


@pytest.mark.sample(10)
@pytest.mark.parametrize("format", ASK)
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_exported_models_have_the_sets_and_intervals_of_the_model(kind, name, format, tmp_path):
    if (program := NEEDED.get(format)) and not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    model, rows = guaranteed(kind, name)
    if kind == "boosting" and format == "onnx":
        with pytest.raises(ConfigError, match=r"^format onnx does not take boosting of classes; these do: "):
            export(model, format)
        return
    if kind in ("linear leaves", "boosting"):  # shares to 1e-12, so none that lies on its limit
        clear = np.abs(conformal.running_sums(model.predict_proba(rows)) - np.max(model.guarantee.limits)) > 1e-9
        rows = rows[clear.all(axis=1)]
    said, found = expected(model, rows), ASK[format](model, rows, tmp_path)
    if kind == "numbers":
        np.testing.assert_allclose(found, said, rtol=1e-13, atol=1e-13)
    elif format == "sql":  # labels in one text
        assert found == ["|".join(own) for own in said]
    else:
        assert found == said
    assert kind == "numbers" or len({len(own) for own in said}) > 1


def test_the_steps_have_the_guarantee():
    model, _ = guaranteed("tree", "leaf")
    document = json.loads(export(model, "json"))
    assert document["schema"] == "oblique-export/2" and document["guarantee"] == model.guarantee.plain()


def test_a_row_that_lacks_a_number_has_neither_set_nor_interval(tmp_path):
    for case, ask in ((("tree", "lac"), "predict_set"), (("numbers", "absolute"), "predict_interval")):
        names: dict = {}
        exec(export(guaranteed(*case)[0], "python"), names)
        assert names[ask]([None, None, None]) is None
