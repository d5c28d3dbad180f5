"""An algorithm that tests add to a copy of the sources: an estimator and its line in the table of algorithms."""

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


def add(checkout):
    """Put the estimator and its line into a copy of the sources."""
    checkout.write("oblique_cli/estimators/means/__init__.py", "")
    checkout.write("oblique_cli/estimators/means/nearest.py", ESTIMATOR)
    checkout.insert("oblique_cli/estimators/algorithms.py", "_MACHINES = (", LINE)
