"""The tables of docs/small_trees.md are those of the stored fits."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools import small_trees  # noqa: E402


def test_the_page_has_the_tables_of_the_stored_fits():
    page = small_trees.PAGE.read_text()
    assert small_trees.filled(page, small_trees.tables(small_trees.stored())) == page


def test_every_stored_tree_keeps_its_limit_and_a_cell_is_a_mean_of_means():
    rows = small_trees.stored()
    kinds = len(list(small_trees._kinds())) + len(small_trees.HEURISTICS)
    assert len(rows) == kinds * len(small_trees.SETS) * 4
    for row in rows:
        leaves, terms = int(row["leaves"]), int(row["terms"])
        if row["max_terms"]:
            assert terms <= leaves + int(row["max_terms"]) * (leaves - 1)
        if row["max_leaf_nodes"]:
            assert leaves <= int(row["max_leaf_nodes"])
    means = []
    for name in small_trees.SETS:
        own = [row for row in rows if row["dataset"] == name and (row["heuristic"], row["max_terms"]) == ("fdt", "2")]
        assert len(own) == 4
        means.append([np.mean([float(row[key]) for row in own]) for key in ("accuracy", "leaves", "terms")])
    accuracy, leaves, terms = np.mean(means, axis=0)
    line = next(line for line in small_trees.PAGE.read_text().splitlines() if line.startswith("| fdt | "))
    assert line.split(" | ")[2] == f"{100 * accuracy:.1f} / {leaves:.1f} / {terms:.1f}"
