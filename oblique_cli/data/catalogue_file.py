"""Reader of `catalogue.yaml`: an entry is used completely or not at all, and every error has a line and a message.

Invalid YAML invalidates the whole catalogue. An error inside an entry invalidates that entry only: other sets remain
usable, and a request for this set raises the error. Of two entries with the same alias the later one is invalid; of
two with the same name both are, because the name is ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oblique_cli.data.entries import Catalogue, Entry, File, Recipe, Source, lookup_key, target_of
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.constraints import Boolean, Choice, Constraint, Integer, Text
from oblique_cli.ground.registry import close_matches
from oblique_cli.ground.strict_yaml import Place, Problems, YamlSource, YamlValue, parse, printable, read, shown

NAME = Text(r"[a-z0-9][a-z0-9_]{0,63}", "a short name of a-z, 0-9 and '_', such as statlog_heart")
TEXT = Text(r"[\s\S]*\S[\s\S]*", "a text")
ANY_TEXT = Text(r"[\s\S]*", "a text")
SHA256 = Text(r"[0-9a-f]{64}", "the 64 hexadecimal digits, in lower case, that `sha256sum FILE` prints")
RELATIVE = Text(r"(?!.*(^|/)\.\.?(/|$))[^\s/\\:][^\s\\:]*", "a relative path, without blanks and '..'")

REQUIRED: dict[str, Constraint] = {
    "title": TEXT,
    "task": Choice(("classification", "regression")),
    "numeric": Integer(0),
    "availability": Choice(("bundled", "fetched", "generated")),
    "source": TEXT,
    "licence": TEXT,
}
OPTIONAL: dict[str, Constraint] = {
    "n": Integer(1),
    "categorical": Integer(0),
    "origin": ANY_TEXT,
    "notes": ANY_TEXT,
    "note": Text(r"[^\r\n]*", "one line of text"),
    "paper_code": ANY_TEXT,
}
# Keys whose values are mappings or lists.
NESTED = ("files", "classes", "categorical_columns", "aliases", "published", "recipe")

Table = Mapping[str, Constraint]
FILE: dict[str, Constraint] = {
    "name": Text(r"[A-Za-z0-9][A-Za-z0-9_.-]*\.csv(\.gz)?", "the name of a .csv or .csv.gz file, without folders"),
    "rows": Integer(1),
    "sha256": SHA256,
}
UNPACKED = {"unpacked_sha256": SHA256}
PARTS = (("all",), ("train", "test"))

RECIPE: dict[str, Constraint] = {
    "delimiter": Text(r"[^\s\w\"']|\t|whitespace", "one character, or whitespace"),
    "header": Boolean(),
}


def load(path: Path, only: str = "") -> Catalogue:
    """Read a catalogue; DataError if the file is no mapping of names to entries. only : read this entry only, and none
    if another has its name or may have one of its aliases"""
    here = Path.cwd()
    problems = Problems()
    try:
        source = read(path, str(path.relative_to(here) if path.is_relative_to(here) else path), problems)
        tree = parse(_alone(source, only) if only else source, problems, quick=True)
    except ConfigError:
        raise DataError("\n".join(_sentence(*problem) for problem in problems.by_place())) from None
    if not isinstance(tree.data, dict):
        message = f"the catalogue must be a mapping of names of data sets to their entries. Got {tree.shown()}"
        raise DataError(_sentence(tree.place, message))

    faults: dict[str, list[tuple[Place, str]]] = {}
    for place, message in problems.by_place():
        faults.setdefault(_owner(place, tree.data), []).append((place, message))
    entries: dict[str, Entry] = {}
    taken = {lookup_key(name): name for name in tree.data}
    for name, value in tree.data.items():
        if name in faults:  # part of the entry is unreadable, so further checks are not possible
            continue
        form = _Form(f"data set {shown(name)}")
        entry = form.entry(name, value)
        if only and any(_stands_elsewhere(alias.data, source.text) for alias in form.aliases):
            continue
        for alias in form.aliases:
            other = taken.setdefault(lookup_key(alias.data), name)
            if other != name:
                form.fault(alias, f"{alias.shown()} in aliases of {form.owner} already means data set {shown(other)}")
        if form.faults:
            faults[name] = form.faults
        elif entry is not None:
            entries[name] = entry
    return Catalogue(
        entries,
        {
            name: "\n".join(_sentence(*fault) for fault in sorted(listed, key=lambda fault: fault[0].line))
            for name, listed in faults.items()
        },
        tuple(dict.fromkeys([*tree.data, *faults])),
    )


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


def _sentence(place: Place, message: str) -> str:
    return f"{place.label}: {message}{'' if message.endswith(('.', '?')) else '.'}"


def _owner(place: Place, entries: Mapping[str, YamlValue]) -> str:
    """Return the name of the entry in which a YAML problem lies."""
    keys = {value.key.line: (value.key.column, name) for name, value in entries.items() if value.key.line <= place.line}
    column, name = keys[max(keys)] if keys else (place.column, "")
    if place.column > column:
        return name
    # The key of an entry itself: a repeated name, or a name that is no text.
    line = place.source.lines[place.line - 1]
    return printable(line[place.column - 1 : place.column - 1 + place.width]).strip("'\"")


class _Form:
    """Reader of one entry: reads its keys and collects error messages.

    owner     name of the entry in messages
    aliases   the aliases with their places, to be compared with those of other entries
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.faults: list[tuple[Place, str]] = []
        self.aliases: list[YamlValue] = []

    def fault(self, at: YamlValue, message: str) -> None:
        """Record an error at the key of a value, or at the value itself if it has no key."""
        self.faults.append((at.key, message))

    def entry(self, name: str, value: YamlValue) -> Entry | None:
        """Return the entry, or None if there are errors."""
        self.scalar(YamlValue(name, value.key, value.key), "name", NAME)
        values, plain = self.record(value, self.owner, "", REQUIRED, OPTIONAL, further=NESTED)
        for key in ("categorical_columns", "aliases"):
            texts = self.texts(values[key], key) if key in values else []
            plain[key] = tuple(text.data for text in texts)
            self.aliases = texts if key == "aliases" else self.aliases
        for key, constraint in (("classes", Integer(1)), ("published", TEXT)):
            plain[key] = self.pairs(values[key], key, constraint) if key in values else {}
        plain["files"] = self.files(values["files"]) if "files" in values else {}
        plain["recipe"] = self.recipe(values["recipe"]) if "recipe" in values else None
        if self.faults:
            return None
        plain.setdefault("categorical", len(plain["categorical_columns"]))
        if plain["files"]:
            plain.setdefault("n", sum(file.rows for file in plain["files"].values()))
        parts = {f"files.{part}": item for part, item in values["files"].data.items()} if plain["files"] else {}
        plain["places"] = {"": value.key.label} | {key: item.key.label for key, item in (values | parts).items()}
        self.agreement(plain, values, value)
        return None if self.faults else Entry(name=name, **plain)

    def agreement(self, plain: Mapping[str, Any], values: Mapping[str, YamlValue], whole: YamlValue) -> None:
        """Check the keys of an entry against each other."""

        def fault(key: str, message: str) -> None:
            self.fault(values.get(key, whole), f"{key} of {self.owner} {message}")

        n, classes, files, recipe = plain.get("n"), plain["classes"], plain["files"], plain["recipe"]
        features, columns = plain["numeric"] + plain["categorical"], plain["categorical_columns"]
        if plain["availability"] == "generated":
            if n is None:
                fault("n", "is missing: a generated set has no files to count")
            for key in ("files", "recipe"):
                if plain[key]:
                    fault(key, "has no place in a generated set, which is drawn by the package")
        elif not files:
            fault("files", f"is missing: a {plain['availability']} set has files")
        elif sum(file.rows for file in files.values()) != n:
            fault("n", f"is {n}, the rows of its files add up to {sum(file.rows for file in files.values())}")
        if features == 0:
            fault("numeric", "and categorical are both 0: at least one feature is needed")
        if plain["categorical"] != len(columns):
            fault("categorical", f"is {plain['categorical']}, and categorical_columns names {len(columns)}")
        if plain["task"] == "regression":
            if classes:
                fault("classes", "has no place in a regression set")
        elif len(classes) < 2:
            fault("classes", f"must be a mapping of at least two labels to their rows. Got {len(classes)}")
        elif n is not None and sum(classes.values()) != n:
            fault("classes", f"adds up to {sum(classes.values())} rows, and n is {n}")
        if recipe is not None:
            if plain["availability"] != "fetched" or tuple(files) != ("all",):
                fault("recipe", "is for a fetched set of one file, named under files.all")
            written = [column for column in recipe.columns if column != "-"]
            if written[-1:] != [target_of(plain["task"])] or len(written) != features + 1:
                target = target_of(plain["task"])
                fault("recipe", f"must have columns for {features} features and {target!r} last. Got {len(written)}")
            if lost := sorted(set(columns) - set(written)):
                fault("recipe", f"lacks column {lost[0]!r}, which categorical_columns names")

    def files(self, value: YamlValue) -> dict[str, File]:
        """Read the files of an entry, by part."""
        parts = self.mapping(value, f"files of {self.owner}", (), ("all", "train", "test"))
        if parts and not self.faults and set(parts) not in map(set, PARTS):
            self.fault(value, f"files of {self.owner} must be 'all' alone, or 'train' and 'test'")
        files = {}
        for part in sorted(parts, key=("all", "train", "test").index):  # training rows come first
            key = f"files.{part}"
            values, plain = self.record(parts[part], f"{key} of {self.owner}", f"{key}.", FILE, UNPACKED)
            if "unpacked_sha256" in plain and not str(plain.get("name")).endswith(".gz"):
                message = f"{key}.unpacked_sha256 of {self.owner} is for a file whose name ends in .gz"
                self.fault(values["unpacked_sha256"], message)
            if not self.faults:
                files[part] = File(**plain)
        return files

    def recipe(self, value: YamlValue) -> Recipe | None:
        """Read the recipe of an entry."""
        what, lists = f"recipe of {self.owner}", ("sources", "columns")
        values, plain = self.record(value, what, "recipe.", RECIPE, {"missing": ANY_TEXT}, lists)
        columns = self.texts(values["columns"], "recipe.columns", least=1, but="-") if "columns" in values else []
        sources = []
        for item in self.items(values["sources"], "recipe.sources", 1) if "sources" in values else []:
            parts = self.mapping(item, f"a source of recipe of {self.owner}", ("path",), ("members",))
            path = self.scalar(parts["path"], "recipe.sources.path", RELATIVE) if "path" in parts else ""
            members = self.texts(parts["members"], "recipe.sources.members") if "members" in parts else []
            sources.append(Source(path, tuple(member.data for member in members)))
        if self.faults:
            return None
        return Recipe(sources=tuple(sources), columns=tuple(column.data for column in columns), **plain)

    def record(
        self, value: YamlValue, what: str, prefix: str, required: Table, optional: Table,
        lists: tuple[str, ...] = (), further: tuple[str, ...] = (),
    ) -> tuple[dict[str, YamlValue], dict[str, Any]]:  # fmt: skip
        """Return the known keys of a mapping, and the plain values of those with a constraint."""
        values, table = self.mapping(value, what, (*required, *lists), (*optional, *further)), {**required, **optional}
        return values, {key: self.scalar(values[key], prefix + key, table[key]) for key in table if key in values}

    def mapping(
        self, value: YamlValue, what: str, required: tuple[str, ...], optional: tuple[str, ...]
    ) -> dict[str, YamlValue]:
        """Return the known keys of a mapping with their values; report keys that are missing or unknown."""
        values, known = self.any_mapping(value, what), required + optional
        for key in required:
            if values is not None and key not in values:
                self.fault(value, f"{what} lacks the key {key!r}")
        for key, item in (values or {}).items():
            if key not in known:
                hint = close_matches(key, known) or f" Known: {', '.join(known)}."
                self.fault(item, f"unknown key {shown(key)} in {what}.{hint}")
        return {key: item for key, item in (values or {}).items() if key in known}

    def any_mapping(self, value: YamlValue, what: str) -> dict[str, YamlValue] | None:
        """Return a mapping, or None after recording an error for another value."""
        if isinstance(value.data, dict):
            return value.data
        self.fault(value, f"{what} must be a mapping of keys to values. Got {value.shown()}")
        return None

    def scalar(self, value: YamlValue, key: str, constraint: Constraint) -> Any:
        """Return a value; record an error if it violates its constraint."""
        if not constraint.holds(value.data):
            number_as_text = isinstance(constraint, Text) and isinstance(value.data, bool | int | float)
            advice = "; put it in quotes if it is meant as a text" if number_as_text else ""
            self.fault(value, f"{key} of {self.owner} must be {constraint.describe()}. Got {value.shown()}{advice}")
        return value.data

    def texts(self, value: YamlValue, key: str, least: int = 0, but: str = "") -> list[YamlValue]:
        """Return a list of at least `least` different texts; only `but` may be repeated."""
        texts = [
            item for item in self.items(value, key, least) if TEXT.holds(self.scalar(item, f"each of {key}", TEXT))
        ]
        seen = {but}
        for text in texts:
            if text.data in seen and text.data != but:
                self.fault(text, f"{key} of {self.owner} names {text.shown()} twice")
            seen.add(text.data)
        return texts

    def items(self, value: YamlValue, key: str, least: int) -> list[YamlValue]:
        """Return a list of at least `least` values."""
        if isinstance(value.data, list) and len(value.data) >= least:
            return value.data
        expected = "a list of at least one value" if least else "a list"
        self.fault(value, f"{key} of {self.owner} must be {expected}. Got {value.shown() if value.data else 'nothing'}")
        return []

    def pairs(self, value: YamlValue, key: str, constraint: Constraint) -> dict[str, Any]:
        """Return a mapping of texts to values that all satisfy one constraint."""
        values = self.any_mapping(value, f"{key} of {self.owner}") or {}
        return {name: self.scalar(item, f"{key}.{printable(name)}", constraint) for name, item in values.items()}
