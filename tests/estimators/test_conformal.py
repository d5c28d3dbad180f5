"""Conformal limits: rank, sets and intervals by hand, the coverage of theory, and estimators around others."""

import numpy as np
import pytest
from covering import few
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import GridSearchCV

from oblique_cli import ConformalClassifier, ConformalRegressor, make
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators import conformal_limits as limits
from oblique_cli.estimators.conformal_limits import OF_CLASSES, OF_NUMBERS, Guarantee, Held, guarantee_of


def test_limits_have_the_rank_of_the_theory_and_running_sums_are_those_by_hand():
    scores = np.arange(1.0, 20.0)
    assert limits.limit_of(scores, 0.9) == 18.0  # ceil(20 * 0.9)
    assert limits.limit_of(scores, 0.95) == 19.0
    assert limits.limit_of(scores[::-1].copy(), 0.5) == 10.0
    sums = limits.running_sums(np.array([[0.5, 0.3, 0.2], [0.25, 0.25, 0.5], [0.0, 1.0, 0.0]]))
    np.testing.assert_allclose(sums, [[0.25, 0.65, 0.9], [0.625, 0.875, 0.25], [1.0, 0.5, 1.0]])


@pytest.mark.parametrize(("coverage", "least"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99)])
def test_the_least_number_of_rows_is_stated(coverage, least):
    assert limits.least_rows(coverage) == least
    shares = np.full((least, 2), 0.5)
    assert guarantee_of("lac", coverage, "split", Held(shares, np.zeros(least, int))).rows == least
    with pytest.raises(ConfigError, match=rf"needs at least {least} calibration rows. There are {least - 1};"):
        guarantee_of("lac", coverage, "split", Held(shares[1:], np.zeros(least - 1, int)))


def random_rows(n: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares, classes drawn by other shares, and leaves that know something of them."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(classes), n)
    y = (rng.random((n, 1)) > np.cumsum(0.7 * shares + 0.3 / classes, axis=1)[:, :-1]).sum(axis=1)
    return shares, y, shares.argmax(axis=1)


@pytest.mark.parametrize("name", limits.OF_CLASSES)
def test_sets_hold_the_truth_as_often_as_promised(name):
    """Over many draws of 99 rows the mean coverage lies between c and c + 1 / 100, but for the error of the mean."""
    inside, sizes = [], []
    for seed in range(150):
        shares, y, leaves = random_rows(99 + 300, 3, seed)
        guarantee = guarantee_of(name, 0.8, "split", Held(shares[:99], y[:99], leaves[:99]))
        sets = guarantee.sets(shares[99:], leaves[99:])
        inside.append(sets[np.arange(300), y[99:]].mean())
        sizes.append(sets.sum(axis=1).mean())
    groups = 3 if name in ("class", "leaf") else 1
    assert 0.8 - 0.01 < np.mean(inside) < 0.8 + groups / 100 + 0.012
    assert 1.0 < np.mean(sizes) < 3.0


@pytest.mark.parametrize("name", limits.OF_NUMBERS)
def test_intervals_hold_the_truth_as_often_as_promised(name):
    """Errors are four times as large in one leaf; normalized and quantile intervals are wider there alone."""
    inside, widths = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        leaves = rng.integers(2, size=700) + 3
        truth = rng.normal(size=700) * np.where(leaves == 4, 4.0, 1.0)
        predicted = np.zeros(700)
        spreads = limits.spreads_of(name, 0.8, truth[:300], leaves[:300]) if name != "absolute" else None
        spread = limits.spread_at(spreads, leaves[300:399]) if spreads else None
        held = Held(predicted[300:399], truth[300:399], leaves[300:399] if spreads else None, spread)
        guarantee = guarantee_of(name, 0.8, "split", held, spreads)
        ends = guarantee.intervals(predicted[399:], leaves[399:])
        inside.append(((ends[:, 0] <= truth[399:]) & (truth[399:] <= ends[:, 1])).mean())
        wide = ends[:, 1] - ends[:, 0]
        widths.append([wide[leaves[399:] == leaf].mean() for leaf in (3, 4)])
    assert 0.8 - 0.01 < np.mean(inside) < 0.8 + 0.022
    narrow, wide = np.mean(widths, axis=0)
    assert narrow == wide if name == "absolute" else 3.0 < wide / narrow < 5.0


def test_few_rows_of_a_leaf_share_a_limit_and_few_of_a_class_are_refused():
    shares = np.full((24, 2), 0.5)
    leaves = np.array([1] * 12 + [2] * 9 + [5] * 3)
    guarantee = guarantee_of("leaf", 0.9, "split", Held(shares, np.zeros(24, int), leaves))
    assert guarantee.leaves == (1, 2) and guarantee.limits == ((0.5,), (0.5,), (0.0,))
    np.testing.assert_array_equal(
        guarantee.sets(np.array([[0.9, 0.1]] * 3), np.array([1, 5, 77])).sum(axis=1), [1, 2, 2]
    )
    shares, y = np.full((40, 2), 0.5), np.array([0] * 35 + [1] * 5)
    with pytest.raises(ConfigError, match=r"at least 9 calibration rows of each class, of 'rare' too. There are 5;"):
        guarantee_of("class", 0.9, "cross", Held(shares, y), classes=("usual", "rare"))


@pytest.mark.parametrize("coverage", [0.0, 1.0, 90.0, -0.1])
def test_a_coverage_that_is_none_is_refused(coverage):
    with pytest.raises(ConfigError, match="must be a share above 0 and below 1"):
        limits.checked("", coverage, False)


def test_plain_data_comes_back_and_damaged_is_refused():
    guarantee = Guarantee("lac", 0.9, "cross", 30, ((0.25,),), (), 1.5)
    assert Guarantee.from_plain(guarantee.plain(), 3) == guarantee
    for key, value in (("name", "absolute"), ("limits", [[float("nan")]]), ("coverage", 2.0), ("leaves", [4])):
        with pytest.raises(DataError, match="guarantee must be an object"):
            Guarantee.from_plain({**guarantee.plain(), key: value}, 3)


RNG = np.random.default_rng(8)
X = RNG.normal(size=(1200, 3))
NUMBER = X @ [1.0, -2.0, 0.5] + RNG.normal(size=1200) * np.where(X[:, 0] > 0, 2.0, 0.5)
LABELS = np.array(["low", "mid", "high"])[np.digitize(NUMBER, [-1.0, 1.0])]


@few(1, guarantee=OF_CLASSES, calibration=["cross", "split"])
def test_sets_hold_the_class(guarantee, calibration):
    tree = make("logistic_tree", max_depth=2)
    model = ConformalClassifier(tree, 0.9, guarantee, calibration, folds=4, random_state=1).fit(X[:600], LABELS[:600])
    sets = model.predict_set(X[600:])
    inside = sets[np.arange(600), np.searchsorted(model.classes_, LABELS[600:])]
    assert 0.85 < inside.mean() < 0.96 and 1.0 < sets.sum(axis=1).mean() < 2.5
    assert (model.predict(X) == model.estimator_.predict(X)).all() and model.predict_proba(X).shape == (1200, 3)


@few(1, guarantee=OF_NUMBERS, calibration=["cross", "split"])
def test_intervals_hold_the_number(guarantee, calibration):
    tree = make("m5_style")
    model = ConformalRegressor(tree, 0.9, guarantee, calibration, folds=4, random_state=1).fit(X[:600], NUMBER[:600])
    ends = model.predict_interval(X[600:])
    inside = (ends[:, 0] <= NUMBER[600:]) & (NUMBER[600:] <= ends[:, 1])
    assert 0.85 < inside.mean() < 0.95


def test_they_take_any_estimator_and_are_cloned_and_searched():
    conformal = ConformalClassifier(RandomForestClassifier(n_estimators=10, random_state=0), folds=3, random_state=0)
    assert clone(conformal).get_params()["estimator__n_estimators"] == 10
    search = GridSearchCV(conformal, {"estimator__max_depth": [2, 4]}, cv=2).fit(X[:200], LABELS[:200])
    assert search.best_estimator_.predict_set(X[:5]).shape == (5, 3)
    numbers = ConformalRegressor(RandomForestRegressor(n_estimators=5, random_state=0), folds=3).fit(
        X[:90], NUMBER[:90]
    )
    assert (np.diff(numbers.predict_interval(X[:5]), axis=1) > 0).all()


def test_what_cannot_be_promised_is_refused_in_a_sentence():
    forest = make("hhgdt_forest", n_estimators=2)
    for message, conformal in {
        "goes by the leaf": ConformalClassifier(forest, guarantee="leaf"),
        "must be one of lac, aps, class, leaf": ConformalClassifier(forest, guarantee="absolute"),
        "calibration must be 'cross' or 'split'": ConformalClassifier(forest, calibration="both"),
        "a share above 0 and below 1": ConformalClassifier(forest, coverage=1.5),
        "at least 999 calibration rows. There are 300": ConformalClassifier(forest, coverage=0.999),
    }.items():
        with pytest.raises(ConfigError, match=message):
            conformal.fit(X[:300], LABELS[:300])
