"""Reader of `catalogue.yaml`: every error has a line and a message, and all errors are reported together.

An error invalidates the whole catalogue, but no other set that is requested by its name alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oblique_cli.data.entries import Entry, File, Recipe, Source, lookup_key
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.constraints import Boolean, Choice, Integer, Text
from oblique_cli.ground.registry import close_matches
from oblique_cli.ground.strict_yaml import Place, Problems, YamlSource, YamlValue, parse, printable, read, shown

NAME = Text(r"[a-z0-9][a-z0-9_]{0,63}", "a short name of a-z, 0-9 and '_', such as statlog_heart")
TEXT = Text(r"[\s\S]*\S[\s\S]*", "a text")
ANY_TEXT = Text(r"[\s\S]*", "a text")
SHA256 = Text(r"[0-9a-f]{64}", "the 64 hexadecimal digits, in lower case, that `sha256sum FILE` prints")
RELATIVE = Text(r"(?!.*(^|/)\.\.?(/|$))[^\s/\\:][^\s\\:]*", "a relative path, without blanks and '..'")

# The form of an entry: a constraint of a text or number, a list with the form of its items, or a mapping with the form
# of each key. A key with "?" may be absent; the key "*" stands for any text.
FILE = {
    "name": Text(r"[A-Za-z0-9][A-Za-z0-9_.-]*\.csv(\.gz)?", "the name of a .csv or .csv.gz file, without folders"),
    "rows": Integer(1),
    "sha256": SHA256,
    "unpacked_sha256?": SHA256,
}
RECIPE = {
    "delimiter": Text(r"[^\s\w\"']|\t|whitespace", "one character, or whitespace"),
    "header": Boolean(),
    "sources": [{"path": RELATIVE, "members?": [TEXT]}],
    "columns": [TEXT],
    "missing?": ANY_TEXT,
}
ENTRY = {
    "title": TEXT,
    "task": Choice(("classification", "regression")),
    "numeric": Integer(0),
    "availability": Choice(("bundled", "fetched", "generated")),
    "source": TEXT,
    "licence": TEXT,
    "n?": Integer(1),
    "categorical?": Integer(0),
    "origin?": ANY_TEXT,
    "notes?": ANY_TEXT,
    "note?": Text(r"[^\r\n]*", "one line of text"),
    "paper_code?": ANY_TEXT,
    "files?": {"train?": FILE, "test?": FILE, "all?": FILE},
    "classes?": {"*": Integer(1)},
    "categorical_columns?": [TEXT],
    "aliases?": [TEXT],
    "published?": {"*": TEXT},
    "recipe?": RECIPE,
}
PARTS = (("all",), ("train", "test"))

Faults = list[tuple[Place, str]]


def names(path: Path) -> list[str]:
    """Return the names of all data sets, those of invalid entries included, in the order of the file."""
    with _reported(Problems()) as problems:
        return re.findall(r"^(\w+):", _text(path, problems).text, re.M)


def load(path: Path, only: str = "") -> dict[str, Entry]:
    """Return the entries of a catalogue; DataError with every fault. only : read this entry only, and none if another
    has its name or may have one of its aliases"""
    entries: dict[str, Entry] = {}
    with _reported(Problems()) as problems:
        source = _text(path, problems)
        tree = parse(_alone(source, only) if only else source, problems, quick=True)
        problems.check()
        if not isinstance(tree.data, dict):
            message = f"the catalogue must be a mapping of names of data sets to their entries. Got {tree.shown()}"
            raise problems.stop(tree.place, message)
        taken = {lookup_key(name): name for name in tree.data}
        for name, value in tree.data.items():
            entry = _entry(name, value, problems)
            if entry is None or (only and any(_stands_elsewhere(alias, source.text) for alias in entry.aliases)):
                continue
            for alias in entry.aliases:
                other = taken.setdefault(lookup_key(alias), name)
                if other != name:
                    message = f"{alias!r} in aliases of data set {name!r} already means data set {other!r}"
                    problems.add(value.data["aliases"].key, message)
            entries[name] = entry
        problems.check()
    return entries


@contextmanager
def _reported(problems: Problems) -> Iterator[Problems]:
    """Convert the error of problems to a DataError with a line for each."""
    try:
        yield problems
    except ConfigError:
        lines = [f"{place.label}: {message}" for place, message in problems.by_place()]
        raise DataError("\n".join(line if line.endswith((".", "?")) else f"{line}." for line in lines)) from None


def _text(path: Path, problems: Problems) -> YamlSource:
    here = Path.cwd()
    return read(path, str(path.relative_to(here) if path.is_relative_to(here) else path), problems)


def _alone(source: YamlSource, name: str) -> YamlSource:
    """Return the source with the lines of one entry only, at their places."""
    text = source.text
    starts = [match.start() for match in re.finditer(rf"^{re.escape(name)}:", text, re.M)]
    if len(starts) != 1:
        return YamlSource(source.name, "{}", source.path)
    end = re.compile(r"^[^\s#]", re.M).search(text, starts[0] + 1)
    entry = text[starts[0] : end.start() if end else len(text)]
    return YamlSource(source.name, "\n" * text.count("\n", 0, starts[0]) + entry, source.path)


def _stands_elsewhere(alias: str, text: str) -> bool:
    """Return whether an alias is in the text of the catalogue more than once, in any spelling."""
    spelled = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", alias.strip())))
    return len(re.findall(rf"(?i)(?<![\w-]){spelled}(?![\w-])", text)) > 1


def _entry(name: str, value: YamlValue, problems: Problems) -> Entry | None:
    """Return an entry, None after noting that its keys are not of the form above, or do not agree."""
    faults: Faults = []
    owner = f"data set {shown(name)}"
    _plain(YamlValue(name, value.key, value.key), NAME, "name", owner, faults)
    plain = _plain(value, ENTRY, "", owner, faults)
    for place, message in faults:
        problems.add(place, message)
    if faults:
        return None
    files = {part: File(**plain["files"][part]) for part in ("all", "train", "test") if part in plain.get("files", {})}
    if recipe := plain.pop("recipe", None):
        recipe |= {"sources": tuple(Source(**source) for source in recipe["sources"])}
        plain["recipe"] = Recipe(**recipe)
    plain.setdefault("categorical", len(plain.get("categorical_columns", ())))
    plain.setdefault("n", sum(file.rows for file in files.values()))
    parts = {f"files.{part}": item for part, item in value.data["files"].data.items()} if files else {}
    places = {"": value.key.label} | {key: item.key.label for key, item in (value.data | parts).items()}
    entry = Entry(name=name, **plain | {"files": files, "places": places})
    disagreements = list(_disagreements(entry))
    for key, message in disagreements:
        problems.add(value.data.get(key, value).key, f"{key} of {owner} {message}")
    return None if disagreements else entry


def _plain(value: YamlValue, form: Any, key: str, owner: str, faults: Faults) -> Any:
    """Return a value without places; faults : gets the differences of the value from its form."""
    where = f"{key} of {owner}" if key else owner
    if isinstance(form, dict) and isinstance(value.data, dict):
        if "*" in form:
            items = value.data.items()
            return {name: _plain(item, form["*"], f"{key}.{printable(name)}", owner, faults) for name, item in items}
        forms = {name.removesuffix("?"): inner for name, inner in form.items()}
        lacking = [name for name in form if name[-1] != "?" and name not in value.data]
        faults += [(value.key, f"{where} lacks the key {name!r}") for name in lacking]
        for name in (name for name in value.data if name not in forms):
            hint = close_matches(name, forms) or f" Known: {', '.join(forms)}."
            faults.append((value.data[name].key, f"unknown key {shown(name)} in {where}.{hint}"))
        known = {name: item for name, item in value.data.items() if name in forms}
        stem = f"{key}." if key else ""
        return {name: _plain(item, forms[name], stem + name, owner, faults) for name, item in known.items()}
    if isinstance(form, list) and isinstance(value.data, list):
        return tuple(_plain(item, form[0], key, owner, faults) for item in value.data)
    if isinstance(form, dict | list):
        what = "a mapping of keys to values" if isinstance(form, dict) else "a list"
        faults.append((value.key, f"{where} must be {what}. Got {value.shown()}"))
    elif not form.holds(value.data):
        number_as_text = isinstance(form, Text) and isinstance(value.data, bool | int | float)
        advice = "; put it in quotes if it is meant as a text" if number_as_text else ""
        faults.append((value.key, f"{where} must be {form.describe()}. Got {value.shown()}{advice}"))
    return value.data


def _disagreements(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield keys of an entry that do not fit its other keys, with the message about each."""
    files, classes, columns, recipe = entry.files, entry.classes, entry.categorical_columns, entry.recipe
    rows, labeled = sum(file.rows for file in files.values()), sum(classes.values())
    if entry.generated:
        if files:
            yield "files", "has no place in a generated set, which is drawn by the package"
        if not entry.n:
            yield "n", "is missing: a generated set has no files to count"
    elif not files:
        yield "files", "is missing: only generated sets lack it"
    elif tuple(files) not in PARTS:
        yield "files", "must be 'all' alone, or 'train' and 'test'"
    elif rows != entry.n:
        yield "n", f"is {entry.n}, the rows of its files add up to {rows}"
    if any(file.unpacked_sha256 and not file.name.endswith(".gz") for file in files.values()):
        yield "files", "has unpacked_sha256 for a file whose name does not end in .gz"
    if entry.p == 0:
        yield "numeric", "and categorical are both 0: at least one feature is needed"
    if entry.categorical != len(columns):
        yield "categorical", f"is {entry.categorical}, and categorical_columns names {len(columns)}"
    if entry.task == "regression":
        if classes:
            yield "classes", "has no place in a regression set"
    elif len(classes) < 2 or labeled != entry.n:
        got = f"{len(classes)} labels of {labeled} rows"
        yield "classes", f"must be a mapping of at least two labels to their rows, {entry.n} in all. Got {got}"
    if recipe is not None:
        if entry.availability != "fetched" or tuple(files) != ("all",) or not recipe.sources:
            yield "recipe", "is for a fetched set of one file, named under files.all, from at least one source"
        written = [column for column in recipe.columns if column != "-"]
        if written[-1:] != [entry.target] or len(written) != entry.p + 1 or not set(columns) <= set(written):
            expected = f"{entry.p} features, those of categorical_columns among them, and {entry.target!r} last"
            yield "recipe", f"must have columns for {expected}. Got {len(written)}"
