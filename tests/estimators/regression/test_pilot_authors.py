"""Our PILOT beside its authors' program, whose errors are stored, and what the page says of both."""

import csv

import numpy as np
import pytest
from checkout_support import ROOT

from tools import pilot_authors


def stored() -> list[dict[str, str]]:
    with pilot_authors.STORED.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("name", pilot_authors.tables())
def test_our_errors_are_those_that_were_compared(name):
    rows = [row for row in stored() if row["table"] == name]
    folds = list(pilot_authors.folds(pilot_authors.tables()[name]))
    assert len(rows) == len(folds) == 5
    for row, (fit, (X, y)) in zip(rows, folds, strict=True):
        error = np.sqrt(((pilot_authors.ours(fit, X) - y) ** 2).mean())
        assert error == pytest.approx(float(row["ours"]), rel=1e-4)


def test_the_page_says_how_near_both_are():
    rows = stored()
    same = [row for row in rows if float(row["apart_inside"]) < 1e-12 * max(float(row["authors"]), 1.0)]
    others = {row["table"] for row in rows} - {row["table"] for row in same}
    ratios = [float(row["ours"]) / float(row["authors"]) - 1.0 for row in rows]
    page = " ".join((ROOT / "docs" / "algorithms" / "pilot.md").read_text(encoding="utf-8").split())
    assert f"in {len(same)} folds both predict the same" in page and others == {"friedman1", "bent line"}
    assert f"is from {-100 * min(ratios):.0f} % below theirs to {100 * max(ratios):.0f} % above it" in page
