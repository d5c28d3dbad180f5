"""Strange tables: columns whose cells are written as people write them, with the numbers that they stand for.

Every table is drawn from a seed. `FAULTS` has what can be strange about a column, alone, with a mark of missing values
in the same column, and beside another strange column, in tables of few and many rows, with a decimal point or comma,
and with few or all cells affected (`tables`). `files` has what can be strange about a file (`strange_files.py`), alone,
in pairs, and around strange columns.
"""

import datetime
import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oblique_cli.ground import seeds
from tables.strange_files import (
    ABOVE,
    BELOW,
    DECLARED,
    INSIDE,
    LINES,
    NAMED_ROWS,
    SHEETS,
    TEXTS,
    TYPED,
    Lines,
    libsvm,
    text,
)
from tables.strange_files import Write as WriteFile

SIZES = (10, 60, 1000)
MARKS = (
    "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "..", ":", "\\N", "n.d.", "k.A.", "nil", "undefined",
    "*", "-", "NA", "", "Unknown",
)  # fmt: skip

Draw = np.random.Generator
# The text of a number and the number, as an affected cell has them: the cell, and the number that it stands for.
Write = Callable[[str, float, Draw], tuple[str, float]]


@dataclass(frozen=True)
class Fault:
    """What is strange about a column.

    write : an affected cell; number : draws numbers; every : whether all cells are affected, else a share of them is
    kind : what the column has to be: "number", "levels" or "date"; odd : whether a refusal is right"""

    write: Write
    number: Callable[[Draw], float] = lambda rng: round(float(rng.uniform(20, 95)), 1)
    every: bool = False
    kind: str = "number"
    odd: bool = False
    bounds: bool = False


@dataclass(frozen=True)
class Strange:
    """A table, and the right reading of its columns.

    numbers : column -> numbers, NaN where one is missing; levels : column -> which rows have one level (codes)
    dates : column -> days since 1970-01-01; bounds : column -> 1 where a cell is a bound; refusable : whether an error
    with its option is right; target : its name and labels; reported : whether lines are no rows"""

    name: str
    content: bytes
    numbers: Mapping[str, Sequence[float]]
    levels: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    dates: Mapping[str, Sequence[float]] = field(default_factory=dict)
    bounds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    refusable: bool = False
    target: tuple[str, Sequence[str]] = ("y", ())
    reported: bool = False


def whole(low: int, high: int) -> Callable[[Draw], float]:
    """Draws whole numbers from low to high."""
    return lambda rng: float(rng.integers(low, high + 1))


def around(before: str = "", behind: str = "") -> Write:
    """A number between two texts."""
    return lambda text, x, rng: (f"{before}{text}{behind}", x)


def one_of(*ways: Write) -> Write:
    """One of several forms in each cell."""
    return lambda text, x, rng: ways[rng.integers(len(ways))](text, x, rng)


def _range(text: str, x: float, rng: Draw) -> tuple[str, float]:
    low, high = int(x), int(x) + int(rng.integers(1, 900))
    return f"{low}{(' - ', '-', '–')[rng.integers(3)]}{high}", (low + high) / 2


def counted(low: int, high: int, form: Callable[[int], str], unit: int = 1) -> Write:
    """Whole numbers from low to below high, as `form` writes them; a cell stands for so many units."""

    def write(text: str, x: float, rng: Draw) -> tuple[str, float]:
        count = int(rng.integers(low, high))
        return form(count), count / unit

    return write


def _with_error(text: str, x: float, rng: Draw) -> tuple[str, float]:
    sign = (" ± ", "±", " +/- ")[rng.integers(3)]
    return f"{text}{sign}{int(rng.integers(1, 9))}", x


def _day(form: Callable[[datetime.date], str], first: bool = False) -> Write:
    def write(text: str, x: float, rng: Draw) -> tuple[str, float]:
        date = datetime.date(1990, 1, 1) + datetime.timedelta(int(rng.integers(0, 10_000)))
        written = form(date)
        counted = date.replace(day=1) if first else date
        return written, counted.toordinal() - datetime.date(1970, 1, 1).toordinal()

    return write


def _thousands(text: str, x: float, rng: Draw) -> tuple[str, float]:
    english = f"{x:,.1f}+"
    return (english.translate(str.maketrans(",.", ".,")) if "," in text else english), x


def _lakhs(text: str, x: float, rng: Draw) -> tuple[str, float]:
    digits = f"{int(x):07d}"
    return f"Rs. {digits[:-5].lstrip('0')},{digits[-5:-3]},{digits[-3:]}", x


def _code(width: int) -> Write:
    return lambda text, x, rng: (f"{int(x):0{width}d}", float(int(x)))


def _padded_beside_plain(text: str, x: float, rng: Draw) -> tuple[str, float]:
    padded = rng.integers(2) and x < 10
    return (f"{int(x):02d}", 100 + x) if padded else (str(int(x)), x)


def _truth(text: str, x: float, rng: Draw) -> tuple[str, float]:
    yes = x > 50
    return (("True", "TRUE", "true") if yes else ("False", "FALSE", "false"))[rng.integers(3)], float(yes)


BIG = whole(1000, 900_000)
FAULTS: dict[str, Fault] = {
    "unit spaced": Fault(around(behind=" kg"), every=True),
    "unit glued": Fault(around(behind="kg"), every=True),
    "unit in part": Fault(around(behind=" kg")),
    "unit in several cases": Fault(one_of(around(behind=" KG"), around(behind="kg"), around(behind=" Kg")), every=True),
    "unit behind a hard space": Fault(around(behind="\u00a0CC"), whole(600, 4000), every=True),
    "years": Fault(one_of(around(behind=" years"), around(behind=" year")), whole(2, 90), every=True),
    "speed": Fault(around(behind=" km/h"), every=True),
    "area": Fault(around(behind=" m²"), every=True),
    "percent": Fault(around(behind=" %"), every=True),
    "reais": Fault(around("R$ "), whole(20, 990), every=True),
    "rupees": Fault(around("Rs."), whole(20, 990), every=True),
    "dollars": Fault(around("$"), every=True),
    "euros": Fault(around(behind=" €"), every=True),
    "dollars an hour": Fault(around("$", "/h"), every=True),
    "millions": Fault(lambda text, x, rng: (f"{text}M", float(f"{x!r}e6")), every=True),
    "millions and thousands": Fault(
        one_of(
            lambda text, x, rng: (f"{text}M", float(f"{x!r}e6")), lambda text, x, rng: (f"{text}k", float(f"{x!r}e3"))
        ),
        every=True,
    ),
    "euros in millions": Fault(lambda text, x, rng: (f"€{text}M", float(f"{x!r}e6"))),
    "kelvins": Fault(around(behind=" K"), every=True),
    "euros by words": Fault(
        one_of(
            lambda text, x, rng: (f"{text} Mio. €", float(f"{x!r}e6")),
            lambda text, x, rng: (f"{text} Mrd. €", float(f"{x!r}e9")),
        ),
        every=True,
    ),
    "and more": Fault(_thousands, lambda rng: BIG(rng) + 0.5, every=True),
    "years and more": Fault(one_of(around(behind=" years"), around(behind="+ years")), whole(1, 40), every=True),
    "rupees by lakhs": Fault(_lakhs, whole(100_000, 9_999_999), every=True),
    "in brackets": Fault(lambda text, x, rng: (f"({text})", -x)),
    "sign behind": Fault(lambda text, x, rng: (f"{text}-", -x)),
    "below": Fault(around("<"), bounds=True),
    "above": Fault(around("> "), bounds=True),
    "at most": Fault(around("≤"), bounds=True),
    "flag": Fault(around(behind="*")),
    "several flags": Fault(one_of(around(behind="**"), around(behind=" †"))),
    "footnote": Fault(around(behind="[1]")),
    "about": Fault(around("~")),
    "range": Fault(_range, BIG),
    "clock": Fault(counted(0, 1440, lambda m: f"{m // 60}:{m % 60:02d}"), every=True),
    "hour with a letter": Fault(counted(0, 1440, lambda m: f"{m // 60}h{m % 60:02d}"), every=True),
    "with its error": Fault(_with_error, every=True),
    "error in part": Fault(_with_error),
    "clock with seconds": Fault(
        counted(0, 86400, lambda s: f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}", 60), every=True
    ),
    "race": Fault(
        counted(1500, 9000, lambda s: f"{s // 3600}:" * (s >= 3600) + f"{s // 60 % 60:02d}:{s % 60:02d}", 60),
        every=True,
    ),
    "noon": Fault(
        counted(0, 1440, lambda m: f"{m // 60 % 12 or 12}:{m % 60:02d} {'AM' if m < 720 else 'PM'}"), every=True
    ),
    "hours and minutes": Fault(counted(61, 600, lambda m: f"{m // 60}h {m % 60}m"), every=True),
    "feet": Fault(counted(55, 82, lambda i: f"{i // 12}'{i % 12}\""), every=True),
    "padded code": Fault(_code(5), whole(100, 120), every=True, kind="levels"),
    "padded beside plain": Fault(_padded_beside_plain, whole(1, 4), every=True, kind="levels"),
    "two digits of a year": Fault(_day(lambda d: f"{d.month}/{d.day}/{d:%y}"), every=True, kind="date"),
    "month in letters": Fault(_day(lambda d: f"{d.day}-{d:%b-%y}"), every=True, kind="date"),
    "month and year": Fault(_day(lambda d: f"{d:%B-%Y}", first=True), every=True, kind="date"),
    "year and month": Fault(_day(lambda d: f"{d:%Y-%m}", first=True), every=True, kind="date"),
    "date without signs": Fault(_day(lambda d: f"{d:%Y%m%d}"), every=True, kind="date"),
    "odd words": Fault(lambda text, x, rng: ("see notes", math.nan), odd=True),
    "two units": Fault(
        one_of(around(behind=" kg"), around(behind=" kg"), lambda text, x, rng: (f"{text} lb", math.nan)),
        every=True,
        odd=True,
    ),
    **{f"mark {mark}": Fault(lambda text, x, rng, mark=mark: (mark, math.nan)) for mark in MARKS},  # type: ignore[misc]
}
LEVELS = {"true and TRUE": Fault(_truth, every=True, kind="levels")}
PLAIN = {
    "plain": Fault(around()),
    "codes": Fault(around(), whole(1, 5), every=True, kind="levels"),
    "with zeros": Fault(around(), lambda rng: float(rng.integers(0, 2) * rng.normal())),
}
MARKED = [name for name, fault in FAULTS.items() if fault.kind == "number" and not fault.odd and "mark" not in name]


@dataclass
class Drawn:
    """A strange column: its cells, what each stands for, and which cells are affected."""

    cells: list[str]
    values: list[float]
    affected: list[bool]


def drawn(fault: Fault, n: int, share: float, comma: bool, rng: Draw, mark: str | None = None) -> Drawn:
    """A column of n cells. mark : a mark of missing values that some of them have"""
    column = Drawn([], [], [])
    for i in range(n):
        x = fault.number(rng)
        text = f"{x:g}" if x == int(x) else repr(x)
        text = text.replace(".", ",") if comma else text
        hit = fault.every or i == 1 or rng.random() < share
        cell, value = fault.write(text, x, rng) if hit else (text, x)
        if mark is not None and (i == 2 or rng.random() < 0.08):
            cell, value, hit = mark, math.nan, False
        column.cells.append(cell)
        column.values.append(value)
        column.affected.append(hit)
    return column


def made(
    name: str,
    faults: Sequence[tuple[str, str | None]],
    n: int,
    share: float,
    comma: bool,
    lines: Lines = Lines(),  # noqa: B008  (frozen)
    write: WriteFile = text(),  # noqa: B008
    names: Mapping[str, str] | None = None,
) -> Strange:
    """A table of strange columns v, w, ... beside a plain one. faults : their names, and a mark of missing values

    names : other names of columns. Stochasticity: one stream, named after the table."""
    rng = seeds.generator(1, "strange table", name)
    plain = [round(float(rng.normal()), 3) for _ in range(n)]
    columns = {"x": Drawn([str(x).replace(".", ",") if comma else str(x) for x in plain], plain, [False] * n)}
    kinds = {"x": PLAIN["plain"]}
    for letter, (key, mark) in zip("vw", faults, strict=False):
        kinds[letter], columns[letter] = _fault(key), drawn(_fault(key), n, share, comma, rng, mark)
    labels = [("ab" if not names else ("+1", "-1"))[i % 2] for i in range(n)]
    called = {letter: (names or {}).get(letter, letter) for letter in (*columns, "y")}
    rows = [list(row) for row in zip(*(column.cells for column in columns.values()), labels, strict=True)]
    of = {
        kind: {called[letter]: columns[letter].values for letter, fault in kinds.items() if fault.kind == kind}
        for kind in ("number", "levels", "date")
    }
    declared = {**{called[letter]: fault.kind for letter, fault in kinds.items()}, called["y"]: "levels"}
    return Strange(
        name,
        write(lines.around(list(called.values()), rows), comma, declared),
        of["number"],
        of["levels"],
        of["date"],
        {
            letter: [math.nan if math.isnan(x) else float(hit) for x, hit in zip(c.values, c.affected, strict=True)]
            for letter, c in columns.items()
            if kinds[letter].bounds
        },
        any(fault.odd for fault in kinds.values()),
        (called["y"], labels),
        lines.are_reported,
    )  # fmt: skip


def _fault(name: str) -> Fault:
    return {**FAULTS, **LEVELS, **PLAIN}[name]


def tables() -> dict[str, Callable[[], Strange]]:
    """Makers of all strange tables by their names, the same every time."""
    makers: dict[str, Callable[[], Strange]] = {}

    def add(name: str, *how: Any) -> None:
        makers[name] = functools.partial(made, name, *how)

    rng = seeds.generator(1, "strange tables")
    for k, name in enumerate([*FAULTS, *LEVELS]):
        n, share, comma = SIZES[k % 3], (0.1, 0.3, 0.12)[k // 3 % 3], bool(k % 2)
        add(f"{name} {n}", [(name, None)], n, share, comma)
    for k, name in enumerate(MARKED):  # with a mark of missing values
        mark = MARKS[int(rng.integers(len(MARKS)))]
        add(f"{name} and {mark}", [(name, mark)], SIZES[1 + k % 2], 0.2, not k % 2)
    kinds = [name for name, fault in {**FAULTS, **LEVELS}.items() if not fault.odd]
    for k in range(40):  # beside another strange column
        first, second = (kinds[int(i)] for i in rng.choice(len(kinds), 2, replace=False))
        add(f"{first} beside {second} {k}", [(first, None), (second, None)], SIZES[1 + k % 2], 0.15, bool(k % 2))
    return makers


def files(seed: int = 1, rounds: int = 2) -> dict[str, Callable[[], Strange]]:
    """Makers of all tables in strange files by their names, the same every time: each fault of a file alone, with
    another, and around cells."""
    rng = seeds.generator(seed, "strange files")
    formats: dict[str, WriteFile] = {**TEXTS, **SHEETS, **NAMED_ROWS, **DECLARED, **TYPED}
    laid_out = [*TEXTS, *SHEETS]
    kinds = [name for name, fault in {**FAULTS, **LEVELS}.items() if not fault.odd and name != "mark "]
    marks = [name for name in kinds if "mark" in name]

    def one_of(names: Sequence[str]) -> str:
        return names[int(rng.integers(len(names)))]

    def cells(form: str) -> str:
        return one_of([*marks, "codes"] if form in DECLARED else kinds)

    cases: list[tuple[tuple[str, ...], str, str]]
    cases = [((name,), form, "plain") for name in LINES for form in ("commas", "Excel")]
    cases += [((), form, "plain") for form in formats]
    for _ in range(rounds):
        cases += [((name,), form := one_of(laid_out), cells(form)) for name in LINES]
        cases += [((), form, cells(form)) for form in formats]
        cases += [((one_of([*LINES]),), form, "plain") for form in laid_out]
        cases += [((one_of([*ABOVE]), name), one_of(laid_out), "plain") for name in (*INSIDE, *BELOW)]
        cases += [((one_of([*INSIDE]), name), one_of(laid_out), "plain") for name in BELOW]
    sparse = {"x": "x1", "v": "x2", "w": "x3", "y": "label"}
    how: tuple[Any, ...] = ("LIBSVM plain", [("with zeros", None)] * 2, 60, 0, False)
    makers: dict[str, Callable[[], Strange]] = {how[0]: functools.partial(made, *how, write=libsvm, names=sparse)}
    for k, (names, form, fault) in enumerate(cases):
        lines = functools.reduce(operator.add, (LINES[name] for name in names), Lines())
        name = " and ".join([*names, form, fault]) + f" {k}"
        comma = form in TEXTS and bool(rng.integers(2))
        makers[name] = functools.partial(made, name, [(fault, None)], SIZES[k % 2], 0.15, comma, lines, formats[form])
    return makers
