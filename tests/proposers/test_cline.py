"""Cline: the mean rule by hand, the nearest pair by brute force, the better of both."""

import itertools

import numpy as np
import pytest
from contracts import CRITERION_NAMES, REAL_SETS, real_set
from node_support import cosine, node_of, proposals, proposed_plane, split_of
from scipy.spatial.distance import cdist
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from oblique_cli.proposers.cline import nearest_pair
from oblique_cli.tree.splitting import PROPOSERS

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


@pytest.mark.parametrize("rule", RULES)
def test_with_more_than_two_classes_every_pair_has_its_planes(rule):
    data = real_set("glass")
    pairs = [np.isin(data.y, pair) for pair in itertools.combinations(np.unique(data.y), 2)]
    alone = [plane for pair in pairs for plane in proposals("cline", node_of(data.X[pair], data.y[pair]), rule=rule)]
    for a, b in zip(proposals("cline", node_of(data.X, data.y), rule=rule), alone, strict=True):
        np.testing.assert_allclose(a[1], b[1], atol=1e-9)
        assert a[2][0] == pytest.approx(b[2][0], abs=1e-6)


def test_the_largest_class_can_be_held_against_the_rest_and_is_in_other_methods():
    assert PROPOSERS["cline"].member().classes == "largest"
    data = real_set("glass")
    rest = (data.y != np.argmax(np.bincount(data.y))).astype(int)
    for rule in RULES:
        many, two = (proposals("cline", node_of(data.X, y), rule=rule, classes="largest") for y in (data.y, rest))
        for a, b in zip(many, two, strict=True):
            assert cosine(a[1][0], b[1][0]) == pytest.approx(1.0, abs=1e-12)
            assert abs(a[2][0]) == pytest.approx(abs(b[2][0]))


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_best_is_the_better_of_both_rules(criterion):
    for data in map(real_set, REAL_SETS):
        node = node_of(data.X, data.y, criterion=criterion)
        mean, pair, best = (split_of("cline", node, rule=rule) for rule in RULES)
        better = max(0 if s is None else s.gain for s in (mean, pair))
        assert (0 if best is None else best.gain) == pytest.approx(better, rel=1e-9)


def test_moving_turning_and_scaling_the_rows_as_a_whole_keeps_the_split():
    data = real_set("iris")
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    for rule in ("mean", "nearest_pair"):
        a = split_of("cline", node_of(data.X, data.y), rule=rule)
        b = split_of("cline", node_of(1000.0 * data.X @ turn + 3.0, data.y), rule=rule)
        assert b.gain == pytest.approx(a.gain, rel=1e-9), rule


def test_equal_means_leave_the_pair_and_its_own_normal():
    X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    assert proposals("cline", node_of(X, y), rule="mean") == []
    w, t = proposed_plane("cline", node_of(X, y))  # rule "best": the only one left
    np.testing.assert_allclose(w, [0.0, -1.0], atol=1e-12)  # (0, 0) and (0, 1)
    assert t == pytest.approx(-0.5, abs=1e-7)
