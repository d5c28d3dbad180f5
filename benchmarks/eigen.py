"""Eigenvectors of small covariances: our solver beside LAPACK's dsyev, all eigenvectors and the dominant one."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from benchmarks.measuring import Ratio, Report, alternate, main

SIZES = (4, 8, 16, 32, 50, 64, 100, 200)
CLAIMED = 16  # features of Letter


def covariances(n: int, p: int) -> NDArray[np.float64]:
    """Return n covariances of p correlated features, (n, p, p)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3 * p, p)) @ rng.normal(size=(n, p, p))
    x -= x.mean(1, keepdims=True)
    found = np.einsum("nij,nik->njk", x, x)
    return np.ascontiguousarray((found + found.transpose(0, 2, 1)) / 2)


def errors(a: NDArray[np.float64], values: Any, vectors: Any) -> tuple[float, float]:
    """Return the largest residual |A v - lambda v| / |A| and the farthest that V'V is from I, in rounding errors."""
    largest = np.abs(values).max(1)[:, None, None]
    residual = np.abs(np.einsum("nij,nkj->nki", a, vectors) - values[:, :, None] * vectors) / largest
    products = np.einsum("nij,nkj->nik", vectors, vectors) - np.eye(vectors.shape[1])
    unit = np.finfo(float).eps
    return float(residual.max() / unit), float(np.abs(products).max() / unit)


def run(report: Report, repeat: int) -> None:
    """Times and errors by size."""
    times_of, errors_of = [], []
    for p in SIZES[:4] if report.quick else SIZES:
        n = max(4, (2_000 if report.quick else 40_000) // p**2)
        a = covariances(n, p)
        times, found = alternate(
            {
                "LAPACK": partial(_core.eigen, a, by_lapack=True),
                "own": partial(_core.eigen, a),
                "own, dominant": partial(_core.eigen, a, dominant_only=True),
            },
            max(repeat, 5),
        )
        times_of.append({"p": p} | {f"{name}, us": 1e6 * sample.least / n for name, sample in times.items()})
        row: dict[str, Any] = {"p": p}
        for name, (values, vectors) in found.items():
            row[f"residual, {name}"], row[f"from orthonormal, {name}"] = errors(a, values, vectors)
        errors_of.append(row)
        if p == CLAIMED:
            lapack, own, dominant = times.values()
            report.claim(f"dsyev / all eigenvectors, {p} x {p}", "> 1.5", Ratio.of(lapack, own))
            report.claim(f"dsyev / the dominant eigenvector, {p} x {p}", "> 5", Ratio.of(lapack, dominant))
    report.table("Time of a matrix", times_of)
    report.table("Largest errors, in units of 2.2e-16", errors_of)


if __name__ == "__main__":
    sys.exit(main({"eigen": run}, __doc__ or ""))
