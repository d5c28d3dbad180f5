"""Regression trees with linear leaves: seconds a tree, against refits of every cut, and growth with rows and features.

The last two tables are those of figures 2.4 and 2.5 of Amalaman (2015), which print curves without numbers.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.measuring import Ratio, Report, Sample, alternate, main
from oblique_cli import data
from oblique_cli.errors import DataError
from oblique_cli.estimators.algorithms import make
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.tree.least_squares import Passes, fit_linear

SEED = 20260101
STOPPING = {"min_node_percent": 3, "min_improvement_percent": 1}  # Table 2.5, Kin8nm
TURNING = {"subset_size": 250, "cos_beta": 0.95}
NAMES = ("tprti_a", "tprti_b", "retis", "m5_style")
TARGETS = {"tprti_a": None, "tprti_b": "< 2", "retis": "< 20", "m5_style": None}


def arm(rows: int, features: int = 8) -> tuple[Any, Any]:
    """Rows of Kin8nm's kind, always the same: the distance of the end of an arm of `features` joints, and noise.

    Kin8nm itself may not be bundled.
    """
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-np.pi / 2, np.pi / 2, (rows, features))
    turned = np.cumsum(X, axis=1)
    reach = np.hypot(np.cos(turned).mean(axis=1), np.sin(turned).mean(axis=1))
    return X, reach + rng.normal(0.0, 0.05, rows)


def kin8nm(rows: int) -> tuple[str, Any, Any]:
    """The data set where the machine has it, else rows like it; what it is, X and y."""
    try:
        dataset = data.load(DatasetSpec("kin8nm"), offline=True)
    except DataError:
        return "rows like Kin8nm's", *arm(rows)
    return "Kin8nm", np.ascontiguousarray(dataset.X[:rows]), dataset.y[:rows]


def estimator(name: str, rows: int) -> Any:
    """The algorithm with the parameters of Kin8nm; windows are a share of the rows."""
    if name == "m5_style":
        return make(name)
    window = {**TURNING, "subset_size": max(3, round(rows * 250 / 8192))}
    return make(name, **STOPPING, **(window if name.startswith("tprti") else {}))


def run(report: Report, repeat: int) -> None:
    """One tree of each kind; one pass beside refits; growth with rows and features."""
    what, X, y = kin8nm(600 if report.quick else 8192)
    rows = len(X)
    contestants = {name: (lambda name=name: estimator(name, rows).fit(X, y)) for name in NAMES}
    times, trees = alternate(contestants, repeat)
    report.table(
        f"One tree on {what}, {rows:,} x 8: median CPU seconds",
        [
            {
                "algorithm": name,
                "fit, s": times[name].median,
                "leaves": trees[name].n_leaves_,
                "training MSE": float(((trees[name].predict(X) - y) ** 2).mean()),
            }
            for name in NAMES
        ],
    )
    for name in NAMES:
        report.claim(f"{name}, one tree on {what}, {rows:,} x 8", TARGETS[name], times[name], unit="s")
    _refits(report, repeat, X, y)
    _scaling(report, repeat)


def _refits(report: Report, repeat: int, X: Any, y: Any) -> None:
    """All cuts of one feature by one pass, and a sample of them by refitting both sides."""
    order = np.argsort(X[:, 0], kind="stable")
    cuts = np.arange(20, len(y) - 20, dtype=np.int64)
    sample = cuts[:: max(1, len(cuts) // 40)]

    def refit() -> Any:
        return [fit_linear(X[order[:c]], y[order[:c]]).rss + fit_linear(X[order[c:]], y[order[c:]]).rss for c in sample]

    times, found = alternate({"pass": lambda: Passes(X, y).sides(order, cuts), "refits": refit}, repeat)
    left, right = found["pass"]
    np.testing.assert_allclose((left + right)[np.searchsorted(cuts, sample)], found["refits"], rtol=1e-8)
    ratio = Ratio.of(times["refits"], times["pass"], len(cuts) / len(sample))
    report.claim(f"refits of all {len(cuts):,} cuts of a feature (from {len(sample)}) / one pass", "> 10", ratio)


def _scaling(report: Report, repeat: int) -> None:
    base = 250
    sizes = [base * k for k in ((1, 2) if report.quick else (1, 2, 4, 8, 16, 32))]
    lines = []
    first: dict[str, Sample] = {}
    for n in sizes:
        X, y = arm(n)
        times, _ = alternate({a: (lambda a=a, n=n, X=X, y=y: estimator(a, n).fit(X, y)) for a in NAMES}, repeat)
        first = first or times
        grown = {f"{name}, % more time": 100 * (times[name].median / first[name].median - 1) for name in NAMES}
        lines.append({"rows": n, "% more rows": 100 * (n / base - 1), **grown})
    report.table("Growth with rows from 250 (figure 2.4)", lines)
    lines = []
    n = 300 if report.quick else 2000
    for p in (2, 4) if report.quick else (2, 4, 8, 16, 32):
        X, y = arm(n, p)
        times, _ = alternate({a: (lambda a=a, X=X, y=y: estimator(a, n).fit(X, y)) for a in NAMES[:3]}, repeat)
        lines.append({"features": p, **{f"{name}, s": times[name].median for name in NAMES[:3]}})
    report.table(f"Seconds a tree on {n:,} rows by number of features (figure 2.5)", lines)


if __name__ == "__main__":
    sys.exit(main({"model_trees": run}, __doc__ or ""))
