"""Check a wheel where there is neither a compiler nor a checkout.

A virtual environment in a temporary folder gets the newest wheel of a folder, and its dependencies as wheels too. Only
the environment's own programs are on PATH, and the home folder is empty. What a newcomer does first has to work there:
a tree of a table, a fit, an explanation, an export, a bundled experiment. --installed checks the environment that runs
this program instead, wherever the wheel came from.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cl")
WINDOWS = os.name == "nt"
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


def install(wheel: Path, folder: Path) -> Path:
    """Return the Python of an environment in `folder` with the wheel; CalledProcessError if it cannot be installed."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    subprocess.run([*pip, wheel.resolve()], check=True)
    return python


def check(python: Path, folder: Path, compiler_allowed: bool = False) -> None:
    """Use the package that `python` has, in the empty `folder`; AssertionError or CalledProcessError on a failure."""
    programs = python.parent
    environment = {"PATH": str(programs), "HOME": str(folder), "USERPROFILE": str(folder), "LANG": "C.UTF-8"}
    if WINDOWS:
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMP") if name in os.environ}
    found = [name for name in COMPILERS if shutil.which(name, path=environment["PATH"])]
    assert compiler_allowed or not found, f"compilers in the clean environment: {found}"
    work = folder / "work"
    work.mkdir()
    (work / "own.csv").write_text(TABLE, encoding="utf-8")

    def run(*command: str | Path) -> None:
        print("$", *(str(part) if "\n" not in str(part) else "..." for part in command), flush=True)
        subprocess.run(command, check=True, cwd=work, env=environment, stdin=subprocess.DEVNULL)

    oblique = programs / ("oblique.exe" if WINDOWS else "oblique")
    began = time.monotonic()
    run(oblique, "--version")
    run(python, "-m", "oblique_cli", "--version")
    run(oblique, "doctor")
    run(python, "-c", FIT)
    run(oblique, "tree", "own.csv", "--target", "sorte")
    run(oblique, "fit", "own.csv", "--target", "sorte", "--algorithm", "hhcart_d", "--output", "own.json")
    run(oblique, "predict", "own.json", "own.csv", "--output", "predicted.csv")
    run(oblique, "explain", "own.json", "own.csv", "--row", "3")
    run(oblique, "export", "own.json", "--output", "own.c")
    run(oblique, "run", "smoke", "--results", "results")
    run(oblique, "run", "bupa_hhgdt", "--results", "results", "--set", "cv.repeats=1")
    print(f"all of it in {time.monotonic() - began:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dist", type=Path, default=Path("dist"), help="folder with wheels [dist]")
    parser.add_argument("--installed", action="store_true", help="check this program's own environment")
    parser.add_argument("--compiler-allowed", action="store_true", help="a compiler on PATH is no fault")
    given = parser.parse_args()
    wheels = sorted(given.dist.glob("*.whl"), key=os.path.getmtime)
    if not wheels and not given.installed:
        sys.exit(f"no wheel in {given.dist}: run make wheels.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = Path(sys.executable) if given.installed else install(wheels[-1], folder)
        check(python, folder, given.compiler_allowed or given.installed)
    print("the installed package works" if given.installed else f"{wheels[-1]} works without a compiler")


if __name__ == "__main__":
    main()
