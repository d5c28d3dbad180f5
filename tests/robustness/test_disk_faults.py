"""A disk that fails, is full, or loses its process at any change: the right table, or a sentence with all intact."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cli_support import Ended
from fault_support import Change, Disk, FaultyDisk
from robustness_support import SOAK

from oblique_cli.experiments.store import Store
from oblique_cli.nouns import Row

SEED = 18
CONFIG = """\
version: 1
name: small
dataset: iris
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.1, 0.2]}}]
cv: {scheme: two_stage, folds: 2, repeats: 2, tune: {folds: 2}}
"""
RUN = ("run", "small.yaml", "-j", "1", "--quiet", "--format", "csv")
TABLE = ("table", "small", "--format", "csv")
OLD = Path(__file__).parent.parent / "files" / "layout2.sqlite"
KILLS = ("kill", "torn")


@pytest.fixture(scope="module")
def disk(tmp_path_factory) -> Iterator[FaultyDisk]:
    with FaultyDisk(tmp_path_factory.mktemp("disk")) as disk:
        yield disk


def stored(folder: Path) -> dict[str, Row]:
    """The rows of a results folder by key, without their times."""
    path = folder / "results" / "oblique.sqlite"
    if not path.exists():
        return {}
    with Store(path) as store:
        if "small" not in store.names():
            return {}
        assert store.damage("small") == []
        bare = [replace(row, tune_seconds=0.0, fit_seconds=0.0, predict_seconds=0.0) for row in store.rows("small")]
        return {row.key: row for row in bare}


@dataclass(frozen=True)
class Work:
    """A command over a results file: the folder that it starts from, and how its end is looked at.

    table   what prints the table afterwards
    loses   whether the command itself removes rows
    """

    start: Path
    command: tuple[str, ...]
    table: tuple[str, ...] = TABLE
    loses: bool = False


@pytest.fixture(scope="module")
def works(disk, tmp_path_factory) -> dict[str, Work]:
    """Every kind of command that writes results."""

    def folder(name: str, source: Path | None = None) -> Path:
        made = tmp_path_factory.mktemp("start") / name
        if source is None:
            made.mkdir()
        else:
            shutil.copytree(source, made)
        (made / "small.yaml").write_text(CONFIG)
        return made

    def done(place: Path, *command: str) -> Path:
        ended = disk.oblique(place, *command)
        assert ended.code == 0, ended.err
        return place

    new = folder("new")
    half = done(folder("half"), *RUN, "--set", "cv.repeats=1")
    whole = done(folder("whole"), *RUN)
    part = done(folder("part"), *RUN, "--shard", "1/2")
    done(part, *RUN, "--shard", "2/2", "--results", "other")
    flipped = folder("flipped", whole)
    with closing(sqlite3.connect(flipped / "results" / "oblique.sqlite")) as db, db:
        db.execute("UPDATE rows SET n_correct = n_correct - 1 WHERE fold = 0")
    torn = folder("torn", whole)
    tear(torn / "results" / "oblique.sqlite")
    older = folder("older")
    (older / "results").mkdir()
    shutil.copyfile(OLD, older / "results" / "oblique.sqlite")
    return {
        "a new run": Work(new, RUN),
        "a run that grows": Work(half, RUN),
        "a run that starts over": Work(whole, (*RUN, "--fresh"), loses=True),
        "parts that are merged": Work(part, ("merge", "small", "other")),
        "metrics that are added": Work(whole, ("rescore", "small", "--metric", "mcc")),
        # What repair has dropped when it fails is run by the run's own command.
        "folds that are repaired": Work(flipped, ("repair", "--quiet"), RUN, loses=True),
        "a file that is saved": Work(torn, ("repair", "--quiet"), RUN, loses=True),
        "a file of an older layout": Work(older, TABLE),
    }


def tear(path: Path) -> None:
    """Damage the structure of a results file: the first page of predictions."""
    with closing(sqlite3.connect(path)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'predictions'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : (page - 1) * size + 40] = b"\xff" * 40
    path.write_bytes(content)


NAMES = (
    "a new run",
    "a run that grows",
    "a run that starts over",
    "parts that are merged",
    "metrics that are added",
    "folds that are repaired",
    "a file that is saved",
    "a file of an older layout",
)


def one_sentence(ended: Ended, codes: tuple[int, ...]) -> None:
    """The command ended with one of the codes and with one sentence that says why."""
    assert ended.code in codes, ended
    assert len(re.findall("^error: ", ended.err, re.MULTILINE)) == 1, ended.err
    assert "Traceback" not in ended.err and "a bug in" not in ended.err, ended.err


@dataclass(frozen=True)
class Right:
    """What a command does on a sound disk: its changes, the rows before and after it, the table."""

    changes: list[Change]
    before: dict[str, Row]
    after: dict[str, Row]
    out: str
    table: str


@pytest.fixture(scope="module")
def rights(disk, works, tmp_path_factory) -> Callable[[str], Right]:
    known: dict[str, Right] = {}

    def right(name: str) -> Right:
        if name not in known:
            work, folder = works[name], tmp_path_factory.mktemp("right") / "w"
            shutil.copytree(work.start, folder)
            readable = name not in ("a file that is saved", "folds that are repaired")
            before = stored(folder) if readable and name != "a file of an older layout" else {}
            ended, changes = disk.changes(folder, *work.command)
            assert ended.code == 0, ended.err
            table = disk.oblique(folder, *work.table)
            assert table.code == 0, table.err
            known[name] = Right(changes, before, stored(folder), ended.out, table.out)
        return known[name]

    return right


def check_the_rest(disk: FaultyDisk, folder: Path, work: Work, right: Right) -> None:
    """What the fault left: no row that is wrong, none lost, and the same command goes on to the right table."""
    older = work.command == TABLE
    if work.loses or older:
        seen = disk.oblique(folder, *TABLE)
        if seen.code:
            one_sentence(seen, (2, 5))  # 2: the run itself is not there yet
    else:
        rows = stored(folder)
        assert all(right.after[key] == row or right.before[key] == row for key, row in rows.items())
        assert rows.keys() >= right.before.keys(), "what was stored stays"
    again = disk.oblique(folder, *work.command)
    assert again.code == 0, again.err
    table = disk.oblique(folder, *work.table)
    assert (table.code, table.out) == (0, right.table), table.err
    assert stored(folder) == right.after


def places(n: int, kinds: tuple[str, ...], sample: int, name: str) -> list[tuple[str, int]]:
    """Every change of every kind in a soak, a sample in every run of the tests."""
    every = [(kind, at) for kind in kinds for at in range(1, n + 1)]
    return every if SOAK else random.Random(f"{SEED} {name}").sample(every, min(sample, len(every)))


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_at_any_change_of_results_is_a_sentence_or_nothing(disk, works, rights, name, tmp_path):
    work, right = works[name], rights(name)
    folder = tmp_path / "w"
    for kind, at in places(len(right.changes), ("fail", "full", "kill", "torn", "short"), 5, name):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(work.start, folder)
        ended = disk.broken(folder, kind, at, *work.command)
        print(f"{name}: {kind} at {at} of {len(right.changes)}: {ended.code} {ended.err}")
        if ended.code == 0:
            assert ended.out.replace(str(folder), "") == right.out or not right.out
            assert not re.search("error|Traceback", ended.err)
        elif ended.code == -9:
            assert kind in KILLS
        else:
            assert kind in ("fail", "full"), "a short write is no fault"
            one_sentence(ended, (5,))
            assert ended.out == "" or ended.out != right.table, "a table and an error"
        if kind not in KILLS:
            left = {path.name for path in folder.rglob("*") if re.search(r"tmp|-journal|\.saved", path.name)}
            assert left <= ({"oblique.sqlite-journal"} if kind != "short" else set()), left
        check_the_rest(disk, folder, work, right)


@pytest.mark.parametrize("name", NAMES)
def test_a_power_cut_at_any_change_of_results_loses_no_more_than_the_last_folds(disk, works, rights, name, tmp_path):
    work, right = works[name], rights(name)
    folder = tmp_path / "w"
    cuts = [(at, *lost) for at in range(len(right.changes) + 1) for lost in ((1, 0), (0, 1), (1, 1))]
    for at, contents_lost, names_lost in cuts if SOAK else random.Random(f"{SEED} {name}").sample(cuts, 3):
        held = Disk.of(work.start)
        for change in right.changes[:at]:
            held.do(change)
        held.after_a_power_cut(folder, bool(contents_lost), bool(names_lost))
        print(f"{name}: power cut after {at} of {len(right.changes)}, lost {contents_lost} {names_lost}")
        check_the_rest(disk, folder, work, right)


# ---- files that are written ------------------------------------------------------------------------------------------


INLINE = "import oblique_cli.models.file_format as f; f.INLINE = 10; "
FILES: dict[str, tuple[str, ...]] = {
    "table.csv": ("table", "small", "--format", "csv", "--output", "table.csv"),
    "folds.csv": ("folds", "small", "--output", "folds.csv"),
    "predictions.csv": ("predictions", "small", "--output", "predictions.csv"),
    "report.html": ("report", "small", "--trees", "0", "--output", "report.html"),
    "model.json": ("fit", "iris", "--algorithm", "hhcart_a", "--folds", "2", "--out", "model.json"),
    "model.py": ("export", "other.json", "--output", "model.py"),
    "tree.svg": ("tree", "iris", "--algorithm", "hhcart_a", "--format", "svg", "--output", "tree.svg"),
    "answers.csv": ("predict", "other.json", "new.csv", "--output", "answers.csv"),
}
