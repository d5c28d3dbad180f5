"""What people wait for, each beside what they would compare it with: a model, predictions, a fit that chooses, an
import."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.inputs import Data, letter, synthetic
from benchmarks.measuring import Ratio, Report, Sample, alternate, main
from benchmarks.startup import cpu_seconds, program
from oblique_cli import data
from oblique_cli.data import catalogue
from oblique_cli.errors import ObliqueError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.encoding import fold_encoder
from oblique_cli.ground.nouns import DatasetSpec

MOST_ROWS = 2000  # of the sets on which logistic trees are timed
NOT_INSTALLED = "there is no oblique beside this Python; install the package first"


def half(named: str, rows: int | None) -> tuple[Data, Data]:
    """Every other row of a bundled set to fit to, and the others; of its first `rows` rows, spread evenly."""
    dataset = data.load(DatasetSpec(named))
    retained = np.linspace(0, dataset.n - 1, min(rows or dataset.n, dataset.n)).astype(int)
    X, y = dataset.X[retained], dataset.y[retained]
    return (X[::2], y[::2]), (X[1::2], y[1::2])


def beside(report: Report, title: str, rivals: dict[str, Any], named: str, repeat: int) -> dict[str, Sample]:
    """Time fits of estimators to half of a set, and say what each does on the other half."""
    (X, y), (others, truth) = half(named, 300 if report.quick else None)
    times, models = alternate({name: partial(rival.fit, X, y) for name, rival in rivals.items()}, repeat)
    report.table(
        title,
        [
            {
                "model": name,
                "min s": sample.least,
                "median s": sample.median,
                "accuracy %": 100 * float(np.mean(models[name].predict(others) == truth)),
            }
            for name, sample in times.items()
        ],
    )
    return times


def boosting(report: Report, repeat: int) -> None:
    """Boosting of oblique trees beside XGBoost, both with their defaults, on half of Spambase."""
    text = "training oblique boosting / XGBoost, half of Spambase"
    try:
        from xgboost import XGBClassifier
    except ImportError:
        report.claim(text, "<= 3", "xgboost is not installed; pip install 'oblique-trees[field]' brings it")
        return
    ours = make("oblique_boosting", n_estimators=100, random_state=0)  # as many rounds as XGBoost
    rivals = {"XGBoost": XGBClassifier(n_jobs=1, random_state=0), "boosting": ours}
    times = beside(report, "Boosting, half of Spambase", rivals, "spambase", repeat)
    report.claim(text, "<= 3", Ratio.of(times["boosting"], times["XGBoost"]))


def tao_forest(report: Report, repeat: int) -> None:
    """A refined forest of 50 trees beside a random forest of 500, on half of Spambase."""
    trees = (3, 30) if report.quick else (50, 500)
    ours, theirs = f"tao_forest of {trees[0]}", f"random forest of {trees[1]}"
    rivals = {
        theirs: RandomForestClassifier(trees[1], random_state=0, n_jobs=1),
        ours: make("tao_forest", random_state=0, n_estimators=trees[0]),
    }
    times = beside(report, "Forests, half of Spambase", rivals, "spambase", repeat)
    report.claim(f"training {ours} / {theirs}, half of Spambase", "<= 1", Ratio.of(times[ours], times[theirs]))


def small_sets(most: int) -> list[tuple[str, Data]]:
    """The bundled sets of classes of up to `most` rows, with levels as indicators and gaps filled."""
    results = []
    for name in sorted(name for name in catalogue.names() if catalogue.entry(name).n <= most):
        policy = DatasetSpec(name, missing="impute", encoding="onehot")
        try:
            dataset = data.load(policy, offline=True)
        except ObliqueError:
            continue  # not bundled
        if dataset.task != "classification":
            continue
        encoder = fold_encoder(dataset, policy, dataset.X)
        X = dataset.X if encoder is None else encoder.transform(dataset.X)
        results.append((name, (X, dataset.y)))
    return results


def logistic_tree(report: Report, repeat: int) -> None:
    """Logistic trees and random forests of 500 on all bundled sets of up to 2,000 rows, once each."""
    trees = 20 if report.quick else 500
    rows, ours, ratios = [], Sample(), Sample()
    for name, (X, y) in small_sets(110 if report.quick else MOST_ROWS):
        contestants: dict[str, Callable[[], Any]] = {
            "random forest": partial(RandomForestClassifier(trees, random_state=0, n_jobs=1).fit, X, y),
            "logistic_tree": partial(make("logistic_tree", random_state=0).fit, X, y),
        }
        times, _ = alternate(contestants, 1)
        ours.values += times["logistic_tree"].values
        ratios.values.append(times["logistic_tree"].median / times["random forest"].median)
        rows.append({"set": name, "rows": len(X), "columns": X.shape[1]} | {k: s.median for k, s in times.items()})
    report.table(f"logistic_tree beside a random forest of {trees}, seconds", rows)
    report.claim(f"logistic_tree, one fit, median of {len(rows)} sets", "<= 0.7", ours, "s")
    report.claim(f"logistic_tree / random forest of {trees}, median of {len(rows)} sets", None, ratios)


def fit(report: Report, repeat: int) -> None:
    """`oblique fit` with auto on 2,500 rows of 8 columns, estimate included: CPU seconds, and what a clock says."""
    n = 120 if report.quick else 2500
    text = f"oblique fit, auto, {n:,} x 8, 3 classes"
    installed = program()
    if installed is None:
        report.claim(text, "<= 20", NOT_INSTALLED, "s")
        return
    X, y = synthetic(n, 8, informative=6)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [",".join([*(f"x{j}" for j in range(8)), "class"])]
        lines += [",".join([*(f"{value:.6g}" for value in row), f"c{k}"]) for row, k in zip(X, y, strict=True)]
        (folder / "table.csv").write_text("\n".join(lines) + "\n")
        quick = ["--time", "1s", "--folds", "2"] if report.quick else []
        arguments = [*installed, "fit", "table.csv", "--target", "class", "--output", "model.json", *quick]
        started = time.perf_counter()
        cpu = cpu_seconds(arguments, folder)
        wall = time.perf_counter() - started
    report.table("oblique fit", [{"command": text, "CPU s": cpu, "wall s": wall}])
    report.claim(f"{text}, by the clock", "<= 20", Sample([wall]), "s")
    report.claim(f"{text}, CPU time", None, Sample([cpu]), "s")


def predict(report: Report, repeat: int) -> None:
    """Labels of many and of few rows of 50 columns beside scikit-learn's tree of as many leaves."""
    rows, part = (400, 200) if report.quick else (50_000, 5000)
    X, y = synthetic(rows, 50, informative=10)
    table = []
    for title, name in (("HHCART(A)", "hhcart_a"), ("axis-parallel", "axis_parallel")):
        ours = make(name, criterion="gini").fit(X[:part], y[:part])
        theirs = DecisionTreeClassifier(max_leaf_nodes=int(ours.n_leaves_), random_state=0).fit(X[:part], y[:part])
        for n in (rows, rows // 50):
            calls = 10 * rows // n
            contestants = {
                "scikit-learn": lambda n=n, calls=calls, model=theirs: [model.predict(X[:n]) for _ in range(calls)][-1],
                "ours": lambda n=n, calls=calls, model=ours: [model.predict(X[:n]) for _ in range(calls)][-1],
            }
            times, _ = alternate(contestants, repeat)
            ratio = Ratio.of(times["ours"], times["scikit-learn"])
            table.append(
                {"tree": title, "leaves": ours.n_leaves_, "rows": n}
                | {f"{who}, ms": 1000 * sample.median / calls for who, sample in times.items()}
            )
            report.claim(f"predicting {n:,} x 50 with {title} / scikit-learn's, as many leaves", "<= 1", ratio)
    report.table("Predicting rows of 50 columns", table)


# What scikit-learn loads for any estimator, then the time of what is loaded beside it.
IMPORTED = """
import time, sklearn.tree
started = time.process_time()
from oblique_cli import HHCARTClassifier
print(time.process_time() - started)
"""


def imports(report: Report, repeat: int) -> None:
    """CPU time of the import of one class beside scikit-learn's own, and of two commands; bytecode is at hand."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    local, whole = Sample(), Sample()
    with tempfile.TemporaryDirectory() as folder:
        if not report.quick:  # which takes the bytecode that is there
            env["PYTHONPYCACHEPREFIX"] = folder
        for turn in range(repeat + 1):
            started = time.perf_counter()
            text = subprocess.run([sys.executable, "-c", IMPORTED], env=env, capture_output=True, text=True, check=True)
            if turn:  # the first one writes the bytecode
                local.values.append(float(text.stdout))
                whole.values.append(time.perf_counter() - started)
    report.table(
        "from oblique_cli import HHCARTClassifier",
        [{"part": "ours, CPU s", "median": local.median}, {"part": "all, wall s", "median": whole.median}],
    )
    report.claim("importing one class, beside import sklearn.tree, CPU time", "< 0.6", local, "s")


def growth(report: Report, repeat: int) -> None:
    """HHCART(A) on Letter, fully grown, beside scikit-learn's axis-parallel tree."""
    X, y = letter(500 if report.quick else None)
    times, models = alternate(
        {
            "scikit-learn": lambda: DecisionTreeClassifier(random_state=0).fit(X, y),
            "HHCART(A)": lambda: make("hhcart_a", criterion="gini").fit(X, y),
        },
        repeat,
    )
    leaves = {"scikit-learn": int(models["scikit-learn"].get_n_leaves()), "HHCART(A)": models["HHCART(A)"].n_leaves_}
    report.table(
        f"Letter, {len(X):,} rows",
        [{"tree": name, "median s": sample.median, "leaves": leaves[name]} for name, sample in times.items()],
    )
    ratio = Ratio.of(times["HHCART(A)"], times["scikit-learn"])
    report.claim("HHCART(A), gini / scikit-learn's axis-parallel tree, on Letter", "<= 7", ratio)


PARTS = {
    "boosting": boosting,
    "tao_forest": tao_forest,
    "logistic_tree": logistic_tree,
    "fit": fit,
    "predict": predict,
    "import": imports,
    "growth": growth,
}


def run(report: Report, repeat: int) -> None:
    """All parts, or those of --only."""
    for name in report.only:
        if name not in PARTS:
            raise SystemExit(f"unknown part {name!r} of waits; there are {', '.join(PARTS)}")
    for name, part in PARTS.items():
        if not report.only or name in report.only:
            part(report, repeat)


if __name__ == "__main__":
    sys.exit(main({"waits": run}, __doc__ or ""))
