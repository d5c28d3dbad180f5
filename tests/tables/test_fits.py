"""The default fit is held to a random forest and a linear model on tables that were not made for it."""

import dataclasses
import math

import pytest

from tables import corpus, fits

STORED = {result.table: result for result in fits.stored()}
# Tables that are measured here: small ones of every kind, a part of each.
QUICK = ("sklearn:iris", "datasets:mtcars")


def test_worse_is_worse_than_both_rivals_and_standard_errors_are_those_by_hand():
    one = fits.Result("t", 9, 2, 2, "accuracy", 0.8, 0.9, 0.9, -0.1, 0.04, -0.1, 0.04, "cart:2", 1.0)
    assert one.is_worse
    assert not dataclasses.replace(one, to_linear=0.0).is_worse
    assert not dataclasses.replace(one, to_forest_se=0.06).is_worse, "1.7 standard errors"
    assert not dataclasses.replace(one, to_forest=-0.02, to_forest_se=0.001).is_worse, "two points"
    assert fits.standard_error([0, 0.1]) == pytest.approx(math.sqrt(0.005 * 1.5))


def test_no_stored_result_is_worse_and_results_are_written_as_they_are_read(monkeypatch, tmp_path):
    assert STORED.keys() <= {table.name for table in corpus.tables()} and STORED
    assert [name for name, result in STORED.items() if result.is_worse] == []
    monkeypatch.setattr(fits, "STORED", tmp_path / "tables" / "fits.csv")
    fits.store(list(STORED.values()))
    assert {result.table: result for result in fits.stored()} == STORED


@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_the_default_fit_is_no_worse_than_both_rivals(name):
    table = next(table for table in corpus.tables() if table.name == name)
    if not corpus.is_installed(table.package):
        pytest.skip(f"{table.package}: {corpus.ADVICE}")
    result = fits.measured(table, folds=2, most_rows=60)
    assert not result.is_worse, result
