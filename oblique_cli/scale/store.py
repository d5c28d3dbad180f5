"""`Store`: the rows of a table on the disk, in chunks that every pass reads one at a time."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import DataError, cannot_write
from oblique_cli.ground.arrays import Array

MANIFEST = "rows.json"
FORMAT = 2
# Part of a row, stored in chunks: growth, pruning, or test.
GROW, PRUNE, TEST = 0, 1, 2
REMEDY = "remove the folder, and fit again from the table"
# Size of a chunk: large beside the cost of a call, and small enough for a cache to hold the rows of two threads and
# their copies in the order of nodes.
TARGET_BYTES = 1 << 22


@dataclass(frozen=True)
class Rows:
    """The rows of a chunk.

    columns : (p, n); codes : (n,) class codes; weights : (n,) or None; parts : (n,) GROW, PRUNE or TEST"""

    columns: Array
    codes: NDArray[np.int32]
    weights: Array | None
    parts: NDArray[np.int8]


class Room(threading.local):
    """Reusable memory of a thread for reading chunks: new pages cost more than reading."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}

    def content(self, size: int) -> memoryview:
        """Return a buffer for `size` bytes of a file."""
        if len(self._held.get("content", b"")) < size:
            self._held["content"] = bytearray(size)
        return memoryview(self._held["content"])[:size]

    def doubles(self, name: str, size: int) -> Array:
        """Return the buffer `name` for `size` numbers."""
        if len(self._held.get(name, ())) < size:
            self._held[name] = np.empty(size)
        buffer: Array = self._held[name]
        return buffer


@dataclass
class Store:
    """Rows in a folder, one file a chunk: columns one after the other, codes, weights, parts.

    path        the folder, with the same name on every worker
    n_features  p
    n_classes   C
    dtype       of the columns on the disk; they are float64 in memory
    weighted    whether rows have weights, which are multiples of a power of 2 whose sums are exact
    levels      levels of each feature, 0 for a quantitative one; () if all are quantitative
    sizes       rows of each chunk
    sums        CRC-32 of each chunk
    bytes_read  by this process, of rows and of their places in the tree
    room        for callers that finish each chunk before they read the next"""

    path: Path
    n_features: int
    n_classes: int
    dtype: str = "<f8"
    weighted: bool = False
    levels: tuple[int, ...] = ()
    sizes: list[int] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)
    bytes_read: int = 0
    room: Room = field(default_factory=Room)
    _checked: set[int] = field(default_factory=set)

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Return the store in a folder. DataError if there is no complete store."""
        path = Path(path)
        try:
            plain = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
            if plain.pop("format") != FORMAT:
                raise ValueError("another format")
            if plain.pop("sum") != _sum(plain):
                raise ValueError("its checksum is wrong")
            return cls(path, **{**plain, "levels": tuple(plain["levels"])})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{path}: not a folder of rows that a fit has written ({error}); {REMEDY}") from None

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return sum(self.sizes)

    @property
    def bytes_of_row(self) -> int:
        """Bytes of a row on the disk, including its place in the tree."""
        return self.n_features * np.dtype(self.dtype).itemsize + 4 + (8 if self.weighted else 0) + 1 + 4

    def chunk_rows(self) -> int:
        """Return the number of rows of a chunk."""
        return int(np.clip(TARGET_BYTES // (8 * self.n_features), 1024, 1 << 17))

    def file(self, chunk: int) -> Path:
        """Return the file of a chunk."""
        return self.path / f"chunk_{chunk:06d}.rows"

    def add(self, columns: Array, codes: NDArray[np.int32], weights: Array | None, parts: NDArray[np.int8]) -> None:
        """Append a chunk. columns : (p, n)"""
        blocks = [np.ascontiguousarray(columns, self.dtype), np.ascontiguousarray(codes, "<i4")]
        if self.weighted:
            blocks.append(np.ascontiguousarray(weights, "<f8"))
        blocks.append(np.ascontiguousarray(parts, "|i1"))
        total = 0
        with writing(self.file(len(self.sizes))) as stream:
            for block in blocks:
                total = zlib.crc32(block.data.cast("B"), total)
                stream.write(block.data.cast("B"))
        self.sizes.append(len(codes))
        self.sums.append(total)

    def close(self) -> None:
        """Write the manifest; without it the folder is no store."""
        plain = {
            **{k: getattr(self, k) for k in ("n_features", "n_classes", "dtype", "weighted", "sizes", "sums")},
            "levels": list(self.levels),
        }
        with writing(self.path / MANIFEST) as stream:
            stream.write(json.dumps({"format": FORMAT, "sum": _sum(plain), **plain}).encode())

    def read(self, chunk: int, room: Room | None = None) -> Rows:
        """Return a chunk; DataError, with the numbers of its rows, if it has changed since it was written. room :
        memory for the rows until its next use; by default new memory"""
        n, p = self.sizes[chunk], self.n_features
        itemsize = np.dtype(self.dtype).itemsize
        first = sum(self.sizes[:chunk])
        where = f"{self.file(chunk)}: chunk {chunk} (rows {first + 1} to {first + n})"
        expected = n * (self.bytes_of_row - 4)
        try:
            with open(self.file(chunk), "rb", buffering=0) as stream:
                size = os.fstat(stream.fileno()).st_size
                content = memoryview(bytearray(expected)) if room is None else room.content(expected)
                read = stream.readinto(content) if size == expected else size
        except OSError as error:
            raise DataError(f"{where} cannot be read ({error.strerror}); {REMEDY}") from None
        self.bytes_read += read
        if read != expected:
            raise DataError(f"{where} has {read} bytes instead of {expected}; {REMEDY}")
        if chunk not in self._checked:
            if zlib.crc32(content) != self.sums[chunk]:
                raise DataError(f"{where} is corrupt: its checksum is wrong; {REMEDY}")
            self._checked.add(chunk)
        at = p * n * itemsize
        columns = np.frombuffer(content, self.dtype, p * n).reshape(p, n)
        codes = np.frombuffer(content, "<i4", n, at)
        at += 4 * n
        weights = None
        if self.weighted:
            # The bytes may be unaligned; the core needs aligned words.
            weights = np.frombuffer(content, "<f8", n, at).copy()
            at += 8 * n
        parts = np.frombuffer(content, "|i1", n, at)
        if room is not None and columns.dtype != np.float64:
            doubles = room.doubles("columns", columns.size)[: columns.size].reshape(p, n)
            doubles[...] = columns
            columns = doubles
        return Rows(np.ascontiguousarray(columns, np.float64), codes, weights, parts)

    # ---- places of rows in the tree --------------------------------------------------------------------------------

    def place_file(self, level: int, chunk: int) -> Path:
        """Return the file with the slot of every row of a chunk at a level."""
        return self.path / f"level_{level:04d}" / f"chunk_{chunk:06d}.places"

    def places(self, level: int, chunk: int, rows: Rows) -> NDArray[np.int32]:
        """Return the slot of every row at a level, below 0 for none; at level 0 growth rows are in slot 0."""
        if level == 0:
            return np.where(rows.parts == GROW, 0, -1).astype(np.int32)
        n = self.sizes[chunk]
        try:
            places = np.fromfile(self.place_file(level, chunk), "<i4")
        except OSError as error:
            raise DataError(f"{self.place_file(level, chunk)}: cannot be read ({error.strerror}); {REMEDY}") from None
        self.bytes_read += places.nbytes
        if len(places) != n:
            raise DataError(f"{self.place_file(level, chunk)}: has {len(places)} places for {n} rows; {REMEDY}")
        return places

    def keep_places(self, level: int, chunk: int, places: NDArray[np.int32]) -> None:
        """Write the slots of a chunk's rows at a level, atomically."""
        target = self.place_file(level, chunk)
        target.parent.mkdir(exist_ok=True)
        with writing(target) as stream:
            stream.write(np.ascontiguousarray(places, "<i4").data.cast("B"))

    def forget_level(self, level: int) -> None:
        """Remove the places of a level that is no longer needed."""
        shutil.rmtree(self.path / f"level_{level:04d}", ignore_errors=True)


def _sum(plain: dict[str, Any]) -> int:
    """Return the CRC-32 of the content of a manifest."""
    return zlib.crc32(json.dumps(plain, sort_keys=True).encode())


@contextlib.contextmanager
def writing(target: Path) -> Iterator[Any]:
    """Yield a stream to a file that appears under its name when complete. `errors.cannot_write` if that fails."""
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as stream:
            yield stream
        os.replace(part, target)
    except OSError as error:
        raise cannot_write(target, error, "--scratch names a folder on another disk") from None
    finally:
        part.unlink(missing_ok=True)


def parts_of_levels(levels: Sequence[int]) -> NDArray[np.int32] | None:
    """Return the levels of features in the form of the core, None if all are quantitative."""
    return np.array(levels, dtype=np.int32) if any(levels) else None
