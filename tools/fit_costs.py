"""What fits of `oblique fit` cost: seconds of CPU as a function of rows, columns and classes.

`python -m tools.fit_costs > oblique_cli/fitting/costs.yaml` fits every candidate, pruned as `oblique fit` prunes it, to
tables with noise of several sizes, and fits base + seconds (rows / 1000)^a (columns / 10)^b (classes / 2)^c to the
times by least squares of the logarithms. The numbers decide what gets into a comparison, so they are measured when a
candidate or its speed has changed much, and not on every machine.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray

from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.default_pruning import pruned_spec
from oblique_cli.fitting.candidates import candidates
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import AlgorithmSpec

# Rows, columns, classes. A fit that is expected to take more than LONGEST seconds is left out.
SIZES = {
    "classification": ((150, 4, 3), (500, 10, 2), (1000, 30, 2), (1000, 10, 8), (4000, 10, 2), (4000, 30, 4),
                       (16000, 10, 2), (30000, 26, 2)),
    "regression": ((150, 4, 1), (500, 10, 1), (1000, 30, 1), (4000, 10, 1), (4000, 30, 1), (16000, 10, 1)),
}  # fmt: skip
LONGEST = 10.0
HEADING = """\
# What a fit costs, by candidate: base + seconds (rows / 1000)^rows (columns / 10)^columns (classes / 2)^classes, in
# seconds of CPU of the machine on which `python -m tools.fit_costs` wrote this file. `oblique fit` plans by these
# numbers and not by the clock, so that a plan is the same everywhere. An algorithm that is not listed counts as the
# dearest."""


def table(n: int, p: int, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows and codes (or numbers, of one class) that depend on them by quadrics and noise."""
    rng = seeds.generator(1, "fit costs", n, p, n_classes)
    X = rng.normal(size=(n, p))
    score = X @ rng.normal(size=(p, n_classes)) + X**2 @ rng.normal(size=(p, n_classes)) / 2
    score += rng.normal(size=score.shape) * score.std() / 2
    return X, (score.argmax(axis=1) if n_classes > 1 else score[:, 0])


def measured(task: str) -> dict[str, list[float]]:
    """Return by candidate base, seconds and the powers."""
    found = {}
    for one in candidates(task):
        params = {key: value for key, value in one.items() if key not in ("name", "id")}
        params = dict(pruned_spec(AlgorithmSpec(one["name"], one["id"], params)).params)
        X, y = table(60, 3, SIZES[task][0][2])
        ALGORITHMS[one["name"]].make(random_state=1, **params).fit(X, y)  # what is loaded when it is first used
        rows, times = list[tuple[int, int, int]](), list[float]()
        for n, p, k in SIZES[task]:
            near = [seconds * (n / m) * (p / q) for (m, q, _), seconds in zip(rows, times, strict=True)]
            if near and near[-1] > LONGEST:
                continue
            X, y = table(n, p, k)
            started = time.process_time()
            ALGORITHMS[one["name"]].make(random_state=1, **params).fit(X, y)
            rows.append((n, p, k))
            times.append(time.process_time() - started)
            print(one["name"], n, p, k, round(times[-1], 3), file=sys.stderr, flush=True)
        base = 0.8 * min(times)
        sizes = np.log(np.array(rows) / [1000, 10, 2 if task == "classification" else 1])
        design = np.column_stack([np.ones(len(rows)), sizes])
        # A pull towards n log n, p and no classes: eight sizes do not tell the powers of every candidate apart.
        pull = np.sqrt(0.05) * np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        whole = np.vstack([design, pull])
        target = np.append(
            np.log(np.maximum(np.array(times) - base, 0.1 * np.array(times))), np.sqrt(0.05) * np.array([1.05, 1, 0])
        )
        coef = np.linalg.lstsq(whole, target, rcond=None)[0]
        found[one["name"]] = [base, float(np.exp(coef[0])), *coef[1:].tolist()]
    return found


def main() -> None:
    """Print the file."""
    print(HEADING)
    for task in SIZES:
        print(f"{task}:")
        for name, (base, seconds, a, b, c) in measured(task).items():
            powers = f"rows: {a:.2f}, columns: {b:.2f}, classes: {c:.2f}"
            print(f"  {name}: {{base: {base:.2g}, seconds: {seconds:.2g}, {powers}}}")


if __name__ == "__main__":
    main()
