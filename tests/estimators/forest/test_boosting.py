"""Boosting by exact search: the trees and steps are those of a plain program, and what holds with bins as well."""

import pickle
from typing import Any

import numpy as np
import pytest
from contracts import real_set
from sklearn.base import clone

from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.forest.boosting import ObliqueBoostingClassifier
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier

EVERYTHING: dict[str, Any] = {"max_features": None, "max_samples": None, "random_state": 0}


def data_of(seed: int, n: int = 80, p: int = 3, n_classes: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, p)) + rng.normal(size=(n_classes, p))[y], y


def softmax(scores: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_a_plain_program(n_classes: int):
    """Single trees on rows weighted by their gradients, and Newton steps written out."""
    X, y = data_of(1, n_classes=n_classes)
    rate, l2, rounds = 0.3, 0.7, 5
    model = ObliqueBoostingClassifier(
        "hhgdt",
        n_estimators=rounds,
        learning_rate=rate,
        l2_regularization=l2,
        min_child_weight=0,
        max_depth=3,
        max_bins=None,
        **EVERYTHING,
    ).fit(X, y)
    share = np.bincount(y) / len(y)
    scores = (
        np.tile(np.log(share), (len(y), 1)) if n_classes > 2 else np.tile([0.0, np.log(share[1] / share[0])], (80, 1))
    )
    for _ in range(rounds):
        p = softmax(scores)
        weights = 1.0 - p[np.arange(len(y)), y]
        tree = ObliqueTreeClassifier("hhgdt", criterion="gini", max_depth=3, min_parent=1, max_misrate=0)
        leaves = tree.fit(X, y, sample_weight=weights / weights.min()).tree_.apply(X)
        for leaf in np.unique(leaves):
            rows = leaves == leaf
            for k in range(1 if n_classes == 2 else 0, n_classes):
                gradient, curvature = ((y == k) - p[:, k])[rows].sum(), (p[:, k] * (1 - p[:, k]))[rows].sum()
                step = gradient / (curvature + l2) * ((n_classes - 1) / n_classes if n_classes > 2 else 1)
                scores[rows, k] += rate * step
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores), rtol=1e-9)
    loss = -np.log(softmax(scores)[np.arange(len(y)), y]).mean()
    assert model.training_loss_[-1] == pytest.approx(loss)


def test_more_rounds_begin_with_the_trees_of_fewer():
    data = real_set("wine")
    few, many = (make("oblique_boosting", n_estimators=k, random_state=0).fit(data.X, data.y) for k in (5, 12))
    assert pickle.dumps(few.forest_.state()) == pickle.dumps(many.forest_.state()[:5])


def test_rows_of_weight_two_are_rows_twice_and_those_of_weight_zero_are_none():
    X, y = data_of(3)
    times = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    model = ObliqueBoostingClassifier(n_estimators=6, **EVERYTHING)
    a, b = clone(model).fit(X, y, sample_weight=times), clone(model).fit(X[rows], y[rows])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6)


def test_rows_kept_for_validation_stop_growth_at_their_least_loss():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(2, size=300)  # nothing to be learned
    model = ObliqueBoostingClassifier(n_estimators=200, n_iter_no_change=5, tol=0, random_state=0).fit(X, y)
    rounds = len(model.validation_loss_)
    assert rounds < 200 and model.n_estimators_ == len(model.forest_) == int(np.argmin(model.validation_loss_)) + 1
    assert rounds == model.n_estimators_ + 5
    assert len(model.leaf_values_) == model.n_leaves_
    data = real_set("wine")
    wine = ObliqueBoostingClassifier(n_estimators=60, n_iter_no_change=10, random_state=0).fit(data.X, data.y)
    assert wine.validation_loss_[wine.n_estimators_ - 1] < 0.3 and wine.score(data.X, data.y) > 0.95


def test_scores_shares_and_labels_go_together():
    for name in ("bupa", "iris"):
        data = real_set(name)
        model = make("oblique_boosting", n_estimators=10, random_state=0).fit(data.X, data.y)
        scores, shares = model.decision_function(data.X), model.predict_proba(data.X)
        if scores.ndim == 1:
            np.testing.assert_array_equal(model.predict(data.X), model.classes_[(scores > 0).astype(int)])
        else:
            np.testing.assert_array_equal(model.predict(data.X), model.classes_[scores.argmax(axis=1)])
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        leaves = model.apply(data.X)
        first = np.concatenate([[0], np.cumsum([len(tree["label"]) for tree in model.forest_.state()])])
        sums = sum(
            model.leaf_values_[first[t] + ~tree["left"][leaves[:, t]]] for t, tree in enumerate(model.forest_.state())
        )
        np.testing.assert_allclose((sums + model.baseline_).squeeze(), scores)


def test_separable_rows_do_not_diverge():
    X = np.linspace(-1, 1, 40)[:, None] * [[1.0, 2.0]]
    y = (X[:, 0] > 0).astype(int)
    model = ObliqueBoostingClassifier(
        n_estimators=400, learning_rate=1.0, l2_regularization=0.0, min_child_weight=0, **EVERYTHING
    ).fit(X, y)
    assert model.score(X, y) == 1.0 and np.isfinite(model.leaf_values_).all()
    assert np.isfinite(model.training_loss_).all()
