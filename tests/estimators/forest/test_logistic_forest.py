"""Bags of logistic model trees: what they average, and what the rows that trees did not draw choose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from oblique_cli.estimators.forest.bagged import proposers_of
from oblique_cli.estimators.forest.logistic_forest import LogisticForestClassifier
from oblique_cli.estimators.oblique.logistic import ridge_paths
from oblique_cli.ground import seeds
from oblique_cli.tree.logistic_forests import (
    COMPLEXITIES,
    Rows,
    choose_forest,
    finished,
    shares_when_cut,
    trees_that_choose,
)
from oblique_cli.tree.logistic_trees import How, NodeModels

X, Y = load_iris(return_X_y=True)
ODD = slice(1, None, 2)
EVEN = slice(None, None, 2)


@pytest.fixture(scope="module")
def forest():
    return LogisticForestClassifier(n_estimators=6, random_state=3).fit(X[EVEN], Y[EVEN])


def members(rows: Rows, n_trees: int, **params):
    """The trees as grown of a forest, and the forest, which has what `fit` would give it."""
    model = LogisticForestClassifier(n_estimators=n_trees, **params)
    each_row = np.arange(len(rows.X))
    return [model._grown(rows, each_row, proposers_of(model.base), 7, i) for i in range(n_trees)], model


def noisy(n: int, p: int, n_classes: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p))
    codes = ((Z[:, 0] + rng.normal(size=n) > 0) + (n_classes > 2) * (Z[:, 1] > 0.5)).astype(np.int32)
    return Rows(Z, codes, n_classes, None)


def in_turn(function, number):
    return [function(i) for i in range(number)]


def test_probabilities_are_means_over_the_trees_and_sizes_are_sums(forest):
    predictions = forest.predict_proba(X[ODD])
    np.testing.assert_allclose(predictions, np.mean([tree.predicted_shares(X[ODD]) for tree in forest.trees()], axis=0))
    np.testing.assert_allclose(predictions.sum(axis=1), 1.0)
    np.testing.assert_array_equal(forest.predict(X[ODD]), predictions.argmax(axis=1))
    assert forest.score(X[ODD], Y[ODD]) > 0.9
    trees = forest.trees()
    assert len(trees) == 6 and forest.n_leaves_ == sum(tree.n_leaves for tree in trees)
    assert forest.n_nodes_ == 2 * forest.n_leaves_ - 6 and forest.depth_ == max(tree.depth for tree in trees)
    ends = forest.apply(X[ODD])
    assert ends.shape == (75, 6)
    assert all(tree.is_leaf[ends[:, k]].all() for k, tree in enumerate(trees))


def test_a_tree_that_is_cut_says_what_its_member_says():
    """The oracle goes down node by node and stops where a node has collapsed."""
    rows = noisy(160, 3, 3)
    for member in members(rows, 3, min_parent=4)[0]:
        of_tree = rows.of(member)
        models = NodeModels(member.tree, of_tree, How(1.0))
        result = shares_when_cut(models, rows.X, COMPLEXITIES)
        columns = of_tree.columns("linear", rows.X)
        for k, complexity in enumerate(COMPLEXITIES):
            cut = models.path.node_alpha <= complexity
            for i, x in enumerate(rows.X[:40]):
                node = 0
                while not member.tree.is_leaf[node] and not cut[node]:
                    below = x @ member.tree.coef_[node] <= member.tree.thresholds[node]
                    node = int((member.tree.left if below else member.tree.right)[node])
                scores = models.models[node] @ np.append(columns[i], 1.0)
                powers = np.exp(scores - scores.max())
                np.testing.assert_allclose(result[k, i], powers / powers.sum(), atol=1e-12)


def test_the_choice_is_of_least_loss_on_rows_left_out_by_trees_that_are_enough():
    rows = noisy(150, 2, 2, seed=1)
    grown, model = members(rows, 12)
    choice = choose_forest(grown, rows, ridge_paths(model.leaf_penalty, model.squares), COMPLEXITIES, 0.5, in_turn)
    assert choice.loss == min(losses.min() for losses in choice.tried.values())
    # The finished trees say of the rows that they did not draw what the choice was made by.
    sums, times = np.zeros((150, 2)), np.zeros(150)
    for member in grown:
        sums[member.left_out] += finished(member, rows, choice).predicted_shares(rows.X[member.left_out])
        times[member.left_out] += 1
    known = times > 0
    shares, codes = sums[known] / times[known, None], rows.codes[known]
    loss = np.mean(shares.argmax(axis=1) != codes) - 0.5 * np.mean(np.log(shares[np.arange(len(codes)), codes]))
    assert loss == pytest.approx(choice.loss, abs=0.01)
    assert [trees_that_choose(n, 50) for n in (1, 400, 1000, 10**6)] == [50, 50, 20, 10]
    assert trees_that_choose(10**6, 4) == 4


def test_what_is_given_is_not_chosen():
    model = LogisticForestClassifier(
        n_estimators=3, leaf_penalty=2.5, complexity=0.0, squares=False, base="axis_parallel", random_state=0
    ).fit(X, Y)
    assert model.choice_.how == How(2.5) and model.choice_.complexity == 0.0 and len(model.choice_.tried) == 1
    assert all((np.count_nonzero(tree.coef_[~tree.is_leaf], axis=1) == 1).all() for tree in model.trees())
    assert all(tree.leaf_models.curve is None for tree in model.trees())
    alone = LogisticForestClassifier(n_estimators=3, complexity=1e9, random_state=0).fit(X, Y)
    assert alone.n_leaves_ == 3 and alone.depth_ == 0


def test_a_longer_forest_begins_with_the_same_draws():
    rows = noisy(30, 2, 2)
    short, long = (members(rows, n)[0] for n in (2, 4))
    for first, other in zip(short, long, strict=False):
        np.testing.assert_array_equal(first.drawn, other.drawn)
        np.testing.assert_array_equal(first.tree.coef_, other.tree.coef_)
    times = np.bincount(seeds.generator(7, "rows", 0).integers(30, size=30), minlength=30)
    np.testing.assert_array_equal(short[0].drawn, np.flatnonzero(times))


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_small_and_singular_tables_give_finite_probabilities(data):
    n, p = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 15))  # p > n among them
    cells = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 1e9]), min_size=n * p, max_size=n * p))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    table = np.array(cells).reshape(n, p)
    model = LogisticForestClassifier(n_estimators=2, min_parent=2, random_state=0).fit(table, labels)
    shares = model.predict_proba(table)
    assert np.isfinite(shares).all() and shares.shape == (n, len(set(labels)))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
