"""Synthetic data of the geometric tree paper: what the description says, and the bundled files."""

import numpy as np
import pytest

from oblique_cli import data, resources
from oblique_cli.data import synthetic


@pytest.mark.parametrize("name", synthetic.GENERATORS)
def test_the_bundled_file_is_what_the_generator_makes(name):
    made = synthetic.as_csv(*synthetic.GENERATORS[name]())
    assert (resources.folder("datasets") / f"{name}.csv").read_bytes() == made


@pytest.mark.parametrize("name", synthetic.GENERATORS)
def test_the_classes_are_about_as_large_as_the_papers(name):
    # The paper prints 979, 997 and 1020 of 2000: a fair coin each.
    _, y = synthetic.GENERATORS[name]()
    assert abs((y == 1).sum() - 1000) < 4 * np.sqrt(500)


def test_turned_back_a_checkerboard_is_one():
    X, y = synthetic.checkerboard_4x4()
    turn = np.array([[np.cos(np.pi / 6), np.sin(np.pi / 6)], [-np.sin(np.pi / 6), np.cos(np.pi / 6)]])
    back = X @ turn.T
    assert back.min() > -1e-5 and back.max() < 4 + 1e-5
    inside = (np.abs(back - np.round(back)) > 1e-5).all(axis=1)  # rounding may move a point over an edge
    # Indices count from 1, which changes the sum by 2.
    expected = np.where((np.ceil(back).sum(axis=1)) % 2 == 0, 1, -1)
    assert inside.sum() > 1990 and (expected == y)[inside].all()


def test_signs_of_the_ten_dimensional_set_are_the_four_patterns_of_the_paper():
    X, y = synthetic.synthetic_10d()
    signs = (X @ synthetic.NORMALS.T >= 0).tolist()
    positive = ([True, True, True], [False, False, True], [False, True, False], [True, False, False])
    assert all((row in positive) == (label == 1) for row, label in zip(signs, y, strict=True))


def test_balanced_magic_is_three_thousand_different_rows_of_each_class():
    magic, part = data.load("magic"), data.load("magic_balanced")
    rows = synthetic.balanced(magic.y)
    assert len(set(rows.tolist())) == 6000
    np.testing.assert_array_equal(part.X, magic.X[rows])
    np.testing.assert_array_equal(part.y, magic.y[rows])
