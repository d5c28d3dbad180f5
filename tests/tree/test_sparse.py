"""Fewer terms: first at no cost to any training row, then at a stated one."""

from __future__ import annotations

import numpy as np
import pytest

from oblique_cli import data, make
from oblique_cli.tree.sparse import decrease, scored, simplified, sparsified


def fitted(name="bupa", algorithm="hhcart_a", **params):
    dataset = data.load(name)
    return dataset, make(algorithm, random_state=0, **params).fit(dataset.X, dataset.y).tree_


@pytest.mark.parametrize("name", ["bupa", "iris"])
@pytest.mark.parametrize("algorithm", ["hhcart_a", "hhgdt", "gdt"])
def test_without_a_loss_every_training_row_keeps_its_leaf(name, algorithm):
    dataset, tree = fitted(name, algorithm)
    found = sparsified(tree, dataset.X, dataset.y)
    assert found.terms_after < found.terms_before == np.count_nonzero(tree.coef_)
    assert found.terms_after == np.count_nonzero(found.tree.coef_)
    np.testing.assert_array_equal(found.tree.n_rows, tree.n_rows)
    np.testing.assert_array_equal(found.tree.apply(dataset.X), tree.apply(dataset.X))


def test_a_term_that_decides_nothing_goes_and_one_that_decides_stays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(np.int32)
    tree = make("hhcart_a", random_state=0, max_depth=1).fit(X, y).tree_
    found = simplified(tree, X, y, 0.05).tree
    assert found.coef_[0, 2] == 0.0 and (found.coef_[0, :2] != 0.0).all()
    assert np.linalg.norm(found.coef_[0]) == pytest.approx(1.0)


@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.05])
def test_a_simplified_tree_is_as_right_as_was_asked_and_its_counts_are_true(tolerance):
    dataset, tree = fitted()
    found = simplified(tree, dataset.X, dataset.y, tolerance).tree
    right = [int((one.labels[one.apply(dataset.X)] == dataset.y).sum()) for one in (tree, found)]
    assert right[1] >= right[0] - tolerance * dataset.n
    leaves = found.apply(dataset.X)
    for leaf in np.flatnonzero(found.is_leaf):
        np.testing.assert_array_equal(np.bincount(dataset.y[leaves == leaf], minlength=2), found.counts[leaf])


def test_more_tolerance_never_leaves_more_terms():
    dataset, tree = fitted()
    terms = [simplified(tree, dataset.X, dataset.y, t).terms_after for t in (0.0, 0.01, 0.03, 0.1)]
    assert terms == sorted(terms, reverse=True) and terms[-1] < terms[0]


def test_rows_with_missing_values_keep_their_side():
    dataset = data.load("bupa")
    X = dataset.X.copy()
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.05] = np.nan
    model = make("hhcart_a", random_state=0, missing="learn", max_depth=3).fit(X, dataset.y)
    found = sparsified(model.tree_, X, dataset.y).tree
    np.testing.assert_array_equal(found.apply(X), model.tree_.apply(X))


def test_a_node_of_one_term_and_a_leaf_stay_as_they_are():
    dataset, tree = fitted(algorithm="axis_parallel", max_depth=2)
    found = sparsified(tree, dataset.X, dataset.y, 0.5)
    assert found.terms_before == found.terms_after
    np.testing.assert_array_equal(found.tree.thresholds, tree.thresholds)


def test_the_decrease_is_that_of_gini():
    y, weights = np.array([0, 0, 1, 1]), np.ones(4)
    assert decrease(np.array([True, True, False, False]), y, weights, 2) == pytest.approx(2.0)
    assert decrease(np.ones(4, dtype=bool), y, weights, 2) == 0.0


def test_levels_are_scored_as_the_tree_scores_them():
    X = np.column_stack([np.arange(40) % 4, np.linspace(0, 1, 40)]).astype(float)
    y = (np.arange(40) % 4 < 2).astype(int)
    model = make("hhcart_a", random_state=0).set_params(qualitative=[0]).fit(X, y)
    tree, rows = model.tree_, model.tree_rows(X)
    sums = scored(tree, 0, rows) @ tree.coef_[0]
    left = sums <= tree.thresholds[0]
    assert int(left.sum()) == int(tree.n_rows[tree.left[0]])
    np.testing.assert_array_equal(sparsified(tree, rows, y).tree.apply(rows), tree.apply(rows))
