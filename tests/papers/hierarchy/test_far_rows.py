"""Nearest neighbors of rows so far away that squares and sums of their distances overflow."""

from fractions import Fraction

import numpy as np
import pytest
from covering import few

from oblique_cli.papers.hierarchy.dissimilarities import METRICS, between
from oblique_cli.papers.hierarchy.neighbors import NearestNeighborsClassifier

ROWS = np.array([[1.0, 2.0], [3.0, 1.0], [-2.0, 0.5], [0.0, -4.0]])
FAR = np.array([[1e200, 2e200], [-1e300, 1.0], [1.7e308, 1.0e308], [3.0, -1e180]])


@pytest.mark.parametrize("metric", METRICS)
def test_distances_from_afar_are_finite_and_of_near_rows_as_before(metric):
    both = np.vstack([FAR, ROWS])
    found = between(both, ROWS, metric)
    assert np.isfinite(found).all() and (found >= 0).all()
    np.testing.assert_array_equal(found[len(FAR) :], between(ROWS, ROWS, metric))


def test_distances_from_afar_are_those_of_exact_arithmetic():
    rows = FAR[[0, 1, 3]]
    exact = [[sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, z, strict=True)) for z in ROWS] for x in rows]
    near = between(rows, ROWS, "euclidean")
    for line, squares in zip(near, exact, strict=True):
        assert all(abs(Fraction(d) ** 2 / square - 1) < 1e-14 for d, square in zip(line, squares, strict=True))


@few(1, metric=["euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine"], weights=["uniform", "distance"])
def test_a_far_row_gets_an_answer(metric, weights):
    model = NearestNeighborsClassifier(3, metric=metric, weights=weights).fit(ROWS, ["a", "a", "b", "b"])
    assert set(model.predict(FAR)) <= {"a", "b"}
    shares = model.predict_proba(FAR)
    assert np.isfinite(shares).all() and shares.sum(axis=1) == pytest.approx(1.0)
