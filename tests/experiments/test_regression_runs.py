"""Regression in the runner: errors as measures, tables of them, grids by squared error, refusals in one sentence."""

import json

import numpy as np
import pytest

from oblique_cli import config
from oblique_cli.data import catalogue
from oblique_cli.estimators.algorithms import make
from oblique_cli.evaluation.sheets import render
from oblique_cli.evaluation.tables import summarize
from oblique_cli.experiments.running import run
from oblique_cli.experiments.store import Store


def experiment(**changes):
    plain = {
        "version": 1,
        "datasets": ["auto_mpg"],
        "algorithms": [{"name": "retis"}, {"name": "cart_regression", "min_samples_leaf": 5}],
        "cv": {"scheme": "ordinary", "folds": 4, "repeats": 2},
    }
    return config.from_mapping({**plain, **changes}, "regression", [], where="test")


def test_rows_hold_the_errors_of_a_refit_and_the_table_their_means(tmp_path):
    configuration = experiment()
    with Store(tmp_path / "oblique.sqlite") as store:
        summary = run(configuration, store, n_jobs=1)
        rows = store.rows(configuration.name)
    assert summary.exit_code == 0 and len(rows) == 16
    assert all(row.n_correct == 0 and row.per_class == {} and row.n_leaves > 0 for row in rows)
    table = summarize(rows, configuration)
    line = table.lines[0]
    by_repeat = [np.mean([r.measures["mse"] for r in rows if r.algorithm == "retis" and r.repeat == k]) for k in (0, 1)]
    assert line.accuracy.mean is None
    assert line.values["mse"].mean == pytest.approx(np.mean(by_repeat))
    assert line.values["mse"].sd == pytest.approx(np.std(by_repeat, ddof=1))
    assert table.sheet().grids[0].header == ("data set", "algorithm", "MSE", "RMSE", "R2", "leaves", "terms")
    record = json.loads(render(table, "json"))["rows"][0]
    assert record["mse_mean"] == line.values["mse"].mean and "accuracy_mean" not in record


def test_published_errors_stand_beside_ours(tmp_path):
    configuration = experiment(published=["amalaman2015:2.7"])
    with Store(tmp_path / "oblique.sqlite") as store:
        run(configuration, store, n_jobs=1)
        line = summarize(store.rows(configuration.name), configuration, titles={"retis": "RETIS"}).lines[0]
    assert line.values["mse"].published.mean == 8.847 and line.leaves.published.mean == 3.1


def test_a_grid_is_chosen_by_squared_error(tmp_path):
    algorithm = {"name": "retis", "min_node_percent": {"grid": [10, 60]}}
    cv = {"scheme": "nested", "folds": 3, "repeats": 1, "tune": {"folds": 3}}
    configuration = experiment(algorithms=[algorithm], cv=cv)
    with Store(tmp_path / "oblique.sqlite") as store:
        run(configuration, store, n_jobs=1)
        for row in store.rows(configuration.name):
            assert row.status == "ok", row.message
            least = min(row.inner, key=lambda entry: entry["squared_error"])
            assert row.chosen == least["params"] and "n_correct" not in least


@pytest.mark.long
def test_stratified_folds_and_tests_of_accuracy_are_refused_and_those_of_errors_made(call, tmp_path):
    path = tmp_path / "numbers.yaml"
    cv = "cv: {scheme: ordinary, folds: 3, repeats: 1}"
    path.write_text(f"version: 1\ndataset: auto_mpg\nalgorithms: [retis, m5_style]\n{cv}\n")
    assert call("run", str(path), "-j", "1", "--results", str(tmp_path)).code == 0
    ended = call("significance", "numbers", "--results", str(tmp_path))
    assert ended.code == 0 and "RMSE, data set by data set" in ended.out and "accuracy" not in ended.out
    ended = call("significance", "numbers", "--metric", "accuracy", "--results", str(tmp_path))
    assert ended.code == 2 and "metric accuracy is for classification, and this is regression" in ended.err
    ended = call("run", str(path), "--results", str(tmp_path), "--set", "cv.scheme=stratified", "--fresh")
    assert ended.code == 2 and "has no classes to keep the shares of" in ended.err
    ended = call("bias-variance", str(path), "--set", "cv.repeats=2")
    assert ended.code == 2 and "is for regression" in ended.err


def test_a_csv_of_numbers_is_read_for_regression(call, tmp_path):
    rows = ["a,b,target"] + [f"{i},{i % 7},{2 * i + 0.5}" for i in range(40)]
    (tmp_path / "own.csv").write_text("\n".join(rows) + "\n")
    path = tmp_path / "own.yaml"
    data = "dataset: {csv: own.csv, target: target, keep: [a]}"  # it looks like row numbers
    path.write_text(f"version: 1\n{data}\nalgorithm: retis\ncv: {{folds: 4, repeats: 1}}\n")
    ended = call("run", str(path), "-j", "1", "--results", str(tmp_path))
    assert ended.code == 0 and " 1 " in ended.out and "MSE" in ended.out


def test_the_tree_command_shows_leaf_equations(call):
    ended = call("tree", "auto_mpg", "--algorithm", "retis", "--set", "min_node_percent=40")
    data = catalogue.load("auto_mpg")
    model = make("retis", min_node_percent=40).fit(data.X, data.y)
    assert ended.code == 0 and f"RETIS on auto_mpg: {model.n_leaves_} leaves" in ended.out
    assert ended.out.count(" target = ") == model.n_leaves_ and "weight" in ended.out
    document = json.loads(call("tree", "auto_mpg", "--algorithm", "retis", "--format", "json").out)
    assert document["schema"] == "oblique-tree/1" and document["equations"].keys() == {
        "coef",
        "intercept",
        "rss",
        "bounds",
    }
    assert call("tree", "auto_mpg", "--algorithm", "cart_regression").code == 2
