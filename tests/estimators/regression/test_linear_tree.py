"""The estimator of linear model trees: what it finds, what it is beside ridge regression, nodes with nothing to fit."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.regression.linear_tree import LinearTreeRegressor


def hinge(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.maximum(X @ [1.0, -1.0, 0.5, 0.0], 0.0) + 0.1 * rng.normal(size=n)


def test_one_leaf_is_ridge_regression_of_standardized_features():
    X, y = load_diabetes(return_X_y=True)
    tree = LinearTreeRegressor(leaf_penalty=10.0, max_depth=0, truncate="none", random_state=0).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert tree.n_leaves_ == 1
    np.testing.assert_allclose(tree.predict(X), Ridge(10.0).fit(Z, y).predict(Z), rtol=1e-9)


def test_a_plane_that_bends_takes_two_leaves_and_leaves_next_to_nothing():
    X, y = hinge()
    at = np.random.default_rng(9).normal(size=(2000, 4))
    truth = np.maximum(at @ [1.0, -1.0, 0.5, 0.0], 0.0)
    found = make("linear_tree", random_state=0).fit(X, y)
    assert 2 <= found.n_leaves_ <= 4
    line = make("linear_tree", random_state=0, max_depth=0).fit(X, y)
    errors = [np.mean((one.predict(at) - truth) ** 2) for one in (found, line)]
    assert errors[0] < 0.1 * errors[1]


def test_a_line_keeps_one_leaf_whatever_the_way_to_cut():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X @ [1.0, 2.0, 0.0] + 0.3 * np.random.default_rng(1).normal(size=200)
    for base in ("several", "bends", "steps", "means"):
        assert LinearTreeRegressor(base, random_state=0).fit(X, y).n_leaves_ == 1


@pytest.mark.parametrize("rows", [1, 2, 3, 19])
def test_few_rows_give_one_leaf(rows):
    X, y = hinge(rows)
    tree = LinearTreeRegressor(random_state=0).fit(X, y)
    assert tree.n_leaves_ == 1 and np.isfinite(tree.predict(X)).all()
