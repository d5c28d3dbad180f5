"""Trees of OC1, OC1-LC and OC1-AP through the estimator and the table of algorithms."""

import numpy as np
import pytest
from contracts import CRITERION_NAMES, GROWTH_OPTIONS, assert_same_tree, grow, real_set, rows_at_nodes

import oblique_cli._core as _core
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.proposers.oc1 import OC1
from oblique_cli.tree.splitting import PROPOSERS, Node, best_split

CLIMBERS = ("oc1", "oc1_lc")
FAMILY = (*CLIMBERS, "oc1_ap")
QUICK = {"oc1": {"restarts": 3}, "oc1_lc": {}, "oc1_ap": {}}
OPTIONS = [
    ("oc1", {"restarts": 3, "search": "exact"}),
    ("oc1", {"restarts": 3, "order": "best"}),
    ("oc1", {"restarts": 2, "order": "r50"}),
    ("oc1", {"restarts": 3, "stagnation": 0.0}),
    ("oc1", {"restarts": 3, "standardization": "none"}),
    ("oc1", {"restarts": 3, "jumps": 0}),
    ("oc1", {"restarts": 1}),
    ("oc1_lc", {"backward_elimination": True}),
    ("oc1_lc", {"sweep_tol": 0.0}),
    ("oc1_lc", {"standardization": "none"}),
    ("oc1_lc", {"standardization": "range", "rows_per_feature": 0.0}),
]


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


@pytest.mark.sample(17)
@pytest.mark.parametrize(("name", "options"), OPTIONS)
@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_native_growth_equals_the_reference_to_the_bit(name, options, criterion):
    for data_name in ("bupa", "iris", "glass"):
        data = real_set(data_name)
        weights = np.random.default_rng(1).uniform(1.0, 2.0, data.n) if data_name == "iris" else None
        native, reference = (
            grow(name, data.X, data.y, weights=weights, criterion=criterion, engine=engine, proposer=options)
            for engine in ("native", "reference")
        )
        assert_same_tree(native, reference, coef=1e-12, threshold=1e-12 * np.abs(native.thresholds).max())


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


def test_the_direct_program_of_the_benchmark_grows_the_same_tree():
    data = real_set("glass")
    common = GROWTH_OPTIONS | {"criterion": "twoing", "min_parent": 1.0, "seed": 7}
    for options in ({"restarts": 5}, {"restarts": 5, "search": "exact"}, {"restarts": 5, "order": "best"}):
        fast, slow = (
            _core.grow(
                *(data.X, data.y, None, len(data.classes), "oc1"),
                common | OC1(**options).native_options() | {"direct": direct},
            )
            for direct in (False, True)
        )
        np.testing.assert_array_equal(fast["left"], slow["left"])
        np.testing.assert_allclose(fast["weights"], slow["weights"], atol=1e-8)
