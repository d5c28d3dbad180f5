"""Replacement of a results file with damaged pages by a new file with its readable records."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from oblique_cli.errors import StoreError
from oblique_cli.experiments.store._database import free_name, missing
from oblique_cli.experiments.store._records import is_intact
from oblique_cli.experiments.store._schema import LAYOUT, TABLES

LARGEST_PAGE = 64  # records; fewer fit on a page


def is_sound(path: Path) -> bool:
    """Return whether SQLite finds no error in the structure of a file. Raise StoreError if there is no file."""
    if not path.is_file():
        raise missing(path)
    try:
        with closing(sqlite3.connect(path)) as db:
            return bool(db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError as error:
        # `Store` reports a locked or unreachable file.
        return getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def salvage(path: Path) -> tuple[int, Path]:
    """Replace `path` by a new file with all its readable and intact records.

    Return the number of these records, and the new path of the damaged file. Raise StoreError if no record is readable,
    or if a file cannot be written."""
    saved, aside = free_name(path, "saved"), free_name(path, "damaged")
    try:
        with closing(sqlite3.connect(saved, isolation_level=None)) as new, closing(sqlite3.connect(path)) as old:
            new.execute("BEGIN")
            for statement in LAYOUT:
                new.execute(statement)
            n = sum(_copied(old, new, table) for table in TABLES)
            new.execute("COMMIT")
            new.execute("PRAGMA journal_mode = WAL")  # as for every results file, to allow readers beside a writer
        if not n:
            raise StoreError(f"{path} is damaged and nothing of it can be read: move it aside and run again.")
        shutil.copyfile(path, aside)
        for ending in ("-wal", "-shm"):  # of the damaged file; SQLite would read them with the new file
            with suppress(FileNotFoundError):
                os.replace(f"{path}{ending}", f"{aside}{ending}")
        os.replace(saved, path)  # a file exists under this name at any moment
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path} is damaged, and a file beside it cannot be written ({error}): make room.") from error
    finally:
        saved.unlink(missing_ok=True)
    return n, aside


def _copied(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int:
    """Copy the readable and intact records of a table; return their number."""
    n = 0
    for record in _readable(old, table):
        if is_intact(table, record):
            marks = ", ".join("?" * len(record))
            n += new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", record).rowcount
    return n


def _readable(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the readable records of a table: from either end up to an unreadable page, then those between, by number.

    A record may come twice."""
    ends = []
    for order in ("ASC", "DESC"):
        ends.append(0)
        with suppress(sqlite3.DatabaseError):
            for rowid, *record in db.execute(f"SELECT rowid, * FROM {table} NOT INDEXED ORDER BY rowid {order}"):
                ends[-1] = rowid
                yield tuple(record)
            return
    try:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
    except sqlite3.DatabaseError:  # no database at all
        return
    most = ends[0] + LARGEST_PAGE * pages  # a damaged number may be as large as it likes
    for rowid in range(ends[0] + 1, min(ends[1] or most, most)):
        with suppress(sqlite3.DatabaseError):
            yield from db.execute(f"SELECT * FROM {table} NOT INDEXED WHERE rowid = ?", (rowid,))
