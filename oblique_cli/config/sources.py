"""The part of a configuration that names a data set of scikit-learn or OpenML, or a Parquet file."""

from __future__ import annotations

from typing import Any, Protocol

from oblique_cli.config import keys
from oblique_cli.config.keys import DATASET, ID
from oblique_cli.data.local_sources import KINDS, SKLEARN
from oblique_cli.ground.constraints import Choice, Constraint, Integer, Text
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.ground.strict_yaml import Problems, YamlValue

SOURCES: dict[str, Constraint] = {"openml": Integer(1), "sklearn": Choice(SKLEARN)}
TAKES = {"openml": ("name", "target", "missing", "encoding", "qualitative"), "sklearn": ("name", "missing", "encoding")}


class Checking(Protocol):
    """What this part needs of the walk over a configuration."""

    problems: Problems

    def entries(self, value: YamlValue, owner: str, known: Any) -> dict[str, YamlValue]: ...
    def items(self, value: YamlValue, owner: str) -> list[YamlValue]: ...
    def scalar(self, value: YamlValue, owner: str, constraint: Constraint) -> Any: ...


def use_csv(value: YamlValue) -> None:
    """Bring {parquet: FILE} to the form {csv: FILE}: what a file is shows in its first bytes."""
    if isinstance(value.data, dict) and "parquet" in value.data and "csv" not in value.data:
        value.data["csv"] = value.data.pop("parquet")


def kind_of(value: YamlValue) -> str | None:
    """Return the key that says where a data set comes from, None for a name or a file."""
    return next((kind for kind in KINDS if isinstance(value.data, dict) and kind in value.data), None)


def dataset(check: Checking, value: YamlValue, kind: str) -> DatasetSpec | None:
    """Return a data set with the key `kind`, None after noting that it cannot be used."""
    entries = check.entries(value, f"data set of {kind}", (kind, *TAKES[kind]))
    which = check.scalar(entries[kind], kind, SOURCES[kind])
    fields: dict[str, Any] = {
        key: check.scalar(entries[key], key, DATASET[key])
        for key in ("target", "missing", "encoding")
        if key in entries
    }
    if "qualitative" in entries:
        columns = check.items(entries["qualitative"], "qualitative")
        fields["qualitative"] = tuple(check.scalar(item, "qualitative", Text()) for item in columns)
    if which is None or None in fields.values():
        return None
    name = f"openml-{which}" if kind == "openml" else which
    if name in keys.dataset_names():
        name = f"{name}-{kind}"
    if "name" in entries:
        name = check.scalar(entries["name"], "name", ID)
        if name in keys.dataset_names():
            message = f"{name!r} is a data set of the catalogue; give this one another name."
            check.problems.add(entries["name"].place, message)
    return DatasetSpec(name, source=f"{kind}:{which}", **fields) if name else None
