"""How often the warning of rows that belong together fires, over the corpus and the data sets of the catalogue.

`python -m tables.repeats` (with tests/ on the path) writes results/tables/repeats.csv, one line a table.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas

from oblique_cli.data import catalogue
from oblique_cli.data.own.repeats import repeats_of
from oblique_cli.errors import ObliqueError
from oblique_cli.ground.nouns import DatasetSpec
from tables import corpus, judging

STORED = Path(__file__).resolve().parents[2] / "results" / "tables" / "repeats.csv"
MOST_ROWS = 20_000  # of a data set of the catalogue


class Line(NamedTuple):
    """What the warning says of a table. named : a column, "copies" or ""; label : of the column by hand"""

    source: str
    table: str
    rows: int
    named: str
    label: str


def line_of(table: corpus.Table) -> Line:
    """The line of a table of the corpus."""
    dataset = judging.judged(table).dataset
    named = _named(dataset.repeats)
    return Line("corpus", table.name, dataset.n, named, corpus.labels()[table.name].get(named, ""))


def of_catalogue() -> Iterator[Line]:
    """The lines of the data sets that are here."""
    for name in catalogue.names():
        if catalogue.entry(name).generated:
            continue
        try:
            dataset = catalogue.load(DatasetSpec(name, missing="impute", encoding="onehot"), offline=True)
        except ObliqueError:
            continue
        if dataset.n > MOST_ROWS:
            continue
        cells = {item: [f"{v:.17g}" for v in dataset.X[:, j]] for j, item in enumerate(dataset.feature_names)}
        y = np.asarray(dataset.y)
        result = repeats_of(cells, dataset.X, dataset.feature_names, dataset.qualitative, y)
        yield Line("catalogue", name, dataset.n, _named(result), "")


def _named(repeats: tuple[str, ...]) -> str:
    if not repeats:
        return ""
    match = re.match(r"column '(.*)' has", repeats[0])
    return match[1] if match else "copies"


def stored() -> list[Line]:
    """The lines of the stored result."""
    return [Line(**row) for row in pandas.read_csv(STORED, keep_default_na=False).to_dict("records")]


if __name__ == "__main__":
    with open(STORED, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(Line._fields)
        for group in (map(line_of, corpus.installed()), of_catalogue()):
            writer.writerows(group)
