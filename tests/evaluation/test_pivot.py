"""Pivots: data sets as rows, methods as columns, the best of each row, and a foot that SciPy's ranks confirm."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.paired import joined
from oblique_cli.evaluation.pivot import foot, in_form, pivot
from oblique_cli.evaluation.sheets import render
from oblique_cli.evaluation.tables import Line, ResultTable, TableValue

MEANS = {"bupa": (60.0, 70.0, 70.0), "iris": (95.0, 90.0, 80.0), "wine": (90.0, 88.0, None)}
SDS = (1.0, 1.5, None)


def line(dataset, k, mean, **more) -> Line:
    values = {"accuracy": TableValue(mean, SDS[k] if mean is not None else None), "leaves": TableValue(2.0 + k, 0.0)}
    return Line(dataset, f"m{k}", f"M{k}", values, 2, 2, 4, 0, 4, **more)


TABLE = ResultTable(
    "Three", tuple(line(d, k, mean) for d, means in MEANS.items() for k, mean in enumerate(means)), (), ()
)

TEXT = """\
data set                   M0            M1      M2
bupa               60.0 ± 1.0  ▲ 70.0 ± 1.5  ▲ 70.0
iris             ▲ 95.0 ± 1.0    90.0 ± 1.5    80.0
wine             ▲ 90.0 ± 1.0    88.0 ± 1.5       —
mean of 2                77.5        ▲ 80.0    75.0
mean rank                2.00        ▲ 1.75    2.25
wins/ties/losses        2/1/2         2/2/1   1/1/2
"""
LATEX = (Path(__file__).parents[1] / "files" / "pivot.tex").read_text(encoding="utf-8")


def words(text) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip("- ")]


def test_text_and_latex_have_data_sets_as_rows_and_a_foot():
    sheet = pivot(replace(TABLE, metrics=("accuracy",)))
    assert words(TEXT) == words(render(sheet, "text"))[2 : 2 + len(words(TEXT))]
    assert LATEX in render(sheet, "latex")


def test_the_foot_agrees_with_ranks_of_scipy_and_smaller_is_better_for_leaves():
    whole = np.array([means for means in MEANS.values() if None not in means])
    ranks = rankdata(-whole, axis=1).mean(axis=0)
    accuracy, leaves = foot(TABLE, "accuracy"), foot(TABLE, "leaves")
    assert list(accuracy.ranks.values()) == ranks.tolist() and accuracy.datasets == 2
    assert list(accuracy.means.values()) == whole.mean(axis=0).tolist()
    assert leaves.ranks == {"m0": 1, "m1": 2, "m2": 3} and leaves.counts["m0"] == (6, 0, 0)


def test_csv_and_json_have_a_record_for_each_data_set_and_every_digit():
    sheet = pivot(TABLE)
    records = list(csv.DictReader(io.StringIO(render(sheet, "csv"))))
    assert [(r["metric"], r["dataset"]) for r in records[:3]] == [("accuracy", dataset) for dataset in MEANS]
    assert records[2] == {"metric": "accuracy", "dataset": "wine", "m0_mean": "90.0", "m0_sd": "1.0", "m1_mean": "88.0",
                          "m1_sd": "1.5", "m2_mean": "", "m2_sd": ""}  # fmt: skip
    assert json.loads(render(sheet, "json"))["summary"]["accuracy"]["counts"]["m1"] == [2, 2, 1]


def test_a_single_method_has_no_ranks_and_a_missing_line_is_a_dash():
    alone = pivot(replace(TABLE, lines=TABLE.lines[::3]))
    assert [row[0] for row in alone.grids[0].rows] == [*MEANS, "mean of 3"] and not alone.grids[0].marks
    lacking = pivot(replace(TABLE, lines=TABLE.lines[1:]))
    assert lacking.grids[0].rows[0][-1] == "—"


def test_a_method_of_two_runs_has_one_column_for_each_run():
    both = pivot(joined({"a": TABLE, "b": replace(TABLE, lines=TABLE.lines[:3])}, {}))
    assert both.grids[0].header == ("data set", *(f"M{k} ({run})" for run in "ab" for k in range(3)))


def test_latex_shows_a_pivot_unless_the_long_form_is_requested():
    assert in_form(TABLE, "latex") == pivot(TABLE) and in_form(TABLE, "md") is TABLE is in_form(TABLE, "latex", True)
    matrices = replace(TABLE, metrics=("confusion",))
    assert in_form(matrices, "latex") is matrices
    with pytest.raises(ConfigError, match="a pivot shows numbers"):
        pivot(matrices)
