"""A forest of a heuristic that the core grows is a line in the table of algorithms."""

import pytest

pytestmark = pytest.mark.long

LINE = """    _forest("gdt_forest", "GDT forest", "1996", ".forest.bagged:BaggedForestClassifier", proposer="gdt"),"""
CONFIG = """version: 1
dataset: iris
algorithms: [{name: gdt_forest, n_estimators: 9}, gdt]
cv: {folds: 3, repeats: 1}
"""


def test_a_forest_of_a_heuristic_is_run_kept_and_asked(checkout):
    checkout.insert("oblique_cli/estimators/algorithms.py", "_FORESTS = (", LINE)
    checkout.write("my.yaml", CONFIG)
    ended = checkout.oblique("run", "my.yaml", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    line = next(line for line in ended.out.splitlines() if "GDT forest" in line)
    assert 85 < float(line.split()[3]) < 100, line
    table = "datasets/iris.csv"
    fit = ("fit", table, "--algorithm", "gdt_forest", "--set", "n_estimators=9", "--folds", "2", "--output", "my.json")
    assert checkout.oblique(*fit, "--target", "class").code == 0
    answers = checkout.oblique("predict", "my.json", table).out.splitlines()
    assert len(answers) == 151
