"""Published numbers: the tables of the papers as package data, read with the standard library only.

`oblique_cli/papers/published/README.md` describes the files and their conventions. A table is named by a reference,
"source:table", for example "wickramarachchi2015:5.2".
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from oblique_cli.errors import ConfigError
from oblique_cli.ground import extensions
from oblique_cli.ground.registry import close_matches
from oblique_cli.ground.resources import PACKAGE

# In chapter 6 of the thesis, "SVM" means bottom-up trees with support vector machines; elsewhere it is a classifier.
BOTTOM_UP_SVM = frozenset(("wickramarachchi2015", table) for table in ("6.1", "6.2", "6.3"))

# Our titles of methods that stand for a printed one, or have another name.
TITLES = {
    ("amalaman2015", "M5"): "M5-style",
    ("amalaman2015", "Simple CART"): "Axis-parallel",
    ("manwani2012", "CART-LC"): "OC1-LC",
}

CROSS_VALIDATION = "cross-validation"

FOLDER = PACKAGE / extensions.PUBLISHED


@dataclass(frozen=True)
class PublishedTable:
    """Published table.

    level : content of a row: a mean over "repetitions"; a mean over folds, with the SD over the folds of one
    "cross-validation"; or one "class", "repetition" or "fold"
    configurations : the bundled configurations with its settings, separated by spaces; "" for unknown settings
    """

    source: str
    table: str
    file: str
    level: str
    caption: str
    configurations: str
    citation: str

    @property
    def reference(self) -> str:
        return f"{self.source}:{self.table}"

    @property
    def has_means(self) -> bool:
        """Return whether its numbers are means, which can stand beside the means of a run."""
        return self.level in ("repetitions", CROSS_VALIDATION)


@dataclass(frozen=True)
class Published:
    """Printed number. dataset, method : as printed; "SVM and HHBUT" is one number of both methods

    mean, sd : None where not printed; printed : "97.6 ± 0.03" or ""; note : "key=value; key=value | text"
    """

    source: str
    table: str
    dataset: str
    method: str
    protocol: str
    metric: str
    mean: float | None
    sd: float | None
    printed: str
    note: str

    @property
    def qualifiers(self) -> dict[str, str]:
        """Return the key=value pairs of the note, which distinguish rows with equal data set, method and metric."""
        head = self.note.split(" | ")[0]
        return dict(part.split("=", 1) for part in head.split("; ") if "=" in part)

    @property
    def remark(self) -> str:
        """Return the rest of the note with doubts and corrections, or ""."""
        head, _, text = self.note.partition(" | ")
        parts = [part for part in head.split("; ") if part and "=" not in part]
        return "; ".join([*parts, text] if text else parts)

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the names of the method: as printed, and as in our table of algorithms."""
        printed = tuple(self.method.split(" and "))
        if title := TITLES.get((self.source, self.method)):
            return (*printed, title)
        if "SVM" in printed and (self.source, self.table) in BOTTOM_UP_SVM:
            return (*printed, "BUTIF-SVM")
        return printed


def _rows(file: str) -> list[dict[str, str]]:
    with open(FOLDER / file, encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


@cache
def tables() -> dict[str, PublishedTable]:
    """Return every table by reference, in the order of `tables.csv`. Callers must not change the dictionary."""
    citations = {row["source"]: row["citation"] for row in _rows("sources.csv")}
    rows = ({key: value or "" for key, value in row.items()} for row in _rows("tables.csv"))
    all_tables = (PublishedTable(**row, citation=citations[row["source"]]) for row in rows)
    return {table.reference: table for table in all_tables}


def find(reference: str) -> PublishedTable:
    """Return the table named "source:table"; raise ConfigError with close matches if there is none."""
    known = tables()
    if reference not in known:
        hint = close_matches(str(reference), known)
        raise ConfigError(f"unknown published table {reference!r}.{hint} Known: {', '.join(known)}.")
    return known[reference]


def comparable(reference: str) -> PublishedTable:
    """Return a table of means over repetitions; raise ConfigError if it is unknown or has no such means."""
    table = find(reference)
    if not table.has_means:
        usable = ", ".join(name for name, other in tables().items() if other.has_means)
        raise ConfigError(
            f"published table {reference} holds numbers of a single {table.level}, which cannot stand beside means "
            f"over repetitions; tables that can: {usable}."
        )
    return table


@cache
def numbers(source: str, table: str) -> tuple[Published, ...]:
    """Return every number of a table in the order of the file, including blank cells."""
    return tuple(_number(row) for row in _rows(find(f"{source}:{table}").file))


def _number(row: dict[str, str]) -> Published:
    values = {name: float(row[name]) if row[name] else None for name in ("mean", "sd")}
    return Published(**{**row, **values}, printed=" ± ".join(filter(None, (row["mean"], row["sd"]))))  # type: ignore[arg-type]


@cache
def _codes() -> dict[tuple[str, str], tuple[str, str]]:
    return {(row["source"], row["dataset"]): (row["code"], row["note"]) for row in _rows("dataset_codes.csv")}


def dataset_code(source: str, dataset_name: str) -> str | None:
    """Return the code that `source` uses for a data set of our catalogue, None if it does not use the set."""
    return _codes().get((source, dataset_name), (None, ""))[0]


def dataset_note(source: str, dataset_name: str) -> str:
    """Return the difference between the rows of `source` and those of our catalogue, "" if none is known."""
    return _codes().get((source, dataset_name), (None, ""))[1]


def qualifier_values(source: str, table: str, key: str) -> tuple[str, ...]:
    """Return the values of a qualifier in a table, in the order of the file; () if no row has it."""
    qualifiers = (number.qualifiers.get(key) for number in numbers(source, table))
    return tuple(dict.fromkeys(value for value in qualifiers if value is not None))


def unit(table: PublishedTable, dataset_name: str, metric: str) -> float:
    """Return the unit in which a table prints a metric of a data set of our catalogue, in units of our metric."""
    code, where = dataset_code(table.source, dataset_name), (table.source, table.table)
    units = (n.qualifiers.get("unit") for n in numbers(*where) if (n.dataset, n.metric) == (code, metric))
    return float(next(filter(None, units), 1.0))


def prints(table: PublishedTable, dataset_name: str, method_title: str) -> bool:
    """Return whether a table has any number for a data set of our catalogue and a method."""
    code = dataset_code(table.source, dataset_name)
    return any(
        number.dataset == code and method_title in number.methods and number.mean is not None
        for number in numbers(table.source, table.table)
    )


def lookup(
    source: str, table: str, dataset_name: str, method_title: str, metric: str, **qualifiers: str
) -> Published | None:
    """Return the number printed for a data set of our catalogue and a method, None if the table has none.

    The row must have all `qualifiers`, such as sampling="STRS". Raise ConfigError if several rows match.
    """
    code = dataset_code(source, dataset_name)
    fits = [
        number
        for number in numbers(source, table)
        if number.dataset == code
        and method_title in number.methods
        and number.metric == metric
        and qualifiers.items() <= number.qualifiers.items()
    ]
    if len(fits) > 1:
        values: dict[str, set[str]] = {}
        for number in fits:
            for key, value in number.qualifiers.items():
                values.setdefault(key, set()).add(value)
        tell_apart = sorted(key for key, seen in values.items() if len(seen) > 1)
        raise ConfigError(
            f"published table {source}:{table} has {len(fits)} numbers for {metric} of {method_title} on {code}; "
            f"say which by {', '.join(tell_apart)}."
        )
    return fits[0] if fits and fits[0].mean is not None else None
