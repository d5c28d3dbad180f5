"""Rows and labels as estimators see them."""

from __future__ import annotations

import numpy as np
import pytest

from oblique_cli.estimators.checked_rows import classes_and_codes


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
