"""Ctrl-C while workers start, and temporary files that somebody expects."""

import os
import signal
import stat
import time
from pathlib import Path

import pytest
from cli_support import start
from robustness_support import many
from waiting import FOREVER, wait_until

from oblique_cli.data import files
from oblique_cli.errors import DataError

# Python-bound work, so that workers are processes.
PLAN = """\
version: 1
dataset: bupa
algorithm: {name: sadt, patience: 50}
cv: {folds: 10, repeats: 100}
"""


def children(pid: int) -> list[int]:
    """Processes that a process started; [] if it is gone."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


# Within the quarter of a second in which a worker imports what it needs.
@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="this system has no /proc with children of a process")
@pytest.mark.parametrize("after", [i * 0.4 / many(2, 20) for i in range(many(2, 20))])
def test_ctrl_c_while_workers_start_prints_no_traceback(tmp_path, after):
    (tmp_path / "plan.yaml").write_text(PLAN)
    process = start(tmp_path, "run", "plan.yaml", "--jobs", "2", start_new_session=True)
    wait_until(lambda: len(children(process.pid)) >= 2 or process.poll() is not None, 0.002)
    assert process.poll() is None, "no workers were started"
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=FOREVER)
    assert process.returncode == 130, error
    assert "Traceback" not in error and "KeyboardInterrupt" not in error, error


def test_a_file_is_written_through_no_link_and_over_no_other_file(tmp_path, monkeypatch):
    target, victim = tmp_path / "table.csv", tmp_path / "victim"
    victim.write_text("precious")
    # Somebody who knew the name of the temporary file would put a link there.
    monkeypatch.setattr(files.secrets, "token_hex", lambda n: "known")
    (tmp_path / ".table.csv.known.tmp").symlink_to(victim)
    with pytest.raises(DataError, match=r"table\.csv: cannot be written \(File exists\)"):
        files.write(target, b"1")
    assert victim.read_text() == "precious" and not target.exists()


def test_a_written_file_has_the_rights_of_any_new_file_and_leaves_nothing_beside_it(tmp_path):
    target, other = tmp_path / "table.csv", tmp_path / "other"
    other.write_text("")
    files.write(target, b"1")
    files.write(target, b"2")
    assert target.read_bytes() == b"2" and sorted(tmp_path.iterdir()) == [other, target]
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)
