"""Trees with linear models in their leaves, exported: random ones, and those of rows that are hard to fit."""

import json
import math
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import export_support as support
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli import Model, make
from oblique_cli.models.exporting import export
from oblique_cli.models.procedure import Part, Scaled, Scores, procedure_of

SIZES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**20),
        "n_features": st.integers(1, 5),
        "n_classes": st.integers(2, 4),
        "depth": st.integers(0, 3),
        "squares": st.booleans(),
        "gaps": st.booleans(),
    }
)


@settings(max_examples=10, deadline=None)
@given(sizes=SIZES)
def test_random_models_say_in_python_and_c_what_predict_says(sizes):
    case = support.leaf_models(**sizes)
    X = support.rows(case, n=300)
    answers, shares = support.expected(case, X)
    formats = ["python", *(["c"] if shutil.which("cc") else [])]
    with tempfile.TemporaryDirectory() as folder:
        for format in formats:
            labels, result = support.SAY[format](export(case.model, format), case, X, Path(folder))
            assert labels == answers
            np.testing.assert_allclose(result, shares, rtol=0, atol=1e-12)


def test_scores_by_hand():
    # 0.5 + 2 z + z^2 for the second class, z = (x - 10) / 2 = 1.5 for x = 13.
    column = Scaled(0, -1, 10.0, 2.0)
    near = replace(column, low=-3.0, high=3.0)
    scores = Scores((0, 1), (0.0, 0.5), (Part((column,), (0.0, 2.0)), Part((near, near), (0.0, 1.0))))
    assert scores.of([13.0]) == [0.0, 5.75] and scores.of([math.nan]) == [0.0, 0.5] and near.of(1e100) == 3.0
    # 2 z z', z' = x / 4 at most 3: 2 * 1.5 * 3 for x' = 99.
    times = Scores((0, 1), (0.0, 0.5), (Part((near, Scaled(1, -1, 0.0, 4.0, -3.0, 3.0)), (0.0, 2.0)),))
    assert times.of([13.0, 99.0]) == [0.0, 9.5] and times.of([13.0, math.nan]) == [0.0, 0.5]
    # max(0, x - 10) / 2 and max(0, 10 - x) / 2.
    assert [replace(column, scale=s, low=0.0).of(x) for s in (2.0, -2.0) for x in (13.0, 4.0)] == [1.5, 0.0, 0.0, 3.0]
    assert Scaled(0, -1, 0.0, 5e-324).of(1e308) == 1e100
    level = Scaled(0, 1, 0.25, 0.5)
    assert [level.of(value) for value in (1.0, 0.0, math.nan)] == [1.5, -0.5, -0.5]


def test_a_document_with_scores_says_that_it_is_younger():
    cases = (support.iris(), support.leaf_models(1, squares=False), support.leaf_models(1))
    plain, scored, of_products = (json.loads(export(case.model, "json")) for case in cases)
    versions = [document["schema"] for document in (plain, scored, of_products)]
    assert versions == ["oblique-export/1", "oblique-export/2", "oblique-export/4"]
    leaves = [node for node in scored["trees"][0]["nodes"] if "left" not in node]
    assert all("class" not in leaf and len(leaf["intercepts"]) == 3 for leaf in leaves)


def _hard() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    wide = X.copy()
    wide[:, 1] *= 1e150
    flat = X.copy()
    flat[:, 2] = 7.0
    return {
        "separable": (X, y),
        "one class in a leaf": (X, np.where(X[:, 0] > 0, 0, 1 + (X[:, 1] > 0))),
        "squares of 1e150": (wide, y),
        "a constant column": (flat, (X[:, 1] > 0.3).astype(int)),
        "one class": (X, np.zeros(60, int)),
    }


@pytest.mark.parametrize("algorithm", ["logistic_tree", "lmt", "hhcart_a"])
@pytest.mark.parametrize("rows", list(_hard()))
def test_rows_that_are_hard_to_fit_are_exported_with_finite_numbers(rows, algorithm, tmp_path):
    X, y = _hard()[rows]
    further = {"leaf_models": "logistic", "leaf_penalty": 0.1} if algorithm == "hhcart_a" else {}
    model = Model.of(make(algorithm, random_state=1, **further).fit(X, y), algorithm=algorithm)
    case = support.Case(model, procedure_of(model), X)
    asked_rows = np.vstack([support.rows(case, n=60, gaps=0), X[:4] * 1e140, np.full((1, 3), 1e300)])
    answers, shares = support.expected(case, asked_rows)
    assert np.isfinite(shares).all()
    for format in ("python", "json"):  # which refuses a number that is not finite
        labels, result = support.SAY[format](export(model, format), case, asked_rows, tmp_path)
        assert labels == answers
        np.testing.assert_allclose(result, shares, rtol=0, atol=1e-12)
