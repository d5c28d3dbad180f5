"""Recovery of the readable records of a damaged results file into a new file."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from oblique_cli.errors import StoreError
from oblique_cli.experiments.store._database import free_name
from oblique_cli.experiments.store._records import ROWS, is_intact
from oblique_cli.experiments.store._schema import APPLICATION_ID, INDEXES, SCHEMA_VERSION, TABLES

# More records than fit on a page.
_TO_A_PAGE = 64


@dataclass(frozen=True)
class Salvaged:
    """Counts of recovered records and of lost records that indexes list, the lost folds, and the damaged file."""

    records: int
    lost: int
    folds: tuple[str, ...]
    aside: Path


def is_sound(path: Path) -> bool:
    """Return whether SQLite finds no error in the structure of a file. Raise StoreError if there is no file."""
    if not path.is_file():
        raise StoreError(f"there are no results at {path} yet: start with oblique run.")
    try:
        with closing(sqlite3.connect(path)) as db:
            return bool(db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError as error:
        # `Store` reports a locked or unreachable file.
        return getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def salvage(path: Path) -> Salvaged:
    """Replace `path` by a new file with all readable records; return the recovered and the lost records.

    Damaged records are copied with their digests, so that readers get the error. Raise StoreError if none is readable.
    """
    saved = path.with_name(f"{path.name}.saved")
    _remove(saved)
    try:
        n, lost, folds = _copied(path, saved)
    except BaseException:
        _remove(saved)
        raise
    if not n:
        _remove(saved)
        raise StoreError(f"{path} is damaged and nothing of it can be read: bring back a copy.")
    aside = free_name(path, "damaged")
    try:
        try:
            os.link(path, aside)
        except OSError:  # this file system has no hard links
            shutil.copyfile(path, aside)
        for ending in ("-wal", "-shm"):  # of the damaged file; SQLite would read them with the new file
            beside = path.with_name(path.name + ending)
            if beside.exists():
                os.replace(beside, aside.with_name(aside.name + ending))
        os.replace(saved, path)  # a file exists under this name at any moment
    except OSError as error:
        raise StoreError(f"{path} is damaged, and {aside} cannot be written ({error.strerror}): make room.") from error
    return Salvaged(n, lost, folds, aside)


def _copied(path: Path, saved: Path) -> tuple[int, int, tuple[str, ...]]:
    """Copy all readable records to a new file; return their number, the number of lost records, and the lost folds."""
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
            lost = {table: _copied_table(old, new, table) for table in TABLES}
            new.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            new.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            new.execute("COMMIT")
            new.execute("PRAGMA journal_mode = WAL")  # as for every results file, to allow readers beside a writer
        except sqlite3.Error as error:
            raise StoreError(
                f"{path} is damaged, and {saved}, a file for what can be read of it, cannot be written ({error}): make "
                "room, then run the same command again."
            ) from error
        n = sum(new.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES)
        folds = {
            "{1}/{2} r{3} f{4} of run {0!r}".format(*place).encode("utf-8", "replace").decode()
            for place in lost[ROWS.table].values()
            if len(place) == 1 + len(ROWS.place)
        }
        return n, sum(map(len, lost.values())), tuple(sorted(folds))


def _copied_table(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> dict[int, tuple[object, ...]]:
    """Copy the readable records of a table; return the other records that its indexes list."""
    listed = _listed(old, new, table)
    for rowid, record in _readable(old, table, listed):
        marks = ", ".join("?" * len(record))
        # A record read from a page of another table must not replace a stored record.
        how = "REPLACE" if is_intact(table, record) else "IGNORE"
        try:
            new.execute(f"INSERT OR {how} INTO {table} VALUES ({marks})", record)
            if new.execute("SELECT changes()").fetchone()[0]:  # a new record of this table
                listed.pop(rowid, None)
        except (sqlite3.OperationalError, sqlite3.InternalError):
            raise  # the disk failed, not the record
        except (sqlite3.Error, UnicodeError):
            continue  # a value that its column does not allow
    return listed


def _remove(saved: Path) -> None:
    """Remove the new file of an earlier call."""
    for ending in ("", "-journal", "-wal", "-shm"):
        with suppress(OSError):
            saved.with_name(saved.name + ending).unlink(missing_ok=True)


def _readable(db: sqlite3.Connection, table: str, listed: Iterable[int]) -> Iterator[tuple[int, tuple[object, ...]]]:
    """Yield the readable records of a table, each once and with its rowid, skipping unreadable pages.

    Reading in order ends at an unreadable page. Then all rowids are tried: a damaged page may have any order.
    """
    seen: set[int] = set()

    def is_new(rowid: int, record: Sequence[object]) -> bool:
        before = len(seen)
        seen.add(hash((rowid, *record)))
        return len(seen) > before

    with suppress(sqlite3.DatabaseError):
        for rowid, *record in db.execute(f"SELECT rowid, * FROM {table} NOT INDEXED ORDER BY rowid"):
            if is_new(rowid, record):
                yield rowid, tuple(record)
        return
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    for rowid in sorted({*listed, *range(1, 1 + _TO_A_PAGE * pages)}):
        with suppress(sqlite3.DatabaseError):
            stored = db.execute(f"SELECT * FROM {table} NOT INDEXED WHERE rowid = ?", (rowid,)).fetchone()
            if stored is not None and is_new(rowid, stored):
                yield rowid, stored


def _listed(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> dict[int, tuple[object, ...]]:
    """Return the records that the indexes of a table list: by rowid, the columns of the index that has most of them.

    Every index of `new` is read in `old` from both ends, up to the first unreadable page.
    """
    columns_of: dict[int, tuple[object, ...]] = {}
    for (index,) in new.execute("SELECT name FROM pragma_index_list(?)", (table,)).fetchall():
        names = [name for (name,) in new.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (index,))]
        for order in ("ASC", "DESC"):
            by = ", ".join(f"{name} {order}" for name in names)
            query = f"SELECT rowid, {', '.join(names)} FROM {table} INDEXED BY {index} ORDER BY {by}"
            with suppress(sqlite3.DatabaseError):
                for rowid, *values in old.execute(query):
                    if len(values) >= len(columns_of.get(rowid, ())):
                        columns_of[rowid] = tuple(values)
    return columns_of
