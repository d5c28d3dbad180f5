"""Artificial sequences with p-distances, as in the dissertation (sections 4.4.1 and 5.5.1.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from oblique_cli.papers.hierarchy.dissimilarities import Condensed, to_square

LETTERS = 4  # nucleotides


def random_sequences(n: int, rng: np.random.Generator, length: int = 200) -> NDArray[np.int8]:
    """Return n sequences of independent, equally likely nucleotides, (n, length) codes 0 to 3."""
    return rng.integers(0, LETTERS, size=(n, length), dtype=np.int8)


def p_distances(sequences: NDArray[np.int8]) -> Condensed:
    """Return the condensed p-distances: the share of sites at which two sequences differ."""
    return np.asarray(pdist(sequences.astype(np.float64), "hamming"))


def labels_by_poles(condensed: Condensed, rng: np.random.Generator, noise: float = 0.0) -> NDArray[np.int64]:
    """Return two classes, one around each of the two most distant sequences; equally near ones are of the first.
    noise : share of the sequences whose class is drawn at random afterwards (0 for Art#1, 0.1 for Art#2)"""
    square = to_square(condensed)
    first, second = np.unravel_index(int(square.argmax()), square.shape)
    codes: NDArray[np.int64] = (square[second] < square[first]).astype(np.int64)
    chosen = rng.choice(len(codes), size=round(noise * len(codes)), replace=False)
    codes[chosen] = rng.integers(0, 2, size=len(chosen))
    return codes
