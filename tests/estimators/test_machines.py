"""Proximal and ordinary support vector machines: closed forms, an oracle, and scikit-learn's own checks."""

import numpy as np
import pytest
from scipy import linalg
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from oblique_cli import make
from oblique_cli.data import load
from oblique_cli.estimators import machines
from oblique_cli.estimators.machines import GEPSVMClassifier

rng = np.random.default_rng(3)
LINES = np.vstack([np.column_stack([t := np.linspace(-3, 3, 40), t]), np.column_stack([t, -t])])
SIDES = np.repeat([0, 1], 40)


def test_planes_tell_crossing_lines_apart_and_a_kernel_what_planes_cannot():
    # No single plane tells two crossing lines apart; one near each does, all but their crossing.
    model = GEPSVMClassifier(regularization=1e-9).fit(LINES, SIDES)
    assert model.score(LINES, SIDES) == 1.0
    planes = model.planes_ / model.planes_[:, :1]
    np.testing.assert_allclose(planes, [[1, -1, 0], [1, 1, 0]], atol=1e-6)
    X = rng.uniform(-1, 1, (300, 2))
    y = (np.hypot(*X.T) < 0.7).astype(int)
    linear, gaussian = (GEPSVMClassifier(k, width=2.0).fit(X[:200], y[:200]) for k in machines.KERNELS)
    assert gaussian.score(X[200:], y[200:]) > 0.9 > linear.score(X[200:], y[200:])


def test_a_plane_minimizes_its_quotient_by_iterating_as_by_decomposing(monkeypatch):
    X, y = load("wine").X, load("wine").y
    model = GEPSVMClassifier().fit(X, y)
    Z = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(X))])
    for k, plane in enumerate(model.planes_):
        near, far = Z[y == k].T @ Z[y == k], Z[y != k].T @ Z[y != k]
        near += 1e-4 * near.trace() / len(near) * np.eye(len(near))

        def quotient(z, near=near, far=far):
            return (z @ near @ z) / (z @ far @ z)

        assert quotient(plane) == pytest.approx(1 / linalg.eigvals(far, near).real.max())
        assert all(quotient(plane + 0.1 * rng.normal(size=len(plane))) >= quotient(plane) for _ in range(50))
    data = load("bupa")
    iterated = GEPSVMClassifier("gaussian", width=0.1).fit(data.X[:150], data.y[:150])
    monkeypatch.setattr(machines, "DECOMPOSED", 1000)
    at_once = GEPSVMClassifier("gaussian", width=0.1).fit(data.X[:150], data.y[:150])
    np.testing.assert_allclose(
        iterated.decision_function(data.X), at_once.decision_function(data.X), rtol=1e-5, atol=1e-8
    )


@pytest.mark.parametrize("name", ["gepsvm", "svm"])
def test_standardized_features_have_no_units(name):
    data = load("wine")
    a = make(name).fit(data.X, data.y).predict(data.X)
    b = make(name).fit(1000.0 * data.X + 5.0, data.y).predict(1000.0 * data.X + 5.0)
    np.testing.assert_array_equal(a, b)


def test_more_than_two_classes_are_told_apart_in_pairs_or_each_from_the_rest():
    data = load("balance_scale")
    options = {"kernel": "linear", "standardize": False, "cost": 2.0}
    pairs, rest = (make("svm", multiclass=way, **options).fit(data.X, data.y) for way in machines.MULTICLASS)
    single = SVC(kernel="linear", C=2.0).fit(data.X, data.y)
    np.testing.assert_array_equal(pairs.predict(data.X), single.predict(data.X))
    alone = OneVsRestClassifier(SVC(kernel="linear", C=2.0)).fit(data.X, data.y)
    np.testing.assert_array_equal(rest.predict(data.X), alone.predict(data.X))
    assert (pairs.predict(data.X) != rest.predict(data.X)).any()
