"""How much memory growing takes at its peak, on top of a process that has only loaded the same data."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.inputs import Data, letter, synthetic
from benchmarks.measuring import ROOT, Report, Sample, main

MB = 1e6


def peaks(contestants: list[str], data: Data, repeat: int, depth: int | None = None) -> dict[str, Sample]:
    """Peak memory in MB of fresh processes, in turn.

    depth : of the trees; None grows them fully
    """
    samples = {name: Sample() for name in contestants}
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, name)) for name in ("X.npy", "y.npy")]
        np.save(files[0], data[0])
        np.save(files[1], data[1])
        for _ in range(repeat):
            for name in contestants:
                command = [sys.executable, "-m", "benchmarks.peak", name, *files]
                command += [] if depth is None else [str(depth)]
                done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
                samples[name].values.append(int(done.stdout) / MB)
    return samples


def compare(report: Report, title: str, algorithms: list[str], data: Data, repeat: int) -> None:
    """One table and one claim an algorithm; 'nothing' is the process that only imports and loads."""
    samples = peaks(["nothing", "scikit-learn", *algorithms], data, repeat)
    baseline = samples.pop("nothing")
    size = data[0].nbytes / MB
    limit = 5 * size + 100
    growth = {
        name: Sample([fitted - empty for fitted, empty in zip(sample.values, baseline.values, strict=True)])
        for name, sample in samples.items()
    }
    report.table(
        f"{title}: X is {size:.3g} MB as float64; MB at the peak",
        [
            {
                "fit": name,
                "loaded only": baseline.median,
                "fitted": samples[name].median,
                "for growing": extra.median,
                "in sizes of X": extra.median / size,
                "limit": limit,
            }
            for name, extra in growth.items()
        ],
    )
    for name in algorithms:
        report.claim(f"{name} on {title}: peak memory for growing", f"< {limit:.1f}", growth[name], "MB")


def by_width(report: Report, rows: int, widths: list[int], names: tuple[str, ...]) -> None:
    """Bytes a cell of the table that growing takes beside it. Trees of depth 5: the first levels take the most."""
    table = []
    for p in widths:
        data = synthetic(rows, p, informative=5)
        result = peaks(["nothing", *names], data, 1, depth=5)
        loaded = result.pop("nothing").median
        a_cell = {name: Sample([(sample.median - loaded) * MB / (rows * p)]) for name, sample in result.items()}
        table.append({"features": p, "table, MB": data[0].nbytes / MB} | {n: each.median for n, each in a_cell.items()})
        for name in names[-2:]:
            target = "<= 3" if p >= 16 else None
            report.claim(f"{name} on {rows:,} x {p}: memory beside the table", target, a_cell[name], "bytes a cell")
    report.table(f"{rows:,} rows in double precision: bytes a cell beside the table, at the peak", table)


def run(report: Report, repeat: int) -> None:
    """Letter, and a set large enough that the constant does not decide."""
    if report.quick:
        compare(report, "Letter", ["hhcart_a"], letter(300), 1)
        by_width(report, 300, [10], ("axis_parallel",))
        return
    compare(report, "Letter", ["axis_parallel", "hhcart_d", "hhcart_a"], letter(), min(repeat, 3))
    compare(report, "100,000 x 50", ["axis_parallel"], synthetic(100_000), 1)
    by_width(report, 500_000, [10, 16, 20, 50, 100], ("scikit-learn", "axis_parallel", "hhcart_d"))


if __name__ == "__main__":
    sys.exit(main({"memory": run}, __doc__ or ""))
