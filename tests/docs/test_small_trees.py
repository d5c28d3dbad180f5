"""The stored fits of small trees are complete and keep their limits; test_measured.py recounts their means."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools import small_trees  # noqa: E402


def test_every_stored_tree_keeps_its_limit():
    rows = small_trees.stored()
    kinds = len(list(small_trees._kinds())) + len(small_trees.HEURISTICS)
    assert len(rows) == kinds * len(small_trees.SETS) * 4
    for row in rows:
        leaves, terms = int(row["leaves"]), int(row["terms"])
        if row["max_terms"]:
            assert terms <= leaves + int(row["max_terms"]) * (leaves - 1)
        if row["max_leaf_nodes"]:
            assert leaves <= int(row["max_leaf_nodes"])
