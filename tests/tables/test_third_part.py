"""The third part of the field: its manifest keeps to the rule that it was written by, and its tables are as it says."""

import csv
from collections import Counter

import pytest

from oblique_cli import config
from oblique_cli.data import catalogue
from tables import corpus
from tools import third_part

CANDIDATES = third_part.candidates()
BY_NAME = {candidate.table: candidate for candidate in CANDIDATES}


def test_candidates_are_the_tables_of_classes_that_no_fit_was_measured_on():
    with open(third_part.ROOT / "results" / "tables" / "fits.csv", encoding="utf-8", newline="") as stream:
        fitted = {line["table"] for line in csv.DictReader(stream)}
    ours = {table.name for table in corpus.tables() if table.task == "classification"} - fitted
    assert ours == {name for name in BY_NAME if not name.startswith("keel:")}
    assert len(BY_NAME) == len(CANDIDATES) and sum(name.startswith("keel:") for name in BY_NAME) == 43


def test_tables_that_are_not_used_have_a_reason_and_used_ones_are_no_set_of_the_catalogue():
    assert Counter(item.used for item in CANDIDATES) == {"yes": 41, "no": 45}
    for candidate in CANDIDATES:
        assert bool(candidate.reason) == (candidate.used == "no" or bool(candidate.left_out)), candidate
        assert not (candidate.used == "no" and candidate.left_out), candidate
    names = {catalogue.resolve(name) for name in catalogue.names()}
    assert not names & {value.label for value in third_part.used()}
    labels = [value.label for value in third_part.used()]
    assert len(set(labels)) == len(labels)


def test_configurations_extend_the_methods_on_one_division(tmp_path, monkeypatch):
    """With tables of two rows a class in the place of the real ones, which need packages."""
    import pandas as pd

    frame = pd.DataFrame({"a b": ["1", "2"] * 9, 'q"': ["x", "y", "x"] * 6, "class": ["0", "1"] * 9})
    monkeypatch.setattr(third_part, "prepared", lambda item: (frame, ['q"']))
    paths = third_part.write(tmp_path)
    runs = [config.load(str(path), allow_outside=True) for path in paths]
    assert [run.name for run in runs] == ["field_third", "field_third_slow"]
    assert all((run.cv.scheme, run.cv.folds, run.cv.repeats) == ("stratified", 3, 1) for run in runs)
    first = runs[0].datasets[0]
    assert (first.features, first.qualitative, first.task) == (("a b", 'q"'), ('q"',), "classification")
    assert (first.missing, first.encoding) == ("impute", "onehot") and len(runs[0].datasets) == 41
    assert {spec.id for spec in runs[0].algorithms} >= {"logistic_tree", "logistic_forest", "extra-trees-500"}


@pytest.mark.long
@pytest.mark.parametrize("item", third_part.used(), ids=lambda item: item.label)
def test_a_table_has_rows_and_classes_enough_and_no_column_that_is_left_out(item):
    try:
        frame, levels = third_part.prepared(item)
    except (AssertionError, ImportError) as missing:
        pytest.skip(f"{item.table.partition(':')[0]} is not installed ({missing})")
    counts = frame[third_part.TARGET].value_counts()
    assert 100 <= len(frame) <= 1500 and 2 <= len(counts) <= 12
    assert not set(item.left_out.split()) & set(frame.columns) and set(levels) < set(frame.columns)
    assert all(frame[name].nunique() <= 30 for name in levels)
    again, _ = third_part.prepared(item)
    assert again.equals(frame)
