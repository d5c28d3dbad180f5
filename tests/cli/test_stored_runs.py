"""Work on stored runs: folds, predictions, rescore, diff, merge, repair, and parts of a finished."""

import json
import shutil
import signal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cli_support import SMALL, records
from store_support import sql

from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.experiments import running
from oblique_cli.experiments.store import Store

DATABASE = "results/oblique.sqlite"
FOLD = "dataset = 'iris' AND algorithm = 'hhgdt' AND repeat = 1 AND fold = 2"


@pytest.fixture
def small(call):
    (call.folder / "small.yaml").write_text(SMALL)
    return call


def refused(ended, code: int, *parts: str) -> None:
    assert ended.code == code and ended.out == "", ended
    assert ended.err.startswith("error: ") and ended.err.count("\n") == 1, ended.err
    for part in parts:
        assert part in ended.err


# ---- folds -----------------------------------------------------------------------------------------------------------


def test_every_fold_is_a_line_that_makes_the_table(finished):
    lines = records(finished("folds", "configs/small.yaml").out)  # the configuration stands for its run
    assert len(lines) == 24 and len({tuple(line.values()) for line in lines}) == 24
    mine = [line for line in lines if (line["dataset"], line["algorithm"], line["repeat"]) == ("bupa", "hhgdt", "1")]
    assert sum(int(line["n_test"]) for line in mine) == 345
    accuracy = [100 * sum(int(line["n_correct"]) for line in lines if line["repeat"] == r and line["dataset"] == "bupa"
                          and line["algorithm"] == "hhgdt") / 345 for r in "01"]  # fmt: skip
    (cell,) = [line for line in records(finished("table", "small", "--format", "csv").out)
               if (line["dataset"], line["algorithm"]) == ("bupa", "hhgdt")]  # fmt: skip
    assert float(cell["accuracy_mean"]) == pytest.approx(np.mean(accuracy))
    assert {line["chosen.epsilon"] for line in mine} <= {"0.1", "0.2"}
    assert all(line["made_by.numpy"] == np.__version__ and line["made_by.code"] for line in lines)
    plain = json.loads(finished("folds", "small", "--format", "json").out)
    assert [str(item["leaves"]) for item in plain] == [line["leaves"] for line in lines]


def test_parquet_holds_the_same_folds(finished):
    assert finished("folds", "small", "--format", "parquet", "--output", "folds.parquet").code == 0
    table = pd.read_parquet(finished.folder / "folds.parquet")
    lines = records(finished("folds", "small").out)
    assert list(table.columns) == list(lines[0])
    assert table["n_correct"].tolist() == [int(line["n_correct"]) for line in lines]
    assert table["fit_seconds"].tolist() == [float(line["fit_seconds"]) for line in lines]
    assert not list(finished.folder.glob(".folds*")), "no temporary file stays"


def test_inner_choices_are_listed_with_the_one_that_was_made_and_shared_ones_without_a_fold(finished):
    lines = records(finished("folds", "small", "--inner").out)
    assert len(lines) == 2 * 6 * 2 and {line["algorithm"] for line in lines} == {"hhgdt"}
    by_fold = [lines[i : i + 2] for i in range(0, len(lines), 2)]
    for pair in by_fold:
        assert sum(line["was_chosen"] == "True" for line in pair) == 1
        assert max(int(line["n_correct"]) for line in pair) == max(
            int(line["n_correct"]) for line in pair if line["was_chosen"] == "True"
        )
    (finished.folder / "small.yaml").write_text(SMALL.replace("nested", "two_stage"))
    assert finished("run", "small.yaml", "--quiet", "--fresh").code == 0
    lines = records(finished("folds", "small", "--inner").out)
    assert len(lines) == 2 * 2 and {(line["repeat"], line["fold"]) for line in lines} == {("", "")}


# ---- predictions and rescore -----------------------------------------------------------------------------------------


def test_predictions_are_those_that_the_folds_counted(finished):
    lines = records(finished("predictions", "small").out)
    assert len(lines) == (150 + 345) * 2 * 2
    results = records(finished("folds", "small").out)
    for fold in results:
        mine = [line for line in lines if all(line[k] == fold[k] for k in ("dataset", "algorithm", "repeat", "fold"))]
        assert len(mine) == int(fold["n_test"])
        assert sum(item["actual"] == item["predicted"] for item in mine) == int(fold["n_correct"])
    once = [
        int(line["row"])
        for line in lines
        if (line["dataset"], line["algorithm"], line["repeat"]) == ("iris", "hhgdt", "0")
    ]
    assert sorted(once) == list(range(150)), "every row is tested once a repetition"
    only = records(finished("predictions", "small", "--dataset", "iris", "--algorithm", "hhgdt").out)
    assert len(only) == 300 and {item["actual"] for item in only} == {
        "Iris-setosa",
        "Iris-versicolor",
        "Iris-virginica",
    }


def test_probabilities_are_kept_if_asked_for(small):
    assert "p(" not in small("run", "small.yaml", "--quiet").out
    (small.folder / "small.yaml").write_text(SMALL + "keep: probabilities\n")
    assert small("run", "small.yaml", "--fresh", "--quiet").code == 0
    lines = records(small("predictions", "small", "--dataset", "bupa").out)
    assert all(float(line["p(1)"]) + float(line["p(2)"]) == pytest.approx(1) for line in lines)
    assert small("predictions", "small", "--format", "parquet", "--output", "p.parquet").code == 0
    table = pd.read_parquet(small.folder / "p.parquet")
    assert table["p(1)"].notna().sum() == 345 * 4 and len(table) == 495 * 4


def test_rescored_metrics_are_those_of_a_run_that_was_asked_for_them(small):
    names = ("mcc", "f1_macro", "log_loss", "brier", "kappa", "confusion_matrix")
    metrics = [word for name in names if name in METRICS for word in ("--metric", name)]
    assert small("run", "small.yaml", "--keep-probabilities", "--quiet").code == 0
    before = small("table", "small").out
    got = small("rescore", "small", *metrics, "--format", "json")
    assert got.code == 0
    assert small("table", "small").out == before, "a rescored run shows what it showed"
    assert small("table", "small", *metrics, "--format", "json").out == got.out, "and knows the metrics from now on"
    (small.folder / "other").mkdir()
    assert small("run", "small.yaml", "--results", "other", *metrics, "--quiet").code == 0
    request = small("table", "small", "--results", "other", *metrics, "--format", "json")
    assert json.loads(request.out)["rows"] == json.loads(got.out)["rows"]


# ---- diff ------------------------------------------------------------------------------------------------------------


def test_a_diff_names_cells_folds_and_what_is_significant_and_nothing_of_one_run(finished):
    stump = SMALL.replace("axis_parallel,", "{name: axis_parallel, max_depth: 1},")
    (finished.folder / "stump.yaml").write_text(stump)
    assert finished("run", "stump.yaml", "--quiet").code == 0
    document = json.loads(finished("diff", "small", "stump", "--format", "json").out)
    cells = {(row["dataset"], row["algorithm"], row["metric"]): row for row in document["rows"]}
    assert cells["iris", "hhgdt", "accuracy"]["verdict"] == "equal"
    assert cells["iris", "axis_parallel", "accuracy"]["verdict"] == "significant"
    assert cells["iris", "axis_parallel", "accuracy"]["difference"] < -20
    assert cells["iris", "axis_parallel", "accuracy"]["folds_differing"] == 6
    assert all(fold["fold"].split("/")[1].startswith("axis_parallel") for fold in document["folds"])
    assert "test rows predicted otherwise" in document["folds"][0]["what"]
    text = finished("diff", "small", "stump").out
    assert "significant" in text and "algorithms.axis_parallel.params.max_depth (none) -> 1" in text
    assert "12 folds differ" in text
    document = json.loads(finished("diff", "small", "small", "--format", "json").out)
    assert document["folds"] == [] and {row["verdict"] for row in document["rows"]} == {"equal"}


# ---- parts and merge -------------------------------------------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["nested", "two_stage"])
def test_parts_that_are_merged_are_the_whole(small, scheme):
    (small.folder / "small.yaml").write_text(SMALL.replace("nested", scheme))
    whole = small("run", "small.yaml", "--quiet", "--format", "csv").out
    for i in (1, 2, 3):
        ended = small("run", "small.yaml", "--shard", f"{i}/3", "--results", f"part{i}")
        assert ended.code == 0 and "8 of 8 folds" in ended.err
        assert small("status", "--results", f"part{i}").out.splitlines()[1].split()[1:5] == ["24", "8", "0", "16"]
    merged = small("merge", "small", "part1", "part2", "part3", "--results", "whole")
    assert merged.out.startswith("small: 24 of 24 folds, 0 failed, 0 left")
    assert small("table", "small", "--results", "whole", "--format", "csv").out == whole
    again = small("merge", "small", "part1", "--results", "whole")
    assert "0 folds taken, 8 there already" in again.err
    resumed = small("run", "small.yaml", "--results", "whole", "--format", "csv")
    assert resumed.out == whole and "resumed: 24 done" in resumed.err
    predictions = small("predictions", "small").out
    assert small("predictions", "small", "--results", "whole").out == predictions


def test_parts_on_other_data_or_of_another_configuration_are_refused(small):
    data = "x,y,class\n" + "".join(f"{i % 7},{i * i % 11},{'ab'[i % 2]}\n" for i in range(40))
    local = "version: 1\nname: own\ndataset: {csv: my.csv, target: class}\nalgorithm: axis_parallel\ncv: {folds: 3}\n"
    (small.folder / "own.yaml").write_text(local)
    for part, text in (("one", data), ("other", data.replace("6,3,", "6,4,"))):
        (small.folder / "my.csv").write_text(text)
        assert small("run", "own.yaml", "--results", part, "--quiet").code == 0
    refused_merge = small("merge", "own", "other", "--results", "one")
    refused(refused_merge, 2, "data set 'my' of run 'own' is not the same in", "cannot be merged")
    (small.folder / "my.csv").write_text(data)
    assert small("run", "own.yaml", "--results", "third", "--set", "seed=2", "--quiet").code == 0
    refused(small("merge", "own", "third", "--results", "one"), 2, "with another configuration than in", "seed")


def test_parts_that_disagree_about_a_fold_are_refused_and_nothing_is_taken(finished):
    shutil.copytree(finished.folder / "results", finished.folder / "other")
    with Store(finished.folder / "other" / "oblique.sqlite") as store:
        result, rows = store.run("small"), store.rows("small")
        store.delete("small")
        store.begin("small", result.content, result.total)
        store.append("small", replace(rows[0], n_leaves=rows[0].n_leaves + 1))
    refused(finished("merge", "small", "other"), 2, "bupa/axis_parallel r0 f0 of run 'small' differs between")
    assert len(records(finished("folds", "small").out)) == 24


# ---- folds that are gone ---------------------------------------------------------------------------------------------


READERS = [
    ("table", "small"),
    ("table", "small", "--format", "csv"),
    ("folds", "small"),
    ("predictions", "small"),
    ("significance", "small", "--format", "csv"),
    ("rescore", "small", "--metric", "mcc", "--format", "json"),
    ("diff", "small", "small", "--format", "csv"),
    ("compare", "small", "--format", "csv"),
    ("plot", "box", "small", "--output", "box.svg"),
    ("report", "small", "--trees", "0", "--output", "report.html"),
]


@pytest.mark.long
def test_every_reader_says_that_a_fold_is_gone_and_none_that_one_is_where_all_are_there(finished):
    for reader in READERS:
        ended = finished(*reader)
        assert ended.code == 0 and "not stored" not in ended.err, ended
    sql(finished.folder / DATABASE, f"DELETE FROM rows WHERE {FOLD}")
    for reader in READERS:
        ended = finished(*reader)
        text = "small: 1 of 24 folds is not stored; oblique run small.yaml --quiet runs it.\n"
        assert ended.code == 0 and text in ended.err, (reader, ended)
    (status,) = json.loads(finished("status", "--format", "json").out)
    assert (status["done"], status["left"]) == (23, 1)


def test_a_fold_that_was_taken_out_is_damage_and_run_again(finished):
    table = finished("table", "small", "--format", "csv").out
    sql(finished.folder / DATABASE, f"DELETE FROM rows WHERE {FOLD}")
    ended = finished("repair", "--check")
    assert ended.code == 5 and "a fold of which nothing but its predictions is left" in ended.out
    ended = finished("repair", "--format", "csv", "--quiet")
    assert ended.code == 0 and ended.out.endswith(table)
    assert finished("repair", "--check").out == "nothing is damaged\n"


# ---- repair ----------------------------------------------------------------------------------------------------------


def test_repair_runs_what_is_damaged_again_and_nothing_else(finished):
    table, folds = finished("table", "small", "--format", "csv").out, finished("folds", "small").out
    sql(finished.folder / DATABASE, "UPDATE rows SET n_correct = n_correct - 1 WHERE rowid IN (3, 17)")
    sql(finished.folder / DATABASE, "UPDATE predictions SET packed = x'00' WHERE rowid = 9")
    for command in (("table", "small"), ("folds", "small"), ("predictions", "small"), ("run", "small.yaml", "--quiet")):
        ended = finished(*command)
        assert ended.code == 5 and "of run 'small' are not what was stored" in ended.err
        assert "oblique repair small runs just that again." in ended.err
    listed = finished("status")
    assert listed.code == 5 and listed.out.splitlines()[1].split()[:5] == ["small", "24", "22", "0", "2"]
    checked = finished("repair", "--check")
    assert checked.code == 5 and "small: 3 damaged: " in checked.out
    ended = finished("repair", "--format", "csv")
    assert ended.code == 0 and ended.out.endswith(table) and "small: 24 of 24 folds" in ended.err
    assert finished("table", "small", "--format", "csv").out == table
    times = ("tune_seconds", "fit_seconds", "predict_seconds")
    both = zip(records(folds), records(finished("folds", "small").out), strict=True)
    assert sum(any(item[t] != two[t] for t in times) for item, two in both) == 3
    assert finished("repair").out == "nothing is damaged\n"


def test_repair_that_is_interrupted_begins_no_further_run(finished, monkeypatch):
    assert finished("run", "small.yaml", "--quiet", "--set", "name=other").code == 0
    sql(finished.folder / DATABASE, "UPDATE rows SET n_correct = n_correct - 1 WHERE fold = 0")
    begun = []

    def run_again(runner, name, only):
        begun.append(name)
        return running.RunSummary(name, 24, 3, 3, (), signal.SIGINT, 0.1), None

    monkeypatch.setattr("oblique_cli.cli.repair.run_again", run_again)
    ended = finished("repair")
    assert ended.code == 130 and begun == ["other"]


def test_a_file_whose_pages_are_damaged_is_saved_as_far_as_it_can_be_read(finished):
    table = finished("table", "small", "--format", "csv").out
    path = finished.folder / DATABASE
    ((page,),) = sql(path, "SELECT rootpage FROM sqlite_master WHERE name = 'rows_by_key'")
    ((size,),) = sql(path, "PRAGMA page_size")
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\x5a" * size
    path.write_bytes(content)
    path.with_name("oblique.sqlite.saved").write_bytes(b"what a kill has left of an earlier repair")
    assert finished("run", "small.yaml", "--quiet").code == 5
    assert finished("repair", "--check").code == 5
    ended = finished("repair", "--quiet")
    assert ended.code == 0 and "records saved; the damaged file is" in ended.err
    assert path.with_name("oblique.sqlite.damaged").is_file()
    assert sql(path, "PRAGMA journal_mode") == [("wal",)], "as of any other results file"
    assert finished("run", "small.yaml", "--quiet", "--format", "csv").out == table


def test_folds_on_a_page_that_is_lost_are_named_and_run_again(finished):
    table = finished("table", "small", "--format", "csv").out
    path = finished.folder / DATABASE
    content = path.read_bytes()
    ((page,),) = sql(path, "SELECT rootpage FROM sqlite_master WHERE name = 'rows'")
    ((size,),) = sql(path, "PRAGMA page_size")
    root = content[(page - 1) * size : page * size]
    assert root[0] == 5, "a page of pages"
    leaf = int.from_bytes(root[8:12], "big")  # the one that has the largest rowids
    path.write_bytes(content[: (leaf - 1) * size] + bytes(size) + content[leaf * size :])
    ended = finished("repair", "--drop")
    assert ended.code == 0, ended
    assert "of 24 folds are not stored" in ended.err and "bupa/hhgdt r1 f2" in ended.err.partition("not stored are")[2]
    assert finished("run", "small.yaml", "--quiet", "--format", "csv").out == table


def test_a_run_on_an_own_file_is_repaired_from_the_place_of_the_file(call):
    text = "x,y,class\n" + "".join(f"{i % 7},{i * i % 11},{'ab'[i % 2]}\n" for i in range(40))
    (call.folder / "my.csv").write_text(text)
    arguments = ("--csv", "my.csv", "--target", "class", "--set", "cv.folds=3", "--set", "cv.repeats=1", "--quiet")
    table = call("run", *arguments, "--format", "csv").out
    name = json.loads(call("status", "--format", "json").out)[0]["run"]
    sql(call.folder / DATABASE, "UPDATE rows SET depth = 77 WHERE rowid = 2")
    assert call("repair", "--quiet").code == 0
    assert call("table", name, "--format", "csv").out == table
    (call.folder / "my.csv").unlink()
    sql(call.folder / DATABASE, "UPDATE rows SET depth = 77 WHERE rowid = (SELECT max(rowid) FROM rows)")
    assert call("repair", "--quiet").code == 4


@pytest.fixture
def sampled(call):
    """Two runs on iris: `sampled`, by the bootstrap, and `plain`, by cross-validation."""
    for name, cv in (("sampled", "{scheme: bootstrap, repeats: 2}"), ("plain", "{folds: 2, repeats: 2}")):
        (call.folder / f"{name}.yaml").write_text(
            f"version: 1\nname: {name}\ndataset: iris\nalgorithms: [axis_parallel, hhgdt]\ncv: {cv}\n"
        )
        assert call("run", f"{name}.yaml", "--quiet").code == 0
    return call


def test_a_comparison_says_that_rows_were_divided_otherwise_only_if_they_were(sampled):
    apart = "The runs divided the rows of iris in different ways"
    for name, change in (("longer", "cv.repeats=3"), ("other", "seed=7")):
        assert sampled("run", "plain.yaml", "--quiet", "--set", f"name={name}", "--set", change).code == 0
    assert apart not in sampled("compare", "plain", "longer").out
    assert apart in sampled("compare", "plain", "other").out


def test_a_mean_over_more_repetitions_is_no_difference_of_the_folds(sampled):
    assert sampled("run", "plain.yaml", "--quiet", "--set", "name=longer", "--set", "cv.repeats=5").code == 0
    cells = json.loads(sampled("diff", "plain", "longer", "--format", "json").out)["rows"]
    moved = [cell for cell in cells if cell["difference"]]
    assert moved and {cell["verdict"] for cell in moved} == {"equal on shared folds"}
    assert {(cell["folds_differing"], cell["folds_shared"]) for cell in cells} == {(0, 4)}


def test_parameters_that_are_named_like_columns_have_columns_of_their_own(call):
    from oblique_cli.experiments import tidy
    from oblique_cli.ground.nouns import Row

    counts = {"n_correct": 9, "n_rows": 10, "n_leaves": 3, "n_trees": 1}
    inner = [{"params": {"fold": k, "leaves": 8, "depth": 2}, **counts} for k in (5, 6)]

    class Stored:
        def rows(self, name):
            return [Row("k", "iris", "any", 0, 1, "ok", inner=inner, chosen=inner[1]["params"])]

        def tunings(self, name):
            return []

    class Named:
        name = "x"

    table = tidy.choices(Stored(), Named())
    (lines,) = table.batches
    first, second = (dict(zip(table.columns, line, strict=True)) for line in lines)
    assert (first["fold"], first["params.fold"], first["leaves"], first["params.leaves"]) == (1, 5, 3, 8)
    assert first["depth"] == 2 and not first["was_chosen"] and second["was_chosen"]
