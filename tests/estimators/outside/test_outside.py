"""Estimators of other libraries, and ours within limits: built, bounded, survived; the tables of known classes."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_regression
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators
from waiting import wait_until

from oblique_cli.errors import ConfigError, NotConverged
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.outside import building, known
from oblique_cli.estimators.outside.algorithm import OutsideAlgorithm
from oblique_cli.estimators.outside.building import load_class, parameters
from oblique_cli.estimators.outside.known import CLASSES, LIBRARIES, allowed, library_of, refused
from oblique_cli.estimators.outside.process import Crashed, OutOfMemory, OutOfTime, own_process
from oblique_cli.estimators.outside.remote import LimitedEstimator, OutsideEstimator
from oblique_cli.evaluation.metrics import METRICS, Undefined
from oblique_cli.ground.nouns import AlgorithmSpec

X, Y = load_iris(return_X_y=True)
MB = 1 << 20
# Rows whose first feature is not the row number 0, so that the estimators of `outside_support` misbehave.
BAD = X + 100


def estimator(path: str, *, limits: dict | None = None, prepare: str = "", seed: int = 5, **params) -> OutsideEstimator:
    return OutsideEstimator(path, params, prepare, limits, known.task_of_class(path) == "regression", seed)


def nasty(name: str, **options) -> OutsideEstimator:
    return estimator(f"outside_support.{name}", **options)


@pytest.mark.long
def test_a_model_of_scikit_learn_is_the_one_it_makes_itself():
    ours = estimator("sklearn.tree.DecisionTreeClassifier", max_depth=3).fit(X, Y)
    its = DecisionTreeClassifier(max_depth=3, random_state=5).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), its.predict(X))
    np.testing.assert_array_equal(ours.predict_proba(X), its.predict_proba(X))
    assert (ours.n_leaves_, ours.n_nodes_, ours.depth_) == (its.get_n_leaves(), its.tree_.node_count, its.get_depth())


def test_columns_labels_and_weights_of_classes_reach_it_in_its_own_form():
    rows = X * [1, 100, 0.01, 1]
    for prepare, scaler in {"standardize": StandardScaler, "minmax": MinMaxScaler, "robust": RobustScaler}.items():
        ours = estimator("sklearn.svm.SVC", prepare=prepare).fit(rows[::2], Y[::2])
        fitted = scaler().fit(rows[::2])
        its = SVC(random_state=5).fit(fitted.transform(rows[::2]), Y[::2])
        np.testing.assert_array_equal(ours.predict(rows[1::2]), its.predict(fitted.transform(rows[1::2])))
    two = np.where(Y == 0, 1, 6)
    model = nasty("Says").fit(X, two)
    assert model.classes_.tolist() == [1, 6] and set(model.predict(X)) == {6}
    model = estimator("sklearn.svm.SVC", class_weight={1: 1000.0, 4: 1.0, 6: 0.001}, C=0.01).fit(X, two)
    assert (model.predict(X) == 1).mean() > 0.9


def test_an_estimator_that_forks_or_has_workers_answers_once_and_prints_to_nobody(capfd):
    for _ in range(3):
        model = nasty("Forks").fit(X, Y)
        assert model.predict(X[:7]).tolist() == [0] * 7
    assert estimator("sklearn.tree.DecisionTreeClassifier").fit(X, Y).predict(X[:2]).tolist() == [0, 0]
    assert nasty("Pools").fit(X, Y).predict(X[:3]).tolist() == [0] * 3
    nasty("Majority", greeting="NOISE").fit(X, Y).predict(X)
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_an_answer_to_another_question_is_not_taken():
    process = own_process()
    process.close()
    reply = process.ask("check", 60, path="sklearn.svm.SVC", params={})
    assert reply is None
    process._pipe.send((10**6, "whole", {"number": -1}))  # an answer that nobody waits for
    assert process._pipe.poll(60)
    with pytest.raises(Crashed, match="answered another question"):
        process.ask("check", 60, path="sklearn.svm.SVC", params={})
    assert process.ask("check", 60, path="sklearn.svm.SVC", params={}) is None, "with a new process"


def test_an_estimator_can_be_a_parameter_and_gets_the_seed_too():
    inner = {"class": "sklearn.tree.DecisionTreeClassifier", "params": {"max_depth": 1, "splitter": "random"}}
    rows = [
        estimator("sklearn.ensemble.AdaBoostClassifier", estimator=inner, n_estimators=3).fit(X, Y).predict_proba(X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*rows)


def test_probabilities_are_known_once_it_is_fitted_and_a_regressor_has_none():
    assert not hasattr(estimator("sklearn.svm.SVC").fit(X, Y), "predict_proba")
    assert not hasattr(nasty("Majority").fit(X, Y), "predict_proba")
    assert hasattr(estimator("sklearn.naive_bayes.GaussianNB").fit(X, Y), "predict_proba")
    rows, values = make_regression(60, 3, random_state=0)
    model = estimator("sklearn.tree.DecisionTreeRegressor").fit(rows, values)
    np.testing.assert_allclose(model.predict(rows), values)
    assert not hasattr(model, "predict_proba") and not hasattr(model, "classes_")


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_crash_or_an_exception_is_an_error_that_says_how_and_the_next_model_is_fitted():
    with pytest.raises(Crashed, match=r"its process died of SIGSEGV \(segmentation fault\)"):
        nasty("Segfault").fit(BAD, Y)
    assert len(nasty("Majority").fit(X, Y).predict(X)) == len(X)
    with pytest.raises(Crashed, match="left with exit code 3"):
        nasty("DiesBesideACopy", limits={"time": 30}).fit(X, Y)
    nasty("Majority").fit(X, Y)
    before = own_process().generation
    with pytest.raises(Exception, match=r"^singular matrix$") as caught:
        nasty("Raises").fit(BAD, Y)
    assert type(caught.value).__name__ == "LinAlgError"
    assert own_process().generation == before


def test_the_limit_of_time_holds_for_predictions_too():
    model = nasty("HangsLater", limits={"time": 1.0}).fit(X, Y)
    with pytest.raises(OutOfTime):
        model.predict(X)
    with pytest.raises(Crashed, match="the process that had the model died since"):
        model.predict(X)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce a limit of private memory")
def test_memory_is_limited():
    with pytest.raises(OutOfMemory, match=r"more memory is needed than the limit of 300 MB \(Unable to allocate"):
        nasty("Eat", limits={"memory": 300 * MB}).fit(BAD, Y)
    with pytest.raises(OutOfTime):
        nasty("EatAndSwallow", limits={"memory": 300 * MB, "time": 2.0}).fit(BAD, Y)
    assert len(nasty("Majority", limits={"memory": 300 * MB}).fit(X, Y).predict(X)) == len(X)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Strange", "outside_support.Strange predicts labels that it was not given"),
        ("Shapeless", r"outside_support.Shapeless predicts an array of shape \(150, 2\) for 150 rows"),
    ],
)
def test_predictions_that_cannot_be_are_refused(name, message):
    with pytest.raises(Exception, match=message):
        nasty(name).fit(X, Y).predict(X)


SLEEPER = """
import sys, threading
import numpy as np
from oblique_cli.estimators.outside.remote import OutsideEstimator
from oblique_cli.estimators.outside.process import own_process
X, y = np.arange(20.0).reshape(10, 2) + 100, np.arange(10) % 2
OutsideEstimator("outside_support.Majority", {}).fit(X, y)
print(own_process().generation, flush=True)
OutsideEstimator("outside_support.Hang", {}).fit(X, y)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not end a process with its parent")
def test_a_killed_parent_leaves_no_process_behind_even_one_that_hangs_in_compiled_code():
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, text=True, env=env) as parent:
        child = int(parent.stdout.readline())
        time.sleep(0.5)
        parent.kill()
    status = Path(f"/proc/{child}/stat")
    wait_until(lambda: not status.exists() or "Z" in status.read_text().split()[2])


def test_an_interrupted_request_does_not_leave_its_answer_for_the_next():
    def interrupt(number, frame):
        raise KeyboardInterrupt

    nasty("Majority").fit(X, Y)
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            nasty("Spin").fit(BAD, Y)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert set(nasty("Majority").fit(X, Y).predict(X)) == {0}


# ---- classes and parameters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("outside_support.NoEstimator", "is no class with the methods fit and predict."),
        ("outside_support.function", "is no estimator"),
        ("outside_support.Needs", "needs the parameter 'width'; set it under params."),
    ],
)
def test_what_cannot_be_used_is_one_sentence(path, message):
    with pytest.raises(ConfigError) as caught:
        OutsideAlgorithm.of(AlgorithmSpec(path, "x", {})).check({})
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.long
def test_the_known_classes_of_scikit_learn_are_there_and_are_of_their_kind():
    for path, signature in known.CLASSES.items():
        if path.startswith("sklearn."):
            kind = "regressor" if signature.task == "regression" else None if "SearchCV" in path else "classifier"
            assert building.load_class(path) is dict(all_estimators(type_filter=kind))[path.rpartition(".")[2]]


# ---- every library that is installed ---------------------------------------------------------------------------------

FAST = {
    "interpret.glassbox.ExplainableBoostingClassifier": {"outer_bags": 1, "max_rounds": 20, "interactions": 0},
    "ydf.RandomForestLearner": {"num_trees": 5},
    "ydf.GradientBoostedTreesLearner": {"num_trees": 5},
    "aeon.classification.sklearn.RotationForestClassifier": {"n_estimators": 5},
    "catboost.CatBoostClassifier": {"iterations": 20},
    "pytabkit.RealMLP_TD_Classifier": {"n_epochs": 20},
    "pytabkit.TabM_D_Classifier": {"n_epochs": 5},
}
WITHOUT_TREES = ("Boosting", "IntervalTree", "pytabkit", "Logistic")
WITHOUT_SHARES = ("weka",)
OTHERS = [
    path for path, known_as in known.CLASSES.items() if known_as.task == "classification" and "sklearn." not in path[:8]
]


@pytest.mark.parametrize("path", OTHERS)
def test_a_peer_learns_iris_again_and_again_alike(path):
    library = known.library_of(path)
    if library != "weka" and importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed (pip install {known.LIBRARIES[library]})")
    gap = np.where(Y == 2, 5, Y)  # a class that training rows lack
    try:
        models = [estimator(path, **FAST.get(path, {})).fit(X[::2], gap[::2]) for _ in range(2)]
    except ConfigError as error:
        if "cannot be imported" in str(error) or library == "weka":  # made for another version, or there is no java
            pytest.skip(str(error))
        raise
    results = [model.predict(X[1::2]) for model in models]
    np.testing.assert_array_equal(*results)
    assert (results[0] == gap[1::2]).mean() > 0.85
    if not path.startswith(WITHOUT_SHARES):
        shares = models[0].predict_proba(X[1::2])
        np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
        assert shares.shape == (75, 3)
    model = models[0]
    if any(word in path for word in WITHOUT_TREES):
        assert model.n_leaves_ == 0
    elif path.endswith("LMT"):
        assert model.n_leaves_ >= 1 and model.n_terms_ > 3
    else:
        assert model.n_leaves_ >= 3 and model.n_nodes_ >= 4 and model.depth_ >= 1
        assert model.n_nodes_ < 2 * model.n_leaves_


@pytest.mark.parametrize("name", ["FIGSRegressor", "GreedyTreeRegressor", "HSTreeRegressor", "TaoTreeRegressor"])
def test_the_sizes_of_imodels_are_those_of_its_trees(name):
    if importlib.util.find_spec("imodels") is None:
        pytest.skip("imodels is not installed (pip install imodels six)")
    model = estimator(f"imodels.{name}").fit(X, Y.astype(float))
    trees = 2 * model.n_leaves_ - model.n_nodes_
    assert 1 <= trees <= 12 and (trees == 1 or name.startswith("FIGS"))
    assert 1 < model.depth_ < model.n_leaves_


@pytest.mark.parametrize(
    "name", ["RandomForest", "ExtraTrees", "Bagging", "AdaBoost", "GradientBoosting", "HistGradientBoosting"]
)
def test_the_sizes_of_an_ensemble_are_sums_and_the_deepest(name):
    number = {"max_iter" if name.startswith("Hist") else "n_estimators": 4}
    model = estimator(f"sklearn.ensemble.{name}Classifier", **number).fit(X, Y)
    trees = 2 * model.n_leaves_ - model.n_nodes_  # every tree has a leaf more than it has splits
    assert trees == (12 if "GradientBoosting" in name else 4)
    assert 1 <= model.depth_ < model.n_leaves_


# ---- estimators of this package within limits ------------------------------------------------------------------------


X, Y = load_iris(return_X_y=True)
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
        results = []
        for model in (limited, free):
            try:
                results.append(METRICS[metric].function(model, X))
            except Undefined as reason:
                results.append(str(reason))
        assert results[0] == results[1], metric


def test_predictions_of_a_path_and_what_an_estimator_says_of_itself_come_through_if_it_has_them():
    limited, free = (model.fit(X, Y) for model in both("hhcart_a"))
    np.testing.assert_array_equal(limited.predict_path(X, [0.0, 0.5]), free.predict_path(X, [0.0, 0.5]))
    np.testing.assert_array_equal(limited.n_leaves_path([0.0, 0.5]), free.n_leaves_path([0.0, 0.5]))
    limited, free = (model.fit(X, Y) for model in both("mprrof_p", n_estimators=5))
    assert limited.extra_measures(X, Y) == free.extra_measures(X, Y)
    assert not hasattr(both("hhcart_a")[0].fit(X, Y), "extra_measures")
    limited, free = (model.fit(X[:, 1:], X[:, 0]) for model in both("hhcart_regression"))
    np.testing.assert_array_equal(limited.predict(X[:, 1:]), free.predict(X[:, 1:]))
    assert not hasattr(limited, "predict_proba") and not hasattr(limited, "classes_")


@pytest.mark.long
def test_the_limit_of_time_ends_a_fit_in_compiled_code_and_does_not_count_the_start_of_the_process():
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(4000, 20)), rng.integers(0, 5, 4000)
    with pytest.raises(OutOfTime, match=r"^not done within the limit of 0\.3 s$"):
        LimitedEstimator(make("oc1", 0), {"time": 0.3}).fit(rows, codes)
    limited, free = (model.fit(X, Y) for model in both("oc1"))
    np.testing.assert_array_equal(limited.predict(X), free.predict(X))
    own_process().close()
    limited, _ = both("axis_parallel", {"time": 0.5})  # importing this package takes longer
    limited.fit(X, Y).predict(X)
    assert limited.seconds_saved_ < -0.1


def test_a_model_without_its_process_or_an_attribute_is_an_error():
    limited, _ = both("axis_parallel")
    limited.fit(X, Y)
    own_process().close()
    with pytest.raises(Crashed, match="the process that had the model died since"):
        limited.predict(X)
    with pytest.raises(Crashed):
        limited.tree_  # noqa: B018
    limited, _ = both("axis_parallel")
    with pytest.raises(AttributeError, match="AxisParallelClassifier has no attribute 'tree_'"):
        limited.tree_  # noqa: B018
    with pytest.raises(AttributeError, match="colour"):
        limited.fit(X, Y).colour  # noqa: B018


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
    with pytest.raises(NotConverged) as result:
        limited.fit(X, Y)
    assert str(result.value) == str(expected.value) and result.value.label == expected.value.label


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


# ---- the tables of known classes -------------------------------------------------------------------------------------


SVC_PATH = "sklearn.svm.SVC"


def test_the_tables_have_the_known_classes_and_no_others():
    ours = {path for path in CLASSES if library_of(path) == "sklearn"}
    assert len(ours) > 60 and all(CLASSES[path].version for path in ours)
    assert set(allowed()) == set(LIBRARIES)
    for path, row in CLASSES.items():
        assert set(row.parameters) <= set(allowed()[library_of(path)]), path


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_table_has_what_is_installed(library):
    """python -m tools.signatures brings it up to date."""
    paths = [path for path, row in CLASSES.items() if library_of(path) == library and row.version]
    try:
        installed = metadata.version(LIBRARIES[library])
    except metadata.PackageNotFoundError:
        pytest.skip(f"{LIBRARIES[library]} is not installed")
    for path in paths:
        if installed.split(".")[:2] != CLASSES[path].version.split(".")[:2]:
            pytest.skip(f"the table is of {library} {CLASSES[path].version}, here is {installed}")
        try:
            params, further = parameters(load_class(path))
        except ConfigError as error:
            pytest.skip(str(error))
        names = set(allowed()[library])
        assert set(CLASSES[path].parameters) == (names if further else names & set(params)), path


def test_a_name_or_value_that_is_not_allowed_is_refused_and_near_names_are_shown():
    assert refused(SVC_PATH, {}, "kernel", "poly") == refused(SVC_PATH, {}, "C", 2) == ""
    assert refused(SVC_PATH, {}, "kernal", "poly").endswith("Did you mean 'kernel'?")
    assert refused(SVC_PATH, {}, "kernel", "pyfunc").startswith("kernel of sklearn.svm.SVC must be a number or one of ")
    assert refused(SVC_PATH, {}, "class_weight", {"0": 1.0, "1": 2}) == ""
    assert known.near("lightgbm.LGBMClasifier") == " Did you mean lightgbm.LGBMClassifier?"
    assert known.near("sklearn.RandomForestClassifier").startswith(
        " Did you mean sklearn.ensemble.RandomForestClassifier"
    )
    assert known.near("xgboost.Zzz").startswith(" Known of xgboost: xgboost.XGBClassifier,")


def test_validate_finds_a_misspelt_parameter_without_importing(call):
    (call.folder / "x.yaml").write_text(
        "version: 1\ndataset: iris\nalgorithms:\n  - axis_parallel\n"
        "  - class: sklearn.ensemble.AdaBoostClassifier\n    params:\n"
        "      estimator: {class: sklearn.tree.DecisionTreeClassifier, params: {max_detph: 2}}\n"
        "    grid: {learning_rte: [0.1, 1.0]}\ncv: {scheme: nested}\n"
    )
    ended = call("validate", "x.yaml")
    assert ended.code == 2 and "Did you mean 'learning_rate'" in ended.err
    assert "DecisionTreeClassifier has no parameter 'max_detph'" in ended.err
    assert "Did you mean 'max_depth'" in ended.err
