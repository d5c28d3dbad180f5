"""Commands on a disk that fails, and files as a power cut leaves them."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cli_support import Ended, Forking

SOURCE = Path(__file__).parent / "robustness" / "faults.c"
KINDS = {"count": 0, "fail": 1, "full": 2, "kill": 3, "torn": 4, "short": 5}


def built(folder: Path) -> Path:
    """Build the library of faults; skip the test where that is not possible."""
    compiler = next(
        (item for item in (os.environ.get("CC"), "cc", "gcc", "clang") if item and shutil.which(item)), None
    )
    if os.name != "posix" or not Path("/proc/self/fd").exists() or compiler is None:
        pytest.skip("needs Linux and a C compiler (cc, gcc or clang) for faults.c")
    library = folder / f"faults{sysconfig.get_config_var('SHLIB_SUFFIX') or '.so'}"
    made = subprocess.run(
        [compiler, "-std=gnu11", "-O1", "-fPIC", "-shared", "-o", str(library), str(SOURCE), "-ldl"],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    return library


class FaultyDisk(Forking):
    """The command, on a disk that fails at one change of a folder (faults.c)."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, LD_PRELOAD=str(built(folder)))
        self.trace = folder / "trace"

    def broken(self, folder: Path, kind: str, n: int, *arguments: str, first: str = "") -> Ended:
        """Run the command in `folder`, whose n-th change meets a fault, a key of KINDS.

        first : Python that the new process runs before
        """
        trace = str(self.trace) if kind == "count" else ""
        first += (
            "import ctypes; os.setsid(); "  # a group of its own: a kill reaches nobody else
            f"ctypes.CDLL(None).faults_arm({str(folder.resolve())!r}.encode(), ctypes.c_long({n}), {KINDS[kind]}, "
            f"{trace!r}.encode())"
        )
        return self.oblique(folder, *arguments, first=first)

    def changes(self, folder: Path, *arguments: str, first: str = "") -> tuple[Ended, list[Change]]:
        """Run the command in `folder`; return how it ended and what it did to the files there."""
        ended = self.broken(folder, "count", 0, *arguments, first=first)
        return ended, list(_read(self.trace, folder.resolve()))


@dataclass(frozen=True)
class Change:
    """The `at`-th change of a folder: a file made (c), written (w), cut (t), synced (s), renamed (r), linked (l) or
    removed (u), or a folder made (m).
    """

    at: int
    what: str
    path: str
    number: int
    content: bytes


def _read(trace: Path, folder: Path) -> Iterator[Change]:
    with open(trace, "rb") as stream:
        while head := stream.read(40):
            at, what, size, number, n = struct.unpack("=5q", head)
            path = stream.read(size).decode()
            content = stream.read(n)
            if chr(what) in "rl":  # the other path
                content = os.path.relpath(content.decode(), folder).encode()
            yield Change(at, chr(what), os.path.relpath(path, folder), number, content)


@dataclass
class _File:
    now: bytes = b""
    safe: bytes = b""


@dataclass
class Disk:
    """A disk in memory: what a process sees of its files, and what of that a power cut leaves."""

    names: dict[str, _File] = field(default_factory=dict)
    safe_names: dict[str, _File] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Disk:
        """Return the files of a folder, all safe."""
        results = {}
        for path in folder.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                results[str(path.relative_to(folder))] = _File(content, content)
        return cls(dict(results), dict(results))

    def do(self, change: Change) -> None:
        """Do what a process did."""
        path, names = change.path, self.names
        if change.what == "c":
            names[path] = _File()
        elif change.what == "r":
            names[change.content.decode()] = names.pop(path)
        elif change.what == "l":
            names[change.content.decode()] = names[path]
        elif change.what == "u":
            names.pop(path, None)
        elif change.what == "s" and path not in names:  # a folder: what it holds is as safe as the files are
            inside = "" if path == "." else path + "/"
            self.safe_names = {name: file for name, file in self.safe_names.items() if not name.startswith(inside)}
            self.safe_names |= {name: file for name, file in names.items() if name.startswith(inside)}
        elif path in names:  # else a file without a name
            file = names[path]
            if change.what == "w":
                held = file.now.ljust(change.number, b"\0")
                file.now = held[: change.number] + change.content + held[change.number + len(change.content) :]
            elif change.what == "t":
                file.now = file.now[: change.number].ljust(change.number, b"\0")
            else:
                file.safe = file.now

    def after_a_power_cut(self, folder: Path, contents_lost: bool, names_lost: bool) -> None:
        """Write into `folder` what is left: bytes that were not synced, names in folders that were not, may be lost."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, file in (self.safe_names if names_lost else self.names).items():
            place = folder / name
            place.parent.mkdir(exist_ok=True, parents=True)
            place.write_bytes(file.safe if contents_lost else file.now)
