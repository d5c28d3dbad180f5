"""Files of older layouts, brought to the one of today inside one transaction of the caller.

Layout 2 had no digests, no tokens, no predictions, and told the environment of a session, not of a row. Its rows keep
their keys and numbers. A row gets the environment of its run's sessions if all of these were the same, else one that
says so. Where two rows were at one place, the one that the run's configuration asks for stays, and the other goes to
`displaced`.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from oblique_cli.experiments import digests
from oblique_cli.experiments import environment as environments
from oblique_cli.experiments.store._records import ROWS, TUNINGS, Kind, seal, text
from oblique_cli.experiments.store._schema import INDEXES, TABLES

FROM = (2,)

# The number that layout 2 keeps in the content of a run; keys have it in `digests.FORM`.
_COUNTED = "result_version"


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring the tables of layout 2 to the one of today."""
    assert version in FROM
    old = ("runs", "sessions", "rows", "tunings")
    for table in old:
        db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    db.execute("DROP INDEX rows_by_key")
    for statement in (*TABLES.values(), *INDEXES):
        db.execute(statement)
    contents = {name: _runs(db, name, content, total, created) for name, content, total, created in _old_runs(db)}
    makers = {run: _maker(db, run) for run in contents}
    for kind in (ROWS, TUNINGS):
        for run, content in contents.items():
            _records(db, kind, run, content, makers[run])
    for table in old:
        db.execute(f"DROP TABLE old_{table}")


def _old_runs(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """Runs as they were begun, and those that only rows speak of: steps of studies."""
    begun = db.execute("SELECT name, content, total, created FROM old_runs ORDER BY rowid").fetchall()
    hidden = db.execute("SELECT DISTINCT run FROM old_rows WHERE run NOT IN (SELECT name FROM old_runs)").fetchall()
    return [*begun, *((name, "{}", 0, "") for (name,) in hidden)]


def _runs(db: sqlite3.Connection, name: str, content: str, total: int, created: str) -> dict[str, Any]:
    """Store a run and its sessions; return its content."""
    asked: dict[str, Any] = json.loads(content)
    if asked.get(_COUNTED) == digests.FORM:
        del asked[_COUNTED]
    token = secrets.token_hex(16)
    db.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (name, token, created, seal("runs", name, token, created)))
    query = "SELECT started, argv, environment, presentation FROM old_sessions WHERE run = ? ORDER BY rowid"
    sessions = db.execute(query, (name,)).fetchall() or [(created, "[]", "{}", "{}")]
    for started, argv, environment, presentation in sessions:
        values = [name, started, text(asked), total, argv, environment, presentation, 1, "{}"]
        cursor = db.execute(
            "INSERT INTO sessions VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, seal("sessions", *values))
        )
        db.execute("INSERT INTO leases VALUES (?, ?, ?)", (cursor.lastrowid, started, started))
    return asked


def _maker(db: sqlite3.Connection, run: str) -> str:
    """Return the environment of the rows of a run, stored."""
    query = "SELECT DISTINCT environment FROM old_sessions WHERE run = ? ORDER BY rowid"
    found = [environments.deciding(json.loads(one)) for (one,) in db.execute(query, (run,))]
    same = all(one == found[0] for one in found)
    facts = (
        found[0] if found and same else {"unknown": f"one of {len(found)} environments" if found else "not recorded"}
    )
    id_ = environments.digest(facts)
    db.execute("INSERT OR IGNORE INTO environments VALUES (?, ?)", (id_, text(facts)))
    return id_


def _records(db: sqlite3.Connection, kind: Kind, run: str, content: Mapping[str, Any], maker: str) -> None:
    asked = dict(_asked(kind, content, db, run))
    old = [name for name in kind.columns if name not in ("environment", "predictions")]
    columns = ", ".join(f'"{name}"' for name in old)
    # Of two at one place: the one that was asked for, else a good one, else the later one.
    found = db.execute(f"SELECT {columns}, rowid FROM old_{kind.table} WHERE run = ? ORDER BY rowid", (run,)).fetchall()
    places = [old.index(name) for name in kind.identity]
    key, status = old.index("key"), old.index("status")
    best: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    displaced = []
    for record in found:
        place = tuple(record[i] for i in places)
        if (before := best.get(place)) is not None:
            one, other = ((asked.get(place) == r[key], r[status] == "ok", r[-1]) for r in (before, record))
            displaced.append(before if other > one else record)
            record = record if other > one else before
        best[place] = record
    for record in sorted(best.values(), key=lambda one: one[-1]):
        values = [*record[:-1], maker, *([""] if "predictions" in kind.columns else [])]
        marks = ", ".join("?" * (len(values) + 2))
        db.execute(f"INSERT INTO {kind.table} VALUES ({marks})", (run, *values, seal(kind.table, run, *values)))
    for record in displaced:
        db.execute("INSERT INTO displaced VALUES (?, ?)", (run, text(dict(zip(old, record, strict=False)))))


def _asked(
    kind: Kind, content: Mapping[str, Any], db: sqlite3.Connection, run: str
) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield the places of a run with the keys that its configuration gives them."""
    try:
        bases = {
            (dataset["name"], algorithm["id"]): digests.base(content, dataset["name"], algorithm["id"])
            for dataset in content["datasets"]
            for algorithm in content["algorithms"]
        }
    except (KeyError, TypeError, ValueError):
        return  # steps of a study, or a content from outside: nothing to tell two rows apart by
    columns = ", ".join(f'"{name}"' for name in kind.identity)
    for place in db.execute(f"SELECT DISTINCT {columns} FROM old_{kind.table} WHERE run = ?", (run,)).fetchall():
        base = bases.get(tuple(place[:2]))
        if base is not None:
            yield tuple(place), digests.of_tuning(base) if kind is TUNINGS else digests.of_fold(base, *place[2:])
