"""What the plugin adds does what it says."""

import numpy as np
from oblique_example import NearestMeanClassifier, worst_recall, worst_side

from oblique_cli import make


def test_a_diagonal_is_one_split():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    y = X[:, 0] > X[:, 1]
    assert make("differences").fit(X, y).n_leaves_ == 2


def test_the_worst_side_of_a_cut_that_parts_the_classes_is_pure():
    left, right = np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 2.0], [1.0, 1.0]])
    assert worst_side(left, right).tolist() == [0.5, 0.0]
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert make("axis_parallel", criterion="worst_side").fit(X, [0, 0, 1, 1]).n_leaves_ == 2


def test_the_worst_recall_is_that_of_one_class():
    assert worst_recall(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])) == 50.0


def test_the_nearest_mean_decides():
    model = NearestMeanClassifier().fit([[0.0], [1.0], [9.0], [10.0]], ["a", "a", "b", "b"])
    assert model.predict([[2.0], [8.0]]).tolist() == ["a", "b"]
