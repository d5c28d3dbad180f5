"""Cuts of features by gain ratio: against brute force, and where the average of gains decides."""

from itertools import pairwise

import numpy as np
import pytest
from node_support import node_of, split_of


def entropy(weights):
    shares = weights[weights > 0] / weights.sum()
    return float(-(shares * np.log2(shares)).sum())


def by_hand(X, y, w):
    """Feature and threshold of every cut tried: gain and ratio of the best of each feature, then the choice."""
    results = []
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        cuts = []
        for low, high in pairwise(values):
            left = X[:, j] <= low
            of = [np.bincount(y[side], w[side], minlength=y.max() + 1) for side in (left, ~left)]
            shares = np.array([of[0].sum(), of[1].sum()]) / w.sum()
            gain = entropy(of[0] + of[1]) - shares[0] * entropy(of[0]) - shares[1] * entropy(of[1])
            cuts.append((gain, gain / entropy(shares), 0.5 * low + 0.5 * high))
        best = max(gain for gain, _, _ in cuts)
        if best > 1e-12:
            results.append((j, *next(cut for cut in cuts if cut[0] >= best - 1e-12)))
    average = sum(gain for _, gain, _, _ in results) / len(results)
    chosen = [item for item in results if item[1] >= average - 1e-3]
    largest = max(ratio for _, _, ratio, _ in chosen)
    j, gain, _, threshold = next(choice for choice in chosen if choice[2] >= largest - 1e-9)
    return j, gain, threshold


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_split_is_that_of_brute_force(seed, weighted):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 120)), 5
    X = np.round(rng.normal(size=(n, p)), 1)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0).astype(int) + (rng.random(n) < 0.1)
    y = np.unique(y, return_inverse=True)[1]
    w = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    split = split_of("gain_ratio", node_of(X, y, w if weighted else None, "entropy"))
    j, gain, threshold = by_hand(X, y, w)
    assert np.flatnonzero(split.coef).tolist() == [j]
    assert split.gain == pytest.approx(gain, abs=1e-12)
    assert split.threshold == pytest.approx(threshold)


def test_a_small_pure_side_is_preferred_only_if_the_gain_is_above_average():
    # Three features: the first sets 4 of 40 rows apart and says less, but costs little; the second halves them.
    y = np.repeat([0, 1], 20)
    few = (np.arange(40) < 4).astype(float)
    half = np.where(np.arange(40) % 20 < 14, y, 1 - y).astype(float)
    small = np.zeros(40)
    small[0] = 1.0
    split = split_of("gain_ratio", node_of(np.column_stack([few, half, small]), y, criterion="entropy"))
    assert np.flatnonzero(split.coef).tolist() == [0]
    # A feature that separates both classes raises the average above what the first gains.
    perfect = y.astype(float)
    split = split_of("gain_ratio", node_of(np.column_stack([few, perfect, half, half]), y, criterion="entropy"))
    assert np.flatnonzero(split.coef).tolist() == [1]
