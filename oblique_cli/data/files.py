"""Paths of the catalogue's files, and checks of their content."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from oblique_cli.data.entries import File
from oblique_cli.errors import cannot_write
from oblique_cli.ground.resources import folder

ENVIRONMENT = "OBLIQUE_DATA"

BUNDLED = "bundled"
DATA_DIRECTORY = "data directory"
CACHE = "cache"


@dataclass(frozen=True)
class FileCopy:
    """A copy of a file: path, required checksum, and owner (BUNDLED, DATA_DIRECTORY, CACHE)."""

    path: Path
    sha256: str
    owner: str


def cache_folder() -> Path:
    """Return the user's cache: $XDG_CACHE_HOME/oblique or ~/.cache/oblique, or the equivalent on macOS and Windows."""
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):  # the standard requires to ignore a relative path
        return Path(xdg) / "oblique"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "oblique"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "oblique" / "Cache"
    return Path.home() / ".cache" / "oblique"


def data_folders(data_dir: str | Path | None = None) -> list[Path]:
    """Return the folders to search for files that are not bundled: `data_dir`, the environment's OBLIQUE_DATA, the
    cache."""
    folders = [Path(place).expanduser() for place in (data_dir, os.environ.get(ENVIRONMENT)) if place]
    return [*folders, cache_folder()]


def as_typed(path: str | Path) -> str:
    """Return a path for a message, relative to the working directory if the file is in it."""
    absolute, here = os.path.abspath(path), os.getcwd()
    return os.path.relpath(absolute, here) if os.path.commonpath([absolute, here]) == here else str(path)


def is_cache(place: Path) -> bool:
    """Return whether the folder is the cache, whose files may be renamed; other folders belong to the user."""
    return place.resolve() == cache_folder().resolve()


def find(file: File, bundled: bool, data_dir: str | Path | None = None) -> FileCopy | None:
    """Return the first copy of a file, None if there is none."""
    if bundled:
        path = folder("datasets") / file.name
        return FileCopy(path, file.sha256, BUNDLED) if os.path.isfile(path) else None
    for place in data_folders(data_dir):
        for name, sha256 in file.forms():
            if os.path.isfile(place / name):
                return FileCopy(place / name, sha256, CACHE if is_cache(place) else DATA_DIRECTORY)
    return None


def digest(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def mismatch(copy: FileCopy, content: bytes) -> str:
    """Return the difference of the content from the catalogue, "" if there is none."""
    actual = digest(content)
    if actual == copy.sha256:
        return ""
    return f"sha256 of {copy.path} differs from the catalogue (expected {copy.sha256[:8]}..., found {actual[:8]}...)"


def set_aside(path: Path) -> Path | None:
    """Rename a damaged file of the cache to `<file>.bad` (.bad2, ...); None if that is not possible, which is no error:
    another process may have done so, and the folder may be read only."""
    aside = path.with_name(path.name + ".bad")
    count = 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.name}.bad{count}")
    try:
        os.replace(path, aside)
    except OSError:
        return None
    return aside


def write(path: Path, content: bytes) -> None:
    """Write a file atomically; `errors.cannot_write` if that fails."""
    write_together({path: content})


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write files that belong together, each atomically; the first gets its name last. All are on the disk
    before any of them gets its name, so a full disk changes none (`errors.cannot_write`)."""
    with ExitStack() as stack:
        for path, content in contents.items():
            stream = stack.enter_context(written(path))
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream whose content replaces `path` only on success: a temporary file beside it, fsync, rename, fsync
    of the folder. `errors.cannot_write` if that fails."""
    # A random name and O_EXCL: an existing file or link cannot be written through.
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with open(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        if os.name == "posix":
            handle = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
    except OSError as error:
        raise cannot_write(path, error) from None
