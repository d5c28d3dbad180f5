"""Mixtures of bottom-up trees beside scikit-learn's, whose operations they repeat."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from oblique_cli.estimators.oblique import mixtures
from oblique_cli.estimators.oblique.mixtures import SingularCovariance, fit_mixture, log_of_sums


def rows(seed, n, p, lattice=False):
    """Rows of three clumps; on a lattice they have ties and duplicates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2 * rng.integers(0, 3, size=(n, 1))
    return np.ascontiguousarray(np.round(X) if lattice else X - X.mean(axis=0))


def theirs(X, k, n_init, max_steps, seed):
    mixture = GaussianMixture(
        k, init_params="random_from_data", reg_covar=0.1, n_init=n_init, max_iter=max_steps, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(X)


@pytest.mark.parametrize("seed", range(10))
def test_a_mixture_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 300)), int(rng.integers(1, 19))
    k = int(rng.integers(1, min(n, 13)))
    X = rows(seed, n, p, lattice=seed % 3 == 0)
    n_init, max_steps = 1 + seed % 2, 2 if seed % 5 == 0 else 1000
    ours = fit_mixture(X, k, regularization=0.1, n_init=n_init, max_steps=max_steps, seed=seed)
    other = theirs(X, k, n_init, max_steps, seed)
    assert (ours.steps, ours.converged) == (other.n_iter_, other.converged_)
    np.testing.assert_allclose(ours.weights, other.weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.means, other.means_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.factors, other.precisions_cholesky_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(X), other.score_samples(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    assert ours.bic(X) == pytest.approx(other.bic(X), rel=1e-9)


def test_blocks_of_components_change_no_bit(monkeypatch):
    X = rows(1, 200, 5)
    whole = fit_mixture(X, 7, regularization=0.1, n_init=1, max_steps=1000, seed=3)
    monkeypatch.setattr(mixtures, "BLOCK", 2000)  # two components at a time
    parts = fit_mixture(X, 7, regularization=0.1, n_init=1, max_steps=1000, seed=3)
    for name in ("weights", "means", "factors"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


def test_rows_whose_squares_overflow_have_no_covariance():
    X = np.ascontiguousarray(rows(2, 30, 2) * 1e200)
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(SingularCovariance):
        fit_mixture(X, 2, regularization=0.1, n_init=1, max_steps=10, seed=0)


def test_rows_without_spread_have_no_covariance_unless_it_is_regularized():
    X = np.repeat(np.arange(6.0)[:, None], 2, axis=1)  # both features are the same
    with pytest.raises(SingularCovariance):
        fit_mixture(X, 1, regularization=0.0, n_init=1, max_steps=10, seed=0)
    assert fit_mixture(X, 1, regularization=1e-3, n_init=1, max_steps=10, seed=0).converged


@pytest.mark.parametrize("k", [1, 3, 8, 11])
def test_logarithms_of_sums_neither_overflow_nor_lose_ties(k):
    values = np.random.default_rng(k).normal(size=(k, 20)) * 300 - 2000
    values[:, 0] = -5000.0  # all alike
    np.testing.assert_allclose(log_of_sums(values), np.logaddexp.reduce(values, axis=0), rtol=1e-14)
