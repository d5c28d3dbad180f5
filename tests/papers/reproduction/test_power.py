"""The verdict on a table: bias, order and power by hand, on the stored results, and whether planted faults turn it."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from oblique_cli.papers.reproduction import faults
from oblique_cli.papers.reproduction.framework import choice_of_reading, document, power, power_page, study_report
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.studies import STUDIES, StudyRequest

RESULTS = Path(__file__).parents[3] / "results"
CELL = Cell("wickramarachchi2015:3.1", "bupa", "A", "accuracy_percent", 64.0, 1.0, 63.0, 1.0)


def table(**ours: float) -> list[Cell]:
    """Cells of two methods, printed as 70 and 80 on every set; ours of A is printed + `ours`, of B as printed."""
    return [
        replace(CELL, dataset=name, method=method, ours=printed + (shift if method == "A" else 0.0), published=printed)
        for name, shift in ours.items()
        for method, printed in (("A", 70.0), ("B", 80.0))
    ]


@pytest.fixture(scope="module")
def verdicts():
    cells = [cell for found in document.studied(RESULTS).values() for cell in found]
    return {(v.table, v.metric): v for v in power.table_verdicts(cells)}


def test_bias_is_a_paired_t_test_over_data_sets():
    shifts = {"a": 1.0, "b": 1.5, "c": 0.5, "d": 1.2}
    (found,) = power.table_verdicts(table(**shifts))
    whole, first = found.biases
    reference = stats.ttest_1samp([value / 2 for value in shifts.values()], 0)
    assert (whole.mean, whole.t, whole.p) == pytest.approx((0.525, reference.statistic, reference.pvalue))
    assert (first.method, first.mean) == ("A", pytest.approx(1.05)) and found.is_biased
    assert found.verdict == "agrees, biased"
    assert (str(found.cells), str(found.other_methods)) == ("8 of 8", "0 of 8")
    assert found.rank_of_methods == pytest.approx(1.0) and math.isnan(found.rank_of_sets)


def test_sizes_are_compared_by_their_ratio():
    cells = [replace(cell, metric="n_leaves", ours=2.0 * (cell.ours or 0)) for cell in table(a=0.0, b=1.0, c=2.0)]
    whole = power.table_verdicts(cells)[0].biases[0]
    assert whole.mean == pytest.approx(100 * (2 * (71 / 70) ** 0.5 - 1), abs=0.05)


def test_without_spread_or_sets_there_is_no_bias():
    assert power.table_verdicts(table(a=1.0, b=2.0))[0].biases == ()
    assert power.table_verdicts(table(a=0.0, b=0.0, c=0.0))[0].biases == ()


def test_a_table_in_which_another_method_agrees_as_well_is_weak():
    near = [replace(cell, published=70.0 + (cell.method == "B"), ours=70.0) for cell in table(a=0.0, b=0.0)]
    assert power.table_verdicts(near)[0].verdict == "agrees, weak"
    alone = [cell for cell in near if cell.method == "A"]
    assert power.table_verdicts(alone)[0].verdict == "agrees, power not measured"


def test_methods_in_another_order_are_said():
    crossed = [replace(c, ours=80.0 if c.method == "A" else 70.0, ours_sd=9.0) for c in table(a=0.0, b=0.0)]
    assert power.table_verdicts(crossed)[0].verdict == "agrees, another order, weak"


def test_folds_are_counted_apart_and_against_other_folds():
    cells = [
        replace(CELL, qualifier=f"cv=nested; fold={i}", ours=60.0 + 10 * i, published=60.0 + 10 * i) for i in (1, 2)
    ]
    cells.append(replace(CELL, qualifier="cv=nested; fold=all"))
    (found,) = power.table_verdicts(cells)
    assert (str(found.cells), str(found.folds), str(found.other_folds)) == ("1 of 1", "2 of 2", "0 of 2")


@pytest.mark.parametrize(
    ("ours", "sd", "printed", "wide"),
    [(0.294, 0.52, 0.0, True), (0.0003, 0.1, 0.0, False), (64.0, 1.0, 63.0, False), (9.0, 0.1, 0.0, False)],
)
def test_a_cell_that_agrees_only_by_its_sd_says_so(ours, sd, printed, wide):
    cell = replace(CELL, metric="mse", ours=ours, ours_sd=sd, published=printed, published_sd=0.0)
    assert power.is_wide(cell) == wide
    assert ("only because its SD is large" in study_report.verdict_text(cell)) == wide


def test_retis_on_the_first_data_set_agrees_only_by_its_sd(verdicts):
    found = [cell for cell in verdicts["amalaman2015:2.7", "mse"].wide if cell.method == "RETIS"]
    assert ("three_pieces", 0.294) in [(cell.dataset, round(cell.ours, 3)) for cell in found]


def test_the_biases_that_cells_hide_are_found(verdicts):
    by_method = {
        (key[0].partition(":")[2], key[1], bias.method): bias for key, v in verdicts.items() for bias in v.biases
    }
    assert [round(by_method[t, "accuracy_percent", "SVM"].t, 1) for t in ("6.1", "6.2")] == [3.3, 3.9]
    assert [round(by_method[t, "n_leaves", "OC1"].t, 1) for t in ("3.1", "5.9")] == [-2.5, -3.1]
    assert all(
        verdicts[f"wickramarachchi2015:{t}", m].is_biased for t, m in (("6.1", "accuracy_percent"), ("5.9", "n_leaves"))
    )


def test_every_cause_is_of_a_biased_table_and_has_a_number(verdicts):
    assert all(any(char.isdigit() for char in text) for text in power_page.causes().values())
    assert [key for key in power_page.causes() if not verdicts[key].is_biased] == []


# ---- readings ---


def test_the_reading_that_meets_more_claims_is_taken_and_the_words_on_a_tie():
    assert choice_of_reading.of_claims({"words": [True, None, False], "tables": [True, True, False]}) == "tables"
    assert choice_of_reading.of_claims({"words": [True, False], "tables": [None, True]}) == "words"


def test_both_readings_of_algorithm_1_are_shown_with_their_claims(verdicts):
    for section, claims in (("sequences", ["10", "9", "10"]), ("eureka", ["12", "10", "7"])):
        path = RESULTS / "reproduction" / f"taxonomy_by_graph_{section}.csv"
        with open(path, encoding="utf-8", newline="") as handle:
            *_, last = csv.reader(handle)
        assert last[0] == "claims met" and last[-3:] == claims
    assert str(verdicts["amalaman2015:5.3", "n_nodes"].cells) == "12 of 12"
    assert str(verdicts["amalaman2015:5.4", "family_changes"].cells) == "2 of 4"


# ---- planted faults --------------------------------------------------------------------------------------------------


def stored_turns() -> list[dict[str, str]]:
    with open(RESULTS / "reproduction" / "faults_verdicts.csv", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def test_ten_planted_faults_turn_a_verdict():
    turned = {row["fault"] for row in stored_turns() if row["turned"] == "yes"}
    assert len(turned) >= 10
    named = [fault.name for fault in (*faults.PLANTED, *faults.GROWN)]
    assert {row["fault"] for row in stored_turns()} == set(named)
    # What the verdicts cannot see: named, so that it is noticed when they can.
    assert [name for name in named if name not in turned] == [
        "ranks of another seed, forests",
        "Gini for twoing, the other sets",
    ]


def test_faults_in_stored_cells_do_what_is_stored():
    stored = {(row["fault"], row["measure"]): row for row in stored_turns()}
    found = faults.of_stored(RESULTS)
    assert {turn.fault for turn in found} == {fault.name for fault in faults.PLANTED}
    for turn in found:
        row = stored[turn.fault, turn.after.metric]
        assert row["turned"] == ("yes" if turn.turned else "no")
        assert row["with it"] == f"{turn.after.verdict} ({turn.after.cells})"


def test_nothing_planted_turns_nothing():
    for fault in faults.PLANTED:
        cells = [c for c in document.studied(RESULTS)[fault.study] if c.table == fault.table]
        assert not any(turn.turned for turn in faults.turns(fault.name, cells, cells))


def test_wrong_trees_are_grown_and_compared_on_the_same_sets(tmp_path):
    only = {"dataset": ("wine", "haberman", "glass", "statlog_heart")}
    request = StudyRequest("quick", 20260101, 1, str(tmp_path / "results"), None, only, lambda line: None)
    (table,) = STUDIES["faults"]().run(request).tables
    rows = {(row[0], row[2]): row for row in table.rows}
    assert {fault for fault, _ in rows} == {fault.name for fault in faults.GROWN if not fault.slow}
    sizes = rows["pruning by the 1-SE rule for 0-SE", "n_leaves"]
    assert sizes[3] == "4" and "biased" not in sizes[4] and "of 16" in sizes[5]
