"""`oblique bias-variance`: its error is that of the run, and a missing fold is a sentence."""

import json
import sqlite3
from contextlib import closing

import pytest


def test_bias_and_variance_add_up_to_the_error_of_the_run(finished):
    run = json.loads(finished("table", "small", "--format", "json").out)["rows"]
    lines = json.loads(finished("bias-variance", "small.yaml", "--format", "json").out)["rows"]
    assert [(r["dataset"], r["algorithm"]) for r in lines] == [(r["dataset"], r["algorithm"]) for r in run]
    for line, cell in zip(lines, run, strict=True):
        assert 100 * (line["bias"] + line["variance"]) == pytest.approx(100 - cell["accuracy_mean"])
    # Trees on two thirds of the rows differ between repetitions.
    assert all(0 < line["variance"] <= 0.25 for line in lines)
    assert "average ranks over 2 data sets" in finished("bias-variance", "small").out


def test_a_data_set_without_a_fold_is_ranked_nowhere(finished):
    with closing(sqlite3.connect(finished.folder / "results" / "oblique.sqlite")) as db, db:
        db.execute("DELETE FROM rows WHERE dataset = 'bupa' AND algorithm = 'hhgdt' AND repeat = 1 AND fold = 2")
    ended = finished("bias-variance", "small")
    assert ended.code == 0 and "bupa, HHGDT: 5 of 6 folds are stored" in ended.out
    assert "average ranks" not in ended.out
