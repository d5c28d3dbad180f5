"""The line search under OC1 against every hyperplane of a line scored by hand, and what a climb of a node promises."""

from itertools import pairwise

import numpy as np
import pytest
from contracts import CRITERION_NAMES, real_set
from covering import few
from oracles import gains

import oblique_cli._core as _core
from oblique_cli.proposers.oc1 import CARTLC, OC1

SEARCH = {"min_leaf": 1.0, "exhaustive": False}
OC1_OPTIONS = OC1(restarts=4, jumps=3).native_options()
CARTLC_OPTIONS = CARTLC().native_options()


def line_case(seed):
    """Values, directions of both signs and zeros, labels and weights of a small or middling node, ties included."""
    rng = np.random.default_rng([11, seed])
    n, n_classes = int(rng.integers(2, 200 if seed % 4 == 0 else 40)), int(rng.integers(2, 5))
    v, c = rng.normal(size=n), rng.normal(size=n)
    if seed % 3 == 1:
        v, c = rng.integers(-3, 4, n).astype(float), rng.integers(-2, 3, n).astype(float)
    elif seed % 3 == 2:
        c = np.abs(c) + 0.1
    weights = [None, rng.integers(1, 4, n).astype(float), rng.uniform(1.0, 3.0, n)][rng.integers(3)]
    return v, c, rng.integers(0, n_classes, n).astype(np.int32), n_classes, weights


def class_weights(y, n_classes, weights):
    return np.bincount(y, weights=weights, minlength=n_classes).astype(float)


def score(goes_left, y, n_classes, weights, criterion):
    """Published gain of a split, or None if a side is empty."""
    if goes_left.all() or not goes_left.any():
        return None
    w = np.ones(len(y)) if weights is None else weights
    left = class_weights(y[goes_left], n_classes, w[goes_left])
    return gains(left[None, :], class_weights(y, n_classes, w), criterion)[0]


def middles(t):
    values = np.unique(t)
    keep = np.append(True, np.diff(values) > 1e-9)
    return (values[keep][:-1] + values[keep][1:]) / 2.0


def score_at(t, case, criterion, exact):
    """Score of the hyperplane at step t; unless exact, of the split at t of the steps of the rows that have one."""
    v, c, y, n_classes, weights = case
    if exact:
        return score(v - t * c <= 0, y, n_classes, weights, criterion)
    moves = c != 0
    w = None if weights is None else weights[moves]
    return score(v[moves] / c[moves] <= t, y[moves], n_classes, w, criterion)


def search(case, criterion, exact, direct=False, strict=False):
    v, c, y, n_classes, weights = case
    return _core.line_search(v, c, y, weights, n_classes, criterion, exact, strict, direct)


@pytest.mark.parametrize("exact", [True, False], ids=["hyperplanes", "splits of the steps"])
@few(1, criterion=CRITERION_NAMES, direct=[False, True])
def test_the_search_finds_the_best_step_of_the_line(exact, criterion, direct):
    for seed in range(60):
        case = line_case(seed)
        v, c = case[:2]
        scores = [score_at(t, case, criterion, exact) for t in middles(v[c != 0] / c[c != 0])]
        best = max((s for s in scores if s is not None), default=0.0)
        step = search(case, criterion, exact, direct)
        if best <= 1e-12:
            assert step is None, seed
        else:
            assert score_at(step[0], case, criterion, exact) == pytest.approx(best, rel=2e-9), seed


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_crowded_bins_are_divided_without_missing_the_best_step(criterion):
    # Most steps lie in a thousandth of the range, some of them nearer to each other than two steps may be.
    rng = np.random.default_rng(13)
    for exact in (False, True):
        for seed in range(20):
            n, n_classes = 3000 if seed % 2 else int(rng.integers(50, 1500)), int(rng.integers(2, 12))
            v = rng.normal(size=n) * np.where(rng.random(n) < 0.95, 1e-3, 1.0)
            if seed % 3 == 1:
                v = np.round(v, 4)
            elif seed % 3 == 2:
                v = np.round(v, 4) + rng.integers(0, 3, n) * 1e-11
            c = np.full(n, 1.0) if seed % 2 else rng.choice([-1.0, 0.0, 1.0, 2.0], n)
            y = ((v > 2e-4) * rng.integers(0, n_classes, n)).astype(np.int32)
            case = (v, c, y, n_classes, rng.uniform(1.0, 3.0, n) if seed % 5 == 0 else None)
            fast, slow = search(case, criterion, exact), search(case, criterion, exact, direct=True)
            assert (fast is None) == (slow is None), seed
            if slow is not None:
                assert fast == pytest.approx(slow, rel=1e-12), seed


def test_a_line_along_which_no_row_moves_has_no_step():
    y = np.array([0, 1, 0], dtype=np.int32)
    lines = (
        ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]),
        ([0.0, 0.0, 0.0], [1.0, -1.0, 2.0]),
        ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0]),
    )
    for v, c in lines:
        for exact in (False, True):
            assert search((np.array(v), np.array(c), y, 2, None), "gini", exact) is None


def climb(X, y, family="oc1", criterion="gini", weights=None, seed=1, path=1, strict=False, **options):
    options = (OC1_OPTIONS if family == "oc1" else CARTLC_OPTIONS) | options
    options |= SEARCH | {"criterion": criterion, "strict_ties": strict, "seed": seed}
    split = _core.split(X, y, weights, int(y.max()) + 1, family, options, path)
    return split[:3] if split is not None and split[3] else None


def axis_parallel(X, y, criterion, weights=None):
    return _core.search(X, y, weights, int(y.max()) + 1, criterion, [("axes",)], 1.0, False, False)


SETTINGS = [
    ("oc1", {}),
    ("oc1", {"exact": True}),
    ("oc1", {"order": "best"}),
    ("oc1", {"order": "r50"}),
    ("oc1", {"stagnation": 0.0}),
    ("oc1", {"standardization": "none"}),
    ("oc1", {"restarts": 1, "jumps": 0}),
    ("oc1_lc", {}),
    ("oc1_lc", {"backward_elimination": True}),
    ("oc1_lc", {"sweep_tol": 0.0}),
    ("oc1_lc", {"standardization": "none"}),
    ("oc1_lc", {"standardization": "range", "rows_per_feature": 0.0}),
]


@pytest.mark.parametrize(("family", "options"), SETTINGS)
@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_a_hyperplane_is_better_than_the_axis_parallel_split_and_scores_what_it_says(family, options, criterion):
    found_any = False
    for name in ("bupa", "iris", "wine", "glass"):
        data = real_set(name)
        for weights in (None, np.random.default_rng(3).uniform(1.0, 2.0, data.n)):
            result = climb(data.X, data.y, family, criterion, weights, **options)
            if result is None:
                continue
            found_any = True
            normal, threshold, gain = result
            assert np.linalg.norm(normal) == pytest.approx(1.0)
            goes_left = np.asarray(_core.project(data.X, normal)) <= threshold
            assert gain == pytest.approx(score(goes_left, data.y, len(data.classes), weights, criterion), rel=1e-9)
            start = axis_parallel(data.X, data.y, criterion, weights)
            assert start is None or gain > start[2]
    assert found_any


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("order", ["sequential", "best", "r50"])
@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_the_direct_program_finds_the_same_hyperplane(exact, order, criterion):
    for name in ("bupa", "iris", "glass"):
        data = real_set(name)
        fast, slow = (
            climb(data.X, data.y, "oc1", criterion, direct=direct, exact=exact, order=order) for direct in (False, True)
        )
        assert (fast is None) == (slow is None)
        if slow is not None:
            np.testing.assert_allclose(fast[0], slow[0], atol=1e-8)
            assert fast[2] == pytest.approx(slow[2], rel=1e-12)


def test_a_hyperplane_through_a_corner_is_found_where_no_axis_helps():
    rng = np.random.default_rng(4)
    X = rng.uniform(1.0, 2.0, size=(200, 2))
    y = (X[:, 0] > X[:, 1]).astype(np.int32)
    for family in ("oc1", "oc1_lc"):
        normal, threshold, gain = climb(X, y, family, restarts=10) if family == "oc1" else climb(X, y, family)
        assert gain > 0.4
        goes_left = X @ normal <= threshold
        assert max((goes_left == y).mean(), (goes_left != y).mean()) > 0.95


def test_equal_names_give_equal_bits_and_other_names_other_streams():
    data = real_set("bupa")
    first = climb(data.X, data.y, restarts=3)
    again = climb(data.X, data.y, restarts=3)
    np.testing.assert_array_equal(first[0], again[0])
    others = [climb(data.X, data.y, restarts=3, seed=seed, path=path)[2] for seed, path in ((2, 1), (1, 2), (1, 3))]
    assert len({first[2], *others}) > 1


def test_nodes_of_at_most_twice_as_many_rows_as_features_keep_the_axis_parallel_split():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(8, 4))
    y = (X.sum(axis=1) > 0).astype(np.int32)
    for family in ("oc1", "oc1_lc"):
        assert climb(X, y, family) is None
    assert climb(X, y, "oc1_lc", rows_per_feature=0.0) is not None
    # Weight counts as rows: now there is room for the oblique cut, which no axis-parallel one equals.
    X = np.array([[0.0, 3.0], [1.0, 1.5], [3.0, 0.0], [2.9, 2.9]])
    y = np.array([0, 0, 0, 1], dtype=np.int32)
    assert climb(X, y) is None
    assert climb(X, y, weights=np.array([1.0, 2.0, 2.0, 2.0]), restarts=20) is not None


@pytest.mark.parametrize(
    ("family", "standardization", "rtol"),
    [
        *(("oc1_lc", standardization, 1e-9) for standardization in ("deviation", "range", "none")),
        *(("oc1", standardization, 0.0) for standardization in ("range", "none")),
    ],
)
def test_only_without_standardization_does_the_unit_of_a_feature_matter(family, standardization, rtol):
    data = real_set("glass")
    if family == "oc1":
        units = 2.0 ** np.array([0, 3, -4, 5, 0, 2, -7, 0, 3])  # powers of two, which change no other bit
    else:
        units = np.array([1.0, 3.0, 0.1, 20.0, 1.0, 7.0, 0.01, 1.0, 5.0])
    options = {"restarts": 5} if family == "oc1" else {}
    plain, scaled = (
        climb(X, data.y, family, standardization=standardization, **options) for X in (data.X, data.X * units)
    )
    assert np.isclose(plain[2], scaled[2], rtol=rtol, atol=0.0) == (standardization != "none")


def test_more_restarts_are_never_worse_and_none_leaves_the_axis_parallel_split():
    for name in ("bupa", "glass"):
        data = real_set(name)
        assert climb(data.X, data.y, restarts=0) is None
    planes = [climb(data.X, data.y, restarts=restarts) for restarts in (1, 2, 5, 20)]
    reached = [plane[2] if plane else 0.0 for plane in planes]
    assert all(b >= a * (1 - 1e-9) for a, b in pairwise(reached))


def test_backward_elimination_drops_features_that_say_nothing():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(400, 8))
    y = (X[:, 0] + X[:, 1] > 0).astype(np.int32)
    full, reduced = (climb(X, y, "oc1_lc", backward_elimination=flag) for flag in (False, True))
    assert np.count_nonzero(reduced[0]) < np.count_nonzero(full[0])
    assert np.abs(reduced[0][:2]).min() > 0.3
