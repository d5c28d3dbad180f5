"""What `auto` compares, and what a fit costs: candidates.yaml and costs.yaml beside this file, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from oblique_cli.ground.strict_yaml import Problems, parse, read


def candidates(task: str) -> tuple[dict[str, Any], ...]:
    """Return the algorithms that auto compares for a task, as a configuration writes them, each with name and id.

    task : "classification" or "regression"; with "_readable" behind it what is compared besides for a tree to read
    """
    entries = ({"name": item} if isinstance(item, str) else item for item in table("candidates.yaml")[task])
    return tuple({"id": entry["name"], **entry} for entry in entries)


def recommended(task: str) -> str:
    """Return the name of the algorithm that auto compares before all others."""
    return str(table("candidates.yaml")["recommended"][task])


@cache
def table(name: str) -> dict[str, Any]:
    """Return the content of a file of this folder."""
    problems = Problems()
    plain: dict[str, Any] = parse(read(Path(__file__).with_name(name), name, problems), problems).plain()
    return plain
