"""One tree of a made-up table from the disk, beside memory and beside other libraries: `python -m benchmarks.scale`.

One worker beside two, on an idle machine: `python -m benchmarks.scale --workers 1 2 --rows 3e6 --memory 3e8`.
Forests beside others: `python -m benchmarks.scale --forests --features 20 --depth 16`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tabulate import tabulate

from benchmarks.measuring import Ratio, Report, Sample
from benchmarks.scale.contestant import CONTESTANTS
from benchmarks.scale.data import FLIGHTS, MADE, TABLES, write, write_real

USUAL = ("HHCART(D) from disk", "HHCART(D) in memory", "scikit-learn", "LightGBM", "XGBoost, external memory")

REAL = (
    *("HHCART(D) from disk", "HHCART(D) in memory", "HHCART(A) from disk", "HHCART(A) in memory"),
    *("axis-parallel from disk", "axis-parallel in memory", "scikit-learn"),
)
OF_TWO_CLASSES = ("LightGBM", "XGBoost, external memory")
BY_WORKERS = ("HHCART(D) from disk", "HHCART(D) by Dask")  # threads of one process, and processes
FORESTS = ("HHGDT forest", "MPRaF-P forest", "random forest", "YDF, oblique forest", "LightGBM, boosted")
SHARED = (*BY_WORKERS, "HHCART(A) from disk", "axis-parallel from disk")  # that take any number of workers


def main() -> None:
    """Write the table, run each contestant in a process of its own, and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=TABLES, default=MADE, help="made up, or real rows, repeated where few")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--memory", type=float, default=1e9, help="bytes, for those that keep to it")
    parser.add_argument("--workers", type=int, nargs="+", default=[1], help="several numbers are set side by side")
    parser.add_argument("--repeat", type=int, default=1, help="rounds; the table shows the one of the quickest growth")
    parser.add_argument("--only", nargs="*", choices=CONTESTANTS, default=None)
    parser.add_argument("--forests", action="store_true", help="forests and boosting, in memory")
    parser.add_argument("--trees", type=int, default=5, help="of a forest")
    parser.add_argument("--scratch", default=None, help="folder; a temporary one by default")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument("--json", default=None)
    params = parser.parse_args()
    if min([*params.workers, params.repeat]) < 1:
        parser.error("--workers and --repeat must be at least 1.")
    if params.quick:
        params.rows, params.features, params.depth = 20_000, 4, 3
    if params.table != MADE:
        # LightGBM and XGBoost grow a tree for each of several classes, which is no single tree.
        params.only = params.only or (*REAL, *(OF_TWO_CLASSES if params.table == FLIGHTS else ()))
    if params.forests:
        params.only = params.only or FORESTS
    params.only = params.only or (USUAL if len(params.workers) == 1 else BY_WORKERS)
    runs = [(name, w) for name in params.only for w in (params.workers if name in SHARED else params.workers[:1])]
    growth: dict[tuple[str, int], Sample] = {run: Sample() for run in runs}
    best: dict[tuple[str, int], dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(dir=params.scratch, prefix="oblique-scale-") as folder:
        path = Path(folder) / "table.parquet"
        if params.table == MADE:
            write(path, int(params.rows), params.features)
        else:
            params.rows = write_real(path, params.table)
            params.features = pq.read_metadata(path).num_columns - 1
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        for name, workers in runs * params.repeat:
            arguments = [name, str(path), params.depth, int(params.memory), workers, folder, 50_000, params.features]
            arguments += [params.table, params.trees]
            command = [sys.executable, "-m", "benchmarks.scale.contestant", *map(str, arguments)]
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads})
            label = _label(name, workers, params.workers)
            if done.returncode:
                text = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
                print(f"{label}: {text[-1]}", file=sys.stderr)
                continue
            document = json.loads(done.stdout.splitlines()[-1])
            document.setdefault("grow", document["seconds"])
            growth[name, workers].values.append(document["grow"])
            if document["grow"] == growth[name, workers].least:
                best[name, workers] = document
            for level in document.get("levels", ()):
                print(f"{label}: {level}", file=sys.stderr)
    table = []
    for (name, workers), result in best.items():
        seconds = [result[key] for key in ("seconds", "cpu", "grow")]
        sizes = params.rows / result["grow"], result.get("bytes_read", 0) / 1e6, result["peak"] / 1e6
        table.append([_label(name, workers, params.workers), *seconds, *sizes, 100 * result["right"]])
    heads = ["", "s", "CPU s", "growth s", "rows/s", "MB read", "peak MB", "% right"]
    limits = f"depth {params.depth}, memory {params.memory / 1e6:.0f} MB"
    print(f"{params.table}: {params.rows:.0f} x {params.features}, {limits}")
    print(tabulate(table, heads, floatfmt=("", ".1f", ".1f", ".1f", ".0f", ".0f", ".0f", ".2f")))
    report = Report("scale", params.quick)
    first, *others = params.workers
    for name in params.only:
        for workers in others if name in SHARED else ():
            several, single = growth[name, workers], growth[name, first]
            leaves = [best[run]["leaves"] for run in ((name, first), (name, workers)) if run in best]
            assert len(set(leaves)) <= 1, f"{name}: {leaves} leaves by {first} and {workers} workers"
            target = ">= 1.6" if (first, workers) == (1, 2) else None
            ratio = Ratio.of(single, several) if single.values and several.values else "a run failed"
            report.claim(f"growth by {_counted(first)} / by {_counted(workers)}, {name}", target, ratio)
    if params.json:
        measured = {_label(name, workers, params.workers): result for (name, workers), result in best.items()}
        Path(params.json).write_text(json.dumps(measured, indent=1))


def _counted(workers: int) -> str:
    return f"{workers} worker{'s' if workers > 1 else ''}"


def _label(name: str, workers: int, all_workers: list[int]) -> str:
    return name if len(all_workers) == 1 or name not in SHARED else f"{name}, {_counted(workers)}"


if __name__ == "__main__":
    main()
