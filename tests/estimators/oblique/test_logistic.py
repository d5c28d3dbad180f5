"""`LogisticTreeClassifier`: what a user gives and gets."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from tree_support import tree_of

from oblique_cli import HHGDTClassifier, LogisticTreeClassifier, config, make
from oblique_cli.errors import DataError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.models import Model, load, save
from oblique_cli.tree.payloads import squares, standardized

SHORT = {"n_penalties": 2, "folds": 2, "random_state": 0}


@pytest.fixture(scope="module")
def bent():
    """One draw of `turning`."""
    return turning(0)


def turning(seed):
    """Two classes along a line that turns where the first feature changes its sign: one split, two linear models."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 4))
    y = np.where(X[:, 0] > 0, X[:, 1] + X[:, 2] > 0, X[:, 1] - X[:, 2] > 0).astype(int)
    return X, y


def test_one_leaf_is_chosen_where_a_plane_is_enough():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5))
    y = (X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.5 * rng.normal(size=300) > 0).astype(int)
    for name in ("lmt", "logistic_tree"):
        model = make(name, random_state=0).fit(X, y)
        assert model.n_leaves_ == 1
        theirs = LogisticRegression().fit(X, y)
        assert (model.predict(X) == theirs.predict(X)).mean() > 0.97


def test_the_price_of_a_doubling_decides_on_the_number_of_leaves(bent):
    X, y = bent
    leaves = []
    for price in (0.0, 0.01, 0.05, 10.0):
        model = LogisticTreeClassifier(doubling_price=price, log_loss_weight=0.5, **SHORT).fit(X, y)
        result = model.refinement_
        paid = [c.wrong + 0.5 * c.log_loss + price * np.log2(c.leaves) for c in result.candidates]
        assert paid[result.candidates.index(result.chosen)] <= min(paid) + model.all_terms_price + 1e-8
        leaves.append(result.chosen.leaves)
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[0] > leaves[-1] == model.n_leaves_ == 1


def test_a_weight_of_two_is_a_row_twice_in_the_models(bent):
    X, y = bent
    X, y = X[:80], y[:80]
    weights = np.where(np.arange(80) % 2, 1.0, 2.0)
    twice = np.repeat(np.arange(80), weights.astype(int))
    settings = {"base": "axis_parallel", "models": "logit_boost", "steps": 4, "max_depth": 0}
    weighted = LogisticTreeClassifier(**settings, random_state=0).fit(X, y, sample_weight=weights)
    copied = LogisticTreeClassifier(**settings, random_state=0).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-9)


def test_levels_and_missing_values_are_taken_and_an_estimator_may_be_the_base(bent):
    X, y = bent
    frame = pd.DataFrame(X.copy(), columns=list("abcd"))
    frame["e"] = np.where(X[:, 3] > 0, "up", "down")
    frame.loc[::7, "b"] = np.nan
    for missing in ("learn", "impute"):
        model = LogisticTreeClassifier(missing=missing, products=False, **SHORT).fit(frame, y)
        assert model.score(frame, y) > 0.7
        assert not model.tree_.leaf_models.coef[:, :, 4].any()
        assert model.tree_.leaf_models.level_coef[:, :, 1].any()
    model = LogisticTreeClassifier([HHGDTClassifier(max_depth=2), "random_4"], random_state=0)
    assert model.fit(X, y).score(X, y) > 0.8
    assert {c.start for c in model.refinement_.candidates} == {0, 1}


@pytest.mark.parametrize(("shape", "kind"), [("ring", "square"), ("saddle", "product"), ("corner", "hinge")])
def test_squares_products_and_hinges_make_one_leaf_of_a_bent_border(shape, kind, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    corner = np.maximum(0.0, X[:, 0] - 0.5) + np.maximum(0.0, -0.5 - X[:, 1]) > 0.7
    ring = X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4
    y = {"ring": ring, "saddle": X[:, 0] * X[:, 1] > 0, "corner": corner}[shape].astype(int)
    leaf = {"base": "axis_parallel", "max_depth": 0, "hinges": kind == "hinge", **SHORT}
    model = LogisticTreeClassifier(**leaf).fit(X[:200], y[:200])
    models = model.tree_.leaf_models
    kinds = {models.terms[k].kind for k in np.flatnonzero(models.weights(0)[1] > 0.5)}
    assert model.n_leaves_ == 1 and kind in kinds and (kind == "hinge" or len(kinds) == 1)
    assert model.score(X[200:], y[200:]) > 0.93
    for times in (1, 6) if kind == "hinge" else ():  # more than 1,000 rows with 6
        rows, classes = np.tile(X[:200], (times, 1)), np.tile(y[:200], times)
        terms = LogisticTreeClassifier(**(leaf | {"hinges": "auto"})).fit(rows, classes).tree_.leaf_models.terms
        assert (kind in {term.kind for term in terms}) == (times == 6)
    for further in ({"squares": False}, {"products": False, "hinges": False}):
        simpler = LogisticTreeClassifier(**(leaf | further)).fit(X[:200], y[:200]).tree_.leaf_models
        assert simpler.pairs is None and (simpler.curve is None or "squares" not in further)
    again = tree_of(json.loads(json.dumps(model.tree_.to_dict())))
    assert again.predicted_shares(X).tobytes() == model.predict_proba(X).tobytes()
    save(Model.of(model, algorithm="logistic_tree"), tmp_path / "ring.json")
    assert load(tmp_path / "ring.json").predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    damaged = model.tree_.to_dict()
    for name, value, error in (
        ("curve", [[0.0]], "must have 3 dimensions"),
        ("pairs", [[0, 3]], "must be below 3|below"),
    ):
        damaged["leaf_models"] = model.tree_.to_dict()["leaf_models"] | {name: value}
        with pytest.raises(DataError, match=rf"leaf_models\.{name}.* {error}"):
            tree_of(damaged)


def test_a_very_light_row_does_not_make_penalties_weak():
    X, y = load_iris(return_X_y=True)
    weights = np.ones(len(y))
    weights[0] = 1e-6
    how = {"leaf_penalty": 30.0, "squares": False, "max_depth": 0, **SHORT}
    light = LogisticTreeClassifier(**how).fit(X, y, weights)
    without = LogisticTreeClassifier(**how).fit(X[1:], y[1:])
    sizes = [np.abs(model.tree_.leaf_models.coef).max() for model in (light, without)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)


def test_it_answers_to_its_former_name(bent, tmp_path):
    former, now = (make(name, random_state=0) for name in ("tao_logistic", "logistic_tree"))
    assert type(former) is type(now) and former.get_params() == now.get_params()
    assert now.refine == "none"
    spec = "version: 1\ndatasets: [iris]\nalgorithms: [tao_logistic]\n"
    (tmp_path / "former.yaml").write_text(spec)
    (result,) = config.load(tmp_path / "former.yaml").algorithms
    assert (result.name, result.id) == ("logistic_tree", "logistic_tree")
    X, y = bent
    save(Model.of(now.fit(X[:50], y[:50]), algorithm="tao_logistic"), tmp_path / "former.json")
    assert load(tmp_path / "former.json").predict(X).tolist() == now.predict(X).tolist()
    assert "tao_logistic" not in list(ALGORITHMS) and "tao_logistic" in ALGORITHMS


@pytest.mark.parametrize("name", ["lmt", "logistic_tree"])
def test_levels_alone_are_enough(name):
    """Parity of two of three levels each: what a tree of levels and models of indicators can say."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (300, 4))
    y = (codes[:, 0] > 0).astype(int) + 2 * (codes[:, 1] == 2)
    frame = pd.DataFrame(np.array(["red", "green", "blue"])[codes], columns=list("abcd"))
    model = make(name, random_state=0).fit(frame[:200], y[:200])
    assert model.score(frame[200:], y[200:]) > 0.95
    assert {term.kind for term in model.tree_.leaf_models.terms} == {"level"}


def many_columns(n=300, p=20, seed=5):
    """Two columns of twenty count, one of them squared as well."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (2 * X[:, 3] - X[:, 7] + X[:, 7] ** 2 - 1 + 0.3 * rng.normal(size=n) > 0).astype(int)


ONE_LEAF = {"base": "axis_parallel", "max_depth": 0, "refine": "none", "random_state": 0}


def terms_of(model):
    """Kind and feature of the terms that some leaf has a coefficient for."""
    return {(term.kind, term.feature) for term in model.tree_.leaf_models.terms}


def compared(model):
    """The candidate with few terms, and the same one with all."""
    candidates = model.refinement_.candidates
    sparse = next(c for c in candidates if c.most)
    return sparse, next(c for c in candidates if c[:4] == sparse[:4] and not c.most)


def test_the_terms_that_count_are_chosen_and_their_models_are_at_the_minimum_of_their_ridge():
    X, y = many_columns()
    model = LogisticTreeClassifier(max_terms=3, **ONE_LEAF).fit(X, y)
    assert terms_of(model) == {("value", 3), ("value", 7), ("square", 7)}
    assert "of at most 3 terms a class" in model.refinement_.summary()
    sparse, dense = compared(model)
    assert model.refinement_.chosen == sparse and sparse.most == 3 and sparse.loss(0.5) < dense.loss(0.5)
    model = LogisticTreeClassifier(max_terms=4, leaf_penalty=3.0, **ONE_LEAF).fit(X, y)
    models = model.tree_.leaf_models
    z, weights = standardized(X, models.center, models.scale), models.weights(0)
    columns = np.column_stack([(squares(z) if term.kind == "square" else z)[:, term.feature] for term in models.terms])
    excess = model.predict_proba(X) - np.eye(2)[y]
    assert weights.shape == (2, 4)
    np.testing.assert_allclose(excess.T @ columns + 3.0 * weights, 0.0, atol=1e-2)
    prior = np.log((np.bincount(y) + 1) / (len(y) + 2))
    np.testing.assert_allclose(excess.sum(axis=0) + 3.0 * (models.intercept[0] - prior), 0.0, atol=1e-2)


def test_a_number_of_terms_holds_and_all_terms_stay_where_their_loss_is_lower_by_more_than_their_price(bent):
    X, y = many_columns()
    y = (X @ np.linspace(1, 2, 20) > 0).astype(int)  # all columns count
    for most in (1, 2, 5, 19, 20, 40):
        model = LogisticTreeClassifier(max_terms=most, all_terms_price=0.0, squares=False, **ONE_LEAF).fit(X, y)
        assert len(terms_of(model)) == min(most, 20)
    few = LogisticTreeClassifier(max_terms=2, **ONE_LEAF).fit(X[:1], y[:1])  # nothing to divide
    assert len(few.tree_.leaf_models.terms) <= 2
    iris = load_iris(return_X_y=True)
    model = LogisticTreeClassifier(max_depth=0, max_terms=3, random_state=0).fit(*iris)
    assert model.tree_.n_terms == 1 + 3 * 3
    results = {}
    for price in (0.0, 0.005, 10.0):
        model = LogisticTreeClassifier(all_terms_price=price, squares=False, **ONE_LEAF).fit(X, y)
        sparse, dense = compared(model)
        results[price] = len(terms_of(model))
        assert (model.refinement_.chosen == sparse) == (sparse.loss(0.5) <= dense.loss(0.5) + price)
    assert results == {0.0: 20, 0.005: 20, 10.0: 10}
    everything = LogisticTreeClassifier(max_terms=None, squares=False, **ONE_LEAF).fit(X, y)
    assert not any(c.most for c in everything.refinement_.candidates) and len(terms_of(everything)) == 20
    few = LogisticTreeClassifier(products=False, **SHORT).fit(*bent)  # no more than eight terms there
    assert not any(c.most for c in few.refinement_.candidates)


@pytest.mark.parametrize("refine", ["none", "tao"])
def test_every_leaf_keeps_to_the_terms(bent, refine):
    X, y = bent
    X = np.hstack([X, np.random.default_rng(0).normal(size=(600, 12))])
    model = LogisticTreeClassifier(max_terms=3, refine=refine, **SHORT).fit(X, y)
    models = model.tree_.leaf_models
    assert len(models.terms) <= 3 and model.refinement_.chosen.most == 3
    leaves = np.flatnonzero(model.tree_.is_leaf)
    assert model.tree_.n_terms <= len(leaves) + np.count_nonzero(model.tree_.coef_) + 3 * len(leaves)
    assert model.score(X, y) > 0.7
