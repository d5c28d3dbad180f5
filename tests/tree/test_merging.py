"""Bottom-up growth by hand: which nodes merge, where their rows go, what happens where no plane helps."""

import numpy as np
import pytest
from contracts import rows_at_nodes

from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.merging import Plane, degrees_of_overlap, grow_below, grow_bottom_up, merge_order
from oblique_cli.tree.splitting import PROPOSERS


def line(*positions):
    """Rows at these positions of the first of two features."""
    return np.column_stack([np.array(positions, dtype=float), np.zeros(len(positions))])


def single(n):
    return [np.array([i]) for i in range(n)]


def halfway(X, group, merge):
    """The plane across the first feature, between the centroids."""
    means = [X[group == g, 0].mean() for g in (0, 1)]
    return Plane(np.array([1.0, 0.0]), float(np.mean(means)), 0.25)


def test_the_nearest_nodes_of_different_classes_merge_and_get_the_centroid_of_their_rows():
    # Classes 0 0 1 1 at 0, 1, 3, 9: 1-3 is the nearest pair of two classes. Their node stands at 2 (node 4): it is 2
    # from row 0 and 7 from row 3, and its class is neither 0 nor 1. All three rows stand at 4/3.
    assert merge_order(line(0, 1, 3, 9), single(4), [0, 0, 1, 1]) == [(1, 2), (0, 4), (3, 5)]


def test_a_merged_centroid_weighs_its_rows():
    # Node 3 holds 9 rows at 0 and one at 10: centroid 1. It is nearer to 4 than the 10 was, and 3.5 away from -2.5.
    X = line(*[0] * 9, 10, -3, 5)
    clusters = [np.arange(9), np.array([9]), np.array([10]), np.array([11])]
    assert merge_order(X[:10], clusters[:2], [0, 1]) == [(0, 1)]
    # 0-(-3) is 3; then node 4 stands at -0.3, 5.3 from the 5, while 5-10 is 5.
    assert merge_order(X, clusters, [0, 1, 2, 3]) == [(0, 2), (1, 3), (4, 5)]


def test_clusters_of_one_class_wait_for_another_class_however_near_they_are():
    assert merge_order(line(0, 0.1, 50), single(3), [0, 0, 1]) == [(1, 2), (0, 3)]


def test_among_equal_distances_the_pair_of_the_lowest_numbers_merges_whatever_rounding_says():
    square = np.array([[0.1, 0.1], [0.1, 0.4], [0.4, 0.1], [0.4, 0.4]])
    assert merge_order(square, single(4), [0, 1, 1, 0])[0] == (0, 1)
    assert merge_order(square + 1 / 3, single(4), [0, 1, 1, 0])[0] == (0, 1)


def test_one_cluster_needs_no_merge_and_clusters_of_one_class_have_none():
    assert merge_order(line(1), single(1), [0]) == []
    with pytest.raises(ValueError, match="nothing to be told apart from"):
        merge_order(line(1, 2), single(2), [0, 0])


def test_overlap_merges_what_overlaps_where_centroids_merge_what_is_near():
    # Class 0 is a long flat cloud around the origin. Class 1 lies inside it, 30 from its center; class 2 is 20 above.
    flat = np.array([[x, y] for x in np.linspace(-50, 50, 51) for y in (-1.0, 1.0)])
    small = np.array([[x, y] for x in (-2.0, 0.0, 2.0) for y in (-1.0, 0.0, 1.0)])
    X = np.vstack([flat, small + np.array([30.0, 0.0]), small + np.array([0.0, 20.0])])
    clusters = [np.arange(102), np.arange(102, 111), np.arange(111, 120)]
    assert merge_order(X, clusters, [0, 1, 2], "centroid") == [(0, 2), (1, 3)]
    assert merge_order(X, clusters, [0, 1, 2], "overlap") == [(0, 1), (2, 3)]
    assert merge_order(X * [1e6, 1e-6] + [1.0, -7.0], clusters, [0, 1, 2], "overlap") == [(0, 1), (2, 3)]


def test_overlap_takes_single_rows_and_constant_features():
    assert len(merge_order(line(0, 1, 3, 9), single(4), [0, 0, 1, 1], "overlap")) == 3


def test_leaves_are_the_clusters_and_counts_are_those_of_their_rows():
    X, y = line(0, 1.5, 3, 9), np.array([0, 0, 1, 1], dtype=np.int32)
    tree = grow_bottom_up(X, y, 2, single(4), [(1, 2), (0, 4), (3, 5)], halfway)
    assert (tree.n_leaves, tree.depth) == (4, 3)
    assert tree.counts[0].tolist() == [2, 2] and tree.n_rows[0] == 4
    np.testing.assert_array_equal(tree.labels[tree.apply(X)], y)
    rows = rows_at_nodes(tree, X)
    assert [rows[leaf].tolist() for leaf in np.flatnonzero(tree.is_leaf)] == [[3], [0], [1], [2]]
    assert tree.gains[0] == 0.25


def test_a_leaf_keeps_the_class_of_its_cluster_whatever_arrives():
    # Of class 0 three rows in four lie beyond the plane, and still its leaf is on the left: two of class 1 are right.
    X = line(0, 2, 2, 3, 4, 5)
    y = np.array([0, 0, 0, 0, 1, 1], dtype=np.int32)
    clusters = [np.arange(4), np.arange(4, 6)]
    tree = grow_bottom_up(X, y, 2, clusters, [(0, 1)], lambda X, group, merge: Plane(np.array([1.0, 0.0]), 1.0, 0.1))
    assert tree.counts.tolist() == [[4, 2], [4, 0], [0, 2]]
    assert tree.labels[tree.apply(X)].tolist() == [0, 1, 1, 1, 1, 1]


def test_the_children_go_where_more_of_their_rows_are_on_their_own_side():
    X = line(0, 1, 8, 9, 9)
    y = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    for coef, left in (([1.0, 0.0], [2, 0]), ([-1.0, 0.0], [0, 3])):
        plane = Plane(np.array(coef), 4.0 * coef[0], 0.1)
        clusters = [np.arange(2), np.arange(2, 5)]
        tree = grow_bottom_up(X, y, 2, clusters, [(0, 1)], lambda X, group, merge, plane=plane: plane)
        assert tree.counts[tree.left[0]].tolist() == left
        np.testing.assert_array_equal(tree.labels[tree.apply(X)], y)


@pytest.mark.parametrize(("sizes", "winner"), [((2, 3), 1), ((3, 2), 0), ((2, 2), 0)])
def test_without_a_plane_all_rows_go_to_the_larger_child_and_the_other_stays_a_leaf(sizes, winner):
    y = np.repeat([0, 1], sizes).astype(np.int32)
    X = np.ones((len(y), 2))
    clusters = [np.flatnonzero(y == code) for code in (0, 1)]
    tree = grow_bottom_up(X, y, 2, clusters, [(0, 1)], lambda X, group, merge: None)
    assert (tree.n_leaves, tree.gains[0]) == (2, 0.0)
    anywhere = np.array([[1e300, 0.0], [-1e300, 5.0], [1.0, 1.0]])
    assert tree.labels[tree.apply(anywhere)].tolist() == [winner] * 3
    assert np.isclose(np.linalg.norm(tree.coef_[0]), 1.0)


def test_growing_below_makes_every_leaf_pure_and_touches_no_pure_one():
    X = line(0, 2, 2.5, 3, 4, 5)
    y = np.array([0, 0, 1, 0, 1, 1], dtype=np.int32)
    skeleton = grow_bottom_up(X, y, 2, [np.array([0, 1, 3]), np.array([2, 4, 5])], [(0, 1)], halfway)
    assert (skeleton.labels[skeleton.apply(X)] != y).sum() == 2

    def grow(rows, leaf):
        return grow_top_down(X[rows], y[rows], 2, PROPOSERS["axis_parallel"]())

    hybrid = grow_below(skeleton, X, y, grow)
    np.testing.assert_array_equal(hybrid.labels[hybrid.apply(X)], y)
    assert hybrid.n_leaves > skeleton.n_leaves
    assert np.array_equal(hybrid.coef_[0], skeleton.coef_[0]) and hybrid.thresholds[0] == skeleton.thresholds[0]
    assert grow_below(hybrid, X, y, grow).to_dict() == hybrid.to_dict()


def test_degrees_of_overlap_fall_with_distance_and_do_not_ask_for_the_own_class():
    rng = np.random.default_rng(3)
    cloud = rng.normal(size=(200, 2))
    # Two classes: 0 at the origin, 1 on top of it, 1 far away, 0 beside the last but of another class than it.
    X = np.vstack([cloud, cloud + 0.1, cloud + 40.0, cloud + np.array([44.0, 40.0])])
    clusters = [np.arange(200 * i, 200 * (i + 1)) for i in range(4)]
    degrees = degrees_of_overlap(X, clusters, [0, 1, 1, 0])
    assert degrees[0] > 0.99 and degrees[1] == degrees[0]  # by hand: exp(-0.02 / 8) of unit covariances
    assert 0.0 < degrees[2] == degrees[3] < 0.3  # exp(-16 / 8) = 0.14 of unit covariances
    np.testing.assert_allclose(degrees_of_overlap(X * [1000.0, 0.01], clusters, [0, 1, 1, 0]), degrees, rtol=1e-9)
    assert degrees_of_overlap(X, clusters, [0, 0, 0, 0]).tolist() == [0.0] * 4
