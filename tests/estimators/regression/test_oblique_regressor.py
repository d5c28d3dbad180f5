"""Regression trees of hyperplanes and linear model trees: planted bends, ridge regression, few rows."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

from oblique_cli import ObliqueTreeRegressor
from oblique_cli.errors import DataError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.regression.cart import CARTRegressor
from oblique_cli.estimators.regression.linear_tree import LinearTreeRegressor
from oblique_cli.tree.splitting import PROPOSERS


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 3))
    return X, np.abs(X[:, 0] + X[:, 1]) * 3 + 0.1 * rng.normal(size=150)


def test_a_planted_bend_is_found_and_said_and_a_heuristic_that_is_registered_later_is_known(rows, monkeypatch):
    X, y = rows
    tree = ObliqueTreeRegressor(leaves="linear", random_state=0).fit(X, y)
    assert tree.n_leaves_ == 2 and tree.score(X, y) > 0.99
    text = tree.export_text(["a", "b", "c"], target="price")
    assert text.count("price = ") == 2 and "RMSE" in text
    assert tree.feature_importances_[:2].min() > 0.3 and tree.feature_importances_.sum() == pytest.approx(1.0)
    view = tree.view(["a", "b", "c"], "price", rows=(X, y))
    assert [node.is_leaf for node in view.nodes] == [False, True, True] and "price = " in view.nodes[1].text
    assert not view.classes and all(not node.counts for node in view.nodes)
    monkeypatch.setitem(PROPOSERS._things, "later", PROPOSERS["fdt"])
    assert ObliqueTreeRegressor("later").fit(X, y).n_leaves_ >= 1


def test_targets_whose_squares_overflow_are_refused(rows):
    with pytest.raises(DataError, match="divide y by a unit"):
        ObliqueTreeRegressor().fit(rows[0], rows[1] * 1e200)


def test_cart_cut_by_cross_validation_is_the_tree_of_the_complexity_that_it_chose():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] > 0, 2.0, 0.0) + rng.normal(size=120) / 2
    cut = CARTRegressor(ccp_alpha="cv", random_state=3).fit(X, y)
    assert cut.n_leaves_ == 2 and cut.ccp_alpha == "cv" and CARTRegressor(random_state=3).fit(X, y).n_leaves_ > 90
    weights = np.arange(120) % 5 > 0
    part = CARTRegressor(ccp_alpha="cv", random_state=3).fit(X[weights], y[weights])
    whole = CARTRegressor(ccp_alpha="cv", random_state=3).fit(X, y, sample_weight=weights * 2.5)
    assert np.array_equal(whole.predict(X), part.predict(X))
    assert CARTRegressor(ccp_alpha="cv", random_state=3).fit(X, rng.normal(size=120)).n_leaves_ == 1
    assert CARTRegressor(ccp_alpha="cv").fit(X[:1], y[:1]).n_leaves_ == 1
    assert CARTRegressor(ccp_alpha="cv", random_state=1).fit(X, np.column_stack([y, -y])).n_leaves_ == 2


def hinge(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.maximum(X @ [1.0, -1.0, 0.5, 0.0], 0.0) + 0.1 * rng.normal(size=n)


def test_one_leaf_is_ridge_regression_and_stays_whatever_the_way_to_cut_a_line():
    X, y = load_diabetes(return_X_y=True)
    tree = LinearTreeRegressor(leaf_penalty=10.0, max_depth=0, truncate="none", random_state=0).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert tree.n_leaves_ == 1
    np.testing.assert_allclose(tree.predict(X), Ridge(10.0).fit(Z, y).predict(Z), rtol=1e-9)
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X @ [1.0, 2.0, 0.0] + 0.3 * np.random.default_rng(1).normal(size=200)
    for base in ("several", "bends", "steps", "means"):
        assert LinearTreeRegressor(base, random_state=0).fit(X, y).n_leaves_ == 1


def test_a_plane_that_bends_takes_two_leaves_and_leaves_next_to_nothing():
    X, y = hinge()
    at = np.random.default_rng(9).normal(size=(2000, 4))
    truth = np.maximum(at @ [1.0, -1.0, 0.5, 0.0], 0.0)
    model = make("linear_tree", random_state=0).fit(X, y)
    assert 2 <= model.n_leaves_ <= 4
    line = make("linear_tree", random_state=0, max_depth=0).fit(X, y)
    errors = [np.mean((item.predict(at) - truth) ** 2) for item in (model, line)]
    assert errors[0] < 0.1 * errors[1]


def test_beyond_a_thousand_rows_cross_validation_chooses_the_limits():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1200, 2))
    y = np.sign(np.sin(200 * X[:, 0])) + 0.01 * rng.normal(size=1200)  # 64 steps of about 19 rows
    how = {"base": "steps", "folds": 2, "random_state": 0}
    few = LinearTreeRegressor(**how).fit(X[:1000], y[:1000])
    assert {c.least for c in few.choice_.candidates} == {10} and few.n_leaves_ <= 40
    many = LinearTreeRegressor(**how, max_leaf_nodes=100).fit(X, y)
    tried = many.choice_.candidates
    assert {c.least for c in tried} == {4, 10, 40} and many.choice_.chosen.least < 40
    price = 0.01 * (1000 / 1200) ** 0.5
    assert many.choice_.chosen.loss(price) == pytest.approx(min(c.loss(price) for c in tried))
    assert many.choice_.chosen.error < min(c.error for c in tried if c.least == 40)


@pytest.mark.parametrize("rows", [1, 2, 3, 19])
def test_few_rows_give_one_leaf(rows):
    X, y = hinge(rows)
    tree = LinearTreeRegressor(random_state=0).fit(X, y)
    assert tree.n_leaves_ == 1 and np.isfinite(tree.predict(X)).all()
