"""SQLite file: opening, transactions, and SQLite's errors as sentences."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from oblique_cli.errors import ConfigError, StoreError
from oblique_cli.experiments.store._schema import APPLICATION_ID, LAYOUT, SCHEMA_VERSION

LONGEST = 500  # bytes of a path: SQLite's limit of 512 includes the suffix of the log file
# SQLite's errors where it cannot create the two files of a write-ahead log.
_CANNOT_WRITE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_CONSTRAINT)
_BUSY = "is in use by another process: wait until it is done, then try again."
_FAULTS = {
    sqlite3.SQLITE_NOTADB: "is damaged ({error}): move it aside and run again, or bring back a copy.",
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full: make room, then run the same command again.",
    sqlite3.SQLITE_IOERR: "cannot be read or written ({error}): is the disk full, or a limit on file sizes?",
}


@dataclass(frozen=True)
class Damage:
    """Damaged record: its run, table and key, and its name in messages."""

    run: str
    table: str
    key: str
    name: str


class Database:
    """Results file at `path`, created with its folder unless `must_exist`. wait_seconds : for another writer"""

    def __init__(self, path: Path, must_exist: bool, wait_seconds: float) -> None:
        self.path = path
        self.read_only = False
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._gone: StoreError | None = None
        self._writes = 0  # transactions of this process
        if (size := len(os.fsencode(path.absolute()))) > LONGEST:
            raise ConfigError(
                f"the path of the results has {size} bytes, and SQLite takes {LONGEST}: give a shorter folder with "
                "--results."
            )
        if must_exist and not path.is_file():
            raise missing(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"the results folder {path.parent} cannot be made ({reason}).") from error
        with self.errors():
            self._connect(str(path), wait_seconds)
        self._identity = _identity(path)
        try:
            with self.errors():
                try:
                    self._open(wait_seconds)
                except sqlite3.Error as error:
                    if not must_exist or _kind(error) not in _CANNOT_WRITE:
                        raise
                    self._db.close()
                    self._open_as_it_is()
        except BaseException:
            self.close()
            raise

    def _connect(self, name: str, wait_seconds: float = 5.0, uri: bool = False) -> None:
        # isolation_level None: each statement is a transaction, and BEGIN starts a transaction of several statements.
        self._db = sqlite3.connect(name, timeout=wait_seconds, isolation_level=None, uri=uri)
        # A flipped bit can leave invalid text. Such bytes are decoded to a value with another digest.
        self._db.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")

    def _open(self, wait_seconds: float) -> None:
        # Read everything in one transaction: between two queries, another process that starts on the same new file
        # could create its tables.
        with self.transaction("DEFERRED"):
            tables = self._tables()
        if not tables:
            self._keep_a_log(wait_seconds)
            with self.transaction():
                # Two processes may start at once on a new file: the second finds the existing tables.
                if not self.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    for statement in LAYOUT:
                        self.execute(statement)
        self.execute("PRAGMA synchronous = NORMAL")

    def _tables(self) -> int:
        """Return the number of tables in the file. Raise StoreError for an unusable layout."""
        (application,) = self.execute("PRAGMA application_id").fetchone()
        (version,) = self.execute("PRAGMA user_version").fetchone()
        (tables,) = self.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != APPLICATION_ID and tables:
            raise StoreError(f"{self.path} is another program's database: give another path for the results.")
        if version > SCHEMA_VERSION or (tables and version < SCHEMA_VERSION):
            newer = version > SCHEMA_VERSION
            age, verb, remedy = (
                ("a newer", "reads", "update oblique") if newer else ("an older", "writes", "move it aside")
            )
            raise StoreError(
                f"{self.path} was written by {age} version of oblique (layout {version}, this one {verb} "
                f"{SCHEMA_VERSION}): {remedy}, or give another path for the results."
            )
        return int(tables)

    def _open_as_it_is(self) -> None:
        """Open a read-only file. If a log beside it has folds, read both from a copy."""
        log = self.path.with_name(self.path.name + "-wal")
        if log.is_file() and log.stat().st_size:
            self._folder = tempfile.TemporaryDirectory(prefix="oblique-results-")
            source = Path(self._folder.name, self.path.name)
            for file in (self.path, log):
                shutil.copyfile(file, source.with_name(file.name))
            self._connect(str(source))
        else:
            self._connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        if not self._tables():
            raise missing(self.path)
        self.read_only = True

    def _keep_a_log(self, wait_seconds: float) -> None:
        """Switch to a write-ahead log; SQLite's timeout does not cover this switch while another process has a lock."""
        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                self.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def close(self) -> None:
        """Close the file."""
        self._db.close()
        if self._folder is not None:
            self._folder.cleanup()

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> sqlite3.Cursor:
        return self._db.execute(statement, values)

    def state(self) -> tuple[int, int]:
        """Return numbers that change with each transaction that writes, of this and of other processes."""
        return self._writes, int(self.execute("PRAGMA data_version").fetchone()[0])

    def check_pages(self) -> None:
        """Raise StoreError if the structure of the file is damaged. Digests check the values."""
        with self.errors():
            for (verdict,) in self.execute("PRAGMA integrity_check"):
                if verdict != "ok" and not verdict.startswith(("CHECK constraint failed", "NULL value")):
                    raise self.damaged(verdict)

    # ---- transactions and errors -------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        """Return a context for a transaction that is committed as a whole or not at all; DEFERRED for reads."""
        if kind == "IMMEDIATE" and self.read_only:
            raise StoreError(f"{self.path} cannot be written: copy it, or give another folder with --results.")
        self._writes += kind == "IMMEDIATE"
        self.execute(f"BEGIN {kind}")
        try:
            yield
            self.execute("COMMIT")
            self._check_place()
        except BaseException:
            if self._db.in_transaction:  # a full disk has already caused a rollback
                self.execute("ROLLBACK")
            raise

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Convert SQLite's exceptions to one sentence."""
        try:
            yield
        except (json.JSONDecodeError, UnicodeError) as error:
            raise self.damaged(str(error)) from error
        except sqlite3.Error as error:
            code = _kind(error)
            # No code: an error of the sqlite3 module. "no such": a renamed table or column.
            is_renamed = code == sqlite3.SQLITE_ERROR and "no such" in str(error)
            if not code or is_renamed or code in _DAMAGED:
                raise self.damaged(str(error)) from error
            fault = _FAULTS.get(code, "cannot be used ({error}): check the path and its permissions.")
            raise StoreError(f"{self.path} {fault.format(error=error)}") from error

    def _check_place(self) -> None:
        """Raise StoreError if the open file was removed or replaced, after saving its content to a new file.

        The system keeps a removed or replaced file for a process that has it open, without any notice."""
        if self._gone is not None:
            raise self._gone
        now = _identity(self.path)
        if self.read_only or now == self._identity:
            return
        what = "removed" if now is None else "replaced by another file"
        path = free_name(self.path, "kept")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path)) as copy:
                self._db.backup(copy)
            advice = (
                f"what it held, all folds up to now, is in {path}: "
                + (f"rename that to {self.path.name}" if now is None else "oblique merge RUN takes folds from there")
                + ", then give the same command again."
            )
        except (OSError, sqlite3.Error) as error:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            advice = f"what it held is lost, because {path} cannot be written ({error}). Give the same command again."
        self._gone = StoreError(f"{self.path} was {what} while this process was using it; {advice}")
        raise self._gone

    def damaged(self, reason: str) -> StoreError:
        """Return the error for a damaged file."""
        # SQLite's reason may contain lines of the damaged file.
        line = "".join(sign if sign.isprintable() else " " for sign in reason.partition("\n")[0])[:150]
        return StoreError(
            f"{self.path} is damaged ({line}): save what can be read with oblique repair, or bring back a copy."
        )


def missing(path: Path) -> StoreError:
    """Return the error for a path without a results file."""
    return StoreError(f"there are no results at {path} yet: start with oblique run.")


def free_name(path: Path, ending: str) -> Path:
    """Return the path of a new file beside `path`: oblique.sqlite.ENDING, with a number if that exists."""
    beside = path.with_name(f"{path.name}.{ending}")
    count = 1
    while beside.exists():
        count += 1
        beside = path.with_name(f"{path.name}.{ending}{count}")
    return beside


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file at a path, None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _kind(error: sqlite3.Error) -> int:
    """Return the kind of an error: the low byte of its code without the details; 0 for errors of the sqlite3 module."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
