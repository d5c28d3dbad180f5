"""Metrics: against scikit-learn and by hand, and the contract that all of them keep."""

import inspect
import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics as sk
from cli_support import records
from contracts import real_set
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oblique_cli import config
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.evaluation import metrics
from oblique_cli.evaluation.metrics import (
    ANY_TASK,
    CLASSIFICATION,
    LABELS,
    METRICS,
    MODEL,
    PROBABILITIES,
    READ,
    REGRESSION,
    ROW,
    SHOWN,
    TESTED,
    NotMeasured,
    Scored,
    Undefined,
    metric,
    weighted_sum,
)
from oblique_cli.experiments import fits, jobs
from oblique_cli.experiments.running import run
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Experiment, Row

BY_LABELS = [n for n, m in METRICS.items() if m.needs == LABELS and m.task == CLASSIFICATION]
BY_SHARES = [n for n, m in METRICS.items() if m.needs == PROBABILITIES]
OF_NUMBERS = [n for n, m in METRICS.items() if m.task == REGRESSION]
OF_PREDICTIONS = [*BY_LABELS, *BY_SHARES, *OF_NUMBERS]
N_CLASSES = 3

SLOW = settings(deadline=None, max_examples=8)  # an area of three classes takes a tenth of a second

codes = st.integers(0, N_CLASSES - 1)
numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))


@st.composite
def predictions(draw, name):
    """Test rows with predictions as the metric `name` takes them, and whole weights of the rows."""
    n = draw(st.integers(1, 30))
    kind = numbers if METRICS[name].task == REGRESSION else codes
    y = np.array(draw(st.lists(kind, min_size=n, max_size=n)))
    if name in BY_SHARES:
        votes = draw(hnp.arrays(np.float64, (n, N_CLASSES), elements=st.integers(0, 6).map(float)))
        votes[:, 0] += votes.sum(axis=1) == 0
        second = votes / votes.sum(axis=1, keepdims=True)
    else:
        second = np.array(draw(st.lists(kind, min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return y, second, weights


def value(name, *arguments):
    """What a metric gives, or "undefined"; warnings are errors in all tests."""
    try:
        return np.asarray(METRICS[name].function(*arguments), dtype=float)
    except Undefined:
        return "undefined"


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        assert isinstance(a, str) and isinstance(b, str), (a, b)
    else:
        # log_loss and brier are sums of shares in another order; numbers may be as large as a thousand.
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def perfect(name, y):
    return np.eye(N_CLASSES)[y] if name in BY_SHARES else y


# ---- the contract ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OF_PREDICTIONS)
@SLOW
@given(data=st.data())
def test_a_perfect_prediction_is_best_and_every_value_is_finite_or_undefined(name, data):
    y, second, _ = data.draw(predictions(name))
    best, result = value(name, y, perfect(name, y)), value(name, y, second)
    if isinstance(result, str):
        assert name in ("kappa", "mcc", "roc_auc") and len(set(y.tolist())) == 1
    else:
        assert np.isfinite(result).all()
    if METRICS[name].matrix:
        assert np.trace(best) == len(y) == result.sum() and np.trace(result) <= len(y)
    elif not isinstance(best, str):
        gain = (best - result) * (1 if METRICS[name].larger_is_better else -1)
        assert gain >= -1e-9
        assert best == pytest.approx({"%": 100.0}.get(METRICS[name].unit, float(METRICS[name].larger_is_better)))


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", OF_PREDICTIONS)
@SLOW
@given(data=st.data())
def test_rows_count_by_their_weights_in_any_order(name, data):
    y, second, weights = data.draw(predictions(name))
    order = np.array(data.draw(st.permutations(range(len(y)))))
    same(value(name, y[order], second[order]), value(name, y, second))
    same(value(name, y[order], second[order], weights[order]), value(name, y, second, weights))
    often = np.repeat(np.arange(len(y)), weights.astype(int))
    same(value(name, y, second, weights), value(name, y[often], second[often]))
    if not METRICS[name].matrix:
        same(value(name, y, second, 0.5 * weights), value(name, y, second, weights))


@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_says_all_about_itself(name):
    item = METRICS[name]
    assert item.name == name and item.title and item.summary.endswith(".") and not item.summary[0].islower()
    assert item.point == (1.0 if item.unit == "%" else 0.01)
    assert item.measured == (item.needs != ROW and item.from_row is None)
    assert metrics._fault(item) is None
    if item.task != CLASSIFICATION and item.needs == ROW:
        assert item.ratio and item.task == ANY_TASK


def test_the_metrics_that_are_promised_are_there():
    assert set(METRICS) == {
        "accuracy", "balanced_accuracy", "f1_macro", "f1_weighted", "kappa", "mcc", "roc_auc", "log_loss", "brier",
        "confusion", "ece", "mse", "rmse", "mae", "r2", "leaves", "nodes", "depth", "mean_path", "n_terms", "non_zero",
        "tune", "fit", "predict", "cpu",
    }  # fmt: skip
    for named in (SHOWN, TESTED):
        for task, names in named.items():
            assert all(METRICS[name].suits(task) and not METRICS[name].matrix for name in names)


# ---- against scikit-learn, and by hand -------------------------------------------------------------------------------


@SLOW
@given(data=st.data())
def test_label_metrics_are_scikit_learn_s(data):
    y, predicted, _ = data.draw(predictions("accuracy"))
    assert value("accuracy", y, predicted) == pytest.approx(100 * sk.accuracy_score(y, predicted))
    present = sorted({*y.tolist()})
    recall = sk.recall_score(y, predicted, labels=present, average="macro", zero_division=0.0)
    assert value("balanced_accuracy", y, predicted) == pytest.approx(100 * recall)
    for average in ("macro", "weighted"):
        theirs = sk.f1_score(y, predicted, average=average, zero_division=0.0)
        assert value(f"f1_{average}", y, predicted) == pytest.approx(theirs)
    if len(present) > 1:
        assert value("kappa", y, predicted) == pytest.approx(sk.cohen_kappa_score(y, predicted), abs=1e-12)
        assert value("mcc", y, predicted) == pytest.approx(sk.matthews_corrcoef(y, predicted), abs=1e-12)
        assert np.array_equal(
            value("confusion", y, predicted), sk.confusion_matrix(y, predicted, labels=range(1 + max(*y, *predicted)))
        )


@SLOW
@given(data=st.data())
def test_metrics_of_shares_are_scikit_learn_s(data):
    y, shares, _ = data.draw(predictions("log_loss"))
    assert value("log_loss", y, shares) == pytest.approx(sk.log_loss(y, shares, labels=range(N_CLASSES)))
    if "scale_by_half" in inspect.signature(sk.brier_score_loss).parameters:
        theirs = sk.brier_score_loss(y, shares, labels=range(N_CLASSES), scale_by_half=False)
        assert value("brier", y, shares) == pytest.approx(theirs)
    if len(set(y.tolist())) == N_CLASSES:
        assert value("roc_auc", y, shares) == pytest.approx(sk.roc_auc_score(y, shares, multi_class="ovr"))


def test_two_classes_have_the_usual_auc_half_of_brier_is_scikit_learn_s_and_a_share_of_zero_costs_36_nats():
    rng = np.random.default_rng(3)
    y, p = rng.integers(0, 2, 50), rng.random(50)
    shares = np.column_stack([1 - p, p])
    assert value("roc_auc", y, shares) == pytest.approx(sk.roc_auc_score(y, p))
    assert value("brier", y, shares) / 2 == pytest.approx(sk.brier_score_loss(y, p))
    assert value("log_loss", np.array([1]), np.array([[1.0, 0.0]])) == pytest.approx(-np.log(np.finfo(float).eps))


@SLOW
@given(data=st.data())
def test_errors_are_scikit_learn_s(data):
    y, predicted, _ = data.draw(predictions("mse"))
    assert value("mse", y, predicted) == sk.mean_squared_error(y, predicted)
    assert value("rmse", y, predicted) == pytest.approx(sk.root_mean_squared_error(y, predicted))
    assert value("mae", y, predicted) == sk.mean_absolute_error(y, predicted)
    if np.var(y) > 1e-3:
        assert value("r2", y, predicted) == pytest.approx(sk.r2_score(y, predicted))


def test_errors_by_hand():
    y, predicted = np.array([0.0, 2.0, 4.0]), np.array([0.0, 2.0, 1.0])
    results = {name: float(value(name, y, predicted)) for name in OF_NUMBERS}
    assert results == pytest.approx({"mse": 3.0, "rmse": 3.0**0.5, "mae": 1.0, "r2": 1 - 9 / 8})
    assert value("r2", np.ones(2), np.ones(2)) == 1 and value("r2", np.ones(2), np.zeros(2)) == 0
    assert value("r2", np.ones(1), np.ones(1)) == 1


def test_the_calibration_error_by_hand():
    # Bins of 1/15: 0.5 is in the eighth, 0.9 in the fourteenth, 1 in the last.
    shares = np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9], [0.9, 0.1], [1.0, 0.0]])
    y = np.array([0, 1, 1, 1, 0])
    assert value("ece", y, shares) == pytest.approx((2 * abs(0.5 - 0.5) + 2 * abs(0.5 - 0.9) + abs(1 - 1)) / 5)
    assert value("ece", y, shares, np.array([1.0, 1, 3, 1, 1])) == pytest.approx((4 * abs(0.75 - 0.9)) / 7)
    shares = np.array([[0.6, 0.4], [0.55, 0.45]])  # both in (8/15, 9/15], where right and wrong make up for each other
    assert value("ece", np.array([0, 1]), shares) == pytest.approx((0.55 - 0.4) / 2)
    assert 0 <= value("ece", np.array([0]), np.array([[1.0, 0.0]])) < 1e-12


# ---- undefined -------------------------------------------------------------------------------------------------------


def test_one_class_among_the_test_rows_is_undefined():
    y = np.zeros(5, dtype=int)
    for name, second in itertools.product(("kappa", "mcc", "roc_auc"), (y, np.array([0, 1, 1, 0, 0]))):
        second = np.eye(2)[second] if name == "roc_auc" else second
        with pytest.raises(Undefined, match="the test rows have one class only"):
            METRICS[name].function(y, second)
        with pytest.raises(Undefined):  # rows of weight 0 are not there
            METRICS[name].function(np.array([0, 0, 0, 0, 1]), second, np.array([1.0, 1, 1, 1, 0]))


def test_stated_values_of_degenerate_folds():
    y, constant = np.array([0, 1, 1]), np.array([1, 1, 1])
    assert value("kappa", y, constant) == 0 and value("mcc", y, constant) == 0
    # A class that is only predicted counts 0 in F1 and is no class of the balanced accuracy.
    assert value("f1_macro", np.array([0, 0]), np.array([0, 2])) == pytest.approx((2 / 3 + 0) / 2)
    assert value("balanced_accuracy", np.array([0, 0]), np.array([0, 2])) == 50
    # A class without test rows is left out of the area.
    shares = np.array([[0.8, 0.1, 0.1], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]])
    assert value("roc_auc", np.array([0, 1, 1]), shares) == 1


class Shares:
    """A fitted classifier of two classes that says what it is told."""

    classes_ = np.array([0, 2])

    def __init__(self, shares):
        self.shares = np.asarray(shares)

    def predict_proba(self, X):
        return self.shares


def test_a_class_without_training_rows_has_probability_0_and_probabilities_that_are_none_are_undefined():
    row = np.zeros((1, 1))
    assert metrics.probabilities(Shares([[0.25, 0.75]]), row, 3).tolist() == [[0.25, 0, 0.75]]
    for shares in ([[0.2, 0.2]], [[np.nan, 1.0]], [[-0.5, 1.5]]):
        with pytest.raises(Undefined, match="the class probabilities of Shares do not sum to 1"):
            metrics.probabilities(Shares(shares), row, 3)
    with pytest.raises(Undefined, match="object gives no class probabilities"):
        metrics.probabilities(object(), row, 3)


# ---- models ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hhcart_a", "axis_parallel", "butif_svm"])
def test_paths_and_coefficients_of_a_tree_are_counted_node_by_node(name):
    data = real_set("iris")
    model = make(name, random_state=0).fit(data.X, data.y)
    tree = model.tree_
    passed = []
    for x in data.X:
        node, splits = 0, 0
        while not tree.is_leaf[node]:
            node = tree.left[node] if tree.coef_[node] @ x <= tree.thresholds[node] else tree.right[node]
            splits += 1
        passed.append(splits)
    assert METRICS["mean_path"].function(model, data.X) == pytest.approx(np.mean(passed), abs=0.05)
    assert METRICS["non_zero"].function(model, data.X) == sum(int((row != 0).sum()) for row in tree.coef_)


def test_paths_of_forests_and_regression_trees():
    data = real_set("iris")
    forest = make("hhcart_forest", n_trees=3, random_state=0).fit(data.X, data.y)
    each = [forest.tree(k).depths[forest.apply(data.X)[:, k]].mean() for k in range(3)]
    assert METRICS["mean_path"].function(forest, data.X) == pytest.approx(np.mean(each))
    y = data.X[:, 0]
    for name in ("m5_style", "cart_regression"):
        model = make(name).fit(data.X[:, 1:], y)
        assert 0 < METRICS["mean_path"].function(model, data.X[:, 1:]) <= model.depth_
        with pytest.raises(Undefined, match="has no trees of hyperplanes"):
            METRICS["non_zero"].function(model, data.X)
    with pytest.raises(Undefined, match="does not say which leaf"):
        METRICS["mean_path"].function(make("svm").fit(data.X, data.y), data.X)


# ---- stored rows -----------------------------------------------------------------------------------------------------


def row(n_correct, n_test, **more):
    return Row("key", "iris", "gdt", 0, 0, "ok", n_correct=n_correct, n_test=n_test, **more)


def test_a_repetition_is_pooled_averaged_or_summed_and_a_value_that_is_missing_is_told_from_an_undefined():
    matrices = {"confusion": [[2, 0], [1, 0]]}, {"confusion": [[1, 1], [0, 3]]}
    rows = [row(2, 3, n_leaves=4, measures=matrices[0]), row(4, 5, n_leaves=7, measures=matrices[1])]
    assert METRICS["accuracy"].of_repetition(rows) == Fraction(600, 8)
    assert METRICS["leaves"].of_repetition(rows) == Fraction(11, 2)
    values, weights = [0.1, Fraction(1, 3), 7, -2.5e-300, 1e300, 0.1], [3, 2, 5, 1, 4, 0]
    exact = sum((Fraction(value) * weight for value, weight in zip(values, weights, strict=True)), Fraction(0))
    assert weighted_sum(values, weights) == exact
    assert METRICS["confusion"].of_repetition(rows) == ((3, 1), (1, 3))
    with pytest.raises(NotMeasured, match="metric mcc is computed when a fold runs"):
        METRICS["mcc"].of(row(1, 2))
    with pytest.raises(Undefined, match=r"^the test rows have one class only$"):
        METRICS["mcc"].of(row(1, 2, measures={"mcc": "undefined: the test rows have one class only"}))


def experiment(tmp_path, **changes):
    plain = {
        "version": 1,
        "datasets": ["iris"],
        "algorithms": ["axis_parallel", "svm"],
        "cv": {"scheme": "ordinary", "folds": 3, "repeats": 2},
    }
    configuration = config.from_mapping({**plain, **changes}, "asked", where="test")
    with Store(tmp_path / "oblique.sqlite") as store:
        assert run(configuration, store, n_jobs=1).exit_code == 0
        return configuration, store.rows(configuration.name)


def test_rows_hold_what_a_refit_has(tmp_path):
    _, rows = experiment(tmp_path, metrics=list(name for name in METRICS if METRICS[name].suits(CLASSIFICATION)))
    measured = {name for name, item in METRICS.items() if item.measured and item.suits(CLASSIFICATION)}
    assert all(set(record.measures) == measured for record in rows)
    tree = next(record for record in rows if record.algorithm == "axis_parallel")
    # From the matrix of counts all that labels decide can be counted again.
    counts = np.array(tree.measures["confusion"])
    y, predicted = (np.repeat(cells.ravel(), counts.ravel().astype(int)) for cells in np.indices(counts.shape))
    for name in BY_LABELS:
        if METRICS[name].measured and not METRICS[name].matrix:
            assert tree.measures[name] == pytest.approx(float(value(name, y, predicted)))
    for name in ("accuracy", "balanced_accuracy"):
        assert float(METRICS[name].of(tree)) == pytest.approx(float(value(name, y, predicted)))
    svm = next(record for record in rows if record.algorithm == "svm")
    assert svm.measures["roc_auc"] == "undefined: SupportVectorClassifier gives no class probabilities"


def test_without_metrics_rows_keys_and_content_are_those_of_before(tmp_path):
    configuration, rows = experiment(tmp_path)
    sizes = {record.algorithm: record.measures for record in rows}
    assert sizes["svm"] == {"n_terms": "undefined: the model does not say how many terms it has"}
    assert all(set(record.measures) == set(READ) for record in rows)
    tree = next(record for record in rows if record.algorithm == "axis_parallel")
    assert tree.measures["n_terms"] == tree.n_leaves + (tree.n_nodes - tree.n_leaves)
    content = jobs.content(configuration, [real_set("iris")])
    assert set(content) == {"seed", "datasets", "algorithms", "cv", "data"}
    cv = {"scheme": "ordinary", "folds": 3, "tune_folds": 10, "stratified": False, "test_fraction": 0.5,
          "pruning_fraction": 0.1}  # fmt: skip
    assert content["cv"] == {**cv, "repeats": 2}
    data = ["iris", real_set("iris").digest, "error", "error"]
    base = jobs.digest([2, 1, cv, ["svm", "svm", {}, {}], data])
    (first,) = [record for record in rows if (record.algorithm, record.repeat, record.fold) == ("svm", 1, 2)]
    assert first.key == jobs.digest([base, 1, 2])


def test_only_what_a_run_has_to_compute_changes_its_keys():
    def keys(*names):
        plain = {"version": 1, "dataset": "iris", "algorithm": "gdt", **({"metrics": list(names)} if names else {})}
        configuration = config.from_mapping(plain, where="test")
        shown = Experiment.from_content("x", configuration.content(), configuration.presentation())
        assert shown.metrics == names
        return jobs.content(configuration, [real_set("iris")]).get("metrics"), jobs.expand(
            configuration, [real_set("iris")]
        )[0].key

    assert keys() == keys("leaves", "accuracy", "fit", "nodes", "balanced_accuracy")
    assert keys("mcc", "kappa")[0] == ["kappa", "mcc"] and keys("mcc", "kappa") == keys("kappa", "leaves", "mcc")
    assert len({keys(*names)[1] for names in ((), ("mcc",), ("kappa", "mcc"))}) == 3


# ---- commands --------------------------------------------------------------------------------------------------------

CONFIG = """
version: 1
datasets: [iris, bupa]
algorithms: [axis_parallel, hhcart_d]
cv: {scheme: ordinary, folds: 3, repeats: 2}
"""


@pytest.fixture
def call(call):
    """Call the command beside a configuration, a.yaml."""
    (call.folder / "a.yaml").write_text(CONFIG)
    return call


def test_metrics_of_the_command_line_are_shown_in_their_order(call):
    ended = call("run", "a.yaml", "--metric", "roc_auc", "--metric", "nodes", "--format", "csv")
    assert ended.code == 0, ended.err
    assert [key for key in records(ended.out)[0] if key.endswith("_mean")] == [
        "accuracy_mean", "leaves_mean", "n_terms_mean", "roc_auc_mean", "nodes_mean"
    ]  # fmt: skip
    assert call("table", "a", "--format", "csv").out == ended.out
    text = call("table", "a", "--metric", "balanced_accuracy", "--metric", "predict").out
    assert "balanced accuracy in % and predict s averaged over the folds of a repetition" in text


def test_another_metric_is_another_run(call):
    assert call("run", "a.yaml").code == 0
    assert call("run", "a.yaml", "--metric", "nodes").code == 0  # every row has it
    ended = call("run", "a.yaml", "--metric", "mcc")
    assert ended.code == 2 and "the configuration changed since run 'a' began: metrics (none) -> " in ended.err
    assert call("run", "a.yaml", "--metric", "mcc", "--fresh").code == 0


def test_a_confusion_matrix_is_a_table_of_its_own(call):
    out = call("run", "a.yaml", "--metric", "accuracy", "--metric", "confusion").out
    assert out.count("confusion, rows of a class by the class predicted, a repetition") == 4
    (record, *_) = records(call("table", "a", "--format", "csv").out)
    counts = np.array(json.loads(record["confusion_mean"]))
    assert counts.sum() == 150 and 100 * np.trace(counts) / 150 == pytest.approx(float(record["accuracy_mean"]))


@pytest.mark.long
def test_an_undefined_metric_is_a_dash_with_its_reason(call):
    (call.folder / "a.yaml").write_text(CONFIG.replace("hhcart_d", "svm"))
    out = call("run", "a.yaml", "--metric", "log_loss", "--metric", "leaves").out
    assert (
        "— all data sets, SVM: log loss is undefined in 6 of 6 folds (SupportVectorClassifier gives no class prob"
        in out
    )
    ended = call("significance", "a", "--metric", "log_loss")
    assert (
        ended.code == 2
        and "SVM: no log loss to test (SupportVectorClassifier gives no class probabilities)" in ended.err
    )


def test_compare_and_significance_judge_by_the_metrics_asked_for(call):
    options = "--cv ordinary --algorithm axis_parallel,hhcart_d --dataset iris,bupa --repeats 2 --folds 3"
    ended = call("compare", *options.split(), "--metric", "brier", "--metric", "f1_macro", "--format", "json")
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    for record in document["rows"]:
        a, b = ((record[f"{place}_brier_mean"], record[f"{place}_brier_sd"]) for place in ("first", "second"))
        winner = "first" if a[0] + a[1] <= b[0] - b[1] else "second" if b[0] + b[1] <= a[0] - a[1] else "tie"
        assert record["brier_verdict"] == winner and "accuracy_verdict" in record
    (name,) = {line.split()[0] for line in call("status").out.splitlines() if line.startswith("compare-")}
    results = records(call("significance", name, "--metric", "brier", "--format", "csv").out)
    assert {item["metric"] for item in results} == {"brier"}
    by_sd = [item for item in results if item["test"] == "1-SD"]
    for record, other in zip(by_sd, document["rows"], strict=True):
        verdicts = {"first": "axis_parallel", "second": "hhcart_d", "tie": "tie"}
        assert record["winner"] == verdicts[other["brier_verdict"]]


# ---- tuning ----------------------------------------------------------------------------------------------------------

NESTED = """
version: 1
datasets: [bupa]
algorithm: {name: %s, %s: {grid: %s}}
cv: {scheme: nested, folds: 2, repeats: 1, tune: {folds: 3, metric: %s}}
"""


@pytest.mark.parametrize(
    ("algorithm", "parameter", "grid", "name"),
    [
        ("gdt", "epsilon", "[0.05, 0.2, 0.4]", "f1_macro"),  # one fit answers every epsilon
        ("gdt", "epsilon", "[0.05, 0.2, 0.4]", "log_loss"),  # each epsilon has a fit of its own
        ("axis_parallel", "max_depth", "[1, 3, 8]", "brier"),
    ],
)
def test_parameters_are_chosen_by_the_metric(tmp_path, algorithm, parameter, grid, name):
    path = tmp_path / "n.yaml"
    path.write_text(NESTED % (algorithm, parameter, grid, name))
    configuration = config.load(path, allow_outside=True)
    with Store(tmp_path / "oblique.sqlite") as store:
        assert run(configuration, store, n_jobs=1).exit_code == 0
        rows = store.rows(configuration.name)
    sign = 1 if METRICS[name].larger_is_better else -1
    for record in rows:
        best = max(sign * entry["score"] for entry in record.inner)
        chosen = next(entry for entry in record.inner if entry["params"] == record.chosen)
        assert sign * chosen["score"] == best and {"n_correct", "n_leaves"} <= chosen.keys()
    assert jobs.content(configuration, [real_set("bupa")])["cv"]["tune_metric"] == name


# ---- values and their places -----------------------------------------------------------------------------------------


def test_a_value_of_nan_is_undefined_and_a_matrix_has_a_place_for_every_class_of_the_data_set():
    scored = Scored(np.array([0, 1]), np.array([0, 1]), 2, lambda: np.eye(2), None, None)
    not_a_number = replace(METRICS["kappa"], function=lambda y, predicted: float("nan"))
    assert metrics.measure([], scored, [not_a_number]) == {"kappa": "undefined: it came out as nan"}
    with pytest.raises(ConfigError, match=r"metric 'own' does not say what it takes; wrap it in a function of \(model"):
        metric("own", title="", unit="", larger_is_better=True, task=ANY_TASK, needs=MODEL, aggregate="mean")(max)
    scored = Scored(np.array([0, 1]), np.array([0, 0]), 4, lambda: np.eye(2), None, None)
    assert np.array(METRICS["confusion"].evaluate(scored)).shape == (4, 4)


ELEVEN = "x,y\n" + "".join(f"{i % 11 + i / 1000},{i % 11 + 1}\n" for i in range(110))
OWN_CSV = "version: 1\ndataset: {csv: my.csv, target: y}\nalgorithm: axis_parallel\n"


def test_rows_of_a_confusion_matrix_are_the_classes_that_they_are_headed_by(call):
    (call.folder / "my.csv").write_text(ELEVEN)
    (call.folder / "c.yaml").write_text(OWN_CSV + "cv: {folds: 2, repeats: 1}\nmetrics: [confusion]\n")
    assert call("run", "c.yaml").code == 0
    # From the store, whose mappings have an order of their own.
    out = call("table", "c").out
    lines = [line.split() for line in out.splitlines()]
    rows = {cells[0]: cells[1:] for cells in lines if len(cells) == 12 and cells[0].isdigit()}
    heading = next(line.split()[1:] for line in out.splitlines() if line.startswith("class"))
    assert heading == [str(k) for k in range(1, 12)] == list(rows)
    assert all(float(rows[label][heading.index(label)]) > 5 for label in heading)


def test_equal_shares_of_rows_are_equal_scores():
    class Share:
        name = "share"

        def __init__(self, right):
            self.right = right

        def evaluate(self, scored):
            return 100.0 * self.right / 7

    made = [sum(fits._tuning_score(Share(k), None) for k in pair) for pair in ((3, 6), (4, 5))]
    assert made[0] == made[1]
