"""Regression trees whose answers keep an order: constants, and linear leaves, over the whole space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monotone_support import is_proved, table, worst_fall
from sklearn.tree import DecisionTreeRegressor

from oblique_cli import ObliqueTreeRegressor, make
from oblique_cli.errors import ConfigError
from oblique_cli.tree.least_squares import fit_linear
from oblique_cli.tree.monotone_models import fit_in_order

# Random tables contradict their random constraints, which a fit warns of.
pytestmark = pytest.mark.filterwarnings("ignore:monotonic_cst of")

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
def test_the_order_is_kept_and_proved(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = table(rng, 120, 3)
    signs = [(1, -1, 0), (0, 1, 1), (-1, 0, 0)][seed]
    tree = make(name, monotonic_cst=signs, random_state=1, **QUICK[name]).fit(X, y)
    assert worst_fall(tree, X, signs, rng) <= 0.0
    assert is_proved(tree, signs)
    assert tree.score(X, y) > 0.2


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), signs=st.tuples(*[st.sampled_from([-1, 0, 1])] * 3), name=st.sampled_from(ALL))
def test_no_answer_falls(seed: int, signs, name: str) -> None:
    rng = np.random.default_rng(seed)
    X, y = table(rng, int(rng.integers(4, 100)), 3)
    tree = make(name, monotonic_cst=signs, random_state=seed, **QUICK[name]).fit(X, y)
    assert worst_fall(tree, X, signs, rng, 500) <= 0.0


@pytest.mark.parametrize("name", ALL)
def test_without_the_order_the_same_rows_break_it(name: str) -> None:
    rng = np.random.default_rng(1)
    X, y = table(rng, 120, 3)
    falls = [worst_fall(make(name, random_state=1, **QUICK[name]).fit(X, y), X, (s, s, s), rng) for s in (1, -1)]
    assert min(falls) > 0.0


def test_a_tree_of_constants_along_one_feature_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    x = rng.permutation(60)[:, None].astype(float)
    y = x[:, 0] ** 2 / 100.0 + rng.normal(scale=6.0, size=60)
    own = {"min_samples_leaf": 3, "max_depth": 4}
    ours = make("hhcart_regression", pruning="none", monotonic_cst=[1], **own).fit(x, y)
    theirs = DecisionTreeRegressor(monotonic_cst=[1], **own).fit(x, y)
    assert ours.tree_.n_leaves > 4
    assert np.allclose(ours.predict(x), theirs.predict(x), rtol=1e-12)
    assert (np.diff(ours.predict(np.sort(x, axis=0))) >= 0.0).all()


def test_a_model_with_signs_is_the_best_of_those_that_leave_columns_out() -> None:
    rng = np.random.default_rng(4)
    X, y = table(rng, 40, 4)
    signs = np.array([1, -1, 1, 0], dtype=np.int32)
    found, best = fit_in_order(X, y, signs), np.inf
    for kept in np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T:  # of the columns with a sign
        part = np.flatnonzero([*kept, 1])
        own = fit_linear(np.ascontiguousarray(X[:, part]), y)
        if (own.coef * signs[part] >= 0.0).all():
            best = min(best, own.rss)
    assert (signs * found.coef >= 0.0).all()
    assert found.rss == pytest.approx(best, rel=1e-9)
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


def test_what_the_rows_contradict_is_flat_and_said() -> None:
    X = np.linspace(0.0, 1.0, 60)[:, None]
    with pytest.warns(UserWarning, match="never rises as 'x1' grows, and in the training rows it rises"):
        tree = make("hhcart_model_tree", monotonic_cst=[-1]).fit(X, X[:, 0])
    assert np.ptp(tree.predict(X)) == 0.0


@pytest.mark.parametrize("leaves", ["constant", "linear"])
def test_refinement_is_refused(leaves: str) -> None:
    X, y = table(np.random.default_rng(6), 40, 2)
    with pytest.raises(ConfigError, match="set refine to 'none'"):
        ObliqueTreeRegressor(leaves=leaves, refine="tao", monotonic_cst=[1, 0]).fit(X, y)
    with pytest.raises(ConfigError, match="has no parameter 'monotonic_cst'"):
        make("tao_regression", monotonic_cst=[1, 0])
