"""The study of the field: how data sets are divided, means and ranks by hand, and a small run from end to end."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oblique_cli.data import catalogue
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation import significance
from oblique_cli.reproduction.framework.reporting import StudyReport
from oblique_cli.reproduction.framework.runs import outcome
from oblique_cli.reproduction.framework.studies import STUDIES, StudyRequest
from oblique_cli.reproduction.studies import field
from oblique_cli.reproduction.studies.field import CHOSEN_ON, CONFIRMATION, DERIVED, DEVELOPMENT, Scores, division

NAN = float("nan")


def test_every_classification_set_is_in_one_part_and_nothing_was_chosen_on_confirmation_sets():
    parts = division()
    entries = {name: catalogue.entry(name) for name in catalogue.names()}
    assert set(parts) == {
        name for name, e in entries.items() if e.task == "classification" and not e.generated and name not in DERIVED
    }
    assert all(parts[name] == DEVELOPMENT for name in CHOSEN_ON)
    counts = [list(parts.values()).count(part) for part in (DEVELOPMENT, CONFIRMATION)]
    assert sum(counts) == len(parts) and abs(counts[0] - counts[1]) <= 1
    assert parts == division()


def test_neighbors_in_size_are_in_different_parts():
    """But for pairs whose sets were both chosen on, and those that make up for them."""
    parts = division()
    ordered = sorted(parts, key=lambda name: (len(catalogue.entry(name).classes) > 2, catalogue.entry(name).n, name))
    pairs = [pair for pair in list(pairwise(ordered))[::2] if parts[pair[0]] == parts[pair[1]]]
    chosen = [pair for pair in pairs if CHOSEN_ON.issuperset(pair)]
    assert len(pairs) - len(chosen) in (len(chosen), len(chosen) - 1)


def scores(accuracy: list[list[float]], leaves: list[list[float]]) -> Scores:
    values = {metric: np.full(np.shape(accuracy), NAN) for metric in field.SHOWN}
    values |= {"accuracy": np.array(accuracy), "leaves": np.array(leaves)}
    methods = tuple("abcdef"[: len(accuracy[0])])
    return Scores(methods, tuple(f"set {i}" for i in range(len(accuracy))), values)


def test_a_failure_is_ranked_last_and_improves_no_mean():
    found = scores([[90, 80], [10, NAN], [70, 70]], [[2, 8], [1000, NAN], [8, 2]])
    np.testing.assert_allclose(significance.average_ranks(found.ranked("accuracy")), [3.5 / 3, 5.5 / 3])
    assert found.means("accuracy") == pytest.approx([80.0, 75.0])  # without the second set
    assert found.means("leaves") == pytest.approx([4.0, 4.0])  # geometric
    assert all(np.isnan(found.means("log_loss")))


def test_a_metric_that_a_method_never_has_does_not_empty_the_others():
    found = scores([[90, 80], [70, 60]], [[2, NAN], [8, NAN]])
    means = found.means("leaves")
    assert means[0] == pytest.approx(4.0) and np.isnan(means[1])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), max_size=12))
def test_the_front_has_those_that_nobody_beats(points):
    front = field.pareto([float(a) for a, _ in points], [float(n) for _, n in points])
    for m, (a, n) in enumerate(points):
        beaten = any(a2 >= a and n2 <= n and (a2, n2) != (a, n) for a2, n2 in points)
        assert (m in front) is not beaten


def test_methods_without_a_size_are_not_on_the_front():
    assert field.pareto([90.0, 99.0, NAN], [3.0, NAN, 1.0]) == {0}


ONLY = {"dataset": ("iris", "bupa", "wine", "haberman"), "algorithm": ("hhgdt", "axis_parallel", "cart")}


@pytest.fixture(scope="module")
def request_(tmp_path_factory) -> StudyRequest:
    folder = str(tmp_path_factory.mktemp("results"))
    return StudyRequest("quick", 1, 1, folder, None, ONLY, lambda line: None, offline=True)


def test_a_small_run_has_every_table_of_both_parts(request_):
    study = STUDIES["field"]()
    result = study.run(request_)
    assert result.exit_code == 0 and not result.cells
    tables = {table.name: table for table in result.tables}
    assert {"confirmation_means", "development_means", "confirmation_ranks", "accuracies"} <= set(tables)
    methods = {"hhgdt", "axis_parallel", "cart"}
    assert {row[0].removesuffix(" *") for row in tables["confirmation_means"].rows} == methods
    assert sorted(row[0] for row in tables["accuracies"].rows) == sorted(ONLY["dataset"])
    assert all(len(row) == len(table.header) for table in tables.values() for row in table.rows)
    report = StudyReport(study, result, request_)
    assert (
        "confirmation sets" in report.render("text")
        and report.save().parent.joinpath("field_quick_only_confirmation_means.csv").is_file()
    )


def test_a_reference_is_held_against_every_other_method(request_, monkeypatch):
    monkeypatch.setattr(field, "REFERENCE", "hhgdt")
    found = {table.name: table for table in STUDIES["field"]().run(request_).tables}
    rows = found["development_hhgdt"].rows
    assert {row[0] for row in rows} == {"axis_parallel", "cart"}
    assert all(sum(map(float, row[4:7])) == pytest.approx(1.0, abs=0.02) for row in rows)


def test_runs_that_cannot_be_put_beside_each_other_are_refused(request_):
    run = outcome(request_, "field", algorithms=["cart"])
    with pytest.raises(ConfigError, match="algorithm 'cart'; give it another id"):
        Scores.of([run, run])
    other = outcome(request_, "field", "cv.folds=3", algorithms=["hhgdt"])
    with pytest.raises(ConfigError, match="divide their data differently"):
        Scores.of([run, other])
