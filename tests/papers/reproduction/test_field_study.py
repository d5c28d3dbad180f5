"""The study of the field: how data sets are divided, means and ranks by hand, and a small run from end to end."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oblique_cli import config
from oblique_cli.data import catalogue
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation import significance_tests
from oblique_cli.evaluation.tables import title_of
from oblique_cli.papers.reproduction.framework.runs import Outcome, outcome
from oblique_cli.papers.reproduction.framework.studies import STUDIES, StudyRequest
from oblique_cli.papers.reproduction.framework.study_report import StudyReport
from oblique_cli.papers.reproduction.studies import field
from oblique_cli.schemes import repetition

NAN = float("nan")


def test_every_classification_set_is_in_one_part_and_nothing_was_chosen_on_confirmation_sets():
    parts = field.division()
    entries = {name: catalogue.entry(name) for name in catalogue.names()}
    assert set(parts) == {
        name
        for name, e in entries.items()
        if e.task == "classification" and not e.generated and name not in field.DERIVED
    }
    assert all(parts[name] == field.DEVELOPMENT for name in field.CHOSEN_ON)
    counts = [list(parts.values()).count(part) for part in (field.DEVELOPMENT, field.CONFIRMATION)]
    assert sum(counts) == len(parts) and abs(counts[0] - counts[1]) <= 1
    assert parts == field.division()


def test_neighbors_in_size_are_in_different_parts():
    """But for pairs whose sets were both chosen on, and those that make up for them."""
    parts = field.division()
    ordered = sorted(parts, key=lambda name: (len(catalogue.entry(name).classes) > 2, catalogue.entry(name).n, name))
    pairs = [pair for pair in list(pairwise(ordered))[::2] if parts[pair[0]] == parts[pair[1]]]
    chosen = [pair for pair in pairs if field.CHOSEN_ON.issuperset(pair)]
    assert len(pairs) - len(chosen) in (len(chosen), len(chosen) - 1)


def scores(accuracy: list[list[float]], leaves: list[list[float]]) -> field.Scores:
    values = {metric: np.full(np.shape(accuracy), NAN) for metric in config.load("field").metrics}
    values |= {"accuracy": np.array(accuracy), "leaves": np.array(leaves)}
    methods = tuple("abcdef"[: len(accuracy[0])])
    return field.Scores(methods, tuple(f"set {i}" for i in range(len(accuracy))), values)


def test_a_failure_is_ranked_last_and_improves_no_mean():
    found = scores([[90, 80], [10, NAN], [70, 70]], [[2, 8], [1000, NAN], [8, 2]])
    np.testing.assert_allclose(significance_tests.average_ranks(found.ranked("accuracy")), [3.5 / 3, 5.5 / 3])
    assert found.means("accuracy") == pytest.approx([80.0, 75.0])  # without the second set
    assert found.means("leaves") == pytest.approx([4.0, 4.0])  # geometric
    assert all(np.isnan(found.means("log_loss")))
    # A metric that a method never has does not empty the others.
    means = scores([[90, 80], [70, 60]], [[2, NAN], [8, NAN]]).means("leaves")
    assert means[0] == pytest.approx(4.0) and np.isnan(means[1])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), max_size=12))
def test_the_front_has_those_that_nobody_beats(points):
    front = field.pareto([float(a) for a, _ in points], [float(n) for _, n in points])
    for m, (a, n) in enumerate(points):
        beaten = any(a2 >= a and n2 <= n and (a2, n2) != (a, n) for a2, n2 in points)
        assert (m in front) is not beaten


def test_methods_without_a_size_are_not_on_the_front():
    assert field.pareto([90.0, 99.0, NAN], [3.0, NAN, 1.0]) == {0}


# Two development sets and two confirmation sets.
ONLY = {"dataset": ("iris", "bupa", "wine", "haberman"), "algorithm": ("hhgdt", "axis_parallel", "cart")}


@pytest.fixture(scope="module")
def request_(tmp_path_factory) -> StudyRequest:
    folder = str(tmp_path_factory.mktemp("results"))
    return StudyRequest("quick", 1, 1, folder, None, ONLY, lambda line: None, offline=True)


@pytest.mark.long
def test_a_small_run_has_every_table_of_both_parts(request_, monkeypatch):
    study = STUDIES["field"]
    result = study.run(request_)
    assert result.exit_code == 0 and not result.cells
    tables = {table.name: table for table in result.tables}
    assert {"confirmation_means", "development_means", "confirmation_ranks", "accuracies"} <= set(tables)
    methods = {"hhgdt", "hhgdt_split_cost", "axis_parallel", "cart"}
    assert {row[0].removesuffix(" *") for row in tables["confirmation_means"].rows} == methods
    titles = [title_of(metric) for metric in config.load("field").metrics]
    assert list(tables["confirmation_means"].header[1:-1]) == titles
    assert sorted(row[0] for row in tables["accuracies"].rows) == sorted(ONLY["dataset"])
    assert all(len(row) == len(table.header) for table in tables.values() for row in table.rows)
    report = StudyReport(study, result, request_)
    assert (
        "confirmation sets" in report.render("text")
        and report.save().parent.joinpath("field_quick_only_confirmation_means.csv").is_file()
    )
    # A reference is compared with every other method.
    monkeypatch.setattr(field, "REFERENCES", ("hhgdt",))
    tables = {table.name: table for table in study.run(request_).tables}
    rows = tables["development_hhgdt"].rows
    assert {row[0] for row in rows} == {"axis_parallel", "cart", "hhgdt_split_cost"}
    assert all(sum(map(float, row[4:7])) == pytest.approx(1.0, abs=0.02) for row in rows)


def test_runs_that_cannot_be_put_beside_each_other_are_refused(request_):
    run = outcome(request_, "field", datasets=["iris"], algorithms=["cart"])
    with pytest.raises(ConfigError, match="algorithm 'cart' on iris; give it another id"):
        field.Scores.of([run, run])
    other = outcome(request_, "field", "cv.folds=3", datasets=["iris"], algorithms=["axis_parallel"])
    with pytest.raises(ConfigError, match="divide their data differently"):
        field.Scores.of([run, other])
    renamed = replace(run.experiment.algorithms[0], params={"max_depth": 1})
    deeper = replace(run, experiment=replace(run.experiment, algorithms=(renamed,)))
    with pytest.raises(ConfigError, match="different things by 'cart'"):
        field.Scores.of([run, deeper])
    regression = outcome(replace(request_, only={}), "field_regression", datasets=["auto_mpg"], algorithms=["m5_style"])
    with pytest.raises(ConfigError, match="classification and regression have tables of their own"):
        field.Scores.of([run, regression])


def test_runs_on_other_sets_are_put_below_each_other_and_what_only_some_ran_is_left_out(request_):
    def ran(dataset: str, *methods: str) -> Outcome:
        return outcome(request_, "field", datasets=[dataset], algorithms=methods)

    iris, wine = ran("iris", "cart", "axis_parallel"), ran("wine", "cart", "axis_parallel")
    both = field.Scores.of([iris, wine])
    assert both.datasets == ("iris", "wine") and not both.failed.any() and not both.left_out
    some = ran("haberman", "cart")
    partly = field.Scores.of([iris, wine, some])
    assert (partly.datasets, partly.left_out) == (("iris", "wine"), ("haberman",))
    table = field.field_tables([iris, wine, some], ["seeds"])[-1]
    assert table.caption.endswith("an empty cell was not run; not at hand: seeds; not run with all methods: haberman")
    assert [row[0] for row in table.rows] == ["iris", "wine", "haberman"]
    last = dict(zip(table.header, table.rows[-1], strict=True))
    assert float(last["cart"]) > 50 and last["axis_parallel"] == ""
    with pytest.raises(ConfigError, match="no data set in common"):
        field.Scores.of([ran("iris", "cart"), ran("wine", "axis_parallel")])


# -- the sets that are not bundled, more folds -------------------------------------------------------------------------


def test_every_classification_set_is_in_the_comparison():
    datasets = {name: [spec.name for spec in config.load(name).datasets] for name in field.RUNS}
    assert datasets["field_more"] == datasets["field_more_beyond"]
    assert sorted(datasets["field"] + datasets["field_more"]) == sorted(field.division())
    ids = {name: [spec.id for spec in config.load(name).algorithms] for name in field.RUNS}
    assert ids["field"] == ids["field_more"] and ids["field_beyond"] == ids["field_more_beyond"]
    loaded = [config.load(name) for name in field.RUNS]
    assert len({(one.cv, one.seed, one.metrics) for one in loaded}) == 1


def test_sets_that_are_not_at_hand_are_left_out_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("OBLIQUE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said: list[str] = []
    only = {"dataset": ("iris", "seeds"), "algorithm": ("axis_parallel",)}
    request = StudyRequest("full", 1, 1, str(tmp_path), None, only, said.append, offline=True)
    result = STUDIES["field"].run(request)
    assert result.exit_code == 0
    table = {table.name: table for table in result.tables}["accuracies"]
    assert [row[0] for row in table.rows] == ["iris"] and table.caption.endswith("not at hand: seeds")
    assert [line for line in said if line.startswith("seeds is left out of the field: ")]


@pytest.mark.long
def test_ten_by_five_has_its_folds_and_the_same_tables(tmp_path):
    only = {"dataset": ("iris",), "algorithm": ("axis_parallel", "hhcart_a")}
    request = StudyRequest("full", 1, 1, str(tmp_path), None, only, lambda line: None, offline=True)
    result = STUDIES["field_10x5"].run(request)
    assert result.cost.stored_trees == 2 * 50
    small = STUDIES["field"].run(replace(request, profile="quick"))
    assert [(t.name, t.header) for t in result.tables] == [(t.name, t.header) for t in small.tables]


# -- equal budgets for tuning ------------------------------------------------------------------------------------------


def test_every_method_of_the_tuned_field_has_as_many_candidates_on_the_sets_of_the_field():
    plain, tuned = config.load("field"), config.load("field_tuned")
    candidates = {spec.id: math.prod(map(len, spec.grid.values())) for spec in tuned.algorithms}
    assert set(candidates.values()) == {8}
    assert all(len(set(values)) == len(values) for spec in tuned.algorithms for values in spec.grid.values())
    assert {spec.id for spec in plain.algorithms} <= set(candidates)
    of_beyond = {spec.name for spec in config.load("field_beyond").algorithms}
    assert of_beyond <= {spec.name for spec in tuned.algorithms}
    assert (tuned.datasets, tuned.seed) == (plain.datasets, plain.seed)
    assert (tuned.cv.scheme, tuned.cv.folds, tuned.cv.repeats, tuned.cv.stratified) == ("nested", 2, 5, False)
    assert [name for name in tuned.metrics if name != "tune"] == list(plain.metrics)


@pytest.mark.long
def test_the_tuned_field_has_the_same_tables_and_what_was_chosen_never_saw_a_test_row(tmp_path):
    only = {"dataset": ONLY["dataset"], "algorithm": ("hhgdt", "cart")}
    request = StudyRequest("quick", 1, 1, str(tmp_path), None, only, lambda line: None, offline=True)
    result = STUDIES["field_tuned"].run(request)
    tables = {table.name: table for table in result.tables}
    assert {"confirmation_means", "development_means", "confirmation_ranks", "accuracies"} <= set(tables)
    at = tables["confirmation_means"].header.index("tune s")
    assert all(float(row[at]) > 0 for row in tables["confirmation_means"].rows)
    run = outcome(request, "field_tuned")
    data = catalogue.load("wine")
    folds = {fold.index: fold for fold in repetition(data, run.experiment.cv, run.experiment.seed, 0)}
    for row in run.rows:
        assert len(row.inner) == 8 and row.chosen in [one["params"] for one in row.inner]
        if row.dataset == "wine" and row.repeat == 0:
            assert {one["n_rows"] for one in row.inner} == {len(folds[row.fold].train)}


# -- regression --------------------------------------------------------------------------------------------------------

REGRESSION = {"algorithm": ("axis_parallel_regression", "m5_style", "random-forest")}
REGRESSION_TABLES = ["means", "ranks", "rmse", "relative", "leaves"]


def test_relative_errors_by_hand():
    errors = np.array([[2.0, 3.0, NAN], [1.0, 0.5, 4.0], [0.0, 1.0, 1.0]])
    values = {metric: np.ones(errors.shape) for metric in config.load("field_regression").metrics} | {"rmse": errors}
    found = field.Scores(("a", "b", "c"), ("x", "y", "z"), values, "rmse")
    np.testing.assert_allclose(found.relative(), [[1, 1.5, NAN], [2, 1, 8], [NAN, NAN, NAN]])
    np.testing.assert_allclose(significance_tests.average_ranks(found.ranked("rmse")), [4 / 3, 5.5 / 3, 8.5 / 3])
    tables = {table.name: table for table in field._regression_tables(found, ())}
    # One set has an error of every method above 0.
    assert [row[:2] for row in tables["means"].rows] == [("b *", "1.000"), ("a", "2.000"), ("c", "8.000")]


def test_regression_has_means_ranks_and_numbers_data_set_by_data_set(request_):
    only = {**REGRESSION, "dataset": ("auto_mpg", "boston_housing")}
    result = STUDIES["field_regression"].run(replace(request_, only=only))
    tables = {table.name: table for table in result.tables}
    assert result.exit_code == 0 and list(tables) == REGRESSION_TABLES
    assert all(len(row) == len(table.header) for table in tables.values() for row in table.rows)
    assert tables["rmse"].header == ("method", "auto_mpg", "boston_housing")
    assert [row[0] for row in tables["rmse"].rows] == list(REGRESSION["algorithm"])
    for column in (1, 2):
        rmse, relative = ([float(row[column]) for row in tables[name].rows] for name in ("rmse", "relative"))
        assert relative == pytest.approx([value / min(rmse) for value in rmse], abs=2e-3)
    assert all(float(cell) >= 1 for row in tables["leaves"].rows for cell in row[1:])
