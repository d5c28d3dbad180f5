"""`TAOClassifier` and `refine="tao"`: what a user gives and gets."""

import numpy as np
import pandas as pd
import pytest

from oblique_cli import HHCARTClassifier, HHGDTClassifier, TAOClassifier
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.oblique.groups import Refinement
from oblique_cli.tree.refining import Refined

SHORT = {"n_penalties": 4, "folds": 2, "random_state": 0}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, np.where(X[:, 2] > 0.3, "a", "b"), "c")
    y[rng.random(160) < 0.08] = "b"
    return X, y


def test_a_refined_tree_is_smaller_and_fits_no_worse_than_its_start(rows):
    X, y = rows
    model = TAOClassifier(HHGDTClassifier(), penalty=0.01, random_state=0).fit(X, y)
    start = model.refinement_.start
    assert model.n_leaves_ < start.n_leaves
    assert model.score(X, y) > 0.85
    assert model.refinement_.chosen is None
    run = model.refinement_.run
    assert (np.diff(run.objective) <= 1e-12).all()
    assert np.sum(run.node < 0) == run.sweeps + 2
    assert "refined at penalty 0.01" in model.refinement_.summary()


def test_refine_of_a_heuristic_starts_from_its_own_tree_on_the_threads_it_is_given(rows, monkeypatch):
    X, y = rows
    plain = HHCARTClassifier(pruning="cv", probabilities="counts", random_state=3).fit(X, y)
    refined = HHCARTClassifier(pruning="cv", refine="tao", random_state=3).fit(X, y)
    assert isinstance(refined.refinement_, Refined)
    assert refined.refinement_.start.to_dict() == plain.tree_.to_dict()
    assert refined.tree_.to_dict() != plain.tree_.to_dict()
    with pytest.raises(ConfigError, match="needs refine 'none'"):
        refined.predict_path(X, [0.1])
    seen = []
    settings = Refinement.settings
    monkeypatch.setattr(
        Refinement, "settings", lambda how, threads, *limits: seen.append(threads) or settings(how, threads, *limits)
    )
    HHGDTClassifier(refine="tao", max_depth=2, n_jobs=2, random_state=0).fit(*rows)
    assert seen == [2]


def test_a_standard_error_asks_for_fewer_coefficients(rows):
    X, y = rows
    coefficients = []
    for c in (0.0, 2.0):
        chosen = TAOClassifier(standard_errors=c, **SHORT).fit(X, y).refinement_.chosen
        coefficients.append(chosen.coefficients[chosen.start, chosen.penalty])
    assert coefficients[1] <= coefficients[0]


def test_levels_of_qualitative_columns_are_used_unless_the_base_polishes(rows):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": rng.choice(["u", "v", "w"], size=80)})
    y = (X["a"] + (X["b"] == "u") * 2.0 > 0.8).astype(int)
    model = TAOClassifier("multiway", **SHORT).fit(X, y)
    assert model.score(X, y) > 0.9
    assert len(model.refinement_.chosen.error) == 8
    assert model.predict(pd.DataFrame({"a": [0.0], "b": ["never"]})).shape == (1,)
    with pytest.raises(ConfigError, match="quantitative features only"):
        TAOClassifier("oc1", **SHORT).fit(X, y)
    X, y = rows
    table = pd.DataFrame(X, columns=list("abcd")).assign(level=np.where(X[:, 0] > 0, "low", "high"))
    with pytest.raises(ConfigError, match=r"^polish of HHGDTClassifier takes quantitative features only"):
        TAOClassifier(HHGDTClassifier(polish=True)).fit(table, y)


def test_missing_values_are_imputed_or_learned(rows):
    X, y = rows
    X = X.copy()
    X[::7, 1] = np.nan
    with pytest.raises(ValueError, match="missing"):
        TAOClassifier(**SHORT).fit(X, y)
    for missing in ("impute", "learn"):
        model = TAOClassifier(missing=missing, **SHORT).fit(X, y)
        assert model.score(X, y) > 0.7


def test_class_weights_move_the_errors(rows):
    X, y = rows
    plain = TAOClassifier(penalty=0.02, random_state=0).fit(X, y)
    heavy = TAOClassifier(penalty=0.02, class_weight={"b": 20.0}, random_state=0).fit(X, y)
    recalls = [(model.predict(X[y == "b"]) == "b").mean() for model in (plain, heavy)]
    assert recalls[1] >= recalls[0]
    assert recalls[1] > 0.95
    weights = np.where(y == "b", 20.0, 1.0)
    weighted = TAOClassifier(penalty=0.02, random_state=0).fit(X, y, weights)
    assert weighted.tree_.to_dict() == heavy.tree_.to_dict()


@pytest.mark.parametrize("rule", ["laplace", "m_estimate", "shrinkage"])
def test_probabilities_of_a_refined_tree_do_not_depend_on_the_unit_of_weights(rows, rule):
    X, y = rows
    weights = np.random.default_rng(1).choice([1.0, 2.0, 4.0], size=len(y))
    results = [
        TAOClassifier("hhgdt", penalty=0.01, probabilities=rule, random_state=0)
        .fit(X, y, sample_weight=unit * weights)
        .predict_proba(X)
        for unit in (1.0, 8.0, 0.125, 1024.0)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
