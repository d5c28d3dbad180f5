"""Tables on the disk that are read block by block: Parquet files, and .npy arrays. And others turned into Parquet.

Everything takes constant memory: one pass finds the roles of the columns, another one copies the rows.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data import npy
from oblique_cli.data.own import rows as own_rows
from oblique_cli.data.own.front import Column
from oblique_cli.data.own.numbers import MARKS
from oblique_cli.data.own.roles import clash_of_roles, listed
from oblique_cli.data.own.source import Source, source_of
from oblique_cli.data.own.text import NO_OPTIONS, TextOptions
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground import seeds
from oblique_cli.ground.labels import label_order
from oblique_cli.ground.magnitudes import FEWEST_DIGITS, summable_quantum
from oblique_cli.ground.registry import close_matches
from oblique_cli.scale.store import GROW, PRUNE, TEST, Store, writing

Array = NDArray[np.float64]

BATCH = 1 << 16  # rows at a time
MOST_CLASSES = 10_000
MOST_LEVELS = 1000  # as in ObliqueTreeClassifier
MOST_EMPTY_NAMED = 5


@dataclass(frozen=True)
class Part:
    """Some rows of a table. columns : (p, n), codes of levels where a feature has levels; codes : (n,), -1 for none"""

    columns: Array
    codes: NDArray[np.int32]
    weights: Array | None


@dataclass
class Table:
    """A table whose columns have been looked at.

    where     its name in messages
    features  the columns that are features
    target    name of the column to predict
    classes   its labels, in the order of their codes
    counts    (C,) rows of each class, those of weight 0 left out
    n_rows    of the file
    dropped   rows without a class, or of weight 0
    weight    name of the column of weights, "" without
    lightest, heaviest  weights
    stamp     tells a file that was changed
    format    of the file, as `Columns` has it
    single    whether all features are single precision, so that the copy may be too
    read      gives the parts of the table, in order
    """

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
        """Levels of each feature, () if none has any."""
        counts = tuple(len(column.levels) for column in self.features)
        return counts if any(counts) else ()


# ---- Parquet ---------------------------------------------------------------------------------------------------------


def parquet_table(
    path: str | Path, target: str, *, weight: str = "", drop: Sequence[str] = (), features: Sequence[str] = ()
) -> Table:
    """Look at a Parquet file. DataError for a table that cannot be grown from, naming the column.

    Numbers are features as they are, texts and truth values are levels. Rows without a class are left out.
    """
    pa, pq = _arrow(path)
    where = str(path)
    with _faults(where):
        file = pq.ParquetFile(path)
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    names = schema.names
    drop, features = listed(drop, names), listed(features, names)
    for name, role in [(target, "the target"), (weight, "weights"), *((d, "a column to drop") for d in drop)]:
        if name and name not in names:
            hint = close_matches(name, names) or f" Columns: {', '.join(map(repr, names[:10]))}."
            raise DataError(f"{where}: there is no column {name!r} to use as {role}.{hint}")
    for name in features:
        if name not in names:
            raise DataError(f"{where}: there is no column {name!r} to use as a feature.{close_matches(name, names)}")
    if clash := clash_of_roles(target, weight, drop=drop, features=features):
        raise DataError(f"{where}: {clash}")
    chosen = [n for n in names if n not in {target, weight, *drop} and (not features or n in features)]
    if not chosen:
        raise DataError(f"{where}: no column is left to be a feature")
    numeric = {}
    for name in chosen:
        kind = schema.field(name).type
        numeric[name] = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind)
        if not (numeric[name] or texts or pa.types.is_dictionary(kind)):
            raise DataError(f"{where}: column {name!r} holds {kind}, neither numbers nor texts; leave it out by --drop")
    look = _look(file, where, target, weight, [n for n in chosen if not numeric[n]], [n for n in chosen if numeric[n]])
    columns = tuple(
        Column(name, "number") if numeric[name] else Column(name, "levels", levels=look.levels[name]) for name in chosen
    )
    single = all(schema.field(name).type in (pa.float32(), pa.float16(), pa.int8(), pa.int16()) for name in chosen)

    def read() -> Iterator[Part]:
        code_of = {label: k for k, label in enumerate(look.classes)}
        level_of = {c.name: {level: float(k) for k, level in enumerate(c.levels)} for c in columns if c.levels}
        with _faults(where):
            for batch in _batches(pq.ParquetFile(path), [*chosen, target, *([weight] if weight else [])]):
                values = np.empty((len(chosen), batch.num_rows))
                for j, name in enumerate(chosen):
                    column = batch.column(name)
                    values[j] = _numbers(column) if numeric[name] else _codes(column, level_of[name])
                codes = _codes(batch.column(target), code_of).astype(np.int32)
                yield Part(values, codes, _numbers(batch.column(weight)) if weight else None)

    return Table(
        where, columns, target, look.classes, look.counts, n_rows, read, look.dropped, weight, look.lightest,
        look.heaviest, single, _stamp(path),
    )  # fmt: skip


@dataclass
class _Look:
    classes: tuple[str, ...]
    counts: NDArray[np.int64]
    levels: Mapping[str, tuple[str, ...]]
    dropped: int
    lightest: float
    heaviest: float


def _look(file: Any, where: str, target: str, weight: str, with_levels: Sequence[str], numeric: Sequence[str]) -> _Look:
    counts: Counter[str] = Counter()
    levels: dict[str, set[str]] = {name: set() for name in with_levels}
    empty: Counter[str] = Counter()
    dropped, lightest, heaviest, at = 0, np.inf, 0.0, 0
    with _faults(where):
        for batch in _batches(file, None):
            shown, places = _coded(batch.column(target))
            useful = np.array([text != "" for text in shown])[places]
            if weight:
                w = _numbers(batch.column(weight))
                wrong = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
                if len(wrong):
                    raise _no_weight(f"{where}: column {weight!r}", w, wrong, at)
                useful &= w > 0
                if useful.any():
                    lightest, heaviest = min(lightest, float(w[useful].min())), max(heaviest, float(w[useful].max()))
            of_text = np.bincount(places[useful], minlength=len(shown)).tolist()
            counts.update({text: n for text, n in zip(shown, of_text, strict=True) if n})
            if len(counts) > MOST_CLASSES:
                raise DataError(
                    f"{where}: column {target!r} has more than {MOST_CLASSES} different values, so it is no class; "
                    "trees of tables beyond memory predict classes"
                )
            dropped += int((~useful).sum())
            for name, known in levels.items():
                known.update(_distinct(batch.column(name)))
                if len(known) > MOST_LEVELS:
                    raise DataError(
                        f"{where}: column {name!r} holds more than {MOST_LEVELS} different texts; leave it out by "
                        "--drop"
                    )
            for name in numeric:
                bad = int((~np.isfinite(_numbers(batch.column(name)))).sum())
                if bad:
                    empty[name] += bad
            at += batch.num_rows
    if empty:
        named = ", ".join(f"{name!r} ({n})" for name, n in itertools.islice(empty.items(), MOST_EMPTY_NAMED))
        raise DataError(
            f"{where}: cells without a finite number in column {named}; fill them, or leave the column out by --drop"
        )
    if len(counts) < 2:
        raise DataError(f"{where}: column {target!r} has {len(counts)} classes, at least 2 are needed")
    labels_ = tuple(sorted(counts, key=label_order))
    of_class = np.array([counts[label] for label in labels_])
    level_names = {name: tuple(sorted(known - {""}, key=label_order)) for name, known in levels.items()}
    if lone := next((name for name, known in level_names.items() if len(known) < 1), None):
        raise DataError(f"{where}: column {lone!r} is empty; leave it out by --drop")
    return _Look(labels_, of_class, level_names, dropped, 1.0 if lightest == np.inf else lightest, heaviest or 1.0)


def _stamp(path: str | Path) -> str:
    status = Path(path).stat()
    return f"{status.st_size} bytes, {status.st_mtime_ns}"


def takes(path: str | Path) -> int | None:
    """Return how many cells a Parquet file has; None if it cannot be read, which others say better."""
    try:
        import pyarrow.parquet

        metadata = pyarrow.parquet.read_metadata(path)
    except (ImportError, OSError):
        return None
    except ValueError:  # what pyarrow raises for a file that is none
        return None
    return int(metadata.num_rows * metadata.num_columns)


def _arrow(path: str | Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DataError(
            f"{path}: Parquet needs pyarrow; install it with pip install 'oblique-trees[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet


def _batches(file: Any, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the rows of a file, some at a time. Over several row groups at once, pyarrow would keep all it has read."""
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
    """Numbers of a column, NaN for missing cells."""
    import pyarrow

    if pyarrow.types.is_decimal(column.type):
        column = column.cast(pyarrow.float64())
    values = column.to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)


def _texts(column: Any) -> list[str]:
    """Cells as a CSV file would have them, "" for what is missing."""
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pyarrow.types.is_boolean(column.type):
        return ["" if v is None else ("true" if v else "false") for v in column.to_pylist()]
    if pyarrow.types.is_floating(column.type):
        return ["" if v is None or v != v else repr(v) for v in column.to_pylist()]
    return ["" if v is None else str(v).strip() for v in column.to_pylist()]


def _distinct(column: Any) -> list[str]:
    return _texts(column.unique())


def _codes(column: Any, code_of: Mapping[str, float | int]) -> Array:
    """Codes of cells, -1 for any other; looked up once for each different cell."""
    shown, places = _coded(column)
    codes: Array = np.array([float(code_of.get(text, -1)) for text in shown])[places]
    return codes


def _coded(column: Any) -> tuple[list[str], NDArray[np.intp]]:
    """The different texts of a column, "" for what is missing as the last, and which of them each cell is."""
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    shown = [*_texts(column.dictionary), ""]
    places = column.indices.fill_null(len(shown) - 1).to_numpy(zero_copy_only=False)
    return shown, places.astype(np.intp)


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
    """Look at a .npy file of numbers, whose columns are x1, x2, ...

    beside : name -> file of a column that lies in a file of its own, as labels and weights may
    DataError for arrays that cannot be grown from
    """
    where, beside = str(path), beside or {}
    X = npy.table_of(path, where)
    names = npy.names(X.shape[1])
    drop, features = listed(drop, names), listed(features, names)
    for name, role in [
        (target, "the target"),
        (weight, "weights"),
        *((d, "a column to drop") for d in drop),
        *((f, "a feature") for f in features),
    ]:
        if name and name not in names and name not in beside:
            raise DataError(
                f"{where}: there is no column {name!r} to use as {role}; its columns are x1 to {names[-1]}, and a "
                "column in a file of its own is named by the file, as in y.npy"
            )
    if clash := clash_of_roles(target, weight, drop=drop, features=features):
        raise DataError(f"{where}: {clash}")

    def column(name: str, role: str) -> Any:
        if name in beside:
            return npy.column_of(beside[name], len(X), role)
        return X[:, names.index(name)]

    y, w = column(target, "the target"), column(weight, "weights") if weight else None
    left_out = {target, weight, *drop}
    chosen = [j for j, name in enumerate(names) if name not in left_out and (not features or name in features)]
    if not chosen:
        raise DataError(f"{where}: no column is left to be a feature")
    stamp = "; ".join(_stamp(each) for each in (path, *beside.values()))
    return array_table(
        X, y, w, where=where, names=names, columns=chosen, target=target, weight=weight,
        file_of_weights=beside.get(weight, ""), stamp=stamp,
    )  # fmt: skip


def _no_weight(where: str, weights: Array, wrong: NDArray[np.int64], first: int) -> DataError:
    """The error for weights of which some are none. wrong : their places; first : the row of the first weight"""
    held = weights[wrong[0]]
    cell = "no number" if np.isnan(held) else repr(str(held))
    return DataError(f"{where} holds {cell} in row {first + int(wrong[0]) + 1}; a weight is a number from 0 up")


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
    """Look at arrays, which may be memory maps of .npy files. X : (n, p) numbers; y : (n,) labels; weights : (n,)

    names : of the columns of X; columns : those of them that are features, None for all
    target, weight : what the labels and the weights are called; file_of_weights : where these lie, if by themselves
    stamp : as in `Table`
    """
    if X.ndim != 2 or X.dtype.kind not in "fiub" or X.shape[0] < 1 or X.shape[1] < 1:
        raise DataError(f"{where}: must be a table of numbers, (rows, features). Got {X.dtype} of shape {X.shape}")
    if y.shape != (len(X),) or (weights is not None and weights.shape != (len(X),)):
        raise DataError(f"{where}: has {len(X)} rows, so labels and weights must be {len(X)} each")
    seen: Counter[Any] = Counter()
    dropped, lightest, heaviest = 0, np.inf, 0.0
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
        if weights is not None:
            w = np.asarray(weights[rows], dtype=np.float64)
            wrong = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
            if len(wrong):
                raise _no_weight(file_of_weights or f"{where}: column {weight!r}", w, wrong, first)
            dropped += int((w == 0).sum())
            labels = labels[w > 0]
            if len(labels):
                lightest, heaviest = min(lightest, float(w[w > 0].min())), max(heaviest, float(w.max()))
        seen.update(dict(zip(*(part.tolist() for part in np.unique(labels, return_counts=True)), strict=True)))
        if len(seen) > MOST_CLASSES:
            raise DataError(
                f"{where}: the target {target!r} has more than {MOST_CLASSES} different values, so it is no class; "
                "trees of tables beyond memory predict classes"
            )
    if len(seen) < 2:
        raise DataError(f"{where}: the labels have {len(seen)} classes, at least 2 are needed")
    classes = tuple(sorted(seen))
    names = names or npy.names(X.shape[1])
    features = tuple(Column(names[j], "number") for j in (range(X.shape[1]) if columns is None else columns))

    def read() -> Iterator[Part]:
        known = np.array(classes)
        for first in range(0, len(X), BATCH):
            rows = slice(first, first + BATCH)
            codes = np.searchsorted(known, y[rows]).astype(np.int32)
            w = None if weights is None else np.asarray(weights[rows], dtype=np.float64)
            yield Part(np.asarray(_chosen(X[rows], columns), dtype=np.float64).T, codes, w)

    of_class = np.array([seen[label] for label in classes])
    lightest, heaviest = 1.0 if lightest == np.inf else lightest, heaviest or 1.0
    single = X.dtype in (np.float32, np.float16, np.int8, np.int16)
    return Table(
        where, features, target, classes, of_class, len(X), read, dropped, "" if weights is None else weight, lightest,
        heaviest, single, stamp, "npy",
    )  # fmt: skip


def _chosen(rows: Any, columns: Sequence[int] | None) -> Any:
    return rows if columns is None or len(columns) == rows.shape[1] else rows[:, columns]


# ---- into a store ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Division:
    """Shares of rows for pruning and for the test, which growth does not see, drawn row by row with a seed."""

    prune: float = 0.0
    test: float = 0.0
    seed: int = 0

    def drawn(self) -> Callable[[int], NDArray[np.int8]]:
        """Return what gives the parts of the next n rows. Stochasticity: one stream, named after the seed."""
        stream = seeds.generator(self.seed, "rows kept from growth")

        def next_parts(n: int) -> NDArray[np.int8]:
            u = stream.random(n)
            return np.where(u < self.test, TEST, np.where(u < self.test + self.prune, PRUNE, GROW)).astype(np.int8)

        return next_parts


def store(
    table: Table,
    folder: Path,
    division: Division = Division(),
    of_class: Array | None = None,
) -> Store:
    """Copy a table into a folder as chunks. of_class : (C,) weights of the classes, or None

    Weights are in units of the smallest positive one and rounded so that all sums of them are exact, as in memory.
    """
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
    """The smallest and the largest weight of a row, that of its class included."""
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
    """What a table became. kinds : column -> INTEGER, NUMBER or TEXT; empty : column -> empty cells; notes as told"""

    rows: int
    kinds: Mapping[str, str]
    empty: Mapping[str, int]
    notes: Sequence[str] = ()


def convert(
    source: str | Path, target: str | Path, *, options: TextOptions = NO_OPTIONS, single: bool = False
) -> Converted:
    """Write a table as Parquet; the types of columns hold for every row of the file.

    A column is of whole numbers, of numbers, or of text: the first of these that all its cells are; whole numbers with
    leading zeros are codes, and so text. The file is read twice, in constant memory if it is a text.
    options : how it is read; single : numbers in single precision. DataError for a file that is no table, for a target
    that is the source, or for a disk that is full
    """
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
    """The first kind, from `kind` on, that all cells are of."""
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
    """Cells of numbers with a decimal comma as such with a point; a cell with both is none."""
    import pyarrow.compute as pc

    if kind != COMMA:
        return column
    return pc.replace_substring(pc.replace_substring(column, ".", "no number"), ",", ".")


def _text_batches(source: Source, options: TextOptions, notes: list[str]) -> Iterator[Any]:
    """Batches of a table, all cells texts, missing ones null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    marks = options.marks if options.only_marks else (*MARKS, *options.marks)
    spelled = pa.array(sorted({form for mark in marks for form in (mark, mark.upper(), mark.title())} | {"", *marks}))
    with own_rows.opened(source, options) as table:
        while block := own_rows.taken(table.rows, BATCH):
            texts = [pa.array(cells, pa.string()) for cells in zip(*(cells for _, cells in block), strict=True)]
            present = [pc.if_else(pc.is_in(text, spelled), pa.scalar(None, pa.string()), text) for text in texts]
            yield pa.record_batch(present, names=list(table.header))
        notes += table.notes
