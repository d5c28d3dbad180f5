"""Faults that the quick tests must notice (planted_faults.yaml): each is a line that is changed in a copy.

    python tests/planted_faults.py              plant each, run the quick tests that it names, and print who noticed it
    python tests/planted_faults.py 3 17         these only
    python tests/planted_faults.py --whole 3    with all quick tests in place of the named ones

A fault is found by its text, wherever that lies, so that moved code stays planted. Those of the core are built into one
module, which is told by the environment which of them it has.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from checkout_support import Checkout
from cli_support import environment
from core_support import CORE, built

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "oblique_cli"
NOTICED = 1  # how pytest ends where a test fails
NATIVE = (".cpp", ".hpp")


class Fault(NamedTuple):
    """A fault of planted_faults.yaml."""

    text: str
    wrong: str
    breaks: str
    tests: str


PARTS = yaml.safe_load((TESTS / "planted_faults.yaml").read_text(encoding="utf-8"))
FAULTS = [Fault(**fault) for faults in PARTS.values() for fault in faults]


# Comes before everything that the compiler reads.
SWITCH = """#pragma once
#include <cstdlib>
inline bool planted(int fault) {
  static const int chosen = std::getenv("OBLIQUE_FAULT") ? std::atoi(std::getenv("OBLIQUE_FAULT")) : -1;
  return chosen == fault;
}
"""


@cache
def sources() -> dict[Path, str]:
    """The files of the package that a fault may be in, and their text."""
    suffixes = (".py", ".txt", ".mjs", ".c", *NATIVE)
    files = (path for path in sorted(PACKAGE.rglob("*.*")) if path.suffix in suffixes)
    return {path: path.read_text(encoding="utf-8") for path in files}


def places(text: str) -> list[Path]:
    """The files of the package that hold a text, one for each time."""
    return [path for path, whole in sources().items() for _ in range(whole.count(text))]


def guards_of(fault: Fault) -> list[str]:
    """The files and folders that a fault names, wherever below tests/ they lie."""
    return [str(path) for name in fault.tests.split() for path in sorted(TESTS.rglob(name))]


def is_native(fault: Fault) -> bool:
    """Whether a fault is one of the core."""
    return places(fault.text)[0].suffix in NATIVE


def switched(number: int, fault: Fault) -> str:
    """C++ that is wrong where the fault of this number is chosen."""
    if fault.text.endswith(";"):
        return f"{{ if (planted({number})) {{ {fault.wrong} }} else {{ {fault.text} }} }}"
    return f"(planted({number}) ? ({fault.wrong}) : ({fault.text}))"


def core_with(faults: dict[int, Fault], folder: Path) -> Path:
    """Build the core with these faults, by their numbers, none of which is chosen."""
    shutil.copytree(CORE, folder / "core")
    (folder / "planted.hpp").write_text(SWITCH, encoding="utf-8")
    for number, fault in faults.items():
        file = folder / "core" / places(fault.text)[0].relative_to(CORE)
        text = file.read_text(encoding="utf-8").replace(fault.text, switched(number, fault))
        file.write_text(text, encoding="utf-8")
    return built(folder / "core", folder / "build", CMAKE_CXX_FLAGS=f"-include {folder / 'planted.hpp'}")


def noticed_by(
    tests: list[str], folder: Path, fault: Fault | None = None, core: Path | None = None, chosen: int = -1
) -> str | None:
    """The first quick test of these that fails in a copy of the project with a fault, if one does.

    tests : below the project, none for all; core : takes the place of the package's own; chosen : its fault
    """
    copy = Checkout(folder)
    if core:
        shutil.copy(core, next((copy.folder / "oblique_cli").glob("_core*.so")))
    elif fault:
        file = copy.folder / "oblique_cli" / places(fault.text)[0].relative_to(PACKAGE)
        file.write_text(file.read_text(encoding="utf-8").replace(fault.text, fault.wrong), encoding="utf-8")
    for name in ("tests", "docs", "README.md", "tools", "results"):
        (copy.folder / name).symlink_to(TESTS.parent / name)
    options = ["-x", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-m", "not long"]
    env = {
        **environment(copy.folder),
        "PYTHONPATH": str(copy.folder),
        "OBLIQUE_FAULT": str(chosen),
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", *options, *tests]
    done = subprocess.run(command, cwd=copy.folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, NOTICED), done.stdout[-2000:] + done.stderr[-2000:]
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, re.MULTILINE)
    assert (failed is None) == (done.returncode == 0), done.stdout[-2000:]
    return failed.group(1) if failed else None


def main() -> int:
    """Plant the faults that are asked for; the exit code is the number of those that nothing noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", type=int, nargs="*")
    parser.add_argument("--whole", action="store_true")
    arguments = parser.parse_args()
    chosen = {number: FAULTS[number] for number in arguments.numbers or range(len(FAULTS))}
    native = {number: fault for number, fault in chosen.items() if is_native(fault)}
    noticing = {}
    with tempfile.TemporaryDirectory() as place:
        core = core_with(native, Path(place)) if native else None
        for number, fault in chosen.items():
            guards = [] if arguments.whole else [str(Path(test).relative_to(TESTS.parent)) for test in guards_of(fault)]
            local = core if number in native else None
            with tempfile.TemporaryDirectory() as folder:
                test = noticed_by(guards, Path(folder), fault, local, number)
            if test:
                noticing[number] = test
            print(f"{number:3d}  {fault.breaks:48s}  {test or 'SURVIVED'}", flush=True)
        # What fails without a fault has noticed none.
        if noticing:
            with tempfile.TemporaryDirectory() as folder:
                wrong = noticed_by(sorted(set(noticing.values())), Path(folder), core=core)
            assert wrong is None, f"{wrong} fails in a copy without a fault"
    print(f"{len(noticing)} of {len(chosen)} faults were noticed, by tests that pass without them")
    return len(chosen) - len(noticing)


if __name__ == "__main__":
    sys.exit(main())
