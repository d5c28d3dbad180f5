"""Former names and papers' names: each answers with the present one, files load, and keys of jobs stay."""

import json
import sys

import jsonschema
import numpy as np
import pytest
from contracts import real_set
from runner_support import toy

import oblique_cli
from oblique_cli import HHCARTClassifier, HHGDTClassifier, config
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.experiments.jobs import expand
from oblique_cli.ground.constraints import FeatureCount
from oblique_cli.ground.later import FORMER
from oblique_cli.models.codecs import Arrays, Scope
from oblique_cli.models.file_format import digest
from oblique_cli.models.serialize import parameters_of, plain_parameters

IRIS = real_set("iris").X, real_set("iris").y
CONFIG = "version: 1\ndataset: iris\nalgorithm: {{name: hhgdt, {}}}\ncv: {{scheme: nested, folds: 2}}\n"


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("Growth", r"HHCARTClassifier\(max_depth=3\)"),
        ("Leaves", r"HHCARTClassifier\(max_depth=3\)"),
        ("C45", r"OrthogonalTreesClassifier\(max_depth=3\)"),
        ("Refinement", "TAOClassifier"),
        ("TAORegressor", r"make\('tao_regression', "),
        ("MPRRoFTClassifier", r"make\('mprrof_t', "),
    ],
)
def test_a_removed_class_names_the_flat_way(name, way):
    with pytest.raises(ImportError, match=way):
        getattr(oblique_cli, name)
    assert name not in dir(oblique_cli)


@pytest.mark.parametrize("former", FORMER)
def test_a_former_class_name_works_with_a_warning_and_loads(former, tmp_path):
    with pytest.warns(FutureWarning, match=rf"{former} is now oblique_cli\.{FORMER[former]}; "):
        cls = getattr(oblique_cli, former)
    assert cls is getattr(oblique_cli, FORMER[former]) and former not in dir(oblique_cli)
    assert getattr(sys.modules[cls.__module__], former) is cls  # as pickle finds it
    X, y = IRIS
    model = cls().fit(X, X[:, 0] if cls.__name__.endswith("Regressor") else y)
    path = tmp_path / "model.json"
    oblique_cli.save(model, path)
    document = json.loads(path.read_text())
    assert document["estimator"] == cls.__name__
    document["estimator"] = former
    path.write_text(json.dumps({**document, "digest": digest(document)}))
    np.testing.assert_array_equal(oblique_cli.load(path).estimator.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("growth: {max_depth: 2}", "unknown key 'growth' in algorithm hhgdt. Write its parameters flat"),
        ("leaves: {probabilities: laplace}", "'leaves' in algorithm hhgdt. Write its parameters flat"),
        ("growth__max_depth: 2", "unknown key 'growth__max_depth' in algorithm hhgdt. Write it flat: max_depth."),
        (
            "pruning: {name: cv, pruning_folds: 4}",
            "unknown key 'name' in pruning of hhgdt. Write the name as the value",
        ),
    ],
)
def test_a_configuration_names_the_flat_way_with_its_place(tmp_path, text, sentence):
    (tmp_path / "bad.yaml").write_text(CONFIG.format(text))
    with pytest.raises(ConfigError) as caught:
        config.load(tmp_path / "bad.yaml")
    assert sentence in str(caught.value) and "bad.yaml:3:" in str(caught.value)


def test_make_and_set_params_name_the_flat_way():
    with pytest.raises(ConfigError, match=r"^hhgdt has no parameter 'growth__max_depth'\. Write it flat: max_depth\.$"):
        make("hhgdt", growth__max_depth=2)
    with pytest.raises(ConfigError, match=r"^growth__max_depth of HHGDTClassifier cannot be set; set max_depth\.$"):
        HHGDTClassifier().set_params(growth__max_depth=2)


def test_a_model_file_with_groups_loads(tmp_path):
    tree = HHGDTClassifier(max_depth=2, random_state=0).fit(*IRIS)
    former = {**tree.get_params(deep=False), "growth": None, "leaves": None, "refine": {"penalty": 0.02}}
    plain = plain_parameters(former, Scope("parameters", Arrays(), reading=False))
    oblique_cli.save(tree, tmp_path / "tree.json")
    fitted = oblique_cli.load(tmp_path / "tree.json").fitted
    fitted.__dict__.pop("estimator", None)
    object.__setattr__(fitted, "parameters", json.loads(json.dumps(plain)))
    assert fitted.estimator.get_params() == tree.get_params() | {"refine": "tao"}
    np.testing.assert_array_equal(fitted.estimator.predict(IRIS[0]), tree.predict(IRIS[0]))


def test_the_tree_of_a_parameter_takes_the_values_of_its_groups():
    scope = Scope("parameters", Arrays(), reading=False)
    plain = plain_parameters({"base": HHCARTClassifier()}, scope)
    plain["base"]["parameters"] |= plain_parameters({"growth": {"max_depth": 3}, "leaves": None}, scope)
    reading = Scope("parameters", Arrays(), reading=True)
    assert parameters_of(plain, reading)["base"].max_depth == 3
    with pytest.raises(DataError, match="growth"):
        parameters_of({"growth": {"max_depth": 3}}, reading)


# ---- second names of parameters --------------------------------------------------------------------------------------


# As written, as it was before, and what jobs and results have.
PAIRS = [
    ("raf", {"n_estimators": 7, "min_samples_leaf": 3}, {"n_trees": 7, "minleaf": 3}),
    ("hhcart_forest", {"max_features": "auto"}, {"mtry": None}),
    ("hhcart_a", {"min_samples_leaf": 2.0}, {"min_leaf": 2.0}),
    ("oc1", {"standardization": "none", "restarts": 3}, {"standardisation": "none", "restarts": 3}),
    ("c45", {"min_samples_leaf": 4.0}, {"min_cases": 4.0}),
    ("odt", {"n_estimators": 3, "min_samples_leaf": 4.0, "n_bins": 3}, {"n_trees": 3, "min_cases": 4.0, "n_bins": 3}),
]


def experiment(name, params, scheme="ordinary"):
    plain = {key: "none" if value is None else value for key, value in params.items()}
    cv = {"scheme": scheme, "folds": 2, "repeats": 1}
    return config.from_mapping({"version": 1, "dataset": "iris", "algorithm": {"name": name, **plain}, "cv": cv})


@pytest.mark.parametrize(("name", "current", "stored"), PAIRS)
def test_both_names_make_the_same_job_and_the_same_estimator(name, current, stored):
    ours, theirs = (experiment(name, params) for params in (current, stored))
    assert dict(ours.algorithms[0].params) == dict(theirs.algorithms[0].params) == stored
    assert ours.digest() == theirs.digest()
    assert [j.key for j in expand(ours, [toy(name="iris")])] == [j.key for j in expand(theirs, [toy(name="iris")])]
    assert repr(make(name, **current)) == repr(make(name, **stored))
    assert ALGORITHMS[name].current(stored) == current


def test_the_key_of_a_job_is_the_one_that_stored_results_have():
    """Digests of the day before the parameters had two names."""
    keys = {
        "raf": ({"n_trees": 7, "minleaf": 3}, "1d11202df470f95a"),
        "odt": ({"n_trees": 3, "min_cases": 4.0}, "22f6bd5516eb6aae"),
        "oc1": ({"standardization": "none"}, "9c48a90d7b3bc6b3"),
        "oc1_lc": ({"standardization": "none"}, "603c1284fb8c5356"),
    }
    for name, (params, key) in keys.items():
        assert expand(experiment(name, params), [toy(name="iris")])[0].key.startswith(key)


def test_grids_and_values_that_papers_do_not_have_are_stored_under_one_name():
    grids = [{"max_features": {"grid": [1, 2]}}, {"mtry": {"grid": [1, 2]}}]
    ours, theirs = (experiment("rrof", grid, scheme="nested").algorithms[0].grid for grid in grids)
    assert dict(ours) == dict(theirs) == {"mtry": (1, 2)}
    for value in ("log2", "sqrt", 0.5):
        assert dict(experiment("raf", {"max_features": value}).algorithms[0].params) == {"mtry": value}
    # All features: None of mtry has always been the paper's own number.
    assert dict(experiment("raf", {"max_features": None}).algorithms[0].params) == {"max_features": None}
    assert make("raf", mtry=None).max_features == "auto" and make("raf", max_features=None).max_features is None


def test_messages_and_schema_know_both_names_and_refuse_both_at_once():
    with pytest.raises(ConfigError, match=r"n_trees of raf must be a whole number from 1 to 1000000\. Got 0"):
        experiment("raf", {"n_trees": 0})
    schema = jsonschema.Draft202012Validator(config.schema())
    for params in ({"mtry": 3}, {"max_features": 0.5}, {"max_features": "sqrt"}, {"minleaf": 2}):
        document = {"version": 1, "dataset": "iris", "algorithm": {"name": "raf", **params}}
        schema.validate(json.loads(json.dumps(document)))
    message = "n_trees and n_estimators of raf are the same parameter"
    with pytest.raises(ConfigError, match=rf"^{message}\. Give one of them\.$"):
        make("raf", n_trees=3, n_estimators=3)
    with pytest.raises(ConfigError, match=rf"{message}; give one of them\."):
        experiment("raf", {"n_trees": 3, "n_estimators": 3})


@pytest.mark.parametrize(
    ("value", "of_ten"),
    [("auto", 3), ("sqrt", 3), ("log2", 3), (None, 10), (4, 4), (np.int64(4), 4), (0.5, 5), (1.0, 10), (0.01, 1)],
)
def test_max_features_mean_what_they_mean_in_scikit_learn(value, of_ten):
    assert value is None or FeatureCount().holds(value)
    assert FeatureCount.of(value, 10) == of_ten
    assert FeatureCount.of("auto", 8) == 3 and FeatureCount.of("sqrt", 8) == 2 and FeatureCount.of("sqrt", 1) == 1


@pytest.mark.parametrize("value", [0, True, 0.0, 1.5, "many", -1])
def test_other_max_features_are_refused(value):
    assert not FeatureCount().holds(value)
    data = real_set("iris")
    with pytest.raises(
        ConfigError, match=r"^max_features of MPSVMForestClassifier must be a whole number, at least 1, a"
    ):
        ALGORITHMS["raf"].estimator(max_features=value).fit(data.X, data.y)
