"""Stored runs in the layouts of published tables: their cells, order and digits, and messages for other tables."""

import json
import re

import pytest

from oblique_cli.errors import ConfigError
from oblique_cli.evaluation import published
from oblique_cli.papers.reproduction.framework import layouts

RUN = """
version: 1
datasets: [bupa, balance_scale, iris]
algorithms: [hhcart_a, {name: gdt, epsilon: 0.2}, {name: hhgdt, epsilon: 0.2}, {name: hhgdt, id: deep, epsilon: 0.1}]
cv: {scheme: ordinary, folds: 3, repeats: 2}
"""
FILLED = [table for table in published.tables().values() if table.level in layouts.LEVELS]


@pytest.mark.parametrize("table", FILLED, ids=lambda table: table.reference)
def test_each_printed_number_has_one_cell(table):
    layout, numbers = layouts.layout_of(table), published.numbers(table.source, table.table)
    wheres = [where for column in layout.columns if not column.shows for where in column.cells]
    assert all(sum(layouts._fits(number, where) for where in wheres) == 1 for number in numbers)


@pytest.mark.parametrize(
    ("value", "printed", "usual", "text"),
    [
        (67.94, "67.9", 1, "67.9"),
        (99.938, "99.94", 1, "99.94"),
        (2.0, "2", 1, "2"),
        (2.3, "2", 1, "2.3"),  # the printed 2 stands for 2.0
        (-0.04, "", 1, "0.0"),
    ],
)
def test_digits_are_the_printed_ones_unless_these_round_more(value, printed, usual, text):
    assert layouts._rounded(value, printed, usual) == text


def test_names_are_those_of_the_studies():
    assert layouts.find("5.2") is layouts.find("wickramarachchi2015:5.2") and layouts.find("ii").source == "manwani2012"
    with pytest.raises(ConfigError, match=r"'2\.6' has no cell .*wickramarachchi2015: 3\.1, "):
        layouts.find("2.6")


@pytest.fixture
def stored(call):
    (call.folder / "x.yaml").write_text(RUN)
    assert call("run", "x.yaml", "--quiet").code == 0
    return call


def test_a_run_fills_the_cells_that_it_has(stored):
    table = json.loads(stored("table", "x", "--format", "json").out)["rows"]
    line = next(row for row in table if (row["dataset"], row["algorithm"]) == ("bupa", "gdt"))
    document = json.loads(stored("table", "x", "--like", "5.2", "--format", "json").out)
    rows = {(row["Dataset"], row["DT"]): (row["Avg. Acc."], row["Avg. Size"]) for row in document["rows"]}
    assert list(rows)[:4] == [("BS", "GDT"), ("BS", "HHGDT"), ("BH", "GDT"), ("BH", "HHGDT")]
    ours = (
        f"{line['accuracy_mean']:.1f} ± {line['accuracy_sd']:.1f}",
        f"{line['leaves_mean']:.2f} ± {line['leaves_sd']:.1f}",
    )
    assert rows["BUPA", "GDT"] == ours and rows["BH", "GDT"] == ("—", "—")  # 22.19 ± 1.2 in print
    assert "Not in Table 5.2: iris, HHCART(A)." in document["notes"] and any("deep" in n for n in document["notes"])
    cell = next(c for c in document["cells"] if (c["dataset"], c["method"], c["metric"]) == ("bupa", "GDT", "n_leaves"))
    assert (cell["mean"], cell["published_mean"]) == (line["leaves_mean"], 22.19)


def test_every_kind_of_layout(stored):
    for table, pattern in (
        ("3.2", r"BUPA +\S+ ± \S+ +\S+ ± \S+ +— +—\n"),
        ("3.3", r"BS +\d+\.\d +— +49\n *BS +\d+\.\d +— +288\n"),
        ("5.4", r"BUPA +2 +\d+\.\d +\d+\.?\d*\n"),
        ("5.5", r"Mean +— +— +— +\d+\.\d +\d+\.\d\n *SD +— +— +— +\d+\.\d +\d+\.\d\n"),
        ("6.3", r"BS +SVM +— +— +HHCART\(A\) +\S+ ± \S+ +\S+ ± \S+\n"),
        ("II", r"Bupa Liver Disorder +GDT +\S+ ± \S+ +\d\.\d+ ± \d\.\d+ +\S+ ± \S+ +\S+ ± \S+\n"),
    ):
        assert re.search(pattern, stored("table", "x", "--like", table).out), table


def test_a_cell_without_a_printed_number_is_marked(call):
    (call.folder / "x.yaml").write_text(RUN.replace("bupa, balance_scale, iris", "wine").replace("hhcart_a", "gepsvm"))
    assert call("run", "x.yaml", "--quiet").code == 0
    out = call("table", "x", "--like", "III", "--format", "latex").out
    assert re.search(r"\{\}Wine & GEPSVM & [\d.]+ \$\\pm\$ [\d.]+ \\P\{\} & ", out)
    assert r"\P{} no number is printed" in out
