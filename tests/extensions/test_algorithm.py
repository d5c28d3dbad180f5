"""An algorithm is an estimator of a family and a line in the table of algorithms."""

import pytest

pytestmark = pytest.mark.long

ESTIMATOR = '''
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from oblique_cli.ground.constraints import Integer, check


class NearestMeanClassifier(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearest, by the distance of order `order`."""

    constraints: ClassVar = {"order": Integer(1)}
    needs_pruning_rows: ClassVar[bool] = False

    def __init__(self, order=2):
        self.order = order

    def fit(self, X, y):
        check(self.get_params(deep=False), self.constraints, type(self).__name__)
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.means_ = np.array([X[codes == code].mean(axis=0) for code in range(len(self.classes_))])
        self.n_leaves_ = self.n_nodes_ = len(self.classes_)
        self.depth_ = 0
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        distances = np.linalg.norm(X[:, None] - self.means_, ord=self.order, axis=2)
        return self.classes_.take(distances.argmin(axis=1))
'''
LINE = """    ready(MACHINE, "nearest_mean", "nearest mean", "textbooks", ".means.nearest:NearestMeanClassifier"),"""
CONFIG = """version: 1
dataset: iris
algorithms: [{name: nearest_mean, order: {grid: [1, 2]}}, knn]
cv: {scheme: nested, folds: 3, repeats: 1, tune: {folds: 2}}
"""


def test_an_algorithm_is_an_estimator_and_a_line(checkout):
    checkout.write("oblique_cli/estimators/means/__init__.py", "")
    checkout.write("oblique_cli/estimators/means/nearest.py", ESTIMATOR)
    checkout.insert("oblique_cli/estimators/algorithms.py", "_MACHINES = (", LINE)
    checkout.write("my.yaml", CONFIG)
    ended = checkout.oblique("run", "my.yaml", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    line = next(line for line in ended.out.splitlines() if "nearest mean" in line)
    assert 85 < float(line.split()[3]) < 100, line


def test_its_parameters_are_checked_by_its_table(checkout):
    checkout.write("oblique_cli/estimators/means/__init__.py", "")
    checkout.write("oblique_cli/estimators/means/nearest.py", ESTIMATOR)
    checkout.insert("oblique_cli/estimators/algorithms.py", "_MACHINES = (", LINE)
    checkout.write("my.yaml", CONFIG.replace("[1, 2]", "[0, 2]"))
    ended = checkout.oblique("validate", "my.yaml")
    assert ended.code == 2 and "order" in ended.err and "Got 0" in ended.err
