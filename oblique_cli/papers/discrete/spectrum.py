"""Sparse Fourier spectra: arrays of coefficients, one row per partition, their inner products and components.

Kargupta et al. (2006), sections 3.2, 4.3 and 4.4. A function with several outputs (one for each class of a multi-class
tree) has one coefficient per output in every row, over one set of partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.geometry import canonical_basis, runs_of_repeated
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree
from oblique_cli.papers.discrete.domain import Domain, Ints, Keys

ZERO = 1e-14  # a coefficient below this share of the largest is a rounding error
BLOCK = 2**16  # rows of a coefficient matrix in memory at once
NEGLIGIBLE = 1e-12  # an eigenvalue below this share of the largest is a rounding error


class TooLarge(ConfigError):
    """Error of an operation that would need more coefficients, points or nodes than allowed."""


class Spectrum:
    """Coefficients w_j = mean of f(x) psi_j(x) over the domain, so that f(x) = sum_j w_j conj(psi_j(x)).

    domain  : Domain
    keys    : (J, n_words) uint64, distinct, in lexicographic order
    weights : (J, K) float64 if every feature has at most two values, complex128 otherwise; K outputs
    """

    def __init__(self, domain: Domain, keys: Keys, weights: NDArray[Any]) -> None:
        self.domain = domain
        self.keys = keys
        self.weights = weights

    @classmethod
    def of_terms(cls, domain: Domain, keys: Keys, weights: NDArray[Any]) -> Spectrum:
        """Return the spectrum whose coefficients are sums of the terms of equal key, zeros left out."""
        merged, groups, starts = group_keys(keys)
        return cls(domain, merged, np.add.reduceat(weights[groups], starts, axis=0) if len(keys) else weights).cleaned()

    def cleaned(self) -> Spectrum:
        """Return the spectrum without coefficients that are zero up to rounding."""
        size = np.abs(self.weights).max(axis=1, initial=0.0)
        nonzero = size > ZERO * size.max(initial=0.0)
        return self if nonzero.all() else self._where(nonzero)

    def _where(self, mask: NDArray[np.bool_]) -> Spectrum:
        rows = np.flatnonzero(mask)
        return Spectrum(self.domain, self.keys.take(rows, axis=0), self.weights.take(rows, axis=0))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def n_outputs(self) -> int:
        """Number of functions K."""
        return int(self.weights.shape[1])

    @cached_property
    def used(self) -> list[int]:
        """Features that occur in some partition."""
        return self.domain.used(self.keys)

    @cached_property
    def orders(self) -> Ints:
        """Number of features in each partition, (J,)."""
        orders = np.zeros(len(self), dtype=np.int64)
        for feature in self.used:
            orders += self.domain.field(self.keys, feature) > 0
        return orders

    @cached_property
    def energies(self) -> Array:
        """Energy |w_j|^2 of each partition, summed over outputs, (J,)."""
        return np.asarray((self.weights.real**2 + self.weights.imag**2).sum(axis=1))

    @property
    def energy(self) -> float:
        """Sum of |w_j|^2 over partitions and outputs: the mean of f(x)^2 (Parseval)."""
        return float(self.energies.sum())

    @property
    def energy_by_order(self) -> Array:
        """Energy of the coefficients of each order, (highest order + 1,)."""
        return np.bincount(self.orders, weights=self.energies, minlength=1).astype(np.float64)

    @cached_property
    def mean(self) -> Array:
        """Mean of the function over the domain, the coefficient of order 0, (K,)."""
        at = np.flatnonzero(~self.keys.any(axis=1))
        return np.zeros(self.n_outputs) if len(at) == 0 else np.asarray(self.weights[at[0]].real)

    def partitions(self, features: Sequence[int] | None = None) -> Ints:
        """Return the partitions as numbers, (J, number of features), of all or the given features."""
        columns = range(self.domain.n_features) if features is None else features
        out = np.zeros((len(self), len(columns)), dtype=np.int64)
        for place, feature in enumerate(columns):
            out[:, place] = self.domain.field(self.keys, feature)
        return out

    def truncated(self, energy: float = 1.0, max_order: int | None = None) -> Spectrum:
        """Return the spectrum without high orders, then without the smallest coefficients of each output, down to a
        share `energy` of its energy. Coefficients as large as the last retained one stay, too, so conjugate pairs stay
        together."""
        low_order = np.ones(len(self), dtype=bool) if max_order is None else self.orders <= max_order
        part = self if low_order.all() else self._where(low_order)
        if energy >= 1.0 or len(part) == 0:
            return part
        weights = part.weights.copy()
        for column in weights.T:
            energies = column.real**2 + column.imag**2
            falling = np.sort(energies)[::-1]
            enough = int(np.searchsorted(np.cumsum(falling), energy * falling.sum() * (1.0 - 1e-12)))
            column[energies < falling[min(enough, len(falling) - 1)] * (1.0 - 1e-9)] = 0.0
        return Spectrum(part.domain, part.keys, weights).cleaned()


def group_keys(keys: Keys) -> tuple[Keys, Ints, Ints]:
    """Return the distinct keys in order, the sorting order of the rows, and the start of each distinct key in it."""
    order = np.argsort(keys[:, 0], kind="stable") if keys.shape[1] == 1 else np.lexsort(keys.T[::-1])
    ordered = keys[order]
    fresh = np.ones(len(keys), dtype=bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(fresh)
    return ordered[starts], order, starts


class CoefficientMatrix:
    """The sparse matrix W of section 6: coefficients of every partition (rows) in every spectrum (columns)."""

    def __init__(self, spectra: Sequence[Spectrum]) -> None:
        first = spectra[0]
        if any(s.domain != first.domain or s.n_outputs != first.n_outputs for s in spectra):
            raise ValueError("spectra of one domain and one number of outputs are needed")
        self.domain, self.n_outputs, self.n_columns = first.domain, first.n_outputs, len(spectra)
        weights = np.concatenate([s.weights for s in spectra])
        columns = np.repeat(np.arange(len(spectra)), [len(s) for s in spectra])
        self.keys, order, starts = group_keys(np.concatenate([s.keys for s in spectra]))
        row = np.zeros(len(order), dtype=np.int64)
        row[starts] = 1
        self._rows, self._columns, self._weights = np.cumsum(row) - 1, columns[order], weights[order]

    def __len__(self) -> int:
        return len(self.keys)

    def _blocks(self) -> Any:
        for start in range(0, len(self), BLOCK):
            size = min(BLOCK, len(self) - start)
            first, last = np.searchsorted(self._rows, [start, start + size])
            block = np.zeros((size, self.n_outputs, self.n_columns), dtype=self._weights.dtype)
            block[self._rows[first:last] - start, :, self._columns[first:last]] = self._weights[first:last]
            yield start, block

    def gram(self) -> Array:
        """Return W*W, the inner products of all pairs of spectra, (n_columns, n_columns) (eq. 4)."""
        total = np.zeros((self.n_columns, self.n_columns))
        for _, block in self._blocks():
            flat = block.reshape(-1, self.n_columns)
            total += (flat.conj().T @ flat).real
        return total

    def combine(self, factors: NDArray[Any]) -> list[Spectrum]:
        """Return the spectra of the combinations W @ factors. factors : (n_columns, q); returns q spectra."""
        parts = [block @ factors for _, block in self._blocks()]
        whole = np.concatenate(parts) if parts else np.zeros((0, self.n_outputs, factors.shape[1]), self._weights.dtype)
        return [
            Spectrum(self.domain, self.keys, np.ascontiguousarray(whole[:, :, q])).cleaned()
            for q in range(factors.shape[1])
        ]


def combination(spectra: Sequence[Spectrum], factors: Sequence[float] | Array) -> Spectrum:
    """Return the spectrum of sum_i factors[i] f_i, such as an ensemble (section 4.3)."""
    keys = np.concatenate([s.keys for s in spectra])
    weights = np.concatenate([s.weights * factor for s, factor in zip(spectra, factors, strict=True)])
    return Spectrum.of_terms(spectra[0].domain, keys, weights)


# ---- inner products of trees, and principal components (section 6) ---------------------------------------------------

# Without truncation the Gram matrix needs no spectrum: the mean of f_a f_b over the domain is the sum over pairs of
# leaves of their values times the share of the domain that lies in both, and leaves are boxes (lemma 2).


def gram_of_trees(trees: Sequence[DiscreteTree], leaf_values: Sequence[NDArray[np.float64]]) -> Array:
    """Return the mean of f_a(x) f_b(x) for all pairs of trees over the domain, summed over outputs, (m, m)."""
    domain = trees[0].domain
    starts = np.concatenate([[0], np.cumsum(domain.lambdas)[:-1]])
    boxes = [_boxes(tree, np.asarray(values), starts) for tree, values in zip(trees, leaf_values, strict=True)]
    logs = np.log2(domain.lambdas)
    gram = np.zeros((len(trees), len(trees)))
    for a, (fixed_a, chosen_a, values_a) in enumerate(boxes):
        for b, (fixed_b, chosen_b, values_b) in enumerate(boxes[: a + 1]):
            # Boxes intersect if they agree on all features that both fix; the measure counts these features once.
            meet = chosen_a @ chosen_b.T == fixed_a @ fixed_b.T
            size = (fixed_a @ logs)[:, None] + (fixed_b @ logs)[None] - (fixed_a * logs) @ fixed_b.T
            gram[a, b] = gram[b, a] = float((np.exp2(-size) * meet * (values_a @ values_b.T)).sum())
    return gram


def _boxes(tree: DiscreteTree, values: Array, starts: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """Return the leaves where the function is not 0: the fixed features, the value of each, and the function."""
    leaves = np.flatnonzero(tree.is_leaf & (values != 0).any(axis=1))
    features, held = (array[leaves] for array in tree.paths)
    row, column = np.nonzero(features >= 0)
    fixed = np.zeros((len(leaves), tree.domain.n_features))
    chosen = np.zeros((len(leaves), int(tree.domain.lambdas.sum())))
    fixed[row, features[row, column]] = 1.0
    chosen[row, starts[features[row, column]] + held[row, column]] = 1.0
    return fixed, chosen, values[leaves]


@dataclass(frozen=True)
class Components:
    """Principal components of functions f_1 to f_m: component q is sum_i factors[i, q] f_i.

    variances : (r,) falling eigenvalues of the Gram matrix, those that are not rounding
    factors   : (m, r) unit eigenvectors
    """

    variances: Array
    factors: Array

    @property
    def ratios(self) -> Array:
        """Share of the variance that each component captures, (r,)."""
        total = self.variances.sum()
        return self.variances / total if total > 0 else np.zeros_like(self.variances)

    def enough(self, variance: float) -> int:
        """Return the least number of components that capture more than a share of the variance, or all."""
        reached = np.flatnonzero(np.cumsum(self.ratios) > variance)
        return int(reached[0]) + 1 if len(reached) else len(self.variances)


def principal_components(gram: Array) -> Components:
    """Return the eigenvectors of a Gram matrix, by falling eigenvalue. The sum of an eigenvector's entries is positive
    (or, if it is 0, the first entry), so that the leading one of indicator functions is a weighted vote. Equal
    eigenvalues have the canonical basis."""
    values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = values > NEGLIGIBLE * max(values[0], 0.0)
    values, vectors = values[positive], vectors[:, positive].copy()
    for run in runs_of_repeated(values):
        if run.stop - run.start > 1:
            vectors[:, run] = canonical_basis(vectors[:, run])
    for q in range(vectors.shape[1]):
        total = vectors[:, q].sum()
        leading = total if abs(total) > 1e-9 else vectors[np.argmax(np.abs(vectors[:, q]) > 1e-9), q]
        if leading < 0:
            vectors[:, q] = -vectors[:, q]
    return Components(values, vectors)


# ---- summary ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A coefficient: (feature, j) for every feature of its partition, weights of outputs, its share of the energy."""

    features: tuple[tuple[int, int], ...]
    weights: tuple[complex, ...]
    share: float


@dataclass(frozen=True)
class Interaction:
    """The coefficients with exactly these features, for all values: their share of the energy."""

    features: tuple[int, ...]
    n_coefficients: int
    share: float


def largest(spectrum: Spectrum, top: int) -> list[Term]:
    """Return the `top` coefficients of most energy, at equal energies the lower order first."""
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
    """Return the `top` sets of at least two features by the energy of the coefficients with exactly these features."""
    at = np.flatnonzero(spectrum.orders >= 2)
    occurs = np.zeros((len(at), len(spectrum.used)), dtype=bool)
    for column, feature in enumerate(spectrum.used):
        occurs[:, column] = spectrum.domain.field(spectrum.keys[at], feature) > 0
    packed, group = np.unique(np.packbits(occurs, axis=1), axis=0, return_inverse=True)
    group = group.ravel()
    energies = np.bincount(group, weights=spectrum.energies[at], minlength=len(packed))
    counts = np.bincount(group, minlength=len(packed))
    sets = np.unpackbits(packed, axis=1, count=len(spectrum.used)).astype(bool)
    total = spectrum.energy or 1.0
    order = np.lexsort([sets.sum(axis=1), -_rounded(energies)])[:top]
    used = np.array(spectrum.used, dtype=np.int64)
    return [Interaction(tuple(used[sets[g]].tolist()), int(counts[g]), float(energies[g] / total)) for g in order]


def _rounded(energies: np.ndarray) -> np.ndarray:
    """Return energies rounded to ten digits of the largest, so that rounding errors do not affect their order."""
    return np.round(energies / (energies.max(initial=0.0) or 1.0), 10)
