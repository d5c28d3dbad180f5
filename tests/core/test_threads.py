"""A tree is the same in every array for any number of threads that grow it, and so is the error if it is stopped."""

import numpy as np
import pytest
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_support import clusters, same

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.stopping import Stopping

NATIVE = sorted(name for name in PROPOSERS if PROPOSERS[name].native is not None)


@pytest.mark.sample(3)
@few(1, name=NATIVE, kind=["numbers", "ties", "two values"])
def test_large_nodes_are_shared_without_changing_a_bit(name, kind):
    n, depth = (3000, 2) if name.startswith("oc1") else (40_000, 3)  # nodes of a level are not shared
    X, y = clusters(n, 5, 3, kind)
    trees = [
        grow_top_down(X, y, 3, PROPOSERS[name](), stopping=Stopping(max_depth=depth), seed=3, n_threads=threads)
        for threads in (1, 2, 5)
    ]
    assert trees[0].n_nodes > 3
    for tree in trees[1:]:
        assert not same(tree, trees[0])


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from([name for name in NATIVE if not name.startswith("oc1")]),
    criterion=st.sampled_from(["gini", "entropy", "twoing", "max_minority", "sum_minority"]),
    n=st.integers(1, 2500),
    p=st.integers(1, 6),
    n_classes=st.integers(1, 5),
    kind=st.sampled_from(["numbers", "ties", "two values", "same"]),
    weighted=st.booleans(),
    strict=st.booleans(),
    levels=st.booleans(),
    threads=st.integers(2, 4),
    seed=st.integers(0, 1000),
)
def test_any_tree_has_the_same_bits(name, criterion, n, p, n_classes, kind, weighted, strict, levels, threads, seed):
    X, y = clusters(n, p, n_classes, kind, seed)
    counts = None
    if levels and not PROPOSERS[name].quantitative:
        X[:, 0] = np.abs(np.round(X[:, 0])) % 4
        counts = [4] + [0] * (p - 1)
    weights = np.random.default_rng(seed).uniform(1.0, 3.0, n) if weighted else None
    single, several = (
        grow_top_down(
            X,
            y,
            n_classes,
            PROPOSERS[name](),
            weights=weights,
            criterion=criterion,
            ties="strict" if strict else "tolerant",
            levels=counts,
            seed=seed,
            n_threads=k,
        )
        for k in (1, threads)
    )
    assert not same(several, single)


@pytest.mark.long
def test_a_chain_of_nodes_is_no_chain_of_calls():
    # Every split takes one row from the end: children of very different sizes must not be divided among threads.
    n = 6000
    X, y = np.arange(n, dtype=float)[:, None] ** 3, (np.arange(n) % 2).astype(np.int32)
    first, two = (grow_top_down(X, y, 2, PROPOSERS["axis_parallel"](), n_threads=k) for k in (1, 2))
    assert first.depth == n - 2
    assert not same(two, first)


def test_n_jobs_must_not_be_0_and_is_no_parameter_of_an_experiment():
    X, y = clusters(30, 2, 2, "numbers")
    with pytest.raises(ConfigError, match=r"^n_jobs of HHCARTDClassifier must not be 0\. Set it to None"):
        make("hhcart_d").set_params(n_jobs=0).fit(X, y)
    with pytest.raises(ConfigError, match="n_jobs of HHCARTDClassifier must be"):
        make("hhcart_d").set_params(n_jobs=1.5).fit(X, y)
    with pytest.raises(ConfigError, match="hhcart_d has no parameter 'n_jobs'"):
        make("hhcart_d", n_jobs=2)


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "gdt"])
def test_single_precision_gives_the_tree_of_the_same_numbers(name):
    X, y = clusters(700, 5, 3, "numbers")
    single = X.astype(np.float32)
    a, b = (make(name, random_state=0).fit(rows, y) for rows in (single, single.astype(np.float64)))
    assert not same(a.tree_, b.tree_)
    np.testing.assert_array_equal(a.predict(single), b.predict(single.astype(np.float64)))
    np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)
