"""The table of docs/guarantees.md is that of the stored rows."""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools import coverage  # noqa: E402


def test_the_page_has_the_table_of_the_stored_rows():
    page = coverage.PAGE.read_text()
    assert coverage.filled(page, {"coverage": coverage.table(coverage.stored())}) == page


def test_every_set_is_measured_as_often_and_a_cell_is_a_mean_of_means():
    rows = [row for row in coverage.stored() if (row["guarantee"], row["calibration"]) == ("lac", "cross")]
    names = sorted({row["dataset"] for row in coverage.stored()})
    assert names == sorted((*coverage.CLASSES, *coverage.NUMBERS)) and len(names) >= 40
    assert len(rows) == len(coverage.CLASSES) * coverage.REPEATS
    means = [np.mean([float(row["coverage"]) for row in rows if row["dataset"] == name]) for name in coverage.CLASSES]
    line = next(line for line in coverage.PAGE.read_text().splitlines() if line.startswith("| `lac` | 9"))
    assert line.split(" | ")[1].split()[0] == f"{100 * np.mean(means):.1f}"
