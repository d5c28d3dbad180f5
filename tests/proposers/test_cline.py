"""Cline: the mean rule by hand, the nearest pair by brute force, the better of both."""

from __future__ import annotations

import numpy as np
import pytest
from contracts import CRITERION_NAMES, REAL_SETS, grow, real_set
from node_support import DEGENERATE, cosine, node_of, proposals, proposed_plane, split_of
from scipy.spatial.distance import cdist
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.multiclass import OneVsOneClassifier

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.proposers.cline import nearest_pair
from oblique_cli.tree.stopping import Stopping

RULES = ["mean", "nearest_pair", "best"]


def test_the_mean_rule_by_hand():
    # Means (0, 1) and (4, 3): the plane 2x + y = 6 through (2, 2).
    X = [[0.0, 0.0], [0.0, 2.0], [3.0, 3.0], [5.0, 3.0]]
    w, t = proposed_plane("cline", node_of(X, [0, 0, 1, 1]), rule="mean")
    np.testing.assert_allclose(w, -np.array([2.0, 1.0]) / np.sqrt(5.0), atol=1e-12)
    assert t == pytest.approx(-6.0 / np.sqrt(5.0), abs=1e-7)
    # The second class three times as heavy in its first row: its mean is (3.5, 3).
    w, t = proposed_plane("cline", node_of(X, [0, 0, 1, 1], weights=[2.0, 2.0, 3.0, 1.0]), rule="mean")
    np.testing.assert_allclose(w, -np.array([3.5, 2.0]) / np.hypot(3.5, 2.0), atol=1e-12)
    assert t == pytest.approx(w @ [1.75, 2.0], abs=1e-7)


def test_the_nearest_pair_rule_by_hand():
    # The nearest rows are (1, 0) and (2, 1); through their middle, x + y = 2 or along the discriminant.
    X = [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [4.0, 4.0], [4.0, 5.0]]
    y = [0, 0, 1, 1, 1]
    w, t = proposed_plane("cline", node_of(X, y), rule="nearest_pair", normal="pair")
    np.testing.assert_allclose(w, -np.ones(2) / np.sqrt(2.0), atol=1e-12)
    assert t == pytest.approx(-np.sqrt(2.0), abs=1e-7)
    w, t = proposed_plane("cline", node_of(X, y), rule="nearest_pair")
    lda = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    assert cosine(w, lda.coef_[0]) == pytest.approx(1.0, abs=1e-9)
    assert t == pytest.approx(w @ [1.5, 0.5], abs=1e-7)


@pytest.mark.parametrize("data_name", REAL_SETS)
def test_the_nearest_pair_is_that_of_brute_force(data_name):
    data = real_set(data_name)
    first = data.y == np.argmax(np.bincount(data.y))
    A, B = np.unique(data.X[first], axis=0), np.unique(data.X[~first], axis=0)
    distances = cdist(A, B)
    distances[distances == 0.0] = np.inf
    i, j = np.argwhere(distances <= distances.min() * (1.0 + 1e-9))[0]  # the first in lexicographic order
    a, b = nearest_pair(data.X[first], data.X[~first])
    np.testing.assert_array_equal(a, A[i])
    np.testing.assert_array_equal(b, B[j])
    order = np.random.default_rng(0).permutation(data.n)
    again = nearest_pair(data.X[order][first[order]], data.X[order][~first[order]])
    np.testing.assert_array_equal(np.array(again), np.array([a, b]))


def test_rows_of_both_classes_are_not_a_pair():
    A, B = np.array([[0.0], [5.0], [5.0]]), np.array([[5.0], [5.0], [8.0], [0.0]])
    a, b = nearest_pair(A, B)
    assert (a.tolist(), b.tolist()) == ([5.0], [8.0])
    assert nearest_pair(A[1:], B[:2]) is None
    assert [p.tolist() for p in nearest_pair(np.array([[5.0]]), np.array([[7.0]]))] == [[5.0], [7.0]]


def test_with_more_than_two_classes_the_largest_is_held_against_the_rest():
    data = real_set("glass")
    rest = (data.y != np.argmax(np.bincount(data.y))).astype(int)
    for rule in RULES:
        many, two = (proposals("cline", node_of(data.X, y), rule=rule) for y in (data.y, rest))
        for a, b in zip(many, two, strict=True):
            assert cosine(a[1][0], b[1][0]) == pytest.approx(1.0, abs=1e-12)
            assert abs(a[2][0]) == pytest.approx(abs(b[2][0]))


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_best_is_the_better_of_both_rules(criterion):
    for data in map(real_set, REAL_SETS):
        node = node_of(data.X, data.y, criterion=criterion)
        mean, pair, best = (split_of("cline", node, rule=rule) for rule in RULES)
        assert (0 if best is None else best.gain) == max(0 if s is None else s.gain for s in (mean, pair))


def test_moving_turning_and_scaling_the_rows_as_a_whole_keeps_the_split():
    data = real_set("iris")
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    for rule in ("mean", "nearest_pair"):
        a = split_of("cline", node_of(data.X, data.y), rule=rule)
        b = split_of("cline", node_of(1000.0 * data.X @ turn + 3.0, data.y), rule=rule)
        assert b.gain == pytest.approx(a.gain, rel=1e-9), rule


def test_one_tree_a_pair_of_classes_is_the_way_of_the_papers():
    data = real_set("wine")
    model = OneVsOneClassifier(make("cline", random_state=0)).fit(data.X[::2], data.y[::2])
    assert len(model.estimators_) == 3
    assert model.score(data.X[1::2], data.y[1::2]) > 0.8


@pytest.mark.parametrize("label", DEGENERATE)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("normal", ["discriminant", "pair"])
def test_degenerate_nodes_give_finite_planes(label, rule, normal):
    X, y = DEGENERATE[label]
    found = proposals("cline", node_of(X, y), rule=rule, normal=normal)
    assert found
    for _, normals, offsets in found:
        assert np.isfinite(normals).all() and np.isfinite(offsets).all()
        assert np.linalg.norm(normals) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_equal_rows_make_a_leaf(rule):
    node = node_of(np.full((6, 2), 0.1), [0, 1] * 3)
    assert proposals("cline", node, rule=rule) == []
    assert split_of("cline", node, rule=rule) is None


def test_equal_means_leave_the_pair_and_its_own_normal():
    X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    assert proposals("cline", node_of(X, y), rule="mean") == []
    w, t = proposed_plane("cline", node_of(X, y))  # rule "best": the only one left
    np.testing.assert_allclose(w, [0.0, -1.0], atol=1e-12)  # (0, 0) and (0, 1)
    assert t == pytest.approx(-0.5, abs=1e-7)


def test_bad_parameters_are_named():
    with pytest.raises(ConfigError, match=r"rule of cline must be one of 'mean', 'nearest_pair', 'best'\. Got 'mix'\."):
        make("cline", rule="mix")
    with pytest.raises(ConfigError, match=r"normal of cline must be one of 'discriminant', 'pair'\. Got None\."):
        make("cline", normal=None)


@pytest.mark.parametrize("data_name", ["balance_scale", "bupa", "wine"])
@pytest.mark.parametrize("rule", RULES)
def test_weight_two_is_a_doubled_row_and_the_scale_of_weights_nothing(data_name, rule):
    data = real_set(data_name)
    times = np.random.default_rng(3).integers(1, 3, data.n)
    options = {"stopping": Stopping(max_depth=4), "proposer": {"rule": rule}}
    doubled = grow("cline", np.repeat(data.X, times, axis=0), np.repeat(data.y, times), **options)
    for scale in (1.0, 0.37):
        weighted = grow("cline", data.X, data.y, weights=times * scale, **options)
        np.testing.assert_allclose(weighted.counts, doubled.counts)
        np.testing.assert_allclose(weighted.coef_, doubled.coef_, atol=1e-6)
