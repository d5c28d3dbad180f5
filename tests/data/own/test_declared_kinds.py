"""Files that declare what their columns are: the declaration decides."""

import pytest

from oblique_cli.data.own.front import Reading, read_own
from oblique_cli.data.own.source import Source


def columns_of(text: str, target: str, **reading):
    _, columns, _ = read_own(
        Source("t", content=text.encode()), Reading(target, missing="impute", encoding="onehot", **reading), "t"
    )
    return columns


def arff(*attributes: str, rows: list[str]) -> str:
    return "\n".join(["@relation t", *(f"@attribute {text}" for text in attributes), "@data", *rows, ""])


@pytest.mark.parametrize(("kind", "task"), [("{1,2,3,4,5,6,7,8}", "classification"), ("real", "regression")])
@pytest.mark.parametrize("distinct", [8, 3])
def test_the_declared_kind_of_a_target_in_arff_decides_the_task(kind, task, distinct):
    rows = [f"{i / 7},{i % distinct + 1}" for i in range(80)]
    assert columns_of(arff("x real", f"c {kind}", rows=rows), "c").task == task


def test_two_numbers_are_classes_though_arff_declares_numbers():
    rows = [f"{i / 7},{i % 2}" for i in range(30)]
    assert columns_of(arff("x real", "c integer", rows=rows), "c").task == "classification"


def test_a_nominal_column_that_differs_in_every_row_identifies_rows():
    names = ",".join(f"n{i}" for i in range(40))
    rows = [f"n{i},{i / 7},{'ab'[i % 2]}" for i in range(40)]
    text = arff(f"name {{{names}}}", "x real", "c {a,b}", rows=rows)
    assert columns_of(text, "c").left_out == {"name": "identifier"}
    assert columns_of(text, "c", keep=("name",)).left_out == {}
