"""Bytes of a user's table: a file or standard input, unpacked, with detected format and character set."""

from __future__ import annotations

import bz2
import codecs
import functools
import gzip
import hashlib
import io
import itertools
import lzma
import math
import re
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from oblique_cli.data.files import as_typed
from oblique_cli.errors import DataError, cut
from oblique_cli.ground.bounds import STDIN_BYTES, TABLE_BYTES, Bound

STDIN = "-"
NPY = b"\x93NUMPY"  # first bytes of a .npy file
MOST_HELD = 1 << 26  # bytes of standard input to keep in memory
BLOCK = 1 << 20

# Endings of the names of compressed files; the first bytes of the content decide.
SUFFIXES = (".gz", ".bz2", ".xz", ".zip")
PACKED: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda raw: gzip.GzipFile(fileobj=raw)),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ\0": ("xz", lzma.LZMAFile),
    b"PK\x03\x04": ("zip", zipfile.ZipFile),
}
# First bytes of other formats; those without a kind are unsupported, and are named in the message.
BEGINNINGS = (
    (b"PAR1", "parquet"),
    (NPY, "npy"),
    (b"SQLite format 3\0", "sqlite"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (b"<stata_dta>", "stata"),
    (b"ARROW1", "feather"),
    (b"FEA1", "feather"),
)
FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls); save it as .xlsx or",
    b"%PDF": "a PDF document",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"MATLAB 5.0": "a MATLAB file",
    b"RDX2": "data of R (.RData)",
    b"RDX3": "data of R (.RData)",
    b"X\n\0\0\0": "data of R (.rds)",
    b"A\n2\n": "data of R (.rds)",
    b"A\n3\n": "data of R (.rds)",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"7z\xbc\xaf": "a 7z archive; unpack it, or",
    b"Rar!": "a RAR archive; unpack it, or",
    b"\x28\xb5\x2f\xfd": "a zstd archive; unpack it, or",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
    b"{\\rtf": "an RTF document",
    b"HEADER RECORD***": "a SAS transport file",
    b"\0" * 12 + b"\xc2\xea\x81\x60": "a SAS data set",
    b"\x7fELF": "a program",
}
_PICKLE = re.compile(rb"\x80[\x02-\x05](?:\x95.{8})?[\]}(\x8c}cX]", re.S)
_STATA = re.compile(rb"[\x66-\x73][\x01\x02]\x01\0")
_MARKUP = re.compile(rb"<(?:!doctype html|html|head|body|table|\?xml|svg|![-\[])", re.I)
_SPARSE = re.compile(rb"[-+.,0-9eE]+(?:[ \t]+(?:qid|[0-9]+):[-+.0-9eE]+)*[ \t]*(?:#.*)?")
FAULTS = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError)

GUESSED = ("cp1252", "latin-1")  # fallbacks
UNICODE = ("utf-8", "utf-16", "utf-16-le", "utf-16-be")
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class _Refused(Exception):
    """Unreadable content of an archive; the message follows the name of the file."""


@dataclass(frozen=True)
class Source:
    """A table on the disk (`path`) or, for short standard input, in memory (`content`).

    beside : further columns of a .npy table, as (name, file)
    part : the sheet of a workbook, the table of a SQLite file, or the member of an archive; "" for the only one
    most : limit of its unpacked bytes, since a small archive can exceed the memory of any machine; None for a table
        that is read in parts"""

    where: str
    path: Path | None = None
    content: bytes | None = None
    most: Bound | None = TABLE_BYTES
    beside: tuple[tuple[str, str], ...] = ()
    part: str = ""

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Yield the unpacked bytes from their beginning. DataError if they are incomplete, or more than `most`."""
        with self._raw() as raw:
            yield io.BufferedReader(_Bounded(raw, self), BLOCK)

    @functools.cached_property
    def kind(self) -> str:
        """Format of `Columns` by the first bytes of the content: "csv" is text with a delimiter."""
        if (members := self._members()) is not None and "[Content_Types].xml" in members:
            if not any(name.startswith("xl/") for name in members):
                raise DataError(f"{self.where}: this is an Office document; save its table as CSV")
            return "excel"
        with self.opened() as stream:
            start = stream.read(BLOCK)
        for magic, kind in BEGINNINGS:
            if start.startswith(magic):
                return kind
        if _STATA.match(start):
            return "stata"
        if name := _foreign(start):
            raise DataError(f"{self.where}: this is {name}{'' if name.endswith(' or') else ';'} save its table as CSV")
        lines = [line.strip() for line in start.removeprefix(codecs.BOM_UTF8).splitlines()[:1000]]
        texts = [line for line in lines if line and not line.startswith((b"%", b"#"))]
        first = texts[0].lower() if texts else b""
        if first.startswith((b"@relation", b"@attribute", b"@inputs")):
            return "arff"
        if re.match(rb'[\[{]\s*(?:["{}\[\]]|$)', first) and not first.startswith(b"[]"):
            return "json"
        return "libsvm" if _is_sparse(texts[:-1] or texts) else "csv"

    def _members(self) -> list[str] | None:
        """Return the names in a zip archive, None for any other file."""
        with self._raw() as raw:
            if not zipfile.is_zipfile(raw):
                return None
            try:
                return zipfile.ZipFile(raw).namelist()
            except FAULTS:
                return None

    def whole(self) -> bytes:
        """Return all unpacked bytes; a workbook, which is an archive, stays packed."""
        bounded = replace(self, most=self.most or TABLE_BYTES)
        with bounded.opened() if self.kind != "excel" else bounded._raw() as stream:
            return stream.read()

    @contextmanager
    def _raw(self) -> Iterator[Any]:
        try:
            raw: Any = io.BytesIO(self.content or b"") if self.path is None else open(self.path, "rb")  # noqa: SIM115
        except OSError as error:
            raise DataError(f"{self.where}: the file cannot be read ({error.strerror})") from None
        with raw:
            yield raw

    @functools.cached_property
    def charset(self) -> str:
        """Character set: UTF-8 if all bytes are valid, UTF-16 by mark or zero bytes, else cp1252, at last Latin-1."""
        decoder, is_utf8, is_cp1252 = codecs.getincrementaldecoder("utf-8")(), True, True
        with self.opened() as stream:
            start = stream.read(BLOCK)
            if encoding := _marked(start):
                return encoding
            for block in itertools.chain(
                [start], iter(lambda: stream.read(BLOCK), b""), [b""]
            ):  # the last one is empty
                if block.isascii() and block and not decoder.getstate()[0]:
                    continue
                if is_utf8:
                    try:
                        decoder.decode(block, final=not block)
                    except UnicodeDecodeError:
                        is_utf8 = False
                is_cp1252 = is_cp1252 and not block.translate(None, _IN_CP1252)
        return "utf-8" if is_utf8 else "cp1252" if is_cp1252 else "latin-1"

    def charset_like(self, other: str) -> str:
        """Return `charset`, or the `other` table's if the bytes show only that the text is not Unicode."""
        is_certain = self.charset not in GUESSED or other in (*GUESSED, *UNICODE)
        return self.charset if is_certain else other

    def digest(self) -> str:
        """Return the SHA-256 of the packed bytes, in hexadecimal."""
        if self.path is None:
            return hashlib.sha256(self.content or b"").hexdigest()
        with open(self.path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


_IN_CP1252 = bytes(set(range(256)) - {0x81, 0x8D, 0x8F, 0x90, 0x9D})


def charset_of(name: str) -> str:
    """Return the usual name of a character set; LookupError for an unknown one."""
    try:
        usual = codecs.lookup(name).name
        "".encode(usual)  # LookupError for codecs that are no character sets, such as zip
    except ValueError:
        raise LookupError(name) from None
    return usual


def source_of(name: str | Path) -> Source:
    """Return the table at a path, or standard input for "-". DataError if there is nothing to read."""
    if str(name) == STDIN:
        held = _standard_input()
        where = "standard input"
        return Source(where, content=held) if isinstance(held, bytes) else Source(where, path=Path(held.name))
    where = as_typed(name)
    if re.match("[a-z][a-z0-9+.-]+://", str(name), re.I):
        raise DataError(
            f"{name}: this is an address; download the file first, as in curl -LO ADDRESS, and give its name"
        )
    path, part = divided(str(name))
    try:
        # A pipe or a device could block forever, and can be read only once.
        if stat.S_ISREG(path.stat().st_mode):
            return Source(where, path=path, part=part)
        reason = "is not a regular file; pipe it in and give - as its name"
    except FileNotFoundError:
        reason = "does not exist"
    except (OSError, ValueError) as error:
        raise DataError(f"{where}: the file cannot be read ({getattr(error, 'strerror', None) or error})") from error
    raise DataError(f"{where}: the file {reason}")


def content_of(path: str | Path) -> bytes:
    """Return all bytes of a file, packed or not. DataError if it cannot be read, or has more than TABLE_BYTES."""
    source, most = source_of(path), TABLE_BYTES.value
    try:
        if source.path is not None and source.path.stat().st_size > most:
            raise DataError(f"{source.where}: the table holds more than {most} bytes; {TABLE_BYTES.advice}")
        with source._raw() as raw:
            content: bytes = raw.read()
    except OSError as error:
        raise DataError(f"{source.where}: the file cannot be read ({error.strerror})") from None
    return content


def divided(name: str) -> tuple[Path, str]:
    """Return the path and the part of "FILE:PART"; the part is "" if the name is a file."""
    before, colon, part = name.rpartition(":")
    try:
        if colon and before and not Path(name).exists() and Path(before).is_file():
            return Path(before), part
    except (OSError, ValueError):
        pass
    return Path(name), ""


@functools.cache
def _standard_input() -> Any:
    """Return all of standard input, which can be read only once: bytes, or a temporary file if it is long."""
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
    path, part = divided(str(name))
    if part:
        return part.removesuffix(Path(part).suffix)
    while path.suffix.lower() in SUFFIXES:
        path = path.with_suffix("")
    return path.stem


def _marked(block: bytes) -> str:
    """Return the character set shown by the first bytes: a byte order mark, or zero bytes at every other place."""
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
    """Unpacked bytes of a stream; every fault of an archive becomes a DataError."""

    def __init__(self, raw: Any, source: Source) -> None:
        self._where, self._name, self._read = source.where, "file", 0
        self._bound, self._most = source.most, source.most.value if source.most else math.inf
        self._stream: Any = raw
        start = raw.read(8)
        raw.seek(0)
        for magic, (name, opened) in PACKED.items():
            if start.startswith(magic):
                self._name = f"{name} file"
                with self._faults():
                    self._stream = opened(raw)
                    if isinstance(self._stream, zipfile.ZipFile):
                        self._stream = _member(self._stream, source.part)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._faults():
            n: int = self._stream.readinto(buffer)
        self._read += n
        if self._bound and self._read > self._most:
            raise DataError(f"{self._where}: the table holds more than {self._most} bytes; {self._bound.advice}")
        return n

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except _Refused as error:
            raise DataError(f"{self._where}: {error}") from None
        except FAULTS as error:
            reason = cut(" ".join(str(error).split()), 200)  # of zip files it contains the stand-in for the name
            raise DataError(f"{self._where}: not a whole {self._name} ({reason})") from None


def _member(archive: zipfile.ZipFile, part: str) -> Any:
    """Return the file of a zip archive with this name, or its only file."""
    names = [i.filename for i in archive.infolist() if not i.is_dir() and not i.filename.startswith("__MACOSX/")]
    if part in names:
        names = [part]
    if len(names) != 1 or (part and part not in names):
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        many = f"the archive has {len(names)} files{f' ({shown})' if names else ''}"
        raise _Refused(f"{many}; say which one, as in FILE:{names[0]}" if names else many)
    if archive.getinfo(names[0]).flag_bits & 1:
        raise _Refused("the archive is locked by a password; unpack it first")
    return archive.open(names[0])


def _is_sparse(lines: list[bytes]) -> bool:
    """Return whether all lines are labels with "place:value" in the order of places, some line with several pairs."""
    if not any(line.count(b":") > 1 for line in lines) or not all(map(_SPARSE.fullmatch, lines)):
        return False
    places = ([int(place) for place in re.findall(rb"[ \t]([0-9]+):", line)] for line in lines)
    return all(listed == sorted(set(listed)) for listed in places)


def _foreign(start: bytes) -> str:
    """Return the name of an unsupported format by the first bytes of the content; "" for any other."""
    if _PICKLE.match(start):
        return "a pickle of Python"
    if start[257:262] == b"ustar":
        return "a tar archive; unpack it, or"
    if match := _MARKUP.match(start.removeprefix(codecs.BOM_UTF8).lstrip()):
        return "an XML document" if match[0][1:2] in b"?s" else "a web page (HTML)"
    return next((name for magic, name in FOREIGN.items() if start.startswith(magic)), "")
