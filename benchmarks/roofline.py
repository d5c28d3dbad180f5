"""How far the search of a node is from what the machine can do: bytes and operations of each step at the root of
HHCART(A) on Letter, beside the bandwidth that plain copying reaches on arrays of the same size."""

from __future__ import annotations

import sys
import time

import numpy as np

import oblique_cli._core as _core
from benchmarks.inputs import letter
from benchmarks.measuring import Ratio, Report, Sample, main
from oblique_cli.tree.splitting import PROPOSERS, Node


def bandwidth(size: int, calls: int) -> float:
    """GB a second, read and written, of a scaled copy of `size` doubles: the kind of work a projection is."""
    x, z = np.ones(size), np.empty(size)
    least = np.inf
    for _ in range(5):
        start = time.process_time()
        for _ in range(calls):
            np.multiply(x, 0.5, out=z)
        least = min(least, (time.process_time() - start) / calls)
    return 16e-9 * size / least


def run(report: Report, repeat: int) -> None:
    """A table of the steps and the time of a direction beside the time that its bytes alone would take."""
    X, y = letter(2000 if report.quick else None)
    (n, p), n_classes = X.shape, int(y.max()) + 1
    node = Node(X, y, None, n_classes, 0, "gini")
    spaces = [group.spec for group in PROPOSERS["hhcart_a"]().propose(node)]
    directions = len(spaces) * p
    bins = 16
    while bins < 256 and bins * bins < 4 * n:
        bins *= 2
    cells = n_classes * bins
    # Bytes that a direction reads and writes, and its operations; X u is added up once for p directions.
    steps = {
        "X u, a share of 1/p": (8 * n + 8 * n / p, 2 * n),
        "projection and its range": (24 * n, 4 * n),
        "bins": (9 * n, 3 * n),
        "counts by class and bin": (9 * n, n),
        "running sums of counts": (8 * cells, cells),
        "sums at the edges": (4 * cells, 6 * cells),
        "bounds": (8 * cells, 14 * cells),
    }
    near, far = bandwidth(n, 200), bandwidth(20 * n if report.quick else 20_000_000, 2)
    sample = Sample()
    for _ in range(repeat):
        start = time.process_time()
        _core.search(X, y, None, n_classes, "gini", spaces, 1.0, False, False)
        sample.values.append(time.process_time() - start)
    measured = Sample([1e6 * value / directions for value in sample.values])
    least = Sample([1e-3 * sum(size for size, _ in steps.values()) / near] * repeat)
    report.table(
        f"A direction of the root, {n:,} rows, {n_classes} classes, {bins} bins; copying moves {near:.0f} GB/s near, "
        f"{far:.0f} GB/s far",
        [
            {
                "step": name,
                "kB": size / 1e3,
                "thousand operations": work / 1e3,
                "us at copying speed": 1e-3 * size / near,
            }
            for name, (size, work) in steps.items()
        ],
    )
    report.table("Measured", [{"us a direction": measured.median, "least": measured.least, "by bytes": least.median}])
    report.claim("a direction of the root / its bytes at copying speed", None, Ratio.of(measured, least))


if __name__ == "__main__":
    sys.exit(main({"roofline": run}, __doc__ or ""))
