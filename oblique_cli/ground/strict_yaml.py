"""Strict YAML: the part of YAML 1.2 for configurations and the data catalogue, each value with its position.

Plain words follow the YAML 1.2 core schema: `1e-3` is a number, `no`, `on` and `12:30` are texts. Refused, with file,
line and column: duplicate keys, keys that are not texts, merge keys, anchors, aliases, tags, several documents, deep
nesting, large files. The text is read event by event, so hostile input stops at the first forbidden event and is never
expanded.
"""

from __future__ import annotations

import contextlib
import math
import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import yaml

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.bounds import CONFIG_BYTES, CONFIG_VALUES

MAX_BYTES = CONFIG_BYTES.default
MAX_DEPTH = 50
MAX_SHOWN = 50  # number of problems in one message
MAX_STORED = 1000  # number of problems whose text is stored; further ones are only counted
MAX_INTEGER = 2**63 - 1

T = TypeVar("T")

# YAML 1.2.2, section 10.3.2 (core schema), for unquoted words.
_NULL = ("", "~", "null", "Null", "NULL")
_BOOLEAN = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(inf|Inf|INF)")
_NOT_A_NUMBER = (".nan", ".NaN", ".NAN")

# Line breaks as PyYAML counts them, and escaped characters that names, paths and titles must not contain.
_LINE_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, eq=False)
class YamlSource:
    """Text with its name for error messages; `path` is None for text without a file."""

    name: str
    text: str = field(repr=False)  # messages with the whole text for every value would fill the memory
    path: Path | None = None

    @cached_property
    def lines(self) -> list[str]:
        return _LINE_BREAK.split(self.text)


@dataclass(frozen=True)
class Place:
    """Span of `width` characters of a source; line and column count from 1, line 0 is the whole source."""

    source: YamlSource = field(repr=False)
    line: int = 1
    column: int = 1
    width: int = 1

    @property
    def label(self) -> str:
        """Return "file:line", or the name alone if there is no file or no line."""
        name = printable(self.source.name)
        return name if self.source.path is None or self.line == 0 else f"{name}:{self.line}"

    def show(self, message: str) -> str:
        """Return "file:line:column message" with the line and a marker below; without both if there is no file."""
        if self.source.path is None or self.line == 0:
            return f"{self.label}: {message}"
        lines = self.source.lines
        text = lines[self.line - 1] if self.line <= len(lines) else ""
        start = max(0, self.column - 80)  # a window of a long line
        window = printable(text[start : start + 120])
        marker = " " * (self.column - 1 - start) + "^" * max(1, min(self.width, len(window) - self.column + 1 + start))
        return f"{self.label}:{self.column} {message}\n{self.line:5d} | {window}\n{'':8}{marker}"


@dataclass(frozen=True, eq=False)
class YamlValue:
    """Value at a place: a scalar, a list of values or a mapping of texts to values.

    `key` is the place of this value's key, or the place itself without a key."""

    data: Any
    place: Place
    key: Place

    def plain(self) -> Any:
        """Return the value without places."""
        if isinstance(self.data, dict):
            return {key: value.plain() for key, value in self.data.items()}
        if isinstance(self.data, list):
            return [value.plain() for value in self.data]
        return self.data

    def shown(self) -> str:
        """Return the value in a few characters, for messages."""
        kinds = {dict: "a mapping", list: "a list", type(None): "nothing"}
        return kinds.get(type(self.data)) or shown(self.data)


def printable(text: str) -> str:
    """Return `text` with a space for every character that could disturb a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def shown(value: Any) -> str:
    """Return `repr(value)`, cut in the middle if it is long."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 60
    return short.repr(value)


class Problems:
    """Problems of a configuration, reported together."""

    def __init__(self) -> None:
        self._entries: list[tuple[Place, str]] = []
        self._count = self._of_data = 0

    def add(self, place: Place, message: str, of_data: bool = False) -> None:
        """Note a problem. of_data : whether the problem is a missing file of data, not a wrong key or value"""
        self._count += 1
        self._of_data += of_data
        if len(self._entries) < MAX_STORED:
            self._entries.append((place, message))

    def stop(self, place: Place, message: str) -> ConfigError | DataError:
        """Add a problem that prevents further reading; return the error to raise."""
        self.add(place, message)
        return self.error()

    def by_place(self) -> list[tuple[Place, str]]:
        """Return the stored problems with their places, by file and line."""
        return sorted(self._entries, key=lambda p: (p[0].source.name, p[0].line, p[0].column))

    def error(self) -> ConfigError | DataError:
        """Return one error that counts the problems and shows the first ones, by file and line.

        It is a DataError if the only problems are missing data files."""
        blocks = [place.show(message) for place, message in self.by_place()[:MAX_SHOWN]]
        count = self._count
        first = f" (the first {MAX_SHOWN} are shown)" if count > MAX_SHOWN else ""
        kind = DataError if self._of_data == count else ConfigError
        return kind("\n".join([*blocks, f"{count} error{'s' if count > 1 else ''}{first}."]))

    def check(self) -> None:
        """Raise the error if there is any problem."""
        if self._entries:
            raise self.error()


def read(path: Path, name: str, problems: Problems) -> YamlSource:
    """Return the text of a file; raise ConfigError if it is missing, too large or not UTF-8."""
    nothing = Place(YamlSource(name, "", path), line=0)
    try:
        if not path.is_file():
            raise problems.stop(nothing, "no such file.")
        with path.open("rb") as file:
            most = CONFIG_BYTES.value
            raw = file.read(most + 1)
    except OSError as error:
        raise problems.stop(nothing, f"the file cannot be read: {error.strerror}.") from None
    if len(raw) > most:
        size = f"{most // 1024} kB" if most >= 1024 else f"{most} bytes"
        raise problems.stop(nothing, f"the file is larger than {size}, the most that is read; {CONFIG_BYTES.advice}.")
    try:
        return YamlSource(name, raw.decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        good = YamlSource(name, raw[: error.start].decode("utf-8-sig", "replace"), path)
        place = Place(good, len(good.lines), len(good.lines[-1]) + 1)
        raise problems.stop(
            place, f"the file is not UTF-8 text (byte {raw[error.start]:#04x}): save it as UTF-8."
        ) from None


def content(path: Path) -> Any:
    """Return the content of a YAML file of the package as plain data."""
    problems = Problems()
    value = parse(read(path, path.name, problems), problems, quick=True)
    problems.check()
    return value.plain()


def parse(source: YamlSource, problems: Problems, quick: bool = False) -> YamlValue:
    """Return the document of `source`; raise ConfigError with all problems so far if reading cannot continue.

    quick : use PyYAML's parser in C, if installed. It takes a fifth of the time, and accepts a few texts that the
    Python parser refuses (a tab inside a word). A text with any problem is read again in Python, so that messages and
    places are the same.
    Duplicate and invalid keys are added to `problems`, and reading continues without them."""
    if quick and hasattr(yaml, "CSafeLoader"):
        with contextlib.suppress(ValueError, yaml.YAMLError):  # a ConfigError is a ValueError
            seen = Problems()
            value = _Reading(source, seen, yaml.CSafeLoader).document()
            seen.check()
            return value
    try:
        return _Reading(source, problems).document()
    except yaml.reader.ReaderError as error:
        before = YamlSource(source.name, source.text[: error.position], source.path)
        place = Place(source, len(before.lines), len(before.lines[-1]) + 1)
        raise problems.stop(place, f"character {error.character:#04x} is not allowed in YAML: remove it.") from None


def wrap(data: Any, place: Place) -> YamlValue:
    """Return plain data as a value with all parts at `place`."""
    if isinstance(data, Mapping):
        data = {str(key): wrap(value, place) for key, value in data.items()}
    elif isinstance(data, list | tuple):
        data = [wrap(value, place) for value in data]
    return YamlValue(data, place, place)


# Beginning of a message of PyYAML -> the fault in plain words, and what to do.
_QUOTES = "put the value into quotes"
_DIRECTIVE = "a line with % at its beginning is an instruction to the parser: leave it out"
_OF_BLOCK = "expected <block end>"
_NO_COLON = "could not find expected ':'"
PLAIN = {
    "expected ',' or '}'": "a comma or the closing } is missing",
    "expected ',' or ']'": "a comma or the closing ] is missing",
    "found unexpected end of stream": "a quote is not closed",
    "expected alphabetic or numeric character": f"* and & begin the name of an alias or anchor: {_QUOTES}",
    "expected chomping": f"only a line break may follow | and >: {_QUOTES}",
    "expected indentation indicator": f"only a line break may follow | and >: {_QUOTES}",
    "expected the node content": "a value is missing here: remove the sign, or put it into quotes if it is the value",
    "found unknown escape character": "this is no escape in double quotes: use single quotes, or \\\\ for one \\",
    "expected escape sequence": "this is no escape in double quotes: use single quotes, or \\\\ for one \\",
    "expected '>'": f"! begins a tag: {_QUOTES}",
    "found undefined tag handle": f"! begins a tag: {_QUOTES}",
    "found incompatible YAML document": _DIRECTIVE,
    "found duplicate YAML directive": _DIRECTIVE,
    "expected a digit": _DIRECTIVE,
    "expected '<document start>'": "the document has ended, or begins further left: put all keys into one column, "
    "without lines of ... or %",
}


def _fault(problem: str, line: str, column: int) -> str:
    """Return a problem of PyYAML in plain words. line : text of its line; column : its place there, from 0 on"""
    before, sign = line[:column].strip(), line[column : column + 1]
    if problem.startswith("mapping values are not allowed"):
        if ":" in before:
            return "a value has ': ' in it: put it into quotes, or the key on a line of its own"
        return "the line is indented more than the line above, whose value it continues: indent both alike"
    if problem.startswith(_NO_COLON):
        return "a key has no ': ' after it: write it as 'key: value'"
    if problem.startswith(_OF_BLOCK):
        if sign and sign in "}]":
            return f"there is no opening {'{' if sign == '}' else '['} for this {sign}: remove it"
        if before:
            return "the value has ended before this: put the whole value into quotes, or remove the rest"
        if sign == ":":
            return "the key before the colon is missing"
        if sign == "-":
            return "an item of a list stands among keys: write it under the key of its list"
        return "the line is indented otherwise than the lines that it belongs to: indent them alike"
    if problem.startswith("found character"):
        return f"no value begins with {sign}: {_QUOTES}"
    return next((plain for start, plain in PLAIN.items() if problem.startswith(start)), problem)


class _Reading:
    """Single pass over the events of a text."""

    def __init__(self, source: YamlSource, problems: Problems, loader: Any = yaml.SafeLoader) -> None:
        self.source = source
        self.problems = problems
        self.loader = loader(source.text)
        self.values_left = CONFIG_VALUES.value

    def document(self) -> YamlValue:
        self.next()  # stream start
        if isinstance(self.next(), yaml.StreamEndEvent):
            return YamlValue(None, Place(self.source), Place(self.source))
        value = self.value(self.next(), depth=0)
        self.next()  # document end
        event = self.next()
        if not isinstance(event, yaml.StreamEndEvent):
            raise self.problems.stop(self.place(event), "a second document starts here; put each in a file of its own.")
        return value

    def next(self) -> Any:
        try:
            return self.loader.get_event()
        except yaml.MarkedYAMLError as error:
            raise self.syntax_error(error) from None
        except (ValueError, OverflowError):  # PyYAML on "\UFFFFFFFF", and on a %YAML version of thousands of digits
            place = self.at(self.loader.get_mark())
            raise self.problems.stop(place, "not valid YAML: a number is out of range.") from None

    def syntax_error(self, error: yaml.MarkedYAMLError) -> ConfigError | DataError:
        mark = error.problem_mark or error.context_mark
        place = self.at(mark)
        if self.source.text[mark.index : mark.index + 1] == "\t":
            return self.problems.stop(place, "a tab stands where YAML wants spaces: indent and separate by spaces.")
        problem, start = str(error.problem), error.context_mark
        if problem.startswith(_NO_COLON) and start:
            place = self.at(start)  # the key, not the line after it
        lines = self.source.lines
        fault = _fault(problem, lines[mark.line] if mark.line < len(lines) else "", mark.column)
        begins = start and problem.startswith(("expected ','", "found unexpected end"))
        began = f" (it begins in line {start.line + 1})" if begins else ""
        return self.problems.stop(place, f"not valid YAML: {fault}{began}.")

    def at(self, mark: yaml.Mark, width: int = 1) -> Place:
        return Place(self.source, mark.line + 1, mark.column + 1, width)

    def place(self, event: yaml.Event) -> Place:
        start, end = event.start_mark, event.end_mark
        # An event over several lines is marked to the end of its first line; `show` cuts the marker there.
        width = end.column - start.column if end.line == start.line else MAX_BYTES
        return Place(self.source, start.line + 1, start.column + 1, width)

    def value(self, event: Any, depth: int, key: Place | None = None) -> YamlValue:
        place = self.place(event)
        self.values_left -= 1
        if self.values_left < 0:
            most = CONFIG_VALUES.value
            raise self.problems.stop(
                place, f"there are more than {most} values, the most that are read; {CONFIG_VALUES.advice}."
            )
        if isinstance(event, yaml.AliasEvent):
            raise self.problems.stop(place, f"alias {shown('*' + event.anchor)} is not allowed; repeat the value.")
        if event.anchor is not None:
            raise self.problems.stop(place, f"anchor {shown('&' + event.anchor)} is not allowed; repeat the value.")
        if event.tag is not None:
            raise self.problems.stop(place, f"tag {shown(event.tag)} is not allowed; write a plain value.")
        if isinstance(event, yaml.ScalarEvent):
            return YamlValue(self.scalar(event, place), place, key or place)
        if depth == MAX_DEPTH:
            raise self.problems.stop(place, f"lists and mappings are nested deeper than {MAX_DEPTH} levels.")
        first = self.at(event.start_mark)
        if isinstance(event, yaml.SequenceStartEvent):
            items = self.until(yaml.SequenceEndEvent, lambda item: self.value(item, depth + 1))
            return YamlValue(items, first, key or first)
        entries: dict[str, YamlValue] = {}
        self.until(yaml.MappingEndEvent, lambda item: self.entry(item, depth + 1, entries))
        return YamlValue(entries, first, key or first)

    def until(self, end: type, take: Callable[[Any], T]) -> list[T]:
        taken = []
        while not isinstance(event := self.next(), end):
            taken.append(take(event))
        return taken

    def entry(self, event: Any, depth: int, entries: dict[str, YamlValue]) -> None:
        """Read one key and its value into `entries`, if the key is valid."""
        key = self.value(event, depth)
        value = self.value(self.next(), depth, key.place)
        if not isinstance(key.data, str):
            self.problems.add(key.place, f"a key must be a text. Got {key.shown()}; put it in quotes if it is meant.")
        elif key.data == "<<" and not event.style:
            self.problems.add(key.place, "merge key '<<' is not allowed; write the entries out, or use extends.")
        elif key.data in entries:
            first = entries[key.data].key
            self.problems.add(key.place, f"duplicate key {shown(key.data)} (first at line {first.line}).")
        else:
            entries[key.data] = value

    def scalar(self, event: yaml.ScalarEvent, place: Place) -> bool | int | float | str | None:
        text: str = event.value
        if not event.style:  # None, or "" from the parser in C
            return plain_scalar(text)
        if match := _CONTROL.search(text):
            raise self.problems.stop(place, f"character {match.group()!r} is not allowed in a text.")
        return text


def plain_scalar(text: str) -> bool | int | float | str | None:
    """Return the YAML 1.2 core schema's value of an unquoted word; integers beyond 64 bits become floats."""
    if text in _NULL:
        return None
    if text in _BOOLEAN:
        return _BOOLEAN[text]
    if text in _NOT_A_NUMBER:
        return math.nan
    if infinite := _INFINITE.fullmatch(text):
        return -math.inf if infinite.group(1) == "-" else math.inf
    if _PREFIXED.fullmatch(text):
        number = int(text, 0)  # a power-of-two base: no limit on digits
        return number if number <= MAX_INTEGER else math.inf
    if _DECIMAL.fullmatch(text) and len(text) < 20 and abs(int(text)) <= MAX_INTEGER:
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
