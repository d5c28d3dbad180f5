"""SADT: never worse than its start, finds what is easy, repeats itself for a seed."""

from __future__ import annotations

import numpy as np
import pytest
from contracts import CRITERION_NAMES, REAL_SETS, assert_same_tree, forbidden, grow, real_set
from node_support import DEGENERATE, node_of, proposals, proposed_plane, split_of
from oracles import gains

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.proposers.sadt import SADT
from oblique_cli.tree.stopping import Stopping


def gain_of(node, left):
    w = None if node.weights is None else node.weights[left]
    sides = np.bincount(node.y[left], w, minlength=node.n_classes).astype(float)
    if not left.any() or left.all():
        return 0.0
    return float(gains(sides[None], node.class_weights, node.criterion)[0])


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
@pytest.mark.parametrize("data_name", REAL_SETS)
def test_the_plane_is_never_worse_than_the_start(data_name, criterion):
    data = real_set(data_name)
    weights = np.random.default_rng(1).integers(1, 4, data.n).astype(float)
    for w in (None, weights):
        z = (data.X - np.average(data.X, axis=0, weights=w)) / np.sqrt(
            np.average((data.X - np.average(data.X, axis=0, weights=w)) ** 2, axis=0, weights=w)
        )
        start = gain_of(node_of(data.X, data.y, w, criterion), z.sum(axis=1) <= 1e-9)
        for seed in range(2):
            node = node_of(data.X, data.y, w, criterion, seed=seed)
            normal, offset = proposed_plane("sadt", node, patience=50)
            assert gain_of(node, data.X @ normal <= offset) >= start - 1e-9


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_classes_with_a_wide_gap_are_separated_by_one_plane(criterion):
    rng = np.random.default_rng(2)
    for seed in range(5):
        X = rng.normal(size=(80, 3))
        y = np.arange(80) % 2
        X[y == 1] += 8.0 * np.array([0.6, -0.8, 0.0])
        split = split_of("sadt", node_of(X, y, criterion=criterion, seed=seed))
        assert set(y[X @ split.coef <= split.threshold]) in ({0}, {1})


def test_the_search_finds_better_planes_than_the_best_axis():
    data = real_set("balance_scale")
    axis = split_of("axis_parallel", node_of(data.X, data.y)).gain
    assert all(split_of("sadt", node_of(data.X, data.y, seed=seed)).gain > 3.0 * axis for seed in range(5))


def test_patience_and_a_start_without_heat_only_climb():
    nodes = [node_of(real_set("wine").X, real_set("wine").y, seed=seed) for seed in range(5)]
    short, long = (
        np.mean([split_of("sadt", node, temperature=0.0, patience=n).gain for node in nodes]) for n in (1, 400)
    )
    assert long > short


def test_heat_and_cooling_change_the_walk():
    node = node_of(real_set("glass").X, real_set("glass").y)
    options = ({}, {"temperature": 1.0}, {"cooling": 0.5}, {"cooling": 1.0})
    planes = [proposed_plane("sadt", node, **o)[0] for o in options]
    assert len({plane.tobytes() for plane in planes}) == 4


def test_a_seed_decides_the_tree():
    data = real_set("glass")
    a, b, c = (make("sadt", random_state=s, patience=100).fit(data.X, data.y).tree_.to_dict() for s in (3, 3, 4))
    assert a == b != c


def test_nodes_have_random_numbers_of_their_own():
    data = real_set("bupa")
    planes = [
        proposed_plane("sadt", node_of(data.X, data.y, seed=seed, path=path), patience=5)[0]
        for seed, path in ((0, 1), (0, 2), (0, 3), (1, 1), (0, 1))
    ]
    assert len({plane.tobytes() for plane in planes}) == 4


def test_a_tree_that_stops_earlier_is_the_top_of_the_larger_one():
    data = real_set("bupa")
    model = make("sadt", random_state=0, patience=100).fit(data.X, data.y)
    values = [0.0, 0.1, 0.3]
    for column, value in enumerate(values):
        own = make("sadt", random_state=0, patience=100, max_misrate=value).fit(data.X, data.y)
        np.testing.assert_array_equal(model.predict_path(data.X, values)[:, column], own.predict(data.X))
    shallow = grow("sadt", data.X, data.y, stopping=Stopping(max_depth=2), proposer={"patience": 100})
    deep = grow("sadt", data.X, data.y, proposer={"patience": 100})
    assert shallow.to_dict() == deep.collapse(deep.depths >= 2).to_dict()


def test_the_order_of_rows_does_not_matter():
    data = real_set("wine")
    order = np.random.default_rng(6).permutation(data.n)
    a, b = (grow("sadt", data.X[rows], data.y[rows], proposer={"patience": 200}) for rows in (np.arange(data.n), order))
    assert_same_tree(a, b, coef=1e-9, threshold=1e-6)


@pytest.mark.parametrize("data_name", ["bupa", "wine"])
def test_weight_two_is_a_doubled_row_and_the_scale_of_weights_nothing(data_name):
    data = real_set(data_name)
    times = np.random.default_rng(3).integers(1, 3, data.n)
    options = {"stopping": Stopping(max_depth=3), "proposer": {"patience": 100}}
    doubled = grow("sadt", np.repeat(data.X, times, axis=0), np.repeat(data.y, times), **options)
    for scale in (1.0, 0.37):
        weighted = grow("sadt", data.X, data.y, weights=times * scale, **options)
        np.testing.assert_allclose(weighted.counts, doubled.counts)
        np.testing.assert_allclose(weighted.coef_, doubled.coef_, atol=1e-6)


def test_rows_of_weight_zero_are_as_good_as_removed():
    data = real_set("bupa")
    weights = np.random.default_rng(3).integers(0, 3, data.n).astype(float)
    kept = weights > 0
    a = make("sadt", random_state=0, patience=100).fit(data.X, data.y, weights)
    b = make("sadt", random_state=0, patience=100).fit(data.X[kept], data.y[kept], weights[kept])
    assert a.tree_.to_dict() == b.tree_.to_dict()


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
@pytest.mark.parametrize("label", DEGENERATE)
def test_degenerate_nodes_give_finite_unit_normals(label, criterion):
    X, y = DEGENERATE[label]
    for w in (None, np.linspace(1.0, 3.0, len(y))):
        normal, offset = proposed_plane("sadt", node_of(X, y, w, criterion), patience=30)
        assert np.isfinite(normal).all() and np.isfinite(offset)
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
        assert not normal[X.max(axis=0) == X.min(axis=0)].any()


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_equal_rows_make_a_leaf(criterion):
    node = node_of(np.full((6, 2), 0.1), [0, 1] * 3, criterion=criterion)
    assert proposals("sadt", node) == []
    assert split_of("sadt", node) is None


def test_bad_parameters_are_named():
    for parameter, constraint in SADT.constraints.items():
        for value in forbidden(constraint):
            with pytest.raises(ConfigError, match=f"^{parameter} of sadt must be "):
                make("sadt", **{parameter: value})
    assert make("sadt", cooling=1.0).proposer.cooling == 1.0
