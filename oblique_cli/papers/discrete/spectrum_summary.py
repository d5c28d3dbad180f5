"""Summary of the spectrum of a function: its largest coefficients, energy by order, and which features act together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oblique_cli.papers.discrete.spectrum import Spectrum


@dataclass(frozen=True)
class Term:
    """A coefficient.

    features : (feature, j) for every feature that the partition holds
    weights  : of each output, complex where a feature has more than two values
    share    : of the energy
    """

    features: tuple[tuple[int, int], ...]
    weights: tuple[complex, ...]
    share: float


@dataclass(frozen=True)
class Interaction:
    """The coefficients that hold exactly these features, whatever the values: their share of the energy."""

    features: tuple[int, ...]
    n_coefficients: int
    share: float


def largest(spectrum: Spectrum, top: int) -> list[Term]:
    """Return the `top` coefficients of most energy, those of lower order first where energies are equal."""
    order = np.lexsort([spectrum.orders, -_rounded(spectrum.energies)])[:top]
    partitions = Spectrum(spectrum.domain, spectrum.keys[order], spectrum.weights[order]).partitions()
    total = spectrum.energy or 1.0
    return [
        Term(
            tuple((int(k), int(row[k])) for k in np.flatnonzero(row)),
            tuple(complex(w) for w in spectrum.weights[place]),
            float(spectrum.energies[place] / total),
        )
        for place, row in zip(order, partitions, strict=True)
    ]


def interactions(spectrum: Spectrum, top: int) -> list[Interaction]:
    """Return the `top` sets of at least two features by the energy of the coefficients that hold just them."""
    at = np.flatnonzero(spectrum.orders >= 2)
    held = np.zeros((len(at), len(spectrum.used)), dtype=bool)
    for column, feature in enumerate(spectrum.used):
        held[:, column] = spectrum.domain.field(spectrum.keys[at], feature) > 0
    packed, group = np.unique(np.packbits(held, axis=1), axis=0, return_inverse=True)
    group = group.ravel()
    energies = np.bincount(group, weights=spectrum.energies[at], minlength=len(packed))
    counts = np.bincount(group, minlength=len(packed))
    sets = np.unpackbits(packed, axis=1, count=len(spectrum.used)).astype(bool)
    total = spectrum.energy or 1.0
    order = np.lexsort([sets.sum(axis=1), -_rounded(energies)])[:top]
    used = np.array(spectrum.used, dtype=np.int64)
    return [Interaction(tuple(used[sets[g]].tolist()), int(counts[g]), float(energies[g] / total)) for g in order]


def _rounded(energies: np.ndarray) -> np.ndarray:
    """Energies to ten digits of the largest, so that rounding does not decide an order."""
    return np.round(energies / (energies.max(initial=0.0) or 1.0), 10)
