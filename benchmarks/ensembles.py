"""Ensembles beyond the papers beside scikit-learn's random forest and boosting, at equal numbers of trees."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from benchmarks.inputs import Data, letter, synthetic
from benchmarks.measuring import Ratio, Report, alternate, main
from oblique_cli.estimators.algorithms import ALGORITHMS, make

FOREST, BOOSTING = "scikit-learn's random forest", "scikit-learn's boosting"
NAMES = ("hhgdt_forest", "bagged_forest", "heterogeneous_forest", "oblique_boosting")


def compare(report: Report, title: str, data: Data, trees: int, repeat: int) -> None:
    """Time training and prediction on the first half of the rows, one thread; score the other half."""
    half = len(data[0]) // 2
    (X, y), (new, truth) = ((data[0][part], data[1][part]) for part in (slice(half), slice(half, None)))
    models: dict[str, Any] = {FOREST: RandomForestClassifier(trees, random_state=0)}
    # A tree of scikit-learn's boosting is one a class and round.
    models[BOOSTING] = HistGradientBoostingClassifier(max_iter=trees, random_state=0)
    models |= {name: make(name, random_state=0, n_estimators=trees) for name in NAMES}
    fits: dict[str, Callable[[], Any]] = {name: partial(model.fit, X, y) for name, model in models.items()}
    times, fitted = alternate(fits, repeat)
    predicting: dict[str, Callable[[], Any]] = {name: partial(model.predict, new) for name, model in fitted.items()}
    predictions, _ = alternate(predicting, repeat)
    report.table(
        f"{title}, {trees} trees or rounds, {len(X):,} x {X.shape[1]}, one thread, CPU time",
        [
            {
                "ensemble": ALGORITHMS[name].title if name in NAMES else name,
                "train s": times[name].median,
                "predict s": predictions[name].median,
                "right %": 100 * float(fitted[name].score(new, truth)),
            }
            for name in models
        ],
    )
    for name in NAMES:
        called = ALGORITHMS[name].title
        report.claim(f"training {called} / {FOREST}, on {title}", None, Ratio.of(times[name], times[FOREST]))
        ratio = Ratio.of(predictions[name], predictions[FOREST])
        report.claim(f"predicting with {called} / with {FOREST}, on {title}", None, ratio)


def run(report: Report, repeat: int) -> None:
    """All ensembles."""
    few = report.quick
    compare(report, "Letter", letter(300 if few else 8000), 5 if few else 20, min(repeat, 3))
    if not few:  # what is printed is of the same form
        compare(report, "made-up rows", synthetic(20_000, 10, informative=6), 20, min(repeat, 3))


if __name__ == "__main__":
    sys.exit(main({"ensembles": run}, __doc__ or ""))
