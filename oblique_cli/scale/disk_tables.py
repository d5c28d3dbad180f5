"""Tables on the disk that are read block by block (Parquet files and .npy arrays), and conversion to Parquet.

All passes take constant memory: the first determines the roles of the columns, the second copies the rows."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data import npy
from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.frames import coded_texts, faults
from oblique_cli.data.own.front import Column
from oblique_cli.data.own.numbers import MARKS
from oblique_cli.data.own.opened import texts_of
from oblique_cli.data.own.roles import clash_of_roles, listed
from oblique_cli.data.own.source import Source, source_of
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.labels import label_order
from oblique_cli.ground.magnitudes import FEWEST_DIGITS, summable_quantum
from oblique_cli.ground.nouns import NO_OPTIONS, TextOptions
from oblique_cli.ground.registry import close_matches
from oblique_cli.scale.store import GROW, PRUNE, TEST, Store, writing

BATCH = 1 << 16  # rows to read at a time
MOST_CLASSES = 10_000
MOST_LEVELS = 1000  # as in ObliqueTreeClassifier
MOST_EMPTY_NAMED = 5


@dataclass(frozen=True)
class Part:
    """Some rows of a table. columns : (p, n), codes of levels for a feature with levels; codes : (n,), -1 for none"""

    columns: Array
    codes: NDArray[np.int32]
    weights: Array | None


@dataclass
class Table:
    """A table with analyzed columns.

    where     its name in messages
    features  the columns that are features
    target    name of the column to predict
    classes   its labels, in the order of their codes
    counts    (C,) rows of each class, without those of weight 0
    n_rows    of the file
    dropped   rows without a class, or of weight 0
    weight    name of the column of weights, "" without
    lightest, heaviest  weights
    stamp     identifies a version of the file
    format    of the file, as `Columns` has it
    single    whether all features are single precision, so that the copy may be too
    read      yields the parts of the table, in order"""

    where: str
    features: tuple[Column, ...]
    target: str
    classes: tuple[Any, ...]
    counts: NDArray[np.int64]
    n_rows: int
    read: Callable[[], Iterator[Part]] = field(repr=False)
    dropped: int = 0
    weight: str = ""
    lightest: float = 1.0
    heaviest: float = 1.0
    single: bool = False
    stamp: str = ""
    format: str = "parquet"

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each feature, () if none has any."""
        counts = tuple(len(column.levels) for column in self.features)
        return counts if any(counts) else ()


# ---- Parquet ---------------------------------------------------------------------------------------------------------


def parquet_table(
    path: str | Path, target: str, *, weight: str = "", drop: Sequence[str] = (), features: Sequence[str] = ()
) -> Table:
    """Analyze a Parquet file: numbers are features, texts and truth values are levels, rows without a class are
    dropped. DataError, with the column, for an unusable table."""
    pa, pq = _arrow(path)
    where = str(path)
    with _faults(where):
        file = pq.ParquetFile(path)
        schema = file.schema_arrow
    names = schema.names

    def hint(name: str) -> str:
        columns = ", ".join(map(repr, names[:10]))
        return "." + (close_matches(name, names) or f" Columns: {columns}.")

    chosen = _features(where, names, names, target, weight, drop, features, hint)
    numeric = {}
    for name in chosen:
        kind = schema.field(name).type
        numeric[name] = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind)
        if not (numeric[name] or texts or pa.types.is_dictionary(kind)):
            raise DataError(f"{where}: column {name!r} holds {kind}, neither numbers nor texts; leave it out by --drop")
    count, levels = _look(
        file, where, target, weight, [n for n in chosen if not numeric[n]], [n for n in chosen if numeric[n]]
    )
    classes = tuple(sorted(count.labels, key=label_order))
    columns = tuple(
        Column(name, "number") if numeric[name] else Column(name, "levels", levels=levels[name]) for name in chosen
    )
    single = all(schema.field(name).type in (pa.float32(), pa.float16(), pa.int8(), pa.int16()) for name in chosen)

    def read() -> Iterator[Part]:
        code_of = {label: k for k, label in enumerate(classes)}
        level_of = {c.name: {level: float(k) for k, level in enumerate(c.levels)} for c in columns if c.levels}
        with _faults(where):
            for batch in _batches(pq.ParquetFile(path), [*chosen, target, *([weight] if weight else [])]):
                values = np.empty((len(chosen), batch.num_rows))
                for j, name in enumerate(chosen):
                    column = batch.column(name)
                    values[j] = _numbers(column) if numeric[name] else _codes(column, level_of[name])
                codes = _codes(batch.column(target), code_of).astype(np.int32)
                yield Part(values, codes, _numbers(batch.column(weight)) if weight else None)

    return count.table(classes, columns, read, weight=weight, single=single, stamp=_stamp(path))


def _features(
    where: str, names: Sequence[str], known: Collection[str], target: str, weight: str, drop: Sequence[str],
    features: Sequence[str], hint: Callable[[str], str],
) -> list[str]:  # fmt: skip
    """Return the columns that are features. DataError for a name that is not in `known`, or has two roles."""
    drop, features = listed(drop, names), listed(features, names)
    roles = {"the target": [target], "weights": [weight], "a column to drop": drop, "a feature": features}
    for role, some in roles.items():
        if unknown := next((name for name in some if name and name not in known), ""):
            raise DataError(f"{where}: there is no column {unknown!r} to use as {role}{hint(unknown)}")
    if clash := clash_of_roles(target, weight, drop=drop, features=features):
        raise DataError(f"{where}: {clash}")
    chosen = [name for name in names if name not in {target, weight, *drop} and (not features or name in features)]
    if not chosen:
        raise DataError(f"{where}: no column is left to be a feature")
    return chosen


@dataclass
class _Count:
    """Counts of each label, and weights, of the rows so far. weight : name of the weights in messages"""

    where: str
    target: str
    weight: str
    labels: Counter[Any] = field(default_factory=Counter)
    dropped: int = 0
    lightest: float = np.inf
    heaviest: float = 0.0
    rows: int = 0

    def add(self, labels: Sequence[Any], places: NDArray[np.intp], useful: NDArray[np.bool_], w: Array | None) -> None:
        """Count rows. labels : distinct; places : (n,) index of each row's label; useful : (n,) rows with a label"""
        if w is not None:
            wrong = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
            if len(wrong):
                cell = "no number" if np.isnan(w[wrong[0]]) else repr(str(w[wrong[0]]))
                row = self.rows + int(wrong[0]) + 1
                raise DataError(f"{self.weight} holds {cell} in row {row}; a weight is a number from 0 up")
            useful = useful & (w > 0)
            if useful.any():
                self.lightest = min(self.lightest, float(w[useful].min()))
                self.heaviest = max(self.heaviest, float(w[useful].max()))
        counts = np.bincount(places[useful], minlength=len(labels)).tolist()
        self.labels.update({label: n for label, n in zip(labels, counts, strict=True) if n})
        if len(self.labels) > MOST_CLASSES:
            raise DataError(
                f"{self.where}: column {self.target!r} has more than {MOST_CLASSES} different values, so it is no "
                "class; trees of tables beyond memory predict classes"
            )
        self.dropped += int((~useful).sum())
        self.rows += len(useful)

    def table(self, classes: tuple[Any, ...], features: tuple[Column, ...], read: Any, **facts: Any) -> Table:
        """Return the table of the counted rows."""
        return Table(
            self.where, features, self.target, classes, np.array([self.labels[label] for label in classes]), self.rows,
            read, self.dropped, lightest=1.0 if self.lightest == np.inf else self.lightest,
            heaviest=self.heaviest or 1.0, **facts,
        )  # fmt: skip


def _look(
    file: Any, where: str, target: str, weight: str, with_levels: Sequence[str], numeric: Sequence[str]
) -> tuple[_Count, dict[str, tuple[str, ...]]]:
    """Return the row counts of a file, and the levels of its text columns."""
    count = _Count(where, target, f"{where}: column {weight!r}")
    levels: dict[str, set[str]] = {name: set() for name in with_levels}
    empty: Counter[str] = Counter()
    with _faults(where):
        for batch in _batches(file, None):
            shown, places = coded_texts(batch.column(target))
            useful = np.array([text != "" for text in shown])[places]
            count.add(shown, places, useful, _numbers(batch.column(weight)) if weight else None)
            for name, known in levels.items():
                known.update(texts_of(batch.column(name).unique().to_pylist()))
                if len(known) > MOST_LEVELS:
                    raise DataError(
                        f"{where}: column {name!r} holds more than {MOST_LEVELS} different texts; leave it out by "
                        "--drop"
                    )
            for name in numeric:
                bad = int((~np.isfinite(_numbers(batch.column(name)))).sum())
                if bad:
                    empty[name] += bad
    if empty:
        named = ", ".join(f"{name!r} ({n})" for name, n in itertools.islice(empty.items(), MOST_EMPTY_NAMED))
        raise DataError(
            f"{where}: cells without a finite number in column {named}; fill them, or leave the column out by --drop"
        )
    if len(count.labels) < 2:
        raise DataError(f"{where}: column {target!r} has {len(count.labels)} classes, at least 2 are needed")
    level_names = {name: tuple(sorted(known - {""}, key=label_order)) for name, known in levels.items()}
    if lone := next((name for name, known in level_names.items() if len(known) < 1), None):
        raise DataError(f"{where}: column {lone!r} is empty; leave it out by --drop")
    return count, level_names


def _stamp(path: str | Path) -> str:
    status = Path(path).stat()
    return f"{status.st_size} bytes, {status.st_mtime_ns}"


def takes(path: str | Path) -> int | None:
    """Return the number of cells of a Parquet file; None if it cannot be read, which a later step reports."""
    try:
        import pyarrow.parquet

        metadata = pyarrow.parquet.read_metadata(path)
    except (ImportError, OSError, ValueError):  # ValueError is for other files
        return None
    return int(metadata.num_rows * metadata.num_columns)


def _arrow(path: str | Path) -> tuple[Any, Any]:
    with faults(str(path), "Parquet", "pyarrow", "parquet"):
        import pyarrow
        import pyarrow.parquet
    return pyarrow, pyarrow.parquet


def _batches(file: Any, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the rows of a file in blocks. Over several row groups at once, pyarrow would retain all it has read."""
    for group in range(file.num_row_groups):
        yield from file.iter_batches(BATCH, row_groups=[group], columns=columns)


@contextlib.contextmanager
def _faults(where: str) -> Iterator[None]:
    import pyarrow

    try:
        yield
    except pyarrow.ArrowException as error:
        raise DataError(f"{where}: not a whole table that can be read ({str(error).splitlines()[0]})") from None
    except OSError as error:
        raise DataError(f"{where}: cannot be read ({error.strerror or str(error).splitlines()[0]})") from None


def _numbers(column: Any) -> Array:
    """Return the numbers of a column, NaN for missing cells."""
    import pyarrow

    if pyarrow.types.is_decimal(column.type):
        column = column.cast(pyarrow.float64())
    values = column.to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)


def _codes(column: Any, code_of: Mapping[str, float | int]) -> Array:
    """Return codes of cells, -1 for any other; looked up once for each different cell."""
    shown, places = coded_texts(column)
    codes: Array = np.array([float(code_of.get(text, -1)) for text in shown])[places]
    return codes


# ---- arrays ----------------------------------------------------------------------------------------------------------


def npy_table(
    path: str | Path,
    target: str,
    *,
    weight: str = "",
    drop: Sequence[str] = (),
    features: Sequence[str] = (),
    beside: Mapping[str, str] | None = None,
) -> Table:
    """Analyze a .npy file of numbers, whose columns are x1, x2, ... DataError for unusable arrays. beside : name ->
    file of a separate column, such as labels or weights"""
    where, beside = str(path), beside or {}
    X = npy.table_of(path, where)
    names = npy.names(X.shape[1])
    advice = f"; its columns are x1 to {names[-1]}, and a column in a file of its own is named by the file, as in y.npy"
    known = (*names, *beside)
    chosen = _features(where, names, known, target, weight, drop, features, lambda name: advice)

    def column(name: str, role: str) -> Any:
        if name in beside:
            return npy.column_of(beside[name], len(X), role)
        return X[:, names.index(name)]

    y, w = column(target, "the target"), column(weight, "weights") if weight else None
    stamp = "; ".join(_stamp(each) for each in (path, *beside.values()))
    return array_table(
        X, y, w, where=where, names=names, columns=[names.index(name) for name in chosen], target=target, weight=weight,
        file_of_weights=beside.get(weight, ""), stamp=stamp,
    )  # fmt: skip


def array_table(
    X: Any,
    y: Any,
    weights: Any = None,
    *,
    where: str = "X",
    names: Sequence[str] = (),
    columns: Sequence[int] | None = None,
    target: str = "class",
    weight: str = "weights",
    file_of_weights: str = "",
    stamp: str = "",
) -> Table:
    """Analyze arrays, which may be memory maps of .npy files. X : (n, p) numbers; y : (n,) labels; weights : (n,)

    names : of the columns of X; columns : the features among them, None for all
    target, weight : names of the labels and the weights; file_of_weights : separate file of the weights, if any
    stamp : as in `Table`"""
    if X.ndim != 2 or X.dtype.kind not in "fiub" or X.shape[0] < 1 or X.shape[1] < 1:
        raise DataError(f"{where}: must be a table of numbers, (rows, features). Got {X.dtype} of shape {X.shape}")
    if y.shape != (len(X),) or (weights is not None and weights.shape != (len(X),)):
        raise DataError(f"{where}: has {len(X)} rows, so labels and weights must be {len(X)} each")
    count = _Count(where, target, file_of_weights or f"{where}: column {weight!r}")
    for first in range(0, len(X), BATCH):
        rows = slice(first, first + BATCH)
        finite = np.isfinite(_chosen(X[rows], columns))
        if not finite.all():
            i, j = np.argwhere(~finite)[0]
            j = int(j if columns is None else columns[j])
            place = f"row {first + i + 1}, column {names[j] if names else j + 1}"
            raise DataError(f"{where}: holds {X[first + i, j]} in {place}; fill it or leave it out")
        labels = y[rows]
        if labels.dtype.kind == "f" and np.isnan(labels).any():
            i = int(np.flatnonzero(np.isnan(labels))[0])
            raise DataError(f"{where}: the target {target!r} is missing in row {first + i + 1}; leave the row out")
        w = None if weights is None else np.asarray(weights[rows], dtype=np.float64)
        different, places = np.unique(labels, return_inverse=True)
        count.add(different.tolist(), places.ravel(), np.ones(len(labels), np.bool_), w)
    if len(count.labels) < 2:
        raise DataError(f"{where}: the labels have {len(count.labels)} classes, at least 2 are needed")
    classes = tuple(sorted(count.labels))
    names = names or npy.names(X.shape[1])
    features = tuple(Column(names[j], "number") for j in (range(X.shape[1]) if columns is None else columns))

    def read() -> Iterator[Part]:
        known = np.array(classes)
        for first in range(0, len(X), BATCH):
            rows = slice(first, first + BATCH)
            codes = np.searchsorted(known, y[rows]).astype(np.int32)
            w = None if weights is None else np.asarray(weights[rows], dtype=np.float64)
            yield Part(np.asarray(_chosen(X[rows], columns), dtype=np.float64).T, codes, w)

    single = X.dtype in (np.float32, np.float16, np.int8, np.int16)
    weight = "" if weights is None else weight
    return count.table(classes, features, read, weight=weight, single=single, stamp=stamp, format="npy")


def _chosen(rows: Any, columns: Sequence[int] | None) -> Any:
    return rows if columns is None or len(columns) == rows.shape[1] else rows[:, columns]


# ---- into a store ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Division:
    """Shares of rows for pruning and for the test, which growth does not use, drawn row by row with a seed."""

    prune: float = 0.0
    test: float = 0.0
    seed: int = 0

    def drawn(self) -> Callable[[int], NDArray[np.int8]]:
        """Return a function: n -> parts of the next n rows. Stochasticity: one stream, named after the seed."""
        stream = seeds.generator(self.seed, "rows kept from growth")

        def next_parts(n: int) -> NDArray[np.int8]:
            u = stream.random(n)
            return np.where(u < self.test, TEST, np.where(u < self.test + self.prune, PRUNE, GROW)).astype(np.int8)

        return next_parts


def store(table: Table, folder: Path, division: Division = Division(), of_class: Array | None = None) -> Store:
    """Copy a table into a folder as chunks. of_class : (C,) weights of the classes, or None. Weights are in units of
    the smallest positive one and rounded so that all sums of them are exact, as in memory."""
    scale = np.ones(len(table.classes)) if of_class is None else np.asarray(of_class, dtype=np.float64)
    if not (scale > 0).all():
        raise ConfigError(
            "weights of classes must be positive. Remove the rows of a class that is to count for nothing."
        )
    lightest, heaviest = _extremes(table, scale)
    weighted = lightest != heaviest
    quantum = summable_quantum(int(table.counts.sum()), heaviest / lightest) if weighted else 0.0
    if quantum > FEWEST_DIGITS:
        raise ConfigError(
            f"{table.where}: weights that differ by a factor of {heaviest / lightest:.3g} over {table.counts.sum()} "
            "rows cannot be added up exactly; raise the smallest weights, or leave their rows out."
        )
    made = Store(
        folder,
        len(table.features),
        len(table.classes),
        dtype="<f4" if table.single else "<f8",
        weighted=weighted,
        levels=table.levels,
    )
    draw, size = division.drawn(), made.chunk_rows()
    held: list[tuple[Any, ...]] = []
    waiting = 0

    def flush(least: int) -> None:
        nonlocal held, waiting
        while waiting and waiting >= least:
            joined = [np.concatenate([part[k] for part in held], axis=-1) for k in range(4)]
            now = [part[..., :size] for part in joined]
            made.add(now[0], now[1], now[2] if weighted else None, now[3])
            held = [tuple(part[..., size:] for part in joined)]
            waiting = max(0, waiting - size)

    for part in table.read():
        parts = draw(len(part.codes))
        useful = part.codes >= 0
        weights = np.ones(len(part.codes)) if part.weights is None else part.weights
        useful &= weights > 0
        codes = part.codes[useful]
        weights = weights[useful] * scale[codes] / lightest
        if weighted:
            weights = np.round(weights / quantum) * quantum
        held.append((part.columns[:, useful], codes, weights, parts[useful]))
        waiting += len(codes)
        flush(size)
    flush(1)
    made.close()
    return made


def _extremes(table: Table, scale: Array) -> tuple[float, float]:
    """Return the smallest and the largest weight of a row, including the weight of its class."""
    if table.weight == "":
        return float(scale.min()), float(scale.max())
    if (scale == scale[0]).all():
        return table.lightest * float(scale[0]), table.heaviest * float(scale[0])
    lightest, heaviest = np.inf, 0.0
    for part in table.read():
        assert part.weights is not None
        useful = (part.codes >= 0) & (part.weights > 0)
        if useful.any():
            w = part.weights[useful] * scale[part.codes[useful]]
            lightest, heaviest = min(lightest, float(w.min())), max(heaviest, float(w.max()))
    return lightest, heaviest


# ---- any table to Parquet --------------------------------------------------------------------------------------------

INTEGER, NUMBER, COMMA, TEXT = "int64", "double", "comma", "string"


@dataclass(frozen=True)
class Converted:
    """Result of a conversion. kinds : column -> INTEGER, NUMBER or TEXT; empty : column -> empty cells; notes"""

    rows: int
    kinds: Mapping[str, str]
    empty: Mapping[str, int]
    notes: Sequence[str] = ()


def convert(
    source: str | Path, target: str | Path, *, options: TextOptions = NO_OPTIONS, single: bool = False
) -> Converted:
    """Write a table as Parquet: each column as integers, numbers, or text, the first type that fits all its cells;
    whole numbers with leading zeros are text. The file is read twice, in constant memory if it is a text. DataError for
    a file that is no table, for a target that is the source, or for a disk that is full."""
    pa, pq = _arrow(target)
    import pyarrow.compute as pc

    table, target = replace(source_of(source), most=None), Path(target)
    if target.exists() and table.path and target.samefile(table.path):
        raise DataError(f"{target}: is the file that is to be converted; name another one to write to")
    if table.kind in ("parquet", "npy"):
        name = {"parquet": "Parquet", "npy": ".npy"}[table.kind]
        raise DataError(f"{table.where}: this is a {name} file already, which `oblique fit` takes as it is")
    rows, empty, notes = 0, Counter[str](), list[str]()
    kinds: dict[str, str] = {}
    padded = set[str]()
    for batch in _text_batches(table, options, notes):
        kinds = kinds or dict.fromkeys(batch.schema.names, INTEGER)
        rows += batch.num_rows
        for name in batch.schema.names:
            column = batch.column(name)
            empty[name] += column.null_count
            kinds[name] = _kind(column, kinds[name])
            if kinds[name] == INTEGER and pc.any(pc.match_substring_regex(column, "^0[0-9]")).as_py():
                padded.add(name)
    if not rows:
        raise DataError(f"{table.where}: there are no rows below the header")
    kinds |= {name: TEXT for name in padded if kinds[name] == INTEGER}
    kinds |= {name: NUMBER for name in kinds if empty[name] == rows}
    number = pa.float32() if single else pa.float64()
    types = {INTEGER: pa.int64(), NUMBER: number, COMMA: number, TEXT: pa.string()}
    schema = pa.schema([(name, types[kind]) for name, kind in kinds.items()])
    with _faults(table.where), writing(target) as stream, pq.ParquetWriter(stream, schema) as writer:
        for batch in _text_batches(table, options, []):
            columns = [_pointed(batch.column(f.name), kinds[f.name]).cast(f.type) for f in schema]
            writer.write_batch(pa.record_batch(columns, schema=schema))
    kinds = {name: NUMBER if kind == COMMA else kind for name, kind in kinds.items()}
    return Converted(rows, kinds, {name: n for name, n in empty.items() if n}, notes)


def _kind(column: Any, kind: str) -> str:
    """Return the first kind, from `kind` on, that fits all cells."""
    import pyarrow as pa

    for wanted, arrow in ((INTEGER, pa.int64()), (NUMBER, pa.float64()), (COMMA, pa.float64())):
        if kind == wanted:
            try:
                _pointed(column, kind).cast(arrow)
                return wanted
            except pa.ArrowInvalid:
                kind = {INTEGER: NUMBER, NUMBER: COMMA, COMMA: TEXT}[wanted]
    return TEXT


def _pointed(column: Any, kind: str) -> Any:
    """Return numbers with a decimal comma as numbers with a point; a cell with both is no number."""
    import pyarrow.compute as pc

    if kind != COMMA:
        return column
    return pc.replace_substring(pc.replace_substring(column, ".", "no number"), ",", ".")


def _text_batches(source: Source, options: TextOptions, notes: list[str]) -> Iterator[Any]:
    """Yield batches of a table, all cells texts, missing ones null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    marks = options.missing_marks if options.only_marks else (*MARKS, *options.missing_marks)
    spelled = pa.array(sorted({form for mark in marks for form in (mark, mark.upper(), mark.title())} | {"", *marks}))
    with own_rows.opened(source, options) as table:
        for _, columns in table.blocks(BATCH):
            texts = [pa.array(cells, pa.string()) for cells in columns]
            present = [pc.if_else(pc.is_in(text, spelled), pa.scalar(None, pa.string()), text) for text in texts]
            yield pa.record_batch(present, names=list(table.header))
        notes += table.notes
