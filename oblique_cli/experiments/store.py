"""Results in one SQLite file, which nothing else reads or writes.

A run is an experiment's name, with what its configuration last said. It may grow: repetitions, data sets and algorithms
may be added, and fewer repetitions asked for, which leaves the others stored and out of sight.

Each finished fold is one row and one transaction, so that a kill at any moment loses at most the folds in hand. Which
folds are done is read from the rows; there is no other record of progress that could disagree with them.

Write-ahead logging with synchronous = NORMAL: the operating system has a commit before the next fold counts, so a
killed process loses nothing that was committed. Only a power cut may lose the last folds, and it never damages the
file. A commit costs about a tenth of a full sync. Several processes may use one file. If two of them run the same
experiment, both work, the row that is stored first stays, and the result is right.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from oblique_cli.errors import ConfigError, StoreError
from oblique_cli.nouns import Job, Row, Tuning

APPLICATION_ID = 0x0B11_0E01  # marks the file as ours, whatever its name
SCHEMA_VERSION = 2

_SCHEMA = """
CREATE TABLE runs (
    name TEXT PRIMARY KEY,
    content TEXT NOT NULL,
    total INTEGER NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE sessions (
    run TEXT NOT NULL,
    started TEXT NOT NULL,
    argv TEXT NOT NULL,
    environment TEXT NOT NULL,
    presentation TEXT NOT NULL
);
CREATE TABLE rows (
    run TEXT NOT NULL,
    key TEXT NOT NULL,
    dataset TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    fold INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('ok', 'failed')),
    message TEXT NOT NULL,
    n_correct INTEGER NOT NULL CHECK (n_correct BETWEEN 0 AND n_test),
    n_test INTEGER NOT NULL,
    n_leaves INTEGER NOT NULL,
    n_nodes INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    tune_seconds REAL NOT NULL,
    fit_seconds REAL NOT NULL,
    predict_seconds REAL NOT NULL,
    chosen TEXT NOT NULL,
    per_class TEXT NOT NULL,
    inner TEXT NOT NULL,
    clusters TEXT NOT NULL,
    measures TEXT NOT NULL,
    PRIMARY KEY (run, key)
);
CREATE INDEX rows_by_key ON rows (key);
CREATE TABLE tunings (
    run TEXT NOT NULL,
    key TEXT NOT NULL,
    dataset TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('ok', 'failed')),
    message TEXT NOT NULL,
    chosen TEXT NOT NULL,
    inner TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (run, key)
);
"""

# Whether a row is of a repetition that its run, as it was last begun, asks for.
_ASKED = """
    repeat < coalesce((SELECT json_extract(content, '$.cv.repeats') FROM runs WHERE name = rows.run), repeat + 1)
"""

_JSON = {"chosen", "per_class", "inner", "clusters", "measures"}
IN_ORDER = ("clusters", "per_class")  # their classes stand in the order of the codes, which rows of a matrix follow


@dataclass(frozen=True)
class Run:
    """One run as the store knows it: how many folds it has, and how many of them are done or failed.

    created       when it was begun, UTC
    argv          the latest command line
    environment   versions and machine of the latest session
    presentation  what decides the looks of its table but no result: title, published tables
    """

    name: str
    content: Mapping[str, Any]
    total: int
    done: int
    failed: int
    created: str
    argv: list[str]
    environment: Mapping[str, Any]
    presentation: Mapping[str, Any]


class Store:
    """The results file at `path`, made with its folder unless `must_exist`.

    wait_seconds   how long to wait for another process that is writing, before StoreError

    Every method raises StoreError if the file is locked, damaged, from a newer version, or cannot be written.
    """

    def __init__(self, path: str | Path, *, must_exist: bool = False, wait_seconds: float = 5.0) -> None:
        self.path = Path(path)
        if must_exist and not self.path.is_file():
            raise StoreError(f"there are no results at {self.path} yet: start with oblique run.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"the results folder {self.path.parent} cannot be made ({reason}).") from error
        with self._errors():
            # isolation_level None: a statement is its own transaction, and BEGIN is written where there are several.
            self._db = sqlite3.connect(self.path, timeout=wait_seconds, isolation_level=None)
        try:
            self._open(wait_seconds)
        except BaseException:
            self._db.close()
            raise

    def _open(self, wait_seconds: float) -> None:
        with self._errors():
            # One query reads all: between two queries, another process that starts on the same new file could make its
            # tables.
            self._db.execute("BEGIN")
            (application,) = self._db.execute("PRAGMA application_id").fetchone()
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            self._db.execute("COMMIT")
            if application != APPLICATION_ID and tables:
                raise StoreError(f"{self.path} is another program's database: give another path for the results.")
            if version > SCHEMA_VERSION:
                raise StoreError(
                    f"{self.path} was written by a newer version of oblique (layout {version}, this one reads "
                    f"{SCHEMA_VERSION}): update oblique, or give another path for the results."
                )
            if tables and version < SCHEMA_VERSION:
                raise StoreError(
                    f"{self.path} was written by an older version of oblique (layout {version}, this one writes "
                    f"{SCHEMA_VERSION}): move it aside, or give another path for the results."
                )
            if not tables:
                self._keep_a_log(wait_seconds)
                with self._transaction():
                    # Two processes may start at once on a new file: the second finds the tables made.
                    if not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                        for statement in _SCHEMA.split(";\n"):
                            self._db.execute(statement)
                        self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                        self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            self._db.execute("PRAGMA synchronous = NORMAL")

    def _keep_a_log(self, wait_seconds: float) -> None:
        """Change to a write-ahead log, for which SQLite itself does not wait while another process holds the file."""
        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ---- a run -------------------------------------------------------------------------------------------------------

    def begin(
        self,
        run: str,
        content: Mapping[str, Any],
        total: int,
        *,
        argv: Sequence[str] = (),
        environment: Mapping[str, Any] | None = None,
        presentation: Mapping[str, Any] | None = None,
        fresh: bool = False,
    ) -> None:
        """Begin, resume or grow `run`, which consists of `total` jobs and is decided by `content`.

        ConfigError, naming what differs, if the run was begun with another content that is no growth (`_is_growth`);
        `fresh` deletes its results first.
        """
        content = json.loads(json.dumps(content))
        with self._errors():
            if (verdict := self._db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise self._damaged(verdict)
            with self._transaction():
                if fresh:
                    self._delete(run)
                self.check(run, content)
                now = datetime.now(UTC).isoformat(timespec="seconds")
                self._db.execute(
                    "INSERT INTO runs VALUES (?, ?, ?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET content = excluded.content, total = excluded.total",
                    (run, _text(content), total, now),
                )
                session = (run, now, _text(list(argv)), _text(dict(environment or {})), _text(dict(presentation or {})))
                self._db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", session)

    def check(self, run: str, content: Mapping[str, Any]) -> None:
        """Raise ConfigError, naming what differs, if `run` was begun with another content that is no growth."""
        with self._errors():
            begun = self._db.execute("SELECT content FROM runs WHERE name = ?", (run,)).fetchone()
            if begun is not None:
                _refuse_changes(run, json.loads(begun[0]), json.loads(json.dumps(content)))

    def delete(self, run: str) -> None:
        """Delete everything about `run`."""
        with self._errors(), self._transaction():
            self._delete(run)

    def _delete(self, run: str) -> None:
        for table, column in (("runs", "name"), ("sessions", "run"), ("rows", "run"), ("tunings", "run")):
            self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (run,))

    def runs(self) -> list[Run]:
        """Return every run, in the order they were begun."""
        query = f"""
            SELECT name, content, total, created,
                   (SELECT count(*) FROM rows WHERE run = name AND status = 'ok' AND {_ASKED}),
                   (SELECT count(*) FROM rows WHERE run = name AND status = 'failed' AND {_ASKED}),
                   (SELECT argv FROM sessions WHERE run = name ORDER BY rowid DESC LIMIT 1),
                   (SELECT environment FROM sessions WHERE run = name ORDER BY rowid DESC LIMIT 1),
                   (SELECT presentation FROM sessions WHERE run = name ORDER BY rowid DESC LIMIT 1)
            FROM runs ORDER BY runs.rowid
        """
        with self._errors():
            return [
                Run(name, json.loads(content), total, done, failed, created, *map(json.loads, latest))
                for name, content, total, created, done, failed, *latest in self._db.execute(query)
            ]

    # ---- rows --------------------------------------------------------------------------------------------------------

    def pending(self, run: str, jobs: Iterable[Job]) -> list[Job]:
        """Return the `jobs` without a good result, in their order; a failed job is still to be done."""
        with self._errors():
            done = {key for (key,) in self._db.execute("SELECT key FROM rows WHERE run = ? AND status = 'ok'", (run,))}
        return [job for job in jobs if job.key not in done]

    def append(self, run: str, row: Row) -> None:
        """Store `row` for good; a good row is never replaced, a failed one by any later row."""
        self._put("rows", run, row)

    def rows(self, run: str) -> list[Row]:
        """Return the rows of `run` by data set, algorithm, repetition and fold, whatever order they finished in.

        Those of repetitions that the run does not ask for any more are left out.
        """
        return self._get("rows", Row, run, "dataset, algorithm, repeat, fold", _ASKED)

    def not_asked_for(self, run: str) -> int:
        """Return how many rows are stored of repetitions that the run does not ask for any more."""
        with self._errors():
            query = f"SELECT count(*) FROM rows WHERE run = ? AND NOT {_ASKED}"
            return int(self._db.execute(query, (run,)).fetchone()[0])

    def adopt(self, run: str, jobs: Iterable[str], tunings: Iterable[str]) -> None:
        """Give `run` the good rows and tunings of these keys that any other run has: equal keys, equal results."""
        with self._errors(), self._transaction():
            for table, kind, keys in (("rows", Row, jobs), ("tunings", Tuning, tunings)):
                columns = ", ".join(f'"{field.name}"' for field in fields(kind))
                self._db.executemany(
                    f"INSERT OR IGNORE INTO {table} (run, {columns}) SELECT ?, {columns} FROM {table} "
                    "WHERE key = ? AND status = 'ok' LIMIT 1",
                    ((run, key) for key in keys),
                )

    def add_tuning(self, run: str, tuning: Tuning) -> None:
        """Store a choice of parameters that all folds of a data set share."""
        self._put("tunings", run, tuning)

    def tunings(self, run: str) -> list[Tuning]:
        """Return the shared choices of parameters of `run`, by data set and algorithm."""
        return self._get("tunings", Tuning, run, "dataset, algorithm")

    def _put(self, table: str, run: str, record: Row | Tuning) -> None:
        names = [field.name for field in fields(record)]
        record_values = ((name, getattr(record, name)) for name in names)
        # Clusters stay in the order of the classes.
        values = [json.dumps(v, sort_keys=n not in IN_ORDER) if n in _JSON else v for n, v in record_values]
        columns = ", ".join(f'"{name}"' for name in names)
        updates = ", ".join(f'"{name}" = excluded."{name}"' for name in names)
        statement = (
            f"INSERT INTO {table} (run, {columns}) VALUES (?{', ?' * len(names)}) "
            f"ON CONFLICT (run, key) DO UPDATE SET {updates} WHERE {table}.status = 'failed'"
        )
        with self._errors():
            self._db.execute(statement, [run, *values])

    def _get(self, table: str, kind: Any, run: str, order: str, where: str = "TRUE") -> list[Any]:
        names = [field.name for field in fields(kind)]
        columns = ", ".join(f'"{name}"' for name in names)
        query = f"SELECT {columns} FROM {table} WHERE run = ? AND {where} ORDER BY {order}"
        with self._errors():
            records = self._db.execute(query, (run,)).fetchall()
            return [
                kind(*(json.loads(v) if name in _JSON else v for name, v in zip(names, record, strict=True)))
                for record in records
            ]

    # ---- errors ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # a full disk has rolled back already
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what SQLite raises into one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest its details
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                message = f"{self.path} is in use by another process: wait until it is done, then try again."
            elif code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise self._damaged(str(error)) from error
            elif code == sqlite3.SQLITE_FULL:
                message = f"{self.path} cannot grow, the disk is full: make room, then run the same command again."
            else:
                message = f"{self.path} cannot be used ({error}): check the path and its permissions."
            raise StoreError(message) from error
        except json.JSONDecodeError as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, reason: str) -> StoreError:
        return StoreError(f"{self.path} is damaged ({reason}): move it aside and run again, or bring back a copy.")


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# ---- changed configurations ------------------------------------------------------------------------------------------


def _refuse_changes(run: str, before: Any, now: Any) -> None:
    """Raise ConfigError if a run's content is no growth of what it was begun with, naming the first differences."""
    changes = list(_differences(before, now))
    if changes and not _is_growth(before, now):
        more = f" and {len(changes) - 4} more" if len(changes) > 4 else ""
        raise ConfigError(
            f"the configuration changed since run {run!r} began: {', '.join(changes[:4])}{more}: use --fresh to start "
            "over, or another name to keep both (--set name=...)."
        )


def _is_growth(before: Any, now: Any) -> bool:
    """Whether every stored fold that `now` asks for is still the fold it was, since keys of jobs leave the rest out.

    That is so if repetitions differ, or data sets and algorithms were added.
    """
    before, now = (json.loads(json.dumps(content)) for content in (before, now))
    for content in (before, now):
        if isinstance(content.get("cv"), dict):
            content["cv"].pop("repeats", None)
    for key in ("datasets", "algorithms", "data"):
        old, new = _by_name(before.get(key)), _by_name(now.get(key))
        if isinstance(old, dict) and isinstance(new, dict):
            before[key], now[key] = old, {name: thing for name, thing in new.items() if name in old}
    return bool(before == now)


def _differences(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield "cv.repeats 10 -> 5" for each leaf that differs; lists of mappings are addressed by `id` or `name`."""
    before, now = _by_name(before), _by_name(now)
    if isinstance(before, dict) and isinstance(now, dict):
        for key in [*before, *(key for key in now if key not in before)]:
            where = f"{path}.{key}" if path else key
            if key not in now:
                yield f"{where} {_short(before[key])} -> (none)"
            elif key not in before:
                yield f"{where} (none) -> {_short(now[key])}"
            else:
                yield from _differences(before[key], now[key], where)
    elif before != now:
        yield f"{path} {_short(before)} -> {_short(now)}"


def _by_name(value: Any) -> Any:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return {item.get("id", item["name"]): item for item in value}
    return value


def _short(value: Any) -> str:
    """A value as a reader of an error message wants it: mappings, long lists and digests cut."""
    if isinstance(value, dict):
        return "{...}"
    if isinstance(value, list) and len(value) > 4:
        return f"[{json.dumps(value[0])}, ..., {json.dumps(value[-1])}] ({len(value)} values)"
    if isinstance(value, str) and len(value) > 40:
        return f"{value[:8]}..."
    return json.dumps(value)
