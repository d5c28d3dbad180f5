"""`oblique compare`: the thesis' comparison without options, and any other one with them."""

import csv
import io
import json

import pytest

from oblique_cli import config, schemes
from oblique_cli.cli import compare
from oblique_cli.evaluation import comparing

QUICK = ("compare", "--dataset", "wine,BUPA", "--repeats", "2", "--folds", "3")

BUNDLED = [
    "balance_scale", "boston_housing_binary", "breast_cancer_wisconsin", "bupa", "glass", "pima", "wine", "haberman",
    "statlog_heart",
]  # fmt: skip


@pytest.fixture
def planned(call, monkeypatch):
    """Call the command and return the experiment that it would run, and what it says first."""

    def stop(runner, experiment):
        results.append(experiment)
        raise KeyboardInterrupt

    results = []
    monkeypatch.setattr(compare.Runner, "run", stop)

    def plan(*arguments):
        ended = call("compare", *arguments)
        assert ended.code == 130, ended.err
        return results.pop(), ended.err.strip()

    plan.folder = call.folder
    return plan


def test_without_options_it_is_table_5_3_of_the_thesis(planned):
    experiment, note = planned()
    assert [spec.name for spec in experiment.datasets] == BUNDLED
    assert [spec.name for spec in experiment.algorithms] == ["gdt", "hhgdt"]
    grid = tuple(i / 100 for i in range(5, 41))
    published = config.load("reproduce/chapter5_nested").algorithms
    assert all(spec.grid == {"epsilon": grid} for spec in published)
    for name in BUNDLED:
        assert [spec.on(name) for spec in experiment.algorithms] == [spec.on(name) for spec in published]
    cv = experiment.cv
    assert (cv.scheme, cv.folds, cv.repeats, cv.tune_folds) == ("nested", 10, 10, 10)
    assert experiment.published == ("wickramarachchi2015:5.3",)
    assert experiment.title == "GDT, HHGDT by nested cross-validation"
    assert experiment.name == f"compare-nested-{experiment.digest()[:8]}"
    assert note == (
        "left out: banknote, seeds and climate_crashes (get with: oblique data fetch banknote seeds climate_crashes); "
        "letter (takes minutes: --dataset all)."
    )
    assert planned("--cv", "nested") == (experiment, note)


def test_sets_that_are_in_the_data_directory_join_in_their_place(planned):
    (planned.folder / "banknote.csv").write_text("not looked into yet")
    experiment, note = planned("--data-dir", str(planned.folder))
    names = [spec.name for spec in experiment.datasets]
    assert names == [*BUNDLED[:5], "banknote", *BUNDLED[5:]]
    assert note.startswith("left out: seeds and climate_crashes (get with: oblique data fetch seeds climate_crashes); ")
    everything, note = planned("--dataset", "all", "--data-dir", str(planned.folder))
    assert [spec.name for spec in everything.datasets] == [*names, "letter"]
    assert note == "left out: seeds and climate_crashes (get with: oblique data fetch seeds climate_crashes)."


def test_algorithms_and_sets_asked_for_by_name_are_taken_as_they_are_and_the_name_follows_the_content(planned):
    experiment, note = planned("--dataset", "letter, seeds,BUPA")
    assert [spec.name for spec in experiment.datasets] == ["letter", "seeds", "bupa"] and note == ""
    experiment, _ = planned("--algorithm", "hhcart_a,axis_parallel,gdt")
    assert [dict(spec.grid) == {} for spec in experiment.algorithms] == [True, True, False]
    assert experiment.published == ("wickramarachchi2015:5.3",)
    names = {planned(*options)[0].name for options in ((), ("--seed", "3"), ("--repeats", "9"), ("--rule", "2-SD"))}
    assert len(names) == 3, "the rule changes no result"


def test_two_stage_stands_beside_table_5_2_and_what_has_no_number_there_beside_none(planned):
    experiment, _ = planned("--cv", "two_stage", "--repeats", "5", "--folds", "4", "--seed", "9")
    assert experiment.published == ("wickramarachchi2015:5.2",) and experiment.algorithms[0].grid
    cv = experiment.cv
    assert (cv.scheme, cv.folds, cv.repeats, cv.tune_folds, experiment.seed) == ("two_stage", 4, 5, 4, 9)
    experiment, _ = planned("--cv", "stratified")
    assert not any(spec.grid for spec in experiment.algorithms) and experiment.published == ()
    for options in (("--algorithm", "hhcart_a,axis_parallel"), ("--dataset", "iris")):
        assert planned(*options)[0].published == ()


def test_the_choices_of_the_help_are_those_there_are():
    assert tuple(comparing.RULES) == compare.RULES
    assert tuple(config.keys.cv()["scheme"].names) == tuple(schemes.SCHEMES)


def test_text_shows_the_numbers_then_the_verdicts_then_the_notes_once_and_csv_and_json_the_verdicts(call):
    ended = call(*QUICK)
    assert ended.code == 0 and ended.err.splitlines()[0].startswith("compare-nested-")
    blocks = ended.out.split("\n\n")
    assert blocks[0] == "GDT, HHGDT by nested cross-validation"
    assert "accuracy" in blocks[1] and "published" in blocks[1]
    assert blocks[2].endswith("1-SD rule") and blocks[3] == "GDT against HHGDT"
    assert [line.split()[0] for line in blocks[4].splitlines()[2:]] == ["wine", "bupa"]
    assert "same verdict" in blocks[6]
    assert ended.out.count("2 x 3-fold CV (nested)") == 1 == ended.out.count("bupa: the class is the selector field")
    again = call(*QUICK)
    assert again.out == ended.out and "resumed: 24 done" in again.err, "the same command goes on"
    assert "2-SD rule" in call(*QUICK, "--rule", "2-SD").out
    records = list(csv.DictReader(io.StringIO(call(*QUICK, "--format", "csv").out)))
    assert [record["dataset"] for record in records] == ["wine", "bupa"]
    assert all(record["accuracy_verdict"] in ("first", "second", "tie") for record in records)
    document = json.loads(call(*QUICK, "--format", "json").out)
    assert document["rule"] == "1-SD" and len(document["rows"]) == 2
    assert document["rows"][0]["first_accuracy_mean"] == float(records[0]["first_accuracy_mean"])
    name = ended.err.partition(":")[0]
    assert call("table", name).out.startswith("GDT, HHGDT by nested cross-validation\n")
