"""Reproductions: the verdict on a cell, the cells of a table, regressions, and the command."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest
from cli_support import call
from hypothesis import given
from hypothesis import strategies as st

from oblique_cli.errors import DataError
from oblique_cli.experiments import published
from oblique_cli.experiments.reproduction import reporting, runs
from oblique_cli.experiments.reproduction.cells import AGREES, DEVIATES, NOT_PRINTED, NOT_RUN, Cell, agreement
from oblique_cli.experiments.reproduction.studies import STUDIES, Request

__all__ = ["call"]

CELL = Cell("wickramarachchi2015:3.1", "bupa", "HHCART(A)", "accuracy_percent", 64.0, 1.0, 63.0, 2.0)

REQUEST = Request("full", 1, 1, "results", None, {}, print)


# -- verdicts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, AGREES),
        ({"ours": 63.0 + 2 * 5**0.5}, AGREES),  # touching
        ({"ours": 63.0 + 2 * 5**0.5 + 1e-6}, DEVIATES),
        ({"ours": 63.0 - 2 * 5**0.5 - 1e-6}, DEVIATES),
        ({"ours_sd": None, "published_sd": None}, DEVIATES),
        ({"ours": 63.0, "ours_sd": None, "published_sd": None}, AGREES),
        ({"ours": None}, NOT_RUN),
        ({"published": None}, NOT_PRINTED),
    ],
)
def test_a_cell_agrees_within_two_joint_standard_deviations(changes, verdict):
    assert replace(CELL, **changes).verdict == verdict


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0, 10), st.floats(0, 10))
def test_the_verdict_does_not_ask_which_number_is_ours(a, b, sd_a, sd_b):
    one = replace(CELL, ours=a, ours_sd=sd_a, published=b, published_sd=sd_b)
    other = replace(CELL, ours=b, ours_sd=sd_b, published=a, published_sd=sd_a)
    assert one.verdict == other.verdict


def test_agreement_counts_only_cells_with_both_numbers():
    cells = [CELL, replace(CELL, ours=90.0), replace(CELL, ours=None), replace(CELL, metric="n_leaves")]
    found = agreement(cells)
    assert str(found["wickramarachchi2015:3.1", "accuracy_percent"]) == "1 of 2 (1 not run)"
    assert str(found["wickramarachchi2015:3.1", "n_leaves"]) == "1 of 1"


# -- reasons and regressions -------------------------------------------------------------------------------------------


def test_a_deviation_shows_its_reason_or_that_there_is_none():
    away = replace(CELL, ours=90.0)
    assert reporting.verdict_text(away, {}) == "deviates: unexplained"
    assert reporting.verdict_text(away, {away.key: "why (measured)"}) == "deviates: why (measured)"
    assert reporting.verdict_text(replace(away, qualifier="fold=1"), {away.key: "why"}) == "deviates: unexplained"


def test_every_reason_carries_a_measurement_and_names_a_printed_cell():
    with open(reporting.REASONS, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(reporting.reasons()) == len(rows), "a cell has two reasons"
    for row in rows:
        assert row["reason"] and any(char.isdigit() for char in row["measurement"]), row
        source, table = row["table"].split(":")
        printed = published.numbers(source, table)
        names = runs.dataset_names(source)
        assert any(
            names.get(n.dataset, n.dataset) == row["dataset"]
            and n.method == row["method"]
            and n.metric == row["metric"]
            and runs.qualifier(n) == row["qualifier"]
            for n in printed
        ), row


@pytest.mark.parametrize(
    ("before", "now", "count"),
    [
        ({}, {}, 0),
        ({}, {"ours": 90.0}, 1),
        ({"ours": 90.0}, {"ours": 95.0}, 0),  # did not agree before
        ({"ours_sd": 20.0}, {"ours": 70.0, "ours_sd": 0.1}, 0),  # deviates now, within the noise it had
        ({}, {"ours": None}, 1),
    ],
)
def test_a_regression_is_a_cell_that_agreed_and_moved_beyond_its_noise(before, now, count):
    found = reporting.regressions([replace(CELL, **before)], [replace(CELL, **now)], complete=True)
    assert len(found) == count
    assert all("accuracy_percent of HHCART(A) on bupa" in sentence for sentence in found)


def test_a_cell_that_is_left_out_is_a_regression_of_a_complete_run_only():
    assert len(reporting.regressions([CELL], [], complete=True)) == 1
    assert reporting.regressions([CELL], [], complete=False) == []


def test_cells_come_back_from_their_file(tmp_path):
    cells = (CELL, replace(CELL, ours=None, ours_sd=None, note='not run, "why"'), replace(CELL, qualifier="fold=1"))
    path = tmp_path / "cells.csv"
    path.write_text(reporting.write_cells(cells))
    assert reporting.read_cells(path) == cells
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no table of cells"):
        reporting.read_cells(path)


# -- tables ------------------------------------------------------------------------------------------------------------


def test_every_printed_number_makes_a_cell_of_a_full_profile():
    for study in STUDIES.values():
        for reference in study.tables:
            found = runs.cells(REQUEST, reference, lambda number, dataset: None, {})
            printed = [n for n in published.numbers(*reference.split(":")) if n.mean is not None]
            assert len(found) == len(printed)
            assert len({cell.key for cell in found}) == len(found), f"cells of {reference} share a key"


def test_a_study_is_registered_under_its_name():
    assert {name: study.name for name, study in STUDIES.items()} == {name: name for name in STUDIES}


# -- the command -------------------------------------------------------------------------------------------------------


def test_without_a_name_the_studies_are_listed(call):
    ended = call("reproduce")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()[1:]] == list(STUDIES)


def test_a_study_of_a_small_part_prints_every_cell_and_resumes(call):
    words = ("reproduce", "chapter3", "--profile", "quick", "--only", "dataset=wine", "--only", "algorithm=hhcart_d")
    first = call(*words)
    assert first.code == 0, first.err
    assert "wine" in first.out and "HHCART(D)" in first.out and "HHCART(A)" not in first.out
    cells = reporting.read_cells(call.folder / "results" / "reproduction" / "chapter3_quick_only.csv")
    assert {cell.dataset for cell in cells} == {"wine"}
    again = call(*words)
    assert "10 of 10 folds, 0 of them now" in again.err
    assert reporting.read_cells(call.folder / "results" / "reproduction" / "chapter3_quick_only.csv") == cells


def test_strict_ends_with_6_while_a_cell_is_unexplained(call, monkeypatch):
    words = ("reproduce", "chapter3", "--profile", "quick", "--only", "dataset=wine", "--only", "algorithm=hhcart_d")
    assert call(*words, "--strict").code in (0, 6)
    monkeypatch.setattr(Cell, "verdict", property(lambda self: DEVIATES))
    assert call(*words, "--strict").code == 6
    assert call(*words).code == 0


def test_a_regression_ends_with_6_and_names_the_cell(call, monkeypatch):
    words = ("reproduce", "chapter3", "--profile", "quick", "--only", "dataset=wine", "--only", "algorithm=hhcart_d")
    call(*words)
    folder = call.folder / "results"
    cells = reporting.read_cells(folder / "reproduction" / "chapter3_quick_only.csv")
    baseline = folder / "baseline_quick_chapter3.csv"
    baseline.write_text(reporting.write_cells(cells))
    assert call(*words).code == 0
    monkeypatch.setattr(Cell, "noise", 0.0)  # nothing agrees any more
    baseline.write_text(reporting.write_cells([replace(cells[0], ours=0.0, published=0.0)]))
    ended = call(*words)
    assert ended.code == 6
    assert "accuracy_percent of HHCART(D) on wine agreed in the baseline" in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("chapter33",), "Did you mean 'chapter3'?"),
        (("chapter3", "--only", "datset=wine"), "must be dataset=NAME or algorithm=NAME"),
        (("chapter3", "--only", "dataset=wien"), "wine"),
    ],
)
def test_a_mistake_is_one_sentence(call, words, message):
    ended = call("reproduce", *words)
    assert ended.code == 2 and message in " ".join(ended.err.split())
