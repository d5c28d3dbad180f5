"""Synthetic data sets: drawn as their papers say, equal for equal seeds, known to the catalogue."""

import numpy as np
import pytest

from oblique_cli.data import catalogue, load, synthetic
from oblique_cli.data.synthetic import SYNTHETIC
from oblique_cli.errors import DataError, UnknownName


def turned_back(X):
    """Undo the turn of 30 degrees by complex numbers, an independent way."""
    z = (X[:, 0] + 1j * X[:, 1]) * np.exp(-1j * np.pi / 6)
    return np.column_stack([z.real, z.imag])


def labels_of(name, seed):
    dataset = synthetic.draw(name, seed)
    return dataset, np.array(dataset.classes)[dataset.y]


@pytest.mark.parametrize("name", SYNTHETIC)
def test_every_generator_has_an_entry_that_loads_it(name):
    entry, dataset = catalogue.entry(name), load(name)
    assert entry.generated and not entry.bundled and not entry.files and catalogue.whereabouts(entry) == "generated"
    assert catalogue.verify(name) == catalogue.Check(name, "ok")
    assert (dataset.n, dataset.p, dataset.name) == (entry.n, entry.p, name)
    assert dataset.digest == synthetic.draw(name).digest == load(name).digest
    assert not dataset.X.flags.writeable and dataset.X.flags.c_contiguous and np.isfinite(dataset.X).all()


def test_every_generated_entry_has_a_generator_and_an_unknown_name_a_hint():
    assert {name for name, entry in catalogue.entries().items() if entry.generated} == set(SYNTHETIC)
    with pytest.raises(UnknownName, match="Did you mean 'two_bands'"):
        synthetic.draw("two_band")


@pytest.mark.parametrize("name", SYNTHETIC)
def test_another_seed_is_another_draw_of_the_same_shape(name):
    first, other = synthetic.draw(name, 1), synthetic.draw(name, 2)
    assert first.X.shape == other.X.shape and first.classes == other.classes and first.digest != other.digest


@pytest.mark.parametrize("seed", range(5))
def test_the_2x2_checkerboard_follows_its_rule(seed):
    dataset, labels = labels_of("checkerboard_2x2", seed)
    X = turned_back(dataset.X)
    assert dataset.X.shape == (2000, 2) and np.abs(X).max() <= 1.0 + 1e-12
    same = np.sign(X[:, 0] + X[:, 1]) == np.sign(X[:, 0] - X[:, 1])
    assert (labels == np.where(same, "1", "-1")).all()
    # The paper's draw has 979 rows of class 1; a fair coin's standard deviation is 22.4.
    assert abs((labels == "1").sum() - 1000) < 90


@pytest.mark.parametrize("seed", range(5))
def test_the_4x4_checkerboard_follows_its_rule(seed):
    dataset, labels = labels_of("checkerboard_4x4", seed)
    X = turned_back(dataset.X)
    assert X.shape == (2000, 2) and X.min() >= -1e-12 and X.max() <= 4.0 + 1e-12
    first, second = 1 + np.floor(X[:, 0]), 1 + np.floor(X[:, 1])  # the paper counts squares from 1
    assert (labels == np.where((first + second) % 2 == 0, "1", "-1")).all()
    assert abs((labels == "1").sum() - 1000) < 90


def test_turns_are_anticlockwise_and_extreme_values_are_two_rows_of_each_class():
    X = synthetic.draw("checkerboard_4x4").X
    # The square's corner (4, 0) goes to 4 (cos 30, sin 30), its corner (0, 4) to the left of the origin.
    assert X[:, 1].min() > -0.01 and X[:, 0].min() < -1.7 and X[:, 1].max() > 5.2
    dataset = synthetic.draw("extreme_values", 4)
    for code in (0, 1):
        rows = dataset.X[dataset.y == code]
        distance = np.linalg.norm(rows - np.median(rows, axis=0), axis=1)
        assert (distance > 2.0).sum() == 2 and (distance < 1.2).sum() == len(rows) - 2


def test_the_10_dimensional_set_follows_its_rule():
    dataset, labels = labels_of("synthetic_10d", 3)
    w1 = np.array([1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0])
    w2 = np.array([1, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0])
    w3 = np.array([0, 1, -1, 0, -1, 0, 1, 1, -1, 1, 0])
    for x, label in zip(dataset.X, labels, strict=True):
        a, b, c = (w @ np.append(x, 1.0) for w in (w1, w2, w3))
        positive = (a >= 0 and b >= 0 and c >= 0) or (a <= 0 and b <= 0 and c >= 0)
        positive = positive or (a <= 0 and b >= 0 and c <= 0) or (a >= 0 and b <= 0 and c <= 0)
        assert label == ("1" if positive else "-1")


def test_the_five_regions_are_those_of_the_printed_hyperplanes():
    # Figures 3.6 to 3.10, with 0.6311 and 0.7231 in the two normals that are not of length 1 as printed.
    dataset, labels = labels_of("five_regions", 7)
    root, node2, node3, node4, node9 = (
        dataset.X @ normal + offset <= 0
        for normal, offset in [
            ((-0.7231, -0.6907), 0.3835),
            ((-0.7757, 0.6311), -0.1227),
            ((-0.6907, 0.7231), 0.0311),
            ((-0.6584, -0.7527), 0.7108),
            ((-0.7757, 0.6311), 0.0804),
        ]
    )
    leaf = np.select([root & ~node2, root & node4, root & node9, root, node3], ["2", "4", "5", "3", "5"], "1")
    assert (leaf == labels).all()


def test_a_draw_that_differs_from_the_entry_is_refused(monkeypatch):
    wrong = SYNTHETIC["two_bands"]
    monkeypatch.setitem(SYNTHETIC._things, "two_bands", lambda seed: tuple(part[1:] for part in wrong(seed)))
    with pytest.raises(DataError, match=r"^data set 'two_bands': catalogue says 120 rows, .* drawn were 119, "):
        load("two_bands")
    assert catalogue.verify("two_bands").status == "bad"


def test_balanced_magic_is_three_thousand_different_rows_of_each_class():
    magic, part = load("magic"), load("magic_balanced")
    rows = synthetic.balanced(magic.y)
    assert len(set(rows.tolist())) == 6000
    np.testing.assert_array_equal(part.X, magic.X[rows])
    np.testing.assert_array_equal(part.y, magic.y[rows])


# ---- Amalaman (2015) -------------------------------------------------------------------------------------------------


def test_the_regression_sets_follow_their_formulas():
    d = synthetic.draw("three_pieces", 3)
    for (x1, x2), y in zip(d.X, d.y, strict=True):
        if x1 == 200:
            assert 0 <= x2 < 100 and y == 300 - 3 * x2
        else:
            assert x2 == 0 and y == (-2 * x1 if x1 < 100 else -700 + 5 * x1)
    assert d.task == "regression" and d.classes == () and d.y.dtype == float
    d = synthetic.draw("one_bend", 2)
    np.testing.assert_array_equal(d.y, np.where(d.X[:, 0] < 50, d.X[:, 0], 100 - d.X[:, 0]))
    d = synthetic.draw("sine_product", 2)
    np.testing.assert_allclose(d.y, 3 * np.sin(d.X[:, 0]) * np.sin(d.X[:, 1]))
    d = synthetic.draw("friedman", 2)
    x = d.X.T
    clean = 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
    assert np.abs(d.y - clean).max() <= 1 and (d.y - clean).std() == pytest.approx(1 / np.sqrt(3), rel=0.1)
    d = synthetic.draw("breiman_levels", 2)
    for x, y in zip(d.X, d.y, strict=True):
        clean = 3 + 3 * x[1] + 2 * x[2] + x[3] if x[0] == 1 else -3 + 3 * x[4] + 2 * x[5] + x[6]
        assert abs(y - clean) <= 2 and set(x[1:]) <= {-1, 0, 1} and x[0] in (-1, 1)


def printed_label(name, x, y):
    """Table 3.2, line by line; None for a row in a margin."""
    if name == "sine_2d":
        d = y - np.sin(x * 2 * np.pi)
        return "C+" if d > 0.3 else "C-" if d < -0.3 else None
    if name == "circles_2d":
        r = (x**2 + y**2) ** 0.5
        return "C+" if r > 3.5 or r < 1.2 else "C-" if 1.5 < r < 3 else None
    quadrant = {(1, 1): 1, (-1, 1): 2, (-1, -1): 3, (1, -1): 4}
    if abs(x) <= 0.1 or abs(y) <= 0.1:
        return None
    q = quadrant[int(np.sign(x)), int(np.sign(y))]
    if name == "patches_4":
        return {1: "C-", 2: "C+", 3: "C-", 4: "C+"}[q]
    if y > x + 0.2:
        return {1: "C-", 2: "C+", 3: "C-"}[q]
    return {1: "C+", 4: "C-", 3: "C+"}[q] if y < x - 0.2 else None


@pytest.mark.parametrize("name", ["sine_2d", "patches_4", "patches_6", "circles_2d"])
def test_the_sets_of_table_3_2_follow_its_lines(name):
    dataset, labels = labels_of(name, 4)
    assert [printed_label(name, x, y) for x, y in dataset.X] == labels.tolist()
