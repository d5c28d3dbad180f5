"""Candidates of `auto` and costs of fits, read once from candidates.yaml and costs.yaml in this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from oblique_cli.ground.strict_yaml import Problems, parse, read


def candidates(task: str) -> tuple[dict[str, Any], ...]:
    """Return the algorithms that auto compares for a task, in the form of a configuration, each with name and id.

    task : "classification" or "regression"; with the suffix "_readable", the additional candidates for a readable tree
    """
    entries = ({"name": item} if isinstance(item, str) else item for item in table("candidates.yaml")[task])
    return tuple({"id": entry["name"], **entry} for entry in entries)


def recommended(task: str) -> str:
    """Return the name of the algorithm that auto compares first."""
    return str(table("candidates.yaml")["recommended"][task])


@cache
def table(name: str) -> dict[str, Any]:
    """Return the content of a file in this folder."""
    problems = Problems()
    plain: dict[str, Any] = parse(read(Path(__file__).with_name(name), name, problems), problems).plain()
    return plain
