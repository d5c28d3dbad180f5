"""The catalogue: description, origin and loading of each data set by name.

The entries are in `datasets/catalogue.yaml`. Only `load` imports anything numerical.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oblique_cli.data import files, local_sources
from oblique_cli.data.entries import Entry, lookup_key, other_names
from oblique_cli.data.own.source import content_of
from oblique_cli.data.text_table import Table, parse
from oblique_cli.errors import ConfigError, DataError, UnknownName
from oblique_cli.ground.constraints import Choice, check
from oblique_cli.ground.nouns import DatasetSpec, TableOptions
from oblique_cli.ground.registry import close_matches
from oblique_cli.ground.resources import folder

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset
    from oblique_cli.data.own.front import Columns, Reading

POLICIES = {
    "missing": Choice(("error", "drop", "impute", "keep")),
    "encoding": Choice(("error", "onehot", "ordinal", "crimcoord")),
}


def _path() -> Path:
    return folder("datasets") / "catalogue.yaml"


@functools.cache
def entries() -> Mapping[str, Entry]:
    """Return every entry by name, in the order of the file; DataError with all faults of the file."""
    from oblique_cli.data import catalogue_file

    return catalogue_file.load(_path())


@functools.cache
def entry_alone(key: str) -> Entry | None:
    """Return an entry without reading the others; None if all are needed: no entry of this name, or an error in it."""
    from oblique_cli.data import catalogue_file

    try:
        return catalogue_file.load(_path(), only=key).get(key)
    except DataError:
        return None


@functools.cache
def _names() -> list[str]:
    from oblique_cli.data import catalogue_file

    return catalogue_file.names(_path())


def names() -> list[str]:
    """Return the names of all data sets in the catalogue's order: sets of the papers first, invalid ones included."""
    return list(_names())


def resolve(name: str) -> str:
    """Return the catalogue's name for a name, an alias or a published code, in any case of letters; UnknownName, with
    close matches, if it matches no set or several."""
    key = lookup_key(name)
    if entry_alone(key) or key in entries():
        return key
    others = other_names(entries())
    meant = others.get(key, ())
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise UnknownName(f"data set {name!r} may be {' or '.join(sorted(meant))}; use one of these names")
    raise UnknownName(f"unknown data set {name!r}.{close_matches(key, {**entries(), **others})} (oblique data list)")


def resolved(name: str) -> str | None:
    """Return the result of `resolve`, None for an unknown name."""
    try:
        return resolve(name)
    except UnknownName:
        return None


def entry(name: str) -> Entry:
    """Return the entry of a name. Raises DataError if the entry is invalid."""
    known = resolve(name)
    return entry_alone(known) or entries()[known]


def remark(spec: DatasetSpec) -> str:
    """Return the remark on a data set for readers of results, or ""."""
    if local_sources.is_at_hand(spec):
        return local_sources.note_of(spec)
    if spec.target is not None or resolved(spec.name) is None:  # a user's file, or a set of a plugin
        return ""
    # Notes of the catalogue begin with the name of their set, which a table prints already.
    return entry(spec.name).note.partition(": ")[2]


def load(
    spec: DatasetSpec | str,
    data_dir: str | Path | None = None,
    offline: bool = False,
    task: str = "classification",
    groups: str = "",
) -> Dataset:
    """Return the data set of a request; a plain name stands for that set of the catalogue without options.

    data_dir   first place to search for files that are not bundled, before $OBLIQUE_DATA and the cache
    offline    never fetch what is missing
    task       task of the algorithms, for a user's file; a set of the catalogue has a fixed task
    groups     column whose equal cells belong together, see `from_table`; "" for none
    Every file of the catalogue is checked against its sha256 each time. Raises DataError (file absent, damaged or not
    as described) or ConfigError (unknown name or policy)."""
    from oblique_cli.data.dataset import from_table

    if isinstance(spec, str):
        spec = DatasetSpec(spec)
    check({"missing": spec.missing, "encoding": spec.encoding}, POLICIES, f"data set {spec.name!r}")
    if spec.csv is not None:
        if not spec.target:
            raise ConfigError(f"data set {spec.name!r} is a CSV file: set target to the name of its class column")
        return look(spec, reading(spec, task, groups))[0]
    if local_sources.is_at_hand(spec):
        return local_sources.load(spec, offline, task, groups)
    known = entry(spec.name)
    if known.generated:
        if groups:
            raise DataError(f"{known.where}: its rows are drawn one by one, so no column says which belong together")
        return _drawn(known)
    table = _checked_table(known, {part: _content(known, part, data_dir, offline) for part in known.files})
    dataset = from_table(
        table,
        known.target,
        name=known.name,
        task=known.task,
        qualitative=(*known.categorical_columns, *spec.qualitative),
        missing=spec.missing,
        encoding=spec.encoding,
        n_train=known.files["train"].rows if "train" in known.files else None,
        groups=groups,
    )
    return replace(dataset, paper_code=known.paper_code, note=known.note)


def _drawn(known: Entry) -> Dataset:
    """Draw a generated set and check it against its entry."""
    from oblique_cli.data import synthetic

    if known.name not in synthetic.SYNTHETIC:
        hint = close_matches(known.name, synthetic.SYNTHETIC)
        raise DataError(f"{known.where}: nothing draws a set of this name ({known.at('availability')}).{hint}")
    dataset = synthetic.draw(known.name, paper_code=known.paper_code, note=known.note)
    counts = {label: int((dataset.y == code).sum()) for code, label in enumerate(dataset.classes)}
    if (dataset.n, dataset.p, counts) != (known.n, known.p, dict(known.classes)):
        raise DataError(
            f"{known.where}: catalogue says {known.n} rows, {known.p} features and classes {dict(known.classes)}, "
            f"drawn were {dataset.n}, {dataset.p} and {counts} ({known.at('')})"
        )
    return dataset


# The user's tables that were read last: a command reads a table before it builds its experiment.
_SEEN: dict[Any, tuple[Dataset, Columns]] = {}
SEEN = 4


def look(spec: DatasetSpec, how: Reading) -> tuple[Dataset, Columns]:
    """Return a user's file, read with the options of `how`, and the description of its columns."""
    from oblique_cli.data.own.front import read_own

    assert spec.csv is not None
    try:
        state = os.stat(spec.csv)
        stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
    except OSError:  # standard input, or a missing file
        stamp = (0, 0, 0)
    key = (spec.csv, stamp, spec.name, replace(how, task="", algorithms=""))
    if key not in _SEEN or _SEEN[key][0].task != (how.task or how.algorithms):
        dataset, columns, _ = read_own(spec.csv, how, spec.name)
        if len(_SEEN) >= SEEN:
            del _SEEN[next(iter(_SEEN))]
        _SEEN[key] = dataset, columns
    return _SEEN[key]


def reading(spec: DatasetSpec, algorithms: str = "", groups: str = "") -> Reading:
    """Return the reading options of a request for a user's file. algorithms : the task of the algorithms"""
    from oblique_cli.data.own.front import Reading

    shared: dict[str, Any] = {field.name: getattr(spec, field.name) for field in fields(TableOptions)}
    return Reading(**shared, algorithms=algorithms, groups=groups)


def _content(known: Entry, part: str, data_dir: str | Path | None, offline: bool) -> bytes:
    """Return the verified content of a file of an entry; fetch a file that is missing, or damaged in the cache."""
    file = known.files[part]
    located = files.find(file, known.bundled, data_dir)
    fault = f"{folder('datasets') / file.name} is missing ({known.at(f'files.{part}')})"
    if located is not None:
        content = content_of(located.path)
        if not (fault := files.mismatch(located, content)):
            return content
    if known.bundled:
        raise DataError(f"{known.where}: {fault}. Install the package again, or put a good copy there")
    from oblique_cli.data.fetch import fetch

    place = located.path.parent if located else files.cache_folder()
    return content_of(fetch(known, place, offline=offline, looked_in=files.data_folders(data_dir)).path)


def _checked_table(known: Entry, contents: Mapping[str, bytes]) -> Table:
    """Parse the files of an entry, concatenate them, and check their shape against the entry."""
    tables = [parse(content, known.where) for content in contents.values()]
    first = tables[0]
    joined = Table(
        known.where,
        first.header,
        tuple(sum(cells, ()) for cells in zip(*(t.columns for t in tables), strict=True)),
        sum((t.lines for t in tables), ()),
    )
    if any(t.header != first.header for t in tables):
        raise DataError(f"{known.where}: the headers of its files differ ({known.at('files')})")
    rows = {part: len(table.lines) for part, table in zip(contents, tables, strict=True)}
    for fault in _disagreements(known, joined, rows):
        raise DataError(f"{known.where}: {fault}")
    return joined


def _disagreements(known: Entry, table: Table, rows: Mapping[str, int]) -> Iterator[str]:
    """Yield the differences between an entry and its table, with rows of each file, as texts that follow the place."""
    *features, last = table.header
    if last != known.target:
        name = next(iter(known.files.values())).name
        wanted = f"{known.target!r}, the target of {known.task} ({known.at('task')})"
        yield f"the last column of {name} must be {wanted}. Got {last!r}"
    expected = {part: file.rows for part, file in known.files.items()}
    if (rows, len(features)) != (expected, known.p):
        place = known.at("numeric" if rows == expected else "files")
        shape = f"{sum(expected.values())} rows and {known.p} features"
        yield f"catalogue says {shape}, the files have {sum(rows.values())} and {len(features)} ({place})"
    if lost := [column for column in known.categorical_columns if column not in features]:
        hint = close_matches(lost[0], features)
        yield f"the files have no feature {lost[0]!r} ({known.at('categorical_columns')}).{hint}"
    counts = dict(Counter(table.columns[-1])) if known.task == "classification" else {}
    if counts != dict(known.classes):
        yield f"catalogue says classes {dict(known.classes)}, the files have {counts} ({known.at('classes')})"


@dataclass(frozen=True)
class Check:
    """Result of `verify` for one set: status "ok", "bad" or "absent", and an error message unless it is ok."""

    name: str
    status: str
    message: str = ""


def verify(name: str, data_dir: str | Path | None = None) -> Check:
    """Check every file of a set against its sha256, rows, features and class counts; without changing files. A
    generated set is drawn and counted; an invalid entry is "bad"."""
    try:
        name = resolve(name)
        known = entry(name)
        if known.generated:
            _drawn(known)
            return Check(name, "ok")
        contents: dict[str, bytes] = {}
        for part, file in known.files.items():
            located = files.find(file, known.bundled, data_dir)
            if located is None:
                named = f" ({known.at(f'files.{part}')})" if known.bundled else ""
                return Check(name, "absent", f"{known.where}: {file.name} is not found{named}")
            contents[part] = content_of(located.path)
            if fault := files.mismatch(located, contents[part]):
                raise DataError(f"{known.where}: {fault}")
        _checked_table(known, contents)
    except DataError as error:
        return Check(name, "bad", str(error))
    return Check(name, "ok")


def whereabouts(known: Entry, data_dir: str | Path | None = None) -> str:
    """Return the location: "bundled", "generated", "data directory", "cache", "to fetch" or "data directory needed"."""
    if known.generated:
        return "generated"
    copies = [files.find(file, known.bundled, data_dir) for file in known.files.values()]
    if known.bundled:
        return files.BUNDLED
    if all(copies):
        return next(f.owner for f in copies if f)
    return "to fetch" if known.recipe else "data directory needed"
