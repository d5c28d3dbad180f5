"""Predictions for a table of new rows, some rows at a time, in memory that does not depend on their number."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data import parquet
from oblique_cli.data.csv_text import csv_cell, escaped
from oblique_cli.data.own.text import NO_OPTIONS, TextOptions
from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.models.model import Model

if TYPE_CHECKING:
    from oblique_cli.data.own.front import Chunk

Array = NDArray[np.float64]

ROWS = 16_384  # read at once
FORMATS = ("csv", "json", "parquet")
BETWEEN = "|"  # labels of a set in one cell
MOST_NAMED = 5  # unknown levels of a column that are named


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions for some rows.

    first    number of the first row in the table, from 1
    labels   (m,) labels as text, or numbers in regression
    shares   (m, C) class shares, leaves : (m,) or (m, trees) node numbers; None where they were not requested
    chunk    the rows as they were read
    sets     (m, C) which classes are in the sets, intervals : (m, 2) their ends; None likewise
    quantiles  (m, k) of the target, None likewise; shares_asked : of which shares
    """

    first: int
    labels: NDArray[Any]
    shares: Array | None
    leaves: NDArray[Any] | None
    chunk: Chunk
    sets: NDArray[np.bool_] | None = None
    intervals: Array | None = None
    quantiles: Array | None = None
    shares_asked: tuple[float, ...] = ()

    def cut(self) -> Predicted:
        """Return the same without rows: as many columns, and nothing in them."""
        cut: dict[str, Any] = {
            name: None if (some := getattr(self, name)) is None else some[:0]
            for name in ("labels", "shares", "leaves", "sets", "intervals", "quantiles")
        }
        return replace(self, first=1, **cut)


@dataclass(frozen=True)
class Request:
    """Requested outputs beside the prediction. abstain : None in its place where the set does not have one class

    quantiles : shares, () for none
    """

    proba: bool = False
    leaf: bool = False
    sets: bool = False
    intervals: bool = False
    abstain: bool = False
    quantiles: tuple[float, ...] = ()


@dataclass
class Unseen:
    """Levels that the training rows did not have: how many rows have one, and which they are, by column.

    as_numbers : whether codes of levels are numbers to the model
    """

    rows: Counter[str] = field(default_factory=Counter)
    levels: dict[str, list[str]] = field(default_factory=dict)
    as_numbers: bool = False

    def add(self, model: Model, chunk: Chunk) -> None:
        """Count those of some rows."""
        indicators = model.encoder is not None and model.encoder.levels is not None
        self.as_numbers = not indicators and not model.fitted.state.get("levels_")
        for j, unseen_levels in chunk.unseen.items():
            name = model.feature_names[j]
            known = len(model.columns.levels[j])
            self.rows[name] += int((chunk.X[:, j] >= known).sum())
            named = self.levels.setdefault(name, [])
            named += [level for level in dict.fromkeys(unseen_levels) if level not in named][
                : MOST_NAMED + 1 - len(named)
            ]

    def sentences(self) -> list[str]:
        """Messages for the user."""
        messages = []
        for name, rows in self.rows.items():
            levels = self.levels[name]
            more = ", ..." if len(levels) > MOST_NAMED else ""
            shown = ", ".join(map(quoted, levels[:MOST_NAMED])) + more
            fate = (
                "its code is one above the last (encoding ordinal)"
                if self.as_numbers
                else "it counts as no level at all"
            )
            messages.append(
                f"{quoted(name)}: {rows} row{'s have' if rows > 1 else ' has'} a level that the training rows did not "
                f"have ({shown}); {fate}."
            )
        return messages


def quantile_name(share: float) -> str:
    """Return what the column of a quantile is called: "q0.1"."""
    return f"q{share!r}"


def needs_table(model: Model, path: str) -> None:
    """Raise ConfigError for a model that does not know how to read a table."""
    if model.columns is None:
        raise ConfigError(
            f"{path}: this model was saved from Python and knows no table; load it there (oblique_cli.load), or fit "
            "it by oblique fit."
        )


def identifiers(model: Model, source: Any, options: TextOptions = NO_OPTIONS) -> tuple[str, ...]:
    """Return the columns of a table that were left out as identifiers when the model was fitted.

    source : a path, "-" for standard input, or a `Source`; options : how it is read
    """
    from oblique_cli.data.own.front import header_of

    known = [name for name, treatment in model.columns.left_out.items() if treatment == "identifier"]
    header = set(header_of(source, model.columns, options)) if known else set()
    return tuple(name for name in known if name in header)


def unused_columns(model: Model) -> tuple[str, ...]:
    """Return the features that no prediction takes, so that a table may lack them; () where that is not known."""
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
    """Yield the predictions for the rows of a table, some rows at a time; once for none if it has no rows.

    source : a path, "-" for standard input, or a `Source`; where : what messages begin with; unseen : counts levels;
    keep : columns whose text goes with the predictions; options, notes : as in `chunks`
    DataError, with line and column, for a cell that cannot be read, or is missing where the model cannot do without;
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
    """The predictions for a table without rows: as many columns as for any other, and nothing in them."""
    from oblique_cli.data.own.front import Chunk

    probe = Chunk(np.zeros((1, len(model.feature_names))), None, np.ones(1, np.int64))  # most models refuse no rows
    no_rows = Chunk(probe.X[:0], None, probe.lines[:0], texts={name: () for name in keep})
    return replace(_of(model, probe, 1, request).cut(), chunk=no_rows)


def _of(model: Model, chunk: Chunk, row: int, request: Request) -> Predicted:
    shares = model.predict_proba(chunk.X) if request.proba else None
    leaves = model.apply(chunk.X) if request.leaf else None
    sets = model.sets(chunk.X) if request.sets or request.abstain else None
    intervals = model.intervals(chunk.X) if request.intervals else None
    quantiles = model.predict_quantiles(chunk.X, request.quantiles) if request.quantiles else None
    labels = _in_words(model, model.predict(chunk.X))
    if request.abstain and sets is not None:
        single_labels = np.array(model.classes, dtype=object).take(sets.argmax(axis=1))
        single_labels[sets.sum(axis=1) != 1] = None
        labels = single_labels
    own_sets = sets if request.sets else None
    return Predicted(row, labels, shares, leaves, chunk, own_sets, intervals, quantiles, request.quantiles)


def _in_words(model: Model, labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as texts, also those of a model that keeps the ones it was fitted to."""
    if model.task == "regression" or model.has_codes:
        return labels
    codes = np.searchsorted(model.fitted.state["classes_"], labels)
    return np.asarray(np.array(model.classes, dtype=object).take(codes))


def refuse_missing(model: Model, chunk: Chunk, where: str) -> None:
    """Raise DataError for the first cell that is missing and that nothing fills."""
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

    Before them stand the columns of the table that are kept, as texts.
    """

    def __init__(self, stream: BinaryIO, model: Model) -> None:
        self.stream = stream
        self.model = model

    @abstractmethod
    def add(self, some: Predicted) -> None:
        """Write some rows."""

    def close(self) -> None:  # noqa: B027  (most have nothing to end)
        """End the file."""

    def names(self, some: Predicted) -> list[str]:
        """Return the names of the columns."""
        return [*self.kept_names(some), *self.prediction_names(some)]

    def prediction_names(self, some: Predicted) -> list[str]:
        """Return the names of the columns of predictions."""
        names = ["row", "prediction"]
        if some.shares is not None:
            names += [f"p({label})" for label in self.model.classes]
        if some.leaves is not None:
            names += ["leaf"] if some.leaves.ndim == 1 else [f"leaf {i + 1}" for i in range(some.leaves.shape[1])]
        names += ["set"] if some.sets is not None else []
        names += ["low", "high"] if some.intervals is not None else []
        names += [quantile_name(share) for share in some.shares_asked]
        return names

    def kept_names(self, some: Predicted) -> list[str]:
        """Return the names of the columns that are kept: "input.NAME" where NAME is that of a column of predictions."""
        taken = {*self.prediction_names(some), "probabilities", "leaf"}  # the last two are keys of JSON
        names: list[str] = []
        for name in some.chunk.texts:
            while name in taken:
                name = f"input.{name}"
            names.append(name)
            taken.add(name)
        return names

    def columns(self, some: Predicted) -> list[NDArray[Any]]:
        """Return the columns of some rows."""
        arrays: list[NDArray[Any]] = [np.array(cells, dtype=object) for cells in some.chunk.texts.values()]
        arrays += [np.arange(some.first, some.first + len(some.labels)), some.labels]
        if some.shares is not None:
            arrays += list(some.shares.T)
        if some.leaves is not None:
            arrays += [some.leaves] if some.leaves.ndim == 1 else list(some.leaves.T)
        if some.sets is not None:
            texts = [BETWEEN.join(labels) for labels in self.members(some.sets)]
            arrays.append(np.array(texts, dtype=object))
        if some.intervals is not None:
            arrays += [some.intervals[:, 0], some.intervals[:, 1]]
        if some.quantiles is not None:
            arrays += list(some.quantiles.T)
        return arrays

    def members(self, sets: NDArray[np.bool_]) -> list[list[str]]:
        """Return the labels in each set."""
        return [[self.model.classes[k] for k in np.flatnonzero(is_member)] for is_member in sets]


class CSVWriter(Writer):
    """CSV, numbers to the bit. escape : whether texts are kept from being taken for formulas"""

    def __init__(self, stream: BinaryIO, model: Model, escape: bool = False) -> None:
        super().__init__(stream, model)
        self.started = False
        self.cell: Callable[[str], str] = (lambda text: csv_cell(escaped(text))) if escape else csv_cell
        self.quoted = {label: self.cell(label) for label in model.classes}

    def add(self, some: Predicted) -> None:
        if not self.started:
            self._line(self.names(some))
            self.started = True
        if not len(some.labels):
            return
        kept_cells = [list(map(self.cell, cells)) for cells in some.chunk.texts.values()]
        columns = kept_cells + [list(map(str, column.tolist())) for column in self.columns(some)[len(kept_cells) :]]
        if self.quoted:
            columns[len(kept_cells) + 1] = [self.quoted.get(label, "") for label in some.labels.tolist()]
            if some.sets is not None:
                columns[-1] = list(map(self.cell, columns[-1]))
        self.stream.write(("\n".join(map(",".join, zip(*columns, strict=True))) + "\n").encode())

    def _line(self, cells: Sequence[str]) -> None:
        self.stream.write((",".join(map(self.cell, cells)) + "\n").encode())


class JSONWriter(Writer):
    """One list of objects, an object a line."""

    def __init__(self, stream: BinaryIO, model: Model) -> None:
        super().__init__(stream, model)
        self.before = "[\n"

    def add(self, some: Predicted) -> None:
        if not len(some.labels):
            return
        lines = []
        classes = self.model.classes
        names = self.kept_names(some)
        kept_cells = list(zip(*some.chunk.texts.values(), strict=True)) if names else [()] * len(some.labels)
        rows = range(some.first, some.first + len(some.labels))
        shares = None if some.shares is None else some.shares.tolist()
        leaves = None if some.leaves is None else some.leaves.tolist()
        sets = None if some.sets is None else self.members(some.sets)
        for i, (row, label) in enumerate(zip(rows, some.labels.tolist(), strict=True)):
            entry: dict[str, Any] = {**dict(zip(names, kept_cells[i], strict=True)), "row": row, "prediction": label}
            if shares is not None:
                entry["probabilities"] = dict(zip(classes, shares[i], strict=True))
            if leaves is not None:
                entry["leaf"] = leaves[i]
            if sets is not None:
                entry["set"] = sets[i]
            if some.intervals is not None:
                entry["low"], entry["high"] = some.intervals[i].tolist()
            if some.quantiles is not None:
                quantile_names = map(quantile_name, some.shares_asked)
                entry |= dict(zip(quantile_names, some.quantiles[i].tolist(), strict=True))
            lines.append(json.dumps(entry, ensure_ascii=False))
        self.stream.write((self.before + ",\n".join(lines)).encode())
        self.before = ",\n"

    def close(self) -> None:
        self.stream.write(b"[]\n" if self.before == "[\n" else b"\n]\n")


class ParquetWriter(Writer):
    """A Parquet file, a group of rows for each block that is read."""

    def __init__(self, stream: BinaryIO, model: Model) -> None:
        super().__init__(stream, model)
        self.file: parquet.ParquetWriter | None = None

    def add(self, some: Predicted) -> None:
        columns = self.columns(some)
        if self.file is None:
            kinds = [{"i": int, "f": float}.get(column.dtype.kind, str) for column in columns]
            self.file = parquet.ParquetWriter(self.stream, dict(zip(self.names(some), kinds, strict=True)))
        self.file.add([column.tolist() if column.dtype.kind == "O" else column for column in columns])

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


WRITERS: dict[str, Callable[..., Writer]] = {
    "csv": CSVWriter,
    "json": JSONWriter,
    "parquet": ParquetWriter,
}
