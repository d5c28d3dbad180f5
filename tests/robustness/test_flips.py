"""Bits flipped in stored results and in models: the right answer, or a sentence; never a wrong table."""

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from cli_support import Ended, Forking
from robustness_support import counted, many, seeded

from oblique_cli.experiments.store import Store
from oblique_cli.experiments.store._records import ROWS, seal

SEED = 18
MOST_SECONDS = 5.0
MOST_BYTES = 1 << 30


def limits(seconds: float = 60 * MOST_SECONDS) -> str:
    """Python after which the system ends a process that is there for longer, or takes all of the memory."""
    size = 4 * MOST_BYTES
    return (
        f"import resource, signal; signal.setitimer(signal.ITIMER_REAL, {seconds}); "
        f"resource.setrlimit(resource.RLIMIT_AS, ({size}, {size}))"
    )


CONFIG = """\
version: 1
name: small
datasets: [iris, bupa]
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.1, 0.2]}}]
cv: {scheme: two_stage, folds: 2, repeats: 2, tune: {folds: 2}}
"""
# What reads a results file, and how many flips of a soak it gets.
READERS: dict[str, tuple[int, tuple[str, ...]]] = {
    "table": (100, ("table", "small", "--format", "csv")),
    "folds": (100, ("folds", "small")),
    "predictions": (100, ("predictions", "small")),
    "significance": (50, ("significance", "small", "--format", "json")),
    "status": (50, ("status",)),
    "run": (50, ("run", "small.yaml", "-j", "1", "--format", "csv", "--quiet")),
    "rescore": (50, ("rescore", "small", "--metric", "mcc", "--format", "csv")),
    "merge": (50, ("merge", "small", "results", "--results", "other")),
    "report": (50, ("report", "small", "--trees", "0", "--output", "report.html")),
}
# Trees, a forest, and rows; those with a binary file beside the JSON.
MODELS = {
    "hhcart_a": "",
    "c45": "",
    "hhcart_forest": "",
    "knn": "import oblique_cli.models.file_format as f; f.INLINE = f.SMALL = 4; ",
}
NEW = "sepal_length,sepal_width,petal_length,petal_width\n" + "".join(
    f"{4 + i % 9 / 3},{2 + i % 5 / 3},{1 + i % 13 / 2},{0.1 + i % 7 / 3}\n" for i in range(60)
)


@pytest.fixture(scope="module")
def whole(forking, tmp_path_factory) -> Path:
    """A folder with results and models as they should be."""
    folder = tmp_path_factory.mktemp("whole") / "w"
    folder.mkdir()
    (folder / "small.yaml").write_text(CONFIG)
    (folder / "new.csv").write_text(NEW)
    ended = forking.oblique(folder, *READERS["run"][1], "--keep-probabilities")
    assert ended.code == 0, ended.err
    for name, first in MODELS.items():
        command = ("fit", "iris", "--algorithm", name, "--folds", "2", "--output", f"{name}.json")
        small = ("--set", "n_estimators=3") if "forest" in name else ()
        ended = forking.oblique(folder, *command, *small, first=first)
        assert ended.code == 0, ended.err
    return folder


def judged(ended: Ended, right: Ended, allowed: tuple[int, ...]) -> bool:
    """Whether a damaged file was told of; False if it gave the right answer. Anything else fails here."""
    assert ended.code != 1 and "Traceback" not in ended.err and "a bug in" not in ended.err, ended
    assert ended.work < MOST_SECONDS, ended
    assert ended.bytes < MOST_BYTES, ended
    if ended.code == 0:
        assert ended.out == right.out, f"a wrong answer: {ended.out}"
        return False
    assert ended.code in allowed, ended
    assert ended.err.count("error: ") == 1 and ended.out != right.out, ended
    return True


def answer(forking: Forking, folder: Path, command: tuple[str, ...]) -> Ended:
    """How a command ends; what it writes counts as printed."""
    ended = forking.oblique(folder, *command, first=limits())
    if "--output" in command and ended.code == 0:
        return replace(ended, out=(folder / command[-1]).read_text())
    return ended


def flip(path: Path, rng: random.Random) -> None:
    """Flip a bit of a byte that is not 0: most pages of a database are empty for the most part."""
    content = bytearray(path.read_bytes())
    content[rng.choice([i for i, byte in enumerate(content) if byte])] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


@pytest.mark.long
@pytest.mark.parametrize("name", READERS)
def test_a_flipped_bit_of_stored_results_is_told_of_or_changes_nothing(forking, whole, name, tmp_path):
    soak, command = READERS[name]
    folder = tmp_path / "w"
    shutil.copytree(whole, folder)
    right = answer(forking, folder, command)
    assert right.code == 0, right.err
    rng = seeded(f"{SEED} {name}")
    n = many(2 if name == "report" else 3, soak)
    with counted("results files") as counts:
        for number in range(max(n, 5)):
            if number >= n and counts["refused"]:
                break
            shutil.rmtree(folder)
            shutil.copytree(whole, folder)
            flip(folder / "results" / "oblique.sqlite", rng)
            counts["cases"] += 1
            counts["refused"] += judged(answer(forking, folder, command), right, (5,))
    print(f"{name}: {counts['refused']} of {counts['cases']} flips told of, the others changed nothing")
    assert counts["refused"]


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_a_flipped_bit_of_a_model_is_told_of_or_changes_nothing(forking, whole, name, tmp_path):
    folder = tmp_path / "w"
    shutil.copytree(whole, folder)
    command = ("predict", f"{name}.json", "new.csv", "--proba")
    right = answer(forking, folder, command)
    assert right.code == 0, right.err
    rng = seeded(f"{SEED} {name}")
    files = sorted(folder.glob(f"{name}.json*"))
    n = many(6, 2000 // len(MODELS))
    with counted("flipped bits of models") as counts:
        for number in range(n):
            file = files[number % len(files)]
            content = file.read_bytes()
            flip(file, rng)
            counts["cases"] += 1
            counts["refused"] += judged(answer(forking, folder, command), right, (4,))
            file.write_bytes(content)
    print(f"{name}: {counts['refused']} of {n} flips told of, the others changed nothing")
    assert counts["refused"] > n // 2


# ---- the detectors can fire ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_table_with_another_number_under_right_digests_is_noticed(forking, whole, tmp_path):
    folder = tmp_path / "w"
    shutil.copytree(whole, folder)
    command = READERS["table"][1]
    right = answer(forking, folder, command)
    with Store(folder / "results" / "oblique.sqlite") as store:
        row = next(row for row in store.rows("small") if row.n_correct < row.n_test)
        wrong = next(label for label, (n, total) in row.per_class.items() if n < total)
        n, total = row.per_class[wrong]
        forged = replace(row, n_correct=row.n_correct + 1, per_class={**row.per_class, wrong: [n + 1, total]})
        values = ROWS.values(forged, row.environment, "")
        store._db.execute("DELETE FROM rows WHERE key = ?", (row.key,))
        marks = ", ".join("?" * (len(values) + 2))
        store._db.execute(f"INSERT INTO rows VALUES ({marks})", ("small", *values, seal("rows", "small", *values)))
    with pytest.raises(AssertionError, match="a wrong answer"):
        judged(answer(forking, folder, command), right, (5,))


@pytest.mark.long
def test_work_without_end_and_without_measure_is_noticed(forking, tmp_path, monkeypatch):
    right = Ended(0, "", "")
    endless = forking.oblique(tmp_path, first=limits(0.2) + "\ncall = lambda _: [0 for _ in iter(int, 1)]")
    assert endless.code == -14
    with pytest.raises(AssertionError):
        judged(endless, right, (5,))
    slow = forking.oblique(tmp_path, first=limits() + "\ncall = lambda _: sum(range(20_000_000)) and 0")
    judged(slow, right, ())
    monkeypatch.setitem(globals(), "MOST_SECONDS", 0.05)
    with pytest.raises(AssertionError):
        judged(slow, right, ())
    monkeypatch.undo()
    eater = forking.oblique(tmp_path, first=limits() + "\ncall = lambda _: len(b'x' * 300_000_000) and 0")
    judged(eater, right, ())
    monkeypatch.setitem(globals(), "MOST_BYTES", 300_000_000)
    with pytest.raises(AssertionError):
        judged(eater, right, ())
    bottomless = forking.oblique(tmp_path, first=limits() + "\ncall = lambda _: bytes(1 << 40) and 0")
    assert bottomless.code == 1 and "MemoryError" in bottomless.err
