"""`Columns`: the conversion of a user's table to numbers, as plain data that models store; and the rows read by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from oblique_cli.data.own.cell_forms import CELL_FORMS, MOST_UNIT
from oblique_cli.data.own.numbers import MARKS, Form
from oblique_cli.data.own.opened import MAX_COLUMNS
from oblique_cli.data.own.source import charset_of
from oblique_cli.errors import DataError, quoted

if TYPE_CHECKING:
    import numpy as np

# Treatments of a column. Those of FEATURES are features; the others are left out, or have another role.
FEATURES = ("number", "levels", "days", "censored")
LEFT_OUT = ("dropped", "identifier", "text", "date", "constant", "empty")
TREATMENTS = (*FEATURES, *LEFT_OUT, "target", "groups")

TASKS = ("classification", "regression")
FRAME = "frame"
FORMATS = (
    "csv", "arff", "json", "libsvm", "excel", "sqlite", "stata", "spss", "parquet", "feather", "npy", FRAME,
)  # fmt: skip

MAX_LEVELS = 1_000_000  # of all columns together


@dataclass(frozen=True)
class Column:
    """One column of a file, or an indicator derived from a column.

    name        as in the header
    treatment   one of TREATMENTS: "number" and "levels" are features without conversion, "days" is a date as the number
                of days since 1970-01-01; "identifier" identifies rows, "text" has too many different words for levels,
                "date" is a date that is left out, "dropped" is excluded by the user, "constant" and "empty" have no
                information; "censored" is 1 where the column `of` holds a bound such as <0.4, else 0
    decimal     decimal mark of numbers; `thousands` is the thousands separator, "" if there is none
    unit        unit that numbers may have at either end, such as "%" or "kg"; "" if there is none
    written     names of the `CELL_FORMS` that are converted into numbers
    levels      of "levels": its levels in the order of their codes 0, 1, ...; OTHER may be the last
    date        of "days" and "date": the form of the dates, such as "yyyy-mm-dd"
    of          of "censored": the name of the column in the header"""

    name: str
    treatment: str
    decimal: str = "."
    thousands: str = ""
    levels: tuple[str, ...] = ()
    date: str = ""
    unit: str = ""
    written: tuple[str, ...] = ()
    of: str = ""

    @property
    def source(self) -> str:
        """The name of the file's column with the cells."""
        return self.of or self.name

    @property
    def form(self) -> Form:
        """The form of its numbers."""
        return Form(self.decimal, self.thousands, self.unit, self.written)

    def as_number(self, form: Form) -> Column:
        """Return the column as a feature whose cells are numbers of a form."""
        return replace(self, treatment="number", **form._asdict())


@dataclass(frozen=True)
class Columns:
    """Reading rules of a table, column by column in the order of the file.

    target        name of the column to predict
    task          "classification" or "regression"
    classes       labels in the order of their codes; () for regression
    format        "csv" (text with a delimiter), or another of FORMATS; "frame" is a data frame of Python, whose levels
                  are texts of its cells, and whose classes are the estimator's own
    header        "none" if the file has no column names (columns are then named by their place); "" otherwise
    missing       marks of a missing value beside the empty cell, in lower case; a mark that is among the levels of a
                  column, or among the classes, is no mark in that column"""

    columns: tuple[Column, ...]
    target: str
    task: str
    classes: tuple[str, ...] = ()
    format: str = "csv"
    delimiter: str = ","
    charset: str = "utf-8"
    missing: tuple[str, ...] = ()
    header: str = ""

    @cached_property
    def features(self) -> tuple[Column, ...]:
        """The columns that are features, in the order of X."""
        return tuple(column for column in self.columns if column.treatment in FEATURES)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in the order of X."""
        return tuple(column.name for column in self.features)

    @property
    def levels(self) -> dict[int, tuple[str, ...]]:
        """Column of X -> its levels in code order, for the features that have levels."""
        return {j: column.levels for j, column in enumerate(self.features) if column.treatment == "levels"}

    @property
    def qualitative(self) -> tuple[int, ...]:
        """The columns of X that hold codes of levels."""
        return tuple(self.levels)

    @property
    def left_out(self) -> dict[str, str]:
        """Name -> treatment of the columns that are no features and have no other role."""
        return {column.name: column.treatment for column in self.columns if column.treatment in LEFT_OUT}

    @classmethod
    def of_frame(
        cls, names: Sequence[str], levels: Mapping[int, tuple[str, ...]], task: str, classes: tuple[str, ...]
    ) -> Columns:
        """Return the reading rules of a table with a data frame's columns. levels : of the columns of words"""
        target = "class" if classes else "target"
        while target in names:
            target += "_"
        features = [
            Column(name, "levels", levels=levels[j]) if j in levels else Column(name, "number")
            for j, name in enumerate(names)
        ]
        listed = (*features, Column(target, "target"))
        return cls(listed, target, task, classes, format=FRAME, missing=MARKS)

    def to_plain(self) -> dict[str, Any]:
        """Return the columns as plain data for JSON, without values that are defaults."""
        names = [field.name for field in fields(self) if field.name != "header" or self.header]
        plain = {name: getattr(self, name) for name in names}
        usual = {field.name: field.default for field in fields(Column)}
        plain["columns"] = [
            {key: _listed(value) for key, value in asdict(column).items() if value != usual[key]}
            for column in self.columns
        ]
        return {key: _listed(value) for key, value in plain.items()}

    @classmethod
    def from_plain(cls, plain: Any, where: str = "columns") -> Columns:
        """Return the inverse of `to_plain`. DataError, whose message begins with `where`, for other data."""
        entries = _checked(plain, cls, where)
        listed = plain["columns"]
        if not isinstance(listed, list) or not 0 < len(listed) <= MAX_COLUMNS:
            raise DataError(f"{where}: columns must be a list of 1 to {MAX_COLUMNS} columns")
        columns = tuple(Column(**_checked(entry, Column, f"{where}: column {i}")) for i, entry in enumerate(listed, 1))
        decoded = cls(**{**entries, "columns": columns})
        if fault := next(decoded._faults(), ""):
            raise DataError(f"{where}: {fault}")
        return decoded

    def _faults(self) -> Iterator[str]:
        """Yield what is wrong with columns from plain data, as texts that follow the place."""
        for key, value, known in (("task", self.task, TASKS), ("format", self.format, FORMATS)):
            if value not in known:
                yield f"{key} must be one of {', '.join(known)}. Got {quoted(value)}"
        names = [column.name for column in self.columns]
        for column in self.columns:
            name = quoted(column.name)
            if column.treatment not in TREATMENTS:
                yield f"{quoted(column.treatment)} is no treatment of a column ({name})"
            if column.decimal not in (".", ",") or len(column.thousands) > 1 or column.decimal == column.thousands:
                yield f"column {name} has no usable form of numbers"
            if len(column.unit) > 2 * MOST_UNIT + 1 or any(map(str.isdecimal, column.unit[:1])):
                yield f"{quoted(column.unit)} is no unit (column {name})"
            if strange := [form for form in column.written if form not in CELL_FORMS]:
                yield f"{quoted(strange[0])} is no form of cells (column {name}); they are {', '.join(CELL_FORMS)}"
            if (column.treatment == "censored") != (column.of in names and column.of != column.name):
                yield f"column {name} says whether no other column is censored"
        if len(set(names)) < len(names):
            yield "two columns have one name"
        if any(len(set(some)) < len(some) for some in [self.classes, *(column.levels for column in self.columns)]):
            yield "a class or a level is there twice"
        if sum(len(column.levels) for column in self.columns) > MAX_LEVELS:
            yield f"more than {MAX_LEVELS} levels"
        if [column.name for column in self.columns if column.treatment == "target"] != [self.target]:
            yield f"{quoted(self.target)} is not the one column whose treatment is 'target'"
        if not self.features:
            yield "no column is a feature"
        if (self.task == "classification") != (len(self.classes) > 1):
            yield "classification needs two classes or more, and regression has none"
        if self.header not in ("", "none"):
            yield f"header must be none where it is given. Got {quoted(self.header)}"
        if self.format == "csv" and (len(self.delimiter) != 1 or self.delimiter in '"\r\n\0'):
            yield f"a delimiter is one character. Got {quoted(self.delimiter)}"
        try:
            charset_of(self.charset)
        except LookupError:
            yield f"there is no character set {quoted(self.charset)}"


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a table, read by its `Columns`.

    X        (m, p) float64, C order; NaN where a cell is missing; codes of levels. An unknown level, which no training
             row has, gets the code after the last one
    y        (m,) int32 codes of classes (-1: missing, or no class of `Columns`), or (m,) float64 with NaN where missing
             for regression; None if the file has no target column
    lines    (m,) line in the file of each row, from 1; the row number for Parquet
    unseen   column of X -> unknown levels in these rows, in the order they appear
    labels   text of the target, as the file has it, () without a target column
    texts    name -> cells of the additional columns that the user requests"""

    X: np.ndarray
    y: np.ndarray | None
    lines: np.ndarray
    unseen: Mapping[int, Sequence[str]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _checked(plain: Any, kind: Any, where: str) -> dict[str, Any]:
    """Return the entries of a mapping as arguments of a dataclass of texts and lists of texts."""
    if not isinstance(plain, Mapping):
        raise DataError(f"{where}: must be a mapping")
    wanted = {field.name: field for field in fields(kind)}
    required = {name for name, field in wanted.items() if field.default is MISSING}
    if lost := sorted(required - set(plain)):
        raise DataError(f"{where}: {lost[0]} is missing")
    if strange := sorted(map(str, set(plain) - set(wanted))):
        raise DataError(f"{where}: unknown key {quoted(strange[0])}")
    arguments: dict[str, Any] = {}
    for name, value in plain.items():
        if name == "columns":
            continue
        many = str(wanted[name].type).startswith("tuple")
        if many and isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            arguments[name] = tuple(value)
        elif not many and isinstance(value, str):
            arguments[name] = value
        else:
            raise DataError(f"{where}: {name} must be {'a list of texts' if many else 'a text'}")
    return arguments
