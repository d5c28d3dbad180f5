"""Forests whose trees keep an order."""

import numpy as np
import pytest
from covering import few
from monotone_support import classes, is_proved, worst_fall

from oblique_cli import BaggedForestClassifier
from oblique_cli.errors import ConfigError

# Random tables contradict their random constraints, which a fit warns of.
pytestmark = pytest.mark.filterwarnings("ignore:monotonic_cst of")

SIGNS = (1, -1, 0)


@few(
    1,
    more=[
        {},
        {"voting": "majority"},
        {"node_bootstrap": True},
        {"max_features": None, "bootstrap": False},
        {"proposer": "axis_parallel", "max_features_per_tree": 2},
        {"proposer": "hhgdt", "criterion": "twoing", "min_samples_leaf": 3},
    ],
    weighted=[False, True],
)
def test_a_forest_keeps_the_order_and_it_is_proved(more, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    X, y = classes(rng, 120, 3)
    weights = rng.random(len(y)) + 0.1 if weighted else None
    forest = BaggedForestClassifier(n_estimators=6, random_state=1, monotonic_cst=SIGNS, **more).fit(X, y, weights)
    assert forest.n_leaves_ > 30
    assert worst_fall(forest, X, SIGNS, rng) <= 1e-15  # a sum of shares is rounded
    if not weighted:
        assert is_proved(forest, SIGNS)


def test_signs_that_are_all_0_and_threads_change_no_vote() -> None:
    X, y = classes(np.random.default_rng(2), 120, 3)
    votes = [
        BaggedForestClassifier(n_estimators=6, random_state=1, **more).fit(X, y).predict_proba(X)
        for more in ({}, {"monotonic_cst": [0, 0, 0]}, {"monotonic_cst": SIGNS}, {"monotonic_cst": SIGNS, "n_jobs": 2})
    ]
    assert np.array_equal(votes[0], votes[1])
    assert np.array_equal(votes[2], votes[3])
    assert not np.array_equal(votes[0], votes[2])


def test_a_forest_refuses_three_classes() -> None:
    X, _ = classes(np.random.default_rng(3), 40, 3)
    with pytest.raises(ConfigError, match="one of two classes, and y has 3"):
        BaggedForestClassifier(monotonic_cst=SIGNS).fit(X, np.arange(40) % 3)
