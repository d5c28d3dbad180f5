"""Heterogeneous forests: each classifier's plane is that of scikit-learn or of a formula, and the best one splits."""

from typing import Any

import numpy as np
import pytest
from contracts import real_set
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.forest.heterogeneous import MODELS, HeterogeneousForestClassifier

ROOT: dict[str, Any] = {"n_estimators": 1, "max_features": None, "max_depth": 1, "bootstrap": False, "random_state": 0}


def two_classes(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(120) % 3 // 2  # twice as many of the first
    return rng.normal(size=(120, 4)) * [1, 5, 0.2, 1] + y[:, None] * [1.5, 3, 0.1, 0] + 2, y


def root(models: str, X: np.ndarray, y: np.ndarray, **params: Any) -> tuple[np.ndarray, float, float]:
    """Normal and threshold of the root, and its decrease of impurity."""
    tree = HeterogeneousForestClassifier(models, **(ROOT | params)).fit(X, y).tree(0)
    return tree.coef_[0], float(tree.thresholds[0]), float(tree.gains[0])


def on_standard(X: np.ndarray, w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
    """The plane w z + b <= 0 of standardized features as one of the features, of unit normal."""
    scale, center = X.std(axis=0), X.mean(axis=0)
    normal, threshold = w / scale, float((w / scale) @ center - b)
    length = float(np.linalg.norm(normal))
    return normal / length, threshold / length


def lda(Z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    first, second = Z[y == 0], Z[y == 1]
    within = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in (first, second)) / len(Z)
    w = np.linalg.solve(within + 1e-3 * np.eye(Z.shape[1]), second.mean(axis=0) - first.mean(axis=0))
    return w, float(np.log(len(second) / len(first)) - w @ (first.mean(axis=0) + second.mean(axis=0)) / 2)


def svm(Z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Newton steps on the squared hinge with |w|^2 / 2."""
    A, s = np.hstack([Z, np.ones((len(Z), 1))]), 2.0 * y - 1
    penalty, plane = np.diag([1.0] * Z.shape[1] + [0.0]), np.zeros(Z.shape[1] + 1)
    for _ in range(100):
        active = s * (A @ plane) < 1
        plane = np.linalg.solve(2 * A[active].T @ A[active] + penalty, 2 * A[active].T @ s[active])
    return plane[:-1], float(plane[-1])


@pytest.mark.parametrize("model", ["lda", "ridge", "svm", "logistic"])
def test_the_plane_of_a_classifier_is_that_of_another_program(model: str):
    X, y = two_classes()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    if model in ("lda", "svm"):
        w, b = (lda if model == "lda" else svm)(Z, y)
    else:
        other = RidgeClassifier(alpha=1.0) if model == "ridge" else LogisticRegression(C=1.0, tol=1e-10, max_iter=1000)
        other.fit(Z, y)
        w, b = np.ravel(other.coef_), float(np.ravel(other.intercept_)[0])
    normal, threshold, _ = root(model, X, y)
    expected, at = on_standard(X, w, b)
    sign = np.sign(normal @ expected)
    length = np.linalg.norm(normal)
    np.testing.assert_allclose(sign * normal / length, expected, atol=2e-4)
    assert sign * threshold / length == pytest.approx(at, abs=2e-3)


def test_the_best_of_all_planes_splits():
    for name in ("iris", "bupa", "glass", "wine"):
        data = real_set(name)
        gains = {model: root(model, data.X, data.y)[2] for model in MODELS}
        assert root(", ".join(MODELS), data.X, data.y)[2] == pytest.approx(max(gains.values()))
        assert root(list(MODELS), data.X, data.y)[2] == pytest.approx(max(gains.values()))


def test_a_weight_of_two_is_a_row_twice():
    X, y = two_classes(3)
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    for model in MODELS:
        a = HeterogeneousForestClassifier(model, **ROOT).fit(X, y, sample_weight=weights.astype(float)).tree(0)
        b = HeterogeneousForestClassifier(model, **ROOT).fit(X[rows], y[rows]).tree(0)
        np.testing.assert_allclose(a.counts, b.counts)


@pytest.mark.parametrize("name", ["drf", "mpdrf_t", "mpdrf_p", "mpdrf_n", "bagged_forest"])
def test_trees_of_a_double_random_forest_see_all_rows_and_differ_by_the_samples_of_their_nodes(name: str):
    data = real_set("wine")
    shares = np.unique(data.y, return_counts=True)[1]
    params: dict[str, Any] = {"max_features": data.X.shape[1], "n_estimators": 8, "random_state": 0}
    heuristic = {"proposer": "hhgdt", "node_bootstrap": True} if name == "bagged_forest" else {}
    model = make(name, **params, **heuristic).fit(data.X, data.y)
    for t in range(8):
        np.testing.assert_array_equal(model.tree(t).counts[0], shares)
    heuristic.pop("node_bootstrap", None)
    plain = make(name.replace("drf", "raf"), bootstrap=False, **params, **heuristic).fit(data.X, data.y)
    # Features are drawn in another order for each tree, which rounds sums otherwise and may turn a plane.
    cuts = [{round(abs(float(one.tree(t).thresholds[0])), 6) for t in range(8)} for one in (model, plain)]
    assert len(cuts[0]) > 4 and len(cuts[1]) <= 2
    assert model.score(data.X, data.y) == 1.0
