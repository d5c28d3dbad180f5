"""Lines that are no rows, delimiters and line ends: what the reader makes of texts that people and programs write."""

import gc

import pytest
from covering import few
from tables.strange_files import ABOVE, BELOW, text

from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.opened import Opened
from oblique_cli.data.own.rows import columns_of, opened
from oblique_cli.data.own.source import Source
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.nouns import TextOptions

NAMES = ["district", "age", "deaths", "class"]
ROWS = [[f"d{i % 7}", str(20 + i), f"{i * 3}.5", "ab"[i % 2]] for i in range(30)]


def read(text: str | bytes, **options):
    content = text.encode() if isinstance(text, str) else text
    with opened(Source("my.csv", content=content), TextOptions(**options)) as table:
        rows = list(table.rows)
    return table, [cells for _, cells in rows], [line for line, _ in rows]


def text_of(sign: str = ",", names=NAMES, rows=ROWS, above=(), below=(), end: str = "\n") -> str:
    return end.join([*above, sign.join(names), *(sign.join(row) for row in rows), *below, ""])


@few(above=ABOVE, below=BELOW, sign=[",", ";", "\t", "|"])
def test_lines_around_a_table_are_no_rows_and_are_reported(above, below, sign):
    around = ABOVE[above] + BELOW[below]
    table, rows, lines = read(text(sign)(around.around(NAMES, ROWS), False, {}))
    assert table.written == tuple(NAMES) and rows == ROWS and table.delimiter == sign
    assert lines == [len(around.above) + 2 + i for i in range(len(ROWS))]
    assert bool(table.notes) == (around.are_reported or below == "empty rows")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_line_ends_and_character_sets_do_not_matter(end, charset):
    rows = [[row[0], *row[1:3], "Zürich" if row[3] == "a" else "Genf"] for row in ROWS]
    text = text_of(";", rows=rows, above=["Todesfälle"], below=["Quelle: Bundesamt für Statistik"], end=end)
    for content in (text, text.rstrip("\r\n")):
        table, result, _ = read(content.encode(charset))
        assert result == rows and table.written == tuple(NAMES) and len(table.notes) == 2


@pytest.mark.parametrize("gap", [" ", "   ", "\t ", " \t"])
@pytest.mark.parametrize("margin", ["", "  "])
def test_blanks_between_cells(gap, margin):
    text = "\n".join(margin + gap.join(row) + margin for row in [NAMES, *ROWS])
    table, rows, _ = read(text)
    assert rows == ROWS and table.written == tuple(NAMES) and table.delimiter in " \t"


def test_doubled_tabs_quotes_and_decimal_commas_do_not_cut_cells():
    rows = [[f'"d {i}"', *row[1:]] for i, row in enumerate(ROWS)]
    for gap in ("\t\t", "\t"):
        table, result, _ = read("\n".join(gap.join(row) for row in [NAMES, *rows]))
        assert [row[0] for row in result] == [f"d {i}" for i in range(30)] and len(table.header) == 4
    ragged = "\n".join(("\t" * (1 + i % 2)).join(row) for i, row in enumerate([NAMES, *rows]))
    assert read(ragged)[1] == result
    quoted = "\n".join(f"{row[1]}   {row[2]}\t{row[0]}" for row in [["'name'", "age", "deaths"], *rows])
    assert [row[2] for row in read(quoted)[1]] == [f"d {i}" for i in range(30)]
    rows = [[str(20 + i), f"{i},5", "ab"[i % 2]] for i in range(30)]
    for sign in (";", "\t", " ", "|"):
        table, result, _ = read(text_of(sign, names=["age", "size", "class"], rows=rows))
        assert result == rows and table.delimiter == sign
    without = "\n".join(";".join([f"{i},5", f"{i},25", "ab"[i % 2]]) for i in range(30))
    assert read(without, header="none")[0].delimiter == ";"


@pytest.mark.parametrize(
    "second", ["years,%,", "y,mm,", "(years),[1],", "Age in years,Deaths in a year,Kind of district"]
)
def test_a_second_line_of_the_header_is_no_row(second):
    text = text_of(names=["age", "deaths", "class"], rows=[[second], *(row[1:] for row in ROWS)])
    table, rows, _ = read(text)
    assert rows == [row[1:] for row in ROWS] and "lines of the header" in table.notes[0]
    assert read(text, header="first")[1][0] == second.split(",")


def test_lines_under_the_header_with_units_are_no_rows():
    lines = [["years,%,code"], ["recorded,measured,expert"]]
    table, rows, _ = read(text_of(names=["age", "deaths", "class"], rows=[*lines, *(row[1:] for row in ROWS)]))
    assert rows == [row[1:] for row in ROWS] and table.notes[0].startswith("lines 2 to 3 left out")
    both = text_of() + text_of()
    table, rows, _ = read(both)
    assert rows == ROWS + ROWS and "the header once more" in table.notes[0]


@pytest.mark.parametrize(
    "first", [["n.d.", "n.d.", "a"], ["20", "unknown", "a"], ["NA", "", "b"], ["unknown", "3.5", ""], ["<5", ">3", ""]]
)
def test_a_row_of_odd_cells_is_a_row(first):
    rows = [first, *(row[1:] for row in ROWS)]
    table, result, _ = read(text_of(names=["age", "deaths", "class"], rows=rows))
    assert result == rows and not table.notes


def test_a_total_and_a_last_row_of_gaps_are_rows():
    rows = [["Total", "1", "2", "a"], *ROWS, ["Total", "3", "4", "b"]]
    table, result, _ = read(text_of(rows=rows))
    assert result == rows and not table.notes
    rows = [*ROWS[:5], ["", "", "", ""], *ROWS[5:]]
    assert read(text_of(rows=rows))[1] == rows
    rows = [*ROWS, ["d9", "", "", ""]]
    assert read(text_of(rows=rows))[1] == rows
    two = [[row[0], row[1]] for row in ROWS] + [["d9", ""]]
    assert read(text_of(names=["name", "age"], rows=two))[1] == two


@pytest.mark.parametrize(
    ("bad", "fields"), [("d3,27,30", "3 fields"), ("d3,27,30,b,c", "5 fields"), ("d3", "1 field"), ("d3,2", "2 fields")]
)
@pytest.mark.parametrize("at", [0, 15, 30])
def test_a_row_of_another_length_is_an_error_with_its_line(bad, fields, at):
    lines = text_of().splitlines()
    lines.insert(at + 1, bad)
    with pytest.raises(DataError, match=rf"^my\.csv: line {at + 2} has {fields}, the header has 4; .*--skip-end"):
        read("\n".join(lines))


def test_options_overrule_what_is_found():
    text = text_of(above=["one,two,three,four"], below=["Total,,3000,", "x,,,"])
    table, rows, _ = read(text, skip=1, skip_end=2)
    assert rows == ROWS and table.written == tuple(NAMES)
    assert read(text, skip=1, skip_end=0)[1] == [*ROWS, ["Total", "", "3000", ""], ["x", "", "", ""]]
    commented = text_of(rows=[*ROWS[:9], ["!d1", "1", "2", "a"], *ROWS[9:]])
    assert read(commented, comment="!")[1] == ROWS
    assert len(read(commented)[1]) == 31
    hashes = text_of(above=["# made by a program"], rows=[["#d0", "1", "2", "a"], *ROWS])
    assert read(hashes)[1] == ROWS
    with pytest.raises(DataError, match="line 2 has 4 fields, the header has 1"):
        read(hashes, comment="none", skip=0)
    assert read(text_of(), delimiter="comma")[1] == ROWS
    with pytest.raises(ConfigError, match="there is no character set"):
        read(text_of(), charset="klingon")


def test_a_comment_in_the_table_is_no_row():
    lines = text_of().splitlines()
    lines.insert(9, "# measured again, later")
    lines.insert(20, "// two")
    table, rows, _ = read("\n".join(lines))
    assert rows == ROWS and "2 lines from 10 to 21 left out: comments" in table.notes[0]
    hashed = [[f"#{i}", *row[1:]] for i, row in enumerate(ROWS)]
    assert read(text_of(rows=hashed))[1] == hashed
    hashed_names = ["#district", *NAMES[1:]]
    assert read(text_of(names=hashed_names))[0].written == tuple(hashed_names)
    assert read("# x y class\n" + "\n".join(f"{i} {i / 7:.3f} {'ab'[i % 2]}" for i in range(20)))[0].header == (
        "x",
        "y",
        "class",
    )
    inside = text_of(rows=[['"# no\n# comment"', *ROWS[0][1:]], *ROWS])
    assert read(inside)[1][0][0] == "# no\n# comment"


def test_names_of_rows_as_r_writes_them_and_rows_come_before_the_end_of_the_file_is_read():
    text = ",".join(NAMES) + "\n" + "\n".join(f'"{i}",' + ",".join(row) for i, row in enumerate(ROWS, 1))
    table, rows, _ = read(text)
    assert table.header == ("column 1", *NAMES) and [row[1:] for row in rows] == ROWS
    assert table.kinds == {"column 1": "identifier"} and "the first column holds their names" in table.notes[0]
    # Rows come before the end of the file is read, but for those that may be no rows.
    with opened(Source("my.csv", content=text_of(rows=ROWS * 100).encode())) as table:
        assert next(table.rows)[1] == ROWS[0] and not table.notes


@pytest.mark.parametrize("on", [True, False])
def test_rows_are_taken_without_a_search_for_cycles_which_goes_on_as_before(on, monkeypatch):
    seen = []

    def rows():
        for k in range(5):
            seen.append(gc.isenabled())
            yield k, ["1", "a"]
        raise DataError("the end is damaged")

    was = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        monkeypatch.setattr(own_rows, "FIRST", 3)
        assert columns_of(Opened(("x", "y"), rows(), ("x", "y")), 3) == ([0, 1, 2], [["1"] * 3, ["a"] * 3])
        assert gc.isenabled() == on
        with pytest.raises(DataError, match="the end is damaged"):
            columns_of(Opened(("x", "y"), rows(), ("x", "y")), 9)
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
    with opened(Source("t.csv", content=text), TextOptions(delimiter=",")) as table:
        assert list(table.rows) == rows
