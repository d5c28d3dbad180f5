"""Bytes of a user's own table: a file or standard input, unpacked, with its kind and its character set found out."""

from __future__ import annotations

import bz2
import codecs
import functools
import gzip
import hashlib
import io
import lzma
import math
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from oblique_cli.data.files import as_typed
from oblique_cli.data.npy import MAGIC
from oblique_cli.errors import DataError
from oblique_cli.ground.bounds import STDIN_BYTES, TABLE_BYTES, Bound

STDIN = "-"
MOST_HELD = 1 << 26  # bytes of standard input that are kept in memory
BLOCK = 1 << 20

# Names of compressed files end so; what decides is how the content begins.
SUFFIXES = (".gz", ".bz2", ".xz", ".zip")
PACKED: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda raw: gzip.GzipFile(fileobj=raw)),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ\0": ("xz", lzma.LZMAFile),
    b"PK\x03\x04": ("zip", lambda raw: _only_member(raw)),
}
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
FAULTS = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError)

GUESSED = ("cp1252", "latin-1")  # for want of anything better
UNICODE = ("utf-8", "utf-16", "utf-16-le", "utf-16-be")
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class _Refused(Exception):
    """What an archive holds cannot be read; the message follows the name of the file."""


@dataclass(frozen=True)
class Source:
    """A table as it lies on the disk (`path`), or in memory (`content`), as a short one that came by standard input.

    beside : further columns of a .npy table, as (name, file)
    most : of its unpacked bytes, since an archive of a kilobyte can hold more than any machine; None for a table that
        is read a part at a time
    """

    where: str
    path: Path | None = None
    content: bytes | None = None
    most: Bound | None = TABLE_BYTES
    beside: tuple[tuple[str, str], ...] = ()

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Give the unpacked bytes from their beginning. DataError if they are not whole, or more than `most`."""
        try:
            raw: Any = io.BytesIO(self.content or b"") if self.path is None else open(self.path, "rb")  # noqa: SIM115
        except OSError as error:
            raise DataError(f"{self.where}: the file cannot be read ({error.strerror})") from None
        with raw:
            yield io.BufferedReader(_Bounded(raw, self.where, self.most), BLOCK)

    @functools.cached_property
    def kind(self) -> str:
        """ "parquet", "npy", "arff" or "csv", by how the content begins."""
        with self.opened() as stream:
            start = stream.read(BLOCK)
        if start.startswith(b"PAR1"):
            return "parquet"
        if start.startswith(MAGIC):
            return "npy"
        if start.startswith(OLD_EXCEL):
            raise DataError(f"{self.where}: this is an Excel workbook; save the sheet as CSV")
        lines = (line.strip().lower() for line in start.removeprefix(codecs.BOM_UTF8).splitlines())
        first = next((line for line in lines if line and not line.startswith(b"%")), b"")
        return "arff" if first.startswith((b"@relation", b"@attribute")) else "csv"

    @functools.cached_property
    def charset(self) -> str:
        """ "utf-8" if all bytes are, "utf-16" by its mark or its zero bytes, else "cp1252"; "latin-1" as a last way."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        undefined = False  # whether a byte stands for nothing in cp1252
        utf8, first = True, True
        with self.opened() as stream:
            while block := stream.read(BLOCK):
                if first and (found := _marked(block)):
                    return found
                first = False
                if utf8:
                    try:
                        decoder.decode(block)
                    except UnicodeDecodeError:
                        utf8 = False
                undefined = undefined or bool(block.translate(None, _IN_CP1252))
        if utf8:
            try:
                decoder.decode(b"", final=True)
                return "utf-8"
            except UnicodeDecodeError:
                pass
        return "latin-1" if undefined else "cp1252"

    def charset_like(self, said: str) -> str:
        """`charset`, but the one `said` of another table where bytes tell no more than that it is not Unicode."""
        told = self.charset not in GUESSED or said in (*GUESSED, *UNICODE)
        return self.charset if told else said

    def digest(self) -> str:
        """SHA-256 of the bytes as they are, in hexadecimal."""
        if self.path is None:
            return hashlib.sha256(self.content or b"").hexdigest()
        with open(self.path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


_IN_CP1252 = bytes(set(range(256)) - {0x81, 0x8D, 0x8F, 0x90, 0x9D})


def charset_of(name: str) -> str:
    """Return the usual name of a character set; LookupError for what is none."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)  # LookupError for what packs or hides bytes, such as zip
    except ValueError:
        raise LookupError(name) from None
    return found


def source_of(name: str | Path) -> Source:
    """Return the table at a path, or that of standard input for "-". DataError if there is nothing to read."""
    if str(name) == STDIN:
        held = _standard_input()
        where = "standard input"
        return Source(where, content=held) if isinstance(held, bytes) else Source(where, path=Path(held.name))
    where = as_typed(name)
    try:
        # A pipe or a device could block for ever, and can be read once only.
        if stat.S_ISREG(Path(name).stat().st_mode):
            return Source(where, path=Path(name))
        reason = "is not a regular file; pipe it in and give - as its name"
    except FileNotFoundError:
        reason = "does not exist"
    except (OSError, ValueError) as error:
        reason = f"cannot be read ({getattr(error, 'strerror', None) or error})"
    raise DataError(f"{where}: the file {reason}")


@functools.cache
def _standard_input() -> Any:
    """All of standard input, which can be read once only: bytes, or a file that goes with this process if long."""
    if sys.stdin is None or sys.stdin.isatty():
        raise DataError("standard input: nothing is piped in, as in `oblique tree - --target y < my.csv`")
    most = STDIN_BYTES.value
    held_here = min(MOST_HELD, most)
    content = sys.stdin.buffer.read(held_here + 1)
    if len(content) <= held_here:
        return content
    held = tempfile.NamedTemporaryFile(prefix="oblique-")  # noqa: SIM115  (closed with the process)
    size = 0
    while content:
        size += len(content)
        if size > most:
            raise DataError(f"standard input: more than {most} bytes; give the name of a file, or {STDIN_BYTES.advice}")
        held.write(content)
        content = sys.stdin.buffer.read(BLOCK)
    held.flush()
    return held


def stem(name: str | Path) -> str:
    """Return the name of a table without folders and endings: "my" for "data/my.csv.gz"."""
    if str(name) == STDIN:
        return "stdin"
    path = Path(name)
    while path.suffix.lower() in SUFFIXES:
        path = path.with_suffix("")
    return path.stem


def _marked(block: bytes) -> str:
    """The character set that the first bytes tell: by a byte order mark, or by zero bytes at every other place."""
    for mark, charset in MARKS.items():
        if block.startswith(mark):
            return "" if charset == "utf-8" else charset
    even, odd = block[:2000:2], block[1:2000:2]
    if len(odd) > 3 and odd.count(0) > 0.6 * len(odd) and even.count(0) < 0.1 * len(even):
        return "utf-16-le"
    if len(odd) > 3 and even.count(0) > 0.6 * len(even) and odd.count(0) < 0.1 * len(odd):
        return "utf-16-be"
    return ""


class _Bounded(io.RawIOBase):
    """The unpacked bytes of a stream; every fault of an archive becomes a DataError."""

    def __init__(self, raw: Any, where: str, most: Bound | None) -> None:
        self._where, self._name, self._read = where, "file", 0
        self._bound, self._most = most, most.value if most else math.inf
        self._stream: Any = raw
        start = raw.read(8)
        raw.seek(0)
        for magic, (name, opened) in PACKED.items():
            if start.startswith(magic):
                self._name = f"{name} file"
                with self._faults():
                    self._stream = opened(raw)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._faults():
            block = self._stream.read(len(buffer))
        self._read += len(block)
        if self._bound and self._read > self._most:
            raise DataError(f"{self._where}: the table holds more than {self._most} bytes; {self._bound.advice}")
        buffer[: len(block)] = block
        return len(block)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except _Refused as error:
            raise DataError(f"{self._where}: {error}") from None
        except FAULTS as error:
            raise DataError(f"{self._where}: not a whole {self._name} ({error})") from None


def _only_member(raw: Any) -> Any:
    """The one file in a zip archive."""
    archive = zipfile.ZipFile(raw)
    names = [i.filename for i in archive.infolist() if not i.is_dir() and not i.filename.startswith("__MACOSX/")]
    if "[Content_Types].xml" in names:
        raise _Refused("this is an Excel workbook; save the sheet as CSV")
    if len(names) != 1:
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise _Refused(f"the archive must hold one file. Got {len(names)}{f' ({shown})' if names else ''}")
    if archive.getinfo(names[0]).flag_bits & 1:
        raise _Refused("the archive is locked by a password; unpack it first")
    return archive.open(names[0])
