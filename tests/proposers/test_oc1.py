"""Trees of OC1, OC1-LC and OC1-AP through the estimator and the table of algorithms."""

from __future__ import annotations

import numpy as np
import pytest
from contracts import CRITERION_NAMES, GROWTH_OPTIONS, assert_same_tree, grow, real_set, rows_at_nodes
from sklearn.utils.estimator_checks import check_estimator

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.proposers.oc1 import CARTLC, OC1
from oblique_cli.tree.splitting import PROPOSERS, Node, best_split
from oblique_cli.tree.stopping import Stopping

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


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", FAMILY)
def test_the_estimators_pass_scikit_learns_checks(name):
    check_estimator(make(name, random_state=0, **QUICK[name]), on_skip=None)


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


def test_a_seed_gives_one_tree_and_another_seed_another():
    data = real_set("bupa")
    first, again, other = (make("oc1", random_state=s, restarts=3).fit(data.X, data.y).tree_ for s in (1, 1, 2))
    assert_same_tree(first, again)
    assert first.n_nodes != other.n_nodes or not np.array_equal(first.coef_, other.coef_)


def test_oc1_lc_draws_nothing():
    data = real_set("bupa")
    a, b = (make("oc1_lc", random_state=s).fit(data.X, data.y).tree_ for s in (1, 2))
    assert_same_tree(a, b)


def test_a_branch_does_not_depend_on_how_its_sibling_grew():
    data = real_set("bupa")
    whole = grow("oc1", data.X, data.y, proposer=QUICK["oc1"])
    shallow = grow("oc1", data.X, data.y, proposer=QUICK["oc1"], stopping=Stopping(max_depth=2))
    deep = [node for node in range(whole.n_nodes) if whole.depths[node] == 1 and whole.left[node] >= 0]
    cut = [node for node in range(shallow.n_nodes) if shallow.depths[node] == 1 and shallow.left[node] >= 0]
    np.testing.assert_array_equal(whole.coef_[deep], shallow.coef_[cut])


def test_weight_two_is_a_doubled_row_for_every_criterion_and_search():
    for data in map(real_set, ("bupa", "iris")):
        times = np.random.default_rng(3).integers(1, 3, data.n)
        times[:2] = 1, 2
        for name, options in OPTIONS:
            weighted = grow(name, data.X, data.y, weights=times.astype(float), proposer=options)
            doubled = grow(name, np.repeat(data.X, times, axis=0), np.repeat(data.y, times), proposer=options)
            np.testing.assert_array_equal(weighted.counts, doubled.counts)
            np.testing.assert_allclose(weighted.coef_, doubled.coef_, atol=1e-6)


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


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("oc1", "restarts", -1),
        ("oc1", "jumps", 2.5),
        ("oc1", "order", "random"),
        ("oc1", "stagnation", 1.5),
        ("oc1", "search", "greedy"),
        ("oc1_lc", "sweep_tol", -0.1),
        ("oc1_lc", "backward_elimination", "yes"),
        ("oc1_lc", "standardization", "median"),
        ("oc1_lc", "rows_per_feature", -1),
    ],
)
def test_a_bad_parameter_is_named(name, parameter, value):
    with pytest.raises(ConfigError, match=f"{parameter} of {name} must be"):
        make(name, **{parameter: value})


def test_parameters_reach_the_core_under_its_names():
    assert OC1(search="exact", order="r50").native_options() == {
        "restarts": 20,
        "jumps": 5,
        "order": "r50",
        "stagnation": 1.0,
        "standardization": "range",
        "exact": True,
        "direct": False,
    }
    assert CARTLC(sweep_tol=0.5, standardization="range", rows_per_feature=0).native_options() == {
        "sweep_tol": 0.5,
        "backward_elimination": False,
        "standardization": "range",
        "rows_per_feature": 0.0,
    }
