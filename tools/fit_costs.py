"""What fits of `oblique fit` cost: seconds of CPU as a function of rows, columns and classes.

python -m tools.fit_costs measure [ROWS]   fit every candidate once to each table, at most ROWS (500) rows of it, and
                                           write results/tables/costs.csv; what is stored is not measured again
python -m tools.fit_costs growth           the same for trees of large tables: results/tables/growth_costs.csv
python -m tools.fit_costs                  print oblique_cli/fitting/costs.yaml, fitted to the stored seconds

The tables are those of the corpus (tests/tables) and of OBLIQUE_DATA, and some with noise of larger sizes. A fit
that is planned to take more than LONGEST seconds is left out.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data import catalogue
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ObliqueError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.default_pruning import pruned_spec
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting.budget import candidates, cost_of, costs, seen_columns
from oblique_cli.fitting.choosing import fit_to_all, part, rows_in_turn
from oblique_cli.fitting.goals import Goal
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "results" / "tables" / "costs.csv"
NAMES = ("table", "task", "rows", "columns", "classes", "algorithm", "seconds")
LONGEST = 4.0
# Rows, columns, classes of tables with noise.
SIZES = ((4000, 10, 2), (2000, 30, 3), (12000, 8, 2), (300, 200, 2), (1000, 10, 8), (4000, 10, 1), (1500, 30, 1),
         (12000, 6, 1), (300, 150, 1))  # fmt: skip
LARGE = ((20_000, 5), (60_000, 5), (200_000, 5), (20_000, 10), (60_000, 10), (200_000, 10), (20_000, 30), (60_000, 30))
CATALOGUE = ("bupa", "vehicle", "boston_housing", "auto_mpg", "abalone", "pima", "glass", "sonar", "german_credit",
             "kin8nm", "ionosphere", "wine", "stock", "yeast", "statlog_heart", "tecator")  # fmt: skip
MOST_CLASSES = 40
# The stored seconds are of a machine whose two processors had some fifteen processes to serve; with none beside it a
# fit takes about half of them. Costs lie between both, so that either is within a factor of two.
BESIDE_OTHERS = 0.75
POLICY = DatasetSpec("t", missing="impute", encoding="onehot")
# Least-squares powers are pulled to n log n, p and a root of the classes; a fit takes time in proportion to its rows,
# at least, whatever the base made of small tables.
USUAL, PULL = np.array([1.05, 1.0, 0.3]), 0.3
LEAST_POWER = 0.9
BASES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9)
GROWTH_HEADING = """\
# One tree on 20,000 rows or more, from the algorithm that a command takes by default to the cheapest substitute, fitted
# to results/tables/growth_costs.csv (`python -m tools.fit_costs growth`)."""
HEADING = """\
# What a fit costs, by candidate: base + seconds (rows / 1000)^rows (columns / 10)^columns (classes / 2)^classes, in
# seconds of CPU, as `python -m tools.fit_costs` fits them to results/tables/costs.csv. `oblique fit` plans by these
# numbers and not by the clock, so that a plan is the same everywhere. An algorithm that is not listed counts as the
# dearest."""


def noisy(n: int, p: int, n_classes: int) -> Dataset:
    """Return rows whose classes (or numbers, of one class) depend on them by quadrics and noise."""
    rng = seeds.generator(1, "fit costs", n, p, n_classes)
    X = rng.normal(size=(n, p))
    score = X @ rng.normal(size=(p, n_classes)) + X**2 @ rng.normal(size=(p, n_classes)) / 2
    score += rng.normal(size=score.shape) * score.std() / 2
    names = tuple(f"x{j}" for j in range(p))
    if n_classes == 1:
        return Dataset("noise", X, score[:, 0], (), names, task="regression")
    return Dataset("noise", X, score.argmax(axis=1).astype(np.int32), tuple(map(str, range(n_classes))), names)


def tables() -> Iterator[tuple[str, Dataset]]:
    """Yield the tables that can be read here, with their names."""
    sys.path.insert(0, str(ROOT / "tests"))
    from tables import corpus, judging

    for name in CATALOGUE:
        try:
            yield name, catalogue.load(name, None, True)
        except ObliqueError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    for table in corpus.installed():
        yield table.name, judging.judged(table).dataset
    for size in SIZES:
        yield "noise:{}x{}x{}".format(*size), noisy(*size)


def stored(name: str = STORED.name) -> list[dict[str, str]]:
    """Return the stored fits."""
    with open(STORED.with_name(name), encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def measure(most_rows: int) -> None:
    """Fit what is not stored yet."""
    if not STORED.exists():
        STORED.write_text(",".join(NAMES) + "\n", encoding="utf-8")
    known = {(row["table"], row["algorithm"]) for row in stored()}
    for name, whole in tables():
        dataset = whole if whole.n <= most_rows or ":" in name[:6] else part(whole, rows_in_turn(whole, most_rows, 1))
        if len(dataset.classes) > MOST_CLASSES:
            continue
        for candidate in candidates(dataset.task):
            params = {key: value for key, value in candidate.items() if key not in ("name", "id")}
            case = case_of(dataset, candidate["name"], candidate["id"], params)
            if (name, case.spec.name) in known or cost_of(case, dataset.n, 5) > LONGEST:
                continue
            started = time.process_time()
            fit_to_all(case, 5, 1, Goal.usual(dataset.task))
            seconds = round(time.process_time() - started, 4)
            sizes = dataset.n, seen_columns(dataset, POLICY.encoding), len(dataset.classes) or 1
            with open(STORED, "a", encoding="utf-8", newline="") as stream:
                fields = (name, dataset.task, *sizes, case.spec.name, seconds)
                csv.writer(stream, lineterminator="\n").writerow(fields)


def measure_growth() -> None:
    """Grow each default algorithm of large tables and its substitutes once, pruned as commands prune them."""
    path = STORED.with_name("growth_costs.csv")
    sizes = [(*size, 2) for size in LARGE] + [(*size, 7) for size in LARGE[3:5]] + [(*size, 1) for size in LARGE[3:7]]
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("task", "rows", "columns", "classes", "algorithm", "seconds"))
        for size in sizes:
            dataset = noisy(*size)
            for name in costs(f"{dataset.task}_growth"):
                started = time.process_time()
                fit_to_all(case_of(dataset, name, name, {}), 5, 1, Goal.usual(dataset.task))
                seconds = round(time.process_time() - started, 3)
                writer.writerow((dataset.task, *size, name, seconds))


def case_of(dataset: Dataset, name: str, algorithm_id: str, params: dict[str, object]) -> Case:
    """Return a candidate as `oblique fit` runs it."""
    spec = pruned_spec(AlgorithmSpec(name, algorithm_id, params, {}), dataset.n)
    return Case(dataset, POLICY, spec, ALGORITHMS[name])


def fitted(sizes: NDArray[np.float64], seconds: NDArray[np.float64], bases: Sequence[float]) -> NDArray[np.float64]:
    """Return base, seconds and the powers: the base of least error, the rest by least absolute errors of logarithms.

    sizes : (n, 3) rows, columns, classes of the fits; seconds : (n,); bases : relative to the least seconds"""
    logs = np.log(sizes / [1000, 10, 2 if sizes[:, 2].max() > 1 else 1])
    results = []
    for share in bases:
        base = share * float(np.quantile(seconds, 0.05))
        coef, target = np.zeros(4), np.log(np.maximum(seconds - base, 0.1 * seconds))
        weights = np.ones(len(seconds))
        for _ in range(50):
            design = np.column_stack([np.ones(len(seconds)), logs]) * np.sqrt(weights)[:, None]
            whole = np.vstack([design, np.sqrt(PULL) * np.eye(4)[1:]])
            coef = np.linalg.lstsq(whole, np.append(target * np.sqrt(weights), np.sqrt(PULL) * USUAL), rcond=None)[0]
            coef[1:] = np.maximum(coef[1:], [LEAST_POWER, 0.3, 0.0])
            coef[0] = np.median(target - logs @ coef[1:])
            errors = np.abs(np.log(base + np.exp(coef[0] + logs @ coef[1:])) - np.log(seconds))
            weights = 0.3 / np.maximum(errors, 0.1)
        results.append((float(np.minimum(errors, 1.5).mean()), [base, float(np.exp(coef[0])), *coef[1:]]))
    return np.array(min(results)[1])


def main() -> None:
    """Measure, or print the file."""
    if sys.argv[1:] == ["growth"]:
        measure_growth()
        return
    if sys.argv[1:2] == ["measure"]:
        measure(int(sys.argv[2]) if len(sys.argv) > 2 else 500)
        return
    rows = stored()
    print(HEADING)
    for task in ("classification", "regression"):
        print_costs(task, [candidate["name"] for candidate in candidates(task)], rows)
    print(GROWTH_HEADING)
    grown = stored("growth_costs.csv")
    for task in ("classification", "regression"):
        print_costs(f"{task}_growth", list(costs(f"{task}_growth")), grown)


def print_costs(section: str, names: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    """Print a section of the file: the costs of algorithms, fitted to measured rows."""
    task, _, growth = section.partition("_")
    print(f"{section}:")
    for name in names:
        measured = [row for row in rows if row["task"] == task and row["algorithm"] == name]
        sizes = np.array([[float(row[key]) for key in ("rows", "columns", "classes")] for row in measured])
        seconds = np.array([max(float(row["seconds"]), 1e-4) for row in measured])
        base, slope, a, b, c = fitted(sizes, seconds, bases=(0.0,) if growth else BASES)
        c = c if task == "classification" else 0.0
        share = 1.0 if growth else BESIDE_OTHERS
        first = f"base: {share * base:.2g}, seconds: {share * slope:.2g}"
        print(f"  {name}: {{{first}, rows: {a:.2f}, columns: {b:.2f}, classes: {c:.2f}}}")


if __name__ == "__main__":
    main()
