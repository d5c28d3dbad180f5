"""Tables as people have them: written by a seeded writer, each with what has to be read out of it."""

import csv
import functools
import gzip
import io
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oblique_cli.ground import seeds

N = 120  # rows, where nothing else is said
KINDS = ("elm", "oak", "ash")


@dataclass(frozen=True)
class Ugly:
    """A table, and what is in it.

    labels : column, as it is called once it is read, -> label (`corpus.LABELS`)
    truth : column -> the numbers that were written, NaN where there is none
    said : what the user says beside the target, as arguments of `Reading`
    """

    name: str
    content: bytes
    labels: Mapping[str, str]
    truth: Mapping[str, Sequence[float]]
    target: str = "y"
    task: str = "classification"
    delimiter: str = ","
    charset: str = "utf-8"
    said: Mapping[str, Any] = field(default_factory=dict)


# ---- a plain table, and how it is written ----------------------------------------------------------------------------


def drawn(name: str, n: int = N) -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    """Lengths with two decimals, counts, kinds, and the classes that depend on them.

    Stochasticity: one stream, named after the table.
    """
    rng = seeds.generator(1, "ugly table", name)
    length, count = np.round(rng.normal(50, 15, n), 2), rng.integers(0, 9, n)
    kind = rng.integers(0, 3, n)
    y = length + 4 * count + 8 * kind + rng.normal(0, 6, n) > 70
    return length, count, [KINDS[k] for k in kind], np.where(y, "yes", "no").tolist()


def written(columns: Sequence[tuple[str, Sequence[Any]]], delimiter: str = ",", end: str = "\n") -> str:
    """The text of a table, quoted where it must be."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end)
    writer.writerow([name for name, _ in columns])
    writer.writerows(zip(*(cells for _, cells in columns), strict=True))
    return stream.getvalue()


def plain(
    name: str,
    *,
    length: Callable[[float], str] = str,
    more: Sequence[tuple[str, Sequence[Any], str]] = (),
    first: Sequence[tuple[str, Sequence[Any], str]] = (),
    n: int = N,
    classes: Sequence[str] | None = None,
    delimiter: str = ",",
    end: str = "\n",
    charset: str = "utf-8",
    encoded: str = "",
    change: Callable[[str], str] = str,
    truth: Mapping[str, Sequence[float]] | None = None,
    said: Mapping[str, Any] | None = None,
) -> Ugly:
    """A table of a length, a count, a kind and a class, with what is ugly about it.

    length : how a length is written; first, more : further columns before and behind, (name, cells, label)
    encoded : the codec of the bytes, `charset` if it is the same; change : made to the whole text
    """
    lengths, counts, kinds, y = drawn(name, n)
    columns: list[tuple[str, Sequence[Any], str]] = [
        *first,
        ("length", [length(float(x)) for x in lengths], "measurement"),
        ("count", counts.tolist(), "measurement"),
        ("kind", kinds, "level"), *more, ("y", y if classes is None else classes, "target"),
    ]  # fmt: skip
    text = change(written([(column, cells) for column, cells, _ in columns], delimiter, end))
    return Ugly(
        name=name,
        content=text.encode(encoded or charset),
        labels={column: label for column, _, label in columns},
        truth={"length": lengths.tolist(), "count": counts.tolist(), **(truth or {})},
        delimiter=delimiter,
        charset=charset,
        said=said or {},
    )


def german(x: float, digits: int = 2, sign: str = "") -> str:
    """A number with a decimal comma, and a sign between thousands."""
    return f"{x:,.{digits}f}".replace(",", "_").replace(".", ",").replace("_", sign)


def prices(name: str, n: int = N) -> np.ndarray:
    """Amounts from cents to some hundred thousands. Stochasticity: one stream, named after the table."""
    return np.round(np.exp(seeds.generator(1, "prices", name).normal(7, 2, n)), 2)


def whole(name: str, low: int, high: int, n: int = N) -> list[int]:
    """Whole numbers from low to high. Stochasticity: one stream, named after the table."""
    return seeds.generator(1, "whole numbers", name).integers(low, high + 1, n).tolist()


# ---- tables that take more than one expression -----------------------------------------------------------------------


def _headless(name: str, classes: Sequence[str] | None = None, change: Callable[[str], str] = str) -> Ugly:
    made = plain(name, classes=classes, change=lambda text: change(text.partition("\n")[2]))
    called = {column: f"column {i}" for i, column in enumerate(made.labels, 1)}
    return Ugly(
        name,
        made.content,
        {called[column]: label for column, label in made.labels.items()},
        {called[column]: values for column, values in made.truth.items()},
        target="column 4",
        said={"header": "none"},
    )


def _coded(text: str) -> str:
    for word, code in {**{kind: str(k) for k, kind in enumerate(KINDS)}, "yes": "1", "no": "0"}.items():
        text = text.replace(word, code)
    return text


def _doubled_headers(name: str) -> Ugly:
    again = prices(name)
    made = plain(name, more=[("width", again, "measurement"), ("length", -again, "measurement")])
    labels = {"length": "measurement", "count": "measurement", "kind": "level", "width": "measurement"}
    labels |= {"length (2)": "measurement", "y": "target"}
    return Ugly(name, made.content, labels, {"length": drawn(name)[0].tolist(), "length (2)": (-again).tolist()})


def _headers_with_line_ends(name: str) -> Ugly:
    made = plain(name, more=[("price\nin francs", prices("francs"), "measurement")])
    labels = {column.replace("\n", " "): label for column, label in made.labels.items()}
    return Ugly(name, made.content, labels, {**made.truth, "price in francs": prices("francs").tolist()})


def _a_header_that_is_empty(name: str) -> Ugly:
    made = plain(name, first=[("", range(1, N + 1), "identifier")])
    return Ugly(name, made.content, {column or "column 1": label for column, label in made.labels.items()}, made.truth)


def _packed_by_gzip(name: str) -> Ugly:
    made = plain(name)
    return Ugly(name, gzip.compress(made.content, mtime=0), made.labels, made.truth)


def _with_delimiter_at_end(text: str) -> str:
    head, *rows = text.splitlines()
    return "\n".join([head, *(row + "," for row in rows)]) + "\n"


def _priced(
    name: str, shown: Callable[[float], str], delimiter: str = ",", length: Callable[[float], str] = str
) -> Ugly:
    amounts = prices(name)
    more = [("price", [shown(float(x)) for x in amounts], "measurement")]
    return plain(name, more=more, truth={"price": amounts.tolist()}, delimiter=delimiter, length=length)


def _minus_signs_of_typesetters(name: str) -> Ugly:
    amounts = np.round(prices("minus") - 1000, 2)
    cells = [str(x).replace("-", "\u2212") for x in amounts]
    return plain(name, more=[("gain", cells, "measurement")], truth={"gain": amounts.tolist()})


def _one_beside_one_point_zero(name: str) -> Ugly:
    counts, y = drawn(name)[1:4:2]
    cells = [f"{c}.0" if i % 3 else str(c) for i, c in enumerate(counts)]
    classes = [{"yes": "1", "no": "0"}[c] + ".0" * (i % 2) for i, c in enumerate(y)]
    return plain(name, classes=classes, more=[("again", cells, "measurement")], truth={"again": counts.tolist()})


def _ends_of_the_number_line(name: str) -> Ugly:
    big = [math.ldexp(1.5, 1000 - i) for i in range(N)]
    small = [5e-324 * (i + 1) for i in range(N)]
    more = [("big", map(repr, big), "measurement"), ("small", map(repr, small), "measurement")]
    return plain(name, more=more, truth={"big": big, "small": small})


TRUTHS = (("true", "false"), ("TRUE", "FALSE"), ("yes", "no"), ("T", "F"), ("1", "0"))


def _truth_in_five_spellings(name: str) -> Ugly:
    drawn_truths = [whole(f"truth {k}", 0, 1) for k in range(5)]
    more = [(f"is_{t[0]}", [t[v] for v in some], "level") for t, some in zip(TRUTHS, drawn_truths, strict=True)]
    return plain(name, more=[*more, ("mixed", [TRUTHS[i % 4][v] for i, v in enumerate(drawn_truths[0])], "level")])


def _with_gaps(name: str, marks: Sequence[str], said: Mapping[str, Any] | None = None) -> Ugly:
    amounts = prices("gaps").tolist()
    cells = [marks[i % len(marks)] if i % 7 == 0 else str(x) for i, x in enumerate(amounts)]
    present = [math.nan if i % 7 == 0 else x for i, x in enumerate(amounts)]
    return plain(name, more=[("price", cells, "measurement")], truth={"price": present}, said=said)


def _ids_of_letters(name: str) -> Ugly:
    rng = seeds.generator(1, "letters")
    keys = [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in range(N)]
    codes = [f"K-{i:04d}" for i in range(N)]
    return plain(name, more=[("code", codes, "identifier"), ("key", keys, "identifier")])


def _dated(name: str, form: str) -> Ugly:
    days = np.datetime64("2021-03-01") + np.array(whole(name, 0, 900))
    return plain(name, more=[("seen", [day.item().strftime(form) for day in days], "date")])


def _one_in_a_hundred(name: str) -> Ugly:
    rare = np.argsort(drawn(name, 1000)[0])[-10:]
    return plain(name, n=1000, classes=["rare" if i in rare else "usual" for i in range(1000)])


def _ratings_and_a_patient(name: str) -> Ugly:
    """Shape of the biopsies of R's MASS."""
    more = [(f"V{j}", whole(f"V{j}", 1, 10, 699), "measurement") for j in range(1, 10)]
    numbers = seeds.generator(1, "patients").choice(np.arange(60_000, 13_500_000), 645, replace=False).tolist()
    return plain(name, n=699, first=[("ID", (numbers * 2)[:699], "identifier")], more=more)


def _equal_rows_of_two_classes(name: str) -> Ugly:
    z = [3, 4] * (N // 2)
    text = written([("length", [1] * N), ("z", z), ("y", ["a", "b", "b", "a"] * (N // 4))])
    return Ugly(name, text.encode(), {"length": "constant", "z": "measurement", "y": "target"}, {"z": z})


def _two_thousand_columns(name: str) -> Ugly:
    rng = seeds.generator(1, "wide")
    return plain(name, more=[(f"w{j}", np.round(rng.normal(size=N), 3), "measurement") for j in range(1996)])


def _amounts_to_predict(name: str) -> Ugly:
    made = _priced(name, "${:,.2f}".format)
    labels = {**made.labels, "price": "target", "y": "level"}
    return Ugly(name, made.content, labels, made.truth, target="price", task="regression")


# ---- all tables ------------------------------------------------------------------------------------------------------

UMLAUTS = [("Gr\u00f6\u00dfe", ["gro\u00df", "m\u00e4\u00dfig", "\u00e4rmlich"] * (N // 3), "level")]
WORDS = ['say "no", or; yes', "tab\there", "two\nlines"] * (N // 3)

# Name -> what makes the table of this name.
TABLES: dict[str, Callable[[str], Ugly]] = {
    # Headers
    "header_less": _headless,
    "header_less_of_numbers": lambda name: _headless(name, change=_coded),
    "doubled_headers": _doubled_headers,
    "headers_with_line_ends": _headers_with_line_ends,
    "a_header_that_is_empty": _a_header_that_is_empty,
    "headers_with_commas": lambda name: plain(
        name, more=[("a,b", prices("a,b"), "measurement")], truth={"a,b": prices("a,b").tolist()}
    ),
    "headers_of_years": lambda name: plain(
        name, more=[(str(year), np.round(prices(str(year)), 1), "measurement") for year in range(1990, 2000)]
    ),
    # Delimiters, line ends, character sets
    "sep_semicolon": lambda name: plain(name, delimiter=";", end="\r\n", change=lambda text: "sep=;\r\n" + text),
    "sep_tab": lambda name: plain(name, delimiter="\t", change=lambda text: "SEP=\t\n" + text),
    "bars_between_cells": lambda name: plain(
        name, delimiter="|", more=[("note", ["a, b; c"] * 60 + ["d"] * 60, "level")]
    ),
    "words_with_delimiters": lambda name: plain(name, more=[("remark", WORDS, "level")]),
    "a_delimiter_at_each_end": lambda name: plain(name, change=_with_delimiter_at_end),
    "blanks_around_cells": lambda name: plain(name, change=lambda text: text.replace(",", "  ,   ")),
    "empty_lines": lambda name: plain(name, change=lambda text: "\n" + text.replace("\n", "\n\n") + "\n\n"),
    "line_ends_of_windows": lambda name: plain(name, end="\r\n"),
    "line_ends_of_old_macs": lambda name: plain(name, end="\r"),
    "no_line_end_at_the_end": lambda name: plain(name, change=str.rstrip),
    "utf_16": lambda name: plain(name, charset="utf-16", more=UMLAUTS),
    "utf_16_without_its_mark": lambda name: plain(name, charset="utf-16-le", more=UMLAUTS, delimiter="\t"),
    "utf_8_with_a_mark": lambda name: plain(name, encoded="utf-8-sig", more=UMLAUTS),
    "windows_1252": lambda name: plain(
        name, charset="cp1252", more=[*UMLAUTS, ("price", [f"{x} \u20ac" for x in prices("w")], "measurement")]
    ),
    "packed_by_gzip": _packed_by_gzip,
    # Numbers
    "decimal_comma": lambda name: plain(name, length=german, delimiter=";"),
    "decimal_comma_between_tabs": lambda name: plain(name, length=german, delimiter="\t"),
    "decimal_comma_in_quotes": lambda name: plain(name, length=german),
    "commas_between_thousands": lambda name: _priced(name, "{:,.2f}".format),
    "points_between_thousands": lambda name: _priced(name, lambda x: german(x, 2, "."), ";", german),
    "spaces_between_thousands": lambda name: _priced(name, lambda x: german(x, 2, "\u202f"), ";", german),
    "apostrophes_between_thousands": lambda name: _priced(name, lambda x: f"{x:,.2f}".replace(",", "'")),
    "dollars": lambda name: _priced(name, "${:,.2f}".format),
    "euros": lambda name: _priced(name, lambda x: german(x, 2, ".") + " \u20ac", ";", german),
    "pounds": lambda name: _priced(name, "\u00a3{:.2f}".format),
    "francs_by_code": lambda name: _priced(name, "CHF {:.2f}".format),
    "percent_signs": lambda name: _priced(name, "{:.2f}%".format),
    "percent_signs_and_commas": lambda name: _priced(name, lambda x: german(x) + " %", ";", german),
    "powers_of_ten": lambda name: plain(name, length="{:.17e}".format),
    "minus_signs_of_typesetters": _minus_signs_of_typesetters,
    "one_beside_one_point_zero": _one_beside_one_point_zero,
    "ends_of_the_number_line": _ends_of_the_number_line,
    "codes_with_zeros_in_front": lambda name: plain(
        name, more=[("area", [f"{k:05d}" for k in whole("area", 1, 30)], "level")]
    ),
    # Words, truth values, gaps
    "truth_in_five_spellings": _truth_in_five_spellings,
    "marks_of_missing_values": lambda name: _with_gaps(name, ["", "NA", "n/a", "?", "-", "NULL", "#N/A"]),
    "numbers_that_mark_gaps": lambda name: _with_gaps(name, ["-999", "-999.0"], {"marks": ("-999",)}),
    "constant_and_empty_columns": lambda name: plain(
        name,
        more=[
            *[(key, [value] * N, "constant") for key, value in (("unit", "mm"), ("zero", 0))],
            *[(key, [value] * N, "empty") for key, value in (("void", ""), ("lost", "NA"))],
        ],
    ),
    "free_text": lambda name: plain(
        name, more=[("remark", [f"{KINDS[k % 3]} number {k} by the road" for k in whole("text", 1, 200)], "text")]
    ),
    # Identifiers and dates
    "an_id_in_the_middle": lambda name: plain(
        name, more=[("lot", range(5001, 5001 + N), "identifier"), ("dose", prices("d"), "measurement")]
    ),
    "an_id_in_another_order": lambda name: plain(
        name, more=[("lot", (seeds.generator(1, "order").permutation(N) + 1).tolist(), "identifier")]
    ),
    "an_id_with_gaps": lambda name: plain(
        name, more=[("customer_id", seeds.generator(1, "gaps").choice(10**9, N, replace=False).tolist(), "identifier")]
    ),
    "an_id_of_some_rows_twice": lambda name: plain(
        name, more=[("Patient No", [7 * (i - (i % 20 == 1)) for i in range(N)], "identifier")]
    ),
    "ids_of_letters": _ids_of_letters,
    "dates_by_year": lambda name: _dated(name, "%Y-%m-%dT08:30:00Z"),
    "dates_by_day": lambda name: _dated(name, "%d.%m.%Y"),
    "dates_by_month": lambda name: _dated(name, "%m/%d/%Y"),
    "dates_in_words": lambda name: _dated(name, "%d %b %Y"),
    # Shapes
    "one_in_a_hundred": _one_in_a_hundred,
    "a_class_of_one_row": lambda name: plain(name, classes=["perhaps", *drawn(name)[3][1:]]),
    "ties_everywhere": lambda name: plain(
        name, n=2000, more=[(f"r{j}", whole(f"r{j}", 0, 3, 2000), "measurement") for j in range(8)]
    ),
    "ratings_and_a_patient": _ratings_and_a_patient,
    "equal_rows_of_two_classes": _equal_rows_of_two_classes,
    "twelve_rows": lambda name: plain(name, n=12),
    "two_thousand_columns": _two_thousand_columns,
    "two_hundred_thousand_rows": lambda name: plain(name, n=200_000, first=[("row", range(200_000), "identifier")]),
    "amounts_to_predict": _amounts_to_predict,
}


@functools.cache
def table(name: str) -> Ugly:
    """One of the tables."""
    return TABLES[name](name)
