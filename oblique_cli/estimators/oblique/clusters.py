"""Clusters of one class: a Gaussian mixture with a data-driven number of components (thesis 6.3)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from oblique_cli.errors import NotConverged
from oblique_cli.estimators.oblique.mixtures import Mixture, SingularCovariance, fit_mixture
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array, Rows

CRITERIA = ("bic", "cv", "mccv")

# Mixtures are small: several threads of linear algebra would wait for each other longer than they compute.
one_thread = partial(threadpool_limits, 1)


@dataclass(frozen=True)
class Clustering:
    """Settings of the division of a class into clusters; parameters as in `BottomUpTreeClassifier`."""

    components: str
    min_components: int
    max_components: int | None
    component_folds: int
    standardize: bool
    covariance_regularization: float
    n_init: int
    max_steps: int

    def of_classes(
        self, X: Array, codes: NDArray[np.integer], classes: Sequence[object], seed: int, shared: Shared
    ) -> ClassClusters:
        """Return the clusters of each class as row numbers of X (n, p). codes : (n,) positions in two or more `classes`
        shared : clusters of earlier fits, used if present, and extended"""
        settings = repr((astuple(self), X.shape, seed)).encode()
        digest = hashlib.sha256(settings + X.tobytes() + codes.astype(np.int64).tobytes()).digest()
        if digest in shared:
            return shared[digest]
        started = time.perf_counter()
        clusters = []
        for code, label in enumerate(classes):
            rows = np.flatnonzero(codes == code)
            groups = self.of_class(X[rows], label, seeds.integer(seed, "class", code))
            clusters.append([rows[group] for group in groups])
        shared[digest] = ClassClusters(clusters, time.perf_counter() - started)
        return shared[digest]

    def of_class(self, X: Array, label: object, seed: int) -> list[Rows]:
        """Return the clusters of a class, by the most probable component, as row numbers of X (n, p), none empty.
        label : of the class, for NotConverged, if a required mixture does not converge"""
        limit = len(np.unique(X, axis=0))
        if self.max_components is not None:
            limit = min(limit, self.max_components)
        if limit == 1:
            return [np.arange(len(X))]
        Z = X - X.mean(axis=0)
        if self.standardize:
            spread = X.std(axis=0)
            varies = X.max(axis=0) > X.min(axis=0)
            Z = np.where(varies, Z / np.where(spread > 0, spread, 1.0), 0.0)
        mixtures = _Mixtures(self, label, seed)
        with one_thread():
            labels = self._chosen(Z, limit, mixtures).predict(Z)
        return [np.flatnonzero(labels == k) for k in np.unique(labels)]

    def _chosen(self, Z: Array, limit: int, mixtures: _Mixtures) -> Mixture:
        """Return the mixture of the first K, from `min_components` on, after which the score does not improve."""
        # Sizes of the smallest set to which scoring fits a mixture.
        n, folds = len(Z), min(self.component_folds, len(Z))
        rows_to_fit = {"bic": n, "mccv": n // 2, "cv": n - -(-n // folds)}[self.components]
        best, last = min(self.min_components, limit), min(limit, rows_to_fit)
        if best < last:
            score = self._score(Z, best, mixtures)
            for k in range(best + 1, last + 1):
                new = self._score(Z, k, mixtures)
                if not new > score:
                    break
                best, score = k, new
        return mixtures.of_all(Z, best)

    def _score(self, Z: Array, k: int, mixtures: _Mixtures) -> float:
        """Return the score for the choice of K, larger is better: minus BIC, or mean held-out log-likelihood."""
        if self.components == "bic":
            return -mixtures.of_all(Z, k).bic(Z)
        total, n = 0.0, 0
        for i, (train, test) in enumerate(self._divisions(len(Z), seeds.generator(mixtures.seed, "divisions", k))):
            total += float(mixtures.fit(Z[train], k, f"division {i}").score_samples(Z[test]).sum())
            n += len(test)
        return total / n

    def _divisions(self, n: int, rng: np.random.Generator) -> Iterator[tuple[Rows, Rows]]:
        """Yield rows to fit and rows to score: v folds drawn anew for every K (thesis 6.3.3), or random halves."""
        if self.components == "mccv":
            for _ in range(self.component_folds):
                order = rng.permutation(n)
                yield order[: n // 2], order[n // 2 :]
            return
        folds = np.array_split(rng.permutation(n), min(self.component_folds, n))
        for i, test in enumerate(folds):
            yield np.concatenate([*folds[:i], *folds[i + 1 :]]), test


@dataclass(frozen=True, eq=False)
class ClassClusters:
    """Clusters of all classes as row numbers, class by class. seconds : time to compute them"""

    rows: list[list[Rows]]
    seconds: float


# Digest of everything that decides clusters -> the clusters
Shared = MutableMapping[bytes, ClassClusters]


class _Mixtures:
    """Mixtures fitted to the rows of one class, or the error for a failed fit."""

    def __init__(self, clustering: Clustering, label: object, seed: int) -> None:
        self.clustering, self.label, self.seed = clustering, label, seed
        self._of_all: dict[int, Mixture] = {}

    def of_all(self, Z: Array, k: int) -> Mixture:
        """Return k components fitted to Z : (n, p), all rows of the class; computed once."""
        if k not in self._of_all:
            self._of_all[k] = self.fit(Z, k, "whole")
        return self._of_all[k]

    def fit(self, Z: Array, k: int, name: str) -> Mixture:
        """Fit k components to Z : (n, p); `name` names the random stream."""
        settings = self.clustering
        who = f"K={k}: the mixture"
        try:
            mixture = fit_mixture(
                Z,
                k,
                regularization=settings.covariance_regularization,
                n_init=settings.n_init,
                max_steps=settings.max_steps,
                seed=seeds.integer(self.seed, "mixture", k, name),
            )
        except SingularCovariance as error:
            reason = f"{who} has a singular covariance; raise covariance_regularization."
            raise NotConverged(reason, self.label) from error
        if not mixture.converged:
            raise NotConverged(
                f"{who} did not converge in {settings.max_steps} steps; raise max_steps or covariance_regularization.",
                self.label,
            )
        return mixture
