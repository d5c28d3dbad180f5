"""`Dataset`, the arrays of every experiment, and the conversion of a text table to a data set."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from oblique_cli.data.own.numbers import plain_numbers
from oblique_cli.data.own.roles import clash_of_roles
from oblique_cli.data.text_table import Table
from oblique_cli.errors import DataError
from oblique_cli.ground.labels import is_number, label_order
from oblique_cli.ground.registry import close_matches

# Usual words for "missing". Only an empty cell counts as missing here, so the error message names these words.
MISSING_WORDS = frozenset({"?", "na", "n/a", "nan", "null", "none", "missing", ".", "-"})


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows, labels and names of one data set, ready for folds.

    X              (n, p) float64, C order, read only; qualitative columns hold level codes 0..L-1, missing cells NaN
    y              (n,) int32 codes into `classes`, or (n,) float64 for regression; read only
    classes        labels in code order: numbers by value, then words by text; () for regression
    qualitative    indices of the qualitative columns
    levels         column index -> its levels in code order
    split          (train ids, test ids) of a set that comes with a fixed split, else None
    paper_code     name of the set in the papers' tables, "" if it has none
    note           one line a reader of the results should see, or ""
    groups         (n,) codes of the column `group_column`, whose equal values belong together; it is no feature. None
                   if there is no such column
    weights        (n,) float64, positive: how much a row counts when a model is fitted; None if all count alike
    notes          what was done to the columns of a user's own table, sentences; no part of the digest
    repeats        sentences on rows that look as if they belonged together, and no column of groups is named"""

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: tuple[str, ...]
    feature_names: tuple[str, ...]
    task: str = "classification"
    qualitative: tuple[int, ...] = ()
    levels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    split: tuple[np.ndarray, np.ndarray] | None = None
    paper_code: str = ""
    note: str = ""
    groups: np.ndarray | None = None
    group_column: str = ""
    weights: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def p(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of everything that can change a result: numbers, names, levels and split."""
        text = repr(
            (self.X.shape, self.task, self.classes, self.feature_names, self.qualitative, sorted(self.levels.items()))
        )
        hasher = hashlib.sha256(text.encode())
        # Little-endian bytes, so that the digest is the same on every machine.
        hasher.update(self.X.astype("<f8", copy=False).tobytes())
        hasher.update(self.y.astype("<f8" if self.task == "regression" else "<i4", copy=False).tobytes())
        for ids in self.split or ():
            hasher.update(b"part" + ids.astype("<i8", copy=False).tobytes())
        if self.groups is not None:
            hasher.update(b"groups" + self.group_column.encode() + self.groups.astype("<i8", copy=False).tobytes())
        if self.weights is not None:
            hasher.update(b"weights" + self.weights.astype("<f8", copy=False).tobytes())
        return hasher.hexdigest()


def from_table(
    table: Table,
    target: str,
    *,
    name: str,
    task: str = "classification",
    qualitative: Sequence[str] = (),
    missing: str = "error",
    encoding: str = "error",
    n_train: int | None = None,
    groups: str = "",
) -> Dataset:
    """Turn a table of text into a `Dataset` without `paper_code` and `note`.

    target        column of the class, or of the value to predict if `task` is "regression"
    qualitative   columns that hold levels whatever they look like; so does any other column that is not numeric, if
                  `encoding` allows it
    missing       "error", "drop" (rows with an empty cell are dropped), or "impute" and "keep" (the cells are NaN: for
                  later filling, or for an algorithm that accepts NaN)
    encoding      "error" refuses qualitative columns; all others keep level codes, encoded later on training rows
    n_train       rows before this one are the training part of an official split
    groups        column of groups (equal cells belong together), which is no feature; "" for none
    Raises DataError, whose message begins with `table.where`."""
    position = {column: i for i, column in enumerate(table.header)}
    roles = [(target, "target"), *((column, "qualitative column") for column in qualitative)]
    for wanted, role in [*roles, *([(groups, "the column of groups")] if groups else [])]:
        if wanted not in position:
            hint = close_matches(wanted, position) or f" Columns: {_few(table.header)}."
            raise DataError(f"{table.where}: there is no column {wanted!r} to use as {role}.{hint}")
    if clash := clash_of_roles(target, qualitative=qualitative, groups=groups):
        raise DataError(f"{table.where}: {clash}")
    if len(table.header) == 1:
        raise DataError(f"{table.where}: {target!r} is the only column, at least one feature is needed")

    ids = np.arange(len(table.lines))
    whole = _rows_to_keep(table, position[target], missing)
    if whole is not None:
        table, ids = table.keep(whole), ids[whole]
    y, classes = _target(table, position[target], task)
    features = [i for i, column in enumerate(table.header) if column not in (target, groups)]
    if not features:
        raise DataError(f"{table.where}: there is no column beside {target!r} and {groups!r}, at least one is needed")
    # Filled by column, then copied to row order, which every product with X needs.
    X = np.empty((len(features), len(table.lines)))
    levels: dict[int, tuple[str, ...]] = {}
    for j, i in enumerate(features):
        declared = table.header[i] in qualitative
        numbers = None if declared else _numbers(table, i)
        if numbers is not None:
            X[j] = numbers
        elif encoding != "error":
            X[j], levels[j] = _codes(table.columns[i])
        else:
            raise DataError(
                f"{table.where}: {_column(table, i)} is {'qualitative' if declared else _not_numeric(table, i)}; "
                "declare encoding: crimcoord, onehot or ordinal"
            )
    X = np.ascontiguousarray(X.T)
    X.flags.writeable = y.flags.writeable = False
    split = None if n_train is None else (np.flatnonzero(ids < n_train), np.flatnonzero(ids >= n_train))
    return Dataset(
        name=name,
        X=X,
        y=y,
        classes=classes,
        feature_names=tuple(table.header[i] for i in features),
        task=task,
        qualitative=tuple(levels),
        levels=levels,
        split=split,
        groups=_groups(table, position[groups]) if groups else None,
        group_column=groups,
    )


def _groups(table: Table, i: int) -> np.ndarray:
    """Return a code for every cell of a column; an empty cell is an error, because its row may belong to any group."""
    cells = table.columns[i]
    if "" in cells:
        line = table.lines[cells.index("")]
        raise DataError(f"{table.where}: {_column(table, i)} of groups is empty at line {line}; set missing: drop")
    return _codes(cells)[0].astype(np.int64)


def _few(names: Sequence[str]) -> str:
    """Return the first names of a long list, as text."""
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def _column(table: Table, i: int) -> str:
    """Return the name of column `i` in messages: its place in the file, counted from 1, and its name."""
    return f"column {i + 1} ({table.header[i]!r})"


def _rows_to_keep(table: Table, target: int, missing: str) -> list[bool] | None:
    """Return the mask of the rows to keep by the policy for empty cells, None for all. Labels must not be missing."""
    empty = [i for i, cells in enumerate(table.columns) if "" in cells]
    if not empty:
        return None
    if target in empty:
        row = table.columns[target].index("")
        raise DataError(f"{table.where}: the target {table.header[target]!r} is missing at line {table.lines[row]}")
    for i in empty:
        if not any(table.columns[i]):
            raise DataError(f"{table.where}: {_column(table, i)} is empty in every row; remove it")
    if missing == "error":
        count = table.columns[empty[0]].count("")
        values = "1 missing value" if count == 1 else f"{count} missing values"
        more = f" ({len(empty)} columns have some)" if len(empty) > 1 else ""
        raise DataError(f"{table.where}: {_column(table, empty[0])} has {values}{more}; set missing: impute or drop")
    if missing in ("impute", "keep"):
        return None
    whole = [all(cells) for cells in zip(*table.columns, strict=True)]
    if not any(whole):
        raise DataError(f"{table.where}: every row has a missing value, so drop would leave none; set missing: impute")
    return whole


def _target(table: Table, i: int, task: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return codes and classes, or the numbers of a regression target without classes."""
    cells = table.columns[i]
    if task == "regression":
        values = _numbers(table, i)
        if values is None:
            raise DataError(f"{table.where}: the target {table.header[i]!r} is not numeric, as regression needs")
        return values, ()
    for word in ("nan", "NaN"):
        if word in cells:
            row = cells.index(word)
            raise DataError(f"{table.where}: the target {table.header[i]!r} is {word!r} at line {table.lines[row]}")
    classes = tuple(sorted(set(cells), key=label_order))
    if len(classes) == 1:
        raise DataError(
            f"{table.where}: the target {table.header[i]!r} has only one class, {classes[0]!r}, in {len(cells)} rows; "
            "at least two are needed"
        )
    code = {label: k for k, label in enumerate(classes)}
    return np.fromiter(map(code.__getitem__, cells), dtype=np.int32, count=len(cells)), classes


def _numbers(table: Table, i: int) -> np.ndarray | None:
    """Return the numbers of column `i`, NaN for empty cells; None if it holds words.

    A column of numbers whose only words mean "missing" or "infinite" is refused, not treated as levels."""
    cells = table.columns[i]
    if (numbers := plain_numbers(list(filter(None, cells)))) is not None:
        values = np.full(len(cells), math.nan)
        values[np.fromiter(map(bool, cells), bool, len(cells))] = numbers
        return values
    words = {cell for cell in cells if cell and not is_number(cell)}
    some_numbers = len(words) < len(set(cells) - {""})
    infinite = {word for word in words if _is_not_finite(word)}
    if (some_numbers or infinite) and all(word.lower() in MISSING_WORDS for word in words - infinite):
        row = next(k for k, cell in enumerate(cells) if cell in words)
        raise DataError(
            f"{table.where}: {_column(table, i)} holds {cells[row]!r} at line {table.lines[row]}, not a finite number; "
            "leave the cell empty if the value is missing"
        )
    return None


def _not_numeric(table: Table, i: int) -> str:
    row = next(k for k, cell in enumerate(table.columns[i]) if cell and not is_number(cell))
    return f"not numeric (first such value {table.columns[i][row]!r} at line {table.lines[row]})"


def _is_not_finite(cell: str) -> bool:
    """Return whether the text is a NaN, an infinity, or a number beyond the range of a float."""
    try:
        return not math.isfinite(float(cell))
    except ValueError:
        return False


def _codes(cells: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return level codes as float64, NaN for empty cells, and the levels in code order."""
    levels = tuple(sorted(set(cells) - {""}, key=label_order))
    code = {"": math.nan} | {level: float(k) for k, level in enumerate(levels)}
    return np.fromiter(map(code.__getitem__, cells), float, len(cells)), levels
