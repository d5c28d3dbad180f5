"""`oblique fit --coverage`; sets, intervals and quantiles by `oblique predict`."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from oblique_cli import load
from oblique_cli.data.own.front import chunks
from oblique_cli.estimators.conformal_limits import OF_CLASSES, OF_NUMBERS

PLAIN = str(Path(__file__).parents[1] / "files" / "plain.csv")
OF = {**dict.fromkeys(OF_CLASSES, ("variety", "logistic_tree")), **dict.fromkeys(OF_NUMBERS, ("weight_mg", "m5_style"))}


def fitted(call, guarantee: str, calibration: str = "split", *more: str) -> str:
    target, algorithm = OF[guarantee]
    ended = call("fit", PLAIN, "--target", target, "--algorithm", algorithm, "--folds", "3", "--coverage", "0.8",
                 "--set", f"guarantee={guarantee}", "--set", f"calibration={calibration}",
                 "--output", "model.json", *more)  # fmt: skip
    assert ended.code == 0, ended.err
    return ended.out


@pytest.mark.sample(2)
@pytest.mark.parametrize("calibration", ["cross", "split"])
@pytest.mark.parametrize("guarantee", OF)
def test_the_model_says_what_it_promises_and_the_table_has_it(call, guarantee, calibration):
    text = fitted(call, guarantee, calibration)
    kind = "sets" if guarantee in OF_CLASSES else "intervals"
    rows = "60 rows held out" if calibration == "split" else "240 rows that fits without them judged"
    assert f"Its {kind} are to hold the truth for 80 % of new rows ({guarantee}, limits by {rows}):" in " ".join(
        text.replace("\n# ", " ").split()
    )
    model = load("model.json")
    (chunk,) = chunks(PLAIN, model.columns)
    ended = call("predict", "model.json", PLAIN, f"--{kind}")
    assert (ended.code, ended.err) == (0, "")
    lines = list(csv.DictReader(ended.out.splitlines()))
    if kind == "sets":
        sets = model.sets(chunk.X)
        assert [line["set"] for line in lines] == ["|".join(np.array(model.classes)[labels]) for labels in sets]
    else:
        ends = model.intervals(chunk.X)
        np.testing.assert_array_equal([[float(line["low"]), float(line["high"])] for line in lines], ends)
        plain = json.loads(call("predict", "model.json", PLAIN, "--intervals", "--format", "json").out)
        assert [[line["low"], line["high"]] for line in plain] == ends.tolist()


def test_abstaining_answers_where_the_set_has_one_class_and_the_document_has_the_guarantee(call):
    fitted(call, "class")
    lines = json.loads(call("predict", "model.json", PLAIN, "--sets", "--abstain", "--format", "json").out)
    counts = {len(line["set"]) for line in lines}
    assert 1 in counts and counts - {1}
    assert all(line["prediction"] == (line["set"][0] if len(line["set"]) == 1 else None) for line in lines)
    lines = list(csv.DictReader(call("predict", "model.json", PLAIN, "--abstain").out.splitlines()))
    assert "set" not in lines[0] and {"", "amber"} <= {line["prediction"] for line in lines}
    document = json.loads(fitted(call, "lac", "split", "--format", "json"))
    assert document["guarantee"]["coverage"] == 0.8 and document["rows"] == 180


def test_quantiles_of_a_stored_model_are_columns_of_the_table(call):
    fit = ("fit", PLAIN, "--target", "weight_mg", "--algorithm", "pilot", "--folds", "2", "--output", "model.json")
    assert call(*fit, "--set", "leaf_residuals=true").code == 0
    model = load("model.json")
    (chunk,) = chunks(PLAIN, model.columns)
    expected = model.predict_quantiles(chunk.X, (0.1, 0.5, 0.95))
    ended = call("predict", "model.json", PLAIN, "--quantiles", "0.1, 0.5,0.95")
    assert (ended.code, ended.err) == (0, "")
    lines = list(csv.DictReader(ended.out.splitlines()))
    names = ("q0.1", "q0.5", "q0.95")
    np.testing.assert_array_equal([[float(line[name]) for name in names] for line in lines], expected)
    plain = json.loads(call("predict", "model.json", PLAIN, "--quantiles", "0.1,0.5,0.95", "--format", "json").out)
    assert [[line[name] for name in names] for line in plain] == expected.tolist()
