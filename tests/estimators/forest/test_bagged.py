"""Forests of families and of linear classifiers: trees and planes are those of other programs, draws as said."""

import pickle
from typing import Any

import numpy as np
import pytest
from contracts import real_set
from forest_oracle import Stream, bootstrap
from joblib import parallel_config
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.forest.bagged import BaggedForestClassifier, native_names
from oblique_cli.estimators.forest.boosting import ObliqueBoostingClassifier
from oblique_cli.estimators.forest.heterogeneous import MODELS, HeterogeneousForestClassifier
from oblique_cli.estimators.forest.refined import TAOForestClassifier
from oblique_cli.estimators.oblique.bottom_up import HHBUTClassifier
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.ground import seeds
from oblique_cli.proposers.hhcart import HHCARTDominant
from oblique_cli.proposers.oc1 import OC1
from oblique_cli.proposers.union import UnionProposer
from oblique_cli.tree.splitting import PROPOSERS

DRAWING_OR_FALLING_BACK = {"oc1", "gdt"}  # climbs draw by other names; GDT alone makes leaves where the forest cuts


def alone(name: str) -> ObliqueTreeClassifier:
    return ObliqueTreeClassifier(PROPOSERS[name].member(), criterion="gini", min_parent=1, max_misrate=0)


def data_of(seed: int, n: int = 90, p: int = 4, n_classes: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, p)) + 0.8 * rng.normal(size=(n_classes, p))[y], y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", sorted(set(native_names()) - DRAWING_OR_FALLING_BACK))
def test_a_tree_of_all_rows_is_the_one_that_the_heuristic_grows_alone(name: str, seed: int):
    X, y = data_of(seed)
    forest = BaggedForestClassifier(name, n_estimators=1, max_features=None, bootstrap=False, random_state=0).fit(X, y)
    tree, single = forest.tree(0), alone(name).fit(X, y).tree_
    if tree.n_nodes != single.n_nodes and name.startswith("oc1"):
        pytest.skip("a climb through ties depends on the order of rows")
    new = np.random.default_rng(seed + 100).normal(size=(500, 4))
    np.testing.assert_array_equal(tree.apply(new) >= 0, True)
    np.testing.assert_allclose(
        tree.counts[tree.apply(new)] / tree.counts[tree.apply(new)].sum(1, keepdims=True),
        single.counts[single.apply(new)] / single.counts[single.apply(new)].sum(1, keepdims=True),
    )


@pytest.mark.parametrize("name", ["hhgdt", "hhcart_a", "axis_parallel"])
def test_a_tree_on_a_bootstrap_sample_is_the_one_of_rows_weighted_by_their_draws(name: str):
    X, y = data_of(5)
    forest = BaggedForestClassifier(name, n_estimators=4, max_features=None, random_state=1).fit(X, y)
    seed = forest.forest_.seed
    for t in range(4):
        draws = bootstrap(Stream(Stream(seed, 0, t).next(), 0, 1), len(X))
        single = alone(name).fit(X, y, sample_weight=draws.astype(float)).tree_
        tree = forest.tree(t)
        assert tree.n_nodes == single.n_nodes
        np.testing.assert_array_equal(tree.counts[0], np.bincount(y, draws))
        np.testing.assert_array_equal(tree.counts[tree.apply(X)], single.counts[single.apply(X)])


def test_trees_take_several_heuristics_in_turn_and_instances_bring_their_parameters():
    X, y = data_of(2)
    mixed = BaggedForestClassifier("hhgdt, axis_parallel", n_estimators=5, random_state=3).fit(X, y)
    for which, name in enumerate(["hhgdt", "axis_parallel"]):
        pure = BaggedForestClassifier(name, n_estimators=5, random_state=3).fit(X, y)
        for t in range(which, 5, 2):
            assert pickle.dumps(mixed.forest_.state()[t]) == pickle.dumps(pure.forest_.state()[t])
    listed = clone(mixed).set_params(proposer=["hhgdt", "axis_parallel"]).fit(X, y)
    assert pickle.dumps(listed.forest_.state()) == pickle.dumps(mixed.forest_.state())
    data = real_set("wine")
    plain, other = (
        BaggedForestClassifier(HHCARTDominant(tau=tau), n_estimators=3, max_features=None, random_state=0).fit(
            data.X, data.y
        )
        for tau in (0.05, 2.0)
    )
    axes = BaggedForestClassifier("axis_parallel", n_estimators=3, max_features=None, random_state=0).fit(
        data.X, data.y
    )
    assert plain.forest_.n_oblique().sum() > 0 == other.forest_.n_oblique().sum()
    np.testing.assert_array_equal(other.apply(data.X), axes.apply(data.X))  # with tau 2 no vector is reflected


def test_a_tree_uses_the_features_drawn_for_it_only():
    X, y = data_of(4, p=9)
    model = make("hhgdt_forest", n_estimators=12, max_features_per_tree=4, random_state=0).fit(X, y)
    used = [set(np.flatnonzero(np.abs(model.tree(t).coef_).max(axis=0))) for t in range(12)]
    assert all(len(features) <= 4 for features in used) and len(set.union(*used)) == 9
    assert len(set(map(tuple, used))) > 6
    fewer = clone(model).set_params(max_features=2).fit(X, y)
    assert all((np.abs(fewer.tree(t).coef_) > 0).sum(axis=1).max() <= 2 for t in range(12))


@pytest.mark.parametrize("replace", [True, False])
def test_as_many_rows_are_drawn_as_were_asked_for(replace: bool):
    X, y = data_of(6)
    for wanted, rows in [(30, 30), (0.2, 18), (1, 1)]:
        model = BaggedForestClassifier(n_estimators=20, max_samples=wanted, bootstrap=replace, random_state=0)
        model.set_params(oob_score=True).fit(X, y)
        roots = np.stack([model.tree(t).counts[0] for t in range(20)])
        np.testing.assert_array_equal(roots.sum(axis=1), rows)
        if not replace:
            assert model.oob_votes_.sum() == pytest.approx(20 * (len(X) - rows))


@pytest.mark.parametrize("make_it", [BaggedForestClassifier, ObliqueBoostingClassifier, TAOForestClassifier])
@pytest.mark.parametrize(
    ("proposer", "sentence"),
    [
        (UnionProposer(("fdt", "sadt")), "^UnionProposer has no native growth with these parameters"),
        (OC1(restarts=-3), "^restarts of OC1 must be .*Got -3"),
    ],
)
def test_an_instance_with_bad_parameters_is_one_sentence(make_it: Any, proposer: Any, sentence: str):
    X, y = data_of(0)
    with pytest.raises(ConfigError, match=sentence):
        make_it(proposer, n_estimators=2).fit(X, y)


def bottom_up(**params: Any) -> BaggedForestClassifier:
    return BaggedForestClassifier(**({"proposer": "hhbut", "n_estimators": 3, "random_state": 2} | params))


@pytest.mark.parametrize("name", ["hhbut", "butif_svm"])
def test_a_forest_of_bottom_up_trees_has_the_trees_of_the_rows_drawn_as_often_as_they_were(name: str):
    data = real_set("wine")
    forest = bottom_up(proposer=name, max_features=None, oob_score=True, probabilities="counts").fit(data.X, data.y)
    draws = np.asarray(_core.Forest(13, 3, forest.forest_.seed).draws(len(data.X), 3, True, len(data.X)))
    shares = np.zeros((3, len(data.X), 3))
    for t in range(3):
        again = np.repeat(np.arange(len(data.X)), draws[t])
        alone = make(name, random_state=seeds.integer(forest.forest_.seed, "tree", t), probabilities="counts")
        alone.fit(data.X[again], data.y[again])
        tree = forest.tree(t)
        np.testing.assert_array_equal(tree.counts[tree.apply(data.X)], alone.tree_.counts[alone.tree_.apply(data.X)])
        shares[t] = alone.predict_proba(data.X)
    np.testing.assert_allclose(forest.predict_proba(data.X), shares.mean(axis=0))
    votes = (shares * (draws == 0)[:, :, None]).sum(axis=0)
    np.testing.assert_allclose(forest.oob_votes_, votes)
    assert forest.score(data.X, data.y) > 0.9


def test_a_forest_of_bottom_up_trees_is_the_same_for_all_workers_and_uses_the_features_drawn():
    X, y = data_of(3, p=7)
    options = {"proposer": "butif_svm, hhbut", "n_estimators": 6, "max_features_per_tree": 5, "max_features": 2}
    forests = [bottom_up(**options, n_jobs=jobs).fit(X, y) for jobs in (1, 3)]
    with parallel_config("loky", n_jobs=2):
        forests.append(bottom_up(**options, n_jobs=-1).fit(X, y))
    grown = bottom_up(**options | {"n_estimators": 4}, warm_start=True).fit(X, y)
    forests.append(grown.set_params(n_estimators=6).fit(X, y))
    assert len({pickle.dumps(forest.forest_.state()) for forest in forests}) == 1
    for t in range(6):
        used = forests[0].tree(t).coef_ != 0.0
        assert used.sum(axis=1).max() == 2 and used.any(axis=0).sum() <= 5


def test_a_class_that_a_bottom_up_tree_did_not_draw_has_no_share_in_it():
    X, y = np.arange(40.0)[:, None] % 20, np.repeat([0, 1, 2], [20, 19, 1])
    counts = [bottom_up(n_estimators=8, max_features=None).fit(X, y).tree(t).counts[0] for t in range(8)]
    assert {0.0} < {count[2] for count in counts} and {count.sum() for count in counts} == {40.0}


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"proposer": HHBUTClassifier(n_init=0)}, "^n_init of HHBUTClassifier must be .*Got 0"),
        ({"proposer": HHBUTClassifier(min_components=3, max_components=2)}, "^min_components of HHBUTClassifier"),
    ],
)
def test_what_bottom_up_trees_do_not_take_is_one_sentence(params: dict[str, Any], sentence: str):
    X, y = data_of(0)
    with pytest.raises(ConfigError, match=sentence):
        bottom_up(**params).fit(X, y)


def test_bottom_up_trees_take_equal_weights_alone():
    X, y = data_of(0)
    same = [bottom_up().fit(X, y, weights).forest_.state() for weights in (None, np.full(len(X), 0.25))]
    assert pickle.dumps(same[0]) == pickle.dumps(same[1])
    with pytest.raises(ConfigError, match=r"^sample_weight of BaggedForestClassifier must be equal.*from 1 to 2 times"):
        bottom_up().fit(X, y, np.where(y == 0, 2.0, 1.0))


@pytest.mark.parametrize("change", [{"bootstrap": True}, {"max_samples": 0.9}])
def test_a_warm_start_draws_rows_as_the_first_fit_did(change: dict[str, Any]):
    X, y = data_of(0)
    model = BaggedForestClassifier(n_estimators=3, bootstrap=False, max_samples=0.5, warm_start=True, random_state=0)
    model.fit(X, y).set_params(n_estimators=4, oob_score=True).fit(X, y)
    retained = pickle.dumps(model.forest_)
    with pytest.raises(ConfigError, match=r"^bootstrap and max_samples of BaggedForestClassifier must stay"):
        model.set_params(n_estimators=5, **change).fit(X, y)
    assert pickle.dumps(model.forest_) == retained
    assert len(model.set_params(warm_start=False).fit(X, y).forest_) == 5


ROOT: dict[str, Any] = {"n_estimators": 1, "max_features": None, "max_depth": 1, "bootstrap": False, "random_state": 0}


def two_classes(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(120) % 3 // 2  # twice as many of the first
    return rng.normal(size=(120, 4)) * [1, 5, 0.2, 1] + y[:, None] * [1.5, 3, 0.1, 0] + 2, y


def root(models: str, X: np.ndarray, y: np.ndarray, **params: Any) -> tuple[np.ndarray, float, float]:
    """Normal and threshold of the root, and its decrease of impurity."""
    tree = HeterogeneousForestClassifier(models, **(ROOT | params)).fit(X, y).tree(0)
    return tree.coef_[0], float(tree.thresholds[0]), float(tree.gains[0])


def on_standard(X: np.ndarray, w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
    """The plane w z + b <= 0 of standardized features as one of the features, of unit normal."""
    scale, center = X.std(axis=0), X.mean(axis=0)
    normal, threshold = w / scale, float((w / scale) @ center - b)
    length = float(np.linalg.norm(normal))
    return normal / length, threshold / length


def lda(Z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    first, second = Z[y == 0], Z[y == 1]
    within = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in (first, second)) / len(Z)
    w = np.linalg.solve(within + 1e-3 * np.eye(Z.shape[1]), second.mean(axis=0) - first.mean(axis=0))
    return w, float(np.log(len(second) / len(first)) - w @ (first.mean(axis=0) + second.mean(axis=0)) / 2)


def svm(Z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Newton steps on the squared hinge with |w|^2 / 2."""
    A, s = np.hstack([Z, np.ones((len(Z), 1))]), 2.0 * y - 1
    penalty, plane = np.diag([1.0] * Z.shape[1] + [0.0]), np.zeros(Z.shape[1] + 1)
    for _ in range(100):
        active = s * (A @ plane) < 1
        plane = np.linalg.solve(2 * A[active].T @ A[active] + penalty, 2 * A[active].T @ s[active])
    return plane[:-1], float(plane[-1])


@pytest.mark.parametrize("model", ["lda", "ridge", "svm", "logistic"])
def test_the_plane_of_a_classifier_is_that_of_another_program(model: str):
    X, y = two_classes()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    if model in ("lda", "svm"):
        w, b = (lda if model == "lda" else svm)(Z, y)
    else:
        other = RidgeClassifier(alpha=1.0) if model == "ridge" else LogisticRegression(C=1.0, tol=1e-10, max_iter=1000)
        other.fit(Z, y)
        w, b = np.ravel(other.coef_), float(np.ravel(other.intercept_)[0])
    normal, threshold, _ = root(model, X, y)
    expected, at = on_standard(X, w, b)
    sign = np.sign(normal @ expected)
    length = np.linalg.norm(normal)
    np.testing.assert_allclose(sign * normal / length, expected, atol=2e-4)
    assert sign * threshold / length == pytest.approx(at, abs=2e-3)


def test_the_best_of_all_planes_splits_and_a_weight_of_two_is_a_row_twice():
    for name in ("iris", "bupa", "glass", "wine"):
        data = real_set(name)
        gains = {model: root(model, data.X, data.y)[2] for model in MODELS}
        assert root(", ".join(MODELS), data.X, data.y)[2] == pytest.approx(max(gains.values()))
        assert root(list(MODELS), data.X, data.y)[2] == pytest.approx(max(gains.values()))
    X, y = two_classes(3)
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    for model in MODELS:
        a = HeterogeneousForestClassifier(model, **ROOT).fit(X, y, sample_weight=weights.astype(float)).tree(0)
        b = HeterogeneousForestClassifier(model, **ROOT).fit(X[rows], y[rows]).tree(0)
        np.testing.assert_allclose(a.counts, b.counts)


@pytest.mark.parametrize("name", ["drf", "mpdrf_t", "mpdrf_p", "mpdrf_n", "bagged_forest"])
def test_trees_of_a_double_random_forest_see_all_rows_and_differ_by_the_samples_of_their_nodes(name: str):
    data = real_set("wine")
    shares = np.unique(data.y, return_counts=True)[1]
    params: dict[str, Any] = {"max_features": data.X.shape[1], "n_estimators": 8, "random_state": 0}
    heuristic = {"proposer": "hhgdt", "node_bootstrap": True} if name == "bagged_forest" else {}
    model = make(name, **params, **heuristic).fit(data.X, data.y)
    for t in range(8):
        np.testing.assert_array_equal(model.tree(t).counts[0], shares)
    heuristic.pop("node_bootstrap", None)
    plain = make(name.replace("drf", "raf"), bootstrap=False, **params, **heuristic).fit(data.X, data.y)
    # Features are drawn in another order for each tree, which rounds sums otherwise and may turn a plane.
    cuts = [{round(abs(float(item.tree(t).thresholds[0])), 6) for t in range(8)} for item in (model, plain)]
    assert len(cuts[0]) > 4 and len(cuts[1]) <= 2
    assert model.score(data.X, data.y) == 1.0
