"""A row or a shared tuning as columns of the file, sealed with a digest; and back, checked."""

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
IN_ORDER = ("clusters", "per_class")  # their classes stand in the order of the codes, which rows of a matrix follow

Record = Row | Tuning


@dataclass(frozen=True)
class Kind:
    """A table of records: their type, its columns after `run` and before `digest`, and those that give the place.

    at_place   the condition that a record of a run has a place
    """

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
        plain = dict(zip(self.columns, values, strict=True))
        plain.pop("predictions", None)
        made: Record = self.type(**{name: json.loads(v) if name in JSON else v for name, v in plain.items()})
        return made

    def name(self, values: Sequence[Any]) -> str:
        """Return what to call a record: "bupa/gdt r1 f2"."""
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
    text = json.dumps([table, *values], default=lambda value: f"bytes {_digest(value)}")
    return _digest(text.encode())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def is_intact(table: str, record: Sequence[Any]) -> bool:
    """Whether a record, all its columns in their order, is what was stored. Who reads a record asks this.

    The id of an environment is its digest. Leases and displaced records have none: they decide no result.
    """
    if table == "environments":
        try:
            return bool(environments.digest(json.loads(record[1])) == record[0])
        except (ValueError, TypeError):
            return False
    first = 1 if table == "sessions" else 0
    return table in ("leases", "displaced") or bool(seal(table, *record[first:-1]) == record[-1])


def contradiction(record: Record) -> bool:
    """Whether the numbers of a row do not go together."""
    if not isinstance(record, Row) or record.status != "ok" or not record.per_class:
        return False
    correct, n = (sum(counts[i] for counts in record.per_class.values()) for i in (0, 1))
    return (correct, n) != (record.n_correct, record.n_test)


def same_answer(a: Any, b: Any) -> bool:
    """Whether two records of one job are equal, apart from times and from metrics that only one of them has."""
    times = {name: getattr(a, name) for name in a.__dataclass_fields__ if name.endswith("seconds")}
    if isinstance(a, Tuning):
        return bool(a == replace(b, **times))
    shared = all(b.measures.get(name, value) == value for name, value in a.measures.items())
    return shared and bool(a == replace(b, **times, measures=a.measures))


def text(value: Any) -> str:
    """Return plain data as the JSON that is stored."""
    return json.dumps(value, sort_keys=True)
