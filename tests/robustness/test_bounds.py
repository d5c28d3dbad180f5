"""Files that unpack into more than a memory holds are refused while they are read."""

import gzip
import io
import itertools
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from oblique_cli import config
from oblique_cli.data import fetch
from oblique_cli.data.own.front import Reading, chunks, read_own
from oblique_cli.data.own.source import Source, content_of
from oblique_cli.data.text_table import parse as parse_table
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground import bounds
from oblique_cli.ground.strict_yaml import Problems, YamlSource, parse

MB = 1 << 20


@contextmanager
def peak_below(megabytes: float) -> Iterator[None]:
    """Fail if more memory than that is taken at once."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1] / MB
    finally:
        tracemalloc.stop()
    assert peak < megabytes, f"{peak:.0f} MB"


def test_the_detector_of_memory_can_fire():
    with pytest.raises(AssertionError, match="MB"), peak_below(4):
        bytearray(8 * MB)


@pytest.fixture
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBLIQUE_MAX_TABLE_BYTES", str(4 * MB))
    monkeypatch.setenv("OBLIQUE_MAX_TABLE_CELLS", "10000")


def test_a_gzip_bomb_is_refused_before_it_is_unpacked(small_tables, tmp_path):
    bomb = tmp_path / "bomb.csv.gz"
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with bomb.open("wb") as stream:
        for _ in range(200):  # 200 MB in 200 kB
            stream.write(packer.compress(b"0" * MB))
        stream.write(packer.flush())
    content = content_of(bomb)
    with (
        peak_below(16),
        pytest.raises(DataError, match=r"more than 4194304 bytes; set OBLIQUE_MAX_TABLE_BYTES to read"),
    ):
        parse_table(content, "bomb.csv.gz")
    members = gzip.compress(b"0" * MB) * 100
    with peak_below(16), pytest.raises(DataError, match="more than 4194304 bytes"):
        parse_table(members, "bomb.csv.gz")


@pytest.fixture
def bomb(tmp_path) -> Path:
    """20 MB of a table in 20 kB."""
    path = tmp_path / "bomb.csv.gz"
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with path.open("wb") as stream:
        stream.write(packer.compress(b"x,y\n"))
        for _ in range(20):
            stream.write(packer.compress(b"1,a\n2,b\n" * (MB // 8)))
        stream.write(packer.flush())
    return path


@pytest.mark.long
def test_a_bomb_of_ones_own_is_refused_by_the_same_bounds(small_tables, bomb, monkeypatch):
    with (
        peak_below(16),
        pytest.raises(DataError, match=r"gz: the table holds more than 4194304 bytes; set OBLIQUE_"),
    ):
        read_own(bomb, Reading(target="y"))
    monkeypatch.setenv("OBLIQUE_MAX_TABLE_BYTES", str(64 * MB))
    with peak_below(16), pytest.raises(DataError, match=r"gz: the table holds more than 10000 cells; set OBLIQUE_MAX"):
        read_own(bomb, Reading(target="y"))
    content = b"x,y\n" + b"1,a\n2,b\n" * 2500
    with pytest.raises(DataError, match="more than 10000 cells"):
        read_own(Source("it", content=content), Reading(target="y"))
    monkeypatch.setenv("OBLIQUE_MAX_TABLE_CELLS", "10002")
    assert read_own(Source("it", content=content), Reading(target="y"))[0].n == 5000


@pytest.mark.long
def test_new_rows_are_read_beyond_the_bounds_of_what_is_learned_from(small_tables, bomb, monkeypatch):
    """A part at a time, in memory that does not depend on their number."""
    _, columns, _ = read_own(Source("it", content=b"x,y\n" + b"1,a\n2,b\n" * 20), Reading(target="y", keep=("x",)))
    monkeypatch.setenv("OBLIQUE_MAX_TABLE_BYTES", "100000")  # fewer than are in memory at a time
    with peak_below(16):
        counts = [len(chunk.X) for chunk in itertools.islice(chunks(bomb, columns, rows=4096), 20)]
    assert counts == [4096] * 20


def test_parquet_in_an_archive_is_held_in_memory_and_keeps_its_bound(small_tables, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    plain = io.BytesIO()
    table = arrow.table({"x": [1.5, 2.5] * 20, "y": ["a", "b"] * 20})
    parquet.write_table(table, plain)
    _, columns, _ = read_own(Source("it", content=plain.getvalue()), Reading(target="y", keep=("x",)))
    bomb = tmp_path / "bomb.parquet.gz"
    bomb.write_bytes(gzip.compress(plain.getvalue() + bytes(100 * MB), 1))
    for reading in (lambda: read_own(bomb, Reading(target="y")), lambda: next(chunks(bomb, columns))):
        with peak_below(24), pytest.raises(DataError, match="gz: the table holds more than 4194304 bytes"):
            reading()


def test_a_file_and_a_table_have_bounds_and_both_can_be_raised(small_tables, tmp_path, monkeypatch):
    large = tmp_path / "large.csv"
    large.write_bytes(b"a,b\n" + b"1,2\n" * MB)
    with pytest.raises(DataError, match=r"large\.csv: the table holds more than 4194304 bytes; set OBLIQUE_MAX_TABLE_"):
        content_of(large)
    content = b"a,b\n" + b"1,2\n" * 5000
    with pytest.raises(DataError, match=r"^it: the table holds more than 10000 cells; set OBLIQUE_MAX_TABLE_CELLS to"):
        parse_table(content, "it")
    monkeypatch.setenv("OBLIQUE_MAX_TABLE_CELLS", "10002")
    assert len(parse_table(content, "it").lines) == 5000


@cache
def zipped(name: str, n_bytes: int, method: int) -> bytes:
    """A zip file of a member that is "0" so many times."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(name, b"0" * n_bytes)
    return out.getvalue()


def forged(name: str, n_bytes: int, size: int, method: int) -> bytes:
    """A zip file whose headers give another size than its member has."""
    raw = bytearray(zipped(name, n_bytes, method))
    local, central = raw.index(b"PK\x03\x04"), raw.index(b"PK\x01\x02")
    raw[local + 22 : local + 26] = raw[central + 24 : central + 28] = struct.pack("<I", size)
    return bytes(raw)


@pytest.mark.sample(2)
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("size", [1000, 2**31])
def test_an_archive_whose_headers_lie_is_unusable(method, size, monkeypatch):
    monkeypatch.setattr(fetch, "LARGEST", 4 * MB)
    bomb = forged("a.data", 60 * MB, size, method)
    with peak_below(24), pytest.raises(fetch._Unusable):
        fetch._member(bomb, "a.data")


def test_an_archive_of_very_many_members_is_unusable():
    with pytest.raises(fetch._Unusable, match="more than 10000 members"):
        fetch._member(b"PK\x01\x02" * 20_000, "a.data")


def test_words_of_a_z_file_do_not_grow_without_end(monkeypatch):
    monkeypatch.setattr(fetch, "LARGEST", 4 * MB)
    # Every code names the word that is being made, which is one longer than the last.
    width = 9
    out = bytearray(b"\x1f\x9d\x10")
    stream = [ord("a"), *range(256, 256 + 5000)]
    position, packed, start, size = 0, 0, 0, 256
    for code in stream:
        packed |= code << position
        position += width
        if code != ord("a"):
            size += 1
        if size == 1 << width and width < 16:
            position = start + -(-(position - start) // (8 * width)) * 8 * width
            start = position
            width += 1
    out += packed.to_bytes(-(-position // 8) + 4, "little")
    with peak_below(40), pytest.raises(fetch._Unusable):
        fetch.uncompress(bytes(out))


# Configurations

CV = "cv: {scheme: stratified, folds: 3, repeats: 1}"
HOSTILE: dict[str, Callable[[], str]] = {
    "nested lists of many items as a data set": lambda: (
        f"version: 1\n{CV}\nalgorithm: gdt\ndataset: " + "[" * 40 + ", ".join("[x, y]" for _ in range(700)) + "]" * 40
    ),
    "lists where names are expected": lambda: (
        f"version: 1\n{CV}\nalgorithms: [{', '.join('[[a], [b]]' for _ in range(700))}]\n"
        f"datasets: [{', '.join('[[a], [b]]' for _ in range(700))}]"
    ),
    "a mapping of many unknown keys": lambda: (
        f"version: 1\n{CV}\nalgorithm: gdt\ndataset: bupa\n" + "\n".join(f"key{i}: 1" for i in range(1500))
    ),
    "many algorithms on many data sets": lambda: (
        f"version: 1\n{CV}\nalgorithms: [{', '.join(f'{{id: a{i}, name: gdt}}' for i in range(700))}]\n"
        f"datasets: [{', '.join('{name: bupa, missing: keep}' for i in range(700))}]"
    ),
    "a thousand million repetitions": lambda: (
        "version: 1\ncv: {scheme: stratified, folds: 10, repeats: 1000000000}\nalgorithm: gdt\ndataset: bupa"
    ),
    "a scheme that is a list": lambda: (
        f"version: 1\nalgorithm: gdt\ndataset: bupa\ncv: {{scheme: [{', '.join('[a]' for _ in range(1500))}]}}"
    ),
    "a criterion that is a list": lambda: (
        f"version: 1\n{CV}\ndataset: bupa\nalgorithm: {{name: gdt, criterion: {{grid: "
        f"[{', '.join('[a]' for _ in range(1500))}]}}}}"
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_configuration_is_refused_in_little_memory(name, tmp_path):
    path = tmp_path / "hostile.yaml"
    path.write_text(HOSTILE[name]())
    with peak_below(30), pytest.raises(ConfigError) as caught:
        config.load(path)
    assert len(str(caught.value)) < 60_000


def plain(text: str) -> Any:
    problems = Problems()
    value = parse(YamlSource("a.yaml", text), problems)
    problems.check()
    return value.plain()


def test_values_have_a_bound_that_can_be_raised(monkeypatch):
    monkeypatch.setenv("OBLIQUE_MAX_CONFIG_VALUES", "10")
    assert len(plain("[1, 2, 3, 4, 5, 6, 7, 8, 9]")) == 9
    with pytest.raises(ConfigError, match="more than 10 values, the most that are read; set OBLIQUE_MAX_CONFIG_VALUES"):
        plain("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]")


@pytest.mark.parametrize("bound", bounds.BOUNDS, ids=lambda bound: bound.variable)
def test_a_variable_that_is_no_number_is_a_sentence(bound, monkeypatch):
    for text in ("much", "-1", "0", "1e9", "9" * 30):
        monkeypatch.setenv(bound.variable, text)
        with pytest.raises(ConfigError, match=rf"^{bound.variable} must be a whole number of .*, at least 1\. Got '"):
            _ = bound.value
    monkeypatch.setenv(bound.variable, "")
    assert bound.value == bound.default
