"""Tables IV to VI of Zhang & Suganthan (2014) in their printed form, of our accuracies; the printed numbers are lost.

A row is a data set, the best of it bold; the last row has the average ranks. What stands below is the form of Tables
VII and VIII: which of two methods is significantly better by the ranks that are compared.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from oblique_cli.papers.reproduction.framework.markdown import table_lines

# Table -> its methods, and their family in the table of ranks.
TABLES = {
    "IV": (("RaF", "MPRaF-T", "MPRaF-P", "MPRaF-N"), "IV-C, RaF"),
    "V": (("RoF", "MPRoF-T", "MPRoF-P", "MPRoF-N"), "Table V, RoF"),
    "VI": (("RRoF", "MPRRoF-T", "MPRRoF-P", "MPRRoF-N"), "IV-C, RRoF"),
}


def block(results: Path, table: str) -> str | None:
    """Return a table as lines of a page, and below it who is significantly better; None if the study was not run."""
    folder = results / "reproduction"
    if not (folder / "mpsvm_accuracies.csv").is_file():
        return None
    methods, family = TABLES[table]
    rows = [
        (row["data set"], *marked([row[method] for method in methods]))
        for row in _rows(folder / "mpsvm_accuracies.csv")
    ]
    ranks = {row["method"]: row["ours"] for row in _rows(folder / "mpsvm_ranks.csv") if row["family"] == family}
    rows.append(("average rank", *(ranks[method] for method in methods)))
    lines = [*table_lines(("data set", *methods), rows)]
    return "\n".join([*lines, "", _significant(folder, methods)]) + "\n"


def marked(cells: list[str]) -> list[str]:
    """Return accuracies with the best in bold, all of them if several are printed alike."""
    best = max(float(cell) for cell in cells)
    return [f"**{cell}**" if float(cell) == best else cell for cell in cells]


def _significant(folder: Path, methods: tuple[str, ...]) -> str:
    """Return the pairs of a table that the Nemenyi test tells apart, of those that the text compares."""
    found = [row for row in _rows(folder / "mpsvm_verdicts.csv") if set(row["pair"].split(" over ")) <= set(methods)]
    if not found:
        return "The text compares no pair of these by a test."
    told = "; ".join(f"{row['pair']}: {row['ours']} ({row['paper']} in the paper)" for row in found)
    return f"Significantly better (Nemenyi): {told}."


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as handle:
        yield from csv.DictReader(handle)
