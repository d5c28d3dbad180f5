"""Let other compilers and libraries read the core, every warning an error: what the machines of releases have.

python -m tools.compilers              # all that this machine has
python -m tools.compilers musl         # some

Nothing is linked or run, so it takes minutes and needs no machine of that kind. What a target needs is a
compiler on PATH or, for musl and AArch64, the package ziglang; one that is not there is named and left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "oblique_cli" / "core"
# As CMakeLists.txt has them.
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-psabi", "-Wno-sign-conversion", "-Werror")
# And as nanobind asks for.
HIDDEN = "-fvisibility=hidden"
EXACT = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")


def _found(*names: str) -> list[str]:
    """Return the first of several programs that is there, as a command, or nothing."""
    return next(([path] for name in names if (path := shutil.which(name))), [])


def _clang(*versions: int) -> list[str]:
    return _found("clang++", *(f"clang++-{version}" for version in (versions or range(21, 14, -1))))


def _zig(target: str) -> list[str]:
    command = [sys.executable, "-m", "ziglang", "c++", "-target", target, "-Wno-unused-command-line-argument"]
    return command if importlib.util.find_spec("ziglang") else []


# Name -> the compiler as a command (nothing if it is not there) and its further options.
TARGETS: dict[str, tuple[Callable[[], list[str]], tuple[str, ...]]] = {
    "gcc": (lambda: _found("g++"), ()),
    "clang": (_clang, ()),
    # The standard library of macOS.
    "libc++": (_clang, ("-stdlib=libc++",)),
    # The extensions of clang-cl; the headers of Windows are what "windows" has.
    "ms-extensions": (_clang, ("-fms-extensions", "-stdlib=libc++")),
    "aarch64": (lambda: _found("aarch64-linux-gnu-g++"), ()),
    "musl": (lambda: _zig("x86_64-linux-musl"), ()),
    "musl-aarch64": (lambda: _zig("aarch64-linux-musl"), ()),
    "macos": (lambda: _zig("aarch64-macos.11.0"), ()),
    "windows": (lambda: _zig("x86_64-windows-gnu"), ()),
}


def includes() -> list[str]:
    """Return the folders of headers that are not ours: nanobind and Python."""
    import nanobind

    folders = [nanobind.include_dir(), sysconfig.get_paths()["include"]]
    return [f"-I{CORE}", *(part for folder in folders for part in ("-isystem", folder))]


def rooms(target: str) -> dict[str, str]:
    """Return what a target reads, a text a room, as CMakeLists.txt puts its sources together: families are alone. For
    Windows and macOS what knows Python is left out, as the headers of Python are those of this machine."""
    results: dict[str, str] = {}
    for path in sorted(CORE.rglob("*.cpp")):
        place = path.relative_to(CORE)
        room = str(place if place.parent.name == "families" or place.stem in ("kernels", "counting") else place.parent)
        if room != "bindings" or target not in ("windows", "macos"):
            results[room] = results.get(room, "") + f'#include "{place.as_posix()}"\n'
    return results


def faults(target: str, jobs: int) -> list[str]:
    """Return what a compiler says of each room that it does not take."""
    command, options = TARGETS[target]
    line = [*command(), "-std=c++20", HIDDEN, *WARNINGS, *EXACT, *options, *includes()]

    def read(room: tuple[str, str]) -> str:
        # zig wants to make a file whatever it is asked; other compilers only read.
        with tempfile.TemporaryDirectory() as folder:
            made = ["-c", "-O0", "-o", f"{folder}/room.o"] if "ziglang" in line else ["-fsyntax-only"]
            source = Path(folder) / "room.cpp"
            source.write_text(room[1], encoding="utf-8")
            done = subprocess.run([*line, *made, str(source)], capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else f"{room[0]}:\n{done.stderr or done.stdout}"

    with ThreadPoolExecutor(jobs) as pool:
        return [text for text in pool.map(read, rooms(target).items()) if text]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(TARGETS)} [all that are there]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    params = parser.parse_args(arguments)
    if unknown := [name for name in params.targets if name not in TARGETS]:
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(TARGETS)}.")
    failed = False
    for name in params.targets or TARGETS:
        if not TARGETS[name][0]():
            print(f"{name}: no compiler here", flush=True)
            failed |= bool(params.targets)
            continue
        text = faults(name, params.jobs)
        print(f"{name}: {len(rooms(name))} rooms read, {len(text)} refused", *text, sep="\n", flush=True)
        failed |= bool(text)
    sys.exit(failed)


if __name__ == "__main__":
    main()
