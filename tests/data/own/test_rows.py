"""Rows of text, taken from a table."""

import gc

import pytest

from oblique_cli.data.own.rows import opened, taken
from oblique_cli.data.own.source import Source
from oblique_cli.data.own.text import TextOptions
from oblique_cli.errors import DataError


@pytest.mark.parametrize("on", [True, False])
def test_rows_are_taken_without_a_search_for_cycles_which_goes_on_as_before(on):
    seen = []

    def rows():
        for k in range(5):
            seen.append(gc.isenabled())
            yield k, ["1", "a"]
        raise DataError("the end is damaged")

    was = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        assert taken(rows(), 3) == [(0, ["1", "a"]), (1, ["1", "a"]), (2, ["1", "a"])]
        assert gc.isenabled() == on
        with pytest.raises(DataError, match="the end is damaged"):
            taken(rows(), 9)
        assert gc.isenabled() == on and not any(seen)
    finally:
        (gc.enable if was else gc.disable)()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b'x\n1\n""\n3\n', [(2, ["1"]), (3, [""]), (4, ["3"])]),
        (b"x\n1\n\n3\n", [(2, ["1"]), (4, ["3"])]),
        (b'x,y\n1,2\n""\n \n3,4\n', [(2, ["1", "2"]), (5, ["3", "4"])]),
    ],
)
def test_the_only_cell_of_a_row_may_be_empty_in_quotes(text, rows):
    with opened(Source("t.csv", content=text), TextOptions(",")) as table:
        assert list(table.rows) == rows
