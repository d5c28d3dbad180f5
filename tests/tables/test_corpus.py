"""What is found out of tables that were not made for this project, held to labels by hand."""

import csv

import pytest

from tables import corpus, judging, repeats

TABLES = {table.name: table for table in corpus.tables()}
REPEATS = {line.table: line for line in repeats.stored() if line.source == "corpus"}
NEEDED = 60
LEAST_LEFT_OUT = 0.95  # of the identifiers
# Rows of a table that a quick test reads; the long test reads all tables.
FEW = 900


def case(table: corpus.Table) -> object:
    """A case, skipped in one sentence where the package of the table is not installed."""
    reason = f"{table.package}: {corpus.ADVICE}"
    return pytest.param(
        table, id=table.name, marks=pytest.mark.skipif(not corpus.is_installed(table.package), reason=reason)
    )


def test_every_table_has_a_label_for_each_column_and_one_target():
    assert len(TABLES) == len(corpus.tables()) >= NEEDED
    assert corpus.labels().keys() == TABLES.keys() == REPEATS.keys()
    for name, table in TABLES.items():
        labels = corpus.labels()[name]
        assert set(labels.values()) <= corpus.LABELS.keys()
        assert [column for column, label in labels.items() if label == "target"] == [table.target]


@pytest.mark.parametrize("table", [case(table) for name, table in TABLES.items() if REPEATS[name].rows < FEW])
def test_a_table_is_read_as_it_is_labelled(table):
    """Only the target is stated, and what the cells leave open, which the reader asks for by name."""
    judged = judging.judged(table)
    assert judged.columns.delimiter == table.delimiter and judged.columns.charset == table.charset
    assert judged.questioned == bool(table.qualitative or table.task == "ask")
    if table.task != "ask":
        assert judged.columns.task == table.task
    assert judged.fates.keys() == corpus.labels()[table.name].keys()
    assert judged.lost() == []
    assert repeats.line_of(table) == REPEATS[table.name]


@pytest.mark.long
@pytest.mark.skipif(bool(corpus.missing_packages()), reason=f"{', '.join(corpus.missing_packages())}: {corpus.ADVICE}")
def test_every_table_is_read_as_it_is_labelled_and_rates_are_those_that_are_stored():
    for table in corpus.tables():
        test_a_table_is_read_as_it_is_labelled(table)
    with judging.STORED.open(encoding="utf-8", newline="") as stream:
        assert [tuple(line) for line in csv.reader(stream)] == judging.lines()


def test_the_stored_rates_are_good_and_the_readme_says_them():
    with judging.STORED.open(encoding="utf-8", newline="") as stream:
        rates = {row["label"]: row for row in csv.DictReader(stream)}
    share = int(rates["identifier"]["left_out"]) / int(rates["identifier"]["columns"])
    assert share >= LEAST_LEFT_OUT and rates["constant"]["used"] == "0"
    assert rates["measurement"]["left_out"] == rates["level"]["left_out"] == "0"
    text = " ".join((judging.STORED.parents[2] / "README.md").read_text(encoding="utf-8").split())
    counted = f"On {len(TABLES)} tables from packages no measurement was lost and {100 * share:.0f} % of the id columns"
    assert counted in text
