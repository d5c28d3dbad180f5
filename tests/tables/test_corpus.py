"""What is found out of tables that were not made for this project, held to labels by hand."""

import csv
from collections.abc import Sequence

import pytest

from tables import corpus, judging

TABLES = {table.name: table for table in corpus.tables()}
NEEDED = 60
LEAST_LEFT_OUT = 0.95  # of the identifiers


def each(tables: Sequence[corpus.Table]) -> list[object]:
    """One case a table, skipped in one sentence where its package is not installed."""
    return [
        pytest.param(
            table,
            id=table.name,
            marks=pytest.mark.skipif(
                not corpus.is_installed(table.package), reason=f"{table.package}: {corpus.ADVICE}"
            ),
        )
        for table in tables
    ]


def test_every_table_has_a_label_for_each_column_and_one_target():
    assert len(TABLES) == len(corpus.tables()) >= NEEDED
    assert corpus.labels().keys() == TABLES.keys()
    for name, table in TABLES.items():
        labels = corpus.labels()[name]
        assert set(labels.values()) <= corpus.LABELS.keys()
        assert [column for column, label in labels.items() if label == "target"] == [table.target]


@pytest.mark.parametrize("table", each(corpus.tables()))
def test_a_table_is_read_as_it_is_labelled(table):
    """Nothing but the target is said, and what nobody could tell from the cells, which is asked for by name."""
    judged = judging.judged(table)
    assert judged.columns.delimiter == table.delimiter and judged.columns.charset == table.charset
    assert judged.asked == bool(table.qualitative or table.task == "ask")
    if table.task != "ask":
        assert judged.columns.task == table.task
    assert judged.fates.keys() == corpus.labels()[table.name].keys()
    assert judged.lost() == []


@pytest.mark.skipif(bool(corpus.missing_packages()), reason=f"{', '.join(corpus.missing_packages())}: {corpus.ADVICE}")
def test_identifiers_are_left_out():
    rates = judging.rates()
    assert rates["identifier"].share_left_out >= LEAST_LEFT_OUT
    assert rates["measurement"].left_out == rates["level"].left_out == 0
    assert rates["constant"].used == 0


@pytest.mark.skipif(bool(corpus.missing_packages()), reason=f"{', '.join(corpus.missing_packages())}: {corpus.ADVICE}")
def test_the_stored_rates_are_what_is_counted():
    with judging.STORED.open(encoding="utf-8", newline="") as stream:
        assert [tuple(line) for line in csv.reader(stream)] == judging.lines()


@pytest.mark.skipif(bool(corpus.missing_packages()), reason=f"{', '.join(corpus.missing_packages())}: {corpus.ADVICE}")
def test_the_readme_says_what_is_counted():
    rates = judging.rates()
    share = rates["identifier"].share_left_out
    said = " ".join((judging.STORED.parents[2] / "README.md").read_text(encoding="utf-8").split())
    assert (
        f"On {len(TABLES)} tables from packages no measurement was lost and {100 * share:.0f} % of the id columns"
        in said
    )
    assert rates["measurement"].left_out == 0
