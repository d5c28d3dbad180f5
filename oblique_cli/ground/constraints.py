"""Constraints on parameters as data: one table checks values, gives the error messages and the JSON schema."""

from __future__ import annotations

import math
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from oblique_cli.errors import ConfigError


class Constraint(ABC):
    """What a parameter may be.

    takes_list : whether it may be a list, so that a list in a configuration is one value"""

    takes_list: ClassVar[bool] = False

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Return whether `value` is allowed."""

    @abstractmethod
    def describe(self) -> str:
        """Return the allowed values as text that follows "must be"."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the allowed values."""

    def fault(self, value: Any) -> str:
        """Return details of the fault of a forbidden value; empty if `describe` is sufficient."""
        return ""


@dataclass(frozen=True)
class Real(Constraint):
    """A finite number between `low` and `high`; `open_low` and `open_high` exclude an end."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def holds(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer beyond the range of floats
            return False
        if not math.isfinite(number):
            return False
        above = number > self.low if self.open_low else number >= self.low
        below = number < self.high if self.open_high else number <= self.high
        return above and below

    def describe(self) -> str:
        left = "(" if self.open_low or self.low == -math.inf else "["
        right = ")" if self.open_high or self.high == math.inf else "]"
        return f"a number in {left}{self.low:g}, {self.high:g}{right}"

    def schema(self) -> dict[str, Any]:
        out: dict[str, Any] = {"type": "number"}
        if self.low != -math.inf:
            out["exclusiveMinimum" if self.open_low else "minimum"] = self.low
        if self.high != math.inf:
            out["exclusiveMaximum" if self.open_high else "maximum"] = self.high
        return out


def rows_of(limit: float, total: float) -> float:
    """Return the least number, or weight, of rows that `limit` means; a limit below 1 is a share of
    `total`, rounded up to a whole row, as in scikit-learn."""
    return math.ceil(limit * total) if limit < 1 else float(limit)


@dataclass(frozen=True)
class Integer(Constraint):
    """A whole number between `low` and `high`, both allowed."""

    low: int | None = None
    high: int | None = None

    def holds(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            return False
        number = int(value)
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)

    def fault(self, value: Any) -> str:
        whole = isinstance(value, float) and value.is_integer() and self.holds(int(value)) and value < 2**53
        return f"write {int(value)}" if whole else ""

    def describe(self) -> str:
        if self.high is None:
            return "a whole number" if self.low is None else f"a whole number, at least {self.low}"
        if self.low is None:
            return f"a whole number, at most {self.high}"
        return f"a whole number from {self.low} to {self.high}"

    def schema(self) -> dict[str, Any]:
        out: dict[str, Any] = {"type": "integer"}
        if self.low is not None:
            out["minimum"] = self.low
        if self.high is not None:
            out["maximum"] = self.high
        return out


@dataclass(frozen=True)
class Choice(Constraint):
    """One of a few words: a tuple, or a registry, whose later names are then allowed as well."""

    names: Collection[str]

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.names

    def describe(self) -> str:
        return "one of " + ", ".join(repr(n) for n in self.names)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.names)}


@dataclass(frozen=True)
class CountOrShare(Constraint):
    """A whole number between `low` and `high`, or a share in (0, 1]: as in scikit-learn, 1 is one and 1.0 are all."""

    low: int = 1
    high: int | None = None
    share: ClassVar[Real] = Real(0.0, 1.0, open_low=True)

    @property
    def number(self) -> Integer:
        """Allowed whole numbers."""
        return Integer(self.low, self.high)

    def holds(self, value: Any) -> bool:
        return self.number.holds(value) if isinstance(value, numbers.Integral) else self.share.holds(value)

    def describe(self) -> str:
        return f"{self.number.describe()}, or a share in (0, 1]"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.number.schema(), self.share.schema()]}


@dataclass(frozen=True)
class FeatureCount(CountOrShare):
    """Number of features drawn at a node: a number, a share, or a rule."""

    rules: ClassVar[Choice] = Choice(("auto", "sqrt", "log2"))

    def holds(self, value: Any) -> bool:
        return super().holds(value) or self.rules.holds(value)

    def describe(self) -> str:
        return f"{self.number.describe()}, a share in (0, 1], or {self.rules.describe()}"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.number.schema(), self.share.schema(), self.rules.schema()]}

    @staticmethod
    def of(value: Any, p: int, planes: bool = False) -> int:
        """Return the number of features out of p that an allowed value means; "auto" is the square root, rounded.
        planes : whether a share or a rule gives at least two if p > 1, since a plane on one feature is axis-parallel"""
        if value is None:
            return p
        if isinstance(value, numbers.Integral):
            return int(value)
        if value == "auto":
            count: int = round(p**0.5)
        elif value in ("sqrt", "log2"):
            count = int(math.sqrt(p) if value == "sqrt" else math.log2(p))
        else:
            count = int(value * p)
        return min(p, max(count, 2 if planes else 1))


@dataclass(frozen=True)
class Choices(Choice):
    """One of several words, or a list of some of them."""

    takes_list: ClassVar[bool] = True

    def holds(self, value: Any) -> bool:
        if isinstance(value, list | tuple):
            return bool(value) and all(isinstance(item, str) and item in self.names for item in value)
        return super().holds(value)

    def describe(self) -> str:
        return f"{super().describe()}, or a list of these"

    def schema(self) -> dict[str, Any]:
        word = super().schema()
        return {"anyOf": [word, {"type": "array", "items": word, "minItems": 1}]}


@dataclass(frozen=True)
class Text(Constraint):
    """A text that matches `pattern` as a whole."""

    pattern: str = r"[\s\S]+"
    words: str = "a text"

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and re.fullmatch(self.pattern, value) is not None

    def describe(self) -> str:
        return self.words

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^(?:{self.pattern})$"}


@dataclass(frozen=True)
class Boolean(Constraint):
    """True or False."""

    def holds(self, value: Any) -> bool:
        return isinstance(value, bool)

    def describe(self) -> str:
        return "true or false"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Optional(Constraint):
    """None, or what `inner` allows."""

    inner: Constraint

    def holds(self, value: Any) -> bool:
        return value is None or self.inner.holds(value)

    def describe(self) -> str:
        return f"{self.inner.describe()}, or none"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.inner.schema(), {"type": "null"}]}


@dataclass(frozen=True)
class Either(Constraint):
    """Union of two constraints."""

    first: Constraint
    second: Constraint

    def holds(self, value: Any) -> bool:
        return self.first.holds(value) or self.second.holds(value)

    def describe(self) -> str:
        return f"{self.first.describe()}, or {self.second.describe()}"

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.first.schema(), self.second.schema()]}


LEAST_ROWS = Either(Integer(1), Real(0.0, 1.0, open_low=True, open_high=True))  # of a leaf; a share as in `rows_of`


@dataclass(frozen=True)
class ClassWeight(Constraint):
    """ "balanced", or a mapping of class labels to weights of at least 0."""

    def holds(self, value: Any) -> bool:
        if isinstance(value, str):
            return value == "balanced"
        weight = Real(0.0)
        return isinstance(value, Mapping) and len(value) > 0 and all(weight.holds(w) for w in value.values())

    def describe(self) -> str:
        return "'balanced', or a mapping of class labels to numbers in [0, inf)"

    def schema(self) -> dict[str, Any]:
        weights = {"type": "object", "additionalProperties": Real(0.0).schema(), "minProperties": 1}
        return {"anyOf": [{"const": "balanced"}, weights]}


@dataclass(frozen=True)
class SignsOfColumns(Constraint):
    """Sign 1, -1 or 0 for each column, or a mapping of names or positions of columns to signs."""

    takes_list: ClassVar[bool] = True

    def holds(self, value: Any) -> bool:
        if isinstance(value, Mapping):
            return len(value) > 0 and all(map(self._is_column, value)) and all(map(self._is_sign, value.values()))
        if isinstance(value, str) or not hasattr(value, "__len__") or getattr(value, "ndim", 1) != 1:
            return False
        return len(value) > 0 and all(map(self._is_sign, value))

    def describe(self) -> str:
        return "1, -1 or 0 for each column, or a mapping of columns to these"

    def schema(self) -> dict[str, Any]:
        sign = {"enum": [-1, 0, 1]}
        by_name = {"type": "object", "additionalProperties": sign, "minProperties": 1}
        return {"anyOf": [{"type": "array", "items": sign, "minItems": 1}, by_name]}

    @staticmethod
    def _is_sign(value: Any) -> bool:
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and value in (-1, 0, 1)

    @staticmethod
    def _is_column(value: Any) -> bool:
        return isinstance(value, str) or Integer(0).holds(value)


def because(constraint: Constraint, value: Any) -> str:
    """Return the fault of a forbidden value as text that follows the value in a sentence."""
    fault = constraint.fault(value)
    return f": {fault}" if fault else ""


def violation(name: str, value: Any, constraint: Constraint, owner: str) -> str | None:
    """Return the error message for a bad parameter, or None if the value is allowed."""
    if constraint.holds(value):
        return None
    return f"{name} of {owner} must be {constraint.describe()}. Got {value!r}{because(constraint, value)}."


def check(params: Mapping[str, Any], table: Mapping[str, Constraint], owner: str) -> None:
    """Raise ConfigError (a ValueError) at the first parameter that breaks its constraint."""
    for name, constraint in table.items():
        if name in params and not constraint.holds(params[name]):
            raise ConfigError(violation(name, params[name], constraint, owner))
