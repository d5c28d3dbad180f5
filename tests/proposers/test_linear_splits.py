"""Directions of linear classifiers and of Fisher: scikit-learn's, by hand, singular scatters, weights, wide data."""

import numpy as np
import pytest
from contracts import CRITERION_NAMES, REAL_SETS, engines_agree, real_set
from covering import few
from node_support import cosine, node_of, proposals, split_of
from oracles import gains
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import oblique_cli._core as _core

NAMES = ["svm_split", "logistic_split"]


def directions(name, node, **parameters):
    result = proposals(name, node, **parameters)
    if not result:
        return np.empty((0, node.X.shape[1]))
    ((kind, normals, offsets),) = result
    assert kind == "directions" and offsets is None
    return normals


def solved(name, Z, side, cost, weights=None):
    """The direction by another program: scikit-learn's logistic regression, or Newton's method on the squared hinge."""
    if name == "logistic_split":
        model = LogisticRegression(C=cost, tol=1e-10, max_iter=10_000).fit(Z, side, weights)
        return model.coef_[0]
    v = np.ones(len(Z)) if weights is None else weights
    A = np.column_stack([Z, np.ones(len(Z))])
    penalty = np.diag([1.0 / cost] * Z.shape[1] + [0.0])
    w = np.zeros(A.shape[1])
    for _ in range(200):
        margin = 1.0 - side * (A @ w)
        inside = margin > 0
        gradient = penalty @ w - 2.0 * A.T @ (v * side * np.maximum(margin, 0.0))
        hessian = penalty + 2.0 * (A[inside] * v[inside, None]).T @ A[inside] + 1e-12 * np.eye(len(w))
        w = w - 0.5 * np.linalg.solve(hessian, gradient)
    return w[:-1]


@few(1, name=NAMES, cost=[0.1, 10.0])
def test_there_is_a_direction_a_class_and_it_is_that_of_another_program(name, cost):
    for data in map(real_set, REAL_SETS):
        result = directions(name, node_of(data.X, data.y), cost=cost)
        codes = np.unique(data.y)
        assert len(result) == (1 if len(codes) == 2 else len(codes))
        scaler = StandardScaler().fit(data.X)
        for code, w in zip(codes, result, strict=False):
            expected = solved(name, scaler.transform(data.X), np.where(data.y == code, 1.0, -1.0), cost)
            assert cosine(w * scaler.scale_, expected) == pytest.approx(1.0, abs=1e-5), (data.name, code)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cost", [1e-6, 1.0, 1e6])
def test_rows_that_a_plane_separates_have_an_answer_for_every_cost(name, cost):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0.1).astype(int)
    X[y == 1] += [0.5, -1.0, 0.25]
    split = split_of(name, node_of(X, y), cost=cost)
    assert np.isfinite(split.coef).all()
    assert split.gain == pytest.approx(2 * y.mean() * (1 - y.mean())) or cost < 1.0


@pytest.mark.parametrize("name", NAMES)
def test_a_direction_of_a_grid_has_the_symmetry_of_the_grid(name):
    data = real_set("balance_scale")  # weight and distance on either side play the same role
    for w in directions(name, node_of(data.X, data.y)):
        assert w[0] == pytest.approx(w[1], rel=1e-12) and w[2] == pytest.approx(w[3], rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_wide_rows_are_solved_in_their_span(name):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 150)) + 0.5 * (np.arange(20) % 2)[:, None], np.arange(20) % 2
    (w,) = directions(name, node_of(X, y))
    scaler = StandardScaler().fit(X)
    Z = np.ascontiguousarray(scaler.transform(X))
    loss = "logistic" if name == "logistic_split" else "squared_hinge"
    plain, *_ = _core.linear_fit(Z, np.where(y == 0, 1.0, -1.0), loss=loss, l2=1.0, tolerance=1e-12)
    assert cosine(w * scaler.scale_, plain) == pytest.approx(1.0, abs=1e-6)
    engines_agree(name, X, y)


@pytest.mark.parametrize("name", [*NAMES, "fdt"])
def test_units_and_offsets_of_features_turn_the_directions_as_they_must(name):
    data = real_set("wine")
    units = 10.0 ** np.random.default_rng(1).integers(-6, 6, data.p)
    expected = directions(name, node_of(data.X, data.y)) / units
    result = directions(name, node_of(data.X * units - 7.0 * units, data.y))
    for a, b in zip(result, expected, strict=True):
        assert cosine(a, b) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("data_name", REAL_SETS)
def test_the_direction_is_that_of_linear_discriminant_analysis_of_the_largest_class_against_the_rest(data_name):
    data = real_set(data_name)
    rest = data.y != np.argmax(np.bincount(data.y))
    expected = LinearDiscriminantAnalysis(solver="svd").fit(data.X, rest).coef_[0]
    (w,) = directions("fdt", node_of(data.X, data.y))
    assert cosine(w, expected) == pytest.approx(1.0, abs=1e-7)


def test_the_direction_by_hand():
    # Both classes are a cross of half-lengths 2 and 1: W is proportional to diag(4, 1), and the means differ by (4, 4).
    cross = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    (w,) = directions("fdt", node_of(np.vstack([cross, cross + 4.0]), np.repeat([0, 1], 4)))
    np.testing.assert_allclose(w, -np.array([1.0, 4.0]) / np.sqrt(17.0), atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_the_threshold_is_the_best_along_the_direction(criterion):
    data = real_set("wine")
    node = node_of(data.X, data.y, criterion=criterion)
    split = split_of("fdt", node)
    z = data.X @ directions("fdt", node)[0]
    left = np.array([np.bincount(data.y[z <= t], minlength=3) for t in np.sort(z)[:-1]], dtype=float)
    assert split.gain == pytest.approx(gains(left, node.class_weights, criterion).max(), rel=1e-9)


def test_classes_that_differ_where_they_do_not_vary_are_told_apart_there():
    # Both classes lie in parallel planes: Fisher's quotient is infinite across them.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) @ np.diag([5.0, 5.0, 0.0])
    X[:20] += [0.5, -0.3, 0.1]
    node = node_of(X, np.arange(40) // 20)
    np.testing.assert_allclose(directions("fdt", node), [[0.0, 0.0, -1.0]], atol=1e-9)
    assert split_of("fdt", node).gain == pytest.approx(0.5)
