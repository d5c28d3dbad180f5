"""Forests: node by node what the slow oracle grows, the same on any number of threads, and honest at the edges."""

import itertools
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from contracts import real_set
from forest_oracle import Oracle, Stream, bootstrap, groups, rotation
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.forest.base import ForestClassifier, moderate
from oblique_cli.estimators.forest.hhcart import HHCARTForestClassifier
from oblique_cli.estimators.forest.mpsvm import REGULARIZATIONS, SCALINGS, MPSVMForestClassifier
from oblique_cli.ground.constraints import FeatureCount

# Forests that the core grows; logistic_forest, whose trees are fitted one by one, has tests of its own.
NAMES = [algorithm.name for algorithm in ALGORITHMS.values() if issubclass(algorithm.estimator, ForestClassifier)]


def small_set(seed: int, n: int = 60, p: int = 5, n_classes: int = 4, whole: bool = False) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n).astype(np.int32)
    y[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 20, p) + rng.normal(size=(n_classes, p))[y] * 3 + 5
    return (np.round(X) if whole else X), y


def splits(state: dict[str, Any], path: int = 1, node: int = 0) -> dict[int, Any]:
    """The nodes of a compiled tree by path, in the form of the oracle's."""
    left = int(state["left"][node])
    if left < 0:
        held = slice(*state["leaf_start"][~left : ~left + 2])
        return {path: dict(zip(state["leaf_class"][held], state["leaf_weight"][held], strict=True))}
    term = int(state["term"][node])
    terms = slice(term * state["width"], (term + 1) * state["width"])
    split = ([~term], np.ones(1)) if term < 0 else (list(state["feature"][terms]), state["coef"][terms])
    here = {path: (*split, state["threshold"][node])}
    return here | splits(state, 2 * path, left) | splits(state, 2 * path + 1, left + 1)


def assert_same_nodes(state: dict[str, Any], oracle: Oracle) -> None:
    ours = splits(state)
    assert ours.keys() == oracle.nodes.keys()
    for path, reference in oracle.nodes.items():
        if isinstance(reference, tuple):
            features, coef, threshold = ours[path]
            assert features == list(reference[0]), path
            np.testing.assert_allclose(coef, reference[1], atol=2e-6, err_msg=str(path))
            np.testing.assert_allclose(threshold, reference[2], rtol=2e-5, atol=2e-5, err_msg=str(path))
        else:
            held = {k: w for k, w in enumerate(reference) if w > 0}
            assert ours[path].keys() == held.keys()
            np.testing.assert_allclose(list(ours[path].values()), list(held.values()), rtol=1e-12)


# ---- the oracle ------------------------------------------------------------------------------------------------------


def assert_grown_by_oracle(model: MPSVMForestClassifier, X: Any, y: Any, *weights: Any, **how: Any) -> None:
    seed, states = model.forest_.__getstate__()[2:4]
    for t, state in enumerate(states):
        assert_same_nodes(state, Oracle(X, y, seed, t, *weights, **how))


@pytest.mark.parametrize("rule", ["none", "tikhonov", "axis", "null"])
@pytest.mark.parametrize("seed", range(4))
def test_every_node_is_the_one_the_oracle_finds(rule: str, seed: int):
    X, y = small_set(seed, whole=seed % 2 == 1 and rule in ("none", "axis"), n_classes=2 + seed % 4)
    model = MPSVMForestClassifier("raf", rule, n_estimators=3, max_features=3, random_state=seed).fit(X, y)
    assert_grown_by_oracle(model, X, y, rule=rule, mtry=3)


@pytest.mark.parametrize("rule", ["none", "tikhonov", "axis"])
@pytest.mark.parametrize(("base", "mtry"), [("rof", None), ("rrof", 2)])
def test_rotated_trees_are_those_of_the_oracle(base: str, mtry: int | None, rule: str):
    X, y = small_set(11, p=5)
    model = MPSVMForestClassifier(base, rule, n_estimators=3, max_features=mtry, random_state=1).fit(X, y)
    assert_grown_by_oracle(model, X, y, rule=rule, group_size=3, mtry=mtry or 99)


def test_weighted_rows_are_split_as_the_oracle_splits_them():
    X, y = small_set(3)
    weights = np.random.default_rng(0).uniform(0.1, 5, len(X))
    for rule in REGULARIZATIONS:
        model = MPSVMForestClassifier("raf", rule, n_estimators=2, max_features=3, min_samples_leaf=3, random_state=2)
        model.fit(X, y, sample_weight=weights)
        assert_grown_by_oracle(model, X, y, weights, rule=rule, mtry=3, minleaf=3)


@pytest.mark.parametrize("narrow", [1e-4, 1e-6, 1e-8])
def test_delta_makes_planes_of_features_of_a_narrow_range_far_from_0(narrow: float):
    # In units of its range delta counts (149 / narrow)^2 times: up to 2e20 beside the 1 of the other features. No plane
    # uses the feature then, and every node has the plane of the three others.
    rng = np.random.default_rng(0)
    t = rng.normal(size=(300, 2))
    y = (t.sum(axis=1) > 0).astype(int)
    X = np.column_stack([t, t[:, 0] - t[:, 1], 149 + narrow * (t[:, 0] + 0.3 * t[:, 1])])
    model = MPSVMForestClassifier("raf", "tikhonov", n_estimators=10, max_features=4, random_state=0).fit(X, y)
    wider = np.column_stack([X[:, :3], 149 + 0.01 * (t[:, 0] + 0.3 * t[:, 1])])
    terms = [state["term"][state["left"] >= 0] for state in model.forest_.__getstate__()[3]]
    assert sum((term >= 0).sum() for term in terms) > sum(len(term) for term in terms) / 2
    np.testing.assert_array_equal(model.predict(X), clone(model).fit(wider, y).predict(wider))


# ---- rotations, draws ------------------------------------------------------------------------------------------------


def test_rotation_groups_cover_all_features_and_are_completed_from_others_up_to_all_of_them():
    for p, size in [(7, 3), (6, 3), (8, 3), (2, 3), (5, 1)]:
        result = groups(Stream(4, 0, 2), p, min(size, p))
        assert {j for group in result for j in group} == set(range(p))
        assert all(len(group) == len(set(group)) == min(size, p) for group in result)
    data = real_set("iris")
    a = MPSVMForestClassifier("rof", "none", group_size=99, n_estimators=2, random_state=0).fit(data.X, data.y)
    b = MPSVMForestClassifier("rof", "none", group_size=4, n_estimators=2, random_state=0).fit(data.X, data.y)
    assert pickle.dumps(a.forest_.state()) == pickle.dumps(b.forest_.state())


def rotation_of(state: dict[str, Any], p: int) -> np.ndarray:
    """The rotated features of a compiled tree as rows over the p original ones."""
    starts = state["rotation_start"]
    R = np.zeros((len(starts) - 1, p))
    for q, (first, last) in enumerate(itertools.pairwise(starts)):
        R[q, state["rotation_feature"][first:last]] = state["rotation_coef"][first:last]
    return R


@pytest.mark.parametrize("scaling", SCALINGS)
def test_rotation_of_the_core_is_block_orthogonal_on_scaled_features_and_that_of_the_oracle(scaling: str):
    X, y = small_set(2, p=6)
    scale = {"range": np.ptp(X, axis=0), "deviation": X.std(axis=0), "none": np.ones(6)}[scaling]
    model = MPSVMForestClassifier("rof", "none", n_estimators=2, scaling=scaling, random_state=0).fit(X, y)
    seed, states = model.forest_.__getstate__()[2:4]
    for t, state in enumerate(states):
        R = rotation_of(state, 6)
        np.testing.assert_allclose((R * scale) @ (R * scale).T, np.eye(6), atol=1e-12)
        np.testing.assert_allclose(R, rotation(Stream(seed, 0, t).next(), X, 3, scaling), atol=1e-9)


@pytest.mark.parametrize("rule", REGULARIZATIONS)
@pytest.mark.parametrize("scaling", ["range", "deviation"])
def test_units_of_features_change_no_rotated_tree(scaling: str, rule: str):
    X, y = small_set(5, p=5)
    units = np.array([1.0, 2.0**-30, 2.0**40, 8.0, 2.0**-3])  # powers of 2, so that not even rounding differs
    model = MPSVMForestClassifier("rrof", rule, n_estimators=4, scaling=scaling, random_state=0)
    plain, scaled = clone(model).fit(X, y), clone(model).fit(X * units, y)
    np.testing.assert_array_equal(plain.apply(X), scaled.apply(X * units))
    np.testing.assert_allclose(plain.feature_importances_, scaled.feature_importances_, rtol=1e-9)


def test_scales_are_deviations_of_the_weights_and_constant_features_are_in_no_component():
    X, y = small_set(6, p=4)
    X[:, 2] = 1e300
    model = MPSVMForestClassifier("rof", "none", n_estimators=3, bootstrap=False, random_state=0).fit(X, y)
    assert all((rotation_of(state, 4)[:, 2] == 0).all() for state in model.forest_.state())
    assert (model.predict(X) == y).all()
    X, y = small_set(7, p=4)
    weights = np.random.default_rng(1).integers(1, 4, len(X))
    model = MPSVMForestClassifier("rof", "none", n_estimators=1, group_size=1, scaling="deviation", random_state=0)
    R = rotation_of(model.fit(X, y, sample_weight=weights).forest_.state()[0], 4)
    deviations = np.sqrt(np.diag(np.cov(X, rowvar=False, aweights=weights, ddof=0)))
    np.testing.assert_allclose(np.abs(R).max(axis=0), 1 / deviations, rtol=1e-9)


def test_groups_completed_from_others_make_every_matrix_singular_so_that_mprof_p_is_rof():
    for p, same in [(6, False), (7, True), (8, True)]:
        X, y = small_set(4, n=120, p=p, n_classes=2)
        rof, mprof = (make(name, n_trees=3, random_state=0).fit(X, y) for name in ("rof", "mprof_p"))
        assert (mprof.forest_.n_oblique().sum() == 0) == same
        assert np.array_equal(rof.apply(X), mprof.apply(X)) == same


# ---- invariants ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mpraf_t", "mpraf_p", "raf", "mprrof_t"])
def test_rows_asked_for_together_get_the_votes_that_they_get_in_parts(name: str):
    """More rows than one reading of a tree serves, and fewer than the tree has nodes."""
    data = real_set("glass")
    model = make(name, random_state=4, n_trees=3).fit(data.X, data.y)
    X = np.resize(data.X, (40_000, data.X.shape[1])) + np.linspace(0, 0.1, 40_000)[:, None]
    together = model.predict_proba(X)
    some = np.r_[:5, 4094:4098, 19_999:20_001, 32_766:32_770, 39_995:40_000]
    for row in some:
        np.testing.assert_array_equal(together[row], model.predict_proba(X[row : row + 1])[0])
    np.testing.assert_array_equal(together, clone(model).set_params(n_jobs=3).fit(data.X, data.y).predict_proba(X))


@pytest.mark.parametrize("name", NAMES)
def test_unpruned_trees_fit_the_rows_they_drew(name: str):
    """With all rows drawn every tree separates distinct rows, so that the whole forest is right on them."""
    data = real_set("wine")
    model = make(name, random_state=0, n_trees=5, bootstrap=False).fit(data.X, data.y)
    assert model.score(data.X, data.y) == 1.0
    assert model.extra_measures(data.X, data.y)["tree_accuracy"] == 1.0
    assert model.n_nodes_ == 2 * model.n_leaves_ - 5


@pytest.mark.parametrize("name", NAMES)
def test_a_tree_in_original_features_reaches_the_same_leaves(name: str):
    data = real_set("iris")
    X = np.random.default_rng(0).normal(size=(300, 4)) + data.X.mean(axis=0)  # not on a threshold
    model = make(name, random_state=0, n_trees=4).fit(data.X, data.y)
    for t in range(4):
        np.testing.assert_array_equal(model.tree(t).apply(X), model.apply(X)[:, t])
        assert model.tree(t).n_nodes == model.forest_.n_nodes()[t]


def test_votes_are_those_of_the_trees_one_by_one_also_out_of_bag():
    data = real_set("glass")
    model = MPSVMForestClassifier(n_estimators=6, min_samples_leaf=8, probabilities="counts", random_state=1)
    model.fit(data.X, data.y)
    codes = np.stack([model.tree(t).labels[model.tree(t).apply(data.X)] for t in range(6)])
    shares = np.stack([(codes == k).mean(axis=0) for k in range(len(model.classes_))], axis=1)
    np.testing.assert_allclose(model.predict_proba(data.X), shares)
    mean = clone(model).set_params(voting="mean").fit(data.X, data.y)
    leaves = [mean.tree(t).counts[mean.tree(t).apply(data.X)] for t in range(6)]
    expected = np.mean([held / held.sum(axis=1, keepdims=True) for held in leaves], axis=0)
    np.testing.assert_allclose(mean.predict_proba(data.X), expected)
    assert (mean.predict_proba(data.X) != model.predict_proba(data.X)).any()
    X, y = small_set(8)
    model = MPSVMForestClassifier(n_estimators=9, oob_score=True, random_state=3).fit(X, y)
    seed = model.forest_.seed
    undrawn = np.array([bootstrap(Stream(Stream(seed, 0, t).next(), 0, 1), len(X)) == 0 for t in range(9)])
    np.testing.assert_array_equal(model.oob_votes_.sum(axis=1), undrawn.sum(axis=0))
    votes = np.zeros((len(X), 4))
    for t in range(9):
        labels = model.tree(t).labels[model.tree(t).apply(X)]
        votes[np.flatnonzero(undrawn[t]), labels[undrawn[t]]] += 1
    np.testing.assert_array_equal(model.oob_votes_, votes)
    seen = undrawn.any(axis=0)
    assert model.oob_score_ == pytest.approx((votes.argmax(axis=1) == y)[seen].mean())


def test_warm_start_adds_the_trees_that_a_larger_forest_has():
    data = real_set("wine")
    warm = MPSVMForestClassifier("rrof", n_estimators=3, warm_start=True, random_state=5).fit(data.X, data.y)
    warm.set_params(n_estimators=8).fit(data.X, data.y)
    whole = MPSVMForestClassifier("rrof", n_estimators=8, random_state=5).fit(data.X, data.y)
    assert pickle.dumps(warm.forest_.state()) == pickle.dumps(whole.forest_.state())
    with pytest.raises(ConfigError, match=r"^n_estimators of MPSVMForestClassifier must be at least the 8 trees"):
        warm.set_params(n_estimators=4).fit(data.X, data.y)
    with pytest.raises(ConfigError, match="warm_start needs the classes of the first fit"):
        warm.set_params(n_estimators=9).fit(data.X[:59], data.y[:59])


# ---- importances -----------------------------------------------------------------------------------------------------


def test_impurity_importances_are_those_of_a_tree_whose_splits_are_known():
    """Feature 0 halves the rows, feature 1 divides one half: gains of 1/4 and, on half of the rows, 1/2."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).repeat(5, axis=0)
    y = np.array([0, 0, 1, 2]).repeat(5)
    model = MPSVMForestClassifier("raf", "none", n_estimators=3, max_features=2, bootstrap=False).fit(X, y)
    # Gini 5/8 falls to 1/4 at the root, and the rest at the node below.
    np.testing.assert_allclose(model.feature_importances_, [3 / 5, 2 / 5])


# ---- edges and bad input ---------------------------------------------------------------------------------------------


@given(st.lists(st.floats(2.0**-300, 2.0**300), min_size=1))
def test_ordinary_weights_are_left_as_they_are(weights: list[float]):
    given_ = np.array(weights)
    assert moderate(given_) is given_


@given(st.lists(st.floats(5e-324, 1.7e308), min_size=1))
def test_moderate_weights_keep_their_ratios(weights: list[float]):
    result = moderate(np.array(weights))
    assert result.min() >= 2.0**-300 and result.max() <= 2.0**300
    ratios = [Fraction(w) / Fraction(max(weights)) for w in weights]
    for ours, ratio in zip(result.tolist(), ratios, strict=True):
        if ratio > Fraction(2) ** -299:
            assert Fraction(ours) / Fraction(result.max()) == ratio


def test_no_out_of_bag_row_is_an_error_and_so_are_weights_of_zero():
    X, y = np.arange(3.0)[:, None], np.array([0, 1, 0])
    seed = next(s for s in range(99) if (bootstrap(_stream_of(s), 3) > 0).all())
    with pytest.raises(ConfigError, match=r"^oob_score needs a row that some tree did not draw\."):
        MPSVMForestClassifier(n_estimators=1, oob_score=True, random_state=seed).fit(X, y)
    with pytest.raises(ValueError, match=r"sample_weight must have a positive entry|at least one non-zero"):
        MPSVMForestClassifier().fit(X, y, sample_weight=np.zeros(3))


def _stream_of(random_state: int) -> Stream:
    forest_seed = int(np.random.RandomState(random_state).randint(2**31))
    return Stream(Stream(forest_seed, 0, 0).next(), 0, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"left": np.array([5, -1, -2], dtype=np.int32)},
        {"left": np.array([-9, -1, -2], dtype=np.int32)},
        {"term": np.array([-99, 0, 0], dtype=np.int32)},
        {"label": np.array([0, 7], dtype=np.int32)},
        {"leaf_start": np.array([0, 9, 2], dtype=np.uint32)},
    ],
)
def test_arrays_that_form_no_forest_are_refused(change: dict[str, Any]):
    model = MPSVMForestClassifier("raf", "none", n_estimators=1, bootstrap=False).fit([[0.0], [1.0]], [0, 1])
    (state,) = model.forest_.state()
    assert len(state["left"]) == 3
    with pytest.raises(ValueError, match="the arrays do not form a forest"):
        _core.Forest(1, 2, 0).restore([state | change])


# ---- as an estimator and as an algorithm -----------------------------------------------------------------------------


@pytest.mark.parametrize("eigenvectors", ["dominant", "all"])
def test_one_reflection_separates_classes_parallel_to_an_eigenvector(eigenvectors: str):
    """The boundary is parallel to both classes' main axis: every tree needs one split (thesis, figure 3.2)."""
    rng = np.random.default_rng(0)
    along, across = rng.uniform(-10, 10, 200), rng.uniform(0.2, 0.8, 200) * np.repeat([1, -1], 100)
    turn = np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]])
    X, y = np.stack([along, across], axis=1) @ turn, np.repeat([0, 1], 100)
    forest = HHCARTForestClassifier(2, eigenvectors, n_estimators=20, max_features=2, random_state=0).fit(X, y)
    assert (forest.forest_.n_nodes() == 3).mean() > 0.9
    assert (MPSVMForestClassifier("raf", "none", n_estimators=20, random_state=0).fit(X, y).forest_.n_nodes() > 9).all()


# ---- few features ----------------------------------------------------------------------------------------------------


OF_PLANES = (
    *("hhgdt_forest", "bagged_forest", "tao_forest", "oblique_boosting"),
    *("oblique_forest_regression", "tao_forest_regression", "oblique_boosting_regression"),
)


@pytest.mark.parametrize("name", OF_PLANES)
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
