"""How long trees take where there are many more features than rows, as in gene expression.

Trees are fully grown. Without working in the span of the rows, HHGDT took 34 s on 10 rows of 1000 features and 267 s on
5000 (measured on the machine of benchmarks/README.md).
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from benchmarks.inputs import grow
from benchmarks.measuring import Report, alternate, main

# Label -> registered heuristic.
GROWN = {
    "HHCART(D)": "hhcart_d",
    "GDT": "gdt",
    "HHGDT": "hhgdt",
    "HHCRV": "hhcrv",
    "HHCART(A)": "hhcart_a",
}
TARGETS = {"HHCART(D)": "< 10", "GDT": "< 10", "HHGDT": "< 10"}
SHAPE = (72, 7129)  # the leukemia data of Golub et al. (1999)


def rows(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes whose means differ by 0.7 in 50 features."""
    rng = np.random.default_rng(0)
    y = np.arange(n, dtype=np.int32) % 2
    X = rng.normal(size=(n, p))
    X[y == 1, :50] += 0.7
    return X, y


def run(report: Report, repeat: int) -> None:
    """Grow a tree of each heuristic on 72 rows of 7129 features."""
    n, p = (20, 300) if report.quick else SHAPE
    X, y = rows(n, p)
    times, trees = alternate({label: partial(grow, X, y, name) for label, name in GROWN.items()}, repeat)
    report.table(
        f"a tree on {n} rows of {p} features",
        [
            {"algorithm": label, "seconds": times[label].median, "leaves": int((trees[label]["left"] < 0).sum())}
            for label in GROWN
        ],
    )
    for label, sample in times.items():
        report.claim(f"{label}, a tree on 72 rows of 7129 features", TARGETS.get(label), sample, "s")


if __name__ == "__main__":
    sys.exit(main({"wide": run}, __doc__ or ""))
