"""`oblique fit --groups`: estimate, choice, tuning, pruning, threshold and calibration divide by whole groups."""

import numpy as np
import pytest

from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.oblique import top_down
from oblique_cli.estimators.regression import cart
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.fitting import fitting
from oblique_cli.fitting.budget import Budget
from oblique_cli.fitting.calibrating import Promise
from oblique_cli.fitting.goals import AUTO, Answers, Goal
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec

POLICY = DatasetSpec("t", missing="impute", encoding="onehot")
N_GROUPS, ROWS_OF_GROUP = 16, 5


def patients(n_groups: int = N_GROUPS, task: str = "classification") -> Dataset:
    """Rows whose first feature is their group."""
    rng = np.random.default_rng(2)
    groups = rng.permutation(np.repeat(np.arange(n_groups), ROWS_OF_GROUP))
    X = np.column_stack([groups, rng.normal(size=(len(groups), 2))]).astype(float)
    signal = X[:, 1] + rng.normal(size=len(groups))
    y, classes = ((signal > 0).astype(np.int32), ("no", "yes")) if task == "classification" else (signal, ())
    return Dataset("t", X, y, classes, ("group", "a", "b"), task, groups=groups, group_column="patient")


@pytest.fixture
def sets(monkeypatch):
    """The rows of each group in every training set that a tree is grown on."""
    results: list[np.ndarray] = []
    grow, fit = top_down.grow_top_down, cart.DecisionTreeRegressor.fit

    def counted(X):
        results.append(np.bincount(np.asarray(X)[:, 0].astype(int), minlength=N_GROUPS))

    monkeypatch.setattr(top_down, "grow_top_down", lambda X, *rest, **more: (counted(X), grow(X, *rest, **more))[1])
    monkeypatch.setattr(
        cart.DecisionTreeRegressor, "fit", lambda self, X, *rest, **more: (counted(X), fit(self, X, *rest, **more))[1]
    )
    return results


def whole(sets: list[np.ndarray], least: int) -> None:
    """No training set has a part of a group; `least` of them lack a group."""
    assert sum(0 in counts for counts in sets) >= least
    for counts in sets:
        assert set(counts.tolist()) <= {0, ROWS_OF_GROUP}


PLAIN = AlgorithmSpec("hhgdt", "hhgdt", {"pruning": "none"})
CASES = {
    "estimate": ([PLAIN], {}, 4),
    "choice": (
        [PLAIN, AlgorithmSpec("axis_parallel", "axis_parallel", {"pruning": "none"})],
        {"budget": 60.0},
        4 + 2 * 4 * 5,
    ),
    "tuning": ([AlgorithmSpec("hhgdt", "hhgdt", {"pruning": "none"}, {"max_depth": (1, 3)})], {}, 4 + 2 * 4 * 5),
    "pruning by cross-validation": ([AlgorithmSpec("hhgdt", "hhgdt")], {}, 4 + 10 * 5),
    "pruning on held-out groups": ([AlgorithmSpec("hhgdt", "hhgdt", {"pruning": "cost_complexity"})], {}, 5),
    "pruning to a metric": ([AlgorithmSpec("hhgdt", "hhgdt")], {"goal": Goal(METRICS["f1_macro"])}, 4 + 5 * 5),
    "threshold": ([PLAIN], {"goal": Goal(METRICS["accuracy"], AUTO, 1)}, 4 + 4 * 5),
    "calibration by cross-validation": ([PLAIN], {"promise": Promise(0.8)}, 8),
    "calibration by a split": ([PLAIN], {"promise": Promise(0.8, how="split")}, 5),
    "path": ([PLAIN], {"path": True}, 4 + 5),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", CASES)
def test_no_group_is_divided(sets, name):
    specs, how, least = CASES[name]
    how = {key: Budget(value) if key == "budget" else value for key, value in how.items()}
    outcome = fitting.fit(patients(), POLICY, specs, folds=4, **how)
    whole(sets, least)
    assert outcome.estimate.groups == "patient"
    assert "by groups of 'patient'" in outcome.estimate.by
    assert outcome.model.facts["estimate"]["groups"] == "patient"
    assert outcome.model.facts["groups"] == {"column": "patient", "number": N_GROUPS}


def test_no_group_is_divided_by_the_pruning_of_cart(sets):
    outcome = fitting.fit(
        patients(task="regression"), POLICY, [AlgorithmSpec("cart_regression", "cart_regression")], folds=4
    )
    whole(sets, 4 + 10 * 5)
    assert outcome.estimate.groups == "patient"


def test_the_error_of_an_estimate_is_that_of_groups():
    """Four groups of which one is wrong throughout: the error is that of four independent rows, not of twelve."""
    groups = np.repeat(np.arange(4), 3)
    predicted = np.where(groups == 0, 1, 0)
    answers = Answers(np.arange(12), np.zeros(12, int), predicted, None, 2, groups, "g")
    error = np.sqrt(4 / 3 * (3 * 0.25**2 + 0.75**2)) / 4
    assert Goal(METRICS["accuracy"]).measured(answers) == pytest.approx((0.75, error, 0.25, error))
    squares = Goal(METRICS["mse"]).measured(answers)
    assert squares[0] == 0.25 and squares[1] == pytest.approx(error)
    alone = Answers(np.arange(12), np.arange(12) % 2, predicted, None, 2, np.arange(12), "g")
    rows = Answers(np.arange(12), np.arange(12) % 2, predicted, None, 2)
    f1 = Goal(METRICS["f1_macro"])
    assert f1.measured(alone)[0] == f1.measured(rows)[0]
    assert (
        f1.measured(answers.together([answers.part(groups < 2), answers.part(groups > 1)]))[1]
        == f1.measured(answers)[1]
    )


def test_fewer_groups_than_folds_are_as_many_folds_and_one_is_a_sentence():
    assert fitting.fit(patients(6), POLICY, [PLAIN]).estimate.folds == 6
    with pytest.raises(ConfigError, match=r"1 group in column 'patient'.*column with more"):
        fitting.fit(patients(1), POLICY, [PLAIN])
    with pytest.raises(ConfigError, match="a single group is left in the training rows"):
        fitting.fit(patients(2), POLICY, [AlgorithmSpec("hhgdt", "hhgdt")])
