"""Probabilities of leaves: each rule by hand and against its definition, the choice of a strength, what trees keep."""

import itertools
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from contracts import grow, real_set
from oracles import random_tree
from tree_support import tree_of

from oblique_cli.tree.probabilities import RULES, STRENGTHS, best_strength, with_probabilities
from oblique_cli.tree.structure import Tree, TreeBuilder

SMOOTHING = [name for name, rule in RULES.items() if rule is not None]


def small():
    """Root 6 : 4, its left child 5 : 1, whose children are pure; the right child 1 : 3 is a leaf."""
    builder = TreeBuilder(1, 2)
    for counts in ([6, 4], [5, 1], [1, 3], [5, 0], [0, 1]):
        builder.add(np.array(counts, dtype=float), sum(counts))
    builder.split(0, np.array([1.0]), 0.0, 0.1, 1, 2)
    builder.split(1, np.array([1.0]), -1.0, 0.1, 3, 4)
    return builder.finish()


def test_every_rule_by_hand():
    tree = small()
    first = with_probabilities(tree, "laplace", 1.0).shares[:, 0]
    np.testing.assert_allclose(first, [7 / 12, 6 / 8, 2 / 6, 6 / 7, 1 / 3])
    first = with_probabilities(tree, "m_estimate", 2.0).shares[:, 0]  # 1.2 rows of the first class
    np.testing.assert_allclose(first, [0.6, 6.2 / 8, 2.2 / 6, 6.2 / 7, 1.2 / 3])
    first = with_probabilities(tree, "shrinkage", 2.0).shares[:, 0]
    child = 0.6 + (5 / 6 - 0.6) / (1 + 2 / 10)
    np.testing.assert_allclose(
        first,
        [0.6, child, 0.6 + (0.25 - 0.6) / 1.2, child + (1 - 5 / 6) / (1 + 2 / 6), child + (0 - 5 / 6) / (1 + 2 / 6)],
    )


def test_hierarchical_shrinkage_is_the_sum_of_changes_along_the_path():
    for seed in range(50):
        tree = random_tree(np.random.default_rng(seed), 12)
        result = with_probabilities(tree, "shrinkage", 3.0).shares
        shares = [[Fraction(int(c)) / int(row.sum()) for c in row] for row in tree.counts]
        for node in range(tree.n_nodes):
            path = [node]
            while path[0]:
                path.insert(0, int(tree.parents[path[0]]))
            expected = list(shares[0])
            for above, below in itertools.pairwise(path):
                n = Fraction(int(tree.counts[above].sum()))
                for k, change in enumerate(b - a for a, b in zip(shares[above], shares[below], strict=True)):
                    expected[k] += change / (1 + 3 / n)
            np.testing.assert_allclose(result[node], [float(e) for e in expected], atol=1e-14, err_msg=f"seed {seed}")


@pytest.mark.parametrize("rule", SMOOTHING)
def test_probabilities_are_between_0_and_1_and_add_up_to_1(rule):
    for seed in range(30):
        tree = random_tree(np.random.default_rng([1, seed]), 20)
        for strength in (0.0, 1e-12, 0.3, 7.0, 1e9):
            result = with_probabilities(tree, rule, strength).shares
            assert (result >= 0.0).all() and (result <= 1.0 + 1e-12).all()
            np.testing.assert_allclose(result.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("rule", SMOOTHING)
def test_strength_goes_from_the_counts_to_the_same_probabilities_at_every_node(rule):
    tree = grow("hhgdt", real_set("glass").X, real_set("glass").y)
    np.testing.assert_allclose(with_probabilities(tree, rule, 0.0).shares, tree.shares, atol=1e-15)
    far = with_probabilities(tree, rule, 1e12).shares
    limit = np.full(far.shape[1], 1 / far.shape[1]) if rule == "laplace" else tree.shares[0]
    np.testing.assert_allclose(far, np.tile(limit, (tree.n_nodes, 1)), atol=1e-8)


@pytest.mark.parametrize("rule", SMOOTHING)
def test_labels_are_those_of_the_counts_and_four_rows_are_a_row_of_weight_4(rule):
    tree = random_tree(np.random.default_rng(4), 15)
    result = with_probabilities(tree, rule, 50.0)
    np.testing.assert_array_equal(result.labels, tree.labels)
    heavy = Tree(tree.left, tree.right, tree.coef_, tree.thresholds, tree.counts * 4, tree.gains, tree.n_rows)
    np.testing.assert_allclose(with_probabilities(heavy, rule, 200.0).shares, result.shares, rtol=1e-14)


def test_laplace_keeps_the_most_frequent_class_the_most_probable_and_a_prior_may_not():
    tree = small()
    assert with_probabilities(tree, "laplace", 100.0).shares.argmax(axis=1).tolist() == tree.labels.tolist()
    assert tree.labels[4] == 1 and with_probabilities(tree, "m_estimate", 20.0).shares[4].argmax() == 0


@pytest.mark.parametrize("rule", SMOOTHING)
def test_a_leaf_that_no_row_reaches_has_the_probabilities_of_what_is_above(rule):
    builder = TreeBuilder(1, 2)
    for counts in ([6, 4], [6, 4], [0, 0]):
        builder.add(np.array(counts, dtype=float), sum(counts))
    builder.split(0, np.array([1.0]), 0.0, 0.1, 1, 2)
    result = with_probabilities(builder.finish(), rule, 1.0).shares
    np.testing.assert_allclose(result[2], [0.5, 0.5] if rule == "laplace" else [0.6, 0.4])
    assert np.isfinite(with_probabilities(builder.finish(), rule, 0.0).shares).all()


def test_the_strength_is_the_one_of_least_log_loss_on_rows_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    codes = (rng.uniform(size=300) < np.where(X[:, 0] > 0, 0.8, 0.3)).astype(np.int32)
    tree = grow("axis_parallel", X[:200], codes[:200], 2)
    weights = rng.uniform(0.5, 2.0, 100)
    for w in (None, weights):
        losses = []
        for strength in STRENGTHS:
            shares = with_probabilities(tree, "shrinkage", strength).shares
            pairs = zip(tree.apply(X[200:]), codes[200:], strict=True)
            each = [-np.log(max(shares[leaf, code], 2.0**-52)) for leaf, code in pairs]
            losses.append(np.dot(each, np.ones(100) if w is None else w))
        result = best_strength("shrinkage", [(tree, X[200:], codes[200:], w)])
        assert result == STRENGTHS[int(np.argmin(losses))] > 1.0
    pure = with_probabilities(tree, "counts", 1.0)
    assert pure is tree


def test_trees_keep_their_probabilities():
    tree = grow("hhgdt", real_set("bupa").X, real_set("bupa").y)
    smooth = with_probabilities(tree, "shrinkage", 5.0)
    assert "probabilities" not in tree.to_dict()
    for again in (tree_of(json.loads(json.dumps(smooth.to_dict()))), pickle.loads(pickle.dumps(smooth))):
        np.testing.assert_array_equal(again.shares, smooth.shares)
    top = smooth.collapse(smooth.depths >= 2)
    retained = {tuple(row): tuple(p) for row, p in zip(smooth.counts, smooth.shares, strict=True)}
    assert all(retained[tuple(row)] == tuple(p) for row, p in zip(top.counts, top.shares, strict=True))
    with pytest.raises(ValueError, match="read-only"):
        smooth.probabilities[0, 0] = 1.0
