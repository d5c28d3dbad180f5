"""`oblique predict --quantiles`: what the model says, in every form, and what is refused."""

import csv
import json
from pathlib import Path

import numpy as np

from oblique_cli import load
from oblique_cli.data.own.front import chunks

PLAIN = str(Path(__file__).parents[1] / "files" / "plain.csv")
FIT = ("fit", PLAIN, "--target", "weight_mg", "--algorithm", "pilot", "--folds", "2", "--output", "model.json")


def test_quantiles_of_a_stored_model_are_columns_of_the_table(call):
    assert call(*FIT, "--set", "leaf_residuals=true").code == 0
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
