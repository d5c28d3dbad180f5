"""SADT: never worse than its start, finds what is easy, repeats itself for a seed."""

import numpy as np
import pytest
from contracts import CRITERION_NAMES, REAL_SETS, real_set
from node_support import node_of, proposed_plane, split_of
from oracles import gains


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
    cold = [[split_of("sadt", node, temperature=0.0, patience=n).gain for node in nodes] for n in (1, 400)]
    assert np.mean(cold[1]) > np.mean(cold[0])


def test_heat_and_cooling_change_the_walk():
    node = node_of(real_set("glass").X, real_set("glass").y)
    options = ({}, {"temperature": 1.0}, {"cooling": 0.5}, {"cooling": 1.0})
    planes = [proposed_plane("sadt", node, **o)[0] for o in options]
    assert len({plane.tobytes() for plane in planes}) == 4
