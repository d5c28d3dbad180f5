"""Predictions for a table of new rows, in blocks of rows and constant memory."""

from __future__ import annotations

import itertools
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data import parquet
from oblique_cli.data.csv_text import csv_cell, escaped
from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.nouns import NO_OPTIONS, TextOptions
from oblique_cli.models.model import Model

if TYPE_CHECKING:
    from oblique_cli.data.own.front import Chunk

ROWS = 16_384  # rows to read at once
BETWEEN = "|"  # separator of the labels of a set in one cell
MOST_NAMED = 5  # unknown levels of a column to name


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions for some rows.

    shares   (m, C) class shares, leaves : (m,) or (m, trees) node numbers; None where they were not requested
    sets     (m, C) which classes are in the sets, intervals : (m, 2) their ends; None if not requested
    """

    first: int  # number of the first row in the table, from 1
    labels: NDArray[Any]  # (m,) labels as text, or numbers in regression
    shares: Array | None
    leaves: NDArray[Any] | None
    chunk: Chunk  # the rows as read
    sets: NDArray[np.bool_] | None = None
    intervals: Array | None = None
    quantiles: Array | None = None  # (m, k) of the target, None if not requested
    shares_asked: tuple[float, ...] = ()  # the shares of these quantiles

    def columns(self, classes: Sequence[str], lists: bool = False) -> dict[str, NDArray[Any]]:
        """Return the columns of predictions by their names. lists : of labels in sets, in place of one text"""
        columns = {"row": np.arange(self.first, self.first + len(self.labels)), "prediction": self.labels}
        if self.shares is not None:
            columns |= {f"p({label})": column for label, column in zip(classes, self.shares.T, strict=True)}
        if self.leaves is not None and self.leaves.ndim == 1:
            columns["leaf"] = self.leaves
        elif self.leaves is not None:
            columns |= {f"leaf {i}": column for i, column in enumerate(self.leaves.T, start=1)}
        if self.sets is not None:
            members = ([classes[k] for k in np.flatnonzero(inside).tolist()] for inside in self.sets)
            columns["set"] = np.fromiter(members if lists else map(BETWEEN.join, members), object, len(self.sets))
        if self.intervals is not None:
            columns |= {"low": self.intervals[:, 0], "high": self.intervals[:, 1]}
        if self.quantiles is not None:
            names = map(quantile_name, self.shares_asked)
            columns |= dict(zip(names, self.quantiles.T, strict=True))
        return columns

    def kept_columns(self, names: Iterable[str]) -> dict[str, Sequence[str]]:
        """Return the texts of the retained columns, with "input." before a name that a prediction column has."""
        taken = {*names, "probabilities", "leaf"}  # the last two are keys of JSON
        columns: dict[str, Sequence[str]] = {}
        for name, texts in self.chunk.texts.items():
            while name in taken or name in columns:
                name = f"input.{name}"
            columns[name] = texts
        return columns


@dataclass(frozen=True)
class Request:
    """Requested outputs beside the prediction. abstain : None for predictions whose set has not exactly one class"""

    proba: bool = False
    leaf: bool = False
    sets: bool = False
    intervals: bool = False
    abstain: bool = False
    quantiles: tuple[float, ...] = ()  # shares, () for none


@dataclass
class Unseen:
    """Levels that the training rows did not have: number of rows with such a level, and the levels by column."""

    rows: Counter[str] = field(default_factory=Counter)
    levels: dict[str, list[str]] = field(default_factory=dict)
    fate: str = "it counts as no level at all"  # what the model makes of them

    def add(self, model: Model, chunk: Chunk) -> None:
        """Count the unknown levels of some rows."""
        indicators = model.encoder is not None and model.encoder.levels is not None
        as_numbers = not indicators and not model.fitted.state.get("levels_")
        self.fate = "its code is one above the last (encoding ordinal)" if as_numbers else self.fate
        if not as_numbers and not indicators and "columns_" in model.fitted.state:
            usual = model.parameters.get("missing") == "impute"
            self.fate = f"it {'counts as the most frequent level' if usual else 'goes down all branches, by shares'}"
        for j, unseen_levels in chunk.unseen.items():
            name = model.feature_names[j]
            known = len(model.columns.levels[j])
            self.rows[name] += int((chunk.X[:, j] >= known).sum())
            named = self.levels.setdefault(name, [])
            named += [level for level in dict.fromkeys(unseen_levels) if level not in named][
                : MOST_NAMED + 1 - len(named)
            ]

    def sentences(self) -> list[str]:
        """Return the messages for the user."""
        messages = []
        for name, rows in self.rows.items():
            levels = self.levels[name]
            more = ", ..." if len(levels) > MOST_NAMED else ""
            shown = ", ".join(map(quoted, levels[:MOST_NAMED])) + more
            messages.append(
                f"{quoted(name)}: {rows} row{'s have' if rows > 1 else ' has'} a level that the training rows did not "
                f"have ({shown}); {self.fate}."
            )
        return messages


def quantile_name(share: float) -> str:
    """Return the column name of a quantile: "q0.1"."""
    return f"q{share!r}"


def needs_table(model: Model, path: str) -> None:
    """Raise ConfigError for a model that cannot read a table."""
    if model.columns is None:
        raise ConfigError(
            f"{path}: this model was saved from Python and knows no table; load it there (oblique_cli.load), or fit "
            "it by oblique fit."
        )


def rows_of(model: Model, path: str, table: str) -> tuple[Array, NDArray[Any] | None]:
    """Return all rows of a table as `Model.predict` takes them, (n, p), and their codes of classes or numbers, (n,).

    path, table : files of the model and of the rows. The second result is None for a table without the target column.
    Rows whose target is missing, or is no class of the model, are left out. ConfigError for a model saved from Python
    """
    from oblique_cli.data.own.front import chunks

    needs_table(model, path)
    parts = list(chunks(table, model.columns))
    X = np.concatenate([part.X for part in parts]) if parts else np.zeros((0, len(model.feature_names)))
    labels = [part.y for part in parts if part.y is not None]
    if not parts or len(labels) < len(parts):
        return X, None
    y = np.concatenate(labels)
    known = y >= 0 if model.classes else np.isfinite(y)
    return X[known], y[known]


def identifiers(model: Model, source: Any, options: TextOptions = NO_OPTIONS) -> tuple[str, ...]:
    """Return the columns of a table that were left out as identifiers when the model was fitted.

    source : a path, "-" for standard input, or a `Source`; options : of reading
    """
    from oblique_cli.data.own.front import header_of

    known = [name for name, treatment in model.columns.left_out.items() if treatment == "identifier"]
    header = set(header_of(source, model.columns, options)) if known else set()
    return tuple(name for name in known if name in header)


def unused_columns(model: Model) -> tuple[str, ...]:
    """Return the features that no prediction needs, so that a table may lack them; () if unknown."""
    from oblique_cli.models.procedure import procedure_of

    try:
        used = procedure_of(model).used
    except ConfigError:
        return ()
    return tuple(name for j, name in enumerate(model.feature_names) if j not in used)


def predictions(
    model: Model,
    source: Any,
    where: str,
    request: Request = Request(),
    *,
    unseen: Unseen | None = None,
    keep: Sequence[str] = (),
    options: TextOptions = NO_OPTIONS,
    notes: list[str] | None = None,
) -> Iterator[Predicted]:
    """Yield the predictions for a table in blocks of rows; for an empty table yield one empty block.

    source : a path, "-" for standard input, or a `Source`; where : prefix of messages; unseen : counts levels;
    keep : columns whose text is returned with the predictions; options, notes : as in `chunks`
    DataError, with line and column, for a cell that cannot be read, or is missing although the model needs it;
    ConfigError for shares or leaves that the model does not have
    """
    from oblique_cli.data.own.front import chunks

    row = 1
    for chunk in chunks(source, model.columns, ROWS, keep, options, notes, lambda: unused_columns(model)):
        refuse_missing(model, chunk, where)
        if unseen is not None:
            unseen.add(model, chunk)
        yield _of(model, chunk, row, request)
        row += len(chunk.X)
    if row == 1:
        yield _none(model, request, keep)


def _none(model: Model, request: Request, keep: Sequence[str]) -> Predicted:
    """Return the predictions for a table without rows: the usual columns, all empty."""
    from oblique_cli.data.own.front import Chunk

    probe = Chunk(np.zeros((1, len(model.feature_names))), None, np.ones(1, np.int64))  # most models refuse no rows
    no_rows = Chunk(probe.X[:0], None, probe.lines[:0], texts={name: () for name in keep})
    predicted = _of(model, probe, 1, request)
    fields = ("labels", "shares", "leaves", "sets", "intervals", "quantiles")
    arrays = {name: getattr(predicted, name) for name in fields}
    return replace(predicted, chunk=no_rows, **{name: a[:0] for name, a in arrays.items() if a is not None})


def _of(model: Model, chunk: Chunk, row: int, request: Request) -> Predicted:
    shares = model.predict_proba(chunk.X) if request.proba else None
    leaves = model.apply(chunk.X) if request.leaf else None
    sets = model.sets(chunk.X) if request.sets or request.abstain else None
    intervals = model.intervals(chunk.X) if request.intervals else None
    quantiles = model.predict_quantiles(chunk.X, request.quantiles) if request.quantiles else None
    labels = model.predict(chunk.X)
    if model.task == "classification" and not model.has_codes:  # labels of the fit, here as texts
        labels = np.array(model.classes, dtype=object).take(np.searchsorted(model.fitted.state["classes_"], labels))
    if request.abstain and sets is not None:
        single_labels = np.array(model.classes, dtype=object).take(sets.argmax(axis=1))
        single_labels[sets.sum(axis=1) != 1] = None
        labels = single_labels
    sets = sets if request.sets else None
    return Predicted(row, labels, shares, leaves, chunk, sets, intervals, quantiles, request.quantiles)


def refuse_missing(model: Model, chunk: Chunk, where: str) -> None:
    """Raise DataError for the first missing cell that nothing fills."""
    bad = np.isnan(chunk.X)
    bad[:, sorted(model.may_be_empty)] = False
    if bad.any():
        i, j = (int(k) for k in np.argwhere(bad)[0])
        raise DataError(
            f"{where}: line {chunk.lines[i]}: column {quoted(model.feature_names[j])} is missing, and the model takes "
            "no missing values; fill the cell, or fit with --set missing=impute."
        )


# ---- writing ---------------------------------------------------------------------------------------------------------


class Writer(ABC):
    """Writes predictions: "row" (from 1), "prediction", with shares "p(label)" for each class, with leaves "leaf".

    Before them stand the columns of the table that are retained, as texts.
    """

    def __init__(self, stream: BinaryIO, model: Model) -> None:
        self.stream = stream
        self.model = model

    @abstractmethod
    def add(self, some: Predicted) -> None:
        """Write some rows."""

    def close(self) -> None:  # noqa: B027  (most have nothing to end)
        """End the file."""


class CSVWriter(Writer):
    """CSV, numbers to the bit. escape : whether texts are escaped so that no spreadsheet treats them as formulas"""

    def __init__(self, stream: BinaryIO, model: Model, escape: bool = False) -> None:
        super().__init__(stream, model)
        self.started = False
        self.cell: Callable[[str], str] = (lambda text: csv_cell(escaped(text))) if escape else csv_cell
        self.labels = {label: self.cell(label) for label in model.classes}

    def add(self, some: Predicted) -> None:
        columns = some.columns(self.model.classes)
        input_columns = some.kept_columns(columns)
        if not self.started:
            self.stream.write((",".join(map(self.cell, [*input_columns, *columns])) + "\n").encode())
            self.started = True
        if not len(some.labels):
            return
        cells = [list(map(self.cell, texts)) for texts in input_columns.values()]
        for name, column in columns.items():
            if name == "prediction" and self.labels:
                cells.append(list(map(self.labels.get, column.tolist(), itertools.repeat(""))))
            else:
                cells.append(list(map(self.cell if name == "set" else str, column.tolist())))
        step = 2 * len(cells)
        text = [","] * (step * len(some.labels))  # between cells; faster than a join per row
        text[step - 1 :: step] = ["\n"] * len(some.labels)
        for j, column_cells in enumerate(cells):
            text[2 * j :: step] = column_cells
        self.stream.write("".join(text).encode())


class JSONWriter(Writer):
    """A JSON list of objects, one object per line."""

    def __init__(self, stream: BinaryIO, model: Model) -> None:
        super().__init__(stream, model)
        self.before = "[\n"

    def add(self, some: Predicted) -> None:
        if not len(some.labels):
            return
        classes = self.model.classes
        columns = some.columns(classes, lists=True)
        entries: dict[str, Sequence[Any]] = some.kept_columns(columns)
        entries |= {name: columns.pop(name).tolist() for name in ("row", "prediction")}
        if some.shares is not None:
            entries["probabilities"] = [dict(zip(classes, row, strict=True)) for row in some.shares.tolist()]
        if some.leaves is not None:
            entries["leaf"] = some.leaves.tolist()
        further = ("set", "low", "high", *map(quantile_name, some.shares_asked))
        entries |= {name: columns[name].tolist() for name in further if name in columns}
        rows = (dict(zip(entries, row, strict=True)) for row in zip(*entries.values(), strict=True))
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        self.stream.write((self.before + ",\n".join(lines)).encode())
        self.before = ",\n"

    def close(self) -> None:
        self.stream.write(b"[]\n" if self.before == "[\n" else b"\n]\n")


class ParquetWriter(Writer):
    """A Parquet file, a row group per block."""

    def __init__(self, stream: BinaryIO, model: Model) -> None:
        super().__init__(stream, model)
        self.file: parquet.ParquetWriter | None = None

    def add(self, some: Predicted) -> None:
        columns = some.columns(self.model.classes)
        input_columns = some.kept_columns(columns)
        if self.file is None:
            kinds = {name: {"i": int, "f": float}.get(column.dtype.kind, str) for name, column in columns.items()}
            self.file = parquet.ParquetWriter(self.stream, {**dict.fromkeys(input_columns, str), **kinds})
        arrays = (column.tolist() if column.dtype.kind == "O" else column for column in columns.values())
        self.file.add([*map(list, input_columns.values()), *arrays])

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


WRITERS: dict[str, Callable[..., Writer]] = {"csv": CSVWriter, "json": JSONWriter, "parquet": ParquetWriter}
