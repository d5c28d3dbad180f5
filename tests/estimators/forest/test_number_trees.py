"""Forests and boosting of numbers: plain programs beside them, closed forms, and what holds of both."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import oblique_cli
from oblique_cli import ObliqueBoostingRegressor, ObliqueForestRegressor
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.forest.leaves import equations_of

BAGS = ("oblique_forest_regression", "tao_forest_regression")
NAMES = (*BAGS, "oblique_boosting_regression")
PLAIN: dict[str, Any] = {"proposer": "axis_parallel", "max_features": None, "max_samples": None, "random_state": 0}


def rows_of(seed: int, n: int = 150, p: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] + X[:, 1] > 0.2, 3.0, 0.0) + X[:, -1] ** 2 + 0.3 * rng.normal(size=n)


def small(name: str, **params: Any) -> Any:
    return make(name, random_state=0, n_estimators=6, **params)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
def test_boosting_is_that_of_a_plain_program(loss: str):
    """Trees of scikit-learn on the gradients, and the steps of leaves written out."""
    X, y = rows_of(1)
    rate, l2, share = 0.3, 0.7, 0.3 if loss == "quantile" else 0.5
    model = ObliqueBoostingRegressor(
        loss=loss, quantile=0.3, n_estimators=6, learning_rate=rate, l2_regularization=l2, max_depth=2, **PLAIN
    ).fit(X, y)

    def quantile(values: Any) -> float:
        return float(np.sort(values)[math.ceil(share * len(values) - 1e-9) - 1])

    found = np.full(len(y), y.mean() if loss == "squared_error" else quantile(y))
    for _ in range(6):
        r = y - found
        gradient = r if loss == "squared_error" else np.where(r > 0, share, np.where(r < 0, share - 1, 0.0))
        tree = DecisionTreeRegressor(max_depth=2, min_samples_leaf=5, random_state=0).fit(X, gradient)
        leaves = tree.apply(X)
        for leaf in np.unique(leaves):
            own = leaves == leaf
            step = r[own].mean() if loss == "squared_error" else quantile(r[own])
            found[own] += rate * step * own.sum() / (own.sum() + l2)
    np.testing.assert_allclose(model.predict(X), found, rtol=1e-9, atol=1e-9)
    r = y - found
    own = {"squared_error": r**2, "absolute_error": abs(r)}.get(loss, np.where(r > 0, share * r, (share - 1) * r))
    assert model.training_loss_[-1] == pytest.approx(own.mean())


@pytest.mark.parametrize("l2", [0.7, 0.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_boosting_with_linear_leaves_is_that_of_a_plain_program(l2: float, weighted: bool):
    X, y = rows_of(14, p=3)
    X[:, 1] *= 1000.0
    X = np.column_stack([X, np.full(len(X), 7.0)])
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    w[0] = 1.0  # the unit of weights
    rate, how = 0.4, {"n_estimators": 5, "learning_rate": 0.4, "l2_regularization": l2, "max_depth": 2}
    model = ObliqueBoostingRegressor(leaves="linear", min_child_weight=12.0, **how, **PLAIN).fit(X, y, w)
    scale = X.std(axis=0)
    z = np.where(scale > 0, (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), 0.0)
    found = np.full(len(y), np.average(y, weights=w))
    for t in range(5):
        leaves, r = model.apply(X)[:, t], y - found
        for leaf in np.unique(leaves):
            own = leaves == leaf
            c = z[own] - np.average(z[own], axis=0, weights=w[own])
            middle = np.average(r[own], weights=w[own])
            gram, along = (c.T * w[own]) @ c + l2 * np.eye(4), c.T @ (w[own] * (r[own] - middle))
            b = np.append(np.linalg.solve(gram[:3, :3], along[:3]), 0.0)  # the last column is constant
            says = middle * w[own].sum() / (w[own].sum() + l2) + c @ b
            found[own] += rate * np.clip(says, r[own].min(), r[own].max())
    np.testing.assert_allclose(model.predict(X), found, rtol=1e-8, atol=1e-8)
    assert model.training_loss_[-1] == pytest.approx(np.average((y - found) ** 2, weights=w))
    assert model.leaf_values_.shape == (model.n_leaves_, 7)


def test_linear_leaves_without_a_penalty_are_constant_where_features_depend_on_each_other():
    X, y = rows_of(17, n=60)
    doubled = np.column_stack([X, X[:, :1]])
    how = PLAIN | {"n_estimators": 3, "l2_regularization": 0.0}
    linear = ObliqueBoostingRegressor(leaves="linear", **how).fit(doubled, y)
    assert not linear.leaf_values_[:, :4].any()
    np.testing.assert_allclose(
        linear.predict(doubled), ObliqueBoostingRegressor(**how).fit(doubled, y).predict(doubled)
    )


def test_linear_leaves_of_boosting_stop_early_are_saved_and_stay_within_the_steps_of_their_rows(tmp_path: Any):
    X, y = rows_of(15, n=300)
    how = {"leaves": "linear", "n_iter_no_change": 4, "random_state": 0}
    model = ObliqueBoostingRegressor(**how).fit(X, y)
    assert model.n_estimators_ == int(model.validation_loss_.argmin()) + 1 == len(model.validation_loss_) - 4 < 96
    assert len(model.leaf_values_) == model.n_leaves_
    expected = model.predict(X)
    oblique_cli.save(model, tmp_path / "m.json")
    assert np.array_equal(oblique_cli.load(tmp_path / "m.json").predict(X), expected)
    far = model.predict(np.full((1, 3), 1e6))[0]
    assert abs(far) < model.n_estimators_ * 0.1 * 3 * np.ptp(y) and np.isfinite(far)
    assert model.tree(0).is_regression
    with pytest.raises(ConfigError, match=r"^leaves 'linear' of ObliqueBoostingRegressor need the loss"):
        ObliqueBoostingRegressor(leaves="linear", loss="quantile").fit(X, y)
    asked = [*X.tolist(), [1e6] * 3]
    names: dict[str, Any] = {}
    exec(oblique_cli.export(model, "python"), names)
    assert [names["predict"](row) for row in asked] == model.predict(asked).tolist()


def test_features_drawn_for_a_tree_are_all_that_it_uses():
    X, y = rows_of(16, n=120, p=6)
    model = small("oblique_forest_regression", max_features_per_tree=2, max_features=None).fit(X, y)
    used = [np.flatnonzero((tree.coef_ != 0.0).any(axis=0)) for tree in model.trees()]
    assert all(len(one) <= 2 for one in used) and len({tuple(one) for one in used}) > 1
    assert np.sum(model.forest_.n_oblique()) > 0


def test_equations_are_ridge_regressions_within_the_range_of_their_rows():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(30, 2)) * [1.0, 50.0], rng.normal(size=30), rng.integers(0, 3, 30).astype(float)
    (found,) = equations_of(np.zeros((30, 1), int), w[None], X, y, 1, (2.0,))[2.0]
    scale = X.std(axis=0)
    z = X / scale
    mean, middle = np.average(z, axis=0, weights=w), np.average(y, weights=w)
    b = np.linalg.solve((z - mean).T @ np.diag(w) @ (z - mean) + 2.0 * np.eye(2), (z - mean).T @ (w * (y - middle)))
    np.testing.assert_allclose(found, [*(b / scale), middle - mean @ b, y[w > 0].min(), y[w > 0].max()])


@pytest.mark.parametrize("name", NAMES)
def test_a_weight_of_two_is_a_row_twice_where_nothing_is_drawn(name: str):
    X, y = rows_of(8, n=60)
    weights = 1.0 + (np.arange(60) % 2)
    params = PLAIN | ({"leaves": "constant", "bootstrap": False} if name in BAGS else {})
    params |= {"penalty": 0.01} if name == "tao_forest_regression" else {}  # 1 / n counts rows, whatever they weigh
    params.pop("random_state")
    one = small(name, **params).fit(X, y, sample_weight=weights)
    twice = small(name, **params).fit(np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int)))
    np.testing.assert_allclose(one.predict(X), twice.predict(X), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_units_of_the_numbers_do_not_matter(name: str):
    X, y = rows_of(9, n=80)
    usual, shifted = (small(name).fit(X, z).predict(X) for z in (y, 1024.0 * y))
    np.testing.assert_allclose(shifted, 1024.0 * usual, rtol=1e-9)


def test_what_does_not_go_together_is_refused_in_a_sentence():
    X, y = rows_of(13, n=30)
    with pytest.raises(DataError, match=r"divide y by a unit"):
        ObliqueForestRegressor().fit(X, y * 1e200)
    linear = ObliqueForestRegressor(leaves="linear", n_estimators=2, random_state=0).fit(X, y)
    with pytest.raises(ConfigError, match=r"^oblique_forest_regression has linear leaves within bounds in all of its"):
        oblique_cli.shap_values(linear, X[:2], X)
    with pytest.raises(ConfigError, match=r"bounds of their own, which verify does not follow; fit with leaves const"):
        oblique_cli.verify(linear, never_uses=["x1"])
