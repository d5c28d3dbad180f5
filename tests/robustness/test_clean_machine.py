"""A machine that lacks something: no compiler, an old Python, no terminal, no home that can be written. One sentence.

tools/check_wheel.py does the same, and what a missing extra says, in an environment that has nothing but the wheel.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import COMMAND

import oblique_cli
from oblique_cli import errors
from oblique_cli.ground.resources import PACKAGE

CORE = PACKAGE / "core"
TABLE = "a,b,y\n" + "".join(f"{i},{i * i % 7},{'pq'[i > 9]}\n" for i in range(20))
NOWHERE = f"{os.devnull}/nowhere"  # a folder that nobody can make, root neither
CLOSED = {"errors": "2>&-", "all three": "<&- >&- 2>&-"}


def sentence(errors: str) -> str:
    """The one sentence that a command ends with; what it does is told before, where that takes long."""
    *progress, last = errors.splitlines()
    assert last.startswith("error: ") and not any(line.startswith(("error", "Traceback", " ")) for line in progress)
    return last


def cmake(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Configure the core with an empty PATH."""
    program, ninja = (Path(sys.executable).parent / name for name in ("cmake", "ninja"))
    if not program.exists() or not ninja.exists():
        pytest.skip("the environment has no cmake and ninja; the extra test brings them")
    (folder / "empty").mkdir()
    return subprocess.run(
        [program, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}", *options, "-S", CORE, "-B", folder / "build"],
        env={"PATH": str(folder / "empty"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("environment", [{}, {"CXX": "no-such-compiler"}], ids=["none", "a name of none"])
def test_without_a_compiler_the_build_says_what_to_install(tmp_path, environment):
    done = cmake(tmp_path, **environment)
    text = " ".join(done.stderr.split())
    assert done.returncode != 0 and text.count("CMake Error at") == 1
    assert "no C++ compiler was found. Install GCC or Clang, or name one by CXX, or take a wheel: pip install " in text


@pytest.mark.sample(1)
@pytest.mark.parametrize("way", CLOSED.values(), ids=CLOSED)
def test_streams_that_are_closed_change_no_file(tmp_path, way):
    (tmp_path / "my.csv").write_text(TABLE)
    call = f"{' '.join(map(str, COMMAND))} fit my.csv --target y --algorithm hhgdt --folds 2 --output"
    ended = subprocess.run(["sh", "-c", f"{call} closed.json {way}"], cwd=tmp_path, check=False)
    assert ended.returncode == (errors.EXIT_STORE if ">&-" in way.replace("2>&-", "") else errors.EXIT_OK)
    model = json.loads((tmp_path / "closed.json").read_text(encoding="utf-8"))
    assert model["classes"] == ["p", "q"] and model["state"]


def test_an_input_that_is_closed_is_a_sentence(tmp_path):
    done = subprocess.run(
        ["sh", "-c", f"{' '.join(map(str, COMMAND))} tree - --target y <&-"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 4
    assert sentence(done.stderr).startswith("error: standard input: nothing is piped in")


@pytest.mark.parametrize(("first", "code"), [("", 1), ("sys.argv = ['-m']", 1)], ids=["import", "python -m"])
def test_an_old_python_is_told_which_one_is_needed(first, code):
    script = f"import sys; sys.version_info, sys.version = (3, 9, 18), '3.9.18 (main)'; {first}\nimport oblique_cli"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    text = "oblique needs Python 3.11 or newer. This is 3.9.18."
    assert done.returncode == code and done.stderr.endswith(f": {text}\n")
    assert (done.stderr == f"error: {text}\n") == bool(first)


def test_the_least_python_is_the_one_that_the_package_asks_for():
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    project = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert "sys.version_info < (3, 11)" in text and 'requires-python = ">=3.11"' in project
    assert oblique_cli.__version__


@pytest.mark.long
def test_a_home_that_cannot_be_written_is_no_matter(tmp_path):
    (tmp_path / "my.csv").write_text(TABLE)
    without = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MPL"))}
    done = subprocess.run(
        [*COMMAND, "tree", "my.csv", "--target", "y", "--output", "tree.png"],
        cwd=tmp_path, env=without | {"HOME": NOWHERE}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "atplotlib" not in done.stderr
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")
    done = subprocess.run(
        [*COMMAND, "data", "fetch", "seeds"],
        cwd=tmp_path, env=without | {"HOME": NOWHERE}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 4
    assert "cannot be written" in sentence(done.stderr) and "--data-dir" in done.stderr
