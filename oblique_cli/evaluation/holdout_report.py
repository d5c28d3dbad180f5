"""Reports on held-out rows beside a score: calibration of probabilities, and the distribution of residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BINS = 10  # of a reliability diagram, equally wide, of residuals, and of predicted numbers, equally many rows


@dataclass(frozen=True, eq=False)
class Reliability:
    """Mean probability, share of right rows and rows of each bin, (b,), without empty bins, and their mean distance."""

    confidence: Array
    right: Array
    rows: NDArray[np.int64]
    error: float

    def plain(self) -> dict[str, Any]:
        """Return what a model file and JSON hold."""
        return {
            "confidence": self.confidence.tolist(),
            "right": self.right.tolist(),
            "rows": self.rows.tolist(),
            "error": self.error,
        }


def reliability(confident: Array, right: NDArray[np.bool_]) -> Reliability:
    """Return how often predictions of a stated probability are right, (n,) each, in bins ((m - 1) / BINS, m / BINS].

    Expected calibration error as in Guo et al. (2017).
    """
    bins = np.clip(np.ceil(confident * BINS).astype(int) - 1, 0, BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    used = np.flatnonzero(counts)
    x = np.bincount(bins, weights=confident, minlength=BINS)[used] / counts[used]
    y = np.bincount(bins, weights=right, minlength=BINS)[used] / counts[used]
    error = float((np.abs(x - y) * counts[used]).sum() / counts.sum())
    return Reliability(x, y, counts[used], error)


def residuals(truth: Array, predicted: Array) -> dict[str, Any]:
    """Return the distribution of truth less prediction, (n,) each, as plain data that shows no single row.

    Rows of 2 * BINS bins between the 1 % and 99 % quantiles, rows beyond in the outermost; quantiles by prediction.
    """
    left = truth - predicted
    low, high = (float(value) for value in np.quantile(left, [0.01, 0.99]))
    edges = np.linspace(low, high, 2 * BINS + 1) if low < high else np.array([low - 0.5, low + 0.5])
    rows = np.histogram(np.clip(left, edges[0], edges[-1]), edges)[0]
    parts = []
    for part in np.array_split(np.argsort(predicted, kind="stable"), min(BINS, max(1, len(truth) // BINS))):
        ends = np.quantile(left[part], [0.1, 0.5, 0.9])
        parts.append(
            {
                "predicted": float(predicted[part].mean()),
                "rows": len(part),
                **dict(zip(("low", "middle", "high"), ends.tolist(), strict=True)),
            }
        )
    return {"edges": edges.tolist(), "rows": rows.tolist(), "by_prediction": parts}
