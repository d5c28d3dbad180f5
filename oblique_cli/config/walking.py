"""Walk over the values of a configuration that notes every problem with its place and continues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from oblique_cli.config.keys import RANGE
from oblique_cli.ground.constraints import Choice, Constraint, Integer, Optional, Real, SignsOfColumns, because
from oblique_cli.ground.registry import close_matches
from oblique_cli.ground.strict_yaml import Place, Problems, YamlValue, shown
from oblique_cli.schemes import SCHEMES, named

MAX_GRID = 10_000  # combinations of grid values


class Walk:
    """Walk that notes a wrong value in `problems` and continues with None in its place."""

    def __init__(self, root: Path | None, problems: Problems, code: str) -> None:
        self.root = root
        self.problems = problems
        self.code = code
        self.imports = False  # whether files that may register further names are imported
        self.per_dataset: list[tuple[str, str, YamlValue]] = []  # algorithm id, data set, its parameters

    def entries(
        self, value: YamlValue, owner: str, known: Iterable[str], without: Mapping[str, str] | None = None
    ) -> dict[str, YamlValue]:
        """Return the entries with a known key. without : plausible key -> reason why it is unknown"""
        if not isinstance(value.data, dict):
            self.problems.add(value.place, f"{owner} must be a mapping of keys to values. Got {value.shown()}.")
            return {}
        known = list(known)
        for key, entry in value.data.items():
            if key not in known:
                hint = (without or {}).get(key) or near(key, known)
                self.problems.add(entry.key, f"unknown key {shown(key)} in {owner}.{hint}")
        return {key: entry for key, entry in value.data.items() if key in known}

    def items(self, value: YamlValue, owner: str) -> list[YamlValue]:
        """Return the items of a list that must not be empty."""
        if isinstance(value.data, list) and value.data:
            return value.data
        got = "an empty list" if value.data == [] else value.shown()
        self.problems.add(value.place, f"{owner} must be a list of one or more. Got {got}.")
        return []

    def scalar(self, value: YamlValue, owner: str, constraint: Constraint) -> Any:
        """Return a scalar that satisfies `constraint`, converted so that equal settings have equal digests."""
        inner = constraint.inner if isinstance(constraint, Optional) else constraint
        if isinstance(constraint, Optional) and value.data == "none" and not inner.holds("none"):
            return None
        plain = value.plain()
        if not constraint.holds(plain):
            hint = ""
            if isinstance(inner, Choice) and isinstance(value.data, str):
                hint = close_matches(value.data[:80], inner.names)
            got = f"{value.shown()}{because(inner, plain)}"
            self.problems.add(value.place, f"{owner} must be {constraint.describe()}. Got {got}.{hint}")
            return None
        if isinstance(inner, Real | Integer) and value.data is not None:
            # 0 and 0.0 are one setting with one digest, and JSON has no numpy numbers.
            return float(value.data) if isinstance(inner, Real) else int(value.data)
        if isinstance(plain, dict) and not isinstance(inner, SignsOfColumns):
            return {key: float(number) for key, number in plain.items()}
        return plain

    def table(self, entries: Mapping[str, YamlValue], prefix: str, table: Mapping[str, Constraint]) -> dict[str, Any]:
        """Return the checked values of those entries that `table` contains."""
        return {key: self.scalar(entries[key], prefix + key, table[key]) for key in table if key in entries}

    def distinct(self, kind: str, names: Iterable[str], values: Iterable[YamlValue]) -> None:
        """Note every repeated name of a value; "" is no name."""
        first: dict[str, Place] = {}
        for name, value in zip(names, values, strict=True):
            if name in first:
                self.problems.add(value.place, f"{kind} {name!r} is used twice (first at line {first[name].line}).")
            elif name:
                first[name] = value.place

    def refuse_grid(self, value: YamlValue, fault: str, scheme: str) -> None:
        """Note a grid in a scheme that chooses no parameters."""
        if scheme in SCHEMES and not SCHEMES[scheme].tunes:
            tuning = named(lambda candidate: candidate.tunes)
            self.problems.add(value.key, f"{fault}, and scheme {scheme} chooses nothing; use scheme {tuning}.")

    def steps(self, listed: YamlValue, owner: str, constraint: Constraint) -> tuple[Any, ...]:
        """Return the values of {from, to, step}, including both ends."""
        entries = self.entries(listed, f"the grid of {owner}", RANGE)
        missing = [key for key in RANGE if key not in entries]
        if missing:
            self.problems.add(listed.place, f"the grid of {owner} needs {' and '.join(missing)}.")
        ends = self.table(entries, f"the grid of {owner}: ", RANGE)
        if missing or None in ends.values():
            return ()
        # Decimal, because 0.05 + 35 * 0.01 is not 0.4 in floating point.
        start, stop, step = (Decimal(str(entries[key].data)) for key in RANGE)
        steps = (stop - start) / step
        if not 0 <= steps < MAX_GRID:
            fault = "to is below from" if steps < 0 else f"more than {MAX_GRID} values"
            self.problems.add(listed.place, f"the grid of {owner} is not usable: {fault}.")
            return ()
        whole = all(isinstance(entries[key].data, int) for key in RANGE)
        values = [start + i * step for i in range(int(steps) + 1)]
        items = [YamlValue(int(v) if whole else float(v), listed.place, listed.key) for v in values]
        bad = [item for item in items if not constraint.holds(item.data)]
        return tuple(self.scalar(item, owner, constraint) for item in (bad[:1] or items))


def near(name: Any, known: Iterable[str]) -> str:
    """Return the close matches of `name` as a sentence, or all known names if none is close."""
    return (close_matches(name[:80], known) if isinstance(name, str) else "") or f" Known: {', '.join(known)}."
