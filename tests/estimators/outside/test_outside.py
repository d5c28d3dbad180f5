"""Estimators of other libraries: built, bounded, survived."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_regression
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators
from waiting import wait_until

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.outside import building, known
from oblique_cli.estimators.outside.algorithm import OutsideAlgorithm
from oblique_cli.estimators.outside.process import Crashed, OutOfMemory, OutOfTime, own_process
from oblique_cli.estimators.outside.remote import OutsideEstimator
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


def test_columns_are_scaled_as_the_training_rows_say():
    rows = X * [1, 100, 0.01, 1]
    for prepare, scaler in {"standardize": StandardScaler, "minmax": MinMaxScaler, "robust": RobustScaler}.items():
        ours = estimator("sklearn.svm.SVC", prepare=prepare).fit(rows[::2], Y[::2])
        fitted = scaler().fit(rows[::2])
        its = SVC(random_state=5).fit(fitted.transform(rows[::2]), Y[::2])
        np.testing.assert_array_equal(ours.predict(rows[1::2]), its.predict(fitted.transform(rows[1::2])))


def test_labels_reach_it_without_gaps_and_come_back_as_codes_and_threads_and_seed_are_set():
    two = np.where(Y == 0, 1, 6)
    model = nasty("Says").fit(X, two)
    assert model.classes_.tolist() == [1, 6] and set(model.predict(X)) == {6}


def test_an_estimator_that_forks_answers_once():
    for _ in range(3):
        model = nasty("Forks").fit(X, Y)
        assert model.predict(X[:7]).tolist() == [0] * 7
    assert estimator("sklearn.tree.DecisionTreeClassifier").fit(X, Y).predict(X[:2]).tolist() == [0, 0]


def test_an_estimator_may_have_workers_that_are_copies_of_its_process():
    assert nasty("Pools").fit(X, Y).predict(X[:3]).tolist() == [0] * 3


def test_a_process_that_dies_beside_a_copy_of_itself_is_known_to_be_dead():
    with pytest.raises(Crashed, match="left with exit code 3"):
        nasty("DiesBesideACopy", limits={"time": 30}).fit(X, Y)


@pytest.mark.long
def test_an_answer_to_another_question_is_not_taken():
    process = own_process()
    process.close()
    asked = process.ask("check", 60, path="sklearn.svm.SVC", params={})
    assert asked is None
    process._pipe.send((10**6, "whole", {"number": -1}))  # an answer that nobody waits for
    assert process._pipe.poll(60)
    with pytest.raises(Crashed, match="answered another question"):
        process.ask("check", 60, path="sklearn.svm.SVC", params={})
    assert process.ask("check", 60, path="sklearn.svm.SVC", params={}) is None, "with a new process"


def test_weights_of_classes_go_by_the_codes_of_the_data_set():
    two = np.where(Y == 0, 1, 6)
    model = estimator("sklearn.svm.SVC", class_weight={1: 1000.0, 4: 1.0, 6: 0.001}, C=0.01).fit(X, two)
    assert (model.predict(X) == 1).mean() > 0.9


def test_a_regressor_gives_numbers():
    rows, values = make_regression(60, 3, random_state=0)
    model = estimator("sklearn.tree.DecisionTreeRegressor").fit(rows, values)
    np.testing.assert_allclose(model.predict(rows), values)
    assert not hasattr(model, "predict_proba") and not hasattr(model, "classes_")


def test_an_estimator_can_be_a_parameter_and_gets_the_seed_too():
    inner = {"class": "sklearn.tree.DecisionTreeClassifier", "params": {"max_depth": 1, "splitter": "random"}}
    rows = [
        estimator("sklearn.ensemble.AdaBoostClassifier", estimator=inner, n_estimators=3).fit(X, Y).predict_proba(X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*rows)


def test_whether_there_are_probabilities_is_known_once_it_is_fitted():
    assert not hasattr(estimator("sklearn.svm.SVC").fit(X, Y), "predict_proba")
    assert not hasattr(nasty("Majority").fit(X, Y), "predict_proba")
    assert hasattr(estimator("sklearn.naive_bayes.GaussianNB").fit(X, Y), "predict_proba")


def test_what_it_prints_reaches_nobody(capfd):
    nasty("Majority", greeting="NOISE").fit(X, Y).predict(X)
    assert capfd.readouterr() == ("", "")


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_crash_is_an_error_that_says_how_and_the_next_model_is_fitted():
    with pytest.raises(Crashed, match=r"its process died of SIGSEGV \(segmentation fault\)"):
        nasty("Segfault").fit(BAD, Y)
    assert len(nasty("Majority").fit(X, Y).predict(X)) == len(X)


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


def test_an_exception_keeps_its_name_and_first_line_and_the_process():
    nasty("Majority").fit(X, Y)
    before = own_process().generation
    with pytest.raises(Exception, match=r"^singular matrix$") as caught:
        nasty("Raises").fit(BAD, Y)
    assert type(caught.value).__name__ == "LinAlgError"
    assert own_process().generation == before


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
    ("path", "params", "message"),
    [
        ("sklearn.ensemble.RandomForestClassifer", {}, "Did you mean sklearn.ensemble.RandomForestClassifier"),
        ("no_such_library.Model", {}, "no_such_library is not installed; pip install no_such_library"),
        ("outside_support.NoEstimator", {}, "is no class with the methods fit and predict."),
        ("outside_support.function", {}, "is no estimator"),
        ("sklearn.tree.DecisionTreeClassifier", {"max_dept": 3}, "no parameter 'max_dept'. Did you mean 'max_depth'"),
        ("outside_support.Needs", {}, "needs the parameter 'width'; set it under params."),
        (
            "sklearn.ensemble.BaggingClassifier",
            {"estimator": {"class": "sklearn.tree.DecisionTreeClassifier", "params": {"depth": 3}}},
            "sklearn.tree.DecisionTreeClassifier has no parameter 'depth'. Did you mean 'max_depth'",
        ),
    ],
)
def test_what_cannot_be_used_is_one_sentence(path, params, message):
    with pytest.raises(ConfigError) as caught:
        OutsideAlgorithm.of(AlgorithmSpec(path, "x", params)).check(params)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.long
def test_the_known_classes_of_scikit_learn_are_there_and_are_of_their_kind():
    for path, signature in known.CLASSES.items():
        if path.startswith("sklearn."):
            kind = "regressor" if signature.task == "regression" else None if "SearchCV" in path else "classifier"
            assert building.load_class(path) is dict(all_estimators(type_filter=kind))[path.rpartition(".")[2]]


def test_the_nearest_class_is_of_the_same_library_first():
    assert known.near("lightgbm.LGBMClasifier") == " Did you mean lightgbm.LGBMClassifier?"
    assert known.near("sklearn.RandomForestClassifier").startswith(
        " Did you mean sklearn.ensemble.RandomForestClassifier"
    )
    assert known.near("xgboost.Zzz").startswith(" Known of xgboost: xgboost.XGBClassifier,")


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
    found = [model.predict(X[1::2]) for model in models]
    np.testing.assert_array_equal(*found)
    assert (found[0] == gap[1::2]).mean() > 0.85
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
