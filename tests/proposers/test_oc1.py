"""Trees of OC1, OC1-LC and OC1-AP through the estimator and the table of algorithms."""

import numpy as np
import pytest
from contracts import CRITERION_NAMES, assert_same_tree, grow, real_set, rows_at_nodes

from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.tree.splitting import PROPOSERS, Node, best_split

CLIMBERS = ("oc1", "oc1_lc")
FAMILY = (*CLIMBERS, "oc1_ap")
QUICK = {"oc1": {"restarts": 3}, "oc1_lc": {}, "oc1_ap": {}}


@pytest.mark.parametrize("name", FAMILY)
def test_defaults_are_those_of_the_published_runs(name):
    defaults = ALGORITHMS[name].defaults
    assert defaults["criterion"] == "twoing" and defaults["max_misrate"] == 0.0
    assert defaults["min_parent"] == 1  # nodes of two rows may be split
    if name == "oc1":
        assert (defaults["restarts"], defaults["jumps"], defaults["order"]) == (20, 5, "sequential")
        assert defaults["search"] == "faithful"
    if name == "oc1_lc":
        assert defaults["backward_elimination"] is False
    assert ALGORITHMS[name].title == {"oc1": "OC1", "oc1_lc": "OC1-LC", "oc1_ap": "OC1-AP"}[name]


@pytest.mark.parametrize("name", CLIMBERS)
@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_no_split_is_worse_than_the_axis_parallel_one_of_its_node(name, criterion):
    for data in map(real_set, ("bupa", "glass", "wine")):
        tree = grow(name, data.X, data.y, criterion=criterion, proposer=QUICK[name])
        for node, rows in enumerate(rows_at_nodes(tree, data.X)):
            if tree.left[node] < 0:
                continue
            here = Node(data.X[rows], data.y[rows], None, len(data.classes), 0, criterion)
            straight = best_split(here, PROPOSERS["axis_parallel"]())
            assert straight is None or tree.gains[node] >= straight.gain
            oblique = np.count_nonzero(tree.coef_[node]) > 1
            assert not oblique or len(rows) > 2 * data.p


def test_oc1_ap_is_the_axis_parallel_tree_under_its_own_defaults():
    data = real_set("glass")
    a = make("oc1_ap").fit(data.X, data.y).tree_
    b = make("axis_parallel", criterion="twoing", min_parent=1).fit(data.X, data.y).tree_
    assert_same_tree(a, b)


# Class counts on both sides of the first splits of bupa, as the program OC1, version 3, printed them under three seeds;
# OC1 with one start and without random directions (studies/oc1_program.py).
PROGRAM = {
    "oc1": ["82 62|63 138", "27 52|55 10", "30 103|33 35", "13 45|14 7", "37 1|18 9", "17 90|13 13"],
    "oc1_lc": ["82 62|63 138", "26 51|56 11", "30 103|33 35", "12 44|14 7", "37 2|19 9", "18 96|12 7"],
    "oc1_ap": ["79 61|66 139", "19 41|60 20", "33 103|33 36", "8 36|11 5", "38 5|22 15", "7 54|26 49", "10 24|23 12"],
}


@pytest.mark.parametrize("name", FAMILY)
def test_the_first_splits_of_oc1_v3_divide_the_rows_as_the_program_does(name):
    data = real_set("bupa")
    few_draws = {"restarts": 1, "jumps": 0} if name == "oc1" else {}
    tree = grow(name, data.X, data.y, proposer={"variant": "oc1_v3", **few_draws}, criterion="twoing", seed=2)
    for turns, printed in zip(("", "l", "r", "ll", "lr", "rl", "rr"), PROGRAM[name], strict=False):
        node = 0
        for turn in turns:
            node = (tree.left if turn == "l" else tree.right)[node]
        sides = (tree.counts[side[node]].astype(int).tolist() for side in (tree.left, tree.right))
        assert "|".join(" ".join(map(str, counts)) for counts in sides) == printed, turns


def test_oc1_v3_draws_among_equal_cuts_and_sends_rows_on_a_plane_to_the_right():
    X, y = np.array([[0.0], [2.0], [4.0], [6.0]]).repeat(4, axis=0), np.array([0, 1, 0, 1]).repeat(4)
    thresholds = {float(np.round(make("oc1_ap", variant="oc1_v3", random_state=seed).fit(X, y).tree_.threshold[0]))
                  for seed in range(20)}  # fmt: skip
    assert thresholds == {1.0, 5.0}
    model = make("oc1_ap", variant="oc1_v3").fit(X[:8], y[:8])
    assert model.predict([[1.0], [0.9999]]).tolist() == [1, 0]


def test_oc1_lc_of_oc1_v3_climbs_at_the_root_whatever_its_rows():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 15)), rng.integers(0, 2, 30).astype(np.int32)
    v3 = PROPOSERS["oc1_lc"](variant="oc1_v3")
    splits = [best_split(Node(X, y, None, 2, 0, "twoing", seed=1, path=path), v3) for path in (1, 2)]
    assert [np.count_nonzero(split.coef) > 1 for split in splits] == [True, False]
