"""Words as levels in trees over discrete features: unknown levels, missing values, model files, exports, commands."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import oblique_cli
from oblique_cli import C45Classifier, config
from oblique_cli.cli import cli
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.experiments.running import run
from oblique_cli.experiments.store import Store
from oblique_cli.papers.discrete.c45 import C45, Rows, _Node
from oblique_cli.papers.discrete.domain import Domain

NAMES = ("c45", "aft", "c45_bagging", "c45_forest", "rft", "odt", "odt_lr")
# Quinlan (1993), table 2.1; humidity by its cut at 75. Chapter 3 makes the outlook of the ninth case unknown.
GOLF = """sunny low true play;sunny high true dont;sunny high false dont;sunny high false dont;sunny low false play
overcast high true play;overcast high false play;overcast low true play;overcast low false play;rain high true dont
rain low true dont;rain high false play;rain high false play;rain high false play"""


def golf(unknown=(5,)):
    cells = [line.split() for line in GOLF.replace("\n", ";").split(";")]
    table = pd.DataFrame(cells, columns=["outlook", "humidity", "windy", "class"])
    table.loc[list(unknown), "outlook"] = None
    return table.drop(columns="class"), table["class"].to_numpy()


def mixed(seed=0, n=240, classes=3):
    """A table of words, categories, Booleans and numbers with a rule, and its copy with new levels and gaps."""
    rng = np.random.default_rng(seed)
    color, shape = rng.choice(["red", "green", "blue"], n), rng.choice(["round", "square", "flat", "odd"], n)
    size, flag = rng.normal(size=n).round(2), rng.random(n) > 0.5
    X = pd.DataFrame({"color": color, "size": size, "shape": pd.Categorical(shape), "flag": flag})
    y = np.where(
        (color == "red") & (size > 0), "a", np.where((shape == "flat") | flag, "b", "c" if classes > 2 else "a")
    )
    noisy = rng.random(n) < 0.1
    y[noisy] = rng.choice(np.unique(y), noisy.sum())
    new = X.astype({"shape": object, "flag": object})
    new.loc[::3, "color"] = "mauve"
    new.loc[1::4, "shape"] = None
    new.loc[5::9, "flag"] = None
    return X, y, new


def made(name, **params):
    few = {"n_estimators": 5} if "n_estimators" in ALGORITHMS[name].parameters else {}
    return ALGORITHMS[name].make(random_state=1, **few, **params)


def test_an_unknown_value_is_treated_as_in_the_example_of_c45():
    X, y = golf()
    tree = C45Classifier(pruning="none").fit(X, y)
    # The book: the case of unknown outlook goes down with 5/13, 3/13 and 5/13 of its weight.
    assert tree.export_text() == (
        "outlook = overcast: play  (0, 3.23)\n"
        "outlook = rain:\n    windy = false: play  (0, 3)\n    windy = true: dont  (2, 0.385)\n"
        "outlook = sunny:\n    humidity = high: dont  (3, 0.385)\n    humidity = low: play  (0, 2)\n"
    )
    row = pd.DataFrame([["sunny", None, "false"], ["sunny", "damp", "false"]], columns=X.columns)
    shares = tree.predict_proba(row)
    assert shares == pytest.approx(np.array(2 * [[3 / 5.384615, 2.384615 / 5.384615]]), abs=1e-6)  # 56 % and 44 %
    assert tree.predict(row).tolist() == ["dont", "dont"]


def test_gain_and_split_information_count_the_unknown_value_as_in_the_book():
    X, y = golf()
    codes = np.array([{"sunny": 0, "overcast": 1, "rain": 2}.get(value, -1) for value in X["outlook"]])[:, None]
    rows = Rows.of(codes, (y == "play").astype(int), 2, Domain([3]))
    gains = {}
    for criterion in ("gain", "gain_ratio"):
        node = _Node(np.arange(14), None, rows.counts(np.arange(14)))
        gains[criterion] = float(C45(criterion)._scores(node, rows, np.array([True]), 14.0, 2.0)[0])
    assert gains["gain"] == pytest.approx(0.199, abs=5e-4)
    assert gains["gain_ratio"] == pytest.approx(0.199 / 1.809, abs=5e-4)


@pytest.mark.parametrize("name", NAMES)
def test_words_are_levels_and_a_level_of_two_values_equals_its_code(name):
    X, y, _ = mixed()
    coded = pd.DataFrame({n: X[n] if n == "size" else np.unique(X[n], return_inverse=True)[1] for n in X})
    words, codes = made(name).fit(X, y), made(name).fit(coded.to_numpy(float), y)
    assert words.predict_proba(X).tolist() == codes.predict_proba(coded.to_numpy(float)).tolist()
    assert any("= round" in text for text in words.value_names()[2])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", ["error", "impute"])
@pytest.mark.parametrize("name", NAMES)
def test_files_and_exports_predict_new_levels_and_gaps_as_the_estimator_does(name, missing, classes, tmp_path):
    X, y, new = mixed(classes=classes)
    fitted = made(name, missing=missing).fit(X, y)
    oblique_cli.save(fitted, tmp_path / "m.json")
    model = oblique_cli.load(tmp_path / "m.json")
    assert model.predict_proba(new).tolist() == fitted.predict_proba(new).tolist()
    scope = {}
    exec(oblique_cli.export(model, "python"), scope)
    rows = [[v if j == 1 else None if v is None else str(v) for j, v in enumerate(row)] for row in new.to_numpy(object)]
    assert [scope["predict"](row) for row in rows] == fitted.predict(new).tolist() == model.predict(new).tolist()


@pytest.mark.parametrize("name", ["aft", "odt"])
def test_a_tree_of_a_spectrum_gives_an_unknown_level_the_mean_over_the_levels(name):
    X, y, _ = mixed()
    fitted = made(name, energy=1.0).fit(X, y)
    unknown = X.astype({"shape": object}).assign(shape="new")
    of_levels = [fitted._scores(fitted._codes(X.assign(shape=level))) for level in sorted(set(X["shape"]))]
    assert fitted._scores(fitted._codes(unknown)) == pytest.approx(np.mean(of_levels, axis=0), abs=1e-12)


def test_missing_numbers_of_shares_are_learned_and_predicted():
    X, y, _ = mixed()
    X.loc[::7, "size"] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        C45Classifier().fit(X, y)
    tree = C45Classifier(missing="shares").fit(X, y)
    assert tree.score(X, y) > 0.8
    assert tree.tree_.values[0].sum() == pytest.approx(len(X))


def test_a_model_whose_ways_of_unknown_levels_are_too_many_predicts_but_is_not_exported():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice(list("abcdef"), size=(1500, 8)))
    X.columns = [f"w{j}" for j in range(8)]
    tree = C45Classifier(pruning="none", min_samples_leaf=1).fit(X, rng.integers(0, 2, 1500))
    with pytest.raises(ConfigError, match="missing=impute"):
        oblique_cli.export(tree, "python")
    assert tree.set_params(missing="impute").fit(X, rng.integers(0, 2, 1500)).predict(X).shape == (1500,)


def test_an_experiment_a_fit_and_predictions_take_words_as_they_are(tmp_path):
    X, y, new = mixed()
    X.assign(label=y).to_csv(tmp_path / "w.csv", index=False)
    new.loc[3::7, "size"] = None
    new.to_csv(tmp_path / "new.csv", index=False)
    model, answers = str(tmp_path / "m.json"), tmp_path / "out.csv"
    command = ["fit", str(tmp_path / "w.csv"), "--target", "label", "--algorithm", "c45", "--output", model]
    shown = CliRunner().invoke(cli, command)
    assert shown.exit_code == 0 and "shape = flat" in shown.stdout
    shown = CliRunner().invoke(cli, ["predict", model, str(tmp_path / "new.csv"), "--output", str(answers)])
    assert shown.exit_code == 0 and "'mauve'); it goes down all branches, by shares" in shown.stderr
    assert len(answers.read_text().splitlines()) == len(new) + 1
    assert json.loads((tmp_path / "m.json").read_text())["encoder"] is None
    table = {"csv": str(tmp_path / "w.csv"), "target": "label", "encoding": "crimcoord"}
    methods = [{"name": name, **({} if name == "c45" else {"n_estimators": 3})} for name in NAMES]
    cv = {"scheme": "nested", "folds": 2}
    experiment = config.from_mapping({"version": 1, "dataset": table, "algorithms": methods, "cv": cv})
    with Store(tmp_path / "r.sqlite") as store:
        assert run(experiment, store, n_jobs=1).failures == ()
