"""What docs/guarantees.md concludes of an order of the answers holds in the stored run."""

import pytest

from benchmarks.monotone import ORDERS
from tools.monotone_errors import rows_of, stored


def test_every_model_of_pima_has_a_smaller_error_in_order():
    rows = [row for row in stored() if row["table"] == "pima"]
    assert len(rows) == 5 and all(float(row["in order"]) < float(row["free"]) for row in rows)


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
