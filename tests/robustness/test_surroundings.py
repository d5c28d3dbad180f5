"""A clock that is set back, locales, and names of folders and files that are no plain words: the same tables."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_support import Ended, Forking, forking
from fault_support import FaultyDisk
from robustness_support import SOAK, many

__all__ = ["forking"]

pytestmark = pytest.mark.long

CONFIG = """\
version: 1
name: small
datasets: [iris, {csv: FILE, target: class, name: mine}]
algorithms: [axis_parallel, hhcart_d]
cv: {folds: 3, repeats: 2}
"""
OWN = "x,y,class\n" + "".join(f"{i % 7},{i * i % 11},{'ab'[i % 2]}\n" for i in range(40))
YEARS = 40 * 365 * 86_400


def prepare(folder: Path, file: str = "own.csv", config: str = "small.yaml") -> None:
    folder.mkdir(exist_ok=True)
    (folder / file).write_text(OWN)
    (folder / config).write_text(CONFIG.replace("FILE", json.dumps(file)))


COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "{config}", "-j", "2", "--format", "csv", "--results", "{results}"),
    "table": ("table", "small", "--results", "{results}", "--output", "{output}.md", "--format", "md"),
    "text": ("table", "small", "--results", "{results}"),
    "status": ("status", "--results", "{results}"),
    "folds": ("folds", "small", "--results", "{results}", "--output", "{output} folds.csv"),
    "predictions": ("predictions", "small", "--results", "{results}", "--output", "{output} rows.csv"),
    "report": ("report", "small", "--results", "{results}", "--output", "{output}.html"),
    "fit": ("fit", "{file}", "--target", "class", "--algorithm", "hhgdt", "--folds", "2", "--output", "{output}.json"),
    "tree": ("tree", "{output}.json", "--html", "--output", "{output} tree.html"),
    "predict": ("predict", "{output}.json", "{file}", "--proba"),
    "export": ("export", "{output}.json", "--output", "{output}.py"),
    "again": ("run", "{config}", "--csv", "{file}", "--target", "class", "--results", "{results}"),
    "repair": ("repair", "--results", "{results}"),
}
QUICK = tuple(command for command in COMMANDS if command != "report" or SOAK)  # which takes seconds


def answers(
    forking: Forking, folder: Path, names: dict[str, str], only: tuple[str, ...], first: str = ""
) -> dict[str, Ended]:
    """How commands end, with these names for their files."""
    return {
        name: forking.oblique(folder, *(word.format(**names) for word in COMMANDS[name]), first=first) for name in only
    }


PLAIN = {"config": "small.yaml", "file": "own.csv", "results": "results", "output": "out"}


@pytest.fixture(scope="module")
def plain(forking, tmp_path_factory) -> tuple[Path, dict[str, Ended]]:
    """What the commands print and write in a plain place."""
    folder = tmp_path_factory.mktemp("plain") / "w"
    prepare(folder)
    ended = answers(forking, folder, PLAIN, QUICK)
    assert not {name: outcome for name, outcome in ended.items() if outcome.code not in (0, 2)}
    assert ended["again"].code == 2, "the run of a configuration and of a file differ"
    return folder, ended


# ---- names -----------------------------------------------------------------------------------------------------------


ODD = [
    b"a b\n'c' \"d\" {e}[f]*?",
    b"bytes \xff\xfe",
    b"-dash",
    "\u00e9\u4e2d \U0001f332".encode(),
    b"50%$HOME`id`;&#:",
    b"x" * 200,
    b"\x1b[31m\r\t",
]


@pytest.mark.parametrize("odd", ODD if SOAK else ODD[:3], ids=lambda odd: repr(odd)[:20])
def test_names_of_files_and_folders_change_nothing(forking, plain, tmp_path, odd):
    name = os.fsdecode(odd)
    folder = tmp_path / name
    folder.mkdir()
    file = f"{name}.csv"
    if odd == b"-dash":  # what begins with a dash is an option to any command
        file = f"./{file}"
    (folder / file).write_text(OWN)
    inside = "own.csv" if "\udcff" in name or "\x1b" in name else file  # YAML has no place for either
    (folder / inside).write_text(OWN)
    (folder / "odd.yaml").write_text(CONFIG.replace("FILE", json.dumps(inside, ensure_ascii=False)))
    shutil.copyfile(folder / "odd.yaml", folder / f"{name}.yaml")
    prefix = "./" if odd == b"-dash" else ""
    names = {
        "config": f"{prefix}{name}.yaml",
        "file": file,
        "results": f"{prefix}results {name}"[:250],
        "output": f"{prefix}{name}",
    }
    result = answers(forking, folder, names, QUICK)
    right = plain[1]
    for command, ended in result.items():
        assert ended.code == right[command].code, (command, ended)
        assert "Traceback" not in ended.err and "a bug in" not in ended.err
    # What fit makes depends on the file's name, which seeds its folds.
    assert result["predict"].out.count("\n") == right["predict"].out.count("\n") == 41
    for command in ("run", "text"):
        assert result[command].out == right[command].out
    for ending in (".md", " folds.csv", " rows.csv"):
        made = (folder / f"{names['output']}{ending}").read_text()
        assert timeless(made) == timeless((plain[0] / f"out{ending}").read_text())


def timeless(text: str) -> str:
    """A file of folds without what differs from run to run: times."""
    lines = [line.split(",") for line in text.splitlines()]
    gone = {i for i, name in enumerate(lines[0]) if name.endswith("seconds")}
    return "\n".join(",".join(cell for i, cell in enumerate(line) if i not in gone) for line in lines)


# ---- locales ---------------------------------------------------------------------------------------------------------


def turkish(folder: Path) -> dict[str, str]:
    """A Turkish locale, made here; skip the test where that is not possible."""
    program = shutil.which("localedef")
    if program is None:
        pytest.skip("no localedef, the C library's program that makes locales")
    made = subprocess.run([program, "-i", "tr_TR", "-f", "UTF-8", str(folder / "tr_TR.UTF-8")], capture_output=True)
    if not (folder / "tr_TR.UTF-8").exists():
        pytest.skip(f"localedef makes no tr_TR here: {made.stderr.decode().strip()[:80]}")
    return {"LOCPATH": str(folder), "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}


LOCALES: dict[str, Callable[[Path], dict[str, str]]] = {
    # i and I are no pair in Turkish, and its decimal mark is a comma.
    "tr_TR": turkish,
    "C": lambda folder: {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "C, Latin output": lambda folder: {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1"},
}
# Libraries that a script has loaded may ask for the user's locale; numbers must not change then.
ASKED = "import locale; locale.setlocale(locale.LC_ALL, '')"


@pytest.mark.parametrize("name", list(LOCALES)[: many(2, 3)])
def test_a_locale_changes_no_number_and_no_file(plain, tmp_path, name):
    place = tmp_path / "locale"
    place.mkdir()
    with Forking(place, **LOCALES[name](place)) as forking:
        prepare(tmp_path / "w")
        result = answers(forking, tmp_path / "w", PLAIN, QUICK, ASKED)
        half = f"{ASKED}\ncall = lambda _: print(locale.format_string('%.1f', 0.5), flush=True) or 0"
        assert forking.oblique(place, first=half).out == ("0,5\n" if name == "tr_TR" else "0.5\n")
    folder, right = plain
    for command, ended in result.items():
        assert ended.code == right[command].code, (command, ended)
        if command in ("run", "predict", "text"):
            # A sign that the output cannot hold is a question mark.
            assert re.sub(r"[^\x00-\x7f]", "?", ended.out) == re.sub(r"[^\x00-\x7f]", "?", right[command].out)
    for file in ("out.md", "out folds.csv", "out rows.csv"):
        assert timeless((tmp_path / "w" / file).read_text("utf-8")) == timeless((folder / file).read_text("utf-8"))
    models = [json.loads((item / "out.json").read_text("utf-8")) for item in (tmp_path / "w", folder)]
    assert models[0]["state"] == models[1]["state"]


# ---- the clock -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def disk(tmp_path_factory) -> Iterator[FaultyDisk]:
    with FaultyDisk(tmp_path_factory.mktemp("clock")) as disk:
        yield disk


def test_a_clock_that_is_set_back_changes_no_table_and_no_order(disk, plain, tmp_path):
    prepare(tmp_path / "w")
    half = ("run", "small.yaml", "-j", "2", "--set", "cv.repeats=1", "--quiet")
    assert disk.oblique(tmp_path / "w", *half).code == 0
    for after in (3, 0):  # in the middle of a run, and long before it
        ended = answers(disk, tmp_path / "w", PLAIN, ("run", "status", "table", "text", "repair"), set_back(after))
        for command, outcome in ended.items():
            assert outcome.code == 0, (command, outcome)
            if command == "run":
                assert outcome.out == plain[1]["run"].out
                assert not re.search(r"-\d+(\.\d+)? ?(s|min|h)\b", outcome.err), "no work takes less than no time"
        assert ended["text"].out == plain[1]["text"].out
    with_two = disk.oblique(tmp_path / "w", "run", "small.yaml", "--set", "name=later", "--quiet", first=set_back(0))
    assert with_two.code == 0
    status = disk.oblique(tmp_path / "w", "status").out
    assert status.index("small") < status.index("later")


def set_back(after: int) -> str:
    """Python that sets the clock back by forty years, after so many looks at it."""
    return f"import ctypes; ctypes.CDLL(None).faults_set_clock_back(ctypes.c_long({after}), ctypes.c_long({YEARS}))"


def test_the_clock_is_set_back(disk, tmp_path):
    shown = "\ncall = lambda _: print(*(int(time.time()) for _ in range(4)), flush=True) or 0"
    ended = disk.oblique(tmp_path, first=set_back(2) + shown)
    first, second, third, fourth = map(int, ended.out.split())
    assert second - first < 10 and abs(first - third - YEARS) < 10 and fourth - third < 10
