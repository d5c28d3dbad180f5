"""Meaning of a user's cells: numbers in several spellings, and marks of missing values."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from oblique_cli.data.own import cell_forms
from oblique_cli.data.own.cell_forms import CELL_FORMS, MINUS, SPACES, bare, without_unit

# Marks of a missing value, in lower case. Marks in WORDS are ordinary words in columns of words.
MARKS = (
    "?", "na", "n/a", "#n/a", "nan", "null", "-", "--", "none", "missing", ".", "..", "\\n", "n.d.", "n.a.", "k.a.",
    "<na>", "nat", "#nv", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#wert!", "#bezug!", "#zahl!",
)  # fmt: skip
WORDS = ("none", "missing", ".", "--")
# Marks in columns of numbers only.
NUMBER_MARKS = (
    "*", ":", "nil", "undefined", "unknown", "unk", "nd", "n/d", "n. d.", "k. a.", "not available", "not applicable",
    "not reported", "not recorded", "keine angabe", "tbd", "blank", "(null)", "(blank)", "---", "\u2013", "\u2014",
)  # fmt: skip
NONNUMERIC = "nonnumeric"  # the mark for every cell of a number column that is no number

POINT, COMMA = ".", ","
NAMED_MARKS = {"point": POINT, "comma": COMMA}
SIGNS = (*SPACES, "'", "\u2019")  # thousands separators, with any decimal mark
NAMED_SIGNS = {
    "none": ("",),
    "point": (POINT,),
    "comma": (COMMA,),
    "space": tuple(SPACES),
    "apostrophe": ("'", "\u2019"),
}
OTHER = {POINT: COMMA, COMMA: POINT}


class Form(NamedTuple):
    """Number format: decimal mark, thousands separator ("" if there is none), unit and further forms.

    unit : "" for none; it may stand at either end of a number or be absent: $5, -$5, 5 $ and 5 (`cell_forms.units`)
    written : the names of the `CELL_FORMS` that cells may have beside plain numbers"""

    decimal: str = POINT
    thousands: str = ""
    unit: str = ""
    written: tuple[str, ...] = ()

    def holds(self, cell: str) -> bool:
        """Return whether a cell is a finite number in this form."""
        try:
            self.value(cell)
        except ValueError:
            return False
        return True

    def value(self, cell: str) -> float:
        """Return the number in a cell; ValueError if there is none."""
        return self.parsed(cell)[0]

    def parsed(self, cell: str) -> tuple[float, frozenset[str]]:
        """Return the number in a cell, and the names of its forms; ValueError if there is no number."""
        if _pattern(self.decimal, self.thousands).fullmatch(cell):
            if math.isfinite(number := float(self._digits(cell))):
                return number, frozenset()
            raise ValueError(cell)
        for name in self.written:
            if match := CELL_FORMS[name].pattern.fullmatch(cell):
                inner = self._replace(written=tuple(other for other in self.written if other != name))
                used: set[str] = {name}

                def read(part: str, inner: Form = inner, used: set[str] = used) -> float:
                    number, names = inner.parsed(part.strip(SPACES))
                    used.update(names)
                    return number

                with contextlib.suppress(ValueError):
                    if math.isfinite(number := CELL_FORMS[name].value(match.groups(), read)):
                        return number, frozenset(used)
        if self.unit and (rest := without_unit(cell, self.unit)) != cell:
            return self._replace(unit="").parsed(rest)
        raise ValueError(cell)

    def exact(self, cell: str) -> Decimal:
        """Return the number in a cell with all its digits, because labels may differ beyond float precision."""
        number = without_unit(cell, self.unit) if self.unit else cell
        is_plain = _pattern(self.decimal, self.thousands).fullmatch(number)
        return Decimal(self._digits(number)) if is_plain else Decimal(self.value(cell))

    def _digits(self, cell: str) -> str:
        if self.thousands:
            cell = cell.replace(self.thousands, "")
        return cell.replace(self.decimal, ".").replace(MINUS, "-")


@functools.cache
def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    """Return the pattern of plain numbers."""
    d, t = re.escape(decimal), re.escape(thousands)
    # No number begins with 0 before a thousands separator: 0,125 is an eighth.
    whole = rf"[0-9]+|[1-9][0-9]{{0,2}}(?:{t}[0-9]{{3}})+" if thousands else "[0-9]+"
    whole += rf"|[1-9][0-9]?(?:{t}[0-9]{{2}})+{t}[0-9]{{3}}" if thousands == COMMA else ""  # 1,23,456
    return re.compile(rf"[-+{MINUS}]?(?:(?:{whole})(?:{d}[0-9]*)?|{d}[0-9]+)(?:[eE][-+]?[0-9]+)?")


@functools.cache
def _grouped(sign: str) -> re.Pattern[str]:
    return re.compile(rf"[-+{MINUS}]?[1-9][0-9]{{0,2}}(?:{re.escape(sign)}[0-9]{{3}})+")


def forms(decimal: str, thousands: str = "", only: bool = False) -> list[Form]:
    """Return the forms to try, the likeliest first. decimal : the mark used elsewhere, `only` if the user said so;
    thousands : a key of NAMED_SIGNS, "" for any"""
    marks = [decimal] if only else [decimal, OTHER[decimal]]
    if thousands:
        return [Form(mark, sign) for mark in marks for sign in NAMED_SIGNS[thousands] if mark != sign]
    return [Form(mark, sign) for mark in marks for sign in ("", OTHER[mark], *SIGNS)]


def form_of(values: Collection[str], candidates: Iterable[Form]) -> Form | None:
    """Return the first form in which every value is a number, else None."""
    return next((form for form in candidates if _all_hold(values, form)), None)


def plain_numbers(cells: Collection[str]) -> list[float] | None:
    """Return cells as numbers with a decimal point and no separator, None if a cell is no such number; ten times as
    fast as a pattern per cell."""
    together = "".join(cells)
    if "_" in together or not together.isascii():
        return None
    try:
        numbers = list(map(float, cells))
    except ValueError:
        return None
    return numbers if all(map(math.isfinite, numbers)) else None


def numbers_of(cells: Collection[str], form: Form) -> list[float]:
    """Return cells as numbers in a form; ValueError, with the cell, if a cell is none."""
    numbers = None
    if form.unit or form.written:
        value = {cell: form.value(cell) for cell in dict.fromkeys(cells)}
        return [value[cell] for cell in cells]
    if form.decimal == POINT and not form.thousands:
        numbers = plain_numbers(cells)
    elif not form.thousands and not any(POINT in cell for cell in cells):
        numbers = plain_numbers([cell.replace(COMMA, POINT) for cell in cells])
    return list(map(form.value, cells)) if numbers is None else numbers


def _all_hold(values: Collection[str], form: Form) -> bool:
    try:
        numbers_of(values, form)
    except ValueError:
        return False
    return True


_MORE = re.compile(rf"[^-0-9.,'eE+{MINUS}\u2019{SPACES}\n]")  # than a number


def decimal_mark(columns: Iterable[Collection[str]], delimiter: str) -> str:
    """Return the decimal mark of a table from the unambiguous columns: "1,5" needs a comma, "1.5" a
    point, "1,234" follows the others. Without evidence it is a point, but a comma for such numbers between semicolons.
    """
    needs = {POINT: 0, COMMA: 0}
    could_be = 0
    for values in columns:
        if _MORE.search("\n".join(values)):
            numbers = [number for number in map(bare, values) if number]
            values = numbers if 2 * len(numbers) >= len(values) else values
        for mark in needs:
            if not any(mark in value for value in values):
                continue
            if all(_grouped(mark).fullmatch(value) for value in values if mark in value):
                could_be += mark == COMMA
            elif form_of(values, (Form(mark), Form(mark, OTHER[mark]))):
                needs[mark] += 1
    if needs[POINT] or needs[COMMA]:
        return COMMA if needs[COMMA] > needs[POINT] else POINT
    return COMMA if could_be and delimiter == ";" else POINT


# ---- columns of numbers and something else ---------------------------------------------------------------------------


class Mostly(NamedTuple):
    """A column most of whose cells are numbers.

    form : of the numbers; odd : the other cells, with their rows; numbers : the different numbers
    units : the units in the column, if there are several"""

    form: Form
    odd: Mapping[str, int]
    numbers: frozenset[float]
    units: tuple[str, ...] = ()


SAMPLE = 300  # different cells from which the likeliest forms are chosen
FEW_RANGES = 20  # a column of at most so many different ranges holds levels
MOSTLY = 0.5  # least share of numbers among the present cells of a number column


def mostly_numbers(counts: Mapping[str, int], candidates: Sequence[Form]) -> Mostly | None:
    """Return the number format of a column, None if fewer than half of its rows have a number. counts : cell ->
    rows of the cells that are not missing. A form of `CELL_FORMS` counts if it is plausible (`_senseless`)."""
    n = sum(counts.values())
    if 2 * sum(rows for cell, rows in counts.items() if _DIGIT.search(cell)) < n:
        return None
    names = cell_forms.candidates(counts)
    units = cell_forms.units(counts, "scale" in names)[:3]
    if "scale" in names and not all(map(cell_forms.is_money, units)):
        # 30M beside 25F is not 30 million.
        names = tuple(name for name in names if name != "scale")
        units = cell_forms.units(counts, False)[:3]
    best = _best(counts, [form._replace(unit=u, written=names) for form in candidates for u in units or [""]])
    form, parsed = best
    while True:
        dropped = _senseless(counts, parsed)
        if not dropped:
            break
        form = form._replace(written=tuple(name for name in form.written if name not in dropped))
        parsed = _parsed(counts, form)
    odd = {cell: rows for cell, rows in counts.items() if cell not in parsed}
    if not parsed or sum(odd.values()) > MOSTLY * n:
        return None
    used = frozenset().union(*(names for _, names in parsed.values()))
    form = form._replace(written=tuple(name for name in form.written if name in used))
    if form.unit and all(form._replace(unit="").holds(cell) for cell in parsed):
        form = form._replace(unit="")
    return Mostly(form, odd, frozenset(number for number, _ in parsed.values()), tuple(units))


_DIGIT = re.compile("[0-9]")
Parsed = Mapping[str, tuple[float, frozenset[str]]]


def _best(counts: Mapping[str, int], tried: Sequence[Form]) -> tuple[Form, Parsed]:
    """Return the first form that converts most rows to numbers, and the parsed cells."""
    sample = dict(itertools.islice(counts.items(), SAMPLE))
    rows = [sum(sample[cell] for cell in _parsed(sample, form)) for form in tried]
    candidates = [(form, _parsed(counts, form)) for form, count in zip(tried, rows, strict=True) if count == max(rows)]
    return max(candidates, key=lambda item: sum(counts[cell] for cell in item[1]))


def _parsed(counts: Mapping[str, int], form: Form) -> Parsed:
    numbers = {}
    for cell in counts:
        with contextlib.suppress(ValueError):
            numbers[cell] = form.parsed(cell)
    return numbers


def _senseless(counts: Mapping[str, int], parsed: Parsed) -> set[str]:
    """Return the forms of some cells that are implausible as numbers in this column."""
    n = sum(counts[cell] for cell in parsed)
    rows = Counter[str]()
    for cell, (_, names) in parsed.items():
        rows.update(dict.fromkeys(names, counts[cell]))
    dropped = {"censored"} if 2 * rows["censored"] > n else set()
    dropped |= {"accounting"} if rows["accounting"] == n else set()
    ranges = [cell for cell, (_, names) in parsed.items() if "range" in names]
    exact = sum(counts[cell] for cell, (_, names) in parsed.items() if not names & {"range", "plus", "censored"})
    if (
        ranges
        and exact < 0.1 * n
        and (len(ranges) <= FEW_RANGES or len({_DIGIT.sub("0", cell) for cell in ranges}) == 1)
    ):
        dropped.add("range")
    falling = (cell for cell in counts if cell not in parsed and CELL_FORMS["range"].pattern.fullmatch(cell))
    if rows["range"] and any(bare(part) for cell in falling for part in cell.rpartition("-")[2:]):
        dropped.add("range")  # parts of codes
    if len({number for number, _ in parsed.values()}) <= 2:
        dropped.update(rows)
    return dropped & set(rows)
