"""How an estimator of a new kind lies in a model file is one module; without it, saving names what has no form."""

import pytest

# As in test_algorithm.py, without parameters.
ESTIMATOR = '''
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class NearestMeanClassifier(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearest."""

    constraints: ClassVar = {}
    needs_pruning_rows: ClassVar[bool] = False

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.means_ = np.array([X[codes == code].mean(axis=0) for code in range(len(self.classes_))])
        self.n_leaves_ = self.n_nodes_ = len(self.classes_)
        self.depth_ = 0
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.classes_.take(np.linalg.norm(X[:, None] - self.means_, axis=2).argmin(axis=1))
'''
LINE = """    ready(MACHINE, "nearest_mean", "nearest mean", "textbooks", ".means.nearest:NearestMeanClassifier"),"""

KIND = '''
"""Means of classes."""

from oblique_cli.models.codecs import Numbers
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, SIZES, Kind

KINDS.register("means")(
    Kind(
        classes=("NearestMeanClassifier",),
        state={**CLASSIFIER, "means_": Numbers("float64", ("C", "p")), **SIZES},
    )
)
'''


def with_algorithm(checkout):
    checkout.write("oblique_cli/estimators/means/__init__.py", "")
    checkout.write("oblique_cli/estimators/means/nearest.py", ESTIMATOR)
    checkout.insert("oblique_cli/estimators/algorithms.py", "_MACHINES = (", LINE)
    return checkout


@pytest.mark.long
def test_a_kind_of_model_is_one_module(checkout):
    with_algorithm(checkout).write("oblique_cli/models/kinds/means.py", KIND)
    ended = checkout.oblique("fit", "iris", "--algorithm", "nearest_mean", "--output", "model.json")
    assert (ended.code, ended.err) == (0, "model written to model.json\n")
    code = (
        "from oblique_cli import data, load, make; iris = data.load('iris'); "
        "tree = make('nearest_mean').fit(iris.X, iris.y); "
        "assert (load('model.json').estimator.predict(iris.X) == tree.predict(iris.X)).all()"
    )
    assert checkout.python("-c", code).code == 0


def test_without_it_saving_is_refused(checkout):
    ended = with_algorithm(checkout).oblique("fit", "iris", "--algorithm", "nearest_mean", "--output", "model.json")
    assert ended.code == 2 and "NearestMeanClassifier" in ended.err and not (checkout.folder / "model.json").exists()
