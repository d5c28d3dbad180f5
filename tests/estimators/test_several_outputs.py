"""Trees and forests of several numbers: plain programs and scikit-learn beside them, one output, files, refusals."""

import json
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor

import oblique_cli
from oblique_cli import ObliqueForestRegressor, _core
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.conformal import ConformalRegressor
from oblique_cli.estimators.forest.leaves import equations_of, means_of
from oblique_cli.models.file_format import digest
from oblique_cli.models.model import Model
from oblique_cli.tree.least_squares import fit_linear
from oblique_cli.tree.residual_signs import Settings, above, grow
from oblique_cli.tree.splitting import PROPOSERS

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
    retained = {"n_estimators": 5, "bootstrap": False, "max_features": None, "random_state": 0}
    model = ObliqueForestRegressor(max_depth=1, min_samples_leaf=1, **retained).fit(X, y)
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
            inside = leaves[:, t] == leaf
            predictions[inside, t] = np.average(y[inside], axis=0, weights=draws[t, inside])
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
    first = {"n_estimators": 1, "random_state": 1}
    model = ObliqueForestRegressor(**first).fit(X, y)
    drawn = np.asarray(_core.Forest(3, 1, model.forest_.seed).draws(80, 1, True, 80))[0] > 0
    # Not far from the others: the mean that numbers are measured from is another one, whose rounding may decide ties.
    again = ObliqueForestRegressor(**first).fit(X, np.where(drawn if k == 1 else drawn[:, None], y, -3.0 * y))
    np.testing.assert_allclose(again.predict(X), model.predict(X))


def test_leaves_have_the_means_and_equations_of_each_output_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)) * [1.0, 50.0], rng.normal(size=(40, 3))
    held, numbers = rng.integers(0, 3, 40).astype(float)[None], rng.integers(0, 3, (40, 1))
    result, means = equations_of(numbers, held, X, y, 3, (2.0,))[2.0], means_of(numbers, held, y, 3)
    assert result.shape == (3, 3, 5) and means.shape == (3, 3, 1)
    for k in range(3):
        alone = np.ascontiguousarray(y[:, k])
        np.testing.assert_allclose(result[:, k], equations_of(numbers, held, X, alone, 3, (2.0,))[2.0], rtol=1e-9)
        np.testing.assert_allclose(means[:, k], means_of(numbers, held, alone, 3))
    X, y = bent_rows(1)
    tree = make("hhcart_model_tree", random_state=0).fit(X, y).tree_
    leaves = tree.apply(X)
    for leaf in np.unique(leaves):
        for k in range(2):
            fit = fit_linear(X[leaves == leaf], y[leaves == leaf, k])
            np.testing.assert_allclose(tree.equations.coef[leaf, k], fit.coef, rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(tree.equations.intercept[leaf, k], fit.intercept, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2])
def test_the_penalty_has_the_least_error_out_of_bag_over_all_outputs(k: int):
    X, y = rows_of(6, k=k)
    model = ObliqueForestRegressor(leaves="linear", n_estimators=5, random_state=0, oob_score=True).fit(X, y)
    fixed = {ridge: clone(model).set_params(l2_regularization=ridge).fit(X, y) for ridge in (0.1, 1.0, 10.0, 100.0)}
    seen = ~np.isnan(model.oob_prediction_.reshape(len(X), -1)).any(axis=1)
    errors = {r: ((item.oob_prediction_ - y)[seen] ** 2).sum() for r, item in fixed.items()}
    assert model.l2_regularization_ == min(errors, key=errors.__getitem__)
    far = model.predict(np.full((1, 3), 1e6))
    assert (far >= y.min(axis=0)).all() and (far <= y.max(axis=0)).all()
    tree = model.tree(0)
    assert tree.equations.n_outputs == k and tree.predicted(X).shape == y.shape


@pytest.mark.parametrize("leaves", LEAVES)
def test_equal_columns_give_the_forest_of_one(leaves: str):
    X, y = rows_of(7)
    model = ObliqueForestRegressor(leaves=leaves, n_estimators=6, random_state=0)
    single, three = clone(model).fit(X, y[:, 0]), model.fit(X, np.repeat(y[:, :1], 3, axis=1))
    np.testing.assert_allclose(three.predict(X), np.repeat(single.predict(X)[:, None], 3, axis=1), rtol=1e-9)
    assert single.n_leaves_ == three.n_leaves_ and (single.n_outputs_, three.n_outputs_) == (1, 3)


def test_a_column_is_one_output_with_a_warning_as_in_forests_of_scikit_learn():
    X, y = rows_of(8)
    for model in (RandomForestRegressor(n_estimators=2), ObliqueForestRegressor(n_estimators=2, random_state=0)):
        with pytest.warns(DataConversionWarning, match="column-vector"):
            column = clone(model).fit(X, y[:, :1]).predict(X)
        assert column.shape == (len(X),)
    assert np.array_equal(column, clone(model).fit(X, y[:, 0]).predict(X))


def test_a_weight_of_two_is_a_row_twice_where_nothing_is_drawn():
    X, y = rows_of(11, n=60)
    weights = 1.0 + (np.arange(60) % 2)
    model = ObliqueForestRegressor(n_estimators=3, bootstrap=False, **PLAIN)
    single = clone(model).fit(X, y, sample_weight=weights).predict(X)
    twice = model.fit(*(np.repeat(rows, weights.astype(int), axis=0) for rows in (X, y)))
    np.testing.assert_allclose(single, twice.predict(X), rtol=1e-9)
    none = clone(model).fit(np.vstack([X, X + 9.0]), np.vstack([y, -y]), sample_weight=np.repeat([1.0, 0.0], 60))
    assert np.array_equal(none.predict(X), clone(model).fit(X, y).predict(X))


@pytest.mark.sample(1)
@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("k", [2, 6])  # 6 means of 3 features are as many numbers as an equation
def test_pickles_files_and_exports_say_the_same(leaves: str, k: int, tmp_path: Any):
    X, _ = rows_of(12)
    y = X @ np.random.default_rng(0).normal(size=(3, k))
    model = ObliqueForestRegressor(leaves=leaves, n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    predicted = model.predict(X)
    oblique_cli.save(model, tmp_path / "m.json", X)
    read = oblique_cli.load(tmp_path / "m.json")
    assert predicted.shape == y.shape and read.n_outputs == k
    for copy in (pickle.loads(pickle.dumps(model)), read, read.estimator):
        assert np.array_equal(copy.predict(X), predicted)
    with pytest.raises(ConfigError, match=f"of {k} outputs cannot be explained or verified"):
        oblique_cli.shap_values(model, X[:2], X)
    names: dict[str, Any] = {}
    exec(oblique_cli.export(model, "python"), names)
    assert [list(names["predict"](row)) for row in X.tolist()] == predicted.tolist()
    plain = json.loads(str(oblique_cli.export(model, "json")))
    assert [len(tree["nodes"][-1]["outputs"]) for tree in plain["trees"]] == [k] * 30
    with pytest.raises(ConfigError, match="forests of several outputs; these do: json, python"):
        oblique_cli.export(model, "c")


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
    predicted = ObliqueForestRegressor(leaves=leaves, n_estimators=20, random_state=0).fit(X, y).predict(X)
    assert np.allclose(predicted[:, 1], 7.0) and (predicted[:, 0] > 0.0).all() and (predicted[:, 0] < 2.0).all()
    assert np.ptp(predicted[:10], axis=0).max() == 0.0


NAMES = ("cart_regression", "hhcart_regression", "hhcart_model_tree")
OBLIQUE = NAMES[1:]


def bent_rows(seed: int, n: int = 120, p: int = 3, k: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    parts = [np.abs(X[:, 0] + X[:, 1]), 2.0 * (X[:, -1] > 0.3), X[:, 0] - X[:, -1]]
    return X, np.column_stack(parts[:k]) + 0.1 * rng.normal(size=(n, k))


def rss(X: Any, y: Any, linear: bool) -> float:
    return sum(fit_linear(X, column).rss if linear else float(((column - column.mean()) ** 2).sum()) for column in y.T)


def slow_tree(X: Any, y: Any, rows: Any, least: int, text: Any) -> None:
    """The leaves of a tree of axes over all cuts, written out: `said` gets their means."""
    best, error = None, rss(X[rows], y[rows], linear=False)
    for j in range(X.shape[1]):
        for t in np.sort(X[rows, j])[:-1]:
            left = X[rows, j] <= t
            if min(left.sum(), (~left).sum()) < least:
                continue
            now = rss(X[rows[left]], y[rows[left]], False) + rss(X[rows[~left]], y[rows[~left]], False)
            if now < error * (1.0 - 1e-10):
                best, error = left, now
    if best is None:
        text[rows] = y[rows].mean(axis=0)
        return
    slow_tree(X, y, rows[best], least, text)
    slow_tree(X, y, rows[~best], least, text)


@few(1, k=[2, 3], seed=range(3))
def test_a_tree_of_axes_is_that_of_a_plain_program_and_of_scikit_learn(k: int, seed: int):
    X, y = bent_rows(seed, n=60, k=k)
    predicted = np.empty_like(y)
    slow_tree(X, y, np.arange(len(X)), 4, predicted)
    plain = {"min_samples_leaf": 4, "random_state": 0}
    ours = make("hhcart_regression", proposer="axis_parallel", pruning="none", **plain).fit(X, y)
    reference = make("cart_regression", **plain).fit(X, y)
    theirs = DecisionTreeRegressor(**plain).fit(X, y)
    for model in (ours, reference, theirs):
        np.testing.assert_allclose(model.predict(X), predicted, rtol=1e-9, atol=1e-12)
    assert ours.n_leaves_ == reference.n_leaves_ == theirs.get_n_leaves()
    assert np.array_equal(reference.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    np.testing.assert_allclose(ours.tree_.equations.rss[0], rss(X, y, False))
    np.testing.assert_allclose(reference.model_tree.equations.rss[0], rss(X, y, False))
    assert np.array_equal(reference.model_tree.predicted(X), reference.predict(X))


def test_rows_are_above_a_model_along_the_first_principal_component():
    """By hand: the residuals lie along (3, 4), but for a little across it."""
    along, across = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([1e-3, -1e-3, -1e-3, 1e-3])
    residuals = along[:, None] * [0.6, 0.8] + across[:, None] * [0.8, -0.6]
    assert above(residuals).tolist() == [0, 0, 1, 1]
    assert above(-residuals).tolist() == [1, 1, 0, 0]
    assert above(residuals * [-1.0, 1.0]).tolist() == [1, 1, 0, 0]  # the first component is positive
    assert above(residuals[:, :1]).tolist() == above(residuals[:, 0]).tolist()


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25)
def test_classes_of_a_node_depend_on_no_sign_or_order_of_rows(seed: int):
    rng = np.random.default_rng(seed)
    residuals = rng.normal(size=(20, 3)) * [3.0, 1.0, 0.5]
    order = rng.permutation(20)
    assert above(residuals)[order].tolist() == above(residuals[order]).tolist()
    _, _, axes = np.linalg.svd(residuals)
    expected = residuals @ (axes[0] * np.sign(axes[0, 0])) > 0.0
    assert above(residuals).tolist() == expected.tolist()


def test_planes_across_features_serve_all_outputs_also_those_of_small_variance():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    side = X[:, 0] + X[:, 1] > 0.2
    y = np.column_stack([np.where(side, 1.0, 0.0), np.where(side, -1.0, 2.0)])
    # Of classes with two centers a reflection of HHCART-A finds the plane nearly, one of HHGDT to the end.
    tree = grow(X, y, PROPOSERS["oc1_lc"](), Settings(5, max_depth=1))
    left = tree.apply(X) == 1
    assert max((left == side).mean(), (left != side).mean()) > 0.95
    assert np.count_nonzero(np.abs(tree.coef_[0]) > 0.1) == 2
    # A component is drawn by its variance, so that no output is left out for ever.
    X, y = rows_of(9, n=400)
    across = np.where(X[:, 1] - X[:, 2] > 0.0, 1.0, -1.0)
    model = ObliqueForestRegressor(n_estimators=30, max_features=None, random_state=0)
    model.fit(X, np.column_stack([2.0 * y[:, 0], across]))
    planes = np.vstack([model.tree(i).coef_ for i in range(30)])
    planes = planes[np.count_nonzero(planes, axis=1) > 1]
    planes = planes / np.linalg.norm(planes, axis=1, keepdims=True)
    normal = np.array([0.0, 1.0, -1.0]) / np.sqrt(2.0)
    assert (np.abs(planes @ normal) > 0.95).sum() > 10


@pytest.mark.parametrize("name", NAMES[:2])
def test_equal_columns_give_the_tree_of_one(name: str):
    X, y = bent_rows(2)
    # Few rows have ties, which rounding decides.
    model = make(name, random_state=0, min_samples_leaf=10)
    single, three = clone(model).fit(X, y[:, 0]), model.fit(X, np.repeat(y[:, :1], 3, axis=1))
    np.testing.assert_allclose(three.predict(X), np.repeat(single.predict(X)[:, None], 3, axis=1), rtol=1e-9, atol=1e-9)
    assert single.n_leaves_ == three.n_leaves_ and (single.n_outputs_, three.n_outputs_) == (1, 3)
    np.testing.assert_allclose(
        three.model_tree.equations.rss, 3.0 * single.model_tree.equations.rss, rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_column_is_one_output_without_a_warning_as_in_trees_of_scikit_learn(name: str):
    X, y = bent_rows(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionTreeRegressor().fit(X, y[:, :1])
        column = make(name, random_state=0).fit(X, y[:, :1])
    assert column.predict(X).shape == (len(X),)
    assert np.array_equal(column.predict(X), make(name, random_state=0).fit(X, y[:, 0]).predict(X))


@pytest.mark.long
def test_pruning_counts_the_errors_of_all_outputs():
    """The noise of a second output leaves nothing of the tree, and is no reason for leaves of its own."""
    X, y = bent_rows(7, n=200)
    noise = 50.0 * np.random.default_rng(1).normal(size=len(X))
    retained = make("hhcart_regression", random_state=0).fit(X, y)
    assert make("hhcart_regression", random_state=0).fit(X, np.column_stack([y[:, 0], noise])).n_leaves_ == 1
    assert retained.n_leaves_ < make("hhcart_regression", pruning="none").fit(X, y).n_leaves_


@pytest.mark.parametrize("name", NAMES[1:])
def test_pickles_clones_and_files_say_the_same(name: str, tmp_path: Any):
    X, y = bent_rows(8, k=3)
    model = make(name, random_state=0).fit(X, y)
    predicted = model.predict(X)
    assert predicted.shape == y.shape and model.score(X, y) > 0.1
    oblique_cli.save(model, tmp_path / "one.json", X)
    read = oblique_cli.load(tmp_path / "one.json")
    copies = (pickle.loads(pickle.dumps(model)), clone(model).fit(X, y), read, read.estimator)
    assert all(np.array_equal(copy.predict(X), predicted) for copy in copies)
    assert read.n_outputs == 3 == read.estimator.n_outputs_
    assert np.array_equal(read.apply(X), model.apply(X))


@pytest.mark.parametrize("truncate", ["all", "leaf"])
def test_bounds_are_of_each_output(truncate: str, tmp_path: Any):
    X, y = bent_rows(9)
    model = make("hhcart_model_tree", random_state=0, truncate=truncate).fit(X, y)
    far = model.predict(100.0 * X)
    room = 0.25 * np.ptp(y, axis=0)
    assert (far >= y.min(axis=0) - room - 1e-12).all() and (far <= y.max(axis=0) + room + 1e-12).all()
    oblique_cli.save(model, tmp_path / "one.json")
    assert np.array_equal(oblique_cli.load(tmp_path / "one.json").predict(100.0 * X), far)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("hhcart_regression", lambda tree: tree["intercept"].pop()),
        ("hhcart_regression", lambda tree: tree.update(intercept=[row[0] for row in tree["intercept"]])),
        ("hhcart_regression", lambda tree: tree.update(coef=[row[0] for row in tree["coef"]])),
        ("cart_regression", lambda tree: tree.update(values=[row[:1] for row in tree["values"]])),
    ],
)
def test_a_file_of_other_outputs_is_refused(name: str, damage: Any, tmp_path: Any):
    X, y = bent_rows(10, n=40)
    oblique_cli.save(make(name, max_depth=2, random_state=0).fit(X, y), tmp_path / "one.json")
    document = json.loads((tmp_path / "one.json").read_text())
    damage(document["state"]["tree_"])
    (tmp_path / "one.json").write_text(json.dumps({**document, "digest": digest(document)}))
    with pytest.raises(DataError, match="tree_"):
        oblique_cli.load(tmp_path / "one.json")


def test_text_and_drawings_name_each_output():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([[1.0, 5.0], [3.0, 5.0], [4.0, 7.0], [4.0, 7.0]])
    for name in NAMES[:2]:
        options = {"pruning": "none", "min_samples_leaf": 2} if name in OBLIQUE else {"min_samples_leaf": 2}
        model = make(name, **options).fit(X, y)
        text = model.export_text()
        # By hand: two squared errors of 1 over two rows and two outputs.
        assert "y1 = 2; y2 = 5  (2 rows, RMSE 0.707)" in text and "y1 = 4; y2 = 7  (2 rows, RMSE 0)" in text
        assert "fuel = 2; power = 5" in model.export_text(target=["fuel", "power"])
        assert "power2 = 7" in model.export_text(target="power")
        view = model.view(target=["fuel", "power"])
        assert any("power\N{NO-BREAK SPACE}= 7" in node.text or "power = 7" in node.text for node in view.nodes)
        assert "y2 = 7" in model.to_html()
        model.plot()
        with pytest.raises(ConfigError, match="target must be a list of 2 names"):
            model.export_text(target=["fuel"])
    X, y = rows_of(13)
    model = ObliqueForestRegressor(n_estimators=2, max_depth=1, random_state=0).fit(X, y)
    assert "; y2 = " in model.export_text()
    assert "fuel = " in model.export_text(class_names=["fuel", "power"], number=1)
    model.plot(1)
    with pytest.raises(ConfigError, match="class_names must be a list of 2 names"):
        model.export_text(class_names=["fuel"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("X", "y", "leaves"),
    [
        ([[1.0], [2.0], [3.0]], [[5.0, 6.0]] * 3, 1),  # constant outputs
        ([[1.0, 2.0]], [[5.0, 6.0, 7.0]], 1),  # one row, fewer than outputs
        ([[1.0], [2.0]], [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]], None),
        ([[1.0]] * 6, [[0.0, 1.0], [2.0, 5.0]] * 3, 1),  # equal rows of different targets
        ([[float(i)] for i in range(8)], [[i % 2, 3.0] for i in range(8)], None),  # one output is constant
    ],
)
def test_degenerate_rows_are_fitted(name: str, X: Any, y: Any, leaves: int | None):
    model = make(name, random_state=0).fit(X, y)
    predicted = model.predict(X)
    assert predicted.shape == np.shape(y) and np.isfinite(predicted).all()
    if leaves is not None:
        assert model.n_leaves_ == leaves
        np.testing.assert_allclose(predicted, np.tile(np.mean(y, axis=0), (len(X), 1)))


@pytest.mark.parametrize("name", OBLIQUE)
def test_outputs_of_very_different_sizes_are_added_up_as_they_are(name: str):
    """The small output counts for nothing, and is predicted all the same."""
    X, y = bent_rows(11)
    model = make(name, random_state=0, pruning="none").fit(X, y * [1e100, 1e-100])
    alone = make(name, random_state=0, pruning="none").fit(X, y[:, 0] * 1e100)
    np.testing.assert_allclose(model.predict(X)[:, 0], alone.predict(X), rtol=1e-9)
    assert 0.0 < np.ptp(model.predict(X)[:, 1]) < 1e-99


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "params", "remedy"),
    [
        ("hhcart_regression", {"monotonic_cst": [1, 0, 0]}, "monotonic_cst to None"),
        ("hhcart_model_tree", {"leaf_residuals": True}, "leaf_residuals to False"),
        ("tao_regression", {}, "refine to 'none'"),
        ("cart_regression", {"monotonic_cst": [1, 0, 0]}, "monotonic_cst to None"),
    ],
)
def test_what_is_for_one_output_says_so(name: str, params: Any, remedy: str):
    X, y = bent_rows(12)
    model = make(name, **params)
    with pytest.raises(ConfigError, match=f"is for one output, and y has 2 columns; set {remedy}, or fit a tree to"):
        model.fit(X, y)
    if name != "cart_regression":
        assert not model.__sklearn_tags__().target_tags.multi_output
        with pytest.warns(DataConversionWarning, match="column-vector"):  # as of all estimators of one output
            model.fit(X, y[:, :1])


@pytest.mark.parametrize("name", NAMES)
def test_what_explains_a_model_refuses_several_outputs(name: str):
    X, y = bent_rows(13)
    model = make(name, random_state=0, max_depth=2).fit(X, y)
    calls = (
        lambda: oblique_cli.shap_values(model, X[:2], X),
        lambda: oblique_cli.explain(model, X[0], reference=X),
        lambda: oblique_cli.verify(model, never_uses=["x1"]),
        lambda: oblique_cli.verify(model, monotone={"x1": 1}),
    )
    for each in calls:
        with pytest.raises(ConfigError, match="of 2 outputs cannot be explained or verified; fit a model to each"):
            each()
    with pytest.raises(ConfigError, match=r"one output|of this package alone"):
        Model.of(model).predict_quantiles(X, (0.5,))
    with pytest.raises(ConfigError, match="must be one output"):
        ConformalRegressor(make(name)).fit(X, y)


@few(1, name=NAMES, params=[{"max_depth": 3}, {}])  # nested conditions, tables
def test_python_and_json_say_the_same_as_the_model(name: str, params: Any):
    X, y = bent_rows(15, n=300, k=3)
    bounds = {"truncate": "leaf"} if name == "hhcart_model_tree" else {}
    model = make(name, random_state=0, **params, **bounds, **({"pruning": "none"} if name in OBLIQUE else {})).fit(X, y)
    names: dict[str, Any] = {}
    exec(oblique_cli.export(model, "python"), names)
    far = np.vstack([X, 50.0 * X])
    predicted = np.array([names["predict"](row) for row in far.tolist()])
    if bounds:  # sums of linear leaves are added up in another order
        np.testing.assert_allclose(predicted, model.predict(far), rtol=1e-9, atol=1e-9)
    else:
        assert np.array_equal(predicted, model.predict(far))
    assert names["predict"]([None, 0.0, 0.0]) is None or name == "cart_regression"
    plain = json.loads(str(oblique_cli.export(model, "json")))
    assert plain["schema"] == "oblique-export/2"
    leaves = [node for node in plain["trees"][0]["nodes"] if "outputs" in node]
    assert len(leaves) == model.n_leaves_ and {len(leaf["outputs"]) for leaf in leaves} == {3}
    tree = model.model_tree
    starts = [[output["intercept"] for output in leaf["outputs"]] for leaf in leaves]
    assert starts == tree.equations.intercept[tree.is_leaf].tolist()
    assert all(
        ("bounds" in output) == bool(bounds and output["terms"]) for leaf in leaves for output in leaf["outputs"]
    )


@pytest.mark.parametrize("name", NAMES)
def test_drawings_are_exported_and_other_formats_say_who_takes_several_outputs(name: str):
    X, y = bent_rows(16)
    model = make(name, random_state=0, max_depth=2).fit(X, y)
    for form in ("dot", "latex"):
        assert "target2" in str(oblique_cli.export(model, form))
    for form in ("c", "javascript", "onnx", "pmml", "rules", "sql"):
        with pytest.raises(ConfigError, match="regression trees of several outputs; these do: dot, json, latex,"):
            oblique_cli.export(model, form)
