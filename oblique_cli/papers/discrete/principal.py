"""Inner products of trees, computed from their leaves, and principal components of an ensemble.

Kargupta et al. (2006), section 6. The covariance of the trees as functions is the Gram matrix of their spectra (lemma
2). Without truncation this needs no spectrum: the mean of f_a f_b over the domain is the sum over pairs of
leaves of their values times the share of the domain that lies in both, and leaves are boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.ground.geometry import canonical_basis, runs_of_repeated
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree

NEGLIGIBLE = 1e-12  # an eigenvalue below this share of the largest is a rounding error


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
