"""What `auto` compares: candidates.yaml beside this file, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from oblique_cli.errors import ConfigError
from oblique_cli.strict_yaml import Problems, parse, read

FILE = Path(__file__).with_name("candidates.yaml")


MOST_CELLS = "most_cells"  # key of an algorithm that is for tables of at most so many cells


def candidates(task: str, path: Path = FILE, cells: int = 0) -> tuple[dict[str, Any], ...]:
    """Return the algorithms that auto compares for a task, as a configuration writes them, each with name and id.

    task : "classification" or "regression"; cells : rows times columns of the data, 0 for all algorithms
    ConfigError for a file that lists no algorithms for it, two of one id, or a `most_cells` that is no number above 0
    """
    listed = _lists(path).get(task)
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{path.name} must list algorithms for {task}. Got {listed!r}.")
    found = []
    for one in listed:
        entry = {"name": one} if isinstance(one, str) else one
        if not (isinstance(entry, dict) and isinstance(entry.get("name"), str)):
            raise ConfigError(f"an algorithm in {path.name} must be a name, or a mapping with a name. Got {one!r}.")
        most = entry.get(MOST_CELLS, cells)
        if not isinstance(most, int) or isinstance(most, bool) or (MOST_CELLS in entry and most < 1):
            raise ConfigError(f"{MOST_CELLS} in {path.name} must be a whole number above 0. Got {most!r}.")
        if cells <= most:
            found.append({"id": entry["name"], **{key: value for key, value in entry.items() if key != MOST_CELLS}})
    ids = [entry["id"] for entry in found]
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        raise ConfigError(f"{path.name} has two algorithms of the id {twice!r} for {task}; give one another id.")
    return tuple(found)


@cache
def _lists(path: Path) -> dict[str, Any]:
    problems = Problems()
    plain = parse(read(path, path.name, problems), problems).plain()
    if not isinstance(plain, dict):
        raise ConfigError(f"{path.name} must be a mapping of tasks to lists of algorithms. Got {plain!r}.")
    return plain
