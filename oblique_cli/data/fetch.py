"""Fetching of data sets that the package may not contain: from the UCI archive, converted by a recipe.

No checksums of the archive's files exist, so the result is checked: the raw file is converted to the catalogue's CSV,
which is kept only if it has the catalogue's sha256. A changed, truncated or forged download fails.

A renamed temporary file creates the finished file. A lock serializes processes that need the same file.
"""

from __future__ import annotations

import contextlib
import csv
import http.client
import io
import os
import subprocess
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from oblique_cli.data import files
from oblique_cli.data.csv_text import csv_text
from oblique_cli.data.entries import Entry, Recipe, Source
from oblique_cli.data.files import FileCopy
from oblique_cli.data.own.source import content_of
from oblique_cli.errors import ConfigError, DataError, cannot_write

try:
    import fcntl
except ImportError:  # Windows: concurrent fetches may damage each other's download, which the checksum then shows
    fcntl = None  # type: ignore[assignment]

ARCHIVE = "https://archive.ics.uci.edu"
ENVIRONMENT = "OBLIQUE_UCI_URL"
TIMEOUT = 30.0  # seconds without a byte
# Many times the size of the largest file of the catalogue; a larger download is the wrong file.
LARGEST = 64 << 20
MEMBERS = 10_000


class _Absent(Exception):
    """The archive has no file at this path."""


class _Unusable(Exception):
    """The download is not the file that the recipe expects."""


def fetch(
    entry: Entry,
    place: Path,
    *,
    offline: bool = False,
    base_url: str | None = None,
    timeout: float = TIMEOUT,
    looked_in: Sequence[Path] = (),
) -> FileCopy:
    """Make sure that the files of an entry that is not bundled are in the folder `place`, and return the first.

    base_url    root of the archive; by default $OBLIQUE_UCI_URL, else the archive itself
    looked_in   folders named in the message when the set cannot be fetched
    Raises DataError: offline, not in the archive, not reachable, or different from the catalogue. Raises ConfigError
    for a base_url that is not http or https."""
    wanted = " and ".join(file.name for file in entry.files.values())
    folders = ", ".join(map(str, looked_in or [place]))
    advice = f"put {wanted} into a folder and name that by --data-dir or {files.ENVIRONMENT}"
    owner = files.CACHE if files.is_cache(place) else files.DATA_DIRECTORY
    forms = [[FileCopy(place / name, sha256, owner) for name, sha256 in file.forms()] for file in entry.files.values()]
    good = [next((form for form in file if _is_good(entry, form)), None) for file in forms]
    if good[0] is not None and all(good):
        return good[0]
    target = forms[0][-1]  # a recipe makes one file, in the last of its forms
    if entry.recipe is None:
        raise DataError(f"{entry.where} is not in {folders} and was never in the UCI archive; {advice}")
    if offline:
        raise DataError(f"{entry.where} is not in {folders}, and offline nothing is fetched; {advice}")
    base_url = (base_url or os.environ.get(ENVIRONMENT) or ARCHIVE).rstrip("/")
    if not base_url.startswith(("http://", "https://")):
        raise ConfigError(f"{ENVIRONMENT} must be a http or https address. Got {base_url!r}.")
    with locked(target.path, "name another folder by --data-dir"):
        if not _is_good(entry, target):  # else another process was faster
            files.write(target.path, _download_and_convert(entry, entry.recipe, target.sha256, base_url, timeout))
    return target


def _is_good(entry: Entry, target: FileCopy) -> bool:
    """Return whether the file exists intact. A damaged file is renamed, or refused in a user's folder."""
    if not os.path.exists(target.path):
        return False
    fault = files.mismatch(target, content_of(target.path))
    if not fault:
        return True
    if target.owner != files.CACHE or not files.set_aside(target.path):
        remedy = ", or remove it to have it fetched" if entry.recipe else ""
        raise DataError(f"{entry.where}: {fault}. Put a good copy in its place{remedy}")
    return False


def get(url: str, where: str) -> bytes:
    """Return the content at an address. where : prefix of the messages of DataError"""
    try:
        return _download(url, TIMEOUT)
    except _Absent:
        reason = "it does not exist"
    except _Unusable as error:
        reason = str(error)
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = f"{_reason(error)}; the same command tries again"
    raise DataError(f"{where}: {url} could not be fetched ({reason})")


@contextlib.contextmanager
def locked(path: Path, remedy: str = "") -> Iterator[None]:
    """Make the folder of a file, and lock the fetch of the file for one process at a time; the end of the process
    releases the lock. `errors.cannot_write`, with the remedy, if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = open(path.with_name(f".{path.name}.lock"), "ab")  # noqa: SIM115
    except OSError as error:
        raise cannot_write(path.parent, error, remedy) from None
    with stream:
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _download_and_convert(entry: Entry, recipe: Recipe, sha256: str, base_url: str, timeout: float) -> bytes:
    """Try the archive's places in turn; return the verified content of the converted file."""
    faults: list[str] = []
    for source in recipe.sources:
        url = f"{base_url}/{source.path}"
        try:
            return _converted(_download(url, timeout), source, recipe, sha256)
        except _Absent:
            faults.append(f"{url} does not exist")
        except _Unusable as error:
            # A moved archive may answer with an HTML page, so the next place is still tried.
            faults.append(f"{url} is not the file that the catalogue knows: {error}")
        except (OSError, ValueError, http.client.HTTPException) as error:
            again = f"run `oblique data fetch {entry.name}` again"
            raise DataError(f"{entry.where}: {url} could not be fetched ({_reason(error)}); {again}") from None
    raise DataError(f"{entry.where} cannot be fetched ({'; '.join(faults)})")


def _reason(error: BaseException) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        error = error.reason if isinstance(error.reason, BaseException) else error
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _download(url: str, timeout: float) -> bytes:
    """Return the content of `url`. Raises _Absent (404, 410), _Unusable (too large), OSError, ValueError or
    HTTPException."""
    headers = {"User-Agent": "oblique-trees", "Accept-Encoding": "identity"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout) as response:
            length = response.headers.get("Content-Length", "")
            expected = int(length) if length.isdigit() else 0
            content: bytes = b"" if expected > LARGEST else response.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (404, 410):
            raise _Absent from None
        raise
    if max(len(content), expected) > LARGEST:
        raise _Unusable(f"it is larger than {LARGEST >> 20} MB")
    if len(content) < expected:
        raise ConnectionError(f"the connection ended after {len(content)} of {expected} bytes")
    return content


def _converted(raw: bytes, source: Source, recipe: Recipe, sha256: str) -> bytes:
    """Return the archive's file as our CSV. Raises _Unusable for another form than the recipe's or a wrong checksum."""
    for member in source.members:
        raw = _member(raw, member)
    if (source.members or (source.path,))[-1].endswith(".Z"):
        raw = uncompress(raw)
    try:
        content = convert(raw.decode("utf-8"), recipe).encode()
    except UnicodeDecodeError:
        raise _Unusable("it is not text") from None
    actual = files.digest(content)
    if actual != sha256:
        raise _Unusable(f"sha256 after conversion is {actual[:8]}... instead of {sha256[:8]}...")
    return content


def _member(archive: bytes, name: str) -> bytes:
    """Read a member of a zip file by its name, in any folder of the archive; nothing is written to disk."""
    try:
        # A member list takes a kilobyte of memory per member; an archive of ours has a few.
        if archive.count(b"PK\x01\x02") > MEMBERS:
            raise _Unusable(f"the zip file has more than {MEMBERS} members")
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = [info for info in opened.infolist() if info.filename == name] or [
                info for info in opened.infolist() if info.filename.endswith(f"/{name}")
            ]
            if len(members) != 1:
                raise _Unusable(f"the zip file has {len(members)} members named {name}")
            # Other methods unpack a block at a time into memory of any size.
            if members[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _Unusable(f"{name} is packed by another method than deflate")
            with opened.open(members[0]) as stream:
                content = stream.read(LARGEST + 1)
            if max(members[0].file_size, len(content)) > LARGEST:
                raise _Unusable(f"{name} is larger than {LARGEST >> 20} MB")
            return content
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise _Unusable(f"it is not a whole zip file: {error}") from None


def convert(text: str, recipe: Recipe) -> str:
    """Convert the archive's text to our CSV: integer columns as integers, other numbers in the shortest form that
    restores the float64, words unchanged."""
    if recipe.delimiter == "whitespace":
        rows = [line.split() for line in text.splitlines() if line.strip()]
    else:
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=recipe.delimiter) if row]
        except csv.Error as error:
            raise _Unusable(str(error)) from None
    rows = rows[1:] if recipe.header else rows
    for number, row in enumerate(rows, 1):
        if len(row) != len(recipe.columns):
            raise _Unusable(f"row {number} has {len(row)} fields instead of {len(recipe.columns)}")
    if not rows:
        raise _Unusable("it has no rows")
    named = zip(recipe.columns, zip(*rows, strict=True), strict=True)
    columns = [(name, _rewritten(cells, recipe.missing)) for name, cells in named if name != "-"]
    return csv_text([[name for name, _ in columns], *zip(*(cells for _, cells in columns), strict=True)])


def _rewritten(cells: Sequence[str], missing: str) -> list[str]:
    present = ["" if cell == missing else cell for cell in map(str.strip, cells)]
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return [repr(number(cell)) if cell else "" for cell in present]
    return present


def uncompress(data: bytes) -> bytes:
    """Undo the Unix `compress` program (.Z) by gzip, which every Unix has. Raises _Unusable for damaged data."""
    with tempfile.TemporaryFile() as packed:
        packed.write(data)
        packed.seek(0)
        try:
            process = subprocess.Popen(["gzip", "-dc"], stdin=packed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except OSError:
            raise _Unusable("it is a .Z file, and there is no gzip to unpack it") from None
    with process:
        assert process.stdout is not None
        content = process.stdout.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise _Unusable(f"it holds more than {LARGEST >> 20} MB")
    if process.returncode:
        raise _Unusable("the .Z file is damaged")
    return content
