"""When a node is not split: by hand, and as every grown tree shows."""

import numpy as np
import pytest
from contracts import PROPOSER_NAMES, REAL_SETS, grow, real_set
from covering import few

from oblique_cli.tree.stopping import Stopping


def stops(weights, depth=0, **rules):
    return Stopping(**rules).is_leaf(np.array(weights, dtype=float), depth)


def test_a_node_is_split_only_if_it_weighs_more_than_min_parent():
    assert stops([1, 1]) and not stops([2, 1])  # min_parent is 2 in the thesis: more than 2
    assert not stops([1, 1], min_parent=1)
    assert stops([2, 3], min_parent=5) and not stops([3, 3], min_parent=5)


def test_a_node_is_split_only_if_its_misclassification_rate_is_above_epsilon():
    assert stops([5, 0]) and not stops([5, 1])
    assert stops([7, 3], epsilon=0.3) and not stops([6, 4], epsilon=0.3)
    assert stops([4, 3, 3], epsilon=0.6)


def test_a_node_at_max_depth_is_not_split():
    assert stops([5, 5], depth=3, max_depth=3) and not stops([5, 5], depth=2, max_depth=3)
    assert stops([5, 5], depth=0, max_depth=0) and not stops([5, 5], depth=10**6)


@few(
    name=PROPOSER_NAMES,
    engine=["native", "reference"],
    rules=[{}, {"max_depth": 0}, {"min_parent": 10}, {"epsilon": 0.2, "max_depth": 3}],
)
def test_grown_trees_obey_the_rules_at_every_node(name, engine, rules):
    stopping = Stopping(**rules)
    data = real_set("glass")
    tree = grow(name, data.X, data.y, stopping=stopping, engine=engine)
    assert tree.depth <= (stopping.max_depth if stopping.max_depth is not None else tree.n_nodes)
    internal = ~tree.is_leaf
    assert (tree.n_rows[internal] > stopping.min_parent).all()
    assert (tree.misclassification_rates[internal] > stopping.epsilon).all()
    for node in np.flatnonzero(tree.is_leaf):
        # HHCART's and the axes' splits always help with gini, so only the rules make leaves; or the rows are equal.
        if name in ("axis_parallel", "hhcart_a", "hhcart_d"):
            rows = data.X[tree.apply(data.X) == node]
            assert stopping.is_leaf(tree.counts[node], int(tree.depths[node])) or (rows == rows[0]).all()


@few(1, name=PROPOSER_NAMES, min_leaf=[3.0, 12.0], engine=["native", "reference"], set_name=REAL_SETS)
def test_no_child_is_smaller_than_min_leaf(name, min_leaf, engine, set_name):
    data = real_set(set_name)
    tree = grow(name, data.X, data.y, min_leaf=min_leaf, engine=engine)
    assert tree.n_rows.min() >= min_leaf
    assert tree.n_leaves > 1 or name in ("gdt", "hhgdt")


@pytest.mark.parametrize("name", PROPOSER_NAMES)
def test_a_tree_of_less_depth_is_the_top_of_the_deeper_one(name):
    data = real_set("bupa")
    deep = grow(name, data.X, data.y)
    for depth in (0, 1, 2, 4):
        shallow = grow(name, data.X, data.y, stopping=Stopping(max_depth=depth))
        assert shallow.to_dict() == deep.collapse(deep.depths >= depth).to_dict()


@pytest.mark.parametrize("name", PROPOSER_NAMES)
def test_with_weights_min_parent_and_min_leaf_count_in_the_smallest_weight(name):
    data = real_set("iris")
    weights = np.full(data.n, 0.25)
    weights[::2] = 0.5
    tree = grow(name, data.X, data.y, weights=weights, stopping=Stopping(min_parent=20), min_leaf=6.0)
    assert (tree.counts[~tree.is_leaf].sum(axis=1) > 20).all()
    assert tree.counts.sum(axis=1).min() >= 6.0
    assert tree.counts[0].sum() == pytest.approx(1.5 * data.n)  # a weight of 0.25 is 1
