"""The estimators around others: scikit-learn's conventions, and sets and intervals that hold the truth."""

import numpy as np
import pytest
from covering import few
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import GridSearchCV

from oblique_cli import ConformalClassifier, ConformalRegressor, make
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.conformal_limits import OF_CLASSES, OF_NUMBERS

RNG = np.random.default_rng(8)
X = RNG.normal(size=(1200, 3))
NUMBER = X @ [1.0, -2.0, 0.5] + RNG.normal(size=1200) * np.where(X[:, 0] > 0, 2.0, 0.5)
LABELS = np.array(["low", "mid", "high"])[np.digitize(NUMBER, [-1.0, 1.0])]


@few(1, guarantee=OF_CLASSES, calibration=["cross", "split"])
def test_sets_hold_the_class(guarantee, calibration):
    tree = make("logistic_tree", max_depth=2)
    found = ConformalClassifier(tree, 0.9, guarantee, calibration, folds=4, random_state=1).fit(X[:600], LABELS[:600])
    sets = found.predict_set(X[600:])
    inside = sets[np.arange(600), np.searchsorted(found.classes_, LABELS[600:])]
    assert 0.85 < inside.mean() < 0.96 and 1.0 < sets.sum(axis=1).mean() < 2.5
    assert (found.predict(X) == found.estimator_.predict(X)).all() and found.predict_proba(X).shape == (1200, 3)


@few(1, guarantee=OF_NUMBERS, calibration=["cross", "split"])
def test_intervals_hold_the_number(guarantee, calibration):
    tree = make("m5_style")
    found = ConformalRegressor(tree, 0.9, guarantee, calibration, folds=4, random_state=1).fit(X[:600], NUMBER[:600])
    ends = found.predict_interval(X[600:])
    inside = (ends[:, 0] <= NUMBER[600:]) & (NUMBER[600:] <= ends[:, 1])
    assert 0.85 < inside.mean() < 0.95


def test_they_take_any_estimator_and_are_cloned_and_searched():
    own = ConformalClassifier(RandomForestClassifier(n_estimators=10, random_state=0), folds=3, random_state=0)
    assert clone(own).get_params()["estimator__n_estimators"] == 10
    search = GridSearchCV(own, {"estimator__max_depth": [2, 4]}, cv=2).fit(X[:200], LABELS[:200])
    assert search.best_estimator_.predict_set(X[:5]).shape == (5, 3)
    numbers = ConformalRegressor(RandomForestRegressor(n_estimators=5, random_state=0), folds=3).fit(
        X[:90], NUMBER[:90]
    )
    assert (np.diff(numbers.predict_interval(X[:5]), axis=1) > 0).all()


def test_what_cannot_be_promised_is_refused_in_a_sentence():
    forest = make("hhgdt_forest", n_estimators=2)
    for message, own in {
        "goes by the leaf": ConformalClassifier(forest, guarantee="leaf"),
        "must be one of lac, aps, class, leaf": ConformalClassifier(forest, guarantee="absolute"),
        "calibration must be 'cross' or 'split'": ConformalClassifier(forest, calibration="both"),
        "a share above 0 and below 1": ConformalClassifier(forest, coverage=1.5),
        "at least 999 calibration rows. There are 300": ConformalClassifier(forest, coverage=0.999),
    }.items():
        with pytest.raises(ConfigError, match=message):
            own.fit(X[:300], LABELS[:300])
