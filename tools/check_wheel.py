"""Check the newest wheel of a folder where there is neither a compiler nor a checkout.

A virtual environment in a temporary folder gets the wheel, and its dependencies as wheels too. Only the environment's
own programs are on PATH. The command line, a fit in the compiled core and a bundled experiment have to work there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++")
FIT = """
import oblique_cli
from oblique_cli import make
from oblique_cli.data import load

iris = load("iris")
tree = make("hhcart_a").fit(iris.X, iris.y)
print(f"{oblique_cli.__file__}: {tree.n_leaves_} leaves, {tree.score(iris.X, iris.y):.3f} of the rows right")
assert tree.score(iris.X, iris.y) > 0.95
"""


def check(wheel: Path, folder: Path) -> None:
    """Install `wheel` into an environment in the empty `folder` and use it there; CalledProcessError on a failure."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    python = programs / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    subprocess.run([*pip, wheel.resolve()], check=True)

    environment = {"PATH": str(programs), "HOME": str(folder), "LANG": "C.UTF-8"}
    found = [name for name in COMPILERS if shutil.which(name, path=environment["PATH"])]
    assert not found, f"compilers in the clean environment: {found}"

    def run(*command: str | Path) -> None:
        print("$", *(str(part) if "\n" not in str(part) else "..." for part in command), flush=True)
        subprocess.run(command, check=True, cwd=folder, env=environment)

    run(programs / "oblique", "--version")
    run(python, "-c", FIT)
    run(programs / "oblique", "run", "smoke", "--results", folder / "results")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dist", type=Path, default=Path("dist"), help="folder with wheels [dist]")
    wheels = sorted(parser.parse_args().dist.glob("*.whl"), key=os.path.getmtime)
    if not wheels:
        sys.exit("no wheel to check: run make wheels.")
    with tempfile.TemporaryDirectory() as folder:
        check(wheels[-1], Path(folder))
    print(f"{wheels[-1]} works without a compiler")


if __name__ == "__main__":
    main()
