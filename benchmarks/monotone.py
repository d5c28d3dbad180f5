"""Trees with and without an order of their answers, beside scikit-learn's: errors on the other half of the rows."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.measuring import Report, alternate, main
from oblique_cli import data
from oblique_cli.estimators.algorithms import make
from oblique_cli.ground.nouns import DatasetSpec

HALVES = 5
# What nobody would doubt of each table: signs by column, of the second class or of the number.
ORDERS: dict[str, dict[str, int]] = {
    "pima": {"glucose": 1, "bmi": 1, "age": 1},
    "auto_mpg": {"weight": -1, "displacement": -1, "horsepower": -1, "model_year": 1},
    "boston_housing": {"rm": 1, "lstat": -1, "crim": -1},
}


def models(task: str, signs: list[int]) -> dict[str, tuple[Any, Any]]:
    """Makers of a model without and with the order."""
    if task == "regression":
        return {
            "hhcart_regression": _ours("hhcart_regression", signs, max_leaf_nodes=16, pruning="none"),
            "m5_style": _ours("m5_style", signs),
            "hhcart_model_tree": _ours("hhcart_model_tree", signs, max_leaf_nodes=8, pruning="none"),
            "scikit-learn's tree": _theirs(DecisionTreeRegressor, signs, min_samples_leaf=5, max_depth=6),
            "histogram boosting": _theirs(HistGradientBoostingRegressor, signs),
        }
    return {
        "axis_parallel": _ours("axis_parallel", signs, pruning="pessimistic"),
        "hhcart_a": _ours("hhcart_a", signs, pruning="pessimistic"),
        "hhgdt_forest": _ours("hhgdt_forest", signs),
        "scikit-learn's tree": _theirs(DecisionTreeClassifier, signs, min_samples_leaf=5, max_depth=6),
        "histogram boosting": _theirs(HistGradientBoostingClassifier, signs),
    }


def _ours(name: str, signs: list[int], **own: Any) -> tuple[Any, Any]:
    return (lambda: make(name, random_state=1, **own)), (lambda: make(name, random_state=1, monotonic_cst=signs, **own))


def _theirs(kind: Any, signs: list[int], **own: Any) -> tuple[Any, Any]:
    return (lambda: kind(random_state=1, **own)), (lambda: kind(random_state=1, monotonic_cst=signs, **own))


def fitted(maker: Any, X: Any, y: Any) -> Any:
    """Return a fitted model."""
    return maker().fit(X, y)


def error_of(maker: Any, X: Any, y: Any, task: str, halves: int) -> float:
    """Return the mean error on the other half: percent of rows, or mean absolute error."""
    found = []
    for i in range(halves):
        order = np.random.default_rng(i).permutation(len(y))
        on, out = order[: len(y) // 2], order[len(y) // 2 :]
        said = fitted(maker, X[on], y[on]).predict(X[out])
        found.append(100.0 * np.mean(said != y[out]) if task == "classification" else np.mean(np.abs(said - y[out])))
    return float(np.mean(found))


def run(report: Report, repeat: int) -> None:
    """Errors of every model with and without an order, and how much longer a fit takes."""
    warnings.simplefilter("ignore")
    halves, lines = (1 if report.quick else HALVES), []
    for name in list(ORDERS)[: 1 if report.quick else None]:
        table = data.load(DatasetSpec(name), offline=True)
        signs = [ORDERS[name].get(column, 0) for column in table.feature_names]
        assert np.count_nonzero(signs) == len(ORDERS[name]), table.feature_names
        whole = ~np.isnan(table.X).any(axis=1)
        X, y = np.ascontiguousarray(table.X[whole]), table.y[whole]
        for model, (free, held) in models(table.task, signs).items():
            errors = [error_of(maker, X, y, table.task, halves) for maker in (free, held)]
            fits = {kind: partial(fitted, maker, X, y) for kind, maker in (("free", free), ("held", held))}
            times, _ = alternate(fits, repeat)
            lines.append(
                {
                    "table": name,
                    "model": model,
                    "free": errors[0],
                    "in order": errors[1],
                    "s free": times["free"].median,
                    "s in order": times["held"].median,
                }
            )
    report.table("errors on the other half of the rows: percent, or mean absolute error; CPU seconds of a fit", lines)


if __name__ == "__main__":
    sys.exit(main({"monotone": run}, __doc__ or ""))
