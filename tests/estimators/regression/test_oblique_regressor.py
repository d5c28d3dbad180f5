"""The estimator of regression trees of hyperplanes; contracts of every algorithm are in other files."""

import numpy as np
import pytest

from oblique_cli import ObliqueTreeRegressor
from oblique_cli.errors import DataError
from oblique_cli.estimators.regression.cart import CARTRegressor
from oblique_cli.tree.splitting import PROPOSERS


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 3))
    return X, np.abs(X[:, 0] + X[:, 1]) * 3 + 0.1 * rng.normal(size=150)


def test_a_planted_bend_is_found_and_said(rows):
    X, y = rows
    tree = ObliqueTreeRegressor(leaves="linear", random_state=0).fit(X, y)
    assert tree.n_leaves_ == 2 and tree.score(X, y) > 0.99
    text = tree.export_text(["a", "b", "c"], target="price")
    assert text.count("price = ") == 2 and "RMSE" in text
    assert tree.feature_importances_[:2].min() > 0.3 and tree.feature_importances_.sum() == pytest.approx(1.0)
    view = tree.view(["a", "b", "c"], "price", rows=(X, y))
    assert [node.is_leaf for node in view.nodes] == [False, True, True] and "price = " in view.nodes[1].text
    assert not view.classes and all(not node.counts for node in view.nodes)


def test_targets_whose_squares_overflow_are_refused(rows):
    with pytest.raises(DataError, match="divide y by a unit"):
        ObliqueTreeRegressor().fit(rows[0], rows[1] * 1e200)


def test_a_heuristic_that_is_registered_later_is_known(rows, monkeypatch):
    X, y = rows
    monkeypatch.setitem(PROPOSERS._things, "later", PROPOSERS["fdt"])
    assert ObliqueTreeRegressor("later").fit(X, y).n_leaves_ >= 1


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
