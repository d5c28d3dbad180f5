"""Codecs of the parts of a fitted model in a file: one small object for each form writes, reads and checks it.

A codec serves both directions, so no file can be written that would be refused on reading. Sizes have names:
`Numbers("float64", "nodes", "p")` is a matrix with as many rows as the first array that has the size "nodes".
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError, DataError, cut, quoted

Size = int | str | None  # a number, a name, or None for any
MOST_CHARACTERS = 2**22  # length of a label, if the array's type allows longer ones
STORED = "npz"  # key of an array that is in the binary file


@dataclass(frozen=True, eq=False)
class Held:
    """Array that replaces its plain form until the file is written."""

    number: int
    values: NDArray[Any]


class Arrays:
    """Arrays of one model while its file is read or written."""

    def __init__(self, stored: Mapping[str, NDArray[Any]] | None = None) -> None:
        self.stored = stored or {}  # while reading: arrays of the binary file
        self.unread = set(self.stored)
        self.held: list[Held] = []  # while writing: all arrays
        self.shared: dict[str, Any] = {}  # objects that several parts of a model refer to

    def put(self, values: NDArray[Any]) -> Held:
        """Take an array to write; its file is chosen when all arrays are known."""
        self.held.append(Held(len(self.held), values))
        return self.held[-1]

    def take(self, name: Any, scope: Scope) -> NDArray[Any]:
        """Return an array of the binary file."""
        if not isinstance(name, str) or name not in self.stored:
            scope.fail(f"names the array {quoted(name)}, which the binary file beside it does not have")
        self.unread.discard(name)
        return self.stored[name]


@dataclass(frozen=True)
class Scope:
    """Position of a value in a model, the sizes known there, and the model's arrays."""

    place: str
    arrays: Arrays
    reading: bool  # False while writing
    sizes: dict[str, int] = field(default_factory=dict)

    def at(self, name: str | int) -> Scope:
        """Return the scope of a part, with the same sizes."""
        place = f"{self.place}[{name}]" if isinstance(name, int) else f"{self.place}.{cut(name)}"
        return replace(self, place=place)

    def known(self, size: Size) -> int:
        """Return a size, 0 if no part has named it."""
        return size if isinstance(size, int) else self.sizes.get(str(size), 0)

    def inner(self) -> Scope:
        """Return this scope with separate sizes: a size named in the copy is unknown here."""
        return replace(self, sizes=dict(self.sizes))

    def size(self, name: Size, size: int) -> None:
        """Set a size, or check it against the value it has."""
        if name is None:
            return
        expected = name if isinstance(name, int) else self.sizes.setdefault(name, size)
        if size != expected:
            called = "" if isinstance(name, int) else f" ({name})"
            self.fail(f"must have size {expected}{called}. Got {size}")

    def fail(self, what: str) -> NoReturn:
        """Raise the error for this position."""
        raise (DataError if self.reading else ConfigError)(f"{self.place} {what}")


class Codec(ABC):
    """Codec of a value: `plain` returns its JSON data, `value` the value of such data. Both check."""

    def plain(self, value: Any, scope: Scope) -> Any:
        """Return plain data; ConfigError, with the position, for a value of another form."""
        return self.value(value.item() if isinstance(value, np.generic) else value, scope)

    @abstractmethod
    def value(self, plain: Any, scope: Scope) -> Any:
        """Return the value; DataError, with the position, for data of another form."""


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that fits a float."""
    return type(value) in (int, float) and abs(value) < math.inf and abs(value) < 2**1024


@dataclass(frozen=True)
class Scalar(Codec):
    """One JSON value. wanted : its description in messages; holds : the check of a plain value"""

    wanted: str
    holds: Callable[[Any], bool]

    def value(self, plain: Any, scope: Scope) -> Any:
        if not self.holds(plain):
            scope.fail(f"must be {self.wanted}. Got {quoted(plain)}")
        return plain


REAL = Scalar("a finite number", is_finite)
TEXT = Scalar("a text", lambda value: isinstance(value, str))
# Names stand in messages, titles and comments of exported code, so they have no control characters.
NAME = Scalar("a name of one line", lambda value: isinstance(value, str) and value.isprintable())
FLAG = Scalar("true or false", lambda value: isinstance(value, bool))
# Types of a level or a label.
PLAIN = Scalar(
    "a text, a finite number, true or false", lambda value: isinstance(value, str | bool) or is_finite(value)
)


@dataclass(frozen=True)
class Whole(Codec):
    """A whole number, at least `low`, and below `below`: a number or a named size. gives : the size that it sets"""

    low: int = 0
    below: Size = 2**53
    gives: str | None = None

    def value(self, plain: Any, scope: Scope) -> Any:
        if not (type(plain) is int and self.low <= plain <= 2**53):
            scope.fail(f"must be a whole number, at least {self.low} and below {self.below}. Got {quoted(plain)}")
        if plain >= scope.known(self.below):
            scope.fail(f"must be below {scope.known(self.below)} ({self.below}). Got {plain}")
        if self.gives is not None:
            scope.size(self.gives, plain)
        return plain


class RealOrNothing(Codec):
    """A number that may be NaN, written as null because JSON has no NaN."""

    def plain(self, value: Any, scope: Scope) -> Any:
        return None if value != value else REAL.plain(value, scope)

    def value(self, plain: Any, scope: Scope) -> Any:
        return float("nan") if plain is None else float(REAL.value(plain, scope))


@dataclass(frozen=True)
class Maybe(Codec):
    """A value of another form, or None."""

    codec: Codec

    def plain(self, value: Any, scope: Scope) -> Any:
        return None if value is None else self.codec.plain(value, scope)

    def value(self, plain: Any, scope: Scope) -> Any:
        return None if plain is None else self.codec.value(plain, scope)


@dataclass(frozen=True)
class Many(Codec):
    """A list, or a tuple, of values of one form. size : a number or a name; least : of values"""

    codec: Codec
    size: Size | None = None
    least: int = 0
    kind: Callable[[list[Any]], Any] = list

    def plain(self, value: Any, scope: Scope) -> Any:
        self._check(value, scope)
        return [self.codec.plain(item, scope.at(i)) for i, item in enumerate(value)]

    def value(self, plain: Any, scope: Scope) -> Any:
        if not isinstance(plain, list):
            scope.fail(f"must be a list. Got {quoted(plain)}")
        self._check(plain, scope)
        return self.kind([self.codec.value(item, scope.at(i)) for i, item in enumerate(plain)])

    def _check(self, value: Sequence[Any], scope: Scope) -> None:
        if self.size is not None:
            scope.size(self.size, len(value))
        if len(value) < self.least:
            scope.fail(f"must have at least {self.least} entries. Got {len(value)}")


@dataclass(frozen=True)
class Pairs(Codec):
    """A dictionary, written as a list of pairs because JSON keys are texts."""

    key: Codec
    entry: Codec

    def plain(self, value: Any, scope: Scope) -> Any:
        return [[self.key.plain(k, scope), self.entry.plain(v, scope.at(str(k)))] for k, v in value.items()]

    def value(self, plain: Any, scope: Scope) -> Any:
        entries: dict[Any, Any] = {}
        if not isinstance(plain, list):
            scope.fail(f"must be a list of pairs. Got {quoted(plain)}")
        for i, pair in enumerate(plain):
            if not isinstance(pair, list) or len(pair) != 2:
                scope.at(i).fail(f"must be a pair. Got {quoted(pair)}")
            key = self.key.value(pair[0], scope.at(i))
            if key in entries:
                scope.at(i).fail(f"has the key {quoted(key)} a second time")
            entries[key] = self.entry.value(pair[1], scope.at(str(key)))
        return entries


@dataclass(frozen=True)
class Numbers(Codec):
    """An array of numbers: finite, of one type, with sizes by name or number, at least `low` and under `below`."""

    dtype: str
    shape: tuple[Size, ...]
    low: int | None = None
    below: Size | None = None
    spare: str = ""  # an axis that may be absent

    def plain(self, value: Any, scope: Scope) -> Any:
        array = np.asarray(value)
        if array.dtype != np.dtype(self.dtype):
            scope.fail(f"must hold {self.dtype}. Got {array.dtype}")
        return scope.arrays.put(self._checked(array, scope))

    def value(self, plain: Any, scope: Scope) -> Any:
        if isinstance(plain, dict):
            if plain.keys() != {STORED}:
                scope.fail(f"must be an array. Got {quoted(plain)}")
            array = scope.arrays.take(plain[STORED], scope)
            if array.dtype != np.dtype(self.dtype):
                scope.fail(f"must hold {self.dtype}. Got {array.dtype}")
        else:
            array = self._inline(plain, scope)
        return np.ascontiguousarray(self._checked(array, scope))

    def _inline(self, plain: Any, scope: Scope) -> NDArray[Any]:
        """Return nested lists of plain numbers as an array of this type."""
        if not isinstance(plain, list):
            scope.fail(f"must be an array. Got {quoted(plain)}")
        dtype = np.dtype(self.dtype)
        try:
            numbers = np.array(plain)
            if numbers.dtype.kind in "fO" and dtype.kind == "u":  # NumPy makes floats of small and very large integers
                numbers = np.array(plain, dtype=object)
                if all(type(number) is int and 0 <= number < 2**64 for number in numbers.flat):
                    numbers = numbers.astype(np.uint64)
        except ValueError:
            scope.fail("must be an array, and its rows differ in length")
        if numbers.size == 0:  # (0, p) is [] in JSON
            shape = numbers.shape + tuple(scope.known(s) for s in self.shape[numbers.ndim :])
            return np.zeros(shape, dtype)
        kinds = {"f": "iuf", "c": "iuf", "b": "b"}.get(dtype.kind, "iu")
        if numbers.dtype.kind not in kinds:
            scope.fail(f"must hold {self.dtype} numbers")
        if dtype.kind == "c":
            if numbers.ndim < 1 or numbers.shape[-1] != 2:
                scope.fail("must hold pairs of a real and an imaginary part")
            return np.ascontiguousarray(numbers, dtype=np.float64).view(np.complex128)[..., 0]
        with np.errstate(all="ignore"):
            array = numbers.astype(dtype)
        if dtype.kind in "iu" and not np.array_equal(array, numbers):
            scope.fail(f"holds numbers out of the range of {self.dtype}")
        return array

    def _checked(self, array: NDArray[Any], scope: Scope) -> NDArray[Any]:
        axes = self.shape
        if self.spare and array.ndim < len(axes):
            axes = tuple(name for name in axes if name != self.spare)
        if array.ndim != len(axes):
            scope.fail(f"must have {len(axes)} dimensions. Got {array.ndim}")
        for name, size in zip(axes, array.shape, strict=True):
            scope.size(name, size)
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            scope.fail("holds values that are not finite")
        if self.low is not None and array.size and array.min() < self.low:
            scope.fail(f"must hold numbers of at least {self.low}. Got {array.min()}")
        if self.below is not None and array.size and array.max() >= scope.known(self.below):
            named = f" ({self.below})" if isinstance(self.below, str) else ""
            scope.fail(f"must hold numbers below {scope.known(self.below)}{named}. Got {array.max()}")
        return array


def listed(values: NDArray[Any]) -> Any:
    """Return an array as nested lists for JSON; complex numbers as pairs."""
    if values.dtype.kind == "c":
        return np.stack([values.real, values.imag], axis=-1).tolist()
    return values.tolist()


@dataclass(frozen=True)
class Labels(Codec):
    """An array of class labels or names of columns: numbers, truth values or texts, with the type of the array."""

    size: Size

    def plain(self, value: Any, scope: Scope) -> Any:
        array = np.asarray(value)
        values = array.tolist()
        dtype = "object" if array.dtype.kind == "O" else array.dtype.str
        self._checked(values, dtype, scope)
        return {"dtype": dtype, "values": values}

    def value(self, plain: Any, scope: Scope) -> Any:
        if not isinstance(plain, dict) or plain.keys() != {"dtype", "values"} or not isinstance(plain["values"], list):
            scope.fail(f"must be labels with their type. Got {quoted(plain)}")
        values, dtype = plain["values"], plain["dtype"]
        self._checked(values, dtype, scope)
        try:
            array = np.array(values, dtype=dtype)
            same = array.ndim == 1 and array.tolist() == values
        except (ValueError, OverflowError, TypeError):
            same = False
        if not same:
            scope.fail(f"must be labels of type {dtype}")
        return array

    def _checked(self, values: list[Any], dtype: Any, scope: Scope) -> None:
        if not isinstance(dtype, str) or not re.fullmatch(r"object|[<>|=][iufbU]\d{1,7}", dtype):
            scope.fail(f"must be labels of a type of numbers or texts. Got {quoted(dtype)}")
        scope.size(self.size, len(values))
        if dtype[1] == "U":
            longest = max((len(label) for label in values if isinstance(label, str)), default=0)
            if int(dtype[2:]) > max(longest, MOST_CHARACTERS // max(1, len(values))):
                scope.fail(
                    f"must be labels of a type as long as they are. Got {dtype} for at most {longest} characters"
                )
        for i, label in enumerate(values):
            (TEXT if dtype == "object" else PLAIN).value(label, scope.at(i))


@dataclass(frozen=True)
class Shared(Codec):
    """A reference to an object that another part of the model writes under this name."""

    name: str

    def plain(self, value: Any, scope: Scope) -> Any:
        if value is not scope.arrays.shared[self.name] and value != scope.arrays.shared[self.name]:
            scope.fail(f"differs from the {self.name} of the model")
        return None

    def value(self, plain: Any, scope: Scope) -> Any:
        if plain is not None:
            scope.fail(f"must be null. Got {quoted(plain)}")
        return scope.arrays.shared[self.name]


@dataclass(frozen=True)
class Keep(Codec):
    """The form of an object to which `Shared` of this name refers."""

    name: str
    codec: Codec

    def plain(self, value: Any, scope: Scope) -> Any:
        scope.arrays.shared[self.name] = value
        return self.codec.plain(value, scope)

    def value(self, plain: Any, scope: Scope) -> Any:
        scope.arrays.shared[self.name] = self.codec.value(plain, scope)
        return scope.arrays.shared[self.name]


@dataclass(frozen=True)
class Record(Codec):
    """An object of one class, field by field.

    build    returns the object for the fields and the scope; None: the class itself, called with keywords
    parts    returns the fields of an object; None: its attributes
    """

    cls: str  # "module:Class", imported when it is needed
    fields: Mapping[str, Codec]  # name -> its form, in the order in which sizes become known
    build: Callable[[dict[str, Any], Scope], Any] | None = None
    check: Callable[[Mapping[str, Any]], None] | None = None  # raises ValueError for inconsistent fields
    younger: frozenset[str] = frozenset()  # fields that old files lack, not written if None
    parts: Callable[[Any], Mapping[str, Any]] | None = None

    def plain(self, value: Any, scope: Scope) -> Any:
        cls = resolved(self.cls)
        if type(value) is not cls:
            scope.fail(f"must be of class {cls.__name__}. Got {type(value).__name__}")
        inner = scope.inner()
        parts = self.parts(value) if self.parts else {name: getattr(value, name) for name in self.fields}
        written = [name for name in self.fields if name not in self.younger or parts[name] is not None]
        return {name: self.fields[name].plain(parts[name], inner.at(name)) for name in written}

    def value(self, plain: Any, scope: Scope) -> Any:
        inner = scope.inner()
        values = fields_of(plain, self.fields, inner, self.younger.__contains__)
        try:
            if self.check:
                self.check(values)
            return self.build(values, inner) if self.build else resolved(self.cls)(**values)
        except (ValueError, TypeError, IndexError, KeyError, OverflowError, RuntimeError) as error:
            scope.fail(f"is damaged: {error}")


def fields_of(
    plain: Any, fields: Mapping[str, Codec], scope: Scope, may_lack: Callable[[str], bool] = lambda name: False
) -> dict[str, Any]:
    """Return the values of a dictionary of plain data with exactly these fields; `may_lack` names optional ones."""
    if not isinstance(plain, dict):
        scope.fail(f"must be an object with the keys {', '.join(fields)}. Got {quoted(plain)}")
    for name in fields:
        if name not in plain and not may_lack(name):
            scope.fail(f"has no key {quoted(name)}")
    if strays := sorted(plain.keys() - fields.keys()):
        scope.fail(f"has a key {quoted(strays[0])}, which it should not have")
    return {name: codec.value(plain[name], scope.at(name)) for name, codec in fields.items() if name in plain}


def resolved(name: str) -> Any:
    """Return the class or function "module:name"."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
