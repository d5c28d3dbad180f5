"""`oblique fit` of rare classes, by other metrics, with thresholds, within a budget, from the table to the export."""

import csv
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from cli_support import records

from oblique_cli.cli._fit_specs import TIME
from oblique_cli.cli.fit import tree_beside
from oblique_cli.models import load

QUICK = ("--algorithm", "hhgdt", "--folds", "4")


@pytest.fixture
def rare(call):
    """2,000 rows, 20 of them of another class, in rare.csv; and costs of mistakes, in costs.csv."""
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(2000, 5)), np.zeros(2000, int)
    y[rng.permutation(2000)[:20]] = 1
    X[y == 1, 0] += 2.4
    X[y == 1, 1] -= 2.0
    with open(call.folder / "rare.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "b", "c", "d", "e", "state"])
        writer.writerows([*(f"{v:.3f}" for v in row), ("ok", "fault")[k]] for row, k in zip(X, y, strict=True))
    (call.folder / "costs.csv").write_text(",fault,ok\nfault,0,50\nok,1,0\n")
    return call


def fitted(command, *arguments: str) -> str:
    ended = command("fit", "rare.csv", "--target", "state", *arguments)
    assert ended.code == 0, ended.err
    return ended.out


def test_a_model_that_is_of_no_use_says_so_in_its_first_line_and_json_and_the_model_what_is_said(rare):
    lines = fitted(rare, "--algorithm", "axis_parallel", "--folds", "4", "--set", "max_depth=0").splitlines()
    assert lines[0] == "# This model is no better than always saying 'ok', by accuracy."
    assert lines[1].startswith("# Few rows of some classes ('fault' 20 rows)")
    text = next(line for line in lines if line.startswith("# On new rows: "))
    assert text.startswith("# On new rows: balanced accuracy 50.0 %, F1 macro 0.497; 99.0 % right, standard error ")
    assert "#          fault    ok   recall" in lines and "#   fault      0    20    0.0 %" in lines
    assert "#   ok         0  1980  100.0 %" in lines and "# Area under the ROC curve: 0.500." in lines

    document = json.loads(fitted(rare, *QUICK, "--format", "json", "--output", "m.json"))
    model = load(rare.folder / "m.json")
    for facts in (document, model.facts):
        assert facts["metric"] == "accuracy" and facts["warnings"][-1].startswith("Few rows of some classes")
        result = facts["on_new_rows"]
        assert np.sum(result["confusion"]) == 2000 and np.sum(result["confusion"][0]) == 20
        assert set(result["recalls"]) == {"fault", "ok"} and 0 <= result["roc_auc"] <= 1
        assert facts["budget"] == {"seconds": 40.0}
    assert "threshold" not in document


def found_of(rare, *arguments: str) -> tuple[float, dict]:
    """The recall of the rare class on new rows, and all that is said."""
    document = json.loads(fitted(rare, *arguments, "--format", "json"))
    assert np.sum(document["on_new_rows"]["confusion"]) == 2000  # the estimate counts rows once
    return document["on_new_rows"]["recalls"]["fault"], document


@pytest.mark.long
def test_weights_and_an_automatic_threshold_find_the_rare_class(rare):
    plain, _ = found_of(rare, *QUICK)
    heavy, printed = found_of(rare, *QUICK, "--metric", "balanced_accuracy", "--set", "class_weight=balanced")
    assert heavy > plain + 0.2
    assert printed["parameters"]["class_weight"] == "balanced" and printed["estimate"]["balanced_accuracy"] > 60
    tree = ("--algorithm", "axis_parallel", "--folds", "4", "--set", "pruning=none", "--set", "max_depth=1")
    plain, _ = found_of(rare, *tree)
    auto, text = found_of(rare, *tree, "--metric", "balanced_accuracy", "--threshold", "auto")
    assert auto > plain + 0.1
    assert text["threshold"]["label"] == "fault" and 0 < text["threshold"]["share"] < 0.5


def test_costs_decide(rare):
    text = fitted(rare, *QUICK, "--metric", "cost:costs.csv", "--threshold", "auto")
    assert "# On new rows: cost 0." in text and "% right (nested 4-fold cross-validation" in text
    assert "# It says 'fault' from a share of " in text and "on (chosen by cross-validation)." in text


@pytest.mark.long
def test_auto_goes_by_the_metric_and_leaves_out_what_takes_no_class_weights(rare):
    text = fitted(rare, "--metric", "recall:fault", "--set", "class_weight=balanced", "--folds", "3", "--time", "5s")
    lines = text.splitlines()
    assert any(line.startswith("# algorithm") and "recall of 'fault'" in line for line in lines)
    assert "hhgdt_forest" not in text and sum(line.endswith("  chosen") for line in lines) == 1
    assert "Budget: 5 s (--time)" in text.replace("\n# ", " ")
    assert any(line.startswith("# On new rows: recall of 'fault' ") for line in lines)


# ---- the model goes by its threshold everywhere ----------------------------------------------------------------------


@pytest.fixture
def model(rare):
    """A tree that says the rare class from a share of 0.8 on, in t.json: one leaf has more of it than of the other."""
    tree = ("--algorithm", "axis_parallel", "--folds", "2", "--set", "pruning=none", "--set", "max_depth=1")
    printed = fitted(rare, *tree, "--threshold", "0.8", "--output", "t.json")
    assert "# It says 'fault' from a share of 0.8 of it on (as asked)." in printed
    return rare


def test_predictions_scores_and_the_tree_go_by_the_threshold(model):
    results = records(model("predict", "t.json", "rare.csv", "--proba").out)
    expected = ["fault" if float(row["p(fault)"]) >= 0.8 else "ok" for row in results]
    assert [row["prediction"] for row in results] == expected
    assert any(float(row["p(fault)"]) > 0.5 and row["prediction"] == "ok" for row in results)
    scored = json.loads(model("score", "t.json", "rare.csv", "--format", "json").out)
    truth = [row["state"] for row in records((model.folder / "rare.csv").read_text())]
    right = np.mean([a == b for a, b in zip(expected, truth, strict=True)])
    assert scored["metrics"]["accuracy"] == pytest.approx(100 * right)
    shown = model("tree", "t.json")
    assert shown.code == 0 and "# Predicts 'fault' from a share of 0.8 in a leaf on." in shown.out.splitlines()


def test_exports_go_by_the_threshold(model):
    expected = [row["prediction"] for row in records(model("predict", "t.json", "rare.csv").out)]
    assert model("export", "t.json", "--output", "t.py").code == 0
    code = (
        "import csv, t; "
        "print(*[t.predict({name: float(row[name]) for name in 'abcde'}) for row in csv.DictReader(open('rare.csv'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=model.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == expected
    assert 'class "fault"' not in model("export", "t.json", "--format", "rules").out


def test_a_forest_with_a_threshold_predicts_by_it(rare):
    forest = ("--algorithm", "hhgdt_forest", "--set", "n_estimators=9", "--folds", "2")
    fitted(rare, *forest, "--threshold", "0.2", "--output", "f.json")
    results = records(rare("predict", "f.json", "rare.csv", "--proba").out)
    assert all((row["prediction"] == "fault") == (float(row["p(fault)"]) >= 0.2) for row in results)


# ---- a tree beside ---------------------------------------------------------------------------------------------------


def written(folder, X, y):
    """A table w.csv of six columns and the classes no and yes."""
    lines = [
        ",".join([*(f"{value:.4f}" for value in row), "yes" if item else "no"]) for row, item in zip(X, y, strict=True)
    ]
    (folder / "w.csv").write_text("\n".join(["a,b,c,d,e,f,y", *lines]) + "\n")


@pytest.mark.long
def test_a_scorecard_is_shown_where_it_wins(rare):
    X = np.random.default_rng(2).normal(size=(400, 6))
    written(rare.folder, X, (X**2).sum(axis=1) > 5.3)  # inside or outside a ball
    ended = rare("fit", "w.csv", "--target", "y", "--folds", "3", "--output", "model.json")
    assert ended.code == 0, ended.err
    model = load(rare.folder / "model.json")
    assert model.algorithm == "logistic_tree" and model.facts["n_terms"] == model.estimator.tree_.n_terms
    shown = re.sub("^#.*\n", "", ended.out, flags=re.MULTILINE)
    assert shown.count("against") == model.facts["leaves"]
    assert [f"{name}²" in shown for name in "abcdef"] == [True] * 6
    assert rare("tree", "model.json").out.endswith(shown)
    chosen = next(row for row in model.facts["compared"] if row["chosen"])
    assert chosen["algorithm"] == "logistic_tree" and chosen["n_terms"] >= 6 + chosen["leaves"]


@pytest.mark.long
def test_a_tree_is_written_beside_a_forest(rare):
    X = np.random.default_rng(2).normal(size=(400, 6))
    written(rare.folder, X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] * X[:, 5] > 0)
    ended = rare("fit", "w.csv", "--target", "y", "--folds", "2", "--set", "products=false", "--output", "model.json")
    assert ended.code == 0, ended.err
    assert load(rare.folder / "model.json").algorithm in ("hhgdt_forest", "oblique_boosting")
    tree = load(rare.folder / "model.tree.json")
    assert tree.facts["leaves"] < 40 and hasattr(tree.estimator, "tree_")
    assert (
        "points of accuracy." in ended.out
        and f"{tree.algorithm} of {tree.facts['leaves']} leaves and {tree.facts['n_terms']} terms, is kept" in ended.out
    )
    assert any(line.startswith("if ") for line in ended.out.splitlines())  # the rules of the tree beside it
    assert "model written to model.tree.json" in ended.err
    assert rare("predict", "model.tree.json", "w.csv").code == 0


# ---- what cannot be --------------------------------------------------------------------------------------------------


def test_times_as_people_write_them_help_states_the_budget_and_the_file_of_the_tree_beside(call):
    results = {text: TIME.convert(text, None, None) for text in ("30s", "2m", "1h", "45", "1.5m", " 2 M ")}
    assert list(results.values()) == [30, 120, 3600, 45, 90, 120]
    assert "[default: 40s]" in call("fit", "--help").out
    assert tree_beside("model.json") == "model.tree.json" and tree_beside("a/b.model") == "a/b.model.tree.json"


def test_cart_regression_is_cut_where_a_part_of_the_rows_lacks_a_level(call):
    """A level of one row is a column of all training rows, and of none of the folds that cut the tree."""
    rng = np.random.default_rng(1)
    rows = [(k % 40, f"place{k if k < 25 else 0}", 3 * (k % 40 > 20) + rng.normal()) for k in range(120)]
    lines = ["size,place,price", *(f"{a},{b},{c:.3f}" for a, b, c in rows)]
    (call.folder / "prices.csv").write_text("\n".join(lines) + "\n")
    ended = call(
        "fit", "prices.csv", "--target", "price", "--algorithm", "cart_regression", "--folds", "3", "--format", "json"
    )
    assert ended.code == 0, ended.err
    output = json.loads(ended.out)
    assert output["leaves"] == 2 and output["estimate"]["rmse"] < 1.4
    shown = call("fit", "prices.csv", "--target", "price", "--algorithm", "cart_regression", "--folds", "3").out
    assert re.search(r"^if size (<=|>=?) 20.5", shown, re.MULTILINE)
