"""Every name of an algorithm has a class of its own, which is the estimator with what the name decides."""

from __future__ import annotations

import inspect
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import oblique_cli
from oblique_cli import load, make, save
from oblique_cli.estimators import named
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.named import class_of
from oblique_cli.models.model import algorithm_of

NAMES = sorted(named.names().values())
SMALL = {"n_estimators": 3}  # of those that have it


def small(cls):
    return {name: value for name, value in SMALL.items() if name in inspect.signature(cls).parameters}


def rows(name):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(60, 4)), 2)
    said = X[:, 0] - X[:, 1] + (X[:, 2] > 0)
    if name in ("odt", "odt_lr"):
        X = (X > 0).astype(float)
        return X, (X[:, 0] + X[:, 1] > 1).astype(int)
    return X, said if ALGORITHMS[name].family.task == "regression" else (said > 0).astype(int)


def test_every_name_has_exactly_one_class_and_every_class_one_name():
    classes = {name: class_of(name) for name in ALGORITHMS}
    assert len(set(classes.values())) == len(classes)
    assert len({cls.__name__ for cls in classes.values()}) == len(classes)
    for name, cls in classes.items():
        assert getattr(oblique_cli, cls.__name__) is cls and cls.__name__ in dir(oblique_cli)
        made = make(name, random_state=0)
        assert isinstance(made, cls.__mro__[1]) if name in NAMES else type(made) is cls


@pytest.mark.sample(14)
@pytest.mark.parametrize("name", NAMES)
def test_a_class_fits_what_its_name_makes_and_saves_the_same_file(name, tmp_path):
    cls, (X, y) = class_of(name), rows(name)
    drawn = {"random_state": 0} if "random_state" in inspect.signature(cls).parameters else {}
    one, other = cls(**small(cls), **drawn), make(name, random_state=0, **small(cls))
    assert not set(ALGORITHMS[name].fixed) & one.get_params(deep=False).keys()
    assert clone(one).get_params().keys() == one.get_params().keys()
    assert not [p for p in ALGORITHMS[name].parameters if p in other.get_params() and p not in one.get_params()]
    one.fit(X, y), other.fit(X, y)
    assert np.array_equal(one.predict(X), other.predict(X))
    assert algorithm_of(one) == name == algorithm_of(other)
    again = pickle.loads(pickle.dumps(one))
    assert type(again) is cls and np.array_equal(again.predict(X), one.predict(X))
    save(one, tmp_path / "one.json"), save(other, tmp_path / "other.json")
    said = [json.loads((tmp_path / f"{which}.json").read_text()) for which in ("one", "other")]
    assert said[0] == said[1]
    assert np.array_equal(load(tmp_path / "one.json").estimator.predict(X), one.predict(X))


def test_what_a_name_decides_is_no_parameter():
    with pytest.raises(TypeError, match="refine"):
        oblique_cli.TAORegressor(refine="none")
    assert oblique_cli.HHGDTForestClassifier().proposer == "hhgdt"
    assert "make('tao_model_tree')" in oblique_cli.TAOModelTreeRegressor.__doc__
    assert inspect.signature(oblique_cli.TPRTIBRegressor).parameters.keys() == (
        inspect.signature(oblique_cli.TPRTIRegressor).parameters.keys() - {"variant"}
    )
