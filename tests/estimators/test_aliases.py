"""Papers' names of parameters beside scikit-learn's: both work, and neither changes the key of a job."""

import json

import jsonschema
import numpy as np
import pytest
from contracts import real_set
from runner_support import toy

from oblique_cli import config
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.experiments.jobs import expand
from oblique_cli.ground.constraints import FeatureCount

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
    return config.from_mapping(
        {
            "version": 1,
            "dataset": "iris",
            "algorithm": {"name": name, **plain},
            "cv": {"scheme": scheme, "folds": 2, "repeats": 1},
        }
    )


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


def test_grids_are_stored_under_the_same_name_too():
    grids = [{"max_features": {"grid": [1, 2]}}, {"mtry": {"grid": [1, 2]}}]
    ours, theirs = (experiment("rrof", grid, scheme="nested").algorithms[0].grid for grid in grids)
    assert dict(ours) == dict(theirs) == {"mtry": (1, 2)}


def test_a_value_that_papers_do_not_have_keeps_the_name():
    for value in ("log2", "sqrt", 0.5):
        assert dict(experiment("raf", {"max_features": value}).algorithms[0].params) == {"mtry": value}
    # All features: None of mtry has always been the paper's own number.
    assert dict(experiment("raf", {"max_features": None}).algorithms[0].params) == {"max_features": None}
    assert make("raf", mtry=None).max_features == "auto" and make("raf", max_features=None).max_features is None


def test_both_names_at_once_are_refused():
    message = "n_trees and n_estimators of raf are the same parameter"
    with pytest.raises(ConfigError, match=rf"^{message}\. Give one of them\.$"):
        make("raf", n_trees=3, n_estimators=3)
    with pytest.raises(ConfigError, match=rf"{message}; give one of them\."):
        experiment("raf", {"n_trees": 3, "n_estimators": 3})


def test_messages_and_schema_know_both_names():
    with pytest.raises(ConfigError, match=r"n_trees of raf must be a whole number from 1 to 1000000\. Got 0"):
        experiment("raf", {"n_trees": 0})
    schema = jsonschema.Draft202012Validator(config.schema())
    for params in ({"mtry": 3}, {"max_features": 0.5}, {"max_features": "sqrt"}, {"minleaf": 2}):
        document = {"version": 1, "dataset": "iris", "algorithm": {"name": "raf", **params}}
        schema.validate(json.loads(json.dumps(document)))


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
