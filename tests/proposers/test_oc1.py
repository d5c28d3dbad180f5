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
