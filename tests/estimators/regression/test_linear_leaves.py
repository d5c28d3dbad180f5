"""Model trees: least squares against refits, turning points by hand, cuts against exhaustive search, bad input."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import oblique_cli._core as _core
from oblique_cli.errors import DataError
from oblique_cli.estimators.regression.cart import CARTRegressor
from oblique_cli.estimators.regression.linear_leaves import M5StyleRegressor, RETISRegressor, TPRTIRegressor
from oblique_cli.tree import look_ahead
from oblique_cli.tree.describe import export_text
from oblique_cli.tree.least_squares import ZERO, Linear, Passes, fit_linear, left_out_error
from oblique_cli.tree.look_ahead import AllTurns, EveryValue, FarthestTurn, Settings
from oblique_cli.tree.monotone_models import Held
from oblique_cli.tree.turning_points import TurningPoints, turning_points

MODELS = {
    "tprti_a": TPRTIRegressor("A"),
    "tprti_b": TPRTIRegressor("B"),
    "retis": RETISRegressor(),
    "m5_style": M5StyleRegressor(),
}


def refit_rss(X, y):
    """The oracle: numpy's least squares with an intercept, residuals squared and summed."""
    design = np.column_stack([np.ones(len(X)), X])
    return float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum())


def bent(n=400, seed=0, noise=0.0):
    """y = x1 below 50 and 100 - x1 above, x2 = 0: dataset #2 of the dissertation."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 250, n)
    return np.column_stack([x, np.zeros(n)]), np.where(x < 50, x, 100 - x) + rng.normal(0, noise or 1e-300, n)


# ---- least squares ---------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 6), st.booleans())
def test_both_sides_of_every_cut_equal_a_refit(seed, n, p, coarse):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p) + rng.normal(size=p), rng.normal(size=n)
    if coarse:  # ties, constant and dependent columns
        X = np.round(X)
        X[:, -1] = 2 * X[:, 0] - 1
    order = np.argsort(X[:, 0], kind="stable")
    cuts = np.arange(1, n, dtype=np.int64)
    left, right = Passes(X, y).sides(order, cuts)
    for k, cut in enumerate(cuts):
        assert left[k] == pytest.approx(refit_rss(X[order[:cut]], y[order[:cut]]), rel=1e-7, abs=1e-9)
        assert right[k] == pytest.approx(refit_rss(X[order[cut:]], y[order[cut:]]), rel=1e-7, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 4), st.integers(0, 6), st.booleans(), st.booleans()
)
def test_the_cut_along_a_direction_is_the_best_of_both_sides(seed, n, p, least, coarse, constant):
    rng = np.random.default_rng(seed)
    X, y, directions = rng.normal(size=(n, p)), rng.normal(size=n), rng.normal(size=(5, p))
    if coarse:  # equal projections, equal targets, and a constant column
        X, y, directions = np.round(X), np.round(y), np.round(directions)
        X[:, 0] = 3.0
    passes = Passes(X, y, constant=constant)
    values = rng.normal(size=5)
    for only in (None, values):
        errors, thresholds = passes.along(X, directions, only, least)
        for k, w in enumerate(directions):
            z = X @ w
            order = np.argsort(z, kind="stable")
            if only is None:
                cuts = np.flatnonzero(np.diff(z[order]) > 1e-8) + 1
            else:
                cuts = np.array([np.searchsorted(z[order], only[k], side="right")])
            cuts = cuts[(cuts >= max(least, 1)) & (n - cuts >= max(least, 1))].astype(np.int64)
            if len(cuts) == 0:
                assert errors[k] == np.inf and np.isnan(thresholds[k])
                continue
            slow = np.add(*passes.sides(order, cuts))
            assert errors[k] == pytest.approx(slow.min(), rel=1e-9, abs=1e-12)
            n_left = int((z <= thresholds[k]).sum())
            assert n_left in cuts and slow[list(cuts).index(n_left)] == pytest.approx(slow.min(), rel=1e-9, abs=1e-12)


def test_there_is_no_cut_without_order_or_room_and_the_core_refuses_what_does_not_fit():
    X, rows = np.arange(40.0).reshape(20, 2), np.column_stack([np.ones(20), np.arange(20.0)])
    directions = np.array([[1.0, 0.0], [np.inf, -np.inf]])
    errors, thresholds = _core.cuts_along(X, directions, None, rows, 1.0, 1, ZERO)
    assert np.isfinite([errors[0], thresholds[0]]).all() and errors[1] == np.inf and np.isnan(thresholds[1])
    errors, _ = _core.cuts_along(X, directions[:1], None, rows, 1.0, 2**63, ZERO)
    assert errors[0] == np.inf
    rows, X = np.ones((3, 2)), np.ones((3, 4))
    for message, given_ in {
        "one component per column": (X, np.ones((2, 3)), None),
        "same number of rows": (X[:2], np.ones((2, 4)), None),
        "one entry per direction": (X, np.ones((2, 4)), np.ones(3)),
    }.items():
        with pytest.raises(ValueError, match=message):
            _core.cuts_along(*given_, rows, 1.0, 1, ZERO)
    with pytest.raises(ValueError, match="cuts must rise"):
        _core.prefix_rss(np.ones((3, 2)), np.array([2, 1], dtype=np.int64), ZERO)
    with pytest.raises(ValueError, match="cuts must rise"):
        _core.prefix_rss(np.ones((3, 2)), np.array([4], dtype=np.int64), ZERO)


def test_columns_that_depend_on_each_other_keep_their_digits_and_take_no_degree_of_freedom():
    # Columns that agree in all but 1e-6 of their spread, and a target that is linear but for 1e-6: the normal equations
    # have a condition number near 1e12, and the residual sum is 1e-12 of the total.
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    X = np.column_stack([x, x + 1e-6 * rng.normal(size=200)])
    y = X.sum(axis=1) + 1e-6 * rng.normal(size=200)
    left, _ = Passes(X, y).sides(np.arange(200), np.array([200], dtype=np.int64))
    assert left[0] == pytest.approx(refit_rss(X, y), rel=1e-4)
    # Three rows, two features that are one: a line through three points, not a plane.
    X, y = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 6.0]]), np.array([0.0, 1.0, 0.0])
    left, _ = Passes(X, y).sides(np.arange(3), np.array([3], dtype=np.int64))
    assert left[0] == pytest.approx(2 / 3)
    assert fit_linear(X, y).rank == 2 and fit_linear(X, y).rss == pytest.approx(2 / 3)


def test_leave_one_out_equals_refits_or_the_mean_of_the_others():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    slow = 0.0
    for i in range(12):
        rest = np.arange(12) != i
        model = fit_linear(X[rest], y[rest])
        slow += float((y[i] - model.predict(X[[i]])[0]) ** 2)
    assert left_out_error(X, y) == pytest.approx(slow, rel=1e-9)
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([1.0, 3.0, 8.0])
    # The third row alone carries the slope: without it the mean is 2. The others predict each other.
    assert left_out_error(X, y) == pytest.approx((8 - 2) ** 2 + 2.0**2 + 2.0**2)
    assert left_out_error(X[:1], y[:1]) == np.inf


# ---- turning points --------------------------------------------------------------------------------------------------


def test_turning_points_of_a_corner_and_of_overlapping_windows_by_hand():
    # Windows of two rows along x: centroids (0.5, 0.5), (2.5, 2.5), (4.5, 0.5), (6.5, -1.5). Only the second one turns,
    # by a right angle.
    x = np.arange(8.0)
    y = np.array([0, 1, 2, 3, 1, 0, -1, -2], dtype=float)
    result = turning_points(x[:, None], y, np.array([False]), 2, 2, 0.8)
    np.testing.assert_array_equal(result.centers, [[2.5]])
    np.testing.assert_array_equal(result.targets, [2.5])
    # cos(turn) = 0 there: below 0.1, not below 0 or -0.1.
    assert len(turning_points(x[:, None], y, np.array([False]), 2, 2, 0.1)) == 1
    assert len(turning_points(x[:, None], y, np.array([False]), 2, 2, -0.1)) == 0
    x = np.arange(7.0)
    result = turning_points(x[:, None], np.array([0, 9, 0, 9, 0, 9, 0.0]), np.array([False]), 3, 1, 0.999)
    # Windows 0-2, 1-3, 2-4, 3-5, 4-6: centroids at x = 1, 2, 3, 4, 5, y = 3, 6, 3, 6, 3; the inner three turn.
    np.testing.assert_array_equal(result.centers[:, 0], [2, 3, 4])
    np.testing.assert_array_equal(result.targets, [6, 3, 6])


def test_lines_places_and_large_windows_have_no_turning_point_and_a_discrete_feature_one_a_value():
    x = np.arange(30.0)
    X = np.column_stack([x, x % 3])
    assert len(turning_points(X[:, :1], 2 * x, np.array([False]), 3, 3, 0.8)) == 0
    result = turning_points(X, x, np.array([False, True]), 3, 3, 0.8)
    np.testing.assert_array_equal(result.feature, [1, 1, 1])
    np.testing.assert_array_equal(result.centers[:, 1], [0, 1, 2])
    np.testing.assert_allclose(result.targets, [13.5, 14.5, 15.5])  # means of the rows of each value
    np.testing.assert_allclose(result.centers[:, 0], [13.5, 14.5, 15.5])
    x, y = np.zeros(20), np.arange(20.0)
    assert len(turning_points(x[:, None], y, np.array([False]), 4, 4, 0.8)) == 0  # straight up
    assert len(turning_points(x[:, None], np.zeros(20), np.array([False]), 4, 4, 0.8)) == 0  # one place
    assert len(turning_points(x[:, None], y, np.array([False]), 21, 21, 0.8)) == 0


# ---- cuts ------------------------------------------------------------------------------------------------------------


def naive_cut(X, y, thresholds, weighting):
    """Least weighted residual sum over the cuts, refitted one by one."""
    best = np.inf
    for j, values in thresholds.items():
        for value in values:
            left = X[:, j] <= value
            if 0 < left.sum() < len(y):
                a, b = refit_rss(X[left], y[left]), refit_rss(X[~left], y[~left])
                share = left.mean()
                best = min(best, a + b if weighting == "sum" else share * a + (1 - share) * b)
    return best


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(look_ahead.WEIGHTINGS))
def test_retis_finds_the_cut_of_an_exhaustive_search(seed, weighting):
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.normal(size=(25, 3)), 1), rng.normal(size=25)
    model = fit_linear(X, y)
    cut = look_ahead.best_cut(X, y, Held(model), EveryValue(), Settings(0, 0, weighting=weighting))
    every = {j: np.unique(X[:, j]) for j in range(3)}
    assert cut.error == pytest.approx(naive_cut(X, y, every, weighting), rel=1e-7, abs=1e-9)


def test_variant_a_scores_all_turning_points_and_variant_b_the_farthest_which_may_cut_nothing():
    rng = np.random.default_rng(5)
    X = rng.uniform(-3, 3, (200, 2))
    y = 3 * np.sin(X[:, 0]) * np.sin(X[:, 1])
    points = turning_points(X, y, np.array([False, False]), 5, 5, 0.8)
    assert len(points) > 10
    model, options = fit_linear(X, y), Settings(0, 0)
    a = look_ahead.best_cut(X, y, Held(model), AllTurns(points), options)
    planes = {j: points.centers[points.feature == j, j] for j in range(2)}
    assert a.error == pytest.approx(naive_cut(X, y, planes, "size"))
    # Distance in the space of features and target: |y - f(x)| / sqrt(1 + |slope|^2).
    slope = np.sqrt(1 + model.coef @ model.coef)
    distances = np.abs(points.targets - points.centers @ model.coef - model.intercept) / slope
    far = points.centers[int(np.argmax(distances))]
    b = look_ahead.best_cut(X, y, Held(model), FarthestTurn(points), options)
    assert b.error == pytest.approx(naive_cut(X, y, {j: far[[j]] for j in range(2)}, "size"))
    assert b.threshold == far[b.feature]
    # Algorithm 3 has a single split value per input. The farthest point, at 9, leaves no room on its right; the point
    # at 4, which variant A cuts at, is nearer to the plane y = 0.
    X, y = np.arange(10.0)[:, None], np.zeros(10)
    y[5:] = 1.0
    points = TurningPoints(np.array([0, 0]), np.array([[4.0], [9.0]]), np.array([1.0, 5.0]))
    flat, options = Linear(np.zeros(1), 0.0, 5.0, 1), Settings(0, 0, min_child=3)
    assert look_ahead.best_cut(X, y, Held(flat), AllTurns(points), options).threshold == 4.0
    assert look_ahead.best_cut(X, y, Held(flat), FarthestTurn(points), options) is None
    nothing = points.where(np.zeros(2, dtype=bool))
    assert look_ahead.best_cut(X, y, Held(flat), FarthestTurn(nothing), options) is None


def test_a_cut_obeys_the_improvement_of_another_weighting_and_avoids_small_children():
    # A step after the 6th of 60 rows. By the plain sum the least error is there; shares of the rows favor even cuts.
    rng = np.random.default_rng(3)
    X = np.arange(60.0)[:, None]
    y = np.r_[np.zeros(6), 40 * np.ones(54)] + rng.normal(0, 1, 60)
    model, options = fit_linear(X, y), Settings(0, 0)
    both = {
        w: look_ahead.best_cut(X, y, Held(model), EveryValue(), replace(options, weighting=w))
        for w in look_ahead.WEIGHTINGS
    }
    assert both["sum"].n_left == 6 and both["sum"].error == both["sum"].children_error
    mixed = look_ahead.best_cut(
        X, y, Held(model), EveryValue(), replace(options, weighting="sum", improvement_by="size")
    )
    assert (mixed.n_left, mixed.error) == (6, both["sum"].error)
    left, right = refit_rss(X[:6], y[:6]), refit_rss(X[6:], y[6:])
    assert mixed.children_error == pytest.approx(0.1 * left + 0.9 * right)
    X = np.arange(60.0)[:, None]
    y = np.r_[np.zeros(3), 40 * np.ones(57)]
    avoided = RETISRegressor(weighting="sum", min_node_percent=10, min_improvement_percent=1).fit(X, y)
    ended = RETISRegressor(weighting="sum", small_children="leaf", min_improvement_percent=1).fit(X, y)
    assert avoided.n_leaves_ > 1 and avoided.tree_.n_rows.min() >= 6
    assert ended.n_leaves_ == 1


def test_children_inherit_the_turning_points_on_their_side():
    points = turning_points(np.arange(6.0)[:, None], np.arange(6.0), np.array([True]), 1, 1, 0.8)
    left, right = AllTurns(points).divide(look_ahead.Cut(0, 2.0, 0.0, 0.0, 3))
    np.testing.assert_array_equal(left.points.centers[:, 0], [0, 1, 2])
    np.testing.assert_array_equal(right.points.centers[:, 0], [3, 4, 5])


def test_m5_splits_at_the_mean_and_is_pruned_to_the_root_where_one_line_is_right():
    X, y = bent(2500)
    model = M5StyleRegressor(max_depth=1, pruning=False).fit(X, y)
    assert model.tree_.coef_[0].tolist() == [1.0, 0.0]
    assert model.tree_.thresholds[0] == pytest.approx(X[:, 0].mean())
    assert abs(model.tree_.thresholds[0] - 125) < 5
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2))
    y = X @ [1.0, -2.0] + rng.normal(0, 1.0, 120)
    grown = M5StyleRegressor(pruning=False).fit(X, y)
    pruned = M5StyleRegressor().fit(X, y)
    assert pruned.n_leaves_ < grown.n_leaves_
    np.testing.assert_allclose(pruned.tree_.equations.coef[0], fit_linear(X, y).coef, rtol=1e-9)


# ---- stopping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_stopping_rules_are_in_percent_of_rows_and_of_error(name):
    X, y = bent(300, noise=5.0)
    model = clone(MODELS[name]).set_params(min_node_percent=30, min_improvement_percent=0).fit(X, y)
    inner = ~model.tree_.is_leaf
    assert (model.tree_.n_rows[inner] >= 90).all()
    assert clone(MODELS[name]).set_params(min_improvement_percent=100).fit(X, y).n_leaves_ == 1
    assert clone(MODELS[name]).set_params(max_depth=0).fit(X, y).n_leaves_ == 1
    shy = clone(MODELS[name]).set_params(min_child_percent=15, min_node_percent=0, min_improvement_percent=0).fit(X, y)
    assert shy.tree_.n_rows.min() >= 45
    usual = clone(MODELS[name]).set_params(min_node_percent=20, min_improvement_percent=0).fit(X, y)
    assert usual.tree_.n_rows.min() >= 60  # the required size of a node is that of a child too


# ---- estimators ------------------------------------------------------------------------------------------------------


def test_discrete_features_are_named_or_found_and_with_all_of_them_tprti_is_retis():
    X = np.column_stack([np.arange(60.0), np.arange(60) % 4])
    y = np.arange(60.0) % 4
    assert TPRTIRegressor().fit(X, y)._discrete(X).tolist() == [False, True]
    assert TPRTIRegressor(discrete="all")._discrete(X).tolist() == [True, True]
    assert TPRTIRegressor(discrete="none")._discrete(X).tolist() == [False, False]
    assert TPRTIRegressor(discrete=[0])._discrete(X).tolist() == [True, False]
    X, y = bent(120, noise=2.0)
    X[:, 1] = np.random.default_rng(4).normal(size=120)
    tprti, retis = TPRTIRegressor("A", discrete="all").fit(X, y), RETISRegressor().fit(X, y)
    assert tprti.tree_.to_dict() == retis.tree_.to_dict()


def test_a_repeated_value_goes_to_one_child_of_tprti_with_the_mean_of_its_rows():
    # The first cut parts x1; each value of x2 has rows on both sides, but its mean of x1 is on one of them.
    rng = np.random.default_rng(5)
    X = np.column_stack([np.repeat([-1.0, 1.0], 150), rng.integers(0, 5, 300)])
    y = 3 * X[:, 0] * X[:, 1] + (X[:, 1] - 2) ** 2 + rng.normal(scale=0.05, size=300)
    settings_ = {"min_node_percent": 5, "weighting": "sum", "min_improvement_percent": 5}
    tprti = TPRTIRegressor("A", discrete="all", **settings_).fit(X, y)
    retis = RETISRegressor(**settings_).fit(X, y)
    assert all(model.tree_.coef_[0].tolist() == [1.0, 0.0] for model in (tprti, retis))
    assert tprti.n_leaves_ < retis.n_leaves_


# ---- trees as text and data ------------------------------------------------------------------------------------------


def test_leaf_equations_are_shown():
    x = np.arange(20.0)
    y = np.where(x <= 9, 2 * x + 1, 40 - x)
    model = RETISRegressor(truncate="none").fit(x[:, None], y)
    text = model.export_text(["height"], "weight")
    lines = text.splitlines()
    assert lines[0] == "if height <= 9:" and lines[2] == "else:"
    assert lines[1].startswith("    weight = 1 + 2 height  (10 rows, RMSE ")
    assert lines[3].startswith("    weight = 40 - 1 height  (10 rows, RMSE ")
    assert export_text(model.tree_, ["a\nb"], ["y"]).startswith("if a b <= 9:")


def test_cart_answers_rows_beyond_single_precision_as_those_at_its_ends():
    """A row of a test fold may be where no training row is; a fit with such a row is refused by its column."""
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    model = CARTRegressor().fit(X, y)
    assert model.predict([[1e300], [-1e300], [2.0]]).tolist() == [5.0, 0.0, 2.0]
    with pytest.raises(ValueError, match="infinity"):
        model.predict([[np.inf]])
    with pytest.raises(DataError, match=r"column 0 of X holds numbers up to 1e\+300"):
        model.fit(X * 2e299, y)
