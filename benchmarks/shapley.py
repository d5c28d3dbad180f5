"""Shapley values of 1,000 rows of 20 features against 100: our trees, and `shap` for the same axis-parallel tree."""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from benchmarks.measuring import Ratio, Report, Sample, alternate, main
from oblique_cli.estimators.algorithms import make
from oblique_cli.models.explaining.shapley import shapley_values

SEED = 20261101
LEAVES = 30
DENSE_ROWS = 5  # that are timed where planes have all 20 features; seconds are for 1,000


def rows_of(n: int, p: int = 20) -> tuple[Any, Any]:
    """Made-up rows of p normal features, and a number that is linear, crossed and stepped in eight of them."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, p))
    smooth = X[:, :5].sum(axis=1) + 2.0 * X[:, 5] * X[:, 6] + 2.0 * (X[:, 7] > 0.0)
    return X, smooth + rng.normal(0.0, 0.5, n)


def run(report: Report, repeat: int) -> None:
    """Trees with planes of one, of four and of all features; constant and linear leaves; beside shap."""
    n, m = (20, 10) if report.quick else (1000, 100)
    X, number = rows_of(300 if report.quick else 3000)
    y = (number > 0.5).astype(int)
    rows, background = X[:n], X[-m:]
    classes = {"random_state": 1, "max_leaf_nodes": LEAVES}
    trees = {
        "axis-parallel": make("axis_parallel", **classes).fit(X, y),
        "planes of 4": make("hhcart_a", max_terms=4, **classes).fit(X, y),
        "linear leaves, axis-parallel splits": make("retis", min_node_percent=3).fit(X, number),
    }
    contestants = {name: (lambda tree=tree: shapley_values(tree, rows, background)) for name, tree in trees.items()}
    times, _ = alternate(contestants, repeat)
    lines = [_line(name, tree, n, times[name]) for name, tree in trees.items()]
    dense = make("hhcart_a", **classes).fit(X, y)
    few = 1 if report.quick else DENSE_ROWS
    slow, _ = alternate({"all": lambda: shapley_values(dense, X[:few, :], background)}, 1)
    lines.append(_line("planes of all 20", dense, few, slow["all"]))
    report.table(f"{m} background rows, one thread: CPU seconds for {n:,} rows", lines)
    for name in trees:
        report.claim(f"Shapley values of {n:,} x 20 against {m}, {name}", "< 2", times[name], unit="s")
    report.claim(f"Shapley values of {few} x 20 against {m}, planes of all 20", None, slow["all"], unit="s")
    if find_spec("shap") is not None:
        _beside_shap(report, repeat, X, number, n, m)


def _line(name: str, tree: Any, rows: int, taken: Sample) -> dict[str, Any]:
    return {"tree": name, "leaves": int(tree.get_n_leaves()), "rows": rows, "seconds": taken.median}


def _beside_shap(report: Report, repeat: int, X: Any, number: Any, n: int, m: int) -> None:
    """The same tree of scikit-learn by both; the values are held to each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import shap
    rows, background = X[:n], X[-m:]
    ours = make("cart_regression", max_leaf_nodes=LEAVES, random_state=0).fit(X, number)
    same = DecisionTreeRegressor(max_leaf_nodes=LEAVES, random_state=0).fit(X, number)
    explainer = shap.TreeExplainer(same, background, feature_perturbation="interventional")
    contestants = {
        "ours": lambda: shapley_values(ours, rows, background).values,
        "shap": lambda: explainer.shap_values(rows),
    }
    times, found = alternate(contestants, repeat)
    np.testing.assert_allclose(found["ours"], found["shap"], atol=1e-5)
    ratio = Ratio.of(times["shap"], times["ours"])
    lines = [{"by": name, "seconds": taken.median} for name, taken in times.items()]
    report.table(f"the same axis-parallel tree, {n:,} rows: shap takes {ratio.median:.2f} times as long", lines)


if __name__ == "__main__":
    sys.exit(main({"shapley": run}, __doc__ or ""))
