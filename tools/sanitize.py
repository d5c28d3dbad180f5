"""Build the core with sanitizers and run its tests on that build.

    python tools/sanitize.py                    # address and undefined: all tests of the core
    python tools/sanitize.py --thread           # thread: forests, and trees grown in threads
    python tools/sanitize.py -- tests/core -k x # other tests

Needs GCC or Clang with its sanitizer libraries. Ends with the exit code of the tests.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILER = os.environ.get("CXX", "g++")
SHARED_FLAGS = ["-fno-omit-frame-pointer", "-g1"]

# Sanitizers -> flags of the compiler, libraries to load first, tests to run.
MODES: dict[str, tuple[list[str], list[str], list[str]]] = {
    "address": (
        # Types of nanobind's classes are hidden in its own library, which "vptr" takes for a fault.
        ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize=vptr", "-fno-sanitize-recover=all"],
        ["libasan.so", "libubsan.so", "libstdc++.so"],
        [
            "tests/core",
            "tests/robustness/test_wide.py",
            "tests/robustness/test_magnitudes.py",
            "tests/tree/test_structure.py",
            "tests/tree/test_growing.py",
            "tests/tree/test_engines.py",
            "tests/estimators/forest",
            "tests/papers/hierarchy",
            "tests/papers/pathfinder",
            "tests/ground/test_geometry.py",
        ],
    ),
    "thread": (
        ["-fsanitize=thread", "-DOBLIQUE_NO_CLONES"],
        ["libtsan.so", "libstdc++.so"],
        [
            "tests/estimators/forest",
            "tests/estimators/test_every_estimator.py",
            "tests/tree/test_growing.py",
            "-k",
            "thread or jobs or workers",
        ],
    ),
}
# What a sanitizer must find, or it finds nothing: a read beyond an array, and a race.
CONTROLS = {
    "address": "int main(int argc, char**) { int* a = new int[2](); int x = a[argc + 1]; delete[] a; return x; }",
    "thread": (
        "#include <thread>\nint n = 0;\nint main() { std::thread t([] { for (int i = 0; i < 100000; ++i) ++n; });\n"
        "for (int i = 0; i < 100000; ++i) ++n; t.join(); return 0; }"
    ),
}
# A module that Python imports when it starts: the core is the one that was built here.
REDIRECT = """\
import importlib.util
import sys


class Core:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, {core!r}) if name == "oblique_cli._core" else None


sys.meta_path.insert(0, Core)
"""


def build(mode: str, flags: list[str]) -> Path:
    """Return the path of the core built with sanitizers; nothing is built again that is up to date."""
    folder = ROOT / "build" / f"sanitize-{mode}"
    beside = Path(sys.executable).with_name("cmake")
    cmake = str(beside) if beside.exists() else "cmake"
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    all_flags = " ".join([*flags, *SHARED_FLAGS])
    subprocess.run(
        [
            *(cmake, "-S", str(ROOT / "oblique_cli" / "core"), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release"),
            *(f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_CXX_FLAGS={all_flags}", "-DOBLIQUE_OPTIMIZATION=-O1"),
            *(f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind}", "-DSKBUILD_STATE=editable"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(
        [cmake, "--build", str(folder), "--parallel", str(os.cpu_count() or 1)], check=True, stdout=subprocess.DEVNULL
    )
    (core,) = folder.glob("_core*.so")
    return core


def check_control(mode: str, flags: list[str], folder: Path) -> None:
    """Exit unless the sanitizer finds a fault that was put there for it."""
    source, program = folder / "control.cpp", folder / "control"
    source.write_text(CONTROLS[mode], encoding="utf-8")
    subprocess.run([COMPILER, *flags, *SHARED_FLAGS, str(source), "-o", str(program)], check=True)
    result = subprocess.run([str(program)], capture_output=True, text=True)
    if result.returncode == 0 or "Sanitizer" not in result.stderr:
        sys.exit(f"error: the {mode} sanitizer of {COMPILER} finds nothing, not even in {source}.")


def main() -> int:
    """Build, check that the sanitizer works, and run the tests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--thread", action="store_true", help="look for races instead of wrong addresses")
    parser.add_argument("tests", nargs="*", help="tests to run, with options of pytest behind --")
    chosen = parser.parse_args()
    mode = "thread" if chosen.thread else "address"
    flags, libraries, tests = MODES[mode]
    core = build(mode, flags)
    check_control(mode, flags, core.parent)
    redirect = core.parent / "redirect"
    redirect.mkdir(exist_ok=True)
    (redirect / "sitecustomize.py").write_text(REDIRECT.format(core=str(core)), encoding="utf-8")
    results = [
        subprocess.run(
            [COMPILER, f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for name in libraries
    ]
    environment = os.environ | {
        "LD_PRELOAD": " ".join(path for path in results if os.path.isabs(path)),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(redirect), str(ROOT), os.environ.get("PYTHONPATH", "")])),
        "PYTHONMALLOC": "malloc",
        # What Python keeps to its end is no leak of ours.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": "halt_on_error=1:ignore_noninstrumented_modules=1:exitcode=66",
    }
    # A sanitizer ends the process at once: what pytest holds back of standard error would be lost.
    command = [sys.executable, "-m", "pytest", "-x", "--capture=sys", "-p", "no:cacheprovider"]
    code = subprocess.run([*command, *(chosen.tests or tests)], cwd=ROOT, env=environment).returncode
    if code < 0:
        print(f"error: the tests ended by signal {-code}.", file=sys.stderr)
    return 1 if code < 0 else code


if __name__ == "__main__":
    sys.exit(main())
