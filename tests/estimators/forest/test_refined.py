"""Forests of refined trees: they are the trees that refinement makes of their bootstrap samples."""

import numpy as np
from contracts import real_set

from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.forest.refined import TAOForestClassifier


def test_a_tree_is_never_worse_on_its_rows_than_before_and_smaller():
    data = real_set("glass")
    params = {"n_estimators": 6, "random_state": 0}
    refined = TAOForestClassifier("hhgdt", bootstrap=False, penalty=0.02, **params).fit(data.X, data.y)
    plain = make("hhgdt_forest", bootstrap=False, max_features=None, **params).fit(data.X, data.y)
    assert refined.n_leaves_ < plain.n_leaves_
    for t in range(6):
        tree = refined.tree(t)
        np.testing.assert_array_equal(tree.counts[0], np.unique(data.y, return_counts=True)[1])
        np.testing.assert_array_equal(tree.apply(data.X), refined.apply(data.X)[:, t])


def test_its_rows_are_those_that_other_forests_draw():
    data = real_set("wine")
    refined = TAOForestClassifier(n_estimators=4, random_state=3, oob_score=True).fit(data.X, data.y)
    plain = make("hhgdt_forest", n_estimators=4, random_state=3).fit(data.X, data.y)
    for t in range(4):
        np.testing.assert_array_equal(refined.tree(t).counts[0], plain.tree(t).counts[0])
    assert refined.oob_score_ > 0.7
