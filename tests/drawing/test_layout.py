"""Tidy trees: what the paper promises of every layout, on many random trees."""

import itertools

import numpy as np
import pytest

from oblique_cli.drawing.layout import tidy


def random_tree(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    children = [[] for _ in range(n)]
    parent = [-1] * n
    for node in range(1, n):
        parent[node] = int(rng.integers(max(0, node - 6), node))
        children[parent[node]].append(node)
    return children, parent, rng.integers(1, 10, n).astype(float)


def levels(children):
    """Nodes of every level, from the left."""
    level, result = [0], []
    while level:
        result.append(level)
        level = [child for node in level for child in children[node]]
    return result


@pytest.mark.parametrize("seeds", [range(k, k + 100) for k in range(0, 600, 100)], ids=str)
def test_nodes_keep_their_distance_and_order_and_parents_stand_midway(seeds):
    for seed in seeds:
        children, parent, sizes = random_tree(seed)
        x = tidy(children, sizes, 1.0, 2.0)
        assert (x - sizes / 2).min() == pytest.approx(0.0)
        for level in levels(children):
            for a, b in itertools.pairwise(level):
                gap = (x[b] - sizes[b] / 2) - (x[a] + sizes[a] / 2)
                assert gap >= (1.0 if parent[a] == parent[b] else 2.0) - 1e-9, seed
        for node, below in enumerate(children):
            if below:
                assert x[node] == pytest.approx((x[below[0]] + x[below[-1]]) / 2)


@pytest.mark.parametrize("seed", range(50))
def test_a_mirrored_tree_is_the_mirror_image(seed):
    children, _, sizes = random_tree(seed)
    x = tidy(children, sizes, 1.0, 2.0)
    mirrored = tidy([below[::-1] for below in children], sizes, 1.0, 2.0)
    np.testing.assert_allclose((x + sizes / 2).max() - mirrored, x)


def test_a_chain_and_a_single_node():
    assert tidy([[]], [4.0], 1.0, 1.0).tolist() == [2.0]
    n = 3000
    assert set(tidy([[i + 1] for i in range(n - 1)] + [[]], [2.0] * n, 1.0, 1.0).tolist()) == {1.0}


def test_equal_subtrees_look_equal_wherever_they_are():
    # Two complete trees below the root.
    children = [[1, 2], [3, 4], [5, 6], [], [], [], []]
    x = tidy(children, [2.0] * 7, 1.0, 1.5)
    assert x[4] - x[3] == x[6] - x[5] == 3.0 and x[5] - x[4] == 3.5
