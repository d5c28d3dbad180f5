"""A native heuristic is one C++ file and its proposer: the example of the core's own documentation, added to a copy."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import oblique_cli

CORE = Path(oblique_cli.__file__).parent / "core"
TESTS = Path(__file__).parent.parent

PROPOSER = '''
import numpy as np

from oblique_cli.constraints import Real
from oblique_cli.geometry import class_covariance, principal_axes
from oblique_cli.proposers._reflection import scaled
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Proposer


@PROPOSERS.register("principal_axes")
class PrincipalAxes(Proposer):
    """The directions along which all rows of a node spread."""

    title = "principal axes"
    source = "an example"
    constraints = {"tolerance": Real(0.0)}
    native = "principal_axes"

    def __init__(self, tolerance=1e-10):
        self.tolerance = tolerance

    def propose(self, node):
        covariance = class_covariance(scaled(node.X), node.weights)
        if covariance is not None:
            yield Candidates.directions(principal_axes(covariance, self.tolerance))

    def native_options(self):
        return {"tolerance": float(self.tolerance)}
'''

# Runs with the core that was built in place of the package's own.
COMPARISON = """
import importlib.util, sys

spec = importlib.util.spec_from_file_location("oblique_cli._core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
import oblique_cli
sys.modules["oblique_cli._core"] = oblique_cli._core = core

import numpy as np
import principal_axes
from contracts import assert_same_tree, grow, real_set

assert core.families()["principal_axes"]["tolerance"] == "a number"
assert "hhcart_a" in core.families()
oblique_splits = 0
for name in ("iris", "bupa", "glass"):
    data = real_set(name)
    for weights in (None, np.random.default_rng(1).uniform(1.0, 2.0, data.n)):
        native, reference = (
            grow("principal_axes", data.X, data.y, weights=weights, engine=engine) for engine in ("native", "reference")
        )
        assert_same_tree(native, reference, coef=1e-7, threshold=1e-5)
        oblique_splits += np.count_nonzero(np.count_nonzero(native.coef_, axis=1) > 1)
assert oblique_splits > 50, oblique_splits
try:
    core.grow(data.X, data.y, None, 6, "principal_axes", {})
except ValueError as error:
    assert str(error).startswith("family 'principal_axes' needs the option 'criterion'"), error
else:
    raise AssertionError("options are not asked for")
print("equal trees")
"""


def tool(name: str) -> str | None:
    """Path of a program: of the environment that runs the tests, or of the machine."""
    return shutil.which(name, path=os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")]))


def missing_tool() -> str | None:
    """What is not there to build the core with, or None."""
    if not CORE.is_dir():
        return "the source of the core"
    if importlib.util.find_spec("nanobind") is None:
        return "the Python package nanobind"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "Python.h"
    if tool("cmake") is None:
        return "cmake"
    if tool("ninja") is None:
        return "ninja"
    if not any(map(tool, filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")))):
        return "a C++ compiler"
    return None


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done


def documented_family() -> str:
    """The whole file that growth/heuristic.hpp shows to whoever writes a heuristic."""
    prose = (CORE / "growth" / "heuristic.hpp").read_text(encoding="utf-8").split("#pragma once")[0]
    lines = [line[5:] for line in prose.splitlines() if re.match(r"^//(   |$)", line)]
    text = "\n".join(lines).strip() + "\n"
    assert text.startswith("#include") and text.endswith("}  // namespace oblique\n")
    return text


def built(core: Path, build: Path) -> Path:
    """Build a copy of the core, and return the module."""
    nanobind = run(sys.executable, "-m", "nanobind", "--cmake_dir").stdout.strip()
    settings = {
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "CMAKE_BUILD_TYPE": "Release",
        "OBLIQUE_OPTIMIZATION": "-O1",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind,
    }
    if cache := tool("ccache"):
        settings["CMAKE_CXX_COMPILER_LAUNCHER"] = cache
    cmake = tool("cmake")
    assert cmake is not None
    given = [f"-D{name}={value}" for name, value in settings.items()]
    run(cmake, "-S", str(core), "-B", str(build), "-G", "Ninja", *given)
    run(cmake, "--build", str(build), CCACHE_BASEDIR=str(core.parent), CCACHE_NOHASHDIR="1")
    (module,) = build.glob("_core*.so")
    return module


@pytest.mark.skipif(missing_tool() is not None, reason=f"the core cannot be built here: {missing_tool()} is missing")
def test_a_native_heuristic_is_one_cpp_file_and_its_proposer(tmp_path: Path):
    shutil.copytree(CORE, tmp_path / "core")
    family = tmp_path / "core" / "growth" / "families" / "principal_axes.cpp"
    assert not family.exists()
    family.write_text("// The principal axes of all rows of a node.\n" + documented_family(), encoding="utf-8")
    module = built(tmp_path / "core", tmp_path / "build")
    (tmp_path / "principal_axes.py").write_text(PROPOSER, encoding="utf-8")
    path = os.pathsep.join([str(CORE.parent.parent), str(tmp_path), str(TESTS)])
    done = run(sys.executable, "-W", "error", "-c", COMPARISON, str(module), PYTHONPATH=path)
    assert done.stdout == "equal trees\n"

    (family.parent / "second.cpp").write_text(documented_family(), encoding="utf-8")
    module = built(tmp_path / "core", tmp_path / "build")
    load = COMPARISON.split("import oblique_cli\n")[0]
    refused = subprocess.run([sys.executable, "-c", load, str(module)], capture_output=True, text=True, check=False)
    sentence = r"ImportError: growth/families/\w+\.cpp: native family 'principal_axes' has the name of the one in "
    assert refused.returncode == 1 and re.match(sentence, refused.stderr.splitlines()[-1]), refused.stderr
