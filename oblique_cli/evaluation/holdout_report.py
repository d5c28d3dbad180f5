"""Reports on held-out rows beside a score: calibration of probabilities and distribution of residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array

BINS = 10  # of equal width in reliability diagrams and residuals, of equal numbers of rows for predicted numbers


@dataclass(frozen=True, eq=False)
class Reliability:
    """Mean probability, share of correct rows and number of rows per non-empty bin, (b,), and their mean distance."""

    confidence: Array
    right: Array
    rows: NDArray[np.int64]
    error: float

    def plain(self) -> dict[str, Any]:
        """Return plain data for a model file and JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("confidence", "right", "rows")}
        return {**arrays, "error": self.error}


def reliability(confident: Array, right: NDArray[np.bool_]) -> Reliability:
    """Return the share of correct predictions by predicted probability, (n,) each, in bins ((m - 1) / BINS, m / BINS].

    The expected calibration error is that of Guo et al. (2017).
    """
    bins = np.clip(np.ceil(confident * BINS).astype(int) - 1, 0, BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    used = np.flatnonzero(counts)
    x = np.bincount(bins, weights=confident, minlength=BINS)[used] / counts[used]
    y = np.bincount(bins, weights=right, minlength=BINS)[used] / counts[used]
    error = float((np.abs(x - y) * counts[used]).sum() / counts.sum())
    return Reliability(x, y, counts[used], error)


def residuals(truth: Array, predicted: Array) -> dict[str, Any]:
    """Return the distribution of truth minus prediction, (n,) each, as plain data that discloses no single row.

    Counts in 2 * BINS bins between the 1 % and 99 % quantiles (rows beyond in the outermost); quantiles by prediction.
    """
    left = truth - predicted
    low, high = (float(value) for value in np.quantile(left, [0.01, 0.99]))
    edges = np.linspace(low, high, 2 * BINS + 1) if low < high else np.array([low - 0.5, low + 0.5])
    rows = np.histogram(np.clip(left, edges[0], edges[-1]), edges)[0]
    parts = []
    for part in np.array_split(np.argsort(predicted, kind="stable"), min(BINS, max(1, len(truth) // BINS))):
        low, middle, high = np.quantile(left[part], [0.1, 0.5, 0.9]).tolist()
        ends = {"low": low, "middle": middle, "high": high}
        parts.append({"predicted": float(predicted[part].mean()), "rows": len(part), **ends})
    return {"edges": edges.tolist(), "rows": rows.tolist(), "by_prediction": parts}
