"""Boosting: trees and steps are those of plain programs, by exact search and by histograms, which lose nothing."""

import pickle
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from contracts import real_set
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.forest.boosting import FEW_ROWS, MOST_ROUNDS, ObliqueBoostingClassifier
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.tree.splitting import PROPOSERS

EVERYTHING: dict[str, Any] = {"max_features": None, "max_samples": None, "random_state": 0}


def data_of(seed: int, n: int = 80, p: int = 3, n_classes: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, p)) + rng.normal(size=(n_classes, p))[y], y


def softmax(scores: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def start_of(y: np.ndarray) -> np.ndarray:
    """Scores of all rows before the first tree, (n, K)."""
    share = np.bincount(y) / len(y)
    return np.tile(np.log(share) if len(share) > 2 else [0.0, np.log(share[1] / share[0])], (len(y), 1))


def add_steps(scores: np.ndarray, y: np.ndarray, leaves: list[np.ndarray], rate: float, l2: float) -> None:
    """Add the Newton step of each leaf, whose rows `leaves` has, to the scores of its rows."""
    p, n_classes = softmax(scores), scores.shape[1]
    for rows in leaves:
        for k in range(1 if n_classes == 2 else 0, n_classes):
            gradient, curvature = ((y == k) - p[:, k])[rows].sum(), (p[:, k] * (1 - p[:, k]))[rows].sum()
            step = gradient / (curvature + l2) * ((n_classes - 1) / n_classes if n_classes > 2 else 1)
            scores[rows, k] += rate * step


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_a_plain_program(n_classes: int):
    """Single trees on rows weighted by their gradients, and Newton steps written out."""
    X, y = data_of(1, n_classes=n_classes)
    rate, l2, rounds = 0.3, 0.7, 5
    how = {"learning_rate": rate, "l2_regularization": l2, "min_child_weight": 0, "max_depth": 3, **EVERYTHING}
    model = ObliqueBoostingClassifier("hhgdt", n_estimators=rounds, max_bins=None, **how).fit(X, y)
    scores = start_of(y)
    for _ in range(rounds):
        weights = 1.0 - softmax(scores)[np.arange(len(y)), y]
        tree = ObliqueTreeClassifier("hhgdt", criterion="gini", max_depth=3, min_parent=1, max_misrate=0)
        leaves = tree.fit(X, y, sample_weight=weights / weights.min()).tree_.apply(X)
        add_steps(scores, y, [leaves == leaf for leaf in np.unique(leaves)], rate, l2)
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores), rtol=1e-9)
    loss = -np.log(softmax(scores)[np.arange(len(y)), y]).mean()
    assert model.training_loss_[-1] == pytest.approx(loss)


def test_rows_of_weight_two_are_rows_twice_and_more_rounds_begin_with_the_trees_of_fewer():
    X, y = data_of(3)
    times = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    model = ObliqueBoostingClassifier(n_estimators=6, **EVERYTHING)
    a, b = clone(model).fit(X, y, sample_weight=times), clone(model).fit(X[rows], y[rows])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6)
    data = real_set("wine")
    few, many = (make("oblique_boosting", n_estimators=k, random_state=0).fit(data.X, data.y) for k in (5, 12))
    assert pickle.dumps(few.forest_.state()) == pickle.dumps(many.forest_.state()[:5])


def test_rows_kept_for_validation_stop_growth_at_their_least_loss():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(2, size=300)  # nothing to be learned
    model = ObliqueBoostingClassifier(n_estimators=200, n_iter_no_change=5, tol=0, random_state=0).fit(X, y)
    rounds = len(model.validation_loss_)
    assert rounds < 200 and model.n_estimators_ == len(model.forest_) == int(np.argmin(model.validation_loss_)) + 1
    assert rounds == model.n_estimators_ + 5
    assert len(model.leaf_values_) == model.n_leaves_
    data = real_set("wine")
    wine = ObliqueBoostingClassifier(n_estimators=60, n_iter_no_change=10, random_state=0).fit(data.X, data.y)
    assert wine.validation_loss_[wine.n_estimators_ - 1] < 0.3 and wine.score(data.X, data.y) > 0.95


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n", [200, FEW_ROWS])
def test_auto_rounds_are_those_of_the_lowest_validation_loss_and_all_rows_grow_them(task, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    signal = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n)
    name = "oblique_boosting" if task == "classification" else "oblique_boosting_regression"
    y = signal > 0 if task == "classification" else signal
    how = {"learning_rate": 0.4, "random_state": 3}
    model = make(name, **how).fit(X, y)
    assert 1 < model.n_estimators_ < MOST_ROUNDS
    same = make(name, n_estimators=model.n_estimators_, **how).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert pickle.dumps(model.forest_.state()) == pickle.dumps(same.forest_.state())
    if n == FEW_ROWS:
        assert make(name, **how).fit(X, rng.permutation(y)).n_estimators_ < model.n_estimators_


@pytest.mark.parametrize("name", ["oblique_boosting", "oblique_boosting_regression"])
def test_a_plane_has_at_most_so_many_features(name):
    X, y = data_of(4, p=20, n_classes=2)
    for most in (3, 8, None):
        model = make(name, n_estimators=6, max_plane_features=most, random_state=0).fit(X, y)
        planes = [tree["coef"].reshape(-1, tree["width"]) for tree in model.forest_.state()]
        assert np.count_nonzero(np.vstack(planes), axis=1).max() == (most or 10) == planes[0].shape[1]


def test_auto_rounds_take_a_number_of_rows_that_a_division_does_not_leave():
    data = real_set("iris")
    model = make("oblique_boosting", max_samples=len(data.y), random_state=0).fit(data.X, data.y)
    assert model.score(data.X, data.y) > 0.95
    with pytest.raises(ConfigError, match="must be at most the number of rows"):
        make("oblique_boosting", max_samples=len(data.y) + 1).fit(data.X, data.y)


def test_auto_rounds_keep_groups_together():
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(40), 6)
    X = rng.normal(size=(40, 3))[patient]  # the rows of a patient are equal, so more rounds help divisions by rows
    y = rng.integers(2, size=40)[patient]
    boosting = make("oblique_boosting", learning_rate=0.4, random_state=0)
    by_rows, by_patients = (boosting.fit(X, y, groups=groups).n_estimators_ for groups in (None, patient))
    assert by_patients < 20 < by_rows
    assert boosting.fit(X, y, groups=np.zeros(len(y))).n_estimators_ == 100


@pytest.mark.parametrize("y", [[0, 1] * 6, [0] * 11 + [1], [0, 1, 2, 3], [0] * 40 + [1] * 2 + [2]])
def test_auto_rounds_of_few_rows(y):
    X = np.random.default_rng(2).normal(size=(len(y), 3))
    model = make("oblique_boosting", random_state=0).fit(X, y)
    shares = model.predict_proba(X)
    assert np.isfinite(shares).all() and 1 <= model.n_estimators_ <= MOST_ROUNDS
    numbers = make("oblique_boosting_regression", random_state=0)
    for targets in (np.asarray(y, float), np.full(len(y), 7.0)):
        assert np.isfinite(numbers.fit(X, targets).predict(X)).all()
    np.testing.assert_allclose(numbers.predict(X), 7.0)


def test_scores_shares_and_labels_go_together_and_separable_rows_do_not_diverge():
    for name in ("bupa", "iris"):
        data = real_set(name)
        model = make("oblique_boosting", n_estimators=10, random_state=0).fit(data.X, data.y)
        scores, shares = model.decision_function(data.X), model.predict_proba(data.X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(data.X), model.classes_[codes])
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        leaves = model.apply(data.X)
        first = np.concatenate([[0], np.cumsum([len(tree["label"]) for tree in model.forest_.state()])])
        sums = sum(
            model.leaf_values_[first[t] + ~tree["left"][leaves[:, t]]] for t, tree in enumerate(model.forest_.state())
        )
        np.testing.assert_allclose((sums + model.baseline_).squeeze(), scores)
    X = np.linspace(-1, 1, 40)[:, None] * [[1.0, 2.0]]
    y = (X[:, 0] > 0).astype(int)
    model = ObliqueBoostingClassifier(
        n_estimators=400, learning_rate=1.0, l2_regularization=0.0, min_child_weight=0, **EVERYTHING
    ).fit(X, y)
    assert model.score(X, y) == 1.0 and np.isfinite(model.leaf_values_).all()
    assert np.isfinite(model.training_loss_).all()


Array = np.ndarray


def in_order(left: Array, right: Array) -> list[int]:
    """Return the inner nodes from the root down, left before right."""
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if left[node] >= 0:
            order.append(node)
            waiting += [right[node], left[node]]
    return order


@dataclass
class Direction:
    """A direction with the rows' bins, each from its least to its largest value."""

    z: Array
    bins: Array
    low: Array
    high: Array
    used: int = 0


def binned(z: Array, max_bins: int, used: int = 0) -> Direction:
    """A bin for every value, or bins that take their share of the rows that are left."""
    values, counts = np.unique(z, return_counts=True)
    if len(values) <= max_bins:
        of_value = np.arange(len(values))
    else:
        of_value, bin_, held, left = np.zeros(len(values), int), 0, 0, len(z)
        for i, count in enumerate(counts):
            if i and bin_ < max_bins - 1 and held * (max_bins - bin_) >= left:
                bin_, left, held = bin_ + 1, left - held, 0
            held += count
            of_value[i] = bin_
    low = np.array([values[of_value == b].min() for b in range(of_value[-1] + 1)])
    high = np.array([values[of_value == b].max() for b in range(of_value[-1] + 1)])
    return Direction(z, of_value[np.searchsorted(values, z)], low, high, used)


def value_of(y: Array, weights: Array, n_classes: int) -> float:
    of_class = np.bincount(y, weights, n_classes)
    return float((of_class**2).sum() / of_class.sum())


def best_cut(directions: list[Direction], rows: Array, y: Array, weights: Array, n_classes: int) -> Any:
    """Number of the direction, the last bin on the left and the threshold, or None if no cut is worth anything."""
    best, result = value_of(y[rows], weights[rows], n_classes), None
    for d, direction in enumerate(directions):
        there = np.unique(direction.bins[rows])
        for below, above in pairwise(there):
            sides = [rows[direction.bins[rows] <= below], rows[direction.bins[rows] > below]]
            value = sum(value_of(y[side], weights[side], n_classes) for side in sides)
            if value > best * (1 + 1e-9):
                best, result = value, (d, below, (direction.high[below] + direction.low[above]) / 2)
    return result


@dataclass
class Grown:
    """The leaves of the rows, the splits from the root down, left before right, and their thresholds."""

    leaves: list[Array] = field(default_factory=list)
    splits: list[int] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)


def grow(directions: list[Direction], y: Array, weights: Array, n_classes: int, depth: int, round_: int) -> Grown:
    grown = Grown()

    def below(rows: Array, levels: int) -> None:
        pure = len(np.unique(y[rows])) < 2
        cut = None if pure or not levels else best_cut(directions, rows, y, weights, n_classes)
        if cut is None:
            grown.leaves.append(rows)
            return
        d, last, threshold = cut
        directions[d].used = round_
        grown.splits.append(d)
        grown.thresholds.append(threshold)
        goes_right = directions[d].bins[rows] > last
        below(rows[~goes_right], levels - 1)
        below(rows[goes_right], levels - 1)

    below(np.arange(len(y)), depth)
    return grown


def boosted(X: Array, y: Array, *, rounds: int, max_bins: int, depth: int, rate: float, l2: float) -> Any:
    """All rounds: grown trees and the last scores, (n, K)."""
    n_classes = int(y.max()) + 1
    directions, scores, trees = [binned(x, max_bins) for x in X.T], start_of(y), []
    for t in range(rounds):
        weights = 1.0 - softmax(scores)[np.arange(len(y)), y]
        weights /= weights.min()
        if t % 2 == 0:
            heuristic = PROPOSERS["hhgdt"](bisector_classes="all")  # as members of ensembles have it
            small = ObliqueTreeClassifier(heuristic, criterion="gini", max_depth=4, min_parent=1, max_misrate=0)
            tree = small.fit(X, y, sample_weight=weights).tree_
            for plane in tree.coef_[in_order(tree.left, tree.right)]:
                if np.count_nonzero(plane) < 2:
                    continue
                new = binned(sum(plane[j] * X[:, j] for j in range(X.shape[1])), max_bins, t)
                planes = directions[X.shape[1] :]
                if len(planes) < 32:
                    directions.append(new)
                else:
                    directions[X.shape[1] + int(np.argmin([plane.used for plane in planes]))] = new
        trees.append(grow(directions, y, weights, n_classes, depth, t))
        add_steps(scores, y, trees[-1].leaves, rate, l2)
    return trees, scores


@pytest.mark.parametrize(("n_classes", "max_bins"), [(2, 256), (3, 12)])
def test_trees_and_scores_are_those_of_a_plain_program_over_the_same_directions(n_classes: int, max_bins: int):
    rng = np.random.default_rng(n_classes)
    y = np.arange(90) % n_classes
    X = rng.normal(size=(90, 3)) + 0.7 * rng.normal(size=(n_classes, 3))[y]
    rounds = 11  # so that planes leave
    how = {"rounds": rounds, "max_bins": max_bins, "depth": 3, "rate": 0.3, "l2": 0.7}
    trees, scores = boosted(X, y, **how)
    model = ObliqueBoostingClassifier(
        "hhgdt",
        n_estimators=rounds,
        max_bins=max_bins,
        max_depth=3,
        learning_rate=0.3,
        l2_regularization=0.7,
        min_child_weight=0,
        **EVERYTHING,
    ).fit(X, y)
    for result, plain in zip(model.forest_.state(), trees, strict=True):
        order = in_order(result["left"], result["left"] + 1)
        assert len(order) == len(plain.splits) and len(result["label"]) == len(plain.leaves)
        expected = np.array(plain.splits)
        is_axis = expected < 3
        np.testing.assert_array_equal(~result["term"][order][is_axis], expected[is_axis])
        np.testing.assert_allclose(result["threshold"][order], plain.thresholds, rtol=1e-9, atol=1e-12)
    assert sum(d >= 3 for tree in trees for d in tree.splits) > rounds  # planes were used
    found_scores = model.decision_function(X)
    np.testing.assert_allclose(found_scores, scores[:, 1] if n_classes == 2 else scores, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_with_few_values_trees_along_axes_are_those_of_the_exact_search(n_classes: int):
    """Thresholds, leaves, and the gains that importances add up."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, size=(300, 4)) / 4.0
    y = (X @ rng.normal(size=(4, n_classes)) + rng.normal(size=(300, n_classes))).argmax(axis=1)
    weights = rng.uniform(0.5, 2.0, 300)  # so that no two cuts are worth the same
    bins, exact = (
        ObliqueBoostingClassifier("axis_parallel", n_estimators=12, max_bins=most, **EVERYTHING).fit(X, y, weights)
        for most in (256, None)
    )
    np.testing.assert_allclose(bins.forest_.importances(), exact.forest_.importances(), rtol=1e-9, atol=1e-9)
    for a, b in zip(bins.forest_.state(), exact.forest_.state(), strict=True):
        np.testing.assert_array_equal(a["threshold"], b["threshold"])
        np.testing.assert_array_equal(a["left"], b["left"])
    np.testing.assert_allclose(bins.decision_function(X), exact.decision_function(X), rtol=1e-9)


def test_two_bins_are_the_halves_of_a_feature_and_children_weigh_as_much_as_they_must():
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] >= 20).astype(int)
    model = ObliqueBoostingClassifier("axis_parallel", n_estimators=1, max_bins=2, **EVERYTHING).fit(X, y)
    assert model.forest_.state()[0]["threshold"][0] == 19.5
    data = real_set("pima")
    model = ObliqueBoostingClassifier(n_estimators=1, min_child_weight=30.0, **EVERYTHING).fit(data.X, data.y)
    share = np.bincount(np.unique(data.y, return_inverse=True)[1]) / len(data.y)
    gradients = 1.0 - share[np.unique(data.y, return_inverse=True)[1]]
    leaves = model.apply(data.X)[:, 0]
    assert len(np.unique(leaves)) > 2
    assert min(gradients[leaves == leaf].sum() for leaf in np.unique(leaves)) >= 30.0 * (1 - 1e-9)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_rows_reach_the_leaves_they_were_grown_into(data: st.DataObject):
    """Ties, constant columns, more features than rows: classes of the rows of a leaf are those it was grown with."""
    n, p = data.draw(st.integers(2, 40)), data.draw(st.integers(1, 60))
    n_classes = data.draw(st.integers(2, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    X = rng.integers(0, data.draw(st.sampled_from([1, 2, 5, 1000])), size=(n, p)) * data.draw(
        st.sampled_from([1.0, 1e-200, 1e150])
    )
    y = np.concatenate([np.arange(2), rng.integers(0, n_classes, n - 2)])
    least = data.draw(st.sampled_from([0.0, 0.1, 2.0]))
    model = ObliqueBoostingClassifier(
        n_estimators=4, min_child_weight=least, max_bins=data.draw(st.sampled_from([2, 5, 256])), **EVERYTHING
    ).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    assert np.isfinite(model.predict_proba(X)).all()
    for tree, nodes in zip(model.forest_.state(), model.apply(X).T, strict=True):
        leaves = ~tree["left"][nodes]
        for leaf in range(len(tree["label"])):
            grown = tree["leaf_class"][tree["leaf_start"][leaf] : tree["leaf_start"][leaf + 1]]
            assert set(grown) == set(codes[leaves == leaf])
