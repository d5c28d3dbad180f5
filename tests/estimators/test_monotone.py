"""Trees and forests whose answers keep an order: slow oracles, brute checks, proofs, scikit-learn beside them."""

import numpy as np
import pandas as pd
import pytest
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from monotone_support import classes, is_proved, table, worst_fall
from sklearn.tree import DecisionTreeRegressor

from oblique_cli import AxisParallelClassifier, BaggedForestClassifier, HHCARTClassifier, ObliqueTreeRegressor, make
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.tree.least_squares import fit_linear
from oblique_cli.tree.monotone import agreeing, bounds_of, second_shares, way_across
from oblique_cli.tree.monotone_models import fit_in_order
from oblique_cli.tree.splitting import PROPOSERS

# Random tables contradict their random constraints, which a fit warns of.
pytestmark = pytest.mark.filterwarnings("ignore:monotonic_cst of")


def plain_cart(X, y, signs, low=-np.inf, high=np.inf):
    """CART by Gini with an order, as slowly as it is said: nested (feature, threshold, left, right), or a share."""
    share, best = y.mean(), None
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for threshold in (values[1:] + values[:-1]) / 2:
            goes_left = X[:, j] <= threshold
            a, b = y[goes_left].mean(), y[~goes_left].mean()
            in_order = signs[j] * a < signs[j] * b or not signs[j]
            if not (in_order and low <= min(a, b) and max(a, b) <= high):
                continue
            left = goes_left.mean()
            gain = 2 * (share * (1 - share) - left * a * (1 - a) - (1 - left) * b * (1 - b))
            if gain > 1e-12 and (best is None or gain > best[0] * (1 + 1e-9)):
                best = gain, j, threshold, goes_left, (a + b) / 2
    if best is None or share in (0.0, 1.0):
        return share
    _, j, threshold, goes_left, middle = best
    bounds = [[low, high], [low, high]]
    if signs[j]:
        below = 0 if signs[j] > 0 else 1
        bounds[below][1], bounds[1 - below][0] = middle, middle
    sides = (goes_left, ~goes_left)
    return j, threshold, *(plain_cart(X[s], y[s], signs, *b) for s, b in zip(sides, bounds, strict=True))


def said_by(tree, row):
    while isinstance(tree, tuple):
        j, threshold, left, right = tree
        tree = left if row[j] <= threshold else right
    return tree


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("seed", range(3))
def test_an_axis_parallel_tree_is_that_of_the_plain_program(engine: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = classes(rng, 80, 3)
    signs = [(1, -1, 0), (1, 1, 1), (-1, 0, 1)][seed]
    params = {"criterion": "gini", "min_parent": 1, "engine": engine, "probabilities": "counts"}
    tree = AxisParallelClassifier(**params, monotonic_cst=signs).fit(X, y)
    oracle = plain_cart(X, y, signs)
    probe = rng.normal(size=(500, 3))
    expected = [said_by(oracle, row) for row in probe]
    assert tree.predict_proba(probe)[:, 1].tolist() == expected


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "gdt", "oc1"])
def test_signs_that_are_all_0_change_no_bit(name: str) -> None:
    X, y = classes(np.random.default_rng(1), 120, 3)
    for engine in ("native", "reference"):
        made = [
            ALGORITHMS[name].make(random_state=3, engine=engine, **more).fit(X, y).tree_
            for more in ({}, {"monotonic_cst": [0, 0, 0]})
        ]
        assert all(
            np.array_equal(getattr(made[0], part), getattr(made[1], part))
            for part in ("left", "coef_", "thresholds", "counts", "gains")
        )


@pytest.mark.parametrize("name", PROPOSERS)
def test_every_heuristic_keeps_the_order_and_it_is_proved(name: str) -> None:
    rng = np.random.default_rng(len(name))
    X, y = classes(rng, 90, 3)
    signs = (1, -1, 0) if name != "sadt" else (0, 1, 1)
    tree = ObliqueTreeClassifier(name, monotonic_cst=signs, random_state=1).fit(X, y)
    assert tree.n_leaves_ > 2
    assert worst_fall(tree, X, signs, rng) <= 0.0
    assert is_proved(tree, signs)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    signs=st.tuples(*[st.sampled_from([-1, 0, 1])] * 3),
    name=st.sampled_from(["axis_parallel", "hhcart_a", "hhgdt", "fdt", "gdt"]),
    weighted=st.booleans(),
    probabilities=st.sampled_from(["counts", "laplace", "m_estimate", "shrinkage"]),
    pruning=st.sampled_from(["none", "ccp_alpha", "pessimistic"]),
)
def test_no_answer_falls(seed: int, signs, name: str, weighted: bool, probabilities: str, pruning: str) -> None:
    rng = np.random.default_rng(seed)
    X, y = classes(rng, int(rng.integers(5, 120)), 3)
    weights = rng.random(len(y)) + 0.1 if weighted else None
    options = {"probabilities": probabilities, "pruning": pruning, "ccp_alpha": 0.02 if pruning == "ccp_alpha" else 0.0}
    tree = ObliqueTreeClassifier(name, monotonic_cst=signs, random_state=seed, **options).fit(X, y, weights)
    assert worst_fall(tree, X, signs, rng, 500) <= 0.0


def test_pruned_trees_of_all_sizes_keep_the_order_that_the_rows_break_without_it() -> None:
    rng = np.random.default_rng(2)
    X, y = classes(rng, 150, 3)
    signs = (1, 1, -1)
    fitted = HHCARTClassifier(monotonic_cst=signs, path=True, pruning="cv", probabilities="laplace").fit(X, y)
    assert len(fitted.path_) > 2
    for number in range(len(fitted.path_)):
        assert worst_fall(fitted.at(number), X, signs, rng, 500) <= 0.0
    assert worst_fall(HHCARTClassifier().fit(X, y), X, (1, 1, -1), rng) > 0.0


def test_children_lie_on_their_sides_of_the_middle_and_agree_with_the_way_of_the_plane() -> None:
    rng = np.random.default_rng(4)
    X, y = classes(rng, 150, 3)
    signs = np.array([1, -1, 0], dtype=np.int32)
    tree = HHCARTClassifier(monotonic_cst=signs).fit(X, y).tree_
    shares = second_shares(tree.counts)
    low, high = bounds_of(tree, signs, shares)
    assert (low <= shares).all()
    assert (shares <= high).all()
    assert all(way_across(signs, coef) is not None for coef in tree.coef_)
    signs, coef = np.array([1, -1, 0], dtype=np.int32), np.array([0.6, 0.8, 0.0])
    assert way_across(signs, coef) is None
    assert agreeing(signs, coef, 1).tolist() == [1.0, 0.0, 0.0]
    assert agreeing(signs, coef, -1).tolist() == [0.0, 1.0, 0.0]
    assert way_across(signs, np.array([0.0, 0.8, 0.6])) == -1
    assert way_across(signs, np.array([0.0, 0.0, 1.0])) == 0


def test_what_the_rows_contradict_is_flat_and_said() -> None:
    X = np.linspace(0.0, 1.0, 40)[:, None]
    y = (X[:, 0] > 0.5).astype(int)
    with pytest.warns(UserWarning, match="asks that the answer never rises as 'x1' grows, and in the training rows it"):
        tree = HHCARTClassifier(monotonic_cst=[-1]).fit(X, y)
    assert np.ptp(tree.predict_proba(X)[:, 1]) == 0.0
    X = np.linspace(0.0, 1.0, 60)[:, None]
    with pytest.warns(UserWarning, match="never rises as 'x1' grows, and in the training rows it rises"):
        tree = make("hhcart_model_tree", monotonic_cst=[-1]).fit(X, X[:, 0])
    assert np.ptp(tree.predict(X)) == 0.0


def test_columns_of_a_frame_go_by_name() -> None:
    X, y = classes(np.random.default_rng(6), 80, 3)
    frame = pd.DataFrame(X, columns=["age", "dose", "sex"])
    by_name = HHCARTClassifier(monotonic_cst={"dose": -1, "age": 1}).fit(frame, y)
    by_place = HHCARTClassifier(monotonic_cst=np.array([1, -1, 0])).fit(X, y)
    assert np.array_equal(by_name.tree_.coef_, by_place.tree_.coef_)
    assert by_name.tree_.n_leaves > 1


FRAME = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "word": ["a", "b", "a", "b"]})


@pytest.mark.parametrize(
    ("X", "y", "parameters", "sentence"),
    [
        (FRAME, [0, 1, 0, 1], {"monotonic_cst": {"agee": 1}}, "no column named 'agee'. Did you mean 'age'"),
        (FRAME, [0, 1, 0, 1], {"monotonic_cst": [1]}, "one entry for each of the 2 columns of X. Got 1"),
        (FRAME, [0, 1, 0, 1], {"monotonic_cst": {"word": 1}}, "'word', whose levels have no order"),
        (FRAME, [0, 1, 0, 1], {"monotonic_cst": {"age": 2}}, "must be 1, -1 or 0 for each column"),
        (FRAME[["age"]].to_numpy(), [0, 1, 0, 1], {"monotonic_cst": {"age": 1}}, "the columns of X have no names"),
        (FRAME, [0, 1, 0, 1], {"monotonic_cst": {"age": 1}, "missing": "learn"}, "set missing to 'impute'"),
    ],
)
def test_what_cannot_be_kept_is_one_sentence(X, y, parameters, sentence: str) -> None:
    with pytest.raises(ConfigError) as raised:
        HHCARTClassifier(**parameters).fit(X, y)
    assert sentence in str(raised.value)
    assert str(raised.value).count(". ") <= 1


def test_refinement_of_a_tree_with_an_order_is_refused() -> None:
    X, y = classes(np.random.default_rng(7), 40, 2)
    with pytest.raises(ConfigError, match="not kept by refinement"):
        ALGORITHMS["tao"].estimator(base=HHCARTClassifier(monotonic_cst=[1, 0])).fit(X, y)
    with pytest.raises(ConfigError, match="tao has no parameter 'monotonic_cst'"):
        ALGORITHMS["tao"].make(monotonic_cst=[1, 0])


QUICK = {
    "hhcart_regression": {"pruning": "none"},
    "hhcart_model_tree": {"pruning": "none"},
    "m5_style": {},
    "retis": {},
    "tprti_a": {},
    "tprti_b": {},
}
ALL = list(QUICK)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", range(3))
def test_regression_trees_keep_the_order_and_it_is_proved(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = table(rng, 120, 3)
    signs = [(1, -1, 0), (0, 1, 1), (-1, 0, 0)][seed]
    tree = make(name, monotonic_cst=signs, random_state=1, **QUICK[name]).fit(X, y)
    assert worst_fall(tree, X, signs, rng) <= 0.0
    assert is_proved(tree, signs)
    assert tree.score(X, y) > 0.2


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), signs=st.tuples(*[st.sampled_from([-1, 0, 1])] * 3), name=st.sampled_from(ALL))
def test_no_number_falls(seed: int, signs, name: str) -> None:
    rng = np.random.default_rng(seed)
    X, y = table(rng, int(rng.integers(4, 100)), 3)
    tree = make(name, monotonic_cst=signs, random_state=seed, **QUICK[name]).fit(X, y)
    assert worst_fall(tree, X, signs, rng, 500) <= 0.0


@pytest.mark.parametrize("name", ALL)
def test_without_the_order_the_same_rows_of_numbers_break_it(name: str) -> None:
    rng = np.random.default_rng(1)
    X, y = table(rng, 120, 3)
    falls = [worst_fall(make(name, random_state=1, **QUICK[name]).fit(X, y), X, (s, s, s), rng) for s in (1, -1)]
    assert min(falls) > 0.0


def test_a_tree_of_constants_along_one_feature_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    x = rng.permutation(60)[:, None].astype(float)
    y = x[:, 0] ** 2 / 100.0 + rng.normal(scale=6.0, size=60)
    options = {"min_samples_leaf": 3, "max_depth": 4}
    ours = make("hhcart_regression", pruning="none", monotonic_cst=[1], **options).fit(x, y)
    theirs = DecisionTreeRegressor(monotonic_cst=[1], **options).fit(x, y)
    assert ours.tree_.n_leaves > 4
    assert np.allclose(ours.predict(x), theirs.predict(x), rtol=1e-12)
    assert (np.diff(ours.predict(np.sort(x, axis=0))) >= 0.0).all()


def test_a_model_with_signs_is_the_best_of_those_that_leave_columns_out() -> None:
    rng = np.random.default_rng(4)
    X, y = table(rng, 40, 4)
    signs = np.array([1, -1, 1, 0], dtype=np.int32)
    result, best = fit_in_order(X, y, signs), np.inf
    for mask in np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T:  # of the columns with a sign
        part = np.flatnonzero([*mask, 1])
        fit = fit_linear(np.ascontiguousarray(X[:, part]), y)
        if (fit.coef * signs[part] >= 0.0).all():
            best = min(best, fit.rss)
    assert (signs * result.coef >= 0.0).all()
    assert result.rss == pytest.approx(best, rel=1e-9)
    assert np.array_equal(fit_in_order(X, y, 0 * signs).coef, fit_linear(X, y).coef)


def test_leaves_below_a_split_of_a_constrained_feature_share_their_slope() -> None:
    rng = np.random.default_rng(5)
    x = np.sort(rng.uniform(-1.0, 1.0, size=(200, 2)), axis=0)
    y = np.where(x[:, 0] > 0.0, 3.0, 0.0) + x[:, 1] + rng.normal(scale=0.05, size=200)
    tree = make("hhcart_model_tree", monotonic_cst=[1, 0], pruning="none", max_depth=2).fit(x, y).tree_
    slopes = tree.equations.coef[tree.is_leaf]
    assert len(slopes) > 1
    assert (slopes == slopes[0]).all()
    assert slopes[0, 0] >= 0.0


@pytest.mark.parametrize("leaves", ["constant", "linear"])
def test_refinement_is_refused(leaves: str) -> None:
    X, y = table(np.random.default_rng(6), 40, 2)
    with pytest.raises(ConfigError, match="set refine to 'none'"):
        ObliqueTreeRegressor(leaves=leaves, refine="tao", monotonic_cst=[1, 0]).fit(X, y)
    with pytest.raises(ConfigError, match="has no parameter 'monotonic_cst'"):
        make("tao_regression", monotonic_cst=[1, 0])


SIGNS = (1, -1, 0)


@few(
    1,
    more=[
        {},
        {"voting": "majority"},
        {"node_bootstrap": True},
        {"max_features": None, "bootstrap": False},
        {"proposer": "axis_parallel", "max_features_per_tree": 2},
        {"proposer": "hhgdt", "criterion": "twoing", "min_samples_leaf": 3},
    ],
    weighted=[False, True],
)
def test_a_forest_keeps_the_order_and_it_is_proved(more, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    X, y = classes(rng, 120, 3)
    weights = rng.random(len(y)) + 0.1 if weighted else None
    forest = BaggedForestClassifier(n_estimators=6, random_state=1, monotonic_cst=SIGNS, **more).fit(X, y, weights)
    assert forest.n_leaves_ > 30
    assert worst_fall(forest, X, SIGNS, rng) <= 1e-15  # a sum of shares is rounded
    if not weighted:
        assert is_proved(forest, SIGNS)


def test_signs_that_are_all_0_and_threads_change_no_vote_and_three_classes_are_refused() -> None:
    X, y = classes(np.random.default_rng(2), 120, 3)
    votes = [
        BaggedForestClassifier(n_estimators=6, random_state=1, **more).fit(X, y).predict_proba(X)
        for more in ({}, {"monotonic_cst": [0, 0, 0]}, {"monotonic_cst": SIGNS}, {"monotonic_cst": SIGNS, "n_jobs": 2})
    ]
    assert np.array_equal(votes[0], votes[1])
    assert np.array_equal(votes[2], votes[3])
    assert not np.array_equal(votes[0], votes[2])
    with pytest.raises(ConfigError, match="one of two classes, and y has 3"):
        BaggedForestClassifier(monotonic_cst=SIGNS).fit(X, np.arange(120) % 3)
