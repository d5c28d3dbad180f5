"""Parameters of estimators as plain data: values, lists, dictionaries, and parts with separate parameters."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

import oblique_cli
from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.models.codecs import Scope

# A part is an object such as a heuristic. It is written as its registry and its name in that registry.
PART, MAPPING = "part", "mapping"
PUBLIC = "public"


def plain_parameters(params: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Return the parameters of an estimator or a part as plain data; ConfigError for a value without a plain form."""
    return {name: _plain(value, scope.at(name)) for name, value in params.items()}


def parameters_of(plain: Any, scope: Scope) -> dict[str, Any]:
    """Return the inverse of `plain_parameters`, with parts as objects; DataError for invalid data."""
    if not isinstance(plain, dict):
        scope.fail(f"must be an object of names and values. Got {quoted(plain)}")
    values: dict[str, Any] = {}
    grouped: dict[str, Any] = {}
    for name, value in plain.items():
        is_group = isinstance(value, dict)
        if name in ("growth", "leaves") and (value is None or is_group):  # older files group tree parameters
            is_part = is_group and value.keys() == {PART, "parameters"}
            read, entries = (parameters_of, value["parameters"]) if is_part else (_value, value)
            grouped.update(read(entries, scope.at(name)) or {})
        else:  # older files have settings of refinement in `refine`, where only a fit needs them
            values[name] = "tao" if name == "refine" and is_group else _value(value, scope.at(name))
    return values | grouped


def _plain(value: Any, scope: Scope) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item, scope.at(i)) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {MAPPING: [[_plain(k, scope), _plain(v, scope.at(str(k)))] for k, v in value.items()]}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # only fits draw random numbers
    if hasattr(value, "get_params"):
        registry, name = _place_of(type(value), scope)
        parameters = plain_parameters(value.get_params(deep=False), scope.at(name))
        return {PART: [registry, name], "parameters": parameters}
    scope.fail(f"is {quoted(value)}, which a model file has no form for")


def _value(plain: Any, scope: Scope) -> Any:
    if isinstance(plain, list):
        return [_value(item, scope.at(i)) for i, item in enumerate(plain)]
    if not isinstance(plain, dict):
        return plain
    if plain.keys() == {MAPPING} and isinstance(plain[MAPPING], list):
        pairs = plain[MAPPING]
        if all(isinstance(pair, list) and len(pair) == 2 and not isinstance(pair[0], list | dict) for pair in pairs):
            return {key: _value(value, scope.at(str(key))) for key, value in pairs}
    if plain.keys() == {PART, "parameters"} and isinstance(plain[PART], list) and len(plain[PART]) == 2:
        cls = _part(plain[PART][0], plain[PART][1], scope)
        parameters = parameters_of(plain["parameters"], scope.at(str(plain[PART][1])))
        try:
            return cls(**parameters)
        except (TypeError, ValueError) as error:
            scope.fail(f"cannot be made: {error}")
    scope.fail(f"must be a value, a list, a mapping or a part. Got {quoted(plain)}")


def _registries() -> dict[str, Mapping[str, Any]]:
    import oblique_cli.proposers  # noqa: F401  (registers the proposers)
    from oblique_cli.tree.pruning import PRUNINGS
    from oblique_cli.tree.splitting import PROPOSERS

    return {PROPOSERS.kind: PROPOSERS, PRUNINGS.kind: PRUNINGS}


def _place_of(cls: type[Any], scope: Scope) -> tuple[str, str]:
    """Return the registry of a class of parts, and the name of the class in it."""
    for kind, registry in _registries().items():
        for name, registered in registry.items():
            if registered is cls:
                return kind, name
    if oblique_cli.place_of(cls.__name__) == cls.__module__:
        return PUBLIC, cls.__name__
    scope.fail(f"is of class {cls.__name__}, which is registered nowhere, so that a model file cannot name it")


def _part(registry: Any, name: Any, scope: Scope) -> Any:
    if registry == PUBLIC:
        part = getattr(oblique_cli, name) if isinstance(name, str) and oblique_cli.place_of(name) else None
        if not (isinstance(part, type) and hasattr(part, "get_params")):  # a function could run any code
            scope.fail(f"names {quoted(name)}, which is no class of oblique_cli with parameters")
        return part
    known = _registries()
    if not isinstance(registry, str) or registry not in known or not isinstance(name, str):
        scope.fail(f"names a part {quoted(name)} of {quoted(registry)}, which is no list of parts")
    try:
        return known[registry][name]
    except ConfigError as error:
        raise DataError(
            f"{scope.place}: {error} If it comes from a file of your own, import that file first."
        ) from None
