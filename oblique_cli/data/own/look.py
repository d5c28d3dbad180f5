"""Analysis of a whole user's table: roles of its columns, forms of its cells, and messages about it."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from oblique_cli.data.dataset import Dataset
from oblique_cli.data.own import numbers as own_numbers
from oblique_cli.data.own import roles as own_roles
from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.cells import feature_values, target_values
from oblique_cli.data.own.column_type import ColumnTypes, Marks
from oblique_cli.data.own.columns import FEATURES, Column, Columns
from oblique_cli.data.own.notes import WHY, as_typed, conversions, few, named_sign, row_count, short
from oblique_cli.data.own.numbers import Form
from oblique_cli.data.own.opened import NeedsTexts, NumberCells
from oblique_cli.data.own.repeats import LEAST_LEVELS, repeats_of
from oblique_cli.data.own.source import STDIN, Source, source_of, stem
from oblique_cli.data.own.text import DELIMITERS
from oblique_cli.errors import ConfigError, DataError, cut_list, quoted
from oblique_cli.ground.bounds import TABLE_CELLS
from oblique_cli.ground.labels import OTHER, label_order
from oblique_cli.ground.nouns import TableOptions
from oblique_cli.ground.registry import close_matches

_DOUBLE = re.compile(r"\d+(?:[.,]\d+)?\s*/\s*\d+(?:[.,]\d+)?")  # 120/80
LISTS = ("drop", "keep", "features", "qualitative")  # lists of column names; a name may be a comma-separated list


@dataclass(frozen=True)
class Reading(TableOptions):
    """Reading options of the user.

    algorithms   task of the chosen algorithms: it decides an unclear task; a clear task of another kind is an error
    groups       column of groups (equal cells belong together); it is no feature
    weights      column of row weights, numbers from 0 up; it is no feature, and rows of weight 0 are dropped"""

    target: str | None = None
    algorithms: str = ""
    groups: str = ""
    weights: str = ""


def read_own(
    source: str | Path | Source, reading: Reading | None = None, name: str = ""
) -> tuple[Dataset, Columns, tuple[str, ...]]:
    """Read a user's table: a path, "-" for standard input, or a `Source`.

    returns the data set, its reading rules, and messages on the treatment of its columns, in a fixed order
    raises DataError for an unusable table, ConfigError for a missing option (the target, the task)"""
    reading = reading or Reading()
    name = name or stem((source.path or STDIN) if isinstance(source, Source) else source)
    source, texts = source if isinstance(source, Source) else source_of(source), frozenset[str]()
    while True:
        try:
            look = _Look(source, reading, texts)
            return look.dataset(name), look.columns, tuple(look.notes)
        except NeedsTexts as columns:
            texts |= columns.names


class _Look:
    """One analyzed table: `columns` holds the decisions, `notes` describes them."""

    def __init__(self, source: Source, reading: Reading, texts: Collection[str] = ()) -> None:
        self.where = source.where
        self.files = dict(source.beside)  # of columns in separate files
        self.notes: list[str] = []
        with own_rows.opened(source, reading) as table:
            self.header, self.kinds, self.typed, self.likely = table.header, table.kinds, table.typed, table.target
            self.kind, self.delimiter, self.charset = table.format, table.delimiter, table.charset
            self.written = table.written
            most = TABLE_CELLS.value
            limit = most // len(self.header)  # rows, including the header
            lists: dict[str, Any] = {key: own_roles.listed(getattr(reading, key), self.header) for key in LISTS}
            self.marks = Marks(reading.missing_marks, reading.only_marks)
            as_texts = {*texts, *self.kinds, *lists["qualitative"], reading.target, reading.groups, reading.weights}
            plain = not (reading.decimal or reading.thousands or reading.missing_marks or reading.only_marks)
            plain = plain and all(own_numbers.plain_numbers([name]) is None for name in self.written)
            wanted = as_texts if plain else None
            self.lines, self.cells = own_rows.columns_of(table, limit, wanted, self.marks.known)
            self.notes += table.notes
        if reading.target in lists["qualitative"] and reading.task != "regression":  # levels of a target are classes
            lists["qualitative"] = tuple(name for name in lists["qualitative"] if name != reading.target)
            lists["task"] = "classification"
        self.reading = replace(reading, **lists)
        if len(self.lines) == limit:
            raise DataError(f"{self.where}: the table holds more than {most} cells; {TABLE_CELLS.advice}")
        if not self.lines:
            raise DataError(f"{self.where}: there are no rows below the header")
        self.counts = [Counter(_texts_in(cells)) for cells in self.cells]
        self._check_header()
        self.target = self._target()
        self._check_names()
        self._check_doubled()
        self._decide()

    # Options of the user

    def _target(self) -> str:
        target = self.reading.target
        if target is None:
            named = {column.casefold(): column for column in self.header}
            usual = next((named[name] for name in own_roles.TARGET_NAMES if name in named), self.header[-1])
            suggested = self.likely or usual
            beside = ", or name a second file with the labels, as in --target y.npy" if self.kind == "npy" else ""
            raise ConfigError(
                f"{self.where}: which column is to be predicted? Its columns are {few(self.header)}; say it with "
                f"--target, as in --target {as_typed(suggested)}{beside}."
            )
        return target

    def _check_names(self) -> None:
        r = self.reading
        roles = [([self.target], "target"), (r.drop, "a column to drop"), (r.keep, "a column to keep")]
        roles += [(r.features, "a feature"), (r.qualitative, "qualitative column")]
        roles += [([r.groups] if r.groups else [], "the column of groups")]
        roles += [([r.weights] if r.weights else [], "weights")]
        for names, role in roles:
            for name in names:
                if name not in self.header and not (name == "*" and names is r.keep):
                    hint = close_matches(name, short(self.header)) or f" Columns: {few(self.header)}."
                    if any(own_numbers.plain_numbers([written]) is not None for written in self.written if written):
                        at = f"'column {len(self.header)}'"
                        hint += (
                            f" If the first row has no names, say --header none, and name a column by its place: {at}."
                        )
                    raise DataError(f"{self.where}: there is no column {quoted(name)} to use as {role}.{hint}")
        lists = {key: getattr(r, key) for key in LISTS}
        if clash := own_roles.clash_of_roles(self.target, r.weights, groups=r.groups, **lists):
            raise DataError(f"{self.where}: {clash}")
        if len(self.header) == 1:
            raise DataError(f"{self.where}: {quoted(self.target)} is the only column, at least one feature is needed")

    def _check_doubled(self) -> None:
        """Report columns with a repeated name; ConfigError for the target, since a copy would reveal it."""
        for i, (name, written) in enumerate(zip(self.header, self.written, strict=True), 1):
            if written and name != written:
                first = self.header.index(written) + 1
                if written == self.target and name not in self.reading.drop and not self.reading.features:
                    raise ConfigError(
                        f"{self.where}: columns {first} and {i} are both named {quoted(written)}, the target; leave "
                        f"the other one out, as in --drop {as_typed(name)}, or say --target {as_typed(name)}."
                    )
                self.notes.append(
                    f"columns {first} and {i} are both named {quoted(written)}; the second is {quoted(name)} here."
                )

    # Evidence of the table

    def _decide(self) -> None:
        counts, r = self.counts, self.reading
        values = [
            ["1.5" if cells.pointed else "1"] if isinstance(cells, NumberCells) else self.marks.among_numbers(count)
            for cells, count in zip(self.cells, counts, strict=True)
        ]
        decimal = own_numbers.POINT if self.typed else own_numbers.NAMED_MARKS.get(r.decimal)
        only = bool(decimal)
        forms = own_numbers.forms(decimal or own_numbers.decimal_mark(values, self.delimiter), r.thousands, only=only)
        self.types = ColumnTypes(self.where, r, self.marks, forms, self.kinds, self.lines)
        i = self.header.index(self.target)
        self.target_form = self._target_form(i)
        self.task = self._task(i, counts[i])
        self.respelled: list[str] = []  # labels that are a class in another spelling
        self.labels = self._labels(counts[i])
        listed = []
        for j, name in enumerate(self.header):
            if name == self.target:
                form = self.target_form if self.task == "regression" or self.respelled else None
                listed.append(Column(name, "target", **(form or Form())._asdict()))
            elif name == r.groups:
                listed.append(Column(name, "groups"))
            elif name in (*r.drop, r.weights) or (r.features and name not in r.features):
                listed.append(Column(name, "dropped"))
            elif isinstance(self.cells[j], NumberCells):
                listed.append(self.types.of_numbers(name, self.cells[j]))
            else:
                listed.append(self.types.column(j, name, self.cells[j], counts[j]))
        listed = self._ranks_kept(listed)
        if not any(column.treatment in FEATURES for column in listed):
            listed = [self._used_all_the_same(column) for column in listed]
        listed += self._indicators(listed)
        self.columns = Columns(
            columns=tuple(listed),
            target=self.target,
            task=self.task,
            classes=self.labels if self.task == "classification" else (),
            format=self.kind,
            delimiter=self.delimiter,
            charset=self.charset,
            header="none" if r.header == "none" else "",
            missing=self.marks.known,
        )
        if not self.columns.features:
            left = ", ".join(f"{quoted(name)} ({WHY[why]})" for name, why in self.columns.left_out.items())
            advice = f": {left}; --keep brings a column back" if left else ""
            raise DataError(f"{self.where}: there is no column to predict {quoted(self.target)} from{advice}")

    def _check_header(self) -> None:
        """Raise DataError if the column names look like the cells below: numbers, or repeated words."""
        if self.reading.header or self.kind not in ("csv", "excel") or self.kinds:
            return
        numbers = [own_numbers.plain_numbers([name]) is not None for name in self.written]
        if not any(numbers) or not all(map(operator.or_, numbers, map(operator.contains, self.counts, self.written))):
            return
        below = [[cell for cell in count if cell] for count, number in zip(self.counts, numbers, strict=True) if number]
        if all(own_numbers.plain_numbers(cells) is not None for cells in below):
            raise DataError(
                f"{self.where}: the first row is like those below it, so it is hardly a header; say --header none if "
                "it is a row, or --header first if it has the names of the columns"
            )

    def _ranks_kept(self, listed: list[Column]) -> list[Column]:
        """Return the columns, with row numberings that can only be ranks changed to numbers."""
        forms: dict[int, Form] = {}
        for j, column in enumerate(listed):
            if column.treatment == "identifier" and not own_roles.is_named_identifier(column.name):
                counts = self.counts[j] if not isinstance(self.cells[j], NumberCells) else Counter()
                form = own_numbers.form_of(self.marks.among_numbers(counts), self.types.forms)
                forms |= {} if form is None else {j: form}
        if len(forms) < 2:
            return listed
        used = {j: listed[j].as_number(f) for j, f in forms.items()}
        numbers = {
            j: feature_values(c, self.cells[j], self.marks.known, self.lines, self.where)[0].tolist()
            for j, c in used.items()
        }
        for j in own_roles.ranks(numbers):
            listed[j] = used[j]
        return listed

    def _used_all_the_same(self, column: Column) -> Column:
        """Return the column as a number if it looks like row numbers but there is no better feature."""
        if column.treatment != "identifier" or column.name in self.reading.drop:
            return column
        cells = {cell for cell in _texts_in(self.cells[self.header.index(column.name)]) if cell}
        form = own_numbers.form_of(cells, self.types.forms)
        if form is None:
            return column
        self.notes.append(f"{quoted(column.name)} may be row numbers; it is used, as no other column is left.")
        return column.as_number(form)

    def _indicators(self, listed: Sequence[Column]) -> list[Column]:
        """Return an indicator for each feature that has bounds such as <0.4."""
        indicators: list[Column] = []
        for column in listed:
            if column.treatment == "number" and "censored" in column.written:
                name = f"{column.name} censored"
                while name in self.header:
                    name += "_"
                indicators.append(replace(column, name=name, treatment="censored", of=column.name))
        return indicators

    def _target_form(self, i: int) -> Form | None:
        """Return the number format of the target, None if it holds classes in words or codes."""
        counts = self.counts[i]
        values = self.marks.among_numbers(counts)
        form = self.types.number_form(values, self.reading.task == "regression")
        if form is not None or not values or self.reading.task == "classification":
            return form
        mostly = own_numbers.mostly_numbers(values, self.types.forms)
        is_number = self.reading.task == "regression" or own_numbers.NONNUMERIC in self.marks.added
        if mostly is not None and (is_number or not mostly.odd):
            few = len(mostly.numbers) <= own_roles.FEW_CLASSES
            if self.reading.task or not (mostly.form.written and few):
                return mostly.form
        return None

    def _task(self, i: int, counts: Counter[str]) -> str:
        """Return the task of the options, or the task that the target suggests."""
        r = self.reading
        if r.task:
            return r.task
        if not r.algorithms and self.kinds.get(self.target) == "levels":
            return "classification"
        labels = Counter({cell: count for cell, count in counts.items() if not self._is_missing_label(cell, counts)})
        if not labels:
            raise DataError(f"{self.where}: the target {quoted(self.target)} is missing in every row")
        numbers = None
        if self.kinds.get(self.target) == "number" and len(labels) > 2 and not r.algorithms:
            return "regression"
        if self.target_form is not None:
            labels = self.marks.among_numbers(labels)
            labels = Counter({cell: count for cell, count in labels.items() if self.target_form.holds(cell)})
            numbers = [self.target_form.value(cell) for cell in labels]
        elif not own_roles.are_padded(labels):
            self.types.check_numbers(i, self.target, self.cells[i], counts)
        try:
            guess = own_roles.guess_task(self.target, labels, numbers)
        except ConfigError as error:
            if r.algorithms:
                return r.algorithms
            raise ConfigError(f"{self.where}: {error}") from None
        if guess == "regression" and r.algorithms == "classification":
            raise ConfigError(
                f"{self.where}: the target {quoted(self.target)} has {len(labels)} different numbers, and the "
                "algorithms predict classes: choose algorithms for regression (oblique list algorithms), or set task: "
                "classification if every number is a class."
            )
        # Conversely, a few integers are ordinary values.
        return r.algorithms if r.algorithms and numbers is not None else guess

    def _is_missing_label(self, cell: str, counts: Mapping[str, int]) -> bool:
        """Return whether a cell of the target is a missing label; in a number column every mark is."""
        if self.marks.added or self.target_form is None:
            return self.marks.in_words(cell, counts)
        return self.marks.in_numbers(cell)

    def _labels(self, counts: Counter[str]) -> tuple[str, ...]:
        if self.task == "regression":
            return ()
        labels = [cell for cell in counts if not self._is_missing_label(cell, counts)]
        shortest: dict[Any, str] = {}
        if self.target_form is not None:
            for cell in sorted(labels, key=lambda cell: (len(cell), cell)):
                shortest.setdefault(self.target_form.exact(cell), cell)
        else:
            shortest = own_roles.merged({cell: counts[cell] for cell in labels})
        self.respelled = sorted(set(labels) - set(shortest.values()))
        labels = list(set(shortest.values()))
        classes = tuple(sorted(labels, key=label_order))
        if len(classes) < 2:
            only = (
                f"has only one class, {quoted(classes[0])}, in {len(self.lines)} rows"
                if classes
                else "is missing in every row"
            )
            raise DataError(f"{self.where}: the target {quoted(self.target)} {only}; at least two are needed")
        return classes

    # The arrays

    def dataset(self, name: str) -> Dataset:
        """Return the rows as numbers, without rows that the policy for missing values drops."""
        r, columns = self.reading, self.columns
        at = self.header.index(self.target)
        y, labels_there = target_values(columns, columns.columns[at], self.cells[at], self.lines, self.where)
        used = [j for j, column in enumerate(columns.columns) if column.treatment in FEATURES]
        X = np.empty((len(used), len(self.lines)))
        for i, j in enumerate(used):
            cells = self.cells[self.header.index(columns.columns[j].source)]
            X[i], _ = feature_values(columns.columns[j], cells, columns.missing, self.lines, self.where)
        stays = self._with_target(np.array(labels_there))
        gaps = np.isnan(X)
        if r.missing == "error":
            self._refuse_gaps(gaps, used)
        weights = self._weights() if r.weights else None
        if weights is not None:
            stays = self._of_some_weight(stays, weights)
        groups = self._groups(stays) if r.groups else None
        lacking = np.asarray(gaps.any(axis=0))
        if groups is not None:
            lacking = lacking | (groups < 0)
        if r.missing == "drop":
            stays = self._whole(stays, lacking)
        if r.encoding == "error" and columns.levels:
            raise self._fault_of_levels(used)
        X, y = np.ascontiguousarray(X.T[stays]), y[stays]
        X.flags.writeable = y.flags.writeable = False
        if lost := [quoted(label) for code, label in enumerate(columns.classes) if not (y == code).any()]:
            self.notes.append(f"no row is left of {cut_list(lost)}.")
        self._report(X, y)
        names = [name for name in self.header if name not in (self.target, r.weights)]
        beside = {name: self._texts_beside(name, stays, y) for name in names} if not r.groups else {}
        return Dataset(
            name=name,
            X=X,
            y=y,
            classes=columns.classes,
            feature_names=columns.feature_names,
            task=self.task,
            qualitative=columns.qualitative,
            levels=columns.levels,
            groups=None if groups is None else groups[stays],
            group_column=r.groups,
            weights=None if weights is None else weights[stays],
            notes=tuple(self.notes),
            repeats=() if r.groups else repeats_of(beside, X, columns.feature_names, columns.qualitative, y),
        )

    def _texts_beside(self, name: str, stays: np.ndarray, y: np.ndarray) -> Sequence[str]:
        """Return the cells of the remaining rows; () for numbers that no message of `repeats_of` can name."""
        cells = self.cells[self.header.index(name)]
        if not isinstance(cells, NumberCells):
            return tuple(itertools.compress(cells, stays))
        values = cells.values[stays]
        if not cells.integral and not any(cells.others) and (stays.all() or (values % 1 > 0).any()):
            return ()
        number = len(np.unique(values))
        if number > len(y) / 2 or (cells.integral and number + len(cells.others) < LEAST_LEVELS):
            return ()
        texts = cells.texts(stays)
        if texts is None:
            raise NeedsTexts([name])
        return texts

    def _with_target(self, stays: np.ndarray) -> np.ndarray:
        """Return the rows with a target; DataError for a missing target if missing values are errors."""
        if not stays.all():
            first = int(np.flatnonzero(~stays)[0])
            if self.reading.missing == "error":
                raise DataError(
                    f"{self.where}: the target {quoted(self.target)} is missing at line {self.lines[first]}"
                )
            self.notes.append(f"{row_count(int((~stays).sum()))} without a value of {quoted(self.target)} left out.")
        return stays

    def _refuse_gaps(self, gaps: np.ndarray, used: Sequence[int]) -> None:
        """Raise DataError for the first column with missing values. gaps : (features, rows)"""
        some = np.flatnonzero(gaps.any(axis=1))
        if not len(some):
            return
        count, name = int(gaps[some[0]].sum()), quoted(self.columns.columns[used[some[0]]].name)
        more = f" ({len(some)} columns have some)" if len(some) > 1 else ""
        raise DataError(
            f"{self.where}: column {used[some[0]] + 1} ({name}) has {count} missing "
            f"value{'' if count == 1 else 's'}{more}; set missing: impute or drop"
        )

    def _of_some_weight(self, stays: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the rows of positive weight."""
        if (weights[stays] > 0).all():
            return stays
        count = int((weights[stays] == 0).sum())
        stays = stays & (weights > 0)
        if not stays.any():
            raise DataError(
                f"{self.where}: every weight in column {quoted(self.reading.weights)} is 0; at least one must not be"
            )
        self.notes.append(f"{row_count(count)} of weight 0 left out.")
        return stays

    def _whole(self, stays: np.ndarray, lacking: np.ndarray) -> np.ndarray:
        """Return the rows without missing values."""
        if not lacking[stays].any():
            return stays
        whole: np.ndarray = stays & ~lacking
        if not whole.any():
            raise DataError(
                f"{self.where}: every row has a missing value, so drop would leave none; set missing: impute"
            )
        self.notes.append(f"{row_count(int((stays & ~whole).sum()))} with a missing value left out (missing: drop).")
        return whole

    def _fault_of_levels(self, used: Sequence[int]) -> DataError:
        """Return the error for the first column of levels if no encoding is set."""
        columns = self.columns.columns
        j = next(j for j in used if columns[j].treatment == "levels")
        word = next((k for k, cell in enumerate(self.cells[j]) if cell and not Form().holds(cell)), 0)
        declared = self.header[j] in self.reading.qualitative or self.kinds.get(self.header[j]) == "levels"
        why = "qualitative" if declared else f"not numeric (first such value {quoted(self.cells[j][word])} at line "
        why += "" if declared else f"{self.lines[word]})"
        return DataError(
            f"{self.where}: column {j + 1} ({quoted(self.header[j])}) is {why}; "
            "declare encoding: crimcoord, onehot or ordinal"
        )

    def _weights(self) -> np.ndarray:
        """Return the weight of every row. DataError, with the row, for a cell that is not a number from 0 up."""
        name = self.reading.weights
        cells = self.cells[self.header.index(name)]
        forms = self.types.forms
        numeric = [cell for cell in dict.fromkeys(cells) if own_numbers.form_of([cell], forms) is not None]
        form = (own_numbers.form_of(numeric, forms) if numeric else None) or Form()
        value = {cell: form.value(cell) if form.holds(cell) else math.nan for cell in dict.fromkeys(cells)}
        wrong = {cell for cell, w in value.items() if not (math.isfinite(w) and w >= 0)}
        if wrong:
            k = next(k for k, cell in enumerate(cells) if cell in wrong)
            held = quoted(cells[k]) if cells[k] else "no number"
            place = f"row {k + 1}" if self.kind == "npy" else f"row {k + 1} (line {self.lines[k]})"
            where = self.files.get(name) or f"{self.where}: column {quoted(name)}"
            raise DataError(f"{where} holds {held} in {place}; a weight is a number from 0 up")
        return np.fromiter((value[cell] for cell in cells), np.float64, len(cells))

    def _groups(self, stays: np.ndarray) -> np.ndarray:
        """Return the group of every row, -1 for none. DataError for a row without one, unless it is dropped."""
        name = self.reading.groups
        cells = self.cells[self.header.index(name)]
        counts = Counter(cells)
        known = [cell for cell in counts if not self.marks.in_words(cell, counts)]
        code = {cell: k for k, cell in enumerate(sorted(known, key=label_order))}
        groups = np.array([code.get(cell, -1) for cell in cells], dtype=np.int64)
        without = np.flatnonzero(stays & (groups < 0))
        if len(without) and self.reading.missing != "drop":
            what = f"is {quoted(cells[without[0]])}" if cells[without[0]] else "is empty"
            line = self.lines[without[0]]
            raise DataError(
                f"{self.where}: column {quoted(name)} of groups {what} at line {line}; set missing: drop, or fill it in"
            )
        return groups

    # Messages for the user

    def _report(self, X: np.ndarray, y: np.ndarray) -> None:
        columns, r = self.columns, self.reading
        out: list[str] = []
        if self.kind == "csv":
            form = [DELIMITERS.get(self.delimiter, repr(self.delimiter)) + " between cells"] * (self.delimiter != ",")
            marks = {column.decimal for column in columns.columns if column.treatment in ("number", "target")}
            signs = {column.thousands for column in columns.columns} - {""}
            form += ["decimal comma"] * ("," in marks)
            form += [f"{named_sign(sign)} between thousands" for sign in sorted(signs)]
            form += [self.charset] * (self.charset != "utf-8")
            if form:
                out.append(f"read with {', '.join(form)}.")
        predicted = f"{len(columns.classes)} classes of" if columns.classes else "numbers of"
        guessed = "" if r.task or r.algorithms else " (--task changes that)" * bool(self.target_form)
        out.append(f"{self.task}: {predicted} {quoted(self.target)} in {len(y)} rows{guessed}.")
        if self.respelled:
            out.append(f"spellings of one label are one class: {few(self.respelled)} among {few(columns.classes)}.")
        out += self._conversions()
        left = {name: why for name, why in columns.left_out.items() if why != "dropped"}
        if left:
            named = [f"{quoted(name)} ({WHY[why]})" for name, why in left.items()]
            out.append(f"left out: {cut_list(named)}; --keep brings a column back.")
        out += [
            f"{quoted(name)} holds two numbers in a cell ({quoted(cell)}), which are no number; divide it into "
            "two columns (--qualitative COLUMN takes levels, --drop COLUMN leaves it out)."
            for name, cell in self._doubles()
        ]
        levels = [f"{quoted(columns.feature_names[j])} ({len(some)})" for j, some in columns.levels.items()]
        if levels:
            out.append(f"words are levels: {cut_list(levels)}.")
        dates = [quoted(column.name) for column in columns.columns if column.treatment == "days"]
        if dates:
            out.append(f"dates are days since 1970-01-01: {cut_list(dates)}.")
        gaps = np.isnan(X)
        if gaps.any():
            seen: dict[str, None] = {}  # marks as written; the empty cell needs no mention
            for column, cells in zip(columns.columns, self.cells, strict=False):  # without the indicators
                if column.treatment in FEATURES:
                    known = set(column.levels)
                    texts = set(_texts_in(cells))
                    seen |= dict.fromkeys(sorted(c for c in texts - known if c.lower() in columns.missing))
            as_marks = f", marked {', '.join(map(quoted, seen))}" if seen else ""
            n_columns = int(gaps.any(axis=0).sum())
            count = int(gaps.sum())
            fate = {"impute": " filled from training rows", "keep": " kept"}.get(r.missing, "")
            out.append(
                f"{count} missing cell{'' if count == 1 else 's'} in {n_columns} "
                f"column{'' if n_columns == 1 else 's'}{as_marks}{fate}."
            )
        self.notes[:0] = out

    def _doubles(self) -> list[tuple[str, str]]:
        """Return the word columns most of whose cells look like 120/80, each with an example."""
        doubles = []
        for column in self.columns.columns:
            named = column.name in (*self.reading.qualitative, *self.reading.keep)
            if column.treatment in ("levels", "identifier", "text") and not named:
                counts = self.counts[self.header.index(column.name)]
                cells = [cell for cell in counts if _DOUBLE.fullmatch(cell)]
                if 2 * sum(counts[cell] for cell in cells) > sum(rows for cell, rows in counts.items() if cell):
                    doubles.append((column.name, cells[0]))
        return doubles

    def _conversions(self) -> list[str]:
        """Return messages on the conversion of cells, one per kind."""
        columns, types = self.columns.columns, self.types
        used = [column for column in columns if column.treatment in ("number", "target")]
        done = [conversions(column, _texts_in(self.cells[self.header.index(column.name)])) for column in used]
        bounds = [quoted(column.name) for column in columns if column.of]
        odd: list[str] = []
        for column in used if own_numbers.NONNUMERIC in self.marks.added else ():
            cells = self.marks.among_numbers(self.counts[self.header.index(column.name)])
            wrong = [cell for cell in cells if not column.form.holds(cell)]
            if wrong and (column.treatment == "number" or self.task == "regression"):
                odd.append(f"{quoted(column.name)} ({few(wrong)})")
        listed = [
            ("cells are converted to numbers", [text for text in done if text], "--qualitative COLUMN takes levels"),
            ("1 where a cell is a bound, else 0", bounds, ""),
            ("cells that are no numbers are missing", odd, ""),
            ("whole numbers with a leading zero are codes", types.padded, ""),
            ("numbers among other codes are codes", types.codes, ""),
            ("spellings of one level are one", types.spellings, ""),
            (f"rare levels are one, {OTHER}", types.grouped, "--keep COLUMN takes all levels"),
        ]
        return [f"{what}: {cut_list(some)}{'; ' * bool(how)}{how}." for what, some, how in listed if some]


def _texts_in(cells: Any) -> Any:
    """Return the cells of a column that are texts."""
    return cells.others if isinstance(cells, NumberCells) else cells
