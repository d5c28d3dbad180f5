"""Unions from the command line: run, tree, fit and predict; parameters that may be lists."""

import json

import pytest
from cli_support import forked

BASE = "version: 1\ndataset: iris\ncv: {folds: 3, repeats: 1}\nalgorithms:\n"


def written(call, *lines):
    (call.folder / "c.yaml").write_text(BASE + "".join(f"  - {line}\n" for line in lines))
    return "c.yaml"


def test_a_configuration_with_unions_runs_and_says_each_by_its_id(call):
    config = written(
        call,
        "{name: union, proposers: [fdt, {name: hhgdt, tau: 0.1}, axis_parallel]}",
        "{name: union, id: finished, proposers: [fdt, hhgdt], split_cost: 0.1, polish: true}",
        "{name: svm_split, cost: 2}",
        "logistic_split",
    )
    ended = call("run", config, "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["rows"]
    assert {row["algorithm"] for row in rows} == {"union", "finished", "svm_split", "logistic_split"}
    assert all(row["accuracy_mean"] > 85.0 and row["folds_failed"] == 0 for row in rows)


def test_a_tree_and_a_model_of_a_union(call):
    members = ("--set", "proposers=[fdt, hhgdt]", "--set", "split_cost=0.05")
    ended = call("tree", "iris", "--algorithm", "union", *members)
    assert ended.code == 0 and "leaves" in ended.out
    ended = call("fit", "iris", "--algorithm", "union", *members, "--output", "model.json")
    assert ended.code == 0, ended.err
    stored = json.loads((call.folder / "model.json").read_text())
    assert "hhgdt" in json.dumps(stored)
    shown = call("tree", "model.json")
    assert shown.code == 0 and "leaves" in shown.out


def test_members_may_be_a_grid_that_inner_folds_choose_from(call):
    config = written(call, "{name: union, proposers: {grid: [[fdt], [fdt, {name: hhgdt, tau: 0.1}]]}}")
    tuned = ("--set", "cv.scheme=nested", "--set", "cv.tune.folds=2")
    ended = call("run", config, *tuned, "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["rows"][0]["accuracy_mean"] > 85.0


LISTS = [
    ("tao", "base", ["axis_parallel", "fdt"], ("penalty=0.01",)),
    ("bagged_forest", "proposer", ["hhgdt", "axis_parallel"], ("n_estimators=3",)),
    ("heterogeneous_forest", "models", ["lda", "ridge"], ("n_estimators=3",)),
]


@pytest.mark.parametrize(("algorithm", "name", "several", "others"), LISTS)
def test_a_list_is_one_value(tmp_path, algorithm, name, several, others):
    settings = [word for text in (f"{name}=[{', '.join(several)}]", *others) for word in ("--set", text)]
    ended = forked(tmp_path, "fit", "iris", "--algorithm", algorithm, "--folds", "2", *settings, "-o", "model.json")
    assert ended.code == 0, ended.err
    assert json.dumps(several) in json.dumps(json.loads((tmp_path / "model.json").read_text()))
