"""Reports on held-out rows beside a score: calibration of probabilities and distribution of residuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array

MOST_THRESHOLDS = 100  # of a table of right and wrong positives
MOST_COLUMNS = 6  # along which residuals are reported
# Cells of a column, (n,), NaN where missing, and the names of their codes; None for numbers.
Cells = tuple[Array, Sequence[str] | None]
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


def thresholds(shares: Array, positive: NDArray[np.bool_]) -> dict[str, list[Any]]:
    """Return the numbers of true positives (`true`) and of false positives (`false`) at each threshold `at`.

    shares : (n,) of the positive class; positive : (n,) whether a row is of this class
    """
    quantiles = np.quantile(shares, np.linspace(0.0, 1.0, MOST_THRESHOLDS - 1))
    at = np.unique(np.append(np.floor(quantiles * 1e4) / 1e4, [0.0, 0.5]))
    counts = [[int((part >= share).sum()) for share in at] for part in (shares[positive], shares[~positive])]
    return {"at": at.tolist(), "true": counts[0], "false": counts[1]}


def _quantiles(left: Array) -> dict[str, float]:
    return dict(zip(("low", "middle", "high"), np.quantile(left, [0.1, 0.5, 0.9]).tolist(), strict=True))


def by_column(left: Array, columns: Mapping[str, Cells]) -> dict[str, list[dict[str, Any]]]:
    """Return quantiles of residuals, (n,), along the columns whose parts have medians that differ most.

    Numbers are divided into BINS parts of equal numbers of rows, levels into the BINS most frequent ones.
    """
    by_name: dict[str, list[dict[str, Any]]] = {}
    for name, (cells, levels) in columns.items():
        parts: list[dict[str, Any]] = []
        if levels is not None:
            codes = np.where(np.isnan(cells), len(levels), cells).astype(np.int64)
            counts = np.bincount(codes)
            for code in np.argsort(-counts, kind="stable")[:BINS].tolist():
                if counts[code]:
                    level = "(missing)" if code == len(levels) else levels[code]
                    parts.append({"level": level, "rows": int(counts[code]), **_quantiles(left[codes == code])})
        else:
            known = np.flatnonzero(np.isfinite(cells))
            order = known[np.argsort(cells[known], kind="stable")]
            for rows in np.array_split(order, min(BINS, max(1, len(order) // BINS))):
                if len(rows):
                    parts.append({"value": float(cells[rows].mean()), "rows": len(rows), **_quantiles(left[rows])})
        if len(parts) > 1:
            by_name[name] = parts
    spread = {name: np.ptp([part["middle"] for part in parts]) for name, parts in by_name.items()}
    return {name: by_name[name] for name in sorted(by_name, key=lambda name: -spread[name])[:MOST_COLUMNS]}


def residuals(truth: Array, predicted: Array, columns: Mapping[str, Cells]) -> dict[str, Any]:
    """Return the distribution of truth minus prediction, (n,) each, as plain data that discloses no single row.

    Counts in 2 * BINS bins between the 1 % and 99 % quantiles (rows beyond in the outermost); quantiles by prediction
    and by column. columns : as of `by_column`
    """
    left = truth - predicted
    low, high = (float(value) for value in np.quantile(left, [0.01, 0.99]))
    edges = np.linspace(low, high, 2 * BINS + 1) if low < high else np.array([low - 0.5, low + 0.5])
    rows = np.histogram(np.clip(left, edges[0], edges[-1]), edges)[0]
    parts = []
    for part in np.array_split(np.argsort(predicted, kind="stable"), min(BINS, max(1, len(truth) // BINS))):
        parts.append({"predicted": float(predicted[part].mean()), "rows": len(part), **_quantiles(left[part])})
    of_columns = by_column(left, columns)
    return {"edges": edges.tolist(), "rows": rows.tolist(), "by_prediction": parts, "by_column": of_columns}
