"""Eigenvectors of symmetric matrices by our own solver: as near as LAPACK comes, whatever the matrix."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oblique_cli._core as _core

EPS = np.finfo(float).eps


def rotated(values, rng):
    """Return a symmetric matrix of the given eigenvalues, up to rounding."""
    q = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
    return symmetric(q * np.asarray(values) @ q.T)


def symmetric(a):
    return np.triu(a) + np.triu(a, 1).T


def tridiagonal(d, e):
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def covariance(rng, p, n):
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    x -= x.mean(0)
    return symmetric(x.T @ x)


KINDS = {
    "random": lambda rng, p: symmetric(rng.normal(size=(p, p))),
    "covariance": lambda rng, p: covariance(rng, p, 3 * p + 2),
    "few rows": lambda rng, p: covariance(rng, p, p // 3 + 2),
    "rank one": lambda rng, p: symmetric(np.outer(*[rng.normal(size=p)] * 2)),
    "zero": lambda rng, p: np.zeros((p, p)),
    "identity": lambda rng, p: np.eye(p),
    "ones": lambda rng, p: np.ones((p, p)),
    "diagonal": lambda rng, p: np.diag(rng.normal(size=p)),
    "graded": lambda rng, p: rotated(10.0 ** -np.linspace(0, 18, p), rng),
    "units": lambda rng, p: symmetric(
        covariance(rng, p, 3 * p) * np.multiply.outer(*[10.0 ** rng.integers(-8, 8, p)] * 2)
    ),
    "graded tridiagonal": lambda rng, p: tridiagonal(10.0 ** -np.arange(p), 10.0 ** -np.arange(1.0, p)),
    "graded upwards": lambda rng, p: tridiagonal(10.0 ** np.arange(p), 10.0 ** np.arange(1.0, p)),
    "repeated": lambda rng, p: rotated(rng.integers(1, 4, p).astype(float), rng),
    "clustered": lambda rng, p: rotated(1.0 + 1e-11 * rng.normal(size=p), rng),
    "almost repeated": lambda rng, p: rotated(1.0 + 10.0 ** -rng.uniform(7, 16, p), rng),
    "Wilkinson": lambda rng, p: tridiagonal(np.abs(np.arange(p) - (p - 1) / 2), np.ones(p - 1)),
    "weakly joined": lambda rng, p: tridiagonal(rng.normal(size=p), 10.0 ** -rng.uniform(0, 320, p - 1)),
    "negative": lambda rng, p: -covariance(rng, p, 3 * p),
    "sparse": lambda rng, p: symmetric(rng.normal(size=(p, p)) * (rng.uniform(size=(p, p)) < 0.1)),
    "tiny entries": lambda rng, p: symmetric(rng.normal(size=(p, p)) * 10.0 ** -rng.uniform(0, 300, (p, p))),
    "whole numbers": lambda rng, p: symmetric(rng.integers(-2, 3, (p, p)).astype(float)),
}


def residual(a, values, vectors):
    return np.abs(a @ vectors.T - vectors.T * values).max()


def from_orthonormal(vectors):
    return np.abs(vectors @ vectors.T - np.eye(len(vectors))).max()


@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    p=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    power=st.sampled_from([0, 0, 0, 3, -3, 150, -150, 300, -300]),
)
@example(kind="random", p=1, seed=0, power=0)
@example(kind="random", p=2, seed=0, power=0)
@example(kind="Wilkinson", p=21, seed=0, power=0)
@example(kind="random", p=450, seed=0, power=0)
@example(kind="covariance", p=130, seed=1, power=0)
def test_own_solver_comes_as_near_as_lapack(kind, p, seed, power):
    a = KINDS[kind](np.random.default_rng(seed), p)
    a = np.ascontiguousarray(a if power == 0 else a / max(np.abs(a).max(), 1e-300) * 10.0**power)
    values, vectors = (x[0] for x in _core.eigen(a[None]))
    expected, by_lapack = scipy.linalg.eigh(a)
    largest = np.abs(expected).max()
    assert np.all(np.diff(values) >= 0)
    # LAPACK's own bound is p eps times a small number; a few times what it leaves itself is allowed.
    bound = (p + 20) * EPS
    unit = 1.0 / largest if largest > 1e-290 else 1.0
    assert np.abs((values - expected) * unit).max() <= bound
    scaled = a * unit
    local = residual(scaled, values * unit, vectors)
    assert local <= max(bound, 4 * residual(scaled, expected * unit, by_lapack.T))
    assert from_orthonormal(vectors) <= max(bound, 4 * from_orthonormal(by_lapack.T))

    value, vector = (x[0] for x in _core.eigen(a[None], dominant_only=True))
    assert abs(value[0] - expected[-1]) * unit <= bound
    assert residual(scaled, value * unit, vector) <= max(bound, 4 * residual(scaled, expected * unit, by_lapack.T))
    assert abs(np.linalg.norm(vector[0]) - 1.0) <= bound


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_dominant_vector_is_the_last_of_all(kind):
    """Up to sign, where no other eigenvalue is near; where one is, the vector is the last of all to the bit."""
    rng = np.random.default_rng(3)
    for p in (2, 3, 7, 16, 33):
        a = np.ascontiguousarray(KINDS[kind](rng, p))[None]
        values, vectors = (x[0] for x in _core.eigen(a))
        vector = _core.eigen(a, dominant_only=True)[1][0, 0]
        gap = (values[-1] - values[-2]) / max(abs(values[-1]), abs(values[0]), 1e-300)
        if values[-1] - values[-2] <= 0.5e-10 * values[-1]:
            assert np.array_equal(vector, vectors[-1])
        else:
            assert abs(abs(vector @ vectors[-1]) - 1.0) <= 100 * (p * EPS) ** 2 / gap**2 + (p + 10) * EPS


def test_dominant_vector_of_nearby_eigenvalues():
    """A gap of 1e-9 costs nine digits and no more; within 1e-10 all vectors are found, for a canonical basis."""
    rng = np.random.default_rng(0)
    for gap in (1e-2, 1e-5, 1e-8, 1e-9):
        q = np.linalg.qr(rng.normal(size=(16, 16)))[0]
        values = np.r_[np.linspace(0.1, 0.5, 14), 1.0 - gap, 1.0]
        a = symmetric(q * values @ q.T)
        vector = _core.eigen(a[None], dominant_only=True)[1][0, 0]
        assert np.sqrt(1 - min(1.0, abs(vector @ q[:, -1])) ** 2) <= 100 * EPS / gap + 1e-7
        assert np.linalg.norm(vector - q @ (q.T @ vector)) <= 20 * EPS
        assert np.abs(q[:, :-1].T @ vector).max() <= 100 * EPS / gap


def test_order_of_features_changes_no_digit_of_the_small_ones():
    """Rows and columns of very different units: eigenvalues are those of the matrix with its features sorted."""
    rng = np.random.default_rng(5)
    scale = 10.0 ** -np.arange(0.0, 12.0, 1.5)
    a = covariance(rng, 8, 40) * np.multiply.outer(scale, scale)
    order = rng.permutation(8)
    values = _core.eigen(np.ascontiguousarray(a[np.ix_(order, order)])[None])[0][0]
    np.testing.assert_array_equal(values, _core.eigen(a[None])[0][0])
    np.testing.assert_allclose(values[-1], scipy.linalg.eigh(a)[0][-1], rtol=1e-14)
    assert np.all(values > 0)


def test_many_matrices_in_a_row_do_not_see_each_other():
    rng = np.random.default_rng(7)
    for p in (1, 5, 16):
        stack = np.ascontiguousarray([covariance(rng, p, 2 * p) for _ in range(20)])
        values, vectors = _core.eigen(stack)
        for i in (0, 7, 19):
            alone = _core.eigen(stack[i : i + 1])
            assert np.array_equal(values[i], alone[0][0]) and np.array_equal(vectors[i], alone[1][0])


def test_the_processor_that_openblas_believes_in_changes_no_bit(tmp_path):
    """LAPACK has other kernels for each processor, and other last digits. Ours are those of arithmetic alone."""
    code = (
        "import numpy as np, oblique_cli._core as core, hashlib\n"
        "rng = np.random.default_rng(0)\n"
        "a = rng.normal(size=(8, 16, 16)); a = np.ascontiguousarray(a + a.transpose(0, 2, 1))\n"
        "print(hashlib.sha256(b''.join(np.asarray(x).tobytes() for x in core.eigen(a))).hexdigest())\n"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OPENBLAS_CORETYPE": processor},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for processor in ("Prescott", "Haswell", "Zen")
    }
    assert len(results) == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_has_no_axes_and_one_that_is_not_square_is_refused(bad):
    a = np.eye(3)
    a[0, 1] = a[1, 0] = bad
    for dominant_only in (False, True):
        assert np.isnan(_core.eigen(a[None], dominant_only=dominant_only)[0]).all()
        assert len(_core.principal_axes(a, 1e-10, -1.0, dominant_only)) == 0
    with pytest.raises(ValueError, match="square"):
        _core.eigen(np.zeros((1, 2, 3)))
