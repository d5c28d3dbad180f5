"""Calling the command: as the installed program, and in this process."""

from __future__ import annotations

import atexit
import contextlib
import csv
import fcntl
import inspect
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from waiting import FOREVER

from oblique_cli import cli

# What the installation put beside the interpreter; the module where tests run from a mere checkout.
PROGRAM = Path(sys.executable).with_name("oblique")
COMMAND = [str(PROGRAM)] if PROGRAM.exists() else [sys.executable, "-m", "oblique_cli"]


@dataclass(frozen=True)
class Ended:
    """How a call ended: exit code, minus the signal that ended it, and what it printed.

    seconds, bytes   what it took, and the most memory that it had; 0 where nobody measured
    work             seconds that processors spent on it, which a busy machine does not add to
    """

    code: int
    out: str
    err: str
    seconds: float = 0.0
    bytes: int = 0
    work: float = 0.0


def invoke(command: click.Command, arguments: Sequence[str] = ()) -> Result:
    """Run a command in this process; what it prints to stdout and to stderr is apart under every version of click."""
    apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    return CliRunner(**apart).invoke(command, arguments)


def environment(folder: Path) -> dict[str, str]:
    """The environment without the user's own data folders."""
    env = {key: value for key, value in os.environ.items() if key not in ("OBLIQUE_DATA", "NO_COLOR")}
    return {**env, "XDG_CACHE_HOME": str(folder / "no cache")}


def start(folder: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start the installed command in `folder`."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([*COMMAND, *arguments], cwd=folder, env=environment(folder), **options)


def records(text: str) -> list[dict[str, str]]:
    """The lines of a CSV that a command printed."""
    return list(csv.DictReader(io.StringIO(text)))


def oblique(folder: Path, *arguments: str) -> Ended:
    """Run the installed command in `folder` to its end."""
    with start(folder, *arguments) as process:
        out, err = process.communicate(timeout=FOREVER)
        return Ended(process.returncode, out, err)


class Forking:
    """The command in a process of its own a call, forked from one that has imported everything.

    Starting Python takes ten times as long as most calls. Nothing has run in the process that is forked.
    """

    # Imports, and `call`, which does what is asked in the new process and returns its exit code.
    BEGIN = """
import importlib, pkgutil
import oblique_cli, oblique_cli.config.checking, oblique_cli.experiments.running, oblique_cli.fitting
import oblique_cli.models, oblique_cli.scale, sklearn.metrics, sklearn.preprocessing
from oblique_cli.data import catalogue
for place in ("cli", "models.exporting", "scale"):
    package = importlib.import_module(f"oblique_cli.{place}")
    for each in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(each.name)
catalogue.entries()
from oblique_cli.cli import call
"""
    LOOP = """
import json, os, sys, time
here = os.getcwd()
for line in sys.stdin:
    folder, arguments, first = json.loads(line)
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        for number, name in ((1, "out.txt"), (2, "err.txt")):
            os.dup2(os.open(os.path.join(here, name), os.O_WRONLY | os.O_CREAT), number)
        os.chdir(folder)
        exec(first)
        code = call(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    _, status, used = os.wait4(child, 0)
    print(os.waitstatus_to_exitcode(status), time.monotonic() - begun, 1024 * used.ru_maxrss,
        used.ru_utime + used.ru_stime, flush=True)
"""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", self.BEGIN + self.LOOP],
            cwd=folder,
            env={**environment(folder), "PYTHONPATH": os.pathsep.join(sys.path), **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def oblique(self, folder: Path, *arguments: str, first: str = "") -> Ended:
        """Run the command in `folder` to its end. first : Python that the new process runs before"""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps([str(folder), arguments, first]) + "\n")
        self._process.stdin.flush()
        code, seconds, size, work = self._process.stdout.readline().split()
        out, err = self._folder / "out.txt", self._folder / "err.txt"
        text = (file.read_text(errors="replace") for file in (out, err))
        ended = Ended(int(code), *text, float(seconds), int(size), float(work))
        out.unlink()
        err.unlink()
        return ended

    def __enter__(self) -> Forking:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.communicate()


class ForkingPython(Forking):
    """Python in a process of its own a call, forked from one that has imported the libraries and nothing of ours."""

    BEGIN = """
import os, runpy, sys, traceback, types
import joblib, matplotlib.figure, pandas, scipy.optimize, sklearn.base, sklearn.metrics, yaml
def call(arguments):
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    what, *sys.argv = arguments
    try:
        if what == "-c":
            code, sys.argv[0] = sys.argv[0], what
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(code, "<string>", "exec"), vars(main))
        else:
            assert what == "-m"
            sys.path[0] = os.getcwd()
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
"""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, PYTHONPATH=os.environ.get("PYTHONPATH", ""))


@cache
def _one(kind: type[Forking]) -> Forking:
    """The one process of its kind that calls are forked from, for as long as this process lives."""
    folder = Path(tempfile.mkdtemp())
    forking, creator = kind(folder), os.getpid()

    def end() -> None:
        if os.getpid() == creator:  # a process forked from this one has its exit handlers too
            forking.__exit__()
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return forking


def forked(folder: Path, *arguments: str, first: str = "", stdin: str | Path = os.devnull) -> Ended:
    """Run the command in `folder` to its end, in a process of its own that need not import the libraries again.

    first : Python that the new process runs before; stdin : the file that it reads as standard input
    """
    first = f"os.dup2(os.open({str(stdin)!r}, os.O_RDONLY), 0); sys.stdin = open(0)\n{first}"
    ended = _one(Forking).oblique(folder, *arguments, first=first)
    return Ended(ended.code, ended.out, ended.err)


def on_a_terminal(folder: Path, width: int, *arguments: str, errors_alone: bool = False, first: str = "") -> Ended:
    """Run the command on a terminal of `width` columns; `out` is what the terminal shows.

    errors_alone : standard output goes elsewhere; first : Python that the new process runs before
    """
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    shown = b""

    def look() -> None:
        nonlocal shown
        with contextlib.suppress(OSError):  # which is how the end of a terminal is read
            while block := os.read(master, 65536):
                shown += block

    looking = threading.Thread(target=look)
    looking.start()
    streams = (2,) if errors_alone else (1, 2)
    first += f"""
for variable in ("COLUMNS", "LINES"):
    os.environ.pop(variable, None)
for stream in {streams}:
    os.dup2(os.open({os.ttyname(slave)!r}, os.O_RDWR | os.O_NOCTTY), stream)
sys.stdout, sys.stderr = open(1, "w"), open(2, "w")
"""
    try:
        ended = forked(folder, *arguments, first=first)
    finally:
        os.close(slave)
        looking.join()
        os.close(master)
    return Ended(ended.code, shown.decode().replace("\r\n", "\n"), ended.err)


def python(folder: Path, *arguments: str, first: str = "", env: dict[str, str] | None = None) -> Ended:
    """Run Python with `-c` and code, or with `-m` and a module, in a process that need not import the libraries again.

    first : Python that the new process runs before; env : its environment, where it is not this one
    """
    first = f"os.environ.clear(); os.environ.update({env or environment(folder)!r})\n{first}"
    ended = _one(ForkingPython).oblique(folder, *arguments, first=first)
    return Ended(ended.code, ended.out, ended.err)


@pytest.fixture(scope="session")
def forking() -> Forking:
    """The process that commands are forked from, of which each says what it took."""
    return _one(Forking)


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Call the command in this process, in an empty folder; the folder is `call.folder`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no cache"))
    monkeypatch.delenv("OBLIQUE_DATA", raising=False)
    monkeypatch.setenv("NO_COLOR", "")

    def run(*arguments: str) -> Ended:
        capsys.readouterr()
        code = cli.call(arguments)
        return Ended(code, *capsys.readouterr())

    run.folder = tmp_path
    return run


@pytest.fixture(scope="session")
def finished_folder(tmp_path_factory):
    """A folder with small.yaml and its stored run."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.yaml").write_text(SMALL)
    assert forked(folder, "run", "small.yaml", "--quiet").code == 0
    return folder


@pytest.fixture
def finished(call, finished_folder):
    """Call the command in a copy of that folder."""
    shutil.copytree(finished_folder, call.folder, dirs_exist_ok=True)
    return call


# Two data sets and two algorithms, a second of work.
SMALL = """\
version: 1
title: Small
datasets: [iris, bupa]
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.1, 0.2]}}]
cv: {scheme: nested, folds: 3, repeats: 2, tune: {folds: 2}}
"""
