"""Leave-one-out: as many folds as rows, in draws, runs and tables."""

import json

import numpy as np
import pytest
from runner_support import toy
from sklearn.model_selection import LeaveOneOut, cross_val_score

from oblique_cli.data import catalogue
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.ground.nouns import CVSpec
from oblique_cli.schemes import check, folds, places

CFG = (
    "version: 1\ndatasets: [iris, wine]\nalgorithm: {name: axis_parallel, pruning: none}\ncv: {scheme: leave_one_out}\n"
)


def test_every_row_is_a_test_set_and_repetitions_differ_in_pruning_rows():
    drawn = folds(toy(12), CVSpec("leave_one_out", repeats=2), seed=1)
    assert [(f.repeat, f.index) for f in drawn] == [(r, k) for r in (0, 1) for k in range(12)]
    assert [f.test.tolist() for f in drawn] == [[k] for k in range(12)] * 2
    assert all(np.array_equal(np.union1d(f.train, f.test), np.arange(12)) for f in drawn)
    assert any(not np.array_equal(a.pruning, b.pruning) for a, b in zip(drawn[:12], drawn[12:], strict=True))


def test_its_places_need_the_data():
    with pytest.raises(ConfigError, match="scheme leave_one_out has folds that depend on the data"):
        places(CVSpec("leave_one_out"))


def test_regression_and_too_few_rows_are_refused():
    with pytest.raises(ConfigError, match="a test set of one row has no RMSE or R2 of its own: use scheme ordinary"):
        check(toy(12, task="regression", y=np.arange(12.0), classes=()), CVSpec("leave_one_out"))
    with pytest.raises(ConfigError, match="which leaves 1 to train on"):
        check(toy(classes=(1, 1)), CVSpec("leave_one_out"))


def test_a_run_is_what_scikit_learn_finds_and_its_table_comes_back_without_data(call):
    (call.folder / "x.yaml").write_text(CFG)
    assert call("validate", "x.yaml").out == "x.yaml: ok (2 data sets x 1 algorithm x 150 to 178 folds)\n"
    ended = call("run", "x.yaml", "-j", "2", "--format", "json")
    assert ended.code == 0, ended.err
    assert "328 of 328 folds" in ended.err
    for name in ("iris", "wine"):
        data = catalogue.load(name)
        tree = ALGORITHMS["axis_parallel"].make(pruning="none")
        expected = 100 * cross_val_score(tree, data.X, data.y, cv=LeaveOneOut()).mean()
        (found,) = [line for line in json.loads(ended.out)["rows"] if line["dataset"] == name]
        assert found["accuracy_mean"] == pytest.approx(expected) and found["accuracy_sd"] is None
        assert found["folds_expected"] == data.n
    assert call("table", "x", "--format", "json").out == ended.out
    text = call("table", "x").out
    assert "1 x leave-one-out CV: accuracy in % over all rows, each tested once" in text


def test_a_t_test_is_refused_in_a_sentence_and_so_is_bias_variance(call):
    (call.folder / "x.yaml").write_text(
        CFG.replace("[iris, wine]", "[iris]")
        .replace("algorithm: ", "algorithms: [")
        .replace("none}", "none}, hhcart_d]")
    )
    assert call("run", "x.yaml", "-j", "2", "--quiet", "--set", "cv.repeats=2").code == 0
    ended = call("significance", "x")
    assert ended.code == 0 and "iris: training and test sets are fixed; repetitions are no resampling" in ended.out
    ended = call("bias-variance", "x.yaml", "--set", "cv.repeats=2")
    assert (
        ended.code == 2 and "does not test every row once a repetition, by a tree of other rows each time" in ended.err
    )
