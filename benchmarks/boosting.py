"""Oblique boosting beside XGBoost, if it is installed, and its histograms beside the exact search, on Spambase."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.inputs import Data
from benchmarks.measuring import Ratio, Report, alternate, main
from oblique_cli import data
from oblique_cli.estimators.algorithms import make
from oblique_cli.ground.nouns import DatasetSpec

OURS, EXACT, XGBOOST = "oblique boosting", "oblique boosting, exact search", "XGBoost"


def fits_of(X: Any, y: Any, rounds: int) -> dict[str, Callable[[], Any]]:
    """Fits of every contestant that is at hand, one thread each."""
    models = {
        OURS: make("oblique_boosting", random_state=0, n_estimators=rounds),
        EXACT: make("oblique_boosting", random_state=0, n_estimators=rounds, max_bins=None),
    }
    if find_spec("xgboost") is not None:
        models[XGBOOST] = import_module("xgboost").XGBClassifier(n_estimators=rounds, n_jobs=1)
    return {name: partial(model.fit, X, y) for name, model in models.items()}


def spambase(rows: int | None) -> Data:
    """4,601 rows of 57 features in an order by chance, or the first of them."""
    loaded = data.load(DatasetSpec("spambase"))
    order = np.random.default_rng(0).permutation(len(loaded.y))[:rows]
    return np.ascontiguousarray(loaded.X[order]), loaded.y[order]


def run(report: Report, repeat: int) -> None:
    """Time training on four fifths of the rows, and score the last fifth."""
    X, y = spambase(300 if report.quick else None)
    rounds, cut = (5 if report.quick else 100), 4 * len(y) // 5
    times, fitted = alternate(fits_of(X[:cut], y[:cut], rounds), repeat, once={EXACT})
    report.table(
        f"Spambase, {rounds} rounds, {cut:,} x {X.shape[1]}, one thread, CPU time",
        [
            {
                "boosting": name,
                "train s": times[name].median,
                "right % of the last fifth": 100 * float(model.score(X[cut:], y[cut:])),
            }
            for name, model in fitted.items()
        ],
    )
    missing = "xgboost is not installed; pip install 'oblique-trees[field]' brings it"
    beside = Ratio.of(times[OURS], times[XGBOOST]) if XGBOOST in times else missing
    report.claim(f"{OURS} / XGBoost, {rounds} rounds on Spambase", "<= 8", beside)
    report.claim(f"exact search / {OURS}, on Spambase", None, Ratio.of(times[EXACT], times[OURS]))


if __name__ == "__main__":
    sys.exit(main({"boosting": run}, __doc__ or ""))
