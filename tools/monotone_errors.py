"""The table of docs/monotone.md: errors with and without an order, as results/monotone.csv keeps them.

`python -m tools.monotone_errors RUN.json` keeps a run of `python -m benchmarks monotone --json RUN.json` and fills in
the page; without a file it fills in the page alone.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.monotone import ORDERS
from tools.small_trees import filled

ROOT = Path(__file__).resolve().parent.parent
STORED, PAGE = ROOT / "results" / "monotone.csv", ROOT / "docs" / "monotone.md"
NAME = "monotone"
FIELDS = ("table", "model", "free", "in order")
DIGITS = {"pima": 1}  # percents; else two, of mean absolute errors


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


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table: the columns with an order once a data set, then model, error without, error with."""
    lines, above = ["| table, columns with an order | model | without | with |", "| --- | --- | --- | --- |"], ""
    for one in rows:
        name, digits = one["table"], DIGITS.get(one["table"], 2)
        first = f"{name}: {', '.join(ORDERS[name])}" if name != above else ""
        free, held = (f"{float(one[field]):.{digits}f}" for field in FIELDS[2:])
        lines.append(f"| {first} | {one['model']} | {free} | {held} |")
        above = name
    return "\n".join(lines)


def main(runs: Sequence[str]) -> None:
    """Keep a run and fill in the page."""
    for run in runs:
        with STORED.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows_of(json.loads(Path(run).read_text(encoding="utf-8"))))
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), {NAME: table(stored())}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
