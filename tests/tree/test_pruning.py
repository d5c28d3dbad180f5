"""Pruning (Breiman et al. 1984, Quinlan 1987, Cestnik & Bratko 1991) against exact arithmetic and all subtrees."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from contracts import REAL_SETS, grow, real_set
from oracles import internal_nodes, leaves_below, pruned_subtrees, random_tree, reached, walk, weakest_links
from sklearn.tree import DecisionTreeClassifier

from oblique_cli.tree import pruning
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import TreeBuilder


def random_trees(number, stream, least, most):
    """Seeds, their generators and trees of at least `least` and fewer than `most` splits."""
    for seed in range(number):
        rng = np.random.default_rng([stream, seed])
        yield seed, rng, random_tree(rng, int(rng.integers(least, most)))


def integer_errors(tree):
    return [int(e) for e in tree.errors]


def members(tree, path):
    """Internal nodes of every member of the sequence."""
    return [reached(tree, frozenset(np.flatnonzero(path.node_alpha <= a).tolist())) for a in path.alphas]


def assert_sequence_is_the_naive_one(tree):
    path = pruning.cost_complexity_path(tree)
    expected = weakest_links(tree, integer_errors(tree))
    assert path.alphas[0] == -np.inf
    np.testing.assert_allclose(path.alphas[1:], [float(alpha) for alpha, _ in expected[1:]], rtol=1e-9, atol=1e-13)
    assert members(tree, path) == [internal for _, internal in expected]
    assert path.n_leaves.tolist() == [len(internal) + 1 for _, internal in expected]
    return path


def test_the_sequence_of_random_trees_equals_exact_arithmetic():
    for seed in range(150):
        rng = np.random.default_rng(seed)
        try:
            assert_sequence_is_the_naive_one(random_tree(rng, int(rng.integers(0, 25)), int(rng.integers(2, 5))))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_the_sequence_of_trees_full_of_ties_equals_exact_arithmetic():
    # Leaves of one row each: complexities are quotients of small numbers, and many are equal.
    for seed in range(100):
        rng = np.random.default_rng([1, seed])
        n = int(rng.integers(4, 40))
        X, y = rng.permutation(n)[:, None], rng.integers(0, 2, n)
        tree = grow("axis_parallel", X, y, 2, stopping=Stopping(min_parent=1))
        path = assert_sequence_is_the_naive_one(tree)
        assert len(path.alphas) <= tree.n_leaves


def test_each_member_is_the_smallest_tree_of_least_cost_at_its_alpha():
    # Breiman et al. (1984), theorem 3.10: T(alpha) minimizes R(T) + alpha * leaves.
    for seed, _, tree in random_trees(60, 3, 1, 7):
        errors, n = integer_errors(tree), int(tree.counts[0].sum())
        for alpha, internal in weakest_links(tree, errors)[1:]:
            costs = {}
            for collapsed in pruned_subtrees(tree):
                leaves = leaves_below(tree, 0, collapsed)
                cost = Fraction(sum(errors[leaf] for leaf in leaves), n) + alpha * len(leaves)
                costs[reached(tree, collapsed)] = (cost, len(leaves))
            assert costs[internal] == min(costs.values()), f"seed {seed}"
            k = int(np.argmin(np.abs(pruning.cost_complexity_path(tree).alphas - float(alpha))))
            assert members(tree, pruning.cost_complexity_path(tree))[k] == internal


def sklearn_as_tree(model):
    t = model.tree_
    builder = TreeBuilder(t.n_features, model.n_classes_)
    for node in range(t.node_count):
        builder.add(np.rint(t.value[node, 0] * t.n_node_samples[node]), int(t.n_node_samples[node]))
    for node in np.flatnonzero(t.children_left >= 0):
        h = np.eye(t.n_features)[t.feature[node]]
        builder.split(int(node), h, t.threshold[node], 0.1, int(t.children_left[node]), int(t.children_right[node]))
    return builder.finish()


@pytest.mark.parametrize("data_name", REAL_SETS)
def test_the_sequence_of_a_scikit_learn_tree(data_name):
    data = real_set(data_name)
    model = DecisionTreeClassifier(random_state=0).fit(data.X, data.y)
    tree = sklearn_as_tree(model)
    assert_sequence_is_the_naive_one(tree)  # on the misclassification cost

    # On the cost that scikit-learn uses, the impurity, its own path has the same alphas.
    n = data.n
    impurity = (tree.n_rows - (tree.counts**2).sum(axis=1) / tree.n_rows) / n
    ours = np.asarray(tree.walker.weakest_links(impurity, 1e-12))
    theirs = model.cost_complexity_pruning_path(data.X, data.y).ccp_alphas[1:]
    internal = ~tree.is_leaf
    effective = ours.copy()
    for node in np.flatnonzero(internal):  # a node below one of smaller alpha goes with it
        for child in (tree.left[node], tree.right[node]):
            effective[child] = min(effective[child], effective[node])
    np.testing.assert_allclose(distinct(effective[internal]), distinct(theirs), rtol=1e-7, atol=1e-12)


def distinct(values):
    values = np.sort(values)
    return values[np.append(True, np.diff(values) > 1e-9)]


def naive_errors(tree, internal, X, y, weights):
    leaves = frozenset(set(range(tree.n_nodes)) - set(internal))
    stops = [walk(tree, x, leaves) for x in X]
    return sum(w for stop, label, w in zip(stops, y, weights, strict=True) if tree.labels[stop] != label)


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_of_all_members_are_those_of_walking_each(weighted):
    for seed, rng, tree in random_trees(40, 5, 0, 15):
        X, y = rng.normal(size=(25, 2)), rng.integers(0, 3, 25)
        weights = rng.uniform(0.5, 2.0, 25) if weighted else None
        path = pruning.cost_complexity_path(tree)
        result = pruning.sequence_errors(tree, path, path.alphas, X, y, weights)
        walked = [naive_errors(tree, m, X, y, np.ones(25) if weights is None else weights) for m in members(tree, path)]
        np.testing.assert_allclose(result, walked, rtol=1e-12, err_msg=f"seed {seed}")


@pytest.mark.parametrize("standard_errors", [0.0, 0.5, 1.0])
def test_the_smallest_member_within_c_standard_errors_of_the_best_is_kept(standard_errors):
    for seed, rng, tree in random_trees(60, 6, 1, 15):
        X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
        sequence = [internal for _, internal in weakest_links(tree, integer_errors(tree))]
        rates = [naive_errors(tree, internal, X, y, np.ones(30)) / 30 for internal in sequence]
        best = min(rates)
        limit = best + standard_errors * math.sqrt(best * (1 - best) / 30)
        retained = min(len(internal) for internal, rate in zip(sequence, rates, strict=True) if rate <= limit + 1e-12)
        rule = pruning.CostComplexity(standard_errors=standard_errors)
        pruned = rule.prune(tree, pruning.LabeledRows(X, y.astype(np.int32), None))
        assert pruned.n_leaves == retained + 1, f"seed {seed}"


def test_the_c_standard_error_rule_by_hand():
    errors = np.array([12.0, 10.0, 11.0, 13.0, 40.0])  # of 100: the best rate is 0.1, its standard error 0.03
    assert pruning.smallest_within(errors, 100.0, 0.0) == 1
    assert pruning.smallest_within(errors, 100.0, 0.3) == 1  # 10.9
    assert pruning.smallest_within(errors, 100.0, 0.4) == 2  # 11.2
    assert pruning.smallest_within(errors, 100.0, 1.0) == 3  # exactly 13
    assert pruning.smallest_within(np.array([10.0, 10.0, 10.0, 11.0]), 100.0, 0.0) == 2  # the smallest of equals
    assert pruning.smallest_within(np.array([0.0, 1.0]), 100.0, 5.0) == 0  # no error, no deviation


def test_without_rows_to_prune_on_the_tree_stays():
    tree = random_tree(np.random.default_rng(7), 5)
    nothing = pruning.LabeledRows(np.empty((0, 2)), np.empty(0, dtype=np.int32), None)
    assert pruning.CostComplexity().prune(tree, nothing) is tree


def test_a_fixed_alpha_takes_the_member_it_names():
    tree = grow("hhcart_d", real_set("glass").X, real_set("glass").y)
    path = pruning.cost_complexity_path(tree)
    for k in range(1, len(path.alphas)):
        assert pruning.fixed_alpha(tree, path.alphas[k]).n_leaves == path.n_leaves[k]
        assert pruning.fixed_alpha(tree, path.alphas[k] - 1e-9).n_leaves == path.n_leaves[k - 1]
    assert pruning.fixed_alpha(tree, 1.0).n_leaves == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_reduced_error_finds_the_smallest_of_the_most_accurate_subtrees(weighted):
    for seed, rng, tree in random_trees(60, 8, 0, 8):
        X, y = rng.normal(size=(20, 2)), rng.integers(0, 3, 20).astype(np.int32)
        weights = rng.integers(1, 4, 20).astype(float) if weighted else np.ones(20)
        best = min(
            (naive_errors(tree, reached(tree, collapsed), X, y, weights), len(leaves_below(tree, 0, collapsed)))
            for collapsed in pruned_subtrees(tree)
        )
        pruned = pruning.ReducedError().prune(tree, pruning.LabeledRows(X, y, weights if weighted else None))
        wrong = weights[pruned.labels[pruned.apply(X)] != y].sum()
        assert (wrong, pruned.n_leaves) == best, f"seed {seed}"


def test_critical_values_leave_branches_with_a_split_of_higher_score():
    for seed, rng, tree in random_trees(60, 11, 0, 20):
        scores = np.where(tree.is_leaf, -np.inf, rng.integers(1, 9, tree.n_nodes))
        tree = replace(tree, coef=tree.coef_, gains=np.where(tree.is_leaf, 0.0, scores))

        def highest(node, tree=tree, scores=scores):
            below = () if tree.is_leaf[node] else (tree.left[node], tree.right[node])
            return max(scores[node], *map(highest, below), -np.inf)

        path = pruning.critical_value_path(tree)
        of_branches = {node: highest(node) for node in internal_nodes(tree)}
        assert path.alphas.tolist() == [-np.inf, *sorted(set(of_branches.values()))], f"seed {seed}"
        remaining = [{node for node, score in of_branches.items() if score > alpha} for alpha in path.alphas]
        assert [set(internal) for internal in members(tree, path)] == remaining, f"seed {seed}"
        X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40).astype(np.int32)
        best = min((naive_errors(tree, internal, X, y, np.ones(40)), len(internal) + 1) for internal in remaining)
        pruned = pruning.CriticalValue().prune(tree, pruning.LabeledRows(X, y, None))
        assert ((pruned.labels[pruned.apply(X)] != y).sum(), pruned.n_leaves) == best, f"seed {seed}"


def test_pessimistic_pruning_asks_every_node_of_the_grown_tree_from_the_root_down():
    for seed, _, tree in random_trees(100, 9, 0, 20):
        collapsed = set()
        for node in internal_nodes(tree):
            leaves = leaves_below(tree, node)
            n = tree.counts[node].sum()
            corrected = sum(tree.errors[leaf] for leaf in leaves) + len(leaves) / 2
            deviation = math.sqrt(corrected * max(n - corrected, 0.0) / n)
            if tree.errors[node] + 0.5 <= corrected + deviation:
                collapsed.add(node)
        n_nodes = pruning.Pessimistic().prune(tree, None).n_nodes
        assert n_nodes == 2 * len(reached(tree, frozenset(collapsed))) + 1, f"seed {seed}"


@pytest.mark.parametrize("m", [0, 1, 2, 16])
def test_minimum_error_finds_the_least_expected_error_of_all_subtrees(m):
    for seed, _, tree in random_trees(60, 10, 0, 8):
        counts = [[Fraction(int(count)) for count in row] for row in tree.counts]
        prior = [count / sum(counts[0]) for count in counts[0]]

        def expected(node, counts=counts, prior=prior, tree=tree):
            k, n = int(tree.labels[node]), sum(counts[node])
            return n * (1 - (counts[node][k] + m * prior[k]) / (n + m))

        best = min(
            (sum(expected(leaf) for leaf in leaves), len(leaves))
            for leaves in (leaves_below(tree, 0, collapsed) for collapsed in pruned_subtrees(tree))
        )
        assert pruning.MinimumError(prior_weight=m).prune(tree, None).n_leaves == best[1], f"seed {seed}"


def test_without_pruning_of_the_root_the_other_links_are_cut_in_their_order_until_two_leaves_remain():
    for seed, _, tree in random_trees(40, 17, 1, 12):
        path = pruning.CostComplexity(prune_root=False).sequence(tree)
        expected = weakest_links(tree, [10**9, *integer_errors(tree)[1:]])[:-1]
        assert members(tree, path) == [internal for _, internal in expected], f"seed {seed}"
        assert path.n_leaves[-1] == 2
    leaf = tree.collapse(np.arange(tree.n_nodes) == 0)
    rows = pruning.LabeledRows(np.zeros((3, tree.coef_.shape[1])), np.zeros(3, dtype=np.int32), None)
    assert pruning.CostComplexity(prune_root=False).prune(leaf, rows).n_leaves == 1
