"""Growth up to a number of leaves: both engines, a slow cut of the whole tree, and scikit-learn grow the same tree."""

import numpy as np
import pytest
from contracts import assert_same_tree, grow, real_set
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import oblique_cli
from oblique_cli.errors import ConfigError
from oblique_cli.tree.residual_signs import Settings
from oblique_cli.tree.residual_signs import grow as grow_numbers
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree


def cut_slowly(tree: Tree, most: int, worth: np.ndarray | None = None) -> Tree:
    """The top of a tree that best-first growth gives: always the best open node, of equal ones the first opened."""
    worth = tree.gains * tree.counts.sum(axis=1) if worth is None else worth
    opened, is_leaf = [0], np.ones(tree.n_nodes, dtype=bool)
    while is_leaf[opened].sum() < most:
        able = [node for node in opened if is_leaf[node] and not tree.is_leaf[node]]
        if not able:
            break
        best = max(worth[node] for node in able)
        node = next(node for node in able if worth[node] >= best * (1 - 1e-9))
        is_leaf[node] = False
        opened += [int(tree.left[node]), int(tree.right[node])]
    return tree.collapse(is_leaf)


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "hhgdt", "fdt", "oc1", "union", "quest"])
def test_both_engines_grow_the_top_of_the_whole_tree(name):
    for data_name, weighted in (("bupa", False), ("glass", True)):
        data = real_set(data_name)
        weights = np.random.default_rng(2).integers(1, 4, data.n).astype(float) if weighted else None
        whole = grow(name, data.X, data.y, weights=weights, seed=3)
        for most in (1, 2, 5, 12):
            native, threads, reference = (
                grow(
                    name, data.X, data.y, weights=weights, seed=3, engine=engine, n_threads=n_threads,
                    stopping=Stopping(max_leaf_nodes=most),
                )
                for engine, n_threads in (("auto", 1), ("auto", 2), ("reference", 1))
            )  # fmt: skip
            assert native.n_leaves == min(most, whole.n_leaves)
            assert_same_tree(native, cut_slowly(whole, most))
            assert_same_tree(threads, native)
            assert_same_tree(native, reference, coef=1e-7, threshold=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_scikit_learn_grows_the_same_axis_parallel_tree(seed):
    rng = np.random.default_rng(seed)
    X, y, weights = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), rng.uniform(1, 2, 60)  # no two scores are equal
    for most in (2, 3, 5, 9, 20):
        theirs = DecisionTreeClassifier(max_leaf_nodes=most, random_state=0).fit(X, y, weights).tree_
        ours = oblique_cli.AxisParallelClassifier(criterion="gini", min_parent=0, max_leaf_nodes=most)
        tree = ours.fit(X, y, weights).tree_
        np.testing.assert_array_equal(np.sort(tree.n_rows), np.sort(theirs.n_node_samples))
        of_theirs = theirs.value[:, 0] * theirs.weighted_n_node_samples[:, None]
        results = [np.sort(counts, axis=0) for counts in (tree.counts * weights.min(), of_theirs)]
        np.testing.assert_allclose(*results, atol=1e-9)


def test_ties_are_settled_by_the_order_of_opening():
    # Four equal quarters: after the root both halves are worth the same, and the left one was opened first.
    X = np.repeat(np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]]), 5, axis=0)
    y = np.repeat([0, 1, 2, 3], 5)
    for engine in ("auto", "reference"):
        tree = grow("axis_parallel", X, y, engine=engine, stopping=Stopping(max_leaf_nodes=3))
        assert not tree.is_leaf[tree.left[0]] and tree.is_leaf[tree.right[0]]


def test_the_parents_rate_and_missing_values_go_with_it():
    data = real_set("bupa")
    params = {"misrate_of": "parent", "epsilon": 0.1, "random_state": 0}
    whole = oblique_cli.HHGDTClassifier(**params).fit(data.X, data.y).tree_
    for most in (3, 6):
        model = oblique_cli.HHGDTClassifier(max_leaf_nodes=most, **params).fit(data.X, data.y)
        assert_same_tree(model.tree_, cut_slowly(whole, most))
    X = np.where(np.random.default_rng(0).uniform(size=data.X.shape) < 0.05, np.nan, data.X)
    learned = oblique_cli.HHGDTClassifier(missing="learn", epsilon=0, random_state=0)
    whole = clone(learned).fit(X, data.y).tree_
    fitted_model = clone(learned).set_params(max_leaf_nodes=7).fit(X, data.y).tree_
    assert_same_tree(fitted_model, cut_slowly(whole, 7))
    np.testing.assert_array_equal(fitted_model.missing_left, cut_slowly(whole, 7).missing_left)


def test_pruning_and_refining_keep_the_limit():
    data = real_set("glass")
    for parameters in ({"pruning": "cv"}, {"refine": "tao"}):
        model = oblique_cli.HHGDTClassifier(epsilon=0, max_leaf_nodes=4, random_state=0, **parameters)
        assert 1 < model.fit(data.X, data.y).n_leaves_ <= 4


def test_a_path_over_the_rate_is_refused():
    data = real_set("iris")
    model = oblique_cli.HHGDTClassifier(epsilon=0, max_leaf_nodes=4).fit(data.X, data.y)
    with pytest.raises(ConfigError, match="needs max_leaf_nodes None"):
        model.predict_path(data.X, [0.1])


@pytest.mark.parametrize("linear", [False, True])
def test_regression_trees_take_the_largest_fall_of_the_squared_error_first(linear):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=150)
    whole = grow_numbers(X, y, PROPOSERS["hhcart_a"](), Settings(8, None, linear))
    for most in (1, 2, 4, 7, 100):
        tree = grow_numbers(X, y, PROPOSERS["hhcart_a"](), Settings(8, None, linear, most))
        expected = cut_slowly(whole, most, whole.gains)
        assert tree.n_leaves == min(most, whole.n_leaves)
        np.testing.assert_array_equal(tree.coef_, expected.coef_)
        np.testing.assert_array_equal(tree.n_rows, expected.n_rows)
    model = oblique_cli.ObliqueTreeRegressor(max_leaf_nodes=5, pruning="none").fit(X, y)
    assert model.n_leaves_ == 5
