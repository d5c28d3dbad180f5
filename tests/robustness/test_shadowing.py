"""Files of Python in the current folder that have the names of modules: no command executes them."""

import importlib.metadata
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
from cli_support import environment, oblique

CONFIG = """\
version: 1
name: small
dataset: iris
algorithms: [axis_parallel, {name: svm, kernel: linear}, {class: sklearn.dummy.DummyClassifier}]
cv: {folds: 2, repeats: 1}
"""
COMMANDS = (
    ("run", "small.yaml", "--quiet", "-j", "2", "--results", "two"),
    ("fit", "own.csv", "--target", "class", "--algorithm", "hhgdt", "--folds", "2", "--output", "model.json"),
    ("tree", "model.json", "--html", "--output", "tree.html"),
)


@pytest.fixture(scope="module")
def modules() -> list[str]:
    """Every module of the standard library and of the installed packages, this one included."""
    names = {*sys.stdlib_module_names, *importlib.metadata.packages_distributions(), "oblique_cli"} - {"__main__"}
    return [name for name in names if name.isidentifier() and PathFinder.find_spec(name)]


@pytest.fixture
def shadowed(tmp_path: Path, modules: list[str]) -> Path:
    """A folder with a file for every module, each of which notes its name when it is executed."""
    folder = tmp_path / "work"
    folder.mkdir()
    assert {"json", "joblib", "signal", "numpy", "pickle", "sklearn"} <= set(modules)
    for name in modules:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write({name!r} + '\\n')\n")
    (folder / "small.yaml").write_text(CONFIG)
    rows = "".join(f"{i % 7},{i * i % 11},{'ab'[i % 2]}\n" for i in range(40))
    (folder / "own.csv").write_text(f"x,y,class\n{rows}")
    return folder


def executed(folder: Path) -> set[str]:
    noted = folder.parent / "executed"
    return set(noted.read_text().split()) if noted.exists() else set()


def test_the_notes_work(shadowed):
    (shadowed / "probe.py").write_text("import wave\n")  # Python 3.13 cannot run `-c` beside a linecache.py
    subprocess.run([sys.executable, "probe.py"], cwd=shadowed, check=True)
    assert "wave" in executed(shadowed)


@pytest.mark.long
def test_no_command_executes_a_file_of_the_current_folder(shadowed):
    for command in COMMANDS:
        ended = oblique(shadowed, *command)
        assert ended.code == 0, (command, ended.err)
        assert executed(shadowed) == set(), command


@pytest.mark.long
def test_python_m_leaves_the_current_folder_out(shadowed):
    """But for what is imported before the package has its turn, where `python -P -m` is of help."""
    options = {"cwd": shadowed, "env": environment(shadowed), "capture_output": True, "text": True, "check": False}
    before_us = "import oblique_cli, runpy, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    for name in subprocess.run([sys.executable, "-P", "-c", before_us], **options).stdout.split():
        (shadowed / f"{name}.py").unlink(missing_ok=True)
    assert (shadowed / "json.py").exists()
    ended = subprocess.run([sys.executable, "-m", "oblique_cli", *COMMANDS[1]], **options)
    assert ended.returncode == 0, ended.stderr
    assert executed(shadowed) == set()


@pytest.mark.long
def test_a_file_that_is_imported_on_purpose_shadows_no_module(shadowed):
    """`import` adds the folder of the file behind all others, and the helpers of the file are still there."""
    noted = f"open({str(shadowed.parent / 'mine')!r}, 'w').close()\n"
    (shadowed / "helper_of_mine.py").write_text(noted)
    (shadowed / "mine.py").write_text("import wave\nimport helper_of_mine\n")
    (shadowed / "small.yaml").write_text(CONFIG + "import: [mine.py]\n")
    ended = oblique(shadowed, "run", "small.yaml", "--quiet", "--allow-code")
    assert ended.code == 0, ended.err
    assert (shadowed.parent / "mine").exists() and executed(shadowed) == set()
