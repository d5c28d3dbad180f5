"""Growth of regression trees of hyperplanes: the best cut by brute force, planted trees, and degenerate nodes."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import errors_of_axis_cuts

import oblique_cli.proposers  # noqa: F401  (registers them)
from oblique_cli.tree.least_squares import fit_linear
from oblique_cli.tree.residual_signs import Settings, best_cut, grow
from oblique_cli.tree.splitting import PROPOSERS, Node

HEURISTICS = ("axis_parallel", "fdt", "gdt", "hhcart_a", "hhcart_d", "hhcrv", "hhgdt", "quest", "cline")


def data(seed: int, n: int = 40, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.normal(size=n)


def node_of(X: np.ndarray, y: np.ndarray) -> Node:
    return Node(X, (y > y.mean()).astype(np.int32), None, 2, 0, "gini", seed=0)


def rss(X: np.ndarray, y: np.ndarray, linear: bool) -> float:
    return fit_linear(X, y).rss if linear else float(((y - y.mean()) ** 2).sum())


@pytest.mark.parametrize("linear", [False, True])
@given(seed=st.integers(0, 10**6), least=st.integers(1, 12))
@settings(max_examples=25)
def test_the_cut_of_an_axis_is_the_best_of_all(linear, seed, least):
    X, y = data(seed, n=30, p=2)
    split = best_cut(node_of(X, y), y, PROPOSERS["axis_parallel"](), Settings(least, linear=linear))
    errors = errors_of_axis_cuts(X, y, least, partial(rss, linear=linear))
    assert split is not None and split.error == pytest.approx(min(errors), rel=1e-7)
    left = X @ split.coef <= split.threshold
    now = rss(X[left], y[left], linear) + rss(X[~left], y[~left], linear)
    assert now == pytest.approx(split.error, rel=1e-7)


@pytest.mark.parametrize("name", HEURISTICS)
@pytest.mark.parametrize("linear", [False, True])
def test_a_cut_never_raises_the_residual_sum(name, linear):
    X, y = data(1, n=120)
    tree = grow(X, y, PROPOSERS[name](), Settings(8, linear=linear))
    assert tree.n_leaves > 1
    for node in np.flatnonzero(~tree.is_leaf):
        assert tree.equations.rss[tree.left[node]] + tree.equations.rss[tree.right[node]] < tree.equations.rss[node]
    leaves = tree.apply(X)
    assert set(np.unique(leaves)) == set(np.flatnonzero(tree.is_leaf))
    counts = np.bincount(leaves, minlength=tree.n_nodes)[tree.is_leaf]
    np.testing.assert_array_equal(counts, tree.n_rows[tree.is_leaf])
    assert counts.min() >= 8
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        np.testing.assert_allclose(
            ((tree.predicted(X[rows]) - y[rows]) ** 2).sum(), tree.equations.rss[leaf], rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("name", (*HEURISTICS, "hhcart_g"))
@pytest.mark.parametrize(("n", "levels", "least"), [(60, 4, 1), (400, 0, 5), (400, 7, 30), (1500, 0, 5)])
def test_the_core_cuts_every_node_as_well_as_the_reference(name, n, levels, least):
    rng = np.random.default_rng(n + levels)
    X = rng.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0] + X[:, 1]) + 0.3 * rng.normal(size=n)
    if levels:
        X, y = np.floor(levels * X) / levels, np.round(2 * y)
    proposer, limits = PROPOSERS[name](), Settings(least, max_depth=4)
    tree = grow(X, y, proposer, limits)
    assert tree.n_leaves > 2
    below = tree.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(tree.depths < 4):
        rows = below[:, node]
        is_divisible = rows.sum() >= 2 * least and np.ptp(y[rows]) > 0.0
        cut = best_cut(node_of(X[rows], y[rows]), y[rows], proposer, limits) if is_divisible else None
        error = tree.equations.rss[node] if cut is None else min(cut.error, tree.equations.rss[node])
        assert tree.equations.rss[node] - tree.gains[node] == pytest.approx(error, rel=1e-9, abs=1e-12 * n)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("name", HEURISTICS)
def test_degenerate_rows(name, linear):
    proposer = PROPOSERS[name]()
    first = Settings(1, linear=linear)
    for X, y in (
        (np.zeros((1, 2)), np.array([3.0])),
        (np.zeros((5, 2)), np.arange(5.0)),  # rows alike, targets not
        (np.arange(10.0).reshape(5, 2), np.full(5, 2.5)),
        (np.column_stack([np.ones(6), np.arange(6.0)]), np.arange(6.0) ** 2),
        (np.random.default_rng(0).normal(size=(6, 12)), np.arange(6.0)),  # more columns than rows
        (np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]), np.array([0.0, 1.0, 4.0, 5.0])),
    ):
        tree = grow(X, y, proposer, first)
        assert np.isfinite(tree.predicted(X)).all() and tree.n_rows[0] == len(y)
        if np.ptp(y) == 0:
            assert tree.n_leaves == 1 and tree.predicted(X)[0] == y[0]


def test_limits_hold():
    X, y = data(3, n=200)
    proposer = PROPOSERS["hhcart_d"]()
    assert grow(X, y, proposer, Settings(5, max_depth=2)).depth <= 2
    assert grow(X, y, proposer, Settings(5, max_depth=0)).n_leaves == 1
    assert grow(X, y, proposer, Settings(101)).n_leaves == 1
