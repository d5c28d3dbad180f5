"""One bit flipped in every column of every table of a results file: `run`, `repair`, `run` gives the same tables."""

import random
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from robustness_support import many

from oblique_cli.cli import call as command_line
from oblique_cli.experiments.store._schema import TABLES

CONFIG = """\
version: 1
name: small
datasets: [iris]
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.1, 0.2]}}]
cv: {scheme: two_stage, folds: 2, repeats: 2, tune: {folds: 2}}
"""
RUN = ("run", "small.yaml", "-j", "1", "--keep-probabilities", "--quiet", "--format", "csv")
READERS = tuple(
    words for name in ("small", "other") for words in (("table", name, "--format", "csv"), ("predictions", name))
)


def columns() -> list[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in TABLES.values():
            db.execute(statement)
        return [
            (table, name)
            for table in TABLES
            for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))
        ]


def flipped(value: Any, rng: random.Random) -> Any:
    """A value of SQLite with one bit changed; of whole numbers a high one, so that no other record has the place."""
    if isinstance(value, int):
        return value ^ (1 << rng.randrange(5, 20))
    if isinstance(value, float):
        value = struct.pack("<d", value)
        return struct.unpack("<d", flipped(value, rng))[0]
    if isinstance(value, str):
        return flipped(value.encode(), rng)
    changed = bytearray(value or b"\0")
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(7)
    return bytes(changed)


def damage(path: Path, table: str, column: str, rng: random.Random) -> bool:
    """Flip a bit of a column in one record; False for a table without records."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        records = db.execute(f'SELECT rowid, "{column}", typeof("{column}") FROM {table}').fetchall()
        if not records:
            return False
        rowid, value, kind = rng.choice(records)
        new = flipped(value, rng)
        cast = "CAST(? AS TEXT)" if kind == "text" else "?"
        db.execute(f'UPDATE {table} SET "{column}" = {cast} WHERE rowid = ?', (new, rowid))
        db.commit()
    return True


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A folder with a complete run, and with another run in the same file."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.yaml").write_text(CONFIG)
    for more in ((), ("--set", "name=other")):
        values = [str(folder / word) if word == "small.yaml" else word for word in RUN]
        assert command_line([*values, "--results", str(folder / "results"), *more]) == 0
    return folder


@pytest.mark.sample(2)
@pytest.mark.parametrize(("table", "column"), columns())
def test_run_and_repair_make_good_what_a_flipped_bit_has_damaged(whole, table, column, call):
    rng = random.Random(f"columns {table} {column}")
    (call.folder / "small.yaml").write_text(CONFIG)
    for number in range(many(1, 20)):
        shutil.rmtree(call.folder / "results", ignore_errors=True)
        shutil.copytree(whole / "results", call.folder / "results")
        right = [call(*reader).out for reader in READERS]
        if not damage(call.folder / "results" / "oblique.sqlite", table, column, rng):
            return
        ended = [call(*words) for words in (RUN, ("repair", "-j", "1", "--quiet"), RUN)]
        for outcome in ended:
            assert outcome.code in (0, 5) and "Traceback" not in outcome.err and outcome.err.count("error: ") <= 1, (
                outcome
            )
        if ended[0].code:
            assert "oblique repair" in ended[0].err, ended[0]
            assert "nothing is damaged" not in ended[1].out, ended
        assert ended[2].code == call(*RUN, "--set", "name=other").code == 0, f"{number}: {ended}"
        assert [call(*reader).out for reader in READERS] == right, f"{number}: {ended}"
        checked = call("repair", "--check")
        assert checked.code == 0, checked


def test_runs_without_a_session_are_described_by_their_next_run(whole, call):
    shutil.copytree(whole / "results", call.folder / "results")
    (call.folder / "small.yaml").write_text(CONFIG)
    right = [call(*reader).out for reader in READERS]
    with closing(sqlite3.connect(call.folder / "results" / "oblique.sqlite")) as db, db:
        db.execute("DELETE FROM sessions")
        db.execute("DELETE FROM environments")
        db.execute("DELETE FROM labels")
    checked = call("repair", "--check")
    assert checked.code == 5 and "the description of small" in checked.out
    repaired = call("repair", "-j", "1")
    assert "give its command again" in repaired.err and "nothing is damaged" not in repaired.out
    assert call(*RUN).code == call(*RUN, "--set", "name=other").code == 0
    assert [call(*reader).out for reader in READERS] == right
    assert call("repair", "--check").out == "nothing is damaged\n"
