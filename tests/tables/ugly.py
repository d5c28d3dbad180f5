"""Tables as people have them: written by a seeded writer, each with what has to be read out of it."""

from __future__ import annotations

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


MAKERS: list[Callable[[], Ugly]] = []


def ugly(maker: Callable[[], Ugly]) -> Callable[[], Ugly]:
    """List what makes a table, which is made once."""
    MAKERS.append(functools.cache(maker))
    return MAKERS[-1]


def names() -> list[str]:
    """The names of all tables, without making one."""
    return [maker.__wrapped__.__name__ for maker in MAKERS]  # type: ignore[attr-defined]


def table(name: str) -> Ugly:
    """One of the tables."""
    return MAKERS[names().index(name)]()


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


# ---- headers ---------------------------------------------------------------------------------------------------------


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


@ugly
def header_less() -> Ugly:
    return _headless("header_less")


@ugly
def header_less_of_numbers() -> Ugly:
    def coded(text: str) -> str:
        for k, kind in enumerate(KINDS):
            text = text.replace(kind, str(k))
        return text.replace("yes", "1").replace("no", "0")

    return _headless("header_less_of_numbers", change=coded)


@ugly
def doubled_headers() -> Ugly:
    again = prices("doubled_headers")
    made = plain("doubled_headers", more=[("width", again, "measurement"), ("length", -again, "measurement")])
    lengths = drawn("doubled_headers")[0]
    labels = {"length": "measurement", "count": "measurement", "kind": "level", "width": "measurement"}
    labels |= {"length (2)": "measurement", "y": "target"}
    return Ugly(made.name, made.content, labels, {"length": lengths.tolist(), "length (2)": (-again).tolist()})


@ugly
def headers_with_line_ends() -> Ugly:
    made = plain("headers_with_line_ends", more=[("price\nin francs", prices("francs"), "measurement")])
    labels = {name.replace("\n", " "): label for name, label in made.labels.items()}
    return Ugly(made.name, made.content, labels, {**made.truth, "price in francs": prices("francs").tolist()})


@ugly
def a_header_that_is_empty() -> Ugly:
    made = plain("a_header_that_is_empty", first=[("", range(1, N + 1), "identifier")])
    labels = {name or "column 1": label for name, label in made.labels.items()}
    return Ugly(made.name, made.content, labels, made.truth)


@ugly
def headers_with_commas() -> Ugly:
    return plain(
        "headers_with_commas", more=[("a,b", prices("a,b"), "measurement")], truth={"a,b": prices("a,b").tolist()}
    )


@ugly
def headers_of_years() -> Ugly:
    years = [(str(year), np.round(prices(str(year)), 1), "measurement") for year in range(1990, 2000)]
    return plain("headers_of_years", more=years)


# ---- delimiters, line ends, character sets ---------------------------------------------------------------------------


@ugly
def sep_semicolon() -> Ugly:
    return plain("sep_semicolon", delimiter=";", end="\r\n", change=lambda text: "sep=;\r\n" + text)


@ugly
def sep_tab() -> Ugly:
    return plain("sep_tab", delimiter="\t", change=lambda text: "SEP=\t\n" + text)


@ugly
def bars_between_cells() -> Ugly:
    return plain("bars_between_cells", delimiter="|", more=[("note", ["a, b; c"] * 60 + ["d"] * 60, "level")])


@ugly
def words_with_delimiters() -> Ugly:
    words = ['say "no", or; yes', "tab\there", "two\nlines"] * (N // 3)
    return plain("words_with_delimiters", more=[("remark", words, "level")])


@ugly
def a_delimiter_at_each_end() -> Ugly:
    def ended(text: str) -> str:
        head, *rows = text.splitlines()
        return "\n".join([head, *(row + "," for row in rows)]) + "\n"

    return plain("a_delimiter_at_each_end", change=ended)


@ugly
def blanks_around_cells() -> Ugly:
    return plain("blanks_around_cells", change=lambda text: text.replace(",", "  ,   "))


@ugly
def empty_lines() -> Ugly:
    return plain("empty_lines", change=lambda text: "\n" + text.replace("\n", "\n\n") + "\n\n")


@ugly
def line_ends_of_windows() -> Ugly:
    return plain("line_ends_of_windows", end="\r\n")


@ugly
def line_ends_of_old_macs() -> Ugly:
    return plain("line_ends_of_old_macs", end="\r")


@ugly
def no_line_end_at_the_end() -> Ugly:
    return plain("no_line_end_at_the_end", change=str.rstrip)


UMLAUTS = [("Gr\u00f6\u00dfe", ["gro\u00df", "m\u00e4\u00dfig", "\u00e4rmlich"] * (N // 3), "level")]


@ugly
def utf_16() -> Ugly:
    return plain("utf_16", charset="utf-16", more=UMLAUTS)


@ugly
def utf_16_without_its_mark() -> Ugly:
    return plain("utf_16_without_its_mark", charset="utf-16-le", more=UMLAUTS, delimiter="\t")


@ugly
def utf_8_with_a_mark() -> Ugly:
    return plain("utf_8_with_a_mark", encoded="utf-8-sig", more=UMLAUTS)


@ugly
def windows_1252() -> Ugly:
    return plain(
        "windows_1252",
        charset="cp1252",
        more=[*UMLAUTS, ("price", [f"{x} \u20ac" for x in prices("w")], "measurement")],
    )


@ugly
def packed_by_gzip() -> Ugly:
    made = plain("packed_by_gzip")
    return Ugly(made.name, gzip.compress(made.content, mtime=0), made.labels, made.truth)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _priced(
    name: str, shown: Callable[[float], str], delimiter: str = ",", length: Callable[[float], str] = str
) -> Ugly:
    amounts = prices(name)
    more = [("price", [shown(float(x)) for x in amounts], "measurement")]
    return plain(name, more=more, truth={"price": amounts.tolist()}, delimiter=delimiter, length=length)


@ugly
def decimal_comma() -> Ugly:
    return plain("decimal_comma", length=german, delimiter=";")


@ugly
def decimal_comma_between_tabs() -> Ugly:
    return plain("decimal_comma_between_tabs", length=german, delimiter="\t")


@ugly
def decimal_comma_in_quotes() -> Ugly:
    return plain("decimal_comma_in_quotes", length=german)


@ugly
def commas_between_thousands() -> Ugly:
    return _priced("commas_between_thousands", "{:,.2f}".format)


@ugly
def points_between_thousands() -> Ugly:
    return _priced("points_between_thousands", lambda x: german(x, 2, "."), ";", german)


@ugly
def spaces_between_thousands() -> Ugly:
    return _priced("spaces_between_thousands", lambda x: german(x, 2, "\u202f"), ";", german)


@ugly
def apostrophes_between_thousands() -> Ugly:
    return _priced("apostrophes_between_thousands", lambda x: f"{x:,.2f}".replace(",", "'"))


@ugly
def dollars() -> Ugly:
    return _priced("dollars", "${:,.2f}".format)


@ugly
def euros() -> Ugly:
    return _priced("euros", lambda x: german(x, 2, ".") + " \u20ac", ";", german)


@ugly
def pounds() -> Ugly:
    return _priced("pounds", "\u00a3{:.2f}".format)


@ugly
def francs_by_code() -> Ugly:
    return _priced("francs_by_code", "CHF {:.2f}".format)


@ugly
def percent_signs() -> Ugly:
    return _priced("percent_signs", "{:.2f}%".format)


@ugly
def percent_signs_and_commas() -> Ugly:
    return _priced("percent_signs_and_commas", lambda x: german(x) + " %", ";", german)


@ugly
def powers_of_ten() -> Ugly:
    return plain("powers_of_ten", length="{:.17e}".format)


@ugly
def minus_signs_of_typesetters() -> Ugly:
    amounts = np.round(prices("minus") - 1000, 2)
    cells = [str(x).replace("-", "\u2212") for x in amounts]
    return plain("minus_signs_of_typesetters", more=[("gain", cells, "measurement")], truth={"gain": amounts.tolist()})


@ugly
def one_beside_one_point_zero() -> Ugly:
    counts, y = drawn("one_beside_one_point_zero")[1:4:2]
    cells = [f"{c}.0" if i % 3 else str(c) for i, c in enumerate(counts)]
    classes = [{"yes": "1", "no": "0"}[c] + ".0" * (i % 2) for i, c in enumerate(y)]
    return plain(
        "one_beside_one_point_zero", classes=classes, more=[("again", cells, "measurement")],
        truth={"again": counts.tolist()},
    )  # fmt: skip


@ugly
def ends_of_the_number_line() -> Ugly:
    big = [math.ldexp(1.5, 1000 - i) for i in range(N)]
    small = [5e-324 * (i + 1) for i in range(N)]
    more = [("big", map(repr, big), "measurement"), ("small", map(repr, small), "measurement")]
    return plain("ends_of_the_number_line", more=more, truth={"big": big, "small": small})


@ugly
def codes_with_zeros_in_front() -> Ugly:
    return plain("codes_with_zeros_in_front", more=[("area", [f"{k:05d}" for k in whole("area", 1, 30)], "level")])


# ---- words, truth values, gaps ---------------------------------------------------------------------------------------

TRUTHS = (("true", "false"), ("TRUE", "FALSE"), ("yes", "no"), ("T", "F"), ("1", "0"))


@ugly
def truth_in_five_spellings() -> Ugly:
    drawn_truths = [whole(f"truth {k}", 0, 1) for k in range(5)]
    more = [(f"is_{t[0]}", [t[v] for v in some], "level") for t, some in zip(TRUTHS, drawn_truths, strict=True)]
    mixed = [TRUTHS[i % 4][v] for i, v in enumerate(drawn_truths[0])]
    return plain("truth_in_five_spellings", more=[*more, ("mixed", mixed, "level")])


def _gaps(marks: Sequence[str]) -> tuple[list[str], list[float]]:
    amounts = prices("gaps").tolist()
    cells = [marks[i % len(marks)] if i % 7 == 0 else str(x) for i, x in enumerate(amounts)]
    return cells, [math.nan if i % 7 == 0 else x for i, x in enumerate(amounts)]


@ugly
def marks_of_missing_values() -> Ugly:
    cells, amounts = _gaps(["", "NA", "n/a", "?", "-", "NULL", "#N/A"])
    return plain("marks_of_missing_values", more=[("price", cells, "measurement")], truth={"price": amounts})


@ugly
def numbers_that_mark_gaps() -> Ugly:
    cells, amounts = _gaps(["-999", "-999.0"])
    return plain(
        "numbers_that_mark_gaps", more=[("price", cells, "measurement")], truth={"price": amounts},
        said={"marks": ("-999",)},
    )  # fmt: skip


@ugly
def constant_and_empty_columns() -> Ugly:
    more = [("unit", ["mm"] * N, "constant"), ("zero", [0] * N, "constant"), ("void", [""] * N, "empty")]
    return plain("constant_and_empty_columns", more=[*more, ("lost", ["NA"] * N, "empty")])


@ugly
def free_text() -> Ugly:
    words = [f"{KINDS[k % 3]} number {k} by the road" for k in whole("text", 1, 200)]
    return plain("free_text", more=[("remark", words, "text")])


# ---- identifiers and dates -------------------------------------------------------------------------------------------


@ugly
def an_id_in_the_middle() -> Ugly:
    return plain(
        "an_id_in_the_middle", more=[("lot", range(5001, 5001 + N), "identifier"), ("dose", prices("d"), "measurement")]
    )


@ugly
def an_id_in_another_order() -> Ugly:
    order = seeds.generator(1, "order").permutation(N) + 1
    return plain("an_id_in_another_order", more=[("lot", order.tolist(), "identifier")])


@ugly
def an_id_with_gaps() -> Ugly:
    given = seeds.generator(1, "gaps").choice(10**9, N, replace=False)
    return plain("an_id_with_gaps", more=[("customer_id", given.tolist(), "identifier")])


@ugly
def an_id_of_some_rows_twice() -> Ugly:
    return plain(
        "an_id_of_some_rows_twice", more=[("Patient No", [7 * (i - (i % 20 == 1)) for i in range(N)], "identifier")]
    )


@ugly
def ids_of_letters() -> Ugly:
    rng = seeds.generator(1, "letters")
    some = [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in range(N)]
    return plain(
        "ids_of_letters", more=[("code", [f"K-{i:04d}" for i in range(N)], "identifier"), ("key", some, "identifier")]
    )


def _dated(name: str, form: str) -> Ugly:
    days = np.datetime64("2021-03-01") + np.array(whole(name, 0, 900))
    cells = [day.item().strftime(form) for day in days]
    return plain(name, more=[("seen", cells, "date")])


@ugly
def dates_by_year() -> Ugly:
    return _dated("dates_by_year", "%Y-%m-%dT08:30:00Z")


@ugly
def dates_by_day() -> Ugly:
    return _dated("dates_by_day", "%d.%m.%Y")


@ugly
def dates_by_month() -> Ugly:
    return _dated("dates_by_month", "%m/%d/%Y")


@ugly
def dates_in_words() -> Ugly:
    return _dated("dates_in_words", "%d %b %Y")


# ---- shapes ----------------------------------------------------------------------------------------------------------


@ugly
def one_in_a_hundred() -> Ugly:
    lengths = drawn("one_in_a_hundred", 1000)[0]
    rare = np.argsort(lengths)[-10:]
    return plain("one_in_a_hundred", n=1000, classes=["rare" if i in rare else "usual" for i in range(1000)])


@ugly
def a_class_of_one_row() -> Ugly:
    y = drawn("a_class_of_one_row")[3]
    return plain("a_class_of_one_row", classes=["perhaps", *y[1:]])


@ugly
def ties_everywhere() -> Ugly:
    more = [(f"r{j}", whole(f"r{j}", 0, 3, 2000), "measurement") for j in range(8)]
    return plain("ties_everywhere", n=2000, more=more)


@ugly
def ratings_and_a_patient() -> Ugly:
    """Shape of the biopsies of R's MASS."""
    more = [(f"V{j}", whole(f"V{j}", 1, 10, 699), "measurement") for j in range(1, 10)]
    numbers = seeds.generator(1, "patients").choice(np.arange(60_000, 13_500_000), 645, replace=False).tolist()
    return plain("ratings_and_a_patient", n=699, first=[("ID", (numbers * 2)[:699], "identifier")], more=more)


@ugly
def equal_rows_of_two_classes() -> Ugly:
    z = [3, 4] * (N // 2)
    text = written([("length", [1] * N), ("z", z), ("y", ["a", "b", "b", "a"] * (N // 4))])
    labels = {"length": "constant", "z": "measurement", "y": "target"}
    return Ugly("equal_rows_of_two_classes", text.encode(), labels, {"z": z})


@ugly
def twelve_rows() -> Ugly:
    return plain("twelve_rows", n=12)


@ugly
def two_thousand_columns() -> Ugly:
    rng = seeds.generator(1, "wide")
    more = [(f"w{j}", np.round(rng.normal(size=N), 3), "measurement") for j in range(1996)]
    return plain("two_thousand_columns", more=more)


@ugly
def two_hundred_thousand_rows() -> Ugly:
    n = 200_000
    return plain("two_hundred_thousand_rows", n=n, first=[("row", range(n), "identifier")])


@ugly
def amounts_to_predict() -> Ugly:
    made = _priced("amounts_to_predict", "${:,.2f}".format)
    labels = {**made.labels, "price": "target", "y": "level"}
    return Ugly(made.name, made.content, labels, made.truth, target="price", task="regression")
