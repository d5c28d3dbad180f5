"""QUEST: super-classes, discriminant direction and split point, each against a closed form."""

import numpy as np
import pytest
from contracts import REAL_SETS, real_set
from hypothesis import given
from hypothesis import strategies as st
from node_support import cosine, node_of, proposals, proposed_plane, split_of
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import f_classif

from oblique_cli.proposers.quest import discriminant_cut, two_means

# The split point


def two_groups(seed, spread=1.0, shares=(30, 50), distance=3.0):
    rng = np.random.default_rng(seed)
    z = np.concatenate([rng.normal(size=shares[0]), distance + spread * rng.normal(size=shares[1])])
    return z, np.arange(len(z)) < shares[0]


@pytest.mark.parametrize("spread", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("distance", [-4.0, 2.0, 6.0])
def test_at_the_split_point_the_weighted_densities_are_equal(spread, distance):
    for seed in range(20):
        z, first = two_groups(seed, spread, distance=distance)
        cut = discriminant_cut(z, first, None)
        a, b = z[first], z[~first]
        if cut == pytest.approx(0.5 * (a.mean() + b.mean()), abs=1e-12):
            continue
        logs = [
            np.log(len(g) / len(z)) - np.log(g.std(ddof=1)) - 0.5 * ((cut - g.mean()) / g.std(ddof=1)) ** 2
            for g in (a, b)
        ]
        assert logs[0] == pytest.approx(logs[1], abs=1e-8)


def test_equal_variances_give_the_linear_rule():
    z = np.array([-1.0, 0.0, 1.0, 4.0, 5.0, 6.0])
    first = np.arange(6) < 3
    assert discriminant_cut(z, first, None) == pytest.approx(2.5)
    assert discriminant_cut(z, first, np.full(6, 3.0)) == pytest.approx(2.5)
    # Seven rows against three, both of variance 1: the larger share gains log(7 / 3) / 5.
    seven = np.sqrt([1.5, 1.0, 0.5])
    z = np.concatenate([-seven, [0.0], seven, [4.0, 5.0, 6.0]])
    assert discriminant_cut(z, np.arange(10) < 7, None) == pytest.approx(2.5 + np.log(7.0 / 3.0) / 5.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_linear_rule_pools_the_variances(weighted):
    for seed in range(5):
        z, first = two_groups(seed, spread=2.0)
        weights = np.random.default_rng(seed).integers(1, 4, len(z)).astype(float) if weighted else None
        rows = z if weights is None else np.repeat(z, weights.astype(int))
        of_first = first if weights is None else np.repeat(first, weights.astype(int))
        lda = LinearDiscriminantAnalysis(solver="lsqr").fit(rows[:, None], of_first)
        # scikit-learn divides the pooled variance by n; an unbiased one divides by n - 2.
        slope, n = lda.coef_[0, 0], len(rows)
        prior = np.log(of_first.mean() / (1 - of_first.mean()))
        expected = -((lda.intercept_[0] - prior) * (n - 2) / n + prior) / (slope * (n - 2) / n)
        assert discriminant_cut(z, first, weights, pooled=True) == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_univariate_splits_take_the_feature_of_the_largest_f(weighted):
    for data in map(real_set, REAL_SETS):
        weights = np.random.default_rng(1).integers(1, 4, data.n) if weighted else np.ones(data.n, dtype=int)
        rows, codes = np.repeat(data.X, weights, axis=0), np.repeat(data.y, weights)
        varying = np.flatnonzero(np.ptp(rows, axis=0) > 0)
        expected = varying[np.argmax(f_classif(rows[:, varying], codes)[0])]
        node = node_of(data.X, data.y, weights=weights.astype(float))
        for split_point in ("lda", "qda"):
            w, _ = proposed_plane("quest", node, splits="univariate", split_point=split_point)
            assert np.flatnonzero(w).tolist() == [expected]


@given(st.floats(0.05, 20.0), st.floats(0.05, 20.0), st.floats(0.1, 30.0), st.integers(1, 20), st.integers(1, 20))
def test_the_root_is_the_nearer_one_to_either_mean(first_spread, second_spread, distance, m, n):
    z = np.concatenate([first_spread * np.tile([-1.0, 1.0], m), distance + second_spread * np.tile([-1.0, 1.0], n)])
    first = np.arange(2 * (m + n)) < 2 * m
    v, u = z[first].var(ddof=1), z[~first].var(ddof=1)
    cut = discriminant_cut(z, first, None)
    c = v * (u * np.log(v * n**2 / (u * m**2)) - distance**2)
    roots = np.roots([u - v, 2 * distance * v, c])
    if np.isreal(roots).all() and len(roots) == 2 and abs(u - v) > 1e-6 * (u + v):
        roots = np.real(roots)
        near = [roots[np.argmin(np.abs(roots - mean))] for mean in (0.0, distance)]
        if abs(abs(roots[0]) - abs(roots[1])) > 1e-3 * np.abs(roots).max():
            assert near[0] == pytest.approx(near[1])
            if z.min() <= near[0] < z.max():
                assert cut == pytest.approx(near[0], rel=1e-5, abs=1e-6)
    assert (z <= cut).any() and (z > cut).any()


def test_without_a_usable_root_the_cut_is_halfway_between_the_means():
    z = np.array([2.0, 2.0, 5.0, 7.0])
    assert discriminant_cut(z, np.array([True, True, False, False]), None) == 4.0  # no variance
    assert discriminant_cut(z[[0, 2]], np.array([True, False]), None) == 3.5
    wide = np.concatenate([np.tile([-30.0, 30.0], 50), [-1.0, 3.0]])  # the large wide class is likelier everywhere
    assert discriminant_cut(wide, np.arange(102) < 100, None) == pytest.approx(0.5)


def test_two_classes_are_the_two_super_classes_and_three_are_grouped_by_their_means():
    assert two_means(np.array([[0.0, 0.0], [1.0, 1.0]])).tolist() == [0, 1]
    assert two_means(np.array([[0.0], [10.0], [1.0], [9.0]])).tolist() == [0, 1, 0, 1]
    assert two_means(np.array([[-1.0], [0.0], [1.0]])).tolist() == [0, 0, 1]  # halfway: with the first
    assert two_means(np.ones((3, 2))).tolist() == [1, 1, 1]


def test_no_single_class_wants_to_change_its_group():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(int(rng.integers(3, 9)), 3))
        groups = two_means(points)
        centers = np.array([points[groups == side].mean(axis=0) for side in (0, 1)])
        nearest = np.argmin(((points[:, None] - centers) ** 2).sum(axis=2), axis=1)
        np.testing.assert_array_equal(groups, nearest)


@pytest.mark.parametrize("data_name", ["bupa", "statlog_heart"])
def test_the_direction_of_two_classes_is_that_of_linear_discriminant_analysis(data_name):
    data = real_set(data_name)
    expected = LinearDiscriminantAnalysis(solver="svd").fit(data.X, data.y).coef_[0]
    for split_point in ("qda", "search"):
        ((_, normals, offsets),) = proposals("quest", node_of(data.X, data.y), split_point=split_point)
        assert cosine(normals[0], expected) == pytest.approx(1.0, abs=1e-7)
        assert (offsets is None) == (split_point == "search")


@pytest.mark.parametrize("data_name", REAL_SETS)
def test_the_plane_cuts_between_the_projected_means_or_beyond_but_never_beside_all_rows(data_name):
    data = real_set(data_name)
    w, t = proposed_plane("quest", node_of(data.X, data.y))
    assert 0 < (data.X @ w <= t).sum() < data.n
    assert np.linalg.norm(w) == pytest.approx(1.0, abs=1e-12)


def test_units_of_features_do_not_matter():
    data = real_set("glass")
    units = 10.0 ** np.random.default_rng(1).integers(-6, 6, data.p)
    a, b = (split_of("quest", node_of(X, data.y)) for X in (data.X, data.X * units))
    np.testing.assert_array_equal(data.X @ a.coef <= a.threshold, data.X * units @ b.coef <= b.threshold)


def test_components_of_small_eigenvalues_can_be_left_out():
    rng = np.random.default_rng(6)
    base = rng.normal(size=(80, 1))
    X = np.hstack([base, base + 0.01 * rng.normal(size=(80, 1))])
    y = (X[:, 0] > X[:, 1]).astype(int)  # told apart by the small component only
    assert split_of("quest", node_of(X, y)).gain > 0.3
    w, _ = proposed_plane("quest", node_of(X, y), eigenvalue_tolerance=0.1)
    assert cosine(w, np.ones(2)) == pytest.approx(1.0, abs=1e-3)
