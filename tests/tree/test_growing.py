"""Whole trees: what must not change a tree does not, awkward rows, and what the core refuses."""

import threading

import numpy as np
import pytest
from contracts import (
    CRITERION_NAMES,
    GEOMETRIC_NAMES,
    GROWTH_OPTIONS,
    HHCART_NAMES,
    NATIVE_NAMES,
    PROPOSER_NAMES,
    REAL_SETS,
    STOCHASTIC,
    assert_same_tree,
    grow,
    real_set,
    rows_at_nodes,
)
from covering import few
from tree_support import small_set
from waiting import FOREVER

import oblique_cli._core as _core
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.stopping import Stopping

SCALES = [2.0**-60, 2.0**20]

# What must not change a tree


@few(1, name=NATIVE_NAMES, weighted=[False, True], set_name=REAL_SETS)
def test_the_order_of_the_rows_changes_no_bit(name, weighted, set_name):
    data = real_set(set_name)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2.0, data.n) if weighted else None
    expected = grow(name, data.X, data.y, weights=weights)
    for _ in range(2):
        order = rng.permutation(data.n)
        again = grow(name, data.X[order], data.y[order], weights=None if weights is None else weights[order])
        assert_same_tree(again, expected)


@pytest.mark.parametrize("name", GEOMETRIC_NAMES)
@pytest.mark.parametrize("scale", SCALES)
def test_scaling_by_a_power_of_two_keeps_the_geometric_splits_of_full_rank(name, scale):
    # Only the root: with fewer rows than features the null-space method depends on units, as published.
    stopping = Stopping(max_depth=1)
    for data in map(real_set, ("bupa", "wine", "iris")):
        a, b = (grow(name, X, data.y, stopping=stopping) for X in (data.X, data.X * scale))
        assert b.n_leaves == a.n_leaves == 2
        np.testing.assert_allclose(b.coef_, a.coef_, atol=1e-9)
        np.testing.assert_allclose(b.thresholds, a.thresholds * scale, rtol=1e-9)


@pytest.mark.parametrize("name", GEOMETRIC_NAMES)
def test_shifting_the_rows_keeps_the_geometric_splits_of_full_rank(name):
    for data in map(real_set, ("bupa", "wine", "iris", "glass")):
        shift = np.linspace(-50.0, 200.0, data.p)
        a, b = (grow(name, X, data.y, stopping=Stopping(max_depth=1)) for X in (data.X, data.X + shift))
        np.testing.assert_array_equal(b.counts, a.counts)
        np.testing.assert_allclose(b.coef_, a.coef_, atol=1e-6)


@few(1, name=PROPOSER_NAMES, criterion=CRITERION_NAMES, set_name=("bupa", "iris", "wine"))
def test_weight_two_is_a_doubled_row(name, criterion, set_name):
    data = real_set(set_name)
    times = np.random.default_rng(3).integers(1, 3, data.n)
    times[:2] = 1, 2
    weighted = grow(name, data.X, data.y, weights=times.astype(float), criterion=criterion)
    doubled = grow(name, np.repeat(data.X, times, axis=0), np.repeat(data.y, times), criterion=criterion)
    np.testing.assert_array_equal(weighted.left, doubled.left)
    np.testing.assert_array_equal(weighted.counts, doubled.counts)
    np.testing.assert_allclose(weighted.coef_, doubled.coef_, atol=1e-6)


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_renaming_the_classes_renames_the_columns_of_an_axis_parallel_tree(criterion):
    for data in map(real_set, REAL_SETS):
        names = np.random.default_rng(4).permutation(len(data.classes))
        a, b = (grow("axis_parallel", data.X, y, criterion=criterion) for y in (data.y, names[data.y]))
        np.testing.assert_array_equal(b.coef_, a.coef_)
        np.testing.assert_array_equal(b.thresholds, a.thresholds)
        np.testing.assert_array_equal(b.counts[:, names], a.counts)


@pytest.mark.parametrize("name", [*HHCART_NAMES, *GEOMETRIC_NAMES])
def test_renaming_the_classes_keeps_the_score_of_the_root(name):
    for data in map(real_set, REAL_SETS):
        names = np.random.default_rng(5).permutation(len(data.classes))
        stopping = Stopping(max_depth=1)
        a, b = (grow(name, data.X, y, stopping=stopping) for y in (data.y, names[data.y]))
        largest = np.bincount(data.y)
        if name in HHCART_NAMES or (largest == largest.max()).sum() == 1:  # else another class is the majority
            assert b.gains[0] == pytest.approx(a.gains[0], rel=1e-9)


def test_the_callers_arrays_are_left_alone():
    data = real_set("wine")
    X, y, weights = data.X.copy(), data.y.copy(), np.linspace(1.0, 2.0, data.n)
    before = X.copy(), y.copy(), weights.copy()
    for name in PROPOSER_NAMES:
        for engine in ("native", "reference"):
            grow(name, X, y, weights=weights, engine=engine)
    for now, then in zip((X, y, weights), before, strict=True):
        np.testing.assert_array_equal(now, then)


# What the heuristics promise


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_all_eigenvectors_split_the_root_at_least_as_well_as_the_dominant_ones(criterion):
    for data in map(real_set, REAL_SETS):
        stopping = Stopping(max_depth=1)
        a, d = (grow(name, data.X, data.y, criterion=criterion, stopping=stopping) for name in ("hhcart_a", "hhcart_d"))
        assert a.gains[0] >= d.gains[0] * (1.0 - 1e-9), data.name


@pytest.mark.parametrize("name", [*HHCART_NAMES, "hhcrv"])
@pytest.mark.parametrize("degrees", [10, 45, 163])
def test_a_boundary_parallel_to_the_main_axis_of_a_class_takes_one_split(name, degrees):
    rng = np.random.default_rng(degrees)
    along = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    across = np.array([-along[1], along[0]])
    length, width = rng.uniform(0.0, 5.0, 30), rng.uniform(0.02, 0.3, 30)
    cloud = np.vstack([np.outer(s * length, along) + np.outer(t * width, across) for s in (1, -1) for t in (1, -1)])
    X = np.vstack([cloud, cloud + 0.7 * across])
    y = np.repeat([0, 1], len(cloud))
    tree = grow(name, X, y)
    assert tree.n_leaves == 2
    assert abs(tree.coef_[0] @ across) == pytest.approx(1.0, abs=1e-9)
    assert grow("axis_parallel", X, y).n_leaves > 5


def test_gdt_splits_the_rotated_2x2_checkerboard_into_its_four_squares():
    # Protocols 3.2: uniform on a square, +1 where two perpendicular lines agree; the lines are rotated by 30 degrees.
    rng = np.random.default_rng(20260101)
    X = rng.uniform(-1.0, 1.0, (2000, 2))
    y = (X[:, 0] + X[:, 1] > 0) == (X[:, 0] - X[:, 1] > 0)
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    tree = grow("gdt", X @ np.array([[c, s], [-s, c]]), y.astype(int), stopping=Stopping(epsilon=0.1))
    assert tree.n_leaves == 4
    assert tree.errors[tree.is_leaf].sum() < 0.05 * len(X)


def lean_on_silent_features(tree, X):
    """Largest coefficient on a feature that is zero in all rows of its node, and the node.

    The first feature is left out: every Householder reflection mixes it into the others.
    """
    worst = (0.0, -1)
    for node, rows in enumerate(rows_at_nodes(tree, X)):
        silent = 1 + np.flatnonzero(~X[rows, 1:].any(axis=0))
        worst = max(worst, (np.abs(tree.coef_[node, silent]).max(initial=0.0), node))
    return worst


@few(1, name=NATIVE_NAMES, engine=["native", "reference"])
def test_no_plane_leans_on_a_feature_that_is_zero_in_all_rows_of_the_node(name, engine):
    for data in map(real_set, ("glass", "statlog_heart", "ionosphere")):
        for criterion in CRITERION_NAMES if engine == "native" else ("gini",):
            lean, node = lean_on_silent_features(grow(name, data.X, data.y, criterion=criterion, engine=engine), data.X)
            assert lean < 1e-6, f"{data.name}, {criterion}, node {node}"


@few(name=NATIVE_NAMES, engine=["native", "reference"])
def test_no_plane_leans_on_a_feature_that_soon_becomes_constant(name, engine):
    for seed in range(1, 15, 3):  # few values
        X, y, n_classes, weights = small_set(seed)
        lean, node = lean_on_silent_features(grow(name, X, y, n_classes, weights=weights, engine=engine), X)
        assert lean < 1e-6, f"seed {seed}, node {node}"


# Awkward data


@pytest.mark.parametrize("name", PROPOSER_NAMES)
def test_two_rows_of_two_classes_are_separated_if_allowed(name):
    X, y = np.array([[0.0, 1.0], [2.0, 4.0]]), np.array([0, 1])
    assert grow(name, X, y).n_leaves == 1  # min_parent 2: a node is split if it holds more
    tree = grow(name, X, y, stopping=Stopping(min_parent=1))
    assert tree.n_leaves == 2 and tree.apply(X).tolist() != [0, 0]


@few(1, name=PROPOSER_NAMES, engine=["native", "reference"])
def test_awkward_rows_give_finite_trees_that_fit_as_far_as_they_can(name, engine):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0).astype(int)
    y[:2] = 1 - y[0], y[0]
    sets = {
        "one column": (X[:, :1], y),
        "a class of one row": (X, np.where(np.arange(40) == 7, 2, y)),
        "more features than rows": (rng.normal(size=(8, 20)), np.arange(8) % 3),
        "constant columns": (np.column_stack([np.full(40, 5.0), X, np.zeros(40)]), y),
        "duplicated columns": (np.column_stack([X, X]), y),
        "a sum of columns": (np.column_stack([X, X.sum(axis=1)]), y),
        "duplicated rows": (np.vstack([X, X]), np.append(y, y)),
        "duplicated rows, other labels": (np.vstack([X, X[:10]]), np.append(y, 1 - y[:10])),
        "two values": (np.sign(X), y),
        "all but one row the same": (np.vstack([np.zeros((39, 3)), np.ones((1, 3))]), np.arange(40) % 2),
    }
    for label, (Z, labels) in sets.items():
        tree = grow(name, Z, labels, engine=engine, stopping=Stopping(min_parent=1))
        for values in (tree.coef_, tree.thresholds, tree.counts, tree.gains):
            assert np.isfinite(values).all(), label
        if name != "gdt":  # whose given planes may leave a side empty
            right = sum(np.bincount(labels[(row == Z).all(axis=1)]).max() for row in np.unique(Z, axis=0))
            assert tree.errors[tree.is_leaf].sum() == len(labels) - right, label


@pytest.mark.parametrize("name", PROPOSER_NAMES)
@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_a_large_offset_leaves_the_rows_separable(name, offset):
    rng = np.random.default_rng(8)
    X = np.round(rng.normal(size=(100, 3)), 3)
    y = (X @ [1.0, 2.0, -1.0] > 0).astype(int)
    tree = grow(name, X + offset, y, stopping=Stopping(epsilon=0.05))
    assert np.isfinite(tree.coef_).all() and np.isfinite(tree.thresholds).all()
    assert tree.errors[tree.is_leaf].sum() <= 0.1 * len(X)


# Threads


def test_trees_grown_in_threads_are_those_grown_in_turn():
    data = [real_set(name) for name in REAL_SETS[:3]]
    jobs = [(name, d) for name in NATIVE_NAMES for d in data]
    expected = [grow(name, d.X, d.y) for name, d in jobs]
    results = {}

    def work(start):
        for i in range(start, len(jobs), 2):
            for _ in range(2):
                results[i] = grow(jobs[i][0], jobs[i][1].X, jobs[i][1].y)

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=FOREVER)
        assert not thread.is_alive()
    for i, tree in enumerate(expected):
        assert_same_tree(results[i], tree)


# What the compiled growers and the traversal refuse

ARGUMENTS = {
    "X": np.array([[0.0, 1.0], [1.0, 2.0]]),
    "y": np.array([0, 1], dtype=np.int32),
    "weights": None,
    "n_classes": 2,
    "family": "hhcart_a",
    "options": GROWTH_OPTIONS | PROPOSERS["hhcart_a"]().native_options(),
}


LEVELS = np.array([0, 3], dtype=np.int32)
OC1_LC = GROWTH_OPTIONS | PROPOSERS["oc1_lc"]().native_options()


def option(**values):
    return {"options": ARGUMENTS["options"] | values}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.empty((0, 2)), "y": np.empty(0, dtype=np.int32)}, "X must have at least one row and one column"),
        ({"X": np.empty((2, 0))}, "X must have at least one row and one column"),
        ({"y": np.array([0], dtype=np.int32)}, "X and y must have the same number of rows"),
        ({"y": np.array([0, 2], dtype=np.int32)}, "y must hold codes from 0 to n_classes - 1"),
        ({"weights": np.ones(3)}, "X and weights must have the same number of rows"),
        ({"family": "hhcart"}, "^the core has no family 'hhcart'; it has axis_parallel, cline, fdt, "),
        ({"family": "gdt"}, "^family 'gdt' has no option 'both_signs'; it takes criterion, .*classes$"),
        (option(criterion="gin"), "^option 'criterion' of family 'hhcart_a' must be one of 'gini', .*Got 'gin'$"),
        (option(tau="much"), "^option 'tau' of family 'hhcart_a' must be a number. Got 'much'$"),
        (option(max_depth=True), "^option 'max_depth' of family 'hhcart_a' must be a whole number. Got True$"),
        (option(shrinkage=None), "^option 'shrinkage' of family 'hhcart_a' must be .*Got None$"),
        (option(shrink=True), "^family 'hhcart_a' has no option 'shrink'; it takes "),
        ({"family": "oc1_lc", "options": OC1_LC, "levels": LEVELS}, "^family .oc1_lc. takes quantitative features"),
    ],
)
def test_the_compiled_grower_refuses_what_does_not_fit(change, message):
    assert len(_core.grow(**ARGUMENTS)["left"]) == 1
    with pytest.raises(ValueError, match=message):
        _core.grow(**ARGUMENTS | change)


@pytest.mark.parametrize("name", NATIVE_NAMES)
def test_a_proposer_gives_the_core_all_options_of_its_family_and_no_other(name):
    listed = _core.families()[PROPOSERS[name].native]
    assert set(listed) == {*GROWTH_OPTIONS, *PROPOSERS[name]().native_options()}
    programs = {PROPOSERS[each](variant="oc1_v3").native_family() for each in ("oc1", "oc1_lc", "oc1_ap")}
    assert set(_core.families()) == {PROPOSERS[each].native for each in NATIVE_NAMES} | programs


@pytest.mark.parametrize("name", NATIVE_NAMES)
def test_each_missing_option_is_named(name):
    data = real_set("iris")
    options = GROWTH_OPTIONS | PROPOSERS[name]().native_options()
    for missing in options:
        params = {key: value for key, value in options.items() if key != missing}
        with pytest.raises(ValueError, match=f"^family '{name}' needs the option '{missing}', "):
            _core.grow(data.X, data.y, None, 3, name, params)


@pytest.mark.parametrize("name", [name for name in NATIVE_NAMES if name not in STOCHASTIC])
def test_the_split_of_one_node_is_that_of_the_root(name):
    data = real_set("wine")
    options = GROWTH_OPTIONS | PROPOSERS[name]().native_options()
    tree = _core.grow(data.X, data.y, None, 3, name, options)
    growth_only = ("min_parent", "epsilon", "max_depth", "max_leaf_nodes", "polish", "max_terms", "split_cost")
    at_root = {key: value for key, value in options.items() if key not in growth_only}
    normal, threshold, gain, values = _core.split(data.X, data.y, None, 3, name, at_root)
    np.testing.assert_array_equal(normal, tree["weights"][0])
    assert (threshold, gain) == (tree["thresholds"][0], tree["gains"][0])
    # These bring an offset of their own; the others leave it to the search.
    assert values == (name in ("gdt", "oc1_lc", "quest", "cline", "gain_ratio"))


def test_the_traversal_refuses_what_does_not_fit_the_tree():
    data = real_set("iris")
    tree = grow("hhcart_a", data.X, data.y)
    per_node = np.zeros(tree.n_nodes)
    limits, codes = np.array([0.1]), np.zeros(data.n, dtype=np.int32)
    calls = {
        "X must have as many columns as the tree has features": [
            lambda w: w.apply(data.X[:, :2].copy()),
            lambda w: w.apply_limits(data.X[:, :2].copy(), per_node, limits),
            lambda w: w.sequence_errors(per_node, tree.labels, limits, data.X[:, :2].copy(), codes, None),
        ],
        "the values must have one entry per node": [
            lambda w: w.apply_limits(data.X, per_node[1:].copy(), limits),
            lambda w: w.leaves_of_limits(per_node[1:].copy(), limits),
            lambda w: w.weakest_links(per_node[1:].copy(), 0.0),
            lambda w: w.sequence_errors(per_node[1:].copy(), tree.labels, limits, data.X, codes, None),
        ],
        "labels must have one entry per node": [
            lambda w: w.sequence_errors(per_node, tree.labels[1:].copy(), limits, data.X, codes, None)
        ],
        "X, y and weights must have the same number of rows": [
            lambda w: w.sequence_errors(per_node, tree.labels, limits, data.X, codes[1:].copy(), None),
            lambda w: w.sequence_errors(per_node, tree.labels, limits, data.X, codes, np.ones(3)),
        ],
    }
    for message, refused in calls.items():
        for call in refused:
            with pytest.raises(ValueError, match=message):
                call(tree.walker)
