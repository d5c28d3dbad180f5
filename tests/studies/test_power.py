"""The verdict on a table: bias, order and power by hand, on the stored results, and whether planted faults turn it."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from oblique_cli.estimators.oblique.bottom_up import svm_plane
from oblique_cli.papers.reproduction.framework import choice_of_reading, document, study_report
from oblique_cli.papers.reproduction.framework.printed_cells import Cell, is_wide
from oblique_cli.papers.reproduction.framework.studies import StudyRequest
from oblique_cli.papers.reproduction.studies import gdt
from studies import causes, faults, power

RESULTS = Path(__file__).parents[2] / "results"
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
    cells = [cell for result in document.studied(RESULTS).values() for cell in result]
    return {(v.table, v.metric): v for v in power.table_verdicts(cells)}


def test_bias_is_a_paired_t_test_over_data_sets():
    shifts = {"a": 1.0, "b": 1.5, "c": 0.5, "d": 1.2}
    (result,) = power.table_verdicts(table(**shifts))
    whole, first = result.biases
    reference = stats.ttest_1samp([value / 2 for value in shifts.values()], 0)
    assert (whole.mean, whole.t, whole.p) == pytest.approx((0.525, reference.statistic, reference.pvalue))
    assert (first.method, first.mean) == ("A", pytest.approx(1.05)) and result.is_biased
    assert result.verdict == "agrees, biased"
    assert (str(result.cells), str(result.other_methods)) == ("8 of 8", "0 of 8")
    assert result.rank_of_methods == pytest.approx(1.0) and math.isnan(result.rank_of_sets)


def test_without_spread_or_sets_there_is_no_bias():
    assert power.table_verdicts(table(a=1.0, b=2.0))[0].biases == ()
    assert power.table_verdicts(table(a=0.0, b=0.0, c=0.0))[0].biases == ()


def test_a_table_in_which_another_method_agrees_as_well_is_weak_and_another_order_is_said():
    near = [replace(cell, published=70.0 + (cell.method == "B"), ours=70.0) for cell in table(a=0.0, b=0.0)]
    assert power.table_verdicts(near)[0].verdict == "agrees, weak"
    alone = [cell for cell in near if cell.method == "A"]
    assert power.table_verdicts(alone)[0].verdict == "agrees, power not measured"
    crossed = [replace(c, ours=80.0 if c.method == "A" else 70.0, ours_sd=9.0) for c in table(a=0.0, b=0.0)]
    assert power.table_verdicts(crossed)[0].verdict == "agrees, another order, weak"


def test_folds_are_counted_apart_and_against_other_folds():
    cells = [
        replace(CELL, qualifier=f"cv=nested; fold={i}", ours=60.0 + 10 * i, published=60.0 + 10 * i) for i in (1, 2)
    ]
    cells.append(replace(CELL, qualifier="cv=nested; fold=all"))
    (result,) = power.table_verdicts(cells)
    assert (str(result.cells), str(result.folds), str(result.other_folds)) == ("1 of 1", "2 of 2", "0 of 2")


@pytest.mark.parametrize(
    ("ours", "sd", "printed", "wide"),
    [(0.294, 0.52, 0.0, True), (0.0003, 0.1, 0.0, False), (64.0, 1.0, 63.0, False), (9.0, 0.1, 0.0, False)],
)
def test_a_cell_that_agrees_only_by_its_sd_says_so(ours, sd, printed, wide):
    cell = replace(CELL, metric="mse", ours=ours, ours_sd=sd, published=printed, published_sd=0.0)
    assert is_wide(cell) == wide
    assert ("only because its SD is large" in study_report.verdict_text(cell)) == wide


def test_retis_on_the_first_data_set_agrees_only_by_its_sd(verdicts):
    results = [cell for cell in verdicts["amalaman2015:2.7", "mse"].wide if cell.method == "RETIS"]
    assert ("three_pieces", 0.294) in [(cell.dataset, round(cell.ours, 3)) for cell in results]


def test_sizes_of_oc1_are_biased_in_table_ii_and_not_in_the_tables_of_the_thesis(verdicts):
    assert not any(verdicts[f"wickramarachchi2015:{table}", "n_leaves"].is_biased for table in ("3.1", "5.9"))
    (bias,) = [each for each in verdicts["manwani2012:II", "n_leaves"].biases if each.method == "OC1"]
    assert bias.beyond_chance and round(bias.t, 1) == -3.3


def test_costs_by_the_groups_sizes_take_the_bias_of_chapter_6_away(verdicts):
    """By the words the support vector machines of Tables 6.1 and 6.2 are 1.9 and 2.0 points above print."""
    machines = [c for c in document.studied(RESULTS)["chapter6"] if (c.method, c.metric) == ("SVM", "accuracy_percent")]
    printed = {(cell.table, cell.dataset): cell.published for cell in machines}
    for table, words in (("6.1", 3.3), ("6.2", 3.9)):
        rows = [row for row in stored("chapter6_by_costs") if row["table"] == f"wickramarachchi2015:{table}"]
        ts, means = {}, {}
        for reading in ("alike", "by_size"):
            gaps = [float(row[reading].partition(" ")[0]) - printed[row["table"], row["data set"]] for row in rows]
            ts[reading] = np.mean(gaps) / (np.std(gaps, ddof=1) / len(gaps) ** 0.5)
            means[reading] = [abs(np.mean(half)) for half in (gaps[::2], gaps[1::2])]
        assert round(ts["alike"], 1) == words and abs(ts["by_size"]) < 2.2  # Student's, 11 degrees of freedom
        assert all(with_size < alike for with_size, alike in zip(means["by_size"], means["alike"], strict=True))
        assert not verdicts[f"wickramarachchi2015:{table}", "accuracy_percent"].is_biased


def stored(name: str) -> list[dict[str, str]]:
    with open(RESULTS / "reproduction" / f"{name}.csv", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def test_every_cause_is_of_a_biased_table_and_is_counted_again(verdicts):
    with open(power.CAUSES, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [(row["table"], row["metric"], row["method"]) for row in rows] == list(power.causes())
    assert [key for key in power.causes() if not verdicts[key[:2]].is_biased] == []
    for row in rows:
        key = (row["table"], row["metric"])
        if row["cause"] == "the same":
            assert row["method"] and power.causes()[*key, ""]
        else:
            assert row["cause"] == CAUSES[row["result"]](*key), row


def by_digits(table: str, metric: str) -> str:
    """The words on how many of our distances are those of print, with the digits that print has."""
    distances, cut, rounded = digits_of_table_4_3()
    assert metric in {cell.metric for cell in distances}
    return (f"print has two digits: of {len(distances)} distances of ours {len(cut)} are the printed number if cut off "
            f"there, {len(rounded)} if rounded")  # fmt: skip


def digits_of_table_4_3() -> tuple[list[Cell], list[Cell], list[Cell]]:
    """Our distances of Table 4.3, those that are print if cut off after two digits, and those that are if rounded."""
    cells = [c for c in document.studied(RESULTS)["taxonomy"] if c.table == "amalaman2015:4.3" and c.ours is not None]
    distances = [c for c in cells if c.metric.endswith("distance")]
    cut = [c for c in distances if math.isclose(math.floor(100 * c.ours) / 100, c.published)]
    return distances, cut, [c for c in distances if math.isclose(round(c.ours, 2), c.published)]


def test_what_is_said_of_the_digits_of_table_4_3_is_counted_again():
    distances, cut, rounded = digits_of_table_4_3()
    text = f"of {len(distances)} numbers of ours {len(cut)} are the printed one if cut off, {len(rounded)} if rounded"
    explained = [cell for cell in distances if cell.key in study_report.reasons()]
    assert len(explained) == 3
    for cell in explained:
        words = study_report.reasons()[cell.key]
        assert cell in cut and text in words and ("cuts the others off" in words) == (cell not in rounded)


# Stored result -> what its cause says.
CAUSES = {"taxonomy": by_digits}


def test_a_machine_of_ours_is_the_estimator_s_own_and_sizes_change_its_plane():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0.0, 1.0, (40, 3)), rng.normal(1.0, 1.0, (10, 3))]) * [1.0, 10.0, 0.1]
    group = np.repeat([0, 1], [40, 10]).astype(np.int32)
    by_name = {machine.name: machine.plane(X, group, 1.0) for machine in causes.MACHINES}
    ours = svm_plane(X, group, 1.0, 0)
    result = by_name["liblinear, variance 1 at the node (ours)"]
    assert result.coef == pytest.approx(ours.coef, abs=2e-3) and result.threshold == pytest.approx(
        ours.threshold, abs=2e-2
    )
    exact = by_name["libsvm, variance 1 at the node"]
    assert exact.coef == pytest.approx(ours.coef, abs=2e-2)
    sides = {name: (X @ plane.coef > plane.threshold).sum() for name, plane in by_name.items()}
    # A row of the smaller group costs more, so more rows lie on its side.
    few = {name: min(count, 50 - count) for name, count in sides.items()}
    assert few[f"libsvm, {causes.BY_SIZE}"] > few["libsvm, variance 1 at the node"]


# ---- readings ---


def test_the_reading_that_meets_more_claims_is_taken_and_the_words_on_a_tie():
    assert choice_of_reading.of_claims({"words": [True, None, False], "tables": [True, True, False]}) == "tables"
    assert choice_of_reading.of_claims({"words": [True, False], "tables": [None, True]}) == "words"


def test_print_meets_most_claims_of_its_own_section_iv():
    cells = document.studied(RESULTS)["gdt"]
    printed = {(c.dataset, c.method, c.metric): (c.published, c.published_sd or 0.0) for c in cells
               if c.published is not None}  # fmt: skip
    assert choice_of_reading.met(gdt.claims(printed).values()) == 36


def test_claims_of_significance_are_of_one_standard_deviation():
    results = {("wine", "GDT", "accuracy_percent"): (90.0, 1.0), ("wine", "SVM", "accuracy_percent"): (88.0, 1.0)}
    assert gdt.claims(results)["wine: significantly better than SVM"] is True  # intervals that just touch
    results["wine", "SVM", "accuracy_percent"] = (88.1, 1.0)
    assert gdt.claims(results)["wine: significantly better than SVM"] is False
    assert gdt.claims(results)["glass: comparable to SVM"] is None


def test_both_readings_of_algorithm_1_are_shown_with_their_claims(verdicts):
    for section, claims in (("sequences", ["10", "9", "10"]), ("eureka", ["12", "10", "7"])):
        last = list(stored(f"taxonomy_by_graph_{section}")[-1].values())
        assert last[0] == "claims met" and last[-3:] == claims
    assert str(verdicts["amalaman2015:5.3", "n_nodes"].cells) == "12 of 12"
    assert str(verdicts["amalaman2015:5.4", "family_changes"].cells) == "2 of 4"


# ---- planted faults --------------------------------------------------------------------------------------------------


def test_ten_planted_faults_turn_a_verdict():
    rows = stored("faults_verdicts")
    turned = {row["fault"] for row in rows if row["turned"] == "yes"}
    assert len(turned) >= 10
    named = [fault.name for fault in (*faults.PLANTED, *faults.GROWN)]
    assert {row["fault"] for row in rows} == set(named)
    # What the verdicts cannot see: named, so that it is noticed when they can.
    assert [name for name in named if name not in turned] == ["Gini for twoing, the other sets"]


def test_faults_in_stored_cells_do_what_is_stored():
    rows = {(row["fault"], row["measure"]): row for row in stored("faults_verdicts")}
    result = faults.of_stored(RESULTS)
    assert {turn.fault for turn in result} == {fault.name for fault in faults.PLANTED}
    for turn in result:
        row = rows[turn.fault, turn.after.metric]
        assert row["turned"] == ("yes" if turn.turned else "no")
        assert row["with it"] == f"{turn.after.verdict} ({turn.after.cells})"


def test_wrong_trees_are_grown_and_compared_on_the_same_sets(tmp_path):
    only = {"dataset": ("wine", "haberman")}
    request = StudyRequest("quick", 20260101, 1, str(tmp_path / "results"), None, only, lambda line: None)
    (table,) = faults.faults.run(request).tables
    rows = {(row[0], row[2]): row for row in table.rows}
    assert {fault for fault, _ in rows} == {fault.name for fault in faults.GROWN if not fault.slow}
    sizes = rows["pruning by the 1-SE rule for 0-SE", "n_leaves"]
    assert sizes[3] == "2" and "biased" not in sizes[4] and "of 8" in sizes[5]
