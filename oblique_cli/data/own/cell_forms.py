"""Cells with a number and other text: the forms that are converted to numbers, and units beside numbers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

SPACES = " \u00a0\u202f"  # a space, a no-break space, a narrow no-break space
MINUS = "\u2212"
BETWEEN = "\u2026"  # separator in the text of a unit between the parts before and behind a number
MOST_UNIT = 24  # characters

Groups = Sequence[str | None]
Read = Callable[[str], float]  # reads a part of a cell; ValueError if the part is no number


class CellForm(NamedTuple):
    """A form of cells beside plain numbers. value : the number, from the groups of the pattern"""

    pattern: re.Pattern[str]
    value: Callable[[Groups, Read], float]


def _first(groups: Groups, read: Read) -> float:
    return read(next(group for group in groups if group))


def _middle(groups: Groups, read: Read) -> float:
    """Return the middle of a range, whose ends must rise. Parts such as 0123 are codes."""
    parts = [group or "" for group in groups]
    low, high = map(read, parts)
    if not 0 <= low < high or any(map(_PADDED.match, parts)):
        raise ValueError(parts)
    return (low + high) / 2


def _with_error(groups: Groups, read: Read) -> float:
    """Return the value of a cell such as 12 ± 3 or 12 ± 3 mm."""
    number, error = groups[0] or "", groups[1] or ""
    if read(error) < 0:
        raise ValueError(groups)
    return read(number)


def _scaled(groups: Groups, read: Read) -> float:
    number, word = groups[0] or "", groups[1] or ""
    factor = SCALES.get(word) or SCALES.get(word.casefold())
    if factor is None:
        raise ValueError(word)
    value = repr(read(number))
    # By the digits, so that 0.3M is exactly 300000.
    return float(f"{value}e{factor}") if "e" not in value else float(value) * 10.0**factor


def _minutes(groups: Groups, read: Read) -> float:
    """Return minutes of h:mm or h:mm:ss, on a clock of 12 or 24 hours, or of m:ss without hours."""
    hours, minutes, seconds = int(groups[0] or 0), int(groups[1] or 0), float(groups[2] or 0)
    half = ((groups[3] if len(groups) > 3 else "") or "").lower()
    if seconds >= 60 or (groups[0] and minutes > 59) or (half and not 1 <= hours <= 12):
        raise ValueError(groups)
    hours = hours % 12 + 12 * (half == "p") if half else hours
    return hours * 60 + minutes + seconds / 60


def _worded_minutes(groups: Groups, read: Read) -> float:
    if not any(groups):
        raise ValueError(groups)
    days, hours, minutes, seconds = (read(group) if group else 0.0 for group in groups)
    return days * 1440 + hours * 60 + minutes + seconds / 60


def _inches(groups: Groups, read: Read) -> float:
    feet, inches = read(groups[0] or ""), read(groups[1] or "0")
    if inches >= 12:
        raise ValueError(groups)
    return feet * 12 + inches


_PADDED = re.compile("0[0-9]")
# Powers of ten. Single small letters, and B, G, T, are units unless the column has another scale.
SCALES = {
    "k": 3, "K": 3, "M": 6, "mn": 6, "mio": 6, "mio.": 6, "mln": 6, "mm": 6, "million": 6, "millions": 6, "bn": 9,
    "mrd": 9, "mrd.": 9, "billion": 9, "thousand": 3, "tsd": 3, "tsd.": 3, "lakh": 5, "lakhs": 5, "crore": 7,
    "crores": 7, "cr": 7, "trillion": 12, "m": 6, "b": 9, "B": 9, "g": 9, "G": 9, "t": 12, "T": 12,
}  # fmt: skip
WEAK_SCALES = ("m", "b", "B", "g", "G", "t", "T", "mm", "cr")
_FLAGS = "*\u2020\u2021\u00a7\u00b6^"
_CLOCK = r"([0-9]{1,3}(?=:)|[0-9]{1,2}(?=h))[:h]([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?"
_QUANTITY = r"([0-9]+(?:[.,][0-9]+)?)"

# Name in a model -> form.
CELL_FORMS: Mapping[str, CellForm] = {
    "accounting": CellForm(
        re.compile(rf"\(([^()]+)\)|([^-{MINUS}]*[0-9])\s*[-{MINUS}]"), lambda groups, read: -abs(_first(groups, read))
    ),
    "censored": CellForm(re.compile("(?:[<>]=?|[\u2264\u2265])\\s*(.+)"), _first),
    "flag": CellForm(
        re.compile(
            rf"(.+?)\s*(?:[{_FLAGS}]+|\[[0-9a-z]{{1,2}}\])|(?:[~\u2248]|(?:ca?\.|circa|approx\.?|about)\s)\s*(.+)"
        ),
        _first,
    ),
    "error": CellForm(re.compile(r"(.*\S)\s*(?:\u00b1|\+/-|\+-)\s*(\S.*)"), _with_error),
    "plus": CellForm(re.compile(r"(.*[^+\s])\s*\+(\s*[^-+\d]*)"), lambda groups, read: read("".join(map(str, groups)))),
    "range": CellForm(re.compile("(.*?[^\\s\u2013-])\\s*(?:-|\u2013|\u2014|\\bto\\b)\\s*([^\\s-].*)"), _middle),
    "scale": CellForm(re.compile(rf"(.*[0-9.])[{SPACES}]?([A-Za-z]+\.?)"), _scaled),
    "clock": CellForm(re.compile(_CLOCK + rf"[{SPACES}]?(?:([AaPp])\.?[Mm]\.?)?"), _minutes),
    "duration": CellForm(
        re.compile(r"(?:([0-9]{1,3}):(?=[0-9]{2}:))?([0-9]{1,3}):([0-9]{2}(?:\.[0-9]+)?)"),
        _minutes,
    ),
    "time": CellForm(
        re.compile(
            rf"(?:{_QUANTITY}\s*d(?:ays?)?)?\s*(?:{_QUANTITY}\s*h(?:(?:ou)?rs?|rs?)?)?\s*"
            rf"(?:{_QUANTITY}\s*m(?:in(?:ute)?s?)?)?\s*(?:{_QUANTITY}\s*s(?:ec(?:ond)?s?)?)?",
            re.I,
        ),
        _worded_minutes,
    ),
    "feet": CellForm(
        re.compile("([0-9])\\s*['\u2019\u2032]\\s*(?:([0-9]{1,2}(?:\\.[0-9]+)?)\\s*(?:\"|''|[\u201d\u2033])?)?"),
        _inches,
    ),
}  # fmt: skip
IN_MINUTES = ("clock", "duration", "time")
_HOUR = re.compile("[0-9]{1,2}h[0-9]{2}")  # 17h30
_GLUED = re.compile(r"[0-9][kKM](?![A-Za-z])")
_TWO_PARTS = re.compile(r"[0-9]\s*d.*[0-9]\s*h|[0-9]\s*h.*[0-9]\s*m|[0-9]\s*m.*[0-9]\s*s", re.I)


def is_censored(cell: str) -> bool:
    """Return whether a cell holds a bound, such as <0.4."""
    return CELL_FORMS["censored"].pattern.fullmatch(cell) is not None


# ---- units -----------------------------------------------------------------------------------------------------------

_NUMBER = rf"[-+{MINUS}]?(?:[0-9]+(?:[.,'\u2019{SPACES}][0-9]+)*[.,]?|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?"
# Text before a number, the number, and text behind it. A point behind letters belongs to them: Rs.500 is 500.
_PARTS = re.compile(rf"([^0-9]*[^\W\d_]\.?\s*|[^0-9]*?)({_NUMBER})(.*)", re.S)
_AROUND = re.compile("^[(<>=~\u2264\u2265\u2248\\s]+|[)*\u2020\u2021\u00a7\u00b6+\\s]+$")
_SECOND = re.compile(rf"\s*(?:-|\u2013|\u2014|to)\s*({_NUMBER}.*)", re.S)
_UNIT = re.compile(
    r"""(?:/?\s?[^\W\d_]|[\u00b0%\u2030\u20ac$\u00a3\u00a5\u20b9"\u2033])[\w\u00b0%\u2030/\u00b2\u00b3^.\u00b7\u20ac$ -]*"""  # noqa
)
_MONEY = {
    "eur", "usd", "gbp", "chf", "jpy", "inr", "cny", "rmb", "brl", "cad", "aud", "nzd", "sek", "nok", "dkk", "pln",
    "czk", "huf", "rub", "try", "zar", "mxn", "krw", "sgd", "hkd", "thb", "idr", "rs", "fr", "kr", "sfr", "tk",
}  # fmt: skip


# In the form of `normal`.
USUAL_UNITS = {
    "%", "kg", "g", "mg", "µg", "ug", "lb", "oz", "st", "t", "ton", "tonne", "km", "m", "cm", "mm", "µm", "nm",
    "mi", "mile", "ft", "feet", "foot", "in", "inch", "yd", "yard", "y", "yr", "year", "mo", "month", "wk", "week",
    "d", "day", "h", "hr", "hour", "min", "minute", "s", "sec", "second", "ms", "l", "ml", "dl", "cl", "gal", "cc",
    "km/h", "kmh", "kph", "mph", "m/s", "mpg", "kmpl", "hp", "bhp", "ps", "kw", "w", "mw", "kwh", "hz", "mhz",
    "ghz", "pa", "kpa", "hpa", "bar", "psi", "mmhg", "°", "°c", "°f", "°k", "cal", "kcal", "kj", "j", "kb", "mb",
    "gb", "tb", "px", "m2", "m²", "sqm", "sqft", "sq ft", "sq m", "ha", "acre", "m3", "m³", "cm2", "cm²", "mg/dl",
    "mmol/l", "g/dl", "g/l", "mg/l", "ng/ml", "bpm", "ppm", "ppb", "rpm", "pt", "pct", "percent", "person",
    "people", "piece", "pc", "unit", "star",
}  # fmt: skip


def is_money(text: str) -> bool:
    """Return whether a text is the sign of a currency, or another sign that may stand before a number."""
    if text[-1:] and (text[-1] in "%\u2030" or unicodedata.category(text[-1]) == "Sc"):
        return len(text) <= 4 and (text[:-1].isalpha() or len(text) == 1)
    return text.casefold().rstrip(".") in _MONEY


def normal(unit: str) -> str:
    """Return the form in which units are compared: KG becomes kg, lbs. becomes lb, years becomes year."""
    text = " ".join(unit.casefold().replace(".", " ").split())
    return text[:-1] if len(text) > 2 and text.endswith("s") and text[-2:] not in ("ss", "/s") else text


def parts(cell: str) -> tuple[str, str, str] | None:
    """Return the text before the number of a cell, the number, and the text behind it; None without a number."""
    match = _PARTS.fullmatch(cell)
    return (match[1].strip(), match[2].strip(), match[3].strip()) if match else None


def bare(cell: str) -> str:
    """Return the number of a cell as written, "" if the cell is not a number with a unit or a sign."""
    pieces = parts(_AROUND.sub("", cell))
    if pieces is None or not _before(pieces[0])[0] or (pieces[2] and not _behind(pieces[2])):
        return ""
    return pieces[1]


def _before(text: str) -> tuple[bool, str]:
    """Return whether a text may stand before a number, and the sign of the currency in it."""
    money = text.strip(f" -+{MINUS}(<>=~\u2264\u2265\u2248")
    return (not money or is_money(money)), money


def _behind(text: str) -> bool:
    is_half = text.casefold().replace(".", "") in ("am", "pm")  # am or pm, where 12 comes first
    return len(text) <= MOST_UNIT and text.count(" ") <= 2 and not is_half and _UNIT.fullmatch(text) is not None


def ends(cell: str) -> tuple[str, str] | None:
    """Return the units before and after the number of a cell, None if other text surrounds the number."""
    pieces = parts(_AROUND.sub("", cell))
    if pieces is None:
        return None
    allowed, before = _before(pieces[0])
    behind = _AROUND.sub("", pieces[2].lstrip(f"+{SPACES}"))
    if match := _SECOND.fullmatch(behind):
        second = parts(match[1])
        behind = second[2] if second else ""
    return (before, behind) if allowed and (not behind or _behind(behind)) else None


def units(counts: Mapping[str, int], scaled: bool) -> list[str]:
    """Return the units beside numbers, the most frequent first. counts : cell -> rows; scaled : whether 5k is 5000. An
    unusual unit must occur in half of the rows: 136A beside 135 and 137 is no number in amperes."""
    counted: Counter[str] = Counter()
    spelled: dict[str, Counter[str]] = {}
    for cell, rows in counts.items():
        at = ends(cell)
        if at is None:
            continue
        before, behind = at
        if scaled and behind:  # without a word for a power of ten
            word, _, rest = behind.partition(" ")
            behind = rest if word in SCALES or word.casefold() in SCALES else behind
        text = before + BETWEEN + behind if before and behind and normal(before) != normal(behind) else before or behind
        if text:
            counted[normal(text)] += rows
            spelled.setdefault(normal(text), Counter())[text] += rows
    whole = [key for key in counted if BETWEEN in key]
    for key in whole:  # a cell may have only one of the two
        for part in key.split(BETWEEN):
            counted[key] += counted.pop(part.strip(), 0)
    least = sum(counts.values()) / 2
    usual = [key for key, rows in counted.most_common() if rows >= least or key in USUAL_UNITS or is_money(key)]
    return [max(spelled[key].items(), key=lambda item: (item[1], item[0]))[0] for key in usual]


def same_unit(cell: str, unit: str) -> bool:
    """Return whether a cell has this unit and no other."""
    at = ends(cell)
    return at is not None and normal(unit) in (normal(at[0]), normal(at[1]), normal(BETWEEN.join(at)))


def without_unit(cell: str, unit: str) -> str:
    """Return a cell without a unit at one or both ends; a sign or a bracket may stand before it."""
    before, _, behind = unit.partition(BETWEEN) if BETWEEN in unit else (unit, "", unit)
    match = _PARTS.fullmatch(cell)
    if match is None:
        return cell
    lead, number, trail = match.groups()
    # Brackets of a negative number belong to the number.
    closing = trail[len(trail.rstrip(f"){SPACES}")) :].strip() if trail else ""
    core = trail.strip(SPACES) if not closing else trail.rstrip(f"){SPACES}").strip(SPACES)
    if core and normal(core) == normal(behind):
        trail = closing
    elif behind and core.endswith(f" {behind}"):  # and a word for a power of ten before it
        trail = core.removesuffix(f" {behind}") + closing
    money = lead.strip(f"{SPACES}-+{MINUS}(")
    if money and normal(money) == normal(before):
        lead = "".join(sign for sign in lead if sign in f"-+{MINUS}(")
    return f"{lead.strip(SPACES)}{number}{trail}" if (lead, trail) != (match[1], match[3]) else cell


# ---- which forms a column has ----------------------------------------------------------------------------------------


def candidates(cells: Collection[str]) -> tuple[str, ...]:
    """Return the names of the forms that the cells of a column may have, in the order of their trial."""
    names = [name for name in CELL_FORMS if name not in ("scale", *IN_MINUTES, "feet")]
    words = {(at[1].split(" ")[0], bool(at[0])) for cell in cells if (at := ends(cell)) is not None and at[1]}
    is_glued = any(map(_GLUED.search, cells))  # 300 K is a temperature
    if any(
        (word in SCALES or word.casefold() in SCALES)
        and (money or (word not in WEAK_SCALES and (is_glued or len(word) > 1)))
        for word, money in words
    ):
        names.append("scale")
    if any(":" in cell or _HOUR.fullmatch(cell) for cell in cells):
        names.append(_of_times(cells))
    if any(_TWO_PARTS.search(cell) and CELL_FORMS["time"].pattern.fullmatch(cell) for cell in cells):
        names.append("time")
    if any("'" in cell or "\u2019" in cell or "\u2032" in cell for cell in cells):
        names.append("feet")
    return tuple(names)


def _of_times(cells: Collection[str]) -> str:
    """Return "clock" if times of two parts are hours and minutes, or "duration" if they are minutes and seconds, as
    their range or times of three parts show."""
    two = [cell for cell in cells if cell.count(":") == 1 and CELL_FORMS["clock"].pattern.fullmatch(cell)]
    three = [cell for cell in cells if cell.count(":") == 2]
    if not two:
        short = any(CELL_FORMS["duration"].pattern.fullmatch(cell) for cell in cells if cell.count(":") == 1)
        return "duration" if short else "clock"
    if any("." in cell for cell in cells if cell.count(":") == 1):
        return "duration"
    if three and (any(int(cell.split(":")[0]) > 23 for cell in two) or any(cell[1:2] == ":" for cell in three)):
        return "duration"
    return "clock"
