"""Pages of a results file lost or replaced: what can be read is saved, and the file is sound."""

import contextlib
import random
import sqlite3
from contextlib import closing

import pytest
from robustness_support import many
from store_support import CONTENT, row

from oblique_cli.errors import StoreError
from oblique_cli.experiments.store import Store, is_sound, salvage
from oblique_cli.experiments.store._schema import TABLES
from oblique_cli.ground.nouns import Tuning

PAGE = 4096
FOLDS = 150


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


def records(path) -> set[tuple[object, ...]]:
    """Records with a digest, which leases do not have, that are read one by one."""
    records = set()
    with closing(sqlite3.connect(path)) as db:
        for table in TABLES.keys() - {"leases"}:
            for rowid in range(1, 500):
                with contextlib.suppress(sqlite3.DatabaseError):
                    query = db.execute(f"SELECT * FROM {table} NOT INDEXED WHERE rowid = ?", (rowid,))
                    records |= {(table, *record) for record in query}
    return records


def damaged(content: bytes, kind: str, rng: random.Random) -> bytes:
    """Damage a page; never the first one, without which nothing is a database."""
    at, other = (PAGE * rng.randrange(1, len(content) // PAGE) for _ in range(2))
    if kind == "cut":
        return content[: rng.randrange(PAGE, len(content))]
    changed = bytearray(content)
    pages = {"zeros": bytes(PAGE), "noise": rng.randbytes(PAGE), "copied": content[other : other + PAGE]}
    changed[at : at + PAGE] = pages[kind]
    return bytes(changed)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["zeros", "noise", "copied", "cut"])
def test_a_damaged_page_ends_in_a_sound_file_of_true_records(tmp_path, whole, kind):
    path = tmp_path / "oblique.sqlite"
    path.write_bytes(whole)
    known, n_salvaged = records(path), 0
    for number in range(many(7, 500)):
        for beside in tmp_path.iterdir():
            beside.unlink()
        rng, content = random.Random(f"{kind} {number}"), whole
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            content = damaged(content, kind, rng) if len(content) > 2 * PAGE else content
        path.write_bytes(content)
        if is_sound(path):
            continue
        n_salvaged += 1
        readable = records(path) & known
        try:
            n, aside = salvage(path)
        except StoreError as error:
            assert "\n" not in str(error) and path.is_file() and not readable
            continue
        assert is_sound(path) and aside.is_file() and len(records(path)) <= n
        assert readable <= records(path) <= known
    assert n_salvaged


def test_a_lost_page_of_rows_costs_no_other_row(tmp_path, whole):
    path = tmp_path / "oblique.sqlite"
    path.write_bytes(whole)
    before = {record for record in records(path) if record[0] == "rows"}
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'rows'").fetchone()
    page = whole[(root - 1) * PAGE : root * PAGE]
    assert page[0] == 5, "a page of pages"
    cell = int.from_bytes(page[22:24], "big")  # where the sixth of its pages is named
    leaf = int.from_bytes(page[cell : cell + 4], "big")
    path.write_bytes(whole[: (leaf - 1) * PAGE] + bytes(PAGE) + whole[leaf * PAGE :])
    salvage(path)
    after = {record for record in records(path) if record[0] == "rows"}
    assert after < before and len(before - after) <= 30, "a page has fewer rows"
