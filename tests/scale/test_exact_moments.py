"""Moments that are exact sums: near the true ones, and the same from any blocks."""

import numpy as np
import pytest
from contracts import GROWTH_OPTIONS

import oblique_cli._core as _core
from oblique_cli.proposers.hhcart import HHCART

OPTIONS = GROWTH_OPTIONS | HHCART().native_options()


def block(X, weights=None):
    """All rows in one slot, of one class."""
    n = len(X)
    zeros = np.zeros(n, np.int32)
    return _core.Block(np.ascontiguousarray(X.T), zeros, zeros, weights, 1, 1)


def moments(parts, weights=None):
    """The covariance and the mean of blocks; None if their rows are the same."""
    p, X = parts[0].shape[1], np.vstack(parts)
    w = np.ones(len(X)) if weights is None else np.concatenate(weights)
    facts = [np.array([each]) for each in (w.sum(), w.max())]
    ranges = [X.min(axis=0)[None], X.max(axis=0)[None], np.zeros((1, 0))]
    node = _core.BlockNode("hhcart_a", OPTIONS, np.array([len(X)]), *facts, *ranges, None, weights is not None)
    assert node.wants == "moments"
    options = [node.request()[name][None] for name in ("center", "inverse", "unit")]
    sums = np.zeros((2, 1, 1, (p + 1) * (p + 2) // 2), np.int64)
    for i, part in enumerate(parts):
        block(part, None if weights is None else weights[i]).add_moments(*options, *sums)
    node.take({"high_sums": sums[0, 0], "low_sums": sums[1, 0]})
    assert node.wants == ""
    return node.class_moments(0)


def scatter(X, cut=1, weights=None):
    """The scatter about the mean from some blocks, and the mean."""
    result = moments(np.array_split(X, cut), None if weights is None else np.array_split(weights, cut))
    total = float(len(X)) if weights is None else float(weights.sum())
    return np.asarray(result[0]) * (total - 1.0), np.asarray(result[1])


def made(kind):
    """Rows of a kind, 5000 x 4."""
    X = np.random.default_rng(4).normal(size=(5000, 4)) @ np.array(
        [[1, 0.5, 0, 0], [0, 1, 0, 2], [0, 0, 3, 0], [0, 0, 0, 1]]
    )
    return {
        "normal": X,
        "far from 0": X + 1e7,
        "skewed": np.exp(X),
        "an outlier": np.vstack([X, np.full((1, 4), 1e5)]),
        "large": X * 2.0**400,
        "small": X * 2.0**-400,
        "constant": np.column_stack([np.full(len(X), 0.1), X[:, 1:]]),
    }[kind]


@pytest.mark.parametrize("kind", ["normal", "far from 0", "skewed", "an outlier", "constant"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scatters_and_means_are_near_those_of_numpy(kind, weighted):
    X = made(kind)
    w = np.random.default_rng(5).integers(1, 9, len(X)).astype(float) if weighted else None
    mean = np.average(X, axis=0, weights=w)
    D = X - mean
    expected = (D * (1.0 if w is None else w[:, None])).T @ D
    result, center = scatter(X, weights=w)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs(result - expected).max() <= 1e-8 * size.max()
    assert np.allclose(center, mean, rtol=1e-10, atol=1e-10 * np.ptp(X, axis=0).max())
    assert (result == result.T).all()


@pytest.mark.parametrize("kind", ["normal", "far from 0", "skewed", "an outlier", "large", "small", "constant"])
def test_neither_blocks_nor_order_change_a_bit(kind):
    X = made(kind)
    w = np.random.default_rng(6).integers(1, 9, len(X)).astype(float)
    order = np.random.default_rng(7).permutation(len(X))
    for weights in (None, w):
        whole = scatter(X, 1, weights)
        for cut in (2, 7, 600):
            assert all(np.array_equal(a, b) for a, b in zip(scatter(X, cut, weights), whole, strict=True))
        again = scatter(X[order], 3, None if weights is None else weights[order])
        assert all(np.array_equal(a, b) for a, b in zip(again, whole, strict=True))


def test_a_power_of_2_of_the_units_changes_no_digit_and_equal_rows_have_no_moments():
    X = made("normal")
    assert np.array_equal(scatter(X * 4.0)[0], scatter(X)[0] * 16.0)
    X = np.full((10, 2), 0.3)
    assert moments([X]) is None


def test_the_limit_is_what_was_set_and_arrays_of_a_wrong_size_are_refused():
    before = _core.exact_sums_above()
    assert _core.exact_sums_above(100) == before == 65536
    assert _core.exact_sums_above(before) == 100
    held = block(made("normal"))
    with pytest.raises(ValueError, match="an array has the wrong size"):
        held.add_left(np.zeros((1, 1, 3)), np.zeros((1, 1)), np.zeros((1, 1, 1)))
    with pytest.raises(ValueError, match="an array has the wrong size"):
        _core.Block(np.zeros((2, 3)), np.zeros(4, np.int32), np.zeros(4, np.int32), None, 1, 1)
