"""An algorithm is an estimator of a family and a line in the table of algorithms."""

import pytest
from extension_support import add

pytestmark = pytest.mark.long

CONFIG = """version: 1
dataset: iris
algorithms: [{name: nearest_mean, order: {grid: [1, 2]}}, knn]
cv: {scheme: nested, folds: 3, repeats: 1, tune: {folds: 2}}
"""


def test_an_algorithm_is_an_estimator_and_a_line(checkout):
    add(checkout)
    checkout.write("my.yaml", CONFIG)
    ended = checkout.oblique("run", "my.yaml", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    line = next(line for line in ended.out.splitlines() if "nearest mean" in line)
    assert 85 < float(line.split()[3]) < 100, line


def test_its_parameters_are_checked_by_its_table(checkout):
    add(checkout)
    checkout.write("my.yaml", CONFIG.replace("[1, 2]", "[0, 2]"))
    ended = checkout.oblique("validate", "my.yaml")
    assert ended.code == 2 and "order" in ended.err and "Got 0" in ended.err
