"""Faults: a full disk, a kill at any moment, a clock set back, several writers of one run, one that starts over."""

import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli_support import SMALL, forked, start
from store_support import CONTENT, filled, row
from waiting import FOREVER, wait_until

from oblique_cli.errors import StoreError
from oblique_cli.experiments.store import Store, _runs
from oblique_cli.ground.nouns import Tuning

SOAK = 20 if os.environ.get("OBLIQUE_SOAK") else 1
SEED = 18


@pytest.fixture
def path(tmp_path):
    return tmp_path / "oblique.sqlite"


def in_a_child(function) -> int:
    """Run a function in a process of its own; return its exit code, minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = function() or 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# ---- full disk -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0, 300, 4000, 9000, 30_000, 60_000])
def test_a_limit_on_file_sizes_is_one_sentence_and_loses_nothing(path, room):
    filled(path, 10)
    size = max(one.stat().st_size for one in path.parent.iterdir())

    def write() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
        stored = 10
        try:
            with Store(path) as store:
                store.begin("one", CONTENT, 10_000)
                for i in range(10, 10_000):
                    store.append("one", row(i, message="x" * 2000))
                    stored += 1
        except StoreError as error:
            known = ("cannot grow, the disk is full", "cannot be read or written", "cannot be used")
            assert any(one in str(error) for one in known), error
            (path.parent / "stored").write_text(str(stored))
            return 7
        return 1

    assert in_a_child(write) == 7
    with Store(path) as store:
        rows = store.rows("one")
        assert len(rows) >= int((path.parent / "stored").read_text()), "what was stored stays"
        assert [one.repeat * 10 + one.fold for one in rows] == list(range(min(20, len(rows))))
        store.begin("one", CONTENT, 10_000)
        store.append("one", row(0, key="after", fold=99))


# ---- kills -----------------------------------------------------------------------------------------------------------


def test_a_kill_at_any_moment_leaves_whole_rows_with_their_predictions(path):
    chance = random.Random(SEED)
    filled(path, 1)
    for _ in range(8 * SOAK):

        def write() -> int:
            with Store(path) as store:
                store.begin("one", {"cv": {"repeats": 10**6}}, 10**6, fresh=chance.random() < 0.2)
                for i in range(10**6):
                    store.append("one", row(i))
            return 1

        child = os.fork()
        if child == 0:
            os._exit(write())
        time.sleep(chance.uniform(0.01, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with Store(path) as store:
            rows = store.rows("one")
            assert [one.key for one in sorted(rows, key=lambda one: int(one.key[1:]))] == [
                f"k{i}" for i in range(len(rows))
            ]
            assert store.damage("one") == []
            assert all(store.packed("one", one) == b"some bytes" for one in rows)


# ---- clock -----------------------------------------------------------------------------------------------------------


def test_a_clock_that_is_set_back_changes_neither_the_order_nor_who_may_write(path, monkeypatch):
    with Store(path) as store:
        store.begin("one", CONTENT, 20, argv=["first"])
        store.append("one", row(0))

        class Past(datetime):
            @classmethod
            def now(cls, tz=None):
                return datetime(1999, 1, 1, tzinfo=UTC)

        monkeypatch.setattr(_runs, "datetime", Past)
        store.append("one", row(1))
        with Store(path) as other:
            other.begin("one", CONTENT, 20, argv=["second"])
            other.append("one", row(2))
            other.begin("two", CONTENT, 20)
            assert [run.name for run in other.runs()] == ["one", "two"]
            assert other.run("one").argv == ["second"], (
                "the latest session is the one begun last, whatever the clock said"
            )
            assert len(other.run("one").writers) == 2
        store.append("one", row(3))
        assert [one.key for one in store.rows("one")] == ["k0", "k1", "k2", "k3"]


# ---- several writers -------------------------------------------------------------------------------------------------


def work(path: Path, seed: int, n: int, fresh: bool) -> None:
    chance = random.Random(seed)
    with Store(path, wait_seconds=60) as store:
        store.begin("one", CONTENT, n, fresh=fresh)
        order = list(range(n))
        chance.shuffle(order)
        for i in order:
            store.append("one", row(i))
        store.add_tuning("one", Tuning("t", "bupa", "gdt", "ok"))


@pytest.mark.parametrize("writers", [2, 4, 8])
def test_several_writers_of_one_run_store_each_fold_once(path, writers):
    context = multiprocessing.get_context("fork")
    started = [context.Process(target=work, args=(path, seed, 20, False)) for seed in range(writers)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    assert [one.exitcode for one in started] == [0] * writers
    with Store(path) as store:
        assert len(store.rows("one")) == 20 and store.damage("one") == []
        assert store.rows("one") == [replace(row(i)) for i in range(20)]


def stored(path: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM rows").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return 0


@pytest.mark.long
def test_starting_over_while_another_process_runs_never_mixes_two_experiments(tmp_path):
    for name, seed in (("one", 1), ("two", 2)):
        text = SMALL.replace("title", f"seed: {seed}\ntitle")
        (tmp_path / f"{name}.yaml").write_text(text.replace("repeats: 2", f"repeats: {60 if name == 'one' else 2}"))
    arguments = ("--set", "name=same", "--format", "csv", "--quiet", "-j", "1")
    right = forked(tmp_path, "run", "two.yaml", *arguments, "--results", "right").out
    chance = random.Random(SEED)
    for i in range(SOAK):
        path = tmp_path / f"r{i}" / "oblique.sqlite"
        results = ("--results", f"r{i}")
        with start(tmp_path, "run", "one.yaml", *arguments, *results) as first:
            wanted = chance.randint(1, 60)
            wait_until(lambda path=path, wanted=wanted: stored(path) >= wanted or first.poll() is not None, 0.002)
            assert first.poll() is None
            # Stopped, so that the other process is sure to come in the middle; again if it was in a transaction.
            while True:
                first.send_signal(signal.SIGSTOP)
                second = forked(tmp_path, "run", "two.yaml", "--fresh", *arguments, *results)
                first.send_signal(signal.SIGCONT)
                if "is in use by another process" not in second.err:
                    break
            out, err = first.communicate(timeout=FOREVER)
        assert (second.code, second.out) == (0, right), second.err
        assert (first.returncode, out) == (5, "") and err.count("\n") == 1
        assert "error: run 'same' was started over by another process" in err
        assert forked(tmp_path, "table", "same", "--format", "csv", *results).out == right


@pytest.mark.long
def test_a_status_names_the_process_that_is_writing(tmp_path):
    (tmp_path / "slow.yaml").write_text(
        "version: 1\ndataset: letter\nalgorithm: {name: hhcart_a, engine: reference}\ncv: {repeats: 20}\n".replace(
            "letter", "image_segmentation"
        )
    )
    options = {"start_new_session": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(tmp_path, "run", "slow.yaml", "-j", "1", **options) as process:
        assert process.stderr.readline().startswith("slow: 200 folds")
        out = forked(tmp_path, "status").out
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert f"slow: process {process.pid} on " in out and "is running it since" in out
    assert "is running it" not in forked(tmp_path, "status").out, "a process that was killed writes no more"
