"""`oblique compare`: algorithms on data sets and on own files, and stored runs."""

import csv
import io
import json

import pytest

from oblique_cli.cli import compare
from oblique_cli.evaluation import comparing

QUICK = ("compare", "--dataset", "wine,BUPA", "--algorithm", "gdt,hhgdt", "--repeats", "2", "--folds", "3")


@pytest.fixture
def planned(call, monkeypatch):
    """Call the command and return the experiment that it would run."""

    def stop(runner, experiment):
        experiments.append(experiment)
        raise KeyboardInterrupt

    experiments = []
    monkeypatch.setattr(compare.Runner, "run", stop)

    def plan(*arguments):
        ended = call("compare", *arguments)
        assert ended.code == 130, ended.err
        return experiments.pop()

    return plan


def test_sets_by_name_are_compared_by_two_trees_or_by_those_that_are_named(planned):
    experiment = planned("--dataset", "letter, seeds,BUPA")
    assert [spec.name for spec in experiment.datasets] == ["letter", "seeds", "bupa"]
    assert [spec.name for spec in experiment.algorithms] == ["axis_parallel", "hhcart_a"]
    options = ("--set", "cv.scheme=two_stage", "--repeats", "5", "--folds", "4", "--seed", "9", "--metric", "mcc")
    experiment = planned("--dataset", "iris", "--algorithm", "gdt,hhgdt", *options)
    assert [spec.name for spec in experiment.algorithms] == ["gdt", "hhgdt"] and experiment.metrics == ("mcc",)
    assert (experiment.cv.scheme, experiment.cv.folds, experiment.cv.repeats, experiment.seed) == ("two_stage", 4, 5, 9)


def test_the_name_follows_the_content(planned):
    names = {
        planned("--dataset", "iris", *more).name
        for more in ((), ("--seed", "3"), ("--repeats", "9"), ("--rule", "2-SD"))
    }
    assert len(names) == 3, "the rule changes no result"


def test_the_choices_of_the_help_are_those_there_are():
    assert tuple(comparing.RULES) == compare.RULES


def test_text_shows_the_numbers_then_the_verdicts_then_the_notes_once_and_csv_and_json_the_verdicts(call):
    ended = call(*QUICK)
    assert ended.code == 0 and ended.err.splitlines()[0].startswith("compare-nested-")
    blocks = ended.out.split("\n\n")
    assert "accuracy" in blocks[1]
    assert blocks[2].endswith("1-SD rule") and blocks[3] == "GDT against HHGDT"
    assert [line.split()[0] for line in blocks[4].splitlines()[2:]] == ["wine", "bupa"]
    assert ended.out.count("2 x 3-fold CV") == 1 == ended.out.count("bupa: the class is the selector field")
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
    assert call("table", name).out.startswith("compare\n")
    alone = json.loads(call("compare", name, "--format", "json").out)
    assert alone["rows"] == document["rows"], "a stored run is compared without a fit"
