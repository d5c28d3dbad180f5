"""Check of a class of another library in a configuration, without importing anything, and of limits."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oblique_cli.config.keys import ID, RANGE
from oblique_cli.config.walking import Walk
from oblique_cli.estimators.outside import known
from oblique_cli.ground.constraints import Constraint, Real
from oblique_cli.ground.nouns import AlgorithmSpec
from oblique_cli.ground.strict_yaml import YamlValue

# Treatment of code that a configuration names and that no known library contains.
REFUSE = "refuse"  # note a problem that explains how to allow it
ALLOW = "allow"  # import it when it is needed
LEAVE = "leave"  # import nothing, and skip the checks that need an import
ALLOWED = "run with --allow-code if you trust it"

KEYS = ("class", "id", "params", "grid", "prepare", "limits")


@dataclass(frozen=True)
class Amount(Constraint):
    """Number with a unit. units : name -> factor"""

    units: Mapping[str, float]
    example: str

    def holds(self, value: Any) -> bool:
        return self.amount(value) is not None

    def amount(self, value: Any) -> float | None:
        """Return the number in the smallest unit, or None if it is not a number above 0."""
        if Real(0, open_low=True).holds(value):
            return float(value)
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", value) if isinstance(value, str) else None
        if match is None or match[2].lower() not in self.units or not float(match[1]):
            return None
        return float(match[1]) * self.units[match[2].lower()]

    def describe(self) -> str:
        return f"an amount such as {self.example}"

    def schema(self) -> dict[str, Any]:
        units = "|".join("".join(f"[{c}{c.upper()}]" for c in unit) for unit in self.units)
        text = {"type": "string", "pattern": rf"^\s*[0-9]+(\.[0-9]+)?\s*({units})\s*$"}
        return {"anyOf": [text, {"type": "number", "exclusiveMinimum": 0}]}


LIMITS: Mapping[str, Amount] = {
    "memory": Amount({"kb": 2**10, "mb": 2**20, "gb": 2**30, "kib": 2**10, "mib": 2**20, "gib": 2**30}, "4GB"),
    "time": Amount({"s": 1, "min": 60, "m": 60, "h": 3600}, "60s, 5min or 1h"),
}


def algorithm(check: Walk, value: YamlValue, scheme: str) -> AlgorithmSpec | None:
    """Return the algorithm of an entry with the key `class`, or None after noting a problem."""
    entries = check.entries(value, "an algorithm with a class", KEYS)
    path = check.scalar(entries["class"], "class", known.CLASS)
    if path is None or not _may_be_imported(check, entries["class"], path):
        return None
    class_name = path.rpartition(".")[2].lower()
    label = check.scalar(entries["id"], "id", ID) if "id" in entries else class_name[:64].strip("_")
    params = _params(check, entries.get("params"), path)
    grid: dict[str, tuple[Any, ...]] = {}
    for name, entry in _named(check, entries.get("grid"), f"grid of {path}").items():
        if name in params:
            check.problems.add(entry.key, f"{name} of {path} is in params and in grid; leave it in one of them.")
        if isinstance(entry.data, dict) and set(entry.data) & set(RANGE):
            grid[name] = check.steps(entry, f"{name} of {path}", Real())
            for number in grid[name][:1]:  # one stands for all
                _permit(check, entry, path, params, name, number)
        else:
            items = check.items(entry, f"grid of {name}")
            grid[name] = tuple(_plain(check, item, f"{name} of {path}") for item in items)
            for item, value in zip(items, grid[name], strict=True):
                _permit(check, item, path, params, name, value)
    if grid:
        check.refuse_grid(entries["grid"], f"{path} has a grid", scheme)
    prepare = check.scalar(entries["prepare"], "prepare", known.PREPARE) if "prepare" in entries else ""
    return AlgorithmSpec(path, label or path, params, grid, prepare or "", limits(check, entries.get("limits"), path))


def _may_be_imported(check: Walk, value: YamlValue, path: str) -> bool:
    """Return whether a class is known or allowed; else note a problem."""
    ours = known.library_of(path) in known.LIBRARIES
    if path in known.CLASSES or check.code == ALLOW or (check.code == LEAVE and not ours):
        return True
    what = "no class of it is known by this name" if ours else f"known are those of {', '.join(known.LIBRARIES)}"
    check.problems.add(value.place, f"class {path}: {what}.{known.near(path)} For any other class, {ALLOWED}.")
    return False


def _params(check: Walk, value: YamlValue | None, path: str) -> dict[str, Any]:
    entries = _named(check, value, f"params of {path}")
    params = {name: _plain(check, entry, f"{name} of {path}") for name, entry in entries.items()}
    for name, entry in entries.items():
        _permit(check, entry, path, params, name, params[name])
    return params


def _permit(check: Walk, entry: YamlValue, path: str, params: Mapping[str, Any], name: str, value: Any) -> None:
    """Note a parameter of a known class that affects more than the fit (such as a file), unless that is allowed."""
    if check.code != ALLOW and path in known.CLASSES and (fault := known.refused(path, params, name, value)):
        check.problems.add(entry.key, f"{fault} For anything else, {ALLOWED}.")


def _named(check: Walk, value: YamlValue | None, owner: str) -> dict[str, YamlValue]:
    """Return the entries of a mapping of parameters, or {} after noting that it is not a mapping."""
    if value is None:
        return {}
    if not isinstance(value.data, dict):
        check.problems.add(value.place, f"{owner} must be a mapping of parameters to values. Got {value.shown()}.")
        return {}
    return dict(value.data)


def _plain(check: Walk, value: YamlValue, owner: str) -> Any:
    """Return the value of a parameter as plain data; an estimator in it stays the mapping that describes it."""
    if isinstance(value.data, dict) and "class" in value.data:
        entries = check.entries(value, owner, ("class", "params"))
        path = check.scalar(entries["class"], f"class of {owner}", known.CLASS)
        if path is None:
            return None
        _may_be_imported(check, entries["class"], path)
        return {"class": path, "params": _params(check, entries.get("params"), path)}
    if isinstance(value.data, dict):
        return {key: _plain(check, entry, owner) for key, entry in value.data.items()}
    if isinstance(value.data, list):
        return [_plain(check, item, owner) for item in value.data]
    if isinstance(value.data, float) and not math.isfinite(value.data):
        check.problems.add(value.place, f"{owner} must be a finite number. Got {value.shown()}.")
        return None
    return value.data


def limits(check: Walk, value: YamlValue | None, owner: str) -> dict[str, float]:
    """Return the limits for one model of an algorithm, memory in bytes and time in seconds; {} for none."""
    if value is None:
        return {}
    amounts: dict[str, float] = {}
    for name, entry in check.entries(value, f"limits of {owner}", LIMITS).items():
        if check.scalar(entry, f"{name} of limits", LIMITS[name]) is not None:
            amount = LIMITS[name].amount(entry.data) or 0.0
            amounts[name] = int(amount) if name == "memory" else amount
    return amounts
