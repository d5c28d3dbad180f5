"""Conformal limits: their rank, sets and intervals by hand, and the coverage that the theory promises."""

import numpy as np
import pytest

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators import conformal_limits as own
from oblique_cli.estimators.conformal_limits import Guarantee, Held, guarantee_of


def test_the_limit_has_the_rank_of_the_theory():
    scores = np.arange(1.0, 20.0)
    assert own.limit_of(scores, 0.9) == 18.0  # ceil(20 * 0.9)
    assert own.limit_of(scores, 0.95) == 19.0
    assert own.limit_of(scores[::-1].copy(), 0.5) == 10.0


@pytest.mark.parametrize(("coverage", "least"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99)])
def test_the_least_number_of_rows_is_stated(coverage, least):
    assert own.least_rows(coverage) == least
    shares = np.full((least, 2), 0.5)
    assert guarantee_of("lac", coverage, "split", Held(shares, np.zeros(least, int))).rows == least
    with pytest.raises(ConfigError, match=rf"needs at least {least} calibration rows. There are {least - 1};"):
        guarantee_of("lac", coverage, "split", Held(shares[1:], np.zeros(least - 1, int)))


def test_running_sums_by_hand():
    sums = own.running_sums(np.array([[0.5, 0.3, 0.2], [0.25, 0.25, 0.5], [0.0, 1.0, 0.0]]))
    np.testing.assert_allclose(sums, [[0.25, 0.65, 0.9], [0.625, 0.875, 0.25], [1.0, 0.5, 1.0]])


def random_rows(n: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares, classes drawn by other shares, and leaves that know something of them."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(classes), n)
    y = (rng.random((n, 1)) > np.cumsum(0.7 * shares + 0.3 / classes, axis=1)[:, :-1]).sum(axis=1)
    return shares, y, shares.argmax(axis=1)


@pytest.mark.parametrize("name", own.OF_CLASSES)
def test_sets_hold_the_truth_as_often_as_promised(name):
    """Over many draws of 99 rows the mean coverage lies between c and c + 1 / 100, but for the error of the mean."""
    inside, sizes = [], []
    for seed in range(150):
        shares, y, leaves = random_rows(99 + 300, 3, seed)
        found = guarantee_of(name, 0.8, "split", Held(shares[:99], y[:99], leaves[:99]))
        sets = found.sets(shares[99:], leaves[99:])
        inside.append(sets[np.arange(300), y[99:]].mean())
        sizes.append(sets.sum(axis=1).mean())
    groups = 3 if name in ("class", "leaf") else 1
    assert 0.8 - 0.01 < np.mean(inside) < 0.8 + groups / 100 + 0.012
    assert 1.0 < np.mean(sizes) < 3.0


@pytest.mark.parametrize("name", own.OF_NUMBERS)
def test_intervals_hold_the_truth_as_often_as_promised(name):
    """Errors are four times as large in one leaf; normalized and quantile intervals are wider there alone."""
    inside, widths = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        leaves = rng.integers(2, size=700) + 3
        truth = rng.normal(size=700) * np.where(leaves == 4, 4.0, 1.0)
        said = np.zeros(700)
        spreads = own.spreads_of(name, 0.8, truth[:300], leaves[:300]) if name != "absolute" else None
        spread = own.spread_at(spreads, leaves[300:399]) if spreads else None
        held = Held(said[300:399], truth[300:399], leaves[300:399] if spreads else None, spread)
        found = guarantee_of(name, 0.8, "split", held, spreads)
        ends = found.intervals(said[399:], leaves[399:])
        inside.append(((ends[:, 0] <= truth[399:]) & (truth[399:] <= ends[:, 1])).mean())
        wide = ends[:, 1] - ends[:, 0]
        widths.append([wide[leaves[399:] == leaf].mean() for leaf in (3, 4)])
    assert 0.8 - 0.01 < np.mean(inside) < 0.8 + 0.022
    narrow, wide = np.mean(widths, axis=0)
    assert narrow == wide if name == "absolute" else 3.0 < wide / narrow < 5.0


def test_a_leaf_of_few_rows_shares_a_limit_and_few_rows_give_all_classes():
    shares = np.full((24, 2), 0.5)
    leaves = np.array([1] * 12 + [2] * 9 + [5] * 3)
    found = guarantee_of("leaf", 0.9, "split", Held(shares, np.zeros(24, int), leaves))
    assert found.leaves == (1, 2) and found.limits == ((0.5,), (0.5,), (0.0,))
    np.testing.assert_array_equal(found.sets(np.array([[0.9, 0.1]] * 3), np.array([1, 5, 77])).sum(axis=1), [1, 2, 2])


def test_a_class_of_few_rows_is_named():
    shares, y = np.full((40, 2), 0.5), np.array([0] * 35 + [1] * 5)
    with pytest.raises(ConfigError, match=r"at least 9 calibration rows of each class, of 'rare' too. There are 5;"):
        guarantee_of("class", 0.9, "cross", Held(shares, y), classes=("usual", "rare"))


@pytest.mark.parametrize("coverage", [0.0, 1.0, 90.0, -0.1])
def test_a_coverage_that_is_none_is_refused(coverage):
    with pytest.raises(ConfigError, match="must be a share above 0 and below 1"):
        own.checked("", coverage, False)


def test_plain_data_comes_back_and_damaged_is_refused():
    found = Guarantee("lac", 0.9, "cross", 30, ((0.25,),), (), 1.5)
    assert Guarantee.from_plain(found.plain(), 3) == found
    for key, value in (("name", "absolute"), ("limits", [[float("nan")]]), ("coverage", 2.0), ("leaves", [4])):
        with pytest.raises(DataError, match="guarantee must be an object"):
            Guarantee.from_plain({**found.plain(), key: value}, 3)
