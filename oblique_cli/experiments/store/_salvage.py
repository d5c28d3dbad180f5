"""What can be read of a results file whose own structure is damaged, in a new file of its own."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from oblique_cli.errors import StoreError
from oblique_cli.experiments.store._schema import APPLICATION_ID, INDEXES, SCHEMA_VERSION, TABLES

_LAST = 2**62


def is_sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with the structure of a file. StoreError if there is no file."""
    if not path.is_file():
        raise StoreError(f"there are no results at {path} yet: start with oblique run.")
    try:
        with closing(sqlite3.connect(path)) as db:
            return bool(db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError as error:
        # Locked or out of reach is another matter, which `Store` speaks of.
        return getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def salvage(path: Path) -> tuple[int, Path]:
    """Put a new file with all records that can be read in the place of `path`; return how many, and the old file.

    Whether a record is what was stored is not asked here: its digest comes with it. StoreError if nothing can be read.
    """
    saved = path.with_name(f"{path.name}.saved")
    _remove(saved)
    try:
        n = _copied(path, saved)
    except BaseException:
        _remove(saved)
        raise
    if not n:
        _remove(saved)
        raise StoreError(f"{path} is damaged and nothing of it can be read: bring back a copy.")
    aside = path.with_name(f"{path.name}.damaged")
    count = 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.name}.damaged{count}")
    try:
        _keep(path, aside)
        for ending in ("-wal", "-shm"):  # they belong to the damaged file, and would be read with the new one
            beside = path.with_name(path.name + ending)
            if beside.exists():
                os.replace(beside, aside.with_name(aside.name + ending))
        os.replace(saved, path)  # there is a file under the name at any moment
    except OSError as error:
        raise StoreError(f"{path} is damaged, and {aside} cannot be written ({error.strerror}): make room.") from error
    return n, aside


def _copied(path: Path, saved: Path) -> int:
    """Copy all records that can be read into a new file; return how many."""
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(saved, isolation_level=None)) as new:
        old.text_factory = lambda content: content.decode("utf-8", "surrogateescape")
        try:
            (version,) = old.execute("PRAGMA user_version").fetchone()
        except sqlite3.Error as error:
            raise StoreError(
                f"{path} is damaged ({error}) and nothing of it can be read: bring back a copy."
            ) from error
        if version != SCHEMA_VERSION:
            raise StoreError(f"{path} is damaged and of an older layout, which cannot be saved: bring back a copy.")
        try:
            new.execute("BEGIN")
            for statement in (*TABLES.values(), *INDEXES):
                new.execute(statement)
            for table in TABLES:
                for record in _readable(old, table):
                    marks = ", ".join("?" * len(record))
                    try:
                        new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", record)
                    except (sqlite3.OperationalError, sqlite3.InternalError):
                        raise  # not the record is at fault but the disk
                    except (sqlite3.Error, UnicodeError):
                        continue  # a value that is no value of its column
            new.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            new.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            new.execute("COMMIT")
            new.execute("PRAGMA journal_mode = WAL")  # as every other results file, for readers beside a writer
        except sqlite3.Error as error:
            raise StoreError(
                f"{path} is damaged, and {saved}, a file for what can be read of it, cannot be written ({error}): make "
                "room, then run the same command again."
            ) from error
        return new.total_changes


def _remove(saved: Path) -> None:
    """Remove what an earlier call left of the new file."""
    for ending in ("", "-journal", "-wal", "-shm"):
        with suppress(OSError):
            saved.with_name(saved.name + ending).unlink(missing_ok=True)


def _keep(path: Path, aside: Path) -> None:
    """Give a file a second name; a copy where a file can have one name only."""
    try:
        os.link(path, aside)
    except OSError:
        shutil.copyfile(path, aside)


def _readable(db: sqlite3.Connection, table: str) -> Iterator[tuple[object, ...]]:
    """Yield the records of a table that can be read, in the order of their rowids, past pages that cannot."""
    last = 0
    while True:
        try:
            for rowid, *record in db.execute(
                f"SELECT rowid, * FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid", (last,)
            ):
                yield tuple(record)
                last = rowid
            return
        except sqlite3.DatabaseError:
            after = _next_readable(db, table, last)
            if after is None:
                return
            last = after - 1


def _next_readable(db: sqlite3.Connection, table: str, last: int) -> int | None:
    """Return the smallest rowid above `last` + 1 from which a record can be read, None if there is none."""

    def found(start: int) -> int | None:
        try:
            one = db.execute(
                f"SELECT rowid FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT 1", (start,)
            ).fetchone()
        except sqlite3.DatabaseError:
            return -1
        return one[0] if one else None

    step = 1
    while (high := found(last + 1 + step)) == -1:
        step *= 2
        if step > _LAST:
            return None
    low, top = last + 1 + step // 2, last + 1 + step
    while low < top:  # the first start that works, between one that does not and one that does
        middle = (low + top) // 2
        if (at := found(middle)) == -1:
            low = middle + 1
        else:
            top, high = middle, at
    return high
