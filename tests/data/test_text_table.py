"""Files of the catalogue: every line end that is allowed, and one sentence for everything that is not."""

import csv
import gzip
import io
import os
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oblique_cli.data.csv_text import csv_cell, csv_text
from oblique_cli.data.own.source import content_of
from oblique_cli.data.text_table import parse
from oblique_cli.errors import DataError


def columns(text: str | bytes) -> dict[str, tuple[str, ...]]:
    table = parse(text.encode() if isinstance(text, str) else text, "my.csv")
    return dict(zip(table.header, table.columns, strict=True))


def read_csv(path):
    return parse(content_of(path), str(path))


EXPECTED = {"size": ("1.5", "2"), "class": ("a", "b")}


@pytest.mark.parametrize(
    "text",
    [
        "size,class\n1.5,a\n2,b\n",
        "size,class\n1.5,a\n2,b",
        "size,class\r\n1.5,a\r\n2,b\r\n",
        "size,class\r1.5,a\r2,b\r",
        "\ufeffsize,class\n1.5,a\n2,b\n",
        '"size","class"\n"1.5","a"\n2,b\n',
        " size , class \n 1.5 , a \n2, b\n",
        "\n\nsize,class\n\n1.5,a\n   \n2,b\n\n",
    ],
)
def test_line_ends_byte_order_mark_quotes_and_blanks_do_not_matter(text):
    assert columns(text) == EXPECTED


def test_gzip_is_read_by_its_content_and_a_false_file_is_named(tmp_path):
    path = tmp_path / "my.csv.gz"
    path.write_bytes(gzip.compress(b"size,class\n1.5,a\n2,b\n"))
    table = read_csv(path)
    assert dict(zip(table.header, table.columns, strict=True)) == EXPECTED
    path.write_bytes(b"\x1f\x8b" * 9)
    with pytest.raises(DataError, match="not a whole gzip file"):
        read_csv(path)


def test_quotes_hold_delimiters_which_do_not_count_and_line_ends():
    assert columns('note,class\n"a, ""b""\nc",x\nplain,y\n') == {"note": ('a, "b"\nc', "plain"), "class": ("x", "y")}
    assert parse(b"a,b\n\n1,2\n\n\n3,4\n", "my.csv").lines == (3, 6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "my.csv: the file is empty"),
        (b"\xef\xbb\xbf\n \r\n", "my.csv: the file is empty"),
        (b"a,class\n", "my.csv: there are no rows below the header"),
        (b"a,class\n1,x\n2,y,z\n", "my.csv: line 3 has 3 fields, the header has 2"),
        (b"a,b,a\n1,2,3\n", "my.csv: columns 1 and 3 are both named 'a'"),
        (b"a,a,class\n1,2,3\n", "my.csv: columns 1 and 2 are both named 'a'"),
        (b",a,class\n0,1,x\n", "my.csv: column 1 has no name in the header"),
        (b"1,2.5,3\n4,5,6\n", "my.csv: the first row holds only numbers; it must be a header with the column names"),
        (b"a,class\n1,caf\xe9\n", "my.csv: line 1 or one soon after it is not utf-8 text"),
        (b"a,class\n1,x\n2,\0\n", "my.csv: line 3 holds a NUL byte, so this is not a text file"),
        (b'a,class\n1,"x\n', "my.csv: line 2 cannot be read as CSV (unexpected end of data)"),
        (b"a,class\n1," + b"x" * 200_000, "my.csv: line 2 cannot be read as CSV (field larger than field limit"),
    ],
)
def test_malformed_text_gets_one_sentence_with_its_place(content, message):
    with pytest.raises(DataError, match="^" + re.escape(message)) as caught:
        parse(content, "my.csv")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 4


def test_a_path_that_cannot_be_read_says_why_and_a_pipe_is_not_waited_for(tmp_path):
    for path, reason in [
        (tmp_path / "none.csv", "does not exist"),
        (tmp_path / "none.csv" / "deeper", "does not exist"),
        (tmp_path, "is not a regular file"),
        ("a\0b.csv", "cannot be read ("),
        (tmp_path / ("x" * 400), "cannot be read (File name too long)"),
    ]:
        with pytest.raises(DataError, match=re.escape(f"{path}: the file {reason}")):
            read_csv(path)
    with pytest.raises(DataError, match="embedded null "):  # byte or character, as releases of Python have it
        read_csv("a\0b.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="is not a regular file"):
        read_csv(tmp_path / "pipe.csv")


words = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@given(st.lists(st.lists(words, min_size=2, max_size=4), min_size=2, max_size=5))
@settings(max_examples=80, deadline=None)
def test_what_a_csv_writer_writes_is_read_back(rows):
    header = [f"c{i}" for i in range(len(rows[0]))]
    body = [(row * 4)[: len(header)] for row in rows]
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([header, *body])
    expected = [[cell.strip() for cell in cells] for cells in zip(*body, strict=True)]
    assert [list(cells) for cells in parse(out.getvalue().encode(), "my.csv").columns] == expected


cell_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(st.lists(st.lists(cell_texts, min_size=2, max_size=3), min_size=1, max_size=5))
@example([["a\nb", "x"], ["a\rb", "x"], ["a\r\nb", "x"]])
def test_what_is_written_is_read_back_whatever_a_cell_holds(rows):
    text = csv_text(rows)
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == rows
    assert text == "".join(",".join(map(csv_cell, row)) + "\n" for row in rows)
