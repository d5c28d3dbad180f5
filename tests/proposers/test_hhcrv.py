"""HHCRV: class representative vectors by hand and by their definition, and the trees they grow."""

import numpy as np
import pytest
from contracts import CRITERION_NAMES, REAL_SETS, assert_same_tree, grow, real_set
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from node_support import node_of, proposals

from oblique_cli import config
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.ground.geometry import (
    class_covariance,
    householder_vector,
    pooled_variances,
    principal_axes,
    shrunk,
    unit_scatter,
)
from oblique_cli.tree.splitting import PROPOSERS

ROWS = hnp.arrays(float, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.integers(-4, 4).map(float))


def test_rows_count_by_their_direction_and_not_by_their_distance():
    # Around the mean (1, 1): (3, 0), (-3, 0), (0, 1) and (0, -1), so two unit rows along each axis.
    X = np.array([[4.0, 1.0], [-2.0, 1.0], [1.0, 2.0], [1.0, 0.0]])
    np.testing.assert_allclose(unit_scatter(X), [[2.0, 0.0], [0.0, 2.0]], atol=1e-15)
    assert class_covariance(X)[0, 0] == 9 * class_covariance(X)[1, 1]
    np.testing.assert_allclose(unit_scatter(X, np.array([1.0, 1.0, 5.0, 5.0])), [[2.0, 0.0], [0.0, 10.0]], atol=1e-15)


def test_rows_on_the_mean_are_left_out():
    X = np.array([[0.1, 0.1], [0.2, 0.3], [0.3, 0.5]])  # the mean is the second row, but for rounding
    np.testing.assert_allclose(unit_scatter(X), 2.0 * np.outer([1.0, 2.0], [1.0, 2.0]) / 5.0, atol=1e-12)
    assert unit_scatter(X[:1]) is None and unit_scatter(X[[1, 1, 1]]) is None


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_the_vector_is_the_line_of_least_squared_distance_from_the_unit_rows(X):
    scatter = unit_scatter(X)
    if scatter is None:
        assert (X[0] == X).all()
        return
    centered = X - X.mean(axis=0)
    lengths = np.linalg.norm(centered, axis=1)
    unit = centered[lengths > 1e-8] / lengths[lengths > 1e-8, None]

    def distance(v):  # thesis eq. 5.3.1
        return (np.linalg.norm(unit - np.outer(unit @ v, v), axis=1) ** 2).sum()

    result = distance(principal_axes(scatter)[0])
    others = np.random.default_rng(0).normal(size=(50, X.shape[1]))
    assert result <= min(distance(v / np.linalg.norm(v)) for v in others) + 1e-9


def test_two_outliers_turn_the_dominant_eigenvector_and_not_the_representative_vector():
    # Figures 5.15 to 5.17 of the thesis: most rows lie along (1, 1), two far ones across it.
    rng = np.random.default_rng(1)
    along = np.outer(rng.normal(size=60), [1.0, 1.0]) + 0.2 * rng.normal(size=(60, 2))
    X = np.vstack([along, [[12.0, -12.0], [-12.0, 12.0]]])
    diagonal = np.array([1.0, 1.0]) / np.sqrt(2.0)
    assert abs(principal_axes(class_covariance(X))[0] @ diagonal) < 0.2
    assert abs(principal_axes(unit_scatter(X))[0] @ diagonal) > 0.99


def test_one_reflection_a_class_at_tau_zero():
    data = real_set("wine")
    groups = proposals("hhcrv", node_of(data.X, data.y))
    assert [group[0] for group in groups] == ["reflection"] * 3
    for code, (_, u) in enumerate(groups):
        v = principal_axes(unit_scatter(data.X[data.y == code]))[0]
        np.testing.assert_allclose(u, householder_vector(v), atol=1e-9)
    assert PROPOSERS["hhcrv"]().tau == 0.0 and ALGORITHMS["hhcrv"].defaults["criterion"] == "twoing"
    both = proposals("hhcrv", node_of(data.X, data.y), reflections="both")
    assert len(both) == 6
    np.testing.assert_allclose(both[1][1], householder_vector(-principal_axes(unit_scatter(data.X[data.y == 0]))[0]))


@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1000])
def test_the_vectors_do_not_depend_on_units(exponent):
    data = real_set("glass")
    X = data.X * 2.0**exponent
    a, b = (proposals("hhcrv", node_of(rows, data.y)) for rows in (data.X, X))
    for (_, u), (_, v) in zip(a, b, strict=True):
        np.testing.assert_array_equal(u, v)
    native = [grow("hhcrv", rows, data.y, criterion="gini").coef_[0] for rows in (data.X, X)]
    np.testing.assert_allclose(native[0], native[1], atol=1e-9)


def test_the_bundled_configuration_has_the_protocol_of_table_5_9():
    experiment = config.load("hhcrv")
    spec = experiment.algorithms[0]
    wanted = {"criterion": "twoing", "min_parent": 2, "max_misrate": 0, "tau": 0, "pruning": "cost_complexity"}
    assert spec.name == "hhcrv" and wanted.items() <= dict(spec.params).items()
    cv = experiment.cv
    assert (cv.scheme, cv.folds, cv.repeats, cv.pruning_fraction) == ("ordinary", 5, 10, 0.1)
    assert experiment.published == ("wickramarachchi2015:5.9",)
    mixed = config.load("hhcart_mixed")
    assert mixed.datasets[0].encoding == "crimcoord" and mixed.published == ("wickramarachchi2015:3.4",)


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("lean", [0.0, 1e-13, 1e-11, 1e-10, 1e-9, 1e-8, 1e-3])
@pytest.mark.parametrize("options", [{"reflections": "both"}, {"sign": "positive"}])
def test_a_vector_ever_so_close_to_an_axis_gives_finite_splits(engine, lean, options):
    # The opposite of such a vector, or the vector itself, leaves next to nothing of e_1 - d.
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.normal(size=40), np.zeros(40), np.zeros(40)])
    X[:, 1] = lean * X[:, 0]
    X[::2, 2] = 1.0
    tree = grow("hhcrv", X, np.arange(40) % 2, proposer=options, engine=engine)
    assert tree.n_leaves == 2 and np.isfinite(tree.coef_).all()


def test_a_small_class_is_drawn_towards_the_pooled_variances_by_the_stated_share():
    X = np.array([[0.0, 0.0], [2.0, 4.0], [1.0, 1.0], [5.0, 1.0], [5.0, 1.0], [9.0, 7.0]])
    y = np.array([0, 0, 1, 1, 1, 2], dtype=np.int32)
    # Squared deviations: class 0 (2, 8), class 1 (32 / 3, 0), class 2 none; six rows less three classes.
    variances = pooled_variances(X, y)
    np.testing.assert_allclose(variances, [(2 + 32 / 3) / 3, 8 / 3])
    S = class_covariance(X[:2])
    np.testing.assert_allclose(S, [[2.0, 4.0], [4.0, 8.0]])
    np.testing.assert_allclose(shrunk(S, variances, 2.0), 0.2 * S + 0.8 * np.diag(variances))
    for many in (10.0, 11.0, 1e9):
        np.testing.assert_array_equal(shrunk(S, variances, many), S)
    np.testing.assert_allclose(shrunk(S, variances, 10.0 - 1e-9), S, rtol=1e-8)
    weights = np.array([1.0, 1.0, 1.0, 2.0, 3.0, 1.0])
    rows = np.repeat(np.arange(6), weights.astype(int))
    np.testing.assert_allclose(pooled_variances(X, y, weights), pooled_variances(X[rows], y[rows]))


@few(1, name=["hhcart_a", "hhcart_d"], criterion=CRITERION_NAMES)
def test_shrinkage_is_off_by_default_and_changes_classes_of_few_rows_alone(name, criterion):
    for data in map(real_set, REAL_SETS):
        default, off = (grow(name, data.X, data.y, criterion=criterion, proposer=p) for p in ({}, {"shrinkage": False}))
        assert_same_tree(default, off)
        a = grow(name, data.X, data.y, criterion=criterion, proposer={"shrinkage": True})
        # All classes of iris and balance scale have five rows a feature at the root, so nothing changes there.
        if min(np.bincount(data.y)) >= 5 * data.p:
            np.testing.assert_array_equal(a.coef_[0], default.coef_[0])


def test_shrinkage_gives_a_class_of_few_rows_the_axes_of_the_pooled_variances():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3)) * [1.0, 5.0, 1.0]
    X[:3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [2.0, 0.1, 2.0]]
    node = node_of(X, [0] * 3 + [1] * 57)
    assert proposals("hhcart_d", node)[0][0] == "reflection"
    # The second feature varies most within the classes.
    assert proposals("hhcart_d", node, shrinkage=True, tau=0.2)[0][0] == "axes"
