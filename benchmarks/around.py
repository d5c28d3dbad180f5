"""CPU time of what users wait for around the core, each beside a rival, in one run; the rows of docs/performance.md."""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeClassifier

from benchmarks.inputs import Data, letter, synthetic
from benchmarks.measuring import ROOT, Ratio, Report, Sample, main
from benchmarks.startup import cpu_seconds, program
from benchmarks.waits import NOT_INSTALLED, half
from oblique_cli.estimators.algorithms import make
from oblique_cli.papers.reproduction.framework.document import filled

STORED = ROOT / "results" / "benchmarks" / "around.csv"
FIELDS = ("subject", "ours", "rival", "ours_s", "rival_s")
PANDAS = "import pandas; frame = pandas.read_csv('large.csv')"
TREE = f"{PANDAS}; from sklearn.tree import DecisionTreeClassifier as T; T().fit(frame.drop(columns='y'), frame['y'])"
FOLDS = """
import pandas
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from oblique_cli import make
frame = pandas.read_csv('small.csv')
scheme = RepeatedStratifiedKFold(n_splits=5, n_repeats={repeats}, random_state=0)
cross_validate(make('axis_parallel'), frame.drop(columns='y'), frame['y'], cv=scheme)
"""
RUN = "run small.csv --target y --algorithm axis_parallel --set algorithm.pruning=none --set name=r --folds 5 --jobs 1"


def of_fit(estimator: Any, X: Any, y: Any) -> float:
    """Return the CPU seconds of a fit."""
    started = time.process_time()
    estimator.fit(X, y)
    return time.process_time() - started


def of_reading(X: np.ndarray) -> float:
    """Return the CPU seconds of reading all rows once, a sum of each column."""
    started = time.process_time()
    X.sum(axis=0)
    return time.process_time() - started


def write(path: Path, data: Data) -> None:
    """Write numbers of four decimals and classes as CSV."""
    frame = pd.DataFrame(data[0].round(4), columns=[f"x{j}" for j in range(data[0].shape[1])])
    frame.assign(y=[f"c{code}" for code in data[1]]).to_csv(path, index=False)


def commands(folder: Path, oblique: list[str], quick: bool) -> dict[str, tuple[str, Any, str, Any]]:
    """Return the subjects that are whole commands: name -> ours, its time, the rival, its time."""
    n, repeats = (400, 1) if quick else (100_000, 40)
    X, y = synthetic(n, 16, informative=6)
    write(folder / "large.csv", (X, y))
    write(folder / "few.csv", (X[:300], y[:300]))
    write(folder / "small.csv", synthetic(150, 8, informative=4))

    def line(words: str) -> Callable[[], float]:
        return partial(cpu_seconds, [*oblique, *words.split()], folder)

    def code(text: str) -> Callable[[], float]:
        return partial(cpu_seconds, [sys.executable, "-c", text], folder)

    line("fit few.csv --target y --algorithm hhcart_d --folds 2 --output few.json")()
    return {
        "start-up": ("`oblique list algorithms`", line("list algorithms"), "`python -c pass`", code("pass")),
        "validation": ("`oblique validate bupa_hhgdt`", line("validate bupa_hhgdt"), "`import sklearn.tree`",
                       code("import sklearn.tree")),
        "text reading": (f"`oblique predict`, CSV of {n:,} x 16", line("predict few.json large.csv -o new.csv"),
                         "pandas reads the CSV", code(PANDAS)),
        "large table": (f"`oblique tree`, CSV of {n:,} x 16", line("tree large.csv --target y"),
                        "pandas and scikit-learn's tree", code(TREE)),
        "runner": (f"`oblique run`, {5 * repeats} folds", line(f"{RUN} --repeats {repeats}"),
                   "`cross_validate`", code(FOLDS.format(repeats=repeats))),
        "stored rows": (f"`oblique table`, {5 * repeats} folds", line("table r"), "`python -c 'import pandas'`",
                        code("import pandas")),
    }  # fmt: skip


def fits(quick: bool) -> dict[str, tuple[str, Any, str, Any]]:
    """Return the subjects that are fits: name -> ours, its time, the rival, its time."""
    rows = 300 if quick else None
    X, y = synthetic(400 if quick else 200_000, 20, informative=6)
    spam, of_letter, many = half("spambase", rows)[0], letter(rows), synthetic(1000, 10, classes=10, informative=8)
    numbers = (spam[0], spam[0][:, -1])
    grown = partial(DecisionTreeClassifier, random_state=0)
    forest = HistGradientBoostingClassifier(max_iter=30, early_stopping=False)

    def subject(name: str, data: tuple[Any, Any], title: str, rival: Any, **params: Any) -> tuple[str, Any, str, Any]:
        ours = partial(of_fit, make(name, **params), *data)
        theirs = partial(of_fit, rival, *data)
        return f"`{name}`, {title}", ours, type(rival).__name__, theirs

    return {
        "model trees": subject("tao", spam, "half of Spambase", grown(), random_state=0),
        "logistic trees": subject("logistic_tree", spam, "half of Spambase", grown(), random_state=0),
        "regression": subject("hhcart_regression", (numbers[0][:, :-1], numbers[1]), "half of Spambase, last column",
                              HistGradientBoostingRegressor(), random_state=0),
        "boosting": subject("oblique_boosting", spam, "half of Spambase, 30 rounds", forest, n_estimators=30,
                            random_state=0),
        "HHCART(A)": subject("hhcart_a", of_letter, "Letter", grown(), criterion="gini"),
        "many classes": subject("hhgdt", many, "1,000 x 10, ten classes", grown()),
        "many classes of GDT": subject("gdt", many, "1,000 x 10, ten classes", grown()),
        "HHGDT": (f"`hhgdt`, {len(X):,} x 20, depth 8", partial(of_fit, make("hhgdt", max_depth=8), X, y),
                  "a sum of each column", partial(of_reading, X)),
    }  # fmt: skip


def table() -> str:
    """Return the stored rows as the table of docs/performance.md."""
    with STORED.open(encoding="utf-8", newline="") as stream:
        rows = [(*row[:3], *row[3:], f"{float(row[3]) / float(row[4]):.3g}") for row in list(csv.reader(stream))[1:]]
    lines = [("subject", "ours", "beside", "ours, s", "beside, s", "ratio"), ("---",) * 6, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def run(report: Report, repeat: int) -> None:
    """Alternate ours and the rival, of all subjects or those of --only; store the medians unless the run is quick."""
    oblique, rows = program(), []
    with tempfile.TemporaryDirectory() as folder:
        subjects = {} if oblique is None else commands(Path(folder), oblique, report.quick)
        if oblique is None:
            report.claim("commands / rivals", None, NOT_INSTALLED)
        for name, (ours, measured, rival, beside) in (subjects | fits(report.quick)).items():
            if report.only and name not in report.only:
                continue
            pairs = [(measured(), max(beside(), 1e-6)) for _ in range(repeat)]
            times = [Sample(list(values)) for values in zip(*pairs, strict=True)]
            seconds = (f"{times[0].median:.3g}", f"{times[1].median:.3g}")
            rows.append(dict(zip(FIELDS, (name, ours, rival, *seconds), strict=True)))
            report.claim(f"{ours} / {rival}", None, Ratio.of(*times))
    report.table("Around the core, CPU seconds", rows)
    if not report.quick:
        with STORED.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    if sys.argv[1:] == ["--page"]:
        page = ROOT / "docs" / "performance.md"
        page.write_text(filled(page.read_text(encoding="utf-8"), {"around": table()}), encoding="utf-8")
        sys.exit()
    sys.exit(main({"around": run}, __doc__ or ""))
