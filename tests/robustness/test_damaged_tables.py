"""Damaged tables of a user's own, packed or not, as CSV and as Parquet: rows, or one sentence; never a traceback."""

import bz2
import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from robustness_support import counted, damaged, many, seeded

from oblique_cli.data.own.front import Reading, chunks, read_own
from oblique_cli.errors import ObliqueError

ROWS = 60


def zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("table", content)
    return stream.getvalue()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
}


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

    stream = io.BytesIO()
    columns = cells()
    columns["day"] = pyarrow.array(columns["day"], pyarrow.date32())
    write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


TABLES: dict[str, Callable[[], bytes]] = {
    "CSV": lambda: csv("utf-8"),
    "CSV in UTF-16": lambda: csv("utf-16"),
    "Parquet": parquet,
}


def said_of(path: Path) -> str:
    """ "" if a table is read, twice, else the sentence that refuses it; any other exception goes through."""
    try:
        _, columns, _ = read_own(path, Reading(target="y", encoding="onehot", missing="impute", dates="days"))
        for _ in chunks(path, columns):
            pass
    except ObliqueError as error:
        said = str(error)
        assert "\n" not in said and len(said) < 600
        return said
    return ""


@pytest.mark.sample(6)
@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_table_is_read_or_refused_in_one_sentence(table, packing, tmp_path):
    whole, pack, path = TABLES[table](), PACKINGS[packing], tmp_path / "table"
    path.write_bytes(pack(whole))
    assert said_of(path) == ""
    rng = seeded(f"{table} {packing}")
    n = many(40, 1000)
    with counted("own tables") as counts:
        for number in range(n):
            inside = number % 2 == 0
            path.write_bytes(pack(damaged(rng, whole)) if inside else damaged(rng, pack(whole)))
            counts["cases"] += 1
            try:
                counts["refused"] += bool(said_of(path))
            except Exception as error:
                error.add_note(f"damage {number}")
                raise
    assert counts["refused"] > n // 4


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_table_that_ends_within_a_character_is_no_bug(packing, tmp_path):
    whole, path = csv("utf-8"), tmp_path / "table"
    at = whole.rindex("漢字".encode()) + 1
    path.write_bytes(PACKINGS[packing](whole[:at]))
    assert said_of(path).startswith(f"{path}: ")
