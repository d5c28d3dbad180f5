"""Hyperplanes as people read them: the same decisions in other words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_support import one_split

from oblique_cli import data, make
from oblique_cli.errors import DataError
from oblique_cli.ground.nodes import Indicator
from oblique_cli.tree.reading import Units, number, read, turned


@pytest.mark.parametrize("name", ["hhcart_a", "hhgdt", "oc1", "axis_parallel"])
@pytest.mark.parametrize("raw", [False, True])
def test_a_reading_sends_every_row_where_the_tree_does(name, raw):
    dataset = data.load("bupa")
    tree = make(name, random_state=0).fit(dataset.X, dataset.y).tree_
    units = Units.raw(dataset.p) if raw else Units.deviations(dataset.X)
    flipped = turned(tree)
    for node in np.flatnonzero(~tree.is_leaf):
        result = read(tree, node, bool(flipped[node]), dataset.feature_names, units)
        sums = dataset.X @ tree.coef_[node]
        goes_left = sums <= tree.thresholds[node]
        clear = np.abs(sums - tree.thresholds[node]) > 1e-9 * np.abs(sums).max()
        if len(result.terms) == 1:
            continue
        Z = (dataset.X - units.center) / units.spread
        seen = sum(term.weight * Z[:, term.feature] for term in result.terms)
        first = seen < result.threshold if result.flipped else seen <= result.threshold
        np.testing.assert_array_equal(first[clear], (goes_left != flipped[node])[clear])
        weights = np.array([term.weight for term in result.terms])
        assert (np.diff(np.abs(weights)) <= 0).all()
        if not raw:
            assert np.linalg.norm(weights) == pytest.approx(1.0)


def test_the_largest_class_lies_on_the_right_all_the_way_down():
    dataset = data.load("bupa")
    tree = make("hhcart_a", random_state=0).fit(dataset.X, dataset.y).tree_
    flipped = turned(tree)
    largest = tree.labels[0]
    shares = tree.counts / tree.counts.sum(axis=1, keepdims=True)
    for node in np.flatnonzero(~tree.is_leaf):
        children = [tree.left[node], tree.right[node]]
        first, second = children[::-1] if flipped[node] else children
        if tree.counts[node, largest]:
            assert shares[second, largest] >= shares[first, largest]
    assert flipped.any() and not flipped[~tree.is_leaf].all()


@pytest.mark.parametrize(
    ("coef", "threshold", "flipped", "condition", "first", "second"),
    [
        ([1, 0], 2.5, False, "x <= 2.5", "≤ 2.5", "> 2.5"),
        ([1, 0], 2.5, True, "x > 2.5", "> 2.5", "≤ 2.5"),
        ([-1, 0], 2.5, False, "x >= -2.5", "≥ −2.5", "< −2.5"),
        ([-1, 0], 2.5, True, "x < -2.5", "< −2.5", "≥ −2.5"),
        ([-0.6, 0.8], -1, False, "0.8 y - 0.6 x <= -1", "≤ −1", "> −1"),
        ([-0.6, 0.8], -1, True, "-0.8 y + 0.6 x < 1", "< 1", "≥ 1"),
    ],
)
def test_both_sides_of_a_split_are_said(coef, threshold, flipped, condition, first, second):
    result = read(one_split(coef, threshold), 0, flipped, ["x", "y"], Units.raw(2))
    assert (result.condition, result.first, result.second) == (condition, first, second)


def test_deviations_know_missing_values_constants_and_numbers_near_the_end_of_the_line():
    X = np.array([[1.0, 5.0, 1e308, np.nan], [3.0, 5.0, -1e308, 2.0], [np.nan, 5.0, 1e308, 4.0]])
    units = Units.deviations(X)
    assert units.center[0] == 2.0 and units.spread[0] == 1.0
    assert units.center[1] == 5.0 and units.spread[1] == 1.0
    assert np.isfinite(units.spread).all() and units.spread[2] == pytest.approx(np.sqrt(8 / 9) * 1e308)
    assert units.center[3] == 3.0


def test_units_come_back_from_plain_data_and_others_are_refused():
    units = Units.deviations(np.arange(6.0).reshape(3, 2))
    again = Units.from_plain(units.to_plain(), 2)
    np.testing.assert_array_equal(again.spread, units.spread)
    for bad in ({}, {**units.to_plain(), "spread": [0.0, 1.0]}, {**units.to_plain(), "center": [1.0]}):
        with pytest.raises(DataError, match=r"^units of a tree must be a center and a positive spread for each of 2"):
            Units.from_plain(bad, 2)


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e300, 1e300), st.integers(1, 17))
def test_a_number_is_what_it_says_to_its_digits(value, precision):
    # Half a unit of the last digit, and the rounding of the text to a double.
    bound = 0.5 * 10.0 ** (1 - precision) * abs(value) + float(np.spacing(abs(value)))
    assert abs(float(number(value, precision)) - value) <= max(bound, 1e-300)


NAMES = ["x", Indicator("island", "Biscoe")]


@pytest.mark.parametrize(
    ("coef", "threshold", "flipped", "condition", "first", "second"),
    [
        ([0, 1], 0.5, False, "island is not Biscoe", "is not Biscoe", "is Biscoe"),
        ([0, 1], 0.5, True, "island is Biscoe", "is Biscoe", "is not Biscoe"),
        ([0, -1], -0.5, False, "island is Biscoe", "is Biscoe", "is not Biscoe"),
        ([0, 1], 0.0, False, "island is not Biscoe", "is not Biscoe", "is Biscoe"),
        ([0, -1], -1.0, True, "island is not Biscoe", "is not Biscoe", "is Biscoe"),
        ([0, 1], 1.5, False, "island=Biscoe <= 1.5", "≤ 1.5", "> 1.5"),  # which every row fulfills
    ],
)
def test_an_indicator_alone_is_read_as_its_level(coef, threshold, flipped, condition, first, second):
    result = read(one_split(coef, threshold), 0, flipped, NAMES, Units.raw(2))
    texts = [text.replace("\N{NO-BREAK SPACE}", " ") for text in (result.condition, result.first, result.second)]
    assert texts == [condition, first, second]


def test_an_indicator_in_a_sum_stays_a_term():
    result = read(one_split([0.6, -0.8], 0.5), 0, False, NAMES, Units.raw(2))
    assert result.condition.replace("\N{NO-BREAK SPACE}", " ") == "-0.8 (island is Biscoe) + 0.6 x <= 0.5"


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("Biscoe", "Biscoe"),
        ("10-15%", "10-15%"),
        ("", "missing"),
        ("missing", '"missing"'),
        ("Trinidad and Tobago", '"Trinidad and Tobago"'),
        ("a, b", '"a, b"'),
        ('5" pipe', '"5\\" pipe"'),
        ("<= 3", '"<= 3"'),
    ],
)
def test_a_level_whose_end_would_not_be_seen_is_quoted(level, text):
    assert Indicator("country", level).holds().replace("\N{NO-BREAK SPACE}", " ") == f"country is {text}"


def test_terms_beyond_those_shown_are_counted():
    tree = one_split([0.1, 0.5, 0.3, 0.2], 1.0)
    names = ["a", "b", "c", "d"]
    result = read(tree, 0, False, names, Units.raw(4), most=2)
    assert result.condition == "0.5 b + 0.3 c and 2 smaller terms <= 1" and len(result.terms) == 4
    assert "and 1 smaller term <=" in read(tree, 0, False, names, Units.raw(4), most=3).condition
    assert "smaller" not in read(tree, 0, False, names, Units.raw(4), most=4).condition
