"""The core's linear classifiers against scikit-learn's objective, and where a loss has no minimum."""

import inspect

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import oblique_cli._core as _core

LOSSES = ("logistic", "squared_hinge")


def rows(n: int, p: int, seed: int = 0, noise: float = 1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    side = np.where(X @ rng.normal(size=p) + noise * rng.normal(size=n) > 0.3, 1.0, -1.0)
    return np.ascontiguousarray(X), side


def objective(X, side, w, b, loss="logistic", l1=0.0, l2=0.0, weights=None):
    margins = side * (X @ w + b)
    each = np.logaddexp(0.0, -margins) if loss == "logistic" else np.maximum(0.0, 1.0 - margins) ** 2
    total = each.sum() if weights is None else weights @ each
    return total + l1 * np.abs(w).sum() + 0.5 * l2 * w @ w


@pytest.mark.parametrize("l1", [0.01, 1.0, 20.0])
def test_l1_logistic_reaches_the_objective_of_saga(l1):
    X, side = rows(200, 6)
    w, b, value, _, converged = _core.linear_fit(X, side, l1=l1)
    penalty = inspect.signature(LogisticRegression).parameters["penalty"].default  # deprecated in scikit-learn 1.8
    by_name = {"penalty": "l1"} if penalty == "l2" else {"l1_ratio": 1.0}
    model = LogisticRegression(**by_name, C=1.0 / l1, solver="saga", tol=1e-10, max_iter=100_000).fit(X, side)
    theirs = objective(X, side, model.coef_[0], model.intercept_[0], l1=l1)
    assert converged
    assert value == pytest.approx(objective(X, side, w, b, l1=l1), rel=1e-12)
    assert value <= theirs * (1 + 1e-9)
    assert value == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize(("l1", "l2"), [(0.01, 0.0), (1.0, 0.0), (0.3, 0.1)])
def test_the_minimum_of_correlated_columns_has_no_descent(l1, l2):
    X, side = rows(200, 12)
    X = np.ascontiguousarray(X[:, :1] + 0.02 * X)
    w, b, _, steps, converged = _core.linear_fit(X, side, l1=l1, l2=l2)
    slopes = X.T @ (-side / (1.0 + np.exp(side * (X @ w + b)))) + l2 * w
    assert converged and steps < 30
    np.testing.assert_allclose(slopes[w != 0.0], -l1 * np.sign(w[w != 0.0]), atol=2e-3)
    assert (np.abs(slopes) <= l1 + 2e-3).all() and (np.abs(w) < 1e3).all()


@pytest.mark.parametrize("penalty", [0.1, 5.0])
def test_the_objectives_of_scikit_learn_are_reached(penalty):
    X, side = rows(150, 4)
    weights = np.random.default_rng(1).uniform(0.0, 3.0, size=len(X))
    value = _core.linear_fit(X, side, weights, l2=penalty)[2]
    model = LogisticRegression(C=1.0 / penalty, tol=1e-10, max_iter=10_000).fit(X, side, weights)
    theirs = objective(X, side, model.coef_[0], model.intercept_[0], l2=penalty, weights=weights)
    assert value == pytest.approx(theirs, rel=1e-6)

    X, side = rows(200, 6)
    w, b, value, _, _ = _core.linear_fit(X, side, loss="squared_hinge", l1=penalty, intercept=False)
    svm = LinearSVC(penalty="l1", dual=False, C=1.0 / penalty, fit_intercept=False, tol=1e-10, max_iter=100_000)
    svm.fit(X, side)
    assert b == 0.0
    assert value == pytest.approx(objective(X, side, w, 0.0, "squared_hinge", penalty), rel=1e-12)
    assert value == pytest.approx(objective(X, side, svm.coef_[0], 0.0, "squared_hinge", penalty), rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_conditions_of_a_minimum_hold(loss):
    X, side = rows(80, 10, seed=3)
    l1 = 15.0
    w, b, _, _, converged = _core.linear_fit(X, side, loss=loss, l1=l1, tolerance=1e-14)
    margins = side * (X @ w + b)
    slope = -1.0 / (1.0 + np.exp(margins)) if loss == "logistic" else -2.0 * np.maximum(0.0, 1.0 - margins)
    gradient = X.T @ (slope * side)
    assert converged
    assert 0 < np.count_nonzero(w) < 10
    assert (slope * side).sum() == pytest.approx(0.0, abs=1e-4)
    np.testing.assert_allclose(gradient[w != 0], -l1 * np.sign(w[w != 0]), atol=1e-4)
    assert np.abs(gradient[w == 0]).max() <= l1 + 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_that_a_plane_separates_end_inside_the_box(loss):
    X, side = rows(60, 3, noise=0.0)
    w, b, value, steps, converged = _core.linear_fit(X, side, loss=loss)
    assert converged
    assert steps < 100
    assert np.abs(w).max() <= 1e3
    assert (side * (X @ w + b) > 0).all()
    assert value < 1e-6 * len(X)
    assert np.abs(_core.linear_fit(X, side, loss=loss, box=0.25)[0]).max() == 0.25


@pytest.mark.parametrize("loss", LOSSES)
def test_more_features_than_rows(loss):
    X, side = rows(20, 100, noise=0.0)
    w, _b, value, _, converged = _core.linear_fit(X, side, loss=loss, l1=0.5)
    assert converged
    assert 0 < np.count_nonzero(w) <= 20
    free, offset, at_free, _, ended = _core.linear_fit(X, side, loss=loss)
    assert ended
    assert at_free < 1e-6 * len(X) < value
    assert (side * (X @ free + offset) > 0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_columns_and_rows_of_weight_zero_count_nothing(loss):
    X, side = rows(50, 3)
    X[:, 1] = 0.0
    for l1 in (1e-3, 0.0):
        assert _core.linear_fit(X, side, loss=loss, l1=l1)[0][1] == 0.0
    X, side = rows(60, 3)
    weights = np.ones(60)
    weights[40:] = 0.0
    part = _core.linear_fit(np.ascontiguousarray(X[:40]), side[:40], loss=loss, l1=0.5)
    whole = _core.linear_fit(X, side, weights, loss=loss, l1=0.5)
    assert whole[2] == pytest.approx(part[2], rel=1e-9)
    np.testing.assert_allclose(whole[0], part[0], atol=1e-5)
    nothing = _core.linear_fit(X, side, np.zeros(60), loss=loss, l1=0.5)
    assert nothing[2] == 0.0
    assert not nothing[0].any()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_changes_the_way_and_not_the_end(loss):
    X, side = rows(120, 5)
    cold = _core.linear_fit(X, side, loss=loss, l1=2.0)
    warm = _core.linear_fit(X, side, loss=loss, l1=2.0, start=np.append(cold[0], cold[1]))
    far = _core.linear_fit(X, side, loss=loss, l1=2.0, start=np.full(6, -7.0))
    assert warm[3] == 0
    assert warm[2] == pytest.approx(cold[2], rel=1e-12)
    assert far[2] == pytest.approx(cold[2], rel=1e-8)


def test_bad_input_is_refused():
    X, side = rows(10, 2)
    for arguments in (
        (X, side[:5]),
        (X, np.zeros(10)),
        (X, side, -np.ones(10)),
        (np.full((10, 2), np.nan), side),
        (X, side, None, "hinge"),
    ):
        with pytest.raises(ValueError, match="must"):
            _core.linear_fit(*arguments)
