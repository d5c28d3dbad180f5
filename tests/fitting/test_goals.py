"""What choices go by: metrics with their errors, thresholds, and trees that are cut by them."""

from dataclasses import replace

import numpy as np
import pytest

from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.default_pruning import pruned_spec
from oblique_cli.evaluation.metrics import METRICS, Undefined, costs, named
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting import fitting
from oblique_cli.fitting.estimating import cross_validated, details
from oblique_cli.fitting.goals import AUTO, Answers, Goal, goal_of, labels_at
from oblique_cli.fitting.tree_sizes import cut_to_goal, cuts
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec

POLICY = DatasetSpec("t", missing="impute", encoding="onehot")
CLASSES = ("fault", "ok")


def rare(n: int = 600, faults: int = 30, seed: int = 7) -> Dataset:
    """A class of few rows, of which about half can be told."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.ones(n, np.int32)
    y[rng.permutation(n)[:faults]] = 0
    X[y == 0, 0] += 2.2
    return Dataset("rare", X, y, CLASSES, ("a", "b", "c", "d"))


def answers(y, predicted=None, share=None) -> Answers:
    """Of two classes. share : of class 0"""
    y = np.asarray(y)
    shares = None if share is None else np.column_stack([share, 1 - np.asarray(share)])
    predicted = np.asarray(predicted) if predicted is not None else shares.argmax(axis=1)
    return Answers(np.arange(len(y)), y, predicted, shares, 2)


def case(dataset: Dataset, name: str, **params: object) -> Case:
    return Case(dataset, POLICY, pruned_spec(AlgorithmSpec(name, name, params, {})), ALGORITHMS[name])


# ---- metrics ---------------------------------------------------------------------------------------------------------


def test_the_recall_of_a_class_and_costs_whatever_the_order_of_their_classes_by_hand(tmp_path):
    metric = named("recall:fault", "classification", CLASSES, "here")
    of = answers([0, 0, 0, 0, 1, 1], [0, 1, 1, 1, 0, 1])
    assert of.value(metric) == 25.0 and metric.larger_is_better and metric.name == "recall:fault"
    with pytest.raises(Undefined, match="no test row is of class 'fault'"):
        answers([1, 1], [0, 1]).value(metric)
    path = tmp_path / "costs.csv"
    path.write_text(",ok,fault\nok,0,1\nfault,20,0\n")
    assert costs(str(path), CLASSES, "here").tolist() == [[0, 20], [1, 0]]
    metric = named(f"cost:{path}", "classification", CLASSES, "here")
    assert answers([0, 0, 1, 1], [0, 1, 0, 1]).value(metric) == (20 + 1) / 4 and not metric.larger_is_better


def test_the_jackknife_of_a_mean_is_nearly_its_standard_error():
    """Of the accuracy as a metric like any other, beside the formula."""
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=4000)
    of = answers(y, np.where(rng.random(4000) < 0.8, y, 1 - y))
    closed = Goal(METRICS["accuracy"]).measured(of)[1]
    assert Goal(METRICS["accuracy"])._jackknife(of) / 100 == pytest.approx(closed, rel=0.5)


def test_the_loss_turns_a_metric_so_that_less_is_better():
    of = answers([0, 0, 1, 1, 1, 0] * 10, share=np.array([0.9, 0.6, 0.4, 0.1, 0.7, 0.3] * 10))
    for name in ("f1_macro", "roc_auc", "log_loss", "balanced_accuracy", "kappa"):
        score, error, loss, loss_error = Goal(METRICS[name]).measured(of)
        assert score == of.value(METRICS[name]) and error == loss_error >= 0
        assert loss == (-score if METRICS[name].larger_is_better else score)


def test_details_by_hand():
    data = Dataset("two", np.zeros((5, 1)), np.array([0, 0, 0, 1, 1], dtype=np.int32), CLASSES, ("a",))
    of = answers([0, 0, 0, 1, 1], [0, 1, 1, 1, 0], np.array([0.9, 0.4, 0.2, 0.1, 0.6]))
    result = details(of, data, "accuracy")
    assert result["confusion"] == [[1, 2], [1, 1]]
    assert result["recalls"] == {"fault": pytest.approx(1 / 3), "ok": 0.5}
    assert result["accuracy"] == 0.4 and result["balanced_accuracy"] == pytest.approx((1 / 3 + 0.5) / 2)
    assert result["roc_auc"] == pytest.approx(4 / 6)  # pairs in order
    table = result["thresholds"]
    assert table["label"] == "ok" and table["at"][0] == 0.0 and table["at"][-1] == pytest.approx(0.9, abs=1e-4)
    for at, *counts in zip(table["at"], table["true"], table["false"], strict=True):
        assert counts == [sum(share >= at for share in shares) for shares in ((0.9, 0.4), (0.1, 0.6, 0.8))]
    assert details(of, data, "recall:fault")["thresholds"]["label"] == "fault"
    assert "roc_auc" not in details(answers([0, 1], [0, 1]), data, "accuracy")


# ---- thresholds ------------------------------------------------------------------------------------------------------


def test_labels_at_a_threshold_by_hand_for_the_class_of_fewer_rows_or_of_the_recall():
    shares = np.array([[0.1, 0.9], [0.2, 0.8], [0.5, 0.5]])
    assert labels_at(shares, 0, 0.2).tolist() == [1, 0, 0] and labels_at(shares, 1, 0.85).tolist() == [1, 0, 0]

    def positive(metric, counts):
        return goal_of(metric, "0.3", "classification", CLASSES, np.array(counts), "fit").positive

    assert positive(None, [5, 9]) == 0 and positive(None, [9, 5]) == 1 and positive(None, [5, 5]) == 1
    assert positive("recall:ok", [5, 9]) == 1 and positive("recall:fault", [9, 5]) == 0
    for name in ("roc_auc", "log_loss"):
        assert Goal(METRICS[name], AUTO).deciding.name == "balanced_accuracy"
    assert Goal(named("recall:fault", "classification", CLASSES, ""), AUTO).deciding.name == "balanced_accuracy"
    assert Goal(METRICS["f1_macro"], AUTO).deciding.name == "f1_macro"


def test_the_threshold_that_is_chosen_is_the_best_of_all():
    rng = np.random.default_rng(4)
    y = (rng.random(80) < 0.8).astype(int)
    of = answers(y, share=np.clip(0.3 - 0.2 * y + rng.normal(size=80) / 8, 0.01, 0.99))
    goal = Goal(METRICS["f1_macro"], AUTO, 0)
    result, threshold = goal.decided(of)
    assert threshold is not None and 0 < threshold < 1
    shares = np.sort(of.shares[:, 0])
    between = [0.001, *((shares[1:] + shares[:-1]) / 2), 0.999]  # every division of the rows that a threshold can make
    everywhere = [goal.applied(of, t).value(METRICS["f1_macro"]) for t in between]
    assert result.value(METRICS["f1_macro"]) == max(everywhere)


def test_an_algorithm_without_shares_takes_no_threshold():
    goal = Goal(METRICS["accuracy"], 0.3, 0)
    with pytest.raises(ConfigError, match="a threshold needs class probabilities, and this algorithm gives none"):
        fitting.fit(rare(200, 40), POLICY, [AlgorithmSpec("gepsvm", "gepsvm", {}, {})], folds=2, goal=goal)


# ---- trees that are cut by a metric ----------------------------------------------------------------------------------


@pytest.mark.long
def test_a_tree_is_cut_by_the_metric_that_decides():
    """By wrong answers nothing is worth a split here; by the recalls some is."""
    dataset = rare(600, 40)
    goal = Goal(METRICS["balanced_accuracy"])
    by_errors = fitting.fit(dataset, POLICY, [AlgorithmSpec("hhgdt", "hhgdt", {}, {})], folds=3)
    by_recalls = fitting.fit(dataset, POLICY, [AlgorithmSpec("hhgdt", "hhgdt", {}, {})], folds=3, goal=goal)
    assert by_errors.model.facts["leaves"] < by_recalls.model.facts["leaves"]
    assert by_recalls.model.parameters["pruning"] == "ccp_alpha"
    assert by_errors.model.parameters["pruning"] == "cv"
    result = by_recalls.model.facts["estimate"]
    assert (
        result["balanced_accuracy"] == by_recalls.estimate.score
        and by_recalls.model.facts["metric"] == goal.metric.name
    )


def test_the_cuts_of_a_tree_are_its_sequence():
    dataset = rare(300, 100)
    result = cuts(case(dataset, "hhgdt"), np.arange(300), Goal(METRICS["f1_macro"]), {"pruning": "cv"}, 1)
    assert [cut.leaves for cut in result] == sorted({cut.leaves for cut in result}, reverse=True)
    assert result[-1].leaves == 1
    for cut in result:
        tree = make("hhgdt", pruning="ccp_alpha", ccp_alpha=cut.alpha, random_state=1).fit(dataset.X, dataset.y)
        assert tree.n_leaves_ == cut.leaves or cut.alpha == 0


def test_what_nothing_cuts_is_left_alone():
    dataset, rows = rare(120, 60), np.arange(120)
    by = Goal(METRICS["f1_macro"])
    assert cut_to_goal(case(dataset, "hhgdt"), rows, Goal.usual("classification"), {"pruning": "cv"}, 1) == {}
    assert cut_to_goal(case(dataset, "hhgdt"), rows, by, {"pruning": "none"}, 1) == {}
    assert cut_to_goal(case(dataset, "knn"), rows, by, {}, 1) == {}


def numbers(n: int = 300) -> Dataset:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] > 0, 5.0, 0.0) + rng.normal(size=n)
    return Dataset("steps", X, y, (), ("a", "b", "c"), "regression")


def test_cart_regression_is_cut_to_what_there_is_to_find():
    dataset = numbers()
    whole = make("cart_regression").fit(dataset.X, dataset.y)
    fit = fitting.fit(dataset, POLICY, [AlgorithmSpec("cart_regression", "cart_regression", {}, {})], folds=3)
    assert whole.n_leaves_ > 250 and fit.model.facts["leaves"] == 2 and fit.estimate.score < 1.15
    spec = AlgorithmSpec("cart_regression", "cart_regression", {"ccp_alpha": 0.0}, {})
    assert fitting.fit(dataset, POLICY, [spec], folds=3).model.facts["leaves"] == whole.n_leaves_


# ---- warnings --------------------------------------------------------------------------------------------------------


def warnings_of(dataset: Dataset, name: str = "hhgdt", **params: object) -> tuple[str, ...]:
    return fitting.fit(dataset, POLICY, [AlgorithmSpec(name, name, params, {})], folds=4).warnings


def test_a_model_that_is_no_better_than_the_largest_class_says_so_first():
    rng = np.random.default_rng(3)
    noise = replace(rare(200, 60), X=rng.normal(size=(200, 4)))
    assert warnings_of(noise)[0] == "This model is no better than always saying 'ok', by accuracy."
    assert warnings_of(rare(400, 200)) == ()


@pytest.mark.long
def test_numbers_that_nothing_explains_are_no_better_than_the_mean():
    rng = np.random.default_rng(3)
    dataset = Dataset("noise", rng.normal(size=(120, 2)), rng.normal(size=120), (), ("a", "b"), "regression")
    assert warnings_of(dataset, "m5_style")[0] == "This model is no better than always saying the mean, by RMSE."
    assert warnings_of(numbers(), "m5_style") == ()


@pytest.mark.parametrize(("faults", "warned"), [(9, True), (11, True), (12, False)])
def test_classes_of_few_rows_or_a_small_share_are_warned_of(faults, warned):
    texts = [text for text in warnings_of(rare(600, faults)) if text.startswith("Few rows of some classes")]
    assert len(texts) == warned and (not warned or f"('fault' {faults} rows)" in texts[0])
    small = rare(60, 9)
    assert any(text.startswith("Few rows of some classes ('fault' 9 rows)") for text in warnings_of(small))


def test_classes_of_one_row_are_fitted_and_probabilities_kept_with_the_predictions():
    dataset = rare(80, 1)
    assert any("'fault' 1 row)" in text for text in warnings_of(dataset))
    result = cross_validated(case(rare(100, 40), "hhgdt"), 4, 1, Goal.usual("classification"))
    assert result.answers.shares is not None and result.answers.shares.shape == (100, 2)
    assert sorted(result.answers.rows.tolist()) == list(range(100))
