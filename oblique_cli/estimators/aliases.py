"""Parameters that have another name in papers and in stored results.

An estimator has one name for a parameter, scikit-learn's where the meaning is scikit-learn's. The name that a paper
uses, or that was used here before, goes on working in configurations and in `make`. Results are stored under that older
name whichever of the two was written, so that neither the key of a job nor a stored row changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oblique_cli.errors import ConfigError
from oblique_cli.parameters import Alias

Aliases = Mapping[str, Alias]  # parameter -> its other name


def current_names(params: Mapping[str, Any], aliases: Aliases, owner: str) -> dict[str, Any]:
    """Return parameters under the estimator's names; ConfigError for a parameter under both of its names."""
    by_alias = {alias.name: (name, alias) for name, alias in aliases.items()}
    current: dict[str, Any] = {}
    for key, value in params.items():
        name, alias = by_alias.get(key, (key, None))
        if name in current:
            raise ConfigError(f"{aliases[name].name} and {name} of {owner} are the same parameter. Give one of them.")
        current[name] = value if alias is None else alias.current(value)
    return current


def stored_name(name: str, values: Iterable[Any], aliases: Aliases) -> tuple[str, list[Any]]:
    """Return the name that a parameter, given by its own name, is stored under, and its values under that name.

    The parameter keeps its own name if one of the values has no counterpart under the other.
    """
    values = list(values)
    if name not in aliases:
        return name, values
    try:
        return aliases[name].name, [aliases[name].former(value) for value in values]
    except ValueError:
        return name, values
