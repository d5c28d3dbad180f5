"""The compiled search finds the split that trying everything finds; criteria agree with the textbook."""

import csv
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from contracts import CRITERION_NAMES, GROWTH_OPTIONS, NATIVE_NAMES, REAL_SETS, grow, proposer, real_set
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import gains, naive_search, reflected_axes
from sklearn.datasets import make_classification

import oblique_cli._core as _core
from oblique_cli.estimators.algorithms import make
from oblique_cli.evaluation import published
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer, best_split
from oblique_cli.tree.stopping import Stopping

ROOT = Path(__file__).parents[2]
UNBOUNDED: tuple[str, ...] = ()  # criteria of the core without upper bounds: their search leaves out no direction


class Given(Proposer):
    """Proposes the groups it was made with."""

    def __init__(self, groups=()):
        self.groups = groups

    def propose(self, node):
        yield from self.groups


def search(X, y, weights, n_classes, criterion, groups, min_leaf=1.0, ties="tolerant", exhaustive=False):
    node = Node(np.ascontiguousarray(X), y.astype(np.int32), weights, n_classes, 0, criterion, ties)
    return best_split(node, Given(groups), min_leaf, exhaustive)


def unit(v):
    return v / np.linalg.norm(v)


def check_against_sorting(X, y, weights, n_classes, criterion, groups, min_leaf, where):
    """Assert that the search finds what sorting every direction finds, to the bit unless sums are of weights."""
    quick, slow = (
        search(X, y, weights, n_classes, criterion, groups, min_leaf, exhaustive=exhaustive)
        for exhaustive in (False, True)
    )
    assert (quick is None) == (slow is None), where
    if quick is not None:
        assert (quick.order, quick.threshold) == (slow.order, slow.threshold), where
        assert weights is not None or quick.gain == slow.gain, where


def reflections_alike(count, rng):
    """Return reflections of 4 features along one direction and others near it, so that the last ones meet a high bar.

    Some are a hair apart.
    """
    first = rng.normal(size=4)
    return [
        Candidates.reflection(unit(first + 10.0 ** -rng.integers(0, 12) * rng.normal(size=4))) for _ in range(count)
    ]


def random_features(rng, n, p):
    """Columns of every awkward kind: continuous, few values, constant, duplicated, shifted, repeated rows."""
    X = rng.normal(size=(n, p))
    for j in range(p):
        kind = rng.integers(7)
        if kind == 1:
            X[:, j] = rng.integers(0, 5, n)
        elif kind == 2:
            X[:, j] = rng.integers(-2, 2)
        elif kind == 3:
            X[:, j] = X[:, 0]
        elif kind == 4:
            X[:, j] = 1000.0 + np.round(X[:, j], 1)
        elif kind == 5:
            X[:, j] = np.exp(3.0 * X[:, j])
    return X[rng.integers(0, n, n)] if rng.random() < 0.3 else X


def random_node(rng):
    n = int(rng.choice([rng.integers(2, 10), rng.integers(10, 40), rng.integers(40, 150), rng.integers(150, 601)]))
    p, n_classes = int(rng.integers(1, 5)), int(rng.integers(2, 9))
    X = random_features(rng, n, p)
    y = rng.integers(0, n_classes, n)
    if rng.random() < 0.5:  # labels that a plane explains in part
        z = X @ rng.normal(size=p)
        share = np.argsort(np.argsort(z)) * n_classes // n
        y = np.where(rng.random(n) < 0.8, share, y)
    weights = [None, rng.integers(1, 4, n).astype(float), rng.uniform(1.0, 5.0, n)][rng.integers(3)]
    if weights is not None:
        weights /= weights.min()
    return X, y, weights, n_classes


def random_groups(rng, X):
    """Groups of candidates, the directions they stand for, and the thresholds if they are given."""
    p = X.shape[1]
    kind = rng.integers(4)
    if kind == 0:
        return [Candidates.axes()], np.eye(p), None
    if kind == 1:
        groups, directions = [], []
        for _ in range(rng.integers(1, 3)):
            u = rng.normal(size=p)
            if p > 1 and rng.random() < 0.5:
                u[rng.integers(p)] = 0.0  # an axis that the reflection leaves where it was
            u = unit(u)
            groups.append(Candidates.reflection(u))
            directions.append(reflected_axes(u))
            if rng.random() < 0.3:
                groups.append(Candidates.axes())
                directions.append(np.eye(p))
        return groups, np.vstack(directions), None
    integral = rng.integers(-2, 3, (3, p)).astype(float)  # projections of few values have ties
    integral[np.all(integral == 0.0, axis=1)] = 1.0
    D = np.array([unit(h) for h in np.vstack([rng.normal(size=(2, p)), integral])])
    if kind == 2:
        return [Candidates.directions(D)], D, None
    Z = np.sort(X @ D.T, axis=0)
    at = rng.integers(0, len(X) - 1)
    thresholds = 0.5 * (Z[at] + Z[at + 1])
    clear = Z[at + 1] - Z[at] > 1e-6
    thresholds[~clear] = Z[0][~clear] - 1.0  # a plane with all rows on one side
    return [Candidates.directions(D, thresholds)], D, thresholds


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_the_search_equals_trying_everything(criterion):
    for seed in range(90):
        rng = np.random.default_rng([seed, CRITERION_NAMES.index(criterion)])
        X, y, weights, n_classes = random_node(rng)
        groups, directions, thresholds = random_groups(rng, X)
        min_leaf = float(rng.choice([1.0, 1.0, 2.5]))
        expected = naive_search(X, y, weights, n_classes, criterion, directions, thresholds, min_leaf)
        for exhaustive in (False, True):
            split = search(X, y, weights, n_classes, criterion, groups, min_leaf, exhaustive=exhaustive)
            where = f"seed {seed}, exhaustive {exhaustive}"
            if expected is None:
                assert split is None, where
                continue
            assert split is not None, where
            assert split.gain == pytest.approx(expected.gain, rel=1e-10, abs=1e-13), where
            assert split.order == expected.order, where
            assert ((X @ split.coef <= split.threshold) == expected.goes_left).all(), where
            np.testing.assert_allclose(split.coef, directions[expected.order], atol=1e-14, err_msg=where)
            if thresholds is None:
                slack = 1e-12 * (1.0 + np.abs(X).max())
                middle = 0.5 * (expected.low + expected.high)
                assert split.threshold == pytest.approx(middle, rel=1e-12, abs=slack), where
            else:
                assert split.threshold == thresholds[expected.order], where


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_sorting_gives_the_same_split_at_large_nodes_whatever_the_weights(criterion):
    # Bounds are taken in lower precision than values, which matters where counts are large and gains small.
    for seed in range(15):
        rng = np.random.default_rng([9, seed])
        n, n_classes = int(10 ** rng.uniform(3.0, 4.3)), int(rng.integers(2, 12))
        X = random_features(rng, n, 2)
        y = np.argsort(np.argsort(X @ rng.normal(size=2))) * n_classes // n
        y = np.where(rng.random(n) < rng.choice([0.0, 0.5, 0.999]), y, rng.integers(0, n_classes, n))
        if seed % 3 == 0:
            y = np.where(rng.random(n) < 0.99, 0, y)  # rare classes: tiny gains
        weights = [None, rng.uniform(1.0, 5.0, n), 10.0 ** rng.uniform(0.0, 6.0, n)][seed % 3]
        if weights is not None:
            weights /= weights.min()
        check_against_sorting(X, y, weights, n_classes, criterion, random_groups(rng, X)[0], 1.0, seed)


@few(1, name=NATIVE_NAMES, criterion=CRITERION_NAMES)
def test_a_whole_tree_is_the_same_when_every_direction_is_sorted(name, criterion):
    options = GROWTH_OPTIONS | proposer(name).native_options() | {"criterion": criterion}
    sorted_directions = np.zeros(2)
    for data in map(real_set, REAL_SETS):
        quick, slow = (
            _core.grow(data.X, data.y, None, len(data.classes), name, options | {"exhaustive": exhaustive})
            for exhaustive in (False, True)
        )
        for field in ("left", "right", "weights", "thresholds", "counts", "gains"):
            np.testing.assert_array_equal(quick[field], slow[field], err_msg=f"{data.name}: {field}")
        sorted_directions += quick["refined"], slow["refined"]
    # These search one direction a node or none, or each feature for itself.
    if name not in ("gdt", "fdt", "quest", "cline", "gain_ratio") and criterion not in UNBOUNDED:
        assert sorted_directions[0] < sorted_directions[1]  # the bounds dismissed some


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_strict_ties_find_the_best_score_too(criterion):
    for seed in range(60):
        rng = np.random.default_rng([3, seed])
        X, y, weights, n_classes = random_node(rng)
        expected = naive_search(X, y, weights, n_classes, criterion, np.eye(X.shape[1]), strict=True)
        split = search(X, y, weights, n_classes, criterion, [Candidates.axes()], ties="strict")
        assert (split is None) == (expected is None), seed
        if split is None:
            continue
        w = np.ones(len(y)) if weights is None else weights
        goes_left = X @ split.coef <= split.threshold
        left, totals = (np.bincount(y[rows], w[rows], n_classes) for rows in (goes_left, slice(None)))
        best = gains(left[None], totals, criterion)[0]
        assert best == pytest.approx(split.gain, rel=1e-10, abs=1e-13), seed
        assert split.gain == pytest.approx(expected.gain, rel=2e-9), seed


CROWDED = ["two values", "whole numbers in places", "outlier", "copies"]


def crowded_rows(kind, n, rng):
    """Features whose reflections put most rows into a few narrow places.

    kind : one of CROWDED: "outlier" is one value far from all others, "copies" are of few rows
    """
    X = rng.normal(size=(n, 4))
    if kind == "two values":
        X = np.eye(4)[rng.integers(0, 4, n)]
        X[:, 3] = rng.random(n) < 0.02
    elif kind == "whole numbers in places":
        X = rng.integers(0, 4, (n, 4)).astype(float)
    elif kind == "outlier":
        X[rng.integers(n), rng.integers(4)] = 1e6
    elif kind == "copies":
        X = X[rng.integers(0, 12, n)]
    return X


def root(X, y, weights=None, criterion="gini"):
    """The split of HHCART(A) at the root, with its counts of searched directions."""
    options = GROWTH_OPTIONS | PROPOSERS["hhcart_a"]().native_options() | {"criterion": criterion, "max_depth": 1}
    return _core.grow(X, y.astype(np.int32), weights, int(y.max()) + 1, "hhcart_a", options)


def test_crowded_bins_are_divided_before_they_are_sorted():
    # Of 24 features with two values each a reflection has hardly more than two places for its rows.
    rng = np.random.default_rng(11)
    X = np.hstack([np.eye(4)[rng.integers(0, 4, 1500)] for _ in range(6)])
    tree = root(X, rng.integers(0, 2, 1500))  # all directions are about as good, which dismisses none early
    assert tree["directions"] > 500
    assert tree["bins"] < tree["directions"]


# The quick look before a search


@pytest.fixture(params=_core.kernel_sets())
def kernels(request):
    before = _core.kernels(request.param)
    yield request.param
    _core.kernels(before)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("n", [1, 5, 31, 32, 33, 63, 64, 65, 128, 191, 1000])
def test_places_are_rounded_and_cut_off_alike_on_every_processor(n):
    for seed, (offset, reach) in enumerate([(0.0, 100.0), (0.0, 1e6), (1e9, 200.0), (-1e12, 50.0), (3.0, 1e-3)]):
        rng = np.random.default_rng([14, n, seed])
        x, w = offset + reach * rng.normal(size=n), rng.normal(size=n)
        x[rng.integers(n)] = offset + 2.0**29  # near the largest sum that can be cut off
        shift = float(128 - offset)
        places = _core.places_along(x, w, 0.25, 1.0, shift)
        z = x - 0.25 * w
        sums = z + (1.5 * 2.0**52 + shift) - 1.5 * 2.0**52  # a whole number: of those this large no others are stored
        np.testing.assert_array_equal(places, np.clip(sums, 0, 255))
        assert np.all(np.abs(places - np.clip(z + shift, 0, 255)) <= 1.0)
        in_order = np.argsort(z, kind="stable")
        assert np.all(np.diff(places[in_order]) >= 0)


@pytest.mark.usefixtures("kernels")
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_places_are_counted_by_class_and_bin(data):
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 63, 64, 65, 130, 511, 512, 700, 8200], rng.integers(1, 12)).astype(np.int32)
    spread = int(rng.choice([1, 3, 256]))
    places = (
        rng.integers(256 - spread, 256, sizes.sum()) if rng.random() < 0.5 else rng.integers(0, spread, sizes.sum())
    )
    last = data.draw(st.integers(0, 30))
    bin_of = np.sort(rng.integers(0, last + 1, 256)).astype(np.int32)
    check_counts(places.astype(np.int32), sizes, bin_of)


def check_counts(places, sizes, bin_of):
    counts = _core.count_places(places, sizes, bin_of)
    for k, rows in enumerate(np.split(places, np.cumsum(sizes)[:-1])):
        np.testing.assert_array_equal(counts[k, :31], np.cumsum(np.bincount(bin_of[rows], minlength=31)))


@pytest.mark.usefixtures("kernels")
def test_a_class_of_many_rows_is_counted_to_the_last():
    # More rows than the narrow sums of the count hold.
    rng = np.random.default_rng(12)
    sizes = np.array([70_001, 40, 32_768, 65_536], dtype=np.int32)
    places = rng.integers(0, 256, sizes.sum()).astype(np.int32)
    bin_of = (np.arange(256) * 31 // 256).astype(np.int32)
    check_counts(places, sizes, bin_of)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_rows_are_picked_by_their_places(share):
    for seed in range(20):
        rng = np.random.default_rng([15, seed])
        sizes = rng.choice([1, 2, 63, 64, 65, 130, 700], rng.integers(1, 9)).astype(np.int32)
        places = rng.integers(0, 256, sizes.sum()).astype(np.int32)
        wanted = (rng.random(256) < share).astype(np.int32)
        rows, up_to = _core.pick_rows(places, sizes, wanted)
        expected = np.flatnonzero(wanted[places])
        np.testing.assert_array_equal(rows, expected)
        np.testing.assert_array_equal(up_to, np.searchsorted(expected, np.cumsum(sizes)))


def test_the_least_projection_beyond_a_place():
    rng = np.random.default_rng(16)
    for n in (1, 7, 64, 301):
        places = rng.integers(0, 9, n).astype(np.int32)
        x, w = rng.normal(size=n), rng.normal(size=n)
        for place in range(10):
            beyond = (x - 0.3 * w)[places > place]
            assert _core.least_above(places, place, x, w, 0.3) == (beyond.min() if len(beyond) else np.inf)


def test_ranks_of_few_values_among_many():
    rng = np.random.default_rng(17)
    for n, m in [(1, 1), (5, 8), (300, 9), (1000, 64)]:
        z, values = rng.integers(0, 50, n) / 4.0, rng.integers(-3, 53, m) / 4.0
        np.testing.assert_array_equal(_core.count_below(z, values), [(z < value).sum() for value in values])


def test_trees_do_not_depend_on_the_instruction_set():
    X, y = make_classification(
        700, 6, n_informative=5, n_redundant=0, n_classes=7, n_clusters_per_class=1, random_state=3
    )
    before, trees = _core.kernels(), []
    for kernels in _core.kernel_sets():
        _core.kernels(kernels)
        trees.append([repr(make("hhcart_a", criterion=name).fit(X, y).tree_.to_dict()) for name in ("gini", "twoing")])
    _core.kernels(before)
    assert all(tree == trees[0] for tree in trees)


def test_an_unknown_instruction_set_is_refused_in_one_sentence():
    words = ["tree", str(ROOT / "docs/examples/iris_petals.csv"), "--target", "species"]
    environment = {**os.environ, "OBLIQUE_KERNELS": "avx9"}
    result = subprocess.run(
        [sys.executable, "-m", "oblique_cli", *words], env=environment, capture_output=True, text=True
    )
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("error: OBLIQUE_KERNELS must be")


def awkward_rows(kind, n, rng):
    """Features along which places are a poor picture of the order of the rows."""
    X = rng.normal(size=(n, 4))
    if kind == "gaps of 1e-12":  # below what counts as a difference, and above
        X = rng.integers(0, 3, (n, 4)) + 1e-12 * rng.integers(0, 9, (n, 4)) + 1e-7 * rng.integers(0, 3, (n, 4))
    elif kind == "offset":
        X = 1e9 + rng.integers(0, 30, (n, 4)) / 8.0
    elif kind == "outliers":
        X[rng.integers(0, n, 3), rng.integers(0, 4, 3)] = [1e12, -1e15, 1e300]
    elif kind == "tiny":
        X *= 1e-200
    elif kind == "sample of copies":  # the sampled rows say nothing of the others
        X[:: max(n // 64, 1)] = 0.0
    elif kind == "whole numbers":
        X = rng.integers(0, 16, (n, 4)).astype(float)
    elif kind == "heaps":  # many rows at nearly one place, which new places take apart, and more of them at the ends
        X = rng.integers(0, 3, (n, 4)) + 10.0 ** -rng.integers(1, 9) * rng.normal(size=(n, 4))
    elif kind == "heavy tails":
        X = rng.standard_t(1.0, (n, 4))
    return X


AWKWARD = [
    "plain", "gaps of 1e-12", "offset", "outliers", "tiny", "sample of copies", "whole numbers", "heaps", "heavy tails",
]  # fmt: skip


@few(kind=[*AWKWARD, *CROWDED], criterion=CRITERION_NAMES)
def test_no_split_is_lost_to_sorting(criterion, kind):
    for seed in range(10):
        rng = np.random.default_rng([13, seed])
        n, n_classes = int(10 ** rng.uniform(1.8, 3.6)), int(rng.integers(2, 27))
        X = awkward_rows(kind, n, rng) if kind in AWKWARD else crowded_rows(kind, n, rng)
        # Ranks, since sums of outliers would be those of one row.
        z = np.argsort(np.argsort(X, axis=0), axis=0) @ rng.normal(size=4)
        y = np.argsort(np.argsort(z)) * n_classes // n
        y = np.where(rng.random(n) < rng.choice([0.2, 0.9]), y, rng.integers(0, n_classes, n))
        if seed % 2:  # one class has nearly all rows, and copies of rows have another label
            rare = rng.integers(1, min(n // 2, 60) + 1)
            chosen = np.argsort(z)[-rare:] if seed % 3 else rng.choice(n, rare, replace=False)
            y = np.where(np.isin(np.arange(n), chosen), np.maximum(y, 1), 0)
            X[rng.integers(0, n, n // 3 + 1)] = X[chosen[0]]
        if kind in CROWDED:  # small components move the rows of each place a little apart
            groups = [Candidates.reflection(unit(np.array([1.0, 0.05, -0.02, 0.01]) * rng.uniform(0.2, 1.0, 4)))]
        else:
            groups = reflections_alike(9, rng)
        min_leaf = float(rng.choice([1.0, 20.0]))
        check_against_sorting(X, y, None, n_classes, criterion, [*groups, Candidates.axes()], min_leaf, seed)


@pytest.mark.parametrize("criterion", [name for name in CRITERION_NAMES if name not in ("max_minority", *UNBOUNDED)])
def test_few_directions_are_searched_where_rows_are_rare(criterion):
    rng = np.random.default_rng(20)
    X = rng.normal(size=(400, 6))
    y = np.zeros(400)
    y[:8] = 1 + np.arange(8) % 2
    tree = root(X, y, criterion=criterion)
    assert tree["directions"] > 50
    assert tree["refined"] < tree["directions"] / 3


@pytest.mark.parametrize("n", [60, 250, 2000])
def test_few_directions_are_searched_where_rows_have_weights(n):
    rng = np.random.default_rng(26)
    X = rng.normal(size=(n, 12))
    y = X[:, 0] + rng.normal(size=n) > 0
    tree = root(X, y, 1.0 + rng.exponential(size=n))
    assert tree["directions"] > 250
    assert tree["refined"] < tree["directions"] / 3


def inputs_of_tactics():
    """Yield (X, y, weights, n_classes, candidates, min_leaf) for which every tactic has something to do.

    Weights are multiples of 1/4, so that their sums have the same bits in any order.
    """
    for seed in range(10):
        rng = np.random.default_rng([23, seed])
        X, y, weights, n_classes = random_node(rng)
        weights = None if weights is None else rng.integers(4, 17, len(y)) / 4.0
        yield X, y, weights, n_classes, random_groups(rng, X)[0], 1.0
    for seed, kind in enumerate([*AWKWARD, "two values", "copies"]):
        rng = np.random.default_rng([24, seed])
        n, n_classes = int(10 ** rng.uniform(2.3, 3.3)), int(rng.integers(2, 9))
        X = awkward_rows(kind, n, rng) if kind in AWKWARD else crowded_rows(kind, n, rng)
        z = np.argsort(np.argsort(X, axis=0), axis=0) @ rng.normal(size=4)
        y = np.argsort(np.argsort(z)) * n_classes // n
        if seed % 3 == 0:  # rare rows
            y = np.where(rng.random(n) < 10 / n, y, 0)
            y[rng.integers(n)] = 1
        weights = rng.integers(4, 17, n) / 4.0 if seed % 3 == 1 else None
        groups = [*reflections_alike(6, rng), Candidates.axes()]
        yield X, y, weights, n_classes, groups, float(rng.choice([1.0, 20.0]))


@few(
    without=[[], *([name] for name in _core.tactics()), _core.tactics()],
    criterion=CRITERION_NAMES,
    strict=[False, True],
)
def test_the_search_without_a_tactic_finds_what_the_plain_search_finds(without, criterion, strict):
    for i, (X, y, weights, n_classes, groups, min_leaf) in enumerate(inputs_of_tactics()):
        if strict and i % 4:
            continue
        candidates = [group.spec for group in groups]
        node = (np.ascontiguousarray(X), y.astype(np.int32), weights, n_classes, criterion, candidates, min_leaf)
        plain = _core.search(*node, strict, True)
        result = _core.search(*node, strict, False, without)
        assert (result is None) == (plain is None), i
        if result is not None:
            np.testing.assert_array_equal(result[0], plain[0], err_msg=f"{i}")
            assert result[1:] == plain[1:], i


# The tie rule


def test_the_first_of_equal_directions_and_the_lower_of_equal_thresholds_win():
    X = np.array([[0.0, 5.0], [1.0, 7.0]])
    y = np.array([0, 1])
    assert search(X, y, None, 2, "gini", [Candidates.axes()]).order == 0
    D = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert search(X, y, None, 2, "gini", [Candidates.directions(D)]).coef.tolist() == [0.0, 1.0]
    u = unit(np.array([1.0, 0.0, -1.0]))  # leaves the second axis alone, which counts where it was first
    rows = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    split = search(rows, y, None, 2, "gini", [Candidates.reflection(u), Candidates.axes()])
    assert split.order == 1 and split.coef.tolist() == [0.0, 1.0, 0.0]
    line = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert search(line, np.array([0, 1, 1, 0]), None, 2, "gini", [Candidates.axes()]).threshold == 0.5


def test_a_score_better_by_less_than_the_tolerance_does_not_win():
    # Each feature puts one row on the wrong side; the row that the second feature misplaces weighs less by 1e-11.
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    y = np.array([0, 0, 0, 1, 1, 1])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0 + 1e-11])
    tolerant = search(X, y, weights, 2, "gini", [Candidates.axes()])
    strict = search(X, y, weights, 2, "gini", [Candidates.axes()], ties="strict")
    assert (tolerant.order, strict.order) == (0, 1)
    assert strict.gain > tolerant.gain


def test_values_closer_than_the_tolerance_are_one_value():
    X = np.array([[0.0], [1.0], [1.0 + 1e-12], [2.0]])
    y = np.array([0, 0, 1, 1])
    assert search(X, y, None, 2, "gini", [Candidates.axes()]).gain == pytest.approx(1 / 6)
    strict = search(X, y, None, 2, "gini", [Candidates.axes()], ties="strict")
    assert strict.gain == 0.5 and 1.0 <= strict.threshold < 1.0 + 1e-12


@pytest.mark.parametrize("ties", ["tolerant", "strict"])
@pytest.mark.parametrize("low", [1.0, 1.0 + 2.0**-52, 1e16, 1e16 + 2.0])
def test_neighboring_numbers_are_separated_although_their_midpoint_rounds_to_one_of_them(ties, low):
    X = np.array([[low], [np.nextafter(low, np.inf)]])
    split = search(X, np.array([0, 1]), None, 2, "gini", [Candidates.axes()], ties=ties)
    assert split is not None and split.gain == 0.5
    assert X[0, 0] <= split.threshold < X[1, 0]


@pytest.mark.parametrize("weights", [None, "random"])
def test_min_leaf_is_the_least_weight_of_a_side(weights):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    w = None if weights is None else rng.uniform(1.0, 3.0, 50)
    for min_leaf in (1.0, 5.0, 20.0):
        split = search(X, y, w, 2, "gini", [Candidates.axes()], min_leaf)
        left = X @ split.coef <= split.threshold
        sides = [(np.ones(50) if w is None else w)[rows].sum() for rows in (left, ~left)]
        assert min(sides) >= min_leaf
    assert search(X, y, w, 2, "gini", [Candidates.axes()], 200.0) is None


def test_a_single_row_of_the_smallest_weight_can_be_split_off():
    # The weight of the right side is the total less the left side, and rounding must not make it less than 1.
    for seed in range(200):
        rng = np.random.default_rng([5, seed])
        n = int(rng.integers(3, 40))
        X = np.arange(float(n))[:, None]
        y = np.array([0] * (n - 1) + [1])
        weights = np.append(rng.uniform(1.0, 3.0, n - 1), 1.0)
        split = search(X, y, weights, 2, "entropy", [Candidates.axes()])
        assert split.threshold == n - 1.5, f"seed {seed}"


def test_there_is_no_split_of_one_class_or_of_equal_rows_or_at_a_plane_with_an_empty_side():
    X = np.array([[0.0, 3.0], [1.0, 3.0], [2.0, 3.0]])
    for criterion in CRITERION_NAMES:
        assert search(X, np.array([1, 1, 1]), None, 2, criterion, [Candidates.axes()]) is None
        assert search(X[:, 1:], np.array([0, 1, 0]), None, 2, criterion, [Candidates.axes()]) is None
        assert search(X[:1], np.array([0]), None, 2, criterion, [Candidates.axes()]) is None
        assert search(X, np.array([0, 1, 0]), None, 2, criterion, []) is None
    X, y, D = np.array([[0.0], [1.0]]), np.array([0, 1]), np.array([[1.0]])
    for threshold in (-1.0, 1.0):
        assert search(X, y, None, 2, "gini", [Candidates.directions(D, np.array([threshold]))]) is None
    assert search(X, y, None, 2, "gini", [Candidates.directions(D, np.array([0.0]))]).gain == 0.5


# Criteria by hand


def test_a_cut_of_4_and_2_from_5_and_5_scores_as_by_hand():
    # left 4 : 1, right 1 : 4
    left, totals = np.array([4.0, 1.0]), np.array([5.0, 5.0])
    entropy = -(0.8 * math.log2(0.8) + 0.2 * math.log2(0.2))
    expected = {
        "gini": 0.5 - 0.32,
        "entropy": 1.0 - entropy,
        "twoing": 0.25 / 4.0 * (0.6 + 0.6) ** 2,
        "max_minority": (5 - 1) / 10,
        "sum_minority": (5 - 2) / 10,
    }
    for criterion, gain in expected.items():
        assert _core.cut_value(left, totals, criterion)[1] == pytest.approx(gain, rel=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=8).filter(
        lambda rows: sum(a for a, _ in rows) > 0 and sum(b for _, b in rows) > 0
    ),
    st.sampled_from(CRITERION_NAMES),
)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_the_score_of_a_cut_is_the_textbooks(sides, criterion):
    left, right = np.array(sides, dtype=float).T
    gain = _core.cut_value(np.ascontiguousarray(left), np.ascontiguousarray(left + right), criterion)[1]
    assert gain == pytest.approx(gains(left[None], left + right, criterion)[0], rel=1e-9, abs=1e-13)
    if criterion in ("gini", "entropy", "twoing"):
        assert gain >= -1e-13


# Bounds


def cuts_of_bin(rng, inside, most):
    """Rows of a bin in some order, as what has moved left after each: inside is (rows, C) of weights."""
    for _ in range(most):
        yield from np.cumsum(rng.permutation(inside), axis=0)


@few(1, criterion=CRITERION_NAMES, kind=["rows", "weights"])
def test_the_bound_of_a_bin_is_at_least_every_cut_inside_it(criterion, kind):
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        n_classes, n_bins = int(rng.integers(2, 8)), int(rng.integers(1, 9))
        counts = rng.integers(0, int(rng.choice([2, 4, 30])), (n_classes, n_bins))
        counts[rng.integers(n_classes), rng.integers(n_bins)] += 2
        weighed = [
            np.repeat(np.eye(n_classes), counts[:, b], axis=0)
            * (1.0 if kind == "rows" else rng.uniform(1.0, 6.0, (counts[:, b].sum(), 1)))
            for b in range(n_bins)
        ]
        table = np.ascontiguousarray([rows.sum(axis=0) for rows in weighed]).T.copy()
        totals = table.sum(axis=1)
        n = totals.sum()
        noise = {"gini": 1e-14 * n, "entropy": 1e-14 * n * math.log(n + 1), "twoing": 1e-15}.get(criterion, 1e-13 * n)
        bounds = np.asarray(_core.bin_bounds(table, criterion))
        assert bounds.shape == (n_bins,)
        before = np.zeros(n_classes)
        for b in range(n_bins):
            for moved in cuts_of_bin(rng, weighed[b], 4):
                left = np.minimum(before + moved, totals)
                if n - left.sum() < 0.5:
                    continue  # nothing is left on the right: no cut
                value = _core.cut_value(left, totals, criterion)[0]
                assert value <= bounds[b] + 16.0 * noise + 1e-12 * abs(bounds[b]), f"seed {seed}, bin {b}"
            before += table[:, b]


def test_table_1_2_of_the_thesis_has_its_gains_and_trees():
    with open(published.FOLDER / "hhcart_table_1_2_sample.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row["X1"]), float(row["X2"])] for row in rows])
    y = np.array([int(row["Y"]) - 1 for row in rows])
    split = search(X, y, None, 2, "gini", [Candidates.axes()])
    assert split.coef.tolist() == [1.0, 0.0]
    assert split.threshold == pytest.approx(4.55)
    assert round(split.gain, 4) == 0.1636  # thesis 1.8.1
    plane = Candidates.directions(np.array([[0.0, 1.0]]), np.array([2.8]))
    assert round(search(X, y, None, 2, "gini", [plane]).gain, 6) == 0.015018  # thesis 1.8.1
    # The greedy tree has 5 leaves, and a worse first split leads to 4.
    options = {"criterion": "gini", "stopping": Stopping(min_parent=1)}
    tree = grow("axis_parallel", X, y, **options)
    assert tree.n_leaves == 5 and tree.errors[tree.is_leaf].sum() == 0
    low = X[:, 1] <= 2.8
    assert sum(grow("axis_parallel", X[side], y[side], 2, **options).n_leaves for side in (low, ~low)) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criterion": "ginni"}, "unknown criterion 'ginni'; there are gini, entropy, twoing, "),
        ({"y": np.array([0, 5], dtype=np.int32)}, "y must hold codes from 0 to n_classes - 1"),
        ({"y": np.array([0], dtype=np.int32)}, "X and y must have the same number of rows"),
        ({"weights": np.ones(3)}, "X and weights must have the same number of rows"),
        ({"candidates": [("reflection", np.ones(3))]}, "a reflection needs one component per feature"),
        ({"candidates": [("directions", np.ones((1, 3)), None)]}, "directions need one component per feature"),
        ({"candidates": [("directions", np.ones((1, 2)), np.ones(2))]}, "directions and thresholds must have the same"),
        ({"candidates": [("spiral",)]}, "a candidate is 'axes', 'reflection' or 'directions'"),
        ({"without": ["magic"]}, "the search has no tactic 'magic'"),
    ],
)
def test_the_compiled_search_refuses_what_does_not_fit(change, message):
    arguments = {
        "X": np.array([[0.0, 1.0], [1.0, 2.0]]),
        "y": np.array([0, 1], dtype=np.int32),
        "weights": None,
        "n_classes": 2,
        "criterion": "gini",
        "candidates": [("axes",)],
        "min_leaf": 1.0,
        "strict_ties": False,
        "exhaustive": False,
    } | change
    with pytest.raises(ValueError, match=message):
        _core.search(**arguments)


# The search of forests along axes, which ranks make fast

FOREST_OPTIONS = {
    "split": "axis",
    "mtry": 0,
    "minleaf": 1.0,
    "max_depth": -1,
    "bootstrap": True,
    "max_samples": 0,
    "tree_features": 0,
    "node_bootstrap": False,
    "group_size": 0,
    "scaling": "range",
}
FOREST_KINDS = {
    "every feature": {},
    "some features": {"mtry": 2},
    "rotated": {"group_size": 2},
    "rows drawn again": {"node_bootstrap": True, "mtry": 2},
    "all rows": {"bootstrap": False},
}


def table(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 300))
    X = rng.normal(size=(n, 4))
    X[:, 1] = rng.integers(0, 5, n)  # few values
    X[:, 2] = np.round(X[:, 2], 1)
    X[:, 3] = -0.0 if seed % 2 else X[:, 0]  # never varies, or a copy
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(np.int32) + 2 * (X[:, 1] > 3).astype(np.int32)
    return np.ascontiguousarray(X), y.astype(np.int32), rng


def grown(X, y, weights, kind, without):
    forest = _core.Forest(4, 4, 7)
    forest.grow(X, y, weights, FOREST_OPTIONS | FOREST_KINDS[kind], 3, 1, [], without)
    return forest.state()


@few(
    kind=FOREST_KINDS,
    without=[*([name] for name in _core.axis_tactics()), _core.axis_tactics()],
    weighted=["not", "wholly", "really"],
)
def test_a_forest_without_a_tactic_is_the_same(kind, without, weighted):
    for seed in range(12):
        X, y, rng = table(seed)
        weights = {"not": None, "wholly": rng.integers(1, 4, len(y)) * 1.0, "really": rng.uniform(1.0, 9.0, len(y))}
        usual, plain = (grown(X, y, weights[weighted], kind, some) for some in ([], without))
        for tree, other in zip(usual, plain, strict=True):
            assert tree.keys() == other.keys()
            for name in tree:
                # Reals are added up in another order, which the last digits of the credit of features tell.
                if name == "importance" and weighted == "really":
                    np.testing.assert_allclose(tree[name], other[name], rtol=1e-9, atol=1e-9)
                else:
                    np.testing.assert_array_equal(tree[name], other[name], f"seed {seed}: {name}")


def test_a_tactic_that_there_is_not_is_refused():
    X, y, _ = table(0)
    with pytest.raises(ValueError, match="no tactic 'bins'"):
        grown(X, y, None, "every feature", ["bins"])
