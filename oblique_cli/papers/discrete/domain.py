"""The domain of a discrete function, its Fourier basis, and partitions as machine words.

Kargupta, Park and Dutta (2006), section 3.2. The basis function of a partition j is

    psi_j(x) = exp(2 pi i sum_m j_m x_m / lambda_m),

of modulus 1 everywhere; for features of two values it is 1 or -1 (Walsh). Inner products are means over the domain,
<f, g> = mean of f(x) g(x), so the basis is orthonormal. The paper writes 1 / sqrt(|domain|) in front of the basis in
one place and 1 / |domain| in front of the sum in another. Means are the second form, and they remain finite for 180
features.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

WORD = 64


class Domain:
    """All vectors x whose feature m takes the values 0 to cardinalities[m] - 1. A partition is a vector of the same
    kind. As a key a partition takes `n_words` unsigned words. Every feature has a separate field there, just wide
    enough for its values, so two keys are equal exactly if their partitions are."""

    def __init__(self, cardinalities: Sequence[int]) -> None:
        self.cardinalities = tuple(int(c) for c in cardinalities)
        if not self.cardinalities or min(self.cardinalities) < 1:
            raise ValueError(f"a domain needs features of at least one value each. Got {self.cardinalities}.")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.cardinalities)

    @cached_property
    def lambdas(self) -> Ints:
        """The cardinalities as an array, (n_features,)."""
        return np.array(self.cardinalities, dtype=np.int64)

    @property
    def is_binary(self) -> bool:
        """Whether every feature has at most two values, so that basis and coefficients are real."""
        return max(self.cardinalities) <= 2

    @cached_property
    def layout(self) -> tuple[Ints, NDArray[np.uint64], int]:
        """Word and shift of every feature's field in a key, two arrays (n_features,), and the number of words."""
        words, shifts, word, used = [], [], 0, 0
        for cardinality in self.cardinalities:
            width = (cardinality - 1).bit_length()
            if used + width > WORD:
                word, used = word + 1, 0
            words.append(word)
            shifts.append(min(used, WORD - 1))  # a feature of one value has no field, and its shift is not used
            used += width
        return np.array(words, dtype=np.int64), np.array(shifts, dtype=np.uint64), word + 1

    @property
    def n_words(self) -> int:
        """Words in a key."""
        return self.layout[2]

    def place(self, feature: int) -> tuple[int, np.uint64, np.uint64]:
        """Return word, shift and mask (before shifting) of a feature's field in a key."""
        words, shifts, _ = self.layout
        width = (self.cardinalities[feature] - 1).bit_length()
        return int(words[feature]), shifts[feature], np.uint64((1 << width) - 1)

    def field(self, keys: Keys, feature: int) -> Ints:
        """Return the values of one feature in the partitions of keys (n, n_words), (n,)."""
        word, shift, mask = self.place(feature)
        return ((keys[:, word] >> shift) & mask).astype(np.int64)

    def pack(self, partitions: NDArray[Any]) -> Keys:
        """Return the keys (n, n_words) of partitions (n, n_features)."""
        values = np.asarray(partitions).astype(np.uint64)
        keys = np.zeros((len(values), self.n_words), dtype=np.uint64)
        for feature in range(self.n_features):
            word, shift, _ = self.place(feature)
            keys[:, word] |= values[:, feature] << shift
        return keys

    def used(self, keys: Keys) -> list[int]:
        """Return the features for which at least one of the partitions is not 0."""
        if len(keys) == 0:
            return []
        union = np.bitwise_or.reduce(keys, axis=0)
        features = []
        for feature in range(self.n_features):
            word, shift, mask = self.place(feature)
            if (union[word] >> shift) & mask:
                features.append(feature)
        return features

    def check(self, points: NDArray[Any]) -> Ints:
        """Return points (n, n_features) as whole numbers; ValueError if one lies outside."""
        codes = np.asarray(points)
        if codes.ndim != 2 or codes.shape[1] != self.n_features:
            raise ValueError(f"points must be rows of {self.n_features} values. Got an array of shape {codes.shape}.")
        whole = codes.astype(np.int64)
        if (whole != codes).any() or (whole < 0).any() or (whole >= self.lambdas).any():
            raise ValueError("a point lies outside the domain")
        return whole

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Domain) and other.cardinalities == self.cardinalities

    def __hash__(self) -> int:
        return hash(self.cardinalities)


def entropy(shares: Array) -> Array:
    """Return the entropy in bits of class shares along the last axis."""
    bits: Array = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1)
    return bits


def phases(cardinality: int) -> NDArray[Any]:
    """Return psi of one feature as a table: entry [p, x] is exp(2 pi i p x / cardinality), exactly 1 and -1 for two."""
    if cardinality <= 2:
        return np.array([[1.0, 1.0], [1.0, -1.0]])[:cardinality, :cardinality]
    turns = np.outer(np.arange(cardinality), np.arange(cardinality)) % cardinality
    table = np.exp(2j * np.pi * np.arange(cardinality) / cardinality)
    if cardinality % 2 == 0:
        table[cardinality // 2] = -1.0
    if cardinality % 4 == 0:
        table[[cardinality // 4, 3 * cardinality // 4]] = [1j, -1j]
    return np.asarray(table[turns])
