"""Forests that predict one number or several: plain programs beside them, one output, files and degenerate rows."""

import json
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor

import oblique_cli
from oblique_cli import ObliqueForestRegressor, _core
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.forest.leaves import equations_of, means_of

PLAIN: dict[str, Any] = {"proposer": "axis_parallel", "max_features": None, "random_state": 0}
LEAVES = ("constant", "linear")


def rows_of(seed: int, n: int = 150, p: int = 3, k: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    parts = [np.where(X[:, 0] + X[:, 1] > 0.2, 3.0, 0.0), X[:, -1] ** 2, X[:, 0] - X[:, -1]]
    y = np.column_stack(parts[:k]) + 0.3 * rng.normal(size=(n, k))
    return X, y[:, 0] if k == 1 else y


def fall(y: Any, left: Any) -> float:
    """By how much a cut lowers the sum of squares of all outputs."""
    return float(sum((part.sum(axis=0) ** 2 / len(part)).sum() for part in (y[left], y[~left]))) - float(
        (y.sum(axis=0) ** 2 / len(y)).sum()
    )


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_tree_of_axes_is_that_of_scikit_learn(k: int, seed: int):
    X, y = rows_of(seed, k=k)
    ours = ObliqueForestRegressor(n_estimators=1, bootstrap=False, min_samples_leaf=4, **PLAIN).fit(X, y)
    theirs = DecisionTreeRegressor(min_samples_leaf=4, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-12)
    assert ours.n_leaves_ == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)


@pytest.mark.parametrize("k", [1, 3])
def test_a_cut_is_the_best_of_all_planes_and_axes_over_all_outputs(k: int):
    X, y = rows_of(3, n=200, k=k)
    kept = {"n_estimators": 5, "bootstrap": False, "max_features": None, "random_state": 0}
    model = ObliqueForestRegressor(max_depth=1, min_samples_leaf=1, **kept).fit(X, y)
    axes = max(fall(y, X[:, j] <= cut) for j in range(3) for cut in np.sort(X[:, j])[:-1])
    for number in range(5):
        tree = model.tree(number)
        ours = fall(y, X @ tree.coef_[0] <= tree.thresholds[0])
        assert ours >= axes * (1.5 if k == 1 else 1.0 - 1e-9)
        assert np.asarray(model.forest_.importances())[number].sum() == pytest.approx(ours)
    assert max(np.count_nonzero(model.tree(number).coef_[0]) for number in range(5)) > 1


@pytest.mark.parametrize("k", [1, 2])
def test_means_and_out_of_bag_predictions_are_those_of_the_rows_that_were_drawn(k: int):
    X, y = rows_of(4, n=60, k=k)
    model = ObliqueForestRegressor(n_estimators=4, oob_score=True, random_state=3).fit(X, y)
    draws = np.asarray(_core.Forest(3, 1, model.forest_.seed).draws(60, 4, True, 60))
    leaves = model.apply(X)
    predictions = np.empty((60, 4, *y.shape[1:]))
    for t in range(4):
        for leaf in np.unique(leaves[:, t]):
            own = leaves[:, t] == leaf
            predictions[own, t] = np.average(y[own], axis=0, weights=draws[t, own])
    np.testing.assert_allclose(model.predict(X), predictions.mean(axis=1))
    seen = (draws == 0).any(axis=0)
    outside = np.array([predictions[i, draws[:, i] == 0].mean(axis=0) for i in np.flatnonzero(seen)])
    np.testing.assert_allclose(model.oob_prediction_[seen], outside)
    assert np.isnan(model.oob_prediction_[~seen]).all()
    assert model.oob_score_ == pytest.approx(r2_score(y[seen], outside))


@pytest.mark.parametrize("k", [1, 2])
def test_a_tree_sees_no_row_that_it_does_not_draw(k: int):
    """Components and planes too: numbers of rows out of bag may be anything."""
    X, y = rows_of(5, n=80, k=k)
    one = {"n_estimators": 1, "random_state": 1}
    model = ObliqueForestRegressor(**one).fit(X, y)
    drawn = np.asarray(_core.Forest(3, 1, model.forest_.seed).draws(80, 1, True, 80))[0] > 0
    # Not far from the others: the mean that numbers are measured from is another one, whose rounding may decide ties.
    again = ObliqueForestRegressor(**one).fit(X, np.where(drawn if k == 1 else drawn[:, None], y, -3.0 * y))
    np.testing.assert_allclose(again.predict(X), model.predict(X))


def test_leaves_have_the_means_and_equations_of_each_output_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)) * [1.0, 50.0], rng.normal(size=(40, 3))
    held, numbers = rng.integers(0, 3, 40).astype(float)[None], rng.integers(0, 3, (40, 1))
    found, means = equations_of(numbers, held, X, y, 3, (2.0,))[2.0], means_of(numbers, held, y, 3)
    assert found.shape == (3, 3, 5) and means.shape == (3, 3, 1)
    for k in range(3):
        alone = np.ascontiguousarray(y[:, k])
        np.testing.assert_allclose(found[:, k], equations_of(numbers, held, X, alone, 3, (2.0,))[2.0], rtol=1e-9)
        np.testing.assert_allclose(means[:, k], means_of(numbers, held, alone, 3))


@pytest.mark.parametrize("k", [1, 2])
def test_the_penalty_has_the_least_error_out_of_bag_over_all_outputs(k: int):
    X, y = rows_of(6, k=k)
    model = ObliqueForestRegressor(leaves="linear", n_estimators=5, random_state=0, oob_score=True).fit(X, y)
    fixed = {ridge: clone(model).set_params(l2_regularization=ridge).fit(X, y) for ridge in (0.1, 1.0, 10.0, 100.0)}
    seen = ~np.isnan(model.oob_prediction_.reshape(len(X), -1)).any(axis=1)
    errors = {r: ((one.oob_prediction_ - y)[seen] ** 2).sum() for r, one in fixed.items()}
    assert model.l2_regularization_ == min(errors, key=errors.__getitem__)
    far = model.predict(np.full((1, 3), 1e6))
    assert (far >= y.min(axis=0)).all() and (far <= y.max(axis=0)).all()
    tree = model.tree(0)
    assert tree.equations.n_outputs == k and tree.predicted(X).shape == y.shape


@pytest.mark.parametrize("leaves", LEAVES)
def test_equal_columns_give_the_forest_of_one(leaves: str):
    X, y = rows_of(7)
    model = ObliqueForestRegressor(leaves=leaves, n_estimators=6, random_state=0)
    one, three = clone(model).fit(X, y[:, 0]), model.fit(X, np.repeat(y[:, :1], 3, axis=1))
    np.testing.assert_allclose(three.predict(X), np.repeat(one.predict(X)[:, None], 3, axis=1), rtol=1e-9)
    assert one.n_leaves_ == three.n_leaves_ and (one.n_outputs_, three.n_outputs_) == (1, 3)


def test_a_column_is_one_output_with_a_warning_as_in_forests_of_scikit_learn():
    X, y = rows_of(8)
    for model in (RandomForestRegressor(n_estimators=2), ObliqueForestRegressor(n_estimators=2, random_state=0)):
        with pytest.warns(DataConversionWarning, match="column-vector"):
            column = clone(model).fit(X, y[:, :1]).predict(X)
        assert column.shape == (len(X),)
    assert np.array_equal(column, clone(model).fit(X, y[:, 0]).predict(X))


def test_planes_serve_an_output_of_small_variance_as_well():
    """A component is drawn by its variance, so that no output is left out for ever."""
    X, y = rows_of(9, n=400)
    across = np.where(X[:, 1] - X[:, 2] > 0.0, 1.0, -1.0)
    model = ObliqueForestRegressor(n_estimators=30, max_features=None, random_state=0)
    model.fit(X, np.column_stack([2.0 * y[:, 0], across]))
    planes = np.vstack([model.tree(i).coef_ for i in range(30)])
    planes = planes[np.count_nonzero(planes, axis=1) > 1]
    planes = planes / np.linalg.norm(planes, axis=1, keepdims=True)
    normal = np.array([0.0, 1.0, -1.0]) / np.sqrt(2.0)
    assert (np.abs(planes @ normal) > 0.95).sum() > 10


def test_a_weight_of_two_is_a_row_twice_where_nothing_is_drawn():
    X, y = rows_of(11, n=60)
    weights = 1.0 + (np.arange(60) % 2)
    model = ObliqueForestRegressor(n_estimators=3, bootstrap=False, **PLAIN)
    one = clone(model).fit(X, y, sample_weight=weights).predict(X)
    twice = model.fit(*(np.repeat(rows, weights.astype(int), axis=0) for rows in (X, y)))
    np.testing.assert_allclose(one, twice.predict(X), rtol=1e-9)
    none = clone(model).fit(np.vstack([X, X + 9.0]), np.vstack([y, -y]), sample_weight=np.repeat([1.0, 0.0], 60))
    assert np.array_equal(none.predict(X), clone(model).fit(X, y).predict(X))


@pytest.mark.sample(1)
@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("k", [2, 6])  # 6 means of 3 features are as many numbers as an equation
def test_pickles_files_and_exports_say_the_same(leaves: str, k: int, tmp_path: Any):
    X, _ = rows_of(12)
    y = X @ np.random.default_rng(0).normal(size=(3, k))
    model = ObliqueForestRegressor(leaves=leaves, n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    said = model.predict(X)
    oblique_cli.save(model, tmp_path / "m.json", X)
    read = oblique_cli.load(tmp_path / "m.json")
    assert said.shape == y.shape and read.n_outputs == k
    for copy in (pickle.loads(pickle.dumps(model)), read, read.estimator):
        assert np.array_equal(copy.predict(X), said)
    with pytest.raises(ConfigError, match=f"of {k} outputs cannot be explained or verified"):
        oblique_cli.shap_values(model, X[:2], X)
    names: dict[str, Any] = {}
    exec(oblique_cli.export(model, "python"), names)
    assert [list(names["predict"](row)) for row in X.tolist()] == said.tolist()
    plain = json.loads(str(oblique_cli.export(model, "json")))
    assert [len(tree["nodes"][-1]["outputs"]) for tree in plain["trees"]] == [k] * 30
    with pytest.raises(ConfigError, match="forests of several outputs; these do: json, python"):
        oblique_cli.export(model, "c")


def test_text_names_each_output():
    X, y = rows_of(13)
    model = ObliqueForestRegressor(n_estimators=2, max_depth=1, random_state=0).fit(X, y)
    assert "; y2 = " in model.export_text()
    assert "fuel = " in model.export_text(class_names=["fuel", "power"], number=1)
    model.plot(1)
    with pytest.raises(ConfigError, match="class_names must be a list of 2 names"):
        model.export_text(class_names=["fuel"])


@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0]], [[2.0, 3.0]]),  # one row
        ([[1.0], [1.0], [2.0]], [[5.0, 6.0]] * 3),  # constant outputs
        ([[1.0]] * 8, [[1.0, 2.0, 3.0]] * 8),
    ],
)
def test_a_row_or_a_number_alone_is_predicted(leaves: str, X: Any, y: Any):
    model = ObliqueForestRegressor(leaves=leaves, n_estimators=6, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y)


@pytest.mark.parametrize("leaves", LEAVES)
def test_equal_rows_of_different_numbers_and_a_constant_output_are_fitted(leaves: str):
    X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.tile([[0.0, 7.0], [2.0, 7.0]], (10, 1))
    said = ObliqueForestRegressor(leaves=leaves, n_estimators=20, random_state=0).fit(X, y).predict(X)
    assert np.allclose(said[:, 1], 7.0) and (said[:, 0] > 0.0).all() and (said[:, 0] < 2.0).all()
    assert np.ptp(said[:10], axis=0).max() == 0.0
