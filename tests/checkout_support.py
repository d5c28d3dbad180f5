"""A copy of the sources that a test changes as CONTRIBUTING says, and the programs of that copy."""

import shutil
from pathlib import Path

import pytest
from cli_support import Ended, environment, python

import oblique_cli._core as _core
from oblique_cli.ground.resources import PACKAGE

ROOT = PACKAGE.parent

# Runs at the start of every process of the copy, workers included: an editable installation of the sources would come
# before the copy.
START = """import sys
sys.meta_path[:] = [one for one in sys.meta_path if type(one).__name__ != "ScikitBuildRedirectingFinder"]
"""


class Checkout:
    """The package, the configurations and the benchmarks in a folder of their own, beside the data sets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources = ROOT
        unwanted = shutil.ignore_patterns("__pycache__", "core", "*.so")
        for name in ("oblique_cli", "configs", "benchmarks"):
            shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
        shutil.copy(str(_core.__file__), folder / "oblique_cli")
        shutil.copy(ROOT / "pyproject.toml", folder)
        (folder / "datasets").symlink_to(ROOT / "datasets")
        (folder / "sitecustomize.py").write_text(START)

    def write(self, path: str, text: str) -> None:
        """Add a file; its folder may be new."""
        file = self.folder / path
        assert not file.exists()
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def insert(self, path: str, after: str, text: str) -> None:
        """Add `text` below the only line `after` of a file, or at its end for the empty line."""
        lines = (self.folder / path).read_text(encoding="utf-8").splitlines()
        place = len(lines) if not after else lines.index(after) + 1
        assert not after or lines.count(after) == 1
        (self.folder / path).write_text("\n".join([*lines[:place], text, *lines[place:], ""]), encoding="utf-8")

    def python(self, *arguments: str) -> Ended:
        """Run Python in the folder, where `import oblique_cli` finds the copy."""
        env = {**environment(self.folder), "PYTHONPATH": str(self.folder), "NO_COLOR": "1"}
        return python(self.folder, *arguments, first=START, env=env)

    def oblique(self, *arguments: str) -> Ended:
        """Run the command line of the copy in its folder."""
        return self.python("-m", "oblique_cli", *arguments)

    def contracts(self, *files: str, named: str) -> Ended:
        """Run those tests of the project's own files whose name contains `named`, in the copy."""
        if not (self.folder / "tests").exists():
            (self.folder / "tests").symlink_to(ROOT / "tests")
        return self.python("-m", "pytest", "-p", "no:cacheprovider", "-k", named, *files)


@pytest.fixture
def checkout(tmp_path):
    """A copy of the sources to change."""
    return Checkout(tmp_path)
