"""Conversion of rows and shared tunings to columns of the file, with a digest, and back, with a check."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from oblique_cli.experiments import environment as environments
from oblique_cli.ground.nouns import Row, Tuning

# Columns that hold JSON.
JSON = {"chosen", "per_class", "inner", "clusters", "measures"}
IN_ORDER = ("clusters", "per_class")  # in the order of the class codes, as rows of a matrix

Record = Row | Tuning


@dataclass(frozen=True)
class Kind:
    """Table of records: their type, its columns after `run` and before `digest`, and those that identify the fold.

    at_place   the SQL condition for a record of a run at a place"""

    table: str
    type: Any
    place: tuple[str, ...]
    columns: tuple[str, ...]
    at_place: str

    def values(self, record: Record, environment: str, predictions: str = "") -> list[Any]:
        """Return the columns of `record`."""
        besides = {"environment": environment, "predictions": predictions}
        columns = []
        for name in self.columns:
            value = besides[name] if name in besides else getattr(record, name)
            columns.append(json.dumps(value, sort_keys=name not in IN_ORDER) if name in JSON else value)
        return columns

    def record(self, values: Sequence[Any]) -> Record:
        """Return the record of these columns."""
        return self.records([values])[0]

    def records(self, rows: Sequence[Sequence[Any]]) -> list[Record]:
        """Return the record of each of `rows`, decoded by column: equal texts of a column give one shared object."""
        columns = dict(zip(self.columns, zip(*rows, strict=True), strict=True)) if rows else {}
        columns.pop("predictions", None)
        for name in JSON & columns.keys():
            texts = dict.fromkeys(columns[name])
            decoded = dict(zip(texts, json.loads(f"[{','.join(texts)}]"), strict=True))
            columns[name] = tuple(map(decoded.__getitem__, columns[name]))
        return [self.type(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]

    def name(self, values: Sequence[Any]) -> str:
        """Return the name of a record for messages: "bupa/gdt r1 f2"."""
        plain = dict(zip(self.columns, values, strict=True))
        end = f" r{plain['repeat']} f{plain['fold']}" if self.type is Row else " (its parameters)"
        return f"{plain['dataset']}/{plain['algorithm']}{end}".encode("utf-8", "replace").decode()


def _kind(table: str, type_: Any, place: tuple[str, ...], *besides: str) -> Kind:
    columns = tuple(field.name for field in fields(type_) if field.name not in ("environment", "packed"))
    at_place = " AND ".join(f'"{name}" = ?' for name in ("run", *place))
    return Kind(table, type_, place, (*columns, "environment", *besides), at_place)


ROWS = _kind("rows", Row, ("dataset", "algorithm", "repeat", "fold"), "predictions")
TUNINGS = _kind("tunings", Tuning, ("dataset", "algorithm"))


def seal(table: str, *values: Any) -> str:
    """Return the digest of a record: 32 letters that depend on every bit of `values` and on their types."""
    return _digest(_SEALED.encode([table, *values]).encode())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


_SEALED = json.JSONEncoder(default=lambda value: f"bytes {_digest(value)}")


def is_intact(table: str, record: Sequence[Any]) -> bool:
    """Return whether a record with all its columns in order is intact. Every reader of a record calls this.

    The id of an environment is its digest. Leases have none: they affect no result."""
    if table == "environments":
        try:
            return bool(environments.digest(json.loads(record[1])) == record[0])
        except (ValueError, TypeError):
            return False
    first = 1 if table == "sessions" else 0
    return table == "leases" or bool(seal(table, *record[first:-1]) == record[-1])


def contradiction(record: Record) -> bool:
    """Return whether the numbers of a row contradict each other."""
    if not isinstance(record, Row) or record.status != "ok" or not record.per_class:
        return False
    return tuple(map(sum, zip(*record.per_class.values(), strict=True))) != (record.n_correct, record.n_test)


def same_answer(a: Any, b: Any) -> bool:
    """Return whether two records of one job are equal, apart from times and from metrics that only one of them has."""
    times = {name: getattr(a, name) for name in a.__dataclass_fields__ if name.endswith("seconds")}
    if isinstance(a, Tuning):
        return bool(a == replace(b, **times))
    shared = all(b.measures.get(name, value) == value for name, value in a.measures.items())
    return shared and bool(a == replace(b, **times, measures=a.measures))


def text(value: Any) -> str:
    """Return plain data as the JSON for storage."""
    return json.dumps(value, sort_keys=True)
