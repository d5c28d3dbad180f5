"""What cells of a user's own table mean: numbers in their several spellings, dates, and marks of missing values."""

from __future__ import annotations

import datetime
import functools
import math
import re
from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import NamedTuple

# Marks of a missing value, in lower case. Those of WORDS are words of their own in columns of words.
MARKS = ("?", "na", "n/a", "#n/a", "nan", "null", "-", "--", "none", "missing", ".")
WORDS = ("none", "missing", ".", "--")

SPACES = " \u00a0\u202f"  # a space, one that does not break, a narrow one
SIGNS = (*SPACES, "'", "\u2019")  # between thousands, whatever the decimal mark is
MINUS = "\u2212"
POINT, COMMA = ".", ","
NAMED_MARKS = {"point": POINT, "comma": COMMA}
NAMED_SIGNS = {
    "none": ("",),
    "point": (POINT,),
    "comma": (COMMA,),
    "space": tuple(SPACES),
    "apostrophe": ("'", "\u2019"),
}
OTHER = {POINT: COMMA, COMMA: POINT}

# Signs of units that may stand at either end of a number.
UNITS = ("%", "\u2030", "\u20ac", "$", "\u00a3", "\u00a5", "\u20b9", "EUR", "USD", "GBP", "CHF", "JPY")
_UNIT = re.compile("[%\u2030\u20ac$\u00a3\u00a5\u20b9]|(?<![A-Za-z])(?:EUR|USD|GBP|CHF|JPY)(?![A-Za-z])")


class Form(NamedTuple):
    """How numbers are written: the decimal mark, the sign between thousands, "" if there is none, and that of a unit.

    The sign of a unit, "" for none, may stand at either end of a number or be left out: $5, -$5, 5 $ and 5.
    """

    decimal: str = POINT
    thousands: str = ""
    unit: str = ""

    def holds(self, cell: str) -> bool:
        """Whether a cell is a finite number in this form."""
        try:
            self.value(cell)
        except ValueError:
            return False
        return True

    def value(self, cell: str) -> float:
        """Return the number that a cell holds; ValueError if it holds none."""
        if _pattern(self).fullmatch(self._number(cell)) and math.isfinite(number := float(self._digits(cell))):
            return number
        raise ValueError(cell)

    def exact(self, cell: str) -> Decimal:
        """Return the number of a cell that holds one, with all its digits: labels may differ beyond a float's."""
        return Decimal(self._digits(cell))

    def _number(self, cell: str) -> str:
        return without_unit(cell, self.unit) if self.unit else cell

    def _digits(self, cell: str) -> str:
        cell = self._number(cell)
        if self.thousands:
            cell = cell.replace(self.thousands, "")
        return cell.replace(self.decimal, ".").replace(MINUS, "-")


@functools.cache
def _pattern(form: Form) -> re.Pattern[str]:
    """The pattern of numbers in a form, without the sign of a unit."""
    d, t = re.escape(form.decimal), re.escape(form.thousands)
    # No number begins with 0 before a sign between thousands: 0,125 is an eighth.
    whole = rf"[0-9]+|[1-9][0-9]{{0,2}}(?:{t}[0-9]{{3}})+" if form.thousands else "[0-9]+"
    return re.compile(rf"[-+{MINUS}]?(?:(?:{whole})(?:{d}[0-9]*)?|{d}[0-9]+)(?:[eE][-+]?[0-9]+)?")


@functools.cache
def _grouped(sign: str) -> re.Pattern[str]:
    return re.compile(rf"[-+{MINUS}]?[1-9][0-9]{{0,2}}(?:{re.escape(sign)}[0-9]{{3}})+")


def unit_of(values: Collection[str]) -> str:
    """Return the sign of the unit that some of the values have and no other, "" if there is none or more than one."""
    found = set(_UNIT.findall("\n".join(values)))
    return found.pop() if len(found) == 1 else ""


def without_unit(cell: str, unit: str) -> str:
    """Return a cell without the sign of a unit at one of its ends; the sign of the number may stand before it."""
    if cell.endswith(unit):
        return cell.removesuffix(unit).rstrip(SPACES)
    sign = cell[:1] if cell[:1] in ("-", "+", MINUS) else ""
    rest = cell.removeprefix(sign)
    return sign + rest.removeprefix(unit).lstrip(SPACES) if rest.startswith(unit) else cell


def forms(decimal: str, thousands: str = "", only: bool = False) -> list[Form]:
    """Return the forms to try, the likeliest first.

    decimal : the mark that the table uses elsewhere; only : whether the user said so
    thousands : what the user says, a key of NAMED_SIGNS, or "" if nothing
    """
    marks = [decimal] if only else [decimal, OTHER[decimal]]
    if thousands:
        return [Form(mark, sign) for mark in marks for sign in NAMED_SIGNS[thousands] if mark != sign]
    return [Form(mark, sign) for mark in marks for sign in ("", OTHER[mark], *SIGNS)]


def form_of(values: Collection[str], candidates: Iterable[Form]) -> Form | None:
    """Return the first form in which every value is a number, with the sign of a unit if need be; None for none."""
    plain = list(candidates)
    found = next((form for form in plain if _all_hold(values, form)), None)
    if found is None and (unit := unit_of(values)):
        found = next((form for form in (f._replace(unit=unit) for f in plain) if _all_hold(values, form)), None)
    return found


def plain_numbers(cells: Collection[str]) -> list[float] | None:
    """Return cells as numbers with a decimal point and nothing between thousands, None if one of them is none.

    Ten times as fast as a pattern a cell. float() also reads "1_000", "inf" and the digits of every script.
    """
    together = "".join(cells)
    if "_" in together or not together.isascii():
        return None
    try:
        numbers = list(map(float, cells))
    except ValueError:
        return None
    return numbers if all(map(math.isfinite, numbers)) else None


def numbers_of(cells: Collection[str], form: Form) -> list[float]:
    """Return cells as numbers in a form; ValueError, with the cell, for one that is none."""
    numbers = None
    if form.unit:
        cells, form = [without_unit(cell, form.unit) for cell in cells], form._replace(unit="")
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


def decimal_mark(columns: Iterable[Collection[str]], delimiter: str) -> str:
    """Return the decimal mark of a table, by the columns that allow one reading only.

    "1,5" and "1.234,5" need a comma; "1.5" and "1,234.5" need a point; "1,234" could be either, and follows the rest
    of the table. Without any evidence it is a point, but for a table cut at semicolons that has such numbers: programs
    write semicolons where the comma is taken by numbers.
    """
    needs = {POINT: 0, COMMA: 0}
    could_be = 0
    for values in columns:
        if unit := unit_of(values):
            values = [without_unit(value, unit) for value in values]
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


# ---- dates -----------------------------------------------------------------------------------------------------------

TIME = r"(?:[T ]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?(?:Z|[-+][0-9]{2}:?[0-9]{2})?)?"
# Form -> its pattern and where year, month and day stand in it.
DATES = {
    "yyyy-mm-dd": ("([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})", (1, 2, 3)),
    "yyyy/mm/dd": ("([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})", (1, 2, 3)),
    "dd.mm.yyyy": (r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", (3, 2, 1)),
    "dd/mm/yyyy": ("([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})", (3, 2, 1)),
    "mm/dd/yyyy": ("([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})", (3, 1, 2)),
    "dd-mm-yyyy": ("([0-9]{1,2})-([0-9]{1,2})-([0-9]{4})", (3, 2, 1)),
    "dd mon yyyy": (r"([0-9]{1,2})[ -]([A-Za-z]{3,9})\.?[ -]([0-9]{4})", (3, 2, 1)),
    "mon dd yyyy": (r"([A-Za-z]{3,9})\.? ([0-9]{1,2}),? ([0-9]{4})", (3, 1, 2)),
}
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
EPOCH = datetime.date(1970, 1, 1).toordinal()


@functools.cache
def _date_pattern(form: str) -> re.Pattern[str]:
    return re.compile(DATES[form][0] + TIME)


def days(cell: str, form: str) -> float:
    """Return a date as days since 1970-01-01, with the time of day as a fraction; ValueError if it is none.

    A time zone is passed over: the local time counts.
    """
    found = _date_pattern(form).fullmatch(cell)
    if not found:
        raise ValueError(cell)
    year, month, day = (_whole(found[i]) for i in DATES[form][1])
    hours, minutes, seconds = (float(part or 0) for part in found.groups()[3:])
    if hours > 24 or minutes > 59 or seconds > 60:
        raise ValueError(cell)
    return datetime.date(year, month, day).toordinal() - EPOCH + (hours * 3600 + minutes * 60 + seconds) / 86400


def _whole(text: str) -> int:
    """A number of a date, or the month that an English name or its first three letters mean; ValueError for neither."""
    if text.isdigit():
        return int(text)
    name = text.lower()
    return next((k for k, month in enumerate(MONTHS, 1) if name in (month, month[:3])), 0) or int(text)


def date_forms(values: Collection[str]) -> list[str]:
    """Return every form in which all values are dates: none, one, or two that days up to the 12th leave open."""
    return [form for form in DATES if values and all(_is_date(value, form) for value in values)]


def _is_date(cell: str, form: str) -> bool:
    try:
        days(cell, form)
    except ValueError:
        return False
    return True
