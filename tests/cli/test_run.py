"""`oblique run`, `oblique table` and `oblique status`: what is run, printed, stored and said."""

import json
import os
import re
from dataclasses import replace

import numpy as np
import pytest
from cli_support import SMALL, Ended, oblique, on_a_terminal
from store_support import sql

from oblique_cli.cli import _declarations
from oblique_cli.data import catalogue
from oblique_cli.evaluation.sheets import FORMATS
from oblique_cli.experiments import fits
from oblique_cli.experiments.store import Store

DATABASE = "results/oblique.sqlite"


@pytest.fixture
def small(call):
    (call.folder / "small.yaml").write_text(SMALL)
    return call


@pytest.fixture
def broken(monkeypatch):
    """Make the folds without row 0 fail, while `broken` is true."""
    state = {"broken": True}
    fit = fits.fit_on

    def fails(case, train, *arguments):
        if state["broken"] and case.algorithm.name == "hhgdt" and 0 not in train:
            raise np.linalg.LinAlgError("singular matrix\nand a second line")
        return fit(case, train, *arguments)

    monkeypatch.setattr(fits, "fit_on", fails)
    return state


# ---- run -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_bundled_configuration_runs_as_in_the_readme(tmp_path):
    ended = oblique(tmp_path, "run", "configs/bupa_hhgdt.yaml")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "HHGDT on BUPA, two-stage"
    (row,) = [line.split() for line in lines if line.startswith("bupa ")]
    assert row[1] == "HHGDT" and row[5:8] == ["67.9", "±", "1.9"], "the published number stands beside ours"
    assert any(line.startswith("bupa: the class is the selector field, as in the papers;") for line in lines)
    assert ended.err.splitlines()[-1].startswith("bupa_hhgdt: 100 of 100 folds, 0 failed, ")
    assert ended.err.endswith(f" -> {DATABASE}\n")
    assert "\r" not in ended.err and "bupa_hhgdt: 100 folds\n" in ended.err


def test_repetitions_folds_seed_and_colors_have_options_of_their_own(small):
    by_option = small("run", "small.yaml", "--repeats", "1", "--folds", "2", "--seed", "9", "--quiet")
    keys = ("--set", "cv.repeats=1", "--set", "cv.folds=2", "--set", "seed=9", "--results", "keys", "--quiet")
    assert by_option.code == 0 and small("run", "small.yaml", *keys) == by_option
    assert small("run", "small.yaml", "--no-color", "--fresh").code == 0 and os.environ["NO_COLOR"] == "1"


TWINS = "version: 1\nalgorithm: axis_parallel\ncv: {folds: 2, repeats: 1}\ndataset: "


def test_two_configurations_of_one_file_name_live_in_one_results_file(call):
    for folder, dataset in (("a", "iris"), ("b", "wine")):
        (call.folder / folder).mkdir()
        (call.folder / folder / "x.yaml").write_text(TWINS + dataset)
    refused = call("run", "a/x.yaml", "b/x.yaml", "--quiet")
    assert (refused.code, refused.out) == (2, "") and not (call.folder / "results").exists()
    assert refused.err == (
        "error: a/x.yaml and b/x.yaml are two experiments, and both runs would be called 'x': give one of them the key "
        "name:, or run them apart with --set name=...\n"
    )
    assert call("run", "a/x.yaml", "--quiet").code == 0
    later = call("run", "b/x.yaml", "--quiet")
    assert later.code == 2 and "another name to keep both (the key name: of the file, or --set name=...)" in later.err
    assert call("run", "b/x.yaml", "--quiet", "--set", "name=y").code == 0
    (call.folder / "b" / "x.yaml").write_text(f"name: z\n{TWINS}wine")
    both = call("run", "a/x.yaml", "b/x.yaml", "--quiet", "--set", "seed=1")
    assert both.code == 0, both.err
    with Store(call.folder / DATABASE, must_exist=True) as store:
        assert [run.name for run in store.runs()] == ["x", "y", "z"]
        # A name decides nothing about a fold.
        assert [row.key for row in store.rows("y")] == [row.key for row in store.rows("z")]
    assert call("run", "a/x.yaml", "a/x.yaml", "--quiet").code == 0, "one experiment twice is no collision"


def test_the_formats_of_the_help_are_those_of_the_tables():
    assert tuple(FORMATS) == _declarations.FORMATS


def test_the_problems_of_all_configurations_are_shown_before_anything_runs_else_they_run_one_after_another(small):
    (small.folder / "bad.yaml").write_text(SMALL.replace("folds: 3", "folds: none"))
    ended = small("run", "small.yaml", "bad.yaml", "nowhere.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("bad.yaml:5:29 cv.folds must be a whole number, at least 2. Got 'none'.\n    5 | cv:")
    assert "no configuration 'nowhere.yaml'" in ended.err and not (small.folder / "results").exists()
    (small.folder / "second.yaml").write_text(SMALL.replace("Small", "Second"))
    ended = small("run", "small.yaml", "second.yaml", "--set", "datasets=[iris]")
    assert ended.code == 0
    assert [line for line in ended.out.splitlines() if line in ("Small", "Second")] == ["Small", "Second"]
    both = small("run", "small.yaml", "second.yaml", "--set", "datasets=[iris]", "--output", "both.txt", "--quiet")
    assert (both.out, both.err) == ("", "") and (small.folder / "both.txt").read_text() == ended.out


def test_failed_folds_are_marked_listed_and_in_the_exit_code_and_tried_again(small, broken):
    fixed = SMALL.replace("{grid: [0.1, 0.2]}", "0.1").replace("nested", "ordinary").replace(", tune: {folds: 2}", "")
    (small.folder / "small.yaml").write_text(fixed)
    ended = small("run", "small.yaml")
    assert ended.code == 3
    assert "†4/6" in ended.out and "2 failed (first: LinAlgError: singular matrix)" in ended.out
    assert ended.err.count(" failed: LinAlgError: singular matrix\n") == 4
    assert "small: 20 of 24 folds, 4 failed (oblique status says why, the same command tries them again), " in ended.err
    assert small("run", "small.yaml", "--quiet").code == 3

    assert "small     24    20       4     0" in small("status").out
    detail = small("status", "small")
    assert detail.code == 0 and detail.out.count("failed: LinAlgError: singular matrix\n") == 4
    assert "! bupa/hhgdt r0 f" in detail.out and "command   oblique run small.yaml --quiet\n" in detail.out
    document = json.loads(small("status", "small", "--format", "json").out)
    assert document["failed"] == len(document["failures"]) == 4 and document["environment"]["python"]

    broken["broken"] = False
    again = small("run", "small.yaml")
    assert again.code == 0 and "†" not in again.out
    assert "small     24    24       0     0" in small("status").out


def test_paths_leave_the_project_folder_only_when_allowed(small):
    (small.folder / "project" / "configs").mkdir(parents=True)
    (small.folder / "my.csv").write_text("x,class\n" + "".join(f"{i},{i // 6}\n" for i in range(12)))
    config = small.folder / "project" / "configs" / "own.yaml"
    config.write_text(SMALL.replace("[iris, bupa]", "[{csv: ../../my.csv, target: class}]"))
    assert "--allow-outside" in small("run", str(config)).err
    assert small("run", str(config), "--allow-outside").code == 0


def test_a_terminal_has_one_live_line_with_the_time_left(small):
    ended = on_a_terminal(small.folder, 80, "run", "small.yaml", errors_alone=True)
    assert ended.code == 0
    first, live, end = ended.out.split("\n")
    assert (first.split("\r")[-1], end) == ("small: 24 folds", "")  # a slow start draws lines of its own before
    *drawn, summary = live.split("\r")
    assert re.fullmatch(
        r"\w+/\w+ r\d f\d  \d+/24  \d+ %  left (at least )?(\S+ s|\d+:\d\d)(, perhaps (\S+ s|\d+:\d\d))? *", drawn[1]
    )
    assert drawn[-1].isspace() and summary.startswith("small: 24 of 24 folds, 0 failed, ")


# ---- a CSV file without a configuration ------------------------------------------------------------------------------


def test_a_csv_runs_without_a_configuration(call):
    (call.folder / "my.csv").write_text(
        "x,y,class\n" + "".join(f"{i},{i * i % 7},{'ab'[i // 10]}\n" for i in range(20))
    )
    ended = call("run", "--csv", "my.csv", "--target", "class", "--set", "cv.folds=5", "--set", "cv.repeats=2")
    assert ended.code == 0 and ended.err.endswith(f"s -> {DATABASE}\n")
    assert [line.split()[1] for line in ended.out.splitlines() if line.startswith("my ")] == [
        "Axis-parallel",
        "HHCART(A)",
    ]
    settings = ("cv.scheme=nested", "algorithm.epsilon={grid: [0.1, 0.2]}", "cv.folds=4", "cv.tune.folds=2", "name=two")
    tuned = call(
        "run", "--csv", "my.csv", "--target", "class", "--algorithm", "gdt",
        *(word for setting in settings for word in ("--set", setting)),
    )  # fmt: skip
    assert tuned.code == 0 and "10 x 4-fold CV (nested)" in tuned.out and "two: 40 of 40 folds" in tuned.err


# ---- dry run ---------------------------------------------------------------------------------------------------------


def test_a_dry_run_writes_nothing_and_tells_what_is_left(small):
    ended = small("run", "small.yaml", "--dry-run")
    assert (ended.code, ended.err) == (0, "") and not (small.folder / "results").exists()
    lines = ended.out.splitlines()
    assert lines[0] == "small: 24 of 24 folds to run, and no stored fold to tell the time from"
    assert [line.split() for line in lines[2:]] == [
        [name, algorithm, "6", "0", "0", "6", "-"]
        for name in ("iris", "bupa")
        for algorithm in ("axis_parallel", "hhgdt")
    ]


def rewrite(small, change):
    """Store the rows of the run as `change` makes them; None leaves one out."""
    with Store(small.folder / DATABASE) as store:
        result, rows = store.run("small"), store.rows("small")
        store.delete("small")
        store.begin("small", result.content, result.total, presentation=result.presentation, workers=2)
        for row in filter(None, map(change, rows)):
            store.append("small", row)
        store.end("small")


def test_a_dry_run_estimates_from_stored_folds(finished):
    assert finished("run", "small.yaml", "--dry-run").out.startswith("small: 0 of 24 folds to run\n")
    assert finished("run", "small.yaml", "--dry-run", "--fresh").out.startswith("small: 24 of 24 folds to run, and no")
    seconds = {"tune_seconds": 9.0, "fit_seconds": 0.75, "predict_seconds": 0.25}
    rewrite(finished, lambda row: None if (row.repeat, row.algorithm) == (1, "hhgdt") else replace(row, **seconds))
    lines = finished("run", "small.yaml", "--dry-run", "-j", "2").out.splitlines()
    assert lines[0] == "small: 6 of 24 folds to run, about 0:30 with 2 workers"
    assert lines[3].split() == ["iris", "hhgdt", "6", "3", "0", "3", "10", "s"]
    status = finished("status").out.splitlines()[1]
    assert status.split()[:6] == ["small", "24", "18", "0", "6", "0:30"]
    detail = json.loads(finished("status", "small", "--format", "json").out)
    assert detail["seconds_left"] == pytest.approx(30) and detail["writers"] == []
    assert "time left  about 0:30 with 2 workers\n" in finished("status", "small").out
    rewrite(finished, lambda row: None if row.dataset == "bupa" else row)
    lines = finished("run", "small.yaml", "--dry-run", "-j", "1").out.splitlines()
    assert lines[0] == "small: 15 of 24 folds to run, at least 0:30 with 1 worker"


# ---- table and status ------------------------------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize("format_", _declarations.FORMATS)
def test_a_stored_run_prints_the_table_of_the_run_without_configuration_or_data(small, format_, monkeypatch):
    published = ("--set", "published=['wickramarachchi2015:5.3']")
    shown = small("run", "small.yaml", "--format", format_, *published).out
    assert small("run", "small.yaml", "--format", format_, *published, "--output", "table").out == ""
    assert (small.folder / "table").read_text() == shown != ""
    (small.folder / "table").unlink()
    (small.folder / "small.yaml").unlink()
    monkeypatch.setattr(catalogue, "load", None)
    assert small("table", "small", "--format", format_) == Ended(0, shown, "")
    assert small("table", "small", "--format", format_, "--output", "table").out == ""
    assert (small.folder / "table").read_text() == shown
    assert [path.name for path in small.folder.glob("*table*")] == ["table"], "no temporary file is left"


def test_an_unfinished_run_has_a_table_with_marks_and_status_lists_runs_with_their_latest_command(finished):
    finished("run", "small.yaml", "--set", "name=other", "--set", "datasets=[iris]", "--quiet")
    lines = finished("status").out.splitlines()
    assert lines[0].split() == ["run", "folds", "done", "failed", "left", "time", "left", "begun", "(UTC)", "command"]
    assert [line.split()[:5] for line in lines[1:]] == [
        ["small", "24", "24", "0", "0"],
        ["other", "12", "12", "0", "0"],
    ]
    assert lines[2].endswith("oblique run small.yaml --set name=other --set 'datasets=[iris]' --quiet")
    first, second = json.loads(finished("status", "--format", "json").out)
    assert (first["run"], second["run"], second["done"]) == ("small", "other", 12)
    sql(finished.folder / DATABASE, "DELETE FROM rows WHERE repeat = 1 AND dataset = 'iris' AND run = 'small'")
    ended = finished("table", "small")
    assert ended.code == 0 and ended.out.count("‡3/6") >= 2
    assert "small     24    18       0     6" in finished("status").out


def test_every_note_of_the_catalogue_begins_with_a_name_that_the_table_replaces():
    for entry in catalogue.entries().values():
        name, _, note = entry.note.partition(": ")
        assert not entry.note or (len(name.split()) <= 2 and note), entry.note
