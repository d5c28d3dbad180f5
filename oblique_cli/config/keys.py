"""Keys of a configuration and their constraints: the tables that check values, word errors and make the schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from oblique_cli.config.composing import PLURAL
from oblique_cli.data import catalogue
from oblique_cli.data.local_sources import SKLEARN
from oblique_cli.data.own.dates import DATES
from oblique_cli.data.own.numbers import NAMED_MARKS, NAMED_SIGNS
from oblique_cli.data.own.text import HEADERS
from oblique_cli.data.plugin_datasets import FURTHER
from oblique_cli.evaluation.metrics import LABELS, METRICS, PROBABILITIES
from oblique_cli.ground.constraints import Boolean, Choice, Constraint, Integer, Real, Text
from oblique_cli.schemes import SCHEMES, Scheme


@dataclass(frozen=True)
class Format(Constraint):
    """Version of the configuration format."""

    def holds(self, value: Any) -> bool:
        return type(value) is int and value == 1

    def describe(self) -> str:
        return "1, the only format there is"

    def schema(self) -> dict[str, Any]:
        return {"const": 1}


ID = Text(r"[a-z0-9][a-z0-9._-]{0,63}", "a short name of a-z, 0-9, '.', '_' and '-', such as hhcart-05")
EXPERIMENT: dict[str, Constraint] = {
    "version": Format(),
    "name": ID,
    "title": Text(),
    "seed": Integer(0),
    "keep": Choice(("predictions", "probabilities")),
}
OF_ALGORITHM = ("name", "id", "limits", "per_dataset")  # the other keys of an algorithm are its parameters
KEYS = (*EXPERIMENT, *PLURAL, *PLURAL.values(), "cv", "metrics", "published", "limits", "data_dir", "extends", "import")
DATASET: dict[str, Constraint] = {"name": Text(), "csv": Text(), "target": Text(), **catalogue.POLICIES}
# Keys for reading a user's file; the catalogue has them for its data sets.
READING: dict[str, Constraint] = {
    "task": Choice(("classification", "regression")),
    "delimiter": Text(),
    "decimal": Choice(tuple(NAMED_MARKS)),
    "thousands": Choice(tuple(NAMED_SIGNS)),
    "charset": Text(),
    "dates": Choice(("leave_out", "days", *DATES)),
    "header": Choice(HEADERS),
    "only_marks": Boolean(),
    "skip": Integer(0),
    "skip_end": Integer(0),
    "comment": Text(),
}
LISTS = ("qualitative",)  # of columns; and the keys of a user's file
READING_LISTS = ("drop", "keep", "features", "missing_marks")
# Source key of a data set -> the keys that belong to this source.
SOURCES: dict[str, Constraint] = {"openml": Integer(1), "sklearn": Choice(SKLEARN)}
TAKES = {"openml": ("name", "target", "missing", "encoding", "qualitative"), "sklearn": ("name", "missing", "encoding")}
TUNE: dict[str, Constraint] = {"folds": Integer(2), "metric": Text()}
RANGE: dict[str, Constraint] = {"from": Real(), "to": Real(), "step": Real(0, open_low=True)}


def cv(schemes: Iterable[Scheme] | None = None) -> dict[str, Constraint]:
    """Return the keys of `cv` in `schemes` (None for all schemes), without `tune`."""
    constraints: dict[str, Constraint] = {"scheme": Choice(SCHEMES)}
    for scheme in SCHEMES.values() if schemes is None else schemes:
        constraints |= scheme.takes()
    return constraints


def tuning_metrics() -> tuple[str, ...]:
    """Return the names of the metrics that can choose parameters, because they need predictions only."""
    return tuple(
        name for name, metric in METRICS.items() if metric.needs in (LABELS, PROBABILITIES) and not metric.matrix
    )


def named_parameters(algorithm: Any) -> dict[str, Constraint]:
    """Return the constraints of an algorithm's parameters, under every name and alias."""
    constraints: dict[str, Constraint] = dict(algorithm.parameters)
    return constraints | {alias.name: constraints[name] for name, alias in algorithm.aliases.items()}


def dataset_names() -> Sequence[str]:
    """Return the names of the data catalogue."""
    return [*catalogue.names(), *FURTHER]


def dataset_name(name: str) -> str:
    """Return the catalogue name for a name, alias or published code; raise UnknownName with close matches."""
    return name if name in FURTHER else catalogue.resolve(name)
