"""How an estimator of a new kind lies in a model file is one module."""

import pytest
from extension_support import add

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


@pytest.mark.long
def test_a_kind_of_model_is_one_module(checkout):
    add(checkout)
    checkout.write("oblique_cli/models/kinds/means.py", KIND)
    ended = checkout.oblique("fit", "iris", "--algorithm", "nearest_mean", "--output", "model.json")
    assert (ended.code, ended.err) == (0, "model written to model.json\n")
    code = (
        "from oblique_cli import data, load, make; iris = data.load('iris'); "
        "tree = make('nearest_mean').fit(iris.X, iris.y); "
        "assert (load('model.json').estimator.predict(iris.X) == tree.predict(iris.X)).all()"
    )
    assert checkout.python("-c", code).code == 0
