"""A configuration is one file of the folder `configs`, known by its name everywhere."""

import pytest

CONFIG = """version: 1
title: Wine by two trees
dataset: wine
algorithms: [axis_parallel, hhcart_d]
cv: {scheme: stratified, folds: 3, repeats: 1}
"""


@pytest.mark.long
def test_a_configuration_is_one_file(checkout):
    checkout.write("configs/wine_trees.yaml", CONFIG)
    assert "wine_trees" in checkout.oblique("list", "configs").out
    assert checkout.oblique("validate", "wine_trees").code == 0
    ended = checkout.oblique("run", "wine_trees", "--quiet")
    assert (ended.code, ended.err) == (0, "") and ended.out.startswith("Wine by two trees\n")
