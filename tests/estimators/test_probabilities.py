"""`probabilities` of classifiers: labels stay, shares follow the rule, the strength comes from rows not grown on."""

import pickle
from typing import Any

import numpy as np
import pytest
from contracts import real_set
from covering import few
from forest_oracle import Stream, bootstrap
from sklearn.base import clone

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.forest.base import ForestClassifier
from oblique_cli.estimators.oblique.top_down import INNER_FOLDS, ObliqueTreeClassifier
from oblique_cli.tree.probabilities import LEAST, RULES, STRENGTHS, with_probabilities

SMOOTHING = [name for name in RULES if name not in ("counts", "dirichlet")]
ALL = ["dirichlet", *SMOOTHING]
BUPA = real_set("bupa")


@few(
    rule=ALL,
    smoothing=[3.0, "cv"],
    options=[{}, {"pruning": "cv"}, {"pruning": "cost_complexity"}, {"proposer": "oc1"}],
)
def test_the_tree_and_its_labels_are_those_of_counts(rule, smoothing, options):
    options = {"proposer": "hhgdt", "max_depth": 4, "random_state": 2, **options}
    plain = ObliqueTreeClassifier(**options, probabilities="counts").fit(BUPA.X, BUPA.y)
    smooth = ObliqueTreeClassifier(**options, probabilities=rule, probability_strength=smoothing).fit(BUPA.X, BUPA.y)
    tree = smooth.tree_.to_dict()
    del tree["prior" if rule == "dirichlet" else "probabilities"]
    assert tree == plain.tree_.to_dict()
    np.testing.assert_array_equal(smooth.predict(BUPA.X), plain.predict(BUPA.X))
    assert smooth.probability_strength_ == smoothing or smooth.probability_strength_ in STRENGTHS
    expected = with_probabilities(plain.tree_, rule, smooth.probability_strength_).shares
    np.testing.assert_array_equal(smooth.predict_proba(BUPA.X), expected[smooth.apply(BUPA.X)])
    assert not hasattr(plain, "probability_strength_")


def test_a_strength_is_chosen_on_rows_that_the_trees_have_not_seen():
    seen = []

    class Spy(ObliqueTreeClassifier):
        def _pruned(self, growing, retained, proposer, draws):
            seen.append({tuple(row) for row in growing.X})
            return super()._pruned(growing, retained, proposer, draws)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    Spy("hhgdt", probabilities="m_estimate", probability_strength="cv", random_state=0).fit(X, rng.integers(0, 2, 100))
    everything, *parts = seen
    assert len(parts) == INNER_FOLDS and [len(part) for part in parts] == [80] * 5
    left_out = [everything - part for part in parts]
    assert set.union(*left_out) == everything and sum(map(len, left_out)) == 100


@pytest.mark.parametrize("rule", SMOOTHING)
def test_noise_takes_strong_shrinkage_and_clear_classes_take_little(rule):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))

    def strength(y):
        model = make("axis_parallel", probabilities=rule, probability_strength="cv", random_state=0)
        return model.fit(X, y).probability_strength_

    assert strength(rng.integers(0, 2, 300)) >= 10.0
    assert strength((X[:, 0] > 0).astype(int)) <= 3.0


def test_the_unit_is_the_lightest_row():
    weights = np.random.default_rng(0).integers(1, 4, len(BUPA.y)).astype(float)
    options = {"probabilities": "shrinkage", "probability_strength": 5.0, "max_depth": 4}
    once = make("hhgdt", **options).fit(BUPA.X, BUPA.y, weights)
    scaled = make("hhgdt", **options).fit(BUPA.X, BUPA.y, weights / 1024)
    repeated = np.repeat(np.arange(len(weights)), weights.astype(int))
    drawn = make("hhgdt", **options).fit(BUPA.X[repeated], BUPA.y[repeated])
    np.testing.assert_allclose(scaled.predict_proba(BUPA.X), once.predict_proba(BUPA.X), rtol=1e-12)
    np.testing.assert_allclose(drawn.predict_proba(BUPA.X), once.predict_proba(BUPA.X), rtol=1e-9)


@pytest.mark.parametrize("strength", [4.0, "cv"])
def test_refined_trees_have_them_too(strength):
    X, y = BUPA.X[::2], BUPA.y[::2]
    options = {"probabilities": "shrinkage", "probability_strength": strength, "random_state": 0}
    for made, plain in (
        (make("tao", n_penalties=3, folds=2, **options), make("tao", n_penalties=3, folds=2, random_state=0)),
        (make("hhgdt", refine="tao", max_depth=2, **options), make("hhgdt", refine="tao", max_depth=2, random_state=0)),
    ):
        smooth, refined = made.fit(X, y).tree_, plain.set_params(probabilities="counts").fit(X, y).tree_
        expected = with_probabilities(refined, "shrinkage", made.probability_strength_)
        assert smooth.to_dict() == expected.to_dict()


@pytest.mark.parametrize("name", ["hhbut", "butif_svm"])
def test_bottom_up_trees_have_them_with_a_number(name):
    data = real_set("iris")
    plain = make(name, random_state=0, probabilities="counts").fit(data.X, data.y)
    for rule in ALL:
        smooth = make(name, random_state=0, probabilities=rule, probability_strength=3.0).fit(data.X, data.y)
        expected = with_probabilities(plain.tree_, rule, 3.0).shares
        np.testing.assert_array_equal(smooth.predict_proba(data.X), expected[plain.apply(data.X)])
        np.testing.assert_array_equal(smooth.predict(data.X), plain.predict(data.X))
    with pytest.raises(
        ConfigError, match=rf"probability_strength of {name} must be a number in \[0, inf\).*auto.* Got 'cv'\."
    ):
        make(name, probability_strength="cv")


# ---- forests ---------------------------------------------------------------------------------------------------------


FORESTS = [name for name, algorithm in ALGORITHMS.items() if issubclass(algorithm.estimator, ForestClassifier)]
KINDS = ["bagged_forest", "hhcart_forest", "heterogeneous_forest", "tao_forest", "mprof_p", "drf"]


def fitted_forest(name: str, rule: str, strength: Any = 2.0, sample_weight: Any = None, **params: Any) -> Any:
    data = real_set("glass")
    model = make(name, n_estimators=6, random_state=3, probabilities=rule, probability_strength=strength, **params)
    return model.fit(data.X, data.y, sample_weight=sample_weight)


def clone_of_counts(model: Any) -> Any:
    plain = pickle.loads(pickle.dumps(model))
    del plain.leaf_probabilities_
    return plain


@few(1, rule=SMOOTHING, name=KINDS)
def test_probabilities_are_the_mean_of_those_of_the_trees(name: str, rule: str):
    model, X = fitted_forest(name, rule), real_set("glass").X
    plain, leaves = clone_of_counts(model), model.apply(X)
    trees = [with_probabilities(plain.tree(t), rule, 2.0) for t in range(6)]
    expected = np.mean([tree.shares[leaves[:, t]] for t, tree in enumerate(trees)], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    assert model.probability_strength_ == 2.0
    for t, tree in enumerate(trees):
        np.testing.assert_array_equal(model.tree(t).probabilities, tree.probabilities)


@pytest.mark.parametrize("name", FORESTS)
def test_every_forest_has_the_parameters_and_other_trees_stay_as_they_are(name: str):
    params = make(name).get_params()
    assert (params["probabilities"], params["probability_strength"]) == ("dirichlet", "auto")
    plain, drawn = fitted_forest(name, "counts"), fitted_forest(name, "shrinkage")
    assert pickle.dumps(plain.forest_.state()) == pickle.dumps(drawn.forest_.state())
    assert not hasattr(plain, "leaf_probabilities_") and not hasattr(plain, "probability_strength_")
    assert drawn.leaf_probabilities_.shape == (drawn.n_leaves_, len(drawn.classes_))


@pytest.mark.parametrize("rule", SMOOTHING)
def test_a_strength_of_0_is_the_mean_of_the_counts(rule: str):
    data = real_set("glass")
    mean = make("hhcart_forest", n_estimators=6, random_state=3, voting="mean", probabilities="counts").fit(
        data.X, data.y
    )
    model = fitted_forest("hhcart_forest", rule, 0.0)
    np.testing.assert_allclose(model.predict_proba(data.X), mean.predict_proba(data.X), atol=1e-14)


@few(1, name=["hhgdt_forest", "mpraf_p"], smoothing=["auto", 0.3, "oob"])
def test_a_prior_of_votes_changes_no_class_of_a_forest(name: str, smoothing: float | str):
    X = real_set("glass").X
    plain, smooth = fitted_forest(name, "counts"), fitted_forest(name, "dirichlet", smoothing)
    prior, votes = smooth.probability_strength_, plain._votes(X)
    assert prior in STRENGTHS if smoothing == "oob" else prior == {"auto": 0.5}.get(smoothing, smoothing)
    np.testing.assert_array_equal(smooth.predict(X), plain.predict(X))
    np.testing.assert_array_equal(smooth.predict_proba(X), (votes + prior / votes.shape[1]) / (6 + prior))
    if smoothing == "oob":
        out_of_bag = fitted_forest(name, "counts", oob_score=True).oob_votes_
        codes = np.searchsorted(plain.classes_, real_set("glass").y)
        trees = out_of_bag.sum(axis=1)
        shares = [(out_of_bag[np.arange(len(X)), codes] + s / 6) / (trees + s) for s in STRENGTHS]
        losses = [-np.log(np.maximum(share[trees > 0], LEAST)).sum() for share in shares]
        assert prior == STRENGTHS[int(np.argmin(losses))]


def unseen(model: Any, n: int) -> np.ndarray:
    seed = model.forest_.seed
    drawn = [bootstrap(Stream(Stream(seed, 0, t).next(), 0, 1), n) for t in range(len(model.forest_))]
    return np.array(drawn).T == 0


@few(1, rule=SMOOTHING, weighted=[False, True])
def test_the_strength_is_that_of_least_log_loss_by_trees_that_did_not_draw_a_row(rule: str, weighted: bool):
    data = real_set("glass")
    weights = np.random.default_rng(1).uniform(1.0, 5.0, data.n) if weighted else None
    model = fitted_forest("hhgdt_forest", rule, "oob", weights)
    plain, leaves, without = clone_of_counts(model), model.apply(data.X), unseen(model, data.n)
    rows = np.flatnonzero(without.any(axis=1))
    losses = []
    for strength in STRENGTHS:
        total = np.zeros((data.n, len(model.classes_)))
        for t in range(6):
            shares = with_probabilities(plain.tree(t), rule, strength).shares
            total[without[:, t]] += shares[leaves[without[:, t], t]]
        mean = total[rows] / without[rows].sum(axis=1, keepdims=True)
        local = np.maximum(mean[np.arange(len(rows)), np.searchsorted(model.classes_, data.y[rows])], LEAST)
        losses.append(np.average(-np.log(local), weights=None if weights is None else weights[rows]))
    assert model.probability_strength_ == STRENGTHS[int(np.argmin(losses))]


def test_the_out_of_bag_score_is_of_the_probabilities():
    data = real_set("glass")
    model = fitted_forest("hhcart_forest", "laplace", oob_score=True)
    leaves, without = model.apply(data.X), unseen(model, data.n)
    expected = np.zeros(model.oob_votes_.shape)
    for t in range(6):
        shares = model.tree(t).shares
        expected[without[:, t]] += shares[leaves[without[:, t], t]]
    np.testing.assert_allclose(model.oob_votes_, expected, atol=1e-12)
    seen = without.any(axis=1)
    right = model.classes_[expected.argmax(axis=1)] == data.y
    assert model.oob_score_ == pytest.approx(right[seen].mean())


@pytest.mark.parametrize("name", ["hhgdt_forest", "hhcart_forest"])
@pytest.mark.parametrize("rule", SMOOTHING)
def test_a_strength_is_in_units_of_the_least_weight(name: str, rule: str):
    data = real_set("glass")
    weights = np.random.default_rng(1).integers(1, 4, data.n).astype(float)
    first, second = (fitted_forest(name, rule, 2.0, unit * weights) for unit in (1.0, 4.0))
    assert (first.probability_strength_, second.probability_strength_) == (2.0, 8.0 if "cart" in name else 2.0)
    np.testing.assert_array_equal(first.predict_proba(data.X), second.predict_proba(data.X))


def test_threads_and_a_warm_start_change_nothing_and_a_strength_is_1_without_rows_out_of_bag():
    data = real_set("glass")
    model = fitted_forest("bagged_forest", "shrinkage")
    threaded = clone(model).set_params(n_jobs=2).fit(data.X, data.y)
    np.testing.assert_array_equal(model.predict_proba(data.X), threaded.predict_proba(data.X))
    warm = clone(model).set_params(n_estimators=2, warm_start=True).fit(data.X, data.y)
    warm.set_params(n_estimators=6).fit(data.X, data.y)
    np.testing.assert_array_equal(model.leaf_probabilities_, warm.leaf_probabilities_)
    warm.set_params(probabilities="counts").fit(data.X, data.y)
    assert not hasattr(warm, "leaf_probabilities_") and warm.tree(0).probabilities is None
    params = {"n_estimators": 1, "probabilities": "laplace", "probability_strength": "oob", "random_state": 0}
    assert make("hhgdt_forest", **params).fit([[1.0]], [0]).probability_strength_ == 1.0
