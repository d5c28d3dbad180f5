"""Bits of trees: codes against their definition, counts of divisions against enumeration, choices against all trees."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from contracts import grow, real_set
from oracles import leaves_below, pruned_subtrees, random_tree, reached

from oblique_cli.tree.description_length import class_bits, log2_divisions, split_bits
from oblique_cli.tree.pruning import DescriptionLength
from oblique_cli.tree.structure import TreeBuilder


def pruned(tree, tree_weight=1.0):
    return DescriptionLength(tree_weight=tree_weight).prune(tree, None)


def one_after_the_other(counts):
    """Bits of a sequence in which each row is sent with the probability that the rows before it give its class."""
    seen, probability = [0] * len(counts), Fraction(1)
    for k, count in enumerate(counts):
        for _ in range(count):
            probability *= Fraction(2 * seen[k] + 1, 2 * sum(seen) + len(counts))
            seen[k] += 1
    return -math.log2(probability)


@pytest.mark.parametrize("counts", [[0, 0], [1, 0], [3, 4], [10, 0], [5, 0, 2, 9], [1] * 26, [0] * 25 + [1]])
def test_class_bits_are_those_of_sending_row_by_row(counts):
    result = class_bits(np.array([counts], dtype=float))
    np.testing.assert_allclose(result, [one_after_the_other(counts)], rtol=1e-12, atol=1e-12)
    assert result[0] >= 0.0


def test_class_bits_are_a_code():
    # Kraft's equality: the probabilities of all sequences of 6 rows of 3 classes add up to 1.
    sequences = itertools.product(range(3), repeat=6)
    counts = np.array([np.bincount(sequence, minlength=3) for sequence in sequences], dtype=float)
    assert np.exp2(-class_bits(counts)).sum() == pytest.approx(1.0, abs=1e-12)


def divisions(points):
    """Every division of points of the plane by a line, as sets of the points on the side of the first."""
    results = set()
    for a, b in itertools.combinations(range(len(points)), 2):
        normal = np.array([points[b][1] - points[a][1], points[a][0] - points[b][0]])
        sides = (points - points[a]) @ normal
        # A line through two points can be turned and moved a little, so that they lie on any of its sides.
        for side_a, side_b in itertools.product((-1, 1), repeat=2):
            sides[a], sides[b] = side_a, side_b
            left = frozenset(np.flatnonzero((sides > 0) == (sides[0] > 0)).tolist())
            if len(left) < len(points):
                results.add(left)
    return results


@pytest.mark.parametrize("n", [3, 4, 5, 7, 9])
def test_lines_divide_points_of_the_plane_as_often_as_counted(n):
    points = np.random.default_rng(n).normal(size=(n, 2))
    assert 2 ** log2_divisions(n, 2) == pytest.approx(len(divisions(points)))


def test_an_axis_divides_n_rows_in_n_minus_1_ways_and_many_features_divide_them_in_every_way():
    assert log2_divisions(100, 1) == pytest.approx(math.log2(99))
    assert log2_divisions(5, 4) == log2_divisions(5, 40) == pytest.approx(math.log2(2**4 - 1))
    assert log2_divisions(2, 3) == log2_divisions(1, 1) == 0.0
    exact = sum(math.comb(999, i) for i in range(1, 31))
    assert log2_divisions(1000, 30) == pytest.approx(math.log2(exact), rel=1e-12)
    assert math.isfinite(log2_divisions(5000, 4000))
    bits = [log2_divisions(50, k) for k in range(1, 60)]
    assert all(a <= b for a, b in itertools.pairwise(bits))


def split_once(left, right, coef, levels=None, missing=False):
    builder = TreeBuilder(len(coef), len(left), levels, missing)
    for counts in (np.add(left, right), left, right):
        builder.add(np.array(counts, dtype=float), int(sum(counts)))
    builder.split(0, np.array(coef, dtype=float), 0.0, 0.1, 1, 2)
    return builder.finish()


def test_the_bits_of_a_split_by_hand():
    # Two of five features, one of 10 pairs, and 9 + 36 divisions of 10 rows.
    tree = split_once([5, 0], [0, 5], [0.6, 0.0, 0.8, 0.0, 0.0])
    np.testing.assert_allclose(split_bits(tree), [math.log2(5) + math.log2(10) + math.log2(45), 0, 0])
    # A feature of three levels has two coefficients; the side of missing values is a bit.
    tree = split_once([5, 0], [0, 5], [0.6, 0.8], levels=(3, 0), missing=True)
    np.testing.assert_allclose(split_bits(tree), [math.log2(2) + math.log2(9 + 36 + 84) + 1, 0, 0])
    assert split_bits(split_once([5, 0], [0, 5], [1.0]))[0] == pytest.approx(math.log2(9))


@pytest.mark.parametrize("weight", [0.0, 0.1, 1.0])
def test_the_pruned_tree_has_the_fewest_bits_of_all(weight):
    for seed in range(80):
        tree = random_tree(np.random.default_rng([1, seed]), int(np.random.default_rng(seed).integers(0, 8)))
        leaf, split = class_bits(tree.counts), split_bits(tree)
        costs = []
        for collapsed in pruned_subtrees(tree):
            leaves, internal = leaves_below(tree, 0, collapsed), reached(tree, collapsed)
            nodes = weight * (len(leaves) + len(internal) + sum(split[node] for node in internal))
            costs.append((nodes + sum(leaf[node] for node in leaves), len(leaves)))
        least = min(cost for cost, _ in costs)
        smallest = min(leaves for cost, leaves in costs if cost <= least + 1e-9)
        assert pruned(tree, weight).n_leaves == smallest, f"seed {seed}"


@pytest.mark.parametrize("data_name", ["glass", "bupa"])
def test_a_larger_weight_of_the_tree_gives_a_top_of_the_smaller_ones_tree(data_name):
    tree = grow("hhgdt", real_set(data_name).X, real_set(data_name).y)
    retained = None
    for weight in (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 100.0):
        grown = pruned(tree, weight)
        # Hyperplanes of a grown tree are different ones, so they name their nodes.
        splits = {(tuple(grown.coef_[node]), grown.thresholds[node]) for node in np.flatnonzero(~grown.is_leaf)}
        assert retained is None or splits <= retained
        retained = splits
    assert retained == set()
