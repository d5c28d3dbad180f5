"""The parts of a configuration that name classes, sources of data and files of code."""

import re
from functools import cache
from pathlib import Path

import jsonschema
import pytest
import yaml

from oblique_cli import config
from oblique_cli.config import outside
from oblique_cli.errors import ConfigError
from oblique_cli.ground.nouns import Experiment
from oblique_cli.ground.resources import PACKAGE

PAGE = PACKAGE.parent / "docs" / "outside.md"


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(config.schema())


def allowed(document: object) -> None:
    """Raise jsonschema.ValidationError where the schema refuses a configuration; whether it is one is tested once."""
    validator().validate(document)


def of(**changes) -> Experiment:
    return config.from_mapping({"version": 1, "dataset": "iris", "algorithm": "knn"} | changes, code=outside.LEAVE)


def test_an_entry_becomes_a_spec():
    entry = {
        "class": "sklearn.ensemble.RandomForestClassifier",
        "id": "rf",
        "params": {"n_estimators": 500, "class_weight": {"a": 2.0}, "max_depth": None},
        "grid": {"max_features": [0.3, "sqrt"], "min_samples_leaf": {"from": 1, "to": 5, "step": 2}},
        "prepare": "robust",
        "limits": {"memory": "1.5GB", "time": "2min"},
    }
    (spec,) = of(algorithm=entry, cv={"scheme": "nested"}).algorithms
    assert (spec.name, spec.id, spec.prepare) == (entry["class"], "rf", "robust")
    assert spec.params == entry["params"] and spec.limits == {"memory": 3 << 29, "time": 120.0}
    assert spec.grid == {"max_features": (0.3, "sqrt"), "min_samples_leaf": (1, 3, 5)}
    assert len(list(spec.candidates())) == 6


def test_whole_numbers_fractions_and_lists_stay_what_they_are_where_a_parameter_takes_them():
    # scikit-learn takes max_features 1 for one feature and 1.0 for all.
    for value in (1, 1.0, True):
        (spec,) = of(algorithm={"class": "sklearn.svm.SVC", "params": {"C": value}}).algorithms
        assert type(spec.params["C"]) is type(value)
    forest, network = "sklearn.ensemble.RandomForestClassifier", "sklearn.neural_network.MLPClassifier"
    with pytest.raises(ConfigError, match=r"Got \[100, 200\]\. .* grid: {n_estimators: \[100, 200\]}"):
        of(algorithm={"class": forest, "params": {"n_estimators": [100, 200]}})
    of(algorithm={"class": network, "params": {"hidden_layer_sizes": [100, 200]}})


@pytest.mark.parametrize(
    ("text", "amount"), [("60s", 60), ("5 min", 300), ("1H", 3600), (2.5, 2.5), ("0.5m", 30), (1, 1)]
)
def test_amounts_of_time(text, amount):
    assert outside.LIMITS["time"].amount(text) == amount


@pytest.mark.parametrize("text", ["", "s", "-1s", "0s", "5 parsecs", True, None, 0, -1, "1e3s", [], float("nan")])
def test_what_is_no_amount(text):
    assert not outside.LIMITS["time"].holds(text)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("random_forest", "sklearn.ensemble.RandomForestClassifier"),
        ("rf", "sklearn.ensemble.RandomForestClassifier"),
        ("cart", "sklearn.tree.DecisionTreeClassifier"),
        ("lda", "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"),
        ("XGBoost", "xgboost.XGBClassifier"),
        ("logistic-regression", "sklearn.linear_model.LogisticRegression"),
    ],
)
def test_a_usual_name_of_a_known_class_gives_its_entry(name, path):
    with pytest.raises(ConfigError, match=re.escape(f"is not known. Write {{class: {path}}}.")):
        of(algorithm=name)
    assert of(algorithm={"class": path}).algorithms[0].name == path


@pytest.mark.parametrize("entry", ["sklearn.ensemble.RandomForest", {"class": "sklearn.ensemble.RandomForest"}])
def test_the_beginning_of_a_class_name_gives_the_class(entry):
    with pytest.raises(ConfigError, match=r"Did you mean sklearn\.ensemble\.RandomForestClassifier or "):
        of(algorithm=entry)


def test_sources_and_parquet_files_become_specs_and_names_of_the_catalogue_stay_its_own(tmp_path):
    plain = {"version": 1, "algorithm": "knn"}
    plain["datasets"] = [{"openml": 31}, {"sklearn": "iris"}, {"sklearn": "breast_cancer", "name": "cancer"}]
    sets = config.from_mapping(plain).datasets
    assert [(s.name, s.source) for s in sets] == [
        ("openml-31", "openml:31"),
        ("iris-sklearn", "sklearn:iris"),
        ("cancer", "sklearn:breast_cancer"),
    ]
    assert "source" not in of().content()["datasets"][0], "stored results of other sets keep their digest"
    (tmp_path / "my.parquet").write_bytes(b"PAR1")
    (spec,) = of(dataset={"parquet": str(tmp_path / "my.parquet"), "target": "y"}).datasets
    assert (spec.csv, spec.target) == (str(tmp_path / "my.parquet"), "y")


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL))
def test_the_examples_of_the_page_are_good(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("my.csv", "other.parquet", "my_heuristics.py"):
        Path(name).touch()
    plain = {"version": 1, "algorithm": "knn"} | yaml.safe_load(block)
    if "algorithms" in plain:
        del plain["algorithm"]
    experiment = config.from_mapping(plain, code=outside.LEAVE)
    assert experiment.datasets
    if "import" not in plain:  # the schema knows no names that files register
        allowed(plain)


def test_limits_hold_for_algorithms_of_this_package_and_for_all_of_them():
    ours = {"name": "oc1", "pruning": "cv", "limits": {"time": "2min"}}
    plain = {"algorithms": [ours, "hhgdt", {"class": "sklearn.svm.SVC"}], "limits": {"time": "3s", "memory": "1GB"}}
    limited = config.from_mapping({"version": 1, "dataset": "iris", **plain})
    first, *others = limited.algorithms
    assert first.params == {"pruning": "cv"} and first.limits == {"time": 120.0, "memory": 1 << 30}
    assert all(spec.limits == {"time": 3.0, "memory": 1 << 30} for spec in others)
    allowed({"version": 1, "dataset": "iris", **plain})
    same = [{"name": "oc1", "pruning": "cv"}, *plain["algorithms"][1:]]
    free = config.from_mapping({"version": 1, "dataset": "iris", "algorithms": same})
    assert [spec.limits for spec in free.algorithms] == [{}, {}, {}]
    assert free.digest() == limited.digest(), "limits decide no result"


def test_the_schema_refuses_what_is_refused():
    good = {"version": 1, "dataset": "iris", "algorithm": {"class": "sklearn.svm.SVC", "limits": {"time": "3s"}}}
    allowed(good)
    for key, value in (("limits", {"time": "soon"}), ("prepare", "scale"), ("colour", 1), ("class", "SVC")):
        with pytest.raises(jsonschema.ValidationError):
            allowed(good | {"algorithm": good["algorithm"] | {key: value}})
