"""How often the warning of rows that belong together fires on tables of others, as it is stored and as pages say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tables import corpus, repeats

PAGE = Path(__file__).resolve().parents[2] / "docs" / "own_data_measured.md"
QUICK = 1200  # rows of the tables that are read again


def test_the_page_has_the_stored_rates():
    lines = repeats.stored()
    of_corpus = [line for line in lines if line.source == "corpus"]
    of_catalogue = [line for line in lines if line.source == "catalogue"]
    fired = [sum(line.named != "" for line in some) for some in (of_corpus, of_catalogue)]
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"on {fired[0]} of the {len(of_corpus)} tables and {fired[1]} of {len(of_catalogue)} data sets" in page
    assert len(of_corpus) == len(corpus.tables())


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
