"""Damaged configurations and tables, packed or not: a result or one sentence; never a traceback or a full memory."""

import bz2
import gzip
import io
import lzma
import random
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from robustness_support import at_most, counted, damaged, many, seeded

from oblique_cli import config
from oblique_cli.config import composing
from oblique_cli.data.own.front import Reading, chunks, read_own
from oblique_cli.data.own.source import content_of
from oblique_cli.data.text_table import parse
from oblique_cli.errors import ObliqueError
from oblique_cli.ground import resources

MOST_SECONDS = 5.0
MOST_BYTES = 1 << 30
BLOCK = 50  # files of one test
ROWS = 60
BUNDLED = ("iris.csv", "bupa.csv", "statlog_heart.csv")


def refusal(read: Callable[[], object]) -> str:
    """Return the message that refuses a file, "" if it is read; fail for anything else and for work without end."""
    with at_most(MOST_SECONDS):
        try:
            read()
            return ""
        except ObliqueError as error:
            assert str(error) and "\0" not in str(error) and "\x1b" not in str(error)
            return str(error)


def within_memory(work: Callable[[], object]) -> None:
    tracemalloc.start()
    try:
        work()
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()


def attack(attack: str, name: str, path: Path, n: int, damage: Callable, read: Callable[[], object]) -> int:
    """Read n damaged files, the same in every run; return how many were refused."""
    with counted(attack) as counts:
        for number in range(n):
            path.write_bytes(damage(seeded(f"{name} {number}"), number))
            counts["cases"] += 1
            try:
                counts["refused"] += bool(refusal(read))
            except Exception as error:
                error.add_note(f"damage {number} of {name}")
                raise
    return counts["refused"]


# ---- configurations and bundled tables -------------------------------------------------------------------------------


def texts(kind: str) -> list[bytes]:
    if kind == "configurations":
        return [(resources.folder("configs") / f"{name}.yaml").read_bytes() for name in composing.bundled()]
    return [(resources.folder("datasets") / name).read_bytes()[:20_000] for name in BUNDLED]


def block(kind: str, first: int, path: Path) -> int:
    """Attack with a block of files of a kind."""
    whole = texts(kind)
    read = (lambda: config.load(path)) if kind == "configurations" else (lambda: parse(content_of(path), "the table"))
    return attack(kind, f"{kind} {first}", path, BLOCK, lambda rng, _: damaged(rng, rng.choice(whole)), read)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("kind", "first"),
    [("configurations", first) for first in range(0, many(250, 10_000), BLOCK)]
    + [("bundled tables", first) for first in range(0, many(150, 2000), BLOCK)],
)
def test_a_damaged_configuration_or_table_is_read_or_refused(kind, first, tmp_path):
    block(kind, first, tmp_path / "damaged.yaml")


@pytest.mark.long
def test_a_block_of_either_takes_little_memory(tmp_path):
    for kind in ("configurations", "bundled tables"):
        within_memory(lambda kind=kind: block(kind, 0, tmp_path / "damaged.yaml"))


# ---- tables of users -------------------------------------------------------------------------------------------------


def zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("table", content)
    return stream.getvalue()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zip": zipped
}  # fmt: skip


def cells() -> dict[str, list[object]]:
    rng = random.Random("cells")
    return {
        "größe": [rng.gauss(0, 1) for _ in range(ROWS)],
        "color": [rng.choice(("rött", "blå", "漢字")) for _ in range(ROWS)],
        "day": [rng.randrange(20_000) for _ in range(ROWS)],
        "y": [rng.choice(("no", "yes")) for _ in range(ROWS)],
    }


def csv(charset: str) -> bytes:
    columns = cells()
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode(charset)


def parquet() -> bytes:
    pyarrow = pytest.importorskip("pyarrow", reason="writes Parquet")
    from pyarrow.parquet import write_table

    stream, columns = io.BytesIO(), cells()
    columns["day"] = pyarrow.array(columns["day"], pyarrow.date32())
    write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


TABLES: dict[str, Callable[[], bytes]] = {
    "CSV": lambda: csv("utf-8"),
    "CSV in UTF-16": lambda: csv("utf-16"),
    "Parquet": parquet,
}


def read_twice(path: Path) -> None:
    _, columns, _ = read_own(path, Reading(target="y", encoding="onehot", missing="impute", dates="days"))
    for _ in chunks(path, columns):
        pass


@pytest.mark.sample(6)
@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_own_table_is_read_or_refused_in_one_sentence(table, packing, tmp_path):
    whole, pack, path = TABLES[table](), PACKINGS[packing], tmp_path / "table"
    path.write_bytes(pack(whole))
    read_twice(path)

    def damage(rng: random.Random, number: int) -> bytes:
        return damaged(rng, pack(whole)) if number % 2 else pack(damaged(rng, whole))

    def read() -> None:
        try:
            read_twice(path)
        except ObliqueError as error:
            assert "\n" not in str(error) and len(str(error)) < 600
            raise

    n = many(24, 1000)
    assert attack("own tables", f"{table} {packing}", path, n, damage, read) > n // 4


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_table_that_ends_within_a_character_is_no_bug(packing, tmp_path):
    whole, path = csv("utf-8"), tmp_path / "table"
    path.write_bytes(PACKINGS[packing](whole[: whole.rindex("漢字".encode()) + 1]))
    assert refusal(lambda: read_twice(path)).startswith(f"{path}: ")


# ---- the detectors can fire ------------------------------------------------------------------------------------------


def test_damage_is_done_and_files_are_still_read_at_times(tmp_path):
    assert 3 < block("bundled tables", 0, tmp_path / "damaged.csv") < BLOCK - 3


def test_the_detectors_can_fire(monkeypatch):
    with pytest.raises(ZeroDivisionError):
        refusal(lambda: 1 / 0)
    ticks = iter([0.0, 6.0])
    monkeypatch.setattr(time, "process_time", lambda: next(ticks))
    with pytest.raises(AssertionError):
        refusal(lambda: None)
    monkeypatch.setitem(globals(), "MOST_BYTES", 1000)
    with pytest.raises(AssertionError):
        within_memory(lambda: bytearray(10_000))
