"""What `auto` compares: candidates.yaml beside this file, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from oblique_cli.errors import ConfigError
from oblique_cli.ground.strict_yaml import Problems, parse, read

FILE = Path(__file__).with_name("candidates.yaml")


def candidates(task: str, path: Path = FILE) -> tuple[dict[str, Any], ...]:
    """Return the algorithms that auto compares for a task, as a configuration writes them, each with name and id.

    task : "classification" or "regression"; with "_readable" behind it what is compared besides for a tree to read
    ConfigError for a file that lists no algorithms for it, or two of one id
    """
    listed = _lists(path).get(task)
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{path.name} must list algorithms for {task}. Got {listed!r}.")
    entries = []
    for item in listed:
        entry = {"name": item} if isinstance(item, str) else item
        if not (isinstance(entry, dict) and isinstance(entry.get("name"), str)):
            raise ConfigError(f"an algorithm in {path.name} must be a name, or a mapping with a name. Got {item!r}.")
        entries.append({"id": entry["name"], **entry})
    ids = [entry["id"] for entry in entries]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise ConfigError(f"{path.name} has two algorithms of the id {twice!r} for {task}; give one another id.")
    return tuple(entries)


def recommended(task: str) -> str:
    """Return the name of the algorithm that auto compares before all others."""
    return str(_lists(FILE)["recommended"][task])


@cache
def _lists(path: Path) -> dict[str, Any]:
    problems = Problems()
    plain = parse(read(path, path.name, problems), problems).plain()
    if not isinstance(plain, dict):
        raise ConfigError(f"{path.name} must be a mapping of tasks to lists of algorithms. Got {plain!r}.")
    return plain
