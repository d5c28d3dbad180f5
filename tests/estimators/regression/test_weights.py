"""Row weights of regression trees: integers are repeated rows, and the order of rows does not matter."""

import numpy as np
import pytest

from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.regression.tree_regressor import MOST_COPIES, copies_of

# Folds that choose a tree divide repeated rows otherwise than copies of a row; these take none.
WITHOUT_FOLDS = {
    "m5_style": {},
    "pilot": {},
    "tprti_a": {},
    "retis": {},
    "hhcart_regression": {"pruning": "none"},
    "hhcart_model_tree": {"pruning": "none"},
}
WITH_FOLDS = ("linear_tree", "hhcart_regression")


def table(n: int = 90) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] > 0.3, 3 * X[:, 1], -X[:, 2]) + rng.normal(size=n) / 3, rng


def grown(name: str, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None, **params: object) -> np.ndarray:
    return make(name, random_state=2, **params).fit(X, y, sample_weight=weights).predict(table()[0])


@pytest.mark.parametrize("name", sorted(WITHOUT_FOLDS))
def test_integer_weights_are_repeated_rows(name):
    X, y, rng = table()
    weights = rng.integers(1, 5, size=len(y)) * (np.arange(len(y)) % 6 > 0)
    params = WITHOUT_FOLDS[name]
    weighted = grown(name, X, y, weights, **params)
    assert np.array_equal(weighted, grown(name, np.repeat(X, weights, axis=0), np.repeat(y, weights), **params))
    assert np.array_equal(weighted, grown(name, X, y, weights * 0.37, **params)), "units of weights do not matter"


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", WITH_FOLDS)
def test_integer_weights_are_repeated_rows_that_stay_together_in_any_order(name):
    X, y, rng = table()
    X, y = X[np.argsort(y)], np.sort(y)  # so that groups are numbered as rows are
    weights = rng.integers(1, 4, size=len(y))
    order = np.repeat(np.arange(len(y)), weights)
    repeated = make(name, random_state=2).fit(X[order], y[order], groups=order).predict(table()[0])
    assert np.array_equal(grown(name, X, y, weights), repeated)
    X, y, rng = table()
    weights, order = rng.uniform(0.2, 2, size=len(y)), rng.permutation(len(y))
    assert np.array_equal(grown(name, X, y, weights), grown(name, X[order], y[order], weights[order]))


def test_copies_are_whole_in_the_largest_common_unit_or_near_the_weights():
    assert copies_of(np.array([0.0, 2, 4, 6])).tolist() == [0, 1, 2, 3]
    assert copies_of(np.array([0.5, 0.75])).tolist() == [2, 3]
    weights = np.random.default_rng(1).lognormal(size=500)
    counts = copies_of(weights)
    assert counts.min() >= 1 and counts.sum() < (MOST_COPIES + 1) * 500
    large = weights > weights.mean()
    assert np.abs(counts / MOST_COPIES * weights.mean() / weights - 1)[large].max() < 0.07


@pytest.mark.parametrize("name", ["pilot", "hhcart_regression"])
def test_bad_weights_are_one_sentence(name):
    X, y, _ = table()
    for wrong in (-np.ones(len(y)), np.zeros(len(y)), np.ones(3), np.full(len(y), np.nan)):
        with pytest.raises(ValueError, match=r"(?i)weight"):
            grown(name, X, y, wrong)
