"""Many more features than rows: the tree of the plain way, found in the span of the rows."""

import numpy as np
import pytest
from contracts import grow
from robustness_support import many

from oblique_cli.tree.structure import Tree

SPANNED = ["hhcart_a", "hhcart_d", "hhcart_g", "hhcrv", "gdt", "hhgdt", "fdt"]  # those that take moments of classes


def wide_rows(n, p, n_classes=2, seed=0, offset=0.0, units=False):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p)) + 0.6 * rng.normal(size=(n_classes, p))[y] + offset
    return X * 10.0 ** rng.uniform(-2, 2, p) if units else X, y


def assert_same_within_ties(X: np.ndarray, a: Tree, b: Tree) -> None:
    """Same structure and counts, and the same projections within what counts as one value."""
    np.testing.assert_array_equal(a.left, b.left)
    np.testing.assert_array_equal(a.counts, b.counts)
    for node in np.flatnonzero(~a.is_leaf):
        scale = np.abs(a.coef_[node]) @ (np.ptp(X, axis=0) + np.abs(X).max(axis=0))
        difference = X @ (a.coef_[node] - b.coef_[node])
        assert np.abs(difference).max() <= 1e-6 * scale
        assert abs(a.thresholds[node] - b.thresholds[node]) <= 1e-6 * scale


CASES = [
    dict(n=10, p=120),
    dict(n=24, p=150, n_classes=3),
    dict(n=40, p=110, n_classes=4, offset=1000.0),
    dict(n=30, p=200, units=True),
    dict(n=100, p=103),
    dict(n=3, p=130),
]


@pytest.mark.sample(9)
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("name", SPANNED)
def test_the_tree_is_that_of_the_plain_way(name, case):
    for seed in range(many(3, 30)):
        X, y = wide_rows(**case, seed=seed)
        native, plain = (grow(name, X, y, engine=engine) for engine in ("native", "reference"))
        assert_same_within_ties(X, native, plain)


@pytest.mark.parametrize("name", SPANNED)
def test_it_is_with_weights_duplicated_rows_and_constant_columns_too(name):
    for seed in range(many(3, 30)):
        X, y = wide_rows(14, 120, 2, seed)
        rng = np.random.default_rng(seed)
        X[:, 5:20] = 3.0
        twice = np.repeat(np.arange(14), rng.integers(1, 3, 14))
        weights = rng.integers(1, 4, 14).astype(float)
        for rows, labels, w in ((X[twice], y[twice], None), (X, y, weights), (np.round(X), y, None)):
            native, plain = (grow(name, rows, labels, weights=w, engine=engine) for engine in ("native", "reference"))
            assert_same_within_ties(rows, native, plain)


@pytest.mark.parametrize("name", SPANNED)
def test_rows_that_are_all_one_or_differ_in_one_feature(name):
    X, y = np.ones((8, 150)), np.arange(8) % 2
    assert grow(name, X, y).n_leaves == 1
    X[:, 7] = np.arange(8) // 2 + 10.0 * y
    tree = grow(name, X, y)
    assert tree.errors[tree.is_leaf].sum() == 0
    if name.startswith("hhcart"):
        assert set(np.flatnonzero(tree.coef_[0])) == {7}
    # One row against two.
    assert grow(name, wide_rows(3, 150)[0], np.array([0, 0, 1])).n_leaves == 2


@pytest.mark.parametrize("power", [-280, 280])
@pytest.mark.parametrize("name", SPANNED)
def test_units_at_the_ends_of_the_number_line(name, power):
    X, y = wide_rows(12, 130)
    a, b = (grow(name, X * unit, y) for unit in (1.0, 2.0 ** int(power * 3.3)))
    np.testing.assert_array_equal(a.counts, b.counts)
