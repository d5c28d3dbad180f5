"""One tree on one thread and on two: the same arrays, and how much sooner. Wall time, so on an idle machine only."""

from __future__ import annotations

import sys
import time
from functools import partial

import numpy as np

from benchmarks.inputs import TREE_ARRAYS, Data, grow, letter, synthetic
from benchmarks.measuring import Ratio, Report, alternate, main


def compare(report: Report, title: str, name: str, data: Data, repeat: int) -> None:
    """A claim, and a table with wall and CPU seconds: on a busy machine two threads take turns, and only the CPU
    seconds say what dividing the work costs."""
    X, y = data
    one, two = (partial(grow, X, y, name, criterion="gini", n_threads=threads) for threads in (1, 2))
    wall, trees = alternate({"one thread": one, "two threads": two}, repeat, clock=time.perf_counter)
    cpu, _ = alternate({"one thread": one, "two threads": two}, 1)
    for array in TREE_ARRAYS:
        np.testing.assert_array_equal(trees["one thread"][array], trees["two threads"][array], err_msg=array)
    rows = [
        {"growth": label, "min s": sample.least, "median s": sample.median, "CPU s": cpu[label].least}
        for label, sample in wall.items()
    ]
    report.table(f"{title}, {len(X):,} x {X.shape[1]}", rows)
    report.claim(f"one thread / two threads, {title}", ">= 1.8", Ratio.of(wall["one thread"], wall["two threads"]))


def run(report: Report, repeat: int) -> None:
    """Letter, where nodes are many, and a million rows, where the first few have most of the work."""
    compare(report, "HHCART(A) on Letter", "hhcart_a", letter(500 if report.quick else None), min(repeat, 3))
    rows = 3000 if report.quick else 1_000_000
    compare(report, "HHCART(D) on many rows", "hhcart_d", synthetic(rows, 10, informative=5), min(repeat, 2))


if __name__ == "__main__":
    sys.exit(main({"threads": run}, __doc__ or ""))
