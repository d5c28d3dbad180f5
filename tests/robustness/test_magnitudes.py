"""Weights and features near the ends of the number line: the answer of ordinary numbers, or one sentence."""

import re
from functools import cache

import numpy as np
import pytest
from contracts import NATIVE_NAMES, grow
from hypothesis import given
from hypothesis import strategies as st
from robustness_support import DISCRETE, NAMES, NUMERIC, REGRESSION, WEIGHTED, learned, many, rows

from oblique_cli import ObliqueTreeClassifier
from oblique_cli.errors import ColumnError, ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.ground.magnitudes import RATIO, comparable, measured, product
from oblique_cli.tree.splitting import PROPOSERS

# Features: x times a power of ten

# What depends on units as the papers define it, or stands on scikit-learn's single precision: a refusal is an answer.
REFUSES = REGRESSION | {"tao_forest"}
# Proximal planes decide by fixed numbers what is singular, so units decide something, if little.
UNITS_COUNT = {name for name in NAMES if name.startswith("mp")}
# Nodes of these ensembles are cut along axes where moments of features are no numbers (docs/ensembles.md).
UNITS_COUNT |= {"bagged_forest", "heterogeneous_forest", "hhgdt_forest", "oblique_boosting"}
UNITS = [2.0**-996, 2.0**-531, 2.0**531, 2.0**996]
UNITS += [10.0**k for k in (-300, -160, -100, 100, 160, 300)] if many(0, 1) else []


@cache
def of_plain_rows(name):
    """What an algorithm makes of its rows in ordinary units."""
    return learned(name, *rows(name))


@pytest.mark.sample(60)
@pytest.mark.covered(1)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", NUMERIC)
def test_any_unit_gives_the_same_answer_or_a_sentence(name, unit):
    X, y = rows(name)
    plain, result = of_plain_rows(name), learned(name, X * unit, y)
    assert not isinstance(plain, str)
    if isinstance(result, str):
        assert name in REFUSES and re.search(r"column 0 of X .*; divide the column by a unit", result), result
        return
    differing = np.mean(result != plain)
    # A power of ten rounds, and a forest may turn a rounding into a vote.
    exact = np.frexp(unit)[0] == 0.5 and name not in UNITS_COUNT
    assert differing <= (0.0 if exact else 0.1)


@pytest.mark.parametrize("name", [name for name in NUMERIC if name not in REFUSES])
def test_one_column_of_another_unit_is_no_bug(name):
    X, y = rows(name)
    for scale in (1e-250, 1e250):
        model = learned(name, X * np.array([1.0, scale, 1.0]), y)
        assert not isinstance(model, str), model


@pytest.mark.parametrize("power", [-280, -160, 160, 280])
@pytest.mark.parametrize("name", NATIVE_NAMES)
def test_both_engines_agree_at_the_ends_of_the_number_line(name, power):
    rng = np.random.default_rng(3)
    for n, p in ((30, 2), (12, 6)):
        X = rng.normal(size=(n, p)) * 10.0**power
        y = (rng.uniform(size=n) < 0.4).astype(int)
        native, reference = (grow(name, X, y, engine=engine) for engine in ("native", "reference"))
        np.testing.assert_array_equal(native.counts, reference.counts)
        np.testing.assert_allclose(native.coef_, reference.coef_, atol=1e-7)


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("name", NATIVE_NAMES)
def test_columns_whose_ratio_is_beyond_the_number_line_are_refused_by_name_unless_splits_take_one(name, engine):
    X, y = np.random.default_rng(3).normal(size=(30, 3)), np.arange(30) % 2
    units = np.array([1.0, 1e-150, 1e150])
    model = ObliqueTreeClassifier(name, engine=engine)
    if PROPOSERS[name].combines:
        with pytest.raises(ValueError, match=r"column 1 of X holds numbers up to .*e-150 .* column 2 of X up"):
            model.fit(X * units, y)
    else:
        assert model.fit(X * units, y).tree_.counts[0].sum() == 30
    assert model.fit(X * np.array([1.0, 0.0, 1e150]), y).tree_.counts[0].sum() == 30


@pytest.mark.parametrize("name", sorted(set(NATIVE_NAMES) - {"gdt", "hhgdt", "union"}))
def test_both_engines_agree_on_columns_in_units_far_apart(name):
    for seed in range(many(8, 200)):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(8, 40)), int(rng.integers(2, 6))
        X = rng.normal(size=(n, p)) * 10.0 ** (rng.choice([150, 250]) * rng.integers(0, 2, size=p))
        y = rng.integers(0, 3, size=n)
        native, reference = (grow(name, X, y, engine=engine) for engine in ("native", "reference"))
        np.testing.assert_array_equal(native.counts, reference.counts, err_msg=f"seed {seed}")


@pytest.mark.parametrize("name", ["svm", "gepsvm", "knn", "hhbut"])
def test_without_scaling_of_features_an_extreme_column_is_named(name):
    X, y = rows(name)
    raw = {"knn": {"scaling": "none"}}.get(name, {"standardize": False})
    with pytest.raises(ValueError, match=r"column 1 of X holds numbers up to .*e\+160 in size.* divide the column"):
        make(name, **raw).fit(X * np.array([1.0, 1e160, 1.0]), y)


@pytest.mark.sample(30)
@pytest.mark.covered(1)
@pytest.mark.parametrize("far", [8e307, 1e308, 1.7e308])
@pytest.mark.parametrize("name", [*NATIVE_NAMES, "tao", "hhgdt_forest", "raf", "logistic_tree", "knn"])
def test_a_column_as_wide_as_the_number_line_splits_or_is_named(name, far):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([rng.normal(size=60), np.where(y, far, -far)])
    try:
        model = make(name, random_state=1).fit(X, y)
    except ColumnError as error:
        assert "column 1 of X holds numbers" in str(error) or "column 1 of X up to" in str(error)
        assert str(error.named(("near", "far"))) == str(error).replace("column 0 of X", "column 'near'").replace(
            "column 1 of X", "column 'far'"
        )
    else:
        assert (model.predict(X) == y).all()


# Weights


@pytest.mark.sample(30)
@pytest.mark.covered(1)
@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1e-200, 1e200, 1e308])
def test_equal_weights_count_as_one_whatever_they_are(name, weight):
    X, y = rows(name)
    plain = learned(name, X, y, sample_weight=np.ones(len(X)))
    model = learned(name, X, y, sample_weight=np.full(len(X), weight))
    assert not isinstance(model, str) and (np.abs(plain - model) < 1e-9).mean() > 0.9


@pytest.mark.sample(40)
@pytest.mark.covered(1)
@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize(
    ("light", "heavy"), [(1e-300, 1e300), (5e-324, 1.7e308), (1e-50, 1e150), (1.0, 1e60), (1e-308, 1e-248)]
)
def test_a_ratio_of_weights_is_met_or_refused(name, light, heavy):
    X, y = rows(name)
    for every in (2, len(X)):
        weights = np.where(np.arange(len(X)) % every == 1, heavy, light)
        model = learned(name, X, y, sample_weight=weights)
        if isinstance(model, str):
            assert heavy / light > RATIO
            assert re.search(r"must not differ by more than a factor of 2e\+60.* set the least weights to 0\.$", model)
        elif name not in REGRESSION:
            # Heavy rows are told apart as if light ones were not there.
            assert (model == y)[1::every].mean() >= 0.7


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_that_differ_by_a_power_of_two_give_the_same_bits(name):
    X, y = rows(name)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    a, b = (learned(name, X, y, sample_weight=np.ldexp(weights, k)) for k in (0, -900))
    np.testing.assert_array_equal(a, b)


def test_class_weights_too_far_apart_are_refused_by_name():
    X, y = rows("hhcart_a")
    with pytest.raises(ConfigError, match=r"^class_weight of HHCARTClassifier must not differ by more than a factor"):
        make("hhcart_a", class_weight={0: 1e300, 1: 1e-300}).fit(X, y)
    with pytest.raises(ConfigError, match=r"^sample_weight times class_weight of HHCARTClassifier must not differ"):
        make("hhcart_a", class_weight={0: 1e60, 1: 1e-60}).fit(X, y, np.where(y == 0, 1e60, 1.0))
    # What either weighs alone is too much; together they are ordinary.
    model = make("hhcart_a", class_weight={0: 1e80, 1: 1.0}).fit(X, y, np.where(y == 0, 1e-80, 1.0))
    assert np.isfinite(model.predict_proba(X)).all() and model.n_leaves_ > 1


positive = st.floats(5e-324, 1.7e308)


@given(st.lists(positive, min_size=1))
def test_weights_keep_their_ratios_or_are_refused(weights):
    given_ = np.array(weights)
    try:
        result = comparable(given_, "weights")
    except ConfigError:
        assert given_.min() / given_.max() <= 1 / RATIO
        return
    assert np.isfinite(result).all() and (result > 0).all() and np.isfinite((result**2).sum())
    np.testing.assert_allclose(result / result.max(), given_ / given_.max(), rtol=1e-15)


@given(st.lists(st.tuples(positive, positive), min_size=1))
def test_products_of_weights_neither_overflow_nor_vanish(pairs):
    first, second = np.array(pairs).T
    try:
        result = product(first, second, "weights")
    except ConfigError:
        logs = np.log2(first) + np.log2(second)
        assert np.ptp(logs) > np.log2(RATIO) - 1
        return
    assert np.isfinite(result).all() and (result > 0).all()


@given(st.lists(st.floats(-1.7e308, 1.7e308), min_size=1), st.integers(-1000, 1000))
def test_units_are_undone_to_the_bit(values, power):
    X = np.array(values)
    back = measured(measured(X, power), -power)
    exponents = np.frexp(X)[1] - power
    retained = (exponents > -1000) & (exponents < 1024)
    np.testing.assert_array_equal(back[retained], X[retained])


def test_discrete_features_have_no_size():
    for name in sorted(DISCRETE):
        X, y = rows(name)
        model = learned(name, X * 1e300, y)
        assert isinstance(model, str) or (model == learned(name, X, y)).all()
