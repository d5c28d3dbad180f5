"""Columns into codes: cuts by hand and by brute force, levels, missing and unseen values."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli.errors import ConfigError
from oblique_cli.papers.discrete.discretizing import Discretizer, coded, mdl_cuts, quantile_cuts


def brute_mdl(values, y, n_classes):
    """The principle as Fayyad and Irani state it, by trying every cut of every part."""

    def entropy(labels):
        shares = np.bincount(labels, minlength=n_classes) / len(labels)
        return -sum(p * math.log2(p) for p in shares if p > 0)

    def cuts(rows):
        v, labels = values[rows], y[rows]
        best = None
        for low, high in zip(np.unique(v)[:-1], np.unique(v)[1:], strict=True):
            left = v <= low
            after = left.mean() * entropy(labels[left]) + (~left).mean() * entropy(labels[~left])
            if best is None or after < best[0] - 1e-12:
                best = (after, 0.5 * (low + high), left)
        if best is None:
            return []
        after, cut, left = best
        k, k1, k2 = (len(set(part.tolist())) for part in (labels, labels[left], labels[~left]))
        delta = math.log2(3**k - 2) - (k * entropy(labels) - k1 * entropy(labels[left]) - k2 * entropy(labels[~left]))
        if entropy(labels) - after <= (math.log2(len(v) - 1) + delta) / len(v):
            return []
        return [cut, *cuts(rows[left]), *cuts(rows[~left])]

    return sorted(cuts(np.arange(len(values))))


@given(st.integers(0, 2**32), st.integers(2, 80), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_mdl_cuts_are_those_of_a_search_over_everything(seed, rows, n_classes):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, size=rows)
    values = np.round(rng.normal(size=rows) + 2 * y, 1)
    np.testing.assert_allclose(mdl_cuts(values, y, n_classes), brute_mdl(values, y, n_classes), atol=1e-12)


def test_two_clean_groups_are_cut_once_and_noise_is_not():
    values = np.arange(40.0)
    assert mdl_cuts(values, (values >= 20).astype(int), 2).tolist() == [19.5]
    assert mdl_cuts(values, np.arange(40) % 2, 2).tolist() == []
    assert mdl_cuts(np.ones(5), np.array([0, 1, 0, 1, 1]), 2).tolist() == []


def test_quantile_cuts_by_hand():
    assert quantile_cuts(np.arange(8.0), 4).tolist() == [1.5, 3.5, 5.5]
    assert quantile_cuts(np.array([0.0, 0.0, 0.0, 1.0]), 4).tolist() == [0.5]
    assert quantile_cuts(np.ones(9), 4).tolist() == []


def test_neighboring_floats_keep_apart():
    low = 1.0
    high = np.nextafter(low, 2.0)
    cuts = quantile_cuts(np.array([low, high]), 2)
    assert np.searchsorted(cuts, [low, high]).tolist() == [0, 1]


def test_codes_of_levels_bins_missing_and_unseen_values():
    X = np.array([[3.0, 0.5], [7.0, 1.5], [7.0, 2.5], [np.nan, 3.5], [3.0, np.nan], [7.0, 0.25]])
    y = np.array([0, 1, 1, 0, 0, 1])
    columns = Discretizer("quantile", n_bins=2).learn(X, y, 2)
    assert [column.cardinality for column in columns] == [2, 2]
    assert columns[0].names() == ["= 3", "= 7"] and columns[1].names() == ["<= 1", "> 1"]
    assert coded(X, columns)[:, 0].tolist() == [0, 1, 1, 1, 0, 1]  # 7 is the most frequent
    new = np.array([[5.0, -9.0], [np.nan, 99.0]])
    assert coded(new, columns).tolist() == [[1, 0], [1, 1]]


def test_a_column_without_values_and_one_that_is_constant_have_one_code():
    X = np.array([[np.nan, 0.5], [np.nan, 0.5]])
    columns = Discretizer().learn(X, np.array([0, 1]), 2)
    assert [column.cardinality for column in columns] == [1, 1]
    assert columns[0].names() == ["is anything"]
    assert coded(np.array([[1.0, 9.0]]), columns).tolist() == [[0, 0]]


def test_whole_numbers_are_levels_up_to_the_limit():
    X = np.arange(12.0)[:, None]
    y = (np.arange(12) >= 6).astype(int)
    assert Discretizer(max_levels=12).learn(X, y, 2)[0].cardinality == 12
    assert Discretizer(max_levels=11).learn(X, y, 2)[0].cuts.tolist() == [5.5]
    assert Discretizer(max_levels=12).learn(X + 0.5, y, 2)[0].cuts.tolist() == [6.0]
    with pytest.raises(ConfigError, match="column 0 has 12 different values, which discretization 'none' leaves"):
        Discretizer("none").learn(X, y, 2)
