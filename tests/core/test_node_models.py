"""Linear models of the classes at the nodes of a tree, against plain NumPy and scikit-learn."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris, load_wine

import oblique_cli._core as _core

Array = NDArray[np.float64]
ROOT = np.array([-1], dtype=np.int32)
STUMP = np.array([-1, 0, 0], dtype=np.int32)


def rows(load=load_iris, seed: int = 0) -> tuple[Array, NDArray[np.int32], Array]:
    X, y = load(return_X_y=True)
    Z = np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))
    weights = np.random.default_rng(seed).integers(1, 4, len(Z)).astype(float)
    return Z, y.astype(np.int32), weights


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def shares(y, weights, n_classes: int) -> Array:
    """Class shares that models start from: one row more of each class."""
    return np.log((np.bincount(y, weights, n_classes) + 1.0) / (weights.sum() + n_classes))


def boosted(Z, y, weights, scores, steps: int, n_classes: int) -> Array:
    """LogitBoost as Landwehr, Hall and Frank (2005) print it (figure 2), one feature a class and step; (C, p + 1)."""
    total = np.zeros((n_classes, Z.shape[1] + 1))
    scores = scores.copy()
    for _ in range(steps):
        shares_now = softmax(scores)
        change = np.zeros_like(total)
        for k in range(n_classes):
            truth, q = (y == k).astype(float), shares_now[:, k]
            z = np.clip(np.where(truth > 0, 1.0 / q, -1.0 / (1.0 - q)), -3.0, 3.0)
            v = weights * np.maximum((truth - q) / z, 1e-12)
            best = None
            for j in range(Z.shape[1]):
                design = np.column_stack([Z[:, j], np.ones(len(Z))]) * np.sqrt(v)[:, None]
                values = np.linalg.lstsq(design, z * np.sqrt(v), rcond=None)[0]
                error = float(v @ (z - values[0] * Z[:, j] - values[1]) ** 2)
                if best is None or error < best[0] * (1.0 - 1e-9):
                    best = (error, j, values)
            change[k, best[1]], change[k, -1] = best[2]
        change = (n_classes - 1) / n_classes * (change - change.mean(axis=0))
        total += change
        scores += Z @ change[:, :-1].T + change[:, -1]
    return total


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_boosted_models_are_those_of_the_paper(load):
    Z, y, weights = rows(load)
    result = _core.node_models(Z, y, weights, 3, np.zeros(len(Z), np.int32), ROOT, None, 6)[0]
    expected = boosted(Z, y, weights, np.zeros((len(Z), 3)), 6, 3)
    np.testing.assert_allclose(result, expected, rtol=1e-8, atol=1e-10)


def test_below_a_model_without_errors_every_node_has_that_model():
    Z, _, weights = rows()
    leaf = np.where(Z[:, 0] <= 0.0, 1, 2).astype(np.int32)
    for errors in (0, 1):
        y = (Z[:, 2] > 0.0).astype(np.int32)
        y[:errors] ^= 1
        of_rows = y, weights, 2, leaf, STUMP
        models = np.asarray(_core.node_models(Z, *of_rows, 0.01))
        assert (_core.node_losses(Z, *of_rows, models)[0][0] > 0.0) == (errors > 0)
        assert (models[1:] == models[0]).all() == (errors == 0)


def test_a_child_goes_on_boosting_from_its_parent():
    Z, y, weights = rows()
    leaf = np.where(Z[:, 2] <= 0.0, 1, 2).astype(np.int32)
    models = np.asarray(_core.node_models(Z, y, weights, 3, leaf, STUMP, None, 4))
    for node in (1, 2):
        here = leaf == node
        start = Z[here] @ models[0][:, :-1].T + models[0][:, -1]
        expected = models[0] + boosted(Z[here], y[here], weights[here], start, 4, 3)
        np.testing.assert_allclose(models[node], expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 9])
@pytest.mark.parametrize(("n", "p"), [(1, 1), (7, 3), (40, 5), (300, 4), (70, 61), (30, 650)])
def test_a_ridge_leaves_no_slope_whatever_the_shape(n, p, n_classes):
    rng = np.random.default_rng([n, p, n_classes])
    X, y = np.ascontiguousarray(rng.normal(size=(n, p))), rng.integers(0, n_classes, n).astype(np.int32)
    weights = rng.uniform(0.5, 2.0, n)
    arguments = (X, y, weights, n_classes, np.zeros(n, dtype=np.int32), ROOT)
    model = np.asarray(_core.node_models(*arguments, 2.0, 0, 1e-14))[0]
    added = model.copy()
    added[:, -1] -= shares(y, weights, n_classes)
    wide = np.column_stack([X, np.ones(n)])
    slopes = ((softmax(wide @ model.T) - np.eye(n_classes)[y]) * weights[:, None]).T @ wide + 2.0 * added
    np.testing.assert_allclose(slopes, 0.0, atol=1e-5 * np.sqrt(n))


def test_losses_are_those_of_the_models():
    Z, y, weights = rows(load_wine)
    leaf = np.where(Z[:, 0] <= 0.0, 1, 2).astype(np.int32)
    models = np.asarray(_core.node_models(Z, y, weights, 3, leaf, STUMP, 1.0))
    wrong, log_loss = _core.node_losses(Z, y, weights, 3, leaf, STUMP, models)
    for node, here in enumerate((leaf > 0, leaf == 1, leaf == 2)):
        p = softmax(Z[here] @ models[node][:, :-1].T + models[node][:, -1])
        assert wrong[node] == pytest.approx(weights[here] @ (p.argmax(axis=1) != y[here]))
        local = np.log(p[np.arange(here.sum()), y[here]])
        assert log_loss[node] == pytest.approx(-weights[here] @ local)


def test_weights_are_copies_of_rows():
    Z, y, weights = rows()
    times = weights.astype(int)
    zeros = np.zeros(times.sum(), np.int32)
    for how in ((1.0, 0, 1e-13), (None, 5)):
        once = _core.node_models(Z, y, weights, 3, np.zeros(len(Z), np.int32), ROOT, *how)
        copies = np.ascontiguousarray(np.repeat(Z, times, axis=0)), np.repeat(y, times), np.ones(times.sum())
        np.testing.assert_allclose(once, _core.node_models(*copies, 3, zeros, ROOT, *how), atol=2e-4)


@pytest.mark.parametrize("how", [(0.01, 0), (None, 200)], ids=["ridge", "logit_boost"])
@pytest.mark.parametrize("case", ["one class", "separable", "wide", "constant", "one row"])
def test_degenerate_rows_have_finite_models(how, case):
    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=(30, 3)), (np.arange(30) % 2).astype(np.int32)
    if case == "one class":
        y[:] = 1
    if case == "separable":
        Z[:, 0] = np.where(y == 1, 1.0, -1.0) + 0.1 * Z[:, 0]
    if case == "wide":
        Z = rng.normal(size=(30, 700))
    if case == "constant":
        Z[:] = 0.0
    if case == "one row":
        Z, y = Z[:1], y[:1]
    Z = np.ascontiguousarray(Z)
    leaf = np.where(np.arange(len(Z)) % 3 > 0, 1, 2).astype(np.int32)
    arguments = (Z, y, np.ones(len(Z)), 3, leaf, STUMP)  # a class without rows, too
    models = np.asarray(_core.node_models(*arguments, *how))
    assert np.isfinite(models).all()
    assert np.abs(models).max() < 1e4
    assert all(np.isfinite(each).all() for each in _core.node_losses(*arguments, models))


def test_errors_of_boosting_end_after_patience():
    Z, y, weights = rows()
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    arguments = (Z[train], y[train], weights[train], Z[test], y[test], weights[test], 3)
    errors = np.asarray(_core.boosting_errors(*arguments, 40, 5))
    assert len(errors) <= 41
    assert len(errors) == 41 or len(errors) - 1 - int(errors.argmin()) == 6
    zeros = np.zeros(len(train), np.int32)
    for steps in (0, 3):
        model = _core.node_models(Z[train], y[train], weights[train], 3, zeros, ROOT, None, steps)[0]
        labels = (Z[test] @ model[:, :-1].T + model[:, -1]).argmax(axis=1)
        assert errors[steps] == pytest.approx(weights[test] @ (labels != y[test]))


def test_bad_arguments_are_refused():
    Z, y, weights = rows()
    zeros = np.zeros(len(Z), np.int32)
    for penalty in (0.0, -1.0):
        with pytest.raises(ValueError, match="penalty must be positive"):
            _core.node_models(Z, y, weights, 3, zeros, ROOT, penalty)
    with pytest.raises(ValueError, match="weights must be finite and positive"):
        _core.node_models(Z, y, 0.0 * weights, 3, zeros, ROOT, 1.0)
    with pytest.raises(ValueError, match="leaf must hold numbers of nodes"):
        _core.node_models(Z, y, weights, 3, zeros + 1, ROOT, 1.0)
    # Boosting needs positive weights, and rows to test.
    x, y = np.zeros((3, 1)), np.zeros(3, np.int32)
    for weights in (np.zeros(3), np.array([1.0, np.nan, 1.0])):
        with pytest.raises(ValueError, match="weights must be finite and positive"):
            _core.boosting_errors(x, y, weights, x, y, np.ones(3), 2)
    with pytest.raises(ValueError, match="both must have rows"):
        _core.boosting_errors(x, y, np.ones(3), x[:0], y[:0], np.ones(0), 2)


def test_models_that_begin_with_those_of_another_penalty_are_the_same():
    Z, y, weights = rows(load_wine)
    leaf = np.where(Z[:, 0] > 0, 1, 2).astype(np.int32)
    arguments = (Z, y, weights, 3, leaf, STUMP)
    near = np.asarray(_core.node_models(*arguments, 3.0))
    tight = {"penalty": 1.0, "tolerance": 1e-12}
    again = _core.node_models(*arguments, **tight, start=near)
    np.testing.assert_allclose(again, _core.node_models(*arguments, **tight), atol=1e-4)
    with pytest.raises(ValueError, match="models must have shape"):
        _core.node_models(*arguments, **tight, start=near[:2])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_from_an_intercept_has_no_slope_left(n_classes):
    Z, y, weights = rows(load_wine)
    y, start = np.minimum(y, n_classes - 1), np.array([0.3, -0.2, 0.1])[:n_classes]
    values = np.asarray(_core.softmax_fit(Z, y, weights, start, 0.7))
    scores = start + values[:, -1] + Z @ values[:, :-1].T
    excess = weights[:, None] * (softmax(scores) - np.eye(n_classes)[y])
    np.testing.assert_allclose(excess.T @ Z + 0.7 * values[:, :-1], 0.0, atol=1e-3)
    np.testing.assert_allclose(excess.sum(axis=0) + 0.7 * values[:, -1], 0.0, atol=1e-3)
    none = np.asarray(_core.softmax_fit(np.empty((len(Z), 0)), y, weights, start, 1e-9))
    shares_now = np.bincount(y, weights) / weights.sum()
    np.testing.assert_allclose(softmax((start + none[:, -1])[None])[0], shares_now, atol=1e-5)


def test_sums_that_are_no_numbers_are_said_to_be_none():
    Z, y, weights = rows()
    with pytest.raises(OverflowError, match="features or weights are too large for a logistic model"):
        _core.softmax_fit(Z * 1e200, y, weights, np.zeros(3), 1.0)
