"""Stored runs as plain tables with one line per record: folds, choices inside folds, predictions.

A table has columns and batches of lines, so that a large table is never held in memory as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, BinaryIO

from oblique_cli.data.csv_text import csv_text, escaped
from oblique_cli.data.parquet import ParquetWriter
from oblique_cli.experiments.environment import facts
from oblique_cli.experiments.rescoring import stored
from oblique_cli.experiments.store import Run, Store
from oblique_cli.ground.nouns import Row, Tuning

Line = Sequence[Any]


@dataclass(frozen=True)
class Table:
    """columns: name -> type of its cells (str, int, float, bool), each of which may be None. batches: lines of cells"""

    columns: dict[str, type]
    batches: Iterable[list[Line]]


# ---- tables ----------------------------------------------------------------------------------------------------------

_PLACE = {"run": str, "dataset": str, "algorithm": str, "repeat": int, "fold": int}
METRIC_OF = {"n_leaves": "leaves", "n_nodes": "nodes"}  # stored sizes -> names of their metrics, which columns have


def folds(store: Store, run: Run) -> Table:
    """Return every stored fold: its numbers, chosen parameters, metrics and environment."""
    rows = store.rows(run.name)
    known = {id_: facts(environment) for id_, environment in store.environments(run.name).items()}
    types = {"int": int, "float": float, "str": str}
    plain = {f.name: types[str(f.type)] for f in fields(Row) if f.type in types and f.name not in (*_PLACE, "key")}
    columns = {**_PLACE, **{METRIC_OF.get(name, name): kind for name, kind in plain.items()}, "accuracy": float}
    extra = {
        f"{group}.{name}": (group, name)
        for group in ("chosen", "measures")
        for name in dict.fromkeys(name for row in rows for name in getattr(row, group))
    }
    machine = list(dict.fromkeys(name for environment_facts in known.values() for name in environment_facts))
    columns |= {
        column: _type_of([getattr(row, group).get(name) for row in rows]) for column, (group, name) in extra.items()
    }
    columns |= {f"made_by.{name}": str for name in machine}

    lines: list[Line] = [
        (
            run.name,
            *(getattr(row, name) for name in list(_PLACE)[1:]),
            *(getattr(row, name) for name in plain),
            row.n_correct / row.n_test if row.n_test and row.per_class else None,
            *(_cell(getattr(row, group).get(name), columns[c]) for c, (group, name) in extra.items()),
            *(known[row.environment].get(name) for name in machine),
        )
        for row in rows
    ]
    return Table(columns, [lines])


def choices(store: Store, run: Run) -> Table:
    """Return every candidate of every choice of parameters, with its inner folds' results and whether it was chosen.

    fold and repeat are empty for a shared choice. A parameter named like another column is "params.NAME"."""
    made: list[Row | Tuning] = [row for row in store.rows(run.name) if row.inner]
    made += [tuning for tuning in store.tunings(run.name) if tuning.inner]
    candidates = [line for choice in made for line in choice.inner]
    names = list(dict.fromkeys(name for line in candidates for name in line["params"]))
    numbers = list(dict.fromkeys(name for line in candidates for name in line if name != "params"))
    columns: dict[str, type] = {**_PLACE, "was_chosen": bool}
    titles = {name: METRIC_OF.get(name, name) for name in numbers}
    # A class of any library may have a parameter with the name of a column.
    taken = (*columns, *titles.values())
    column_of = {name: f"params.{name}" if name in taken else name for name in names}
    columns |= {column_of[name]: _type_of([line["params"].get(name) for line in candidates]) for name in names}
    columns |= {title: _type_of([line.get(name) for line in candidates]) for name, title in titles.items()}

    lines: list[Line] = [
        (
            run.name,
            *(getattr(choice, name, None) for name in list(_PLACE)[1:]),
            all(choice.chosen.get(name) == value for name, value in line["params"].items()),
            *(_cell(line["params"].get(name), columns[column_of[name]]) for name in names),
            *(line.get(name) for name in numbers),
        )
        for choice in made
        for line in choice.inner
    ]
    return Table(columns, [lines])


def predictions(store: Store, run: Run, wanted: Callable[[Row], bool] = lambda row: True) -> Table:
    """Return the predictions of every fold, row by row: truth, prediction and stored probabilities."""
    rows = [row for row in store.rows(run.name) if wanted(row)]
    firsts = {row.dataset: row for row in reversed(rows) if row.status == "ok"}  # of each data set, the first good row
    in_order = [firsts[name] for name in dict.fromkeys(row.dataset for row in rows) if name in firsts]
    first = {row.dataset: (labels, predictions) for row, predictions, labels in stored(store, run, in_order)}
    regression = any(not labels.classes for labels, _ in first.values())
    kind: type = float if regression else str
    shares = list(
        dict.fromkeys(
            name
            for labels, predictions in first.values()
            if run.experiment.keep == "probabilities" or predictions.probabilities is not None
            for name in labels.classes
        )
    )
    columns = {**_PLACE, "row": int, "actual": kind, "predicted": kind, **{f"p({name})": float for name in shares}}

    def batches() -> Iterator[list[Line]]:
        for row, predictions, labels in stored(store, run, rows):
            place = (run.name, row.dataset, row.algorithm, row.repeat, row.fold)
            actual, predicted = labels.y[predictions.rows].tolist(), predictions.predicted.tolist()
            if labels.classes:
                actual, predicted = ([labels.classes[code] for code in codes] for codes in (actual, predicted))
            absent: list[None] = [None] * len(predictions.rows)
            probabilities = {}
            if predictions.probabilities is not None:
                probabilities = dict(zip(labels.classes, predictions.probabilities.T.tolist(), strict=True))
            cells = [probabilities.get(name, absent) for name in shares]
            yield [
                (*place, *line) for line in zip(predictions.rows.tolist(), actual, predicted, *cells, strict=True)
            ]  # one fold in memory at a time

    return Table(columns, batches())


def _type_of(values: Sequence[Any]) -> type:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        return int
    return float if kinds <= {int, float} else str


def _cell(value: Any, kind: type) -> Any:
    """Return a value as a cell of a column; in a column of texts other values become JSON."""
    if value is None or kind is not str or isinstance(value, str):
        return value
    return json.dumps(value)


# ---- formats ---------------------------------------------------------------------------------------------------------


def escaped_table(table: Table) -> Table:
    """Return a table in which no text can be read as a formula by a spreadsheet."""
    batches: Iterable[list[Line]] = ([list(map(escaped, line)) for line in batch] for batch in table.batches)
    return Table({escaped(name): kind for name, kind in table.columns.items()}, batches)


def as_csv(table: Table) -> Iterator[str]:
    """Yield a table as CSV, part by part; numbers in full precision, an empty cell for None."""
    yield csv_text([table.columns])
    for batch in table.batches:
        yield csv_text(batch)


def as_json(table: Table) -> Iterator[str]:
    """Yield a table as a JSON list with one object per line."""
    yield "["
    before = "\n"
    for batch in table.batches:
        for line in batch:
            yield before + json.dumps(dict(zip(table.columns, line, strict=True)))
            before = ",\n"
    yield "\n]\n"


def write_parquet(table: Table, stream: BinaryIO) -> None:
    """Write a table as Parquet. Raise ConfigError without pyarrow."""
    with ParquetWriter(stream, table.columns) as writer:
        for batch in table.batches:
            writer.add(list(zip(*batch, strict=True)) if batch else [()] * len(table.columns))


FORMATS = {"csv": as_csv, "json": as_json}
