"""Model files: strictly read JSON, and a binary file beside it for large arrays.

Nothing is executed or unpickled. Input has a bounded size, unique keys, finite numbers, and the digest of its
content; each error message is one sentence with file, place and reason.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import stat
import zipfile
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data import files
from oblique_cli.errors import DataError, quoted
from oblique_cli.models.codecs import STORED, Arrays, Held, listed

FORMAT = "oblique-model"
VERSION = 1
EXPECTED = "expected is the file that oblique fit --output writes"
KEYS = ("format", "version", "digest", "arrays")  # keys that this module writes and reads
MOST_JSON = 64 * 2**20  # bytes of the JSON
MOST_VALUES = 2**22  # of the JSON; a value takes up to some hundred bytes of memory
MOST_ARRAYS = 2 * 2**30  # bytes of the unpacked arrays
INLINE = 50_000  # a model with more numbers has its larger arrays in the binary file
SMALL = 64  # an array of at most this many numbers stays in the JSON


def binary_of(path: Path) -> Path:
    """Return the path of a model's binary file."""
    return path.with_name(path.name + ".npz")


def contents(path: Path, document: Mapping[str, Any], arrays: Arrays) -> dict[Path, bytes]:
    """Return the content of the files of a model at `path`, the JSON first.

    document : plain data, in which arrays are `Held`. DataError if it exceeds the limits of a file.
    """
    total = sum(held.values.size for held in arrays.held)
    large = {h.number for h in arrays.held if h.values.size > SMALL} if total > INLINE else set()
    stored = {f"a{h.number}": h.values for h in arrays.held if h.number in large}

    def array(value: Any) -> Any:
        if not isinstance(value, Held):
            raise TypeError(f"{type(value).__name__} in a model document")
        return {STORED: f"a{value.number}"} if value.number in large else listed(value.values)

    whole = {"format": FORMAT, "version": VERSION, **document, "arrays": None}
    if stored:
        content = io.BytesIO()
        np.savez_compressed(content, **stored)  # type: ignore[arg-type]
        packed = content.getvalue()
        whole["arrays"] = {"digest": _sha256(packed), "bytes": len(packed)}
    plain = json.loads(json.dumps(whole, default=array, allow_nan=False))
    plain["digest"] = digest(plain)
    order = ["format", "version", "digest", *(key for key in plain if key not in ("format", "version", "digest"))]
    lines = (f"  {json.dumps(key)}: {json.dumps(plain[key], ensure_ascii=False)}" for key in order)
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    content_ = text.encode()
    if len(content_) > MOST_JSON:
        raise DataError(f"{path}: the model takes {len(content_):,} bytes of JSON, and {MOST_JSON:,} are allowed.")
    _bound_values(content_, path)
    return {path: content_, binary_of(path): packed} if stored else {path: content_}


def write(file_bytes: Mapping[Path, bytes]) -> list[Path]:
    """Write the files of a model atomically, and none if there is no room for all; return them.

    file_bytes : path -> content, as from `contents`. DataError if a file cannot be written.
    """
    path, *beside = file_bytes
    # The JSON last: until then the old JSON names the old binary file.
    files.write_together(file_bytes)
    if not beside:
        with contextlib.suppress(OSError):
            binary_of(path).unlink(missing_ok=True)  # of the previous model at this path
    return list(file_bytes)


def read(path: Path, file_bytes: Mapping[Path, bytes] | None = None) -> tuple[dict[str, Any], Arrays]:
    """Read the two files of a model. DataError, whose message begins with the path.

    file_bytes : path -> content, where the files are not written yet
    """
    document = _parsed(_content(path, MOST_JSON) if file_bytes is None else file_bytes[path], path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(
            f"{path}: this is no model file (it has no format {FORMAT!r}); oblique fit --output writes one."
        )
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        newer = type(version) is int and version > VERSION
        advice = "install a newer version of oblique-trees" if newer else "fit the model again"
        raise DataError(
            f"{path}: the file has format version {quoted(version)}, and this version reads {VERSION}; {advice}."
        )
    if document.get("digest") != digest(document):
        raise DataError(
            f"{path}: the content does not have the digest that was written with it, so the file is damaged or was "
            "edited; fit the model again."
        )
    about = document.get("arrays")
    return document, Arrays(None if about is None else _stored(binary_of(path), about, file_bytes))


def digest(document: Mapping[str, Any]) -> str:
    """Return the digest of a document without its digest, independent of blanks and of the order of keys."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    return _sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())


def _sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _content(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file of bounded size."""
    try:
        flag = getattr(os, "O_NONBLOCK", 0)  # a pipe could block for ever
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | flag)) as stream:
            about = os.fstat(stream.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise DataError(f"{path}: this is not a regular file.")
            content = stream.read(most + 1)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    except ValueError as error:  # a NUL in the name
        raise DataError(f"{path}: cannot be read ({error}).") from None
    if len(content) > most:
        raise DataError(f"{path}: the file is larger than {most:,} bytes, which no model file is.")
    return content


def _bound_values(content: bytes, path: Path) -> None:
    """Refuse a text that may have too many values, by counting its punctuation before parsing takes memory."""
    values = sum(map(content.count, (b",", b"[", b"{")))
    if values > MOST_VALUES:
        raise DataError(f"{path}: the file holds up to {values:,} values of JSON, and {MOST_VALUES:,} are allowed.")


def _parsed(content: bytes, path: Path) -> Any:
    _bound_values(content, path)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            seen: set[str] = set()
            again = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise DataError(f"{path}: the key {quoted(again)} comes twice in one object.")
        return entries

    def finite(text: str) -> float:
        number = float(text)
        if not isfinite(number):
            raise DataError(f"{path}: the number {text[:30]} is not finite.")
        return number

    def refuse(text: str) -> Any:
        raise DataError(f"{path}: the file holds {text}, which is no number of JSON.")

    try:
        return json.loads(content, object_pairs_hook=unique, parse_float=finite, parse_constant=refuse)
    except json.JSONDecodeError as error:
        if error.pos == 0:
            raise DataError(f"{path}: this is no model file, but another kind of text; {EXPECTED}.") from None
        place = f"line {error.lineno}, column {error.colno} is no JSON ({error.msg})"
        raise DataError(f"{path}: {place}; {EXPECTED}, whole and unchanged.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: this is not UTF-8 text, so it is no model file; {EXPECTED}.") from None
    except RecursionError:
        raise DataError(f"{path}: the JSON is nested too deeply for a model file.") from None
    except DataError:
        raise
    except ValueError:  # an integer of thousands of digits
        raise DataError(f"{path}: the file holds a number of too many digits.") from None


def _stored(path: Path, about: Any, file_bytes: Mapping[Path, bytes] | None) -> Mapping[str, NDArray[Any]]:
    """Return the arrays of a binary file. file_bytes : path -> content of files not yet written"""
    if not isinstance(about, dict) or about.keys() != {"digest", "bytes"} or type(about["bytes"]) is not int:
        raise DataError(f"{path}: the model says nothing of this file that can be checked (arrays).")
    if file_bytes is None and not path.exists():
        raise DataError(f"{path}: the file is missing; it belongs to the model and must be beside it.")
    content = _content(path, min(about["bytes"], MOST_ARRAYS)) if file_bytes is None else file_bytes[path]
    if _sha256(content) != about["digest"]:
        raise DataError(f"{path}: the file is not the one that was written with the model; copy both files together.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if (unpacked := sum(member.file_size for member in archive.infolist())) > MOST_ARRAYS:
                raise DataError(f"{path}: unpacked, the arrays take {unpacked:,} bytes; {MOST_ARRAYS:,} are allowed.")
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except DataError:
        raise
    except Exception as error:  # a crafted archive makes zipfile, zlib and NumPy raise any exception
        raise DataError(f"{path}: the arrays cannot be read ({type(error).__name__}: {str(error)[:80]}).") from None
