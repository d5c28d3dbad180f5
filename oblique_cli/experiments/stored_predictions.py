"""Predictions of a fold, packed into bytes: ids of its test rows, the class of each, and optional probabilities.

A 10 x 10 run on Letter has 200,000 tested rows per algorithm. Row ids are stored as gaps, codes in the smallest
sufficient type, probabilities as a table of distinct rows with an index for each row (rows of one leaf share
probabilities), bytes of equal significance together, all compressed by zlib. Every number is restored exactly.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEAD = struct.Struct("<BBIH")  # format, kind, rows, columns of the probabilities
_FORM = 1
_CODES, _NUMBERS = 0, 1
_LEVEL = 6

# Types for ids, codes and indices, the smallest first. Little-endian on every machine.
_WHOLE = ("|u1", "<u2", "<u4", "<i8")


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of a fold for its test rows: (n,) row ids, counted from 0, and (n,) class codes or numbers.

    probabilities  (n, C) class shares, columns in the order of codes; None if they are not stored"""

    rows: NDArray[np.int64]
    predicted: NDArray[Any]
    probabilities: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Labels:
    """True values of a data set: its class labels by code, () for regression, and (n,) codes or numbers."""

    classes: tuple[str, ...]
    y: NDArray[Any]


def pack(predictions: Predictions) -> bytes:
    """Return `predictions` as bytes; equal predictions give equal bytes."""
    rows = np.asarray(predictions.rows, dtype=np.int64)
    shares = predictions.probabilities
    head = _HEAD.pack(_FORM, _kind(predictions.predicted), len(rows), 0 if shares is None else shares.shape[1])
    parts = [_whole(np.diff(rows, prepend=0)), _values(predictions.predicted)]
    if shares is not None:
        # Compare the bits of rows, so that -0.0 is kept and only identical rows are equal.
        bits = np.ascontiguousarray(shares, dtype="<f8").view("<u8")
        different, which = np.unique(bits, axis=0, return_inverse=True)
        parts += [_shuffled(different), _whole(which.reshape(-1))]
    return head + b"".join(struct.pack("<I", len(part)) + part for part in parts)


def unpack(packed: bytes) -> Predictions:
    """Return the inverse of `pack`. Raise ValueError if `pack` did not make `packed`."""
    n, kind, columns, parts = _opened(packed)
    rows = np.cumsum(_from_whole(parts[0]))
    predicted = _from_values(kind, parts[1])
    shares = None
    if columns:
        different = _from_shuffled(parts[2]).view("<f8").reshape(-1, columns)
        shares = different[_from_whole(parts[3])].astype(np.float64, copy=False)
    if not len(rows) == len(predicted) == n or (shares is not None and len(shares) != n):
        raise ValueError("the numbers of rows differ")
    return Predictions(rows, predicted, shares)


def pack_labels(labels: Labels) -> bytes:
    """Return the labels of a data set as bytes."""
    head = _HEAD.pack(_FORM, _kind(labels.y), len(labels.y), 0)
    names = zlib.compress("\0".join(labels.classes).encode("utf-8", "surrogatepass"), _LEVEL)
    return head + b"".join(struct.pack("<I", len(part)) + part for part in (names, _values(labels.y)))


def unpack_labels(packed: bytes) -> Labels:
    """Return the inverse of `pack_labels`."""
    n, kind, _, parts = _opened(packed)
    y = _from_values(kind, parts[1])
    names = zlib.decompress(parts[0]).decode("utf-8", "surrogatepass")
    if len(y) != n:
        raise ValueError("the numbers of rows differ")
    return Labels(tuple(names.split("\0")) if kind == _CODES else (), y)


def _opened(packed: bytes) -> tuple[int, int, int, list[bytes]]:
    try:
        form, kind, n, columns = _HEAD.unpack_from(packed)
        if form != _FORM:
            raise ValueError(f"form {form} is unknown")
        parts, at = [], _HEAD.size
        while at < len(packed):
            (size,) = struct.unpack_from("<I", packed, at)
            parts.append(packed[at + 4 : at + 4 + size])
            at += 4 + size
    except struct.error as error:
        raise ValueError(str(error)) from error
    return n, kind, columns, parts


def _kind(values: NDArray[Any]) -> int:
    return _NUMBERS if values.dtype.kind == "f" else _CODES


def _values(values: NDArray[Any]) -> bytes:
    return _whole(values) if _kind(values) == _CODES else _shuffled(np.asarray(values, dtype="<f8"))


def _from_values(kind: int, part: bytes) -> NDArray[Any]:
    return _from_whole(part) if kind == _CODES else _from_shuffled(part).view("<f8").astype(np.float64, copy=False)


def _whole(values: NDArray[Any]) -> bytes:
    """Return integers in the smallest sufficient type."""
    values = np.asarray(values, dtype=np.int64)
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    which = next(i for i, name in enumerate(_WHOLE) if np.iinfo(name).min <= low and high <= np.iinfo(name).max)
    return bytes([which]) + zlib.compress(values.astype(_WHOLE[which]).tobytes(), _LEVEL)


def _from_whole(part: bytes) -> NDArray[np.int64]:
    return np.frombuffer(zlib.decompress(part[1:]), dtype=_WHOLE[part[0]]).astype(np.int64)


def _shuffled(values: NDArray[Any]) -> bytes:
    """Return the bytes of 8-byte numbers, all first bytes first: bytes of equal weight compress better together."""
    planes = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8).T
    return zlib.compress(planes.tobytes(), _LEVEL)


def _from_shuffled(part: bytes) -> NDArray[np.uint64]:
    planes = np.frombuffer(zlib.decompress(part), dtype=np.uint8).reshape(8, -1)
    return np.ascontiguousarray(planes.T).view("<u8").reshape(-1)
