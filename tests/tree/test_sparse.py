"""Fewer terms: first at no cost to any training row, then at a stated one."""

import json

import numpy as np
import pytest

from oblique_cli import data, make
from oblique_cli.errors import DataError
from oblique_cli.tree.sparse import Light, decrease, scored, simplified, sparsified


def fitted(name="bupa", algorithm="hhcart_a", **params):
    dataset = data.load(name)
    return dataset, make(algorithm, random_state=0, **params).fit(dataset.X, dataset.y).tree_


@pytest.mark.parametrize("name", ["bupa", "iris"])
@pytest.mark.parametrize("algorithm", ["hhcart_a", "hhgdt", "gdt"])
def test_without_a_loss_every_training_row_keeps_its_leaf(name, algorithm):
    dataset, tree = fitted(name, algorithm)
    result = sparsified(tree, dataset.X, dataset.y)
    assert result.terms_after < result.terms_before == np.count_nonzero(tree.coef_)
    assert result.terms_after == np.count_nonzero(result.tree.coef_)
    np.testing.assert_array_equal(result.tree.n_rows, tree.n_rows)
    np.testing.assert_array_equal(result.tree.apply(dataset.X), tree.apply(dataset.X))


def test_a_term_that_decides_nothing_goes_and_one_that_decides_stays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(np.int32)
    tree = make("hhcart_a", random_state=0, max_depth=1).fit(X, y).tree_
    result = simplified(tree, X, y, 0.05).tree
    assert result.coef_[0, 2] == 0.0 and (result.coef_[0, :2] != 0.0).all()
    assert np.linalg.norm(result.coef_[0]) == pytest.approx(1.0)


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_a_simplified_tree_is_as_right_as_was_asked_and_its_counts_are_true(tolerance):
    dataset, tree = fitted()
    result = simplified(tree, dataset.X, dataset.y, tolerance).tree
    right = [int((item.labels[item.apply(dataset.X)] == dataset.y).sum()) for item in (tree, result)]
    assert right[1] >= right[0] - tolerance * dataset.n
    leaves = result.apply(dataset.X)
    for leaf in np.flatnonzero(result.is_leaf):
        np.testing.assert_array_equal(np.bincount(dataset.y[leaves == leaf], minlength=2), result.counts[leaf])


def test_a_node_of_one_term_and_a_leaf_stay_as_they_are():
    dataset, tree = fitted(algorithm="axis_parallel", max_depth=2)
    result = sparsified(tree, dataset.X, dataset.y, 0.5)
    assert result.terms_before == result.terms_after
    np.testing.assert_array_equal(result.tree.thresholds, tree.thresholds)


def test_the_decrease_is_that_of_gini():
    y, weights = np.array([0, 0, 1, 1]), np.ones(4)
    assert decrease(np.array([True, True, False, False]), y, weights, 2) == pytest.approx(2.0)
    assert decrease(np.ones(4, dtype=bool), y, weights, 2) == 0.0


def gaps():
    """Rows with missing values, their classes and a tree that takes them."""
    dataset = data.load("bupa")
    X = dataset.X.copy()
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.05] = np.nan
    return X, dataset.y, make("hhcart_a", random_state=0, missing="learn", max_depth=3).fit(X, dataset.y).tree_


def with_levels(X, y):
    """Rows whose first column is qualitative, their classes and a tree that scores its levels."""
    model = make("hhcart_a", random_state=0).set_params(qualitative=[0]).fit(X, y)
    return model.tree_rows(X), y, model.tree_


def levels_and_numbers():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 4, 200), rng.normal(size=(200, 3))]).astype(float)
    return with_levels(X, ((X[:, 0] >= 2) + X[:, 1] > 0.7).astype(int))


def levels_that_tell_the_class():
    level = np.arange(40.0) % 4
    return with_levels(np.column_stack([level, np.linspace(0, 1, 40)]), (level < 2).astype(int))


@pytest.mark.parametrize("case", [gaps, levels_and_numbers, levels_that_tell_the_class])
def test_rows_with_gaps_and_scored_levels_keep_their_sides(case):
    X, y, tree = case()
    if tree.missing_left is None:
        left = scored(tree, 0, X) @ tree.coef_[0] <= tree.thresholds[0]
        assert int(left.sum()) == int(tree.n_rows[tree.left[0]])
    for lighter in (sparsified(tree, X, y).tree, Light.of(tree, X).tree(tree)):
        np.testing.assert_array_equal(lighter.apply(X), tree.apply(X))


def with_pairs(n=300, seed=0):
    """Rows of two numbers and the indicators of a column of two levels and of one of three."""
    rng = np.random.default_rng(seed)
    two, three = rng.integers(0, 2, n), rng.integers(0, 3, n)
    X = np.column_stack([rng.normal(size=(n, 2)), np.eye(2)[two], np.eye(3)[three]])
    y = (X[:, 0] + 0.8 * two + 0.5 * (three == 1) > 0.6).astype(np.int32)
    return X, y


@pytest.mark.parametrize(("name", "algorithm"), [("bupa", "hhcart_a"), ("iris", "hhgdt"), ("bupa", "gdt")])
def test_no_row_changes_its_side_of_any_split_and_the_nodes_stay(name, algorithm):
    dataset, tree = fitted(name, algorithm)
    result = Light.of(tree, dataset.X).tree(tree)
    np.testing.assert_array_equal(result.apply(dataset.X), tree.apply(dataset.X))
    np.testing.assert_array_equal(result.left, tree.left)
    assert np.count_nonzero(result.coef_) < np.count_nonzero(tree.coef_)
    # No term that is left could go as well: not with any threshold.
    arrived = tree.apply(dataset.X)
    for node in np.flatnonzero(~tree.is_leaf):
        rows = np.flatnonzero(below(tree, node)[arrived])
        left = below(tree, tree.left[node])[arrived[rows]]
        used = np.flatnonzero(result.coef_[node])
        for j in used if len(used) > 1 else ():
            sums = dataset.X[rows] @ np.where(np.arange(dataset.p) == j, 0.0, result.coef_[node])
            assert not sums[left].max() < sums[~left].min() - 1e-9 * np.ptp(sums)


def below(tree, node):
    """Whether each node is `node` or below it."""
    values = np.arange(tree.n_nodes) == node
    for index in range(tree.n_nodes):
        if not tree.is_leaf[index] and values[index]:
            values[[tree.left[index], tree.right[index]]] = True
    return values


def test_the_indicators_of_two_levels_become_one_term():
    X, y = with_pairs()
    tree = make("hhcart_a", random_state=0, max_depth=3).fit(X, y).tree_
    light = Light.of(tree, X, pairs=[(2, 3)])
    result = light.tree(tree)
    assert not result.coef_[:, 2].any() and result.coef_[:, 3].any()
    np.testing.assert_array_equal(result.apply(X), tree.apply(X))


def test_a_light_tree_comes_back_from_plain_data_to_the_bit():
    X, y = with_pairs()
    tree = make("hhcart_a", random_state=0).fit(X, y).tree_
    light = Light.of(tree, X, pairs=[(2, 3)])
    again = Light.from_plain(json.loads(json.dumps(light.to_plain())), tree)
    np.testing.assert_array_equal(again.tree(tree).coef_, light.tree(tree).coef_)
    np.testing.assert_array_equal(again.tree(tree).thresholds, light.tree(tree).thresholds)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        {"pairs": [], "cuts": [[0]]},
        {"pairs": [], "cuts": [[0, "wide", [1]]]},
        {"pairs": [], "cuts": [[999, 0.0, [1]]]},
        {"pairs": [], "cuts": [[0, 0.0, [77]]]},
        {"pairs": [], "cuts": [[0, float("nan"), [1]]]},
        {"pairs": [[0, 99]], "cuts": []},
        {"pairs": [[1, 1]], "cuts": []},
    ],
)
def test_plain_data_that_do_not_fit_the_tree_are_refused_in_a_sentence(bad):
    _, tree = fitted("iris")
    with pytest.raises(DataError, match=r"^what the model leaves out of its splits \(facts.sparse\) does not fit"):
        Light.from_plain(bad, tree)


def test_a_split_that_no_row_or_one_side_alone_reaches_stays_as_it_is():
    dataset, tree = fitted("iris")
    result = Light.of(tree, dataset.X[dataset.y == 0]).tree(tree)
    np.testing.assert_array_equal(result.coef_, tree.coef_)
    np.testing.assert_array_equal(result.thresholds, tree.thresholds)
