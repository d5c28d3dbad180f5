"""Forests beside scikit-learn's random forest and aeon's rotation forest: training, prediction and memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.inputs import Data, letter, synthetic
from benchmarks.measuring import Ratio, Report, Sample, alternate, main
from benchmarks.memory import peaks
from oblique_cli.estimators.algorithms import ALGORITHMS, make

SKLEARN = "scikit-learn"
# Algorithm -> targets of its time over scikit-learn's, in training and in prediction.
TARGETS = {
    "raf": ("<= 1.5", "<= 1"),
    "mpraf_p": ("<= 1", "<= 1"),
    "mpraf_t": ("<= 1", "<= 1"),
    "hhcart_forest": (None, None),
}
MEMORY = ("raf", "mpraf_p", "mpraf_t")
NO_AEON = "aeon is not installed; pip install 'oblique-trees[bench]' brings it"


def mtry_of(X: Any) -> int:
    """The paper's: the square root of the number of features, rounded."""
    return round(X.shape[1] ** 0.5)


def fitting(trees: int, threads: int, data: Data) -> dict[str, Callable[[], Any]]:
    """What fits each contestant, with the same trees and mtry."""
    X, y = data
    rival = RandomForestClassifier(trees, max_features=mtry_of(X), random_state=0, n_jobs=threads)
    fits: dict[str, Callable[[], Any]] = {SKLEARN: partial(rival.fit, X, y)}
    for name in TARGETS:
        fits[name] = partial(make(name, random_state=0, n_trees=trees).set_params(n_jobs=threads).fit, X, y)
    return fits


def compare(report: Report, title: str, data: Data, threads: int, trees: int, repeat: int) -> None:
    """Time training and prediction of one set: CPU time on one thread, wall time on more."""
    X, _ = data
    clock = time.process_time if threads == 1 else time.perf_counter
    fits, models = alternate(fitting(trees, threads, data), repeat, clock=clock)
    predictions, _ = alternate({name: partial(models[name].predict, X) for name in fits}, repeat, clock=clock)
    kind = "CPU time" if threads == 1 else "wall time"
    rows = []
    for name, sample in fits.items():
        forest = models[name]
        nodes = sum(t.tree_.node_count for t in forest.estimators_) if name == SKLEARN else forest.n_nodes_
        rows.append(
            {
                "forest": name if name == SKLEARN else ALGORITHMS[name].title,
                "train s": sample.median,
                "predict s": predictions[name].median,
                "nodes a tree": nodes / trees,
            }
        )
    size = f"{trees} trees, {len(X):,} x {X.shape[1]}, threads: {threads}"
    report.table(f"{title}, {size}, {kind}", rows)
    where = f"on {title}, threads: {threads}"
    for name, (train, predict) in TARGETS.items():
        label = ALGORITHMS[name].title
        ratio = Ratio.of(fits[name], fits[SKLEARN])
        report.claim(f"training {label} / scikit-learn's random forest, {where}", train, ratio)
        ratio = Ratio.of(predictions[name], predictions[SKLEARN])
        report.claim(f"predicting with {label} / with scikit-learn's, {where}", predict, ratio)


def memory(report: Report, title: str, data: Data, repeat: int, names: tuple[str, ...]) -> None:
    """Peak memory of training above a process that has only loaded the rows, 50 trees on one thread."""
    samples = peaks(["nothing", "scikit-learn-forest", *names], data, repeat)
    empty = samples.pop("nothing")
    growth = {
        name: Sample([full - base for full, base in zip(sample.values, empty.values, strict=True)])
        for name, sample in samples.items()
    }
    report.table(
        f"{title}: MB at the peak of training, above imports and rows",
        [{"forest": name, "MB": sample.median} for name, sample in growth.items()],
    )
    rival = growth.pop("scikit-learn-forest")
    for name, sample in growth.items():
        text = f"peak memory of training {ALGORITHMS[name].title} / scikit-learn's random forest, on {title}"
        report.claim(text, "<= 1.5", Ratio.of(sample, rival))


def rotation(report: Report, title: str, data: Data, trees: int, repeat: int) -> None:
    """RoF beside aeon's rotation forest: groups of three, Gini, all features at a node, one thread."""
    X, y = data
    text = f"aeon's rotation forest / RoF, training on {title}"
    try:
        from aeon.classification.sklearn import RotationForestClassifier
    except ImportError:
        report.claim(text, ">= 3", NO_AEON)
        return
    rival = RotationForestClassifier(
        trees,
        min_group=3,
        max_group=3,
        remove_proportion=0.0,
        base_estimator=DecisionTreeClassifier(),
        random_state=0,
        n_jobs=1,
    )
    contestants: dict[str, Callable[[], Any]] = {
        "aeon": partial(rival.fit, X, y),
        "RoF": partial(make("rof", random_state=0, n_trees=trees, bootstrap=False).fit, X, y),
    }
    times, _ = alternate(contestants, repeat)
    report.table(
        f"Rotation forests, {trees} trees, {title}, {len(X):,} x {X.shape[1]}, CPU time",
        [{"forest": name, "train s": sample.median} for name, sample in times.items()],
    )
    report.claim(text, ">= 3", Ratio.of(times["aeon"], times["RoF"]))


def run(report: Report, repeat: int) -> None:
    """All forests."""
    few = report.quick
    sets = {"Letter": letter(300 if few else None)}
    if not few:  # what is printed is of the same form
        sets["made-up rows"] = synthetic(100_000, 10, informative=6)
    trees = 3 if few else 50
    for name in TARGETS:  # first calls import and allocate
        make(name, n_trees=2).fit(sets["Letter"][0][:100], sets["Letter"][1][:100])
    for title, data in sets.items():
        for threads in (2,) if few else (1, 2):
            compare(report, title, data, threads, trees, min(repeat, 3))
        memory(report, title, data, 1, MEMORY[:1] if few else MEMORY)
    rotation(report, "Letter", sets["Letter"], trees, 1)


if __name__ == "__main__":
    sys.exit(main({"forests": run}, __doc__ or ""))
