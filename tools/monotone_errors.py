"""Errors with and without an order of the answers, in results/monotone.csv.

`python -m tools.monotone_errors RUN.json` stores a run of `python -m benchmarks monotone --json RUN.json`.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "results" / "monotone.csv"
NAME = "monotone"
FIELDS = ("table", "model", "free", "in order")


def rows_of(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the errors of a run. run : what `--json` saved; ValueError for a run of tiny sizes"""
    (numbers,) = (one for one in run["benchmarks"] if one["name"] == NAME)
    if numbers["quick"]:
        raise ValueError("a run with --quick measures nothing; leave it out")
    (found,) = numbers["tables"].values()
    return [{field: one[field] for field in FIELDS} for one in found]


def stored() -> list[dict[str, str]]:
    """Return the errors that are kept."""
    with STORED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main(run: str) -> None:
    """Store a run. run : its file"""
    rows = rows_of(json.loads(Path(run).read_text(encoding="utf-8")))
    with STORED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
