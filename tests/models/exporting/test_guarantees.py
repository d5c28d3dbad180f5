"""Sets and intervals in exported models are those of `Model.sets` and `Model.intervals`."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import export_support as support
import numpy as np
import pytest

from oblique_cli import Model, make
from oblique_cli.errors import ConfigError
from oblique_cli.estimators import conformal_limits as conformal
from oblique_cli.estimators.conformal_limits import Held, guarantee_of
from oblique_cli.models.exporting import export
from oblique_cli.models.procedure import procedure_of

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
    return [[NAMES[k] for k in np.flatnonzero(labels)] for labels in model.sets(rows)]


def answers(format: str, source: str | bytes, model: Model, rows: np.ndarray, folder: Path) -> list[list]:
    """The sets or intervals of an exported model."""
    procedure, regression = procedure_of(model), model.task == "regression"
    if format == "c":
        table = support.run_c(source, rows, folder, support.INTERVAL_MAIN if regression else support.SET_MAIN)
    elif format == "sql":
        table = support.run_sql(source, procedure, rows, "low, high" if regression else '"set"')
        return [list(row) if regression else row[0] for row in table]
    elif format == "onnx":
        (table,) = support.run_onnx(source, procedure, rows, "interval" if regression else "set")
    else:
        run = support.run_python if format == "python" else support.run_javascript
        return run(source, procedure, rows, folder, "predict_interval" if regression else "predict_set")[0]
    return table.tolist() if regression else [[NAMES[k] for k in np.flatnonzero(inside)] for inside in table]


@pytest.mark.sample(10)
@pytest.mark.covered(2)
@pytest.mark.parametrize("format", ["python", "javascript", "c", "sql", "onnx"])
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_exported_models_have_the_sets_and_intervals_of_the_model(kind, name, format, tmp_path):
    model, rows = guaranteed(kind, name)
    if kind == "boosting" and format == "onnx":
        with pytest.raises(ConfigError, match=r"^format onnx does not take boosting of classes; these do: "):
            export(model, format)
        return
    if kind in ("linear leaves", "boosting"):  # shares to 1e-12, so none that lies on its limit
        clear = np.abs(conformal.running_sums(model.predict_proba(rows)) - np.max(model.guarantee.limits)) > 1e-9
        rows = rows[clear.all(axis=1)]
    wanted, exported = expected(model, rows), answers(format, export(model, format), model, rows, tmp_path)
    if kind == "numbers":
        np.testing.assert_allclose(exported, wanted, rtol=1e-13, atol=1e-13)
    elif format == "sql":  # labels in one text
        assert exported == ["|".join(item) for item in wanted]
    else:
        assert exported == wanted
    assert kind == "numbers" or len({len(item) for item in wanted}) > 1


def test_the_steps_have_the_guarantee():
    model, _ = guaranteed("tree", "leaf")
    document = json.loads(export(model, "json"))
    assert document["schema"] == "oblique-export/2" and document["guarantee"] == model.guarantee.plain()


def test_a_row_that_lacks_a_number_has_neither_set_nor_interval(tmp_path):
    for case, ask in ((("tree", "lac"), "predict_set"), (("numbers", "absolute"), "predict_interval")):
        names: dict = {}
        exec(export(guaranteed(*case)[0], "python"), names)
        assert names[ask]([None, None, None]) is None
