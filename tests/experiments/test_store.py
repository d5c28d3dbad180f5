"""The results file: what it keeps, what it refuses, and what it survives."""

import json
import multiprocessing
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields, replace

import pytest
from store_support import row, write_rows

from oblique_cli.errors import ConfigError, StoreError
from oblique_cli.experiments.store import SCHEMA_VERSION, Store
from oblique_cli.ground.nouns import Row, Tuning

CONTENT = {
    "seed": 1,
    "cv": {"scheme": "nested", "repeats": 10},
    "datasets": [{"name": "bupa", "missing": "error"}],
    "algorithms": [{"id": "gdt", "name": "gdt", "params": {"tau": 0}, "grid": {"epsilon": [0.05, 0.1]}}],
    "data": {"bupa": "ab" * 32},
}

ROW = row(
    12,
    key="k0",
    packed=b"",
    predict_seconds=1e-05,
    chosen={"epsilon": 0.1, "criterion": "gini", "max_depth": None},
    per_class={"1": [10, 15], "größer; DROP TABLE rows": [10, 20]},
    inner=[{"params": {"epsilon": 0.1}, "n_correct": 200, "n_rows": 310, "n_leaves": 71, "n_trees": 10}],
    clusters={"größer; DROP TABLE rows": 3, "1": 4},
    measures={"rejected": 0.25, "accepted accuracy": 1.0},
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "oblique.sqlite"


@pytest.fixture
def store(path):
    with Store(path) as store:
        yield store


def changed(**changes):
    content = json.loads(json.dumps(CONTENT))
    for name, value in changes.items():
        *parents, last = name.split("__")
        place = content
        for parent in parents:
            place = place[int(parent) if parent.isdigit() else parent]
        place[last] = value
    return content


def test_rows_and_tunings_come_back_as_they_were_stored(store, path):
    store.begin("chapter3", CONTENT, 100)
    store.append("chapter3", ROW)
    tuning = Tuning("t0", "bupa", "gdt", "ok", chosen={"epsilon": 0.3}, inner=ROW.inner, seconds=0.5)
    store.add_tuning("chapter3", tuning)
    with Store(path) as another:
        assert another.rows("chapter3") == [ROW] and another.tunings("chapter3") == [tuning]
    assert list(store.rows("chapter3")[0].clusters) == list(ROW.clusters)
    with closing(sqlite3.connect(path)) as db:
        for table, kind in (("rows", Row), ("tunings", Tuning)):
            columns = [column[1] for column in db.execute(f"PRAGMA table_info({table})")]
            besides = {"packed": "predictions"}
            assert columns == ["run", *(besides.get(field.name, field.name) for field in fields(kind)), "digest"]


def test_a_run_is_listed_with_its_counts_and_latest_session(store):
    store.begin("chapter3", CONTENT, 100, argv=["oblique", "run", "chapter3"], environment={"python": "3.11"})
    store.append("chapter3", ROW)
    store.append("chapter3", replace(ROW, key="k1", fold=3, status="failed"))
    store.begin(
        "chapter3",
        CONTENT,
        100,
        argv=["oblique", "run", "chapter3", "-j2"],
        environment={"python": "3.12"},
        presentation={"title": "Two"},
    )
    store.begin("another", CONTENT, 5)
    chapter, another = store.runs()
    assert (chapter.name, chapter.total, chapter.done, chapter.failed) == ("chapter3", 100, 1, 1)
    assert chapter.content == CONTENT
    assert chapter.argv[-1] == "-j2" and chapter.environment == {"python": "3.12"}
    assert chapter.presentation == {"title": "Two"} and another.presentation == {}
    assert chapter.created.endswith("+00:00")
    assert (another.name, another.done, another.argv) == ("another", 0, [])


def test_a_change_can_be_asked_about_without_beginning_and_the_order_of_keys_is_none(store):
    store.check("one", CONTENT)
    store.begin("one", CONTENT, 1)
    store.check("one", CONTENT)
    with pytest.raises(ConfigError, match="since run 'one' began: seed"):
        store.check("one", changed(seed=2))
    assert [run.name for run in store.runs()] == ["one"]
    same = dict(reversed(CONTENT.items())) | {
        "algorithms": ({**CONTENT["algorithms"][0], "grid": {"epsilon": (0.05, 0.1)}},)
    }
    store.check("one", same)


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"cv__repeats": 5, "seed": 2}, "cv.repeats 10 -> 5, seed 1 -> 2"),
        ({"algorithms__0__params__sign": "both"}, 'algorithms.gdt.params.sign (none) -> "both"'),
        (
            {"algorithms__0__grid__epsilon": [0.05, 0.1, 0.15, 0.2, 0.25]},
            "algorithms.gdt.grid.epsilon [0.05, 0.1] -> [0.05, ..., 0.25] (5 values)",
        ),
        ({"data__bupa": "cd" * 32}, "data.bupa abababab... -> cdcdcdcd..."),
        (
            {"cv": {"scheme": "split", "repeats": 1, "folds": 5, "tune": 3, "extra": 1}},
            'cv.repeats 10 -> 1, cv.scheme "nested" -> "split", cv.folds (none) -> 5, cv.tune (none) -> 3 and 1 more',
        ),
    ],
)
def test_a_changed_configuration_is_refused_with_what_changed(store, changes, difference):
    store.begin("chapter3", CONTENT, 100)
    with pytest.raises(ConfigError) as caught:
        store.begin("chapter3", changed(**changes), 100)
    assert str(caught.value) == (
        f"the configuration changed since run 'chapter3' began: {difference}: use --fresh to start over, "
        "or another name to keep both (the key name: of the file, or --set name=...)."
    )
    store.begin("another", changed(**changes), 100)


# ---- trouble ---------------------------------------------------------------------------------------------------------


def message_of(call, *args, **kwargs):
    with pytest.raises(StoreError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def test_a_locked_file_is_named_after_a_wait(store, path):
    store.begin("chapter3", CONTENT, 1)
    with Store(path, wait_seconds=0.05) as waiting:
        waiting.begin("chapter3", CONTENT, 1)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        expected = f"{path} is in use by another process: wait until it is done, then try again."
        assert message_of(waiting.append, "chapter3", ROW) == expected
        assert message_of(waiting.begin, "chapter3", CONTENT, 1) == expected
        assert waiting.rows("chapter3") == []  # reading goes on
        other.execute("COMMIT")
        waiting.append("chapter3", ROW)
    other.close()


def of_layout(version):
    def make(path):
        Store(path).close()
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(f"PRAGMA user_version = {version}")

    return make


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            of_layout(SCHEMA_VERSION + 1),
            f"was written by a newer version of oblique (layout {SCHEMA_VERSION + 1}, this one reads "
            f"{SCHEMA_VERSION}): update oblique, or give another path for the results.",
        ),
        (
            of_layout(1),
            f"was written by an older version of oblique (layout 1, this one writes {SCHEMA_VERSION}): move it aside, "
            "or give another path for the results.",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_not_touched(path, make, message):
    make(path)
    before = path.read_bytes()
    assert message_of(Store, path) == f"{path} {message}"
    assert path.read_bytes() == before


def test_a_cell_that_is_not_json_is_damage(store, path):
    store.begin("chapter3", CONTENT, 100)
    store.append("chapter3", ROW)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE rows SET chosen = '{'")
    assert message_of(store.rows, "chapter3") == (
        f"{path} is damaged: bupa/gdt r1 f2 of run 'chapter3' is not what was stored. "
        "oblique repair chapter3 runs just that again."
    )


def test_a_full_disk_is_named_and_what_was_stored_stays(store, path):
    store.begin("chapter3", CONTENT, 100)
    store.append("chapter3", ROW)
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    large = replace(ROW, key="k1", message="x" * 100_000)
    expected = f"{path} cannot grow, the disk is full: make room, then run the same command again."
    assert message_of(store.append, "chapter3", large) == expected
    assert message_of(store.begin, "another", changed(seed="x" * 100_000), 1) == expected
    with Store(path) as another:
        assert another.rows("chapter3") == [ROW]


def test_a_place_that_cannot_be_used_is_named(tmp_path):
    expected = f"{tmp_path} cannot be used (unable to open database file): check the path and its permissions."
    assert message_of(Store, tmp_path) == expected
    (tmp_path / "results").write_text("a file")
    message = message_of(Store, tmp_path / "results" / "deep" / "oblique.sqlite")
    assert message == f"the results folder {tmp_path / 'results' / 'deep'} cannot be made (Not a directory)."


def test_processes_that_start_together_make_one_file_and_lose_no_row(path):
    context = multiprocessing.get_context("spawn")
    calls = [("one", 0), ("one", 100), ("two", 0)]  # two on one run, one on another, all making the file
    writers = [context.Process(target=write_rows, args=(path, run, start, 200)) for run, start in calls]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    with Store(path) as store:
        assert [row.fold for row in store.rows("one")] == list(range(300))
        assert [row.fold for row in store.rows("two")] == list(range(200))


def test_storing_a_fold_takes_as_few_statements_as_the_first_one(store):
    store.begin("chapter3", CONTENT, 100)
    statements, counts = [], []
    store._db._db.set_trace_callback(statements.append)
    for i in range(200):
        store.append("chapter3", replace(ROW, key=f"k{i}", fold=i, inner=ROW.inner * 36))
        counts.append(len(statements))
    assert counts == [counts[0] * (i + 1) for i in range(200)] and counts[0] < 10


def test_the_rows_of_a_run_are_decoded_once_until_any_process_writes(store, path):
    store.begin("chapter3", CONTENT, 150)
    rows = [replace(ROW, key=f"k{i:03}", fold=i, packed=f"bytes {i}".encode()) for i in range(150)]
    for stored in rows:
        store.append("chapter3", stored)
    statements = []
    store._db._db.set_trace_callback(statements.append)

    def reads():
        return sum("FROM rows WHERE run" in statement and "SELECT *" in statement for statement in statements)

    assert store.rows("chapter3") == rows and store.run("chapter3").done == 150 and not store.pending("chapter3", [])
    assert reads() == 1
    with Store(path) as another:
        another.begin("chapter3", CONTENT, 151)
        another.append("chapter3", replace(ROW, key="other", fold=200))
    assert len(store.rows("chapter3")) == 151 and reads() == 2
    store.append("chapter3", replace(ROW, key="mine", fold=201))
    assert store.run("chapter3").done == 152 and reads() == 3
    assert list(store.each_packed("chapter3", rows)) == [row.packed for row in rows]


def test_many_may_open_a_new_file_at_once(tmp_path):
    def open_with_the_others(path, gate):
        gate.wait()
        with Store(path, wait_seconds=30.0) as store:
            return store.runs()

    with ThreadPoolExecutor(4) as pool:
        for i in range(15):
            gate = threading.Barrier(4)
            opened = [pool.submit(open_with_the_others, tmp_path / f"{i}.sqlite", gate) for _ in range(4)]
            assert [future.result() for future in opened] == [[]] * 4
