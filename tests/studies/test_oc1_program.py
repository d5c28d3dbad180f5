"""The stored comparison with the program OC1, and what the page of OC1 says of it."""

import csv
from pathlib import Path

import pytest

from studies import oc1_program

ROOT = Path(__file__).parents[2]


def test_the_order_of_the_program_is_that_of_drand48():
    # srand48(1): 0.0416, 0.4545, 0.8348 exchange rows 1, 2 and 3 of 3 with rows 1, 1 and 2.
    assert oc1_program.shuffled(3, 1) == [1, 2, 0]


def test_splits_are_compared_from_the_root_whichever_side_is_left():
    a = {"": ((3, 0), (1, 4)), "r": ((1, 0), (0, 4))}
    mirrored = {"": ((1, 4), (3, 0)), "l": ((0, 4), (1, 0))}
    assert oc1_program.same(a, mirrored).tolist() == [2, 2]
    assert oc1_program.same(a, mirrored | {"l": ((0, 3), (1, 1)), "lr": ((0, 1), (1, 0))}).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["oc1", "oc1_lc", "oc1_ap"])
def test_our_trees_divide_rows_as_the_program_does(name):
    with (ROOT / "results/oc1_program.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["algorithm"] == name]
    assert [row["dataset"] for row in rows] == list(oc1_program.SETS)
    counted = [
        sum(int(row[f"{who} {column}"]) for row in rows) for who in ("ours", "program") for column in ("same", "of")
    ]
    line = "| `{}` | {:,} of {:,} | {:,} of {:,} |".format(name, *counted)
    assert line in (ROOT / "docs/algorithms/oc1.md").read_text(encoding="utf-8"), line
