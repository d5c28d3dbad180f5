"""A run that is killed, stopped or doubled ends with the table of an unbroken one."""

import os
import random
import re
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
from cli_support import forked, start
from waiting import FOREVER, wait_until

# Seconds of work for one processor. Two-stage choices are stored apart from folds, so both kinds are killed.
NESTED = """\
version: 1
datasets: [bupa, glass]
algorithms: [{name: hhgdt, epsilon: {grid: [0.05, 0.1, 0.2, 0.3]}}, hhcart_d]
cv: {scheme: nested, folds: 10, repeats: 4, tune: {folds: 5}}
"""
TWO_STAGE = NESTED.replace("nested", "two_stage").replace("repeats: 4", "repeats: 3")
# A fold of this takes a minute, inside compiled code that nothing can stop.
SLOW = """\
version: 1
dataset: letter
algorithm: {name: hhcart_a, engine: reference}
cv: {folds: 10, repeats: 1}
"""

FOLDS = {"nested": 2 * 2 * 10 * 4, "two_stage": 2 * 2 * 10 * 3}

KILLS = 7
SEED = 20260101

# A session of its own, so that signals reach the run with all its workers and not the tests.
GROUP = {"start_new_session": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def stored(folder: Path) -> int:
    """Folds stored so far, 0 if there is no file of results yet."""
    path = folder / "results" / "oblique.sqlite"
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            return db.execute("SELECT count(*) FROM rows").fetchone()[0]
    except sqlite3.OperationalError:  # just being made
        return 0


def write(folder: Path, **configs: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in configs.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> dict[str, str]:
    """The tables, by one worker without interruption."""
    folder = write(tmp_path_factory.mktemp("unbroken"), nested=NESTED, two_stage=TWO_STAGE)
    tables = {}
    for name in ("nested", "two_stage"):
        ended = forked(folder, "run", f"{name}.yaml", "-j", "1", "--format", "csv", "--quiet")
        assert (ended.code, ended.err) == (0, "")
        tables[name] = ended.out
    return tables


@pytest.mark.long
def test_a_run_killed_at_random_moments_ends_with_the_table_of_an_unbroken_run(tmp_path, unbroken):
    rng = random.Random(SEED)
    write(tmp_path, nested=NESTED)
    counts = [0]
    for kill in range(KILLS):
        with start(tmp_path, "run", "nested.yaml", "-j", "2", **GROUP) as process:
            if kill % 3 < 2:  # while folds are run, else at any moment, that is, mostly while Python starts
                wait_until(lambda: stored(tmp_path) > counts[-1] or process.poll() is not None)
                time.sleep(rng.uniform(0, 0.25))
            else:
                time.sleep(rng.uniform(0, 2))
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        counts.append(stored(tmp_path))
    print(f"seed {SEED}: folds stored after each kill: {counts[1:]}")
    assert counts == sorted(counts), "what was stored is never lost"
    assert sum(0 < count < FOLDS["nested"] for count in counts) >= 3, "the kills came in the middle of the work"
    ended = forked(tmp_path, "run", "nested.yaml", "-j", "2", "--format", "csv")
    assert ended.code == 0 and f"nested: {FOLDS['nested']} folds, resumed: {counts[-1]} done\n" in ended.err
    assert stored(tmp_path) == FOLDS["nested"], "no fold is there twice"
    assert ended.out == unbroken["nested"], "byte for byte, by two workers instead of one"


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stores_the_folds_in_hand_and_says_how_to_go_on(tmp_path, unbroken, number, code):
    write(tmp_path, nested=NESTED)
    with start(tmp_path, "run", "nested.yaml", "--fresh", "--set", "cv.repeats=4", **GROUP) as process:
        wait_until(lambda: stored(tmp_path) > 2)
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=FOREVER)
    assert (process.returncode, out) == (code, "")
    done = stored(tmp_path)
    assert 2 < done < FOLDS["nested"] and "Traceback" not in err
    assert "stopping after the folds in hand (again to stop now)\n" in err
    last = f"stopped: {done} of {FOLDS['nested']} folds stored, 0 failed. Go on with: "
    assert err.splitlines()[-1] == last + "oblique run nested.yaml --set cv.repeats=4", "without --fresh"
    if number == signal.SIGINT:
        again = forked(tmp_path, "run", "nested.yaml", "--set", "cv.repeats=4", "--format", "csv")
        assert again.out == unbroken["nested"] and f"resumed: {done} done" in again.err


@pytest.mark.long
def test_a_second_signal_leaves_at_once(tmp_path):
    write(tmp_path, slow=SLOW)
    with start(tmp_path, "run", "slow.yaml", **GROUP) as process:
        assert process.stderr.readline() == "slow: 10 folds\n"
        time.sleep(0.5)  # now folds are in hand
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr.readline().startswith("stopping after the folds in hand")
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=FOREVER)
    assert (process.returncode, out) == (130, "")
    assert err == "stopped: 0 of 10 folds stored, 0 failed. Go on with: oblique run slow.yaml\n"


@pytest.mark.long
def test_two_runs_at_once_share_a_file_of_results(tmp_path, unbroken):
    write(tmp_path, nested=NESTED, two_stage=TWO_STAGE)
    runs = {
        name: start(tmp_path, "run", f"{name}.yaml", "-j", "1", "--format", "csv") for name in ("nested", "two_stage")
    }
    for name, process in runs.items():
        with process:
            out, err = process.communicate(timeout=FOREVER)
        assert process.returncode == 0 and re.search(f"{name}: .* 0 failed", err), err
        assert out == unbroken[name]
    status = [line.split()[:5] for line in forked(tmp_path, "status").out.splitlines()[1:]]
    assert sorted(status) == [[name, str(n), str(n), "0", "0"] for name, n in FOLDS.items()]
