"""TCFS: a tree from a Fourier spectrum (Kargupta et al. 2006, section 5, figures 4 and 5).

A schema h fixes some features. Its average is the mean of the function over the points that match it, and the average
for one more feature, phi(h_{k=i}), is phi(h) plus the coefficients of h that hold only k. The next feature has the
largest information gain of these averages.

The bookkeeping is the paper's, bottom-up: at a node the spectrum is that of the function restricted to h. When a
feature is fixed, every coefficient that holds this feature is multiplied by its basis value, added to the coefficient
without the feature, and removed. So averages of order 1 are always available, every coefficient is visited once per
level until it is removed, and a path ends when only the constant is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree, DiscreteTreeBuilder
from oblique_cli.papers.discrete.domain import Domain, Ints, Keys, entropy, phases
from oblique_cli.papers.discrete.spectrum import Spectrum, TooLarge, group_keys

NOTHING = 1e-11  # remainder of a cancelled coefficient, relative to the largest one of the spectrum
TIE = 1e-9  # gains closer than this are equal, and the first feature wins
MAX_NODES = 2**17


@dataclass(frozen=True)
class ClassShares:
    """Averages of a function's outputs as class shares, from which entropies are computed.

    One output stands for the second of two classes, as in the paper; else there is one output a class. `low` and `high`
    bound an output: 0 and 1 for a vote, the sums of the negative and of the positive factors for a combination. Shares
    are distances from `low`, scaled to sum to 1; averages out of bounds, which truncation allows, move to the bound.
    """

    n_classes: int
    low: float = 0.0
    high: float = 1.0

    def __call__(self, averages: Array) -> Array:
        """Return shares (..., n_classes) of averages (..., outputs)."""
        if self.n_classes == 1:
            return np.ones((*averages.shape[:-1], 1))
        width = self.high - self.low
        above = np.maximum((averages - self.low) / (width if width > 0 else 1.0), 0.0)
        if averages.shape[-1] == 1:
            second = np.minimum(above[..., 0], 1.0)
            return np.stack([1.0 - second, second], axis=-1)
        total = above.sum(axis=-1, keepdims=True)
        return np.where(total > 0, above / np.where(total > 0, total, 1.0), 1.0 / self.n_classes)


def label_of(shares: Array) -> int:
    """Return the class of the largest share, the lowest code among those within 1e-9 of it."""
    return int(np.argmax(shares >= shares.max() - TIE))


def tree_from_spectrum(
    spectrum: Spectrum,
    shares: ClassShares,
    *,
    max_depth: int | None = None,
    min_confidence: float | None = 1.0,
    decide: bool = False,
    max_nodes: int = MAX_NODES,
) -> DiscreteTree:
    """Return a tree whose nodes hold the averages of the spectrum's function over their schemata.

    max_depth      : longest path; a leaf at the limit has the average of the sub-tree below it
    min_confidence : a schema whose largest share is at least this is a leaf; None for leaves of averages:
                     after truncation a share of 1 does not mean that points agree
    decide         : stop where no point can have another label, and merge leaves of one label. This is not in the
                     paper; labels stay the same, averages in the leaves do not
    max_nodes      : TooLarge beyond it

    If no feature has a gain (as in an exclusive-or), the feature with the most energy is taken.
    """
    used = spectrum.used
    part = Domain([spectrum.domain.cardinalities[k] for k in used] or [1])
    keys = part.pack(spectrum.partitions(used)) if used else np.zeros((len(spectrum), 1), dtype=np.uint64)
    root = _Restricted.of(part, keys, spectrum.weights)
    builder = DiscreteTreeBuilder(spectrum.domain)
    stack = [(root, builder.add(root.average, label_of(shares(root.average))), 0)]
    while stack:
        state, node, depth = stack.pop()
        share = shares(state.average)
        if (max_depth is not None and depth >= max_depth) or (
            min_confidence is not None and share.max() >= min_confidence
        ):
            continue
        if not len(state.keys) or (decide and state.is_decided(shares)):
            continue
        feature = state.best_feature(share, shares)
        children = state.fixed(feature)
        if len(builder) + len(children) > max_nodes:
            raise TooLarge(
                f"a tree of this spectrum of {len(spectrum)} coefficients passes {max_nodes} nodes; lower max_depth, "
                "energy or min_confidence."
            )
        places = [builder.add(child.average, label_of(shares(child.average))) for child in children]
        builder.split(node, used[feature], places)
        stack.extend(reversed([(c, place, depth + 1) for c, place in zip(children, places, strict=True)]))
    tree = builder.finish()
    return tree.merged() if decide else tree


class _Restricted:
    """The spectrum of the function restricted to a schema, over the features that are still free.

    keys, weights : the coefficients except the constant
    orders, only  : features that each partition holds, and the sum of their numbers: the feature itself for order 1
    average       : (K,) the constant, phi(h)
    """

    def __init__(
        self, domain: Domain, keys: Keys, weights: NDArray[Any], orders: Ints, only: Ints, average: Array, zero: float
    ) -> None:
        self.domain, self.keys, self.weights, self.orders, self.only = domain, keys, weights, orders, only
        self.average, self.zero = average, zero

    @classmethod
    def of(cls, domain: Domain, keys: Keys, weights: NDArray[Any]) -> _Restricted:
        orders = np.zeros(len(keys), dtype=np.int64)
        only = np.zeros(len(keys), dtype=np.int64)
        for feature in range(domain.n_features):
            holds = domain.field(keys, feature) > 0
            orders += holds
            only += feature * holds
        zero = NOTHING * float(np.abs(weights).max(initial=0.0))
        constant = orders == 0
        average = weights[constant].real.sum(axis=0)
        rest = ~constant
        return cls(domain, keys[rest], weights[rest], orders[rest], only[rest], average, zero)

    def is_decided(self, shares: ClassShares) -> bool:
        """Return whether the label is the same on every point of the schema, whatever the signs of the coefficients."""
        reach = np.abs(self.weights).sum(axis=0)
        if len(self.average) == 1:
            middle = 0.5 * (shares.low + shares.high)
            return bool(abs(self.average[0] - middle) > reach[0] + TIE)
        leader = int(np.argmax(self.average))
        others = np.delete(self.average + reach, leader)
        return bool(self.average[leader] - reach[leader] > max(others.max(), shares.low) + TIE)

    def best_feature(self, share: Array, shares: ClassShares) -> int:
        """Return the feature with the largest information gain, the first of those within TIE of it."""
        first = np.flatnonzero(self.orders == 1)
        gains = np.full(self.domain.n_features, -np.inf)
        words, shifts, _ = self.domain.layout
        for cardinality in np.unique(self.domain.lambdas[self.only[first]]):
            at = first[self.domain.lambdas[self.only[first]] == cardinality]
            features, which = np.unique(self.only[at], return_inverse=True)
            # In a partition of order 1, the word of its feature has no other feature.
            held = (self.keys[at, words[self.only[at]]] >> shifts[self.only[at]]).astype(np.int64)
            # psi conjugated, as in the inverse transform: (terms, values) times the coefficients, summed by feature.
            change = phases(int(cardinality)).conj()[held][:, :, None] * self.weights[at][:, None, :]
            averages = np.zeros((len(features), int(cardinality), len(self.average)))
            np.add.at(averages, which, change.real)
            gains[features] = entropy(share) - entropy(shares(averages + self.average)).mean(axis=1)
        best = gains.max()
        return int(np.argmax(gains >= best - TIE)) if best > TIE else self._most_energy()

    def _most_energy(self) -> int:
        energies = (np.abs(self.weights) ** 2).sum(axis=1)
        held = [(k, float(energies[self.domain.field(self.keys, k) > 0].sum())) for k in self.domain.used(self.keys)]
        largest = max(energy for _, energy in held)
        return next(k for k, energy in held if energy >= largest * (1.0 - TIE))

    def fixed(self, feature: int) -> list[_Restricted]:
        """Return the restrictions to each value of a feature."""
        word, shift, mask = self.domain.place(feature)
        held = self.domain.field(self.keys, feature)
        keys = self.keys.copy()
        keys[:, word] &= ~(mask << shift)
        orders = self.orders - (held > 0)
        only = self.only - feature * (held > 0)
        constant = orders == 0
        # psi_j(x) conjugated: the inverse transform with one coordinate of x known.
        table = phases(self.domain.cardinalities[feature]).conj()[held]
        gone = table[constant]
        merged, order, starts = group_keys(keys[~constant])
        weights, table = self.weights[~constant][order], table[~constant][order]
        orders, only = orders[~constant][order][starts], only[~constant][order][starts]
        out = []
        for value in range(self.domain.cardinalities[feature]):
            average = self.average + (gone[:, value, None] * self.weights[constant]).real.sum(axis=0)
            if len(merged):
                folded = np.add.reduceat(weights * table[:, value, None], starts, axis=0)
                alive = np.abs(folded).max(axis=1) > self.zero
                parts = (merged[alive], folded[alive], orders[alive], only[alive])
            else:
                parts = (merged, weights, orders, only)
            out.append(_Restricted(self.domain, *parts, average, self.zero))
        return out
