"""Forests and boosting of numbers, and refined forests: plain programs beside them, closed forms."""

import math
from typing import Any

import numpy as np
import pytest
from contracts import real_set
from sklearn.tree import DecisionTreeRegressor

import oblique_cli
from oblique_cli import ObliqueBoostingRegressor, ObliqueForestRegressor, TAOForestRegressor
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.forest.leaves import equations_of
from oblique_cli.estimators.forest.refined import TAOForestClassifier
from oblique_cli.estimators.forest.refined_numbers import falls_of
from oblique_cli.tree.refining import PlaneSpace, Settings

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

    numbers = np.full(len(y), y.mean() if loss == "squared_error" else quantile(y))
    for _ in range(6):
        r = y - numbers
        gradient = r if loss == "squared_error" else np.where(r > 0, share, np.where(r < 0, share - 1, 0.0))
        tree = DecisionTreeRegressor(max_depth=2, min_samples_leaf=5, random_state=0).fit(X, gradient)
        leaves = tree.apply(X)
        for leaf in np.unique(leaves):
            inside = leaves == leaf
            step = r[inside].mean() if loss == "squared_error" else quantile(r[inside])
            numbers[inside] += rate * step * inside.sum() / (inside.sum() + l2)
    np.testing.assert_allclose(model.predict(X), numbers, rtol=1e-9, atol=1e-9)
    r = y - numbers
    inside = {"squared_error": r**2, "absolute_error": abs(r)}.get(loss, np.where(r > 0, share * r, (share - 1) * r))
    assert model.training_loss_[-1] == pytest.approx(inside.mean())


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
    values = np.full(len(y), np.average(y, weights=w))
    for t in range(5):
        leaves, r = model.apply(X)[:, t], y - values
        for leaf in np.unique(leaves):
            inside = leaves == leaf
            c = z[inside] - np.average(z[inside], axis=0, weights=w[inside])
            middle = np.average(r[inside], weights=w[inside])
            gram, along = (c.T * w[inside]) @ c + l2 * np.eye(4), c.T @ (w[inside] * (r[inside] - middle))
            b = np.append(np.linalg.solve(gram[:3, :3], along[:3]), 0.0)  # the last column is constant
            says = middle * w[inside].sum() / (w[inside].sum() + l2) + c @ b
            values[inside] += rate * np.clip(says, r[inside].min(), r[inside].max())
    np.testing.assert_allclose(model.predict(X), values, rtol=1e-8, atol=1e-8)
    assert model.training_loss_[-1] == pytest.approx(np.average((y - values) ** 2, weights=w))
    assert model.leaf_values_.shape == (model.n_leaves_, 7)


def test_linear_leaves_of_boosting_stop_early_are_saved_and_are_constant_or_within_the_steps_of_their_rows(
    tmp_path: Any,
):
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
    rows = [*X.tolist(), [1e6] * 3]
    names: dict[str, Any] = {}
    exec(oblique_cli.export(model, "python"), names)
    assert [names["predict"](row) for row in rows] == model.predict(rows).tolist()
    X, y = rows_of(17, n=60)
    doubled = np.column_stack([X, X[:, :1]])
    how = PLAIN | {"n_estimators": 3, "l2_regularization": 0.0}
    linear = ObliqueBoostingRegressor(leaves="linear", **how).fit(doubled, y)
    assert not linear.leaf_values_[:, :4].any()
    np.testing.assert_allclose(
        linear.predict(doubled), ObliqueBoostingRegressor(**how).fit(doubled, y).predict(doubled)
    )


def test_features_drawn_for_a_tree_are_all_that_it_uses():
    X, y = rows_of(16, n=120, p=6)
    model = small("oblique_forest_regression", max_features_per_tree=2, max_features=None).fit(X, y)
    used = [np.flatnonzero((tree.coef_ != 0.0).any(axis=0)) for tree in model.trees()]
    assert all(len(value) <= 2 for value in used) and len({tuple(value) for value in used}) > 1
    assert np.sum(model.forest_.n_oblique()) > 0


def test_equations_are_ridge_regressions_within_the_range_of_their_rows():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(30, 2)) * [1.0, 50.0], rng.normal(size=30), rng.integers(0, 3, 30).astype(float)
    (equations,) = equations_of(np.zeros((30, 1), int), w[None], X, y, 1, (2.0,))[2.0]
    scale = X.std(axis=0)
    z = X / scale
    mean, middle = np.average(z, axis=0, weights=w), np.average(y, weights=w)
    b = np.linalg.solve((z - mean).T @ np.diag(w) @ (z - mean) + 2.0 * np.eye(2), (z - mean).T @ (w * (y - middle)))
    np.testing.assert_allclose(equations, [*(b / scale), middle - mean @ b, y[w > 0].min(), y[w > 0].max()])


@pytest.mark.parametrize("name", NAMES)
def test_units_of_the_numbers_do_not_matter_and_a_weight_of_two_is_a_row_twice_where_nothing_is_drawn(name: str):
    X, y = rows_of(9, n=80)
    usual, shifted = (small(name).fit(X, z).predict(X) for z in (y, 1024.0 * y))
    np.testing.assert_allclose(shifted, 1024.0 * usual, rtol=1e-9)
    X, y = rows_of(8, n=60)
    weights = 1.0 + (np.arange(60) % 2)
    params = PLAIN | ({"leaves": "constant", "bootstrap": False} if name in BAGS else {})
    params |= {"penalty": 0.01} if name == "tao_forest_regression" else {}  # 1 / n counts rows, whatever they weigh
    params.pop("random_state")
    single = small(name, **params).fit(X, y, sample_weight=weights)
    twice = small(name, **params).fit(np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int)))
    np.testing.assert_allclose(single.predict(X), twice.predict(X), rtol=1e-9)


def test_what_does_not_go_together_is_refused_in_a_sentence():
    X, y = rows_of(13, n=30)
    with pytest.raises(DataError, match=r"divide y by a unit"):
        ObliqueForestRegressor().fit(X, y * 1e200)
    linear = ObliqueForestRegressor(leaves="linear", n_estimators=2, random_state=0).fit(X, y)
    with pytest.raises(ConfigError, match=r"^oblique_forest_regression has linear leaves within bounds in all of its"):
        oblique_cli.shap_values(linear, X[:2], X)
    with pytest.raises(ConfigError, match=r"bounds of their own, which verify does not follow; fit with leaves const"):
        oblique_cli.verify(linear, never_uses=["x1"])


KEPT: dict[str, Any] = {"n_estimators": 3, "random_state": 0, "bootstrap": False, "max_samples": None}


def centered_rows(seed: int, n: int = 120, p: int = 3, k: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.stack([np.sign(X[:, 0] + (j + 1) * X[:, 1]) + 0.4 * rng.normal(size=n) for j in range(k)], axis=1)
    y -= y.mean(axis=0)
    return X, y / np.sqrt((y**2).sum(axis=1).mean())


def grown(X: Any, y: Any, depth: int = 3) -> Any:
    return ObliqueForestRegressor("axis_parallel", max_depth=depth, **KEPT).fit(X, y[:, 0]).tree(0)


def error_of(space: PlaneSpace, planes: Any, node: int = 0) -> float:
    """E without the price of planes: rows are sent one by one, and leaves answer what their models say."""
    total = 0.0
    for z, y, weight in zip(space.Z, space.numbers, space.weights, strict=True):
        at = node
        while planes["left"][at] >= 0:
            at = int(planes["left"][at] if planes["w"][at] @ z + planes["b"][at] <= 0.0 else planes["right"][at])
        total += weight * float(((y - planes["models"][at]) ** 2).sum())
    return total / space.total


def price_of(planes: Any) -> float:
    inner = planes["left"] >= 0
    return float(np.abs(planes["w"][inner]).sum())


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_never_rises_and_is_the_error_and_price_of_the_tree(k: int, weighted: bool):
    X, y = centered_rows(1, k=k)
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float) if weighted else None
    space = PlaneSpace(X, np.zeros(len(X), np.int32), 1, weights, numbers=y)
    planes, run = space.step(space.begin(grown(X, y)), 0.01, Settings())
    assert run.converged and (np.diff(run.objective[1:]) <= 1e-12).all()
    assert run.objective[-1] == pytest.approx(error_of(space, planes) + 0.01 * price_of(planes))
    # Leaves hold the means of their rows.
    tree = space.tree(planes, as_it_is=True)
    leaves = tree.apply(X)
    held = np.ones(len(X)) if weights is None else weights
    means = [np.average(y[leaves == leaf], axis=0, weights=held[leaves == leaf]) for leaf in leaves]
    assert (held[:, None] * (y - means) ** 2).sum() / held.sum() == pytest.approx(error_of(space, planes))


@pytest.mark.parametrize("seed", range(2))
def test_no_other_cut_of_a_feature_at_any_node_lowers_the_objective(seed: int):
    X, y = centered_rows(seed, n=60)
    penalty = 0.02
    space = PlaneSpace(X, np.zeros(len(X), np.int32), 1, numbers=y)
    planes, _ = space.step(space.begin(grown(X, y)), penalty, Settings(max_sweeps=100))
    least = error_of(space, planes) + penalty * price_of(planes)
    assert (planes["left"] >= 0).any()
    for node in np.flatnonzero(planes["left"] >= 0):
        for j in range(X.shape[1]):
            values = np.sort(space.Z[:, j])
            for cut in values[:-1] + 0.5 * np.diff(values):
                for sign in (1.0, -1.0):
                    other = {name: array.copy() for name, array in planes.items()}
                    other["w"][node] = sign * np.eye(X.shape[1])[j]
                    other["b"][node] = -sign * cut
                    # A row cares from a thousandth of a variance on, and what does not care may be anywhere.
                    slack = 1e-3 * len(X) / space.total
                    assert error_of(space, other) + penalty * price_of(other) >= least - slack


def _leaf(model: Any, X: Any, number: int) -> Any:
    """Places of the rows' leaves of one tree among the leaves of all trees."""
    sizes = [(n + 1) // 2 for n in model.forest_.n_nodes()]
    left = np.asarray(model.forest_.state()[number]["left"])
    return sum(sizes[:number]) + ~left[model.apply(X)[:, number]]


def test_importances_are_falls_of_the_sum_of_squares_and_a_constant_target_keeps_its_trees():
    X, y = centered_rows(6, n=100)
    model = TAOForestRegressor(max_depth=2, penalty=0.001, **KEPT).fit(X, 5.0 * y[:, 0])
    for number in range(3):
        tree, leaf = model.tree(number), _leaf(model, X, number)
        explained = ((model.leaf_values_[leaf, 0] / 5.0 - y[:, 0].mean()) ** 2).sum()
        falls = falls_of(tree, X, y, np.ones(100))
        assert falls.sum() == pytest.approx(explained, rel=1e-6)
        assert np.asarray(model.forest_.importances())[number].sum() == pytest.approx(explained, rel=1e-6)
    X, y = centered_rows(7, n=80)
    assert (TAOForestRegressor(n_estimators=2).fit(X, np.full(80, 3.0)).predict(X) == 3.0).all()
    linear = TAOForestRegressor(leaves="linear", n_estimators=4, random_state=0, oob_score=True).fit(X, y[:, 0])
    assert linear.leaf_values_.shape == (linear.n_leaves_, 6) and linear.oob_score_ > 0.5


def test_several_outputs_are_refined_at_once_and_equal_ones_as_one():
    X, y = centered_rows(8, n=120, k=2)
    how = {"proposer": "axis_parallel", "max_depth": 3, **KEPT}
    plain, refined = (make(**how).fit(X, y) for make in (ObliqueForestRegressor, TAOForestRegressor))
    assert refined.predict(X).shape == (120, 2)
    assert ((refined.predict(X) - y) ** 2).sum() < ((plain.predict(X) - y) ** 2).sum()
    single = TAOForestRegressor(**how).fit(X, y[:, 0])
    twice = TAOForestRegressor(**how).fit(X, np.stack([y[:, 0]] * 2, axis=1))
    np.testing.assert_allclose(twice.predict(X), single.predict(X)[:, None] * np.ones(2))


# ---- forests of classes ----------------------------------------------------------------------------------------------


def test_a_tree_is_smaller_than_before_on_the_rows_that_other_forests_draw():
    data = real_set("glass")
    params = {"n_estimators": 6, "random_state": 0}
    refined = TAOForestClassifier("hhgdt", bootstrap=False, penalty=0.02, **params).fit(data.X, data.y)
    plain = make("hhgdt_forest", bootstrap=False, max_features=None, **params).fit(data.X, data.y)
    assert refined.n_leaves_ < plain.n_leaves_
    for t in range(6):
        tree = refined.tree(t)
        np.testing.assert_array_equal(tree.counts[0], np.unique(data.y, return_counts=True)[1])
        np.testing.assert_array_equal(tree.apply(data.X), refined.apply(data.X)[:, t])
    data = real_set("wine")
    refined = TAOForestClassifier(n_estimators=4, random_state=3, oob_score=True).fit(data.X, data.y)
    plain = make("hhgdt_forest", n_estimators=4, random_state=3).fit(data.X, data.y)
    for t in range(4):
        np.testing.assert_array_equal(refined.tree(t).counts[0], plain.tree(t).counts[0])
    assert refined.oob_score_ > 0.7
