"""Rows and labels as estimators see them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.validation import validate_data

from oblique_cli import HHCARTClassifier
from oblique_cli.estimators import checked_rows
from oblique_cli.estimators.checked_rows import checked, classes_and_codes


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -1, 3, 7, 7, 7]),
        np.array(["b", "a", "b", "long one"]),
        np.array(["b", "a", "b"], dtype=object),
        np.array([True, False, True]),
        np.array([0.5, -2.0, 0.5]),
        np.random.default_rng(0).integers(0, 26, 200_001),  # in several stretches
        np.array([], dtype=np.int64),
    ],
    ids=["integers", "words", "objects", "booleans", "numbers", "many", "none"],
)
def test_codes_are_places_among_the_classes(labels):
    classes, codes = classes_and_codes(labels)
    expected, inverse = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)
    assert classes.dtype == labels.dtype and codes.dtype == np.int32


# Rows to predict that need no check are seen to need none; all others are scikit-learn's to check.
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), rng.integers(2, size=60)
OPTIONS = {"dtype": (np.float64, np.float32), "order": "C", "reset": False}


@pytest.fixture
def checks(monkeypatch):
    """How often scikit-learn was asked."""
    calls = []
    monkeypatch.setattr(checked_rows, "validate_data", lambda *a, **k: (calls.append(1), validate_data(*a, **k))[1])
    return calls


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("finite", [True, False, "allow-nan"])
def test_plain_rows_are_returned_as_they_are(checks, dtype, finite):
    tree, rows = HHCARTClassifier().fit(X, y), X.astype(dtype)
    checks.clear()
    assert checked(tree, rows, ensure_all_finite=finite, **OPTIONS) is rows
    assert not checks


@pytest.mark.parametrize(
    "rows",
    [
        X.tolist(),
        X.astype(np.float16),
        X.astype(int),
        np.asfortranarray(X),
        X[:, ::-1],
        pd.DataFrame(X),
        np.ma.array(X),
    ],
    ids=["list", "half", "whole", "by columns", "reversed", "frame", "masked"],
)
def test_what_is_not_plain_is_checked(checks, rows):
    tree = HHCARTClassifier().fit(X, y)
    checks.clear()
    grown = checked(tree, rows, **OPTIONS)
    assert checks and grown.flags.c_contiguous
    np.testing.assert_array_equal(grown, np.asarray(rows))


@pytest.mark.parametrize("rows", [X[:0], X[:, :2], X[0], np.where(X > 2, np.nan, X), np.where(X > 2, np.inf, X)])
def test_bad_rows_get_the_sentence_of_scikit_learn(rows):
    tree = HHCARTClassifier().fit(X, y)
    with pytest.raises(ValueError) as ours:
        checked(tree, rows, **OPTIONS)
    with pytest.raises(ValueError) as theirs:
        validate_data(tree, rows, **OPTIONS)
    assert str(ours.value) == str(theirs.value)


def test_an_array_after_a_frame_is_warned_of():
    tree = HHCARTClassifier().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.warns(UserWarning, match="feature names"):
        tree.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HHCARTClassifier().fit(X, y).predict(X)
