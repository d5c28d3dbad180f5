"""The frozen tree: its invariants, its numbers, its journey through JSON and pickle, and what it refuses."""

import copy
import json
import pickle

import numpy as np
import pytest
from contracts import CRITERION_NAMES, PROPOSER_NAMES, REAL_SETS, grow, real_set, rows_at_nodes
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import random_tree, walk
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tree_support import tree_of

from oblique_cli import AxisParallelClassifier, ObliqueTreeRegressor
from oblique_cli.errors import DataError
from oblique_cli.tree.structure import TreeBuilder

ARRAYS = ("left", "right", "coef_", "thresholds", "counts", "gains", "n_rows")


@pytest.fixture(scope="module")
def tree():
    data = real_set("glass")
    return grow("hhcart_d", data.X, data.y)


def small_tree():
    """x <= 1 -> leaf of class 0, else y <= 2 -> leaf of class 1 or of class 0."""
    builder = TreeBuilder(2, 2)
    for counts in ([5, 3], [4, 0], [1, 3], [0, 3], [1, 0]):
        builder.add(np.array(counts, dtype=float), sum(counts))
    builder.split(0, np.array([1.0, 0.0]), 1.0, 0.2, 1, 2)
    builder.split(2, np.array([0.0, 1.0]), 2.0, 0.1, 3, 4)
    return builder.finish()


@few(1, name=PROPOSER_NAMES, criterion=CRITERION_NAMES, set_name=REAL_SETS)
def test_a_grown_tree_is_a_binary_tree_whose_counts_are_those_of_its_training_rows(name, criterion, set_name):
    data = real_set(set_name)
    tree = grow(name, data.X, data.y, criterion=criterion)
    leaf = tree.apply(data.X)
    assert tree.is_leaf[leaf].all()
    for node, rows in enumerate(rows_at_nodes(tree, data.X)):
        np.testing.assert_array_equal(tree.counts[node], np.bincount(data.y[rows], minlength=len(data.classes)))
        assert tree.n_rows[node] == len(rows) > 0
        if tree.is_leaf[node]:
            np.testing.assert_array_equal(np.flatnonzero(leaf == node), rows)
    internal = np.flatnonzero(~tree.is_leaf)
    assert tree.n_nodes == 2 * tree.n_leaves - 1 == 2 * len(internal) + 1
    assert (tree.left[internal] > internal).all() and (tree.right[internal] > internal).all()
    assert sorted([*tree.left[internal], *tree.right[internal]]) == list(range(1, tree.n_nodes))
    np.testing.assert_allclose(np.linalg.norm(tree.coef_[internal], axis=1), 1.0, atol=1e-12)
    assert (tree.gains[internal] > 0).all()
    for leaf_value in (tree.coef_, tree.thresholds, tree.gains):
        assert not leaf_value[tree.is_leaf].any()


def test_the_arrays_are_read_only(tree):
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 1


def test_numbers_of_a_small_tree_are_as_drawn():
    tree = small_tree()
    assert (tree.n_nodes, tree.n_leaves, tree.depth, tree.n_features) == (5, 3, 2, 2)
    assert tree.depths.tolist() == [0, 1, 1, 2, 2]
    assert tree.labels.tolist() == [0, 0, 1, 1, 0]
    assert tree.errors.tolist() == [3, 0, 1, 0, 0]
    assert tree.misclassification_rates.tolist() == [3 / 8, 0, 1 / 4, 0, 0]
    assert tree.intercept_.tolist() == [-1.0, 0.0, -2.0, 0.0, 0.0]
    assert tree.apply(np.array([[1.0, 9.0], [1.5, 2.0], [1.5, 2.5]])).tolist() == [1, 3, 4]
    # A row on the plane goes left.
    assert tree.apply(np.array([[1.0, 0.0], [np.nextafter(1.0, 2.0), 0.0]])).tolist() == [1, 3]
    assert tree.misclassification_rates_of_parents[:3].tolist() == [np.inf, 0.0, 1 / 8]
    assert repr(tree) == "Tree(3 leaves, depth 2, 2 features)"


def leaf_of(*counts):
    builder = TreeBuilder(1, len(counts))
    builder.add(np.array(counts), int(sum(counts)))
    return builder.finish()


def test_a_tie_of_classes_goes_to_the_lower_code_and_three_of_ten_is_exactly_three_tenths():
    assert leaf_of(1.0, 4.0, 4.0).labels.tolist() == [1]
    assert leaf_of(7.0, 3.0).misclassification_rates[0] == 0.3


def test_the_builder_numbers_children_above_parents_whatever_the_order_of_adding():
    builder = TreeBuilder(1, 1)
    for n in (1.0, 2.0, 3.0):  # leaves first, the root last, as in bottom-up growth
        builder.add(np.array([n]), int(n))
    builder.split(2, np.array([1.0]), 0.5, 0.1, 0, 1)
    tree = builder.finish(root=2)
    assert tree.counts.ravel().tolist() == [3.0, 1.0, 2.0]
    assert (tree.left[0], tree.right[0]) == (1, 2)


def test_rows_reach_the_leaf_that_a_walk_by_hand_reaches():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, int(rng.integers(0, 12)), n_features=3)
        X = rng.normal(size=(30, 3))
        assert tree.apply(X).tolist() == [walk(tree, x) for x in X], f"seed {seed}"


def test_rows_of_another_width_are_refused(tree):
    with pytest.raises(ValueError, match="X must have as many columns as the tree has features"):
        tree.apply(np.zeros((2, 3)))


def test_a_tree_cut_at_a_limit_stops_rows_where_a_walk_by_hand_does():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, int(rng.integers(0, 12)), n_features=3)
        X = rng.normal(size=(20, 3))
        limits = np.sort(rng.choice(np.append(tree.misclassification_rates, [0.1, 0.4, 0.9]), 4))
        rates = (tree.misclassification_rates, tree.misclassification_rates_of_parents)[seed % 2]
        for column, limit in enumerate(limits):
            stops, leaves = tree.apply_limits(X, limits, rates), tree.leaves_of_limits(limits, rates)
            cut = rates <= limit
            marked = frozenset(np.flatnonzero(cut).tolist())
            assert stops[:, column].tolist() == [walk(tree, x, marked) for x in X], f"seed {seed}"
            assert leaves[column] == tree.collapse(cut).n_leaves, f"seed {seed}"


def test_collapsing_nodes_makes_them_leaves_and_drops_what_is_below():
    tree = small_tree()
    assert tree.collapse(np.zeros(5, dtype=bool)).to_dict() == tree.to_dict()
    smaller = tree.collapse(np.array([False, False, True, False, False]))
    assert smaller.left.tolist() == [1, -1, -1] and smaller.counts.tolist() == [[5, 3], [4, 0], [1, 3]]
    assert tree.collapse(np.array([True] + [False] * 4)).n_nodes == 1


def through_json(tree):
    return tree_of(json.loads(json.dumps(tree.to_dict())))


def test_a_tree_through_json_is_the_same_to_the_bit(tree):
    again = through_json(tree)
    for name in ARRAYS:
        a, b = getattr(tree, name), getattr(again, name)
        assert a.dtype == b.dtype and not b.flags.writeable
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(tree.apply(real_set("glass").X), again.apply(real_set("glass").X))


def test_a_tree_can_be_pickled_and_copied(tree):
    X = real_set("glass").X
    leaves = tree.apply(X)  # also after the compiled traversal exists
    for again in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        np.testing.assert_array_equal(again.apply(X), leaves)
        assert not again.coef_.flags.writeable
        assert again.depth == tree.depth


def damaged(**changes):
    data = json.loads(json.dumps(small_tree().to_dict()))
    for name, change in changes.items():
        if callable(change):
            change(data[name])
        else:
            data[name] = change
    return data


def put(at, value):
    return lambda values: values.__setitem__(at, value)


@pytest.mark.parametrize(
    "data",
    [
        damaged(left=put(0, -7)),
        damaged(left=[-1], right=[-1]),  # shorter than the others
        damaged(left=[], right=[], coef_=[], thresholds=[], counts=[], gains=[], n_rows=[]),
        damaged(thresholds=[1.0]),
        damaged(counts=[[1.0], [2.0, 3.0], [1.0], [1.0], [1.0]]),
        damaged(coef_=put(0, ["a", 1.0])),
        damaged(coef_=put(0, [float("nan"), 0.0])),
        damaged(thresholds=put(0, float("nan"))),
        damaged(left=None),
        damaged(left=put(0, 2**40)),
        damaged(left=put(0, 1.5)),
        {key: value for key, value in damaged().items() if key != "right"},
        {},
    ],
)
def test_damaged_data_is_refused_as_no_tree(data):
    with pytest.raises(DataError, match="tree"):
        tree_of(data)


@given(st.data())
@settings(deadline=None, derandomize=True, max_examples=60)
def test_any_change_of_the_node_numbers_is_refused_or_still_a_tree(data):
    plain = damaged()
    for name in ("left", "right"):
        plain[name] = data.draw(st.lists(st.integers(-2, 6), min_size=5, max_size=5))
    try:
        tree = tree_of(plain)
    except DataError:
        return
    internal = np.flatnonzero(~tree.is_leaf)
    assert (tree.left[internal] > internal).all() and (tree.right[internal] > internal).all()
    children = [*tree.left[internal], *tree.right[internal]]
    assert sorted(children) == list(range(1, 5))  # every node but the root is the child of one other
    assert len(tree.apply(np.random.default_rng(0).normal(size=(5, 2)))) == 5


def test_it_has_the_names_of_scikit_learns_trees():
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=400)
    X = rng.normal(size=(400, 4)) + y[:, None] * [1.0, 0.5, 0.0, 0.2]
    theirs = DecisionTreeClassifier(random_state=0, max_depth=4).fit(X, y)
    ours = AxisParallelClassifier(criterion="gini", min_samples_split=2, max_depth=4, probabilities="counts").fit(X, y)
    tree, twin = ours.tree_, theirs.tree_
    for name in ("node_count", "max_depth", "n_leaves", "n_outputs", "n_classes"):
        assert getattr(tree, name) == getattr(twin, name), name
    # Nodes have other numbers.
    for name in ("feature", "threshold", "impurity", "n_node_samples", "weighted_n_node_samples"):
        np.testing.assert_allclose(np.sort(getattr(tree, name)), np.sort(getattr(twin, name)), rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(np.sort(tree.value[:, 0], axis=0), np.sort(twin.value[:, 0], axis=0))
    np.testing.assert_allclose(tree.predict(X), theirs.predict_proba(X))
    at = tree.decision_path(X).toarray().astype(bool)
    np.testing.assert_array_equal(at.sum(axis=1), np.diff(theirs.decision_path(X).indptr))
    for node in np.flatnonzero(tree.children_left >= 0):
        goes_left = X[at[:, node], tree.feature[node]] <= tree.threshold[node]
        np.testing.assert_array_equal(at[at[:, node], tree.children_left[node]], goes_left)
    for importances in (tree.compute_feature_importances(), ours.feature_importances_):
        np.testing.assert_allclose(importances, theirs.feature_importances_, atol=1e-12)
    entropy = AxisParallelClassifier(criterion="entropy").fit(X, y).tree_
    np.testing.assert_allclose(entropy.impurity[0], -(tree.value[0] * np.log2(tree.value[0])).sum())


def test_a_plane_of_several_features_and_a_negative_coefficient_have_no_single_feature():
    tree = small_tree()
    turned = tree.changed(coef=tree.coef_ * [[1.0], [0.0], [-1.0], [0.0], [0.0]])
    assert tree.feature.tolist() == [0, -2, 1, -2, -2] and turned.feature.tolist() == [0, -2, -2, -2, -2]
    several = tree.changed(coef=np.add(tree.coef_, np.outer([1, 0, 0, 0, 0], [0.6, 0.8])))
    assert several.feature.tolist() == [-2, -2, 1, -2, -2] and several.threshold.tolist() == [1.0, -2, 2.0, -2, -2]


def test_a_regression_tree_has_their_names_too():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9) * 2.0 + X[:, 0] / 100
    tree = ObliqueTreeRegressor(pruning="none", max_depth=1).fit(X, y).tree_
    twin = DecisionTreeRegressor(max_depth=1).fit(X, y).tree_
    for name in ("children_left", "feature", "threshold", "impurity", "n_node_samples", "value", "n_classes"):
        np.testing.assert_allclose(getattr(tree, name), getattr(twin, name), atol=1e-12)
    np.testing.assert_allclose(tree.compute_feature_importances(), [1.0])
