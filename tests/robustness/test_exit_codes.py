"""One cause has one exit code, whichever command meets it: a full or read-only disk, a long path, a closed output."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_support import COMMAND, Ended, environment
from model_commands import model_of, write_table
from robustness_support import SOAK

from oblique_cli.models import save

SMALL = "version: 1\nname: small\ndataset: iris\nalgorithm: axis_parallel\ncv: {folds: 2, repeats: 1}\n"
# Commands that write {place}, a name in a folder, or print.
WRITERS = {
    "an export": "export model.json --format c --output {folder}/model.c",
    "results": "run small.yaml -j 1 --quiet --results {folder}/results",
    "a table": "run small.yaml -j 1 --quiet --output {folder}/table.csv --format csv",
    "a model": "fit new.csv --target said --algorithm axis_parallel --folds 2 --output {folder}/fitted.json",
    "a drawing": "tree model.json --format svg --output {folder}/tree.svg",
    "predicted rows": "predict model.json new.csv --output {folder}/rows.csv",
    "a card": "report model.json --output {folder}/card.html",
    "a figure": "figures svm_margin --output {folder}/figures",
}
PRINTERS = (
    "--help",
    "list algorithms",
    "predict model.json new.csv",
)
LONG = 1000 * "a"
READERS = (
    "predict {path} new.csv",
    "predict model.json {path}",
    "tree {path}",
    "tree {path}.csv --target said",
    "fit {path}.csv --target said",
    "score model.json {path}.csv",
    "export {path}.json --format c",
    "report {path}.json",
    "verify {path} --never-uses age",
    "explain model.json {path} --row 1",
    "run {path}.yaml",
    "status --results {path}",
    "merge small {path}",
)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "small.yaml").write_text(SMALL)
    write_table(tmp_path)
    save(model_of("axis_parallel"), tmp_path / "model.json")
    return tmp_path


def shell(folder: Path, command: str, rest: str = "", before: str = "") -> Ended:
    """Run a command of the installed program in a shell. before, rest : what stands before and behind it"""
    words = shlex.join([*COMMAND, *shlex.split(command)])
    done = subprocess.run(
        f"{before} {words} {rest}", shell=True, cwd=folder, env=environment(folder), capture_output=True, check=False
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def refused(ended: Ended, code: int) -> None:
    assert ended.code == code, ended
    assert ended.err.count("error: ") == 1 and "Traceback" not in ended.err and "a bug in" not in ended.err, ended


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS if SOAK else list(WRITERS)[::2])
def test_a_disk_without_room_is_exit_code_5(folder, name):
    command = WRITERS[name].format(folder=".")
    # No file may grow: what a full disk does, without a disk of one's own.
    refused(shell(folder, command, before="ulimit -f 0; trap '' XFSZ;"), 5)


def mounted(folder: Path, options: str, command: str) -> Ended:
    """Run a command beside a file system of its own at `place`; it is gone when the command ends."""
    place = folder / "place"
    place.mkdir(exist_ok=True)
    script = f'mount -t tmpfs -o size=4k none "$1" && {options} && shift && exec "$@"'
    words = ["unshare", "-m", "sh", "-c", script, "sh", str(place)]
    possible = (
        shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    )
    if not possible:
        pytest.skip("a file system can be mounted by root alone")
    done = subprocess.run(
        [*words, *COMMAND, *shlex.split(command.format(folder="place"))],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", WRITERS if SOAK else ["an export", *list(WRITERS)[1::2]])
def test_a_file_system_that_is_read_only_is_exit_code_5(folder, name):
    refused(mounted(folder, 'mount -o remount,ro "$1"', WRITERS[name]), 5)


@pytest.mark.sample(1)
@pytest.mark.parametrize("command", PRINTERS)
def test_an_output_that_cannot_be_written_is_exit_code_5(folder, command):
    refused(shell(folder, command, ">&-"), 5)
    refused(shell(folder, command, "> /dev/full"), 5)


@pytest.mark.long
def test_a_closed_output_does_no_harm_where_nothing_is_printed(folder):
    assert shell(folder, WRITERS["a drawing"].format(folder="."), ">&-").code == 0
    assert shell(folder, "list algorithms", "2>&-").code == 0


@pytest.mark.parametrize("command", READERS)
def test_a_path_that_is_too_long_is_exit_code_2(folder, call, command):
    os.chdir(folder)
    refused(call(*shlex.split(command.format(path=LONG))), 2)


def test_a_path_that_is_too_long_for_sqlite_is_exit_code_2(folder, call):
    os.chdir(folder)
    deep = "/".join(6 * [100 * "d"])
    ended = call("run", "small.yaml", "--results", deep)
    refused(ended, 2)
    assert "a shorter folder" in ended.err and not Path(100 * "d").exists()


def test_a_property_that_is_not_proved_is_told_of_on_standard_error(folder, call):
    os.chdir(folder)
    ended = call("verify", "model.json", "--never-uses", "age", "--never-uses", "dose")
    assert ended.code == 7 and ended.err.startswith("of 2 properties ") and ended.err.count("\n") == 1
