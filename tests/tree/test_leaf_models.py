"""Linear-logistic leaves: their minimum against scikit-learn and by its gradient, their limits, what trees keep."""

import json

import numpy as np
import pytest
from contracts import grow, real_set
from sklearn.linear_model import LogisticRegression
from tree_support import tree_of

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.models import Model, load, save
from oblique_cli.tree.leaf_models import PENALTIES, best_penalty, fitted_models
from oblique_cli.tree.payloads import LeafModels, softmax, standardized
from oblique_cli.tree.probabilities import with_probabilities
from oblique_cli.tree.stopping import Stopping

GLASS = real_set("glass")


def rows(n=120, classes=3, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 10.0, 0.1, 1.0][:p]
    codes = np.repeat(np.arange(classes), n // classes).astype(np.int32)
    X[:, 0] += codes
    return X, codes


@pytest.mark.parametrize("penalty", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_leaf_of_equal_classes_is_ridge_logistic_regression(penalty, weighted):
    X, codes = rows()
    weights = np.tile([1.0, 3.0], 60) if weighted else None
    tree = grow("hhcart_a", X, codes, 3, weights=weights, stopping=Stopping(max_depth=0))
    models = fitted_models(tree, X, codes, weights, penalty)
    z = standardized(X, models.center, models.scale)
    np.testing.assert_allclose(np.average(z, axis=0, weights=weights), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.average(z**2, axis=0, weights=weights), 1.0, atol=1e-12)
    # The constant is a feature like the others: what is penalized is how far it is from the prior.
    theirs = LogisticRegression(C=1 / penalty, fit_intercept=False, tol=1e-10, max_iter=5000)
    theirs.fit(np.column_stack([np.ones(len(X)), z]), codes, sample_weight=weights)
    expected = theirs.predict_proba(np.column_stack([np.ones(len(X)), z]))
    np.testing.assert_allclose(models.shares(X, tree.apply(X)), expected, atol=2e-6)


def test_the_gradient_of_every_leaf_is_zero():
    tree = with_probabilities(grow("hhgdt", GLASS.X, GLASS.y, stopping=Stopping(max_depth=3)), "shrinkage", 2.0)
    models = fitted_models(tree, GLASS.X, GLASS.y, None, 0.7)
    leaves, shares, z = tree.apply(GLASS.X), None, standardized(GLASS.X, models.center, models.scale)
    shares = models.shares(GLASS.X, leaves)
    excess = shares - np.eye(shares.shape[1])[GLASS.y]
    floor = 1 / (len(GLASS.X) + shares.shape[1])
    for leaf in np.unique(leaves):
        here = leaves == leaf
        prior = np.maximum(tree.shares[leaf], floor)
        b = models.intercept[leaf] - np.log(prior / prior.sum())
        np.testing.assert_allclose(excess[here].sum(axis=0) + 0.7 * b, 0.0, atol=1e-3)
        np.testing.assert_allclose(excess[here].T @ z[here] + 0.7 * models.coef[leaf], 0.0, atol=1e-3)
    assert not models.coef[~tree.is_leaf].any()


def test_a_large_penalty_leaves_the_probabilities_of_the_path():
    tree = with_probabilities(grow("hhgdt", GLASS.X, GLASS.y), "shrinkage", 5.0)
    result = tree.with_leaf_models(fitted_models(tree, GLASS.X, GLASS.y, None, 1e12))
    least = np.maximum(tree.shares_at(tree.apply(GLASS.X)), 1 / (len(GLASS.X) + 6))
    expected = least / least.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(result.predicted_shares(GLASS.X), expected, atol=1e-8)


def test_separable_rows_constant_columns_and_one_class_have_finite_models():
    X = np.column_stack([np.arange(20.0), np.full(20, 0.1), np.full(20, 1e300), np.zeros(20)])
    for y in (np.repeat([0, 1], 10), np.zeros(20, dtype=int)):
        model = make("axis_parallel", leaf_models="logistic", leaf_penalty=1e-3).fit(X, y)
        shares = model.predict_proba(X)
        assert np.isfinite(shares).all() and np.allclose(shares.sum(axis=1), 1.0)
        assert model.predict(X).tolist() == y.tolist()
    single = make("hhcart_a", leaf_models="logistic").fit([[1.0]], [3])
    assert single.predict([[5.0]]).tolist() == [3] and single.leaf_penalty_ == PENALTIES[0]


def test_missing_values_are_the_center_and_levels_have_coefficients_of_their_own():
    X, codes = rows()
    X[::7, 1] = np.nan
    model = make("hhcart_a", missing="learn", max_depth=1, leaf_models="logistic", leaf_penalty=1.0).fit(X, codes)
    models = model.tree_.leaf_models
    gone = np.array([[1.0, np.nan, 0.0, 0.0]])
    filled = np.array([[1.0, models.center[1], 0.0, 0.0]])
    np.testing.assert_array_equal(models.scores(gone, np.array([1])), models.scores(filled, np.array([1])))
    X = np.column_stack([rows()[0], np.tile([0, 1, 2], 40)])
    model = ObliqueTreeClassifier(qualitative=[4], max_depth=1, leaf_models="logistic").fit(X, codes)
    assert not model.tree_.leaf_models.coef[:, :, 4].any() and model.tree_.leaf_models.coef[:, :, 0].any()
    assert model.tree_.leaf_models.level_coef[model.tree_.is_leaf].all()


def test_a_row_alone_has_the_bits_that_it_has_among_others():
    model = make("hhgdt", max_depth=3, leaf_models="logistic", leaf_penalty=1.0).fit(GLASS.X, GLASS.y)
    everything = model.predict_proba(GLASS.X)
    alone = np.vstack([model.predict_proba(row[None]) for row in GLASS.X])
    assert everything.tobytes() == alone.tobytes()
    np.testing.assert_array_equal(model.predict(GLASS.X), model.classes_[everything.argmax(axis=1)])


def test_the_penalty_is_the_one_of_least_log_loss_on_rows_left_out():
    X, codes = rows(300, 2, seed=1)
    order = np.random.default_rng(0).permutation(300)
    on, out = order[:200], order[200:]
    tree = grow("axis_parallel", X[on], codes[on], 2, stopping=Stopping(max_depth=2))
    losses = []
    for penalty in PENALTIES:
        models = fitted_models(tree, X[on], codes[on], None, penalty)
        shares = softmax(models.scores(X[out], tree.apply(X[out])))
        losses.append(-np.log(shares[np.arange(100), codes[out]]).sum())
    result = best_penalty([(tree, (X[on], codes[on], None), (X[out], codes[out], None))])
    assert result == PENALTIES[int(np.argmin(losses))]


def test_terms_are_values_squares_products_hinges_and_levels(tmp_path):
    X = np.column_stack([rows()[0][:, 0], np.tile([0.0, 1.0, 2.0], 40), rows(seed=1)[0][:, 1]])
    model = ObliqueTreeClassifier("axis_parallel", qualitative=[1], max_depth=1).fit(X, rows()[1])
    rng, n = np.random.default_rng(0), model.tree_.n_nodes
    coef, curve, level_coef = rng.normal(size=(n, 3, 3)), rng.normal(size=(n, 3, 3)), rng.normal(size=(n, 3, 3))
    coef[:, :, 1] = curve[:, :, 1] = curve[:, :, 0] = level_coef[:, :, 2] = 0.0
    of_kinds = {"levels": (0, 3, 0), "pairs": np.array([[0, 2], [0, -2]]), "pair_coef": rng.normal(size=(n, 3, 2))}
    of_kinds["knots"] = np.array([0.0, 0.5])
    models = LeafModels(np.zeros(3), np.ones(3), coef, rng.normal(size=(n, 3)), curve, level_coef, **of_kinds)
    values = (("value", 0, -1, -1, 0), ("value", 2, -1, -1, 0), ("square", 2, -1, -1, 0), ("product", 0, -1, 2, 0))
    assert models.terms == (*values, ("hinge", 0, -1, -2, 0.5), ("level", 1, 0, -1, 0), ("level", 1, 1, -1, 0))
    assert models.n_coefficients == 3 * n * 7
    X[0, 1], X[1, 1] = np.nan, 7.0  # never seen
    model.tree_ = tree = model.tree_.with_leaf_models(models)
    again = tree_of(json.loads(json.dumps(tree.to_dict())))
    assert again.predicted_shares(X).tobytes() == tree.predicted_shares(X).tobytes()
    save(Model.of(model, algorithm="axis_parallel"), tmp_path / "levels.json")
    assert load(tmp_path / "levels.json").predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    for name, value in (("level_coef", [[[0.0]] * 3] * n), ("pairs", [[-1, 0], [0, -2]])):
        damaged = tree.to_dict()
        damaged["leaf_models"][name] = value
        with pytest.raises(DataError, match=name):
            tree_of(damaged)


def test_what_such_a_tree_cannot_do_is_one_sentence():
    model = make("hhgdt", leaf_models="logistic", leaf_penalty=1.0).fit(GLASS.X, GLASS.y)
    with pytest.raises(ConfigError, match=r"^a path over max_misrate needs leaf_models 'none'\. Got 'logistic'\.$"):
        model.predict_path(GLASS.X, [0.1])
