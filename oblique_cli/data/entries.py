"""Classes of the catalogue: an entry for each data set, its files, and the recipe that makes them.

`catalogue_file` builds entries from YAML and checks them; this module checks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class File:
    """One file of an entry.

    sha256            of the file as it is named here
    unpacked_sha256   of the same file without gzip, the form of a fetched file; "" if there is no such form"""

    name: str
    rows: int
    sha256: str
    unpacked_sha256: str = ""

    def forms(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of file name and sha256, one for each form of the file."""
        yield self.name, self.sha256
        if self.unpacked_sha256:
            yield self.name.removesuffix(".gz"), self.unpacked_sha256


@dataclass(frozen=True)
class Source:
    """A place in the archive: a path below its root, then the member of a zip file at that path, and so on."""

    path: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """Conversion of the archive's file to the catalogue's file, whose checksum must match.

    delimiter   one character, or "whitespace"
    header      whether the first line is a header, which is skipped
    columns     our names in the archive's order, "-" for a column that is dropped
    missing     the archive's word for a missing value"""

    sources: tuple[Source, ...]
    delimiter: str
    header: bool
    columns: tuple[str, ...]
    missing: str = ""


@dataclass(frozen=True)
class Entry:
    """Catalogue entry of one data set. `catalogue.yaml` explains the fields at its top.

    places   "datasets/catalogue.yaml:12" of each key, and of the entry itself under ""
    """

    name: str
    title: str
    task: str
    n: int
    numeric: int
    categorical: int
    availability: str
    source: str
    licence: str
    files: Mapping[str, File] = field(default_factory=dict)
    classes: Mapping[str, int] = field(default_factory=dict)
    categorical_columns: tuple[str, ...] = ()
    origin: str = ""
    notes: str = ""
    note: str = ""
    paper_code: str = ""
    aliases: tuple[str, ...] = ()
    published: Mapping[str, str] = field(default_factory=dict)
    recipe: Recipe | None = None
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def p(self) -> int:
        """Number of features."""
        return self.numeric + self.categorical

    @property
    def bundled(self) -> bool:
        """Whether the files come with the package."""
        return self.availability == "bundled"

    @property
    def generated(self) -> bool:
        """Whether the set is drawn by `synthetic` and has no files."""
        return self.availability == "generated"

    @property
    def target(self) -> str:
        """Name of the last column of the files."""
        return target_of(self.task)

    @property
    def where(self) -> str:
        """Name of the data set in messages."""
        return f"data set {self.name!r}"

    def at(self, key: str) -> str:
        """Return a key and its place for messages: "numeric: datasets/catalogue.yaml:12"; "" is the entry itself."""
        place = self.places.get(key) or self.places.get(key.split(".")[0]) or self.places.get("", "catalogue.yaml")
        return f"{key}: {place}" if key else place


def target_of(task: str) -> str:
    """Return the name of the last column of a set's files."""
    return "target" if task == "regression" else "class"


def other_names(entries: Mapping[str, Entry]) -> dict[str, list[str]]:
    """Return the data sets that each alias or published code may refer to, by its `lookup_key`."""
    names: dict[str, list[str]] = {}
    for entry in entries.values():
        others = {lookup_key(other) for other in (*entry.aliases, entry.paper_code, *entry.published.values())}
        for other in others - {""}:
            names.setdefault(other, []).append(entry.name)
    return names


def lookup_key(name: str) -> str:
    """Return the form in which names are compared: lower case, blanks and hyphens as underscores."""
    return re.sub(r"[\s-]+", "_", name.strip().lower())
