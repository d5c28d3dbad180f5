"""Forests and boosting of planes on tables of two or three features, where half of them would be one."""

import numpy as np
import pytest

from oblique_cli import make
from oblique_cli.ground.constraints import FeatureCount

NAMES = (
    *("hhgdt_forest", "bagged_forest", "tao_forest", "oblique_boosting"),
    *("oblique_forest_regression", "tao_forest_regression", "oblique_boosting_regression"),
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", [2, 3])
def test_trees_on_a_few_features_have_planes(name: str, p: int):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(200, p)), rng.normal(size=(500, p))
    y, truth = (np.sign(Z[:, 0] + Z[:, 1]) for Z in (X, new))
    model = make(name, n_estimators=10, random_state=0).fit(X, y)
    assert np.sum(model.forest_.n_oblique()) > 0
    assert model.score(new, truth) > 0.85


@pytest.mark.parametrize("value", [0.1, 0.5, "auto", "sqrt", "log2"])
def test_a_share_or_a_rule_is_two_features_at_least_and_a_number_is_itself(value: float | str):
    assert [FeatureCount.of(value, p, planes=True) for p in (1, 2, 3)] == [1, 2, 2]
    assert FeatureCount.of(value, 64, planes=True) == FeatureCount.of(value, 64)
    assert FeatureCount.of(1, 3, planes=True) == 1 and FeatureCount.of(None, 3, planes=True) == 3
