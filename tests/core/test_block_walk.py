"""Rows in blocks reach the leaves that rows alone reach, for any block, number of threads and type of numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli.tree.structure import Tree


def random_tree(rng: np.random.Generator, p: int, n_splits: int, kind: str) -> Tree:
    """A tree of random shape. kind : what its hyperplanes are, "axes", "dense", "sparse" or "mixed"."""
    left, right = [-1], [-1]
    for _ in range(n_splits):
        node = int(rng.choice([t for t in range(len(left)) if left[t] < 0]))
        left[node], right[node] = len(left), len(left) + 1
        left += [-1, -1]
        right += [-1, -1]
    n = len(left)
    coef, thresholds = np.zeros((n, p)), np.zeros(n)
    for node in np.flatnonzero(np.array(left) >= 0):
        local = str(rng.choice(["axes", "dense", "sparse"])) if kind == "mixed" else kind
        if local == "axes":
            coef[node, rng.integers(p)] = 1.0
        else:
            coef[node] = rng.normal(size=p) * (rng.random(p) < (1.0 if local == "dense" else 2.0 / p))
        thresholds[node] = rng.normal()
    counts = np.ones((n, 2))
    missing = rng.random(n) < 0.5 if rng.random() < 0.5 else None
    return Tree(left, right, coef, thresholds, counts, np.zeros(n), np.ones(n), missing_left=missing)


def product(w: np.ndarray, x: np.ndarray) -> float:
    """The product of growth and prediction: four lanes, then their sum."""
    lanes = [0.0] * 4
    for j in range(len(w)):
        lanes[j % 4] += float(w[j]) * float(x[j])
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


def leaf_of(tree: Tree, x: np.ndarray) -> int:
    """The leaf of a finite row, by the definition."""
    node = 0
    while tree.left[node] >= 0:
        goes_left = product(tree.coef_[node], x) <= tree.thresholds[node]
        node = int(tree.left[node] if goes_left else tree.right[node])
    return node


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.integers(1, 23),
    n=st.integers(1, 60),
    n_splits=st.integers(2, 40),
    kind=st.sampled_from(["axes", "dense", "sparse", "mixed"]),
    single=st.booleans(),
    odd=st.sampled_from([None, np.nan, np.inf]),
    block=st.integers(1, 70),
    threads=st.integers(1, 3),
)
def test_leaves_do_not_depend_on_blocks_threads_or_precision(seed, p, n, n_splits, kind, single, odd, block, threads):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, p, n_splits, kind)
    X = rng.normal(size=(n, p)).astype(np.float32 if single else np.float64)
    X[rng.random(n) < 0.2] = 0.0
    if odd is not None:
        X[rng.random((n, p)) < 0.05] = odd
    walker, as_double = tree.walker, X.astype(np.float64)
    alone = np.concatenate([walker.apply(row[None]) for row in as_double])  # fewer rows than pay for a layout
    np.testing.assert_array_equal(walker.apply(X, threads, block), alone)
    np.testing.assert_array_equal(tree.apply(X, n_threads=threads), alone)
    finite = np.flatnonzero(np.isfinite(as_double).all(axis=1))
    np.testing.assert_array_equal(alone[finite], [leaf_of(tree, as_double[i]) for i in finite])


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.integers(1, 40),
    kind=st.sampled_from(["dense", "sparse", "mixed"]),
    single=st.booleans(),
    rows_size=st.integers(-320, 300),
    product_size=st.one_of(st.integers(-30, 30), st.integers(-300, 300)),
    apart=st.integers(0, 60),
)
def test_rows_next_to_a_hyperplane_go_where_the_exact_product_says(
    seed, p, kind, single, rows_size, product_size, apart
):
    # Products are screened in single precision: thresholds are those of rows themselves or a unit in the last place
    # away, and sizes are up to where they overflow or vanish, together or from one feature to the next.
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, p, 12, kind)
    with np.errstate(over="ignore", under="ignore"):
        sizes = 10.0 ** rng.integers(-apart, apart + 1, size=p)
        X = np.clip(rng.normal(size=(40, p)) * sizes * 10.0**rows_size, -1e308, 1e308)
        X = X.astype(np.float32 if single else np.float64)
        X[~np.isfinite(X)] = 0.0
        coef = np.clip(tree.coef_ / sizes * 10.0 ** float(np.clip(product_size - rows_size, -320, 300)), -1e308, 1e308)
        thresholds = tree.thresholds.copy()
        for node in np.flatnonzero(tree.left >= 0):
            z = product(coef[node], X[rng.integers(len(X))].astype(np.float64))
            thresholds[node] = rng.choice([z, np.nextafter(z, np.inf), np.nextafter(z, -np.inf)])
    tree = tree.changed(coef=coef, thresholds=np.nan_to_num(thresholds))
    with np.errstate(all="ignore"):
        expected = [leaf_of(tree, row.astype(np.float64)) for row in X]
    np.testing.assert_array_equal(tree.walker.apply(X, 1, 40), expected)
    np.testing.assert_array_equal(tree.walker.apply(X, 1, 7), expected)


@pytest.mark.parametrize("kind", ["axes", "dense", "sparse"])
@pytest.mark.parametrize("rows", [3, 300])
@pytest.mark.parametrize("single", [False, True])
def test_rows_that_are_not_finite_are_told_by_the_same_reading(kind, rows, single):
    tree = random_tree(np.random.default_rng(3), 9, 60, kind)
    X = np.random.default_rng(4).normal(size=(rows, 9)).astype(np.float32 if single else np.float64)
    np.testing.assert_array_equal(tree.apply_finite(X), tree.apply(X))
    for odd in (np.nan, np.inf, -np.inf):
        gone = X.copy()
        gone[-1, 8] = odd
        assert tree.apply_finite(gone) is None
        assert len(tree.apply(gone)) == rows


@pytest.mark.parametrize("kind", ["axes", "dense", "sparse"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_rows_take_several_threads(kind, threads):
    rng = np.random.default_rng(7)
    tree = random_tree(rng, 9, 60, kind)
    X = rng.normal(size=(20_001, 9))
    expected = tree.walker.apply(X, 1, 1)
    np.testing.assert_array_equal(tree.apply(X, n_threads=threads), expected)
    assert len(np.unique(expected)) > 5


def test_a_tree_that_is_a_leaf_and_no_rows():
    leaf = Tree([-1], [-1], np.zeros((1, 3)), [0.0], [[1.0]], [0.0], [1])
    assert leaf.apply_finite(np.full((5, 3), np.nan)) is None
    assert leaf.apply(np.ones((5, 3))).tolist() == [0] * 5
    assert leaf.apply(np.ones((0, 3))).tolist() == []
    split = random_tree(np.random.default_rng(0), 3, 4, "dense")
    assert split.walker.apply(np.ones((0, 3)), 2, 4).tolist() == []
