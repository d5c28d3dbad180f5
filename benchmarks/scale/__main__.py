"""One tree of a made-up table from the disk, beside memory and beside other libraries: `python -m benchmarks.scale`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from tabulate import tabulate

from benchmarks.scale.contestant import CONTESTANTS
from benchmarks.scale.data import FLIGHTS, MADE, TABLES, write, write_real

USUAL = ("HHCART(D) from disk", "HHCART(D) in memory", "scikit-learn", "LightGBM", "XGBoost, external memory")

REAL = (
    *("HHCART(D) from disk", "HHCART(D) in memory", "HHCART(A) from disk", "HHCART(A) in memory"),
    *("axis-parallel from disk", "axis-parallel in memory", "scikit-learn"),
)
OF_TWO_CLASSES = ("LightGBM", "XGBoost, external memory")


def main() -> None:
    """Write the table, run each contestant in a process of its own, and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=TABLES, default=MADE, help="made up, or real rows, repeated where few")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--memory", type=float, default=1e9, help="bytes, for those that keep to it")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=CONTESTANTS, default=None)
    parser.add_argument("--scratch", default=None, help="folder; a temporary one by default")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument("--json", default=None)
    asked = parser.parse_args()
    if asked.quick:
        asked.rows, asked.features, asked.depth = 20_000, 4, 3
    if asked.table != MADE:
        # LightGBM and XGBoost grow a tree for each of several classes, which is no single tree.
        asked.only = asked.only or (*REAL, *(OF_TWO_CLASSES if asked.table == FLIGHTS else ()))
    asked.only = asked.only or USUAL
    table, measured = [], {}
    with tempfile.TemporaryDirectory(dir=asked.scratch, prefix="oblique-scale-") as folder:
        path = Path(folder) / "table.parquet"
        if asked.table == MADE:
            write(path, int(asked.rows), asked.features)
        else:
            asked.rows = write_real(path, asked.table)
            asked.features = pq.read_metadata(path).num_columns - 1
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        for name in asked.only:
            arguments = [name, str(path), asked.depth, int(asked.memory), asked.workers, folder, 50_000, asked.features]
            arguments.append(asked.table)
            command = [sys.executable, "-m", "benchmarks.scale.contestant", *map(str, arguments)]
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **one})
            if done.returncode:
                said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
                print(f"{name}: {said[-1]}", file=sys.stderr)
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            measured[name] = found
            grow = found.get("grow", found["seconds"])
            table.append(
                [
                    name,
                    found["seconds"],
                    found["cpu"],
                    grow,
                    asked.rows / grow,
                    found.get("bytes_read", 0) / 1e6,
                    found["peak"] / 1e6,
                    100 * found["right"],
                ]
            )
            for level in found.get("levels", ()):
                print(f"{name}: {level}", file=sys.stderr)
    heads = ["", "s", "CPU s", "growth s", "rows/s", "MB read", "peak MB", "% right"]
    print(
        f"{asked.table}: {asked.rows:.0f} x {asked.features}, depth {asked.depth}, memory {asked.memory / 1e6:.0f} MB"
    )
    print(tabulate(table, heads, floatfmt=("", ".1f", ".1f", ".1f", ".0f", ".0f", ".0f", ".2f")))
    if asked.json:
        Path(asked.json).write_text(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
