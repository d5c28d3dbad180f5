"""Estimators of this package within limits: the same models, or an error that says which limit."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

from oblique_cli.errors import NotConverged
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.outside.process import Crashed, OutOfMemory, OutOfTime, own_process
from oblique_cli.estimators.outside.remote import LimitedEstimator
from oblique_cli.evaluation.metrics import METRICS, Undefined

X, Y = load_iris(return_X_y=True)
MB = 1 << 20
LIMITS = {"time": 60.0, "memory": 1 << 30}


def both(name: str, limits: dict = LIMITS, **params):
    return LimitedEstimator(make(name, 3, **params), limits), make(name, 3, **params)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "params"),
    [("hhcart_a", {"pruning": "cv"}), ("hhgdt_forest", {"n_estimators": 5}), ("hhbut", {}), ("knn", {})],
)
def test_a_model_within_its_limits_is_the_model_without_them(name, params):
    limited, free = (model.fit(X[::2], Y[::2]) for model in both(name, **params))
    np.testing.assert_array_equal(limited.predict(X), free.predict(X))
    np.testing.assert_array_equal(limited.predict_proba(X), free.predict_proba(X))
    for attribute in ("n_leaves_", "n_nodes_", "depth_", "n_clusters_"):
        assert getattr(limited, attribute, None) == getattr(free, attribute, None), attribute
    np.testing.assert_array_equal(limited.classes_, free.classes_)
    for metric in ("non_zero", "mean_path"):
        found = []
        for model in (limited, free):
            try:
                found.append(METRICS[metric].function(model, X))
            except Undefined as reason:
                found.append(str(reason))
        assert found[0] == found[1], metric


def test_a_regression_tree_has_no_probabilities_here_either():
    limited, free = (model.fit(X[:, 1:], X[:, 0]) for model in both("hhcart_regression"))
    np.testing.assert_array_equal(limited.predict(X[:, 1:]), free.predict(X[:, 1:]))
    assert not hasattr(limited, "predict_proba") and not hasattr(limited, "classes_")


def test_predictions_of_a_path_and_what_an_estimator_says_of_itself_come_through():
    limited, free = (model.fit(X, Y) for model in both("hhcart_a"))
    np.testing.assert_array_equal(limited.predict_path(X, [0.0, 0.5]), free.predict_path(X, [0.0, 0.5]))
    np.testing.assert_array_equal(limited.n_leaves_path([0.0, 0.5]), free.n_leaves_path([0.0, 0.5]))
    limited, free = (model.fit(X, Y) for model in both("mprrof_p", n_estimators=5))
    assert limited.extra_measures(X, Y) == free.extra_measures(X, Y)
    assert not hasattr(both("hhcart_a")[0].fit(X, Y), "extra_measures")


@pytest.mark.long
def test_the_limit_of_time_ends_a_fit_in_compiled_code_and_the_next_model_is_fitted():
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(4000, 20)), rng.integers(0, 5, 4000)
    with pytest.raises(OutOfTime, match=r"^not done within the limit of 0\.3 s$"):
        LimitedEstimator(make("oc1", 0), {"time": 0.3}).fit(rows, codes)
    limited, free = (model.fit(X, Y) for model in both("oc1"))
    np.testing.assert_array_equal(limited.predict(X), free.predict(X))


@pytest.mark.long
def test_starting_the_process_takes_no_time_of_the_model():
    own_process().close()
    limited, _ = both("axis_parallel", {"time": 0.5})  # importing this package takes longer
    limited.fit(X, Y).predict(X)
    assert limited.seconds_saved_ < -0.1


def test_a_model_that_died_with_its_process_is_an_error():
    limited, _ = both("axis_parallel")
    limited.fit(X, Y)
    own_process().close()
    with pytest.raises(Crashed, match="the process that had the model died since"):
        limited.predict(X)
    with pytest.raises(Crashed):
        limited.tree_  # noqa: B018


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce a limit of private memory")
def test_the_limit_of_memory_holds_in_compiled_code():
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(200, 9)), rng.integers(0, 6, 200)
    own_process().close()  # memory that an earlier model has given back would be had for nothing
    with pytest.raises(OutOfMemory, match=r"^more memory is needed than the limit of 3 MB"):
        LimitedEstimator(make("hhgdt_forest", 0, n_estimators=1000), {"memory": 3 * MB, "time": 60.0}).fit(rows, codes)


@pytest.mark.long
def test_errors_are_those_of_the_estimator():
    with pytest.raises(Exception, match="infinity") as caught:
        both("axis_parallel")[0].fit(np.where(X > 7, np.inf, X), Y)
    assert type(caught.value).__name__ == "ValueError"
    limited, free = both("hhbut", max_steps=1)
    with pytest.raises(NotConverged) as expected:
        free.fit(X, Y)
    with pytest.raises(NotConverged) as found:
        limited.fit(X, Y)
    assert str(found.value) == str(expected.value) and found.value.label == expected.value.label


def test_a_name_that_is_not_there_is_no_attribute():
    limited, _ = both("axis_parallel")
    with pytest.raises(AttributeError, match="AxisParallelClassifier has no attribute 'tree_'"):
        limited.tree_  # noqa: B018
    with pytest.raises(AttributeError, match="colour"):
        limited.fit(X, Y).colour  # noqa: B018


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "name", sorted({a.estimator.__module__: n for n, a in ALGORITHMS.items() if a.family.makes_tree}.values())
)
def test_every_tree_can_be_sent(name):
    """Pickled by name, whatever made its class."""
    family = ALGORITHMS[name].family
    rows = np.round(X / 4) if "discrete" in family.growth else X
    limited = LimitedEstimator(make(name, 0), LIMITS).fit(rows, X[:, 0] if family.task == "regression" else Y)
    assert len(limited.predict(rows)) == len(X)
