"""A row or a shared tuning as columns of the file, sealed with a digest; and back, checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from oblique_cli.experiments import environment as environments
from oblique_cli.ground.nouns import Row, Tuning

# Columns that hold JSON.
JSON = {"chosen", "per_class", "inner", "clusters", "measures"}
IN_ORDER = ("clusters", "per_class")  # their classes stand in the order of the codes, which rows of a matrix follow

Record = Row | Tuning


@dataclass(frozen=True)
class Kind:
    """A table of records: their type, and its columns after `run` and before `digest`."""

    table: str
    type: Any
    columns: tuple[str, ...]

    @property
    def sealed(self) -> str:
        """The columns that a digest covers, as SQL."""
        return ", ".join(f'"{name}"' for name in ("run", *self.columns))

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns that say where a record belongs."""
        return ("dataset", "algorithm", "repeat", "fold") if self.type is Row else ("dataset", "algorithm")

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
        text = f"{plain['dataset']}/{plain['algorithm']}"
        if self.type is Row:
            text += f" r{plain['repeat']} f{plain['fold']}"
        else:
            text += " (its parameters)"
        return text.encode("utf-8", "replace").decode()


def _kind(table: str, type_: Any, *besides: str) -> Kind:
    columns = tuple(field.name for field in fields(type_) if field.name not in ("environment", "packed"))
    return Kind(table, type_, (*columns, "environment", *besides))


ROWS = _kind("rows", Row, "predictions")
TUNINGS = _kind("tunings", Tuning)


def seal(table: str, *values: Any) -> str:
    """Return the digest of a record: 32 letters that depend on every bit of `values` and on their types."""
    text = json.dumps([table, *values], default=_bytes)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def is_intact(table: str, record: Sequence[Any]) -> bool:
    """Whether a record, all its columns in their order, is what was stored. Who reads a record asks this.

    The id of an environment is the digest of its facts, and the number of a session is not sealed. Leases and displaced
    records have no digest: they decide no result.
    """
    if table == "environments":
        try:
            return bool(environments.digest(json.loads(record[1])) == record[0])
        except (ValueError, TypeError):
            return False
    first = 1 if table == "sessions" else 0
    return table in ("leases", "displaced") or bool(seal(table, *record[first:-1]) == record[-1])


def _bytes(value: Any) -> str:
    return f"bytes {hashlib.blake2b(value, digest_size=16).hexdigest()}"


def contradiction(row: Row) -> str:
    """Say which of the numbers of a row do not go together, "" if all do."""
    if row.status != "ok" or not row.per_class:
        return ""
    correct, n = (sum(counts[i] for counts in row.per_class.values()) for i in (0, 1))
    if (correct, n) != (row.n_correct, row.n_test):
        return f"{row.n_correct} of {row.n_test} rows are right, and by class {correct} of {n}"
    return ""


def plain(value: Any) -> Any:
    """Return plain data as it comes back from JSON."""
    return json.loads(json.dumps(value))


def text(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(value, sort_keys=True)
