"""`oblique export`: from a file of one's own to a program."""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from oblique_cli.cli.export import BINARY, FORMATS, SUFFIXES

FILES = Path(__file__).parents[1] / "files"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> Path:
    """A model of the wild table: ids, words, gaps, decimal commas, semicolons, letters beyond ASCII."""
    from oblique_cli.cli import call as run

    path = tmp_path_factory.mktemp("fitted") / "wild.json"
    assert (
        run(["fit", str(FILES / "wild.csv"), "--target", "Befund", "--algorithm", "hhcart_a", "--output", str(path)])
        == 0
    )
    return path


def test_formats_are_those_that_are_registered():
    from oblique_cli.models.exporting import FORMATS as registered

    assert set(FORMATS) == set(registered) == set(SUFFIXES.values())
    assert all(SUFFIXES[form.suffix] == name for name, form in registered.items())
    assert [name for name in FORMATS if name in BINARY] == ["onnx"]


def test_the_ending_of_the_file_says_the_format(call, fitted):
    pytest.importorskip("onnx", reason="needs the package onnx: pip install onnx")
    for suffix, name in SUFFIXES.items():
        ended = call("export", str(fitted), "--output", f"out{suffix}")
        assert (ended.code, ended.out, ended.err) == (0, "", ""), suffix
        if name not in BINARY:
            output = call("export", str(fitted), "--format", name).out
            assert (call.folder / f"out{suffix}").read_text(encoding="utf-8") == output


@pytest.mark.parametrize("algorithm", ["hhcart_a", "oblique_boosting"])
def test_the_module_and_the_statement_say_what_predict_says(algorithm, call, fitted):
    table = FILES / "wild.csv"
    if algorithm != "hhcart_a":
        few = ("--algorithm", algorithm, "--set", "n_estimators=5", "--folds", "2")
        assert call("fit", str(table), "--target", "Befund", *few, "--output", "other.json").code == 0
        fitted = call.folder / "other.json"
    predicted = call("predict", str(fitted), str(table), "--keep", "none").out.splitlines()[1:]
    labels = [line.partition(",")[2] for line in predicted]
    call("export", str(fitted), "--output", "model.py")
    script = (
        "import csv, model\n"
        f"rows = list(csv.DictReader(open({str(table)!r}, encoding='utf-8-sig'), delimiter=';'))\n"
        "def cell(name, text):\n"
        "    text = '' if text.strip().lower() in ('na', '-', '?') else text.strip()\n"
        "    number = not model.LEVELS[model.COLUMNS.index(name)]\n"
        "    return text.replace('.', '').replace(',', '.') if number else text\n"
        "for row in rows:\n"
        "    print(model.predict({name: cell(name, row[name]) for name in model.COLUMNS}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=call.folder, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == labels, done.stderr

    statement = call("export", str(fitted), "--format", "sql", "--name", 'pa"tients').out
    with closing(sqlite3.connect(":memory:")) as base:
        header = '"Größe (cm)" REAL, "Gewicht (kg)" REAL, "Glukose (mg/dl)" REAL, "Thrombozyten (10²/µl)" REAL'
        base.execute(f'CREATE TABLE "pa""tients" ({header}, "Station" TEXT, "Raucher" TEXT)')
        base.execute("INSERT INTO \"pa\"\"tients\" VALUES (174.2, 98.3, 75.7, 2546.2, 'Innere', 'ja')")
        (row,) = base.execute(statement).fetchall()
    assert row[-2] == labels[0]


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_program_compiles_and_has_the_columns_in_its_head(call, fitted):
    call("export", str(fitted), "--output", "model.c", "--name", "befund")
    source = (call.folder / "model.c").read_text(encoding="utf-8")
    assert 'Columns of a row, in this order:\n *   0 "Größe (cm)": a number; 170.6 where it is missing' in source
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, "-c", "model.c", "-o", "model.o"], cwd=call.folder, check=True)
    assert "int befund_predict(const double *row);" in source


def test_precision_is_for_what_is_read_and_without_onnx_the_sentence_says_what_to_install(call, fitted, monkeypatch):
    short, long = (
        call("export", str(fitted), "--format", "rules", "--precision", digits).out for digits in ("2", "17")
    )
    assert len(short) < len(long) and short.count("\n") == long.count("\n")
    assert json.loads(call("export", str(fitted), "--format", "json").out)["schema"] == "oblique-export/1"
    monkeypatch.setitem(sys.modules, "onnx", None)
    ended = call("export", str(fitted), "--output", "m.onnx")
    assert ended.code == 2 and "format onnx needs the package onnx: pip install 'oblique-trees[onnx]'." in ended.err


def test_the_page_says_which_format_holds_what():
    from tools import algorithm_pages

    made = algorithm_pages.text_of_formats()
    assert algorithm_pages.EXPORTING.read_text(encoding="utf-8") == made, "run: python -m tools.algorithm_pages --text"
    kinds = "classification trees, logistic leaves, trees over codes"
    row = f"| `pmml` | PMML 4.4 for scoring engines | {kinds} | exact |"
    assert row in made.splitlines()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_example_of_two_languages_agrees_with_predict(tmp_path):
    example = Path(__file__).parents[2] / "examples" / "export_both.py"
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"345 rows, \d+ leaves: C and SQL say what predict says, probabilities within [\d.e-]+\n", done.stdout
    )
