"""The compiled core, built once more by a test."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import oblique_cli

CORE = Path(oblique_cli.__file__).parent / "core"


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


def built(core: Path, build: Path, **more: str) -> Path:
    """Build a copy of the core, and return the module. more : further settings of CMake"""
    nanobind = run(sys.executable, "-m", "nanobind", "--cmake_dir").stdout.strip()
    settings = {
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "CMAKE_BUILD_TYPE": "Release",
        "OBLIQUE_OPTIMIZATION": "-O1",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind,
    }
    settings |= more
    if cache := tool("ccache"):
        settings["CMAKE_CXX_COMPILER_LAUNCHER"] = cache
    cmake = tool("cmake")
    assert cmake is not None
    values = [f"-D{name}={value}" for name, value in settings.items()]
    run(cmake, "-S", str(core), "-B", str(build), "-G", "Ninja", *values)
    run(cmake, "--build", str(build), CCACHE_BASEDIR=str(core.parent), CCACHE_NOHASHDIR="1")
    (module,) = build.glob("_core*.so")
    return module
