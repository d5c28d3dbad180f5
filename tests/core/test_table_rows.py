"""Large nodes whose rows are read from the table as it came: the tree of those whose rows are copied, in less room."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_support import clusters, same
from scipy import special

import oblique_cli._core as _core
import oblique_cli.proposers  # noqa: F401
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.splitting import PROPOSERS, Finish
from oblique_cli.tree.stopping import Stopping

READING = ["axis_parallel", "hhcart_a", "hhcart_d", "hhcrv", "gdt", "hhgdt"]  # they read rows by stretches
COPYING = ["fdt", "cline", "oc1_lc"]  # they need columns
EVER = 2**63


@pytest.fixture(scope="module", autouse=True)
def _large_from_40_rows():
    """Nodes of more than 40 rows may be read from the table, where it is not copied as a whole."""
    before = _core.exact_sums_above(40), _core.copied_whole_up_to()
    yield
    _core.exact_sums_above(before[0])
    _core.copied_whole_up_to(before[1])


def both(X, y, proposer, **how):
    """The tree of a table that is copied, and that of one of which only small nodes are."""
    trees = []
    for size in (EVER, 0):
        _core.copied_whole_up_to(size)
        trees.append(grow_top_down(X, y, int(y.max()) + 1, proposer, **how))
    return trees


@few(1, name=READING + COPYING, threads=[1, 2, 3])
def test_a_table_that_is_read_gives_the_tree_of_one_that_is_copied(name, threads):
    X, y = clusters(3000, 6, 3)
    copied, read = both(X, y, PROPOSERS[name](), n_threads=threads)
    assert copied.n_nodes > 15
    assert not same(read, copied)
    assert not same(read, grow_top_down(X, y, 3, PROPOSERS[name]()))


@pytest.mark.parametrize(
    ("n", "p", "proposer", "how"),
    [
        (900, 5, PROPOSERS["union"](proposers=["hhcart_d", "axis_parallel"]), {}),  # both read
        (900, 5, PROPOSERS["union"](proposers=["hhcart_d", "fdt"]), {}),  # both copy
        (700, 5, PROPOSERS["hhcart_d"](), {"finish": Finish(polish=True)}),
        (700, 5, PROPOSERS["hhcart_d"](), {"finish": Finish(split_cost=0.2)}),
        # Threads share the rows of one node.
        (40_000, 9, PROPOSERS["hhcart_a"](), {"n_threads": 3, "stopping": Stopping(max_depth=3)}),
        (40_001, 9, PROPOSERS["hhcart_a"](), {"n_threads": 3, "stopping": Stopping(max_depth=3)}),
    ],
)
def test_unions_finished_splits_and_nodes_of_several_threads_are_read_alike(n, p, proposer, how):
    X, y = clusters(n, p, 3)
    copied, read = both(X, y, proposer, **how)
    assert not same(read, copied)
    if "n_threads" in how:
        _core.copied_whole_up_to(0)
        assert not same(read, grow_top_down(X, y, 3, proposer, **how | {"n_threads": 1}))


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(READING),
    criterion=st.sampled_from(["gini", "twoing", "max_minority"]),
    n=st.integers(2, 1500),
    p=st.integers(1, 6),
    n_classes=st.integers(1, 5),
    kind=st.sampled_from(["numbers", "ties", "constant", "separate", "same"]),
    weighted=st.booleans(),
    strict=st.booleans(),
    levels=st.booleans(),
    single=st.booleans(),
    threads=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_any_table(name, criterion, n, p, n_classes, kind, weighted, strict, levels, single, threads, seed):
    X, y = clusters(n, p, n_classes, kind, seed)
    counts = None
    if levels:
        X[:, 0] = np.abs(np.round(X[:, 0])) % 5
        X[X[:, 0] == 4.0, 0] = np.nan  # no level
        counts = [4] + [0] * (p - 1)
    copied, read = both(
        X.astype(np.float32) if single else X,
        y,
        PROPOSERS[name](),
        weights=np.random.default_rng(seed).uniform(1.0, 3.0, n) if weighted else None,
        criterion=criterion,
        ties="strict" if strict else "tolerant",
        levels=counts,
        seed=seed,
        n_threads=threads,
    )
    assert not same(read, copied)


@few(1, name=READING, threads=[1, 2])
def test_many_features_are_read_a_few_columns_at_a_time_and_small_classes_in_their_span(name, threads):
    X, y = clusters(450, 130, 9)
    copied, read = both(X, y, PROPOSERS[name](), n_threads=threads, stopping=Stopping(max_depth=3))
    assert copied.n_nodes > 7
    assert not same(read, copied)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_growing_takes_less_than_a_copy_of_the_table():
    X = 200_000 * 40 * 8
    program = (
        "import sys, numpy as np; from benchmarks.peak import peak; from oblique_cli.estimators.algorithms import make;"
        "rng = np.random.default_rng(0); X = rng.normal(size=(200_000, 40)); y = (X[:, 0] + X[:, 1] > 0).astype(int);"
        "make('hhcart_d', max_depth=1).fit(X[:100], y[:100]); before = peak();"
        "make('hhcart_d', max_depth=3).fit(X, y); print(peak() - before)"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 0.75 * X


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["hhcart_a", "hhcart_d", "gdt", "axis_parallel"])
def test_rows_may_come_in_any_order(name, weighted):
    """Large nodes have their rows as they came; their sums are exact, and smaller ones sort theirs."""
    rng = np.random.default_rng(4)
    X, y = clusters(2000, 5, 3)
    X[::7] = X[0]  # equal rows of several classes
    w = rng.uniform(1.0, 3.0, len(y)) if weighted else None
    order = rng.permutation(len(y))
    _core.copied_whole_up_to(0)
    first = grow_top_down(X, y, 3, PROPOSERS[name](), weights=w)
    other = grow_top_down(X[order], y[order], 3, PROPOSERS[name](), weights=None if w is None else w[order])
    assert not same(first, other)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "twoing"])
@pytest.mark.parametrize("n", [65_535, 65_536, 65_537, 150_000])
def test_counts_beyond_the_table_of_reciprocals(criterion, n):
    """The root of one feature is cut where every row in turn says so."""
    rng = np.random.default_rng(n)
    y = (rng.random(n) < 0.4).astype(np.int32)
    x = np.where(y == 1, 0.8, 0.0) + rng.normal(size=n)
    tree = grow_top_down(
        x[:, None], y, 2, PROPOSERS["axis_parallel"](), criterion=criterion, stopping=Stopping(max_depth=1)
    )
    order = np.argsort(x)
    left = np.stack([np.cumsum(y[order] == k) for k in (0, 1)])[:, :-1].astype(float)
    right = np.bincount(y)[:, None] - left
    n_left, n_right = left.sum(axis=0), right.sum(axis=0)
    if criterion == "gini":
        value = (left**2).sum(axis=0) / n_left + (right**2).sum(axis=0) / n_right
    elif criterion == "entropy":
        value = sum(special.xlogy(side, side / of).sum(axis=0) for side, of in ((left, n_left), (right, n_right)))
    else:
        value = n_left * n_right * np.abs(left / n_left - right / n_right).sum(axis=0) ** 2
    best = int(np.argmax(value))
    np.testing.assert_allclose(tree.thresholds[0], x[order][best : best + 2].mean(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 7, 513, 3000])
def test_rows_of_a_chunk_by_the_slots_of_their_places(n, weighted):
    rng = np.random.default_rng(n)
    columns, codes = rng.normal(size=(5, n)), rng.integers(0, 3, n).astype(np.int32)
    weights = rng.uniform(1.0, 2.0, n) if weighted else None
    places, of_place = rng.integers(-1, 6, n).astype(np.int32), np.array([2, -1, 0, 0, -1, 1], np.int32)
    slots, X, y, w = _core.rows_of_slots(columns, codes, weights, places, of_place, 3)
    of_row = np.where(places < 0, -1, of_place[places])
    expected = [i for slot in range(3) for i in np.flatnonzero(of_row == slot)]
    np.testing.assert_array_equal(slots, of_row[expected])
    np.testing.assert_array_equal(X, columns.T[expected])
    np.testing.assert_array_equal(y, codes[expected])
    assert w is None if weights is None else np.array_equal(w, weights[expected])
    with pytest.raises(ValueError, match="beyond those of the level"):
        _core.rows_of_slots(columns, codes, weights, np.full(n, 6, np.int32), of_place, 3)
    with pytest.raises(ValueError, match="below n_slots"):
        _core.rows_of_slots(columns, codes, weights, places, of_place, 2)
