"""Tree alternating optimization: the objective falls, nodes are solved as well as by trying every plane."""

import itertools

import numpy as np
import pytest

from oblique_cli.proposers.hhgdt import HHGDT
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.payloads import LeafModels, softmax
from oblique_cli.tree.refining import LeafPrior, PlaneSpace, Settings, along_path, penalties_of, random_tree
from oblique_cli.tree.structure import Tree

GROWING = Settings(split_leaves=True)


def planted(seed: int, n: int = 600, p: int = 4, depth: int = 3, noise: float = 0.05, n_classes: int = 3):
    """Rows of a complete tree of random planes whose siblings differ in class, with some labels drawn anew."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    places = [np.arange(n)]
    for _ in range(depth):
        halves = []
        for rows in places:
            direction = rng.normal(size=p)
            along = X[rows] @ direction
            halves += [rows[along <= np.median(along)], rows[along > np.median(along)]]
        places = halves
    y = np.empty(n, dtype=np.int32)
    for number, rows in enumerate(places):
        y[rows] = (number + number // 2) % n_classes
    wrong = rng.random(n) < noise
    y[wrong] = rng.integers(0, n_classes, size=wrong.sum())
    return np.ascontiguousarray(X), y


def grown(X, y, n_classes, weights=None, levels=None, missing=False) -> Tree:
    return grow_top_down(X, y, n_classes, HHGDT(), weights=weights, levels=levels, missing=missing)


@pytest.mark.parametrize("settings", [Settings(), GROWING], ids=["paper", "split_leaves"])
def test_the_objective_never_rises_and_is_what_the_tree_says(settings):
    X, y = planted(0, noise=0.2)
    space = PlaneSpace(X, y, 3)
    path = along_path(grown(X, y, 3), space, penalties_of(space, 8), settings)
    for tree, run in zip(path.trees, path.runs, strict=True):
        assert (np.diff(run.objective) <= 1e-12).all()
        assert run.objective[run.node < 0][-1] == run.objective[-1]
        planes = space.begin(tree)
        lengths = np.abs(planes["w"]).sum()
        wrong = np.mean(tree.labels[tree.apply(X)] != y)
        assert run.objective[-1] == pytest.approx(wrong + run.penalty * lengths, abs=1e-9)
    assert path.trees[-1].n_leaves == 1
    sizes = [tree.n_leaves for tree in path.trees]
    assert sizes[0] > sizes[-2] >= 1


def best_stump(X, y, weights, penalty: float) -> float:
    """The least objective of one plane over two standardized features, by trying a plane through every pair of rows."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    best = min(weights[y == 0].sum(), weights[y == 1].sum())
    directions = [np.eye(2)[0], np.eye(2)[1]]
    for i, j in itertools.combinations(range(len(Z)), 2):
        d = Z[j] - Z[i]
        normal = np.array([-d[1], d[0]]) / np.hypot(*d)
        for turn in (1e-7, -1e-7):
            turned = normal + turn * np.array([normal[1], -normal[0]])
            directions.append(turned / np.hypot(*turned))
    for w in directions:
        along = Z @ w
        price = penalty * np.abs(w).sum()
        for cut in np.append(np.sort(along), -np.inf):
            left = along <= cut
            for code in (0, 1):
                wrong = weights[left & (y == code)].sum() + weights[~left & (y != code)].sum()
                best = min(best, wrong + (price if left.any() and not left.all() else 0.0))
    return float(best)


@pytest.mark.long
@pytest.mark.parametrize("penalty", [0.0, 0.4, 1.5])
def test_small_nodes_are_solved_as_well_as_by_trying_every_plane(penalty):
    exact = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(11, 2))
        y = (X @ rng.normal(size=2) + 0.7 * rng.normal(size=11) > 0).astype(np.int32)
        space = PlaneSpace(X, y, 2)
        start = random_tree(space, 1, rng)
        least = best_stump(X, y, np.ones(11), penalty)
        alone = along_path(start, space, [penalty / 11], Settings())
        assert 11 * alone.runs[0].objective[-1] >= least - 1e-9 or alone.trees[0].n_leaves > 2
        value = 11 * along_path(start, space, [penalty / 11], Settings(split_leaves=True)).runs[0].objective[-1]
        assert value < least + 1.0  # less than a row more
        exact += value <= least + 1e-6
    assert exact >= 10


def least_wrong(along, side, weights) -> float:
    """The least weight on the wrong side of any cut, larger values to the right; NaN go together to the better side."""
    lacking = np.isnan(along)
    block = min(weights[lacking & (side == code)].sum() for code in (0, 1))
    order = np.argsort(along[~lacking])
    values, right, weight = along[~lacking][order], side[~lacking][order], weights[~lacking][order]
    wrong = np.cumsum(np.where(right == 1, weight, 0.0)) + (weight @ (right == 0)) - np.cumsum(weight * (right == 0))
    cuts = np.flatnonzero(np.diff(values) > 1e-9 * np.abs(values).max())
    return float(block + wrong[cuts].min())


def rows_of_a_large_node(kind: str, p: int):
    """Rows enough for bins, the last feature telling most of the sides; a tenth of the values is missing in some."""
    rng = np.random.default_rng([len(kind), p])
    n = 700
    X = np.round(2 * rng.normal(size=(n, p))) if kind == "few values" else rng.normal(size=(n, p))
    if kind == "outliers":
        X[rng.integers(0, n, 5)] *= 1e6
    side = (X[:, -1] + 0.5 * rng.normal(size=n) > 0.3).astype(np.int32)
    weights = rng.uniform(0.5, 3.0, n) if kind == "weights" else np.ones(n)
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    return np.ascontiguousarray(X), side, weights / weights.min()


def stump_planes(w, b: float):
    """A tree of one plane, class 0 to the left, as the core takes it."""
    return {
        "left": np.array([1, -1, -1], dtype=np.int32),
        "right": np.array([2, -1, -1], dtype=np.int32),
        "w": np.vstack([w, np.zeros((2, len(w)))]),
        "b": np.array([b, 0.0, 0.0]),
        "missing_left": np.zeros(3, dtype=bool),
        "labels": np.array([0, 0, 1], dtype=np.int32),
    }


@pytest.mark.parametrize("p", [1, 5, 70])
@pytest.mark.parametrize("kind", ["plain", "few values", "weights", "missing", "outliers"])
def test_large_nodes_have_a_plane_as_good_as_the_best_cut_of_any_feature(kind, p):
    X, side, weights = rows_of_a_large_node(kind, p)
    space = PlaneSpace(X, side, 2, weights)
    least = min(least_wrong(sign * X[:, j], side, weights) for j in range(p) for sign in (1.0, -1.0))
    planes = stump_planes(np.eye(p)[-1], -float(np.quantile(space.Z[:, -1], 0.8)))
    for price in (0.0, 5.0):
        _, run = space.step(planes, price / space.total, Settings())
        assert run.objective[-1] * space.total <= least + price + 1e-6
        assert run.objective[0] * space.total > least + price + 20.0


@pytest.mark.parametrize("p", [2, 5, 19])
@pytest.mark.parametrize("kind", ["plain", "weights", "missing"])
def test_large_nodes_have_a_plane_as_good_as_the_best_cut_along_the_present_one(kind, p):
    X, _, weights = rows_of_a_large_node(kind, p)
    X[:, 1:] = np.nan_to_num(X[:, 1:])
    rng = np.random.default_rng(p)
    w = rng.normal(size=p)
    w /= np.linalg.norm(w)
    side = (np.nan_to_num(X) @ w + 0.3 * rng.normal(size=len(X)) > 0.4).astype(np.int32)
    space = PlaneSpace(X, side, 2, weights)
    planes = stump_planes(w, -0.1)
    price = 2.0
    along = np.where(space.absent.any(axis=1), np.nan, space.Z @ w) if space.absent is not None else space.Z @ w
    limit = least_wrong(along, side, weights) + price * np.abs(w).sum()
    _, run = space.step(planes, price / space.total, Settings())
    assert run.objective[-1] * space.total <= limit + 1e-6


@pytest.mark.parametrize("missing", [False, True])
def test_the_objective_is_what_the_tree_says_of_many_rows(missing):
    X, y = planted(13, n=3000, depth=5, noise=0.1)
    if missing:
        X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    weights = np.random.default_rng(2).uniform(1.0, 2.0, len(X))
    space = PlaneSpace(X, y, 3, weights)
    path = along_path(grown(X, y, 3, weights, missing=missing), space, [0.0005, 0.002], GROWING)
    for tree, run in zip(path.trees, path.runs, strict=True):
        wrong = weights @ (tree.labels[tree.apply(X)] != y) / weights.sum()
        lengths = np.abs(space.begin(tree)["w"]).sum()
        assert run.objective[-1] == pytest.approx(wrong + run.penalty * lengths, abs=1e-9)
        assert tree.n_leaves > 4


@pytest.mark.parametrize("n_classes", [2, 8, 9, 17])
@pytest.mark.parametrize("n", [1, 6, 301])
def test_a_row_costs_the_log_loss_of_the_model_of_its_leaf(n_classes, n):
    rng = np.random.default_rng([n_classes, n])
    X = np.ascontiguousarray(rng.normal(size=(n, 3)))
    scores = rng.normal(size=(n_classes, 4))
    shares = softmax(X @ scores[:, :3].T + scores[:, 3])
    y = rng.integers(0, n_classes, n).astype(np.int32)
    space = PlaneSpace(X, y, n_classes)
    alone = random_tree(space, 1, rng).collapse(np.ones(1 if n == 1 else 3, dtype=bool))

    def made(result):
        return LeafModels(np.zeros(3), np.ones(3), result[:, :, :3], result[:, :, 3])

    # A ridge so large that the leaf adds nothing to the model of all rows.
    path = along_path(alone, space, [0.0], Settings(), LeafPrior(scores, X, 1e12, made))
    assert path.runs[0].objective[-1] == pytest.approx(-np.log(shares[np.arange(n), y]).mean(), abs=1e-9)
    np.testing.assert_allclose(path.trees[0].predicted_shares(X), shares, atol=1e-9)


@pytest.mark.parametrize("surrogate", ["logistic", "squared_hinge"])
def test_neither_threads_nor_searches_of_earlier_runs_change_a_bit(surrogate):
    X, y = planted(5, noise=0.2)
    start, used = grown(X, y, 3), PlaneSpace(X, y, 3)
    first, *others = (
        along_path(start, space, [0.001, 0.004], Settings(surrogate, split_leaves=True, threads=threads))
        for space, threads in ((used, 1), (used, 1), (PlaneSpace(X, y, 3), 3))
    )
    for other in others:
        for a, b in zip(first.trees, other.trees, strict=True):
            assert a.coef_.tobytes() == b.coef_.tobytes()
            assert a.thresholds.tobytes() == b.thresholds.tobytes()
        assert all(np.array_equal(a.objective, b.objective) for a, b in zip(first.runs, other.runs, strict=True))


def test_a_row_of_weight_two_is_two_rows():
    X, y = planted(6, n=150, noise=0.2)
    twice = np.arange(150) < 40
    weights = np.where(twice, 2.0, 1.0)
    weighted = PlaneSpace(X, y, 3, weights)
    doubled = PlaneSpace(np.vstack([X, X[twice]]), np.append(y, y[twice]), 3)
    start = grown(X, y, 3)
    a = along_path(start, weighted, [0.01], Settings())
    b = along_path(start, doubled, [0.01], Settings())
    assert a.runs[0].objective[0] == pytest.approx(b.runs[0].objective[0], abs=1e-12)
    assert a.runs[0].objective[-1] == pytest.approx(b.runs[0].objective[-1], abs=0.02)
    assert a.trees[0].counts[0] == pytest.approx(b.trees[0].counts[0])


def test_levels_get_weights_of_their_own():
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.normal(size=400), rng.integers(0, 5, size=400)])
    shift = np.array([2.0, -2.0, 0.0, 1.0, -1.0])
    y = (X[:, 0] + shift[X[:, 1].astype(int)] > 0).astype(np.int32)
    levels = (0, 5)
    space = PlaneSpace(X, y, 2, levels=levels)
    start = grown(X, y, 2, levels=levels)
    planes = space.begin(start)
    again = space.tree(planes, as_it_is=True)
    np.testing.assert_array_equal(again.apply(X), start.apply(X))
    tree = along_path(random_tree(space, 1, rng), space, [0.0], Settings()).trees[0]
    assert tree.n_leaves == 2
    assert (tree.labels[tree.apply(X)] == y).mean() > 0.99
    scores = tree.level_scores[0] * tree.coef_[0, 1] / tree.coef_[0, 0]
    np.testing.assert_allclose(scores - scores[2], shift, atol=0.5)
    unseen = np.array([[0.0, np.nan], [0.0, 9.0]])
    assert tree.apply(unseen)[0] == tree.apply(unseen)[1]


def test_missing_values_go_the_way_that_is_better():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(np.int32)
    lacking = rng.random(300) < 0.2
    y[lacking] = 1
    X[lacking, 0] = np.nan
    space = PlaneSpace(X, y, 2)
    start = grown(X, y, 2, missing=True)
    shallow = start.collapse(start.depths >= 2)
    path = along_path(shallow, space, [0.001], GROWING)
    tree = path.trees[0]
    assert tree.missing_left is not None
    assert (tree.labels[tree.apply(X)] == y).mean() >= (shallow.labels[shallow.apply(X)] == y).mean()
    assert (tree.labels[tree.apply(X)] == y).mean() > 0.95
    assert (np.diff(path.runs[0].objective) <= 1e-12).all()


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((10, 2)), np.arange(10) % 2),  # constant columns
        (np.arange(10.0)[:, None], np.zeros(10)),  # one class
        (np.array([[1.0, 2.0]]), np.array([0])),  # one row
        (np.repeat(np.arange(3.0), 4)[:, None], np.arange(12) % 2),  # rows of one place in both classes
        (np.random.default_rng(0).normal(size=(8, 40)), np.arange(8) % 2),  # more features than rows
        (np.column_stack([np.arange(20.0)] * 3), np.arange(20) // 10),  # equal columns
        (1e12 + np.arange(30.0)[:, None], np.arange(30) // 10 % 2),  # far from 0
    ],
    ids=["constant", "one class", "one row", "ties", "wide", "equal columns", "far"],
)
def test_degenerate_nodes(X, y):
    codes = y.astype(np.int32)
    space = PlaneSpace(X, codes, 2)
    starts = [grown(X, codes, 2), random_tree(space, 3, np.random.default_rng(0))]
    for start in starts:
        path = along_path(start, space, [0.0, 0.05, 0.5], GROWING)
        for tree, run in zip(path.trees, path.runs, strict=True):
            assert (np.diff(run.objective) <= 1e-12).all()
            assert tree.counts[0].sum() == len(X)
            assert (tree.n_rows > 0).all()
            assert np.mean(tree.labels[tree.apply(X)] != codes) <= np.mean(start.labels[start.apply(X)] != codes) or (
                run.penalty > 0
            )


def test_a_run_that_is_cut_short_says_so():
    X, y = planted(11, noise=0.3)
    space = PlaneSpace(X, y, 3)
    run = along_path(random_tree(space, 5, np.random.default_rng(0)), space, [0.0], Settings(max_sweeps=1)).runs[0]
    assert run.sweeps == 1
    assert not run.converged
