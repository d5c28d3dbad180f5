"""Regions of a partition: exact, whole, disjoint, and those of the tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli import data, make
from oblique_cli.drawing.polygons import divide, halves, surroundings
from oblique_cli.errors import ConfigError

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def area(polygon):
    """The shoelace formula."""
    if len(polygon) < 3:
        return 0.0
    x, y = polygon.T
    return 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def inside(polygon, point):
    """Whether a point is on one side of all edges of a convex polygon."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    there = point - polygon
    side = edges[:, 0] * there[:, 1] - edges[:, 1] * there[:, 0]
    return bool((side >= -1e-12).all() or (side <= 1e-12).all())


def test_a_diagonal_halves_the_square_and_a_line_outside_or_along_an_edge_leaves_it_whole():
    below, above, ends = halves(SQUARE, np.array([1.0, -1.0]), 0.0)
    assert area(below) == area(above) == 0.5
    assert sorted(map(tuple, ends)) == [(0.0, 0.0), (1.0, 1.0)]
    below, above, ends = halves(SQUARE, np.array([1.0, 0.0]), 2.0)
    assert area(below) == 1.0 and len(above) == 0 and len(ends) == 0
    below, above, ends = halves(SQUARE, np.array([1.0, 0.0]), 1.0)
    assert area(below) == 1.0 and area(above) == 0.0 and len(ends) == 2


@settings(max_examples=60, deadline=None)
@given(st.floats(0.0, 6.28), st.floats(-2.0, 2.0))
def test_any_line_divides_the_area(angle, threshold):
    below, above, ends = halves(SQUARE, np.array([np.cos(angle), np.sin(angle)]), threshold)
    assert area(below) + area(above) == pytest.approx(1.0, abs=1e-9)
    for end in ends:
        assert end @ [np.cos(angle), np.sin(angle)] == pytest.approx(threshold, abs=1e-9)


def test_heights_below_what_a_product_can_hold_are_divided():
    below, above, _ = halves(SQUARE - [0.0, 0.5], np.array([1e-170, 1e-170]), 0.0)
    assert area(below) + area(above) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "gdt", "oc1"])
def test_regions_are_where_the_tree_puts_points(name):
    dataset = data.load("five_clouds")
    tree = make(name, random_state=0).fit(dataset.X, dataset.y).tree_
    box = surroundings(dataset.X)
    division = divide(tree, box)
    whole = np.prod(box[1] - box[0])
    assert sum(map(area, division.leaves.values())) == pytest.approx(whole)
    assert set(division.leaves) <= set(np.flatnonzero(tree.is_leaf))
    X = np.random.default_rng(5).uniform(box[0], box[1], (300, 2))
    for x, leaf in zip(X, tree.apply(X), strict=True):
        assert inside(division.leaves[leaf], x)


def test_cuts_lie_on_their_hyperplanes_between_the_children():
    dataset = data.load("five_regions")
    tree = make("hhcart_a", pruning="none").fit(dataset.X, dataset.y).tree_
    division = divide(tree, surroundings(dataset.X))
    assert set(division.cuts) == set(np.flatnonzero(~tree.is_leaf))
    for node, ends in division.cuts.items():
        assert ends @ tree.coef_[node] == pytest.approx(tree.thresholds[node])
        # A little to either side of its middle lie the two children's leaves.
        middle, step = ends.mean(axis=0), 1e-6 * tree.coef_[node]
        left, right = tree.apply(np.array([middle - step, middle + step]))
        assert left != right


def test_a_single_leaf_is_the_rectangle():
    tree = make("gdt", epsilon=0.99).fit([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]], [0, 1, 1]).tree_
    division = divide(tree, np.array([[0.0, 0.0], [2.0, 3.0]]))
    assert list(division.leaves) == [0] and area(division.leaves[0]) == 6.0 and division.cuts == {}


def test_three_features_have_no_partition():
    tree = make("axis_parallel").fit(np.eye(3), [0, 1, 1]).tree_
    with pytest.raises(ConfigError, match=r"two quantitative features, and the tree has 3\."):
        divide(tree, np.zeros((2, 2)))


def test_surroundings_of_one_point_have_an_area():
    assert area(SQUARE) and np.prod(np.diff(surroundings(np.array([[3.0, 3.0]])), axis=0)) > 0
