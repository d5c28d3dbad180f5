"""Binary trees of any kind: depths and nested rules, however deep the tree."""

import pickle

import numpy as np

from oblique_cli.ground.nodes import BLANK, Indicator, depths_of, nested_rules, pairs_of


def test_depths_count_edges_and_rules_name_left_before_right_however_deep_the_tree():
    left, right = np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1])
    np.testing.assert_array_equal(depths_of(left, right), [0, 1, 1, 2, 2])
    np.testing.assert_array_equal(depths_of([-1], [-1]), [0])
    text = nested_rules([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], lambda node: f"c{node}", lambda node: f"leaf {node}")
    assert text == "if c0:\n    leaf 1\nelse:\n    if c2:\n        leaf 3\n    else:\n        leaf 4\n"
    assert nested_rules([-1], [-1], str, lambda node: "all") == "all\n"
    n = 1500  # a chain: every right child but the last is split again
    left = [i + 1 if i % 2 == 0 and i < 2 * n else -1 for i in range(2 * n + 1)]
    right = [i + 2 if i % 2 == 0 and i < 2 * n else -1 for i in range(2 * n + 1)]
    assert depths_of(left, right).max() == n
    assert nested_rules(left, right, str, str).count("\n") == 3 * n + 1


def test_an_indicator_is_the_name_of_a_column_and_a_level_and_two_levels_are_a_pair():
    name = Indicator("island", "Dream")
    assert name == "island=Dream" and (name.column, name.level) == ("island", "Dream")
    assert name.holds(False).replace(BLANK, " ") == "island is not Dream"
    assert Indicator("island", "").holds() == f"island{BLANK}is{BLANK}missing"
    for copy in (copied := pickle.loads(pickle.dumps(name)), name.each(str.upper)):
        assert isinstance(copy, Indicator)
    assert copied == name and copied.level == "Dream" and name.each(str.upper) == "ISLAND=DREAM"
    names = ["x", Indicator("sex", "f"), Indicator("sex", "m"), *(Indicator("island", k) for k in "abc"), "sex=f"]
    assert pairs_of(names) == [(1, 2)]
