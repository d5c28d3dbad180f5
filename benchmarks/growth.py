"""How long trees take to grow: against sorting every direction, against scikit-learn, and against plain NumPy.

Trees are fully grown: ours split every impure node of more than 2 rows (min_parent 2, as in the thesis, no limit on the
misclassification rate), scikit-learn's with its defaults every impure node of 2 rows or more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

import oblique_cli._core as _core
from benchmarks.inputs import TREE_ARRAYS, Data, grow, letter, synthetic
from benchmarks.measuring import Ratio, Report, alternate, main
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.tree.splitting import PROPOSERS, Node

Array = NDArray[np.float64]

SKLEARN = "scikit-learn, gini"
# Label -> algorithm and parameters of the trees that are compared with scikit-learn's.
GROWN: dict[str, tuple[str, dict[str, Any]]] = {
    "axis-parallel, gini": ("axis_parallel", {"criterion": "gini"}),
    "HHCART(D), gini": ("hhcart_d", {"criterion": "gini"}),
    "HHCART(D), twoing": ("hhcart_d", {"criterion": "twoing"}),
    "HHCART(A), gini": ("hhcart_a", {"criterion": "gini"}),
    "HHCART(A), twoing": ("hhcart_a", {"criterion": "twoing"}),
    "GDT, gini": ("gdt", {"epsilon": 0.0}),
    "HHGDT, gini": ("hhgdt", {"epsilon": 0.0}),
}
TARGETS = {
    "axis-parallel, gini": "<= 1.5",
    "HHCART(D), gini": "<= 2.5",
    "HHCART(D), twoing": "<= 2.5",
    "HHCART(A), gini": "<= 12",
    "HHCART(A), twoing": "<= 12",
}


def fit(name: str, params: dict[str, Any], X: Array, y: NDArray[np.int32]) -> ObliqueTreeClassifier:
    """Return an algorithm's fitted estimator."""
    return make(name, **params).fit(X, y)


def against_sorting(report: Report, X: Array, y: NDArray[np.int32]) -> None:
    """HHCART(A) by bounds and by sorting every direction: one sorted tree between two others, all of them equal.

    Sorting is the core's `exhaustive` search: std::sort of the projections with their rows, then one scan.
    """
    rows, ratios = [], {}
    for criterion in ("gini", "twoing"):
        by_bounds = partial(grow, X, y, "hhcart_a", criterion=criterion)
        times, trees = alternate(
            {"bounds": by_bounds, "sorting": partial(by_bounds, exhaustive=True), "bounds again": by_bounds}, 1
        )
        for name in TREE_ARRAYS:
            np.testing.assert_array_equal(trees["bounds"][name], trees["sorting"][name], err_msg=f"{criterion}: {name}")
        times["bounds"].values += times.pop("bounds again").values
        ratios[criterion] = Ratio.of(times["sorting"], times["bounds"])
        for name, sample in times.items():
            tree = trees[name]
            rows.append(
                {
                    "search": f"{name}, {criterion}",
                    "min s": sample.least,
                    "median s": sample.median,
                    "nodes": len(tree["left"]),
                    "directions": tree["directions"],
                    "refined": tree["refined"],
                    "refined %": 100 * tree["refined"] / tree["directions"],
                    "bins refined": tree["bins"],
                }
            )
    report.table(f"HHCART(A) on Letter, {len(X):,} rows: the same tree, node by node", rows)
    for criterion, ratio in ratios.items():
        report.claim(f"std::sort of every direction / bounds, HHCART(A), {criterion}, on Letter", ">= 15", ratio)


def against_sklearn(report: Report, X: Array, y: NDArray[np.int32], repeat: int) -> None:
    """Every algorithm on Letter beside scikit-learn's axis-parallel tree, each through its `fit`."""
    contestants: dict[str, Callable[[], Any]] = {SKLEARN: lambda: DecisionTreeClassifier(random_state=0).fit(X, y)}
    for label, (name, params) in GROWN.items():
        contestants[label] = partial(fit, name, params, X, y)
    times, models = alternate(contestants, repeat)
    rows = []
    for label, sample in times.items():
        row = {
            "tree": label,
            "min s": sample.least,
            "median s": sample.median,
            "x scikit-learn": Ratio.of(sample, times[SKLEARN]).median,
            "leaves": int(models[label].get_n_leaves() if label == SKLEARN else models[label].n_leaves_),
            "directions": None,
            "refined %": None,
        }
        # HHCART(A) has its counts in the table of `against_sorting`; the others grow once more to tell them.
        if label in GROWN and GROWN[label][0] != "hhcart_a":
            search = grow(X, y, GROWN[label][0], **GROWN[label][1])
            row["directions"] = search["directions"]
            row["refined %"] = 100 * search["refined"] / max(search["directions"], 1)
        rows.append(row)
    report.table(f"Letter, {len(X):,} rows", rows)
    for label in GROWN:
        text = f"{label} / scikit-learn's axis-parallel tree, on Letter"
        report.claim(text, TARGETS.get(label), Ratio.of(times[label], times[SKLEARN]))


def axis_parallel_on(report: Report, X: Array, y: NDArray[np.int32], repeat: int) -> None:
    """Axis-parallel trees on continuous features."""
    ours = "axis-parallel, gini"
    times, models = alternate(
        {SKLEARN: lambda: DecisionTreeClassifier(random_state=0).fit(X, y), ours: partial(fit, *GROWN[ours], X, y)},
        repeat,
    )
    leaves = {SKLEARN: int(models[SKLEARN].get_n_leaves()), ours: models[ours].n_leaves_}
    size = f"{len(X):,} x {X.shape[1]}, {int(y.max()) + 1} classes"
    report.table(
        f"Synthetic, continuous, {size}",
        [
            {"tree": name, "min s": sample.least, "median s": sample.median, "leaves": leaves[name]}
            for name, sample in times.items()
        ],
    )
    report.claim(f"{ours} / scikit-learn's, on {size}", TARGETS[ours], Ratio.of(times[ours], times[SKLEARN]))


def numpy_best_gini(X: Array, y: NDArray[np.int32], directions: Array) -> Array:
    """Left class counts of the best Gini cut over all directions, as a plain NumPy program finds it, (C,).

    One argsort and one running count of the classes a direction; cuts between projections closer than 1e-9 of the
    scale of the data do not count, as in the search.
    """
    one_hot = np.eye(int(y.max()) + 1)[y]
    totals = one_hot.sum(axis=0)
    left_size = np.arange(1.0, len(X))
    tolerance = 1e-9 * np.abs(X).max() * X.shape[1]
    best, best_left = -np.inf, totals
    for h in directions:
        z = X @ h
        order = np.argsort(z)
        left = np.cumsum(one_hot[order], axis=0)[:-1]
        value = (left**2).sum(axis=1) / left_size + ((totals - left) ** 2).sum(axis=1) / left_size[::-1]
        value[np.diff(z[order]) <= tolerance] = -np.inf
        if value.max() > best:
            best, best_left = value.max(), left[np.argmax(value)]
    return best_left


def root_alone(report: Report, X: Array, y: NDArray[np.int32], repeat: int, sampled: int) -> None:
    """The root's split only: bounds and sorting in the core over all directions, NumPy over a sample of them."""
    n_classes = int(y.max()) + 1
    node = Node(X, y, None, n_classes, 0, "gini")
    spaces = [group.spec for group in PROPOSERS["hhcart_a"]().propose(node)]
    n_directions = len(spaces) * X.shape[1]
    # All columns of every reflection I - 2uu', and of them evenly spaced ones for NumPy.
    every = np.concatenate([np.eye(X.shape[1]) - 2.0 * np.outer(s[1], s[1]) for s in spaces if s[0] == "reflection"])
    sample = np.ascontiguousarray(every[np.linspace(0, len(every) - 1, min(sampled, len(every))).astype(int)])

    def search(candidates: list[tuple[Any, ...]], exhaustive: bool) -> Any:
        return _core.search(X, y, None, n_classes, "gini", candidates, 1.0, False, exhaustive)

    in_numpy = f"NumPy argsort ({len(sample)} directions)"
    times, result = alternate(
        {
            "bounds": lambda: search(spaces, False),
            "sorting": lambda: search(spaces, True),
            in_numpy: lambda: numpy_best_gini(X, y, sample),
        },
        repeat,
        once=("sorting", in_numpy),
    )
    np.testing.assert_array_equal(result["bounds"][0], result["sorting"][0])
    assert result["bounds"][1:] == result["sorting"][1:], "bounds and sorting must find the same split"
    _, gain = _core.cut_value(result[in_numpy], np.bincount(y, minlength=n_classes).astype(np.float64), "gini")
    np.testing.assert_allclose(gain, search([("directions", sample, None)], True)[2], rtol=1e-9)

    directions = {"bounds": n_directions, "sorting": n_directions, in_numpy: len(sample)}
    report.table(
        f"The root of HHCART(A) on Letter, {len(X):,} rows, {n_directions:,} directions, gini",
        [
            {
                "search": name,
                "min s": t.least,
                "median s": t.median,
                "us a direction": 1e6 * t.median / directions[name],
            }
            for name, t in times.items()
        ],
    )
    report.claim("std::sort / bounds, the root alone", None, Ratio.of(times["sorting"], times["bounds"]))
    report.claim(
        "plain NumPy / bounds, a direction of the root",
        None,
        Ratio.of(times[in_numpy], times["bounds"], n_directions / len(sample)),
    )


def warm_up(data: Data) -> None:
    """First calls import and allocate; that is not what is timed."""
    X, y = data[0][:200], data[1][:200]
    DecisionTreeClassifier().fit(X, y).predict(X)
    for name in ("axis_parallel", "hhcart_d", "hhcart_a"):
        make(name).fit(X, y).predict(X)


def run(report: Report, repeat: int) -> None:
    """All growth benchmarks."""
    X, y = letter(300 if report.quick else None)
    warm_up((X, y))
    against_sklearn(report, X, y, repeat)
    axis_parallel_on(report, *synthetic(1000 if report.quick else 100_000), min(repeat, 3))
    root_alone(report, X, y, repeat, sampled=20 if report.quick else 200)
    against_sorting(report, X, y)


if __name__ == "__main__":
    sys.exit(main({"growth": run}, __doc__ or ""))
