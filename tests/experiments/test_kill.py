"""A run that is stopped ends with the table of an unbroken one, and a status names the process of a run."""

import os
import signal
import subprocess
import time

import pytest
from cli_support import forked, start
from store_support import n_stored
from waiting import FOREVER, wait_until

# Seconds of work for one processor.
NESTED = """\
version: 1
datasets: [bupa, glass]
algorithms: [{name: hhgdt, epsilon: {grid: [0.05, 0.1, 0.2, 0.3]}}, hhcart_d]
cv: {scheme: nested, folds: 10, repeats: 4, tune: {folds: 5}}
"""
# A fold of this takes a minute, inside compiled code that nothing can stop.
SLOW = """\
version: 1
dataset: letter
algorithm: {name: hhcart_a, engine: reference}
cv: {folds: 10, repeats: 1}
"""

FOLDS = 2 * 2 * 10 * 4

# A session of its own, so that signals reach the run with all its workers and not the tests.
GROUP = {"start_new_session": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stores_the_folds_in_hand_and_says_how_to_go_on(tmp_path, number, code):
    (tmp_path / "nested.yaml").write_text(NESTED)
    with start(tmp_path, "run", "nested.yaml", "--fresh", "--set", "cv.repeats=4", **GROUP) as process:
        wait_until(lambda: n_stored(tmp_path) > 2)
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=FOREVER)
    assert (process.returncode, out) == (code, "")
    done = n_stored(tmp_path)
    assert 2 < done < FOLDS and "Traceback" not in err
    assert "stopping after the folds in hand (again to stop now)\n" in err
    last = f"stopped: {done} of {FOLDS} folds stored, 0 failed. Go on with: "
    assert err.splitlines()[-1] == last + "oblique run nested.yaml --set cv.repeats=4", "without --fresh"
    if number == signal.SIGINT:
        command = ("run", "nested.yaml", "--set", "cv.repeats=4", "--format", "csv")
        again, unbroken = forked(tmp_path, *command), forked(tmp_path, *command, "--results", "unbroken", "-j", "1")
        assert again.out == unbroken.out and f"resumed: {done} done" in again.err


@pytest.mark.long
def test_a_second_signal_leaves_at_once(tmp_path):
    (tmp_path / "slow.yaml").write_text(SLOW)
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
def test_a_status_names_the_process_that_is_writing(tmp_path):
    short = SLOW.replace("letter", "image_segmentation").replace("repeats: 1", "repeats: 20")
    (tmp_path / "slow.yaml").write_text(short)
    with start(tmp_path, "run", "slow.yaml", "-j", "1", **GROUP) as process:
        assert process.stderr.readline().startswith("slow: 200 folds")
        out = forked(tmp_path, "status").out
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert f"slow: process {process.pid} on " in out and "is running it since" in out
    assert "is running it" not in forked(tmp_path, "status").out, "a process that was killed writes no more"
