"""Tables of a user's own: everything that is found out from them, said, and settable."""

import bz2
import functools
import gzip
import io
import json
import lzma
import math
import random
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from covering import few

from oblique_cli.data.dataset import from_table
from oblique_cli.data.own import declared
from oblique_cli.data.own import source as own_source
from oblique_cli.data.own.dates import days
from oblique_cli.data.own.front import Columns, Reading, chunks, read_own
from oblique_cli.data.own.numbers import Form, decimal_mark
from oblique_cli.data.own.roles import (
    chance_of_few_ties,
    guess_task,
    is_named_identifier,
    numbers_identify,
    words_identify,
)
from oblique_cli.data.own.source import Source, source_of
from oblique_cli.data.text_table import parse
from oblique_cli.errors import ConfigError, DataError, ObliqueError

FILES = Path(__file__).parents[2] / "files"
USUAL = {"missing": "impute", "encoding": "onehot"}


def source(text: str | bytes, where: str = "my.csv") -> Source:
    return Source(where, content=text.encode() if isinstance(text, str) else text)


def read(text: str | bytes, target: str | None = "y", **how):
    return read_own(source(text), Reading(**{"target": target, **USUAL, **how}), "my")


def table(*columns: tuple[str, list], delimiter: str = ",") -> str:
    """A CSV text of named columns."""
    lines = [[name for name, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    return "\n".join(delimiter.join(map(str, line)) for line in lines) + "\n"


CLASSES = ["a", "b"] * 20
NUMBERS = [round(math.sin(i) * 10, 2) for i in range(40)]


# ---- the two tables of the tests -------------------------------------------------------------------------------------


def test_a_plain_table_is_read_as_before():
    before = from_table(parse((FILES / "plain.csv").read_bytes(), "x"), "variety", name="plain")
    dataset, columns, notes = read_own(FILES / "plain.csv", Reading(target="variety"))
    assert dataset.digest == before.digest and dataset.name == "plain" and columns.left_out == {}
    assert notes == ("classification: 3 classes of 'variety' in 240 rows.",)


def test_a_wild_table_is_read_and_said_how():
    dataset, columns, notes = read_own(FILES / "wild.csv", Reading(target="Befund", **USUAL))
    assert columns.left_out == {"Patient": "identifier", "Name": "identifier", "Aufnahme": "date"}
    assert (columns.delimiter, columns.charset, columns.task) == (";", "utf-8", "classification")
    assert dataset.feature_names[0] == "Größe (cm)" and dataset.X[0, :4].tolist() == [174.2, 98.3, 75.7, 2546.2]
    assert columns.levels == {4: ("Chirurgie", "Innere", "Kardiologie", "Pädiatrie"), 5: ("ja", "nein")}
    text = " ".join(notes)
    for words in ("semicolon", "decimal comma", "points between thousands", "'Patient' (tells rows apart)", "dates"):
        assert words in text
    assert "37 missing cells in 5 columns, marked 'NA', '-', '?' filled from training rows." in notes
    assert np.isnan(dataset.X).sum() == 37


@pytest.mark.parametrize(("name", "target"), [("plain", "variety"), ("wild", "Befund")])
def test_chunks_read_what_was_read_and_columns_survive_json(name, target):
    dataset, columns, _ = read_own(FILES / f"{name}.csv", Reading(target=target, **USUAL))
    again = Columns.from_plain(json.loads(json.dumps(columns.to_plain())))
    assert again == columns
    parts = list(chunks(FILES / f"{name}.csv", again, rows=37))
    assert [len(part.X) for part in parts[:-1]] == [37] * (len(parts) - 1) and not any(part.unseen for part in parts)
    assert np.array_equal(np.concatenate([part.X for part in parts]), dataset.X, equal_nan=True)
    assert np.concatenate([part.y for part in parts]).tolist() == dataset.y.tolist()
    assert np.concatenate([part.lines for part in parts]).tolist() == list(range(2, dataset.n + 2))


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "value"),
    [("34,0", 34.0), ("-1,5e3", -1500.0), ("1.234,5", 1234.5), ("12.345.678", 12345678.0), ("\u22127,5", -7.5)],
)
def test_decimal_commas_are_numbers(cell, value):
    text = table(("x", [cell, *(f"{i},25" for i in range(39))]), ("y", CLASSES), delimiter=";")
    dataset, columns, notes = read(text)
    assert dataset.X[0, 0] == value and columns.features[0].decimal == ","
    assert "decimal comma" in notes[0]


@pytest.mark.parametrize(
    ("cells", "delimiter", "expected"),
    [
        (["1,234", "5,678"], ";", 1.234),  # nothing else tells: semicolons are written where commas are taken
        (['"1,234"', '"5,678"'], ",", 1234.0),  # between commas a comma in a number separates thousands
        (["1 234.5", "2 000.5"], ";", 1234.5),
        (["1'234.5", "2'000.5"], ";", 1234.5),
        (["1\u00a0234,5", "2\u00a0000,5"], ";", 1234.5),
        (["1,234,567", "2,345,678"], ";", 1234567.0),
        (["1.234", "5.678"], ";", 1.234),
    ],
)
def test_signs_between_thousands_follow_the_table(cells, delimiter, expected):
    other = [f"{number:.2f}" for number in NUMBERS] if delimiter == "," else range(40, 80)
    columns = (("x", [cells[i % 2] for i in range(40)]), ("z", other), ("y", CLASSES))
    text = table(*columns, delimiter=delimiter)
    assert read(text, features=("x",))[0].X[0, 0] == expected


def test_an_ambiguous_column_follows_the_columns_that_need_one_reading_or_what_is_said():
    text = table(("x", ["1.234", "5.678"] * 20), ("z", [f"{i},5" for i in range(40)]), ("y", CLASSES), delimiter=";")
    assert read(text)[0].X[0].tolist() == [1234.0, 0.5]
    assert read(text, decimal="point", qualitative=("z",), features=("x",))[0].X[0].tolist() == [1.234]
    assert decimal_mark([["1,5"], ["1.234"]], ",") == "," and decimal_mark([["1.5"], ["1,234"]], ";") == "."
    assert decimal_mark([["1,234"]], ";") == "," and decimal_mark([["1,234"]], ",") == "."
    text = table(("x", ["1.234", "5.678"] * 20), ("y", CLASSES), delimiter=";")
    assert read(text, thousands="point", decimal="comma")[0].X[0, 0] == 1234.0


@pytest.mark.parametrize(
    ("cells", "delimiter", "values", "unit"),
    [
        (['"$1,234.50"', "$7", "-$2.25", '"$ 1,000"', "0"], ",", [1234.5, 7, -2.25, 1000, 0], "$"),
        ([f"{x} \u20ac" for x in ("12", "1.234,50", "-3", "0,5", "7")], ";", [12, 1234.5, -3, 0.5, 7], "\u20ac"),
        (["12%", "12.5 %", "+3%", "100%", "0"], ",", [12, 12.5, 3, 100, 0], "%"),
        (["USD 12", "USD 1000", "USD 1.5", "3 USD", "USD -4"], ",", [12, 1000, 1.5, 3, -4], "USD"),
    ],
)
def test_signs_of_units_are_passed_over_and_said(cells, delimiter, values, unit):
    text = table(("cost", cells * 8), ("y", CLASSES), delimiter=delimiter)
    dataset, columns, notes = read(text)
    assert dataset.X[:5, 0].tolist() == values and columns.features[0].unit == unit
    output = next(note for note in notes if note.startswith("cells are converted to numbers: 'cost'"))
    assert unit in output
    again = Columns.from_plain(json.loads(json.dumps(columns.to_plain())))
    assert np.array_equal(next(chunks(source(text), again)).X, dataset.X)
    numbers = read(table(("cost", cells * 8), ("y", CLASSES), delimiter=delimiter), target="cost", task="regression")[0]
    assert numbers.y[:5].tolist() == values
    with pytest.raises(DataError, match="column 'cost' holds '\u00a35' at line 2, not a number"):
        next(chunks(source("cost\n\u00a35\n"), again))


def test_labels_in_several_spellings_and_beyond_the_digits_of_a_float():
    text = table(("x", NUMBERS), ("y", ["1", "1.0", "2", "02"] * 10))
    dataset, columns, notes = read(text)
    assert dataset.classes == ("1", "2") and dataset.y[:4].tolist() == [0, 0, 1, 1]
    assert "spellings of one label are one class: '02', '1.0' among '1', '2'." in notes
    (part,) = chunks(source("x,y\n1,1.00\n2,2\n3,3\n4,\n"), columns)
    assert part.y.tolist() == [0, 1, -1, -1]
    comma = table(("x", range(40, 80)), ("y", ["1", "1,0", "2", "2"] * 10), delimiter=";")
    assert read(comma, keep=("x",))[0].classes == ("1", "2")
    low, high = "9007199254740992", "9007199254740993"  # one float
    dataset, columns, _ = read(table(("x", NUMBERS), ("y", [low, high, f"{high}.0", f"+{low}"] * 10)))
    assert dataset.classes == (low, high) and dataset.y.tolist() == [0, 1, 1, 0] * 10
    (part,) = chunks(source(f"x,y\n1,{high}\n2,{low}.00\n"), columns)
    assert part.y.tolist() == [1, 0]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_fraction_with_three_digits_is_no_thousands(delimiter):
    """0,125 beside columns with a decimal point, and 0.125 beside columns with a comma: no number of thousands so."""
    for item, other in ((",", "."), (".", ",")):
        x = [f"0{item}{125 + i}" for i in range(40)]
        z = [f"{i}{other}5" for i in range(40)]
        columns = (("x", x), ("z", z), ("v", z), ("y", CLASSES))
        assert read(table(*columns, delimiter=delimiter))[0].X[:2, 0].tolist() == [0.125, 0.126]


@pytest.mark.parametrize("cell", ["1_000", "0x10", "١٢", "inf", "1e400", "1.2.3", "--5"])
def test_what_python_takes_for_a_number_and_nobody_else_is_none(cell):
    assert not Form().holds(cell)


def test_one_bad_cell_names_row_and_value_also_among_units_and_letters():
    cells = [str(number) for number in NUMBERS]
    cells[15] = "abc"
    with pytest.raises(DataError, match=r"column 1 \('x'\) holds numbers, but 'abc' in row 16 \(line 17\)"):
        read(table(("x", cells), ("y", CLASSES)))
    assert read(table(("x", cells), ("y", CLASSES)), qualitative=("x",))[0].levels[0]
    assert math.isnan(read(table(("x", cells), ("y", CLASSES)), missing_marks=("abc",))[0].X[15, 0])
    assert read(table(("cost", ["$5", "\u20ac5"] * 20), ("y", CLASSES)))[1].features[0].treatment == "levels"
    with pytest.raises(DataError, match="column 1 \\('cost'\\) holds numbers, but 'five' in row 1"):
        read(table(("cost", ["five", *(f"${i}.5" for i in range(39))]), ("y", CLASSES)))
    assert "unit" not in json.dumps(read(table(("x", NUMBERS), ("y", CLASSES)))[1].to_plain())
    ages = [f"{20 + i % 50}{'MF'[i % 3 == 0]}" for i in range(60)]
    with pytest.raises(DataError, match=r"column 1 .'age'.* in row 1 .line 2."):
        read(table(("age", ages), ("x", NUMBERS + NUMBERS[:20]), ("y", ["a", "b"] * 30)))


# ---- missing values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["", "NA", "n/a", "?", "-", "NaN", "null", "None", "#N/A", ".", "missing"])
def test_the_usual_marks_of_missing_values(mark):
    cells = [str(number) for number in NUMBERS]
    cells[3] = mark
    dataset, _, notes = read(table(("x", cells), ("y", CLASSES)))
    assert math.isnan(dataset.X[3, 0]) and any(note.startswith("1 missing cell in 1 column") for note in notes)


@pytest.mark.parametrize("cell", ["-999", "-999.0"])
def test_a_number_can_mark_a_missing_value(cell):
    """A column in which every cell is a number holds none of the mark, in the table, in new rows and in the target."""
    cells = [str(number) for number in NUMBERS]
    cells[3] = cell
    dataset, columns, _ = read(table(("x", cells), ("y", CLASSES)), missing_marks=("-999",))
    assert np.isnan(dataset.X[:, 0]).nonzero()[0].tolist() == [3]
    (new,) = chunks(source(table(("x", cells), ("z", NUMBERS))), columns)
    assert np.isnan(new.X[:, 0]).nonzero()[0].tolist() == [3]
    assert read(table(("x", NUMBERS), ("y", cells)), missing_marks=("-999",), task="regression")[0].n == 39


def test_marks_that_are_words_stay_levels():
    drinks = read(table(("x", ["none", "beer"] * 20), ("z", NUMBERS), ("y", CLASSES)))[0]
    assert drinks.levels == {0: ("beer", "none")}
    signs = read(table(("x", ["+", "-"] * 20), ("z", NUMBERS), ("y", ["+", "-"] * 20)))[0]
    assert signs.levels == {0: ("+", "-")} and signs.classes == ("+", "-")
    gaps = read(table(("x", ["wine", "beer", "NA", "-"] * 10), ("z", NUMBERS), ("y", CLASSES)))[0]
    assert gaps.levels == {0: ("beer", "wine")} and np.isnan(gaps.X[:, 0]).sum() == 20


@pytest.mark.parametrize("mark", [".", "none", "--", "missing"])
def test_a_mark_among_numbers_is_no_class(mark):
    dataset, _, _ = read(table(("x", NUMBERS), ("y", [mark, *(str(i % 2) for i in range(39))])))
    assert dataset.classes == ("0", "1") and dataset.n == 39
    assert read(table(("x", NUMBERS), ("y", [mark, *CLASSES[1:]])))[0].classes == tuple(sorted({mark, "a", "b"}))


def test_rows_without_a_target_are_left_out_and_counted():
    labels = ["", "NA", *CLASSES[2:]]
    dataset, _, notes = read(table(("x", NUMBERS), ("y", labels)))
    assert dataset.n == 38 and "2 rows without a value of 'y' left out." in notes
    with pytest.raises(DataError, match="the target 'y' is missing at line 2"):
        read(table(("x", NUMBERS), ("y", labels)), missing="error")


# ---- columns that are no features ------------------------------------------------------------------------------------


def test_identifiers_are_left_out_unless_kept():
    rng = random.Random(1)
    uuids = [f"{rng.getrandbits(128):032x}" for _ in range(40)]
    text = table(
        ("row", range(1, 41)), ("code", [f"K{7 * i}" for i in range(40)]), ("uuid", uuids),
        ("customer_id", [rng.randrange(10**8) for _ in range(40)]), ("x", NUMBERS), ("y", CLASSES),
    )  # fmt: skip
    dataset, columns, notes = read(text)
    assert dataset.feature_names == ("x",)
    assert columns.left_out == dict.fromkeys(("row", "code", "uuid", "customer_id"), "identifier")
    assert any("'row' (tells rows apart)" in note and "--keep" in note for note in notes)
    assert read(text, keep=("row",))[0].feature_names == ("row", "x")
    assert len(read(text, keep=("*",))[0].feature_names) == 5
    assert read(text, features=("customer_id",))[0].feature_names == ("customer_id",)
    assert read(text, drop=("uuid",))[1].left_out["uuid"] == "dropped"


def test_a_list_of_columns_is_cut_at_commas_unless_a_column_is_called_so():
    text = table(("a", NUMBERS), ("b", NUMBERS), ('"c,d"', NUMBERS), ("d", NUMBERS), ("y", CLASSES))
    for drop, features in [
        (("a,b",), ("c,d", "d")), (("a, d",), ("b", "c,d")), (("c,d",), ("a", "b", "d")), (("a", "b,d"), ("c,d",)),
        (('"c,d",a',), ("b", "d")),
    ]:  # fmt: skip
        assert read(text, drop=drop)[0].feature_names == features
        assert read(text, features=features)[0].feature_names == features
    assert read(text, features=("a,b",), qualitative=("a,b",))[0].qualitative == (0, 1)
    with pytest.raises(DataError, match="there is no column 'e' to use as a column to drop"):
        read(text, drop=("a,e",))


def test_the_rules_of_identifiers_by_hand_and_chances_never_below_what_is_drawn():
    assert numbers_identify(range(1, 12), 11) and not numbers_identify(range(1, 11), 10)  # exp(-5) and exp(-4.5)
    assert numbers_identify(range(0, 900, 3), 300)  # patients numbered in steps of three
    assert not numbers_identify([i + 0.5 for i in range(300)], 300), "decimals are measurements"
    assert not numbers_identify(range(60), 300), "ages repeat"
    assert numbers_identify(range(295), 300), "some rows are there twice"
    rng = random.Random(2)
    incomes = rng.sample(range(20_000, 90_000), 40)
    assert read(table(("income", incomes), ("x", NUMBERS), ("y", CLASSES)))[0].feature_names == ("income", "x")
    assert chance_of_few_ties(23, 23, 365) == pytest.approx(math.exp(-23 * 22 / 730))  # the birthday problem
    assert chance_of_few_ties(300, 295, 295) == pytest.approx(math.exp(5 - 147) * 29.4**5)
    assert chance_of_few_ties(699, 10, 10) == 1
    rng = np.random.default_rng(1)
    for n, span in ((20, 60), (40, 200), (30, 30)):
        drawn = np.array([len(np.unique(rng.integers(span, size=n))) for _ in range(4000)])
        for distinct in range(1, n + 1):
            assert np.mean(drawn >= distinct) <= chance_of_few_ties(n, distinct, span) + 0.03


@pytest.mark.parametrize("values", [range(1, 11), (0, 1), range(0, 45, 5), range(1930, 2020)])
@pytest.mark.parametrize("n", [60, 700, 60_000])
def test_few_whole_numbers_in_many_rows_are_measurements(values, n):
    """As many ties as the range must have are no sign of row numbers, however many these are."""
    assert not numbers_identify(values, max(n, 2 * len(values)))


def test_nine_ratings_and_an_identifier_that_repeats():
    """Shape of the biopsies of R's MASS: nine ratings from 1 to 10, and 645 different patients in 699 rows."""
    rng = random.Random(3)
    patients = rng.sample(range(60_000, 13_500_000), 645)
    ratings = [(f"V{j}", [rng.randint(1, 10) for _ in range(699)]) for j in range(1, 10)]
    text = table(
        ("ID", (patients * 2)[:699]), *ratings, ("class", [("benign", "malignant")[i % 2] for i in range(699)])
    )
    _, columns, _ = read(text, target="class")
    assert columns.left_out == {"ID": "identifier"}
    assert columns.feature_names == tuple(f"V{j}" for j in range(1, 10))


@pytest.mark.parametrize(
    ("name", "cells", "treatment"),
    [
        ("Patient No", [7 * (i - (i % 20 == 1)) for i in range(120)], "identifier"),  # some rows twice
        ("x", [f"{math.exp(i / 7):.17e}" for i in range(120)], "number"),
        ("x", [repr(math.ldexp(1.5, 1000 - i)) for i in range(120)], "number"),
        ("x", [repr(5e-324 * (i + 1)) for i in range(120)], "number"),
        ("x", [f"{i % 9}.0" if i % 3 else str(i % 9) for i in range(120)], "number"),
    ],
)
def test_a_column_is_treated_by_its_name_and_cells_beside_a_class_of_one_row(name, cells, treatment):
    dataset, columns, _ = read(table((name, cells), ("z", NUMBERS * 3), ("y", ["rare", *(CLASSES * 3)[1:]])))
    assert columns.columns[0].treatment == treatment and dataset.classes == ("a", "b", "rare")
    if treatment == "number":
        assert dataset.X[:, 0].tolist() == list(map(float, cells))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("id", True), ("Patient ID", True), ("kunden_nr", True), ("rowIndex", True), ("No.", True), ("key", True),
        ("customer number", True), ("row", True), ("number of rooms", False), ("num_children", False),
        ("octane number", False), ("body mass index", False), ("no_claims", False), ("key_width", False),
        ("width", False), ("rowing_time", False),
    ],
)  # fmt: skip
def test_names_that_call_a_column_an_identifier(name, text):
    assert is_named_identifier(name) == text


def test_a_table_has_one_numbering_of_its_rows():
    rng = random.Random(4)
    shuffled, other = rng.sample(range(1, 41), 40), rng.sample(range(1, 41), 40)
    text = table(
        ("", range(1, 41)), ("wealth", shuffled), ("crime", other), ("place", ["NA", *other[1:]]), ("x", NUMBERS),
        ("y", CLASSES),
    )  # fmt: skip
    assert read(text)[0].feature_names == ("wealth", "crime", "place", "x")
    first = table(
        ("", range(1, 41)), ("wealth", shuffled), ("twice", [2 * i for i in shuffled]), ("y", CLASSES), ("x", NUMBERS)
    )
    assert read(first)[0].feature_names == ("x",), "columns that agree on an order number the rows"
    named = table(
        ("subject id", shuffled), ("wealth", other), ("rank of size", range(40)), ("y", CLASSES), ("x", NUMBERS)
    )
    assert read(named)[1].left_out == {"subject id": "identifier", "wealth": "identifier"}


def test_columns_that_tell_nothing_are_left_out_unless_no_other_is_left():
    text = table(
        ("remark", [f"word {i % 30}" for i in range(40)]), ("unit", ["mm"] * 40), ("zero", [0] * 40),
        ("void", ["NA"] * 40), ("x", NUMBERS), ("y", CLASSES),
    )  # fmt: skip
    result = read(text)[1]
    assert result.left_out == {"remark": "text", "unit": "constant", "zero": "constant", "void": "empty"}
    assert words_identify(Counter({f"w{i}": 2 for i in range(15)})) == ""
    result = read(table(("", range(40)), ("x", NUMBERS), ("y", CLASSES)))[1]
    assert result.left_out == {"column 1": "identifier"}
    dataset, _, notes = read(table(("x", range(40)), ("y", CLASSES)))
    assert dataset.feature_names == ("x",) and notes[-1].startswith("'x' may be row numbers; it is used")


# ---- dates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        ([f"2024-01-{d:02d}" for d in range(1, 31)], "yyyy-mm-dd"),
        ([f"2024-01-{d:02d}T12:00:00Z" for d in range(1, 31)], "yyyy-mm-dd"),
        ([f"{d:02d}.01.2024" for d in range(1, 31)], "dd.mm.yyyy"),
        ([f"{d}/1/2024" for d in range(1, 31)], "dd/mm/yyyy"),
        ([f"1/{d}/2024" for d in range(1, 31)], "mm/dd/yyyy"),
        ([f"{d} Jan 2024" for d in range(1, 31)], "dd mon yyyy"),
        ([f"{d}-January-2024" for d in range(1, 31)], "dd mon yyyy"),
        ([f'"Jan. {d}, 2024"' for d in range(1, 31)], "mon dd yyyy"),
    ],
)
def test_dates_are_left_out_or_days(cells, form):
    text = table(("when", cells), ("x", NUMBERS[:30]), ("y", CLASSES[:30]))
    assert read(text)[1].left_out == {"when": "date"}
    dataset, columns, _ = read(text, dates="days")
    assert columns.features[0].date == form
    assert np.diff(dataset.X[:, 0]).tolist() == [1.0] * 29
    assert math.floor(dataset.X[0, 0]) == 19723  # 2024-01-01
    assert read(text, keep=("when",))[0].feature_names == ("when", "x")


def test_dates_that_can_be_read_in_two_ways_are_asked_for():
    text = table(("when", ["1/2/2024", "3/4/2024"] * 20), ("x", NUMBERS), ("y", CLASSES))
    assert read(text)[1].left_out == {"when": "date"}
    with pytest.raises(ConfigError, match=r"column 'when' can be dd/mm/yyyy or mm/dd/yyyy: say which with --dates"):
        read(text, dates="days")
    assert read(text, dates="mm/dd/yyyy")[0].X[0, 0] == days("2024-01-02", "yyyy-mm-dd")


# ---- the target ------------------------------------------------------------------------------------------------------


def test_the_task_is_told_from_the_target_or_guessed_by_hand():
    many = [round(100 * math.sin(i)) + i for i in range(300)]
    numbers = [round(math.cos(i), 3) for i in range(300)]
    assert read(table(("x", numbers), ("y", many)))[0].task == "regression"
    assert read(table(("x", numbers), ("y", numbers)))[0].task == "regression"
    few = read(table(("x", numbers), ("y", [i % 3 for i in range(300)])))
    assert few[0].task == "classification" and "--task changes that" in few[2][0]
    assert read(table(("x", numbers), ("y", [i % 3 for i in range(300)])), task="regression")[0].task == "regression"
    assert guess_task("y", Counter({"0": 5, "1": 5}), [0.0, 1.0]) == "classification"
    assert guess_task("y", Counter({"0.5": 5, "1.5": 5}), [0.5, 1.5]) == "classification"
    with pytest.raises(ConfigError):
        guess_task("y", Counter({str(i): 1 for i in range(8)}), [float(i) for i in range(8)])
    assert guess_task("y", Counter({str(i): 1 for i in range(11)}), list(range(11))) == "regression"  # no class of two


def test_an_unclear_task_is_asked_for_and_a_clear_one_binds_the_algorithms():
    fifteen = table(("x", NUMBERS), ("y", [i % 15 for i in range(40)]))
    with pytest.raises(ConfigError, match=r"15 different numbers in 40 rows.*say --task classification or --task regr"):
        read(fifteen)
    assert read(fifteen, task="classification")[0].task == "classification"
    assert read(fifteen, algorithms="regression")[0].task == "regression", "what the algorithms predict settles it"
    with pytest.raises(ConfigError, match=r"different words in 40 rows, which is too many for classes"):
        read(table(("x", NUMBERS), ("y", [f"n{i}" for i in range(40)])))
    text = table(("x", NUMBERS), ("y", [round(i / 7, 2) for i in range(40)]))
    with pytest.raises(ConfigError, match="'y' has 40 different numbers, and the algorithms predict classes"):
        read(text, algorithms="classification")
    assert read(text, algorithms="classification", task="classification")[0].task == "classification"


@pytest.mark.parametrize(("header", "suggested"), [(("Class", "x", "z"), "Class"), (("a", "b", "c d"), '"c d"')])
def test_an_omitted_target_lists_the_columns_and_suggests_one(header, suggested):
    with pytest.raises(ConfigError) as caught:
        read(table(*((name, NUMBERS) for name in header)), target=None)
    assert all(repr(name) in str(caught.value) for name in header)
    assert str(caught.value).endswith(f"as in --target {suggested}.")


# ---- files -----------------------------------------------------------------------------------------------------------

TEXT = table(("x", NUMBERS), ("café", ["été", "hiver"] * 20), ("y", CLASSES))


def zipped(content: bytes, *names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names or ("my.csv",):
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


@few(
    pack=[bytes, gzip.compress, bz2.compress, lzma.compress, zipped],
    charset=["utf-8", "utf-8-sig", "utf-16", "cp1252"],
    delimiter=[",", ";", "\t", "|"],
)
def test_every_delimiter_character_set_and_archive(pack, charset, delimiter):
    content = pack(TEXT.replace(",", delimiter).encode(charset))
    dataset, columns, _ = read(content)
    assert dataset.feature_names == ("x", "café") and columns.delimiter == delimiter
    assert dataset.levels == {1: ("hiver", "été")} and dataset.X[:, 0].tolist() == NUMBERS
    assert len(next(chunks(source(content), columns)).X) == 40


def test_long_standard_input_is_held_in_a_file(monkeypatch):
    """So that memory does not depend on the number of rows that are piped in."""
    monkeypatch.setattr(own_source, "MOST_HELD", 100)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    monkeypatch.setattr(own_source, "_standard_input", functools.cache(own_source._standard_input.__wrapped__))
    dataset, columns, _ = read_own("-", Reading(target="y", **USUAL))
    assert dataset.name == "stdin" and dataset.digest == read(TEXT)[0].digest
    held = source_of("-")
    assert held.content is None and held.path.read_text() == TEXT and held.where == "standard input"
    assert len(next(chunks("-", columns)).X) == 40 and held.digest() == source(TEXT).digest()
    monkeypatch.setenv("OBLIQUE_MAX_STDIN_BYTES", "200")
    text = "standard input: more than 200 bytes; give the name of a file, or set OBLIQUE_MAX_STDIN_BYTES to read more"
    for most_held in (100, 1 << 26):
        monkeypatch.setattr(own_source, "MOST_HELD", most_held)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
        own_source._standard_input.cache_clear()
        with pytest.raises(DataError, match=text):
            source_of("-")


@pytest.mark.parametrize("charset", ["zip", "rot13", "nothing", "undefined"])
def test_what_is_no_character_set_is_refused(charset):
    with pytest.raises(ConfigError, match=f"there is no character set '{charset}'"):
        read(TEXT, charset=charset)
    plain = {**read(TEXT)[1].to_plain(), "charset": charset}
    with pytest.raises(DataError, match=f"there is no character set '{charset}'"):
        Columns.from_plain(plain)


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ('1,"it\'s",a', ["1", "it's", "a"]),
        ("1, 'say \"it\"' ,a", ["1", 'say "it"', "a"]),
        (r"1,'it\'s',a", ["1", "it's", "a"]),
        ("1,'it''s',a", ["1", "it's", "a"]),
        ("1,it's,a", ["1", "it's", "a"]),
        (r"1,it\'s, so,", ["1", "it's", "so", ""]),
        (r"1,a\,", ["1", "a,"]),
        ("'a,b',\"c,d\",'e'", ["a,b", "c,d", "e"]),
        ("'',\"\",", ["", "", ""]),
        ("1,'it's',a", None),
        ("1,'its,a", None),
    ],
)
def test_arff_cells_in_either_kind_of_quotes(row, cells):
    assert declared._cells(row) == cells


@few(1, first=["sep=;", '"sep=;"', "SEP=;\r"], charset=["utf-8", "utf-8-sig", "utf-16"])
def test_a_first_line_of_excel_says_the_delimiter(first, charset):
    """Also where the table itself tells another one."""
    text = table(("x,z", [f"{x},5" for x in range(40)]), ("y", CLASSES), delimiter=";")
    with pytest.raises(DataError, match="can be cut at comma or semicolon"):
        read(text)
    content = f"{first}\n{text}".encode(charset)
    dataset, columns, _ = read(content)
    assert dataset.feature_names == ("x,z",) and columns.delimiter == ";" and dataset.n == 40
    (new,) = chunks(source(content), columns)
    assert np.array_equal(new.X, dataset.X) and new.lines[0] == 3
    with pytest.raises(DataError, match="line 43 has 1 field, the header has 2"):
        read(content + "1\n".encode(charset.removesuffix("-sig") if charset != "utf-16" else "utf-16-le"))


def test_arff_declares_its_levels_in_either_kind_of_quotes():
    rows = "".join(f"{i % 2},{NUMBERS[i]},{'ab'[i % 2]}\n" for i in range(40))
    text = f"@relation r\n@attribute code {{0,1}}\n@attribute x real\n@attribute y {{a,b}}\n@data\n{rows}"
    assert read(text)[0].levels == {0: ("0", "1")}
    words = ['"it\'s"', "'so'"] * 20
    rows = "".join(f"{x},{word},{y}\n" for x, word, y in zip(NUMBERS, words, CLASSES, strict=True))
    head = '@relation r\n@attribute x real\n@attribute w {"it\'s", so}\n@attribute y {a,b}\n@data\n'
    assert read(head + rows)[0].levels == {1: ("it's", "so")}
    with pytest.raises(DataError, match="line 46 cannot be read as ARFF"):
        read(head + rows + "1,'it's',a\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"a,y\n1,x\n" * 99, mtime=0)[:-9], "not a whole gzip file"),
        (bz2.compress(b"a,y\n1,x\n" * 99)[:-9], "not a whole bzip2 file"),
        (lzma.compress(b"a,y\n1,x\n" * 99)[:-9], "not a whole xz file"),
        (zipped(b"a,y\n1,x\n")[:-9], "not a whole zip file"),
        (b"PAR1 and no more", "not a whole Parquet file"),
        (b"@relation r\n@attribute x complex\n", "line 2 is no attribute of an ARFF file"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(content, message):
    with pytest.raises(DataError, match=rf"^my\.csv: {message}") as caught:
        read(content)
    assert "\n" not in str(caught.value)


def test_a_said_character_set_holds_for_new_rows():
    # Bytes do not tell cp1250 from cp1252, and a wrong guess changes names and levels.
    text = table(("x", NUMBERS), ("město", ["řeka", "žába"] * 20), ("y", CLASSES))
    dataset, columns, _ = read(text.encode("cp1250"), charset="cp1250")
    assert dataset.feature_names == ("x", "město")
    for charset in ("cp1250", "utf-8", "utf-16"):
        (new,) = chunks(source(text.encode(charset)), columns)
        assert not new.unseen and np.array_equal(new.X, dataset.X)


# ---- other rows ------------------------------------------------------------------------------------------------------


def test_other_rows_are_matched_by_name_and_those_that_do_not_fit_are_one_sentence():
    columns = read(TEXT)[1]
    (part,) = chunks(source("more;café;x\n1;hiver;2,5\n2;neige;\n".replace(",", ".")), columns)
    assert part.y is None and part.labels == ()
    assert part.X[0].tolist() == [2.5, 0.0] and math.isnan(part.X[1, 0])
    assert part.X[1, 1] == 2.0 and part.unseen == {1: ["neige"]}, "the code after the last level"
    (part,) = chunks(source("x,café,y\n1,hiver,b\n2,été,c\n"), columns)
    assert part.y is not None and part.y.tolist() == [1, -1] and part.labels == ("b", "c")
    with pytest.raises(DataError, match=r"there is no column 'café', .* Did you mean 'cafe'"):
        next(chunks(source("x,cafe\n1,hiver\n"), columns))
    with pytest.raises(DataError, match="column 'x' holds 'abc' at line 3, not a number"):
        next(chunks(source("x,café\n1,hiver\nabc,hiver\n"), columns))


@pytest.mark.parametrize(
    "change",
    [
        {"task": "x"}, {"classes": ["a"]}, {"classes": ["a", "a"]}, {"target": "x"}, {"columns": []}, {"columns": 3},
        {"format": "xls"}, {"delimiter": ""}, {"more": "x"}, {"missing": [1]}, {"charset": 1},
        {"columns": [{"name": "y", "treatment": "target"}]},
        {"columns": [{"name": "x", "treatment": "number"}]},
        {"columns": [{"name": "x", "treatment": "magic"}, {"name": "y", "treatment": "target"}]},
        {"columns": [{"name": "x", "treatment": "number", "decimal": "x"}, {"name": "y", "treatment": "target"}]},
        {"columns": [{"name": "y", "treatment": "number"}, {"name": "y", "treatment": "target"}]},
    ],
)  # fmt: skip
def test_plain_columns_that_make_no_sense_are_refused(change):
    plain = read(TEXT)[1].to_plain()
    with pytest.raises(DataError, match=r"^model: "):
        Columns.from_plain({**plain, **change}, "model")
    for bad in (None, [], {}, {**plain, "columns": [None]}):
        with pytest.raises(DataError):
            Columns.from_plain(bad, "model")


# ---- headers ---------------------------------------------------------------------------------------------------------


def test_a_table_without_a_header_is_told_and_read_where_it_is_said():
    """As the archive has iris: five cells of the first flower in place of names."""
    text = "".join(f"{i % 9}.{i % 7},{i % 5}.5,{'ab'[i % 2]}\n" for i in range(40))
    with pytest.raises(DataError, match="the first row is like those below it, so it is hardly a header; say --header"):
        read(text, target="a")
    with pytest.raises(DataError, match=r"the first row holds only numbers; .* Say --header none if it is a row"):
        read(text.replace("a", "1").replace("b", "2"))
    dataset, columns, _ = read(text, target="column 3", header="none")
    assert dataset.n == 40 and dataset.feature_names == ("column 1", "column 2") and dataset.classes == ("a", "b")
    again = Columns.from_plain(json.loads(json.dumps(columns.to_plain())))
    assert again == columns and again.header == "none"
    (part,) = chunks(source(text), again)
    assert np.array_equal(part.X, dataset.X) and part.lines[0] == 1
    (part,) = chunks(source("1.5,2.5\n"), again)
    assert part.X.tolist() == [[1.5, 2.5]] and part.y is None, "rows to predict need no target"
    named = read("1.5,2.5,y\n" + text, header="first")[0]
    assert named.feature_names == ("1.5", "2.5") and read("1.5,2.5,y\n" + text)[0].digest == named.digest
    assert "header" not in read(text, header="first", target="a")[1].to_plain(), "as in older models"
    with pytest.raises(ConfigError, match="--header none is for text with a delimiter; this is arff"):
        read("@relation r\n@attribute x real\n@data\n1\n", header="none")


def test_the_second_column_of_a_name_is_numbered_and_line_ends_in_a_header_are_blanks():
    text = table(("x", NUMBERS), ("x", range(0, 80, 2)), ("x (2)", [i % 3 for i in range(40)]), ("y", CLASSES))
    dataset, columns, notes = read(text, keep=("*",))
    assert dataset.feature_names == ("x", "x (3)", "x (2)")
    assert "columns 1 and 2 are both named 'x'; the second is 'x (3)' here." in notes
    assert np.array_equal(next(chunks(source(text), columns)).X, dataset.X)
    twice = table(("y", CLASSES), ("x", NUMBERS), ("y", CLASSES))
    with pytest.raises(ConfigError, match=r"columns 1 and 3 are both named 'y', the target; .* --drop \"y \(2\)\""):
        read(twice)
    assert read(twice, drop=("y (2)",))[0].feature_names == ("x",)
    text = '"length\nin mm","width\r\n in mm",y\n' + "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(40))
    dataset, columns, _ = read(text)
    assert dataset.feature_names == ("length in mm", "width in mm")
    assert np.array_equal(next(chunks(source(text), columns)).X, dataset.X)


# ---- long cells ------------------------------------------------------------------------------------------------------

LONG = "z" * 50_000


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (table(("x", [LONG, *NUMBERS[1:]]), ("y", CLASSES)), {}),
        (table(("x", NUMBERS), ("y", [LONG] * 40)), {}),
        (table((LONG, NUMBERS), (LONG, NUMBERS)), {"target": LONG}),
        (table(("x", [LONG, *"abcdefghi" * 4, "a", "b", "c"]), ("y", CLASSES)), {"encoding": "error"}),
        (table(("x", NUMBERS), ("w", [LONG, *range(39)]), ("y", CLASSES)), {"weights": "w"}),
        (table(("x", NUMBERS), ("y", CLASSES)), {"charset": LONG}),
        (table((LONG, NUMBERS), ("y", range(0, 160, 4))), {"algorithms": "classification"}),
        (f"@relation r\n@attribute {LONG}\n", {}),
    ],
)
def test_no_sentence_holds_a_long_cell_in_full(text, how):
    with pytest.raises(ObliqueError) as caught:
        read(text, **how)
    assert "z" * 61 not in str(caught.value) and len(str(caught.value)) < 700


def test_no_note_and_no_sentence_on_other_rows_holds_a_long_cell_in_full():
    words = [LONG, "abc"] * 20
    dataset, columns, notes = read(
        table(("x", NUMBERS), (LONG, words), ("date" + LONG, ["2020-01-01"] * 40), ("y", CLASSES))
    )
    assert dataset.p == 2 and max(map(len, notes)) < 300
    for text in (table(("x", [LONG]), (LONG, ["abc"])), table(("x", [1]), (LONG + "z", ["abc"]))):
        with pytest.raises(DataError) as caught:
            next(chunks(source(text), columns))
        assert "z" * 61 not in str(caught.value)
