"""Tables: means and SDs by hand, gaps that stay visible, five formats that keep names and digits."""

import csv
import io
import json
import math
import random
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli import config
from oblique_cli.errors import ConfigError, UnknownName
from oblique_cli.evaluation import sheets, tables
from oblique_cli.ground.nouns import AlgorithmSpec, CVSpec, DatasetSpec, Experiment, Row

TITLES = {"gdt": "GDT", "hhgdt": "HHGDT", "hhcart_a": "HHCART(A)", "hhcart_d": "HHCART(D)"}
NASTY = "a_b%|</script>"


def experiment(datasets=("bupa",), algorithms=("hhgdt",), cv=None, published=(), grid=None, **more) -> Experiment:
    specs = [a if isinstance(a, AlgorithmSpec) else AlgorithmSpec(a, a, grid=grid or {}) for a in algorithms]
    cv = cv or CVSpec("ordinary", folds=2, repeats=2)
    return Experiment("exp", 1, tuple(map(DatasetSpec, datasets)), tuple(specs), cv, tuple(published), **more)


def row(repeat, fold, n_correct=1, n_test=2, n_leaves=3, dataset="bupa", algorithm="hhgdt", **more) -> Row:
    more = {"status": "ok", **more}
    key = f"{dataset} {algorithm} {repeat} {fold}"
    return Row(key, dataset, algorithm, repeat, fold, n_correct=n_correct, n_test=n_test, n_leaves=n_leaves, **more)


def failed(repeat, fold, message="LinAlgError: singular matrix", **more) -> Row:
    return row(repeat, fold, 0, 0, 0, status="failed", message=message, **more)


def grid_of(exp, **more) -> list[Row]:
    """A full set of rows with varied numbers."""
    rng = random.Random(7)
    return [
        row(r, f, rng.randint(10, 34), 34 + f % 2, rng.randint(2, 20), d.name, a.id, **more)
        for d in exp.datasets
        for a in exp.algorithms
        for r in range(exp.cv.repeats)
        for f in range(exp.cv.folds)
    ]


UNEQUAL = [
    row(0, 0, 3, 4, n_leaves=2),
    row(0, 1, 1, 1, n_leaves=3),
    row(1, 0, 2, 4, n_leaves=4),
    row(1, 1, 1, 1, n_leaves=5),
]


def only_line(rows, exp, **more) -> tables.Line:
    (line,) = tables.summarize(rows, exp, **more).lines
    return line


# -- means and SDs ---------------------------------------------------------------------------------------------------


def test_accuracy_is_pooled_over_the_folds_of_a_repetition_and_leaves_are_averaged():
    # By hand: (3 + 1) / 5 = 80 % and (2 + 1) / 5 = 60 %. The mean of fold accuracies would be 87.5 and 75.
    line = only_line(UNEQUAL, experiment())
    assert (line.accuracy.mean, line.leaves.mean, line.mark) == (70.0, 3.5, "")  # leaves 2.5 and 4.5
    assert line.accuracy.sd == pytest.approx(math.sqrt(200), rel=1e-15)  # divisor R - 1
    assert line.leaves.sd == pytest.approx(math.sqrt(2), rel=1e-15)
    line = only_line(UNEQUAL[:2], experiment(cv=CVSpec("ordinary", folds=2, repeats=1)))  # one repetition has no SD
    assert (line.accuracy.mean, line.accuracy.sd, line.leaves.mean, line.leaves.sd) == (80.0, None, 2.5, None)
    assert tables.mean_and_sd(line.accuracy) == "80.0"
    # 100 / 3 has no finite binary form; sums of floats would leave an SD of about 1e-14.
    rows = [row(r, f, 1, 3, 1 + f) for r in range(2) for f in range(2)]
    line = only_line(rows, experiment())
    assert (line.accuracy.mean, line.accuracy.sd, line.leaves.sd) == (100 / 3, 0.0, 0.0)


@pytest.mark.parametrize("scheme", ["split", "monte_carlo"])
def test_every_repetition_of_a_single_split_is_one_tree(scheme):
    exp = experiment(cv=CVSpec(scheme, folds=10, repeats=3))
    line = only_line([row(0, 0, 90, 100, 5), row(1, 0, 92, 100, 7), row(2, 0, 94, 100, 9)], exp)
    assert (line.accuracy.mean, line.accuracy.sd) == (92.0, 2.0)
    assert (line.leaves.mean, line.leaves.sd) == (7.0, 2.0)
    assert (line.folds_ok, line.folds_expected, line.mark) == (3, 3, "")


# -- what is not there -----------------------------------------------------------------------------------------------


def test_a_repetition_with_a_failed_fold_is_left_out_and_the_cell_says_so():
    table = tables.summarize([*UNEQUAL[:3], failed(1, 1)], experiment())
    (line,) = table.lines
    assert (line.accuracy.mean, line.accuracy.sd, line.repeats) == (80.0, None, 1)
    assert (line.folds_ok, line.folds_failed, line.folds_expected) == (3, 1, 4)
    assert tables.mean_and_sd(line.leaves, line.mark) == "2.5 †3/4"
    note = (
        "†3/4 bupa, hhgdt: 3 of 4 folds, 1 failed (first: LinAlgError: singular matrix); "
        "1 of 2 repetitions are complete and averaged."
    )
    assert note in table.notes


def test_a_cell_without_a_complete_repetition_is_a_dash_with_its_count():
    exp = experiment(cv=CVSpec("ordinary", folds=10, repeats=1), published=["wickramarachchi2015:5.2"])
    table = tables.summarize([failed(0, 0), *(row(0, f) for f in range(1, 10))], exp, titles=TITLES)
    (line,) = table.lines
    assert (line.accuracy.mean, line.accuracy.difference, line.leaves.mean) == (None, None, None)
    cells = table.sheet().grids[0].rows[0]
    assert cells == ("bupa", "HHGDT", "— †9/10", "67.9 ± 1.9", "—", "— †9/10", "10.9 ± 1.3", "—")


@pytest.mark.parametrize(
    ("rows", "mark", "mean", "note"),
    [
        (UNEQUAL[:3], "‡3/4", 80.0, "3 of 4 folds, 1 still to run; 1 of 2"),
        ([row(0, 0), failed(0, 1, message="")], "†1/4", None, "1 failed (first: no message), 2 still to run; 0 of 2"),
        ([], "‡0/4", None, "0 of 4 folds, 4 still to run; 0 of 2"),
    ],
)
def test_failed_folds_and_folds_still_to_run_are_marked_apart_and_counted(rows, mark, mean, note):
    table = tables.summarize(rows, experiment())
    assert (table.lines[0].mark, table.lines[0].accuracy.mean) == (mark, mean)
    assert any(text.startswith(f"{mark} bupa, hhgdt: ") and note in text for text in table.notes)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (UNEQUAL[0], "hhgdt on bupa, repetition 0, fold 0 is there twice"),
        (row(0, 0, dataset="wine"), "hhgdt on wine, repetition 0, fold 0 is no job of exp"),
        (row(0, 0, algorithm="gdt"), "gdt on bupa, repetition 0, fold 0 is no job of exp"),
        (row(2, 0), "hhgdt on bupa, repetition 2, fold 0 is no job of exp"),
        (row(0, -1), "hhgdt on bupa, repetition 0, fold -1 is no job of exp"),
    ],
)
def test_rows_that_are_not_the_experiment_s_are_refused(extra, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tables.summarize([*UNEQUAL, extra], experiment())


# -- published numbers -----------------------------------------------------------------------------------------------


def test_the_published_number_and_the_difference_stand_beside_ours_where_asked_for():
    line = only_line(UNEQUAL, experiment(published=["wickramarachchi2015:5.2"]), titles=TITLES)
    assert (line.accuracy.published.mean, line.accuracy.published.table) == (67.9, "5.2")
    assert line.accuracy.difference == 70.0 - 67.9
    assert line.leaves.difference == 3.5 - 10.9
    assert line.label == "HHGDT"
    plain = tables.summarize(UNEQUAL, experiment())
    beside = tables.summarize(UNEQUAL, experiment(published=["wickramarachchi2015:5.2"]))
    assert plain.sheet().grids[0].header == ("data set", "algorithm", "accuracy", "leaves")
    header = ("data set", "algorithm", "accuracy", "published", "diff", "leaves", "published", "diff")
    assert beside.sheet().grids[0].header == header
    assert not any("published" in key or "difference" in key for key in plain.sheet().records[0])


def test_folds_decide_which_sampling_of_table_3_2_is_shown():
    for cv, expected in (
        (CVSpec("ordinary", 2, 2), "92.8 ± 1.3"),
        (CVSpec("ordinary", 2, 2, stratified=True), "93.2 ± 1.4"),
        (CVSpec("stratified", 2, 2), "93.2 ± 1.4"),
    ):
        exp = experiment(["balance_scale"], ["hhcart_a"], cv, ["wickramarachchi2015:3.2"])
        assert only_line([], exp, titles=TITLES).accuracy.published.printed == expected


def test_with_several_tables_each_number_says_its_own_and_a_table_of_folds_is_refused():
    tables_asked = ["wickramarachchi2015:3.1", "wickramarachchi2015:3.4", "wickramarachchi2015:3.1"]
    exp = experiment(["bupa", "adult"], ["hhcart_a"], published=tables_asked)
    table = tables.summarize([], exp, titles=TITLES)
    assert table.references == ("wickramarachchi2015:3.1", "wickramarachchi2015:3.4")
    shown = [cells[3] for cells in table.sheet().grids[0].rows]
    assert shown == [shown[0], "85.1 ± 0.2 [3.4]"]
    assert shown[0].endswith("[3.1]")
    with pytest.raises(ConfigError, match="holds numbers of a single fold"):
        tables.summarize([], experiment(published=["wickramarachchi2015:5.5"]))


def test_notes_name_source_table_protocol_and_remarks():
    exp = experiment(["magic_balanced"], ["gdt"], published=["manwani2012:II", "wickramarachchi2015:5.2"])
    notes = tables.summarize([], exp, titles=TITLES).notes
    (paper,) = [note for note in notes if note.startswith("published: Manwani")]
    assert "Geometric decision tree" in paper
    assert "Table II: Comparison results" in paper
    assert "Protocol: 10x10-fold CV; epsilon1 in [0.1,0.2]" in paper
    (thesis,) = [note for note in notes if note.startswith("published: Wickramarachchi")]
    assert thesis.endswith("None of its numbers is shown.")
    assert "Table II, magic_balanced: 3000 rows of each class drawn by us; the paper's draw is not to be had." in notes


def test_published_numbers_go_by_the_method_and_labels_by_the_id():
    variant = AlgorithmSpec("hhgdt", "hhgdt-deep", {"max_depth": 3})
    line = only_line([], experiment(algorithms=[variant], published=["wickramarachchi2015:5.2"]), titles=TITLES)
    assert line.label == "hhgdt-deep"
    assert line.accuracy.published.mean == 67.9

    # As RETIS, which the dissertation runs as TPRTI-A with all features discrete.
    first = AlgorithmSpec("tprti_a", "retis", {"discrete": "all"})
    exp = experiment(["auto_mpg"], [first, AlgorithmSpec("tprti_a", "tprti_a", {})], published=["amalaman2015:2.7"])
    retis, tprti = tables.summarize([], exp, titles=tables.method_titles()).lines
    assert (retis.label, tprti.label) == ("RETIS", "TPRTI-A")
    assert (retis.leaves.published.mean, tprti.leaves.published.mean) == (3.1, 5.0)

    other = AlgorithmSpec("sklearn.tree.DecisionTreeClassifier", "hhgdt", {})
    exp = experiment(algorithms=[other], published=["wickramarachchi2015:5.2"])
    line = only_line([], exp, titles=tables.method_titles())
    assert line.label == "hhgdt" and line.accuracy.published is None


# -- notes and order -------------------------------------------------------------------------------------------------


def test_two_stage_tables_warn_that_tuning_saw_the_test_rows():
    warning = (
        "epsilon was chosen by a CV over all rows, test rows included, as the paper did; "
        "the accuracy may be optimistic."
    )
    grid = {"epsilon": (0.1, 0.2)}
    cv = {scheme: CVSpec(scheme, 2, 2) for scheme in ("two_stage", "nested")}
    assert warning in tables.summarize([], experiment(cv=cv["two_stage"], grid=grid)).notes
    assert warning not in tables.summarize([], experiment(cv=cv["nested"], grid=grid)).notes
    assert warning not in tables.summarize([], experiment(cv=cv["two_stage"])).notes


def test_notes_say_how_the_numbers_were_made_and_data_set_notes_come_once():
    expected = {
        CVSpec("nested", 10, 10): "10 x 10-fold CV (nested): accuracy in % pooled over the folds of a repetition",
        CVSpec("ordinary", 5, 10, stratified=True): "10 x 5-fold CV (ordinary, stratified): ",
        CVSpec("stratified", 5, 10, stratified=True): "10 x 5-fold CV (stratified): ",
        CVSpec("split", repeats=10): "10 x one training and test set (split); mean ± SD over repetitions, divisor R",
        CVSpec("split", repeats=1): "1 x one training and test set (split).",
    }
    for cv, text in expected.items():
        assert tables.summarize([], experiment(cv=cv)).notes[0].startswith(text)
    exp = experiment(["bupa", "wine"], ["gdt", "hhgdt"])
    table = tables.summarize([], exp, dataset_notes={"bupa": "the class is the selector field", "wine": ""})
    assert [note for note in table.notes if "selector" in note] == ["bupa: the class is the selector field"]


# -- cells as text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mean", "sd", "text"),
    [
        (67.94, 1.86, "67.9 ± 1.9"),
        (97.6, 0.03, "97.60 ± 0.03"),  # one decimal would hide the SD
        (97.6, 0.05, "97.6 ± 0.1"),
        (2.0, 0.0, "2.0 ± 0.0"),
        (2480.5, 19.0, "2480.5 ± 19.0"),
        (None, None, "—"),
    ],
)
def test_cells_have_the_digits_of_the_thesis(mean, sd, text):
    assert tables.mean_and_sd(tables.TableValue(mean, sd)) == text


@pytest.mark.parametrize(
    ("mean", "sd", "text"),
    [
        (0.02271, 0.0004, "0.02271 ± 0.00040"),
        (0.9751, 0.00001, "0.97510 ± 0.00001"),
        (12345.6, 220.4, "12346 ± 220"),
        (-3e-5, 1.25, "-0.000 ± 1.250"),
        (0.0, 0.0, "0 ± 0"),
        (3.2e9, 1.1e8, "3.200e+09 ± 1.100e+08"),
        (5e-324, 0.0, "4.941e-324 ± 0.000e+00"),
        (0.5, None, "0.5"),
        (None, None, "—"),
    ],
)
def test_an_sd_has_the_digits_of_its_mean(mean, sd, text):
    assert tables.measured(tables.TableValue(mean, sd)) == text
    assert tables.measured(tables.TableValue(mean, sd), "†3/4") == f"{text} †3/4"


def test_metrics_of_a_configuration_are_added_and_those_asked_for_are_shown_alone():
    exp = experiment(metrics=("balanced_accuracy", "accuracy"))
    rows = grid_of(exp, per_class={"a": (5, 10), "b": (4, 4)})
    assert tables.summarize(rows, exp).metrics == ("accuracy", "leaves", "balanced_accuracy")
    assert tables.summarize(rows, exp, metrics=("balanced_accuracy",)).metrics == ("balanced_accuracy",)

    exp = experiment(["wine", "bupa"], ["hhgdt", "gdt"])
    lines = tables.summarize(reversed(grid_of(exp)), exp).lines
    order = [("wine", "hhgdt"), ("wine", "gdt"), ("bupa", "hhgdt"), ("bupa", "gdt")]
    assert [(line.dataset, line.algorithm) for line in lines] == order


def test_what_is_no_tree_has_a_dash_for_leaves_and_no_zero():
    exp = experiment(algorithms=("hhgdt", "gdt"))
    rows = [replace(cell, n_leaves=0) if cell.algorithm == "gdt" else cell for cell in grid_of(exp)]
    table = tables.summarize(rows, exp, titles=TITLES)
    assert [row[-1] == "—" for row in table.sheet().grids[0].rows] == [False, True]
    assert "— bupa, GDT: leaves is undefined in 4 of 4 folds (the model is no tree)." in table.notes


def test_a_difference_that_rounds_to_zero_has_no_minus_sign():
    rows = [row(r, f, 6786, 10_000) for r in range(2) for f in range(2)]
    exp = experiment(published=["wickramarachchi2015:5.2"])
    table = tables.summarize(rows, exp, titles=TITLES)
    assert -0.05 < table.lines[0].accuracy.difference < 0
    assert table.sheet().grids[0].rows[0][4] == "+0.0"


# -- formats ---------------------------------------------------------------------------------------------------------

FULL = experiment(
    ["bupa", NASTY], ["gdt", "hhgdt"], CVSpec("two_stage", 3, 4), ["wickramarachchi2015:5.2"], {"epsilon": (0.1, 0.2)}
)
FULL_TABLE = tables.summarize(
    grid_of(FULL)[:-1], FULL, titles=TITLES, dataset_notes={"bupa": "the class is the selector field."}
)


def test_five_formats_end_with_one_line_end_and_another_is_refused_with_close_matches():
    assert list(sheets.FORMATS) == ["text", "md", "csv", "latex", "json"]
    with pytest.raises(UnknownName, match=r"^unknown table format 'latx'\. Did you mean 'latex'\?$"):
        sheets.render(FULL_TABLE, "latx")
    for name in sheets.FORMATS:
        text = sheets.render(FULL_TABLE, name)
        assert text.endswith("\n") and not text.endswith("\n\n")


def test_text_has_one_line_for_each_data_set_and_algorithm_and_no_control_character():
    text = sheets.render(FULL_TABLE, "text")
    assert re.search(r"^bupa +HHGDT +\S+ ± \S+ +67.9 ± 1.9 +[+-]\S+ +\S+ ± \S+ +10.9 ± 1.3 +[+-]\S+$", text, re.M)
    assert re.search(r"^a_b%\|</script> +HHGDT +\S+ ± \S+ ‡11/12 +— +— +\S+ ± \S+ ‡11/12 +— +—$", text, re.M)
    assert "bupa: the class is the selector field.\n" in text
    exp = experiment(["a\nb\x1b[31m\tc"])
    text = sheets.render(tables.summarize([], exp), "text")
    assert "a b [31m c" in text
    assert "\x1b" not in text


def test_markdown_rows_have_as_many_cells_as_the_header_and_names_are_escaped():
    lines = [line for line in sheets.render(FULL_TABLE, "md").splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {9}
    text = sheets.render(tables.summarize([], experiment([NASTY, "_x_*y*`z`[u](v)$w$"])), "md")
    assert r"a_b%\|&lt;/script&gt;" in text
    assert r"\_x\_\*y\*\`z\`\[u\](v)\$w\$" in text
    assert "<" not in text


def test_latex_escapes_names_and_uses_booktabs():
    text = sheets.render(FULL_TABLE, "latex")
    assert r"{}a\_b\%\textbar{}\textless{}/script\textgreater{} & GDT & " in text
    assert r"67.9 $\pm$ 1.9" in text
    assert r"\ddag{}11/12" in text
    assert [text.count(rf"\{rule}") for rule in ("toprule", "midrule", "bottomrule")] == [1, 1, 1]
    assert re.search(r"[±—‡<>]|(?<!\\)%(?! \\usepackage)|(?<!\\)_", text) is None
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in rows} == {7}
    text = sheets.render(tables.summarize([], experiment(["\\{}&%$#_~^ x ≥ 2·√y"])), "latex")
    escaped = (
        r"{}\textbackslash{}\{\}\&\%\$\#\_\textasciitilde{}\textasciicircum{} x \ensuremath{\ge} 2·\ensuremath{\surd}y"
    )
    assert f"{escaped} & " in text


def test_csv_and_json_give_back_every_digit_and_name():
    read = list(csv.DictReader(io.StringIO(sheets.render(FULL_TABLE, "csv"))))
    names = [(line.dataset, line.algorithm) for line in FULL_TABLE.lines]
    assert [(record["dataset"], record["algorithm"]) for record in read] == names
    for record, line in zip(read, FULL_TABLE.lines, strict=True):
        assert float(record["accuracy_mean"]) == line.accuracy.mean
        assert float(record["leaves_sd"]) == line.leaves.sd
        difference = line.accuracy.difference
        assert record["accuracy_difference"] == ("" if difference is None else repr(difference))
    assert (read[1]["accuracy_published_source"], read[1]["leaves_published_table"]) == ("wickramarachchi2015", "5.2")
    assert read[3]["folds_ok"] == "11"

    text = sheets.render(FULL_TABLE, "json")
    document = json.loads(text)
    assert document["rows"][0]["accuracy_mean"] == FULL_TABLE.lines[0].accuracy.mean
    assert document["rows"][2]["accuracy_published_mean"] is None
    assert document["rows"][2]["dataset"] == NASTY
    assert document["notes"] == list(FULL_TABLE.notes)
    assert document["published"][0]["citation"].startswith("Wickramarachchi, D. C. (2015).")
    assert json.dumps(document, sort_keys=True, indent=2).replace("</", "<\\/") + "\n" == text


@settings(max_examples=25, deadline=None)
@given(st.permutations(grid_of(FULL)[:-3]))
def test_the_order_of_rows_changes_no_byte_of_any_format(rows):
    table = tables.summarize(rows, FULL, titles=TITLES)
    expected = tables.summarize(grid_of(FULL)[:-3], FULL, titles=TITLES)
    for name in sheets.FORMATS:
        assert sheets.render(table, name) == sheets.render(expected, name)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 99)), min_size=3, max_size=3), min_size=2))
def test_a_cell_equals_the_textbook_formula(repetitions):
    rows = [
        row(r, f, min(correct, 50), 50, leaves)
        for r, folds in enumerate(repetitions)
        for f, (correct, leaves) in enumerate(folds)
    ]
    line = only_line(rows, experiment(cv=CVSpec("ordinary", 3, len(repetitions))))
    accuracies = [100 * sum(c for c, _ in folds) / 150 for folds in repetitions]
    leaves = [sum(n for _, n in folds) / 3 for folds in repetitions]
    for value, expected in ((line.accuracy, accuracies), (line.leaves, leaves)):
        mean = math.fsum(expected) / len(expected)
        assert value.mean == pytest.approx(mean, abs=1e-9)
        variance = math.fsum((x - mean) ** 2 for x in expected) / (len(expected) - 1)
        assert value.sd == pytest.approx(math.sqrt(variance), abs=1e-9)


# -- clusters --------------------------------------------------------------------------------------------------------

CLUSTERED = [
    row(r, f, dataset="balance_scale", algorithm="hhbut", clusters={"B": 1, "L": 1 + f, "R": 1 + r + f})
    for r in range(2)
    for f in range(2)
]
PLAIN = [row(r, f, dataset="balance_scale") for r in range(2) for f in range(2)]
BOTH = experiment(["balance_scale"], ["hhbut", "hhgdt"])


def test_clusters_are_averaged_and_shown_if_an_algorithm_has_them():
    line, plain = tables.summarize(CLUSTERED + PLAIN, BOTH).lines
    assert list(line.clusters.items()) == [("B", 1.0), ("L", 1.5), ("R", 2.0)]
    assert plain.clusters == {}
    table = tables.summarize(CLUSTERED + PLAIN, BOTH)
    (grid,) = table.sheet().grids
    assert grid.header == ("data set", "algorithm", "accuracy", "leaves", "clusters")
    assert [cells[4] for cells in grid.rows] == ["(1.0, 1.5, 2.0)", "—"]
    records = list(csv.DictReader(io.StringIO(sheets.render(table, "csv"))))
    assert [json.loads(record["clusters_mean"]) for record in records] == [{"B": 1.0, "L": 1.5, "R": 2.0}, {}]
    for name in sheets.FORMATS:
        assert "clusters" not in sheets.render(tables.summarize(PLAIN, experiment(["balance_scale"])), name)
        assert "(1.0, 1.5, 2.0)" in sheets.render(table, name) or name in ("csv", "json")


def test_published_clusters_stand_beside_ours():
    exp = experiment(["balance_scale"], ["hhbut"], published=["wickramarachchi2015:6.1"])
    table = tables.summarize(CLUSTERED, exp, titles={"hhbut": "HHBUT"})
    assert table.sheet().grids[0].header[-2:] == ("clusters", "published")
    assert table.sheet().grids[0].rows[0][-2:] == ("(1.0, 1.5, 2.0)", "(1.0, 1.4, 1.5)")
    assert table.sheet().records[0]["clusters_published"] == "(1.0, 1.4, 1.5)"
    other = tables.summarize(CLUSTERED, experiment(["balance_scale"], ["hhbut"], published=["wickramarachchi2015:5.2"]))
    assert other.sheet().grids[0].rows[0][-1] == "—" and other.sheet().records[0]["clusters_published"] is None


# -- how trees were pruned, and tuned values at the edge of their grid -------------------------------------------------


def configured(*algorithms):
    plain = {"version": 1, "dataset": {"name": "iris"}, "algorithms": list(algorithms), "cv": {"scheme": "nested"}}
    return config.from_mapping(plain, "notes", [], where="here")


@pytest.mark.parametrize(
    ("algorithm", "note"),
    [
        ("hhcart_a", "hhcart_a: not pruned: it grows until it fits the training rows."),
        ({"name": "hhcart_a", "max_depth": 3}, "hhcart_a: not pruned; max_depth stops it."),
        ({"name": "hhgdt", "epsilon": {"grid": [0.1, 0.2]}}, "hhgdt: not pruned; epsilon stops it."),
        (
            {"name": "fdt", "pruning": "cv", "standard_errors": 1},
            "fdt: pruned by cross-validation (smallest tree within 1 SE of the best).",
        ),
        (
            {"name": "fdt", "pruning": "cost_complexity"},
            "fdt: pruned on 10 % of the rows, kept from growth (smallest tree of the least error).",
        ),
        ({"name": "fdt", "pruning": "pessimistic"}, "fdt: pruned by pruning pessimistic."),
        ("svm", None),
    ],
)
def test_every_way_of_pruning_has_its_note(algorithm, note):
    assert list(tables.pruning_notes(configured(algorithm))) == ([] if note is None else [note])


def test_algorithms_of_one_way_share_a_note():
    notes = list(tables.pruning_notes(configured("hhcart_a", "fdt", {"name": "hhgdt", "max_depth": 2})))
    assert [note.partition(":")[0] for note in notes] == ["hhcart_a, fdt", "hhgdt"]


def tuned(algorithm, name, values) -> list[Row]:
    return [Row(str(i), "iris", algorithm, 0, i, "ok", chosen={name: value}) for i, value in enumerate(values)]


def test_a_value_at_the_edge_of_its_grid_in_most_folds_is_warned_of_unless_nothing_lies_beyond():
    of = configured({"name": "hhgdt", "epsilon": {"grid": [0.0, 0.1, 0.2]}})
    (note,) = tables.edge_notes(of, tuned("hhgdt", "epsilon", [0.2, 0.2, 0.1]))
    assert note == "Warning: hhgdt took epsilon 0.2, the end of its grid, in 2 of 3 folds; try larger values too."
    assert not list(tables.edge_notes(of, tuned("hhgdt", "epsilon", [0.2, 0.2, 0.1, 0.0])))
    assert not list(tables.edge_notes(of, tuned("hhgdt", "epsilon", [0.0, 0.0]))), "no error rate is below 0"
    two = configured({"name": "hhgdt", "epsilon": {"grid": [0.1, 0.2]}})
    assert not list(tables.edge_notes(two, tuned("hhgdt", "epsilon", [0.2, 0.2]))), "two values are all edge"
    words = configured({"name": "hhgdt", "criterion": {"grid": ["gini", "entropy"]}})
    assert not list(tables.edge_notes(words, tuned("hhgdt", "criterion", ["gini"])))
