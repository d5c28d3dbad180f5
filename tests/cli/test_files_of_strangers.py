"""Files that other people and programs wrote, by every command that reads them."""

import json
import sqlite3
import zipfile
from contextlib import closing

import pytest

ROWS = [[f"{i * 0.37 % 5:.2f}", str(i % 7), f"{i * 0.11:.2f}", ("no", "yes")[i % 7 > 3]] for i in range(70)]
NAMES = ["a", "b", "c", "y"]


def text(rows=ROWS, names=NAMES, sign: str = ",") -> str:
    return "\n".join(sign.join(row) for row in [names, *rows]) + "\n"


@pytest.fixture
def model(call):
    """A tree of one column, b."""
    (call.folder / "t.csv").write_text(text())
    ended = call("fit", "t.csv", "--target", "y", "--algorithm", "axis_parallel", "--folds", "2", "-o", "model.json")
    assert ended.code == 0, ended.err
    return "model.json"


def test_predict_score_and_explain_read_a_file_of_another_program(model, call):
    plain = call("predict", model, "t.csv").out
    score = call("score", model, "t.csv", "--format", "json").out
    why = call("explain", model, "t.csv", "--row", "3").out
    content = "Unsere Zeilen\n\n" + text(sign=";").replace(".", ",") + ";;;\nQuelle: Büro\n"
    (call.folder / "t.csv").write_bytes(content.encode("cp1252"))
    again = call("predict", model, "t.csv")
    assert again.out == plain and again.code == 0
    assert "'Unsere Zeilen'" in again.err and "'Quelle: Büro'" in again.err
    assert call("score", model, "t.csv", "--format", "json").out == score
    assert call("explain", model, "t.csv", "--row", "3").out == why
    (call.folder / "t.csv").write_text("left out\n" + text(sign="!") + "x!y\n")
    options = ("--delimiter", "!", "--skip", "1", "--skip-end", "1")
    assert call("predict", model, "t.csv", *options).out == plain
    assert call("score", model, "t.csv", *options, "--format", "json").out == score
    assert call("explain", model, "t.csv", "--row", "3", *options).out == why


def test_columns_that_no_term_takes_may_be_absent(model, call):
    plain = call("predict", model, "t.csv").out
    (call.folder / "t.csv").write_text("b\n" + "".join(f"{row[1]}\n" for row in ROWS))
    ended = call("predict", model, "t.csv")
    assert (ended.code, ended.out) == (0, plain)
    (call.folder / "t.csv").write_text("a,c\n1,2\n")
    ended = call("predict", model, "t.csv", "--output", "p.csv")
    assert ended.code == 4 and "there is no column 'b', which is one of the features" in " ".join(ended.err.split())
    assert not (call.folder / "p.csv").exists()
    assert call("report", model, "--output", "card.html").code == 0
    assert "<b>1</b>columns used to predict" in (call.folder / "card.html").read_text()
    assert call("export", model, "--format", "sql").out.count("; not used") == 2


def test_score_counts_a_class_that_the_model_does_not_know_as_an_error(model, call):
    rows = [*ROWS[:50], *([row[0], row[1], row[2], "perhaps"] for row in ROWS[50:60])]
    (call.folder / "t.csv").write_text(text(rows[:50]))
    known = json.loads(call("score", model, "t.csv", "--format", "json").out)["metrics"]["accuracy"]
    (call.folder / "t.csv").write_text(text(rows))
    options = [f"--metric={name}" for name in ("accuracy", "confusion", "log_loss")]
    ended = call("score", model, "t.csv", *options, "--format", "json")
    document = json.loads(ended.out)["metrics"]
    assert ended.code == 0 and document["accuracy"] == pytest.approx(known * 50 / 60)
    assert [sum(row) for row in document["confusion"]][2] == 10 and "10 rows" in document["log_loss"]
    assert "10 rows have classes that the model does not know ('perhaps'); they count as errors" in ended.err
    assert "perhaps" in call("score", model, "t.csv", *options).out


def test_a_table_without_names_is_told_from_a_wrong_target_and_a_qualitative_target_is_a_class(call):
    (call.folder / "t.data").write_text("\n".join("   ".join(row) for row in ROWS))
    ended = call("tree", "t.data", "--target", "y")
    assert ended.code == 4 and "--header none" in ended.err
    ended = call("tree", "t.data", "--target", "column 4", "--header", "none")
    assert ended.code == 0 and "Read with blanks between cells" in ended.out
    rows = [[f"{i / 7:.2f}", "U" if i % 15 == 0 else str(i % 5)] for i in range(90)]
    (call.folder / "t.csv").write_text(text(rows, ["x", "grade"]))
    ended = call("tree", "t.csv", "--target", "grade", "--qualitative", "grade")
    assert ended.code == 0 and "# Classification: 6 classes of 'grade'" in ended.out


def test_parts_of_files_are_words_of_the_command_line(call):
    with closing(sqlite3.connect(call.folder / "t.sqlite")) as base, base:
        base.execute("CREATE TABLE one (a REAL, b INTEGER, c REAL, y TEXT)")
        base.executemany("INSERT INTO one VALUES (?,?,?,?)", ROWS)
        base.execute("CREATE TABLE two (z REAL)")
    assert "2 classes of 'y' in 70 rows" in call("tree", "t.sqlite:one", "--target", "y").out
    ended = call("run", "t.sqlite:one", "--target", "y", "--set", "cv.folds=2", "--set", "cv.repeats=1")
    assert ended.code == 0, ended.err


def test_convert_reads_what_fit_reads(call):
    (call.folder / "t.csv").write_bytes(text(names=["größe", "b", "c", "y"]).encode("cp1252"))
    ended = call("data", "convert", "t.csv", "t.parquet")
    assert ended.code == 0 and "größe: numbers" in ended.out
    with zipfile.ZipFile(call.folder / "t.zip", "w") as archive:
        archive.writestr("t.csv", text())
    ended = call("data", "convert", "t.zip", "z.parquet")
    assert ended.code == 0 and "70 rows, 4 columns" in ended.out
    (call.folder / "e.csv").write_text("Title\n" + text(sign=";").replace(".", ",") + "Total;;;\n")
    ended = call("data", "convert", "e.csv", "e.parquet")
    assert ended.code == 0 and "c: numbers" in ended.out and "'Title'" in ended.err
    assert "2 classes of 'y' in 70 rows" in call("tree", "e.parquet", "--target", "y").out
    with zipfile.ZipFile(call.folder / "two.zip", "w") as archive:
        archive.writestr("a.csv", text())
        archive.writestr("b.csv", text())
    ended = call("data", "convert", "two.zip", "two.parquet")
    assert ended.code == 4 and "say which one" in ended.err and not (call.folder / "two.parquet").exists()
