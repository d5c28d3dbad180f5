"""How many rows a second a fully grown Letter tree predicts, beside scikit-learn's tree."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.inputs import letter
from benchmarks.measuring import Ratio, Report, alternate, main
from oblique_cli.estimators.algorithms import make

CALLS = 10  # one call takes milliseconds


def run(report: Report, repeat: int) -> None:
    """Labels of all rows of Letter, the training rows themselves; every model gets the same float64 array."""
    X, y = letter(500 if report.quick else None)
    sklearn = "scikit-learn"
    models = {
        sklearn: DecisionTreeClassifier(random_state=0).fit(X, y),
        "axis-parallel": make("axis_parallel", criterion="gini").fit(X, y),
        "HHCART(D)": make("hhcart_d", criterion="gini").fit(X, y),
        "HHCART(A)": make("hhcart_a", criterion="gini").fit(X, y),
    }
    for model in models.values():
        model.predict(X)

    def predict_often(model: Any) -> Any:
        for _ in range(CALLS):
            labels = model.predict(X)
        return labels

    times, labels = alternate(
        {name: partial(predict_often, model) for name, model in models.items()},
        repeat,
    )
    rows = []
    for name, sample in times.items():
        model = models[name]
        rows.append(
            {
                "tree": name,
                "min s": sample.least / CALLS,
                "median s": sample.median / CALLS,
                "rows a second": round(CALLS * len(X) / sample.median),
                "leaves": int(model.get_n_leaves() if name == sklearn else model.n_leaves_),
                "depth": int(model.get_depth() if name == sklearn else model.depth_),
                "training accuracy %": 100 * float(np.mean(labels[name] == y)),
            }
        )
    report.table(f"Predicting {len(X):,} rows of Letter", rows)
    for name in list(models)[1:]:
        report.claim(f"predicting with {name} / with scikit-learn, Letter", None, Ratio.of(times[name], times[sklearn]))


if __name__ == "__main__":
    sys.exit(main({"predict": run}, __doc__ or ""))
