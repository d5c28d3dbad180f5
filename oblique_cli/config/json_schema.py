"""JSON schema of configuration files, for editors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from oblique_cli.config import keys, outside
from oblique_cli.config.composing import PLURAL
from oblique_cli.config.keys import DATASET, EXPERIMENT, ID, LISTS, RANGE, READING, READING_LISTS, TUNE
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.outside import known
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.evaluation.published import tables
from oblique_cli.ground.constraints import Constraint, Optional, Text
from oblique_cli.schemes import SCHEMES


def schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of configuration files, with the data set names of the catalogue."""
    definitions: dict[str, dict[str, Any]] = {}
    items = {"dataset": _dataset_schema(), "algorithm": _once(_algorithm_schema(), "algorithm", definitions, {})}
    cv = _mapping(keys.cv(), tune=_mapping(TUNE, metric={"enum": list(keys.tuning_metrics())}))
    cv_forms = [  # the keys of each scheme
        {
            "if": {"properties": {"scheme": {"const": name}}, "required": ["scheme"]},
            "then": {"propertyNames": {"enum": ["scheme", *scheme.takes(), *(["tune"] if scheme.tunes else [])]}},
        }
        for name, scheme in SCHEMES.items()
    ]
    properties = {
        **{key: constraint.schema() for key, constraint in EXPERIMENT.items()},
        **items,
        **{PLURAL[singular]: _list(schema) for singular, schema in items.items()},
        "cv": {**cv, "allOf": cv_forms},
        "metrics": _list({"enum": list(METRICS)}),
        "published": _list({"enum": [name for name, table in tables().items() if table.has_means]}),
        "limits": _mapping(outside.LIMITS),
        "data_dir": {"type": "string"},
        "extends": {"type": "string"},
        "import": _list({"type": "string"}),
    }
    complete = [{"oneOf": [{"required": [singular]}, {"required": [plural]}]} for singular, plural in PLURAL.items()]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Experiment of oblique",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        # A file that extends another file may omit the keys of that file.
        "anyOf": [{"required": ["extends"]}, {"allOf": [{"required": ["version"]}, *complete]}],
        "$defs": definitions,
    }


# Shorter schemas are not moved to `definitions`.
LONG = 200


def _once(part: Any, key: str, definitions: dict[str, dict[str, Any]], names: dict[str, str]) -> Any:
    """Move each long schema within `part` to `definitions`, named after its place `key`. names : text -> definition

    Heuristics are parameters of trees, and trees of forests: without definitions the schema is 30 times as long."""
    if isinstance(part, list):
        return [_once(each, key, definitions, names) for each in part]
    if not isinstance(part, dict):
        return part
    inner = {name: key if name in ("anyOf", "items") else name for name in part}
    short = {name: _once(each, inner[name], definitions, names) for name, each in part.items()}
    # `properties` maps names to schemas and is not a schema, even if it contains the name `type`.
    is_schema = isinstance(short.get("type"), str) or isinstance(short.get("anyOf"), list)
    text = json.dumps(short)
    if not is_schema or len(text) < LONG:
        return short
    if text not in names:
        names[text] = f"{key}_{len(names) + 1}"
        definitions[names[text]] = short
    return {"$ref": f"#/$defs/{names[text]}"}


def _dataset_schema() -> dict[str, Any]:
    names = {"enum": list(keys.dataset_names())}
    columns = _list(Text().schema())
    by_name = _mapping({key: DATASET[key] for key in ("missing", "encoding")}, name=names, qualitative=columns)
    lists = {key: columns for key in (*LISTS, *READING_LISTS)}
    by_csv = _mapping({**DATASET, **READING}, name=ID.schema(), **lists)
    by_parquet = {key: subschema for key, subschema in by_csv["properties"].items() if key != "csv"}
    by_parquet = {**by_csv, "properties": {**by_parquet, "parquet": Text().schema()}}
    sourced = []
    for kind, constraint in keys.SOURCES.items():
        constraints = {key: DATASET[key] for key in keys.TAKES[kind] if key in DATASET and key != "name"}
        more = {"qualitative": columns} if "qualitative" in keys.TAKES[kind] else {}
        sourced.append({**_mapping({**constraints, kind: constraint}, name=ID.schema(), **more), "required": [kind]})
    files = [{**by_csv, "required": ["csv", "target"]}, {**by_parquet, "required": ["parquet", "target"]}]
    return {"anyOf": [names, {**by_name, "required": ["name"]}, *files, *sourced]}


def _algorithm_schema() -> dict[str, Any]:
    names = sorted((*ALGORITHMS, *ALGORITHMS.former))
    forms: list[dict[str, Any]] = [{"enum": names}]
    limits = _mapping(outside.LIMITS)
    for name in names:
        named = keys.named_parameters(ALGORITHMS[name])
        current_names = {alias.name: current for current, alias in ALGORITHMS[name].aliases.items()}
        parameters = {}
        for key, constraint in named.items():
            value_schema = constraint.schema()
            if isinstance(constraint, Optional):
                value_schema = {"anyOf": [value_schema, {"const": "none"}]}
            grid = {"anyOf": [_list(value_schema), {**_mapping(RANGE), "required": list(RANGE)}]}
            meaning = ALGORITHMS[name].meaning(current_names.get(key, key))
            described = {"description": meaning} if meaning else {}
            parameters[key] = {**described, "anyOf": [value_schema, _mapping({}, grid=grid)]}
        per_dataset = {"type": "object", "additionalProperties": _mapping({}, **parameters)}
        more = {"limits": limits, "per_dataset": per_dataset}
        forms.append({**_mapping({"id": ID}, name={"const": name}, **more, **parameters), "required": ["name"]})
    by_class = {
        "class": {"anyOf": [{"enum": list(known.CLASSES)}, known.CLASS.schema()]},
        "id": ID.schema(),
        "params": {"type": "object"},
        "grid": {"type": "object", "additionalProperties": {"type": ["array", "object"]}},
        "prepare": known.PREPARE.schema(),
        "limits": limits,
    }
    forms.append({**_mapping({}, **by_class), "required": ["class"]})
    return {"anyOf": forms}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1}


def _mapping(table: Mapping[str, Constraint], **more: dict[str, Any]) -> dict[str, Any]:
    properties = {**{key: constraint.schema() for key, constraint in table.items()}, **more}
    return {"type": "object", "properties": properties, "additionalProperties": False}
