"""Columns as they are read beside their labels by hand, and how often both agree over the corpus."""

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from oblique_cli.data.dataset import Dataset
from oblique_cli.data.own.front import FEATURES, LEFT_OUT, Columns, Reading, read_own
from oblique_cli.data.own.source import Source
from oblique_cli.errors import ObliqueError
from tables import corpus

STORED = Path(__file__).resolve().parents[2] / "results" / "tables" / "rates.csv"
STAYS = ("measurement", "level")  # labels of columns that must be used


@dataclass(frozen=True)
class Judged:
    """A table as it was read.

    questioned : whether it could not be read before something was said that its cells leave open
    fates : column -> treatment, for the columns that have a label"""

    table: corpus.Table
    dataset: Dataset
    columns: Columns
    questioned: bool
    fates: Mapping[str, str]

    def lost(self) -> list[str]:
        """The measurements and levels that are left out."""
        labels = corpus.labels()[self.table.name]
        return [name for name, fate in self.fates.items() if labels[name] in STAYS and fate not in FEATURES]


@functools.cache
def judged(table: corpus.Table) -> Judged:
    """Read a table with nothing but its target said, and again with what was asked for.

    raises AssertionError if what is asked for is not what nobody could tell"""
    source = Source(table.name, content=corpus.content(table))
    reading = Reading(target=table.target, missing="impute", encoding="onehot")
    questioned = False
    try:
        dataset, columns, _ = read_own(source, reading, "table")
    except ObliqueError as error:
        questioned = True
        options = [f"--qualitative {table.qualitative}", "--task classification or --task regression"]
        assert options[table.task == "ask"] in str(error), error
        task = "regression" if table.task == "ask" else ""
        reading = replace(reading, task=task, qualitative=(table.qualitative,) if table.qualitative else ())
        dataset, columns, _ = read_own(source, reading, "table")
    return Judged(table, dataset, columns, questioned, {column.name: column.treatment for column in columns.columns})


def lines() -> list[tuple[str, ...]]:
    """The lines of results/tables/rates.csv, its heading first, over the tables whose packages are installed."""
    counts: dict[str, Counter[str]] = {label: Counter() for label in corpus.LABELS if label != "target"}
    for table in corpus.installed():
        labels = corpus.labels()[table.name]
        for name, fate in judged(table).fates.items():
            if labels[name] != "target":
                counts[labels[name]][fate if fate in LEFT_OUT else "used"] += 1
    written = [("label", "columns", "used", "left_out", "reasons")]
    for label, of in counts.items():
        used, n = of.pop("used", 0), of.total()
        if used + n:
            reasons = ", ".join(f"{why} {count}" for why, count in sorted(of.items()))
            written.append((label, str(used + n), str(used), str(n), reasons))
    return written
