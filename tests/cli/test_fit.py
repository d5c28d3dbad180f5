"""`oblique fit`, `predict` and `score` from end to end, on two tables of a user's own."""

import csv
import gzip
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_support import forked, records

from oblique_cli.cli.fit import fit
from oblique_cli.data.own.front import chunks
from oblique_cli.fitting.budget import candidates
from oblique_cli.models import load
from oblique_cli.models.new_rows import ROWS

FILES = Path(__file__).parent.parent / "files"
PLAIN, WILD = FILES / "plain.csv", FILES / "wild.csv"
QUICK = ("--algorithm", "hhgdt", "--folds", "3")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with models of both tables, plain.json and wild.json."""
    folder = tmp_path_factory.mktemp("models")
    for table, target, name in ((PLAIN, "variety", "plain.json"), (WILD, "Befund", "wild.json")):
        ended = forked(folder, "fit", str(table), "--target", target, *QUICK, "--output", name)
        assert ended.code == 0, ended.err
    return folder


@pytest.fixture
def plain(call, models):
    """The command beside a model of the plain table, plain.json."""
    shutil.copy(models / "plain.json", call.folder)
    return call


@pytest.fixture
def wild(call, models):
    """The command beside a model of the wild table, wild.json."""
    shutil.copy(models / "wild.json", call.folder)
    return call


# ---- fit -------------------------------------------------------------------------------------------------------------


def test_the_help_names_all_that_auto_compares():
    text = re.sub("[-(]", "_", str(fit.help).lower())  # HHCART(A) is hhcart_a
    assert [candidate["name"] for candidate in candidates("classification") if candidate["name"] not in text] == []


def test_the_tree_is_that_of_oblique_tree(call):
    options = ("--set", "pruning=none", "--precision", "17")
    fitted = call("fit", "bupa", "--algorithm", "hhgdt", "--folds", "2", *options)
    shown = call("tree", "bupa", "--algorithm", "hhgdt", *options)
    rules = [line for line in fitted.out.splitlines() if not line.startswith("#")]
    assert rules == [line for line in shown.out.splitlines() if not line.startswith("#")]


def test_json_holds_facts_files_and_importances_which_are_told_and_shown_with_the_tree(plain):
    ended = plain("fit", str(PLAIN), "--target", "variety", *QUICK, "--output", "m.json", "--format", "json")
    document = json.loads(ended.out)
    assert document["algorithm"] == "hhgdt" and document["rows"] == 240
    assert document["estimate"]["folds"] == 3 and 0 < document["estimate"]["accuracy"] <= 1
    assert [Path(path).name for path in document["written"]] == ["m.json"]
    assert document["classes"] == ["amber", "durum", "spelt"]

    text = plain("fit", str(PLAIN), "--target", "variety", *QUICK).out
    result = document["importances"]
    assert (result["by"], result["output"], result["rows"], result["background"]) == ("shapley", "probability", 100, 50)
    names = [name for name, _ in sorted(result["values"].items(), key=lambda item: -item[1])]
    shown = ", ".join(f"{name} {result['values'][name]:.3g}" for name in names)
    assert f"# Importance (mean |Shapley value| of the probability, 100 rows against 50): {shown}." in text
    assert plain("tree", "plain.json", "--output", "tree.html").code == 0
    page = (plain.folder / "tree.html").read_text()
    assert re.findall(r'class="name">(\w+)</th>', page) == names
    fitted_now = plain("tree", str(PLAIN), "--target", "variety", "--algorithm", "hhgdt", "--output", "now.html")
    assert fitted_now.code == 0 and 'class="bars"' in (plain.folder / "now.html").read_text()


def test_tune_says_what_was_chosen(call):
    ended = call("fit", "bupa", "--algorithm", "hhgdt", "--tune", "--folds", "3")
    assert "Chosen by 3-fold cross-validation: epsilon 0." in ended.out and "(nested 3-fold" in ended.out
    ended = call("fit", "bupa", "--algorithm", "knn", "--set", "n_neighbors={grid: [1, 7]}", "--folds", "3")
    assert "Chosen by 3-fold cross-validation: n_neighbors" in ended.out
    assert "# The model is not one tree, so no rules are shown." in ended.out


# ---- predict ---------------------------------------------------------------------------------------------------------


def test_predictions_are_those_of_the_model(wild):
    ended = wild("predict", "wild.json", str(WILD), "--proba", "--leaf")
    assert ended.code == 0 and ended.err == ""
    result, model = records(ended.out), load(wild.folder / "wild.json")
    X = np.concatenate([chunk.X for chunk in chunks(WILD, model.columns)])
    assert [row["row"] for row in result] == [str(i) for i in range(1, 321)]
    assert [row["prediction"] for row in result] == model.predict(X).tolist()
    shares = np.array([[float(row[f"p({label})"]) for label in model.classes] for row in result])
    assert shares.tobytes() == model.predict_proba(X).tobytes()
    assert [int(row["leaf"]) for row in result] == model.apply(X).tolist()


def test_columns_go_by_name_in_any_order_in_packed_files_and_on_standard_input(plain):
    table = list(csv.reader(PLAIN.read_text().splitlines()))
    mixed = [[row[5], "x", row[6], *row[:5]] for row in table]
    mixed[0][1] = "remark"
    (plain.folder / "mixed.csv").write_text("\n".join(";".join(row) for row in mixed))
    assert plain("predict", "plain.json", "mixed.csv").out == plain("predict", "plain.json", str(PLAIN)).out
    expected = plain("predict", "plain.json", str(PLAIN)).out
    (plain.folder / "new.csv.gz").write_bytes(gzip.compress(PLAIN.read_bytes()))
    assert plain("predict", "plain.json", "new.csv.gz").out == expected
    piped = forked(plain.folder, "predict", "plain.json", "-", stdin=PLAIN)
    assert (piped.code, piped.out) == (0, expected), piped.err


def test_json_and_parquet_hold_the_same_and_the_ending_of_the_output_decides_the_format(plain):
    document = json.loads(plain("predict", "plain.json", str(PLAIN), "--proba", "--leaf", "--format", "json").out)
    table = records(plain("predict", "plain.json", str(PLAIN), "--proba", "--leaf").out)
    assert len(document) == 240 and list(document[0]) == ["row", "prediction", "probabilities", "leaf"]
    assert [entry["prediction"] for entry in document] == [row["prediction"] for row in table]
    assert document[7]["probabilities"] == {name: float(table[7][f"p({name})"]) for name in ("amber", "durum", "spelt")}
    for name in ("out.csv", "out.json", "out"):
        assert plain("predict", "plain.json", str(PLAIN), "--output", name).code == 0
    assert json.loads((plain.folder / "out.json").read_text())[0]["row"] == 1
    assert (plain.folder / "out.csv").read_text() == (plain.folder / "out").read_text()
    assert not list(plain.folder.glob(".*.tmp"))
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install 'oblique-trees[parquet]'")
    assert plain("predict", "plain.json", str(PLAIN), "--proba", "--output", "out.parquet").code == 0
    document = parquet.read_table(plain.folder / "out.parquet").to_pylist()
    table = records(plain("predict", "plain.json", str(PLAIN), "--proba").out)
    assert [str(row["row"]) for row in document] == [row["row"] for row in table]
    assert [row["prediction"] for row in document] == [row["prediction"] for row in table]
    assert [row["p(spelt)"] for row in document] == [float(row["p(spelt)"]) for row in table]


def test_an_unknown_level_is_named_and_counts_as_none_or_above_the_ordinal_codes(wild):
    text = WILD.read_text(encoding="utf-8-sig").replace(";Innere;", ";Mond;")
    (wild.folder / "moon.csv").write_text(text, encoding="utf-8")
    ended = wild("predict", "wild.json", "moon.csv")
    n = text.count(";Mond;")
    assert ended.code == 0
    assert f"note: 'Station': {n} rows have a level that the training rows did not have ('Mond')" in ended.err
    assert len(records(ended.out)) == 320
    (wild.folder / "o.csv").write_text("w,x,y\n" + "".join(f"{'lmh'[i % 3]},{i}.5,{'pq'[i > 20]}\n" for i in range(40)))
    (wild.folder / "n.csv").write_text("w,x\nz,1.5\n")
    wild("fit", "o.csv", "--target", "y", *QUICK, "--set", "encoding=ordinal", "--output", "o.json")
    ended = wild("predict", "o.json", "n.csv")
    assert ended.code == 0 and "('z'); its code is one above the last (encoding ordinal)." in ended.err


def test_a_table_without_rows_gives_a_table_without_rows(plain):
    """Not an empty file, which no reader takes for a table."""
    (plain.folder / "none.csv").write_text(PLAIN.read_text().splitlines()[0] + "\n")
    first = plain("predict", "plain.json", str(PLAIN), "--proba", "--leaf").out.splitlines()[0]
    assert plain("predict", "plain.json", "none.csv", "--proba", "--leaf").out == first + "\n"
    assert json.loads(plain("predict", "plain.json", "none.csv", "--format", "json").out) == []
    ended = plain("score", "plain.json", "none.csv")
    assert ended.code == 4 and ended.err == "error: none.csv: there are no rows below the header.\n"
    parquet = pytest.importorskip("pyarrow.parquet", reason="reads Parquet")
    assert plain("predict", "plain.json", "none.csv", "--output", "none.parquet").code == 0
    assert plain("predict", "plain.json", str(PLAIN), "--output", "some.parquet").code == 0
    none, some = (parquet.read_table(plain.folder / f"{name}.parquet") for name in ("none", "some"))
    assert none.num_rows == 0 and none.schema == some.schema


def test_a_forest_has_a_leaf_in_each_tree(call):
    call("fit", "iris", "--algorithm", "hhcart_forest", "--set", "n_estimators=3", "--folds", "2", "--output", "f.json")
    (call.folder / "new.csv").write_text("sepal_length,sepal_width,petal_length,petal_width\n5,3,1,0.2\n")
    results = records(call("predict", "f.json", "new.csv", "--leaf").out)
    assert list(results[0]) == ["row", "prediction", "leaf 1", "leaf 2", "leaf 3"]


def test_rows_are_read_and_answered_block_by_block(plain):
    header, *lines = PLAIN.read_text().splitlines()
    many = [header, *(lines * 120)]  # 28,800 rows, two blocks
    (plain.folder / "many.csv").write_text("\n".join(many))
    assert len(many) - 1 > ROWS
    results = records(plain("predict", "plain.json", "many.csv").out)
    once = [row["prediction"] for row in records(plain("predict", "plain.json", str(PLAIN)).out)]
    assert [row["prediction"] for row in results] == once * 120
    assert [int(row["row"]) for row in results] == list(range(1, len(many)))


# ---- score -----------------------------------------------------------------------------------------------------------


def test_the_score_counts_right_answers(plain):
    results = records(plain("predict", "plain.json", str(PLAIN)).out)
    truth = [row["variety"] for row in records(PLAIN.read_text())]
    right = sum(row["prediction"] == label for row, label in zip(results, truth, strict=True))
    document = json.loads(plain("score", "plain.json", str(PLAIN), "--format", "json").out)
    assert document["rows"] == 240 and document["metrics"]["accuracy"] == pytest.approx(100 * right / 240)


def test_the_score_shows_metrics_and_a_matrix(wild):
    options = [f"--metric={name}" for name in ("accuracy", "log_loss", "confusion", "mean_path", "roc_auc")]
    ended = wild("score", "wild.json", str(WILD), *options, "--output", "score.txt")
    assert ended.code == 0, ended.err
    text = (wild.folder / "score.txt").read_text()
    assert text.splitlines()[0].split() == ["rows", "320"]
    assert "log loss" in text and "rows: the class, columns: the prediction" in text and "grenzwertig" in text


@pytest.mark.parametrize("settings", [(), ("--set", "dataset.missing=keep", "--set", "algorithm.missing=learn")])
@pytest.mark.parametrize("kind", ["one empty cell", "a level in one row", "a class in one row"])
def test_curves_need_no_fold_that_has_seen_every_kind_of_row(call, kind, settings):
    rng = np.random.default_rng(1)
    numbers, colors = rng.random((120, 2)).round(3), rng.choice(["blue", "green", "red"], 120)
    cells = [
        [*map(str, row), color, "high" if sum(row) > 1 else "low"] for row, color in zip(numbers, colors, strict=True)
    ]
    if kind == "one empty cell":
        cells[5][0] = ""
    elif kind == "a level in one row":
        cells[5][2] = "amber"
    else:
        cells[5][3] = "fair"
    (call.folder / "own.csv").write_text("\n".join(map(",".join, [["a", "b", "color", "y"], *cells])) + "\n")
    algorithm = ("--algorithm", "hhcart_d", "--folds", "3", *settings)
    ended = call("fit", "own.csv", "--target", "y", *algorithm, "--output", "m.json")
    assert ended.code == 0, ended.err
    curves = load(call.folder / "m.json").facts["curves"]
    assert {curve["column"] for curve in curves} >= {"a", "b"} and all("ends" in curve for curve in curves)
