"""Check a wheel where there is neither a compiler nor a checkout.

A virtual environment in a temporary folder gets the newest wheel of a folder, and its dependencies as wheels too. Only
the environment's own programs are on PATH, and the home folder is empty. What a newcomer does first has to work there,
within a minute of one processor: a tree of a table, a fit, an export, the main experiment. What the environment lacks
(extras, a home folder that can be written, a locale, a terminal) has to be one sentence or no matter. --installed
checks the environment that runs this program instead, wherever the wheel came from.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cl")
WINDOWS = os.name == "nt"
NEWCOMERS_SECONDS = 60.0
FIT = """
import oblique_cli
from oblique_cli import make
from oblique_cli.data import load

iris = load("iris")
tree = make("hhcart_a").fit(iris.X, iris.y)
print(f"{oblique_cli.__file__}: {tree.n_leaves_} leaves, {tree.score(iris.X, iris.y):.3f} of the rows right")
assert tree.score(iris.X, iris.y) > 0.95
"""
# A table as a newcomer may have it: a decimal comma, a gap, words.
TABLE = "\n".join(
    ["länge;breite;sorte"]
    + [f"{i % 7 + 3 * (i % 2)},5;{i % 5},25;{'rot' if i % 2 else 'blau'}" for i in range(1, 80)]
    + [";1,25;rot"]
)
NO_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
# Extra -> a package of it, a command that needs it, what it says where the package is missing, and its exit code.
EXTRAS = {
    "figures": ("matplotlib", ("tree", "own.csv", "--target", "sorte", "--output", "tree.png"), "needs matplotlib", 2),
    "onnx": ("onnx", ("export", "own.json", "--output", "own.onnx"), "needs the package onnx", 2),
    "parquet": ("pyarrow", ("data", "convert", "own.csv", "own.parquet"), "needs pyarrow", 4),
    "dask": ("distributed", ("run", "smoke", "--scheduler", "tcp://127.0.0.1:1"), "needs Dask", 2),
}


class Clean:
    """The package that a Python has, used in a folder of its own by somebody who has nothing else."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._python, self._work = python, folder / "work"
        self.environment = {
            "PATH": str(python.parent),
            "HOME": str(folder),
            "USERPROFILE": str(folder),
            "LANG": "C.UTF-8",
        }
        if WINDOWS:
            self.environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMP") if name in os.environ}
        self._oblique = python.parent / ("oblique.exe" if WINDOWS else "oblique")
        self._work.mkdir()
        (self._work / "own.csv").write_text(TABLE, encoding="utf-8")

    def oblique(self, *words: str, more: Mapping[str, str] = {}, code: int = 0) -> tuple[str, str]:
        """Run the command and return what it prints, out and err; AssertionError unless it ends with `code`."""
        return self._run(self._oblique, *words, more=more, code=code)

    def python(self, *words: str) -> tuple[str, str]:
        """Run Python and return what it prints; AssertionError unless it ends well."""
        return self._run(self._python, *words)

    def _run(self, *command: str | Path, more: Mapping[str, str] = {}, code: int = 0) -> tuple[str, str]:
        print("$", *(str(part) if "\n" not in str(part) else "..." for part in command), flush=True)
        done = subprocess.run(
            command,
            cwd=self._work,
            env=self.environment | dict(more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        assert done.returncode == code, f"ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout, done.stderr

    def has(self, package: str) -> bool:
        """Whether a package can be imported."""
        script = f"import importlib.util as u, sys; sys.exit(0 if u.find_spec({package!r}) else 9)"
        return subprocess.run([self._python, "-c", script], env=self.environment, check=False).returncode == 0


def ended(errors: str) -> str:
    """Return the one sentence that a command ends with; what it does is told before, where that takes long."""
    *progress, last = errors.splitlines()
    assert last.startswith("error: ") and not any(line.startswith(("error", "Traceback", " ")) for line in progress)
    return last


def ascii_of(text: str) -> str:
    """Return a text with a question mark for every letter beyond ASCII."""
    return text.encode("ascii", "replace").decode()


def seconds_of_children() -> float:
    """Return the seconds of CPU that processes of this one took, 0 where the system does not say."""
    taken = os.times()
    return taken.children_user + taken.children_system


def install(wheel: Path, folder: Path) -> Path:
    """Return the Python of an environment in `folder` with the wheel; CalledProcessError if it cannot be installed."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    subprocess.run([*pip, wheel.resolve()], check=True)
    return python


def check(clean: Clean) -> None:
    """Do what a newcomer does, then what a clean machine lacks; AssertionError with what went wrong."""
    clean.oblique("--version")
    began = seconds_of_children()
    clean.oblique("tree", "own.csv", "--target", "sorte")
    clean.oblique("fit", "own.csv", "--target", "sorte", "--output", "own.json")
    clean.oblique("export", "own.json", "--output", "own.c")
    out, _ = clean.oblique("run", "bupa_hhgdt", "--results", "results")
    assert "HHGDT" in out, out
    taken = seconds_of_children() - began
    print(f"tree, fit, export and run: {taken:.1f} s of CPU")
    assert taken < NEWCOMERS_SECONDS

    assert clean.python("-m", "oblique_cli", "--version") == clean.oblique("--version")
    print(clean.python("-c", FIT)[0], end="")
    clean.oblique("predict", "own.json", "own.csv", "--output", "predicted.csv")
    clean.oblique("explain", "own.json", "own.csv", "--row", "3")
    clean.oblique("run", "smoke", "--results", "results")

    text = clean.oblique("doctor")[0]
    for extra, (package, words, sentence, code) in EXTRAS.items():
        if clean.has(package):
            continue
        assert f"pip install 'oblique-trees[{extra}]'" in text, text
        _, error = clean.oblique(*words, code=code)
        assert sentence in ended(error) and f"pip install 'oblique-trees[{extra}]'" in error, error

    plain = clean.oblique("tree", "own.csv", "--target", "sorte")[0]
    nowhere = {"HOME": os.devnull + "/nowhere", "USERPROFILE": os.devnull + "/nowhere"}
    assert clean.oblique("tree", "own.csv", "--target", "sorte", more=nowhere)[0] == plain
    _, error = clean.oblique("data", "fetch", "seeds", more=nowhere, code=4)
    assert "--data-dir" in ended(error), error
    # A letter that the output cannot hold is a question mark.
    without = clean.oblique("tree", "own.csv", "--target", "sorte", more=NO_LOCALE)[0]
    assert ascii_of(without) == ascii_of(plain)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dist", type=Path, default=Path("dist"), help="folder with wheels [dist]")
    parser.add_argument("--installed", action="store_true", help="check this program's own environment")
    parser.add_argument("--compiler-allowed", action="store_true", help="a compiler on PATH is no fault")
    arguments = parser.parse_args()
    wheels = sorted(arguments.dist.glob("*.whl"), key=os.path.getmtime)
    if not wheels and not arguments.installed:
        sys.exit(f"no wheel in {arguments.dist}: run make wheels.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clean = Clean(Path(sys.executable) if arguments.installed else install(wheels[-1], folder), folder)
        there = [program for program in COMPILERS if shutil.which(program, path=clean.environment["PATH"])]
        permitted = arguments.compiler_allowed or arguments.installed
        assert permitted or not there, f"compilers in the clean environment: {there}"
        check(clean)
    print("the installed package works" if arguments.installed else f"{wheels[-1]} works without a compiler")


if __name__ == "__main__":
    main()
