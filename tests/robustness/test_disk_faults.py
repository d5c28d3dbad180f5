"""A disk that fails, is full, or loses its process at any change: the right table, or a sentence with all intact."""

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cli_support import Ended
from fault_support import Change, Disk, FaultyDisk
from robustness_support import some

from oblique_cli.errors import StoreError
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Row

CONFIG = """\
version: 1
name: small
dataset: iris
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.1, 0.2]}}]
cv: {scheme: two_stage, folds: 2, repeats: 2, tune: {folds: 2}}
"""
RUN = ("run", "small.yaml", "-j", "1", "--quiet", "--format", "csv")
TABLE = ("table", "small", "--format", "csv")
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
    return {
        "a new run": Work(new, RUN),
        "a run that grows": Work(half, RUN),
        "a run that starts over": Work(whole, (*RUN, "--fresh"), loses=True),
        "parts that are merged": Work(part, ("merge", "small", "other")),
        "metrics that are added": Work(whole, ("rescore", "small", "--metric", "mcc")),
        # What repair has dropped when it fails is run by the run's own command.
        "folds that are repaired": Work(flipped, ("repair", "--quiet"), RUN, loses=True),
        "a file that is saved": Work(torn, ("repair", "--quiet"), RUN, loses=True),
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
            before = stored(folder) if readable else {}
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


def places(at: Iterable[int], kinds: Sequence[str], sample: int, name: str) -> list[tuple[str, int]]:
    """Every change with every kind of fault in a soak, a sample in every run of the tests."""
    return some([(kind, i) for kind in kinds for i in at], sample, name)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_a_fault_at_any_change_of_results_is_a_sentence_or_nothing(disk, works, rights, name, tmp_path):
    work, right = works[name], rights(name)
    folder = tmp_path / "w"
    for kind, at in places(range(1, right.changes[-1].at + 1), ("fail", "full", "kill", "torn", "short"), 2, name):
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


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
def test_a_power_cut_at_any_change_of_results_loses_no_more_than_the_last_folds(disk, works, rights, name, tmp_path):
    work, right = works[name], rights(name)
    folder = tmp_path / "w"
    cuts = [(at, *lost) for at in range(len(right.changes) + 1) for lost in ((1, 0), (0, 1), (1, 1))]
    for at, contents_lost, names_lost in some(cuts, 1, name):
        held = Disk.of(work.start)
        for change in right.changes[:at]:
            held.do(change)
        held.after_a_power_cut(folder, bool(contents_lost), bool(names_lost))
        print(f"{name}: power cut after {at} of {len(right.changes)}, lost {contents_lost} {names_lost}")
        check_the_rest(disk, folder, work, right)


# ---- files that are written ------------------------------------------------------------------------------------------


# A model of two files, as large ones are.
LARGE = "import oblique_cli.models.file_format as f; f.INLINE = f.SMALL = 4; "
FILES: dict[str, tuple[str, ...]] = {
    "table.csv": ("table", "small", "--format", "csv", "--output", "table.csv"),
    "folds.csv": ("folds", "small", "--output", "folds.csv"),
    "predictions.csv": ("predictions", "small", "--output", "predictions.csv"),
    "report.html": ("report", "small", "--trees", "0", "--output", "report.html"),
    "model.json": ("fit", "iris", "--algorithm", "hhcart_a", "--folds", "2", "--output", "model.json"),
    "model.py": ("export", "other.json", "--output", "model.py"),
    "tree.svg": ("tree", "iris", "--algorithm", "hhcart_a", "--format", "svg", "--output", "tree.svg"),
    "answers.csv": ("predict", "other.json", "new.csv", "--output", "answers.csv"),
}


@pytest.fixture(scope="module")
def written(disk, tmp_path_factory) -> Path:
    """A folder with what the commands of FILES read, and what they write over."""
    folder = tmp_path_factory.mktemp("written") / "w"
    folder.mkdir()
    (folder / "small.yaml").write_text(CONFIG)
    (folder / "new.csv").write_text(NEW)
    for command in (RUN, ("fit", "iris", "--algorithm", "axis_parallel", "--folds", "2", "--output", "other.json")):
        ended = disk.oblique(folder, *command, first=LARGE)
        assert ended.code == 0, ended.err
    for name in FILES:
        (folder / name).write_text("what was here before\n")
    for ending in ("", ".npz"):
        shutil.copyfile(folder / f"other.json{ending}", folder / f"model.json{ending}")
    return folder


NEW = """\
sepal_length,sepal_width,petal_length,petal_width
5.1,3.5,1.4,0.2
6.0,2.9,4.5,1.5
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", FILES)
def test_a_fault_at_any_change_of_a_file_leaves_the_old_one_or_the_new_one(disk, written, name, tmp_path):
    folder = tmp_path / "w"
    shutil.copytree(written, folder)
    first = LARGE if name == "model.json" else ""
    ended, changes = disk.changes(folder, *FILES[name], first=first)
    assert ended.code == 0, ended.err
    old, new = (
        {item: outcome[item] for item in outcome if item.startswith(name)}
        for outcome in map(contents, (written, folder))
    )
    assert old != new
    at = [change.at for change in changes if name in change.path or change.path == "."]
    for kind, i in places(at, ("fail", "full", "kill", "torn", "short"), 3, name):
        shutil.rmtree(folder)
        shutil.copytree(written, folder)
        ended = disk.broken(folder, kind, i, *FILES[name], first=first)
        print(f"{name}: {kind} at {i} of {at}: {ended.code} {ended.err}")
        result = contents(folder)
        options = {item: result[item] for item in result if item.startswith(name)}
        if options not in (old, new):  # two files cannot be renamed at once
            assert name == "model.json"
            one_sentence(disk.oblique(folder, "predict", "model.json", "new.csv"), (4,))
        if kind in KILLS:
            assert ended.code == -9
            continue
        assert ended.code == 0 or kind in ("fail", "full"), ended.err
        if ended.code:
            one_sentence(ended, (5,) if kind == "full" else (4,))
        else:
            assert options == new
        assert not [item for item in result if item.endswith(".tmp")], "nothing half-written lies about"


# ---- the detectors can fire ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "code", "left"),
    [
        ("count", 0, "abcd"),
        ("fail", 9, "ab"),
        ("full", 1, "abc"),
        ("kill", -9, "ab"),
        ("torn", -9, "abc"),
        ("short", 1, "abc"),
    ],
)
def test_the_third_change_of_three_is_the_one_that_meets_the_fault(disk, tmp_path, kind, code, left):
    # In place of the command: a file that is made, written and written again; 9 if the last one is refused.
    (tmp_path / "w").mkdir()
    script = """
def call(arguments):
    handle = os.open("file", os.O_WRONLY | os.O_CREAT)
    os.write(handle, b"ab")
    try:
        return 2 - os.write(handle, b"cd")
    except OSError:
        return 9
"""
    ended = disk.broken(tmp_path / "w", kind, 3, first=script)
    assert (ended.code, (tmp_path / "w" / "file").read_text()) == (code, left)


def test_a_power_cut_leaves_a_half_written_file_where_nobody_synced(disk, tmp_path):
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "file").write_text("old")
    script = """
def call(arguments):
    with open("new", "w") as stream:
        stream.write("new")
        if SYNCED:
            stream.flush()
            os.fsync(stream.fileno())
    os.rename("new", "file")
    return 0
"""
    for synced, result in ((False, {"", "old"}), (True, {"new", "old"})):
        (folder / "file").write_text("old")
        held = Disk.of(folder)
        ended, changes = disk.changes(folder, first=f"SYNCED = {synced}{script}")
        assert ended.code == 0, ended.err
        for change in changes:
            held.do(change)
        after = set()
        for names_lost in (False, True):
            held.after_a_power_cut(tmp_path / "after", contents_lost=True, names_lost=names_lost)
            after.add((tmp_path / "after" / "file").read_text())
        assert after == result


@pytest.mark.long
def test_a_row_that_is_lost_or_wrong_is_noticed(works, rights, disk, tmp_path):
    work, right = works["a run that grows"], rights("a run that grows")
    for damage in ("DELETE FROM rows WHERE fold = 0", "UPDATE rows SET n_correct = n_correct - 1 WHERE fold = 0"):
        shutil.rmtree(tmp_path / "w", ignore_errors=True)
        shutil.copytree(work.start, tmp_path / "w")
        with closing(sqlite3.connect(tmp_path / "w" / "results" / "oblique.sqlite")) as db, db:
            db.execute(damage)
        with pytest.raises((AssertionError, StoreError)):
            check_the_rest(disk, tmp_path / "w", work, right)
