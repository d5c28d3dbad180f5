"""The table of docs/monotone.md is that of the stored run, and so is what the page says of it."""

from __future__ import annotations

import pytest
from document_support import ROOT

from benchmarks.monotone import ORDERS
from tools.monotone_errors import rows_of, stored, table
from tools.small_trees import filled


def test_the_page_has_the_table_of_the_stored_run():
    page = (ROOT / "docs/monotone.md").read_text(encoding="utf-8")
    assert filled(page, {"monotone": table(stored())}) == page


def test_the_best_model_of_a_regression_table_keeps_no_order():
    rows = stored()
    assert {row["table"] for row in rows} == set(ORDERS)
    for name in set(ORDERS) - {"pima"}:
        free, held = ([float(row[kind]) for row in rows if row["table"] == name] for kind in ("free", "in order"))
        assert min(free) < min(held)


def test_a_run_of_tiny_sizes_is_not_kept():
    run = {"benchmarks": [{"name": "monotone", "quick": True, "tables": {"errors": []}}]}
    with pytest.raises(ValueError, match="--quick"):
        rows_of(run)
