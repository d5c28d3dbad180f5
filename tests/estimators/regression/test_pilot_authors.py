"""Our PILOT beside its authors' program, whose errors are stored, and what the page says of both."""

import csv

import numpy as np
import pytest
from checkout_support import ROOT
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import KFold

from oblique_cli import PILOTRegressor

with open(ROOT / "results" / "pilot_authors.csv", encoding="utf-8", newline="") as _stream:
    STORED = list(csv.DictReader(_stream))


def tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    noise = 0.1 * rng.normal(size=400)
    return {
        "diabetes": load_diabetes(return_X_y=True),
        "friedman1": make_friedman1(500, noise=1.0, random_state=1),
        "step": (X, 2.0 * (X[:, 0] > 0.3) + noise),
        "bent line": (X, 2.0 * np.maximum(X[:, 0], 0.0) + X[:, 1] + noise),
        "line": (X, X[:, 0] - X[:, 2] + noise),
    }


@pytest.mark.parametrize("name", tables())
def test_our_errors_are_those_that_were_compared(name):
    X, y = tables()[name]
    rows = [row for row in STORED if row["table"] == name]
    for row, (fit, test) in zip(rows, KFold(5, shuffle=True, random_state=0).split(X), strict=True):
        error = np.sqrt(((PILOTRegressor().fit(X[fit], y[fit]).predict(X[test]) - y[test]) ** 2).mean())
        assert error == pytest.approx(float(row["ours"]), rel=1e-4)


def test_the_page_says_how_near_both_are():
    same = [row for row in STORED if float(row["apart_inside"]) < 1e-12 * max(float(row["authors"]), 1.0)]
    others = {row["table"] for row in STORED} - {row["table"] for row in same}
    ratios = [float(row["ours"]) / float(row["authors"]) - 1.0 for row in STORED]
    page = " ".join((ROOT / "docs" / "algorithms" / "pilot.md").read_text(encoding="utf-8").split())
    assert f"in {len(same)} folds both predict the same" in page and others == {"friedman1", "bent line"}
    assert f"is from {-100 * min(ratios):.0f} % below theirs to {100 * max(ratios):.0f} % above it" in page
