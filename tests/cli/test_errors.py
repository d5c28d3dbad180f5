"""Bad input, given to the command: one sentence that says what to do, the fixed code, never a traceback."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cli_support import Ended, forked, oblique

CONFIG = """\
version: 1
dataset: {csv: my.csv, target: class}
algorithm: {name: hhgdt, epsilon: 0.1}
cv: {scheme: stratified, folds: 3, repeats: 1}
"""
ROWS = [f"{i % 7},{i * i % 11},{'ab'[i % 2]}" for i in range(20)]
CSV = "\n".join(["x,y,class", *ROWS]) + "\n"


def csv(changes: dict[str, str] | None = None, **more: str) -> dict[str, str]:
    """The CSV file with texts in it replaced: its header by `header`, the cell of row 5 and column x by `cell`."""
    text = CSV
    if "header" in more:
        text = text.replace("x,y,class", more["header"])
    if "cell" in more:
        text = text.replace(f"\n{ROWS[5]}\n", f"\n{more['cell']}{ROWS[5][1:]}\n")
    return {"my.csv": text}


def locked(folder: Path) -> Callable[[], None]:
    (folder / "results").mkdir()
    db = sqlite3.connect(folder / "results" / "oblique.sqlite", isolation_level=None, check_same_thread=False)
    db.execute("CREATE TABLE t (x)")
    db.execute("BEGIN EXCLUSIVE")
    return db.close


def damaged(folder: Path) -> None:
    (folder / "results").mkdir()
    (folder / "results" / "oblique.sqlite").write_bytes(b"These were results once. " * 400)


def foreign(folder: Path) -> None:
    (folder / "results").mkdir()
    with closing(sqlite3.connect(folder / "results" / "oblique.sqlite")) as db, db:
        db.execute("CREATE TABLE t (x)")


def begun(folder: Path) -> None:
    assert forked(folder, "run", "c.yaml").code == 0
    (folder / "c.yaml").write_text(CONFIG.replace("0.1", "0.2").replace("folds: 3", "folds: 4"))


@dataclass(frozen=True)
class Case:
    """One kind of bad input: files beside or instead of the good ones, what else was done to the folder, the call."""

    code: int
    message: str
    files: dict[str, str] = field(default_factory=dict)
    before: Callable[[Path], Callable[[], None] | None] | None = None
    arguments: tuple[str, ...] = ("run", "c.yaml")


def config(old: str, new: str) -> dict[str, str]:
    assert old in CONFIG
    return {"c.yaml": CONFIG.replace(old, new)}


CASES = {
    "unknown algorithm": Case(
        2, "c.yaml:3:19 algorithm 'hhgtd' is not known. Did you mean 'hhgdt'", config("hhgdt", "hhgtd")
    ),
    "unknown data set": Case(
        2,
        "c.yaml:2:10 unknown data set 'bupaa'. Did you mean 'bupa'? (oblique data list)",
        config("{csv: my.csv, target: class}", "bupaa"),
    ),
    "unknown key": Case(2, "c.yaml:4:6 unknown key 'shceme' in cv. Did you mean 'scheme'?", config("scheme", "shceme")),
    "unknown parameter": Case(
        2, "c.yaml:3:26 unknown key 'epsilom' in algorithm hhgdt. Did you mean 'epsilon'?", config("epsilon", "epsilom")
    ),
    "wrong type": Case(2, "cv.folds must be a whole number, at least 2. Got 'ten'.", config("folds: 3", "folds: ten")),
    "out of range": Case(2, "epsilon of hhgdt must be a number in [0, 1). Got 1.5.", config("0.1", "1.5")),
    "not YAML": Case(2, "c.yaml:4:3 not valid YAML: ", config("epsilon: 0.1}", "epsilon: 0.1")),
    "folds beyond the smallest class": Case(
        2,
        "error: data set 'my': smallest class 'a' has 10 rows, stratified 11-fold needs 11: use folds: 10 or scheme: "
        "ordinary.",
        config("folds: 3", "folds: 11"),
    ),
    "no such configuration": Case(2, "error: no configuration 'nowhere.yaml'", arguments=("run", "nowhere.yaml")),
    "words without an encoding": Case(
        4,
        "my.csv: column 1 ('x') is not numeric (first such value 'c0' at line 2); "
        "declare encoding: crimcoord, onehot or ordinal",
        {"my.csv": "x,y,class\n" + "".join(f"c{row}\n" for row in ROWS)},
    ),
    "one bad cell": Case(
        4,
        "my.csv: column 1 ('x') holds numbers, but 'red' in row 6 (line 7): mend the cell, or say --na red if it",
        csv(cell="red"),
    ),
    "missing values without a policy": Case(
        4, "my.csv: column 1 ('x') has 1 missing value; set missing: impute or drop", csv(cell="")
    ),
    "NaN without a policy": Case(4, "my.csv: column 1 ('x') has 1 missing value; set missing", csv(cell="nan")),
    "infinity": Case(4, "my.csv: column 1 ('x') holds numbers, but '1e400' in row 6 (line 7): mend", csv(cell="1e400")),
    "one class": Case(
        4, "my.csv: the target 'class' has only one class, 'a', in 20 rows", {"my.csv": CSV.replace(",b\n", ",a\n")}
    ),
    "empty file": Case(4, "my.csv: the file is empty", {"my.csv": ""}),
    "no rows": Case(4, "my.csv: there are no rows below the header", {"my.csv": "x,y,class\n"}),
    "duplicate header": Case(
        2, "my.csv: columns 1 and 3 are both named 'class', the target; leave the other", csv(header="class,x,class")
    ),
    "missing target": Case(
        4, "my.csv: there is no column 'class' to use as target. Did you mean 'classes'?", csv(header="x,y,classes")
    ),
    "not text": Case(4, "my.csv: line 1 holds a NUL byte, so this is not a text file", {"my.csv": "\0\1\2"}),
    "no such file": Case(2, "c.yaml:2:16 there is no file 'no.csv'.", config("my.csv", "no.csv")),
    "a folder for a file": Case(2, "c.yaml:2:16 there is no file '.'.", config("my.csv", ".")),
    "damaged checksum": Case(
        4,
        "error: data set 'seeds': sha256 of seeds.csv differs from the catalogue (expected ",
        {"seeds.csv": "damaged", **config("{csv: my.csv, target: class}", "seeds")},
        arguments=("run", "c.yaml", "--data-dir", "."),
    ),
    "results locked": Case(
        5, "error: results/oblique.sqlite is in use by another process: wait until it is done, then try again.",
        before=locked,
    ),
    "results damaged": Case(
        5, "error: results/oblique.sqlite is damaged (file is not a database): move it aside and run again, or bring "
        "back a copy.",
        before=damaged,
    ),
    "results of another program": Case(5, "is another program's database: give another path", before=foreign),
    "results folder is a file": Case(
        5, "error: the results folder results cannot be made (File exists).", {"results": "a file"}
    ),
    "configuration changed": Case(
        2,
        "error: the configuration changed since run 'c' began: algorithms.hhgdt.params.epsilon 0.1 -> 0.2, "
        "cv.folds 3 -> 4: use --fresh to start over, or another name to keep both (the key "
        "name: of the file, or --set name=...).",
        before=begun,
    ),
}  # fmt: skip


def prepare(folder: Path, case: Case) -> Callable[[], None]:
    """Make the folder of a case; return what to call when it is over."""
    for file, text in {"c.yaml": CONFIG, "my.csv": CSV, **case.files}.items():
        (folder / file).write_text(text)
    return (case.before(folder) if case.before else None) or (lambda: None)


def check(case: Case, found: Ended) -> None:
    assert (found.code, found.out) == (case.code, ""), found.err
    assert case.message in found.err
    assert "Traceback" not in found.err
    # One line, or a configuration's block: place and sentence, the line it stands in, a marker, the number of errors.
    line = r"error: [^\n]+\n"
    block = r"[^\n]+\n +\d+ \| [^\n]*\n +\^+\n1 error\.\n"
    assert re.fullmatch(f"{line}|{block}", found.err), found.err


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_sentence_with_its_code(forking, tmp_path, name):
    case = CASES[name]
    after = prepare(tmp_path, case)
    try:
        check(case, forking.oblique(tmp_path, *case.arguments))
    finally:
        after()


@pytest.mark.long
def test_the_installed_command_does_the_same(tmp_path):
    prepare(tmp_path, CASES["results damaged"])
    check(CASES["results damaged"], oblique(tmp_path, *CASES["results damaged"].arguments))


def test_the_good_input_of_these_cases_runs(forking, tmp_path):
    (tmp_path / "c.yaml").write_text(CONFIG)
    (tmp_path / "my.csv").write_text(CSV)
    assert forking.oblique(tmp_path, "run", "c.yaml").code == 0
