"""Gaussian mixtures with full covariances, fitted by expectation-maximization as scikit-learn does.

`sklearn.mixture.GaussianMixture` spends three quarters of a fit to a few hundred rows outside its numerical operations.
Here these run for all components at once, in the same order, so results are equal to the last bit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from oblique_cli.ground.arrays import Array

TOLERANCE = 1e-3  # change of the mean log-likelihood per row at convergence: scikit-learn's default
LEAST_WEIGHT = 10 * np.finfo(np.float64).eps  # least weight of a component, in rows
BLOCK = 1 << 17  # array elements (components x rows x features) computed at once, a limit of memory


class SingularCovariance(ValueError):
    """Error for a component's covariance without a Cholesky factor."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Mixture of k components in p dimensions: weights (k,), means (k, p), and factors (k, p, p), upper triangular; a
    factor times its transpose is the inverse of a covariance. steps, converged : of the best start"""

    weights: Array
    means: Array
    factors: Array
    steps: int = 0
    converged: bool = False
    likelihood: float = -math.inf

    def log_densities(self, X: Array) -> Array:
        """Return the logarithm of the joint density of row and component, (k, n). X : (n, p)"""
        k, p = self.means.shape
        densities = np.empty((k, len(X)))
        for some in _blocks(k, X):
            Y = np.matmul(X, self.factors[some])
            Y -= np.matmul(self.means[some, None, :], self.factors[some])
            np.square(Y, out=Y)
            densities[some] = Y.sum(axis=-1)
        densities += p * math.log(2 * math.pi)
        densities *= -0.5
        densities += np.log(self.factors.reshape(k, -1)[:, :: p + 1]).sum(axis=1)[:, None]
        densities += np.log(self.weights)[:, None]
        return densities

    def score_samples(self, X: Array) -> Array:
        """Return the log-likelihood of each row, (n,). X : (n, p)"""
        return log_of_sums(self.log_densities(X))

    def bic(self, X: Array) -> float:
        """Return the Bayesian information criterion on X : (n, p), smaller is better."""
        k, p = self.means.shape
        n_parameters = int(k * p * (p + 1) / 2.0 + p * k + k - 1)
        return -2 * float(self.score_samples(X).mean()) * len(X) + n_parameters * math.log(len(X))

    def predict(self, X: Array) -> NDArray[np.intp]:
        """Return the most probable component of each row, (n,). X : (n, p)"""
        return np.asarray(self.log_densities(X).argmax(axis=0))


def fit_mixture(X: Array, k: int, *, regularization: float, n_init: int, max_steps: int, seed: int) -> Mixture:
    """Return k components fitted to X (n, p), n >= max(k, 2), the most likely of `n_init` starts; raise
    SingularCovariance.

    Each start draws k different rows as the first means, from check_random_state(seed)."""
    rng = check_random_state(seed)
    best: Mixture | None = None
    for _ in range(n_init):
        shares = np.zeros((len(X), k))
        shares[rng.choice(len(X), size=k, replace=False), np.arange(k)] = 1
        mixture = _climb(X, shares, regularization, max_steps)
        if best is None or mixture.likelihood > best.likelihood or best.likelihood == -math.inf:
            best = mixture
    assert best is not None
    return best


def _climb(X: Array, shares: Array, regularization: float, max_steps: int) -> Mixture:
    """Alternate both steps, from the share (n, k) of each component in each row, until convergence."""
    weights, means, factors = _maximized(X, shares, regularization)
    mixture = Mixture(weights / len(X), means, factors)
    likelihood, gain, steps = -math.inf, math.inf, 0
    while steps < max_steps and gain >= TOLERANCE:
        steps += 1
        before = likelihood
        densities = mixture.log_densities(X)
        of_rows = log_of_sums(densities)
        likelihood = float(of_rows.mean())
        densities -= of_rows
        np.exp(densities, out=densities)
        weights, means, factors = _maximized(X, np.ascontiguousarray(densities.T), regularization)
        mixture = Mixture(weights / weights.sum(), means, factors)
        gain = abs(likelihood - before)
    return replace(mixture, steps=steps, converged=gain < TOLERANCE, likelihood=likelihood)


def _maximized(X: Array, shares: Array, regularization: float) -> tuple[Array, Array, Array]:
    """Return weights in rows (k,), means and factors, as in `Mixture`, most likely for shares (n, k), C order."""
    from scipy.linalg.lapack import dpotrf, dtrtrs  # loaded with the first mixture, not with the package

    p, k = X.shape[1], shares.shape[1]
    weights = shares.sum(axis=0) + LEAST_WEIGHT
    means = np.matmul(shares.T, X) / weights[:, None]
    covariances = np.empty((k, p, p))
    for some in _blocks(k, X):
        centered = X - means[some, None, :]
        weighted = np.multiply(shares.T[some, :, None], centered, order="C")
        np.matmul(weighted.transpose(0, 2, 1), centered, out=covariances[some])
    covariances /= weights[:, None, None]
    covariances.reshape(k, -1)[:, :: p + 1] += regularization
    if not np.isfinite(covariances).all():
        raise SingularCovariance("a covariance is not finite")
    factors, identity = np.empty((k, p, p)), np.eye(p)
    for covariance, factor in zip(covariances, factors, strict=True):
        lower, failed = dpotrf(covariance, lower=True)
        if failed:
            raise SingularCovariance("a covariance is singular")
        inverse, _ = dtrtrs(lower, identity, lower=True)
        factor[:] = inverse.T
    return weights, means, factors


def _blocks(k: int, X: Array) -> list[slice]:
    size = max(1, BLOCK // X.size)
    return [slice(start, start + size) for start in range(0, k, size)]


def log_of_sums(values: Array) -> Array:
    """Return log(sum(exp(values))) of each column without overflow, (n,). values : (k, n)"""
    highest = values.max(axis=0)
    at_top = values == highest
    shifted = values - np.where(np.isfinite(highest), highest, 0.0)
    np.exp(shifted, out=shifted)
    shifted[at_top] = 0.0
    rest = np.ascontiguousarray(shifted.T).sum(axis=-1)  # in the order of scikit-learn's sums
    count = at_top.sum(axis=0, dtype=np.float64)
    # The largest are counted separately: if they are alone, the sum of the others loses no digit.
    out: Array = np.log1p(rest / count) + np.log(count)
    out += highest
    return out
