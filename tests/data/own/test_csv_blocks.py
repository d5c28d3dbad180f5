"""Large texts are parsed by the core piece by piece: every answer is that of reading row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oblique_cli import _core
from oblique_cli.data.own import csv_blocks
from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.front import Column, Columns, Reading, chunks, read_own
from oblique_cli.data.own.source import Source
from oblique_cli.errors import DataError

ROWS = [f"{i},{i / 7!r},{'uv'[i % 2]},{1e17 + 3 * i!r},{'pq'[i % 2]}" for i in range(60)]
COLUMNS = Columns(
    (Column("b", "number"), Column("c", "levels", levels=("u", "v")), Column("d", "number"), Column("y", "target")),
    "y",
    "classification",
    ("p", "q"),
    missing=("na", "nan", "?", "-"),
)


@pytest.fixture(autouse=True)
def _short_head(monkeypatch):
    monkeypatch.setattr(own_rows, "HEAD", 4)


def text(*changed: str, ends: str = "\n", separator: str = ",") -> bytes:
    rows = ["a,b,c,d,y", *ROWS[:40], *changed, *ROWS[40:]]
    return (ends.join(row.replace(",", separator) for row in rows) + ends).encode()


TABLES = {
    "plain": text(),
    "crlf": text(ends="\r\n"),
    "cr": text(ends="\r"),
    "semicolons": text(separator=";"),
    "missing": text("7,NA,,-,p", "8, 5 ,u,?,q"),
    "nan and header": text("7,nan,u,1,p", "a,b,c,d,y"),
    "infinite": text("7,inf,u,1,p"),
    "truth": text("7,True,u,1,p"),
    "underscore": text("7,1_000,u,1,p"),
    "quotes": text('7,"1",u,"2","p\nq"', "8,1,u,2,p"),
    "blank line": text("", "8,1,u,2,p"),
    "short": text("7,1,u,2"),
    "long": text("7,1,u,2,p,9"),
    "short and long": text("7,1,u,2", "7,1,u,2,p,9"),
    "total below": text() + b"Total,3,u,4,p\nSource: a survey\n",
    "comment": text("# a comment"),
    "first column of words": text("seven,1,u,2,p"),
    "decimal comma": text(separator=";").replace(b".", b","),
    "not utf-8": text("7,1,\xe9,2,p").decode().encode("cp1252"),
}


def reading(content: bytes) -> tuple[object, ...]:
    notes: list[str] = []
    try:
        parts = list(chunks(Source("it", content=content), COLUMNS, 16, ["a"], notes=notes))
    except DataError as error:
        return (str(error),)
    unseen = [levels for part in parts for levels in part.unseen.items()]
    labels = [
        *(label for part in parts for label in part.labels),
        *(cell for part in parts for cell in part.texts["a"]),
    ]
    lines = np.concatenate([part.lines for part in parts])
    return np.concatenate([part.X for part in parts]).tobytes(), lines.tolist(), unseen, labels, notes


def texts(content: bytes) -> tuple[object, ...]:
    try:
        with own_rows.opened(Source("it", content=content)) as table:
            return (*own_rows.columns_of(table, 1000), list(table.notes))
    except DataError as error:
        return (str(error),)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("piece", [1, 300])
def test_pieces_parsed_by_the_core_hold_the_same_rows(name, piece, monkeypatch):
    monkeypatch.setattr(own_rows, "FIRST", 16)
    monkeypatch.setattr(csv_blocks, "PIECE", 1 << 30)
    row_by_row = reading(TABLES[name]), texts(TABLES[name])
    monkeypatch.setattr(csv_blocks, "PIECE", piece)
    assert (reading(TABLES[name]), texts(TABLES[name])) == row_by_row


def test_plain_rows_never_reach_the_reader_of_rows(monkeypatch):
    monkeypatch.setattr(csv_blocks, "PIECE", 300)
    monkeypatch.setattr("oblique_cli.data.own.rows.without_others", lambda *arguments: pytest.fail("rows are read"))
    assert sum(len(chunk.X) for chunk in chunks(Source("it", content=text()), COLUMNS)) == len(ROWS)


@pytest.mark.parametrize("gap", ["", "NA", "7", '""'])
def test_a_table_of_one_column_has_the_same_rows(gap, monkeypatch):
    content = "\n".join(["b", *(str(i / 7) for i in range(40)), gap, "3.5"]).encode()
    columns = Columns((Column("b", "number"), Column("y", "target")), "y", "regression", missing=("na",))

    def numbers(piece: int) -> list[list[float]]:
        monkeypatch.setattr(csv_blocks, "PIECE", piece)
        parts = list(chunks(Source("it", content=content), columns, 16))
        return np.nan_to_num(np.concatenate([part.X for part in parts]), nan=-1.0).tolist()

    assert numbers(1) == numbers(300) == numbers(1 << 30)


MARKED = {
    "only the target has a decimal comma": "1.234;5;1,5\n" * 40,
    "a decimal comma in the last row of the first block": "1;5;3\n" * 15 + "1,5;5;3\n" + "2;5;3\n" * 24,
    "a note in all columns": "1;2;3\n" * 40 + "Note;of;all\n",
}


@pytest.mark.parametrize("name", MARKED)
@pytest.mark.parametrize("piece", [1, 48])
def test_rows_above_a_piece_determine_its_numbers_and_notes(name, piece, monkeypatch):
    features = Column("a", "number"), Column("b", "number")
    columns = Columns((*features, Column("y", "target")), "y", "regression", missing=("na", "nan"))

    def parts(piece: int) -> list[object]:
        monkeypatch.setattr(csv_blocks, "PIECE", piece)
        notes: list[str] = []
        blocks = list(chunks(Source("it", content=f"a;b;y\n{MARKED[name]}".encode()), columns, 16, notes=notes))
        return [[row for block in blocks for row in block.X.tolist()], [v for b in blocks for v in b.y], notes]

    assert parts(piece) == parts(1 << 30)


COLUMNS_OF_ROWS = {
    "numbers": lambda i: repr(i / 7),
    "few numbers": lambda i: "NA" if i == 30 else f"{i % 12}.0",
    "whole": lambda i: str(i % 5),
    "people": lambda i: str(i // 4),
    "signs": lambda i: f"+{i % 9}",
    "codes": lambda i: f"0{i % 9}",
    "codes further down": lambda i: "007" if i > 30 else f"{i % 9}",
    "dates": lambda i: str(20240101 + i % 28),
    "numbering": str,
    "marks": lambda i: ["?", "n/a", "5.5", "1e3"][i % 4],
    "words further down": lambda i: "word" if i > 50 else str(i),
    "rarely a unit": lambda i: "5 kg" if i > 50 else f"{i} kg",
    "constant": lambda i: "3.0" if i % 2 else "3",
    "thousands": lambda i: f"{i % 9 + 1}.{100 + i}",
    "long": lambda i: str(10**16 + i),
    "quoted": lambda i: f'"{i / 3}"',
    "empty at first": lambda i: "" if i < 20 else str(i / 9),
    "infinite": lambda i: "inf" if i == 40 else str(i / 9),
}


@pytest.mark.parametrize("other", ["", "a decimal comma"])
@pytest.mark.parametrize("name", COLUMNS_OF_ROWS)
def test_a_large_table_is_analyzed_as_a_small_one(name, other, monkeypatch):
    monkeypatch.setattr(csv_blocks, "PIECE", 100)
    rows = [f"{COLUMNS_OF_ROWS[name](i)};{f'{i},5' if other else i / 2};{'pq'[i % 3 == 0]}" for i in range(80)]
    source = Source("it", content="\n".join([f"{name};b;y", *rows]).encode())

    def analyzed(first: int) -> tuple[object, ...]:
        monkeypatch.setattr(own_rows, "FIRST", first)
        try:
            dataset, columns, notes = read_own(source, Reading(target="y"))
        except DataError as error:
            return (str(error),)
        return dataset.X.tobytes(), dataset.y.tobytes(), dataset.repeats, columns, notes

    assert analyzed(16) == analyzed(1 << 14)


@given(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["{!r}", "{:.3f}", "{:e}", "{:.17g}", "+{:.0f}"])
)
def test_the_core_parses_numbers_to_the_bit(number, form):
    text = form.format(number).replace("+-", "-")
    ((values, others, *_),) = _core.plain_rows(text.encode(), ",", ".", "n")
    assert others or values[0].hex() == float(text).hex()
    assert not others or abs(number) < 1e-300  # left to Python: numbers near zero
