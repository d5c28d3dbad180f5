"""FDT: Fisher's direction against scikit-learn and by hand, singular scatters, weights."""

import numpy as np
import pytest
from contracts import CRITERION_NAMES, REAL_SETS, real_set
from node_support import cosine, node_of, proposals, split_of
from oracles import gains
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis


def direction(node):
    ((kind, normals, offsets),) = proposals("fdt", node)
    assert kind == "directions" and offsets is None and normals.shape == (1, node.X.shape[1])
    return normals[0]


@pytest.mark.parametrize("data_name", REAL_SETS)
def test_the_direction_is_that_of_linear_discriminant_analysis_of_the_largest_class_against_the_rest(data_name):
    data = real_set(data_name)
    rest = data.y != np.argmax(np.bincount(data.y))
    expected = LinearDiscriminantAnalysis(solver="svd").fit(data.X, rest).coef_[0]
    assert cosine(direction(node_of(data.X, data.y)), expected) == pytest.approx(1.0, abs=1e-7)


def test_the_direction_by_hand():
    # Both classes are a cross of half-lengths 2 and 1: W is proportional to diag(4, 1), and the means differ by (4, 4).
    cross = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    w = direction(node_of(np.vstack([cross, cross + 4.0]), np.repeat([0, 1], 4)))
    np.testing.assert_allclose(w, -np.array([1.0, 4.0]) / np.sqrt(17.0), atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_the_threshold_is_the_best_along_the_direction(criterion):
    data = real_set("wine")
    node = node_of(data.X, data.y, criterion=criterion)
    split = split_of("fdt", node)
    z = data.X @ direction(node)
    left = np.array([np.bincount(data.y[z <= t], minlength=3) for t in np.sort(z)[:-1]], dtype=float)
    assert split.gain == pytest.approx(gains(left, node.class_weights, criterion).max(), rel=1e-9)


def test_classes_that_differ_where_they_do_not_vary_are_told_apart_there():
    # Both classes lie in parallel planes: Fisher's quotient is infinite across them.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) @ np.diag([5.0, 5.0, 0.0])
    X[:20] += [0.5, -0.3, 0.1]
    np.testing.assert_allclose(direction(node_of(X, np.arange(40) // 20)), [0.0, 0.0, -1.0], atol=1e-9)
    split = split_of("fdt", node_of(X, np.arange(40) // 20))
    assert split.gain == pytest.approx(0.5)


def test_units_and_offsets_of_features_turn_the_direction_as_they_must():
    data = real_set("wine")
    units = 10.0 ** np.random.default_rng(1).integers(-6, 6, data.p)
    expected = direction(node_of(data.X, data.y)) / units
    assert cosine(direction(node_of(data.X * units - 7.0 * units, data.y)), expected) == pytest.approx(1.0, abs=1e-9)
