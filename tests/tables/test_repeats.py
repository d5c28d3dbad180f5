"""How often the warning of rows that belong together fires on tables of others, as it is stored."""

import pytest

from tables import corpus, repeats

QUICK = 1200  # rows of the tables that are read again


def test_every_table_has_its_line():
    lines = [line.table for line in repeats.stored() if line.source == "corpus"]
    assert sorted(lines) == sorted(table.name for table in corpus.tables())


@pytest.mark.parametrize(
    "stored",
    [line for line in repeats.stored() if line.source == "corpus" and line.rows <= QUICK],
    ids=lambda one: one.table,
)
def test_the_stored_line_is_that_of_the_table(stored):
    table = next(one for one in corpus.tables() if one.name == stored.table)
    if not corpus.is_installed(table.package):
        pytest.skip(corpus.ADVICE)
    assert repeats.line_of(table) == stored
