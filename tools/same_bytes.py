"""Build the wheel and the source archive twice, in different folders, and compare every byte.

python tools/same_bytes.py              # both
python tools/same_bytes.py sdist        # one of them

SOURCE_DATE_EPOCH is the time of every file in them (1704067200, which workflows use, unless it is set). A copy of what
git tracks is built in two new folders, without a compiler cache, by the packages that this Python has: it needs
scikit-build-core, nanobind, cmake and ninja. Ends with 1, and the names of the members that differ, if any does.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EPOCH = "1704067200"
WHAT = ("sdist", "wheel")
BUILD = "import sys; from scikit_build_core import build; print(getattr(build, 'build_' + sys.argv[1])(sys.argv[2]))"


def copied(folder: Path) -> Path:
    """Return a folder with what git tracks, as it is in the work tree."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def built(what: str, source: Path, folder: Path) -> Path:
    """Return the file that a build makes of a checkout; CalledProcessError if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "CMAKE_CXX_COMPILER_LAUNCHER"}
    environment = {"SOURCE_DATE_EPOCH": EPOCH, **environment}
    subprocess.run(
        [sys.executable, "-c", BUILD, what, str(folder)], cwd=source, env=environment, check=True, stdout=sys.stderr
    )
    (made,) = folder.iterdir()
    return made


def members(path: Path) -> dict[str, str]:
    """Return the digest of every member of an archive, by its name, with what the archive says of it."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return {
                f"{file.filename} {file.date_time} {file.external_attr:o}": hashlib.sha256(
                    archive.read(file)
                ).hexdigest()
                for file in archive.infolist()
            }
    with tarfile.open(path) as archive:
        return {
            f"{member.name} {member.mtime} {member.mode:o} {member.uid}": hashlib.sha256(
                result.read() if (result := archive.extractfile(member)) else b""
            ).hexdigest()
            for member in archive
        }


def differences(archive: Path, other: Path) -> list[str]:
    """Return what differs between two archives, nothing if all bytes are the same."""
    if archive.read_bytes() == other.read_bytes():
        return []
    first, second = members(archive), members(other)
    differing = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    return differing or ["the order of members, or the archive itself"]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", help=f"some of {', '.join(WHAT)} [both]")
    parser.add_argument("--keep", type=Path, help="folder for the first of both builds")
    params = parser.parse_args(arguments)
    if unknown := [what for what in params.what if what not in WHAT]:
        parser.error(f"there is no {unknown[0]} to build; there are {', '.join(WHAT)}.")
    failed = False
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        # Names of different lengths: no path may get into a build.
        sources = [copied(place / "first"), copied(place / "another" / "folder")]
        for what in params.what or WHAT:
            for number, source in enumerate(sources):
                (place / f"{what}{number}").mkdir()
                built(what, source, place / f"{what}{number}")
            first, other = (next((place / f"{what}{number}").iterdir()) for number in (0, 1))
            names = differences(first, other)
            digest = hashlib.sha256(first.read_bytes()).hexdigest()
            print(f"{first.name}: {'differs in ' + ', '.join(names) if names else 'the same bytes, SHA-256 ' + digest}")
            failed |= bool(names)
            if params.keep:
                params.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy2(first, params.keep)
    sys.exit(failed)


if __name__ == "__main__":
    main()
