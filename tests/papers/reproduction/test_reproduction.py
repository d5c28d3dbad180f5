"""Reproductions: the verdict on a cell, the cells of a table, regressions, and the command."""

import csv
import io
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oblique_cli.data import catalogue
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.evaluation import published
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.papers.reproduction.framework import document, printed_cells, runs, study_report
from oblique_cli.papers.reproduction.framework.declarations import Part, Runs
from oblique_cli.papers.reproduction.framework.printed_cells import AGREES, DEVIATES, Cell
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, StudyRequest, StudyResult
from oblique_cli.papers.reproduction.framework.study_report import read_cells
from oblique_cli.papers.reproduction.studies import chapter3, chapter5, tprti
from studies import power, sensitivity

CELL = Cell("wickramarachchi2015:3.1", "bupa", "HHCART(A)", "accuracy_percent", 64.0, 1.0, 63.0, 2.0)

RESULTS = Path(__file__).parents[3] / "results"

REQUEST = StudyRequest("full", 1, 1, "results", None, {}, print)


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
        ({"ours": None}, printed_cells.NOT_RUN),
        ({"published": None}, printed_cells.NOT_PRINTED),
    ],
)
def test_a_cell_agrees_within_two_joint_standard_deviations(changes, verdict):
    assert replace(CELL, **changes).verdict == verdict


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0, 10), st.floats(0, 10))
def test_the_verdict_does_not_ask_which_number_is_ours(a, b, sd_a, sd_b):
    first = replace(CELL, ours=a, ours_sd=sd_a, published=b, published_sd=sd_b)
    other = replace(CELL, ours=b, ours_sd=sd_b, published=a, published_sd=sd_a)
    assert first.verdict == other.verdict


def test_agreement_counts_only_cells_with_both_numbers():
    cells = [CELL, replace(CELL, ours=90.0), replace(CELL, ours=None), replace(CELL, metric="n_leaves")]
    result = printed_cells.agreement(cells)
    assert str(result["wickramarachchi2015:3.1", "accuracy_percent"]) == "1 of 2 (1 not run)"
    assert str(result["wickramarachchi2015:3.1", "n_leaves"]) == "1 of 1"


def test_cells_are_counted_by_paper_and_a_repeated_number_once():
    repeated, further = replace(CELL, table="wickramarachchi2015:3.4"), replace(CELL, table="manwani2012:II", ours=90.0)
    text = document.by_source([CELL, repeated, further, replace(CELL, ours=None)])
    assert text.startswith("Wickramarachchi 2 of 2, Manwani and Sastry 0 of 1, ")
    assert " ".join(text.split()).endswith("0 of 0. 1 cells repeat the number of another table.")


def test_a_quick_profile_leaves_nothing_unexplained():
    deviating = replace(CELL, ours=90.0)
    assert study_report.grid_rows([deviating])[1][0][-1] == "deviates: unexplained"
    assert study_report.grid_rows([deviating], quick=True)[1][0][-1] == "deviates"


def test_tables_without_cells_become_one_csv_under_the_columns_of_all():
    tables = (ExtraTable("one", "One", ("a", "b"), (("1", "2"),)), ExtraTable("two", "Two", ("b", "c"), (("3", "4"),)))
    text = study_report.of(sensitivity.sensitivity, StudyResult((), tables), REQUEST).render("csv")
    assert list(csv.reader(text.splitlines())) == [
        ["table", "a", "b", "c"],
        ["one", "1", "2", ""],
        ["two", "", "3", "4"],
    ]


# -- reasons and regressions -------------------------------------------------------------------------------------------


def test_a_deviation_shows_its_reason_or_that_there_is_none():
    away = replace(CELL, ours=90.0)
    assert study_report.verdict_text(away, {}) == "deviates: unexplained"
    assert study_report.verdict_text(away, {away.key: "why (measured)"}) == "deviates: why (measured)"
    assert study_report.verdict_text(replace(away, qualifier="fold=1"), {away.key: "why"}) == "deviates: unexplained"


def test_every_reason_carries_a_measurement_and_names_a_printed_cell():
    with open(study_report.REASONS, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(study_report.classes()) == len(rows), "a cell has two reasons"
    assert {row["class"] for row in rows} <= set(study_report.CLASSES)
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


def test_readings_were_tried_on_every_cell_without_a_reason_and_on_no_other():
    cells = [cell for result in document.studied(RESULTS).values() for cell in result]
    left = [cell.key for cell in cells if cell.verdict == DEVIATES and cell.key not in study_report.reasons()]
    assert sorted(left) == sorted(study_report.tried())
    assert len(left) <= 70
    texts = study_report.tried().values()
    assert all(any(char.isdigit() for char in text) or text.startswith("no other reading") for text in texts)


def test_reasons_are_of_cells_that_deviate():
    cells = {cell.key: cell for result in document.studied(RESULTS).values() for cell in result}
    assert [key for key in study_report.classes() if cells[key].verdict != DEVIATES] == []


def test_reasons_of_counts_hold_for_their_own_cells():
    """Table 2.6 of Amalaman (2015): what is printed there, and what the printed Table 2.7 gives by the stated rule."""
    errors: dict[str, dict[str, tuple[float, float]]] = {}
    for number in published.numbers("amalaman2015", "2.7"):
        if number.metric == "mse" and number.mean is not None:
            errors.setdefault(number.method, {})[number.dataset] = (number.mean, number.sd or 0.0)
    ours = {cell.key: cell.ours for cell in document.studied(RESULTS)["tprti"]}
    checked = set()
    for number in published.numbers("amalaman2015", "2.6"):
        versus = number.qualifiers["versus"]
        cell = ("amalaman2015:2.6", "all 12", number.method, number.metric, f"versus={versus}")
        if cell not in study_report.reasons():
            continue
        reason = study_report.reasons()[cell]
        counts = tprti.wins_ties_losses(errors[number.method], errors[versus])
        recounted = counts[tprti.OUTCOMES.index(number.metric)]
        counted = (
            f"printed {number.mean:.0f}, recounted from the printed errors {recounted}, from ours {ours[cell]:.0f}"
        )
        assert counted in reason, cell
        assert ("does not follow from the printed table" in reason) == (recounted != number.mean), cell
        checked.add(cell)
    assert len(checked) == 24


def test_the_unit_of_an_error_is_the_nearest_to_the_errors_of_the_other_methods_of_its_row():
    cells = read_cells(Path(__file__).parents[3] / "results" / "reproduction" / "tprti.csv")
    table = published.find("amalaman2015:2.7")
    cells = [c for c in cells if (c.table, c.metric) == (table.reference, "mse") and c.ours and c.published]
    for name in dict.fromkeys(cell.dataset for cell in cells if catalogue.entry(cell.dataset).generated):
        y = catalogue.load(DatasetSpec(name)).y
        unit, units = published.unit(table, name, "mse"), (1.0, np.var(y), np.ptp(y) ** 2)
        assert unit == pytest.approx(min(units, key=lambda other: abs(other - unit)), rel=1e-12)
        for judged in cells:
            row = [c for c in cells if c.dataset == name == judged.dataset and c.method != judged.method]
            away = {each: sum(abs(log(c.ours * unit / each / c.published)) for c in row) for each in units}
            assert not row or min(away, key=away.get) == pytest.approx(unit)


def test_a_report_names_each_cell_whose_verdict_moved(tmp_path):
    before = tmp_path / "deviations.csv"
    other, third = (replace(CELL, dataset=name) for name in ("wine", "glass"))
    assert study_report.moved(before, [CELL]) == []
    before.write_text(study_report.verdicts([CELL, replace(other, ours=90.0), replace(third, ours=90.0)]))
    lines = study_report.moved(before, [replace(CELL, ours=95.0), other, replace(third, ours=91.0)])
    assert [line[len(CELL.table) + 2 : line.index(" (published 63.00 ± 2.00)")] for line in lines] == [
        "bupa, HHCART(A), accuracy_percent: agreed, deviates now with 95.00 ± 1.00",
        "wine, HHCART(A), accuracy_percent: deviated with 90.00 ± 1.00, agrees now with 64.00 ± 1.00",
    ]


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
    result = study_report.regressions([replace(CELL, **before)], [replace(CELL, **now)], complete=True)
    assert len(result) == count
    assert all("accuracy_percent of HHCART(A) on bupa" in sentence for sentence in result)
    # A cell that is left out is a regression of a complete run only.
    assert len(study_report.regressions([CELL], [], complete=True)) == 1
    assert study_report.regressions([CELL], [], complete=False) == []


def test_cells_whose_verdict_changed_since_the_last_report_are_shown(tmp_path):
    path, away = tmp_path / "deviations.csv", replace(CELL, ours=90.0, qualifier="fold=1")
    assert study_report.moved(path, [CELL, away]) == []
    path.write_text(study_report.verdicts([CELL, away, replace(away, dataset="wine")]), encoding="utf-8")
    now = [replace(CELL, ours=80.0), replace(away, ours=63.0), replace(away, dataset="wine", ours=95.0)]
    assert study_report.moved(path, now) == [
        "wickramarachchi2015:3.1, bupa, HHCART(A), accuracy_percent: agreed, deviates now with 80.00 ± 1.00 "
        "(published 63.00 ± 2.00)",
        "wickramarachchi2015:3.1, bupa, HHCART(A), accuracy_percent, fold=1: deviated with 90.00 ± 1.00, agrees now "
        "with 63.00 ± 1.00 (published 63.00 ± 2.00)",
    ]


def test_cells_come_back_from_their_file(tmp_path):
    cells = (CELL, replace(CELL, ours=None, ours_sd=None, note='not run, "why"'), replace(CELL, qualifier="fold=1"))
    path = tmp_path / "cells.csv"
    path.write_text(study_report.write_cells(cells))
    assert study_report.read_cells(path) == cells
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no table of cells"):
        study_report.read_cells(path)


# -- tables ------------------------------------------------------------------------------------------------------------


def test_every_printed_number_makes_a_cell_of_a_full_profile():
    for study in STUDIES.values():
        for reference in study.tables:
            result = runs.cells(REQUEST, reference, lambda number, dataset: None, {})
            printed = [n for n in published.numbers(*reference.split(":")) if n.mean is not None]
            assert len(result) == len(printed)
            assert len({cell.key for cell in result}) == len(result), f"cells of {reference} share a key"


def test_a_study_is_registered_under_its_name():
    assert {name: study.name for name, study in STUDIES.items()} == {name: name for name in STUDIES}


def test_a_class_is_found_by_its_size_and_the_order_among_equals():
    printed = {1: 49, 2: 288, 3: 288}
    ours = {"B": 49, "L": 288, "R": 288}
    assert [chapter3.class_at(i, printed, ours) for i in (1, 2, 3)] == ["B", "L", "R"]
    assert [chapter3.class_at(i, {1: 11478, 2: 13}, {"Open": 13, "Rad": 11478}) for i in (1, 2)] == ["Rad", "Open"]
    assert chapter3.class_at(1, printed, {"B": 50, "L": 288, "R": 288}) is None


# -- studies -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def request_for(tmp_path):
    """A quick request on one small data set, with results of its own."""
    only = {"dataset": ("wine",)}
    return StudyRequest("quick", 20260101, 1, str(tmp_path / "results"), None, only, lambda line: None)


def test_class_accuracies_weighted_by_class_size_are_the_accuracy(request_for):
    result = STUDIES["chapter3"].run(replace(request_for, only={**request_for.only, "algorithm": ("hhcart_a",)}))
    for sampling in ("SRS", "STRS"):
        cells = [cell for cell in result.cells if f"sampling={sampling}" in cell.qualifier.split("; ")]
        by_class = [cell.ours for cell in cells if cell.metric == "class_accuracy_percent"]
        (whole,) = [cell.ours for cell in cells if cell.metric == "accuracy_percent"]
        assert sum(a * n for a, n in zip(by_class, (59, 71, 48), strict=True)) / 178 == pytest.approx(whole)
    random = {c.key[1:]: c for c in result.cells if c.table.endswith("3.1")}
    again = {c.key[1:4]: c for c in result.cells if c.table.endswith("3.2") and c.qualifier == "sampling=SRS"}
    assert all(random[(*key, "")].ours == cell.ours for key, cell in again.items()) and again


@pytest.mark.long
def test_folds_of_the_fold_tables_are_those_of_the_whole_tables(request_for):
    bupa = replace(request_for, only={"dataset": ("bupa",), "algorithm": ("gdt",)})
    result = STUDIES["chapter5"].run(bupa).cells
    tables = {cell.table.partition(":")[2] for cell in result}
    assert tables == {"5.2", "5.3", "5.4", "5.5", "5.6"}
    for table, repetition in (("5.5", "1"), ("5.6", "2")):
        cells = [cell for cell in result if cell.table.endswith(table) and "cv=two-stage" in cell.qualifier]
        leaves = {cell.qualifier.rpartition("=")[2]: cell.ours for cell in cells if cell.metric == "n_leaves"}
        whole = leaves.pop("all")
        assert len(leaves) == 10 and whole == pytest.approx(sum(leaves.values()) / 10)
        sizes = [cell for cell in result if cell.table.endswith("5.4") and cell.metric == "n_leaves"]
        (single,) = [cell.ours for cell in sizes if f"repetition={repetition};" in cell.qualifier]
        assert single == pytest.approx(whole)
        assert all(cell.published_sd is not None for cell in cells)


def test_a_repetition_keeps_its_number_when_another_one_failed(request_for):
    run = runs.outcome(request_for, "reproduce/chapter5_two_stage")
    printed = [n for n in published.numbers("wickramarachchi2015", "5.4") if n.metric == "accuracy_percent"]
    first, second = (next(n for n in printed if n.qualifiers["repetition"] == number) for number in "12")
    damaged = replace(run, rows=tuple(replace(r, status="failed") if r.repeat == 0 else r for r in run.rows))
    whole, part = (
        chapter5._of_repetitions(Runs(request_for, {"two-stage": {Part("chapter5_two_stage"): each}}))
        for each in (run, damaged)
    )
    assert whole(first, "wine")[0] != whole(second, "wine")[0] == part(second, "wine")[0]
    assert part(first, "wine") is None


def test_clusters_add_up_to_leaves(request_for):
    result = STUDIES["chapter6"].run(replace(request_for, only={**request_for.only, "algorithm": ("hhbut",)})).cells
    counts = [cell.ours for cell in result if cell.metric == "avg_clusters_per_class"]
    (leaves,) = [cell.ours for cell in result if cell.table.endswith("6.1") and cell.metric == "n_leaves"]
    assert len(counts) == 3 and sum(counts) == pytest.approx(leaves)


@pytest.mark.long
def test_the_default_choice_of_epsilon_is_that_of_the_run(request_for):
    for config, table in (("chapter5_two_stage", "5.2"), ("chapter5_nested", "5.3")):
        run = runs.outcome(request_for, f"reproduce/{config}")
        paths = sensitivity._Paths(run, request_for)
        default = next(iter(sensitivity.EPSILON_TIES.values()))
        plain = runs.cells(request_for, f"wickramarachchi2015:{table}", runs.of_outcomes(run))
        chosen = runs.cells(request_for, f"wickramarachchi2015:{table}", paths.of_choice(default), {})
        assert [c.ours for c in chosen] == pytest.approx([c.ours for c in plain]) and len(plain) == 4
        assert [c.ours_sd for c in chosen] == pytest.approx([c.ours_sd for c in plain])


@pytest.mark.parametrize(
    ("name", "index"),
    [("simplest tree, then the largest (default)", 3), ("simplest tree, then the smallest", 1), ("the largest", 4),
     ("the smallest", 1), ("the middle one", 3)],
)  # fmt: skip
def test_a_choice_among_equals_is_what_its_name_says(name, index):
    correct, leaves = [8, 9, 7, 9, 9, 8], [9, 3, 9, 3, 5, 1]
    assert sensitivity.EPSILON_TIES[name](correct, leaves) == index


# -- documents ---------------------------------------------------------------------------------------------------------


def test_a_document_says_how_many_cells_agree_and_lists_those_that_do_not(tmp_path):
    folder = tmp_path / "reproduction"
    folder.mkdir()
    away = replace(CELL, ours=90.0, dataset="wine")
    not_run = replace(CELL, ours=None, metric="n_leaves")
    (folder / "chapter3.csv").write_text(study_report.write_cells([CELL, away, not_run]))
    made = document.blocks(tmp_path)
    assert made["summary"].startswith("1 of 2 cells agree; of the others 0 have a measured reason and 1 are")
    assert made["studies"].endswith("| `chapter3` | 2 | 1 | 0 | 1 |\n")
    assert made["field-choices"] == "Not run with the full profile yet.\n"
    (row,) = csv.DictReader(io.StringIO(study_report.verdicts([CELL, away, not_run])))
    assert (row["dataset"], row["ours"], row["reason"], row["tried"]) == ("wine", "90.0", "unexplained", "")
    figure = document.agreement_picture(document.studied(tmp_path))
    (agrees, _, unexplained) = figure.axes[0].get_lines()[1:]
    assert (agrees.get_xydata().tolist(), unexplained.get_xydata().tolist()) == ([[63.0, 64.0]], [[63.0, 90.0]])


def test_tables_of_verdicts_are_those_of_the_cells():
    cells = [cell for each in document.studied(RESULTS).values() for cell in each]
    stored = (RESULTS / "reproduction" / "deviations.csv").read_text("utf-8")
    assert stored == study_report.verdicts(cells), "run: oblique reproduce report"
    for path, text in power.files(RESULTS).items():
        assert path.read_text("utf-8") == text, "run: python -m studies.power"


def test_documents_are_not_emptied_by_a_folder_without_results(tmp_path, call):
    with pytest.raises(ConfigError, match="has no results of a full profile"):
        document.blocks(tmp_path)
    for name in document.DOCUMENTS:
        path = call.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("<!-- begin summary -->\nold\n<!-- end summary -->\n")
    ended = call("reproduce", "report", "--results", "elsewhere")
    assert ended.code == 2 and "elsewhere has no results of a full profile" in ended.err
    assert all("old" in (call.folder / name).read_text() for name in document.DOCUMENTS)


def test_only_what_is_between_the_marks_of_a_block_is_made():
    text = "a\n<!-- begin summary -->\nold\n<!-- end summary -->\nb\n"
    once = document.filled(text, {"summary": "new\n"})
    assert once == "a\n<!-- begin summary -->\n\nnew\n\n<!-- end summary -->\nb\n"
    assert document.filled(once, {"summary": "new\n"}) == once
    with pytest.raises(ConfigError, match="no block 'summary'"):
        document.filled(text, {"sensitivity": ""})


PART = ("reproduce", "chapter3", "--profile", "quick", "--only", "dataset=wine", "--only", "algorithm=hhcart_d")

# -- the command -------------------------------------------------------------------------------------------------------


def test_without_a_name_the_studies_are_listed(call):
    ended = call("reproduce")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()[1:]] == list(STUDIES)


def test_a_study_of_a_small_part_prints_every_cell_and_resumes(call):
    first = call(*PART)
    assert first.code == 0, first.err
    assert "wine" in first.out and "HHCART(D)" in first.out and "HHCART(A)" not in first.out
    cells = study_report.read_cells(call.folder / "results" / "reproduction" / "chapter3_quick_only.csv")
    assert {cell.dataset for cell in cells} == {"wine"}
    again = call(*PART)
    assert "10 of 10 folds, 0 of them now" in again.err
    assert study_report.read_cells(call.folder / "results" / "reproduction" / "chapter3_quick_only.csv") == cells


def test_a_file_in_the_place_of_the_folder_of_cells_is_one_sentence(call):
    (call.folder / "results").mkdir()
    (call.folder / "results" / "reproduction").touch()
    ended = call(*PART)
    assert ended.code == 5 and "reproduction cannot be made (File exists)" in ended.err


def test_strict_ends_with_6_while_a_cell_is_unexplained(call, monkeypatch):
    monkeypatch.setattr(Cell, "verdict", property(lambda self: AGREES))
    assert call(*PART, "--strict").code == 0
    monkeypatch.setattr(Cell, "verdict", property(lambda self: DEVIATES))
    assert call(*PART, "--strict").code == 6
    assert call(*PART).code == 0


def test_a_regression_ends_with_6_and_names_the_cell(call, monkeypatch):
    call(*PART)
    folder = call.folder / "results"
    cells = study_report.read_cells(folder / "reproduction" / "chapter3_quick_only.csv")
    baseline = folder / "baseline_quick_chapter3.csv"
    baseline.write_text(study_report.write_cells(cells))
    assert call(*PART).code == 0
    monkeypatch.setattr(Cell, "noise", 0.0)  # nothing agrees any more
    baseline.write_text(study_report.write_cells([replace(cells[0], ours=0.0, published=0.0)]))
    ended = call(*PART)
    assert ended.code == 6
    assert "accuracy_percent of HHCART(D) on wine agreed in the baseline" in ended.err
