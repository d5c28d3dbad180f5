"""How many rows a second fully grown trees predict, beside scikit-learn's tree."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.inputs import Data, letter, synthetic
from benchmarks.measuring import Ratio, Report, alternate, main
from oblique_cli.estimators.algorithms import make

CALLS = 10  # one call takes milliseconds


def compare(report: Report, title: str, target: str, fitted_on: Data, rows: Data, repeat: int) -> None:
    """Labels of `rows` by every model; every model gets the same float64 array."""
    sklearn = "scikit-learn"
    models = {
        sklearn: DecisionTreeClassifier(random_state=0).fit(*fitted_on),
        "axis-parallel": make("axis_parallel", criterion="gini").fit(*fitted_on),
        "HHCART(D)": make("hhcart_d", criterion="gini").fit(*fitted_on),
        "HHCART(A)": make("hhcart_a", criterion="gini").fit(*fitted_on),
    }
    X, y = rows
    for model in models.values():
        model.predict(X)

    def predict_often(model: Any) -> Any:
        for _ in range(CALLS):
            labels = model.predict(X)
        return labels

    contestants = {name: partial(predict_often, model) for name, model in models.items()}
    times, labels = alternate(contestants, repeat)
    table = []
    for name, sample in times.items():
        model = models[name]
        table.append(
            {
                "tree": name,
                "min s": sample.least / CALLS,
                "median s": sample.median / CALLS,
                "rows a second": round(CALLS * len(X) / sample.median),
                "leaves": int(model.get_n_leaves() if name == sklearn else model.n_leaves_),
                "depth": int(model.get_depth() if name == sklearn else model.depth_),
                "accuracy %": 100 * float(np.mean(labels[name] == y)),
            }
        )
    report.table(f"Predicting {len(X):,} rows of {title}", table)
    for name in list(models)[1:]:
        ratio = Ratio.of(times[name], times[sklearn])
        report.claim(f"predicting with {name} / with scikit-learn, {title}", target, ratio)


def run(report: Report, repeat: int) -> None:
    """Letter, the training rows themselves, and made-up rows of 10 and 50 features by trees of 5,000 of them."""
    data = letter(500 if report.quick else None)
    compare(report, "Letter", "<= 1", data, data, repeat)
    rows, part = (400, 200) if report.quick else (50_000, 5000)
    for features, target in ((10, "<= 1"), (50, "<= 1.5")):
        X, y = synthetic(rows, features, informative=max(features // 5, 5))
        compare(report, f"{features} features", target, (X[:part], y[:part]), (X, y), repeat)


if __name__ == "__main__":
    sys.exit(main({"predict": run}, __doc__ or ""))
