"""Whole pages of a results file lost or replaced: what can be read is saved, what was lost is said, repair ends."""

import itertools
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from page_support import KINDS, PAGE
from robustness_support import SOAK, many
from store_support import CONTENT, row

from oblique_cli.errors import StoreError
from oblique_cli.experiments.store import Store, _salvage, is_sound, salvage
from oblique_cli.experiments.store._schema import TABLES
from oblique_cli.ground.nouns import Tuning

pytestmark = pytest.mark.long

SEED = 32
FOLDS = 150
# Queries of a salvage; one has 64 for each page at most.
MOST_QUERIES = 50_000


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    """A results file of many pages, with holes between its records."""
    path = tmp_path_factory.mktemp("whole") / "oblique.sqlite"
    with Store(path) as store:
        for name in ("before", "one", "two"):
            store.begin(name, CONTENT | {"cv": {"repeats": FOLDS}}, FOLDS)
            for i in range(FOLDS if name == "one" else 60):
                store.append(name, row(i, packed=random.Random(i).randbytes(80 * (i % 7))))
            store.add_tuning(name, Tuning("t", "bupa", "gdt", "ok", chosen={"tau": 1}))
        store.delete("before")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


class Counting(sqlite3.Connection):
    """A connection that ends work without end."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.queries = itertools.count()

    def execute(self, statement, *values):
        if statement.startswith("SELECT"):
            assert next(self.queries) < MOST_QUERIES, "work without end"
        return super().execute(statement, *values)


@pytest.fixture
def counted(monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(
        _salvage.sqlite3, "connect", lambda *args, **more: connect(*args, **{"factory": Counting, **more})
    )


def records(path: Path, rowids: dict[str, list[int]]) -> set[tuple[object, ...]]:
    """What a file gives when it is asked for one record after the other."""
    found = set()
    with closing(sqlite3.connect(path)) as db:
        for table, known in rowids.items():
            for rowid in known:
                try:
                    one = db.execute(f"SELECT * FROM {table} NOT INDEXED WHERE rowid = ?", (rowid,)).fetchone()
                except sqlite3.DatabaseError:
                    continue
                if one is not None:
                    found.add((table, *one))
    return found


def rowids_of(path: Path) -> dict[str, list[int]]:
    with closing(sqlite3.connect(path)) as db:
        return {table: [one for (one,) in db.execute(f"SELECT rowid FROM {table} NOT INDEXED")] for table in TABLES}


def saves(path: Path, damaged: bytes, whole: bytes) -> bool:
    """Whether a damaged file had to be salvaged. Fails if that has no end, or loses what could be read in silence."""
    for beside in path.parent.glob(path.name + "*"):
        beside.unlink()
    path.write_bytes(whole)
    rowids = rowids_of(path)
    known = records(path, rowids)
    path.write_bytes(damaged)
    readable = records(path, rowids) & known
    if is_sound(path):
        return False
    try:
        saved = salvage(path)
    except StoreError as error:
        assert "\n" not in str(error) and not readable
        return True
    left = records(path, rowids_of(path))
    assert readable <= left, "what could be read is lost"
    assert is_sound(path)
    gone = {one for one in known - left if one[0] == "rows"}
    if gone:
        with Store(path) as store:
            assert saved.lost or any(run.done < run.total for run in store.runs()), "nobody said what was lost"
    return True


def test_a_page_of_zeros_is_passed_over(tmp_path, whole, counted):
    for page in range(1, len(whole) // PAGE, 1 if SOAK else 3):
        damaged = bytearray(whole)
        damaged[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
        saves(tmp_path / "oblique.sqlite", bytes(damaged), whole)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_page_ends_in_a_file_with_all_that_can_be_read(tmp_path, whole, counted, kind):
    salvaged = 0
    n = many(7, 500)
    for number in range(n):
        rng, damaged = random.Random(f"{SEED} {kind} {number}"), bytearray(whole)
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            if len(damaged) > 2 * PAGE:
                KINDS[kind](damaged, rng)
        salvaged += saves(tmp_path / "oblique.sqlite", bytes(damaged), whole)
    print(f"{kind}: {salvaged} of {n} files salvaged")
    assert salvaged
