"""Dates in users' tables, in several spellings, as days since 1970-01-01."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Collection

# Names of forms in --dates. If all days are up to the 12th, two forms fit, and both are listed.
DATES = (
    "yyyy-mm-dd", "yyyy/mm/dd", "yyyy.mm.dd", "yyyymmdd", "dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy", "dd-mm-yyyy",
    "mm-dd-yyyy", "dd mon yyyy", "mon dd yyyy", "mon yyyy", "yyyy-mm", "mm/yyyy", "dd.mm.yy", "dd/mm/yy", "mm/dd/yy",
    "dd-mm-yy", "mm-dd-yy", "dd mon yy", "mon dd yy", "mon yy",
)  # fmt: skip
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
EPOCH = datetime.date(1970, 1, 1).toordinal()
PIVOT = 69  # two-digit years from here on are in the last century, as in POSIX

_TIME = (
    r"(?:(?:T|,? )(?P<hours>[0-9]{1,2}):(?P<minutes>[0-9]{2})(?::(?P<seconds>[0-9]{2}(?:\.[0-9]+)?))?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?(?: ?Z|[-+][0-9]{2}:?[0-9]{2})?)?"
)
_PARTS = {
    "yyyy": "(?P<year>[0-9]{4})",
    "yy": "(?P<year>[0-9]{2})",
    "mon": r"(?P<month>[A-Za-z]{3,9})\.?",
    "mm": "(?P<month>[0-9]{1,2})",
    "dd": "(?P<day>[0-9]{1,2})",
}
_PART = re.compile("yyyy|yy|mon|mm|dd|.")


@functools.cache
def _pattern(form: str) -> re.Pattern[str]:
    def part(match: re.Match[str]) -> str:
        sign = match[0]
        if form == "yyyymmdd":
            return _PARTS[sign].replace("{1,2}", "{2}")
        return _PARTS.get(sign) or ("(?:, |[ ,-])" if "mon" in form else re.escape(sign))

    return re.compile(_PART.sub(part, form) + _TIME)


def days(cell: str, form: str) -> float:
    """Return a date as days since 1970-01-01, with the local time of day as a fraction (time zones are ignored); a
    month without a day is its first day. ValueError for any other text."""
    match = _pattern(form).fullmatch(cell)
    if not match:
        raise ValueError(cell)
    part = match.groupdict()
    year = int(part["year"])
    if len(part["year"]) == 2:
        year += 1900 if year >= PIVOT else 2000
    hours, minutes, seconds = (float(part[name] or 0) for name in ("hours", "minutes", "seconds"))
    if hours > 24 or minutes > 59 or seconds > 60 or (part["half"] and not 1 <= hours <= 12):
        raise ValueError(cell)
    if part["half"]:
        hours = hours % 12 + 12 * (part["half"] in "Pp")
    date = datetime.date(year, _month(part["month"]), int(part.get("day") or 1))
    return date.toordinal() - EPOCH + (hours * 3600 + minutes * 60 + seconds) / 86400


def _month(text: str) -> int:
    """Return the number of a month, given as number, English name or its first letters; ValueError for other text."""
    name = text.lower()
    names = (k for k, month in enumerate(MONTHS, 1) if name in (month, month[:3]) or (name == "sept" and k == 9))
    return int(text) if text.isdigit() else next(names, 0) or int(text)


def date_forms(values: Collection[str]) -> list[str]:
    """Return every form in which all values are dates: none, one, or two if all days are up to the 12th."""
    return [form for form in DATES if values and all(_is_date(value, form) for value in values)]


def whole_number_dates(values: Collection[str]) -> bool:
    """Return whether at least three integers are all dates as 20130517, in the years 1900 to 2100."""
    return len(values) > 2 and all("1900" <= cell[:4] <= "2100" and _is_date(cell, "yyyymmdd") for cell in values)


def _is_date(cell: str, form: str) -> bool:
    try:
        days(cell, form)
    except ValueError:
        return False
    return True
